//! The indices of a run's elements in C order.

use super::nest::{Axis, ONCE, Odometer};

/// The most elements that are cast before the search for lost ones: no tile has more.
pub(super) const PIECE: usize = 16 << 10;
/// Bytes of the bitmap of a piece; reads of whole words may go past its end.
pub(super) const BITS: usize = PIECE / 8 + 16;

/// The indices of the elements of a run in C order: in planes of rows.
pub(super) struct Places<'a> {
    /// The index of the first element of the first plane, without the offset of the plane.
    pub(super) first: isize,
    /// Along a row.
    pub(super) x: Axis,
    /// From a row to the next.
    pub(super) y: Axis,
    /// How often each element is repeated in the destination.
    pub(super) repeat: Axis,
    /// The offsets of the planes, if there are several.
    pub(super) planes: Option<&'a Odometer<'a>>,
}

impl Places<'_> {
    /// The places of one row.
    #[inline]
    pub(super) const fn row(first: isize, x: Axis) -> Self {
        Places { first, x, y: ONCE, repeat: ONCE, planes: None }
    }

    /// The places of rows of `len` elements.
    #[inline]
    pub(super) const fn plane(first: isize, [x, y]: [Axis; 2], len: usize, repeat: Axis) -> Self {
        Places { first, x: Axis { len, ..x }, y, repeat, planes: None }
    }

    /// The same places without the first `n` elements of the only row.
    #[inline]
    pub(super) const fn after(&self, n: usize) -> Self {
        Places { first: self.first + n as isize * self.x.index, ..*self }
    }

    /// Calls `row` for each row of `n` elements with the number of its first element, its index, and the length of the row.
    fn rows(&self, n: usize, mut row: impl FnMut(usize, isize, usize)) {
        let mut planes = self.planes.cloned();
        let mut plane = 0;
        for (i, at) in (0..n).step_by(self.x.len).enumerate() {
            let y = i % self.y.len;
            if let (Some(planes), 0) = (&mut planes, y) {
                plane = planes.next().unwrap_or_default().index;
            }
            row(at, self.first + plane + y as isize * self.y.index, self.x.len.min(n - at));
        }
    }

    /// Calls `word` for the lost elements among `n` elements, 64 of a row at a time, with the number of the first of these 64, its index, and one
    /// bit for each, set if it is lost; at least one is.
    fn words(&self, lost: &[u8; BITS], n: usize, mut word: impl FnMut(usize, isize, u64)) {
        self.rows(n, |first, index, len| {
            for i in (0..len).step_by(64) {
                let (byte, shift) = ((first + i) / 8, (first + i) % 8);
                let mut bits = [0; 16];
                bits.copy_from_slice(&lost[byte..byte + 16]);
                let all = u64::MAX >> (64 - 64.min(len - i));
                let bits = !(u128::from_le_bytes(bits) >> shift) as u64 & all;
                if bits != 0 {
                    word(first + i, index + i as isize * self.x.index, bits);
                }
            }
        });
    }

    /// The lowest index of `n` elements.
    pub(super) fn lowest(&self, n: usize) -> usize {
        let mut lowest = isize::MAX;
        self.rows(n, |_, index, len| {
            let ends = [(len, self.x), (self.repeat.len, self.repeat)];
            let before = ends.map(|(len, axis)| ((len as isize - 1) * axis.index).min(0));
            lowest = lowest.min(index + before[0] + before[1]);
        });
        lowest as usize
    }

    /// The lowest index of a lost element, and the number of that element; one is lost.
    pub(super) fn first_lost(&self, lost: &[u8; BITS], n: usize) -> (usize, usize) {
        let before = ((self.repeat.len as isize - 1) * self.repeat.index).min(0);
        let mut first = (isize::MAX, 0);
        self.words(lost, n, |i, index, bits| {
            let bit = if self.x.index < 0 { 63 - bits.leading_zeros() } else { bits.trailing_zeros() };
            first = first.min((index + before + bit as isize * self.x.index, i + bit as usize));
        });
        (first.0 as usize, first.1)
    }

    /// Clears the bits of lost elements in a mask of all elements.
    pub(super) fn clear(&self, lost: &[u8; BITS], n: usize, mask: &mut [u8]) {
        let Axis { len, index: again, .. } = self.repeat;
        self.words(lost, n, |_, index, bits| match (self.x.index, again) {
            (1, _) if again != 1 => (0..len as isize).for_each(|i| clear(mask, index + i * again, bits)),
            (step, _) => {
                let mut left = bits;
                while left != 0 {
                    let index = index + left.trailing_zeros() as isize * step;
                    left &= left - 1;
                    if again == 1 {
                        // The element is repeated along the row.
                        for i in (0..len).step_by(64) {
                            clear(mask, index + i as isize, u64::MAX >> (64 - 64.min(len - i)));
                        }
                    } else {
                        for i in 0..len as isize {
                            let index = (index + i * again) as usize;
                            mask[index / 8] &= !(1 << (index % 8));
                        }
                    }
                }
            }
        });
    }
}

/// Clears the bits of a mask, counted from bit `at`, that are set in `bits`.
#[inline]
fn clear(mask: &mut [u8], at: isize, bits: u64) {
    let (byte, shift) = (at as usize / 8, at as usize % 8);
    let bits = u128::from(bits) << shift;
    for (byte, bits) in mask[byte..].iter_mut().zip(bits.to_le_bytes()).take(9) {
        *byte &= !bits;
    }
}
