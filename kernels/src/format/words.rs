//! The constants and the shape of a pair, for kernels in lanes of 16 bits.

use crate::{
    dtype::{DType, Flavor, FloatSpec, Spec},
    exact::{Rounding, Rules},
};

/// The constants of a pair, in the bits of the source unless stated otherwise.
#[derive(Clone, Copy)]
pub(crate) struct Words {
    /// The magnitude to which all greater magnitudes are clamped.
    pub(crate) limit: u16,
    /// The smallest normal value of the target. With the same exponent: the limit up to which subnormal sources are doubled.
    pub(crate) normal: u16,
    /// Adding this to a magnitude of at least `normal` leaves the code, followed by the bits to be dropped.
    pub(crate) start: u16,
    /// The number that `mulhrs` multiplies by to drop those bits.
    pub(crate) power: u16,
    /// The magnitude whose code is 0 if codes are counted from below the subnormal ones, as the fast path does. With the same exponent: the
    /// largest magnitude that the fast path rounds.
    pub(crate) below: u16,
    /// The code of NaN. For formats without NaN this is the sign bit.
    pub(crate) nan: u8,
    /// The code of `limit`.
    pub(crate) limit_code: u8,
    /// The fast path's code of zero.
    pub(crate) zero: u8,
    /// On the fast path, codes from 1 to this one belong to subnormal results.
    pub(crate) band: u8,
    /// The number to add to find the other neighbour of a tie: -1, or 0 if ties go away from zero.
    pub(crate) other: u16,
    /// The largest magnitude that is not treated as NaN: infinity, or the largest number if infinities become NaN.
    pub(crate) number: u16,
}

impl Words {
    pub(crate) const NONE: Words = Words {
        limit: 0,
        normal: 0,
        start: 0,
        power: 0,
        below: 0,
        nan: 0,
        limit_code: 0,
        zero: 0,
        band: 0,
        other: 0,
        number: 0,
    };

    /// `nan` is the code of NaN, if the target has one.
    pub(crate) const fn new(from: FloatSpec, to: FloatSpec, rules: &Rules, nan: Option<u64>) -> Words {
        let saturate = rules.saturate;
        let limit_code = match (to.infinity(), to.nan()) {
            (Some(infinity), _) if !saturate => infinity,
            (None, Some(nan)) if !saturate => nan,
            _ => to.max_finite(),
        };
        let nan = match nan {
            Some(nan) => nan,
            None => to.sign_mask(),
        };
        let same_exponent = to.exponent_bits == from.exponent_bits;
        let dropped = from.mantissa_bits - to.mantissa_bits;
        // The exponent field of the smallest normal value, which must become 1.
        let field = 1 - to.bias + from.bias;
        let start = (1 - field) << from.mantissa_bits;
        let limit = ((limit_code << dropped) as i32) - start;
        // The code is one more than a byte with a sign holds, so the limit is just below it and rounds up to it.
        let limit = if limit_code > 0x7F { limit - 1 } else { limit };
        let infinity = from.exponent_field() as i32;
        // One step of codes for each binade of subnormals, and one for the binade below, whose upper part rounds up.
        let zero = (to.mantissa_bits + 1) << to.mantissa_bits;
        Words {
            limit: if limit < infinity { limit } else { infinity } as u16,
            normal: if same_exponent { start } else { field << from.mantissa_bits } as u16,
            start: start as u16,
            power: 1 << (15 - dropped),
            below: if same_exponent {
                // From half a unit above the limit, values that round up to infinity are out of range.
                if saturate { limit + (1 << (dropped - 1)) - 1 } else { infinity }
            } else {
                -start - (zero << dropped) as i32
            } as u16,
            nan: nan as u8,
            limit_code: limit_code as u8,
            zero: zero as u8,
            band: (zero + (1 << to.mantissa_bits) - 1) as u8,
            other: if matches!(rules.rounding, Rounding::NearestAway) { 0 } else { u16::MAX },
            number: infinity as u16 - (matches!(to.flavor, Flavor::Fnuz) && rules.fnuz_inf_nan) as u16,
        }
    }
}

/// The properties of a pair that select its kernel.
#[derive(Clone, Copy)]
pub(crate) struct Shape {
    /// Mantissa bits of the source.
    pub(crate) mantissa: u32,
    /// The target has no negative zero.
    pub(crate) fnuz: bool,
    /// NaN and values that are too large have different codes.
    pub(crate) nan_apart: bool,
    pub(crate) bits: u32,
    pub(crate) same_exponent: bool,
    /// The target is packed.
    pub(crate) packed: bool,
}

impl Shape {
    /// Equality, at compile time.
    pub(crate) const fn is(&self, other: &Shape) -> bool {
        self.mantissa == other.mantissa
            && self.fnuz == other.fnuz
            && self.nan_apart == other.nan_apart
            && self.bits == other.bits
            && self.same_exponent == other.same_exponent
            && self.packed == other.packed
    }
}

/// The shape of a pair of byte storage that these kernels cover.
pub(crate) const fn shape(from: DType, to: DType, saturate: bool) -> Option<Shape> {
    let mantissa = match from {
        DType::Float16 => 10,
        DType::BFloat16 => 7,
        _ => return None,
    };
    match to.spec() {
        Spec::Float(f) if f.bits() <= 8 && !matches!(f.flavor, Flavor::Exponent) => Some(Shape {
            mantissa,
            fnuz: matches!(f.flavor, Flavor::Fnuz),
            nan_apart: saturate || matches!(f.flavor, Flavor::Ieee | Flavor::Finite),
            bits: f.bits(),
            same_exponent: f.exponent_bits == 5 && mantissa == 10,
            packed: false,
        }),
        _ => None,
    }
}
