//! [`ScaledPlan`]: a scheme for a tensor of one shape, resolved once.

use super::{
    blocks::Blocks,
    error::{ScaledError, byte_len, check_len},
    report::Report,
    rule::{Codes, Rule, Scale, ScaleRule},
    scheme::{Global, NonFinite, Quotient, ScaleType, Scheme},
};
use crate::{BufferType, CastOptions, CastPlan, DType, IntOverflow, IntRound, Saturate, Storage};
use alloc::{vec, vec::Vec};
use core::ops::Range;

/// Elements that are cast at once, in memory of the stack.
const CHUNK: usize = 512;

/// The bits of a `float32` without its sign.
const MAGNITUDE: u32 = 0x7FFF_FFFF;

/// The bits of infinity as `float32`.
const INFINITY: u32 = 0x7F80_0000;

/// A scaled cast of tensors of one dtype and shape.
///
/// Buffers are bytes in the byte order of the host, in C order and without gaps. Codes of less than 8 bits are packed unless
/// [`with_storage`](Self::with_storage) says otherwise.
///
/// ```
/// use lanecast::scaled::{ScaledPlan, Scheme};
/// use lanecast::DType;
/// let weights: Vec<u8> = (0..64).flat_map(|i| (i as f32 / 7.0).to_ne_bytes()).collect();
/// let plan = ScaledPlan::new(DType::Float32, &Scheme::MX, &[2, 32])?;
/// let (mut codes, mut scales) = (vec![0; plan.data_len()], vec![0; plan.scales_len()]);
/// plan.quantize_dynamic(&weights, &mut codes, &mut scales)?;
/// let mut back = vec![0; weights.len()];
/// plan.dequantize(&codes, &scales, 1.0, DType::Float32, &mut back)?;
/// # Ok::<(), lanecast::scaled::ScaledError>(())
/// ```
#[derive(Clone, Debug)]
pub struct ScaledPlan {
    scheme: Scheme,
    from: BufferType,
    data: BufferType,
    blocks: Blocks,
    codes: Codes,
    /// The source as `float32`, exact.
    load: CastPlan,
    /// Quotients to codes, of one byte each.
    encode: CastPlan,
}

