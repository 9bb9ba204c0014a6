//! The features beyond those of the tier `avx512` that some of its kernels use.

use super::{Bf16, Vbmi};
use crate::arch::fine::Found;

/// AVX-512 VBMI: permutations of bytes.
pub(super) const VBMI: u8 = 1;
/// AVX-512 BF16: conversion to bfloat16.
pub(super) const BF16: u8 = 2;
/// How many combinations there are.
pub(super) const COMBINATIONS: usize = 4;

/// The names of a combination.
pub(super) const NAMES: [&[&str]; COMBINATIONS] =
    [&[], &["avx512vbmi"], &["avx512bf16"], &["avx512vbmi", "avx512bf16"]];

/// The combination that kernels may use here.
#[inline]
pub(super) fn found() -> u8 {
    static FOUND: Found = Found::new();
    FOUND.get(&[("avx512vbmi", || Vbmi::try_new().is_some()), ("avx512bf16", || Bf16::try_new().is_some())])
}
