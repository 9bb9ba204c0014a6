//! Whether a source and a destination share bytes.

use super::{
    error::ViewError,
    layout::Layout,
    view::{View, ViewMut},
};

/// How two views are related in memory.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Together {
    /// They share no byte.
    Apart,
    /// Every element is in the place of its own result, and shares no byte with another result.
    InPlace,
}

/// Refuses views that share bytes in any other way.
///
/// Views share no byte if the ranges from the first to the last byte are disjoint, or if all strides of both are multiples of a common
/// period within which the elements are side by side: columns of one table, the parts of complex numbers.
pub(super) fn check(src: &View<'_>, dst: &mut ViewMut<'_>) -> Result<Together, ViewError> {
    let (from, to) = (src.layout(), dst.layout());
    let (Some(a), Some(b)) = (from.span(), to.span()) else {
        return Err(ViewError::TooLarge);
    };
    if a.is_empty() || b.is_empty() {
        return Ok(Together::Apart);
    }
    let (start, end) = (src.first().addr() as i128, dst.start().addr() as i128);
    let a = start + a.start as i128..start + a.end as i128;
    let b = end + b.start as i128..end + b.end as i128;
    if a.end <= b.start || b.end <= a.start || side_by_side(from, to, end - start) {
        return Ok(Together::Apart);
    }
    if start == end && in_place(from, to) {
        return Ok(Together::InPlace);
    }
    let low = a.start.min(b.start);
    let range = |r: core::ops::Range<i128>| (r.start - low) as usize..(r.end - low) as usize;
    Err(ViewError::Overlap { src: range(a), dst: range(b) })
}

/// The axes of length two or more, with their strides.
fn steps(layout: &Layout) -> impl Iterator<Item = (usize, isize)> {
    let axes = layout.row().1;
    let pairs = layout.shape().iter().copied().zip(layout.strides().iter().copied());
    pairs.take(axes).filter(|(len, _)| *len > 1)
}

/// Whether all strides are multiples of a period within which the elements of both sides are disjoint, where the destination is
/// `apart` bytes after the source.
fn side_by_side(from: &Layout, to: &Layout, apart: i128) -> bool {
    let (Some(read), Some(written)) = (from.row().0, to.row().0) else {
        return false;
    };
    let strides = steps(from).chain(steps(to)).map(|(_, stride)| stride.unsigned_abs());
    let distance = strides.fold(0, gcd) as i128;
    if distance == 0 {
        return false;
    }
    let apart = apart.rem_euclid(distance);
    apart >= read as i128 && apart + written as i128 <= distance
}

/// Whether views that begin at the same byte have every element in the place of its own result.
fn in_place(from: &Layout, to: &Layout) -> bool {
    let bits = (from.encoding().bits_per_element(), to.encoding().bits_per_element());
    let packed = (from.encoding().is_packed(), to.encoding().is_packed());
    let alike = if packed == (false, false) {
        // A wider element does not overlap another's result only if it overlaps no other element.
        bits.0 <= bits.1 || from.repeated().is_none()
    } else {
        packed == (true, true) && bits.0 == bits.1 && from.repeated().is_none()
    };
    alike && from.shape() == to.shape() && steps(from).eq(steps(to))
}

fn gcd(mut a: usize, mut b: usize) -> usize {
    while b > 0 {
        (a, b) = (b, a % b);
    }
    a
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dtype::DType;
    use alloc::vec;

    /// The result of `check` for two layouts in one buffer.
    fn together(from: Layout, to: Layout) -> Result<Together, ViewError> {
        let mut buffer = vec![0_u8; 256];
        let start = buffer.as_mut_ptr();
        // SAFETY: all layouts below lie in the buffer; nothing is read or written.
        let (src, dst) = unsafe { (View::from_raw(start, from), ViewMut::from_raw(start, to)) };
        check(&src, &mut dst.expect("no shared bytes"))
    }

    fn layout(dtype: DType, offset: usize, shape: &[usize], strides: &[isize]) -> Layout {
        Layout::new(dtype, shape, strides).expect("a good layout").with_offset(offset)
    }

    #[test]
    fn places() {
        use DType::{Float16, Float32, Float64, UInt8};
        use Together::{Apart, InPlace};
        let row = |dtype, offset, stride| layout(dtype, offset, &[5], &[stride]);
        assert_eq!(together(row(Float32, 0, 4), row(Float32, 20, 4)), Ok(Apart));
        assert_eq!(together(row(Float32, 0, 4), row(Float32, 0, 4)), Ok(InPlace));
        assert!(together(row(Float32, 0, 4), row(Float32, 4, 4)).is_err());
        assert!(together(row(Float32, 0, 4), row(Float16, 0, 2)).is_err(), "results over sources to come");
        assert_eq!(together(row(Float32, 0, 4), row(Float16, 0, 4)), Ok(InPlace));
        assert_eq!(together(row(Float32, 16, -4), row(Float16, 16, -4)), Ok(InPlace));
        assert!(together(row(Float32, 16, -4), row(Float32, 0, 4)).is_err(), "turned round");
        // The real and the imaginary parts.
        assert_eq!(together(row(Float32, 0, 8), row(Float32, 4, 8)), Ok(Apart));
        assert_eq!(together(row(Float32, 4, 8), row(Float32, 0, 8)), Ok(Apart));
        assert!(together(row(Float32, 0, 8), row(Float64, 4, 8)).is_err());
        assert_eq!(together(row(UInt8, 0, 3), row(UInt8, 2, 6)), Ok(Apart));
        assert!(together(row(UInt8, 0, 2), row(UInt8, 1, 3)).is_err());
        // Elements that overlap are read after some of them are overwritten.
        assert!(together(row(Float32, 0, 2), row(Float16, 0, 2)).is_err());
        assert!(together(row(Float32, 0, 0), row(Float16, 0, 2)).is_err());
        let square = |a, b| layout(Float32, 0, &[4, 4], &[a, b]);
        assert!(together(square(16, 4), square(4, 16)).is_err(), "transposed in place");
        assert_eq!(together(layout(Float32, 0, &[0], &[4]), row(UInt8, 0, 1)), Ok(Apart));
        let nibbles =
            |bits| Layout::new(crate::Encoding::packed(bits), &[2, 5], &[4, 1]).expect("a good layout");
        assert_eq!(together(nibbles(DType::Int4), nibbles(DType::Float4E2M1FN)), Ok(InPlace));
        assert!(together(nibbles(DType::Int4), nibbles(DType::Int2)).is_err());
    }
}
