//! Targets: what lanes become, and how it is stored.

use super::{packing::join, *};
use crate::vector::{
    Simd,
    small::{Family, NO_NAN, exponents, floats},
    style::PLAIN,
};
use core::marker::PhantomData;

/// An element type on the destination's side.
pub(super) trait Target {
    /// Bits of an element in its storage.
    const BITS: usize;
    /// Two units that begin at these places; packed ones both at the first.
    ///
    /// # Safety
    ///
    /// The CPU has the tier, the floating-point environment is the default, and the units can be written.
    unsafe fn store<L: Lanes, const SATURATE: bool>(x: [L; 2], dst: [*mut u8; 2], data: &Data);
}

/// What makes elements of a byte or less.
pub(super) trait Codes {
    /// # Safety
    ///
    /// As of the methods of [`Lanes`].
    unsafe fn codes<L: Lanes, const SATURATE: bool>(x: L, data: &Data) -> Bytes;
}

/// They are there.
pub(super) struct Found;
/// Integers.
pub(super) struct Int<const WIDTH: u32, const SIGNED: bool>;
pub(super) struct Truth;
/// Floats.
pub(super) struct Small<D>(PhantomData<D>);

impl Codes for Found {
    #[inline(always)]
    unsafe fn codes<L: Lanes, const SATURATE: bool>(x: L, _: &Data) -> Bytes {
        // SAFETY: the caller's promise.
        unsafe { x.found_8() }
    }
}

impl Codes for Truth {
    #[inline(always)]
    unsafe fn codes<L: Lanes, const SATURATE: bool>(x: L, _: &Data) -> Bytes {
        // SAFETY: the caller's promise.
        unsafe { x.truth() }
    }
}

impl<const WIDTH: u32, const SIGNED: bool> Codes for Int<WIDTH, SIGNED> {
    #[inline(always)]
    unsafe fn codes<L: Lanes, const SATURATE: bool>(x: L, _: &Data) -> Bytes {
        // SAFETY: the caller's promise.
        unsafe {
            if WIDTH == 8 {
                return x.int8::<SATURATE, SIGNED>();
            }
            // From the range of a byte to that of fewer bits.
            let mask = (1_u8 << WIDTH) - 1;
            let max = mask >> SIGNED as u32;
            if SATURATE && L::UNSIGNED {
                return vminq_u8(x.int8::<true, false>(), vdupq_n_u8(max));
            }
            let x = x.int8::<SATURATE, SIGNED>();
            let x = match (SATURATE, SIGNED) {
                (false, _) => x,
                (true, false) => return vminq_u8(x, vdupq_n_u8(max)),
                (true, true) => {
                    let x = vminq_s8(vreinterpretq_s8_u8(x), vdupq_n_s8(max as i8));
                    vreinterpretq_u8_s8(vmaxq_s8(x, vdupq_n_s8(!max as i8)))
                }
            };
            vandq_u8(x, vdupq_n_u8(mask))
        }
    }
}

impl<D: Format> Small<D> {
    /// Whether it is `float8_e8m0fnu`: only there the last bits of a value that float32 cannot hold matter. Of the others those
    /// with more than 24 significant bits are out of range.
    const EXPONENT: bool = matches!(D::DTYPE, DType::Float8E8M0FNU);
    /// The constants under the common rules, which the compiler knows.
    const DATA: [&Data; 2] = [
        &Data::new(D::DTYPE, &Rules::common(D::DTYPE, false)),
        &Data::new(D::DTYPE, &Rules::common(D::DTYPE, true)),
    ];
    const FAMILIES: [Family; 2] = [Self::family(false), Self::family(true)];

    const fn family(saturate: bool) -> Family {
        match D::DTYPE.spec() {
            Spec::Float(f) => Family::new(f, &Self::DATA[saturate as usize].encoder),
            // No float.
            _ => Family { bits: 8, fnuz: false, nan: NO_NAN },
        }
    }
}

impl<D: Format> Codes for Small<D> {
    #[inline(always)]
    unsafe fn codes<L: Lanes, const SATURATE: bool>(x: L, _: &Data) -> Bytes {
        // SAFETY: the caller's promise.
        unsafe {
            vreinterpretq_u8_u32(if Self::EXPONENT {
                exponents::<Neon, SATURATE, false>(x.f32_odd::<true>())
            } else {
                let sign = if L::UNSIGNED { Some(Neon::splat(0)) } else { x.signs() };
                let family = const { Self::FAMILIES[SATURATE as usize] };
                let data = const { Self::DATA[SATURATE as usize] };
                floats::<Neon, PLAIN, false>(x.f32_odd::<false>(), sign, L::INTEGERS, family, data)
            })
        }
    }
}