/// The scales of a cast.
enum Source<'a> {
    /// They are made of the elements, and written here.
    Elements(&'a mut [u8]),
    /// They are given.
    Given(&'a [u8]),
}

impl ScaledPlan {
    /// Resolves a scheme for tensors of a shape.
    ///
    /// # Errors
    ///
    /// [`ScaledError::Source`] if the source is not float16, bfloat16 or float32; [`ScaledError::Element`], [`ScaledError::Scheme`],
    /// [`ScaledError::Axis`], [`ScaledError::EmptyBlock`] or [`ScaledError::Shape`] if the scheme does not fit itself or the shape;
    /// [`ScaledError::Cast`] if a dtype is not built.
    pub fn new(
        from: impl Into<BufferType>,
        scheme: &Scheme,
        shape: &[usize],
    ) -> Result<ScaledPlan, ScaledError> {
        let from = from.into();
        if !matches!(from.dtype(), DType::Float16 | DType::BFloat16 | DType::Float32) {
            return Err(ScaledError::Source { dtype: from.dtype() });
        }
        if scheme.quotient == Quotient::Exact && scheme.scale == ScaleType::E4M3(Global::Divisor) {
            let why = "an exact quotient needs a scale of the tensor that multiplies; take Quotient::Divide";
            return Err(ScaledError::Scheme { why });
        }
        if matches!(scheme.rule, ScaleRule::Pow2(_)) && matches!(scheme.scale, ScaleType::E4M3(_)) {
            let why = "a rule that gives powers of two needs scales of float8_e8m0fnu or a wider float";
            return Err(ScaledError::Scheme { why });
        }
        if scheme.quotient == Quotient::TimesMultiplier && scheme.scale != ScaleType::Float32 {
            return Err(ScaledError::Scheme { why: "a multiplier needs scales of float32" });
        }
        if scheme.scale == ScaleType::E8M0 && !matches!(scheme.rule, ScaleRule::Pow2(_) | ScaleRule::Given) {
            let why = "scales of float8_e8m0fnu need a rule that gives powers of two";
            return Err(ScaledError::Scheme { why });
        }
        let codes = Codes::of(scheme)?;
        let blocks = Blocks::new(scheme.granularity, shape)?;
        let mut options = CastOptions::RUST;
        options.saturate = Saturate::On;
        options.float_to_int = IntOverflow::Saturate;
        options.int_round = IntRound::NearestEven;
        Ok(ScaledPlan {
            scheme: *scheme,
            from,
            data: BufferType::packed(scheme.element),
            blocks,
            codes,
            load: CastPlan::new(from, DType::Float32, &CastOptions::RUST)?,
            encode: CastPlan::new(DType::Float64, scheme.element, &options)?,
        })
    }

    /// The same cast with another storage of the codes.
    #[must_use]
    pub fn with_storage(self, storage: Storage) -> ScaledPlan {
        ScaledPlan { data: BufferType::with_storage(self.scheme.element, storage), ..self }
    }

    /// The scheme.
    pub fn scheme(&self) -> &Scheme {
        &self.scheme
    }

    /// The dtype and storage of the codes.
    pub fn data_type(&self) -> BufferType {
        self.data
    }

    /// The dtype of the scales, in the byte order of the host.
    pub fn scale_type(&self) -> BufferType {
        BufferType::new(self.scheme.scale.dtype())
    }

    /// Elements of the tensor.
    pub fn elements(&self) -> usize {
        self.blocks.elements()
    }

    /// Bytes of the codes.
    pub fn data_len(&self) -> usize {
        self.data.byte_len(self.elements()).unwrap_or(usize::MAX)
    }

    /// The number of scales: one for each block, in C order.
    pub fn scales(&self) -> usize {
        self.blocks.scales()
    }

    /// Bytes of the scales.
    pub fn scales_len(&self) -> usize {
        self.scales() * self.scheme.scale.dtype().size()
    }

    /// Scales and casts a tensor in one go. If the scheme has a scale for the tensor, that is in the report, and the source is read
    /// twice.
    ///
    /// # Errors
    ///
    /// [`ScaledError::Length`], with nothing written, if a buffer has not exactly the bytes of the shape, of [`data_len`](Self::data_len) and
    /// of [`scales_len`](Self::scales_len); [`ScaledError::NonFinite`] if the scheme refuses a value; [`ScaledError::Scheme`] if its scales have
    /// to be given.
    pub fn quantize_dynamic(
        &self,
        src: &[u8],
        data: &mut [u8],
        scales: &mut [u8],
    ) -> Result<Report, ScaledError> {
        let amax = match self.scheme.scale {
            ScaleType::E4M3(_) => self.finite_amax(src)?,
            _ => 0,
        };
        self.quantize_of_amax(src, amax, data, scales)
    }

    /// [`quantize_dynamic`](Self::quantize_dynamic) of a part of a larger tensor, or of one of several that share a scale: `amax` is the
    /// [`amax`](Self::amax) of all of them.
    ///
    /// # Errors
    ///
    /// As [`quantize_dynamic`](Self::quantize_dynamic); [`ScaledError::Global`] if `amax` is not finite.
    pub fn quantize_with_amax(
        &self,
        src: &[u8],
        amax: f32,
        data: &mut [u8],
        scales: &mut [u8],
    ) -> Result<Report, ScaledError> {
        if !amax.is_finite() {
            return Err(ScaledError::Global { given: amax });
        }
        self.quantize_of_amax(src, amax.to_bits() & MAGNITUDE, data, scales)
    }

    fn quantize_of_amax(
        &self,
        src: &[u8],
        amax: u32,
        data: &mut [u8],
        scales: &mut [u8],
    ) -> Result<Report, ScaledError> {
        if self.scheme.rule == ScaleRule::Given {
            return Err(ScaledError::Scheme { why: "the scales of this scheme have to be given" });
        }
        let rule = Rule::of_amax(&self.scheme, self.codes, amax);
        check_len("scales", self.scales_len(), scales.len())?;
        self.cast(src, rule, Source::Elements(scales), data)
    }

    /// Casts with given scales. `global` is the scale of the tensor, and ignored by schemes without one.
    ///
    /// # Errors
    ///
    /// As [`quantize_dynamic`](Self::quantize_dynamic); [`ScaledError::Global`] if `global` is not positive and finite.
    pub fn quantize(
        &self,
        src: &[u8],
        scales: &[u8],
        global: f32,
        data: &mut [u8],
    ) -> Result<Report, ScaledError> {
        check_len("scales", self.scales_len(), scales.len())?;
        let rule = Rule::of_global(&self.scheme, self.codes, self.global(global)?);
        self.cast(src, rule, Source::Given(scales), data)
    }

    fn global(&self, given: f32) -> Result<f32, ScaledError> {
        match self.scheme.scale {
            ScaleType::E4M3(_) if !(given > 0.0 && given < f32::INFINITY) => {
                Err(ScaledError::Global { given })
            }
            ScaleType::E4M3(_) => Ok(given),
            _ => Ok(1.0),
        }
    }

    /// The largest magnitude of a tensor; NaN or infinity if it has one. That of several parts is the largest of theirs.
    ///
    /// # Errors
    ///
    /// [`ScaledError::Length`] if `src` has not exactly the bytes of the shape.
    pub fn amax(&self, src: &[u8]) -> Result<f32, ScaledError> {
        Ok(f32::from_bits(self.amax_bits(src, u32::MAX)?))
    }

    /// The bits of the largest finite magnitude.
    fn finite_amax(&self, src: &[u8]) -> Result<u32, ScaledError> {
        self.amax_bits(src, INFINITY)
    }

    /// The bits of the largest magnitude whose bits are below `limit`.
    fn amax_bits(&self, src: &[u8], limit: u32) -> Result<u32, ScaledError> {
        let n = self.elements();
        check_len("source", byte_len(self.from, n)?, src.len())?;
        let (mut amax, mut x) = (0, [0.0; CHUNK]);
        for first in (0..n).step_by(CHUNK) {
            let x = self.load(src, first..n.min(first + CHUNK), &mut x)?;
            amax = x.iter().map(|x| x.to_bits() & MAGNITUDE).filter(|x| *x < limit).fold(amax, u32::max);
        }
        Ok(amax)
    }

    /// The elements of a range as `float32`.
    fn load<'x>(
        &self,
        src: &[u8],
        range: Range<usize>,
        x: &'x mut [f32; CHUNK],
    ) -> Result<&'x [f32], ScaledError> {
        let size = self.from.dtype().size();
        let x = &mut x[..range.len()];
        let bytes = &src[range.start * size..range.end * size];
        self.load.run(bytes, bytemuck::cast_slice_mut(x), range.len())?;
        Ok(x)
    }

    /// Casts slab by slab: first the scales of its blocks, then its elements.
    fn cast(
        &self,
        src: &[u8],
        rule: Rule<'_>,
        mut scales: Source<'_>,
        data: &mut [u8],
    ) -> Result<Report, ScaledError> {
        let n = self.elements();
        check_len("source", byte_len(self.from, n)?, src.len())?;
        check_len("data", self.data_len(), data.len())?;
        let mut report = Report { global: rule.global, ..Report::default() };
        let (mut amaxes, mut factors) = (Vec::new(), Vec::new());
        let mut x = [0.0; CHUNK];
        for (elements, blocks) in self.blocks.slabs() {
            factors.clear();
            match &mut scales {
                Source::Elements(scales) => {
                    amaxes.clear();
                    amaxes.resize(blocks.len(), 0_u32);
                    for range in chunks(elements.clone()) {
                        let x = self.load(src, range.clone(), &mut x)?;
                        self.amaxes(x, range, blocks.start, rule.ignores_non_finite(), &mut amaxes);
                    }
                    for (i, &amax) in amaxes.iter().enumerate() {
                        if amax >= INFINITY && self.scheme.non_finite == NonFinite::Refuse {
                            return Err(ScaledError::NonFinite { block: blocks.start + i });
                        }
                        let scale = rule.scale(amax);
                        report.empty += u64::from(amax == 0);
                        report.poisoned += u64::from(amax >= INFINITY);
                        self.put_scale(scales, blocks.start + i, scale);
                        factors.push(scale.factor);
                    }
                }
                Source::Given(scales) => {
                    factors.extend(blocks.clone().map(|i| rule.with_factor(self.scale(scales, i)).factor));
                }
            }
            for range in chunks(elements) {
                let x = self.load(src, range.clone(), &mut x)?;
                self.codes(x, range, blocks.start, &factors, data, &mut report)?;
            }
        }
        report.elements = n as u64;
        Ok(report)
    }

    /// Raises the largest magnitudes of the blocks that the elements of a range belong to.
    fn amaxes(&self, x: &[f32], range: Range<usize>, first: usize, finite: bool, amaxes: &mut [u32]) {
        let mut rest = x;
        for (len, block) in self.blocks.runs(range) {
            let (run, behind) = rest.split_at(len);
            let magnitudes = run.iter().map(|x| x.to_bits() & MAGNITUDE);
            let amax = match finite {
                true => magnitudes.map(|x| if x < INFINITY { x } else { 0 }).fold(0, u32::max),
                false => magnitudes.fold(0, u32::max),
            };
            amaxes[block - first] = amaxes[block - first].max(amax);
            rest = behind;
        }
    }

    /// Casts the elements of a range by the factors of their blocks, the first of which is `first`.
    fn codes(
        &self,
        x: &[f32],
        range: Range<usize>,
        first: usize,
        factors: &[f64],
        data: &mut [u8],
        report: &mut Report,
    ) -> Result<(), ScaledError> {
        let (mut q, n) = ([0.0; CHUNK], x.len());
        let mut done = 0;
        for (len, block) in self.blocks.runs(range.clone()) {
            let (x, q) = (&x[done..done + len], &mut q[done..done + len]);
            done += len;
            let (factor, narrow) = (factors[block - first], factors[block - first] as f32);
            if factor.is_nan() {
                continue;
            }
            let each = x.iter().zip(q);
            match self.scheme.quotient {
                Quotient::Exact => each.for_each(|(x, q)| *q = f64::from(*x) / factor),
                Quotient::Divide => each.for_each(|(x, q)| *q = f64::from(*x / narrow)),
                Quotient::DivideBFloat16 => {
                    each.for_each(|(x, q)| *q = f64::from(crate::half::bf16::from_f32(*x / narrow)));
                }
                Quotient::TimesReciprocal | Quotient::TimesGlobalReciprocal | Quotient::TimesMultiplier => {
                    // The reciprocal of a scale of zero is infinity, and zero has to stay what it is.
                    each.for_each(|(x, q)| {
                        *q = if *x == 0.0 { f64::from(*x) } else { f64::from(*x * narrow) }
                    });
                }
            }
        }
        let q = &mut q[..n];
        let max = self.codes.max * self.codes.unit;
        if self.codes.unit != 1.0 {
            // Microscaled integers have as many negative values as positive ones.
            q.iter_mut().for_each(|q| *q *= self.codes.unit);
            report.clipped += q.iter().filter(|q| q.abs() > max).count() as u64;
            q.iter_mut().for_each(|q| *q = q.clamp(-max, max));
        } else {
            report.clipped += q.iter().filter(|q| q.abs() > max).count() as u64;
        }
        self.put_codes(q, x, range, data, report)
    }

    /// Rounds quotients and stores the codes.
    fn put_codes(
        &self,
        q: &[f64],
        x: &[f32],
        range: Range<usize>,
        data: &mut [u8],
        report: &mut Report,
    ) -> Result<(), ScaledError> {
        let mut codes = [0_u8; 2 * CHUNK];
        let size = self.scheme.element.size();
        let codes = &mut codes[..q.len() * size];
        self.encode.run(bytemuck::cast_slice(q), codes, q.len())?;
        if size == 1 {
            let magnitude = match self.scheme.element.kind() {
                crate::Kind::Float => (1 << (self.scheme.element.bits() - 1)) - 1,
                _ => u8::MAX,
            };
            let lost = codes.iter().zip(x).filter(|(code, x)| **code & magnitude == 0 && **x != 0.0).count();
            report.underflowed += lost as u64;
        }
        put(self.data, codes, range, data);
        Ok(())
    }

    /// The code of a scale.
    fn scale(&self, scales: &[u8], i: usize) -> u32 {
        match self.scheme.scale.dtype().size() {
            1 => u32::from(scales[i]),
            2 => u32::from(u16::from_ne_bytes([scales[2 * i], scales[2 * i + 1]])),
            _ => u32::from_ne_bytes(core::array::from_fn(|k| scales[4 * i + k])),
        }
    }

    fn put_scale(&self, scales: &mut [u8], i: usize, scale: Scale) {
        match self.scheme.scale.dtype().size() {
            1 => scales[i] = scale.code as u8,
            2 => scales[2 * i..2 * i + 2].copy_from_slice(&(scale.code as u16).to_ne_bytes()),
            _ => scales[4 * i..4 * i + 4].copy_from_slice(&scale.code.to_ne_bytes()),
        }
    }

    /// The values that codes and scales stand for: the exact product, rounded once.
    ///
    /// # Errors
    ///
    /// As [`quantize`](Self::quantize), for `dst` in place of the source; [`ScaledError::Source`] if `to` is not a real float of at least 16
    /// bits.
    pub fn dequantize(
        &self,
        data: &[u8],
        scales: &[u8],
        global: f32,
        to: impl Into<BufferType>,
        dst: &mut [u8],
    ) -> Result<(), ScaledError> {
        let (to, n) = (to.into(), self.elements());
        if !matches!(to.dtype(), DType::Float16 | DType::BFloat16 | DType::Float32 | DType::Float64) {
            return Err(ScaledError::Source { dtype: to.dtype() });
        }
        check_len("data", self.data_len(), data.len())?;
        check_len("scales", self.scales_len(), scales.len())?;
        check_len("destination", byte_len(to, n)?, dst.len())?;
        let rule = Rule::of_global(&self.scheme, self.codes, self.global(global)?);
        let decode = CastPlan::new(self.scheme.element, DType::Float64, &CastOptions::RUST)?;
        let store = CastPlan::new(DType::Float64, to, &CastOptions::RUST)?;
        let size = self.scheme.element.size();
        let (mut codes, mut q) = (vec![0_u8; size * CHUNK], [0.0_f64; CHUNK]);
        for range in chunks(0..n) {
            let codes = &mut codes[..size * range.len()];
            take(self.data, data, range.clone(), codes);
            let q = &mut q[..range.len()];
            decode.run(codes, bytemuck::cast_slice_mut(q), range.len())?;
            let mut rest = &mut *q;
            for (len, block) in self.blocks.runs(range.clone()) {
                let (run, behind) = rest.split_at_mut(len);
                let (scale, unit) = (rule.parts(self.scale(scales, block)), self.codes.unit);
                // Codes have at most 8 bits and scales 24 and 4: every product is exact, and the last quotient rounded far from the
                // midpoints of the target.
                match self.scheme.scale {
                    ScaleType::E4M3(Global::Divisor) => {
                        run.iter_mut().for_each(|q| *q = *q * scale.0 / scale.1);
                    }
                    _ => run.iter_mut().for_each(|q| *q = *q / unit * scale.0 * scale.1),
                }
                rest = behind;
            }
            let bytes = &mut dst[range.start * to.dtype().size()..range.end * to.dtype().size()];
            store.run(bytemuck::cast_slice(q), bytes, range.len())?;
        }
        Ok(())
    }
}

