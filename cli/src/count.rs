//! The second look: what became of values that did not fit their target.
//!
//! Source and result are cast to a wide dtype by the library and compared, a few thousand elements at a
//! time so that they stay in the cache. Which comparison is meaningful is decided once per pair
//! ([`Law::new`]); a pair that can lose nothing costs nothing.
//!
//! A value counts at most once. Rounding that stays inside the range counts nowhere: 450 becomes 448 in
//! `float8_e4m3fn` without being clamped, 465 is clamped. A fraction that an integer target drops is not an
//! underflow. Components of complex numbers count one by one, as long as the target keeps both.

use lanecast::{
    BufferType, CastError, CastOptions, CastPlan, DType, Flavor, FloatRound, FloatSpec, IntOverflow,
    IntRound, Spec,
};
use serde::Serialize;

use crate::{error::Result, options::Settings};

/// Elements looked at together. A multiple of four, so that packed elements begin at whole bytes.
const CHUNK: usize = 2048;

/// How many values did not fit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Counts {
    /// Clamped to an end of the range.
    pub saturated: u64,
    /// Reduced modulo the range of an integer target.
    pub wrapped: u64,
    /// Finite, became infinite.
    pub overflowed_to_infinity: u64,
    /// Became NaN.
    pub became_nan: u64,
    /// NaN, became a number because the target has no NaN.
    pub nan_lost: u64,
    /// Not zero, became zero.
    pub underflowed_to_zero: u64,
}

impl Counts {
    /// Adds `other`.
    pub fn add(&mut self, other: &Counts) {
        self.saturated += other.saturated;
        self.wrapped += other.wrapped;
        self.overflowed_to_infinity += other.overflowed_to_infinity;
        self.became_nan += other.became_nan;
        self.nan_lost += other.nan_lost;
        self.underflowed_to_zero += other.underflowed_to_zero;
    }
}

/// The second look at one pair.
#[derive(Debug)]
pub struct Look {
    law: Law,
    wide: DType,
    source: CastPlan,
    result: CastPlan,
    wide_source: Vec<u8>,
    wide_result: Vec<u8>,
}

impl Look {
    /// The look that the pair needs, if it needs one.
    pub fn new(settings: &Settings, from: BufferType, to: BufferType) -> Result<Option<Self>> {
        let Some(law) = Law::new(from.dtype(), to.dtype(), &settings.options) else {
            return Ok(None);
        };
        let wide = law.wide(from.dtype(), to.dtype());
        let plain = Settings { options: CastOptions::RUST, tier: settings.tier };
        let bytes = CHUNK * wide.size();
        Ok(Some(Self {
            law,
            wide,
            source: plain.plan(from, wide.into())?,
            result: plain.plan(to, wide.into())?,
            wide_source: vec![0; bytes],
            wide_result: vec![0; bytes],
        }))
    }

    /// Counts `n` elements of `source` and what they became in `result`.
    pub fn count(
        &mut self,
        source: &[u8],
        result: &[u8],
        n: usize,
        counts: &mut Counts,
    ) -> std::result::Result<(), CastError> {
        let step = |buffer: BufferType| CHUNK * buffer.bits_per_element() as usize / 8;
        let sources = source.chunks(step(self.source.from()));
        let results = result.chunks(step(self.result.from()));
        let mut left = n;
        for (source, result) in sources.zip(results) {
            let n = left.min(CHUNK);
            left -= n;
            self.source.run(source, &mut self.wide_source, n)?;
            if self.law.needs_result() {
                self.result.run(result, &mut self.wide_result, n)?;
            }
            let bytes = n * self.wide.size();
            self.law.judge(self.wide, &self.wide_source[..bytes], &self.wide_result[..bytes], counts);
        }
        Ok(())
    }
}

/// Which comparison a pair needs.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Law {
    /// Integers outside a range.
    Ints { low: i128, high: i128, wrap: bool },
    /// Floats outside a range of integers: `low <= rounded value < end`.
    FloatToInt { low: f64, end: f64, round: IntRound, wrap: bool },
    /// Anything to a float.
    ToFloat(Top),
}

/// The ends of a float format.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Top {
    /// Magnitudes from here on (or above, if not `inclusive`) are outside.
    edge: f64,
    inclusive: bool,
    /// The least value of a format that has no zero.
    least: Option<f64>,
}

impl Law {
    fn new(from: DType, to: DType, options: &CastOptions) -> Option<Self> {
        if from == to {
            return None;
        }
        match to.spec() {
            Spec::Bool => None,
            Spec::Int { bits, signed } => Self::to_int(from, bits, signed, options),
            Spec::Float(format) | Spec::Complex(format) => {
                if fits(from, format) {
                    None
                } else {
                    Some(Law::ToFloat(Top::new(format, options)))
                }
            }
        }
    }

