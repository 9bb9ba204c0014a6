//! The loops of [`ScaledPlan`] from codes, which run in the default floating-point environment.

use super::{
    blocks::Piece,
    error::{ScaledError, byte_len, check_len},
    factors::NORMAL,
    packing::{CHUNK, bytes_of, is_aligned, take},
    plan::ScaledPlan,
    rule::Rule,
    scheme::{Global, ScaleType},
};
use crate::{BufferType, CastOptions, CastPlan, DType};
use core::ops::Range;
use lanecast_kernels::scaled::{Factors, ScaledCast, ScaledLoops, Step, Word};

/// Memory of the stack.
#[repr(align(64))]
struct Buffer<T>([T; CHUNK]);

/// What the loops of a tier work in.
struct Scratch {
    /// The scales of blocks, and as often that of the tensor.
    blocks: Buffer<f32>,
    globals: Buffer<f32>,
    products: Buffer<Word>,
}

/// What codes are decoded with, and where to.
struct Decoder<'a> {
    plan: &'a ScaledPlan,
    rule: Rule<'a>,
    /// The destination of products.
    narrow: CastPlan,
    wide: CastPlan,
    codes: CastPlan,
    /// Products that are made in registers: as they are, and beside.
    fused: [Option<ScaledCast>; 2],
    /// Whether products are stored as they are.
    is_float32: bool,
}

impl ScaledPlan {
    /// [`dequantize`](Self::dequantize) in the default floating-point environment.
    pub(super) fn decode(
        &self,
        data: &[u8],
        scales: &[u8],
        global: f32,
        to: BufferType,
        dst: &mut [u8],
    ) -> Result<(), ScaledError> {
        let n = self.elements();
        if !matches!(to.dtype(), DType::Float16 | DType::BFloat16 | DType::Float32 | DType::Float64) {
            return Err(ScaledError::Source { dtype: to.dtype() });
        }
        self.without_zeros()?;
        check_len("data", self.data_len(), data.len())?;
        check_len("scales", self.scales_len(), scales.len())?;
        check_len("destination", byte_len(to, n)?, dst.len())?;
        let block = matches!(self.scheme.scale, ScaleType::E4M3(_));
        let narrow = CastPlan::new(DType::Float32, to, &CastOptions::RUST)?;
        let fused = |beside| {
            let step = Step::Product { block, beside };
            ScaledCast::new(narrow.kernel(), DType::Float32, step)
        };
        let decoder = Decoder {
            plan: self,
            rule: Rule::of_global(&self.scheme, self.codes, self.global(global)?),
            fused: [fused(false), fused(true)],
            narrow,
            wide: CastPlan::new(DType::Float64, to, &CastOptions::RUST)?,
            codes: self.decoder()?,
            is_float32: to == BufferType::new(DType::Float32),
        };
        // The loops are exact for products of short codes that float64 need not hold.
        let divided = self.scheme.scale == ScaleType::E4M3(Global::Divisor);
        let short = self.scheme.element.bits() <= 8 && to.dtype() != DType::Float64 && !divided;
        let loops = self.casts.loops.filter(|_| short);
        let global = decoder.rule.global;
        let mut scratch = Scratch {
            blocks: Buffer([0.0; CHUNK]),
            globals: Buffer([global; CHUNK]),
            products: Buffer([[0; 4]; CHUNK]),
        };
        let size = to.dtype().size();
        for piece in self.blocks.pieces(0..n, CHUNK) {
            let dst = &mut dst[piece.elements.start * size..piece.elements.end * size];
            if let Some(loops) = loops
                && decoder.by_loops(loops, data, scales, &piece, &mut scratch, dst)?
            {
                continue;
            }
            decoder.in_double_precision(data, scales, &piece, dst)?;
        }
        Ok(())
    }
}

