//! Casts of typed slices and byte buffers in one call, which plans and runs.
//!
//! Every function has a second form, whose name ends in `_with`, that takes [`CastOptions`] as its last argument. The first
//! form uses [`CastOptions::RUST`].
//!
//! The first forms on slices find their kernels at compile time: a call resolves nothing, and a program that has no other casts
//! links only the kernels of its pairs.

use crate::{CastError, CastOptions, CastPlan, Element, Encoding, tier};
use alloc::vec::Vec;
use core::mem::MaybeUninit;
use lanecast_kernels::typed;

/// Casts every element of `src` into the element of `dst` at the same index, with the default options.
///
/// ```
/// let mut out = [0_u8; 3];
/// lanecast::cast(&[1.9_f64, -5.0, 1e9], &mut out)?;
/// assert_eq!(out, [1, 0, 255]);
/// # Ok::<(), lanecast::CastError>(())
/// ```
///
/// # Errors
///
/// [`CastError::LengthMismatch`] if the slices differ in length; then nothing is written.
#[inline]
pub fn cast<S: Element, D: Element>(src: &[S], dst: &mut [D]) -> Result<(), CastError> {
    if typed::cast_slices(tier::token, src, dst) {
        Ok(())
    } else {
        Err(CastError::LengthMismatch { src: src.len(), dst: dst.len() })
    }
}

/// [`cast`] with other options.
///
/// # Errors
///
/// As [`cast`].
#[inline]
pub fn cast_with<S: Element, D: Element>(
    src: &[S],
    dst: &mut [D],
    options: &CastOptions,
) -> Result<(), CastError> {
    CastPlan::new(S::DTYPE, D::DTYPE, options)?.run_slice(src, dst)
}

/// [`cast`] into a new vector. It cannot fail.
///
/// ```
/// use lanecast::half::bf16;
/// let out: Vec<bf16> = lanecast::cast_to_vec(&[1_i64, -2]);
/// assert_eq!(out, [bf16::ONE, bf16::from_f32(-2.0)]);
/// ```
#[inline]
pub fn cast_to_vec<S: Element, D: Element>(src: &[S]) -> Vec<D> {
    typed::cast_to_vec(tier::token, src)
}

/// [`cast_to_vec`] with other options. It cannot fail.
#[inline]
pub fn cast_to_vec_with<S: Element, D: Element>(src: &[S], options: &CastOptions) -> Vec<D> {
    const { typed::assert_built::<S, D>() };
    certain(CastPlan::new(S::DTYPE, D::DTYPE, options).and_then(|plan| plan.run_to_vec(src)))
}

/// Unwraps the result of a typed cast into a new vector, which cannot fail: there is a plan for every pair, and the lengths agree.
#[inline]
pub(crate) fn certain<D>(result: Result<Vec<D>, CastError>) -> Vec<D> {
    result.unwrap_or_else(|error| unreachable!("{error}"))
}

/// [`cast`] into memory that need not be initialised; returns the initialised slice.
///
/// ```
/// use lanecast::half::f16;
/// let src = [1.0_f32, 65520.0];
/// let mut out: Vec<f16> = Vec::with_capacity(src.len());
/// let written = lanecast::cast_uninit(&src, &mut out.spare_capacity_mut()[..src.len()])?;
/// assert_eq!(written, [f16::ONE, f16::INFINITY]);
/// # Ok::<(), lanecast::CastError>(())
/// ```
///
/// # Errors
///
/// As [`cast`].
#[inline]
pub fn cast_uninit<'a, S: Element, D: Element>(
    src: &[S],
    dst: &'a mut [MaybeUninit<D>],
) -> Result<&'a mut [D], CastError> {
    let have = dst.len();
    match typed::cast_uninit(tier::token, src, dst) {
        Some(written) => Ok(written),
        None => Err(CastError::LengthMismatch { src: src.len(), dst: have }),
    }
}

/// [`cast_uninit`] with other options.
///
/// # Errors
///
/// As [`cast`].
#[inline]
pub fn cast_uninit_with<'a, S: Element, D: Element>(
    src: &[S],
    dst: &'a mut [MaybeUninit<D>],
    options: &CastOptions,
) -> Result<&'a mut [D], CastError> {
    CastPlan::new(S::DTYPE, D::DTYPE, options)?.run_slice_uninit(src, dst)
}

