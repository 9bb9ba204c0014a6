//! The loops of [`ScaledPlan`] to codes, which run in the default floating-point environment.

use super::{
    blocks::Piece,
    error::{ScaledError, byte_len, check_len},
    factors::SlabFactors,
    packing::{CHUNK, bytes_of, is_aligned, put},
    plan::{INFINITY, MAGNITUDE, ScaledPlan},
    report::Report,
    rule::{Rule, Scale, ScaleRule, to_source},
    scheme::{NonFinite, Quotient},
};
use crate::{Kind, finfo, stochastic::truncated_quotient};
use alloc::vec::Vec;
use core::ops::Range;
use lanecast_kernels::scaled::{ScaledLoops, Step, Word};
use lanecast_kernels::{Bytes, BytesMut};

/// The scales of a cast.
pub(super) enum Source<'a> {
    /// They are made of the elements, and written here.
    Elements(&'a mut [u8]),
    /// They are given.
    Given(&'a [u8]),
    /// They are made already, with their factors.
    Made(&'a [Scale]),
}

/// The largest magnitudes of the blocks of a slab.
pub(super) struct Amaxes {
    /// As codes of float32.
    pub(super) words: Vec<u32>,
    /// As codes of the source, if that has 16 bits.
    halves: Vec<u16>,
}

impl Amaxes {
    pub(super) fn new() -> Self {
        Self { words: Vec::new(), halves: Vec::new() }
    }

    pub(super) fn words(&self) -> &[Word] {
        bytemuck::cast_slice(&self.words)
    }
}

/// Elements in memory of the stack.
#[repr(align(64))]
pub(super) struct Buffer(pub(super) [Word; CHUNK]);

impl ScaledPlan {
    /// Casts with given scales.
    pub(super) fn quantize_by(
        &self,
        src: &[u8],
        scales: &[u8],
        global: f32,
        data: &mut [u8],
    ) -> Result<Report, ScaledError> {
        self.without_zeros()?;
        check_len("scales", self.scales_len(), scales.len())?;
        let rule = Rule::of_global(self, self.global(global)?);
        Ok(self.cast_and_compare(src, &rule, Source::Given(scales), scales, data)?.report())
    }

    /// Refuses schemes with zero points and schemes whose scales have to be given.
    pub(super) fn makes_scales(&self) -> Result<(), ScaledError> {
        self.without_zeros()?;
        match self.scheme.rule {
            ScaleRule::Given => {
                Err(ScaledError::Scheme { why: "the scales of this scheme have to be given" })
            }
            _ => Ok(()),
        }
    }

    /// Casts with scales that are made of the elements. `amax` has the bits of the largest magnitude that shares the tensor's scale;
    /// without it, that of the source.
    pub(super) fn quantize_of_amax(
        &self,
        src: &[u8],
        amax: Option<u32>,
        data: &mut [u8],
        scales: &mut [u8],
    ) -> Result<Report, ScaledError> {
        self.makes_scales()?;
        let amax = match amax {
            Some(amax) => amax,
            None if self.needs_amax() => self.amax_bits(src, INFINITY)?,
            None => 0,
        };
        let rule = self.rule_or(|| Rule::of_amax(self, amax));
        check_len("scales", self.scales_len(), scales.len())?;
        Ok(self.cast_and_compare(src, &rule, Source::Elements(scales), &[], data)?.report())
    }

    /// The bits of the largest magnitude whose bits are below `limit`.
    pub(super) fn amax_bits(&self, src: &[u8], limit: u32) -> Result<u32, ScaledError> {
        let n = self.elements();
        check_len("source", byte_len(self.from, n)?, src.len())?;
        let (mut amax, mut x) = (0, Buffer([[0; 4]; CHUNK]));
        if let Some(loops) = self.casts.loops {
            let mut of_all = Amaxes { words: Vec::from([0]), halves: Vec::from([0]) };
            let whole = Piece { elements: 0..n, run: n.max(1), block: 0 };
            if self.amaxes_by(loops, src, &whole, &mut of_all)? && self.widen(&mut of_all)? < limit {
                return Ok(of_all.words[0]);
            }
        }
        for start in (0..n).step_by(CHUNK) {
            let x = self.load(src, start..n.min(start + CHUNK), &mut x)?;
            let magnitudes = x.iter().map(|x| u32::from_ne_bytes(*x) & MAGNITUDE);
            amax = magnitudes.filter(|x| *x < limit).fold(amax, u32::max);
        }
        Ok(amax)
    }

    /// The elements of a range as `float32`: those of the source, if they are that.
    pub(super) fn load<'x>(
        &self,
        src: &'x [u8],
        range: Range<usize>,
        x: &'x mut Buffer,
    ) -> Result<&'x [Word], ScaledError> {
        let size = self.from.dtype().size();
        let bytes = &src[range.start * size..range.end * size];
        if self.casts.native && size == 4 {
            return Ok(bytemuck::cast_slice(bytes));
        }
        let x = &mut x.0[..range.len()];
        self.casts
            .load
            .run(Bytes::new(bytes, range.len()), BytesMut::new(x.as_flattened_mut(), range.len()))?;
        Ok(x)
    }

    /// Casts slab by slab: first the scales of its blocks, then its elements.
    pub(super) fn cast(
        &self,
        src: &[u8],
        rule: Rule<'_>,
        mut scales: Source<'_>,
        data: &mut [u8],
    ) -> Result<Report, ScaledError> {
        let n = self.elements();
        check_len("source", byte_len(self.from, n)?, src.len())?;
        check_len("data", self.data_len(), data.len())?;
        let counted = self.counts.then_some(0);
        let mut report =
            Report { global: rule.global, clipped: counted, underflowed: counted, ..Report::default() };
        let mut amaxes = Amaxes::new();
        let mut factors = SlabFactors::new();
        let (step, size) = (self.step(), self.scale_size());
        let (mut x, mut q) = (Buffer([[0; 4]; CHUNK]), Buffer([[0; 4]; CHUNK]));
        for (elements, blocks) in self.blocks.slabs() {
            factors.clear(step);
            match &mut scales {
                Source::Elements(scales) => {
                    self.amaxes(src, elements.clone(), &blocks, rule.ignores_non_finite(), &mut amaxes)?;
                    let scales = &mut scales[blocks.start * size..blocks.end * size];
                    if !self.scales_at_once(&rule, &amaxes, scales, &mut factors, &mut report) {
                        factors.clear(step);
                        for (i, &amax) in amaxes.words.iter().enumerate() {
                            if amax >= INFINITY && self.scheme.non_finite == NonFinite::Refuse {
                                return Err(ScaledError::NonFinite { block: blocks.start + i });
                            }
                            let scale = rule.scale(amax);
                            report.empty += u64::from(amax == 0);
                            report.poisoned += u64::from(amax >= INFINITY);
                            self.put_scale(scales, i, scale);
                            factors.push(&rule, scale);
                        }
                        factors.check();
                    }
                }
                Source::Made(scales) => {
                    scales[blocks.clone()].iter().for_each(|scale| factors.push(&rule, *scale));
                    factors.check();
                }
                Source::Given(scales) => {
                    if self.scheme.non_finite == NonFinite::Refuse {
                        self.amaxes(src, elements.clone(), &blocks, false, &mut amaxes)?;
                        if let Some(at) = amaxes.words.iter().position(|amax| *amax >= INFINITY) {
                            return Err(ScaledError::NonFinite { block: blocks.start + at });
                        }
                    }
                    blocks.clone().for_each(|i| factors.push(&rule, rule.with_factor(self.scale(scales, i))));
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
                    match (factors.step, self.casts.loops) {
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
        let Some(fused) = &self.casts.fused else { return 0 };
        if factors.step.is_none() || factors.any_nan || !is_aligned(self.data, start) {
            return 0;
        }
        let size = self.from.dtype().size();
        let src = &src[start * size..piece.elements.end * size];
        let data = &mut data[bytes_of(self.data, &piece.elements)];
        let by = piece.block - first..piece.block - first + piece.blocks();
        fused.run(src, data, piece.elements.len(), piece.run, &factors.of(by))
    }

    /// The largest magnitudes of the blocks of a slab.
    pub(super) fn amaxes(
        &self,
        src: &[u8],
        elements: Range<usize>,
        blocks: &Range<usize>,
        finite: bool,
        amaxes: &mut Amaxes,
    ) -> Result<(), ScaledError> {
        amaxes.words.clear();
        amaxes.words.resize(blocks.len(), 0);
        amaxes.halves.clear();
        amaxes.halves.resize(blocks.len(), 0);
        if let (Some(loops), false) = (self.casts.loops, finite) {
            let mut done = true;
            // Of long runs all at once: nothing is loaded for it.
            for mut piece in self.blocks.pieces(elements.clone(), usize::MAX) {
                piece.block -= blocks.start;
                done &= self.amaxes_by(loops, src, &piece, amaxes)?;
            }
            if done {
                self.widen(amaxes)?;
                return Ok(());
            }
        }
        let mut x = Buffer([[0; 4]; CHUNK]);
        for piece in self.blocks.pieces(elements, CHUNK) {
            let x = self.load(src, piece.elements.clone(), &mut x)?;
            let amaxes = &mut amaxes.words[piece.block - blocks.start..];
            for (run, amax) in x.chunks(piece.run).zip(amaxes) {
                let magnitudes = run.iter().map(|x| u32::from_ne_bytes(*x) & MAGNITUDE);
                *amax = magnitudes.filter(|x| !finite || *x < INFINITY).fold(*amax, u32::max);
            }
        }
        Ok(())
    }

    /// Raises the largest magnitudes of the blocks of a piece by the loops of a tier. `false` if those do not read such a source.
    fn amaxes_by(
        &self,
        loops: ScaledLoops,
        src: &[u8],
        piece: &Piece,
        amaxes: &mut Amaxes,
    ) -> Result<bool, ScaledError> {
        let size = self.from.dtype().size();
        let bytes = &src[piece.elements.start * size..piece.elements.end * size];
        let blocks = piece.block..piece.block + piece.blocks();
        match size {
            _ if !self.casts.native => return Ok(false),
            2 => loops.amax_16(bytemuck::cast_slice(bytes), piece.run, &mut amaxes.halves[blocks]),
            _ => loops.amax_32(bytemuck::cast_slice(bytes), piece.run, &mut amaxes.words[blocks]),
        }
        Ok(true)
    }

    /// Magnitudes of the source as float32; returns the largest of them.
    fn widen(&self, amaxes: &mut Amaxes) -> Result<u32, ScaledError> {
        if self.from.dtype().size() == 2 {
            let n = amaxes.halves.len();
            let words = bytemuck::cast_slice_mut(&mut amaxes.words);
            self.casts
                .load
                .run(Bytes::new(bytemuck::cast_slice(&amaxes.halves), n), BytesMut::new(words, n))?;
        }
        Ok(amaxes.words.iter().fold(0, |a, b| a.max(*b)))
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
            self.casts
                .encode_stored(self.data)
                .run(Bytes::new(q.as_flattened(), n), BytesMut::new(&mut data[bytes], n))?;
        } else {
            let mut codes = [0; CHUNK];
            let codes = &mut codes[..n];
            self.casts.encode.run(Bytes::new(q.as_flattened(), n), BytesMut::new(codes, n))?;
            put(self.data, codes, piece.elements.clone(), data);
        }
        Ok(())
    }

    /// The largest quotient that becomes zero.
    fn tiny(&self) -> f32 {
        finfo(self.scheme.element).map_or(0.5, |float| (float.smallest_subnormal / 2.0) as f32)
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
                    let source = self.from.dtype();
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
        self.casts
            .encode_wide
            .run(Bytes::new(bytemuck::cast_slice(q), q.len()), BytesMut::new(codes, q.len()))?;
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

    /// The code of a scale.
    pub(super) fn scale(&self, scales: &[u8], i: usize) -> u32 {
        match self.scale_size() {
            1 => u32::from(scales[i]),
            2 => u32::from(u16::from_ne_bytes([scales[2 * i], scales[2 * i + 1]])),
            _ => u32::from_ne_bytes(core::array::from_fn(|k| scales[4 * i + k])),
        }
    }

    pub(super) fn put_scale(&self, scales: &mut [u8], i: usize, scale: Scale) {
        match self.scale_size() {
            1 => scales[i] = scale.code as u8,
            2 => scales[2 * i..2 * i + 2].copy_from_slice(&(scale.code as u16).to_ne_bytes()),
            _ => scales[4 * i..4 * i + 4].copy_from_slice(&scale.code.to_ne_bytes()),
        }
    }
}
