//! The element types that Rust does not have: a byte each, made from the rows of the list.
//!
//! Their own methods work in integer arithmetic (`exact`), so that a single value may be cast anywhere, in any state of the
//! floating-point environment. Buffers go through kernels.

use crate::{
    dtype::{DType, FloatSpec, Spec},
    exact::{Exact, FLOAT32, Rules, float_spec, float_to_f32, to_float, to_int},
};
use core::{cmp::Ordering, fmt};

macro_rules! newtypes {
    ($($kind:ident $row:tt)*) => {
        $(newtypes! { @ $kind $row })*
    };
    (@ native $row:tt) => {};
    (@ small_int ($variant:ident, $format:ident, $code:literal, $name:literal, $spec:expr, $aliases:tt)) => {
        newtypes! { @ common $variant, $format, $name, $spec }

        impl $format {
            /// The value in the low bits of `value`, as Rust's `as` does it.
            pub const fn new(value: i8) -> Self {
                Self((value as u8) & Self::MASK)
            }

            /// The value.
            pub const fn get(self) -> i8 {
                let (bits, signed) = match DType::$variant.spec() {
                    Spec::Int { bits, signed } => (bits, signed),
                    _ => unreachable!(),
                };
                to_int(8, true, Exact::from_int(bits, signed, self.0 as u64), &RUST) as u8 as i8
            }
        }

        impl From<$format> for i8 {
            fn from(x: $format) -> i8 {
                x.get()
            }
        }

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
        newtypes! { @ format $format, get }
    };
    (@ small_float ($variant:ident, $format:ident, $code:literal, $name:literal, $spec:expr, $aliases:tt)) => {
        newtypes! { @ common $variant, $format, $name, $spec }

        impl $format {
            const FLOAT: FloatSpec = float_spec(DType::$variant);

            /// The nearest value, by the default rules: ties to even (`float8_e8m0fnu`: up), overflow saturates.
            pub const fn from_f32(x: f32) -> Self {
                let rules = Rules::common(DType::$variant, true);
                Self(to_float(Self::FLOAT, Exact::from_float(FLOAT32, x.to_bits() as u64), &rules) as u8)
            }

            /// The nearest value, rounded once from all bits of `x`, by the same rules as [`from_f32`](Self::from_f32).
            pub const fn from_f64(x: f64) -> Self {
                let rules = Rules::common(DType::$variant, true);
                let exact = Exact::from_float(float_spec(DType::Float64), x.to_bits());
                Self(to_float(Self::FLOAT, exact, &rules) as u8)
            }

            /// The value; every value is exact in `f32`.
            pub const fn to_f32(self) -> f32 {
                f32::from_bits(float_to_f32(Self::FLOAT, self.0 as u64))
            }

            /// Whether it is NaN; always false for formats without NaN.
            pub const fn is_nan(self) -> bool {
                self.to_f32().is_nan()
            }
        }

        impl From<$format> for f32 {
            fn from(x: $format) -> f32 {
                x.to_f32()
            }
        }

        impl PartialEq for $format {
            fn eq(&self, other: &Self) -> bool {
                self.to_f32() == other.to_f32()
            }
        }
        impl PartialOrd for $format {
            fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
                self.to_f32().partial_cmp(&other.to_f32())
            }
        }
        newtypes! { @ format $format, to_f32 }
    };
    (@ common $variant:ident, $format:ident, $name:literal, $spec:expr) => {
        #[doc = concat!("One element of `", $name, "` in a byte. Compared by value; bits above the format's are ignored.")]
        #[derive(Clone, Copy, Default, bytemuck::Pod, bytemuck::Zeroable)]
        #[repr(transparent)]
        pub struct $format(u8);

        impl $format {
            const MASK: u8 = 0xFF >> (8 - DType::$variant.bits());

            /// The element with this code; bits above the format's are ignored.
            pub const fn from_bits(code: u8) -> Self {
                Self(code)
            }

            /// The code, unused high bits zero.
            pub const fn to_bits(self) -> u8 {
                self.0 & Self::MASK
            }
        }
    };
    (@ format $format:ident, $value:ident) => {
        impl fmt::Debug for $format {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.debug_tuple(stringify!($format)).field(&self.$value()).finish()
            }
        }
        impl fmt::Display for $format {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Display::fmt(&self.$value(), f)
            }
        }
    };
}

/// Integers of 8 bits hold every small one; the rules do not matter.
const RUST: Rules = Rules::common(DType::Int8, true);

crate::dtype::for_each_dtype!(newtypes);

/// Every code, unused bits cleared, is what the kernels read it as.
#[cfg(test)]
mod tests {
    use super::{super::Format, *};
    use crate::hub::Hub;
    use alloc::format;

    #[test]
    fn values_agree_with_the_kernels() {
        for code in 0..=255_u8 {
            assert_eq!(I4::from_bits(code).get() as i32, I4::decode(code).0);
            assert_eq!(U2::from_bits(code).get() as i32, U2::decode(code).0);
            let x = F8E4M3FN::from_bits(code);
            assert_eq!(x.to_f32().to_bits(), F8E4M3FN::decode(code).f32());
            assert!(x == x || x.is_nan());
            let y = F6E3M2FN::from_bits(code);
            assert_eq!(F6E3M2FN::from_f32(y.to_f32()).to_bits(), y.to_bits());
        }
    }

    #[test]
    fn values_are_compared_and_printed() {
        let x = F8E4M3FN::from_f32(1.5);
        assert_eq!(format!("{x:?} {x} {x:.2}"), "F8E4M3FN(1.5) 1.5 1.50");
        assert!(x < F8E4M3FN::from_f32(2.0) && F8E5M2::from_f32(-0.0) == F8E5M2::from_f32(0.0));
        assert_eq!(F8E4M3FN::from_f32(1e9).to_f32(), 448.0);
        assert_eq!(F8E8M0FNU::from_f32(1.1).to_f32(), 2.0);
        // Just above a tie that float32 cannot tell from the tie.
        assert_eq!(F8E4M3FN::from_f64(1.0 + 1.0 / 16.0 + 1e-12).to_f32(), 1.125);
        assert_eq!(I4::new(-9), I4::new(7));
        assert_eq!(I4::from_bits(0xF8), I4::new(-8));
        assert_eq!((I2::new(-2).to_bits(), I2::new(-2).get(), U4::new(-1).get()), (2, -2, 15));
        assert_eq!(format!("{:?}", U4::new(15)), "U4(15)");
    }
}
