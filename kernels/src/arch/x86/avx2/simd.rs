//! The registers of AVX2 for the kernels of `vector`.

use super::{
    super::short,
    convert::{f64_to_odd, int32_to_f32, int64_to_odd, to_f16},
};
use crate::{
    arch::x86::{env, intrinsics::*},
    vector::{Blocks, Casts, Simd, each, style::RoundingMode},
};

/// The token of AVX2. If not `DIRECTED`, kernels that round to nearest even may use operations whose names end in `_env`.
#[derive(Clone, Copy)]
pub(super) struct Avx2<const DIRECTED: bool = false>(());

/// Loads eight lanes of 32 bits, register `k` of a block.
#[inline(always)]
unsafe fn load(p: *const u8, k: usize) -> __m256i {
    // SAFETY: the caller has another register at this place.
    unsafe { _mm256_loadu_si256(p.add(32 * k).cast()) }
}

/// Loads eight elements of 16 bits.
#[inline(always)]
unsafe fn load_8_of_16(p: *const u8, k: usize) -> __m128i {
    // SAFETY: the caller has eight elements at this place.
    unsafe { _mm_loadu_si128(p.add(16 * k).cast()) }
}

#[inline(always)]
unsafe fn store(p: *mut u8, x: __m256i, k: usize) {
    // SAFETY: the caller has another register at this place.
    unsafe { _mm256_storeu_si256(p.add(32 * k).cast(), x) }
}

/// Stores 32 codes that have no bits above the lowest `BITS`, packed as in `packing`.
#[inline(always)]
pub(super) unsafe fn store_packed<const BITS: u32>(p: *mut u8, codes: __m256i) {
    // SAFETY: as for the methods of `Simd`: `4 * BITS` bytes are writable.
    unsafe {
        let pairs = _mm256_maddubs_epi16(codes, _mm256_set1_epi16(1 | 1 << (8 + BITS)));
        if BITS == 4 {
            let x = _mm256_permute4x64_epi64::<0b10_00>(_mm256_packus_epi16(pairs, pairs));
            return _mm_storeu_si128(p.cast(), _mm256_castsi256_si128(x));
        }
        let fours = _mm256_madd_epi16(pairs, _mm256_set1_epi32(1 | 1 << (16 + 2 * BITS)));
        if BITS == 2 {
            // Moves the lowest byte of every dword.
            let x = _mm256_shuffle_epi8(fours, _mm256_set1_epi32(0x0C08_0400));
            let x = _mm_unpacklo_epi32(_mm256_castsi256_si128(x), _mm256_extracti128_si256::<1>(x));
            return _mm_storel_epi64(p.cast(), x);
        }
        // Moves the lowest three bytes; in the upper half they follow four zeros.
        #[rustfmt::skip]
        let gather = _mm256_setr_epi8(
            0, 1, 2, 4, 5, 6, 8, 9, 10, 12, 13, 14, -1, -1, -1, -1,
            -1, -1, -1, -1, 0, 1, 2, 4, 5, 6, 8, 9, 10, 12, 13, 14,
        );
        let x = _mm256_shuffle_epi8(fours, gather);
        let (low, high) = (_mm256_castsi256_si128(x), _mm256_extracti128_si256::<1>(x));
        // Bytes 12 to 15 of the result are bytes 4 to 7 of the upper half.
        _mm_storeu_si128(p.add(8).cast(), high);
        _mm_storeu_si128(p.cast(), _mm_or_si128(low, _mm_slli_si128::<8>(high)));
    }
}

#[inline(always)]
unsafe fn join(low: __m128, high: __m128) -> __m256i {
    // SAFETY: as for the methods of `Simd`.
    unsafe { _mm256_castps_si256(_mm256_set_m128(high, low)) }
}

impl<const DIRECTED: bool> Simd for Avx2<DIRECTED> {
    type V = __m256i;

    #[inline(always)]
    unsafe fn new_unchecked() -> Self {
        Self(())
    }

