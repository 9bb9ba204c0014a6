//! The features beyond those of the tier `neon` that some of its kernels use.

use super::{Bf16, Fp16};
use crate::arch::fine::Found;

/// FEAT_BF16: conversion to bfloat16.
pub(super) const BF16: u8 = 1;
/// FEAT_FP16: arithmetic of float16.
pub(super) const FP16: u8 = 2;
/// How many combinations there are.
pub(super) const COMBINATIONS: usize = 4;

/// The names of a combination.
pub(super) const NAMES: [&[&str]; COMBINATIONS] = [&[], &["bf16"], &["fp16"], &["bf16", "fp16"]];

/// The combination that kernels may use here.
#[inline]
pub(super) fn found() -> u8 {
    static FOUND: Found = Found::new();
    FOUND.get(&[("bf16", || Bf16::try_new().is_some()), ("fp16", || Fp16::try_new().is_some())])
}
