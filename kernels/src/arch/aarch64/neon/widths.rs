//! From one width of integers to another: widened, narrowed, brought into range.

use super::*;

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
pub(super) unsafe fn widen_16<const SIGNED: bool>(x: Halves) -> Words {
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
pub(super) unsafe fn halves_in_doubles<const AT: usize>(x: Halves) -> Doubles {
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
        pub(super) unsafe fn $name<const FROM: bool, const TO: bool>(x: $x) -> $x {
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
pub(super) unsafe fn fit_64<const FROM: bool, const TO: bool>(x: uint64x2_t) -> uint64x2_t {
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
        pub(super) unsafe fn $name<const SATURATE: bool, const FROM: bool, const TO: bool>(
            a: $x,
            b: $x,
        ) -> $to {
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
