//! Transposes a tile: rows become columns.
//!
//! A square with as many rows as a vector has lanes is transposed in steps. A step zips row `i` with row `i + N/2` for all `i`, which moves one
//! bit of the row index into the lane index; after log2(N) steps all bits have moved. Each vector tier defines the zip ([`Lanes`]); elements
//! outside the squares are moved one by one.

use core::mem::MaybeUninit;

/// Moves `cols` elements of each of `rows` rows, `from` bytes apart at `src`, to `cols` rows of `rows` elements, `to` bytes apart at
/// `dst`. The elements of a row are contiguous.
///
/// # Safety
///
/// The elements of `src` may be read and the elements of `dst` written, at any alignment; they share no bytes; the CPU has the tier.
pub(crate) type Turn =
    unsafe fn(src: *const u8, from: isize, dst: *mut u8, to: isize, rows: usize, cols: usize);

/// The transpositions of elements of 1, 2, 4, 8 and 16 bytes.
pub(crate) type Transpose = [Turn; 5];

/// The functions that every target has.
pub(crate) static SCALAR: Transpose =
    [one_by_one::<u8>, one_by_one::<u16>, one_by_one::<u32>, one_by_one::<u64>, one_by_one::<u128>];

/// The vectors of a tier, and the elements in them.
pub(crate) trait Lanes {
    /// An element.
    type Element: Copy;
    /// A vector of at most 16 elements.
    type Vector: Copy;
    /// The number of elements of a vector, a power of two.
    const LANES: usize = size_of::<Self::Vector>() / size_of::<Self::Element>();

    /// The lower halves of two vectors interleaved, and their upper halves interleaved.
    ///
    /// # Safety
    ///
    /// The CPU has the tier.
    unsafe fn zip(a: Self::Vector, b: Self::Vector) -> (Self::Vector, Self::Vector);

    /// The instruction that picks bytes of a vector of 16. Without it, the compiler's own loops handle a few columns.
    const PICK: Option<Pick<Self::Vector>> = None;
}

/// Picks the bytes of the second vector whose indices the third vector has, or the bytes of the first vector where the index is 128. The CPU has
/// the tier.
pub(crate) type Pick<V> = unsafe fn(V, V, V) -> V;

/// Moves one element after the other, a few columns at a time.
///
/// # Safety
///
/// As [`Turn`].
#[inline(never)]
pub(crate) unsafe fn one_by_one<E: Copy>(
    src: *const u8,
    from: isize,
    dst: *mut u8,
    to: isize,
    rows: usize,
    cols: usize,
) {
    /// A number of columns whose lines stay in the first-level cache, however far apart the columns are.
    const COLUMNS: usize = 8;
    for first in (0..cols).step_by(COLUMNS) {
        for row in 0..rows {
            // SAFETY: elements of the rows and columns that the caller grants.
            unsafe {
                let src = src.offset(row as isize * from).cast::<E>();
                for col in first..cols.min(first + COLUMNS) {
                    let dst = dst.offset(col as isize * to).cast::<E>().add(row);
                    dst.write_unaligned(src.add(col).read_unaligned());
                }
            }
        }
    }
}

/// Transposes squares of vectors, and moves the rest one by one.
///
/// # Safety
///
/// As [`Turn`].
#[inline(always)]
pub(crate) unsafe fn squares<L: Lanes>(
    src: *const u8,
    from: isize,
    dst: *mut u8,
    to: isize,
    rows: usize,
    cols: usize,
) {
    if rows == 0 || cols == 0 {
        return; // Pointers to nothing must not be moved.
    }
    let (side, size) = (L::LANES, size_of::<L::Element>());
    let together = |step: isize, count: usize| step == (count * size) as isize;
    // SAFETY: the caller's promise is the same; rows of this number of elements are contiguous on one side.
    unsafe {
        match (rows, cols) {
            // These are whole squares.
            (_, 2 | 4) if cols.is_multiple_of(side) => {}
            (2 | 4, _) if rows.is_multiple_of(side) => {}
            (_, 2) if together(from, 2) => return apart::<L, 2>(src, dst, to, rows),
            (_, 3) if together(from, 3) => return apart::<L, 3>(src, dst, to, rows),
            (_, 4) if together(from, 4) => return apart::<L, 4>(src, dst, to, rows),
            (2, _) if together(to, 2) => return in_turns::<L, 2>(src, from, dst, cols),
            (3, _) if together(to, 3) => return in_turns::<L, 3>(src, from, dst, cols),
            (4, _) if together(to, 4) => return in_turns::<L, 4>(src, from, dst, cols),
            _ => {}
        }
    }
    let (down, across) = (rows - rows % side, cols - cols % side);
    // SAFETY: the squares are inside the rows and columns that the caller grants, and so are the strips beside and below them.
    unsafe {
        for col in (0..across).step_by(side) {
            for row in (0..down).step_by(side) {
                let src = src.offset(row as isize * from).add(col * size);
                let dst = dst.offset(col as isize * to).add(row * size);
                square::<L>(src, from, dst, to);
            }
        }
        if across < cols {
            let dst = dst.offset(across as isize * to);
            one_by_one::<L::Element>(src.add(across * size), from, dst, to, rows, cols - across);
        }
        if down < rows {
            let src = src.offset(down as isize * from);
            one_by_one::<L::Element>(src, from, dst.add(down * size), to, rows - down, across);
        }
    }
}

