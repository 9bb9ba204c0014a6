//! A block of float32 as elements of any covered target.

use super::Simd;
use crate::{
    dtype::{DType, Flavor, FloatSpec, Spec},
    format::{Encoder, Format},
};

/// # Safety
///
/// As of the methods of [`Simd`].
#[inline(always)]
pub(super) unsafe fn store<M: Simd, D: Format, const SATURATE: bool, const PART: bool>(
    p: *mut u8,
    x: [M::V; 4],
    n: usize,
) {
    // SAFETY: as the caller's.
    unsafe {
        match D::DTYPE {
            DType::Float32 => M::store_32::<PART>(p, x, n),
            DType::Float16 => M::store_f16::<PART>(p, x, n),
            DType::BFloat16 => M::store_16::<PART>(p, M::to_bf16(x), n),
            _ => M::store_8::<PART>(p, byte::<M, D, SATURATE>(x), n),
        }
    }
}

/// # Safety
///
/// As of the methods of [`Simd`].
#[inline(always)]
unsafe fn byte<M: Simd, D: Format, const SATURATE: bool>(x: [M::V; 4]) -> M::V {
    // SAFETY: as the caller's.
    unsafe {
        match const { D::DTYPE.spec() } {
            Spec::Bool => M::in_order(M::pack_low([
                nonzero::<M>(x[0]),
                nonzero::<M>(x[1]),
                nonzero::<M>(x[2]),
                nonzero::<M>(x[3]),
            ])),
            Spec::Int { bits, signed } => {
                let int = |x| int::<M, SATURATE>(x, bits, signed);
                let codes = M::in_order(M::pack_low([int(x[0]), int(x[1]), int(x[2]), int(x[3])]));
                if bits == 8 { codes } else { M::and(codes, M::splat(0x0101_0101 * ((1 << bits) - 1))) }
            }
            Spec::Float(FloatSpec { flavor: Flavor::Exponent, .. }) => {
                let code = |x| exponent::<M, SATURATE>(x);
                M::in_order(M::pack_low([code(x[0]), code(x[1]), code(x[2]), code(x[3])]))
            }
            Spec::Float(f) => {
                // Evaluated for the other targets too, for which it means nothing.
                let encoder = const {
                    match D::DTYPE.spec() {
                        Spec::Float(f) if f.exponent_bits <= 5 => Encoder::new(f, SATURATE),
                        _ => Encoder::NONE,
                    }
                };
                small_float::<M>(x, f, encoder)
            }
            Spec::Complex(_) => unreachable!("`covers` lists the targets"),
        }
    }
}

/// Not zero, whatever the sign: NaN and subnormals too, so it looks at the bits.
#[inline(always)]
unsafe fn nonzero<M: Simd>(x: M::V) -> M::V {
    // SAFETY: as the caller's.
    unsafe { M::min_u(M::shl::<1>(x), M::splat(1)) }
}

/// An integer of up to 8 bits in the low byte.
#[inline(always)]
unsafe fn int<M: Simd, const SATURATE: bool>(x: M::V, bits: u32, signed: bool) -> M::V {
    // SAFETY: as the caller's.
    unsafe {
        if !SATURATE {
            // Beyond the 31 bits that truncation can give, a float32 is a multiple of 2^8.
            return M::truncate(x);
        }
        let splat = |x: i32| M::splat((x as f32).to_bits());
        let (low, high) =
            if signed { (-1 << (bits - 1), (1 << (bits - 1)) - 1) } else { (0, (1 << bits) - 1) };
        let value = M::truncate(M::min_f(M::max_f(x, splat(low)), splat(high)));
        // NaN went to the low end.
        if signed { M::select_nan(x, M::splat(0), value) } else { value }
    }
}

/// The `float8_e8m0fnu` code in the low byte: `docs/semantics.md`, section 6.5.
#[inline(always)]
unsafe fn exponent<M: Simd, const SATURATE: bool>(x: M::V) -> M::V {
    const MIN: u32 = 0x0040_0000;
    const MAX: u32 = 0x7F00_0000;
    // SAFETY: as the caller's.
    unsafe {
        let (min, max, one, nan) = (M::splat(MIN), M::splat(MAX), M::splat(1), M::splat(0xFF));
        // Rounded up to a power of two. The smallest code's value has the exponent field of the next one.
        let up = |x| {
            let field = M::shr::<23>(M::add(x, M::splat(0x7F_FFFF)));
            M::add(M::sub(field, one), M::min_u(M::sub(x, min), one))
        };
        if SATURATE {
            M::select_nan(x, nan, up(M::min_i(M::max_i(x, min), max)))
        } else {
            let above_min = M::sub(x, min);
            M::select_eq(M::min_u(above_min, M::splat(MAX - MIN)), above_min, up(x), nan)
        }
    }
}

