//! Decodes and encodes every format under every rule, in integer arithmetic.
//!
//! This is the law in its plainest form: [`Exact`] holds every value of every dtype, [`decode`] never rounds, and the encoders
//! round once, from the exact value. It has three uses: constants and tables of the kernels are computed with it at
//! compile time, single values of the small floats are cast with it, and rules that are too rare for their own kernels
//! (rounding modes, NaN codes) run through it on every tier. It uses no floating-point register.

use crate::dtype::{DType, Flavor, FloatSpec, Spec};

/// How a value that the target cannot hold is rounded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Rounding {
    /// To the nearest, a tie to the even code.
    NearestEven,
    /// To the nearest, a tie to the larger magnitude.
    NearestAway,
    /// To the smaller magnitude.
    TowardZero,
    /// Toward negative infinity.
    Floor,
    /// Toward positive infinity.
    Ceil,
    /// To the neighbour with an odd code.
    ToOdd,
}

impl Rounding {
    /// All roundings; integers accept all but the last.
    pub const ALL: [Self; 6] =
        [Self::NearestEven, Self::NearestAway, Self::TowardZero, Self::Floor, Self::Ceil, Self::ToOdd];
}

/// Which values other than the powers of two themselves are in range of `float8_e8m0fnu`; `docs/semantics.md`, section 6.5.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum PowerRange {
    /// Values from its smallest to its largest value, before rounding.
    Exact,
    /// Positive values that round to at most its largest value.
    Rounded,
    /// As `Rounded`, with the sign dropped, and zero.
    Magnitude,
}

/// What encode does where a target leaves a choice; `docs/semantics.md`, section 3. Each rule is used only for the targets that it
/// applies to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Rules {
    /// Integers: the nearest end of the range instead of the low bits. 8-bit floats: the largest finite value instead of
    /// infinity or NaN.
    pub saturate: bool,
    /// Floats: any. Integers from floats: any except [`Rounding::ToOdd`]. `float8_e8m0fnu`: `Ceil`,
    /// `TowardZero` or `NearestAway`.
    pub rounding: Rounding,
    /// NaN in `float8_e5m2` is 7F instead of 7E.
    pub e5m2_nan_7f: bool,
    /// NaN in formats without one is the largest positive value instead of a zero of the opposite sign.
    pub finite_nan_max: bool,
    /// Infinity in FNUZ formats that saturate is NaN instead of the largest value of its sign.
    pub fnuz_inf_nan: bool,
    /// The range of `float8_e8m0fnu`.
    pub power_range: PowerRange,
}