/// Transposes contiguous rows of a few elements into a few long rows. Some compilers vectorise the loop.
///
/// # Safety
///
/// As [`Turn`], for `COLS` columns.
#[inline(always)]
unsafe fn apart<L: Lanes, const COLS: usize>(src: *const u8, dst: *mut u8, to: isize, rows: usize) {
    let src = src.cast::<[L::Element; COLS]>();
    let out = |col: usize| dst.wrapping_offset(col as isize * to).cast::<L::Element>();
    if let Some(pick) = L::PICK {
        let picks = const { Picks::<COLS>::apart(size_of::<L::Element>()) };
        let whole = rows - rows % L::LANES;
        // SAFETY: the caller's rows, as many at a time as a vector has lanes, and then the remaining rows.
        unsafe {
            for row in (0..whole).step_by(L::LANES) {
                let block = src.add(row).cast::<L::Vector>();
                let block: [_; COLS] = core::array::from_fn(|i| block.add(i).read_unaligned());
                for col in 0..COLS {
                    out(col).add(row).cast::<L::Vector>().write_unaligned(picks.pick::<L>(pick, col, block));
                }
            }
            let from = size_of::<[L::Element; COLS]>() as isize;
            let dst = out(0).add(whole).cast();
            return one_by_one::<L::Element>(src.add(whole).cast(), from, dst, to, rows - whole, COLS);
        }
    }
    let out: [_; COLS] = core::array::from_fn(out);
    for row in 0..rows {
        // SAFETY: a row of the caller's.
        unsafe {
            let elements = src.add(row).read_unaligned();
            for (out, element) in out.iter().zip(elements) {
                out.add(row).write_unaligned(element);
            }
        }
    }
}

/// Transposes a few long rows into contiguous rows of a few elements.
///
/// # Safety
///
/// As [`Turn`], for `ROWS` rows.
#[inline(always)]
unsafe fn in_turns<L: Lanes, const ROWS: usize>(src: *const u8, from: isize, dst: *mut u8, cols: usize) {
    let row = |row: usize| src.wrapping_offset(row as isize * from).cast::<L::Element>();
    let out = dst.cast::<[L::Element; ROWS]>();
    if let Some(pick) = L::PICK {
        let picks = const { Picks::<ROWS>::in_turns(size_of::<L::Element>()) };
        let whole = cols - cols % L::LANES;
        // SAFETY: the caller's columns, as many at a time as a vector has lanes, and then the remaining columns.
        unsafe {
            for col in (0..whole).step_by(L::LANES) {
                let block: [_; ROWS] =
                    core::array::from_fn(|i| row(i).add(col).cast::<L::Vector>().read_unaligned());
                for i in 0..ROWS {
                    let out = out.add(col).cast::<L::Vector>().add(i);
                    out.write_unaligned(picks.pick::<L>(pick, i, block));
                }
            }
            let to = size_of::<[L::Element; ROWS]>() as isize;
            let (src, out) = (row(0).add(whole).cast(), out.add(whole).cast());
            return one_by_one::<L::Element>(src, from, out, to, ROWS, cols - whole);
        }
    }
    for col in 0..cols {
        // SAFETY: a column of the caller's.
        unsafe {
            out.add(col).write_unaligned(core::array::from_fn(|i| row(i).add(col).read_unaligned()));
        }
    }
}

/// For each of `N` result vectors, the indices of its bytes in each of `N` source vectors.
#[repr(C, align(16))]
struct Picks<const N: usize>([[[u8; 16]; N]; N]);

impl<const N: usize> Picks<N> {
    /// The byte comes from another vector.
    const NONE: u8 = 128;