/// Ranges of at most [`CHUNK`] elements that end at its multiples.
fn chunks(range: Range<usize>) -> impl Iterator<Item = Range<usize>> {
    let (mut start, end) = (range.start, range.end);
    core::iter::from_fn(move || {
        (start < end).then(|| {
            let chunk = start..end.min((start / CHUNK + 1) * CHUNK);
            start = chunk.end;
            chunk
        })
    })
}

/// Stores codes, one per byte or wider, as `data` does. Those in front of them are there already.
fn put(of: BufferType, codes: &[u8], range: Range<usize>, data: &mut [u8]) {
    let (bits, size) = (of.bits_per_element() as usize, of.dtype().size());
    if bits >= 8 {
        data[range.start * size..range.end * size].copy_from_slice(codes);
        return;
    }
    let mask = (1_u16 << bits) - 1;
    let first = range.start * bits;
    if first % 8 == 0 && 8 % bits == 0 {
        let per_byte = 8 / bits;
        for (byte, codes) in data[first / 8..].iter_mut().zip(codes.chunks(per_byte)) {
            let packed = codes.iter().enumerate().map(|(i, code)| (u16::from(*code) & mask) << (bits * i));
            *byte = packed.fold(0, |a, b| a | b) as u8;
        }
        return;
    }
    for (i, code) in codes.iter().enumerate() {
        let (byte, shift) = ((first + i * bits) / 8, (first + i * bits) % 8);
        let kept = u16::from(data[byte]) & ((1 << shift) - 1);
        let word = kept | (u16::from(*code) & mask) << shift;
        data[byte] = word as u8;
        if shift + bits > 8 {
            data[byte + 1] = (word >> 8) as u8;
        }
    }
}

/// The codes of a range, one per byte or wider.
fn take(of: BufferType, data: &[u8], range: Range<usize>, codes: &mut [u8]) {
    let (bits, size) = (of.bits_per_element() as usize, of.dtype().size());
    if bits >= 8 {
        codes.copy_from_slice(&data[range.start * size..range.end * size]);
        return;
    }
    let first = range.start * bits;
    for (i, code) in codes.iter_mut().enumerate() {
        let (byte, shift) = ((first + i * bits) / 8, (first + i * bits) % 8);
        let high = if shift + bits > 8 { u16::from(data[byte + 1]) << 8 } else { 0 };
        *code = ((u16::from(data[byte]) | high) >> shift & ((1 << bits) - 1)) as u8;
    }
}
