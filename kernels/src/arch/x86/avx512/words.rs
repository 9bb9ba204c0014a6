//! Lanes of 16 bits in the registers of AVX-512.

use super::{
    super::{avx2, fine},
    simd::Avx512,
};
use crate::{
    arch::x86::intrinsics::*,
    dtype::DType,
    format::{data::Data, words::Words},
    vector::{
        self, Casts, Loaded, Simd,
        casts::words::{self, Lanes16, Pair, WordKernels},
        kernel::KernelFn,
        small::FloatFamily,
        style::Mode,
    },
};

type Registers = Avx512<false, false>;
/// The token with permutations of bytes.
type Permuting = Avx512<true, false>;

/// The kernels of the tier in lanes of 16 bits.
pub(super) struct Tier;

impl WordKernels for Tier {
    avx512_fn! {
        unsafe fn run<P: Pair>(src: *const u8, dst: *mut u8, n: usize, data: &Data) {
            // SAFETY: the token proves the instructions; the buffers are the caller's.
            unsafe { words::run::<Registers, P>(Registers::new_unchecked(), src, dst, n, data, Self::run::<P>) }
        }
    }
    vbmi_fn! {
        unsafe fn run_permuting<P: Pair>(src: *const u8, dst: *mut u8, n: usize, data: &Data) {
            // SAFETY: the token proves the instructions; the buffers are the caller's.
            unsafe { words::run::<Permuting, P>(Permuting::new_unchecked(), src, dst, n, data, Self::run_permuting::<P>) }
        }
    }
    avx512_fn! {
        unsafe fn run_rounded<const FNUZ: bool>(
            src: *const u8,
            dst: *mut u8,
            n: usize,
            data: &Data,
            w: &Words,
            through_float32: fn(&Data) -> KernelFn,
        ) {
            // SAFETY: the token proves the instructions; the buffers are the caller's.
            unsafe { words::run_rounded::<Registers, FNUZ>(Registers::new_unchecked(), src, dst, n, data, w, through_float32) }
        }
    }
    /// The kernel, chosen for the features of this CPU.
    fn small<S: Loaded, F: FloatFamily>(mode: Mode) -> KernelFn {
        if fine::found().vbmi {
            vector::small_in_mode::<Permuting, S, F>(mode)
        } else {
            avx2::small_in_mode::<S, F>(mode)
        }
    }
}

/// Whether the kernel of a pair uses permutations of bytes.
pub(super) const fn permutes(from: DType, to: DType) -> bool {
    matches!((from, to), (DType::Float16, DType::Float8E5M2))
}

impl<const PERMUTES: bool> Lanes16 for Avx512<PERMUTES, false> {
    operations! {
        signs_16(a) = _mm512_srai_epi16::<15>(a);
        shr_8_16(a) = _mm512_srli_epi16::<8>(a);
        splat_16(x: u16) = _mm512_set1_epi16(x as i16);
        add_16(a, b) = _mm512_add_epi16(a, b);
        add_saturating_16(a, b) = _mm512_adds_epi16(a, b);
        shr_16(a, by: u32) = _mm512_srl_epi16(a, _mm_cvtsi32_si128(by as i32));
        odd(down, up) = {
            const ODD: i32 = 0xF0 | (0xCC & 0xAA);
            _mm512_ternarylogic_epi32::<ODD>(down, up, _mm512_set1_epi16(1))
        };
        sub_saturating_16(a, b) = _mm512_subs_epu16(a, b);
        min_16(a, b) = _mm512_min_epu16(a, b);
        max_16(a, b) = _mm512_max_epu16(a, b);
        mulhrs(a, b) = _mm512_mulhrs_epi16(a, b);
        even(up, down) = {
            const EVEN: i32 = 0xF0 & (0xCC | !0xAA & 0xFF);
            _mm512_ternarylogic_epi32::<EVEN>(up, down, _mm512_set1_epi16(1))
        };
        select_above(x, than, yes, no) = {
            _mm512_mask_mov_epi16(no, _mm512_cmpgt_epu16_mask(x, than), yes)
        };
        min_8(a, b) = _mm512_min_epu8(a, b);
        sub_saturating_8(a, b) = _mm512_subs_epu8(a, b);
        xor_masked(a, b, mask) = {
            const XOR_AND: i32 = 0xF0 ^ (0xCC & 0xAA);
            _mm512_ternarylogic_epi32::<XOR_AND>(a, b, mask)
        };
    }

    #[inline(always)]
    fn pack_unsigned(self, a: __m512i, b: __m512i) -> __m512i {
        // SAFETY: the token proves the instruction, and the tier of the registers.
        let (bytes, registers) = unsafe { (_mm512_packus_epi16(a, b), Registers::new_unchecked()) };
        // With permutations, signs are packed in order, but these bytes are not; so the order is restored.
        if PERMUTES { registers.in_order::<true>(bytes) } else { bytes }
    }
    #[inline(always)]
    fn upper_bytes(self, a: __m512i, b: __m512i) -> __m512i {
        if PERMUTES {
            // This packs in order.
            return self.pack_sign_16([a, b]);
        }
        // SAFETY: the token proves the instruction.
        let bytes = unsafe { _mm512_packus_epi16(self.shr_8_16(a), self.shr_8_16(b)) };
        self.in_order::<true>(bytes)
    }

    #[inline(always)]
    fn powers<const MANTISSA: u32>(self, power: u16) -> __m512i {
        // SAFETY: the token proves the instructions.
        unsafe { _mm512_set1_epi16(power as i16) }
    }
    #[inline(always)]
    fn power<const MANTISSA: u32>(self, powers: __m512i, distance: __m512i) -> __m512i {
        // SAFETY: the token proves the instructions.
        unsafe { _mm512_srlv_epi16(powers, _mm512_srli_epi16::<MANTISSA>(distance)) }
    }
    #[inline(always)]
    fn any_above(self, x: __m512i, than: __m512i) -> bool {
        // SAFETY: the token proves the instructions.
        unsafe { _mm512_cmpgt_epu16_mask(x, than) != 0 }
    }
    #[inline(always)]
    fn any_from_1(self, x: __m512i, to: u8) -> bool {
        // SAFETY: the token proves the instructions.
        unsafe {
            let less = _mm512_sub_epi8(x, _mm512_set1_epi8(1));
            _mm512_cmplt_epu8_mask(less, _mm512_set1_epi8(to as i8)) != 0
        }
    }
    #[inline(always)]
    fn any_from_or_above(self, x: __m512i, first: u8, count: u8, m: __m512i, than: __m512i) -> bool {
        // SAFETY: the token proves the instructions.
        unsafe {
            let less = _mm512_sub_epi8(x, _mm512_set1_epi8(first as i8));
            (_mm512_cmplt_epu8_mask(less, _mm512_set1_epi8(count as i8)) != 0) | self.any_above(m, than)
        }
    }
}
