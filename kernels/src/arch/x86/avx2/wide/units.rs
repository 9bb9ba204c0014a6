//! Units of 8 elements, and the lanes that units are loaded into.

use crate::vector::style::RoundingMode;
use crate::{arch::x86::intrinsics::*, format::data::Data};
use core::mem::MaybeUninit;

/// Elements of a unit.
pub(super) const UNIT: usize = 8;

/// Calls `f` for all whole steps of `0..n`, and once more for the last `step` elements if whole steps do not end at `n`.
///
/// `n` is at least `step`.
#[inline(always)]
pub(super) fn overlapping(n: usize, step: usize, mut f: impl FnMut(usize)) {
    let (mut i, mut end) = (0, n - n % step);
    // One place calls the body, so that its code exists once.
    loop {
        while i < end {
            f(i);
            i += step;
        }
        if end == n {
            return;
        }
        (i, end) = (n - step, n);
    }
}

/// Stores fewer elements than a unit: writes a unit to the stack and copies the `n` elements from there, in pieces of constant sizes.
///
/// # Safety
///
/// `n < UNIT` elements of `size` bytes can be written to `dst`; `unit` writes a unit.
#[inline(always)]
pub(super) unsafe fn few(mut dst: *mut u8, size: usize, n: usize, unit: impl FnOnce(*mut u8)) {
    #[repr(align(32))]
    struct Stack([MaybeUninit<u8>; UNIT * 16]);
    let mut stack = Stack([const { MaybeUninit::uninit() }; UNIT * 16]);
    unit(stack.0.as_mut_ptr().cast());
    let mut written = stack.0.as_ptr().cast::<u8>();
    for piece in [4, 2, 1] {
        if n & piece != 0 {
            // SAFETY: the pieces add up to `n` elements, and the stack has more.
            unsafe {
                dst.copy_from_nonoverlapping(written, piece * size);
                (written, dst) = (written.add(piece * size), dst.add(piece * size));
            }
        }
    }
}

/// An element type on the source's side.
pub(super) trait Source {
    /// Bytes of an element.
    const SIZE: usize;
    /// Whether the body is so short that the cost of the loop counts.
    const LIGHT: bool = false;
    /// The lanes that the source is loaded into, for a rounding mode.
    type Lanes<R: RoundingMode>: Lanes;
    /// # Safety
    ///
    /// The CPU has the tier. `n` elements can be read, [`UNIT`] unless `PART`.
    unsafe fn load<R: RoundingMode, const PART: bool>(src: *const u8, n: usize) -> Self::Lanes<R>;
    /// Four units.
    ///
    /// # Safety
    ///
    /// The CPU has the tier. Four units can be read.
    #[inline(always)]
    unsafe fn load_four<R: RoundingMode>(src: *const u8) -> [Self::Lanes<R>; 4] {
        let unit = const { UNIT * Self::SIZE };
        // SAFETY: the caller's promise.
        unsafe {
            [
                Self::load::<R, false>(src, UNIT),
                Self::load::<R, false>(src.add(unit), UNIT),
                Self::load::<R, false>(src.add(2 * unit), UNIT),
                Self::load::<R, false>(src.add(3 * unit), UNIT),
            ]
        }
    }
}

/// What a kind of lanes becomes; only the methods that [`kernel`] uses for it are defined.
///
/// # Safety
///
/// For every method: the CPU has the tier, and the floating-point environment is the one that the rounding mode requires.
pub(super) trait Lanes: Copy {
    /// Two units as integers of 16 bits: the low bits, or saturated.
    unsafe fn int16<const SATURATE: bool, const SIGNED: bool>(x: [Self; 2], data: &Data) -> __m256i;
    /// Four units as integers of up to 8 bits: the low bits, or saturated, to 8 bits unless `NARROW`.
    unsafe fn int8<const SATURATE: bool, const SIGNED: bool, const NARROW: bool>(
        x: [Self; 4],
        data: &Data,
    ) -> __m256i;
    /// The low 32 bits, or the saturated value.
    #[inline(always)]
    unsafe fn int32<const SATURATE: bool, const SIGNED: bool>(self, _: &Data) -> __m256i {
        never::<Self, _>()
    }
    /// The low 64 bits, or the saturated value.
    #[inline(always)]
    unsafe fn int64<const SATURATE: bool, const SIGNED: bool>(self, _: &Data) -> [__m256i; 2] {
        never::<Self, _>()
    }
    /// The lanes as float32.
    #[inline(always)]
    unsafe fn f32(self) -> __m256 {
        never::<Self, _>()
    }
    /// The lanes as float64.
    #[inline(always)]
    unsafe fn f64(self) -> [__m256d; 2] {
        never::<Self, _>()
    }
}

