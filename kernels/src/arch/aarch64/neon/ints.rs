//! Integers of 8, 16, 32 and 64 bits in registers: how they are widened, narrowed and brought into range.

use super::*;

/// A unit of 16 integers, with a sign or without.
#[derive(Clone, Copy)]
pub(super) struct Ints8<const SIGNED: bool>(pub(super) Bytes);
#[derive(Clone, Copy)]
pub(super) struct Ints16<const SIGNED: bool>(pub(super) Halves);
#[derive(Clone, Copy)]
pub(super) struct Ints32<const SIGNED: bool>(pub(super) Words);
#[derive(Clone, Copy)]
pub(super) struct Ints64<const SIGNED: bool>(pub(super) Doubles);

// The functions below are as safe as the methods of `Lanes`.

#[inline(always)]
pub(super) unsafe fn widen_8<const SIGNED: bool>(x: Bytes) -> Halves {
    // SAFETY: the CPU has the tier.
    unsafe {
        if SIGNED {
            let x = vreinterpretq_s8_u8(x);
            each!([vmovl_s8(vget_low_s8(x)), vmovl_high_s8(x)], |x| vreinterpretq_u16_s16(x))
        } else {
            [vmovl_u8(vget_low_u8(x)), vmovl_high_u8(x)]
        }
    }
}

#[inline(always)]
unsafe fn widen_16<const SIGNED: bool>(x: Halves) -> Words {
    // SAFETY: the CPU has the tier.
    unsafe {
        let [[a, b], [c, d]] = each!([x[0], x[1]], |x| {
            if SIGNED {
                let x = vreinterpretq_s16_u16(x);
                each!([vmovl_s16(vget_low_s16(x)), vmovl_high_s16(x)], |x| vreinterpretq_u32_s32(x))
            } else {
                [vmovl_u16(vget_low_u16(x)), vmovl_high_u16(x)]
            }
        });
        [a, b, c, d]
    }
}

#[inline(always)]
pub(super) unsafe fn widen_32<const SIGNED: bool>(x: Words) -> Doubles {
    // SAFETY: the CPU has the tier.
    unsafe {
        let [[a, b], [c, d], [e, f], [g, h]] = each!(x, |x| {
            if SIGNED {
                let x = vreinterpretq_s32_u32(x);
                each!([vmovl_s32(vget_low_s32(x)), vmovl_high_s32(x)], |x| vreinterpretq_u64_s64(x))
            } else {
                [vmovl_u32(vget_low_u32(x)), vmovl_high_u32(x)]
            }
        });
        [a, b, c, d, e, f, g, h]
    }
}

/// Where the integers of `from` bytes in a register go: to byte `at` of lanes of `size` bytes, register by register. Other
/// bytes become zero.
const fn spread<const N: usize>(from: usize, size: usize, at: usize) -> [[u8; 16]; N] {
    let mut index = [[0xFF; 16]; N];
    let mut i = 0;
    while i < 16 {
        let lane = i / from * size;
        index[lane / 16][lane % 16 + at + i % from] = i as u8;
        i += 1;
    }
    index
}

/// Bytes in byte `AT` of 32-bit lanes.
#[inline(always)]
pub(super) unsafe fn in_words<const AT: usize>(x: Bytes) -> Words {
    let index: &'static [[u8; 16]; 4] = const { &spread::<4>(1, 4, AT) };
    // SAFETY: the CPU has the tier; the indices are registers.
    unsafe { each!([0, 1, 2, 3], |k| vreinterpretq_u32_u8(vqtbl1q_u8(x, vld1q_u8(index[k].as_ptr())))) }
}

/// Bytes in byte `AT` of 64-bit lanes.
#[inline(always)]
pub(super) unsafe fn in_doubles<const AT: usize>(x: Bytes) -> Doubles {
    let index: &'static [[u8; 16]; 8] = const { &spread::<8>(1, 8, AT) };
    // SAFETY: as above.
    unsafe {
        eight!([0, 1, 2, 3, 4, 5, 6, 7], |k| vreinterpretq_u64_u8(vqtbl1q_u8(x, vld1q_u8(index[k].as_ptr()))))
    }
}

/// 16 bits in those from byte `AT` on of 64-bit lanes.
#[inline(always)]
unsafe fn halves_in_doubles<const AT: usize>(x: Halves) -> Doubles {
    let index: &'static [[u8; 16]; 4] = const { &spread::<4>(2, 8, AT) };
    // SAFETY: as above.
    unsafe {
        let [low, high] = each!([x[0], x[1]], |x| vreinterpretq_u8_u16(x));
        let places = each!([0, 1, 2, 3], |k| vld1q_u8(index[k].as_ptr()));
        let [a, b, c, d] = each!(places, |place| vreinterpretq_u64_u8(vqtbl1q_u8(low, place)));
        let [e, f, g, h] = each!(places, |place| vreinterpretq_u64_u8(vqtbl1q_u8(high, place)));
        [a, b, c, d, e, f, g, h]
    }
}

