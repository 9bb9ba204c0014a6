//! The optional CPU features that some kernels of the tier `avx512` use.

use super::{Bf16, Vbmi};

crate::arch::features::cpu_features! {
    /// AVX-512 VBMI: permutations of bytes.
    vbmi = "avx512vbmi" by Vbmi;
    /// AVX-512 BF16: conversion to bfloat16.
    bf16 = "avx512bf16" by Bf16;
}
