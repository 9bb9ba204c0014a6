//! Copies strided elements: gathers, scatters and repeats them.

/// Copies a plane of elements of `size` bytes: `len` elements along two axes, with their strides on both sides.
///
/// # Safety
///
/// The elements may be read and written; they share no bytes; the CPU has the tier.
pub(crate) type CopyPlane =
    unsafe fn(size: usize, src: *const u8, from: [isize; 2], dst: *mut u8, to: [isize; 2], len: [usize; 2]);

/// The copy that every target has. It uses vectors if the compiler always has them. The vectors that the compiler always has on x86 do not help
/// here, so the vector tiers have their own copy.
///
/// # Safety
///
/// As [`CopyPlane`].
pub(crate) unsafe fn copy_in_scalars(
    size: usize,
    src: *const u8,
    from: [isize; 2],
    dst: *mut u8,
    to: [isize; 2],
    len: [usize; 2],
) {
    const ALWAYS: bool = cfg!(not(any(target_arch = "x86", target_arch = "x86_64")));
    // SAFETY: the caller's promise is the same.
    unsafe { copy::<ALWAYS>(size, src, from, dst, to, len) }
}

/// As [`CopyPlane`]. `VECTORS` says whether the loops are written such that the compiler vectorises them.
///
/// # Safety
///
/// As [`CopyPlane`].
#[inline(always)]
pub(crate) unsafe fn copy<const VECTORS: bool>(
    size: usize,
    src: *const u8,
    mut from: [isize; 2],
    dst: *mut u8,
    mut to: [isize; 2],
    mut len: [usize; 2],
) {
    let step = size as isize;
    if len[0] < len[1] && (from[0] != step || to[0] != step) {
        // Makes the longer axis the innermost.
        (from, to, len) = ([from[1], from[0]], [to[1], to[0]], [len[1], len[0]]);
    }
    let row = len[0] as isize * step;
    if (from, to) == ([step, row], [step, row]) {
        // The rows are contiguous on both sides, so they become one.
        (len, from[1], to[1]) = ([len[0] * len[1], 1], 0, 0);
    }
    // SAFETY: the caller's promise is the same.
    unsafe {
        match size {
            _ if from[0] == step && to[0] == step => {
                copy_rows(len[0] * size, src, from[1], dst, to[1], len[1])
            }
            1 => copy_of::<u8, VECTORS>(src, from, dst, to, len),
            2 => copy_of::<u16, VECTORS>(src, from, dst, to, len),
            4 => copy_of::<u32, VECTORS>(src, from, dst, to, len),
            8 => copy_of::<u64, VECTORS>(src, from, dst, to, len),
            _ => copy_of::<[u64; 2], false>(src, from, dst, to, len),
        }
    }
}

/// Copies rows of `len` bytes.
///
/// # Safety
///
/// As [`CopyPlane`].
unsafe fn copy_rows(len: usize, src: *const u8, from: isize, dst: *mut u8, to: isize, rows: usize) {
    // SAFETY: the caller's promise is the same.
    unsafe {
        if !copy_short(len, src, from, dst, to, rows) {
            for row in 0..rows as isize {
                src.offset(row * from).copy_to_nonoverlapping(dst.offset(row * to), len);
            }
        }
    }
}

/// Copies elements that are not contiguous on both sides.
///
/// # Safety
///
/// As [`CopyPlane`].
#[inline(always)]
unsafe fn copy_of<E: Copy, const VECTORS: bool>(
    src: *const u8,
    from: [isize; 2],
    dst: *mut u8,
    to: [isize; 2],
    len: [usize; 2],
) {
    let size = size_of::<E>() as isize;
    for row in 0..len[1] as isize {
        // SAFETY: elements of the row, by the caller.
        unsafe {
            let (src, dst) = (src.offset(row * from[1]), dst.offset(row * to[1]));
            let each = |from: isize, to: isize| {
                for i in 0..len[0] as isize {
                    let element = src.offset(i * from).cast::<E>().read_unaligned();
                    dst.offset(i * to).cast::<E>().write_unaligned(element);
                }
            };
            // For constant strides the compiler generates vector code.
            match from[0] {
                step if VECTORS && step == size => scatter::<E>(src, dst, to[0], len[0]),
                step if VECTORS && step == -size && to[0] == size => each(-size, size),
                step if VECTORS && step == 2 * size && to[0] == size => each(2 * size, size),
                step => each(step, to[0]),
            }
        }
    }
}

/// Moves contiguous elements to places `to` bytes apart, several at a time, so that each store takes no more than a cycle.
///
/// # Safety
///
/// As [`CopyPlane`], for a row of `len` elements.
#[inline(always)]
unsafe fn scatter<E: Copy>(src: *const u8, dst: *mut u8, to: isize, len: usize) {
    let (src, mut dst) = (src.cast::<E>(), dst);
    let whole = len - len % 4;
    // Otherwise the compiler computes one addition per store.
    let [two, three, four] = [2, 3, 4].map(|steps| core::hint::black_box(steps * to));
    // SAFETY: elements of the row, by the caller.
    unsafe {
        for i in (0..whole).step_by(4) {
            let src = src.add(i);
            let elements = [0, 1, 2, 3].map(|i| src.add(i).read_unaligned());
            dst.cast::<E>().write_unaligned(elements[0]);
            dst.offset(to).cast::<E>().write_unaligned(elements[1]);
            dst.offset(two).cast::<E>().write_unaligned(elements[2]);
            dst.offset(three).cast::<E>().write_unaligned(elements[3]);
            dst = dst.wrapping_offset(four);
        }
        for i in whole..len {
            dst.cast::<E>().write_unaligned(src.add(i).read_unaligned());
            dst = dst.wrapping_offset(to);
        }
    }
}

/// Copies short rows without a call for each row.
///
/// # Safety
///
/// As [`CopyPlane`], for `rows` rows of `len` bytes.
unsafe fn copy_short(len: usize, src: *const u8, from: isize, dst: *mut u8, to: isize, rows: usize) -> bool {
    /// Copies the first bytes and the last bytes of each row, which may overlap.
    #[inline(always)]
    unsafe fn ends<W: Copy>(len: usize, src: *const u8, from: isize, dst: *mut u8, to: isize, rows: usize) {
        let last = len - size_of::<W>();
        for row in 0..rows as isize {
            // SAFETY: `len` is at least the size of `W`, and no more than twice that.
            unsafe {
                let (src, dst) = (src.offset(row * from), dst.offset(row * to));
                let (a, b) = (src.cast::<W>().read_unaligned(), src.add(last).cast::<W>().read_unaligned());
                dst.cast::<W>().write_unaligned(a);
                if last > 0 {
                    dst.add(last).cast::<W>().write_unaligned(b);
                }
            }
        }
    }
    // SAFETY: the caller's promise is the same; the length in each case matches its copies.
    unsafe {
        match len {
            2..4 => ends::<u16>(len, src, from, dst, to, rows),
            4..8 => ends::<u32>(len, src, from, dst, to, rows),
            8..16 => ends::<u64>(len, src, from, dst, to, rows),
            16..32 => ends::<[u64; 2]>(len, src, from, dst, to, rows),
            32..=64 => ends::<[u64; 4]>(len, src, from, dst, to, rows),
            _ => return false,
        }
    }
    true
}
