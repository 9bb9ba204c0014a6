//! Casts that scale in registers, for the pairs that have them.

use crate::vector::scaled::Fused;
use crate::vector::scaled::{Factors, Step, fits};
use crate::{
    arch::TierToken,
    dtype::{DType, Encoding},
    exact::Rounding,
    format::{data::Data, lut::Lut},
    route::Kernel,
    vector::kernel::{TableFn, WithTable},
};

/// Dequantizes long blocks to bfloat16 by a table of the products of all codes with the block's scale.
#[derive(Clone, Copy)]
pub struct ProductTable {
    run: TableFn<Lut<CODES, 2>>,
    decoder: ScaledCast,
}

impl core::fmt::Debug for ProductTable {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str("ProductTable")
    }
}

/// Codes without a sign.
const CODES: usize = 128;

impl ProductTable {
    /// The table of a decoder of 8-bit floats; `None` if the tier has no such lookup.
    pub fn new(decoder: ScaledCast) -> Option<Self> {
        let run = decoder.tier.products()(decoder.from, decoder.to)?;
        Some(Self { run, decoder })
    }

    /// Decodes `rows` runs of `len` codes that share their positive scale. The runs begin `stride` elements apart. Returns `false`, with nothing
    /// done, if a slice is too short or the scale is missing. The caller must be in the default floating-point environment.
    #[must_use]
    pub fn run(
        &self,
        src: &[u8],
        dst: &mut [u8],
        rows: usize,
        stride: usize,
        len: usize,
        factors: &Factors<'_>,
    ) -> bool {
        let end = rows.saturating_sub(1).saturating_mul(stride).saturating_add(len);
        if src.len() < end || dst.len() / 2 < end {
            return false;
        }
        let codes: [u8; CODES] = core::array::from_fn(|code| code as u8);
        let mut products = [0; 2 * CODES];
        if self.decoder.run(&codes, &mut products, CODES, CODES, factors) != CODES {
            return false;
        }
        let mut table = Lut::<CODES, 2>::EMPTY;
        // One plane after the other, so that the compiler vectorises the loop.
        for (plane, entries) in table.planes.iter_mut().enumerate() {
            for (entry, product) in entries.iter_mut().zip(products.as_chunks().0) {
                *entry = (u16::from_ne_bytes(*product) >> (8 * plane)) as u8;
            }
        }
        // SAFETY: the table lives until the end of this function.
        let data = unsafe { WithTable::new(self.decoder.data[1], &table) };
        for row in 0..rows {
            let start = row * stride;
            let (src, dst) = (src[start..].as_ptr(), dst[2 * start..].as_mut_ptr());
            // SAFETY: the tier can run here; the runs are within the slices.
            unsafe { (self.run)(src, dst, len, &data) };
        }
        true
    }
}

/// A cast that applies a [`Step`] to its elements and stores the results as a kernel does.
#[derive(Clone, Copy)]
pub struct ScaledCast {
    pub(super) fused: Fused,
    pub(super) tier: TierToken,
    from: Encoding,
    to: Encoding,
    pub(super) step: Step,
    /// Bits of an element of the source and of the target, in their storage.
    pub(super) bits: [usize; 2],
    /// The constants of the source and of the target.
    data: [&'static Data; 2],
}

impl core::fmt::Debug for ScaledCast {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("ScaledCast").field("step", &self.step).finish_non_exhaustive()
    }
}

impl ScaledCast {
    /// The cast from `from` that applies the step and stores what `kernel`, a cast from float32, makes of the results; `None` if the tier has no
    /// such loop, or if the kernel does not round to nearest even and saturate.
    pub fn new(kernel: &Kernel, from: DType, step: Step) -> Option<Self> {
        let fused = kernel.token().fused()(from, kernel.target(), step)?;
        let data = kernel.data();
        // The constants belong to the target if the kernel casts in one step.
        let single = data.to == kernel.target().dtype() && kernel.source().dtype() == DType::Float32;
        // The bodies round in the environment's direction, and the bodies of integers can only saturate.
        let nearest = data.rules.rounding == Rounding::NearestEven && data.rules.saturate;
        (single && nearest).then_some(Self {
            fused,
            tier: kernel.token(),
            from: from.into(),
            to: kernel.target(),
            step,
            bits: [from.into(), kernel.target()].map(bits),
            data: [data; 2],
        })
    }

    /// The cast that loads codes as `load` does, to float32, applies the step, and stores as `store` does, a cast from float32; `None` if the tier
    /// has no such loop, or if `store` does not round to nearest even, or if it swaps bytes.
    pub fn decoder(load: &Kernel, store: &Kernel, step: Step) -> Option<Self> {
        let fused = load.token().decoder()(load.source(), store.target().dtype(), step)?;
        let through = [load.target(), store.source()].iter().all(|of| *of == Encoding::new(DType::Float32));
        let single = load.data().to == DType::Float32 && store.data().to == store.target().dtype();
        let nearest = store.data().rules.rounding == Rounding::NearestEven;
        let native = !store.target().is_swapped();
        (through && single && nearest && native && load.token() == store.token()).then_some(Self {
            fused,
            tier: load.token(),
            from: load.source(),
            to: store.target(),
            step,
            bits: [load.source(), store.target()].map(bits),
            data: [load.data(), store.data()],
        })
    }

    /// Casts the elements of whole blocks and returns their number: 0 if runs do not fit blocks, a slice is too short or a factor is missing. The
    /// caller must be in the default floating-point environment.
    #[inline]
    pub fn run(&self, src: &[u8], dst: &mut [u8], n: usize, run: usize, factors: &Factors<'_>) -> usize {
        let n = self.whole_blocks(src, dst, n, run, factors);
        if n > 0 {
            // SAFETY: the tier of the kernel can run here; slices, runs and factors were checked.
            unsafe { (self.fused.run)(src.as_ptr(), dst.as_mut_ptr(), n, run, factors, self.data) };
        }
        n
    }

    /// The number of `n` elements that are in whole blocks; 0 if runs do not fit blocks, a slice is too short or a factor is missing.
    #[inline]
    pub(super) fn whole_blocks(
        &self,
        src: &[u8],
        dst: &[u8],
        n: usize,
        run: usize,
        factors: &Factors<'_>,
    ) -> usize {
        let lanes = self.fused.lanes;
        let block = 4 * lanes;
        let whole = n / block * block;
        let regular = run.is_multiple_of(block)
            || run >= n
            || (block.is_multiple_of(run.max(1)) && run.is_multiple_of(self.fused.least));
        // A block takes whole bytes in every width.
        let [read, written] = self.bits.map(|bits| (whole / 8).saturating_mul(bits));
        let long = src.len() >= read && dst.len() >= written;
        if regular && long && fits(self.step, whole, run, factors) { whole } else { 0 }
    }
}

fn bits(of: Encoding) -> usize {
    of.bits_per_element() as usize
}