    fn to_int(from: DType, bits: u32, signed: bool, options: &CastOptions) -> Option<Self> {
        let (low, high) = int_range(bits, signed);
        match from.spec() {
            Spec::Bool => None,
            Spec::Int { bits, signed } => {
                let (from_low, from_high) = int_range(bits, signed);
                let wrap = options.int_to_int == IntOverflow::Wrap;
                if low <= from_low && from_high <= high { None } else { Some(Law::Ints { low, high, wrap }) }
            }
            Spec::Float(_) | Spec::Complex(_) => Some(Law::FloatToInt {
                // Both are powers of two, or zero: exact.
                low: low as f64,
                end: (high + 1) as f64,
                round: options.int_round,
                wrap: options.float_to_int == IntOverflow::Wrap,
            }),
        }
    }

    /// The dtype that holds all that this law has to know of source and result.
    fn wide(&self, from: DType, to: DType) -> DType {
        match (self, from.spec()) {
            (Law::ToFloat(_), Spec::Complex(_)) if matches!(to.spec(), Spec::Complex(_)) => DType::Complex128,
            (Law::Ints { .. }, Spec::Int { signed: true, .. }) => DType::Int64,
            (Law::Ints { .. }, _) => DType::UInt64,
            (Law::FloatToInt { .. }, _) => DType::Float64,
            // For integers of 64 bits float64 is rounded, far above the edges of the formats that they can
            // leave.
            (Law::ToFloat(_), _) => DType::Float64,
        }
    }

    fn needs_result(&self) -> bool {
        matches!(self, Law::ToFloat(_))
    }

    fn judge(&self, wide: DType, source: &[u8], result: &[u8], counts: &mut Counts) {
        match *self {
            Law::Ints { low, high, wrap } => {
                let signed = wide == DType::Int64;
                let widen = |bits: u64| if signed { i128::from(bits as i64) } else { i128::from(bits) };
                let outside = words(source.as_chunks().0)
                    .filter(|bits| !(low..=high).contains(&widen(*bits)))
                    .count() as u64;
                *if wrap { &mut counts.wrapped } else { &mut counts.saturated } += outside;
            }
            Law::FloatToInt { low, end, round, wrap } => {
                let (mut outside, mut lost) = (0, 0);
                for x in groups(source) {
                    // However it is rounded, a value in here is inside.
                    if all(x, |x| low <= x && x < end - 1.0) {
                        continue;
                    }
                    for x in floats(x) {
                        let rounded = rounded(x, round);
                        outside += u64::from(rounded < low || rounded >= end);
                        lost += u64::from(x.is_nan());
                    }
                }
                counts.nan_lost += lost;
                *if wrap { &mut counts.wrapped } else { &mut counts.saturated } += outside;
            }
            Law::ToFloat(top) => {
                for (x, y) in groups(source).zip(groups(result)) {
                    if !top.is_usual(x, y) {
                        floats(x).zip(floats(y)).for_each(|(x, y)| top.judge(x, y, counts));
                    }
                }
            }
        }
    }
}

fn rounded(x: f64, round: IntRound) -> f64 {
    match round {
        IntRound::TowardZero => x.trunc(),
        IntRound::NearestEven => x.round_ties_even(),
        IntRound::NearestAway => x.round(),
        IntRound::Floor => x.floor(),
        IntRound::Ceil => x.ceil(),
    }
}

impl Top {
    fn new(format: FloatSpec, options: &CastOptions) -> Self {
        if format.flavor == Flavor::Exponent {
            let power = |e: i32| f64::powi(2.0, e);
            let (edge, least) = (power(format.max_exponent()), Some(power(format.min_exponent())));
            return Self { edge, inclusive: false, least };
        }
        let ulp = f64::powi(2.0, format.max_exponent() - format.mantissa_bits as i32);
        let digits = format.max_finite() & ((1 << format.mantissa_bits) - 1) | 1 << format.mantissa_bits;
        let max = digits as f64 * ulp;
        match options.float_round {
            // A tie goes to the even code, which may be the largest one.
            FloatRound::NearestEven => {
                Self { edge: max + ulp / 2.0, inclusive: digits % 2 == 1, least: None }
            }
            FloatRound::TowardZero => Self { edge: max + ulp, inclusive: true, least: None },
        }
    }

    /// Whether no value of a group counts: quickly said of almost all groups.
    fn is_usual(&self, x: &[[u8; 8]], y: &[[u8; 8]]) -> bool {
        match self.least {
            Some(least) => all(x, |x| least <= x && x <= self.edge),
            None => {
                let zeros =
                    floats(x).zip(floats(y)).fold(true, |same, (x, y)| same & ((x == 0.0) == (y == 0.0)));
                zeros && all(x, |x| x.abs() < self.edge)
            }
        }
    }

