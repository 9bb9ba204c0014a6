//! Casts of buffers larger than the last-level cache or 32 MiB.
//!
//! A store to a cache line that is in no cache first reads the line. For buffers larger than the last-level cache, that is a third
//! (equal widths) to nearly half (widening) of all traffic, spent on bytes that are overwritten. Non-temporal stores of whole lines
//! avoid it, and leave the caches to other data. Within the caches they are slower than regular stores, because they evict the lines.
//!
//! One driver serves all pairs, around the kernel of the pair. For each block it prefetches the source some way ahead, casts into a
//! block on the stack, which stays in the first-level cache, and stores that to the destination in whole lines. So no kernel needs a
//! second form, and slow kernels, which have too few loads in flight to keep the memory busy, also gain from the prefetch.
//!
//! Blocks are whole lines and begin at a line of the destination. The elements before the first line and after the last one
//! are cast with regular stores.

use crate::vector::non_temporal::NonTemporal;
use crate::{
    drive::blocks::Stack,
    vector::machine::{BLOCK_BYTES, CACHE_LINE},
};
use core::{mem::MaybeUninit, ops::Range};

/// Elements per block; half as many for wide elements, more for packed ones.
const BLOCK: usize = BLOCK_BYTES / 16;
/// How far ahead the source is prefetched, in bytes.
const AHEAD: usize = 8192;

/// Elements per block. Shorter blocks spread the prefetches of the source better; longer blocks call the kernel less often. These sizes are the
/// fastest for nearly all pairs, by up to a third over blocks of 1024 elements.
const fn block_of(from_bits: usize, to_bits: usize) -> usize {
    let half_is_whole_lines = (BLOCK / 2 * to_bits).is_multiple_of(8 * CACHE_LINE);
    if from_bits >= 32 && half_is_whole_lines {
        BLOCK / 2
    } else if from_bits < 8 && to_bits < 8 {
        // As many bytes as other blocks take.
        4 * BLOCK
    } else {
        BLOCK
    }
}

/// Calls the fence of [`NonTemporal`] on drop.
pub(crate) struct Fence(pub(crate) fn());

impl Drop for Fence {
    fn drop(&mut self) {
        (self.0)();
    }
}

/// Fills `dst` with `n` elements of `to_bits` bits. `cast` receives the source bytes of a range of elements (on whole bytes) and the memory of
/// their destination bytes, which it fills.
///
/// # Safety
///
/// The CPU has the tier of `tools`; `src` and `dst` are the bytes of `n` elements of `from_bits` and `to_bits` bits.
pub(crate) unsafe fn stream(
    tools: &NonTemporal,
    src: &[u8],
    dst: &mut [MaybeUninit<u8>],
    n: usize,
    (from_bits, to_bits): (u32, u32),
    mut cast: impl FnMut(&[u8], &mut [MaybeUninit<u8>], usize),
) {
    let (from_bits, to_bits) = (from_bits as usize, to_bits as usize);
    let bytes = |bits: usize, elements: Range<usize>| {
        elements.start / 8 * bits..elements.end / 8 * bits + (elements.end % 8 * bits).div_ceil(8)
    };
    let head = head(dst.as_ptr().addr(), to_bits, from_bits);
    let block = block_of(from_bits, to_bits);
    let blocks = head.map_or(0, |head| n.saturating_sub(head) / block);
    let (Some(head), 1..) = (head, blocks) else {
        // No element begins a line, or there are too few elements.
        cast(src, dst, n);
        return;
    };
    let (read, written) = (block / 8 * from_bits, block / 8 * to_bits);
    let (src_head, src) = src.split_at(bytes(from_bits, 0..head).len());
    let (dst_head, dst) = dst.split_at_mut(bytes(to_bits, 0..head).len());
    let (src, src_tail) = src.split_at(blocks * read);
    let (dst, dst_tail) = dst.split_at_mut(blocks * written);
    cast(src_head, dst_head, head);
    // A block of the widest elements.
    let mut stack = Stack::<BLOCK_BYTES>::new();
    let stack = &mut stack.bytes()[..written];
    let _fence = Fence(tools.fence);
    for (src, dst) in src.chunks_exact(read).zip(dst.chunks_exact_mut(written)) {
        (tools.prefetch)(src.as_ptr().wrapping_add(AHEAD), read);
        cast(src, stack, block);
        // SAFETY: the caller's CPU has the tier. `cast` has filled the block on the stack, which begins at a line, as does its part of the
        // destination; both are `written` bytes, whole lines.
        unsafe { (tools.store)(stack.as_ptr().cast(), dst.as_mut_ptr().cast(), written) };
    }
    cast(src_tail, dst_tail, n - head - blocks * block);
}

