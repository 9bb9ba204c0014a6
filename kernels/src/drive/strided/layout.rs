//! [`Layout`]: the shape and strides of an array.

use super::axes::MAX_AXES;
use super::{ViewError, axes::Axes};
use crate::dtype::Encoding;
use core::{fmt, ops::Range};

/// The places of the elements of an array: a shape, and for every axis the stride, the distance in bytes from one element to the next.
///
/// Strides may be zero (the element is repeated) or negative, and need not be multiples of the element size. Elements in packed
/// storage share bytes along the last axis, whose stride is then given as 1; each row of them begins at a whole byte.
///
/// ```
/// use lanecast_kernels::{DType, Layout};
/// let rows = Layout::contiguous(DType::Float32, &[2, 3])?;
/// assert_eq!(rows.strides(), [12, 4]);
/// assert_eq!(rows.transposed().strides(), [4, 12]);
/// let last_first = rows.reversed(1)?;
/// assert_eq!((last_first.offset(), last_first.strides()), (8, &[12, -4][..]));
/// # Ok::<(), lanecast_kernels::ViewError>(())
/// ```
#[derive(Clone)]
pub struct Layout {
    buffer: Encoding,
    offset: usize,
    shape: Axes<usize>,
    strides: Axes<isize>,
}

impl Layout {
    /// A layout whose first element is at the first byte. `shape` is in elements, `strides` in bytes.
    ///
    /// # Errors
    ///
    /// [`ViewError::TooManyAxes`], [`ViewError::StridesMismatch`], [`ViewError::PackedStride`], [`ViewError::TooLarge`].
    pub fn new(of: impl Into<Encoding>, shape: &[usize], strides: &[isize]) -> Result<Layout, ViewError> {
        let axes = shape.len();
        if axes > MAX_AXES {
            return Err(ViewError::TooManyAxes { axes });
        }
        if strides.len() != axes {
            return Err(ViewError::StridesMismatch { axes, strides: strides.len() });
        }
        let buffer = of.into();
        let layout = Layout { buffer, offset: 0, shape: Axes::new(shape), strides: Axes::new(strides) };
        match (shape, strides) {
            ([.., len], [.., stride]) if *len > 1 && buffer.is_packed() && *stride != 1 => {
                return Err(ViewError::PackedStride { stride: *stride });
            }
            _ => {}
        }
        if !shape.contains(&0) {
            let elements = shape.iter().try_fold(1_usize, |n, len| n.checked_mul(*len));
            elements.filter(|n| isize::try_from(*n).is_ok()).ok_or(ViewError::TooLarge)?;
            layout.span().ok_or(ViewError::TooLarge)?;
        }
        Ok(layout)
    }

    /// Contiguous elements in C order, where the last axis varies fastest.
    ///
    /// # Errors
    ///
    /// [`ViewError::PackedRows`] if they are packed and rows do not end at whole bytes; otherwise as [`new`](Self::new).
    pub fn contiguous(of: impl Into<Encoding>, shape: &[usize]) -> Result<Layout, ViewError> {
        let buffer = of.into();
        let mut strides = [0; MAX_AXES];
        let strides = strides.get_mut(..shape.len()).ok_or(ViewError::TooManyAxes { axes: shape.len() })?;
        let empty = shape.contains(&0);
        let mut step = buffer.dtype().size();
        for (i, (len, stride)) in shape.iter().zip(strides.iter_mut()).enumerate().rev() {
            *stride = step as isize;
            if buffer.is_packed() && i + 1 == shape.len() && !empty {
                if !(*len as u128 * u128::from(buffer.bits_per_element())).is_multiple_of(8)
                    && shape[..i].iter().any(|n| *n > 1)
                {
                    return Err(ViewError::PackedRows { elements: *len });
                }
                step = buffer.byte_len(*len).ok_or(ViewError::TooLarge)?;
            } else if !empty {
                let next = step.checked_mul(*len).filter(|step| isize::try_from(*step).is_ok());
                step = next.ok_or(ViewError::TooLarge)?;
            }
        }
        Layout::new(buffer, shape, strides)
    }

    /// The same layout with the first element `offset` bytes after the start of the buffer.
    #[must_use]
    pub fn with_offset(self, offset: usize) -> Layout {
        Layout { offset, ..self }
    }

    /// The same places for elements of another encoding, which need not fit there: for results that are not written.
    pub(crate) fn with_encoding(self, buffer: Encoding) -> Layout {
        Layout { buffer, ..self }
    }

