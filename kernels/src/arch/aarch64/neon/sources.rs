//! Sources of more than a byte, and integers of a byte.

use super::*;
use half::{bf16, f16};
use num_complex::Complex;

/// An element type on the source's side.
pub(super) trait Source {
    /// Bits of an element in its storage.
    const BITS: usize;
    type Lanes: Lanes;
    /// What stays in registers.
    type Tables: Copy;
    /// # Safety
    ///
    /// The CPU has the tier.
    unsafe fn tables(data: &Data) -> Self::Tables;
    /// Two units that begin at these places; packed ones both at the first.
    ///
    /// # Safety
    ///
    /// The CPU has the tier, the floating-point environment is the default, and the units can be read.
    unsafe fn load(tables: Self::Tables, src: [*const u8; 2]) -> [Self::Lanes; 2];
}

/// The real or the imaginary part is not zero.
pub(super) struct Either<T>(T);
/// bool.
pub(super) struct Truth;

#[inline(always)]
pub(super) unsafe fn halves(p: *const u8) -> Halves {
    // SAFETY: a unit can be read, by the caller.
    unsafe { each!([0, 1], |k| vreinterpretq_u16_u8(vld1q_u8(p.add(16 * k)))) }
}

#[inline(always)]
pub(super) unsafe fn words(p: *const u8) -> Words {
    // SAFETY: a unit can be read, by the caller.
    unsafe { each!([0, 1, 2, 3], |k| vreinterpretq_u32_u8(vld1q_u8(p.add(16 * k)))) }
}

#[inline(always)]
unsafe fn doubles(p: *const u8) -> Doubles {
    // SAFETY: a unit can be read, by the caller.
    unsafe { eight!([0, 1, 2, 3, 4, 5, 6, 7], |k| vreinterpretq_u64_u8(vld1q_u8(p.add(16 * k)))) }
}

/// The upper half of float32.
#[inline(always)]
pub(super) unsafe fn upper_halves(x: Halves) -> Words {
    // SAFETY: the CPU has the tier.
    unsafe {
        // Shifted, not put together with zeros, of which the compiler would make stores that interleave.
        let [[a, b], [c, d]] = each!([x[0], x[1]], |x| {
            each!([vmovl_u16(vget_low_u16(x)), vmovl_high_u16(x)], |x| vshlq_n_u32::<16>(x))
        });
        [a, b, c, d]
    }
}

/// Float32 of float16.
///
/// In assembly because the intrinsics are younger than the oldest Rust that this crate is for.
#[inline(always)]
pub(super) unsafe fn singles_of_f16(x: Halves) -> Words {
    // SAFETY: the CPU has the tier, whose instructions these are; they touch registers only.
    unsafe {
        let [[a, b], [c, d]] = each!([x[0], x[1]], |x| {
            let (low, high): (uint32x4_t, uint32x4_t);
            asm!("fcvtl {0:v}.4s, {1:v}.4h", out(vreg) low, in(vreg) x, options(pure, nomem, nostack, preserves_flags));
            asm!("fcvtl2 {0:v}.4s, {1:v}.8h", out(vreg) high, in(vreg) x, options(pure, nomem, nostack, preserves_flags));
            [low, high]
        });
        [a, b, c, d]
    }
}

/// The even lanes of two units of words: the real parts.
#[inline(always)]
unsafe fn even_words(p: *const u8) -> Words {
    // SAFETY: the caller's promise.
    unsafe {
        let [a, b] = [words(p), words(p.add(64))];
        [vuzp1q_u32(a[0], a[1]), vuzp1q_u32(a[2], a[3]), vuzp1q_u32(b[0], b[1]), vuzp1q_u32(b[2], b[3])]
    }
}

#[inline(always)]
unsafe fn odd_words(p: *const u8) -> Words {
    // SAFETY: the caller's promise.
    unsafe {
        let [a, b] = [words(p), words(p.add(64))];
        [vuzp2q_u32(a[0], a[1]), vuzp2q_u32(a[2], a[3]), vuzp2q_u32(b[0], b[1]), vuzp2q_u32(b[2], b[3])]
    }
}

#[inline(always)]
unsafe fn even_doubles(p: *const u8) -> Doubles {
    // SAFETY: the caller's promise.
    unsafe {
        eight!([0, 1, 2, 3, 4, 5, 6, 7], |k| {
            let [a, b] = each!([2 * k, 2 * k + 1], |k| vreinterpretq_u64_u8(vld1q_u8(p.add(16 * k))));
            vuzp1q_u64(a, b)
        })
    }
}

#[inline(always)]
unsafe fn odd_doubles(p: *const u8) -> Doubles {
    // SAFETY: the caller's promise.
    unsafe {
        eight!([0, 1, 2, 3, 4, 5, 6, 7], |k| {
            let [a, b] = each!([2 * k, 2 * k + 1], |k| vreinterpretq_u64_u8(vld1q_u8(p.add(16 * k))));
            vuzp2q_u64(a, b)
        })
    }
}

macro_rules! sources {
    ($($type:ty, $bytes:literal => $lanes:ty, |$p:ident| $body:expr;)*) => {$(
        impl Source for $type {
            const BITS: usize = 8 * $bytes;
            type Lanes = $lanes;
            type Tables = ();
            #[inline(always)]
            unsafe fn tables(_: &Data) {}
            #[inline(always)]
            unsafe fn load((): (), src: [*const u8; 2]) -> [$lanes; 2] {
                // SAFETY: the caller's promise.
                unsafe {
                    let [$p, second] = src;
                    let first: $lanes = $body;
                    let $p = second;
                    [first, $body]
                }
            }
        }
    )*};
}

sources! {
    i8, 1 => Ints8<true>, |p| Ints8(vld1q_u8(p));
    u8, 1 => Ints8<false>, |p| Ints8(vld1q_u8(p));
    Truth, 1 => Ints8<false>, |p| Ints8(vminq_u8(vld1q_u8(p), vdupq_n_u8(1)));
    i16, 2 => Ints16<true>, |p| Ints16(halves(p));
    u16, 2 => Ints16<false>, |p| Ints16(halves(p));
    i32, 4 => Ints32<true>, |p| Ints32(words(p));
    u32, 4 => Ints32<false>, |p| Ints32(words(p));
    i64, 8 => Ints64<true>, |p| Ints64(doubles(p));
    u64, 8 => Ints64<false>, |p| Ints64(doubles(p));
    f16, 2 => Singles<{ floats::SHORT_OR_INFINITE }>, |p| Singles(singles_of_f16(halves(p)));
    bf16, 2 => Singles<{ floats::ANY }>, |p| Singles(upper_halves(halves(p)));
    f32, 4 => Singles<{ floats::ANY }>, |p| Singles(words(p));
    f64, 8 => Doubles64, |p| Doubles64(doubles(p));
    Complex<f32>, 8 => Singles<{ floats::ANY }>, |p| Singles(even_words(p));
    Complex<f64>, 16 => Doubles64, |p| Doubles64(even_doubles(p));
    Either<f32>, 8 => Singles<{ floats::ANY }>, |p| {
        let (re, im) = (even_words(p), odd_words(p));
        Singles(each!([0, 1, 2, 3], |k| vorrq_u32(re[k], im[k])))
    };
    Either<f64>, 16 => Doubles64, |p| {
        let (re, im) = (even_doubles(p), odd_doubles(p));
        Doubles64(eight!([0, 1, 2, 3, 4, 5, 6, 7], |k| vorrq_u64(re[k], im[k])))
    };
}
