//! Compares the operations with their reference.

use super::{
    super::{Avx512 as Features, Bf16, Vbmi},
    simd::Avx512,
};
use crate::vector::{
    Simd,
    lanes::tests::{DIRECTIONS, Tested, check_blocks},
};

impl<const VBMI: bool, const BF16: bool> Tested for Avx512<VBMI, BF16> {}

/// Checks the operations of a token if the CPU has its features.
fn check_with<const VBMI: bool, const BF16: bool>(features: &str, found: bool) {
    if Features::try_new().is_none() || !found {
        std::println!("SKIPPED: this CPU lacks {features}");
        return;
    }
    // SAFETY: the CPU has the features.
    check_blocks::<_, 64>(DIRECTIONS, |_| unsafe { Avx512::<VBMI, BF16>::new_unchecked() });
}

#[test]
#[cfg_attr(miri, ignore = "Miri has no direction, and other tests compare its instructions")]
fn operations() {
    check_with::<false, false>("AVX-512", true);
}

#[test]
#[cfg_attr(miri, ignore = "Miri has no direction, and other tests compare its instructions")]
fn operations_with_vbmi() {
    check_with::<true, false>("AVX512_VBMI", Vbmi::try_new().is_some());
}

#[test]
#[cfg_attr(miri, ignore = "Miri has no direction, and other tests compare its instructions")]
fn operations_with_bf16() {
    check_with::<false, true>("AVX512_BF16", Bf16::try_new().is_some());
}