    /// Whether the elements lie in a buffer of `have` bytes.
    ///
    /// # Errors
    ///
    /// [`ViewError::OutOfBounds`], [`ViewError::TooLarge`].
    pub fn check_bounds(&self, have: usize) -> Result<(), ViewError> {
        if self.elements() == 0 {
            return Ok(());
        }
        let span = self.span().ok_or(ViewError::TooLarge)?;
        let (low, high) =
            (self.offset() as i128 + span.start as i128, self.offset() as i128 + span.end as i128);
        if low < 0 || high > have as i128 {
            return Err(ViewError::OutOfBounds { low, high, have });
        }
        Ok(())
    }

    /// The encoding of the elements.
    pub const fn encoding(&self) -> Encoding {
        self.buffer
    }

    /// Elements along each axis.
    pub fn shape(&self) -> &[usize] {
        &self.shape
    }

    /// Bytes from an element to the next along each axis.
    pub fn strides(&self) -> &[isize] {
        &self.strides
    }

    /// Bytes from the start of the buffer to the first element.
    pub const fn offset(&self) -> usize {
        self.offset
    }

    /// The number of elements.
    pub fn elements(&self) -> usize {
        // `new` has checked that it is at most `isize::MAX`, unless an axis is empty.
        if self.shape().contains(&0) { 0 } else { self.shape().iter().product() }
    }

    /// The axes in another order: axis `i` of the result is axis `axes[i]` of this layout.
    ///
    /// # Errors
    ///
    /// [`ViewError::NotAPermutation`]; [`ViewError::PackedStride`] if the last axis of packed elements would not stay the last.
    pub fn permuted(&self, axes: &[usize]) -> Result<Layout, ViewError> {
        let n = self.shape.len();
        let mut named = [false; MAX_AXES];
        for axis in axes {
            *named[..n].get_mut(*axis).ok_or(ViewError::NotAPermutation)? = true;
        }
        if axes.len() != n || named[..n].contains(&false) {
            return Err(ViewError::NotAPermutation);
        }
        let mut to = self.clone();
        for (i, axis) in axes.iter().enumerate() {
            (to.shape[i], to.strides[i]) = (self.shape[*axis], self.strides[*axis]);
        }
        match axes.last() {
            Some(last) if self.buffer.is_packed() && last + 1 != n => {
                Err(ViewError::PackedStride { stride: self.strides[*last] })
            }
            _ => Ok(to),
        }
    }

    /// The axes in reverse order. With packed elements the last axis stays the last, and only the others are reversed.
    #[must_use]
    pub fn transposed(&self) -> Layout {
        let mut to = self.clone();
        let n = self.shape.len() - usize::from(self.buffer.is_packed() && !self.shape.is_empty());
        to.shape[..n].reverse();
        to.strides[..n].reverse();
        to
    }

    /// The elements of an axis from the last to the first.
    ///
    /// # Errors
    ///
    /// [`ViewError::NoAxis`]; [`ViewError::PackedStride`] for the last axis of packed elements.
    pub fn reversed(&self, axis: usize) -> Result<Layout, ViewError> {
        let axes = self.shape.len();
        if axis >= axes {
            return Err(ViewError::NoAxis { axis, axes });
        }
        if self.buffer.is_packed() && axis + 1 == axes && self.shape[axis] > 1 {
            return Err(ViewError::PackedStride { stride: -1 });
        }
        let mut to = self.clone();
        // Empty arrays have no last element.
        let way = if self.elements() == 0 { 0 } else { (self.shape[axis] as isize - 1) * self.strides[axis] };
        to.strides[axis] = self.strides[axis].checked_neg().ok_or(ViewError::TooLarge)?;
        to.offset = self.offset.checked_add_signed(way).ok_or(ViewError::TooLarge)?;
        Ok(to)
    }

    /// The elements repeated to a larger shape by NumPy's rule: axes are matched from the last to the first, and a missing axis or
    /// an axis of length 1 takes any length.
    ///
    /// # Errors
    ///
    /// [`ViewError::NoBroadcast`]; [`ViewError::TooManyAxes`]; [`ViewError::TooLarge`]; [`ViewError::PackedStride`] for the last axis of
    /// packed elements.
    pub fn broadcast(&self, shape: &[usize]) -> Result<Layout, ViewError> {
        let (axes, new) = (self.shape.len(), shape.len());
        if new < axes {
            return Err(ViewError::AxesMismatch { src: axes, dst: new });
        }
        let mut strides = [0; MAX_AXES];
        let strides = strides.get_mut(..new).ok_or(ViewError::TooManyAxes { axes: new })?;
        for i in 0..axes {
            let (axis, from) = (new - axes + i, self.shape[i]);
            match shape[axis] {
                to if to == from => strides[axis] = self.strides[i],
                _ if from == 1 => {}
                to => return Err(ViewError::NoBroadcast { axis, from, to }),
            }
        }
        Ok(Layout::new(self.buffer, shape, strides)?.with_offset(self.offset))
    }