    fn judge(&self, x: f64, y: f64, counts: &mut Counts) {
        if x.is_nan() {
            counts.nan_lost += u64::from(!y.is_nan());
        } else if y.is_nan() {
            counts.became_nan += 1;
        } else if y.is_infinite() {
            counts.overflowed_to_infinity += u64::from(x.is_finite());
        } else if let Some(least) = self.least {
            counts.saturated += u64::from(x < least || x > self.edge);
        } else if x.abs() > self.edge || self.inclusive && x.abs() == self.edge {
            counts.saturated += 1;
        } else {
            counts.underflowed_to_zero += u64::from(y == 0.0 && x != 0.0);
        }
    }
}

/// Groups of elements that are judged at once if they are usual.
fn groups(bytes: &[u8]) -> impl Iterator<Item = &[[u8; 8]]> {
    bytes.as_chunks().0.chunks(64)
}

fn words(group: &[[u8; 8]]) -> impl Iterator<Item = u64> {
    group.iter().map(|word| u64::from_ne_bytes(*word))
}

fn floats(group: &[[u8; 8]]) -> impl Iterator<Item = f64> {
    words(group).map(f64::from_bits)
}

/// Whether all floats are so, without a branch for each.
fn all(group: &[[u8; 8]], so: impl Fn(f64) -> bool) -> bool {
    floats(group).fold(true, |all, x| all & so(x))
}

fn int_range(bits: u32, signed: bool) -> (i128, i128) {
    if signed { (-(1 << (bits - 1)), (1 << (bits - 1)) - 1) } else { (0, (1 << bits) - 1) }
}

