//! What a kernel in lanes of 16 bits knows of its pair: the numbers it reads, and its shape.

use crate::{
    dtype::{DType, Flavor, FloatSpec, Spec},
    exact::{Rounding, Rules},
};

/// The constants of a pair, in the bits of the source where nothing else is said.
#[derive(Clone, Copy)]
pub(crate) struct Words {
    /// The magnitude that everything greater becomes.
    pub(crate) limit: u16,
    /// The smallest normal value of the target. With the same exponent: what subnormal sources are doubled up to.
    pub(crate) normal: u16,
    /// Added to a magnitude that is at least `normal`, it leaves the code and the bits to be dropped.
    pub(crate) start: u16,
    /// What `mulhrs` multiplies by to drop those bits.
    pub(crate) power: u16,
    /// The magnitude whose code is 0 if codes are counted from below the subnormal ones, as the fast way does. With the same
    /// exponent: the largest magnitude that the fast way rounds.
    pub(crate) below: u16,
    /// The code of NaN. Formats without one have the sign here.
    pub(crate) nan: u8,
    /// The code of `limit`.
    pub(crate) limit_code: u8,
    /// The fast way's code of zero.
    pub(crate) zero: u8,
    /// The fast way's codes from 1 to this one are those of subnormal results.
    pub(crate) band: u8,
    /// What is added to find the other neighbour of a tie: -1, or 0 if ties go away from zero.
    pub(crate) other: u16,
    /// The largest magnitude that is not looked for as NaN: infinity, or the largest number if infinities become NaN.
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
        // The exponent field of the smallest normal value, which has to become 1.
        let field = 1 - to.bias + from.bias;
        let start = (1 - field) << from.mantissa_bits;
        let limit = ((limit_code << dropped) as i32) - start;
        // One more than a byte with a sign holds: just below it, which is rounded up.
        let limit = if limit_code > 0x7F { limit - 1 } else { limit };
        let infinity = from.exponent_field() as i32;
        // A step of codes for each binade of subnormals, and for the one below, of which a part is rounded up.
        let zero = (to.mantissa_bits + 1) << to.mantissa_bits;
        Words {
            limit: if limit < infinity { limit } else { infinity } as u16,
            normal: if same_exponent { start } else { field << from.mantissa_bits } as u16,
            start: start as u16,
            power: 1 << (15 - dropped),
            below: if same_exponent {
                // Half a unit above, what is rounded up to infinity is out of range.
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

/// Which kernel a pair has.
#[derive(Clone, Copy)]
pub(crate) struct Shape {
    /// Mantissa bits of the source.
    pub(crate) mantissa: u32,
    /// There is no negative zero.
    pub(crate) fnuz: bool,
    /// NaN does not become what is too large.
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

/// The shape of a pair of byte storage that is covered here.
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