    /// The picks that split contiguous rows of `N` elements of `size` bytes into columns.
    const fn apart(size: usize) -> Self {
        let mut picks = [[[Self::NONE; 16]; N]; N];
        let mut byte = 0;
        while byte < 16 * N {
            let (element, part) = (byte / size, byte % size);
            picks[element % N][byte / 16][element / N * size + part] = (byte % 16) as u8;
            byte += 1;
        }
        Picks(picks)
    }

    /// The picks that join columns into contiguous rows of `N` elements of `size` bytes.
    const fn in_turns(size: usize) -> Self {
        let mut picks = [[[Self::NONE; 16]; N]; N];
        let mut byte = 0;
        while byte < 16 * N {
            let (element, part) = (byte / size, byte % size);
            picks[byte / 16][element % N][byte % 16] = (element / N * size + part) as u8;
            byte += 1;
        }
        Picks(picks)
    }

    /// Picks one result vector.
    ///
    /// # Safety
    ///
    /// The CPU has the tier.
    #[inline(always)]
    unsafe fn pick<L: Lanes>(&self, pick: Pick<L::Vector>, i: usize, from: [L::Vector; N]) -> L::Vector {
        // SAFETY: a vector consists of integers, which may be zero.
        let mut all = unsafe { core::mem::zeroed() };
        for (index, from) in self.0[i].iter().zip(from) {
            // SAFETY: the caller's CPU has the tier; the indices fill a vector.
            unsafe {
                let index = index.as_ptr().cast::<L::Vector>().read_unaligned();
                all = pick(all, from, index);
            }
        }
        all
    }
}

/// # Safety
///
/// As [`Turn`], for as many rows and columns as a vector has lanes.
#[inline(always)]
unsafe fn square<L: Lanes>(src: *const u8, from: isize, dst: *mut u8, to: isize) {
    const MOST: usize = 16;
    let side = L::LANES;
    let mut rows = [MaybeUninit::<L::Vector>::uninit(); MOST];
    // SAFETY: the caller grants the rows; each of the first `side` rows is initialised before it is read; the CPU has the tier.
    unsafe {
        for (i, row) in rows.iter_mut().take(side).enumerate() {
            row.write(src.offset(i as isize * from).cast::<L::Vector>().read_unaligned());
        }
        let mut turned = 1;
        while turned < side {
            let before = rows;
            for i in 0..side / 2 {
                let (low, high) = L::zip(before[i].assume_init(), before[i + side / 2].assume_init());
                rows[2 * i].write(low);
                rows[2 * i + 1].write(high);
            }
            turned *= 2;
        }
        for (i, row) in rows.iter().take(side).enumerate() {
            dst.offset(i as isize * to).cast::<L::Vector>().write_unaligned(row.assume_init());
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::arch::{Tier, TierToken};
    use alloc::{vec, vec::Vec};

    #[test]
    fn rows_become_columns() {
        let sides: &[usize] = if cfg!(miri) { &[0, 3, 17] } else { &[0, 1, 2, 3, 4, 8, 15, 16, 17, 33, 64] };
        for tier in Tier::ALL.iter().filter_map(|tier| TierToken::new(*tier)) {
            for (width, turn) in [1_usize, 2, 4, 8, 16].into_iter().zip(tier.transpose()) {
                for (&rows, &cols) in sides.iter().flat_map(|rows| sides.iter().map(move |cols| (rows, cols)))
                {
                    for gap in [0, 1] {
                        let (from, to) = (cols * width + 3 * gap, rows * width + gap);
                        let src: Vec<u8> = (0..rows * from).map(|i| (i * 7 + i / 256) as u8).collect();
                        let mut dst = vec![0xA5; cols * to + 16];
                        // SAFETY: both have all rows that the call accesses; the tier is available.
                        unsafe {
                            turn(src.as_ptr(), from as isize, dst.as_mut_ptr(), to as isize, rows, cols)
                        };
                        for (at, byte) in dst.iter().enumerate() {
                            let (col, at_col) =
                                (at.checked_div(to).unwrap_or(cols), at.checked_rem(to).unwrap_or(0));
                            let (row, byte_of) = (at_col / width, at_col % width);
                            let inside = col < cols && row < rows;
                            let want = if inside { src[row * from + col * width + byte_of] } else { 0xA5 };
                            assert_eq!(*byte, want, "{tier:?}, width {width}, {rows} x {cols}, byte {at}");
                        }
                    }
                }
            }
        }
    }
}
