//! Narrows integers to 8, 16 and 32 bits, one register of the source at a time; the masked tail is one step. The compiler's own loop casts its
//! tail element by element, and takes a fifth longer in the first-level cache.

use crate::arch::x86::intrinsics::*;
use crate::format::typed;
use crate::{
    dtype::{DType, Spec},
    format::data::Data,
    vector::kernel::KernelFn,
};

/// How values that do not fit are brought into range.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum How {
    Wrap,
    SignedToSigned,
    SignedToUnsigned,
    UnsignedToSigned,
    UnsignedToUnsigned,
}

typed! {
    /// [`How`] as a parameter of kernels.
    trait Limits { HOW: How }
    Wrap = How::Wrap;
    SignedToSigned = How::SignedToSigned;
    SignedToUnsigned = How::SignedToUnsigned;
    UnsignedToSigned = How::UnsignedToSigned;
    UnsignedToUnsigned = How::UnsignedToUnsigned;
}

/// The kernel of a pair, if it is one of these.
pub(super) const fn kernel(from: DType, to: DType, saturate: bool) -> Option<KernelFn> {
    let (Spec::Int { bits: read, signed }, Spec::Int { bits: written, signed: to_signed }) =
        (from.spec(), to.spec())
    else {
        return None;
    };
    let how = match (saturate, signed, to_signed) {
        (false, ..) => How::Wrap,
        (true, true, true) => How::SignedToSigned,
        (true, true, false) => How::SignedToUnsigned,
        (true, false, true) => How::UnsignedToSigned,
        (true, false, false) => How::UnsignedToUnsigned,
    };
    Some(match (read, written) {
        (16, 8) => of::<W16To8>(how),
        (32, 8) => of::<W32To8>(how),
        (32, 16) => of::<W32To16>(how),
        (64, 8) => of::<W64To8>(how),
        (64, 16) => of::<W64To16>(how),
        (64, 32) => of::<W64To32>(how),
        _ => return None,
    })
}

const fn of<W: Widths>(how: How) -> KernelFn {
    match how {
        How::Wrap => run::<W, Wrap>,
        How::SignedToSigned => run::<W, SignedToSigned>,
        How::SignedToUnsigned => run::<W, SignedToUnsigned>,
        How::UnsignedToSigned => run::<W, UnsignedToSigned>,
        How::UnsignedToUnsigned => run::<W, UnsignedToUnsigned>,
    }
}

avx512_fn! {
    /// # Safety
    ///
    /// As [`KernelFn`].
    unsafe fn run<W: Widths, H: Limits>(mut src: *const u8, mut dst: *mut u8, mut n: usize, _: &Data) {
        let (read, written) = (64, W::LANES * W::TO);
        // SAFETY: each step reads and writes its number of the caller's elements, one step after the other; fewer elements than a register's
        // lanes are left for the masked step.
        unsafe {
            while n >= 4 * W::LANES {
                let mut k = 0;
                while k < 4 {
                    W::store(dst.add(k * written), W::narrow::<H>(_mm512_loadu_si512(src.add(k * read).cast())));
                    k += 1;
                }
                (src, dst, n) = (src.add(4 * read), dst.add(4 * written), n - 4 * W::LANES);
            }
            while n >= W::LANES {
                W::store(dst, W::narrow::<H>(_mm512_loadu_si512(src.cast())));
                (src, dst, n) = (src.add(read), dst.add(written), n - W::LANES);
            }
            if n > 0 {
                let mask = (1 << n) - 1;
                W::store_some(dst, mask, W::narrow::<H>(W::load_some(src, mask)));
            }
        }
    }
}

/// The widths of a source and a target.
trait Widths {
    /// Elements of the source in a register.
    const LANES: usize;
    /// Bytes of an element of the target.
    const TO: usize;
    /// The vector of that number of elements of the target.
    type Out;
    /// # Safety
    ///
    /// The CPU has the tier; the elements of the mask can be read.
    unsafe fn load_some(src: *const u8, mask: u32) -> __m512i;
    /// # Safety
    ///
    /// The CPU has the tier.
    unsafe fn narrow<H: Limits>(x: __m512i) -> Self::Out;
    /// # Safety
    ///
    /// The CPU has the tier; [`LANES`](Self::LANES) elements can be written.
    unsafe fn store(dst: *mut u8, x: Self::Out);
    /// # Safety
    ///
    /// The CPU has the tier; the elements of the mask can be written.
    unsafe fn store_some(dst: *mut u8, mask: u32, x: Self::Out);
}

