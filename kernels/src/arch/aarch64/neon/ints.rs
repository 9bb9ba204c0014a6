//! Integers of 8, 16, 32 and 64 bits in registers.

use super::{widths::*, *};

/// A unit of 16 integers, with a sign or without.
#[derive(Clone, Copy)]
pub(super) struct Ints8<const SIGNED: bool>(pub(super) Bytes);
#[derive(Clone, Copy)]
pub(super) struct Ints16<const SIGNED: bool>(pub(super) Halves);
#[derive(Clone, Copy)]
pub(super) struct Ints32<const SIGNED: bool>(pub(super) Words);
#[derive(Clone, Copy)]
pub(super) struct Ints64<const SIGNED: bool>(pub(super) Doubles);

/// An integer of more bits than the target goes through the widths between them, with its own sign.
impl<const SIGNED: bool> Lanes for Ints8<SIGNED> {
    const INTEGERS: bool = true;
    const UNSIGNED: bool = !SIGNED;
    #[inline(always)]
    unsafe fn int8<const SATURATE: bool, const TO: bool>(self) -> Bytes {
        // SAFETY: the caller's promise.
        unsafe { if SATURATE { fit_8::<SIGNED, TO>(self.0) } else { self.0 } }
    }
    #[inline(always)]
    unsafe fn int16<const SATURATE: bool, const TO: bool>(self) -> Halves {
        // SAFETY: the caller's promise. What is negative is soon made zero.
        unsafe {
            if SATURATE && SIGNED && !TO {
                widen_8::<false>(self.int8::<true, false>())
            } else {
                widen_8::<SIGNED>(self.0)
            }
        }
    }
    #[inline(always)]
    unsafe fn int32<const SATURATE: bool, const TO: bool>(self) -> Words {
        // SAFETY: the caller's promise. Without a sign, one look-up is quicker than two steps.
        unsafe {
            if SIGNED && (TO || !SATURATE) {
                widen_16::<true>(widen_8::<true>(self.0))
            } else {
                in_words::<0>(self.int8::<SATURATE, false>())
            }
        }
    }
    #[inline(always)]
    unsafe fn int64<const SATURATE: bool, const TO: bool>(self) -> Doubles {
        // SAFETY: the caller's promise.
        unsafe {
            if SIGNED && (TO || !SATURATE) {
                widen_32::<true>(widen_16::<true>(widen_8::<true>(self.0)))
            } else {
                in_doubles::<0>(self.int8::<SATURATE, false>())
            }
        }
    }
    /// By way of fractions: the byte at the top of the lane, behind which the point is.
    #[inline(always)]
    unsafe fn f32(self) -> Words {
        // SAFETY: the caller's promise.
        unsafe {
            each!(in_words::<3>(self.0), |x| {
                vreinterpretq_u32_f32(if SIGNED {
                    vcvtq_n_f32_s32::<24>(vreinterpretq_s32_u32(x))
                } else {
                    vcvtq_n_f32_u32::<24>(x)
                })
            })
        }
    }
    #[inline(always)]
    unsafe fn f32_odd<const ODD: bool>(self) -> Words {
        // SAFETY: the caller's promise.
        unsafe { self.f32() }
    }
    #[inline(always)]
    unsafe fn f64(self) -> Doubles {
        // SAFETY: the caller's promise.
        unsafe {
            eight!(in_doubles::<7>(self.0), |x| {
                vreinterpretq_u64_f64(if SIGNED {
                    vcvtq_n_f64_s64::<56>(vreinterpretq_s64_u64(x))
                } else {
                    vcvtq_n_f64_u64::<56>(x)
                })
            })
        }
    }
    #[inline(always)]
    unsafe fn f16<const FINE: u8>(self) -> Halves {
        // SAFETY: the caller's promise.
        unsafe { self.widen().f16::<FINE>() }
    }
    #[inline(always)]
    unsafe fn bf16<const FINE: u8>(self) -> Halves {
        // SAFETY: the caller's promise. Eight bits are all that bfloat16 has.
        unsafe { simd::high_halves(self.f32()) }
    }
}

impl<const SIGNED: bool> Ints8<SIGNED> {
    #[inline(always)]
    unsafe fn widen(self) -> Ints16<SIGNED> {
        // SAFETY: as of the methods of `Lanes`.
        Ints16(unsafe { widen_8::<SIGNED>(self.0) })
    }
}

