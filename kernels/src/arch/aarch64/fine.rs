//! The optional CPU features that some kernels of the tier `neon` use.

use super::{Bf16, Fp16};

crate::arch::features::cpu_features! {
    /// FEAT_BF16: conversion to bfloat16.
    bf16 = "bf16" by Bf16;
    /// FEAT_FP16: arithmetic of float16.
    fp16 = "fp16" by Fp16;
}
