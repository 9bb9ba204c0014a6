//! Views of the arrays of the crate `ndarray`, and casts into new ones.

use super::{
    axes::MAX_AXES,
    error::ViewError,
    layout::Layout,
    view::{View, ViewMut},
};
use crate::{dtype::Element, exact::one::assert_size, route::Kernel};
use ndarray::{Array, ArrayView, ArrayViewMut, Dimension, ShapeBuilder};

/// The layout of an array by its shape and its strides in elements.
fn layout<E: Element>(shape: &[usize], strides: &[isize]) -> Result<Layout, ViewError> {
    const { assert_size::<E>() };
    let mut bytes = [0; MAX_AXES];
    let bytes = bytes.get_mut(..strides.len()).ok_or(ViewError::TooManyAxes { axes: strides.len() })?;
    for (to, stride) in bytes.iter_mut().zip(strides) {
        *to = stride.checked_mul(size_of::<E>() as isize).ok_or(ViewError::TooLarge)?;
    }
    Layout::new(E::DTYPE, shape, bytes)
}

impl<'a, E: Element, D: Dimension> TryFrom<ArrayView<'a, E, D>> for View<'a> {
    type Error = ViewError;

    /// # Errors
    ///
    /// [`ViewError::TooManyAxes`].
    fn try_from(array: ArrayView<'a, E, D>) -> Result<Self, ViewError> {
        let layout = layout::<E>(array.shape(), array.strides())?;
        // SAFETY: the pointer leads to the first element, and the array borrows all of them for `'a`; they have no padding
        // (`Element`).
        Ok(unsafe { View::from_raw(array.as_ptr().cast(), layout) })
    }
}

impl<'a, E: Element, D: Dimension> TryFrom<ArrayViewMut<'a, E, D>> for ViewMut<'a> {
    type Error = ViewError;

    /// # Errors
    ///
    /// [`ViewError::TooManyAxes`], or [`ViewError::Repeated`] as for [`ViewMut::new`].
    fn try_from(mut array: ArrayViewMut<'a, E, D>) -> Result<Self, ViewError> {
        let layout = layout::<E>(array.shape(), array.strides())?;
        // SAFETY: the array is the only borrow of its elements for `'a`; what a cast to `E::DTYPE` writes is valid for `E`
        // (`Element`).
        unsafe { ViewMut::from_raw(array.as_mut_ptr().cast(), layout) }
    }
}

impl Kernel {
    /// Casts an array into a new one of the same shape, in Fortran order if the source is, otherwise in C order.
    ///
    /// # Errors
    ///
    /// [`ViewError::WrongEncoding`] if the kernel is for other elements; [`ViewError::TooManyAxes`].
    pub fn run_to_array<S: Element, E: Element, D: Dimension>(
        &self,
        src: ArrayView<'_, S, D>,
    ) -> Result<Array<E, D>, ViewError> {
        let fortran = !src.is_standard_layout() && src.t().is_standard_layout();
        let mut out = Array::<E, D>::uninit(src.raw_dim().set_f(fortran));
        let layout = layout::<E>(out.shape(), out.strides())?;
        // SAFETY: the elements of the new array, which need not be initialised.
        let mut dst = unsafe { ViewMut::from_raw(out.as_mut_ptr().cast(), layout)? };
        self.run_strided(&View::try_from(src)?, &mut dst)?;
        // SAFETY: the cast has written every element, and what it writes is valid for `E` (`Element`).
        Ok(unsafe { out.assume_init() })
    }
}