    operations! {
        splat(x: u32) = _mm256_set1_epi32(x as i32);
        and(a, b) = _mm256_and_si256(a, b);
        or(a, b) = _mm256_or_si256(a, b);
        xor(a, b) = _mm256_xor_si256(a, b);
        add(a, b) = _mm256_add_epi32(a, b);
        sub(a, b) = _mm256_sub_epi32(a, b);
        min_u(a, b) = _mm256_min_epu32(a, b);
        max_u(a, b) = _mm256_max_epu32(a, b);
        min_i(a, b) = _mm256_min_epi32(a, b);
        max_i(a, b) = _mm256_max_epi32(a, b);
        fma(a, b, c) = {
            let [a, b, c] = [_mm256_castsi256_ps(a), _mm256_castsi256_ps(b), _mm256_castsi256_ps(c)];
            _mm256_castps_si256(_mm256_fmadd_ps(a, b, c))
        };
        fma_env(a, b, c) = {
            let [a, b, c] = [_mm256_castsi256_ps(a), _mm256_castsi256_ps(b), _mm256_castsi256_ps(c)];
            _mm256_castps_si256(env::_mm256_fmadd_ps(a, b, c))
        };
        mul(a, b) = _mm256_castps_si256(_mm256_mul_ps(_mm256_castsi256_ps(a), _mm256_castsi256_ps(b)));
        div(a, b) = {
            _mm256_castps_si256(_mm256_div_ps(_mm256_castsi256_ps(a), _mm256_castsi256_ps(b)))
        };
        nudge(x, excess) = {
            // All ones are -1.
            let (excess, zero) = (_mm256_castsi256_ps(excess), _mm256_setzero_ps());
            let up = _mm256_sub_epi32(x, _mm256_castps_si256(_mm256_cmp_ps::<_CMP_LT_OQ>(excess, zero)));
            _mm256_add_epi32(up, _mm256_castps_si256(_mm256_cmp_ps::<_CMP_GT_OQ>(excess, zero)))
        };
        min_f(a, b) = _mm256_castps_si256(_mm256_min_ps(_mm256_castsi256_ps(a), _mm256_castsi256_ps(b)));
        sign_nonzero(code, sign) = {
            let zero = _mm256_cmpeq_epi8(code, _mm256_setzero_si256());
            _mm256_or_si256(code, _mm256_andnot_si256(zero, sign))
        };
        pack_high_halves(a, b) = {
            let words = _mm256_packus_epi32(_mm256_srli_epi32::<16>(a), _mm256_srli_epi32::<16>(b));
            _mm256_permute4x64_epi64::<0b11_01_10_00>(words)
        };
        select_nan(x, yes, no) = {
            let nan = _mm256_cmp_ps::<_CMP_UNORD_Q>(_mm256_castsi256_ps(x), _mm256_castsi256_ps(x));
            _mm256_blendv_epi8(no, yes, _mm256_castps_si256(nan))
        };
        select_eq(a, b, yes, no) = _mm256_blendv_epi8(no, yes, _mm256_cmpeq_epi32(a, b));
    }

