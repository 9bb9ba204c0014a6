//! Compares the operations with their reference.

use super::{super::Avx2 as Features, simd::Avx2};
use crate::vector::{
    Simd,
    lanes::tests::{DIRECTIONS, Tested, check_blocks},
};

impl Tested for Avx2 {}

#[test]
#[cfg_attr(miri, ignore = "Miri has no direction, and other tests compare its instructions")]
fn operations() {
    if Features::try_new().is_none() {
        std::println!("SKIPPED: this CPU lacks AVX2");
        return;
    }
    // SAFETY: the CPU has the features.
    check_blocks::<_, 32>(DIRECTIONS, |_| unsafe { Avx2::new_unchecked() });
}
