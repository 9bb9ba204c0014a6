//! The operations beside their reference.

use super::{super::fine, simd::Neon};
use crate::vector::{
    Simd,
    lanes::tests::{DIRECTIONS, check},
};

/// Checks the operations of the token with the features in `FINE`, if the CPU has those.
fn check_with<const FINE: u8>() {
    if fine::found() & FINE != FINE {
        std::println!("SKIPPED: this CPU lacks {:?}", fine::names(FINE));
        return;
    }
    // SAFETY: the CPU has the features, and NEON is a part of the target.
    check::<_, 16>(DIRECTIONS, |_| unsafe { Neon::<FINE>::new_unchecked() });
}

#[test]
fn operations() {
    check_with::<0>();
}

#[test]
fn operations_with_bf16() {
    check_with::<{ fine::BF16 }>();
}

#[test]
fn operations_with_fp16() {
    check_with::<{ fine::FP16 }>();
}