impl Rules {
    /// The common rules, for which every tier has a kernel, with overflow as `saturate` says.
    pub const fn common(to: DType, saturate: bool) -> Self {
        let rounding = match to.spec() {
            Spec::Bool | Spec::Int { .. } => Rounding::TowardZero,
            Spec::Float(FloatSpec { flavor: Flavor::Exponent, .. }) => Rounding::Ceil,
            Spec::Float(_) | Spec::Complex(_) => Rounding::NearestEven,
        };
        Self {
            saturate,
            rounding,
            e5m2_nan_7f: false,
            finite_nan_max: false,
            fnuz_inf_nan: false,
            power_range: PowerRange::Exact,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Class {
    Finite,
    Infinite,
    Nan,
}

/// An exact real number, infinity or NaN.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Exact {
    pub(crate) class: Class,
    pub(crate) negative: bool,
    /// Finite: the value is `significand * 2^exponent`. NaN: the mantissa field of the float64 with this payload.
    pub(crate) significand: u64,
    pub(crate) exponent: i32,
}

const QUIET: u64 = 1 << 51;

impl Exact {
    pub(crate) const ZERO: Exact =
        Exact { class: Class::Finite, negative: false, significand: 0, exponent: 0 };

    /// The integer in the low `bits` of `code`.
    pub(crate) const fn from_int(bits: u32, signed: bool, code: u64) -> Exact {
        let unused = 64 - bits;
        let code = code << unused;
        let negative = signed && (code as i64) < 0;
        let significand = if signed { ((code as i64) >> unused).unsigned_abs() } else { code >> unused };
        Exact { class: Class::Finite, negative, significand, exponent: 0 }
    }

    /// The value of a code; bits above the format's are ignored.
    pub(crate) const fn from_float(f: FloatSpec, code: u64) -> Exact {
        let negative = code & f.sign_mask() != 0;
        let magnitude = code & f.magnitude_mask();
        let mantissa = magnitude & ((1 << f.mantissa_bits) - 1);
        let field = (magnitude >> f.mantissa_bits) as i32;
        let nan = match f.flavor {
            Flavor::Ieee => magnitude > f.exponent_field(),
            Flavor::Fn | Flavor::Exponent => magnitude == f.magnitude_mask(),
            Flavor::Fnuz => negative && magnitude == 0,
            Flavor::Finite => false,
        };
        if nan {
            // Only the wide formats have payloads to keep.
            let significand = if f.bits() >= 16 { mantissa << (52 - f.mantissa_bits) } else { QUIET };
            return Exact { class: Class::Nan, negative, significand, exponent: 0 };
        }
        if matches!(f.infinity(), Some(infinity) if magnitude == infinity) {
            return Exact { class: Class::Infinite, negative, significand: 0, exponent: 0 };
        }
        let (significand, exponent) = match f.flavor {
            Flavor::Exponent => (1, f.min_exponent() + field),
            _ if field == 0 => (mantissa, f.min_exponent()),
            _ => (mantissa | 1 << f.mantissa_bits, f.min_exponent() + field - 1),
        };
        Exact { class: Class::Finite, negative, significand, exponent }
    }

    #[cfg(test)]
    pub(crate) const fn is_nan(self) -> bool {
        matches!(self.class, Class::Nan)
    }

    /// `significand * 2^exponent`.
    pub(crate) const fn finite(significand: u64, exponent: i32) -> Exact {
        Exact { class: Class::Finite, negative: false, significand, exponent }
    }

    pub(crate) const fn is_zero(self) -> bool {
        matches!(self.class, Class::Finite) && self.significand == 0
    }

    /// `floor(log2(|x|))` of a finite nonzero value.
    pub(crate) const fn log2(self) -> i32 {
        63 - self.significand.leading_zeros() as i32 + self.exponent
    }
}

/// Whether the magnitude `kept`, followed by the dropped fraction `dropped / one`, goes up.
const fn rounds_up(rounding: Rounding, negative: bool, kept: u64, dropped: u128, one: u128) -> bool {
    let twice = 2 * dropped;
    match rounding {
        Rounding::NearestEven => twice > one || (twice == one && kept & 1 == 1),
        Rounding::NearestAway => twice >= one,
        Rounding::TowardZero => false,
        Rounding::Floor => negative && dropped != 0,
        Rounding::Ceil => !negative && dropped != 0,
        Rounding::ToOdd => dropped != 0 && kept & 1 == 0,
    }
}

/// `significand / 2^shift` rounded to an integer.
pub(crate) const fn shift_right(rounding: Rounding, negative: bool, significand: u64, shift: u32) -> u64 {
    // From 65 places on every nonzero significand is a fraction below one half.
    let shift = if shift > 65 { 65 } else { shift };
    let one = 1_u128 << shift;
    let kept = (significand as u128 >> shift) as u64;
    let dropped = significand as u128 & (one - 1);
    kept + rounds_up(rounding, negative, kept, dropped, one) as u64
}

/// `docs/semantics.md`, section 5.3 (and 5.1: an integer has no fraction).
pub(crate) const fn to_int(bits: u32, signed: bool, x: Exact, rules: &Rules) -> u64 {
    let mask = u64::MAX >> (64 - bits);
    let end = match (x.negative, signed) {
        (true, true) => 1 << (bits - 1),
        (true, false) => 0,
        (false, true) => mask >> 1,
        (false, false) => mask,
    };
    let magnitude = match x.class {
        Class::Nan => 0,
        Class::Infinite => {
            if rules.saturate {
                u64::MAX
            } else {
                0
            }
        }
        Class::Finite if x.exponent < 0 => {
            shift_right(rules.rounding, x.negative, x.significand, x.exponent.unsigned_abs())
        }
        Class::Finite if x.significand == 0 => 0,
        Class::Finite if rules.saturate && x.log2() >= 64 => u64::MAX,
        Class::Finite if x.exponent >= 64 => 0,
        Class::Finite => x.significand << x.exponent,
    };
    let magnitude = if rules.saturate && magnitude > end { end } else { magnitude };
    (if x.negative { magnitude.wrapping_neg() } else { magnitude }) & mask
}

/// `docs/semantics.md`, section 4.3.
pub(crate) const fn to_bool(x: Exact) -> bool {
    !x.is_zero()
}

/// `docs/semantics.md`, sections 4, 5.2 and 6.
pub(crate) const fn to_float(f: FloatSpec, x: Exact, rules: &Rules) -> u64 {
    if matches!(f.flavor, Flavor::Exponent) {
        return to_exponent(f, x, rules);
    }
    let sign = if x.negative { f.sign_mask() } else { 0 };
    let wide = f.bits() >= 16;
    match x.class {
        Class::Nan => return nan(f, x, rules),
        Class::Infinite if wide => return sign | f.exponent_field(),
        Class::Infinite if matches!(f.flavor, Flavor::Fnuz) && rules.fnuz_inf_nan => return f.sign_mask(),
        Class::Infinite => return sign | overflow(f, rules),
        Class::Finite => {}
    }
    if x.significand == 0 {
        return if matches!(f.flavor, Flavor::Fnuz) { 0 } else { sign };
    }
    let magnitude = rounded(f, x, rules.rounding);
    if magnitude > f.max_finite() {
        return match rules.rounding {
            _ if !wide => sign | overflow(f, rules),
            // IEEE 754, section 7.4: a direction towards the range gives the largest finite value.
            Rounding::TowardZero | Rounding::ToOdd => sign | f.max_finite(),
            Rounding::Floor if !x.negative => f.max_finite(),
            Rounding::Ceil if x.negative => sign | f.max_finite(),
            _ => sign | f.exponent_field(),
        };
    }
    if magnitude == 0 && matches!(f.flavor, Flavor::Fnuz) { 0 } else { sign | magnitude }
}

/// The magnitude code that a finite nonzero value rounds to, as if the exponent of the format were unbounded above.
pub(crate) const fn rounded(f: FloatSpec, x: Exact, rounding: Rounding) -> u64 {
    // The place of the last bit that the target keeps.
    let normal = x.log2() - f.mantissa_bits as i32;
    let place = if normal > f.min_exponent() { normal } else { f.min_exponent() };
    let shift = place - x.exponent;
    let kept = if shift <= 0 {
        x.significand << -shift
    } else {
        shift_right(rounding, x.negative, x.significand, shift as u32)
    };
    // The implicit bit in `kept` adds the one that is missing in the exponent field, and so does a carry.
    (((place - f.min_exponent()) as u64) << f.mantissa_bits) + kept
}

/// The magnitude that overflow and infinity become in a small float; the magnitude of the FNUZ formats' NaN is the sign bit itself.
const fn overflow(f: FloatSpec, rules: &Rules) -> u64 {
    match (f.infinity(), f.nan()) {
        _ if rules.saturate => f.max_finite(),
        (Some(infinity), _) => infinity,
        (None, Some(nan)) => nan,
        (None, None) => f.max_finite(),
    }
}

/// `docs/semantics.md`, section 4.2.
const fn nan(f: FloatSpec, x: Exact, rules: &Rules) -> u64 {
    let sign = if x.negative { f.sign_mask() } else { 0 };
    match (f.flavor, f.nan()) {
        (Flavor::Ieee, Some(nan)) => {
            let payload = x.significand >> (52 - f.mantissa_bits);
            let is_bfloat16 = f.exponent_bits == 8 && f.mantissa_bits == 7;
            let is_e5m2 = f.exponent_bits == 5 && f.mantissa_bits == 2;
            sign | nan
                | if f.bits() >= 16 && !is_bfloat16 { payload } else { (is_e5m2 && rules.e5m2_nan_7f) as u64 }
        }
        (Flavor::Fnuz, Some(nan)) => nan,
        (_, Some(nan)) => sign | nan,
        (_, None) if rules.finite_nan_max => f.max_finite(),
        (_, None) => sign ^ f.sign_mask(),
    }
}

/// `docs/semantics.md`, section 6.5.
const fn to_exponent(f: FloatSpec, x: Exact, rules: &Rules) -> u64 {
    let nan = f.magnitude_mask();
    let (below, above) = if rules.saturate { (0, f.max_finite()) } else { (nan, nan) };
    let exact = matches!(rules.power_range, PowerRange::Exact);
    let magnitude = matches!(rules.power_range, PowerRange::Magnitude);
    match x.class {
        Class::Nan => return nan,
        _ if x.negative && !magnitude => return below,
        Class::Infinite => return above,
        Class::Finite if x.significand == 0 => return if magnitude { 0 } else { below },
        Class::Finite => {}
    }
    let log2 = x.log2();
    if log2 < -f.bias {
        return if exact { below } else { 0 };
    }
    // The bits below the leading one, at the top of a word: 1.5 has only the highest of them.
    let fraction = (x.significand << x.significand.leading_zeros()) << 1;
    if log2 > f.max_exponent() || (exact && log2 == f.max_exponent() && fraction != 0) {
        return above;
    }
    let up = match rules.rounding {
        Rounding::Ceil => fraction != 0,
        // Code 0 acts as zero, because values below its own value also round to it.
        Rounding::NearestAway | Rounding::NearestEven if !exact && log2 == -f.bias => fraction != 0,
        Rounding::NearestAway | Rounding::NearestEven => fraction >> 63 == 1,
        Rounding::TowardZero | Rounding::Floor => false,
        Rounding::ToOdd => fraction != 0 && (log2 + f.bias) & 1 == 0,
    };
    let code = (log2 + f.bias) as u64 + up as u64;
    if code > f.max_finite() { above } else { code }
}

/// The real and imaginary parts of an element in the low bits of `code`, the real part lowest.
pub(crate) const fn decode(dtype: DType, code: u128) -> (Exact, Exact) {
    match dtype.spec() {
        Spec::Bool => (Exact::from_int(8, false, if code as u8 == 0 { 0 } else { 1 }), Exact::ZERO),
        Spec::Int { bits, signed } => (Exact::from_int(bits, signed, code as u64), Exact::ZERO),
        Spec::Float(f) => (Exact::from_float(f, code as u64), Exact::ZERO),
        Spec::Complex(f) => {
            (Exact::from_float(f, code as u64), Exact::from_float(f, (code >> f.bits()) as u64))
        }
    }
}

/// The element for a value, in the low bits.
pub(crate) const fn encode(dtype: DType, (re, im): (Exact, Exact), rules: &Rules) -> u128 {
    match dtype.spec() {
        Spec::Bool => (to_bool(re) || to_bool(im)) as u128,
        Spec::Int { bits, signed } => to_int(bits, signed, re, rules) as u128,
        Spec::Float(f) => to_float(f, re, rules) as u128,
        Spec::Complex(f) => to_float(f, re, rules) as u128 | (to_float(f, im, rules) as u128) << f.bits(),
    }
}

/// The format of a dtype that must be a float; for any other dtype, using it in a constant does not compile.
pub(crate) const fn float_spec(dtype: DType) -> FloatSpec {
    match dtype.float_spec() {
        Some(f) => f,
        None => panic!("not a float"),
    }
}

/// The hub of most pairs.
pub(crate) const FLOAT32: FloatSpec = float_spec(DType::Float32);

/// The float32 bits of `magnitude`, read as if the format went on above its largest finite value without special codes.
pub(crate) const fn extended_to_f32(f: FloatSpec, magnitude: u64) -> u32 {
    let field = (magnitude >> f.mantissa_bits) as i32;
    let mantissa = magnitude & ((1 << f.mantissa_bits) - 1);
    let x = Exact {
        class: Class::Finite,
        negative: false,
        significand: if field == 0 { mantissa } else { mantissa | 1 << f.mantissa_bits },
        exponent: f.min_exponent() + if field == 0 { 0 } else { field - 1 },
    };
    to_float(FLOAT32, x, &Rules::common(DType::Float32, true)) as u32
}
