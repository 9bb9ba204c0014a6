//! Compares the operations with their reference.

use super::{super::Avx2 as Features, simd::Avx2};
use crate::{
    format::data::Direction,
    vector::{
        Simd,
        lanes::tests::{DIRECTIONS, check},
    },
};

/// Checks the operations of a token in some directions, if the CPU has the features.
fn check_in<const DIRECTED: bool>(directions: &'static [Direction]) {
    if Features::try_new().is_none() {
        std::println!("SKIPPED: this CPU lacks AVX2");
        return;
    }
    // SAFETY: the CPU has the features.
    check::<_, 32>(directions, |_| unsafe { Avx2::<DIRECTED>::new_unchecked() });
}

#[test]
#[cfg_attr(miri, ignore = "Miri has no direction, and other tests compare its instructions")]
fn operations() {
    check_in::<false>(&[Direction::NearestEven]);
}

#[test]
#[cfg_attr(miri, ignore = "Miri has no direction, and other tests compare its instructions")]
fn operations_in_every_direction() {
    check_in::<true>(DIRECTIONS);
}
