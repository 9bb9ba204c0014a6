//! Hubs: the types that decoders return and encoders take.
//!
//! A hub holds every value of the formats that decode to it; [`Capacity::holds`] proves this at compile time for every row of the
//! list. Each method of [`Hub`] is then the one rounding of a cast:
//!
//! | hub | for | float32 | float64 | narrower floats |
//! |---|---|---|---|---|
//! | [`Small`] | bool, integers of up to 16 bits | exact | exact | through exact float32 |
//! | [`Medium`] | int32, uint32 | rounded once | exact | through float32 rounded to odd |
//! | [`Wide`] | int64 | rounded once | rounded once | through float32 rounded to odd |
//! | [`Unsigned`] | uint64 | rounded once | rounded once | through float32 rounded to odd |
//! | [`F32`] | floats that float32 holds | itself | exact | from it |
//! | [`F64`] | float64 | rounded once | itself | through float32 rounded to odd |
//! | [`Pair`] | complex numbers | by parts | by parts | the real part |
//!
//! *Rounding to odd* (truncate, then set the last bit if anything was lost) makes a second rounding to fewer bits equal to a single rounding: the
//! last bit says on which side of a tie the exact value was. It needs two bits more than the target has.
//!
//! Floats are passed as bits, so that no machine register (the x87 above all) can alter a NaN.

use crate::{
    dtype::{DType, FloatSpec, Spec},
    exact::round::Correction,
};

/// The values that a hub holds: all `m * 2^e` with `|m| < 2^precision` and the value's bits between two exponents.
#[derive(Clone, Copy)]
pub(crate) struct Capacity {
    precision: u32,
    min_exponent: i32,
    max_exponent: i32,
    negative: bool,
    /// Whether it holds infinities and NaNs.
    special: bool,
}

impl Capacity {
    const fn int(precision: u32, negative: bool) -> Self {
        Self { precision, min_exponent: 0, max_exponent: precision as i32, negative, special: false }
    }

    const fn float(f: FloatSpec) -> Self {
        Self {
            precision: f.mantissa_bits + 1,
            min_exponent: f.min_exponent(),
            max_exponent: f.max_exponent(),
            negative: f.signed(),
            special: f.infinity().is_some(),
        }
    }

    /// Whether every value of the dtype (of its parts, if it is complex) is held.
    pub(crate) const fn holds(self, spec: Spec) -> bool {
        let (other, special) = match spec {
            Spec::Bool => (Capacity::int(1, false), false),
            // The most negative integer is a power of two, so it needs no more precision than the others.
            Spec::Int { bits, signed } => {
                let mut c = Capacity::int(bits - signed as u32, signed);
                c.max_exponent = bits as i32 - 1;
                (c, false)
            }
            Spec::Float(f) | Spec::Complex(f) => {
                (Capacity::float(f), f.infinity().is_some() || f.nan().is_some())
            }
        };
        self.precision >= other.precision
            && self.min_exponent <= other.min_exponent
            && self.max_exponent >= other.max_exponent
            && (self.negative || !other.negative)
            && (self.special || !special)
    }
}

/// Whether the parts of the wide floating or complex dtype `to` hold every value of the parts of `from`, so that no rounding
/// rule can matter.
pub(crate) const fn parts_fit(from: DType, to: DType) -> bool {
    match to.spec() {
        Spec::Float(f) | Spec::Complex(f) => f.bits() >= 16 && Capacity::float(f).holds(from.spec()),
        _ => false,
    }
}

/// An exact value that is about to be rounded once.
pub(crate) trait Hub: Copy {
    /// The values it holds.
    const CAPACITY: Capacity;
    /// Whether the hub has an imaginary part.
    const COMPLEX: bool = false;
    /// The hub of the real and the imaginary part.
    type Part: Hub;
    fn re(self) -> Self::Part;
    fn im(self) -> Self::Part;
    /// Nearest float32; exact where float32 holds the value.
    fn f32(self) -> u32;
    /// A float32 that every format of up to 11 significant bits rounds as it would round the value itself.
    fn f32_odd(self) -> u32;
    /// The same, but never infinite or zero unless the value is, for targets that do not round to nearest.
    #[inline(always)]
    fn f32_strict(self) -> u32 {
        self.f32_odd()
    }
    /// Nearest float64.
    fn f64(self) -> u64;
    /// A float64 that float32 rounds as it would round the value itself.
    #[inline(always)]
    fn f64_odd(self) -> u64 {
        self.f64()
    }
    /// The float32 under any rounding.
    #[inline(always)]
    fn f32_in(self, correction: Correction) -> u32 {
        integer_to_f32(self.f64_in(Correction::TO_ODD), correction)
    }
    /// The float64 under any rounding.
    #[inline(always)]
    fn f64_in(self, _: Correction) -> u64 {
        self.f64()
    }
    /// The integer, truncated and brought into range, in the low bits; the other bits are junk.
    fn int<const SATURATE: bool>(self, bits: u32, signed: bool) -> u64;
    /// Whether the value is not zero; NaN is not zero.
    fn nonzero(self) -> bool;
}