    /// The range of bytes of the elements, relative to the first element: from at most 0 to one past the highest byte. Empty if there
    /// are no elements; `None` if no buffer is large enough.
    pub(crate) fn span(&self) -> Option<Range<isize>> {
        if self.shape().contains(&0) {
            return Some(0..0);
        }
        let (row, axes) = self.row();
        let (mut low, mut high) = (0_isize, isize::try_from(row?).ok()?);
        for (len, stride) in self.shape[..axes].iter().zip(self.strides.iter()) {
            let way = isize::try_from(len - 1).ok()?.checked_mul(*stride)?;
            if way < 0 {
                low = low.checked_add(way)?;
            } else {
                high = high.checked_add(way)?;
            }
        }
        high.checked_sub(low)?;
        Some(low..high)
    }

    /// The size of the unit that the axes count, an element or a row of packed elements, and the number of axes that count it.
    pub(crate) fn row(&self) -> (Option<usize>, usize) {
        match self.shape() {
            [axes @ .., last] if self.buffer.is_packed() => (self.buffer.byte_len(*last), axes.len()),
            all => (self.buffer.byte_len(1), all.len()),
        }
    }

    /// An axis along which elements may share bytes; `None` if they provably do not: the stride of every axis is larger than the extent
    /// of all axes with shorter strides.
    pub(crate) fn repeated(&self) -> Option<usize> {
        let (row, axes) = self.row();
        if self.elements() == 0 {
            return None;
        }
        let mut reach = row?;
        let mut order = [0_u8; MAX_AXES];
        let mut n = 0;
        for axis in (0..axes).filter(|axis| self.shape[*axis] > 1) {
            // Insertion sort, because there are few axes.
            let mut at = n;
            while at > 0
                && self.strides[usize::from(order[at - 1])].unsigned_abs() > self.strides[axis].unsigned_abs()
            {
                order[at] = order[at - 1];
                at -= 1;
            }
            order[at] = axis as u8;
            n += 1;
        }
        for axis in order[..n].iter().map(|axis| usize::from(*axis)) {
            let stride = self.strides[axis].unsigned_abs();
            if stride < reach {
                return Some(axis);
            }
            // The sum is within the span, which fits in an `isize`.
            reach += stride * (self.shape[axis] - 1);
        }
        None
    }

    /// Splits an axis at element `at` into two layouts, and returns the distance between their first elements.
    pub(crate) fn split(&self, axis: usize, at: usize) -> Result<(Layout, Layout, isize), ViewError> {
        let axes = self.shape.len();
        if axis >= axes {
            return Err(ViewError::NoAxis { axis, axes });
        }
        let len = self.shape[axis];
        if at > len {
            return Err(ViewError::NoAxis { axis: at, axes: len });
        }
        let row = self.buffer.is_packed() && axis + 1 == axes;
        if row && at < len && !(at as u128 * u128::from(self.buffer.bits_per_element())).is_multiple_of(8) {
            return Err(ViewError::PackedRows { elements: at });
        }
        let (mut low, mut high) = (self.clone(), self.clone());
        low.shape[axis] = at;
        high.shape[axis] = len - at;
        let way = if high.elements() == 0 {
            // There may be no memory after the last element to point to, and the distance may not be a number.
            Some(0)
        } else if row {
            self.buffer.byte_len(at).and_then(|way| isize::try_from(way).ok())
        } else {
            (at as isize).checked_mul(self.strides[axis])
        };
        Ok((low, high, way.ok_or(ViewError::TooLarge)?))
    }
}

impl PartialEq for Layout {
    fn eq(&self, other: &Self) -> bool {
        self.buffer == other.buffer
            && self.offset == other.offset
            && self.shape() == other.shape()
            && self.strides() == other.strides()
    }
}

impl Eq for Layout {}

impl fmt::Debug for Layout {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Layout { buffer, offset, .. } = self;
        write!(f, "Layout({buffer}, shape {:?}, strides {:?}, offset {offset})", self.shape(), self.strides())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dtype::DType;
    use alloc::{vec, vec::Vec};

    fn f32s(shape: &[usize], strides: &[isize]) -> Layout {
        Layout::new(DType::Float32, shape, strides).expect("a good layout")
    }

