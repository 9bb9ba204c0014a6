//! Floats in registers of 32-bit or 64-bit lanes.
//!
//! Conversions to integers saturate, and NaN becomes 0: what the specification wants of a cast that saturates.

use super::*;

/// A unit of 16 float32.
#[derive(Clone, Copy)]
pub(super) struct Singles<const RANGE: u8>(pub(super) Words);

/// They may be anything.
pub(super) const ANY: u8 = 0;
/// They are in the range of int32, infinite or NaN.
pub(super) const SHORT_OR_INFINITE: u8 = 1;
/// Truncated to wrap, they are in the range of int32.
pub(super) const SHORT: u8 = 2;

/// A unit of 16 float64.
#[derive(Clone, Copy)]
pub(super) struct Doubles64(pub(super) Doubles);

#[inline(always)]
pub(super) unsafe fn single(x: uint32x4_t) -> float32x4_t {
    // SAFETY: the CPU has the tier.
    unsafe { vreinterpretq_f32_u32(x) }
}

#[inline(always)]
pub(super) unsafe fn double(x: uint64x2_t) -> float64x2_t {
    // SAFETY: the CPU has the tier.
    unsafe { vreinterpretq_f64_u64(x) }
}

/// The nearest int32 (or uint32).
#[inline(always)]
unsafe fn int32<const SIGNED: bool>(x: uint32x4_t) -> uint32x4_t {
    // SAFETY: the CPU has the tier.
    unsafe { if SIGNED { vreinterpretq_u32_s32(vcvtq_s32_f32(single(x))) } else { vcvtq_u32_f32(single(x)) } }
}

/// The nearest int64 (or uint64).
#[inline(always)]
unsafe fn int64<const SIGNED: bool>(x: uint64x2_t) -> uint64x2_t {
    // SAFETY: the CPU has the tier.
    unsafe { if SIGNED { vreinterpretq_u64_s64(vcvtq_s64_f64(double(x))) } else { vcvtq_u64_f64(double(x)) } }
}

/// The integer, and 0 for what is beyond the range: that is a multiple of 2^8, or infinite.
#[inline(always)]
unsafe fn int32_or_0(x: uint32x4_t) -> uint32x4_t {
    // SAFETY: the CPU has the tier.
    unsafe {
        let beyond = vcageq_f32(single(x), vdupq_n_f32(2_147_483_648.0));
        vbicq_u32(int32::<true>(x), beyond)
    }
}

/// The same: beyond the range are multiples of 2^11.
#[inline(always)]
unsafe fn int64_or_0(x: uint64x2_t) -> uint64x2_t {
    // SAFETY: the CPU has the tier.
    unsafe {
        let beyond = vcageq_f64(double(x), vdupq_n_f64(9_223_372_036_854_775_808.0));
        vbicq_u64(int64::<true>(x), beyond)
    }
}

/// The low bits of truncated numbers: the remainder of the magnitude (exact, as the multiple of the divisor is taken away by a
/// fused multiply-add), with the sign. Infinity becomes NaN and that 0.
#[inline(always)]
unsafe fn low_32(x: uint32x4_t) -> uint32x4_t {
    const RANGE: f32 = (1_u64 << 32) as f32;
    // SAFETY: the CPU has the tier.
    unsafe {
        let magnitude = vabsq_f32(single(x));
        let multiple = vrndq_f32(vmulq_f32(magnitude, vdupq_n_f32(1.0 / RANGE)));
        let rest = vcvtq_u32_f32(vfmsq_f32(magnitude, multiple, vdupq_n_f32(RANGE)));
        let sign = vreinterpretq_u32_s32(vshrq_n_s32::<31>(vreinterpretq_s32_u32(x)));
        vsubq_u32(veorq_u32(rest, sign), sign)
    }
}

/// The same of 64 bits.
#[inline(always)]
unsafe fn low_64(x: uint64x2_t) -> uint64x2_t {
    const RANGE: f64 = (1_u128 << 64) as f64;
    // SAFETY: the CPU has the tier.
    unsafe {
        let magnitude = vabsq_f64(double(x));
        let multiple = vrndq_f64(vmulq_f64(magnitude, vdupq_n_f64(1.0 / RANGE)));
        let rest = vcvtq_u64_f64(vfmsq_f64(magnitude, multiple, vdupq_n_f64(RANGE)));
        let sign = vreinterpretq_u64_s64(vshrq_n_s64::<63>(vreinterpretq_s64_u64(x)));
        vsubq_u64(veorq_u64(rest, sign), sign)
    }
}