/// The body of a method that no kernel uses for a kind of lanes: using it does not compile.
pub(super) fn never<L, T>() -> T {
    const { assert!(size_of::<L>() == 0, "`kernel` asks for a pair that has no method") };
    unreachable!()
}

/// Loads register `k` of the registers that hold `n` elements of `SIZE` bytes, a multiple of 4.
#[inline(always)]
pub(super) unsafe fn load<const SIZE: usize, const PART: bool>(p: *const u8, n: usize, k: usize) -> __m256i {
    // SAFETY: as for `Source::load`; the masks are 8 of the 16 lanes. A part may end before the register.
    unsafe {
        let p = p.wrapping_add(32 * k);
        if PART {
            let lanes = (n * (SIZE / 4)).saturating_sub(8 * k).min(8);
            let masks: &[i32; 16] = &[-1, -1, -1, -1, -1, -1, -1, -1, 0, 0, 0, 0, 0, 0, 0, 0];
            _mm256_maskload_epi32(p.cast(), _mm256_loadu_si256(masks.as_ptr().add(8 - lanes).cast()))
        } else {
            _mm256_loadu_si256(p.cast())
        }
    }
}

#[inline(always)]
pub(super) unsafe fn load_pd<const SIZE: usize, const PART: bool>(
    p: *const u8,
    n: usize,
    k: usize,
) -> __m256d {
    // SAFETY: as for `Source::load`.
    unsafe { _mm256_castsi256_pd(load::<SIZE, PART>(p, n, k)) }
}

/// Loads a unit of elements of 16 bits.
#[inline(always)]
pub(super) unsafe fn load_16<const PART: bool>(p: *const u8, n: usize) -> __m128i {
    // SAFETY: as for `Source::load`; there are no masks for 16 bits, but the parts are all among the `n < 8` elements.
    unsafe {
        if !PART {
            return _mm_loadu_si128(p.cast());
        }
        let u64_at = |i: usize| p.add(2 * i).cast::<u64>().read_unaligned();
        let u32_at = |i: usize| p.add(2 * i).cast::<u32>().read_unaligned();
        let u16_at = |i: usize| p.add(2 * i).cast::<u16>().read_unaligned();
        let (low, high) = match n {
            0 => (0, 0),
            1 => (u16_at(0) as u64, 0),
            2 | 3 => (u32_at(0) as u64 | (u16_at(n - 1) as u64) << (16 * (n - 1)), 0),
            // The last four overlap the first.
            _ => (u64_at(0), (u64_at(n - 4) as u128 >> (16 * (8 - n))) as u64),
        };
        _mm_set_epi64x(high as i64, low as i64)
    }
}

/// The even lanes of 32 bits of two registers.
#[inline(always)]
pub(super) unsafe fn even_32(a: __m256i, b: __m256i) -> __m256i {
    // SAFETY: as for the methods of `Lanes`.
    unsafe {
        let even = _mm256_shuffle_ps::<0b10_00_10_00>(_mm256_castsi256_ps(a), _mm256_castsi256_ps(b));
        in_order(_mm256_castps_si256(even))
    }
}

/// Restores the order of elements that were packed in each half of a register, 64 bits from each of two registers.
#[inline(always)]
pub(super) unsafe fn in_order(x: __m256i) -> __m256i {
    // SAFETY: as for the methods of `Lanes`.
    unsafe { _mm256_permute4x64_epi64::<0b11_01_10_00>(x) }
}

/// Restores the order of bytes that were packed from eight registers of 64-bit lanes: pairs of elements, where every second pair is in the other
/// half of the register.
#[inline(always)]
pub(super) unsafe fn pairs_in_order(x: __m256i) -> __m256i {
    // SAFETY: as for the methods of `Lanes`.
    unsafe {
        let order = _mm_setr_epi8(0, 1, 8, 9, 2, 3, 10, 11, 4, 5, 12, 13, 6, 7, 14, 15);
        _mm256_shuffle_epi8(in_order(x), _mm256_broadcastsi128_si256(order))
    }
}

/// The even lanes of 64 bits of two registers.
#[inline(always)]
pub(super) unsafe fn even_64(a: __m256d, b: __m256d) -> __m256d {
    // SAFETY: as for the methods of `Lanes`.
    unsafe { _mm256_permute4x64_pd::<0b11_01_10_00>(_mm256_unpacklo_pd(a, b)) }
}
