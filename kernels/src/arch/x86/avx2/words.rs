//! Lanes of 16 bits in the registers of AVX2.

use super::simd::Avx2;
use crate::{
    arch::x86::intrinsics::*,
    format::{data::Data, words::Words},
    vector::{
        Loaded, Simd,
        casts::words::{self, Lanes16, Pair, WordKernels},
        kernel::KernelFn,
        small::FloatFamily,
        style::Mode,
    },
};

/// The kernels of the tier in lanes of 16 bits.
pub(super) struct Tier;

impl WordKernels for Tier {
    avx2_fn! {
        unsafe fn run<P: Pair>(src: *const u8, dst: *mut u8, n: usize, data: &Data) {
            // SAFETY: the token proves the instructions; the buffers are the caller's.
            unsafe { words::run::<Avx2, P>(<Avx2>::new_unchecked(), src, dst, n, data, Self::run::<P>) }
        }
    }
    avx2_fn! {
        unsafe fn run_permuting<P: Pair>(src: *const u8, dst: *mut u8, n: usize, data: &Data) {
            // SAFETY: the token proves the instructions; the buffers are the caller's. `run` uses the permutations of AVX2 here.
            unsafe { words::run::<Avx2, P>(<Avx2>::new_unchecked(), src, dst, n, data, Self::run_permuting::<P>) }
        }
    }
    avx2_fn! {
        unsafe fn run_rounded<const FNUZ: bool>(
            src: *const u8,
            dst: *mut u8,
            n: usize,
            data: &Data,
            w: &Words,
            through_float32: fn(&Data) -> KernelFn,
        ) {
            // SAFETY: the token proves the instructions; the buffers are the caller's.
            unsafe { words::run_rounded::<Avx2, FNUZ>(<Avx2>::new_unchecked(), src, dst, n, data, w, through_float32) }
        }
    }
    fn small<S: Loaded, F: FloatFamily>(mode: Mode) -> KernelFn {
        super::families::small_in_mode::<S, F>(mode)
    }
}

/// The powers of two from 32 down, then zeros: 16 bytes can be loaded from any of the powers on.
static POWERS: [u8; 22] = [32, 16, 8, 4, 2, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0];

impl Lanes16 for Avx2 {
    operations! {
        signs_16(a) = _mm256_srai_epi16::<15>(a);
        shr_8_16(a) = _mm256_srli_epi16::<8>(a);
        splat_16(x: u16) = _mm256_set1_epi16(x as i16);
        add_16(a, b) = _mm256_add_epi16(a, b);
        add_saturating_16(a, b) = _mm256_adds_epi16(a, b);
        shr_16(a, by: u32) = _mm256_srl_epi16(a, _mm_cvtsi32_si128(by as i32));
        odd(down, up) = _mm256_or_si256(down, _mm256_and_si256(up, _mm256_set1_epi16(1)));
        sub_saturating_16(a, b) = _mm256_subs_epu16(a, b);
        min_16(a, b) = _mm256_min_epu16(a, b);
        max_16(a, b) = _mm256_max_epu16(a, b);
        mulhrs(a, b) = _mm256_mulhrs_epi16(a, b);
        even(up, down) = _mm256_and_si256(up, _mm256_or_si256(down, _mm256_set1_epi16(!1)));
        select_above(x, than, yes, no) = _mm256_blendv_epi8(no, yes, _mm256_cmpgt_epi16(x, than));
        pack_unsigned(a, b) = _mm256_packus_epi16(a, b);
        min_8(a, b) = _mm256_min_epu8(a, b);
        sub_saturating_8(a, b) = _mm256_subs_epu8(a, b);
        xor_masked(a, b, mask) = _mm256_xor_si256(a, _mm256_and_si256(b, mask));
    }

    #[inline(always)]
    fn upper_bytes(self, a: __m256i, b: __m256i) -> __m256i {
        // SAFETY: the token proves the instruction.
        let bytes = unsafe { _mm256_packus_epi16(self.shr_8_16(a), self.shr_8_16(b)) };
        self.in_order::<true>(bytes)
    }

    #[inline(always)]
    fn powers<const MANTISSA: u32>(self, power: u16) -> __m256i {
        let first = (power >> (14 - MANTISSA)).leading_zeros() as usize - 10;
        debug_assert!(first < 6);
        // SAFETY: the token proves the instructions. 16 bytes follow any of the six powers.
        unsafe { _mm256_broadcastsi128_si256(_mm_loadu_si128(POWERS.as_ptr().add(first).cast())) }
    }
    #[inline(always)]
    fn power<const MANTISSA: u32>(self, powers: __m256i, distance: __m256i) -> __m256i {
        // SAFETY: the token proves the instructions.
        unsafe {
            // Distances of 16 and more, and the upper bytes, get the top bit, which looks up zero.
            let index = match MANTISSA {
                7 => _mm256_srli_epi16::<7>(distance),
                _ => _mm256_srli_epi16::<10>(distance),
            };
            let index = _mm256_adds_epu8(index, _mm256_set1_epi16(0x8070_u16 as i16));
            let power = _mm256_shuffle_epi8(powers, index);
            match MANTISSA {
                7 => _mm256_slli_epi16::<7>(power),
                _ => _mm256_slli_epi16::<4>(power),
            }
        }
    }
    #[inline(always)]
    fn any_above(self, x: __m256i, than: __m256i) -> bool {
        // SAFETY: the token proves the instructions.
        unsafe {
            let above = _mm256_cmpgt_epi16(x, than);
            _mm256_testz_si256(above, above) == 0
        }
    }
    #[inline(always)]
    fn any_from_1(self, x: __m256i, to: u8) -> bool {
        // SAFETY: the token proves the instructions.
        unsafe {
            let less = _mm256_sub_epi8(x, _mm256_set1_epi8(1));
            let below = _mm256_subs_epu8(_mm256_set1_epi8(to as i8), less);
            _mm256_testz_si256(below, below) == 0
        }
    }
    #[inline(always)]
    fn any_from_or_above(self, x: __m256i, first: u8, count: u8, m: __m256i, than: __m256i) -> bool {
        // SAFETY: the token proves the instructions.
        unsafe {
            let less = _mm256_sub_epi8(x, _mm256_set1_epi8(first as i8));
            let below = _mm256_subs_epu8(_mm256_set1_epi8(count as i8), less);
            let rare = _mm256_or_si256(below, _mm256_cmpgt_epi16(m, than));
            _mm256_testz_si256(rare, rare) == 0
        }
    }
}
