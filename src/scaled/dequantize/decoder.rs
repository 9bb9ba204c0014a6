//! The loops of [`Resolved`] from codes, which run in the default floating-point environment.

use super::super::{
    blocks::{Piece, Tile},
    error::ScaledError,
    kernels::Plain,
    packing::{CHUNK, bytes_of, is_aligned, take},
    quantized::Parts,
    resolved::Resolved,
    rule::{NORMAL, Rule},
    scheme::{Global, ScaleType},
};
use crate::options::CastOptions;
use core::ops::Range;
use lanecast_kernels::scaled::{Factors, ProductTable, ScaledCast, ScaledLoops, ScaledStream, Step};
use lanecast_kernels::{DType, Encoding, machine::SECOND_CACHE};

/// The mean number of elements of a block from which a table of products is worth making. In the second-level cache, a cast to bfloat16 by
/// tables was 6 % slower with 1024 elements and 20 % faster with 2048.
const LONG: usize = 2048;

/// The shortest run of a tile that is worth a call of its own.
const RUN: usize = 64;

/// A buffer on the stack.
#[repr(align(64))]
struct Buffer<T>([T; CHUNK]);

/// The scales that the loops of a tier read.
struct Scratch {
    /// The blocks whose scales are here, and whether the loops are exact for all of those.
    of: Range<usize>,
    fit: bool,
    /// The scales of blocks.
    blocks: Buffer<f32>,
    /// The tensor's scale, once for each block.
    globals: Buffer<f32>,
}

/// The casts of a decoding, and the step between them.
struct Decoder<'a> {
    plan: &'a Resolved,
    rule: Rule<'a>,
    /// The destination of products.
    narrow: Plain,
    wide: Plain,
    codes: Plain,
    step: Step,
    /// The loop that decodes in registers, if the pair has one.
    fused: Option<ScaledCast>,
    /// Whether products are stored as they are.
    is_float32: bool,
}

impl Resolved {
    /// The values of all codes, in C order.
    pub(super) fn decode(&self, of: Parts<'_>, to: Encoding, dst: &mut [u8]) -> Result<(), ScaledError> {
        let Parts { data, scales, global, .. } = of;
        let block = matches!(self.scheme.scale, ScaleType::E4M3(_));
        let narrow = Plain::new(DType::Float32, to, &CastOptions::RUST)?;
        // A product with a power of two is exact in float32, or infinite.
        let beside = to.dtype() != DType::Float32 && self.scheme.scale != ScaleType::E8M0;
        let step = Step::Product { block, beside };
        let decoder = Decoder {
            plan: self,
            rule: Rule::of_global(self, global),
            step,
            fused: ScaledCast::decoder(self.kernels.decode_stored(self.data), &narrow, step),
            narrow,
            wide: Plain::new(DType::Float64, to, &CastOptions::RUST)?,
            codes: self.decoder()?,
            is_float32: to == Encoding::new(DType::Float32),
        };
        // The loops are exact for products of short codes that float64 need not hold.
        let divided = self.scheme.scale == ScaleType::E4M3(Global::Divisor);
        let short = self.scheme.element.bits() <= 8 && to.dtype() != DType::Float64 && !divided;
        let loops = self.kernels.loops.filter(|_| short);
        let global = decoder.rule.global;
        let mut scratch =
            Scratch { of: 0..0, fit: false, blocks: Buffer([0.0; CHUNK]), globals: Buffer([global; CHUNK]) };
        let streams = decoder.narrow.streams(data.len() + dst.len());
        if loops.is_some() && !streams && decoder.by_tables(data, scales, &mut scratch, dst)? {
            return Ok(());
        }
        match (&decoder.fused, loops) {
            (Some(fused), Some(_)) if streams => {
                decoder.pieces(loops, Some(&mut fused.stream()), data, scales, &mut scratch, dst)
            }
            _ => decoder.pieces(loops, None, data, scales, &mut scratch, dst),
        }
    }
}