impl Decoder<'_> {
    /// Decodes a piece by the loops of a tier. `false`, with nothing done, if a scale is beyond what they are exact for.
    fn by_loops(
        &self,
        loops: ScaledLoops,
        data: &[u8],
        scales: &[u8],
        piece: &Piece,
        scratch: &mut Scratch,
        dst: &mut [u8],
    ) -> Result<bool, ScaledError> {
        let (plan, n, blocks) = (self.plan, piece.elements.len(), piece.blocks());
        let size = plan.scheme.scale.dtype().size();
        let scales = &scales[piece.block * size..(piece.block + blocks) * size];
        let values = &mut scratch.blocks.0[..blocks];
        plan.casts.load_scales.run(scales, bytemuck::cast_slice_mut(values), blocks)?;
        let block = matches!(plan.scheme.scale, ScaleType::E4M3(_));
        // Powers of two leave nothing to round.
        let beside = !self.is_float32 && plan.scheme.scale != ScaleType::E8M0;
        let unit = plan.codes.unit as f32;
        if unit != 1.0 {
            values.iter_mut().for_each(|x| *x /= unit);
        }
        let globals = &scratch.globals.0[..blocks];
        let factors = match block {
            true => Factors { block: values, scale: globals, ..Factors::default() },
            false => Factors { scale: values, ..Factors::default() },
        };
        let fit = || {
            factors.scale.iter().all(|scale| NORMAL.contains(scale))
                && factors.block.iter().all(|x| x.is_sign_positive())
        };
        // What a NaN of another origin than the code is, arithmetic leaves open.
        let infinite = plan.scheme.element.float_spec().is_some_and(|float| float.infinity().is_some());
        let regular = |x: &f32| x.is_finite() && (*x != 0.0 || !infinite);
        if beside && !fit() || !factors.scale.iter().chain(factors.block).all(regular) {
            return Ok(false);
        }
        let step = Step::Product { block, beside };
        let products = match self.is_float32 {
            true => bytemuck::cast_slice_mut(dst),
            false => &mut scratch.products.0[..n],
        };
        self.codes_to_float32(data, piece, products.as_flattened_mut())?;
        if self.is_float32 {
            let done = loops.step_in_place(step, products, piece.run, &factors);
            debug_assert!(done, "a scale for each block");
            return Ok(true);
        }
        let products = &mut scratch.products.0[..n];
        let done = match self.fused[usize::from(beside)] {
            Some(fused) => fused.run(products.as_flattened(), dst, n, piece.run, &factors),
            None => 0,
        };
        let rest = &mut products[done..];
        let left = |of: &'_ [f32]| -> Range<usize> { (done / piece.run).min(of.len())..of.len() };
        let (block, scale) = (&factors.block[left(factors.block)], &factors.scale[left(factors.scale)]);
        let stepped = loops.step_in_place(step, rest, piece.run, &Factors { block, scale, ..factors });
        debug_assert!(stepped, "a scale for each block");
        let start = done * self.narrow.to().dtype().size();
        self.narrow.run(rest.as_flattened(), &mut dst[start..], n - done)?;
        Ok(true)
    }

    /// Decodes the codes of a piece.
    fn codes_to_float32(&self, data: &[u8], piece: &Piece, values: &mut [u8]) -> Result<(), ScaledError> {
        let (plan, n) = (self.plan, piece.elements.len());
        if is_aligned(plan.data, piece.elements.start) {
            let codes = &data[bytes_of(plan.data, &piece.elements)];
            plan.casts.decode_stored.run(codes, values, n)?;
        } else {
            let mut codes = [0; CHUNK];
            take(plan.data, data, piece.elements.clone(), &mut codes[..n]);
            plan.casts.decode.run(&codes[..n], values, n)?;
        }
        Ok(())
    }

    fn in_double_precision(
        &self,
        data: &[u8],
        scales: &[u8],
        piece: &Piece,
        dst: &mut [u8],
    ) -> Result<(), ScaledError> {
        let mut q = Buffer([0.0_f64; CHUNK]);
        let q = &mut q.0[..piece.elements.len()];
        self.plan.values(&self.codes, &self.rule, (data, scales), piece, q)?;
        self.wide.run(bytemuck::cast_slice(q), dst, q.len())?;
        Ok(())
    }
}