    #[inline(always)]
    fn max_across<const K: u32>(self, a: __m256i, b: __m256i) -> __m256i {
        // SAFETY: the token proves the instructions.
        unsafe {
            match K {
                0 => _mm256_max_epu32(_mm256_unpacklo_epi32(a, b), _mm256_unpackhi_epi32(a, b)),
                1 => _mm256_max_epu32(_mm256_unpacklo_epi64(a, b), _mm256_unpackhi_epi64(a, b)),
                _ => {
                    let low = _mm256_permute2x128_si256::<0x20>(a, b);
                    _mm256_max_epu32(low, _mm256_permute2x128_si256::<0x31>(a, b))
                }
            }
        }
    }
    #[inline(always)]
    fn in_order<const APART: bool>(self, x: __m256i) -> __m256i {
        // SAFETY: the token proves the instructions. The order is two halves of each of two registers, or two quarters of each of four.
        unsafe {
            if APART {
                _mm256_permute4x64_epi64::<0b11_01_10_00>(x)
            } else {
                _mm256_permutevar8x32_epi32(x, _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7))
            }
        }
    }
    #[inline(always)]
    fn pack_low<const APART: bool>(self, x: [__m256i; 4]) -> __m256i {
        // SAFETY: the token proves the instructions.
        unsafe {
            let x = each!(x, |x| _mm256_and_si256(x, _mm256_set1_epi32(0xFF)));
            _mm256_packus_epi16(_mm256_packus_epi32(x[0], x[1]), _mm256_packus_epi32(x[2], x[3]))
        }
    }
    #[inline(always)]
    fn pack_counts<const APART: bool>(self, x: [__m256i; 4], mantissa: u32, field: u32) -> __m256i {
        // SAFETY: the token proves the instructions.
        unsafe {
            // The code and the constant move above the lowest bits of words, where saturation cannot reach them.
            let weights = _mm256_set1_epi32(1 << 16 | 128 >> mantissa);
            let x = each!(x, |x| _mm256_madd_epi16(x, weights));
            let excess = _mm256_set1_epi16((field << 7) as i16);
            let down = _mm_cvtsi32_si128(7 - mantissa as i32);
            let [low, high] = [_mm256_packs_epi32(x[0], x[1]), _mm256_packs_epi32(x[2], x[3])];
            let low = _mm256_srl_epi16(_mm256_sub_epi16(low, excess), down);
            let high = _mm256_srl_epi16(_mm256_sub_epi16(high, excess), down);
            _mm256_packus_epi16(low, high)
        }
    }
    #[inline(always)]
    fn pack_sign<const APART: bool>(self, x: [__m256i; 4]) -> __m256i {
        // SAFETY: the token proves the instructions. Saturation keeps the sign.
        unsafe { _mm256_packs_epi16(_mm256_packs_epi32(x[0], x[1]), _mm256_packs_epi32(x[2], x[3])) }
    }
    #[inline(always)]
    fn shr<const BY: u32>(self, a: __m256i) -> __m256i {
        // SAFETY: the token proves the instructions.
        unsafe { _mm256_srl_epi32(a, _mm_cvtsi32_si128(BY as i32)) }
    }
    #[inline(always)]
    fn any_nan(self, x: [__m256i; 4]) -> bool {
        // SAFETY: the token proves the instructions. Two registers are ordered if no lane of either is NaN.
        unsafe {
            let x = each!(x, |x| _mm256_castsi256_ps(x));
            let unordered = _mm256_cmp_ps::<_CMP_UNORD_Q>(x[0], x[1]);
            _mm256_movemask_ps(_mm256_or_ps(unordered, _mm256_cmp_ps::<_CMP_UNORD_Q>(x[2], x[3]))) != 0
        }
    }
    #[inline(always)]
    unsafe fn copy_in(self, src: *const u8, len: usize, dst: *mut u8, whole: usize) {
        // SAFETY: the caller's promise is the same.
        unsafe { short::copy_in(src, len, dst, whole) }
    }
    #[inline(always)]
    unsafe fn copy_out(self, src: *const u8, len: usize, dst: *mut u8) {
        // SAFETY: the caller's promise is the same.
        unsafe { short::copy_out(src, len, dst) }
    }
}

impl<const DIRECTED: bool> Blocks for Avx2<DIRECTED> {
    const LANES: usize = 8;

    operations! {
        max_bytes(a, b) = _mm256_max_epi8(a, b);
        round(x) = env::_mm256_cvtps_epi32(_mm256_castsi256_ps(x));
    }

    #[inline(always)]
    fn pack_saturated<const APART: bool, const SIGNED: bool>(self, x: [__m256i; 4]) -> __m256i {
        // SAFETY: the token proves the instructions.
        unsafe {
            let [low, high] = [_mm256_packs_epi32(x[0], x[1]), _mm256_packs_epi32(x[2], x[3])];
            let x = if SIGNED { _mm256_packs_epi16(low, high) } else { _mm256_packus_epi16(low, high) };
            self.in_order::<APART>(x)
        }
    }

    #[inline(always)]
    fn any_low_half(self, x: [__m256i; 4], low: __m256i) -> bool {
        // SAFETY: the token proves the instructions.
        unsafe {
            let equal = each!(x, |x| _mm256_cmpeq_epi16(x, low));
            let equal =
                _mm256_or_si256(_mm256_or_si256(equal[0], equal[1]), _mm256_or_si256(equal[2], equal[3]));
            _mm256_movemask_epi8(equal) & 0x3333_3333 != 0
        }
    }

