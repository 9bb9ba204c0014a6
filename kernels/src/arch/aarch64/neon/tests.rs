//! Compares the operations with their reference.

use super::{super::fine, simd::Neon};
use crate::vector::{
    Simd,
    lanes::tests::{DIRECTIONS, check},
};

/// Checks the operations of the token with the features of its parameters, if the CPU has these.
fn check_with<const BF16: bool, const FP16: bool>() {
    let found = fine::found();
    if BF16 && !found.bf16 || FP16 && !found.fp16 {
        std::println!("SKIPPED: this CPU lacks {:?}", fine::names([BF16, FP16]));
        return;
    }
    // SAFETY: the CPU has the features, and NEON is a part of the target.
    check::<_, 16>(DIRECTIONS, |_| unsafe { Neon::<BF16, FP16>::new_unchecked() });
}

#[test]
fn operations() {
    check_with::<false, false>();
}

#[test]
fn operations_with_bf16() {
    check_with::<true, false>();
}

#[test]
fn operations_with_fp16() {
    check_with::<false, true>();
}
