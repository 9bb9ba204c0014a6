//! Exact values and exact comparison.

use std::cmp::Ordering;

/// A NaN.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Nan {
    /// The sign bit.
    pub negative: bool,
    /// The mantissa field, its top bit at bit 63, if the format has payloads.
    pub payload: Option<u64>,
}

/// What an element stands for.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Value {
    /// Not a number.
    Nan(Nan),
    /// An infinity.
    Infinite {
        /// Its sign.
        negative: bool,
    },
    /// A number.
    Finite {
        /// Its sign, which zero has as well.
        negative: bool,
        /// Its magnitude.
        magnitude: Dyadic,
    },
}

impl Value {
    /// `(-1)^negative * sig * 2^exp`.
    pub fn finite(negative: bool, sig: u64, exp: i32) -> Value {
        Value::Finite { negative, magnitude: Dyadic { sig, exp } }
    }

    /// An integer. There is no negative zero among them.
    pub fn integer(negative: bool, magnitude: u64) -> Value {
        Value::finite(negative, magnitude, 0)
    }
}

/// The number `sig * 2^exp`.
#[derive(Clone, Copy, Debug)]
pub struct Dyadic {
    /// The significand.
    pub sig: u64,
    /// The exponent of its unit.
    pub exp: i32,
}

impl Dyadic {
    /// `2^exp`.
    pub fn power(exp: i32) -> Dyadic {
        Dyadic { sig: 1, exp }
    }

    /// Whether it is 0.
    pub fn is_zero(self) -> bool {
        self.sig == 0
    }

    /// The exponent of the greatest power of two that is not greater (nothing for zero).
    pub fn top(self) -> Option<i32> {
        (self.sig != 0).then(|| self.exp + 63 - self.sig.leading_zeros() as i32)
    }

    /// Half of `self + next`, the exponents of which differ by one at most and the significands of which have room
    /// for it.
    pub fn midpoint(self, next: Dyadic) -> Dyadic {
        let shift = next.exp - self.exp;
        assert!(shift == 0 || shift == 1, "neighbours have equal or neighbouring exponents");
        Dyadic { sig: self.sig + (next.sig << shift), exp: self.exp - 1 }
    }
}

impl PartialEq for Dyadic {
    fn eq(&self, other: &Dyadic) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Dyadic {}

impl PartialOrd for Dyadic {
    fn partial_cmp(&self, other: &Dyadic) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Dyadic {
    fn cmp(&self, other: &Dyadic) -> Ordering {
        // First by the highest bit, then by all bits below it, aligned.
        let aligned = |d: &Dyadic| d.sig << (d.sig.leading_zeros() & 63);
        self.top()
            .unwrap_or(i32::MIN)
            .cmp(&other.top().unwrap_or(i32::MIN))
            .then_with(|| aligned(self).cmp(&aligned(other)))
    }
}
