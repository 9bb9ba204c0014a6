//! A cast as a program calls it.
//!
//! The beginning of a call is inlined into what calls it, and how far depends on what else is there: counted within a larger
//! program, a small call changes by a tenth when that program does. This crate has nothing else.

#![no_std]

use lanecast::{Bytes, BytesMut, CastError, CastPlan};

/// Casts `n` elements.
///
/// # Errors
///
/// Those of [`CastPlan::run`].
#[inline(never)]
pub fn run(plan: &CastPlan, src: &[u8], dst: &mut [u8], n: usize) -> Result<(), CastError> {
    plan.run(Bytes::new(src, n), BytesMut::new(dst, n))
}
