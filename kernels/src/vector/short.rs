//! Casts shorter than a block, for tiers without masks.

use super::Simd;
use crate::{format::data::Data, vector::kernel::KernelFn};
use core::mem::MaybeUninit;

/// Runs `kernel` on a block on the stack: `block` elements of the sizes `s` and `d`, the first `n` of them the caller's.
///
/// # Safety
///
/// As [`KernelFn`]; `n <= block`, and a block has at most 512 bytes on either side.
#[inline(always)]
#[expect(clippy::too_many_arguments, reason = "in registers, as the token takes none")]
pub(crate) unsafe fn padded<M: Simd>(
    m: M,
    kernel: KernelFn,
    block: usize,
    s: usize,
    d: usize,
    src: *const u8,
    dst: *mut u8,
    n: usize,
    data: &Data,
) {
    // SAFETY: the caller's promise is the same.
    unsafe { padded_bits(m, kernel, block, 8 * s, 8 * d, src, dst, n, data) }
}

/// [`padded`] for elements of `s` and `d` bits, where a block takes whole bytes. The bits after packed elements become zero.
///
/// # Safety
///
/// As [`padded`].
#[inline(never)]
#[expect(clippy::too_many_arguments, reason = "in registers, as the token takes none")]
pub(crate) unsafe fn padded_bits<M: Simd>(
    m: M,
    kernel: KernelFn,
    block: usize,
    s: usize,
    d: usize,
    src: *const u8,
    dst: *mut u8,
    n: usize,
    data: &Data,
) {
    const BYTES: usize = 512;
    debug_assert!(
        n <= block && block * s <= 8 * BYTES && block * d <= 8 * BYTES && (block * s).is_multiple_of(8)
    );
    #[repr(align(64))]
    struct Block([MaybeUninit<u8>; BYTES]);
    let mut read = Block([const { MaybeUninit::uninit() }; BYTES]);
    let mut written = Block([const { MaybeUninit::uninit() }; BYTES]);
    let (read, written) = (read.0.as_mut_ptr().cast::<u8>(), written.0.as_mut_ptr().cast::<u8>());
    // The results are copied out in registers of 32 bytes. A block of packed results may have fewer: the bytes after it are read as well.
    let (results, last) = (block * d / 8, block * d / 8 % 32);
    // SAFETY: the blocks have room for `block` elements, and for whole registers. All bytes that the kernel reads are written before, and all
    // bytes that are copied out are written by the kernel or here.
    unsafe {
        if last != 0 {
            written.add(results - last).write_bytes(0, 32);
        }
        m.copy_in(src, (n * s).div_ceil(8), read, (block * s / 8).next_multiple_of(32));
        let used = n * s % 8;
        if used != 0 {
            // Of the last byte, only these bits belong to the source.
            *read.add(n * s / 8) &= !(0xFF << used);
        }
        kernel(read, written, block, data);
        let used = n * d % 8;
        if used != 0 {
            // The results of zeros need not be zero.
            *written.add(n * d / 8) &= !(0xFF << used);
        }
        m.copy_out(written, (n * d).div_ceil(8), dst);
    }
}

/// The bytes of `n` elements that fill whole bytes.
#[inline(always)]
pub(crate) const fn bytes(n: usize, bits: usize) -> usize {
    if bits.is_multiple_of(8) { n * (bits / 8) } else { n / 8 * bits }
}
