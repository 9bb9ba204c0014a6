//! Arrays of the crate [`ndarray`](https://docs.rs/ndarray), and an example of how to connect an array library: its views convert
//! to [`View`] and [`ViewMut`] with `try_from`, and a plan does the rest.

use crate::{error::CastError, options::CastOptions, plan::CastPlan};
use lanecast_kernels::{Element, View, ViewMut};
use ndarray::{Array, ArrayBase, ArrayViewMut, Data, Dimension};

/// Casts of the arrays of the crate [`ndarray`](https://docs.rs/ndarray) (feature `ndarray`).
///
/// Views of arrays convert to [`View`] and [`ViewMut`] with `try_from`, for plans and for casts over several threads.
///
/// ```
/// use lanecast::{AsType, CastOptions, F8E4M3FN, half::f16};
/// use ndarray::{Array2, array, s};
///
/// let weights = array![[1.0_f32, 2.5], [1000.0, -0.1]];
/// let halves: Array2<f16> = weights.t().astype()?;
/// assert_eq!(halves[[0, 1]], f16::from_f32(1000.0));
/// let last: Array2<F8E4M3FN> = CastOptions::NUMPY.astype(&weights.slice(s![..;-1, 1..]))?;
/// assert_eq!(last[[1, 0]].to_f32(), 2.5);
///
/// let mut table = Array2::<f64>::zeros((3, 4));
/// weights.cast_into(&mut table.slice_mut(s![1.., 1..3]))?;
/// assert_eq!(table[[2, 1]], 1000.0);
/// # Ok::<(), lanecast::CastError>(())
/// ```
pub trait AsType<D: Dimension> {
    /// Casts to a new array of the same shape, with the default options. The new array is in Fortran order if this one is, otherwise in
    /// C order.
    ///
    /// # Errors
    ///
    /// [`CastError::View`] if there are more than [`MAX_AXES`](crate::strided::MAX_AXES) axes.
    fn astype<E: Element>(&self) -> Result<Array<E, D>, CastError>;

    /// Casts into the elements of another array of the same shape, with the default options.
    ///
    /// # Errors
    ///
    /// [`CastError::View`] if the shapes differ, or as [`astype`](Self::astype); then nothing is written.
    fn cast_into<E: Element>(&self, to: &mut ArrayViewMut<'_, E, D>) -> Result<(), CastError>;
}

impl<A: Element, S: Data<Elem = A>, D: Dimension> AsType<D> for ArrayBase<S, D> {
    fn astype<E: Element>(&self) -> Result<Array<E, D>, CastError> {
        CastOptions::RUST.astype(self)
    }

    fn cast_into<E: Element>(&self, to: &mut ArrayViewMut<'_, E, D>) -> Result<(), CastError> {
        CastOptions::RUST.cast_array(self, to)
    }
}

/// Casts of the arrays of the crate [`ndarray`](https://docs.rs/ndarray) under these options.
impl CastOptions {
    /// [`AsType::astype`] under these options.
    ///
    /// # Errors
    ///
    /// As [`AsType::astype`].
    pub fn astype<A: Element, E: Element, D: Dimension>(
        &self,
        array: &ArrayBase<impl Data<Elem = A>, D>,
    ) -> Result<Array<E, D>, CastError> {
        let plan = CastPlan::of::<A, E>(self);
        Ok(plan.kernel().run_to_array(array.view())?)
    }

    /// [`AsType::cast_into`] under these options.
    ///
    /// # Errors
    ///
    /// As [`AsType::cast_into`].
    pub fn cast_array<A: Element, E: Element, D: Dimension>(
        &self,
        array: &ArrayBase<impl Data<Elem = A>, D>,
        to: &mut ArrayViewMut<'_, E, D>,
    ) -> Result<(), CastError> {
        let plan = CastPlan::of::<A, E>(self);
        plan.run(&View::try_from(array.view())?, &mut ViewMut::try_from(to.view_mut())?)
    }
}
