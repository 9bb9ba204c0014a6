//! The kernels of a tier by pair.

use super::{is_rounded, pairs::*};
use crate::{
    dtype::{DType, Flavor},
    format::{
        data::Data,
        words::{Shape, Words, shape},
    },
    vector::{
        casts::Loaded,
        kernel::KernelFn,
        small::{FloatFamily, FnuzNanApart, FourOrSixBits, NanApart},
        style::{self, Mode},
    },
};
use half::{bf16, f16};

/// A tier that has these kernels.
pub(crate) trait WordKernels {
    /// [`run`], compiled for the tier.
    ///
    /// # Safety
    ///
    /// As [`KernelFn`].
    unsafe fn run<P: Pair>(src: *const u8, dst: *mut u8, n: usize, data: &Data);
    /// The same for the pair that is faster with permutations of bytes.
    ///
    /// # Safety
    ///
    /// As [`KernelFn`], and the CPU has these permutations.
    unsafe fn run_permuting<P: Pair>(src: *const u8, dst: *mut u8, n: usize, data: &Data);
    /// [`run_rounded`], compiled for the tier.
    ///
    /// # Safety
    ///
    /// As for [`run_rounded`].
    unsafe fn run_rounded<const FNUZ: bool>(
        src: *const u8,
        dst: *mut u8,
        n: usize,
        data: &Data,
        w: &Words,
        through_float32: fn(&Data) -> KernelFn,
    );
    /// The kernel through float32 to a family of small floats in a mode.
    fn small<S: Loaded, F: FloatFamily>(mode: Mode) -> KernelFn;
}

/// The kernel of a pair under the common rules, if the pair is one of these.
pub(crate) const fn kernel<W: WordKernels>(
    from: DType,
    to: DType,
    packed: bool,
    saturate: bool,
) -> Option<KernelFn> {
    let Some(shape) = shape(from, to, saturate) else { return None };
    let shape = Shape { packed, ..shape };
    let kernels: &[(Shape, KernelFn)] = const {
        &[
            (BFloat16ToNanLimit::SHAPE, W::run::<BFloat16ToNanLimit>),
            (BFloat16ToNanApart::SHAPE, W::run::<BFloat16ToNanApart>),
            (BFloat16ToFnuzNanLimit::SHAPE, W::run::<BFloat16ToFnuzNanLimit>),
            (BFloat16ToFnuzNanApart::SHAPE, W::run::<BFloat16ToFnuzNanApart>),
            (BFloat16To6::SHAPE, W::run::<BFloat16To6>),
            (BFloat16ToPacked6::SHAPE, W::run::<BFloat16ToPacked6>),
            (BFloat16To4::SHAPE, W::run::<BFloat16To4>),
            (BFloat16ToPacked4::SHAPE, W::run::<BFloat16ToPacked4>),
            (Float16ToNanLimit::SHAPE, W::run::<Float16ToNanLimit>),
            (Float16ToNanApart::SHAPE, W::run::<Float16ToNanApart>),
            (Float16ToFnuzNanLimit::SHAPE, W::run::<Float16ToFnuzNanLimit>),
            (Float16ToFnuzNanApart::SHAPE, W::run::<Float16ToFnuzNanApart>),
            (Float16To6::SHAPE, W::run::<Float16To6>),
            (Float16ToPacked6::SHAPE, W::run::<Float16ToPacked6>),
            (Float16To4::SHAPE, W::run::<Float16To4>),
            (Float16ToPacked4::SHAPE, W::run::<Float16ToPacked4>),
            (Float16To5Exponent::SHAPE, W::run_permuting::<Float16To5Exponent>),
            (Float16To5ExponentFnuzNanLimit::SHAPE, W::run::<Float16To5ExponentFnuzNanLimit>),
            (Float16To5ExponentFnuzNanApart::SHAPE, W::run::<Float16To5ExponentFnuzNanApart>),
        ]
    };
    let mut i = 0;
    while i < kernels.len() {
        if kernels[i].0.is(&shape) {
            return Some(kernels[i].1);
        }
        i += 1;
    }
    None
}

/// The kernel of a pair in byte storage under a rounding other than to nearest even, if there is one here.
pub(crate) fn rounded_kernel<W: WordKernels>(from: DType, to: DType) -> Option<KernelFn> {
    /// The kernel from float16 (`HALF`) or bfloat16 to targets with or without a negative zero.
    ///
    /// # Safety
    ///
    /// As [`KernelFn`].
    unsafe fn from_words<W: WordKernels, const HALF: bool, const FNUZ: bool>(
        src: *const u8,
        dst: *mut u8,
        n: usize,
        data: &Data,
    ) {
        fn through_float32<W: WordKernels, S: Loaded, const FNUZ: bool>(data: &Data) -> KernelFn {
            let (mode, _) = style::mode(data.to, &data.rules);
            if FNUZ {
                W::small::<S, FnuzNanApart>(mode)
            } else if data.to.bits() == 8 {
                W::small::<S, NanApart>(mode)
            } else {
                W::small::<S, FourOrSixBits>(mode)
            }
        }
        let through_float32 =
            if HALF { through_float32::<W, f16, FNUZ> } else { through_float32::<W, bf16, FNUZ> };
        // SAFETY: the caller's promise is the same.
        unsafe {
            W::run_rounded::<FNUZ>(src, dst, n, data, &data.float.words[HALF as usize], through_float32)
        }
    }
    let fnuz = matches!(to.float_spec()?.flavor, Flavor::Fnuz);
    if !is_rounded(from, to) {
        return None;
    }
    Some(match (from, fnuz) {
        (DType::Float16, false) => from_words::<W, true, false>,
        (DType::Float16, true) => from_words::<W, true, true>,
        (_, false) => from_words::<W, false, false>,
        (_, true) => from_words::<W, false, true>,
    })
}
