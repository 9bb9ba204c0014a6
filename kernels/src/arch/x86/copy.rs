//! Copies a dtype to itself on both tiers, and clears unused bits.
//!
//! These are loops of our own, because on some CPUs `memcpy` takes twice as long for a buffer in the first-level cache.

use crate::arch::x86::intrinsics::*;
use crate::{
    arch::{registers::registers, scalar},
    dtype::{DType, Element, Spec},
    format::{Format, data::Data},
};

/// The bits of every byte that the dtype uses.
const fn used(dtype: DType) -> i8 {
    if dtype.bits() < 8 { (1 << dtype.bits()) - 1 } else { -1 }
}

macro_rules! copy {
    (
        $name:ident, $function:ident, $bytes:literal,
        $load:ident $store:ident $and:ident $min:ident $set1:ident
    ) => {
        $function! {
            /// # Safety
            ///
            /// As `KernelFn`.
            pub(super) unsafe fn $name<S: Format>(src: *const u8, dst: *mut u8, n: usize, data: &Data) {
                const BYTES: usize = $bytes;
                let bytes = n * const { <S as Element>::DTYPE.size() };
                if bytes < BYTES {
                    // SAFETY: the caller's promise is the same.
                    return unsafe { scalar::copy::<S>(src, dst, n, data) };
                }
                // SAFETY: the closure's caller has a register of bytes at `i` on both sides.
                let register = |i: usize| unsafe {
                    let x = $load(src.add(i).cast());
                    let x = match const { S::DTYPE.spec() } {
                        Spec::Bool => $min(x, $set1(1)),
                        _ if const { used(S::DTYPE) == -1 } => x,
                        _ => $and(x, $set1(const { used(S::DTYPE) })),
                    };
                    $store(dst.add(i).cast(), x);
                };
                registers::<BYTES>(bytes, register);
            }
        }
    };
}

copy! {
    avx2, avx2_fn, 32,
    _mm256_loadu_si256 _mm256_storeu_si256 _mm256_and_si256 _mm256_min_epu8 _mm256_set1_epi8
}
copy! {
    avx512, avx512_fn, 64,
    _mm512_loadu_si512 _mm512_storeu_si512 _mm512_and_si512 _mm512_min_epu8 _mm512_set1_epi8
}
