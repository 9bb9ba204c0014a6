//! Blocks of 32 elements of a byte or less.

use super::super::{super::packing::spread, simd::store_packed};
use crate::arch::x86::intrinsics::*;

/// Runs `$body` for every block of a cast from elements of `$from` bits to elements of `$to` bits; fewer than 8 bits mean packed storage. The
/// last block overlaps the one before. If there is no whole block, or elements are packed, `$whole`, the kernel itself, casts the last elements
/// with the data `$data`, which has its table. `$tight` says that the body is so short that the cost of the loop counts. (Otherwise a tight loop
/// is slower: it keeps all of a long table in registers, which leaves none for the rest.)
macro_rules! for_each_block {
    (($from:expr, $to:expr), ($src:expr, $dst:expr, $n:expr), ($whole:expr, $data:expr), $tight:expr, |$s:ident, $d:ident| $body:block) => {
        let (mut $s, mut $d, mut left) = ($src, $dst, $n);
        let (read, written) = (const { BLOCK * $from as usize / 8 }, const { BLOCK * $to as usize / 8 });
        loop {
            while $tight && left >= 2 * BLOCK {
                $body;
                ($s, $d) = ($s.add(read), $d.add(written));
                $body;
                ($s, $d) = ($s.add(read), $d.add(written));
                left -= 2 * BLOCK;
            }
            if left < BLOCK {
                if left == 0 {
                    return;
                }
                if $from < 8 || $to < 8 || $n < BLOCK {
                    return padded_bits(
                        <Avx2>::new_unchecked(),
                        erased($whole),
                        BLOCK,
                        $from as usize,
                        $to as usize,
                        $s,
                        $d,
                        left,
                        $data.data(),
                    );
                }
                let done = BLOCK - left;
                ($s, $d) = ($s.sub(done * $from as usize / 8), $d.sub(done * $to as usize / 8));
                left = BLOCK;
            }
            $body;
            ($s, $d) = ($s.add(read), $d.add(written));
            left -= BLOCK;
        }
    };
}

pub(super) use for_each_block;

/// Elements of a block.
pub(super) const BLOCK: usize = 32;

/// A block of elements of `BITS` bits, one per byte.
///
/// # Safety
///
/// The CPU has the features of the kernel, and the block is readable.
#[inline(always)]
pub(super) unsafe fn load<const BITS: u32>(p: *const u8) -> __m256i {
    // SAFETY: the caller's promise is the same.
    unsafe { if BITS == 8 { _mm256_loadu_si256(p.cast()) } else { spread::<BITS>(p) } }
}

/// # Safety
///
/// The CPU has the features of the kernel, and the block is writable; the codes have no bits above `BITS`.
#[inline(always)]
pub(super) unsafe fn store<const BITS: u32>(p: *mut u8, codes: __m256i) {
    // SAFETY: the caller's promise is the same.
    unsafe { if BITS == 8 { _mm256_storeu_si256(p.cast(), codes) } else { store_packed::<BITS>(p, codes) } }
}
