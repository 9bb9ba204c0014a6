//! Kernels through float32, written once over the registers of a tier.
//!
//! A kernel runs block by block; a block is four registers of 32-bit lanes. [`load`] brings the elements of a source into the block as float32
//! (values that float32 cannot hold are rounded to odd, as in `hub`). A [`target`] rounds once, packs the four registers into as many as the
//! target needs, and stores these. With four registers packing costs least, and there is enough independent work in flight.
//!
//! The algorithms here are independent of the instruction set; [`Simd`] lists the operations that they require. A tier with masked loads and
//! stores masks the last, incomplete block. Any other tier casts the last whole block again, overlapping the one before; if there is no whole
//! block, or the target is packed, it casts a block on the stack ([`padded`]).

use super::{
    load::{self, Loaded},
    target::Target,
};
use crate::format::words::shape;
use crate::vector::style::{self, Mode};
use crate::{
    dtype::{DType, Encoding, Spec},
    exact::{Rounding, Rules},
    format::data::Data,
    vector::{
        Casts, bytes,
        kernel::{KernelFn, Rounded, Steps},
        padded_bits,
        table::Table,
    },
};

/// Whether the kernel of a pair is one of these.
pub(crate) const fn covers(from: DType, to: DType) -> bool {
    let wide_float = matches!(from, DType::Float16 | DType::BFloat16 | DType::Float32);
    let loads =
        wide_float || matches!(from, DType::Float64) || matches!(from.spec(), Spec::Int { bits: 16.., .. });
    match to.spec() {
        Spec::Float(f) if f.bits() <= 8 => loads,
        Spec::Float(f) if f.bits() == 16 => loads,
        Spec::Float(f) => f.bits() == 32 && wide_float,
        Spec::Bool | Spec::Int { bits: ..=8, .. } => wide_float,
        _ => false,
    }
}

/// Whether these kernels round from a source of 16 bits or more to a target, which is a float of up to 16 bits.
pub(crate) fn rounds(from: DType, to: DType) -> bool {
    // Complex128 is loaded only for the first of two steps, to float32.
    let loads = covers(from, to) || matches!(from, DType::Complex128);
    from.size() > 1 && loads && matches!(to.spec(), Spec::Float(f) if f.bits() <= 16)
}

/// The kernel of a pair for which [`rounds`] holds, under other rules than the common ones; `None` for a packed side that has to be packed around
/// byte storage. `table` holds the tier's kernels under the common rules; `words` finds the kernels in lanes of 16 bits, and `styled` the kernels
/// of a mode.
pub(crate) fn rounded(
    from: Encoding,
    to: Encoding,
    rules: &Rules,
    table: &Table,
    words: fn(DType, DType) -> Option<KernelFn>,
    styled: impl Fn(DType, DType, Mode) -> Option<Steps>,
) -> Option<Rounded> {
    let (s, d) = (from.dtype(), to.dtype());
    let (mode, direction) = style::mode(d, rules);
    // Lanes of 16 bits round to nearest in every direction. They can make any NaN, except one that loses its sign.
    let common = match shape(s, d, rules.saturate) {
        Some(_) if rules.finite_nan_max => false,
        Some(shape) => match rules.rounding {
            Rounding::NearestEven => true,
            Rounding::NearestAway => !shape.same_exponent || shape.fnuz,
            _ => false,
        },
        None => mode == Mode::Common && (s.alignment() > 2 || s.float_spec().is_none()),
    };
    if common {
        let run = if from.is_packed() || to.is_packed() {
            table.get_packed(from, to, rules.saturate)?.run
        } else {
            table.get(s, d, rules.saturate).run
        };
        return Some(Rounded { run, direction, second: None });
    }
    if from.is_packed() || to.is_packed() {
        return None;
    }
    if rules.rounding != Rounding::NearestEven
        && let Some(run) = words(s, d)
    {
        return Some(Rounded { run, direction, second: None });
    }
    let Steps { first, second } = styled(s, d, mode)?;
    Some(Rounded { run: first, direction, second })
}

/// The kernel from a source to a family of targets. `whole` is the function into which this one is inlined.
///
/// # Safety
///
/// As [`KernelFn`].
#[inline(always)]
pub(crate) unsafe fn run<M: Casts, S: Loaded, T: Target<M>>(
    m: M,
    src: *const u8,
    dst: *mut u8,
    n: usize,
    data: &Data,
    whole: KernelFn,
) {
    let s = const { S::DTYPE.size() };
    // A block takes whole bytes in every packed width.
    let bits = T::BITS;
    let packed = const { T::BITS < 8 };
    // A copy, which stays in registers.
    let constants = *data;
    let mut i = 0;
    // SAFETY: every block begins at an element and ends at the last element or before, or is a part that ends there; `whole` is a kernel of the
    // same pair.
    unsafe {
        while n - i >= M::BLOCK {
            block::<M, S, T, false>(m, src.add(i * s), dst.add(bytes(i, bits)), M::BLOCK, &constants);
            i += M::BLOCK;
        }
        if i == n {
        } else if M::MASKED {
            block::<M, S, T, true>(m, src.add(i * s), dst.add(bytes(i, bits)), n - i, &constants);
        } else if i > 0 && !packed {
            i = n - M::BLOCK;
            block::<M, S, T, false>(m, src.add(i * s), dst.add(bytes(i, bits)), M::BLOCK, &constants);
        } else {
            let (src, dst) = (src.add(i * s), dst.add(bytes(i, bits)));
            padded_bits::<M>(m, whole, M::BLOCK, 8 * s, bits, src, dst, n - i, data);
        }
    }
}

/// # Safety
///
/// As for the methods of [`Simd`].
#[inline(always)]
unsafe fn block<M: Casts, S: Loaded, T: Target<M>, const PART: bool>(
    m: M,
    src: *const u8,
    dst: *mut u8,
    n: usize,
    data: &Data,
) {
    let float16 = matches!(S::DTYPE, DType::Float16 | DType::BFloat16);
    // SAFETY: the caller's promise is the same.
    unsafe {
        if T::TRUTH && float16 {
            let codes = m.nonzero_16(m.load_16::<PART>(src, n));
            m.store_8::<PART>(dst, m.in_order::<true>(codes), n);
        } else if matches!(S::DTYPE, DType::BFloat16) && !T::FLOAT32 {
            let words = m.load_16::<PART>(src, n);
            let sign = m.pack_sign_16(words);
            T::store::<S, PART, true>(m, dst, m.lane_split(words), Some(sign), n, data);
        } else {
            let x = load::load::<M, S, T, PART>(m, src, n);
            // Two registers have fewer signs to pack than four, and unsigned integers have none.
            let sign = if matches!(S::DTYPE.spec(), Spec::Int { signed: false, .. }) {
                Some(m.splat(0))
            } else if float16 && M::ONE_ORDER {
                Some(m.pack_sign_16(m.load_16::<PART>(src, n)))
            } else {
                None
            };
            T::store::<S, PART, false>(m, dst, x, sign, n, data);
        }
    }
}
