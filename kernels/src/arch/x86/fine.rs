//! The features beyond those of the tier `avx512` that some of its kernels use.
//!
//! A CPU has any combination of them, so there is a table of kernels per combination, chosen once. The environment variable
//! `LANECAST_DISABLE` names features to do without: to test what other CPUs run, and to steer clear of a slow one.

use super::{Bf16, Vbmi};
use core::sync::atomic::{AtomicU8, Ordering};

/// AVX-512 VBMI: permutations of bytes.
pub(super) const VBMI: u8 = 1;
/// AVX-512 BF16: conversion to bfloat16.
pub(super) const BF16: u8 = 2;
/// How many combinations there are.
pub(super) const COMBINATIONS: usize = 4;

/// The names of a combination.
pub(super) const NAMES: [&[&str]; COMBINATIONS] =
    [&[], &["avx512vbmi"], &["avx512bf16"], &["avx512vbmi", "avx512bf16"]];

/// The combination of this CPU, or [`UNKNOWN`].
static FOUND: AtomicU8 = AtomicU8::new(UNKNOWN);
const UNKNOWN: u8 = u8::MAX;

/// The combination that kernels may use here.
#[inline]
pub(super) fn found() -> u8 {
    // Relaxed is enough: the byte is the whole message, and every thread that finds finds the same.
    match FOUND.load(Ordering::Relaxed) {
        UNKNOWN => find(),
        found => found,
    }
}

#[cold]
fn find() -> u8 {
    let has = |bit: u8, found: bool| if found && !disabled(NAMES[bit as usize][0]) { bit } else { 0 };
    let found = has(VBMI, Vbmi::try_new().is_some()) | has(BF16, Bf16::try_new().is_some());
    FOUND.store(found, Ordering::Relaxed);
    found
}

#[cfg(feature = "std")]
fn disabled(feature: &str) -> bool {
    let names = std::env::var("LANECAST_DISABLE").unwrap_or_default();
    names.split(',').any(|name| name.trim() == feature)
}

#[cfg(not(feature = "std"))]
fn disabled(_: &str) -> bool {
    false
}
