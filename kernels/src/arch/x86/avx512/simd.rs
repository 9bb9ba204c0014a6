//! The registers of AVX-512 for the kernels of `vector`.

mod blocks;

use super::{
    convert::{f64_to_odd, int32_to_f32, int64_to_odd, to_f16, unordered, without_payload},
    packed,
};
use crate::{
    arch::x86::{env, intrinsics::*},
    format::data::Data,
    vector::{
        Blocks, Casts, Simd, bf16, each,
        style::{Common, RoundingMode},
    },
};

/// The token of AVX-512, with optional CPU features.
#[derive(Clone, Copy)]
pub(super) struct Avx512<const VBMI: bool, const BF16: bool>(());

/// Restores the order of the dwords of four registers that were packed within their 128-bit lanes.
const LANES_APART: [i32; 16] = [0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15];

/// A mask of the elements from `first` on that are among `n`.
#[inline(always)]
fn mask(n: usize, first: usize) -> u64 {
    match n.saturating_sub(first) {
        left @ 0..64 => (1 << left) - 1,
        _ => u64::MAX,
    }
}

/// The indices of byte `byte` of the lanes of two registers whose elements are in order, or lane-split (`apart`).
const fn bytes_of_two(byte: u8, apart: bool) -> [u8; 64] {
    let mut index = [0; 64];
    let mut i = 0;
    while i < 64 {
        // The second register's lanes are numbered from 16 on; the upper half repeats the lower.
        let element = i as u8 % 32;
        let lane = if apart {
            // Of every eight elements, each register holds four.
            element / 8 * 4 + element % 4 + element / 4 % 2 * 16
        } else {
            element
        };
        index[i] = lane * 4 + byte;
        i += 1;
    }
    index
}

/// The indices of the high bytes of the 16-bit lanes of two registers.
const HIGH_BYTES: [u8; 64] = {
    let mut index = [0; 64];
    let mut i = 0;
    while i < 64 {
        index[i] = 2 * i as u8 + 1;
        i += 1;
    }
    index
};

/// Restores the order of the 64-bit lanes of two registers that were packed within their 128-bit lanes.
const HALVES_APART: [i64; 8] = [0, 2, 4, 6, 1, 3, 5, 7];
/// The 64-bit lanes of two half registers, alternating.
const ALTERNATING: [i64; 8] = [0, 8, 1, 9, 2, 10, 3, 11];

/// The indices of the high words of the lanes of two registers.
const HIGH_HALVES: [u16; 32] = {
    let mut index = [0; 32];
    let mut i = 0;
    while i < 32 {
        index[i] = 2 * i as u16 + 1;
        i += 1;
    }
    index
};

/// The indices of the lower halves of the 64-bit lanes of two registers.
const LOWER: [i32; 16] = [0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30];
/// The indices of the upper halves.
const UPPER: [i32; 16] = [1, 3, 5, 7, 9, 11, 13, 15, 17, 19, 21, 23, 25, 27, 29, 31];
/// The indices of the even 64-bit lanes of two registers.
const EVEN_64: [i64; 8] = [0, 2, 4, 6, 8, 10, 12, 14];

/// Loads a constant array into a register.
#[inline(always)]
unsafe fn constant<T: Copy, const N: usize>(x: &[T; N]) -> __m512i {
    const { assert!(size_of::<T>() * N == 64) };
    // SAFETY: the array has 64 bytes.
    unsafe { _mm512_loadu_si512(x.as_ptr().cast()) }
}

#[inline(always)]
unsafe fn load<const PART: bool>(p: *const u8, n: usize, k: usize) -> __m512i {
    // SAFETY: this is register `k` of the block, with lanes of 32 bits; for a part, the mask selects the lanes that exist.
    unsafe {
        let p = p.wrapping_add(64 * k);
        if PART {
            _mm512_maskz_loadu_epi32(mask(n, 16 * k) as u16, p.cast())
        } else {
            _mm512_loadu_si512(p.cast())
        }
    }
}

/// Loads register `k` of a block of 64-bit lanes; the block has `n` elements.
#[inline(always)]
unsafe fn load_64<const PART: bool>(p: *const u8, n: usize, k: usize) -> __m512i {
    // SAFETY: as in `load`.
    unsafe {
        let p = p.wrapping_add(64 * k);
        if PART {
            _mm512_maskz_loadu_epi64(mask(n, 8 * k) as u8, p.cast())
        } else {
            _mm512_loadu_si512(p.cast())
        }
    }
}