/// Elements of `BITS` bits, packed if that is less than 8.
pub(super) struct Byte<C, const BITS: usize>(PhantomData<C>);

impl<C: Codes, const BITS: usize> Target for Byte<C, BITS> {
    const BITS: usize = BITS;
    #[inline(always)]
    unsafe fn store<L: Lanes, const SATURATE: bool>(
        [x, y]: [L; 2],
        [first, second]: [*mut u8; 2],
        data: &Data,
    ) {
        // SAFETY: the caller's promise.
        unsafe {
            let codes = [C::codes::<L, SATURATE>(x, data), C::codes::<L, SATURATE>(y, data)];
            match BITS {
                2 => join::<2>(first, codes),
                4 => join::<4>(first, codes),
                6 => join::<6>(first, codes),
                _ => {
                    vst1q_u8(first, codes[0]);
                    vst1q_u8(second, codes[1]);
                }
            }
        }
    }
}

/// Elements of two bytes that are there.
pub(super) struct Found16;
pub(super) struct Int16<const SIGNED: bool>;
pub(super) struct Int32<const SIGNED: bool>;
pub(super) struct Int64<const SIGNED: bool>;
pub(super) struct F16<const FINE: u8>;
pub(super) struct BF16<const FINE: u8>;
pub(super) struct F32;
pub(super) struct F64;
pub(super) struct C64;
pub(super) struct C128;

/// Float32 rounded to float16.
///
/// In assembly because the intrinsics are younger than the oldest Rust that this crate is for.
///
/// # Safety
///
/// As of the methods of [`Lanes`].
#[inline(always)]
pub(super) unsafe fn f16_of_singles(x: Words) -> Halves {
    // SAFETY: the CPU has the tier, whose instructions these are; they touch registers only.
    unsafe {
        each!([(x[0], x[1]), (x[2], x[3])], |(low, high)| {
            let mut half: uint16x8_t;
            asm!("fcvtn {0:v}.4h, {1:v}.4s", out(vreg) half, in(vreg) low, options(pure, nomem, nostack, preserves_flags));
            asm!("fcvtn2 {0:v}.8h, {1:v}.4s", inout(vreg) half, in(vreg) high, options(pure, nomem, nostack, preserves_flags));
            half
        })
    }
}

/// Float32 rounded to bfloat16, with the canonical NaN.
///
/// # Safety
///
/// As of the methods of [`Lanes`], and the CPU has what is `FINE`.
#[inline(always)]
pub(super) unsafe fn bf16_of_singles<const FINE: u8>(x: Words) -> Halves {
    // SAFETY: the caller's promise.
    unsafe {
        each!([(x[0], x[1]), (x[2], x[3])], |(a, b)| {
            let rounded = if FINE & fine::BF16 != 0 { by_instruction(a, b) } else { by_addition(a, b) };
            let ordered =
                |x| vreinterpretq_u16_u32(vceqq_f32(vreinterpretq_f32_u32(x), vreinterpretq_f32_u32(x)));
            let ordered = vuzp1q_u16(ordered(a), ordered(b));
            let sign = vuzp2q_u16(vreinterpretq_u16_u32(a), vreinterpretq_u16_u32(b));
            let nan = vorrq_u16(vandq_u16(sign, vdupq_n_u16(0x8000)), vdupq_n_u16(0x7FC0));
            vbslq_u16(ordered, rounded, nan)
        })
    }
}

#[inline(always)]
unsafe fn by_addition(a: uint32x4_t, b: uint32x4_t) -> uint16x8_t {
    // SAFETY: the CPU has the tier.
    unsafe {
        // Just under half a unit, and the last kept bit: a carry exactly when nearest-even goes up.
        let [up_a, up_b] = each!([a, b], |x| {
            vaddq_u32(vandq_u32(vshrq_n_u32::<16>(x), vdupq_n_u32(1)), vdupq_n_u32(0x7FFF))
        });
        vaddhn_high_u32(vaddhn_u32(a, up_a), b, up_b)
    }
}