/// Whether every value of `from` is inside `format` and zero only if it is zero.
fn fits(from: DType, format: FloatSpec) -> bool {
    if format.flavor == Flavor::Exponent {
        return false;
    }
    match from.spec() {
        Spec::Bool => true,
        Spec::Int { bits, .. } => bits as i32 <= format.max_exponent(),
        Spec::Float(source) | Spec::Complex(source) => {
            // Above the largest of the source nothing rounds beyond the target if there is room for one
            // more exponent.
            let top = source.max_exponent() < format.max_exponent()
                || source.max_exponent() == format.max_exponent()
                    && source.mantissa_bits <= format.mantissa_bits;
            let infinity = format.infinity().is_some() || source.infinity().is_none();
            let nan = format.nan().is_some() || source.nan().is_none();
            top && infinity && nan && format.min_exponent() <= source.min_exponent()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lanecast::{Saturate, Tier};

    fn count(from: DType, to: DType, options: CastOptions, values: &[f64]) -> Counts {
        let settings = Settings { options, tier: Tier::Scalar };
        let bytes: Vec<u8> = values.iter().flat_map(|x| x.to_ne_bytes()).collect();
        let n = values.len();
        let mut source = vec![0; n * from.size()];
        CastPlan::new(DType::Float64, from, &CastOptions::RUST).unwrap().run(&bytes, &mut source, n).unwrap();
        let mut result = vec![0; n * to.size()];
        CastPlan::new(from, to, &options).unwrap().run(&source, &mut result, n).unwrap();
        let mut counts = Counts::default();
        if let Some(mut look) = Look::new(&settings, from.into(), to.into()).unwrap() {
            look.count(&source, &result, n, &mut counts).unwrap();
        }
        counts
    }

    const RUST: CastOptions = CastOptions::RUST;
    const INF: f64 = f64::INFINITY;
    const NAN: f64 = f64::NAN;

    #[test]
    fn rounding_inside_the_range_is_not_clamping() {
        let values = [448.0, 450.0, 464.0, 465.0, -465.0, INF, NAN, 1e-9, 0.0, 1.0];
        let fp8 = DType::Float8E4M3FN;
        let counts = count(DType::Float32, fp8, RUST, &values);
        assert_eq!(counts, Counts { saturated: 3, underflowed_to_zero: 1, ..Counts::default() });
        let counts = count(DType::Float32, fp8, RUST.with_saturate(Saturate::Off), &values);
        assert_eq!(counts, Counts { became_nan: 3, underflowed_to_zero: 1, ..Counts::default() });
        let e5m2 = DType::Float8E5M2;
        let counts = count(DType::Float64, e5m2, RUST.with_saturate(Saturate::Off), &[61439.0, 61440.0, INF]);
        assert_eq!(counts, Counts { overflowed_to_infinity: 1, ..Counts::default() });
        let counts = count(DType::Float64, e5m2, RUST, &[61439.0, 61440.0, -INF]);
        assert_eq!(counts, Counts { saturated: 2, ..Counts::default() });
        // Truncated: up to the next code that does not exist.
        let truncating = RUST.with_float_round(FloatRound::TowardZero);
        assert_eq!(count(DType::Float32, fp8, truncating, &[479.0, 480.0]).saturated, 1);
        assert_eq!(count(DType::Float32, DType::Float16, truncating, &[65535.0, 65536.0]).saturated, 1);
    }

    #[test]
    fn formats_without_nan_zero_or_sign() {
        let counts = count(DType::Float32, DType::Float4E2M1FN, RUST, &[NAN, 4.9, 7.0, 0.1, -INF, 6.0]);
        assert_eq!(counts, Counts { saturated: 2, nan_lost: 1, underflowed_to_zero: 1, ..Counts::default() });
        let values = [0.0, -1.0, 1.5, f64::powi(2.0, 127), 3e38, NAN, 1e-39];
        let counts = count(DType::Float64, DType::Float8E8M0FNU, RUST, &values);
        assert_eq!(counts, Counts { saturated: 4, ..Counts::default() });
    }

    #[test]
    fn integers() {
        let values = [127.0, 128.0, -128.9, -129.0, NAN, INF, 0.4];
        let counts = count(DType::Float32, DType::Int8, RUST, &values);
        assert_eq!(counts, Counts { saturated: 3, nan_lost: 1, ..Counts::default() });
        let counts = count(DType::Float32, DType::Int8, CastOptions::ONNX, &values);
        assert_eq!(counts, Counts { wrapped: 3, nan_lost: 1, ..Counts::default() });
        let rounding = RUST.with_int_round(IntRound::NearestAway);
        assert_eq!(count(DType::Float32, DType::Int8, rounding, &[127.4, 127.5, -128.5]).saturated, 2);
        let end = f64::powi(2.0, 63);
        assert_eq!(count(DType::UInt64, DType::Int64, RUST, &[end, end - 1024.0]).wrapped, 1);
        assert_eq!(count(DType::Float64, DType::Int64, RUST, &[end, end - 1024.0, -end]).saturated, 1);
        assert_eq!(count(DType::Int64, DType::UInt64, RUST, &[-1.0, 1.0]).wrapped, 1);
        assert_eq!(count(DType::Int32, DType::Float16, RUST, &[65519.0, 65520.0]).overflowed_to_infinity, 1);
        assert_eq!(count(DType::Int8, DType::UInt4, RUST, &[-1.0, 15.0, 16.0]).wrapped, 2);
    }

    #[test]
    fn complex_components_count_one_by_one() {
        let options = RUST;
        let settings = Settings { options, tier: Tier::Scalar };
        let (from, to) = (DType::Complex128.into(), DType::Complex64.into());
        let source: Vec<u8> =
            [1e300, 1e-300, 1.0, 1e300].iter().flat_map(|x: &f64| x.to_ne_bytes()).collect();
        let mut result = vec![0; 16];
        settings.plan(from, to).unwrap().run(&source, &mut result, 2).unwrap();
        let mut counts = Counts::default();
        Look::new(&settings, from, to).unwrap().unwrap().count(&source, &result, 2, &mut counts).unwrap();
        let expected = Counts { overflowed_to_infinity: 2, underflowed_to_zero: 1, ..Counts::default() };
        assert_eq!(counts, expected);
    }

    #[test]
    fn a_pair_that_loses_nothing_is_not_looked_at() {
        let settings = Settings { options: RUST, tier: Tier::Scalar };
        let looked = |from: DType, to: DType| Look::new(&settings, from.into(), to.into()).unwrap().is_some();
        for (from, to) in [
            (DType::Float16, DType::Float32),
            (DType::Float16, DType::BFloat16),
            (DType::Float8E4M3FN, DType::Float16),
            (DType::Int32, DType::Float32),
            (DType::Int8, DType::Int64),
            (DType::UInt8, DType::Int16),
            (DType::Float64, DType::Bool),
            (DType::Bool, DType::Int2),
            (DType::Float4E2M1FN, DType::Float8E4M3FN),
            (DType::Complex64, DType::Complex128),
        ] {
            assert!(!looked(from, to), "{from} {to}");
        }
        for (from, to) in [
            (DType::Float32, DType::BFloat16),
            (DType::BFloat16, DType::Float16),
            (DType::Float8E4M3FN, DType::Float8E4M3FNUZ),
            (DType::Float8E8M0FNU, DType::Float16),
            (DType::UInt8, DType::Int8),
            (DType::Complex128, DType::Float32),
        ] {
            assert!(looked(from, to), "{from} {to}");
        }
    }
}