/// Casts all elements of a slice in place and returns the results.
///
/// Elements of `D` must not be wider than those of `S`, nor need a larger alignment. ([`CastPlan::run_in_place`] casts bytes to
/// wider elements where there is room.) A slice of bool can only become one of bool, because it must not be left with bytes other
/// than 0 and 1.
///
/// ```
/// use lanecast::half::f16;
/// let mut buffer = vec![1.0_f32, -2.5, 1e9];
/// let halves: &mut [f16] = lanecast::cast_in_place(&mut buffer)?;
/// assert_eq!(halves, [f16::ONE, f16::from_f32(-2.5), f16::INFINITY]);
/// # Ok::<(), lanecast::CastError>(())
/// ```
///
/// After the cast the old slice holds the bytes of the results, followed by unspecified bytes if the results are narrower.
///
/// # Errors
///
/// [`CastError::NotInPlace`] for other elements; then nothing is written.
#[inline]
pub fn cast_in_place<S: Element, D: Element>(elements: &mut [S]) -> Result<&mut [D], CastError> {
    cast_in_place_with(elements, &CastOptions::RUST)
}

/// [`cast_in_place`] with other options.
///
/// # Errors
///
/// As [`cast_in_place`].
#[inline]
pub fn cast_in_place_with<'a, S: Element, D: Element>(
    elements: &'a mut [S],
    options: &CastOptions,
) -> Result<&'a mut [D], CastError> {
    CastPlan::new(S::DTYPE, D::DTYPE, options)?.run_slice_in_place(elements)
}

/// Casts a single element, with the default options.
///
/// The result is that of [`cast`]. It is computed in integer arithmetic on every tier, so the floating-point environment does not
/// change it, and there is no tier to choose. A loop over `cast_one` is many times slower than one [`cast`] of the slice.
///
/// ```
/// use lanecast::{F8E4M3FN, cast_one};
/// assert_eq!(cast_one::<_, u8>(300.7_f32), 255);
/// assert_eq!(cast_one::<i64, F8E4M3FN>(19).to_f32(), 20.0);
/// ```
///
/// In constants, use the methods of the types: [`F8E4M3FN::from_f32`](crate::F8E4M3FN::from_f32), `from_f64`, `to_f32` and
/// `to_f64` of all small floats are `const`, and so are `new` and `get` of the small integers.
#[inline]
pub fn cast_one<S: Element, D: Element>(value: S) -> D {
    cast_one_with(value, &CastOptions::RUST)
}

/// [`cast_one`] with other options.
///
/// ```
/// use lanecast::{CastOptions, IntRound, cast_one_with};
/// let options = CastOptions::RUST.with_int_round(IntRound::NearestEven);
/// assert_eq!(cast_one_with::<f32, i8>(2.7, &options), 3);
/// ```
#[inline]
pub fn cast_one_with<S: Element, D: Element>(value: S, options: &CastOptions) -> D {
    lanecast_kernels::cast_one(value, &options.rules(S::DTYPE, D::DTYPE))
}

/// Casts the first `n` elements of a byte buffer to the first `n` of another, with the default options.
///
/// Buffers may be unaligned and longer than `n` elements. Multi-byte elements are in the byte order of their
/// [`Encoding`]; a plain dtype means the host's byte order. Bytes of bool that are neither 0 nor 1 are read as true.
///
/// # Errors
///
/// As [`CastPlan::new`] and [`CastPlan::run`]; then nothing is written.
#[inline]
pub fn cast_bytes(
    src: &[u8],
    from: impl Into<Encoding>,
    dst: &mut [u8],
    to: impl Into<Encoding>,
    n: usize,
) -> Result<(), CastError> {
    cast_bytes_with(src, from, dst, to, n, &CastOptions::RUST)
}

/// [`cast_bytes`] with other options.
///
/// # Errors
///
/// As [`cast_bytes`].
#[inline]
pub fn cast_bytes_with(
    src: &[u8],
    from: impl Into<Encoding>,
    dst: &mut [u8],
    to: impl Into<Encoding>,
    n: usize,
    options: &CastOptions,
) -> Result<(), CastError> {
    CastPlan::new(from, to, options)?.run(src, dst, n)
}
