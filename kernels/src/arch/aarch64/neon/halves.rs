//! Float16 in lanes of its own width: half the registers of float32.
//!
//! Its arithmetic is a finer feature (FEAT_FP16), and in assembly because the intrinsics are younger than the oldest Rust that
//! this crate is for. `float8_e5m2` begins as float16 does and needs none.

use super::*;
use crate::{
    dtype::{Flavor, FloatSpec},
    vector::small::{Family, signed},
};
use core::marker::PhantomData;

/// A unit of 16 float16.
#[derive(Clone, Copy)]
pub(super) struct Float16(pub(super) Halves);

/// Float16 or bfloat16 without the sign, to be asked whether they are zero.
pub(super) struct Magnitudes;
/// Float16 as they are.
pub(super) struct Plain;

impl Source for Plain {
    const BITS: usize = 16;
    type Lanes = Float16;
    type Tables = ();
    #[inline(always)]
    unsafe fn tables(_: &Data) {}
    #[inline(always)]
    unsafe fn load((): (), src: [*const u8; 2]) -> [Float16; 2] {
        // SAFETY: the caller's promise.
        unsafe { each!([src[0], src[1]], |p| Float16(sources::halves(p))) }
    }
}

impl Source for Magnitudes {
    const BITS: usize = 16;
    type Lanes = Ints16<false>;
    type Tables = ();
    #[inline(always)]
    unsafe fn tables(_: &Data) {}
    #[inline(always)]
    unsafe fn load((): (), src: [*const u8; 2]) -> [Ints16<false>; 2] {
        // SAFETY: the caller's promise.
        unsafe {
            each!([src[0], src[1]], |p| {
                let [a, b] = sources::halves(p);
                Ints16([vshlq_n_u16::<1>(a), vshlq_n_u16::<1>(b)])
            })
        }
    }
}

/// A unit of 16 bfloat16, as the upper halves of float32.
#[derive(Clone, Copy)]
pub(super) struct UpperHalves(Halves);

impl Lanes for UpperHalves {
    #[inline(always)]
    unsafe fn f32_odd<const ODD: bool>(self) -> Words {
        // SAFETY: the caller's promise.
        unsafe { sources::upper_halves(self.0) }
    }
    #[inline(always)]
    unsafe fn signs(self) -> Option<uint32x4_t> {
        // SAFETY: the caller's promise.
        Some(unsafe { vreinterpretq_u32_u8(high_bytes(self.0)) })
    }
}

/// Bfloat16 on the way to small floats.
pub(super) struct Upper;

impl Source for Upper {
    const BITS: usize = 16;
    type Lanes = UpperHalves;
    type Tables = ();
    #[inline(always)]
    unsafe fn tables(_: &Data) {}
    #[inline(always)]
    unsafe fn load((): (), src: [*const u8; 2]) -> [UpperHalves; 2] {
        // SAFETY: the caller's promise.
        unsafe { each!([src[0], src[1]], |p| UpperHalves(sources::halves(p))) }
    }
}

/// Functions of registers of eight lanes that are one instruction.
macro_rules! instructions {
    ($($name:ident($($arg:ident),*) = $text:literal;)*) => {$(
        #[inline(always)]
        pub(super) unsafe fn $name($($arg: uint16x8_t),*) -> uint16x8_t {
            let x: uint16x8_t;
            // SAFETY: the CPU has FEAT_FP16, by the caller; the instruction touches registers only.
            unsafe {
                asm!($text, x = out(vreg) x, $($arg = in(vreg) $arg,)* options(pure, nomem, nostack, preserves_flags));
            }
            x
        }
    )*};
}
instructions! {
    to_int16(a) = "fcvtzs {x:v}.8h, {a:v}.8h";
    to_uint16(a) = "fcvtzu {x:v}.8h, {a:v}.8h";
    of_int16(a) = "scvtf {x:v}.8h, {a:v}.8h";
    of_uint16(a) = "ucvtf {x:v}.8h, {a:v}.8h";
    minimum(a, b) = "fmin {x:v}.8h, {a:v}.8h, {b:v}.8h";
    maximum(a, b) = "fmax {x:v}.8h, {a:v}.8h, {b:v}.8h";
    is_at_most(a, b) = "facge {x:v}.8h, {b:v}.8h, {a:v}.8h";
    round(a) = "frinti {x:v}.8h, {a:v}.8h";
    round_away(a) = "frinta {x:v}.8h, {a:v}.8h";
}