impl<const SIGNED: bool> Lanes for Ints16<SIGNED> {
    const INTEGERS: bool = true;
    const UNSIGNED: bool = !SIGNED;
    #[inline(always)]
    unsafe fn int8<const SATURATE: bool, const TO: bool>(self) -> Bytes {
        // SAFETY: the caller's promise.
        unsafe { narrow_16::<SATURATE, SIGNED, TO>(self.0[0], self.0[1]) }
    }
    #[inline(always)]
    unsafe fn int16<const SATURATE: bool, const TO: bool>(self) -> Halves {
        // SAFETY: the caller's promise.
        unsafe { if SATURATE { each!([self.0[0], self.0[1]], |x| fit_16::<SIGNED, TO>(x)) } else { self.0 } }
    }
    #[inline(always)]
    unsafe fn int32<const SATURATE: bool, const TO: bool>(self) -> Words {
        // SAFETY: the caller's promise. What is negative is soon made zero.
        unsafe {
            if SATURATE && SIGNED && !TO {
                widen_16::<false>(self.int16::<true, false>())
            } else {
                widen_16::<SIGNED>(self.0)
            }
        }
    }
    #[inline(always)]
    unsafe fn int64<const SATURATE: bool, const TO: bool>(self) -> Doubles {
        // SAFETY: the caller's promise.
        unsafe {
            if SIGNED && (TO || !SATURATE) {
                widen_32::<true>(widen_16::<true>(self.0))
            } else {
                halves_in_doubles::<0>(self.int16::<SATURATE, false>())
            }
        }
    }
    #[inline(always)]
    unsafe fn f32(self) -> Words {
        // SAFETY: the caller's promise.
        unsafe { self.widen().f32() }
    }
    #[inline(always)]
    unsafe fn f32_odd<const ODD: bool>(self) -> Words {
        // SAFETY: the caller's promise.
        unsafe { self.f32() }
    }
    #[inline(always)]
    unsafe fn f64(self) -> Doubles {
        // SAFETY: the caller's promise.
        unsafe {
            eight!(halves_in_doubles::<6>(self.0), |x| {
                vreinterpretq_u64_f64(if SIGNED {
                    vcvtq_n_f64_s64::<48>(vreinterpretq_s64_u64(x))
                } else {
                    vcvtq_n_f64_u64::<48>(x)
                })
            })
        }
    }
    #[inline(always)]
    unsafe fn f16<const FINE: u8>(self) -> Halves {
        // SAFETY: the caller's promise.
        unsafe {
            if FINE & fine::FP16 != 0 {
                halves::of_integers::<SIGNED>(self.0)
            } else {
                targets::f16_of_singles(self.f32())
            }
        }
    }
    #[inline(always)]
    unsafe fn truth(self) -> Bytes {
        // SAFETY: the caller's promise.
        unsafe {
            let [a, b] = each!([self.0[0], self.0[1]], |x| vtstq_u16(x, x));
            truths(narrow_16::<false, false, false>(a, b))
        }
    }
}

impl<const SIGNED: bool> Ints16<SIGNED> {
    #[inline(always)]
    unsafe fn widen(self) -> Ints32<SIGNED> {
        // SAFETY: as of the methods of `Lanes`.
        Ints32(unsafe { widen_16::<SIGNED>(self.0) })
    }
}

