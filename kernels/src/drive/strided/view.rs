//! Views: layouts of elements in memory.

use super::{error::ViewError, layout::Layout};
use crate::{
    dtype::{Element, Encoding},
    exact::one::assert_size,
};
use core::{fmt, marker::PhantomData, mem::size_of_val, slice};

/// The elements of a layout in memory, for reading.
#[derive(Clone)]
pub struct View<'a> {
    first: *const u8,
    layout: Layout,
    memory: PhantomData<&'a [u8]>,
}

/// The elements of a layout in memory, for writing. No two of them share bytes.
pub struct ViewMut<'a> {
    first: *mut u8,
    layout: Layout,
    memory: PhantomData<&'a mut [u8]>,
}

// SAFETY: it is a shared borrow of bytes, which all threads may read.
unsafe impl Send for View<'_> {}
// SAFETY: as above.
unsafe impl Sync for View<'_> {}
// SAFETY: it is the only borrow of the bytes of its elements, which any thread may write.
unsafe impl Send for ViewMut<'_> {}
// SAFETY: a shared view only gives access to its layout.
unsafe impl Sync for ViewMut<'_> {}

impl<'a> View<'a> {
    /// The elements of `layout` in `bytes`, at any alignment.
    ///
    /// # Errors
    ///
    /// [`ViewError::OutOfBounds`] if some lie outside.
    pub fn new(bytes: &'a [u8], layout: Layout) -> Result<View<'a>, ViewError> {
        layout.check_bounds(bytes.len())?;
        // SAFETY: the elements are in `bytes`, which are borrowed as long as the view.
        Ok(unsafe { Self::from_raw(bytes.as_ptr(), layout) })
    }

    /// The first elements of a slice, as many as the shape has, in C order.
    ///
    /// # Errors
    ///
    /// [`ViewError::OutOfBounds`] if the slice has fewer elements than the shape; otherwise as [`Layout::contiguous`].
    pub fn from_slice<T: Element>(elements: &'a [T], shape: &[usize]) -> Result<View<'a>, ViewError> {
        const { assert_size::<T>() };
        let layout = Layout::contiguous(T::DTYPE, shape)?;
        layout.check_bounds(size_of_val(elements))?;
        // SAFETY: the elements are inside the slice; they have no padding (`Element`).
        Ok(unsafe { Self::from_raw(elements.as_ptr().cast(), layout) })
    }

    /// The elements of `layout` in memory at `start`, from which the offset is counted.
    ///
    /// # Safety
    ///
    /// For the lifetime `'a`, all elements of the layout are initialised memory that may be read, and that nothing writes except a cast
    /// that has this view as its source.
    pub const unsafe fn from_raw(start: *const u8, layout: Layout) -> View<'a> {
        View { first: start.wrapping_add(layout.offset()), layout, memory: PhantomData }
    }

    /// The layout of the elements.
    pub const fn layout(&self) -> &Layout {
        &self.layout
    }

    /// The encoding of the elements.
    pub const fn encoding(&self) -> Encoding {
        self.layout.encoding()
    }

    /// The same elements with the axes in reverse order, as [`Layout::transposed`].
    #[must_use]
    pub fn transposed(&self) -> View<'a> {
        View { layout: self.layout.transposed(), ..*self }
    }

    /// The same elements repeated to a larger shape, as [`Layout::broadcast`].
    ///
    /// # Errors
    ///
    /// As [`Layout::broadcast`].
    pub fn broadcast(&self, shape: &[usize]) -> Result<View<'a>, ViewError> {
        Ok(View { layout: self.layout.broadcast(shape)?, ..*self })
    }

    /// Splits the view into the elements before index `at` of an axis, and the others.
    ///
    /// # Errors
    ///
    /// [`ViewError::NoAxis`]; [`ViewError::PackedRows`] if packed elements would be cut inside a byte.
    pub fn split(self, axis: usize, at: usize) -> Result<(View<'a>, View<'a>), ViewError> {
        let (low, high, way) = self.layout.split(axis, at)?;
        Ok((
            View { layout: low, ..self },
            View { first: self.first.wrapping_offset(way), layout: high, ..self },
        ))
    }

    /// The bytes of all elements, if the elements are contiguous in C order and take whole bytes.
    #[doc(hidden)]
    pub fn bytes_in_order(&self) -> Option<&'a [u8]> {
        let (layout, encoding) = (&self.layout, self.encoding());
        let len = encoding.byte_len(layout.elements())?;
        if len == 0 {
            return Some(&[]);
        }
        let dense = Layout::contiguous(encoding, layout.shape()).ok()?;
        let mut axes = layout.shape().iter().zip(layout.strides().iter().zip(dense.strides()));
        if !encoding.bits_per_element().is_multiple_of(8) || axes.any(|(n, (a, b))| *n > 1 && a != b) {
            return None;
        }
        // SAFETY: the elements are initialised memory that is borrowed as long as the view, and they are contiguous.
        Some(unsafe { slice::from_raw_parts(self.first, len) })
    }

    pub(crate) const fn first(&self) -> *const u8 {
        self.first
    }
}

