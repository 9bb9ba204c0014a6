//! Casts between arrays of any layout: strided, transposed, reversed, repeated.
//!
//! A [`Layout`] is a shape and, for every axis, the distance in bytes from one element to the next, which may be zero or negative;
//! a [`View`] or [`ViewMut`] is a layout on memory. A cast from one view to another of the same shape gives the same result as
//! casting element by element, but traverses memory in the order that suits both: adjacent axes are merged where possible,
//! contiguous runs are cast directly, transpositions are cast in tiles, and the rest goes through a block on the stack. Nothing is
//! allocated; a cast needs less than 112 KiB of stack.
//!
//! The `unsafe` functions [`View::from_raw`] and [`ViewMut::from_raw`] make views of memory at an address. A source and a
//! destination that share memory are refused, unless each element is replaced by its own result in its own place.

pub use lanecast_kernels::{Layout, MAX_AXES, View, ViewError, ViewMut};

use crate::checked::all_valid;
use crate::{CastError, CastOptions, CastPlan, CastReport, CheckedPlan, CountingPlan};

/// Casts every element of a view to the element at the same position of another view of the same shape, with the default options.
///
/// ```
/// use lanecast::strided::{self, Layout, View, ViewMut};
/// use lanecast::DType;
/// // The second column of three rows of four bytes, from the last row to the first.
/// let table = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12];
/// let column = Layout::new(DType::UInt8, &[3], &[-4])?.with_offset(9);
/// let mut out = [0.0_f32; 3];
/// strided::cast(&View::new(&table, column)?, &mut ViewMut::from_slice(&mut out, &[3])?)?;
/// assert_eq!(out, [10.0, 6.0, 2.0]);
/// # Ok::<(), lanecast::CastError>(())
/// ```
///
/// # Errors
///
/// [`CastError::View`] if the shapes differ ([`View::broadcast`] repeats the source), [`CastError::Overlap`] if the views share bytes,
/// unless each element is replaced in its own place; then nothing is written.
pub fn cast(src: &View<'_>, dst: &mut ViewMut<'_>) -> Result<(), CastError> {
    cast_with(src, dst, &CastOptions::RUST)
}

/// [`cast`] with other options.
///
/// # Errors
///
/// As [`cast`].
pub fn cast_with(src: &View<'_>, dst: &mut ViewMut<'_>, options: &CastOptions) -> Result<(), CastError> {
    CastPlan::new(src.encoding(), dst.encoding(), options)?.run_strided(src, dst)
}

impl CastPlan {
    /// [`strided::cast`](cast) with this plan.
    ///
    /// # Errors
    ///
    /// [`CastError::View`] if the shapes differ or a view does not have the plan's encoding, [`CastError::Overlap`] if the views share
    /// bytes, unless each element is replaced in its own place; then nothing is written.
    pub fn run_strided(&self, src: &View<'_>, dst: &mut ViewMut<'_>) -> Result<(), CastError> {
        self.kernel().run_strided(src, dst).map_err(refused)
    }

    /// Casts between two layouts of one buffer: from one column of a table to another, between the parts of complex numbers, or every
    /// element in its own place.
    ///
    /// ```
    /// use lanecast::strided::Layout;
    /// use lanecast::{CastOptions, CastPlan, DType};
    /// let mut pairs = [7, 0, 0, 0, 0xFF, 0, 0, 0];
    /// let plan = CastPlan::new(DType::Int8, DType::Int16, &CastOptions::RUST)?;
    /// let first = Layout::new(DType::Int8, &[2], &[4])?;
    /// plan.run_strided_within(&mut pairs, &first, &Layout::new(DType::Int16, &[2], &[4])?.with_offset(2))?;
    /// # if cfg!(target_endian = "little") {
    /// assert_eq!(pairs, [7, 0, 7, 0, 0xFF, 0, 0xFF, 0xFF]);
    /// # }
    /// # Ok::<(), lanecast::CastError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// As [`run_strided`](Self::run_strided), and if elements lie outside the buffer or those of the destination share bytes.
    pub fn run_strided_within(&self, buffer: &mut [u8], src: &Layout, dst: &Layout) -> Result<(), CastError> {
        self.kernel().run_strided_within(buffer, src, dst).map_err(refused)
    }
}