/// An integer of up to 16 bits.
#[derive(Clone, Copy)]
pub(crate) struct Small(pub i32);
/// An integer of up to 32 bits, in its own Rust type.
#[derive(Clone, Copy)]
pub(crate) struct Medium<T>(pub T);
/// An integer of up to 64 bits with sign.
#[derive(Clone, Copy)]
pub(crate) struct Wide(pub i64);
/// An unsigned integer of 64 bits.
#[derive(Clone, Copy)]
pub(crate) struct Unsigned(pub u64);
/// The bits of a float32.
#[derive(Clone, Copy)]
pub(crate) struct F32(pub u32);
/// The bits of a float64.
#[derive(Clone, Copy)]
pub(crate) struct F64(pub u64);
/// A complex number.
#[derive(Clone, Copy)]
pub(crate) struct Pair<H>(pub H, pub H);

/// `x` in the range of an integer of `bits` bits.
#[inline(always)]
fn clamp(x: i64, bits: u32, signed: bool) -> u64 {
    let max = (u64::MAX >> (64 - bits + signed as u32)) as i64;
    match (bits, signed) {
        (64, true) => x as u64,
        (64, false) => x.max(0) as u64,
        _ => x.clamp(if signed { -max - 1 } else { 0 }, max) as u64,
    }
}

/// An integer whose lowest 11 bits are or-ed into the bit above them (a sticky bit) if it needs more than the 53 bits of a float64:
/// a float64 then holds enough for every narrower format to round correctly.
#[inline(always)]
fn gather(x: u64, magnitude: u64) -> u64 {
    let gathered = x & !0x7FF | ((x & 0x7FF) + 0x7FF) & 0x800;
    if magnitude >> 53 == 0 { x } else { gathered }
}

/// A finite float64 whose lowest 40 bits are or-ed into the bit above them (a sticky bit), as a float32.
///
/// That leaves 11 mantissa bits and a sticky one below them: exact in float32 down to 2^-137, and everything below is less
/// than half the smallest value of any narrower format.
#[inline(always)]
fn f64_to_f32_odd(x: u64) -> u32 {
    const BELOW: u64 = (1 << 40) - 1;
    let sticky = ((x & BELOW) + BELOW) & (1 << 40);
    (f64::from_bits((x | sticky) & !BELOW) as f32).to_bits()
}

/// The float32 of a float64 that is an integer rounded to odd.
#[inline(always)]
fn integer_to_f32(x: u64, correction: Correction) -> u32 {
    const BELOW: u64 = (1 << 29) - 1;
    let negative = if f64::from_bits(x) < 0.0 { u64::MAX } else { 0 };
    let bias = correction.bias64(x >> 29 & 1, negative, BELOW);
    (f64::from_bits(x.wrapping_add(bias) & !BELOW) as f32).to_bits()
}

/// The sum of the two exact halves of an integer, under any rounding. The rounding error of the sum is also exact.
macro_rules! sum {
    ($float:ident, $bits:ident, $code:ident, $exponent:literal, $high:expr, $low:expr, $correction:expr) => {{
        const SIGN: $bits = 1 << ($bits::BITS - 1);
        const MANTISSA_BITS: u32 = $float::MANTISSA_DIGITS - 1;
        let (high, low, correction): ($float, $float, Correction) = ($high, $low, $correction);
        let mask = |condition: bool| if condition { $bits::MAX } else { 0 };
        let sum = high + low;
        let code = sum.to_bits();
        // It is negative if the magnitude was rounded up.
        let residual = $float::from_bits((low - (sum - high)).to_bits() ^ code & SIGN);
        let half = (code & $exponent).wrapping_sub((MANTISSA_BITS as $bits + 1) << MANTISSA_BITS);
        let tie = mask(residual == $float::from_bits(half)) & correction.away() as $bits & 1;
        correction.$code(code, mask(residual < 0.0), mask(residual != 0.0), mask(sum < 0.0)) + tie
    }};
}

/// The lower half of an integer of 64 bits as a float.
#[inline(always)]
fn low_half(x: u64) -> f64 {
    // The half is placed below the units of 2^52.
    f64::from_bits(x & 0xFFFF_FFFF | 0x4330_0000_0000_0000) - 4_503_599_627_370_496.0
}

macro_rules! real {
    () => {
        type Part = Self;
        #[inline(always)]
        fn re(self) -> Self {
            self
        }
        #[inline(always)]
        fn im(self) -> Self {
            self
        }
    };
}

// After the macro that the module uses.
mod floats;