/// Loads the 16 elements of 16 bits of register `k` of a block.
#[inline(always)]
unsafe fn load_16_of_16<const PART: bool>(p: *const u8, n: usize, k: usize) -> __m256i {
    // SAFETY: as in `load`.
    unsafe {
        let p = p.wrapping_add(32 * k);
        if PART {
            _mm256_maskz_loadu_epi16(mask(n, 16 * k) as u16, p.cast())
        } else {
            _mm256_loadu_si256(p.cast())
        }
    }
}

/// Stores register `k` of a destination of `bytes` bytes.
#[inline(always)]
unsafe fn store<const PART: bool>(p: *mut u8, x: __m512i, bytes: usize, k: usize) {
    // SAFETY: as in `load`.
    unsafe {
        let p = p.wrapping_add(64 * k);
        if PART {
            _mm512_mask_storeu_epi8(p.cast(), mask(bytes, 64 * k), x);
        } else {
            _mm512_storeu_si512(p.cast(), x);
        }
    }
}

#[inline(always)]
unsafe fn join(low: __m256, high: __m256) -> __m512i {
    // SAFETY: as for the methods of `Simd`.
    unsafe { _mm512_castps_si512(_mm512_insertf32x8::<1>(_mm512_castps256_ps512(low), high)) }
}

/// Restores the order of bytes of elements that were packed within 128-bit lanes.
#[inline(always)]
unsafe fn unpacked<const APART: bool>(x: __m512i) -> __m512i {
    // SAFETY: as for the methods of `Simd`.
    unsafe {
        if APART {
            _mm512_permutexvar_epi64(constant(&HALVES_APART), x)
        } else {
            _mm512_permutexvar_epi32(constant(&LANES_APART), x)
        }
    }
}

/// Packs one byte of every lane, in order; `index` has the indices for two registers.
#[inline(always)]
unsafe fn pack_bytes(index: &[u8; 64], x: [__m512i; 4]) -> __m512i {
    // SAFETY: as for the methods of `Simd`; the CPU has VBMI.
    unsafe {
        let index = constant(index);
        let low = _mm512_permutex2var_epi8(x[0], index, x[1]);
        let high = _mm512_permutex2var_epi8(x[2], index, x[3]);
        _mm512_inserti64x4::<1>(low, _mm512_castsi512_si256(high))
    }
}

#[inline(always)]
unsafe fn nan_mask(x: __m512i) -> __mmask16 {
    // SAFETY: as for the methods of `Simd`.
    unsafe { unordered(x, x) }
}

impl<const VBMI: bool, const BF16: bool> Simd for Avx512<VBMI, BF16> {
    type V = __m512i;

    #[inline(always)]
    unsafe fn new_unchecked() -> Self {
        Self(())
    }

    // The sign would be added above the byte that is kept.
    const COUNTS_DROP_SIGN: bool = VBMI;
    operations! {
        splat(x: u32) = _mm512_set1_epi32(x as i32);
        and(a, b) = _mm512_and_si512(a, b);
        or(a, b) = _mm512_or_si512(a, b);
        xor(a, b) = _mm512_xor_si512(a, b);
        add(a, b) = _mm512_add_epi32(a, b);
        sub(a, b) = _mm512_sub_epi32(a, b);
        min_u(a, b) = _mm512_min_epu32(a, b);
        max_u(a, b) = _mm512_max_epu32(a, b);
        min_i(a, b) = _mm512_min_epi32(a, b);
        max_i(a, b) = _mm512_max_epi32(a, b);
        fma(a, b, c) = {
            let [a, b, c] = [_mm512_castsi512_ps(a), _mm512_castsi512_ps(b), _mm512_castsi512_ps(c)];
            _mm512_castps_si512(_mm512_fmadd_ps(a, b, c))
        };
        fma_env(a, b, c) = {
            let [a, b, c] = [_mm512_castsi512_ps(a), _mm512_castsi512_ps(b), _mm512_castsi512_ps(c)];
            _mm512_castps_si512(env::_mm512_fmadd_ps(a, b, c))
        };
        mul(a, b) = _mm512_castps_si512(_mm512_mul_ps(_mm512_castsi512_ps(a), _mm512_castsi512_ps(b)));
        div(a, b) = {
            _mm512_castps_si512(_mm512_div_ps(_mm512_castsi512_ps(a), _mm512_castsi512_ps(b)))
        };
        nudge(x, excess) = {
            // To add 1, the compiler would expand the masks into vectors.
            let (excess, zero, by) = (_mm512_castsi512_ps(excess), _mm512_setzero_ps(), _mm512_set1_epi32(8));
            let up = _mm512_mask_add_epi32(x, _mm512_cmp_ps_mask::<_CMP_LT_OQ>(excess, zero), x, by);
            _mm512_mask_sub_epi32(up, _mm512_cmp_ps_mask::<_CMP_GT_OQ>(excess, zero), up, by)
        };
        min_f(a, b) = {
            let (a, b) = (_mm512_castsi512_ps(a), _mm512_castsi512_ps(b));
            _mm512_castps_si512(_mm512_min_round_ps::<_MM_FROUND_NO_EXC>(a, b))
        };
        sign_nonzero(code, sign) = {
            _mm512_or_si512(code, _mm512_maskz_mov_epi8(_mm512_test_epi8_mask(code, code), sign))
        };
        pack_high_halves(a, b) = _mm512_permutex2var_epi16(a, constant(&HIGH_HALVES), b);
        select_nan(x, yes, no) = _mm512_mask_mov_epi32(no, nan_mask(x), yes);
        select_eq(a, b, yes, no) = _mm512_mask_mov_epi32(no, _mm512_cmpeq_epi32_mask(a, b), yes);
    }

