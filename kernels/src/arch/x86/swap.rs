//! Changes the byte order of words of 2, 4 and 8 bytes on both tiers, a register per shuffle.

use crate::arch::x86::intrinsics::*;
use crate::{
    arch::registers::registers,
    format::data::Data,
    vector::moves::order::{Swaps, swap},
};

/// The shuffle of 16 bytes that reverses the bytes of each word.
const fn reversed(word: usize) -> [u8; 16] {
    let mut from = [0; 16];
    let mut i = 0;
    while i < 16 {
        from[i] = (i ^ (word - 1)) as u8;
        i += 1;
    }
    from
}

macro_rules! swap {
    (
        $table:ident, $name:ident, $function:ident, $bytes:literal,
        $load:ident $store:ident $shuffle:ident $broadcast:ident
    ) => {
        pub(super) static $table: Swaps =
            [$name::<2, 1>, $name::<4, 1>, $name::<8, 1>, $name::<4, 2>, $name::<8, 2>];

        $function! {
            /// # Safety
            ///
            /// As `KernelFn`.
            unsafe fn $name<const WORD: usize, const PARTS: usize>(
                src: *const u8,
                dst: *mut u8,
                n: usize,
                data: &Data,
            ) {
                const BYTES: usize = $bytes;
                let bytes = n * PARTS * WORD;
                if bytes < BYTES {
                    // SAFETY: the caller's promise is the same.
                    return unsafe { swap::<WORD, PARTS>(src, dst, n, data) };
                }
                // SAFETY: 16 bytes are read.
                let from = $broadcast(unsafe { _mm_loadu_si128((&raw const *const { &reversed(WORD) }).cast()) });
                // SAFETY: the closure's caller has a register of bytes at `i` on both sides.
                let register = |i: usize| unsafe {
                    $store(dst.add(i).cast(), $shuffle($load(src.add(i).cast()), from));
                };
                registers::<BYTES>(bytes, register);
            }
        }
    };
}

swap! {
    AVX2, avx2, avx2_fn, 32,
    _mm256_loadu_si256 _mm256_storeu_si256 _mm256_shuffle_epi8 _mm256_broadcastsi128_si256
}
#[cfg(feature = "avx512")]
swap! {
    AVX512, avx512, avx512_fn, 64,
    _mm512_loadu_si512 _mm512_storeu_si512 _mm512_shuffle_epi8 _mm512_broadcast_i32x4
}