/// The nearest integers `TO` a type of the same width, with a sign or without, from the other one.
macro_rules! fit {
    ($name:ident, $x:ty, $signed:ident, $unsigned:ident, $to_signed:ident, $zero:expr, $max:expr, $min:ident, $max_of:ident) => {
        #[inline(always)]
        unsafe fn $name<const FROM: bool, const TO: bool>(x: $x) -> $x {
            // SAFETY: the CPU has the tier.
            unsafe {
                match (FROM, TO) {
                    (true, false) => $unsigned($max_of($to_signed(x), $zero)),
                    (false, true) => $min(x, $max),
                    _ => x,
                }
            }
        }
    };
}
fit!(
    fit_8,
    uint8x16_t,
    vreinterpretq_s8_u8,
    vreinterpretq_u8_s8,
    vreinterpretq_s8_u8,
    vdupq_n_s8(0),
    vdupq_n_u8(0x7F),
    vminq_u8,
    vmaxq_s8
);
fit!(
    fit_16,
    uint16x8_t,
    vreinterpretq_s16_u16,
    vreinterpretq_u16_s16,
    vreinterpretq_s16_u16,
    vdupq_n_s16(0),
    vdupq_n_u16(0x7FFF),
    vminq_u16,
    vmaxq_s16
);
fit!(
    fit_32,
    uint32x4_t,
    vreinterpretq_s32_u32,
    vreinterpretq_u32_s32,
    vreinterpretq_s32_u32,
    vdupq_n_s32(0),
    vdupq_n_u32(0x7FFF_FFFF),
    vminq_u32,
    vmaxq_s32
);

/// The same for 64 bits, of which there is no minimum.
#[inline(always)]
unsafe fn fit_64<const FROM: bool, const TO: bool>(x: uint64x2_t) -> uint64x2_t {
    // SAFETY: the CPU has the tier.
    unsafe {
        match (FROM, TO) {
            (true, false) => vbicq_u64(x, vcltzq_s64(vreinterpretq_s64_u64(x))),
            // All ones where the top bit is set, and back.
            (false, true) => vshrq_n_u64::<1>(vqshlq_n_u64::<1>(x)),
            _ => x,
        }
    }
}

/// Two registers narrowed into one: the low halves of their lanes, or the nearest.
macro_rules! narrow {
    ($name:ident, $x:ty, $to:ty, $fit:ident, $low:ident, $view:ident, $signed:ident, $unsigned:ident,
        $s:ident, $s_high:ident, $su:ident, $su_high:ident, $u:ident, $u_high:ident) => {
        #[inline(always)]
        unsafe fn $name<const SATURATE: bool, const FROM: bool, const TO: bool>(a: $x, b: $x) -> $to {
            // SAFETY: the CPU has the tier.
            unsafe {
                match (SATURATE, FROM, TO) {
                    (false, ..) => $low($view(a), $view(b)),
                    (true, true, true) => $unsigned($s_high($s($signed(a)), $signed(b))),
                    (true, true, false) => $su_high($su($signed(a)), $signed(b)),
                    (true, false, _) => $fit::<false, TO>($u_high($u(a), b)),
                }
            }
        }
    };
}
narrow!(
    narrow_16,
    uint16x8_t,
    uint8x16_t,
    fit_8,
    vuzp1q_u8,
    vreinterpretq_u8_u16,
    vreinterpretq_s16_u16,
    vreinterpretq_u8_s8,
    vqmovn_s16,
    vqmovn_high_s16,
    vqmovun_s16,
    vqmovun_high_s16,
    vqmovn_u16,
    vqmovn_high_u16
);
narrow!(
    narrow_32,
    uint32x4_t,
    uint16x8_t,
    fit_16,
    vuzp1q_u16,
    vreinterpretq_u16_u32,
    vreinterpretq_s32_u32,
    vreinterpretq_u16_s16,
    vqmovn_s32,
    vqmovn_high_s32,
    vqmovun_s32,
    vqmovun_high_s32,
    vqmovn_u32,
    vqmovn_high_u32
);
narrow!(
    narrow_64,
    uint64x2_t,
    uint32x4_t,
    fit_32,
    vuzp1q_u32,
    vreinterpretq_u32_u64,
    vreinterpretq_s64_u64,
    vreinterpretq_u32_s32,
    vqmovn_s64,
    vqmovn_high_s64,
    vqmovun_s64,
    vqmovun_high_s64,
    vqmovn_u64,
    vqmovn_high_u64
);

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
            if SIGNED && !(SATURATE && !TO) {
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
            if SIGNED && !(SATURATE && !TO) {
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
            if SIGNED && !(SATURATE && !TO) {
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
        unsafe {
            each!(self.0, |x| {
                let float = if SIGNED { vcvtq_f32_s32(vreinterpretq_s32_u32(x)) } else { vcvtq_f32_u32(x) };
                vreinterpretq_u32_f32(float)
            })
        }
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
    unsafe {
        let float = if SIGNED { vcvtq_f64_s64(vreinterpretq_s64_u64(x)) } else { vcvtq_f64_u64(x) };
        vreinterpretq_u64_f64(float)
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
}
