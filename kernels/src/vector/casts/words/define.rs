//! The kernels of a tier.

/// Makes `kernel`, which finds the kernel of a pair, from functions of a tier with a [`Pair`]: `$run`, and `$permuting` for the pair that
/// gains by permutations of bytes. Makes `rounded` from `$rounded` and the tier's kernels `$through_float32`.
macro_rules! define_words {
    ($($run:ident::<$name:ident> = $mantissa:literal $fnuz:literal $nan_apart:literal $bits:literal $same:literal $packed:literal;)*) => {
        $(
            struct $name;
            impl Pair for $name {
                const SHAPE: Shape = Shape {
                    mantissa: $mantissa,
                    fnuz: $fnuz,
                    nan_apart: $nan_apart,
                    bits: $bits,
                    same_exponent: $same,
                };
                const PACKED: bool = $packed;
            }
        )*
        /// The kernel of a pair under the common rules, if it is one of these.
        pub(super) const fn kernel(from: DType, to: DType, packed: bool, saturate: bool) -> Option<KernelFn> {
            let shape = match $crate::format::words::shape(from, to, saturate) {
                Some(shape) => shape,
                None => return None,
            };
            $(
                if packed == $packed && shape.is(&$name::SHAPE) {
                    return Some($run::<$name>);
                }
            )*
            None
        }
    };
    ($run:ident, $permuting:ident, $rounded:ident, $through_float32:path) => {
        /// The kernel from float16 (`HALF`) or bfloat16 to targets with or without a negative zero.
        ///
        /// # Safety
        ///
        /// As [`KernelFn`].
        unsafe fn rounded_from<const HALF: bool, const FNUZ: bool>(src: *const u8, dst: *mut u8, n: usize, data: &Data) {
            fn through_float32<const HALF: bool>(data: &Data) -> KernelFn {
                let from = if HALF { DType::Float16 } else { DType::BFloat16 };
                match $through_float32(from, data.to, style::style(data.to, &data.rules).0) {
                    Some(Steps { first, second: None }) => first,
                    _ => unreachable!("a float of 16 bits has a kernel of every style"),
                }
            }
            // SAFETY: as the caller's.
            unsafe { $rounded::<FNUZ>(src, dst, n, data, &data.words[HALF as usize], through_float32::<HALF>) }
        }

        /// The kernel of a pair in byte storage under a rounding other than to nearest even, if it has one here.
        pub(super) fn rounded(from: DType, to: DType) -> Option<KernelFn> {
            let fnuz = matches!(to.float_spec()?.flavor, Flavor::Fnuz);
            if !words::is_rounded(from, to) {
                return None;
            }
            Some(match (from, fnuz) {
                (DType::Float16, false) => rounded_from::<true, false>,
                (DType::Float16, true) => rounded_from::<true, true>,
                (_, false) => rounded_from::<false, false>,
                (_, true) => rounded_from::<false, true>,
            })
        }

        define_words! {
            $run::<BFloat16ToNanLimit> = 7 false false 8 false false;
            $run::<BFloat16ToNanApart> = 7 false true 8 false false;
            $run::<BFloat16ToFnuzNanLimit> = 7 true false 8 false false;
            $run::<BFloat16ToFnuzNanApart> = 7 true true 8 false false;
            $run::<BFloat16To6> = 7 false true 6 false false;
            $run::<BFloat16ToPacked6> = 7 false true 6 false true;
            $run::<BFloat16To4> = 7 false true 4 false false;
            $run::<BFloat16ToPacked4> = 7 false true 4 false true;
            $run::<Float16ToNanLimit> = 10 false false 8 false false;
            $run::<Float16ToNanApart> = 10 false true 8 false false;
            $run::<Float16ToFnuzNanLimit> = 10 true false 8 false false;
            $run::<Float16ToFnuzNanApart> = 10 true true 8 false false;
            $run::<Float16To6> = 10 false true 6 false false;
            $run::<Float16ToPacked6> = 10 false true 6 false true;
            $run::<Float16To4> = 10 false true 4 false false;
            $run::<Float16ToPacked4> = 10 false true 4 false true;
            $permuting::<Float16To5Exponent> = 10 false true 8 true false;
            $run::<Float16To5ExponentFnuzNanLimit> = 10 true false 8 true false;
            $run::<Float16To5ExponentFnuzNanApart> = 10 true true 8 true false;
        }
    };
}
pub(crate) use define_words;