impl<'a> ViewMut<'a> {
    /// The elements of `layout` in `bytes`, at any alignment.
    ///
    /// # Errors
    ///
    /// [`ViewError::OutOfBounds`] if some lie outside, [`ViewError::Repeated`] if some share bytes, or if the strides do not rule that
    /// out: every stride must be larger than the extent of all axes with shorter strides.
    pub fn new(bytes: &'a mut [u8], layout: Layout) -> Result<ViewMut<'a>, ViewError> {
        layout.check_bounds(bytes.len())?;
        // SAFETY: the elements are in `bytes`, which are borrowed as long as the view.
        unsafe { Self::from_raw(bytes.as_mut_ptr(), layout) }
    }

    /// The elements of a slice, in C order, as [`View::from_slice`].
    ///
    /// # Errors
    ///
    /// As [`View::from_slice`].
    pub fn from_slice<T: Element>(elements: &'a mut [T], shape: &[usize]) -> Result<ViewMut<'a>, ViewError> {
        const { assert_size::<T>() };
        let layout = Layout::contiguous(T::DTYPE, shape)?;
        layout.check_bounds(size_of_val(elements))?;
        // SAFETY: the elements are inside the slice; what a cast to `T::DTYPE` writes is valid for `T` (`Element`).
        unsafe { Self::from_raw(elements.as_mut_ptr().cast(), layout) }
    }

    /// The elements of `layout` in memory at `start`, from which the offset is counted. They need not be initialised.
    ///
    /// # Errors
    ///
    /// [`ViewError::Repeated`] as [`new`](Self::new).
    ///
    /// # Safety
    ///
    /// For the lifetime `'a`, all elements of the layout are memory that may be written, and that nothing else reads or writes except a
    /// cast from a view of the same memory into this one, which checks both.
    pub unsafe fn from_raw(start: *mut u8, layout: Layout) -> Result<ViewMut<'a>, ViewError> {
        match layout.repeated() {
            Some(axis) => Err(ViewError::Repeated { axis }),
            None => Ok(ViewMut { first: start.wrapping_add(layout.offset()), layout, memory: PhantomData }),
        }
    }

    /// The layout of the elements.
    pub const fn layout(&self) -> &Layout {
        &self.layout
    }

    /// The encoding of the elements.
    pub const fn encoding(&self) -> Encoding {
        self.layout.encoding()
    }

    /// The same elements, borrowed for a shorter time.
    pub fn reborrow(&mut self) -> ViewMut<'_> {
        ViewMut { first: self.first, layout: self.layout.clone(), memory: PhantomData }
    }

    /// Splits the view into the elements before index `at` of an axis, and the others: two views that can be written concurrently.
    ///
    /// # Errors
    ///
    /// As [`View::split`].
    pub fn split(self, axis: usize, at: usize) -> Result<(ViewMut<'a>, ViewMut<'a>), ViewError> {
        let (low, high, way) = self.layout.split(axis, at)?;
        let (first, memory) = (self.first, PhantomData);
        // No two elements share bytes, so no two parts do.
        Ok((
            ViewMut { first, layout: low, memory },
            ViewMut { first: first.wrapping_offset(way), layout: high, memory },
        ))
    }

    /// The address of the first element.
    pub(super) const fn start(&self) -> *const u8 {
        self.first
    }

    pub(crate) const fn first(&mut self) -> *mut u8 {
        self.first
    }
}

impl fmt::Debug for View<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "View({:?})", self.layout)
    }
}

impl fmt::Debug for ViewMut<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ViewMut({:?})", self.layout)
    }
}