/// Functions of `a`, `b` and `c` that are rounded once.
macro_rules! fused {
    ($($name:ident = $text:literal, $doc:literal;)*) => {$(
        #[doc = $doc]
        #[inline(always)]
        pub(super) unsafe fn $name(a: uint16x8_t, b: uint16x8_t, mut c: uint16x8_t) -> uint16x8_t {
            // SAFETY: as of the other instructions.
            unsafe {
                asm!($text, c = inout(vreg) c, a = in(vreg) a, b = in(vreg) b,
                    options(pure, nomem, nostack, preserves_flags));
            }
            c
        }
    )*};
}
fused! {
    multiply_add = "fmla {c:v}.8h, {a:v}.8h, {b:v}.8h", "`c + a * b`";
    multiply_subtract = "fmls {c:v}.8h, {a:v}.8h, {b:v}.8h", "`c - a * b`";
}

/// Float16 of 16-bit integers.
///
/// # Safety
///
/// As of the methods of [`Lanes`], and the CPU has FEAT_FP16.
#[inline(always)]
pub(super) unsafe fn of_integers<const SIGNED: bool>(x: Halves) -> Halves {
    // SAFETY: the caller's promise.
    unsafe { each!([x[0], x[1]], |x| if SIGNED { of_int16(x) } else { of_uint16(x) }) }
}

/// Integers that saturate: the CPU has FEAT_FP16.
impl Lanes for Float16 {
    #[inline(always)]
    unsafe fn int8<const SATURATE: bool, const TO: bool>(self) -> Bytes {
        const { assert!(SATURATE) };
        // SAFETY: the caller's promise.
        unsafe { Ints16::<TO>(self.int16::<true, TO>()).int8::<true, TO>() }
    }
    #[inline(always)]
    unsafe fn int16<const SATURATE: bool, const TO: bool>(self) -> Halves {
        const { assert!(SATURATE) };
        // SAFETY: the caller's promise.
        unsafe { each!([self.0[0], self.0[1]], |x| if TO { to_int16(x) } else { to_uint16(x) }) }
    }
    #[inline(always)]
    unsafe fn halves(self) -> Halves {
        self.0
    }
}

/// Small floats of float16 whose exponents float16 has, too: the algorithm of `vector::small` in lanes of half the width.
pub(super) struct SmallOfHalf<D>(PhantomData<D>);

/// Whether that is for the format: the sum of the largest number and the power of two by which it is rounded is finite.
pub(super) const fn is_for(to: DType) -> bool {
    match to.spec() {
        Spec::Float(f) => f.bits() <= 8 && f.exponent_bits <= 4 && !matches!(f.flavor, Flavor::Exponent),
        _ => false,
    }
}

/// The bits of a float16 for those of a float32 that is one, and normal.
const fn half(x: u32) -> u16 {
    if x == 0 {
        return 0;
    }
    let field = (x >> 23) as u16;
    assert!(x & 0x1FFF == 0 && field > 112 && field < 143);
    (field - 112) << 10 | (x >> 13 & 0x3FF) as u16
}