/// In assembly because there are no stable intrinsics.
#[inline(always)]
unsafe fn by_instruction(a: uint32x4_t, b: uint32x4_t) -> uint16x8_t {
    let mut half: uint16x8_t;
    // SAFETY: the CPU has the instructions, by the caller; they touch registers only.
    unsafe {
        asm!("bfcvtn {0:v}.4h, {1:v}.4s", out(vreg) half, in(vreg) a, options(pure, nomem, nostack, preserves_flags));
        asm!("bfcvtn2 {0:v}.8h, {1:v}.4s", inout(vreg) half, in(vreg) b, options(pure, nomem, nostack, preserves_flags));
    }
    half
}

/// Float64 with zeros between them.
#[inline(always)]
pub(super) unsafe fn store_complex(x: Doubles, dst: *mut u8) {
    // SAFETY: a unit can be written, by the caller.
    unsafe {
        let zero = vdupq_n_u64(0);
        let mut k = 0;
        while k < 8 {
            vst1q_u8(dst.add(32 * k), vreinterpretq_u8_u64(vzip1q_u64(x[k], zero)));
            vst1q_u8(dst.add(32 * k + 16), vreinterpretq_u8_u64(vzip2q_u64(x[k], zero)));
            k += 1;
        }
    }
}

/// Stores the registers of a unit.
macro_rules! put {
    ($view:ident, $count:literal, $x:expr, $dst:expr) => {{
        let (x, dst): (_, *mut u8) = ($x, $dst);
        let mut k = 0;
        while k < $count {
            vst1q_u8(dst.add(16 * k), $view(x[k]));
            k += 1;
        }
    }};
}

macro_rules! targets {
    ($(<$(const $generic:ident: $kind:ty)?> $name:ty, $bytes:literal, $saturate:ident, |$x:ident, $dst:ident, $data:ident| $body:expr;)*) => {$(
        impl $(<const $generic: $kind>)? Target for $name {
            const BITS: usize = 8 * $bytes;
            #[inline(always)]
            unsafe fn store<L: Lanes, const $saturate: bool>(
                [$x, second]: [L; 2],
                dst: [*mut u8; 2],
                $data: &Data,
            ) {
                // SAFETY: the caller's promise.
                unsafe {
                    let [$dst, next] = dst;
                    $body;
                    let ($x, $dst) = (second, next);
                    $body;
                }
            }
        }
    )*};
}

pub(super) use {put, targets};

targets! {
    <> Found16, 2, SATURATE, |x, dst, _data| put!(vreinterpretq_u8_u16, 2, x.found_16(), dst);
    <const SIGNED: bool> Int16<SIGNED>, 2, SATURATE, |x, dst, _data| {
        put!(vreinterpretq_u8_u16, 2, x.int16::<SATURATE, SIGNED>(), dst)
    };
    <const SIGNED: bool> Int32<SIGNED>, 4, SATURATE, |x, dst, _data| {
        put!(vreinterpretq_u8_u32, 4, x.int32::<SATURATE, SIGNED>(), dst)
    };
    <const SIGNED: bool> Int64<SIGNED>, 8, SATURATE, |x, dst, _data| {
        put!(vreinterpretq_u8_u64, 8, x.int64::<SATURATE, SIGNED>(), dst)
    };
    <const FINE: u8> F16<FINE>, 2, SATURATE, |x, dst, _data| put!(vreinterpretq_u8_u16, 2, x.f16::<FINE>(), dst);
    <const FINE: u8> BF16<FINE>, 2, SATURATE, |x, dst, _data| put!(vreinterpretq_u8_u16, 2, x.bf16::<FINE>(), dst);
    <> F32, 4, SATURATE, |x, dst, _data| put!(vreinterpretq_u8_u32, 4, x.f32(), dst);
    <> F64, 8, SATURATE, |x, dst, _data| put!(vreinterpretq_u8_u64, 8, x.f64(), dst);
    // The imaginary part is the zero that the real one is extended by.
    <> C64, 8, SATURATE, |x, dst, _data| put!(vreinterpretq_u8_u64, 8, widths::widen_32::<false>(x.f32()), dst);
    <> C128, 16, SATURATE, |x, dst, _data| store_complex(x.f64(), dst);
}
