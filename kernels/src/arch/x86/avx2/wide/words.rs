//! Integers of 16 bits to those of 8 and fewer.

use super::*;

/// The kernel to one of these targets. `FROM_SIGNED` is the source.
pub(super) const fn kernel<const FROM_SIGNED: bool>(to: DType, saturate: bool) -> Option<KernelFn> {
    let [wrap, clamp]: [KernelFn; 2] = match to {
        DType::Int2 => [run::<false, 2, false, false>, run::<FROM_SIGNED, 2, true, true>],
        DType::UInt2 => [run::<false, 2, false, false>, run::<FROM_SIGNED, 2, false, true>],
        DType::Int4 => [run::<false, 4, false, false>, run::<FROM_SIGNED, 4, true, true>],
        DType::UInt4 => [run::<false, 4, false, false>, run::<FROM_SIGNED, 4, false, true>],
        DType::Int8 => [run::<false, 8, false, false>, run::<FROM_SIGNED, 8, true, true>],
        DType::UInt8 => [run::<false, 8, false, false>, run::<FROM_SIGNED, 8, false, true>],
        _ => return None,
    };
    Some(if saturate { clamp } else { wrap })
}

/// Elements of a block.
const BLOCK: usize = 32;

/// # Safety
///
/// As [`KernelFn`].
#[target_feature(enable = "avx,avx2,fma,f16c,bmi1,bmi2,lzcnt,popcnt")]
unsafe fn run<const FROM_SIGNED: bool, const BITS: u32, const SIGNED: bool, const SATURATE: bool>(
    src: *const u8,
    dst: *mut u8,
    n: usize,
    _: &Data,
) {
    // SAFETY: blocks and units begin at elements and end at the last one or before.
    unsafe {
        let bytes = |a, b| bytes::<FROM_SIGNED, BITS, SIGNED, SATURATE>(a, b);
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

/// Codes of `BITS`, each half of the register for itself.
#[inline(always)]
unsafe fn bytes<const FROM_SIGNED: bool, const BITS: u32, const SIGNED: bool, const SATURATE: bool>(
    a: __m256i,
    b: __m256i,
) -> __m256i {
    // SAFETY: as of the methods of `Lanes`.
    unsafe {
        if SATURATE && FROM_SIGNED {
            return pack_words::<BITS, true, SIGNED>(a, b);
        }
        let ones = _mm256_set1_epi16((1 << BITS) - 1);
        let max = _mm256_set1_epi16((1 << (BITS - SIGNED as u32)) - 1);
        let code = |x| if SATURATE { _mm256_min_epu16(x, max) } else { _mm256_and_si256(x, ones) };
        _mm256_packus_epi16(code(a), code(b))
    }
}
