//! Casts integers of 16 bits to integers of 8 bits and fewer.

use super::{
    targets::{pack_words, store},
    units::{UNIT, few, in_order, load, load_16, overlapping},
};
use crate::arch::x86::intrinsics::*;
use crate::{dtype::DType, format::data::Data, vector::kernel::KernelFn};

/// The kernel to one of these targets. `FROM_SIGNED` describes the source.
pub(super) const fn kernel<const FROM_SIGNED: bool>(to: DType, saturate: bool) -> Option<KernelFn> {
    let wrap = run::<false, false, false, true>;
    let clamp: KernelFn = match to {
        DType::Int2 | DType::Int4 => run::<FROM_SIGNED, true, true, true>,
        DType::UInt2 | DType::UInt4 => run::<FROM_SIGNED, true, false, true>,
        DType::Int8 => run::<FROM_SIGNED, true, true, false>,
        DType::UInt8 => run::<FROM_SIGNED, true, false, false>,
        _ => return None,
    };
    Some(if saturate { clamp } else { wrap })
}

/// Elements of a block.
const BLOCK: usize = 32;

avx2_fn! {
    /// # Safety
    ///
    /// As [`KernelFn`].
    unsafe fn run<const FROM_SIGNED: bool, const SATURATE: bool, const SIGNED: bool, const NARROW: bool>(
        src: *const u8,
        dst: *mut u8,
        n: usize,
        data: &Data,
    ) {
        // SAFETY: blocks and units begin at elements and end at the last one or before.
        unsafe {
            let bytes = |a, b| bytes::<FROM_SIGNED, SATURATE, SIGNED, NARROW>(a, b, data);
            let unit = |x: __m128i, dst: *mut u8| {
                let x = _mm256_castsi128_si256(x);
                _mm_storel_epi64(dst.cast(), _mm256_castsi256_si128(bytes(x, x)));
            };
            let block = |i: usize| {
                let (src, dst) = (src.add(2 * i), dst.add(i));
                let [a, b] = [load::<2, false>(src, BLOCK, 0), load::<2, false>(src, BLOCK, 1)];
                store(dst, in_order(bytes(a, b)), 0);
            };
            if n >= 2 * BLOCK {
                overlapping(n, 2 * BLOCK, |i| {
                    block(i);
                    block(i + BLOCK);
                });
            } else if n >= BLOCK {
                overlapping(n, BLOCK, block);
            } else if n >= UNIT {
                overlapping(n, UNIT, |i| unit(load_16::<false>(src.add(2 * i), UNIT), dst.add(i)));
            } else {
                few(dst, 1, n, |stack| unit(load_16::<true>(src, n), stack));
            }
        }
    }
}

/// Codes of words, each half of the register on its own.
#[inline(always)]
unsafe fn bytes<const FROM_SIGNED: bool, const SATURATE: bool, const SIGNED: bool, const NARROW: bool>(
    a: __m256i,
    b: __m256i,
    data: &Data,
) -> __m256i {
    // SAFETY: as for the methods of `Lanes`.
    unsafe {
        if SATURATE && FROM_SIGNED {
            return pack_words::<true, SIGNED, NARROW>(a, b, data);
        }
        let (ones, highest) =
            (_mm256_set1_epi16(data.int.ones().into()), _mm256_set1_epi16(data.int.highest.into()));
        let code = |x| if SATURATE { _mm256_min_epu16(x, highest) } else { _mm256_and_si256(x, ones) };
        _mm256_packus_epi16(code(a), code(b))
    }
}
