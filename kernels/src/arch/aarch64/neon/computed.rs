//! Sources of one byte per element or less that need no table: powers of two, integers and truth values.

use super::{
    sources::{Source, upper_halves},
    tables::{Found8, Found16, codes, zip},
    *,
};
use crate::lut::{self, Limits};
use core::marker::PhantomData;

/// `float8_e8m0fnu`: the exponents of float32, and as bfloat16 the results themselves.
pub(super) struct Exponents;
pub(super) struct ExponentsToBf16;

impl Source for ExponentsToBf16 {
    const BITS: usize = 8;
    type Lanes = Found16;
    type Tables = ();
    #[inline(always)]
    unsafe fn tables(_: &Data) {}
    #[inline(always)]
    unsafe fn load((): (), src: [*const u8; 2]) -> [Found16; 2] {
        // SAFETY: the caller's promise.
        unsafe {
            let [a, b] = codes::<8>(src);
            each!([a, b], |codes| {
                // The lowest is a subnormal, the highest NaN: both are the bit below the field.
                let ends = vcleq_u8(vaddq_u8(codes, vdupq_n_u8(1)), vdupq_n_u8(1));
                let low = vsliq_n_u8::<7>(vandq_u8(ends, vdupq_n_u8(0x40)), codes);
                Found16(zip([low, vshrq_n_u8::<1>(codes)]))
            })
        }
    }
}

impl Source for Exponents {
    const BITS: usize = 8;
    type Lanes = Singles<{ floats::ANY }>;
    type Tables = ();
    #[inline(always)]
    unsafe fn tables(_: &Data) {}
    #[inline(always)]
    unsafe fn load((): (), src: [*const u8; 2]) -> [Self::Lanes; 2] {
        // SAFETY: the caller's promise.
        unsafe {
            let [a, b] = ExponentsToBf16::load((), src);
            [Singles(upper_halves(a.0)), Singles(upper_halves(b.0))]
        }
    }
}

/// Powers of two as integers that wrap: 1, shifted by the bytes. Shifts that are negative or too many give 0: fractions, what
/// wraps, and NaN, which counts as 2^128.
#[derive(Clone, Copy)]
pub(super) struct Shifts(Bytes);

impl Lanes for Shifts {
    #[inline(always)]
    unsafe fn int16<const SATURATE: bool, const TO: bool>(self) -> Halves {
        // SAFETY: the caller's promise.
        unsafe {
            let [a, b] = widths::widen_8::<true>(self.0);
            each!([a, b], |x| vshlq_u16(vdupq_n_u16(1), vreinterpretq_s16_u16(x)))
        }
    }
    #[inline(always)]
    unsafe fn int32<const SATURATE: bool, const TO: bool>(self) -> Words {
        // SAFETY: the caller's promise. Of a lane only the lowest byte counts.
        unsafe {
            each!(widths::in_words::<0>(self.0), |x| vshlq_u32(vdupq_n_u32(1), vreinterpretq_s32_u32(x)))
        }
    }
    #[inline(always)]
    unsafe fn int64<const SATURATE: bool, const TO: bool>(self) -> Doubles {
        // SAFETY: the caller's promise. Of a lane only the lowest byte counts.
        unsafe {
            eight!(widths::in_doubles::<0>(self.0), |x| vshlq_u64(vdupq_n_u64(1), vreinterpretq_s64_u64(x)))
        }
    }
}

/// `float8_e8m0fnu` on the way to integers that wrap.
pub(super) struct PowersOfTwo;

impl Source for PowersOfTwo {
    const BITS: usize = 8;
    type Lanes = Shifts;
    type Tables = ();
    #[inline(always)]
    unsafe fn tables(_: &Data) {}
    #[inline(always)]
    unsafe fn load((): (), src: [*const u8; 2]) -> [Shifts; 2] {
        // SAFETY: the caller's promise.
        unsafe {
            let [a, b] = codes::<8>(src);
            each!([a, b], |codes| Shifts(vsubq_u8(codes, vdupq_n_u8(127))))
        }
    }
}

/// Integers and truth values by limits, without a table.
pub(super) struct Limited<S, D, const SATURATE: bool, const BITS: usize>(PhantomData<(S, D)>);

impl<S: Format, D: Format, const SATURATE: bool, const BITS: usize> Source for Limited<S, D, SATURATE, BITS> {
    const BITS: usize = BITS;
    type Lanes = Found8;
    type Tables = ();
    #[inline(always)]
    unsafe fn tables(_: &Data) {}
    #[inline(always)]
    unsafe fn load((): (), src: [*const u8; 2]) -> [Found8; 2] {
        const fn limits<S: Format, D: Format>(saturate: bool) -> Limits {
            match lut::limits(S::DTYPE, D::DTYPE, saturate) {
                Some(limits) => limits,
                None => panic!("not a pair of limits"),
            }
        }
        let Limits { signed, used, min, max, bits } = const { limits::<S, D>(SATURATE) };
        // SAFETY: the caller's promise. Of steps that change nothing no instruction is left.
        unsafe {
            let [a, b] = codes::<BITS>(src);
            each!([a, b], |x| {
                let x = if used == 0xFF { x } else { vandq_u8(x, vdupq_n_u8(used)) };
                let x = match signed {
                    _ if (signed, min, max) == (true, 0x80, 0x7F)
                        || (signed, min, max) == (false, 0, 0xFF) =>
                    {
                        x
                    }
                    true => {
                        let x = vmaxq_s8(vreinterpretq_s8_u8(x), vdupq_n_s8(min as i8));
                        vreinterpretq_u8_s8(vminq_s8(x, vdupq_n_s8(max as i8)))
                    }
                    false => {
                        let x = if min == 0 { x } else { vmaxq_u8(x, vdupq_n_u8(min)) };
                        vminq_u8(x, vdupq_n_u8(max))
                    }
                };
                Found8(if bits == 0xFF { x } else { vandq_u8(x, vdupq_n_u8(bits)) })
            })
        }
    }
}

/// Unsigned integers of a byte or less, of which the bits in `MASK` count.
pub(super) struct Masked<const MASK: u8, const BITS: usize>;

impl<const MASK: u8, const BITS: usize> Source for Masked<MASK, BITS> {
    const BITS: usize = BITS;
    type Lanes = Ints8<false>;
    type Tables = ();
    #[inline(always)]
    unsafe fn tables(_: &Data) {}
    #[inline(always)]
    unsafe fn load((): (), src: [*const u8; 2]) -> [Ints8<false>; 2] {
        // SAFETY: the caller's promise. What was unpacked has no bits above.
        unsafe {
            let [a, b] = codes::<BITS>(src);
            each!([a, b], |x| Ints8(vandq_u8(x, vdupq_n_u8(MASK))))
        }
    }
}