/// The methods that all integers share: the machine rounds them once.
macro_rules! integer {
    () => {
        #[inline(always)]
        fn f32(self) -> u32 {
            (self.0 as f32).to_bits()
        }
        #[inline(always)]
        fn f64(self) -> u64 {
            (self.0 as f64).to_bits()
        }
        #[inline(always)]
        fn nonzero(self) -> bool {
            self.0 != 0
        }
    };
}

impl Hub for Small {
    const CAPACITY: Capacity = Capacity::int(16, true);
    real!();
    integer!();
    #[inline(always)]
    fn f32_odd(self) -> u32 {
        self.f32()
    }
    #[inline(always)]
    fn int<const SATURATE: bool>(self, bits: u32, signed: bool) -> u64 {
        Wide(self.0 as i64).int::<SATURATE>(bits, signed)
    }
}

macro_rules! medium {
    ($int:ident, $signed:literal) => {
        impl Hub for Medium<$int> {
            const CAPACITY: Capacity = Capacity::int($int::BITS - $signed as u32, $signed);
            real!();
            integer!();
            #[inline(always)]
            fn f32_odd(self) -> u32 {
                f64_to_f32_odd(self.f64())
            }
            #[inline(always)]
            fn f32_in(self, correction: Correction) -> u32 {
                let (high, low) = ((self.0 >> 16) as i32 as f32 * 65_536.0, (self.0 & 0xFFFF) as i32 as f32);
                sum!(f32, u32, code, 0x7F80_0000, high, low, correction)
            }
            #[inline(always)]
            fn int<const SATURATE: bool>(self, bits: u32, signed: bool) -> u64 {
                Wide(self.0 as i64).int::<SATURATE>(bits, signed)
            }
        }
    };
}
medium!(i32, true);
medium!(u32, false);

impl Hub for Wide {
    const CAPACITY: Capacity = Capacity::int(63, true);
    real!();
    integer!();
    #[inline(always)]
    fn f32_odd(self) -> u32 {
        f64_to_f32_odd(self.f64_odd())
    }
    #[inline(always)]
    fn f64_odd(self) -> u64 {
        let x = gather(self.0 as u64, self.0.unsigned_abs()) as i64;
        (x as f64).to_bits()
    }
    #[inline(always)]
    fn f64_in(self, correction: Correction) -> u64 {
        let high = (self.0 >> 32) as i32 as f64 * 4_294_967_296.0;
        sum!(f64, u64, code64, 0x7FF0_0000_0000_0000, high, low_half(self.0 as u64), correction)
    }
    #[inline(always)]
    fn int<const SATURATE: bool>(self, bits: u32, signed: bool) -> u64 {
        if SATURATE { clamp(self.0, bits, signed) } else { self.0 as u64 }
    }
}

impl Hub for Unsigned {
    const CAPACITY: Capacity = Capacity::int(64, false);
    real!();
    integer!();
    #[inline(always)]
    fn f32_odd(self) -> u32 {
        f64_to_f32_odd(self.f64_odd())
    }
    #[inline(always)]
    fn f64_odd(self) -> u64 {
        (gather(self.0, self.0) as f64).to_bits()
    }
    #[inline(always)]
    fn f64_in(self, correction: Correction) -> u64 {
        // The half is placed below the units of 2^84.
        let high =
            f64::from_bits(self.0 >> 32 | 0x4530_0000_0000_0000) - 19_342_813_113_834_066_795_298_816.0;
        sum!(f64, u64, code64, 0x7FF0_0000_0000_0000, high, low_half(self.0), correction)
    }
    #[inline(always)]
    fn int<const SATURATE: bool>(self, bits: u32, signed: bool) -> u64 {
        if SATURATE { self.0.min(u64::MAX >> (64 - bits + signed as u32)) } else { self.0 }
    }
}

impl<H: Hub> Hub for Pair<H> {
    const CAPACITY: Capacity = H::CAPACITY;
    const COMPLEX: bool = true;
    type Part = H;
    #[inline(always)]
    fn re(self) -> H {
        self.0
    }
    #[inline(always)]
    fn im(self) -> H {
        self.1
    }
    #[inline(always)]
    fn f32(self) -> u32 {
        self.0.f32()
    }
    #[inline(always)]
    fn f32_odd(self) -> u32 {
        self.0.f32_odd()
    }
    #[inline(always)]
    fn f64(self) -> u64 {
        self.0.f64()
    }
    #[inline(always)]
    fn f32_in(self, correction: Correction) -> u32 {
        self.0.f32_in(correction)
    }
    #[inline(always)]
    fn int<const SATURATE: bool>(self, bits: u32, signed: bool) -> u64 {
        self.0.int::<SATURATE>(bits, signed)
    }
    #[inline(always)]
    fn nonzero(self) -> bool {
        self.0.nonzero() | self.1.nonzero()
    }
}