/// The number of elements before the first cache line of a buffer at an address, such that they take whole bytes in this and in the other buffer;
/// `None` if no such number of elements ends at a line. The elements of the buffers have `bits` and `other_bits` bits.
pub(crate) fn head(address: usize, bits: usize, other_bits: usize) -> Option<usize> {
    // This number of elements takes whole bytes in both buffers.
    let whole = 8 >> (bits | other_bits | 8).trailing_zeros();
    let (step, left) = (whole * bits / 8, address.wrapping_neg() % CACHE_LINE);
    match step.is_power_of_two() {
        true => left.is_multiple_of(step).then_some(left / step * whole),
        // Packed elements of 6 bits.
        false => {
            let steps = (0..CACHE_LINE).find(|steps| (steps * step) % CACHE_LINE == left)?;
            Some(steps * whole)
        }
    }
}

/// Tests the driver with ordinary stores; `tests/streaming.rs` of the root crate tests it with the stores of the tiers.
#[cfg(test)]
mod tests {
    use super::*;
    use core::sync::atomic::{AtomicUsize, Ordering};
    use std::vec;

    static FENCES: AtomicUsize = AtomicUsize::new(0);

    const ORDINARY: NonTemporal = NonTemporal {
        last_cache: || 0,
        prefetch: |_, _| {},
        store: |src, dst, len| {
            assert!(src.addr() % CACHE_LINE == 0 && dst.addr() % CACHE_LINE == 0 && len % CACHE_LINE == 0);
            // SAFETY: the caller's promise.
            unsafe { src.copy_to_nonoverlapping(dst, len) };
        },
        fence: || {
            FENCES.fetch_add(1, Ordering::Relaxed);
        },
    };

    /// Casts bytes to words of two bytes, and back; elements of four bits unchanged.
    #[test]
    fn every_byte_once_and_in_its_place() {
        let lengths: &[usize] =
            if cfg!(miri) { &[0, 5, 1030] } else { &[0, 1, 31, 32, 33, 100, 512, 1023, 1025, 4096, 5001] };
        for &n in lengths {
            for offset in [0, 1, 32, 63] {
                let src: vec::Vec<u8> = (0..2 * n).map(|i| (i * 7 + i / 256) as u8).collect();
                let widen = |i: usize| src[i / 2].wrapping_add(i as u8 % 2);
                let keep = |i: usize| src[i];
                let check = |bits: (u32, u32), len: usize, want: &dyn Fn(usize) -> u8| {
                    let mut dst = vec![MaybeUninit::new(0xA5_u8); offset + len + 70];
                    let fences = FENCES.load(Ordering::Relaxed);
                    let (s, d) = (n * bits.0 as usize / 8 + n * bits.0 as usize % 8 / 4, bits.1 as usize);
                    // SAFETY: the stores are ordinary; the slices are long enough.
                    unsafe {
                        stream(
                            &ORDINARY,
                            &src[..s],
                            &mut dst[offset..][..len],
                            n,
                            bits,
                            |src, out, count| {
                                assert_eq!(
                                    (src.len() * 8 / bits.0 as usize, out.len()),
                                    (count, (count * d).div_ceil(8))
                                );
                                for (i, out) in out.iter_mut().enumerate() {
                                    out.write(if d == 16 {
                                        src[i / 2].wrapping_add(i as u8 % 2)
                                    } else {
                                        src[i]
                                    });
                                }
                            },
                        );
                    }
                    // Fewer elements than a block, and words that never begin a line, are cast with regular stores.
                    let fenced = FENCES.load(Ordering::Relaxed) > fences;
                    let words_apart = d == 16 && dst[offset..].as_ptr().addr() % 2 == 1;
                    if n < BLOCK || words_apart {
                        assert!(!fenced, "{n}, {offset}");
                    } else if n >= 4096 {
                        assert!(fenced, "{n}, {offset}");
                    }
                    for (i, byte) in dst.iter().enumerate() {
                        // SAFETY: all were initialised above.
                        let byte = unsafe { byte.assume_init() };
                        let inside = (offset..offset + len).contains(&i);
                        assert_eq!(byte, if inside { want(i - offset) } else { 0xA5 }, "{n}, {offset}, {i}");
                    }
                };
                check((8, 16), 2 * n, &widen);
                check((8, 8), n, &keep);
                let even = n % 2 == 0;
                if even {
                    check((4, 4), n / 2, &keep);
                }
            }
        }
    }
}