/// The codes of a float of 4, 6 or 8 bits, by the one float addition of `format::minifloat`.
#[inline(always)]
unsafe fn small_float<M: Simd>(x: [M::V; 4], f: FloatSpec, encoder: Encoder) -> M::V {
    // SAFETY: as the caller's.
    unsafe {
        let x = match f.flavor {
            Flavor::Finite => {
                // NaN is a zero of the opposite sign.
                let zero = |x| M::select_nan(x, M::and(M::xor(x, M::splat(1 << 31)), M::splat(1 << 31)), x);
                [zero(x[0]), zero(x[1]), zero(x[2]), zero(x[3])]
            }
            _ => x,
        };
        let count = |x| {
            let absolute = M::and(x, M::splat(0x7FFF_FFFF));
            let limited = if encoder.limit >= encoder.nan && f.nan().is_some() {
                // Everything beyond the range becomes NaN.
                M::min_u(absolute, M::splat(encoder.nan))
            } else if f.nan().is_some() {
                // A float minimum lets NaN pass, which an integer minimum then finds above everything.
                M::min_u(M::min_f(M::splat(encoder.limit), absolute), M::splat(encoder.nan))
            } else {
                M::min_u(absolute, M::splat(encoder.limit))
            };
            let field = M::max_u(M::and(limited, M::splat(0x7F80_0000)), M::splat(encoder.min_field << 23));
            let unit = M::add(field, M::splat(encoder.shift << 23));
            let sum = M::add_f(limited, unit);
            // `shift` is a constant of the format: this is one shift by an immediate.
            let excess = match encoder.shift {
                19 => M::shr::<19>(unit),
                20 => M::shr::<20>(unit),
                21 => M::shr::<21>(unit),
                22 => M::shr::<22>(unit),
                _ => unreachable!("mantissas of small floats have one to four bits"),
            };
            M::add(sum, excess)
        };
        let bytes = |byte: u32| M::splat(0x0101_0101 * byte);
        let codes = M::pack_low([count(x[0]), count(x[1]), count(x[2]), count(x[3])]);
        let codes = M::sub_bytes(codes, bytes(encoder.excess & 0xFF));
        let sign = M::and(M::pack_sign(x), bytes(0x80));
        // The top bit of every byte, moved down inside it.
        let sign = match f.bits() {
            4 => M::shr::<4>(sign),
            6 => M::shr::<2>(sign),
            _ => sign,
        };
        M::in_order(match f.flavor {
            Flavor::Fnuz => M::sign_nonzero(codes, sign),
            _ => M::or(codes, sign),
        })
    }
}

/// bfloat16, nearest even, with the canonical NaN.
///
/// # Safety
///
/// As of the methods of [`Simd`].
#[inline(always)]
pub(crate) unsafe fn bf16<M: Simd>(x: [M::V; 4]) -> [M::V; 2] {
    // SAFETY: as the caller's.
    unsafe {
        // Just under half a unit, and the last kept bit: a carry exactly when nearest-even goes up.
        let round = |x| {
            let last = M::and(M::shr::<16>(x), M::splat(1));
            M::add(M::add(x, M::splat(0x7FFF)), last)
        };
        let mut r = [round(x[0]), round(x[1]), round(x[2]), round(x[3])];
        if M::any_nan(x) {
            // Rare: one question per block is cheaper than a selection per register.
            let fix = |x, r| {
                let nan = M::or(M::and(x, M::splat(1 << 31)), M::splat(0x7FC0_0000));
                M::select_nan(x, nan, r)
            };
            r = [fix(x[0], r[0]), fix(x[1], r[1]), fix(x[2], r[2]), fix(x[3], r[3])];
        }
        [M::pack_high_halves(r[0], r[1]), M::pack_high_halves(r[2], r[3])]
    }
}
