//! The vectors of the tiers, as far as traffic needs them. `cfg(target_arch)` of this program stands here and in `machine`.

use super::{Loop, groups};
use lanecast::Tier;

/// Bytes that are moved at once.
///
/// # Safety of all operations
///
/// The CPU has the instructions; pointers are valid for `BYTES` bytes; streaming stores are aligned to as many.
#[allow(clippy::missing_safety_doc, reason = "said once above")]
pub(super) trait Vector: Copy {
    const BYTES: usize;
    unsafe fn splat(byte: u8) -> Self;
    unsafe fn load(from: *const u8) -> Self;
    unsafe fn xor(self, other: Self) -> Self;
    unsafe fn store(self, to: *mut u8);
    /// A non-temporal store, an ordinary one where there is none.
    unsafe fn stream(self, to: *mut u8) {
        // SAFETY: as the caller's.
        unsafe { self.store(to) }
    }
    /// Orders streaming stores before what comes after.
    unsafe fn fence() {}
}

/// Plain Rust: 16 bytes, which every compiler keeps in a vector register where there are any.
impl Vector for [u64; 2] {
    const BYTES: usize = 16;
    #[inline(always)]
    unsafe fn splat(byte: u8) -> Self {
        [u64::from(byte) * 0x0101_0101_0101_0101; 2]
    }
    #[inline(always)]
    unsafe fn load(from: *const u8) -> Self {
        // SAFETY: as the caller's; the read asks for no alignment.
        unsafe { from.cast::<Self>().read_unaligned() }
    }
    #[inline(always)]
    unsafe fn xor(self, other: Self) -> Self {
        [self[0] ^ other[0], self[1] ^ other[1]]
    }
    #[inline(always)]
    unsafe fn store(self, to: *mut u8) {
        // SAFETY: as the caller's; the write asks for no alignment.
        unsafe { to.cast::<Self>().write_unaligned(self) }
    }
}

/// The function `$shell` with the ratio's constants: `r`, `w`, and how many groups make one turn of the loop, so that it has
/// about eight vectors on its wider side.
macro_rules! ratios {
    ($shell:ident, $stream:ident, $r:ident, $w:ident; $($from:literal $to:literal $unroll:literal,)*) => {
        match ($r, $w) {
            $(($from, $to) => $shell::<$from, $to, $unroll, $stream>,)*
            _ => unreachable!("widths are 2, 4, 6, 8, 16, 32, 64 and 128 bits"),
        }
    };
}

/// Defines a tier's loops: `$shell` is the body compiled for its features, `$all` looks up a ratio.
macro_rules! loops {
    ($(#[$feature:meta])? $shell:ident $all:ident $vector:ty) => {
        /// # Safety
        ///
        /// As [`groups`].
        $(#[$feature])?
        unsafe fn $shell<const R: usize, const W: usize, const U: usize, const STREAM: bool>(
            src: *const u8,
            dst: *mut u8,
            count: usize,
        ) {
            // SAFETY: as the caller's.
            unsafe { groups::<$vector, R, W, U, STREAM>(src, dst, count) }
        }

        pub(super) fn $all<const STREAM: bool>(r: usize, w: usize) -> (Loop, usize) {
            let body: Loop = ratios! { $shell, STREAM, r, w;
                1 1 8, 2 1 4, 4 1 2, 8 1 2, 16 1 1, 32 1 1, 64 1 1,
                1 2 4, 1 4 2, 1 8 1, 1 16 1, 1 32 1, 1 64 1,
                3 1 4, 3 2 4, 3 4 2, 3 8 1, 3 16 1, 3 32 1, 3 64 1,
                1 3 4, 2 3 4, 4 3 2, 8 3 1, 16 3 1, 32 3 1, 64 3 1,
            };
            (body, <$vector>::BYTES)
        }
    };
}

loops! { portable portable_loop [u64; 2] }

/// The loop of a tier for a ratio, and the bytes of its vectors.
pub(super) fn select<const STREAM: bool>(tier: Tier, r: usize, w: usize) -> (Loop, usize) {
    match tier {
        #[cfg(target_arch = "x86_64")]
        Tier::Avx2 => x86::avx2_loop::<STREAM>(r, w),
        #[cfg(target_arch = "x86_64")]
        Tier::Avx512 => x86::avx512_loop::<STREAM>(r, w),
        #[cfg(target_arch = "aarch64")]
        Tier::Neon => arm::neon_loop::<STREAM>(r, w),
        _ => portable_loop::<STREAM>(r, w),
    }
}

#[cfg(target_arch = "x86_64")]
mod x86 {
    use super::*;
    use std::arch::x86_64::*;

    macro_rules! vector {
        ($type:ident, $bytes:literal, $splat:ident, $load:ident, $xor:ident, $store:ident, $stream:ident) => {
            impl Vector for $type {
                const BYTES: usize = $bytes;
                #[inline(always)]
                unsafe fn splat(byte: u8) -> Self {
                    // SAFETY: as the caller's.
                    unsafe { $splat(byte as i8) }
                }
                #[inline(always)]
                unsafe fn load(from: *const u8) -> Self {
                    // SAFETY: as the caller's.
                    unsafe { $load(from.cast()) }
                }
                #[inline(always)]
                unsafe fn xor(self, other: Self) -> Self {
                    // SAFETY: as the caller's.
                    unsafe { $xor(self, other) }
                }
                #[inline(always)]
                unsafe fn store(self, to: *mut u8) {
                    // SAFETY: as the caller's.
                    unsafe { $store(to.cast(), self) }
                }
                #[inline(always)]
                unsafe fn stream(self, to: *mut u8) {
                    // SAFETY: as the caller's.
                    unsafe { $stream(to.cast(), self) }
                }
                #[inline(always)]
                unsafe fn fence() {
                    // SAFETY: as the caller's.
                    unsafe { _mm_sfence() }
                }
            }
        };
    }
    vector! { __m256i, 32, _mm256_set1_epi8, _mm256_loadu_si256, _mm256_xor_si256, _mm256_storeu_si256, _mm256_stream_si256 }
    vector! { __m512i, 64, _mm512_set1_epi8, _mm512_loadu_si512, _mm512_xor_si512, _mm512_storeu_si512, _mm512_stream_si512 }

    loops! { #[target_feature(enable = "avx2")] avx2 avx2_loop __m256i }
    loops! { #[target_feature(enable = "avx512f,avx512bw")] avx512 avx512_loop __m512i }
}

#[cfg(target_arch = "aarch64")]
mod arm {
    use super::{Loop, Vector, groups};
    use std::arch::aarch64::*;

    impl Vector for uint8x16_t {
        const BYTES: usize = 16;
        #[inline(always)]
        unsafe fn splat(byte: u8) -> Self {
            // SAFETY: as the caller's.
            unsafe { vdupq_n_u8(byte) }
        }
        #[inline(always)]
        unsafe fn load(from: *const u8) -> Self {
            // SAFETY: as the caller's.
            unsafe { vld1q_u8(from) }
        }
        #[inline(always)]
        unsafe fn xor(self, other: Self) -> Self {
            // SAFETY: as the caller's.
            unsafe { veorq_u8(self, other) }
        }
        #[inline(always)]
        unsafe fn store(self, to: *mut u8) {
            // SAFETY: as the caller's.
            unsafe { vst1q_u8(to, self) }
        }
    }

    loops! { #[target_feature(enable = "neon")] neon neon_loop uint8x16_t }
}