impl CheckedPlan {
    /// [`run`](Self::run) between views. The reported element is the first in C order, and its index counts in that order.
    ///
    /// ```
    /// use lanecast::strided::{Layout, View, ViewMut};
    /// use lanecast::{CastError, CastOptions, CastPlan, DType, Level};
    /// let plan = CastPlan::new(DType::Int16, DType::UInt8, &CastOptions::RUST)?.checked(Level::Range);
    /// let src = [1_i16, 2, 300, 4];
    /// let transposed = View::from_slice(&src, &[2, 2])?.transposed();
    /// let mut out = [0_u8; 4];
    /// let Err(CastError::Rejected(found)) = plan.run_strided(&transposed, &mut ViewMut::from_slice(&mut out, &[2, 2])?)
    /// else {
    ///     panic!("300 does not fit")
    /// };
    /// assert_eq!((found.index, found.value.integer()), (1, Some(300)));
    /// # Ok::<(), CastError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`CastError::Rejected`] as [`run`](Self::run); otherwise as [`CastPlan::run_strided`].
    pub fn run_strided(&self, src: &View<'_>, dst: &mut ViewMut<'_>) -> Result<(), CastError> {
        match self.detector().run_strided(src, dst).map_err(refused)? {
            Some(lost) => Err(self.rejected(&lost)),
            None => Ok(()),
        }
    }

    /// [`run_masked`](Self::run_masked) between views. Bit `i` belongs to element `i` in C order.
    ///
    /// # Errors
    ///
    /// [`CastError::ValidityTooSmall`], or as [`CastPlan::run_strided`]; then no element is written.
    pub fn run_strided_masked(
        &self,
        src: &View<'_>,
        dst: &mut ViewMut<'_>,
        validity: &mut [u8],
    ) -> Result<usize, CastError> {
        self.plan().kernel().check_strided(src, dst).map_err(refused)?;
        let n = src.layout().elements();
        let have = validity.len();
        let validity = all_valid(validity, n)?;
        let rejected = self.detector().run_strided_masked(src, dst, validity).map_err(refused)?;
        rejected.ok_or(CastError::ValidityTooSmall { need: n.div_ceil(8), have })
    }
}

impl CountingPlan {
    /// [`run`](Self::run) between views.
    ///
    /// # Errors
    ///
    /// As [`CastPlan::run_strided`]; then nothing is written.
    pub fn run_strided(&self, src: &View<'_>, dst: &mut ViewMut<'_>) -> Result<CastReport, CastError> {
        let losses = self.detector().run_strided_counted(src, dst).map_err(refused)?;
        Ok(CastReport::new(src.layout().elements(), &losses))
    }

    /// Counts what [`run_strided`](Self::run_strided) loses, without a destination: the results of a block stay on the stack.
    ///
    /// ```
    /// use lanecast::strided::View;
    /// use lanecast::{CastOptions, CastPlan, DType, Level};
    /// let plan = CastPlan::new(DType::Int16, DType::UInt8, &CastOptions::RUST)?.counted(Level::Range);
    /// let src = [1_i16, 2, 300, -4];
    /// assert_eq!(plan.count_strided(&View::from_slice(&src, &[2, 2])?.transposed())?.wrapped, 2);
    /// # Ok::<(), lanecast::CastError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`CastError::View`] if the view does not have the encoding of the plan's source.
    pub fn count_strided(&self, src: &View<'_>) -> Result<CastReport, CastError> {
        let losses = self.detector().count_strided(src).map_err(refused)?;
        Ok(CastReport::new(src.layout().elements(), &losses))
    }
}

fn refused(error: ViewError) -> CastError {
    match error {
        ViewError::Overlap { src, dst } => CastError::Overlap { src, dst },
        error => CastError::View(error),
    }
}