impl<D: Format> targets::Codes for SmallOfHalf<D> {
    #[inline(always)]
    unsafe fn codes<L: Lanes, const SATURATE: bool>(x: L, _: &Data) -> Bytes {
        let f: FloatSpec = const { crate::exact::float_spec(D::DTYPE) };
        let e = const { Encoder::new(crate::exact::float_spec(D::DTYPE), SATURATE) };
        let family = const {
            let f = crate::exact::float_spec(D::DTYPE);
            Family::new(f, &Encoder::new(f, SATURATE))
        };
        let (limit, nan) = (half(e.limit), half(e.nan));
        let (min_field, shift) = (e.min_field - 112, e.shift - 13);
        // SAFETY: the caller's promise; the CPU has FEAT_FP16.
        unsafe {
            let x = x.halves();
            let all = |x: u16| vdupq_n_u16(x);
            let ordered = |x| vcleq_u16(vandq_u16(x, all(0x7FFF)), all(0x7C00));
            let counts = each!([x[0], x[1]], |x| {
                let magnitude = vandq_u16(x, all(0x7FFF));
                let limited = if f.nan().is_none() {
                    // NaN is zero.
                    vandq_u16(vminq_u16(magnitude, all(limit)), ordered(x))
                } else if limit == nan {
                    vminq_u16(magnitude, all(nan))
                } else {
                    vminq_u16(minimum(magnitude, all(limit)), all(nan))
                };
                let power = vmaxq_u16(vandq_u16(limited, all(0x7C00)), all((min_field as u16) << 10));
                let sum = multiply_add(power, all((15 + shift as u16) << 10), limited);
                match f.mantissa_bits {
                    1 => vsraq_n_u16::<9>(sum, sum),
                    2 => vsraq_n_u16::<8>(sum, sum),
                    3 => vsraq_n_u16::<7>(sum, sum),
                    _ => vsraq_n_u16::<6>(sum, sum),
                }
            });
            let excess = vdupq_n_u8(((min_field + shift) << f.mantissa_bits) as u8);
            let codes = vsubq_u8(low_bytes(counts), excess);
            let mut sign = high_bytes(x);
            if f.nan().is_none() {
                // Of the opposite sign.
                sign = veorq_u8(sign, vmvnq_u8(low_bytes(each!([x[0], x[1]], |x| ordered(x)))));
            }
            let [codes, sign] = each!([codes, sign], |x| vreinterpretq_u32_u8(x));
            vreinterpretq_u8_u32(signed::<Neon>(codes, sign, family))
        }
    }
}

#[inline(always)]
pub(super) unsafe fn low_bytes(x: Halves) -> Bytes {
    // SAFETY: the CPU has the tier.
    unsafe { vuzp1q_u8(vreinterpretq_u8_u16(x[0]), vreinterpretq_u8_u16(x[1])) }
}

#[inline(always)]
pub(super) unsafe fn high_bytes(x: Halves) -> Bytes {
    // SAFETY: the CPU has the tier.
    unsafe { vuzp2q_u8(vreinterpretq_u8_u16(x[0]), vreinterpretq_u8_u16(x[1])) }
}

/// `float8_e5m2`: float16 without its last eight bits.
pub(super) struct E5m2;

impl targets::Codes for E5m2 {
    #[inline(always)]
    unsafe fn codes<L: Lanes, const SATURATE: bool>(x: L, _: &Data) -> Bytes {
        // SAFETY: the caller's promise.
        unsafe {
            let x = x.halves();
            let all = |x: u16| vdupq_n_u16(x);
            let codes = each!([x[0], x[1]], |x| {
                let magnitude = vandq_u16(x, all(0x7FFF));
                let limited = if SATURATE { vminq_u16(magnitude, all(0x7B00)) } else { magnitude };
                // Just under half a unit, and the last kept bit.
                let last = vandq_u16(vshrq_n_u16::<8>(limited), all(1));
                let rounded = vaddq_u16(vaddq_u16(limited, all(0x7F)), last);
                vbslq_u16(vcgtq_u16(magnitude, all(0x7C00)), all(0x7E00), rounded)
            });
            vbslq_u8(vdupq_n_u8(0x80), high_bytes(x), high_bytes(codes))
        }
    }
}
