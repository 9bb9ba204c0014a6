//! The types, a byte each, made from the rows of the list.

use super::{IntRangeError, ParseElementError, floats, ints, parse};
use crate::{
    dtype::{DType, FloatSpec},
    exact::{Exact, FLOAT32, float_spec},
};
use core::{cmp::Ordering, fmt, num::FpCategory};

macro_rules! newtypes {
    ($($kind:ident $row:tt)*) => {
        $(newtypes! { @ $kind $row })*
    };
    (@ native $row:tt) => {};
    (@ small_int ($variant:ident, $format:ident, $code:literal, $name:literal, Spec::int($bits:literal, $signed:tt),
        $aliases:tt)) => {
        newtypes! { @ common $variant, $format, $name }
        ints::methods! { $variant, $format, $signed }
    };
    (@ small_float ($variant:ident, $format:ident, $code:literal, $name:literal,
        Spec::float($exponent:literal, $mantissa:literal, $bias:literal, Flavor::$flavor:ident), $aliases:tt)) => {
        newtypes! { @ common $variant, $format, $name }
        floats::methods! { $variant, $format, $flavor }
    };
    (@ common $variant:ident, $format:ident, $name:literal) => {
        #[doc = concat!("One element of `", $name, "` in a byte. Compared by value; bits above the format's are ignored.")]
        #[derive(Clone, Copy, Default, bytemuck::Pod, bytemuck::Zeroable)]
        #[repr(transparent)]
        pub struct $format(pub(super) u8);

        impl $format {
            pub(super) const MASK: u8 = 0xFF >> (8 - DType::$variant.bits());

            /// The element with this code; bits above the format's are ignored.
            pub const fn from_bits(code: u8) -> Self {
                Self(code)
            }

            /// The code; unused high bits are zero.
            pub const fn to_bits(self) -> u8 {
                self.0 & Self::MASK
            }
        }
    };
}

crate::dtype::for_each_dtype!(newtypes);

/// Tests that every code, with unused bits cleared, has the value that the kernels give it.
#[cfg(test)]
mod tests {
    use super::*;
    use crate::exact::hub::Hub;
    use crate::format::Format;
    use alloc::format;

    #[test]
    fn values_agree_with_the_kernels() {
        for code in 0..=255_u8 {
            assert_eq!(i32::from(I4::from_bits(code).get()), I4::decode(code).0);
            assert_eq!(i32::from(U2::from_bits(code).get()), U2::decode(code).0);
            let x = F8E4M3FN::from_bits(code);
            assert_eq!(x.to_f32().to_bits(), F8E4M3FN::decode(code).f32());
            assert_eq!(x.partial_cmp(&x).is_none(), x.is_nan());
            let y = F6E3M2FN::from_bits(code);
            assert_eq!(F6E3M2FN::from_f32(y.to_f32()).to_bits(), y.to_bits());
        }
    }

    #[test]
    fn values_are_compared_and_printed() {
        let x = F8E4M3FN::from_f32(1.5);
        assert_eq!(format!("{x:?} {x} {x:.2} {x:e}"), "F8E4M3FN(1.5) 1.5 1.50 1.5e0");
        assert!(x < F8E4M3FN::from_f32(2.0) && F8E5M2::from_f32(-0.0) == F8E5M2::from_f32(0.0));
        assert_eq!(F8E4M3FN::from_f32(1e9).to_f32(), 448.0);
        assert_eq!(F8E8M0FNU::from_f32(1.1).to_f32(), 2.0);
        // A number just above a tie, which float32 cannot distinguish from the tie.
        assert_eq!(F8E4M3FN::from_f64(1.0 + 1.0 / 16.0 + 1e-12).to_f32(), 1.125);
        assert_eq!((I4::new(-9), I4::new(7)), (None, Some(I4::MAX)));
        assert_eq!(Some(I4::from_bits(0xF8)), I4::new(-8));
        assert_eq!((I2::MIN.to_bits(), I2::MIN.get(), U4::from_bits(0xFF).get()), (2, -2, 15));
        assert_eq!(format!("{:?} {0} {0:x}", U4::MAX), "U4(15) 15 f");
    }
}