    #[inline(always)]
    fn shl<const BY: u32>(self, a: __m256i) -> __m256i {
        // SAFETY: the token proves the instructions.
        unsafe { _mm256_sll_epi32(a, _mm_cvtsi32_si128(BY as i32)) }
    }

    #[inline(always)]
    unsafe fn load_32<const PART: bool>(self, p: *const u8, _: usize) -> [__m256i; 4] {
        // SAFETY: the caller's promise.
        unsafe { each!([0, 1, 2, 3], |k| load(p, k)) }
    }
    #[inline(always)]
    unsafe fn load_16<const PART: bool>(self, p: *const u8, _: usize) -> [__m256i; 2] {
        // SAFETY: the caller's promise.
        unsafe { each!([0, 1], |k| load(p, k)) }
    }
    #[inline(always)]
    unsafe fn load_high_16<const PART: bool>(self, p: *const u8, _: usize) -> [__m256i; 4] {
        // SAFETY: the caller's promise.
        unsafe { each!([0, 1, 2, 3], |k| _mm256_slli_epi32::<16>(_mm256_cvtepu16_epi32(load_8_of_16(p, k)))) }
    }

    #[inline(always)]
    unsafe fn store_8<const PART: bool>(self, p: *mut u8, x: __m256i, _: usize) {
        // SAFETY: the caller's promise.
        unsafe { store(p, x, 0) }
    }
    #[inline(always)]
    unsafe fn store_packed<const BITS: u32, const PART: bool>(self, p: *mut u8, x: __m256i, _: usize) {
        // SAFETY: the caller's promise.
        unsafe { store_packed::<BITS>(p, x) }
    }
    #[inline(always)]
    unsafe fn store_16<const PART: bool>(self, p: *mut u8, x: [__m256i; 2], _: usize) {
        // SAFETY: the caller's promise.
        unsafe { each!([0, 1], |k| store(p, x[k], k)) };
    }
    #[inline(always)]
    unsafe fn store_32<const PART: bool>(self, p: *mut u8, x: [__m256i; 4], _: usize) {
        // SAFETY: the caller's promise.
        unsafe { each!([0, 1, 2, 3], |k| store(p, x[k], k)) };
    }
}

impl Casts for Avx2 {
    const MASKED: bool = false;
    const ONE_ORDER: bool = false;

    operations! {
        truncate(x) = _mm256_cvttps_epi32(_mm256_castsi256_ps(x));
        pack_sign_16(x: [__m256i; 2]) = _mm256_packs_epi16(x[0], x[1]);
        nonzero_16(x: [__m256i; 2]) = {
            let one = _mm256_set1_epi16(1);
            let [a, b] = each!([x[0], x[1]], |x| _mm256_min_epu16(_mm256_add_epi16(x, x), one));
            _mm256_packus_epi16(a, b)
        };
    }

    #[inline(always)]
    fn lane_split(self, x: [__m256i; 2]) -> [__m256i; 4] {
        // SAFETY: the caller's promise.
        unsafe {
            let zero = _mm256_setzero_si256();
            let [a, b] =
                each!([x[0], x[1]], |x| [_mm256_unpacklo_epi16(zero, x), _mm256_unpackhi_epi16(zero, x)]);
            [a[0], a[1], b[0], b[1]]
        }
    }

    #[inline(always)]
    unsafe fn load_int16<const SIGNED: bool, const PART: bool>(self, p: *const u8, _: usize) -> [__m256i; 4] {
        // SAFETY: the caller's promise.
        unsafe {
            each!([0, 1, 2, 3], |k| {
                let x = load_8_of_16(p, k);
                let x = if SIGNED { _mm256_cvtepi16_epi32(x) } else { _mm256_cvtepu16_epi32(x) };
                _mm256_castps_si256(_mm256_cvtepi32_ps(x))
            })
        }
    }