macro_rules! widths {
    ($($name:ident $lanes:literal $to:literal $out:ident $mask:ident: $load:ident $set:ident($highest:expr) $min:ident $max:ident,
        $wrap:ident $signed:ident $unsigned:ident, $store:ident $store_some:ident;)*) => {$(
        struct $name;
        impl Widths for $name {
            const LANES: usize = $lanes;
            const TO: usize = $to;
            type Out = $out;
            #[inline(always)]
            unsafe fn load_some(src: *const u8, mask: u32) -> __m512i {
                // SAFETY: the caller's promise.
                unsafe { $load(mask as _, src.cast()) }
            }
            #[inline(always)]
            unsafe fn narrow<H: Limits>(x: __m512i) -> $out {
                // SAFETY: the caller's CPU has the tier.
                unsafe {
                    match H::HOW {
                        How::SignedToSigned => $signed(x),
                        How::SignedToUnsigned => $unsigned($max(x, _mm512_setzero_si512())),
                        How::UnsignedToSigned => $wrap($min(x, $set($highest))),
                        How::UnsignedToUnsigned => $unsigned(x),
                        How::Wrap => $wrap(x),
                    }
                }
            }
            #[inline(always)]
            unsafe fn store(dst: *mut u8, x: $out) {
                // SAFETY: the caller's promise.
                unsafe { $store(dst.cast(), x) }
            }
            #[inline(always)]
            unsafe fn store_some(dst: *mut u8, mask: u32, x: $out) {
                // SAFETY: the caller's promise.
                unsafe { $store_some(dst.cast(), mask as $mask, x) }
            }
        }
    )*};
}

widths! {
    W16To8 32 1 __m256i u32: _mm512_maskz_loadu_epi16 _mm512_set1_epi16(0x7F) _mm512_min_epu16 _mm512_max_epi16,
        _mm512_cvtepi16_epi8 _mm512_cvtsepi16_epi8 _mm512_cvtusepi16_epi8, _mm256_storeu_si256 _mm256_mask_storeu_epi8;
    W32To8 16 1 __m128i u16: _mm512_maskz_loadu_epi32 _mm512_set1_epi32(0x7F) _mm512_min_epu32 _mm512_max_epi32,
        _mm512_cvtepi32_epi8 _mm512_cvtsepi32_epi8 _mm512_cvtusepi32_epi8, _mm_storeu_si128 _mm_mask_storeu_epi8;
    W32To16 16 2 __m256i u16: _mm512_maskz_loadu_epi32 _mm512_set1_epi32(0x7FFF) _mm512_min_epu32 _mm512_max_epi32,
        _mm512_cvtepi32_epi16 _mm512_cvtsepi32_epi16 _mm512_cvtusepi32_epi16, _mm256_storeu_si256 _mm256_mask_storeu_epi16;
    W64To8 8 1 __m128i u16: _mm512_maskz_loadu_epi64 _mm512_set1_epi64(0x7F) _mm512_min_epu64 _mm512_max_epi64,
        _mm512_cvtepi64_epi8 _mm512_cvtsepi64_epi8 _mm512_cvtusepi64_epi8, _mm_storel_epi64 _mm_mask_storeu_epi8;
    W64To16 8 2 __m128i u8: _mm512_maskz_loadu_epi64 _mm512_set1_epi64(0x7FFF) _mm512_min_epu64 _mm512_max_epi64,
        _mm512_cvtepi64_epi16 _mm512_cvtsepi64_epi16 _mm512_cvtusepi64_epi16, _mm_storeu_si128 _mm_mask_storeu_epi16;
    W64To32 8 4 __m256i u8: _mm512_maskz_loadu_epi64 _mm512_set1_epi64(0x7FFF_FFFF) _mm512_min_epu64 _mm512_max_epi64,
        _mm512_cvtepi64_epi32 _mm512_cvtsepi64_epi32 _mm512_cvtusepi64_epi32, _mm256_storeu_si256 _mm256_mask_storeu_epi32;
}