    #[test]
    fn spans() {
        assert_eq!(f32s(&[], &[]).span(), Some(0..4));
        assert_eq!(f32s(&[2, 3], &[12, 4]).span(), Some(0..24));
        assert_eq!(f32s(&[2, 3], &[-12, 4]).span(), Some(-12..12));
        assert_eq!(f32s(&[2, 0], &[-12, 4]).span(), Some(0..0));
        assert_eq!(f32s(&[1 << 20, 5], &[0, 0]).span(), Some(0..4));
        let packed = Layout::new(Encoding::packed(DType::Int4), &[3, 5], &[4, 1]).expect("a good layout");
        assert_eq!((packed.span(), packed.elements()), (Some(0..11), 15));
        let far = [isize::MAX / 2, isize::MAX / 2];
        assert_eq!(Layout::new(DType::Float32, &[2, 2], &far), Err(ViewError::TooLarge));
        assert_eq!(Layout::new(DType::Float32, &[3], &[isize::MIN]), Err(ViewError::TooLarge));
        assert_eq!(Layout::new(DType::Float32, &[usize::MAX, 2], &[0, 0]), Err(ViewError::TooLarge));
        assert!(Layout::new(DType::Float32, &[usize::MAX, 0], &[1, 0]).is_ok());
    }

    #[test]
    fn elements_that_share_bytes() {
        for (shape, strides, axis) in [
            (&[2, 3][..], &[12, 4][..], None),
            (&[2, 3], &[4, 8], None),
            (&[3, 2], &[4, 8], Some(1)),
            (&[5], &[0], Some(0)),
            (&[5], &[3], Some(0)),
            (&[5], &[-4], None),
            (&[1, 5], &[0, 4], None),
            (&[0, 5], &[0, 0], None),
            (&[2, 2], &[-5, 4], Some(0)),
            (&[2, 2], &[-8, 4], None),
        ] {
            assert_eq!(f32s(shape, strides).repeated(), axis, "{shape:?} {strides:?}");
        }
    }

    /// Splitting at an end of an axis needs no distance, however far apart the elements are.
    #[test]
    fn parts_of_far_elements() {
        let far = Layout::new(DType::UInt8, &[2], &[isize::MAX - 1]).expect("a good layout");
        let (low, high, way) = far.split(0, 2).expect("all and nothing");
        assert_eq!((low.elements(), high.elements(), way), (2, 0, 0));
        assert_eq!(far.split(0, 1).map(|(_, _, way)| way), Ok(isize::MAX - 1));
        let none = Layout::new(DType::UInt8, &[usize::MAX, 0], &[isize::MAX, 1]).expect("a good layout");
        assert_eq!(none.split(0, usize::MAX / 2).map(|(_, _, way)| way), Ok(0));
    }

    #[test]
    fn other_layouts_of_the_same() {
        let layout = Layout::contiguous(DType::Int16, &[2, 3, 4]).expect("a good layout");
        assert_eq!(layout.strides(), [24, 8, 2]);
        assert_eq!(layout.permuted(&[1, 2, 0]).map(|l| (l.shape()[2], l.strides()[2])), Ok((2, 24)));
        for bad in [&[0, 1][..], &[0, 1, 1], &[0, 1, 3], &[0, 1, usize::MAX]] {
            assert_eq!(layout.permuted(bad), Err(ViewError::NotAPermutation));
        }
        for axes in [33, MAX_AXES] {
            let shape: Vec<usize> = (0..axes).map(|axis| 1 + usize::from(axis % 8 == 0)).collect();
            let many = Layout::new(DType::Int16, &shape, &vec![0; axes]).expect("a good layout");
            let backwards: Vec<usize> = (0..axes).rev().collect();
            assert_eq!(many.permuted(&backwards), Ok(many.transposed()), "{axes} axes");
        }
        let reversed = layout.clone().with_offset(10).reversed(0).expect("an axis");
        assert_eq!((reversed.offset(), reversed.strides()), (34, &[-24, 8, 2][..]));
        assert!(layout.reversed(3).is_err());
        let wide = layout.broadcast(&[5, 2, 3, 4]).expect("a larger shape");
        assert_eq!((wide.shape(), wide.strides()), (&[5, 2, 3, 4][..], &[0, 24, 8, 2][..]));
        assert_eq!(layout.broadcast(&[2, 3, 5]), Err(ViewError::NoBroadcast { axis: 2, from: 4, to: 5 }));
        let packed = Encoding::packed(DType::UInt4);
        assert_eq!(Layout::contiguous(packed, &[2, 3]), Err(ViewError::PackedRows { elements: 3 }));
        assert_eq!(Layout::contiguous(packed, &[2, 4]).expect("whole bytes").strides(), [2, 1]);
        assert!(Layout::contiguous(packed, &[1, 3]).is_ok() && Layout::contiguous(packed, &[0, 3]).is_ok());
        let most = [1; MAX_AXES + 1];
        assert!(Layout::new(DType::Float32, &most, &[0; MAX_AXES + 1]).is_err());
        assert!(Layout::new(DType::Float32, &most[1..], &[0; MAX_AXES]).is_ok());
    }
}
