//! The integers: range, conversions, order.

use crate::dtype::DType;
use core::fmt;

/// An integer that a small integer type cannot hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct IntRangeError {
    negative: bool,
    magnitude: u128,
    to: DType,
    min: i8,
    max: u8,
}

impl IntRangeError {
    pub(super) fn new(value: impl TryInto<i128> + TryInto<u128> + Copy, to: DType, min: i8, max: u8) -> Self {
        // One of the two types holds the value.
        let signed: Option<i128> = value.try_into().ok();
        let magnitude = match signed {
            Some(value) => value.unsigned_abs(),
            None => value.try_into().unwrap_or(u128::MAX),
        };
        IntRangeError { negative: signed.is_some_and(i128::is_negative), magnitude, to, min, max }
    }

    /// The dtype that does not contain the value.
    pub const fn dtype(&self) -> DType {
        self.to
    }
}

impl fmt::Display for IntRangeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let IntRangeError { negative, magnitude, to, min, max } = self;
        let sign = if *negative { "-" } else { "" };
        write!(f, "{sign}{magnitude} is out of the range of {to}, which is {min} to {max}")
    }
}

impl core::error::Error for IntRangeError {}

macro_rules! methods {
    ($variant:ident, $format:ident, true) => {
        ints::methods! { @ all $variant, $format, i8, true }
        ints::methods! { @ narrow $format, u8 u16 u32 u64 u128 usize }
    };
    ($variant:ident, $format:ident, false) => {
        ints::methods! { @ all $variant, $format, u8, false }
        ints::methods! { @ widen $format, u8 u16 u32 u64 u128 usize }
    };
    (@ all $variant:ident, $format:ident, $repr:ident, $signed:literal) => {
        impl $format {
            /// The width in bits.
            pub const BITS: u32 = DType::$variant.bits();
            /// The smallest value.
            pub const MIN: Self = Self(if $signed { 1 << (Self::BITS - 1) } else { 0 });
            /// The largest value.
            pub const MAX: Self = Self(if $signed { Self::MASK >> 1 } else { Self::MASK });

            /// The element of this value; `None` if it is out of range. [`from_bits`](Self::from_bits) takes the low bits.
            pub const fn new(value: $repr) -> Option<Self> {
                if value >= Self::MIN.get() && value <= Self::MAX.get() {
                    Some(Self(value as u8 & Self::MASK))
                } else {
                    None
                }
            }

            /// The value.
            pub const fn get(self) -> $repr {
                // The shifts copy the sign, or zeros, into the upper bits.
                ((self.0 << (8 - Self::BITS)) as $repr) >> (8 - Self::BITS)
            }
        }

        ints::methods! { @ from $format, $repr, i8 u8 i16 u16 i32 u32 i64 u64 i128 u128 isize usize }
        ints::methods! { @ widen $format, i8 i16 i32 i64 i128 isize }
        ints::methods! { @ float $format, $repr, half::f16 half::bf16 f32 f64 }

        impl PartialEq for $format {
            fn eq(&self, other: &Self) -> bool {
                self.get() == other.get()
            }
        }
        impl Eq for $format {}
        impl PartialOrd for $format {
            fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
                Some(self.cmp(other))
            }
        }
        impl Ord for $format {
            fn cmp(&self, other: &Self) -> Ordering {
                self.get().cmp(&other.get())
            }
        }
        impl core::hash::Hash for $format {
            fn hash<H: core::hash::Hasher>(&self, state: &mut H) {
                self.get().hash(state);
            }
        }
        /// Reads a number as `lanecast::text` does with the default options: a fraction is dropped, and a number out of range is an error.
        impl core::str::FromStr for $format {
            type Err = ParseElementError;

            fn from_str(text: &str) -> Result<Self, ParseElementError> {
                parse::int(text, DType::$variant).map(Self)
            }
        }
        impl fmt::Debug for $format {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.debug_tuple(stringify!($format)).field(&self.get()).finish()
            }
        }
        ints::methods! { @ format $format, get, Display }
        // These print the code, as for Rust's signed integers.
        ints::methods! { @ format $format, to_bits, Binary LowerHex Octal UpperHex }
    };
    (@ format $format:ident, $value:ident, $($trait:ident)*) => {$(
        impl fmt::$trait for $format {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::$trait::fmt(&self.$value(), f)
            }
        }
    )*};
    (@ from $format:ident, $repr:ident, $($from:ident)*) => {$(
        impl TryFrom<$from> for $format {
            type Error = IntRangeError;

            fn try_from(value: $from) -> Result<Self, IntRangeError> {
                let narrow = <$repr>::try_from(value).ok();
                narrow.and_then(Self::new).ok_or_else(|| {
                    IntRangeError::new(value, <Self as crate::dtype::Element>::DTYPE, Self::MIN.get() as i8, Self::MAX.get() as u8)
                })
            }
        }
    )*};
    (@ widen $format:ident, $($to:ident)*) => {$(
        impl From<$format> for $to {
            /// The same value.
            fn from(x: $format) -> $to {
                // In range: 7 bits are enough for either sign.
                x.get() as $to
            }
        }
    )*};
    (@ narrow $format:ident, $($to:ident)*) => {$(
        impl TryFrom<$format> for $to {
            type Error = core::num::TryFromIntError;

            fn try_from(x: $format) -> Result<$to, Self::Error> {
                <$to>::try_from(x.get())
            }
        }
    )*};
    (@ float $format:ident, $repr:ident, $($to:ty)*) => {$(
        impl From<$format> for $to {
            /// The same value.
            fn from(x: $format) -> $to {
                <$to>::from(x.get())
            }
        }
    )*};
}
pub(super) use methods;
