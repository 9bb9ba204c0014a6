//! Writes repeated elements.

use super::nest::Axis;

/// Writes each element of a plane of `len` elements, contiguous at `src`, once for each position of `repeat`.
///
/// # Safety
///
/// As [`CopyPlane`](crate::vector::moves::copy::CopyPlane).
pub(super) unsafe fn fill(
    size: usize,
    src: *const u8,
    dst: *mut u8,
    to: [isize; 2],
    len: [usize; 2],
    repeat: Axis,
) {
    // SAFETY: the caller's promise is the same.
    unsafe {
        match size {
            1 => fill_of::<u8>(src, dst, to, len, repeat),
            2 => fill_of::<u16>(src, dst, to, len, repeat),
            4 => fill_of::<u32>(src, dst, to, len, repeat),
            8 => fill_of::<u64>(src, dst, to, len, repeat),
            _ => fill_of::<[u64; 2]>(src, dst, to, len, repeat),
        }
    }
}

/// # Safety
///
/// As [`CopyPlane`](crate::vector::moves::copy::CopyPlane).
unsafe fn fill_of<E: Copy>(src: *const u8, dst: *mut u8, to: [isize; 2], len: [usize; 2], repeat: Axis) {
    let dense = repeat.dst == size_of::<E>() as isize;
    for i in 0..len[0] * len[1] {
        let (x, y) = ((i % len[0]) as isize, (i / len[0]) as isize);
        // SAFETY: the caller's elements.
        unsafe {
            let element = src.cast::<E>().add(i).read_unaligned();
            let dst = dst.offset(x * to[0] + y * to[1]);
            let each = |step: isize| {
                for i in 0..repeat.len as isize {
                    dst.offset(i * step).cast::<E>().write_unaligned(element);
                }
            };
            if dense { each(size_of::<E>() as isize) } else { each(repeat.dst) }
        }
    }
}
