//! Casts of typed slices in one call.
//!
//! The free functions and [`CastSlice`] use [`CastOptions::RUST`] and find their kernels at compile time: a call resolves nothing, and a
//! program that has no other casts links only the kernels of its pairs. The methods of [`CastOptions`] do the same under its rules. For
//! everything else there is [`CastPlan`].

use crate::error::CastError;
use crate::options::CastOptions;
use crate::plan::CastPlan;
use crate::tier;
use alloc::vec::Vec;
use lanecast_kernels::{Element, typed};

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

/// Casts all elements of a slice in place and returns the results.
///
/// Elements of `D` must not be wider than elements of `S`, nor need a larger alignment. ([`InPlace`](crate::InPlace) casts bytes to
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
    CastOptions::RUST.cast_in_place(elements)
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
    CastOptions::RUST.cast_one(value)
}

/// Casts as methods of slices, with the default options.
///
/// ```
/// use lanecast::{CastSlice, half::f16};
/// let weights = [1.0_f32, 65520.0];
/// assert_eq!(weights.cast_to::<f16>(), [f16::ONE, f16::INFINITY]);
///
/// let mut out = [0_u8; 2];
/// weights.cast_into(&mut out)?;
/// assert_eq!(out, [1, 255]);
/// # Ok::<(), lanecast::CastError>(())
/// ```
pub trait CastSlice {
    /// [`cast_to_vec`]: the elements in a new vector. It cannot fail.
    fn cast_to<D: Element>(&self) -> Vec<D>;

    /// [`cast`]: the elements in another slice of the same length.
    ///
    /// # Errors
    ///
    /// [`CastError::LengthMismatch`] if the slices differ in length; then nothing is written.
    fn cast_into<D: Element>(&self, dst: &mut [D]) -> Result<(), CastError>;
}

impl<S: Element> CastSlice for [S] {
    #[inline]
    fn cast_to<D: Element>(&self) -> Vec<D> {
        cast_to_vec(self)
    }

    #[inline]
    fn cast_into<D: Element>(&self, dst: &mut [D]) -> Result<(), CastError> {
        cast(self, dst)
    }
}

/// Casts of typed slices under these options.
impl CastOptions {
    /// [`cast`](crate::cast()) under these options.
    ///
    /// ```
    /// use lanecast::CastOptions;
    /// let mut out = [0_u8; 2];
    /// CastOptions::NUMPY.cast(&[300.0_f32, -1.0], &mut out)?;
    /// assert_eq!(out, [44, 255]);
    /// # Ok::<(), lanecast::CastError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`CastError::LengthMismatch`] if the slices differ in length; then nothing is written.
    #[inline]
    pub fn cast<S: Element, D: Element>(&self, src: &[S], dst: &mut [D]) -> Result<(), CastError> {
        CastPlan::of::<S, D>(self).run(src, dst)
    }

    /// [`cast_to_vec`] under these options. It cannot fail.
    #[inline]
    pub fn cast_to_vec<S: Element, D: Element>(&self, src: &[S]) -> Vec<D> {
        // The plan is for these elements, and a new vector has the length of the source.
        CastPlan::of::<S, D>(self).run_to_vec(src).unwrap_or_else(|error| unreachable!("{error}"))
    }

    /// [`cast_in_place`] under these options.
    ///
    /// # Errors
    ///
    /// [`CastError::NotInPlace`] as [`cast_in_place`].
    #[inline]
    pub fn cast_in_place<'a, S: Element, D: Element>(
        &self,
        elements: &'a mut [S],
    ) -> Result<&'a mut [D], CastError> {
        let plan = CastPlan::of::<S, D>(self);
        let refused = CastError::NotInPlace { from: S::DTYPE, to: D::DTYPE };
        plan.kernel().run_elements_in_place(elements).ok_or(refused)
    }

    /// [`cast_one`] under these options.
    ///
    /// ```
    /// use lanecast::{CastOptions, IntRound};
    /// let options = CastOptions::RUST.with_int_round(IntRound::NearestEven);
    /// assert_eq!(options.cast_one::<f32, i8>(2.7), 3);
    /// ```
    #[inline]
    pub fn cast_one<S: Element, D: Element>(&self, value: S) -> D {
        lanecast_kernels::cast_one(value, &self.rules(S::DTYPE, D::DTYPE))
    }
}