impl Decoder<'_> {
    /// Decodes all elements.
    fn pieces(
        &self,
        loops: Option<ScaledLoops>,
        mut stream: Option<&mut ScaledStream<'_>>,
        data: &[u8],
        scales: &[u8],
        scratch: &mut Scratch,
        dst: &mut [u8],
    ) -> Result<(), ScaledError> {
        let blocks = &self.plan.blocks;
        // As many blocks at once as there is memory for.
        for whole in blocks.pieces(0..blocks.elements(), blocks.run().saturating_mul(CHUNK)) {
            if let Some(loops) = loops
                && let Some(factors) = self.factors(scales, &whole, scratch)?
            {
                self.by_loops(loops, stream.as_deref_mut(), data, &whole, &factors, dst)?;
                continue;
            }
            for piece in blocks.pieces(whole.elements, CHUNK) {
                match (loops, self.factors(scales, &piece, scratch)?) {
                    (Some(loops), Some(factors)) => {
                        self.by_loops(loops, stream.as_deref_mut(), data, &piece, &factors, dst)?;
                    }
                    _ => self.in_double_precision(data, scales, &piece, dst)?,
                }
            }
        }
        Ok(())
    }

    /// The scales of the blocks of a piece; `None` if the loops are not exact for one of them.
    fn factors<'s>(
        &self,
        scales: &[u8],
        piece: &Piece,
        scratch: &'s mut Scratch,
    ) -> Result<Option<Factors<'s>>, ScaledError> {
        let Step::Product { block, beside } = self.step else { return Ok(None) };
        let (plan, blocks) = (self.plan, piece.blocks());
        if scratch.of != (piece.block..piece.block + blocks) {
            scratch.of = piece.block..piece.block + blocks;
            let size = plan.scale_size();
            let scales = &scales[scratch.of.start * size..scratch.of.end * size];
            let values = &mut scratch.blocks.0[..blocks];
            plan.kernels.load_scales.run(scales, bytemuck::cast_slice_mut(values), blocks)?;
            let unit = plan.codes.unit as f32;
            if unit != 1.0 {
                values.iter_mut().for_each(|x| *x /= unit);
            }
            // A NaN that does not come from a code has whatever sign the arithmetic of the CPU gives it.
            let infinite = plan.scheme.element.float_spec().is_some_and(|float| float.infinity().is_some());
            let limits = match (block, beside) {
                (false, true) => NORMAL,
                _ => -f32::MAX..f32::INFINITY,
            };
            let fits =
                |x: f32| limits.contains(&x) & (x != 0.0 || !infinite) & !(block & x.is_sign_negative());
            // Without an early exit, so that the compiler makes vector code of the loop.
            scratch.fit = values.iter().fold(true, |fit, x| fit & fits(*x))
                && (!block || !beside || NORMAL.contains(&self.rule.global));
        }
        let (values, globals) = (&scratch.blocks.0[..blocks], &scratch.globals.0[..blocks]);
        let factors = match block {
            true => Factors { block: values, scale: globals, ..Factors::default() },
            false => Factors { scale: values, ..Factors::default() },
        };
        Ok(scratch.fit.then_some(factors))
    }

    /// Decodes long blocks by tables of products. `false`, with nothing done, if there is no such lookup, or blocks are short.
    fn by_tables(
        &self,
        data: &[u8],
        scales: &[u8],
        scratch: &mut Scratch,
        dst: &mut [u8],
    ) -> Result<bool, ScaledError> {
        let blocks = &self.plan.blocks;
        let (Some(table), Some(tiles)) = (self.fused.and_then(ProductTable::new), blocks.tiles()) else {
            return Ok(false);
        };
        // One tile after the other, memory would be read in short pieces.
        let far = blocks.is_tiled() && data.len() + dst.len() > SECOND_CACHE;
        let short = blocks.run() < RUN || blocks.elements() / blocks.scales().max(1) < LONG;
        if far || short {
            return Ok(false);
        }
        let size = self.narrow.target().dtype().size();
        for Tile { start, rows, len, stride, block } in tiles {
            let piece = |start| Piece { elements: start..start + len, run: len, block };
            if let Some(factors) = self.factors(scales, &piece(start), scratch)?
                && table.run(&data[start..], &mut dst[start * size..], rows, stride, len, &factors)
            {
                continue;
            }
            for row in 0..rows {
                let elements = piece(start + row * stride).elements;
                for piece in blocks.pieces(elements, CHUNK) {
                    self.in_double_precision(data, scales, &piece, dst)?;
                }
            }
        }
        Ok(true)
    }

    /// Decodes a piece by the loops of a tier.
    fn by_loops(
        &self,
        loops: ScaledLoops,
        stream: Option<&mut ScaledStream<'_>>,
        data: &[u8],
        whole: &Piece,
        factors: &Factors<'_>,
        dst: &mut [u8],
    ) -> Result<(), ScaledError> {
        let (plan, start, size) = (self.plan, whole.elements.start, self.narrow.target().dtype().size());
        let mut done = 0;
        if is_aligned(plan.data, start) {
            let codes = &data[bytes_of(plan.data, &whole.elements)];
            let dst = &mut dst[start * size..whole.elements.end * size];
            done = match (stream, &self.fused) {
                (Some(stream), _) => stream.run(codes, dst, whole.elements.len(), whole.run, factors),
                (None, Some(fused)) => fused.run(codes, dst, whole.elements.len(), whole.run, factors),
                (None, None) => 0,
            };
        }
        for piece in plan.blocks.pieces(start + done..whole.elements.end, CHUNK) {
            let blocks = piece.block - whole.block..piece.block - whole.block + piece.blocks();
            let part = |of: &'_ [f32]| blocks.start.min(of.len())..blocks.end.min(of.len());
            let (block, scale) = (&factors.block[part(factors.block)], &factors.scale[part(factors.scale)]);
            let factors = Factors { block, scale, ..Factors::default() };
            let dst = &mut dst[piece.elements.start * size..piece.elements.end * size];
            if self.is_float32 {
                self.codes_to_float32(data, &piece, dst)?;
                let fits = loops.step_in_place(self.step, bytemuck::cast_slice_mut(dst), piece.run, &factors);
                debug_assert!(fits, "a scale for each block");
                continue;
            }
            let mut products = Buffer([[0; 4]; CHUNK]);
            let products = &mut products.0[..piece.elements.len()];
            self.codes_to_float32(data, &piece, products.as_flattened_mut())?;
            let fits = loops.step_in_place(self.step, products, piece.run, &factors);
            debug_assert!(fits, "a scale for each block");
            self.narrow.run(products.as_flattened(), dst, products.len())?;
        }
        Ok(())
    }

    /// Decodes the codes of a piece.
    fn codes_to_float32(&self, data: &[u8], piece: &Piece, values: &mut [u8]) -> Result<(), ScaledError> {
        let (plan, n) = (self.plan, piece.elements.len());
        if is_aligned(plan.data, piece.elements.start) {
            let codes = &data[bytes_of(plan.data, &piece.elements)];
            plan.kernels.decode_stored(plan.data).run(codes, values, n)?;
        } else {
            let mut codes = [0; CHUNK];
            take(plan.data, data, piece.elements.clone(), &mut codes[..n]);
            plan.kernels.decode.run(&codes[..n], values, n)?;
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
        let size = self.wide.target().dtype().size();
        let dst = &mut dst[piece.elements.start * size..piece.elements.end * size];
        self.wide.run(bytemuck::cast_slice(q), dst, q.len())?;
        Ok(())
    }
}
