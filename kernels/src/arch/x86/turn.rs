//! Transposes tiles with vectors of 16 bytes, which both tiers have.

use crate::arch::x86::intrinsics::*;
use crate::vector::moves::{
    copy,
    tile::{Lanes, Pick, Transpose, one_by_one, squares},
};

/// The transposition of both tiers.
pub(super) static TRANSPOSE: Transpose =
    [turn::<B8>, turn::<B16>, turn::<B32>, turn::<B64>, one_by_one::<u128>];

macro_rules! lanes {
    ($($name:ident $element:ty: $low:ident, $high:ident, $pick:expr;)*) => {$(
        struct $name;

        impl Lanes for $name {
            type Element = $element;
            type Vector = __m128i;

            #[inline(always)]
            unsafe fn zip(a: __m128i, b: __m128i) -> (__m128i, __m128i) {
                // SAFETY: the caller's promise: the CPU has the tier.
                unsafe { ($low(a, b), $high(a, b)) }
            }

            const PICK: Option<Pick<__m128i>> = $pick;
        }
    )*};
}

// For a few columns of wider elements, the compiler's code is as fast without picking bytes.
lanes! {
    B8 u8: _mm_unpacklo_epi8, _mm_unpackhi_epi8, Some(pick);
    B16 u16: _mm_unpacklo_epi16, _mm_unpackhi_epi16, Some(pick);
    B32 u32: _mm_unpacklo_epi32, _mm_unpackhi_epi32, None;
    B64 u64: _mm_unpacklo_epi64, _mm_unpackhi_epi64, None;
}

/// # Safety
///
/// As [`Pick`].
#[inline]
#[target_feature(enable = "avx2")]
unsafe fn pick(all: __m128i, from: __m128i, index: __m128i) -> __m128i {
    _mm_or_si128(all, _mm_shuffle_epi8(from, index))
}

/// # Safety
///
/// As [`Turn`](crate::vector::moves::tile::Turn).
#[target_feature(enable = "avx2")]
unsafe fn turn<L: Lanes>(src: *const u8, from: isize, dst: *mut u8, to: isize, rows: usize, cols: usize) {
    // SAFETY: the caller's promise is the same.
    unsafe { squares::<L>(src, from, dst, to, rows, cols) }
}

/// # Safety
///
/// As [`CopyPlane`](crate::vector::moves::copy::CopyPlane).
#[target_feature(enable = "avx2")]
pub(super) unsafe fn copy(
    size: usize,
    src: *const u8,
    from: [isize; 2],
    dst: *mut u8,
    to: [isize; 2],
    len: [usize; 2],
) {
    // SAFETY: the caller's promise is the same.
    unsafe { copy::copy::<true>(size, src, from, dst, to, len) }
}