    #[inline(always)]
    fn max_across<const K: u32>(self, a: __m512i, b: __m512i) -> __m512i {
        // SAFETY: the token proves the instructions.
        unsafe {
            match K {
                0 => _mm512_max_epu32(_mm512_unpacklo_epi32(a, b), _mm512_unpackhi_epi32(a, b)),
                1 => _mm512_max_epu32(_mm512_unpacklo_epi64(a, b), _mm512_unpackhi_epi64(a, b)),
                _ => {
                    let even = _mm512_shuffle_i32x4::<0b10_00_10_00>(a, b);
                    _mm512_max_epu32(even, _mm512_shuffle_i32x4::<0b11_01_11_01>(a, b))
                }
            }
        }
    }
    #[inline(always)]
    fn in_order<const APART: bool>(self, x: __m512i) -> __m512i {
        // SAFETY: the token proves the instructions. Byte permutations have already packed in order.
        unsafe { if VBMI { x } else { unpacked::<APART>(x) } }
    }
    #[inline(always)]
    fn pack_low<const APART: bool>(self, x: [__m512i; 4]) -> __m512i {
        // SAFETY: the token proves the instructions.
        unsafe {
            if VBMI {
                return pack_bytes(const { &bytes_of_two(0, APART) }, x);
            }
            let x = each!(x, |x| _mm512_and_si512(x, _mm512_set1_epi32(0xFF)));
            _mm512_packus_epi16(_mm512_packus_epi32(x[0], x[1]), _mm512_packus_epi32(x[2], x[3]))
        }
    }
    #[inline(always)]
    fn pack_counts<const APART: bool>(self, x: [__m512i; 4], mantissa: u32, field: u32) -> __m512i {
        // SAFETY: the token proves the instructions.
        unsafe {
            if VBMI {
                // Moves the code and the constant to byte 1.
                let weights = _mm512_set1_epi32((1 << (mantissa + 1) << 16) | 1 << 8);
                let x = each!(x, |x| _mm512_madd_epi16(x, weights));
                let excess = _mm512_set1_epi8((field << mantissa) as i8);
                return _mm512_sub_epi8(pack_bytes(const { &bytes_of_two(1, APART) }, x), excess);
            }
            // Moves them above the lowest bits of words, where saturation cannot reach them.
            let weights = _mm512_set1_epi32(1 << 16 | 128 >> mantissa);
            let x = each!(x, |x| _mm512_madd_epi16(x, weights));
            let excess = _mm512_set1_epi16((field << 7) as i16);
            let down = _mm_cvtsi32_si128(7 - mantissa as i32);
            let [low, high] = [_mm512_packs_epi32(x[0], x[1]), _mm512_packs_epi32(x[2], x[3])];
            let low = _mm512_srl_epi16(_mm512_sub_epi16(low, excess), down);
            let high = _mm512_srl_epi16(_mm512_sub_epi16(high, excess), down);
            _mm512_packus_epi16(low, high)
        }
    }
    #[inline(always)]
    fn pack_sign<const APART: bool>(self, x: [__m512i; 4]) -> __m512i {
        // SAFETY: the token proves the instructions.
        unsafe {
            if VBMI {
                return pack_bytes(const { &bytes_of_two(3, APART) }, x);
            }
            // Saturation keeps the sign.
            _mm512_packs_epi16(_mm512_packs_epi32(x[0], x[1]), _mm512_packs_epi32(x[2], x[3]))
        }
    }
    #[inline(always)]
    fn shr<const BY: u32>(self, a: __m512i) -> __m512i {
        // SAFETY: the token proves the instructions.
        unsafe { _mm512_srli_epi32::<BY>(a) }
    }
    #[inline(always)]
    fn any_nan(self, x: [__m512i; 4]) -> bool {
        // SAFETY: the token proves the instructions. Two registers are ordered if no lane of either is NaN.
        unsafe { unordered(x[0], x[1]) | unordered(x[2], x[3]) != 0 }
    }
}
