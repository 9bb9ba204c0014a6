//! The shapes of pairs, as parameters of kernels.

use crate::format::{typed, words::Shape};

typed! {
    /// A [`Shape`] as a parameter of kernels.
    trait Pair { SHAPE: Shape }
    BFloat16ToNanLimit =
        Shape { mantissa: 7, fnuz: false, nan_apart: false, bits: 8, same_exponent: false, packed: false };
    BFloat16ToNanApart =
        Shape { mantissa: 7, fnuz: false, nan_apart: true, bits: 8, same_exponent: false, packed: false };
    BFloat16ToFnuzNanLimit =
        Shape { mantissa: 7, fnuz: true, nan_apart: false, bits: 8, same_exponent: false, packed: false };
    BFloat16ToFnuzNanApart =
        Shape { mantissa: 7, fnuz: true, nan_apart: true, bits: 8, same_exponent: false, packed: false };
    BFloat16To6 =
        Shape { mantissa: 7, fnuz: false, nan_apart: true, bits: 6, same_exponent: false, packed: false };
    BFloat16ToPacked6 =
        Shape { mantissa: 7, fnuz: false, nan_apart: true, bits: 6, same_exponent: false, packed: true };
    BFloat16To4 =
        Shape { mantissa: 7, fnuz: false, nan_apart: true, bits: 4, same_exponent: false, packed: false };
    BFloat16ToPacked4 =
        Shape { mantissa: 7, fnuz: false, nan_apart: true, bits: 4, same_exponent: false, packed: true };
    Float16ToNanLimit =
        Shape { mantissa: 10, fnuz: false, nan_apart: false, bits: 8, same_exponent: false, packed: false };
    Float16ToNanApart =
        Shape { mantissa: 10, fnuz: false, nan_apart: true, bits: 8, same_exponent: false, packed: false };
    Float16ToFnuzNanLimit =
        Shape { mantissa: 10, fnuz: true, nan_apart: false, bits: 8, same_exponent: false, packed: false };
    Float16ToFnuzNanApart =
        Shape { mantissa: 10, fnuz: true, nan_apart: true, bits: 8, same_exponent: false, packed: false };
    Float16To6 =
        Shape { mantissa: 10, fnuz: false, nan_apart: true, bits: 6, same_exponent: false, packed: false };
    Float16ToPacked6 =
        Shape { mantissa: 10, fnuz: false, nan_apart: true, bits: 6, same_exponent: false, packed: true };
    Float16To4 =
        Shape { mantissa: 10, fnuz: false, nan_apart: true, bits: 4, same_exponent: false, packed: false };
    Float16ToPacked4 =
        Shape { mantissa: 10, fnuz: false, nan_apart: true, bits: 4, same_exponent: false, packed: true };
    Float16To5Exponent =
        Shape { mantissa: 10, fnuz: false, nan_apart: true, bits: 8, same_exponent: true, packed: false };
    Float16To5ExponentFnuzNanLimit =
        Shape { mantissa: 10, fnuz: true, nan_apart: false, bits: 8, same_exponent: true, packed: false };
    Float16To5ExponentFnuzNanApart =
        Shape { mantissa: 10, fnuz: true, nan_apart: true, bits: 8, same_exponent: true, packed: false };
}