    #[inline(always)]
    unsafe fn load_f16<const PART: bool>(self, p: *const u8, _: usize) -> [__m256i; 4] {
        // SAFETY: the caller's promise.
        unsafe { each!([0, 1, 2, 3], |k| _mm256_castps_si256(_mm256_cvtph_ps(load_8_of_16(p, k)))) }
    }

    #[inline(always)]
    unsafe fn load_int32<const SIGNED: bool, const ODD: bool, const PART: bool>(
        self,
        p: *const u8,
        _: usize,
    ) -> [__m256i; 4] {
        // SAFETY: the caller's promise.
        unsafe { each!([0, 1, 2, 3], |k| int32_to_f32::<SIGNED, ODD>(load(p, k))) }
    }

    #[inline(always)]
    unsafe fn load_f64<const CLAMPED: bool, const PART: bool>(self, p: *const u8, _: usize) -> [__m256i; 4] {
        // SAFETY: the caller's promise.
        unsafe {
            each!([0, 1, 2, 3], |k| join(
                f64_to_odd::<CLAMPED>(load(p, 2 * k)),
                f64_to_odd::<CLAMPED>(load(p, 2 * k + 1))
            ))
        }
    }

    #[inline(always)]
    unsafe fn load_int64<const SIGNED: bool, const ODD: bool, const PART: bool>(
        self,
        p: *const u8,
        _: usize,
    ) -> [__m256i; 4] {
        // SAFETY: the caller's promise.
        unsafe {
            // Integers that fit in 32 bits with a sign, as most do, are cast as int32.
            let halves = each!([0, 1, 2, 3], |k| {
                let [a, b] = each!([2 * k, 2 * k + 1], |k| _mm256_castsi256_ps(load(p, k)));
                let low = _mm256_castps_si256(_mm256_shuffle_ps::<0b10_00_10_00>(a, b));
                (low, _mm256_castps_si256(_mm256_shuffle_ps::<0b11_01_11_01>(a, b)))
            });
            let long = each!(halves, |(low, high)| {
                let extension = _mm256_srai_epi32::<31>(low);
                if SIGNED { _mm256_xor_si256(high, extension) } else { _mm256_or_si256(high, extension) }
            });
            let long = _mm256_or_si256(_mm256_or_si256(long[0], long[1]), _mm256_or_si256(long[2], long[3]));
            if _mm256_testz_si256(long, long) != 0 {
                return each!(halves, |(low, _)| {
                    int32_to_f32::<true, ODD>(_mm256_permute4x64_epi64::<0b11_01_10_00>(low))
                });
            }
            each!([0, 1, 2, 3], |k| {
                let [low, high] =
                    each!([2 * k, 2 * k + 1], |k| f64_to_odd::<false>(int64_to_odd::<SIGNED>(load(p, k))));
                join(low, high)
            })
        }
    }

    #[inline(always)]
    unsafe fn load_c128<const PART: bool>(self, p: *const u8, _: usize) -> [__m256i; 4] {
        // SAFETY: the caller's promise.
        unsafe {
            each!([0, 1, 2, 3], |k| {
                let [low, high] = each!([2 * k, 2 * k + 1], |k| {
                    let even = _mm256_unpacklo_epi64(load(p, 2 * k), load(p, 2 * k + 1));
                    f64_to_odd::<true>(_mm256_permute4x64_epi64::<0b11_01_10_00>(even))
                });
                join(low, high)
            })
        }
    }

    #[inline(always)]
    unsafe fn store_f16<const PART: bool, const APART: bool, R: RoundingMode>(
        self,
        p: *mut u8,
        x: [__m256i; 4],
        n: usize,
    ) {
        // SAFETY: the caller's promise.
        unsafe {
            let [a, b, c, d] = each!(x, |x| to_f16::<R>(_mm256_castsi256_ps(x)));
            let [low, high] = each!([(a, b), (c, d)], |(a, b)| {
                if APART {
                    _mm256_set_m128i(_mm_unpackhi_epi64(a, b), _mm_unpacklo_epi64(a, b))
                } else {
                    _mm256_set_m128i(b, a)
                }
            });
            self.store_16::<PART>(p, [low, high], n);
        }
    }
}