impl<const RANGE: u8> Lanes for Singles<RANGE> {
    #[inline(always)]
    unsafe fn int8<const SATURATE: bool, const TO: bool>(self) -> Bytes {
        // SAFETY: the caller's promise.
        unsafe {
            if SATURATE {
                self.nearest::<TO>().int8::<true, TO>()
            } else if RANGE == SHORT {
                simd::low_bytes(each!(self.0, |x| int32::<true>(x)))
            } else {
                simd::low_bytes(each!(self.0, |x| int32_or_0(x)))
            }
        }
    }
    #[inline(always)]
    unsafe fn int16<const SATURATE: bool, const TO: bool>(self) -> Halves {
        // SAFETY: the caller's promise.
        unsafe {
            if SATURATE {
                self.nearest::<TO>().int16::<true, TO>()
            } else {
                Ints32::<true>(self.int32::<false, TO>()).int16::<false, TO>()
            }
        }
    }
    #[inline(always)]
    unsafe fn int32<const SATURATE: bool, const TO: bool>(self) -> Words {
        // SAFETY: the caller's promise.
        unsafe {
            if SATURATE {
                self.nearest::<TO>().0
            } else {
                match RANGE {
                    SHORT => each!(self.0, |x| int32::<true>(x)),
                    SHORT_OR_INFINITE => each!(self.0, |x| int32_or_0(x)),
                    _ => each!(self.0, |x| low_32(x)),
                }
            }
        }
    }
    #[inline(always)]
    unsafe fn int64<const SATURATE: bool, const TO: bool>(self) -> Doubles {
        // SAFETY: the caller's promise.
        unsafe {
            if RANGE != ANY && !SATURATE {
                Ints32::<true>(self.int32::<false, true>()).int64::<false, TO>()
            } else {
                Doubles64(self.f64()).int64::<SATURATE, TO>()
            }
        }
    }
    #[inline(always)]
    unsafe fn f32(self) -> Words {
        self.0
    }
    #[inline(always)]
    unsafe fn f32_odd<const ODD: bool>(self) -> Words {
        self.0
    }
    #[inline(always)]
    unsafe fn f64(self) -> Doubles {
        // SAFETY: the caller's promise.
        unsafe {
            let [[a, b], [c, d], [e, f], [g, h]] = each!(self.0, |x| {
                let x = single(x);
                each!([vcvt_f64_f32(vget_low_f32(x)), vcvt_high_f64_f32(x)], |x| vreinterpretq_u64_f64(x))
            });
            [a, b, c, d, e, f, g, h]
        }
    }
    #[inline(always)]
    unsafe fn truth(self) -> Bytes {
        // SAFETY: the caller's promise. Every bit but the sign counts.
        unsafe { truths(simd::low_bytes(each!(self.0, |x| vtstq_u32(x, vdupq_n_u32(0x7FFF_FFFF))))) }
    }
}

impl<const RANGE: u8> Singles<RANGE> {
    /// The nearest integers of 32 bits.
    #[inline(always)]
    unsafe fn nearest<const TO: bool>(self) -> Ints32<TO> {
        // SAFETY: as of the methods of `Lanes`.
        Ints32(unsafe { each!(self.0, |x| int32::<TO>(x)) })
    }
}

impl Lanes for Doubles64 {
    #[inline(always)]
    unsafe fn int8<const SATURATE: bool, const TO: bool>(self) -> Bytes {
        // SAFETY: the caller's promise.
        unsafe {
            if SATURATE {
                Ints64::<TO>(self.int64::<true, TO>()).int8::<true, TO>()
            } else {
                Ints64::<TO>(eight!(self.0, |x| int64_or_0(x))).narrow::<false, TO>().int8::<false, TO>()
            }
        }
    }
    #[inline(always)]
    unsafe fn int16<const SATURATE: bool, const TO: bool>(self) -> Halves {
        // SAFETY: the caller's promise.
        unsafe { Ints64::<TO>(self.int64::<SATURATE, TO>()).narrow::<SATURATE, TO>().int16::<SATURATE, TO>() }
    }
    #[inline(always)]
    unsafe fn int32<const SATURATE: bool, const TO: bool>(self) -> Words {
        // SAFETY: the caller's promise.
        unsafe { Ints64::<TO>(self.int64::<SATURATE, TO>()).int32::<SATURATE, TO>() }
    }
    #[inline(always)]
    unsafe fn int64<const SATURATE: bool, const TO: bool>(self) -> Doubles {
        // SAFETY: the caller's promise.
        unsafe { if SATURATE { eight!(self.0, |x| int64::<TO>(x)) } else { eight!(self.0, |x| low_64(x)) } }
    }
    #[inline(always)]
    unsafe fn f32(self) -> Words {
        // SAFETY: the caller's promise.
        unsafe {
            let x = self.0;
            each!([0, 2, 4, 6], |k| env::f32_of_f64_env(x[k], x[k + 1]))
        }
    }
    #[inline(always)]
    unsafe fn f32_odd<const ODD: bool>(self) -> Words {
        // SAFETY: the caller's promise.
        unsafe {
            let x = self.0;
            each!([0, 2, 4, 6], |k| {
                vreinterpretq_u32_f32(vcvtx_high_f32_f64(vcvtx_f32_f64(double(x[k])), double(x[k + 1])))
            })
        }
    }
    #[inline(always)]
    unsafe fn f32_odd_or_infinite(self) -> Words {
        const RANGE: f64 = (1_u128 << 127) as f64 * 2.0;
        // SAFETY: the caller's promise.
        unsafe {
            let odd = self.f32_odd::<true>();
            let beyond = eight!(self.0, |x| vcageq_f64(double(x), vdupq_n_f64(RANGE)));
            each!([0, 1, 2, 3], |k| {
                let [a, b] = each!([2 * k, 2 * k + 1], |k| vreinterpretq_u32_u64(beyond[k]));
                // But for the sign.
                let beyond = vandq_u32(vuzp1q_u32(a, b), vdupq_n_u32(0x7FFF_FFFF));
                vbslq_u32(beyond, vdupq_n_u32(0x7F80_0000), odd[k])
            })
        }
    }
    #[inline(always)]
    unsafe fn f64(self) -> Doubles {
        self.0
    }
    #[inline(always)]
    unsafe fn f64_odd(self) -> Doubles {
        self.0
    }
    #[inline(always)]
    unsafe fn truth(self) -> Bytes {
        // SAFETY: the caller's promise. Every bit but the sign counts.
        unsafe {
            let nonzero = eight!(self.0, |x| vtstq_u64(x, vdupq_n_u64(u64::MAX >> 1)));
            truths(Ints64::<false>(nonzero).int8::<false, false>())
        }
    }
}
