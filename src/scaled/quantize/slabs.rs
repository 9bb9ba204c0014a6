//! The loops of [`Resolved`] to codes, slab by slab. They run in the default floating-point environment.

use super::{
    super::{
        blocks::Piece,
        error::ScaledError,
        packing::{CHUNK, bytes_of, is_aligned, put},
        report::Report,
        resolved::{INFINITY, MAGNITUDE, Resolved},
        rule::{Rule, Scale},
        scale_code::to_source,
        scheme::{NonFinite, Quotient},
    },
    amaxes::Amaxes,
    factors::SlabFactors,
    load::Buffer,
};
use crate::stochastic::truncated_quotient;
use core::ops::Range;
use lanecast_kernels::{
    Kind,
    scaled::{ScaledLoops, Step, Word},
};

/// The scales of a cast.
pub(super) enum Scales<'a> {
    /// They are made of the elements, and written here.
    Made(&'a mut [u8]),
    /// They are given.
    Given(&'a [u8]),
    /// They are made already, with their factors.
    Known(&'a [Scale]),
}

impl Resolved {
    /// Casts slab by slab: first the scales of its blocks, then its elements.
    pub(super) fn cast(
        &self,
        src: &[u8],
        rule: &Rule<'_>,
        mut scales: Scales<'_>,
        data: &mut [u8],
    ) -> Result<Report, ScaledError> {
        let n = self.elements();
        let counted = self.counts.then_some(0);
        let mut report = Report { clipped: counted, underflowed: counted, ..Report::default() };
        let mut amaxes = Amaxes::new();
        let mut factors = SlabFactors::new();
        let (step, size) = (self.step(), self.scale_size());
        let (mut x, mut q) = (Buffer([[0; 4]; CHUNK]), Buffer([[0; 4]; CHUNK]));
        for (elements, blocks) in self.blocks.slabs() {
            factors.clear(step);
            match &mut scales {
                Scales::Made(scales) => {
                    self.amaxes(src, elements.clone(), &blocks, rule.ignores_non_finite(), &mut amaxes)?;
                    let scales = &mut scales[blocks.start * size..blocks.end * size];
                    if !self.scales_at_once(rule, &amaxes, scales, &mut factors, &mut report) {
                        factors.clear(step);
                        for (i, &amax) in amaxes.words.iter().enumerate() {
                            if amax >= INFINITY && self.scheme.non_finite == NonFinite::Refuse {
                                return Err(ScaledError::NonFinite { block: blocks.start + i });
                            }
                            let scale = rule.scale(amax);
                            report.empty += u64::from(amax == 0);
                            report.poisoned += u64::from(amax >= INFINITY);
                            self.put_scale(scales, i, scale.code);
                            factors.push(rule, scale);
                        }
                        factors.check();
                    }
                }
                Scales::Known(scales) => {
                    scales[blocks.clone()].iter().for_each(|scale| factors.push(rule, *scale));
                    factors.check();
                }
                Scales::Given(scales) => {
                    if self.scheme.non_finite == NonFinite::Refuse {
                        self.amaxes(src, elements.clone(), &blocks, false, &mut amaxes)?;
                        if let Some(at) = amaxes.words.iter().position(|amax| *amax >= INFINITY) {
                            return Err(ScaledError::NonFinite { block: blocks.start + at });
                        }
                    }
                    blocks.clone().for_each(|i| factors.push(rule, rule.with_factor(self.scale(scales, i))));
                    factors.check();
                }
            }
            for whole in self.blocks.pieces(elements, usize::MAX) {
                let done = self.in_registers(src, &whole, blocks.start, &factors, data);
                let rest = whole.elements.start + done..whole.elements.end;
                for piece in self.blocks.pieces(rest, CHUNK) {
                    let x = self.load(src, piece.elements.clone(), &mut x)?;
                    let first = piece.block - blocks.start;
                    let by = first..first + piece.blocks();
                    match (factors.step, self.kernels.loops) {
                        (Some(step), Some(loops)) => {
                            let q = &mut q.0[..x.len()];
                            self.quotients(loops, step, x, q, &piece, &factors, by);
                            self.put_quotients(loops, x, q, &piece, data, &mut report)?;
                        }
                        _ => self.codes(x, &piece, &factors.wide[by], data, &mut report)?,
                    }
                }
            }
        }
        report.elements = n as u64;
        Ok(report)
    }

    /// Casts the first elements of a piece by a loop that scales in registers; returns how many.
    fn in_registers(
        &self,
        src: &[u8],
        piece: &Piece,
        first: usize,
        factors: &SlabFactors,
        data: &mut [u8],
    ) -> usize {
        let start = piece.elements.start;
        let Some(fused) = &self.kernels.fused else { return 0 };
        if factors.step.is_none() || factors.any_nan || !is_aligned(self.data, start) {
            return 0;
        }
        let size = self.source.dtype().size();
        let src = &src[start * size..piece.elements.end * size];
        let data = &mut data[bytes_of(self.data, &piece.elements)];
        let by = piece.block - first..piece.block - first + piece.blocks();
        fused.run(src, data, piece.elements.len(), piece.run, &factors.of(by))
    }

    /// The quotients of a piece by the loops of a tier.
    #[expect(clippy::too_many_arguments, reason = "a piece, what it is cast by, and where")]
    fn quotients(
        &self,
        loops: ScaledLoops,
        step: Step,
        x: &[Word],
        q: &mut [Word],
        piece: &Piece,
        factors: &SlabFactors,
        by: Range<usize>,
    ) {
        let numbers = factors.of(by);
        let done = loops.step(step, x, q, piece.run, &numbers);
        debug_assert!(done, "a factor for each block");
        if self.drops_signs() {
            q.iter_mut().for_each(|q| *q = (f32::from_ne_bytes(*q) + 0.0).to_ne_bytes());
        }
        if factors.any_nan {
            for (q, factor) in q.chunks_mut(piece.run).zip(numbers.factor) {
                if factor.is_nan() {
                    q.fill([0; 4]);
                }
            }
        }
    }

    /// Rounds quotients of float32 and stores the codes.
    fn put_quotients(
        &self,
        loops: ScaledLoops,
        x: &[Word],
        q: &mut [Word],
        piece: &Piece,
        data: &mut [u8],
        report: &mut Report,
    ) -> Result<(), ScaledError> {
        let (n, max) = (q.len(), (self.codes.max * self.codes.unit) as f32);
        if let (Some(clipped), Some(underflowed)) = (&mut report.clipped, &mut report.underflowed) {
            let [above, below, nan] =
                loops.counts(x, q, (self.codes.max * self.codes.unit) as f32, self.tiny());
            *clipped += u64::from(above);
            // NaN is zero where there is none.
            let lost_nan = self.scheme.element.float_spec().is_none_or(|float| float.nan().is_none());
            *underflowed += u64::from(below) + u64::from(if lost_nan { nan } else { 0 });
        }
        if self.codes.unit != 1.0 {
            // Microscaled integers have as many negative values as positive ones.
            q.iter_mut().for_each(|q| *q = f32::from_ne_bytes(*q).clamp(-max, max).to_ne_bytes());
        }
        if is_aligned(self.data, piece.elements.start) {
            let bytes = bytes_of(self.data, &piece.elements);
            self.kernels.encode_stored(self.data).run(q.as_flattened(), &mut data[bytes], n)?;
        } else {
            let mut codes = [0; CHUNK];
            let codes = &mut codes[..n];
            self.kernels.encode.run(q.as_flattened(), codes, n)?;
            put(self.data, codes, piece.elements.clone(), data);
        }
        Ok(())
    }

    /// The largest quotient that becomes zero.
    fn tiny(&self) -> f32 {
        self.scheme.element.finfo().map_or(0.5, |float| (float.smallest_subnormal / 2.0) as f32)
    }

    /// Casts the elements of a piece by the factors of its blocks, in double precision.
    fn codes(
        &self,
        x: &[Word],
        piece: &Piece,
        factors: &[f64],
        data: &mut [u8],
        report: &mut Report,
    ) -> Result<(), ScaledError> {
        let (mut q, n) = ([0.0; CHUNK], x.len());
        let q = &mut q[..n];
        for ((x, q), &factor) in x.chunks(piece.run).zip(q.chunks_mut(piece.run)).zip(factors) {
            let narrow = factor as f32;
            if factor.is_nan() {
                continue;
            }
            let each = x.iter().map(|x| f32::from_ne_bytes(*x)).zip(q);
            match self.scheme.quotient {
                Quotient::Exact if self.random.is_some() => {
                    each.for_each(|(x, q)| *q = truncated_quotient(f64::from(x), factor));
                }
                Quotient::Exact => each.for_each(|(x, q)| *q = f64::from(x) / factor),
                Quotient::Divide => each.for_each(|(x, q)| *q = f64::from(x / narrow)),
                Quotient::DivideUnsigned => each.for_each(|(x, q)| *q = f64::from(x / narrow + 0.0)),
                Quotient::DivideSource => {
                    let source = self.source.dtype();
                    each.for_each(|(x, q)| *q = f64::from(to_source(source, x / narrow)));
                }
                Quotient::TimesReciprocal | Quotient::TimesGlobalReciprocal | Quotient::TimesMultiplier => {
                    // The reciprocal of a scale of zero is infinity, and zero has to stay what it is.
                    let keeps_zero = narrow.is_infinite();
                    each.for_each(|(x, q)| {
                        *q = f64::from(if keeps_zero && x == 0.0 { x } else { x * narrow });
                    });
                }
            }
        }
        self.round(q, x, piece.elements.clone(), data, report)
    }

    /// Rounds quotients of float64, wherever they come from, and stores the codes. `x` has the elements that are zero.
    pub(super) fn round(
        &self,
        q: &mut [f64],
        x: &[Word],
        range: Range<usize>,
        data: &mut [u8],
        report: &mut Report,
    ) -> Result<(), ScaledError> {
        let max = self.codes.max * self.codes.unit;
        if self.codes.unit != 1.0 {
            q.iter_mut().for_each(|q| *q *= self.codes.unit);
        }
        if let Some(clipped) = &mut report.clipped {
            *clipped += q.iter().filter(|q| q.abs() > max).count() as u64;
        }
        if self.codes.unit != 1.0 {
            // Microscaled integers have as many negative values as positive ones.
            q.iter_mut().for_each(|q| *q = q.clamp(-max, max));
        }
        if let Some(random) = &self.random {
            random.round(range.start, q);
        }
        self.put_codes(q, x, range, data, report)
    }

    /// Rounds quotients and stores the codes.
    fn put_codes(
        &self,
        q: &[f64],
        x: &[Word],
        range: Range<usize>,
        data: &mut [u8],
        report: &mut Report,
    ) -> Result<(), ScaledError> {
        let mut codes = [0_u8; 2 * CHUNK];
        let size = self.scheme.element.size();
        let codes = &mut codes[..q.len() * size];
        self.kernels.encode_wide.run(bytemuck::cast_slice(q), codes, q.len())?;
        if let Some(underflowed) = &mut report.underflowed {
            let magnitude = match self.scheme.element.kind() {
                Kind::Float => (1 << (self.scheme.element.bits() - 1)) - 1,
                _ => u16::MAX,
            };
            let code = |bytes: &[u8]| match bytes {
                [low, high] => u16::from_ne_bytes([*low, *high]),
                bytes => u16::from(bytes[0]),
            };
            let is_zero = |x: &Word| u32::from_ne_bytes(*x) & MAGNITUDE == 0;
            let codes = codes.chunks_exact(size).map(code);
            let lost = codes.zip(x).filter(|(code, x)| code & magnitude == 0 && !is_zero(x)).count();
            *underflowed += lost as u64;
        }
        put(self.data, codes, range, data);
        Ok(())
    }
}