impl<const SIGNED: bool> Lanes for Ints32<SIGNED> {
    const INTEGERS: bool = true;
    const UNSIGNED: bool = !SIGNED;
    #[inline(always)]
    unsafe fn int8<const SATURATE: bool, const TO: bool>(self) -> Bytes {
        // SAFETY: the caller's promise.
        unsafe {
            if !SATURATE {
                simd::low_bytes(self.0)
            } else if SIGNED {
                self.narrow::<true, true>().int8::<true, TO>()
            } else {
                let max = vdupq_n_u32(if TO { 0x7F } else { 0xFF });
                simd::low_bytes(each!(self.0, |x| vminq_u32(x, max)))
            }
        }
    }
    #[inline(always)]
    unsafe fn int16<const SATURATE: bool, const TO: bool>(self) -> Halves {
        // SAFETY: the caller's promise.
        unsafe { self.narrow::<SATURATE, TO>().0 }
    }
    #[inline(always)]
    unsafe fn int32<const SATURATE: bool, const TO: bool>(self) -> Words {
        // SAFETY: the caller's promise.
        unsafe { if SATURATE { each!(self.0, |x| fit_32::<SIGNED, TO>(x)) } else { self.0 } }
    }
    #[inline(always)]
    unsafe fn int64<const SATURATE: bool, const TO: bool>(self) -> Doubles {
        // SAFETY: the caller's promise.
        unsafe {
            if SATURATE && SIGNED && !TO {
                widen_32::<false>(self.int32::<true, false>())
            } else {
                widen_32::<SIGNED>(self.0)
            }
        }
    }
    #[inline(always)]
    unsafe fn f32(self) -> Words {
        // SAFETY: the caller's promise.
        unsafe { each!(self.0, |x| if SIGNED { env::f32_of_i32_env(x) } else { env::f32_of_u32_env(x) }) }
    }
    #[inline(always)]
    unsafe fn f32_odd<const ODD: bool>(self) -> Words {
        // SAFETY: the caller's promise. If the last bits do not matter, what is rounded here is out of range of the target.
        unsafe { if ODD { Doubles64(self.f64()).f32_odd::<true>() } else { self.f32() } }
    }
    #[inline(always)]
    unsafe fn f64(self) -> Doubles {
        // SAFETY: the caller's promise.
        unsafe { Ints64::<SIGNED>(widen_32::<SIGNED>(self.0)).f64() }
    }
    #[inline(always)]
    unsafe fn f64_odd(self) -> Doubles {
        // SAFETY: the caller's promise.
        unsafe { self.f64() }
    }
    #[inline(always)]
    unsafe fn truth(self) -> Bytes {
        // SAFETY: the caller's promise.
        unsafe { truths(simd::low_bytes(each!(self.0, |x| vtstq_u32(x, x)))) }
    }
}

impl<const SIGNED: bool> Ints32<SIGNED> {
    #[inline(always)]
    unsafe fn narrow<const SATURATE: bool, const TO: bool>(self) -> Ints16<TO> {
        // SAFETY: as of the methods of `Lanes`.
        unsafe {
            let [a, b, c, d] = self.0;
            Ints16([narrow_32::<SATURATE, SIGNED, TO>(a, b), narrow_32::<SATURATE, SIGNED, TO>(c, d)])
        }
    }
}

impl<const SIGNED: bool> Lanes for Ints64<SIGNED> {
    const INTEGERS: bool = true;
    const UNSIGNED: bool = !SIGNED;
    #[inline(always)]
    unsafe fn int8<const SATURATE: bool, const TO: bool>(self) -> Bytes {
        const FIRST: [u8; 16] = simd::every(8, 0);
        const SECOND: [u8; 16] = simd::every(8, 8);
        // SAFETY: the caller's promise; the indices are registers.
        unsafe {
            if SATURATE {
                return self.narrow::<true, SIGNED>().int8::<true, TO>();
            }
            let [low, high] = self.quads();
            vqtbx4q_u8(vqtbl4q_u8(low, vld1q_u8(FIRST.as_ptr())), high, vld1q_u8(SECOND.as_ptr()))
        }
    }
    #[inline(always)]
    unsafe fn int16<const SATURATE: bool, const TO: bool>(self) -> Halves {
        const LOW: [u8; 16] = [0, 1, 8, 9, 16, 17, 24, 25, 32, 33, 40, 41, 48, 49, 56, 57];
        // SAFETY: the caller's promise; the indices are a register.
        unsafe {
            if SATURATE {
                return self.narrow::<true, SIGNED>().int16::<true, TO>();
            }
            let [low, high] = self.quads();
            each!([low, high], |x| vreinterpretq_u16_u8(vqtbl4q_u8(x, vld1q_u8(LOW.as_ptr()))))
        }
    }
    #[inline(always)]
    unsafe fn int32<const SATURATE: bool, const TO: bool>(self) -> Words {
        // SAFETY: the caller's promise.
        unsafe { self.narrow::<SATURATE, TO>().0 }
    }
    #[inline(always)]
    unsafe fn int64<const SATURATE: bool, const TO: bool>(self) -> Doubles {
        // SAFETY: the caller's promise.
        unsafe { if SATURATE { eight!(self.0, |x| fit_64::<SIGNED, TO>(x)) } else { self.0 } }
    }
    #[inline(always)]
    unsafe fn f32(self) -> Words {
        // SAFETY: the caller's promise.
        unsafe { Doubles64(self.f64_odd()).f32() }
    }
    #[inline(always)]
    unsafe fn f32_odd<const ODD: bool>(self) -> Words {
        // SAFETY: the caller's promise.
        unsafe {
            if ODD {
                Doubles64(self.f64_odd()).f32_odd::<true>()
            } else {
                // What has more than 32 bits is out of range of the target, and stays so.
                self.narrow::<true, SIGNED>().f32()
            }
        }
    }
    #[inline(always)]
    unsafe fn f64(self) -> Doubles {
        // SAFETY: the caller's promise.
        unsafe { eight!(self.0, |x| double::<SIGNED>(x)) }
    }
    /// The environment rounds toward zero.
    #[inline(always)]
    unsafe fn f64_rounded<const MODE: u8>(self) -> Doubles {
        // SAFETY: the caller's promise.
        unsafe {
            eight!(self.0, |x| {
                let truncated = double::<SIGNED>(x);
                let float = vreinterpretq_f64_u64(truncated);
                if SIGNED {
                    let back = vreinterpretq_u64_s64(vcvtq_s64_f64(float));
                    after::<MODE>(truncated, vsubq_u64(x, back))
                } else {
                    after::<MODE>(truncated, vsubq_u64(x, vcvtq_u64_f64(float)))
                }
            })
        }
    }
    /// Float64 that every format of up to 51 significant bits rounds as the integer itself.
    #[inline(always)]
    unsafe fn f64_odd(self) -> Doubles {
        const EXACT: f64 = (1_u64 << 53) as f64;
        // SAFETY: the caller's promise.
        unsafe {
            let nearest = self.f64();
            let [a, b, c, d, e, f, g, h] =
                eight!(nearest, |x| vcageq_f64(vreinterpretq_f64_u64(x), vdupq_n_f64(EXACT)));
            let [a, b, c, d] = each!([(a, b), (c, d), (e, f), (g, h)], |(a, b)| vorrq_u64(a, b));
            let long = vorrq_u64(vorrq_u64(a, b), vorrq_u64(c, d));
            if vmaxvq_u32(vreinterpretq_u32_u64(long)) == 0 {
                return nearest;
            }
            // Rare: an integer of more than 53 bits has its lowest 11 gathered into the one above them: float64 holds it.
            eight!(self.0, |x| {
                let low = vdupq_n_u64(0x7FF);
                let gathered = vbicq_u64(vorrq_u64(x, vaddq_u64(vandq_u64(x, low), low)), low);
                let long = vcageq_f64(vreinterpretq_f64_u64(double::<SIGNED>(x)), vdupq_n_f64(EXACT));
                double::<SIGNED>(vbslq_u64(long, gathered, x))
            })
        }
    }
    #[inline(always)]
    unsafe fn truth(self) -> Bytes {
        // SAFETY: the caller's promise.
        unsafe {
            let nonzero = Ints64::<false>(eight!(self.0, |x| vtstq_u64(x, x)));
            truths(nonzero.int8::<false, false>())
        }
    }
}

/// Float64, nearest.
#[inline(always)]
unsafe fn double<const SIGNED: bool>(x: uint64x2_t) -> uint64x2_t {
    // SAFETY: the CPU has the tier.
    unsafe { if SIGNED { env::f64_of_i64_env(x) } else { env::f64_of_u64_env(x) } }
}

/// A truncated float64, rounded by what was dropped, an integer of the same sign. The environment rounds toward zero.
#[inline(always)]
unsafe fn after<const MODE: u8>(truncated: uint64x2_t, dropped: uint64x2_t) -> uint64x2_t {
    // SAFETY: the CPU has the tier.
    unsafe {
        if MODE == small::ODD {
            return vorrq_u64(truncated, vandq_u64(vtstq_u64(dropped, dropped), vdupq_n_u64(1)));
        }
        // Half a unit, twice, is one.
        let dropped = vcvtq_f64_s64(vreinterpretq_s64_u64(dropped));
        env::add_f64_env(truncated, vreinterpretq_u64_f64(vaddq_f64(dropped, dropped)))
    }
}

impl<const SIGNED: bool> Ints64<SIGNED> {
    /// The registers as two tables.
    #[inline(always)]
    unsafe fn quads(self) -> [uint8x16x4_t; 2] {
        // SAFETY: as of the methods of `Lanes`.
        let [a, b, c, d, e, f, g, h] = unsafe { eight!(self.0, |x| vreinterpretq_u8_u64(x)) };
        [uint8x16x4_t(a, b, c, d), uint8x16x4_t(e, f, g, h)]
    }

    #[inline(always)]
    pub(super) unsafe fn narrow<const SATURATE: bool, const TO: bool>(self) -> Ints32<TO> {
        // SAFETY: as of the methods of `Lanes`.
        unsafe {
            let x = self.0;
            Ints32(each!([0, 2, 4, 6], |k| narrow_64::<SATURATE, SIGNED, TO>(x[k], x[k + 1])))
        }
    }
}
