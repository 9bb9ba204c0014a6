//! A block of float32 as elements of any covered target.

use super::{Blocks, Simd};
use crate::{
    dtype::{DType, Flavor, FloatSpec, Spec},
    format::{Encoder, Format},
};

/// `APART` says in which order the registers are, and `sign` are the signs, already packed in that order.
///
/// # Safety
///
/// As of the methods of [`Simd`].
#[inline(always)]
pub(super) unsafe fn store<
    M: Blocks,
    S: Format,
    D: Format,
    const SATURATE: bool,
    const PACKED: bool,
    const PART: bool,
    const APART: bool,
>(
    p: *mut u8,
    x: [M::V; 4],
    sign: Option<M::V>,
    n: usize,
) {
    // SAFETY: as the caller's.
    unsafe {
        match D::DTYPE {
            DType::Float32 => M::store_32::<PART>(p, x, n),
            DType::Float16 => M::store_f16::<PART, APART>(p, x, n),
            DType::BFloat16 => M::store_16::<PART>(p, M::to_bf16::<true>(x), n),
            _ if !PACKED => M::store_8::<PART>(p, byte::<M, S, D, SATURATE, APART>(x, sign), n),
            _ => {
                let codes = byte::<M, S, D, SATURATE, APART>(x, sign);
                match const { D::DTYPE.bits() } {
                    2 => M::store_packed::<2, PART>(p, codes, n),
                    4 => M::store_packed::<4, PART>(p, codes, n),
                    _ => M::store_packed::<6, PART>(p, codes, n),
                }
            }
        }
    }
}

/// # Safety
///
/// As of the methods of [`Simd`].
#[inline(always)]
unsafe fn byte<M: Blocks, S: Format, D: Format, const SATURATE: bool, const APART: bool>(
    x: [M::V; 4],
    sign: Option<M::V>,
) -> M::V {
    // SAFETY: as the caller's.
    unsafe {
        match const { D::DTYPE.spec() } {
            Spec::Bool => M::in_order::<APART>(M::pack_low::<APART>(each!(x, |x| nonzero::<M>(x)))),
            Spec::Int { bits, signed } if SATURATE => int_saturated::<M, APART>(x, bits, signed),
            Spec::Int { bits, .. } => {
                // Beyond the 31 bits that truncation can give, a float32 is a multiple of 2^8.
                let codes = M::in_order::<APART>(M::pack_low::<APART>(each!(x, |x| M::truncate(x))));
                low_bits::<M>(codes, bits)
            }
            Spec::Float(_) => {
                let integers = const { matches!(S::DTYPE.spec(), Spec::Int { .. }) };
                small_float::<M, D, SATURATE, APART>(x, sign, integers)
            }
            Spec::Complex(_) => unreachable!("`covers` lists the targets"),
        }
    }
}

/// Not zero, whatever the sign: NaN and subnormals too, so it looks at the bits.
#[inline(always)]
unsafe fn nonzero<M: Blocks>(x: M::V) -> M::V {
    // SAFETY: as the caller's.
    unsafe { M::min_u(M::shl::<1>(x), M::splat(1)) }
}

/// Every byte's low bits.
#[inline(always)]
unsafe fn low_bits<M: Simd>(codes: M::V, bits: u32) -> M::V {
    // SAFETY: as the caller's.
    unsafe { if bits == 8 { codes } else { M::and(codes, M::splat(0x0101_0101 * ((1 << bits) - 1))) } }
}

/// Integers of up to 8 bits. Packing saturates: what is too large is brought into range before it is truncated, what is too
/// small and what truncation makes of NaN are beyond the low end.
#[inline(always)]
unsafe fn int_saturated<M: Blocks, const APART: bool>(mut x: [M::V; 4], bits: u32, signed: bool) -> M::V {
    // SAFETY: as the caller's.
    unsafe {
        let high = M::splat((((1 << (bits - signed as u32)) - 1) as f32).to_bits());
        if signed && M::any_nan(x) {
            // Rare.
            x = each!(x, |x| M::select_nan(x, M::splat(0), x));
        }
        let x = each!(x, |x| M::truncate(M::min_f(high, x)));
        if !signed {
            M::pack_saturated::<APART, false>(x)
        } else if bits == 8 {
            M::pack_saturated::<APART, true>(x)
        } else {
            let low = M::splat(0x0101_0101 * (0x100 - (1 << (bits - 1))));
            low_bits::<M>(M::max_bytes(M::pack_saturated::<APART, true>(x), low), bits)
        }
    }
}

/// The `float8_e8m0fnu` code in the low byte: `docs/semantics.md`, section 6.5.
#[inline(always)]
unsafe fn exponent<M: Simd, const SATURATE: bool>(x: M::V) -> M::V {
    const MIN: u32 = 0x0040_0000;
    const MAX: u32 = 0x7F00_0000;
    // SAFETY: as the caller's.
    unsafe {
        let (min, nan) = (M::splat(MIN), M::splat(0xFF));
        if SATURATE {
            let clamped = M::min_i(M::max_i(x, min), M::splat(MAX));
            M::select_nan(x, nan, up::<M>(clamped, min))
        } else {
            let above_min = M::sub(x, min);
            M::select_eq(M::min_u(above_min, M::splat(MAX - MIN)), above_min, up::<M>(x, min), nan)
        }
    }
}

/// The exponent field of a float32, rounded up to a power of two; 0 for `min`, which is a subnormal with the field of the
/// next power.
#[inline(always)]
unsafe fn up<M: Simd>(x: M::V, min: M::V) -> M::V {
    // SAFETY: as the caller's.
    unsafe {
        let one = M::splat(1);
        let field = M::shr::<23>(M::add(x, M::splat(0x7F_FFFF)));
        M::add(M::sub(field, one), M::min_u(M::sub(x, min), one))
    }
}

/// The codes of a float of 4, 6 or 8 bits, in order. If they are `integers`, none is NaN.
///
/// # Safety
///
/// As of the methods of [`Simd`].
#[inline(always)]
pub(crate) unsafe fn small_float<M: Simd, D: Format, const SATURATE: bool, const APART: bool>(
    x: [M::V; 4],
    sign: Option<M::V>,
    integers: bool,
) -> M::V {
    // SAFETY: as the caller's.
    unsafe {
        match const { D::DTYPE.spec() } {
            Spec::Float(FloatSpec { flavor: Flavor::Exponent, .. }) => {
                M::in_order::<APART>(M::pack_low::<APART>(each!(x, |x| exponent::<M, SATURATE>(x))))
            }
            Spec::Float(f) => {
                // Evaluated for the other targets too, for which it means nothing.
                let encoder = const {
                    match D::DTYPE.spec() {
                        Spec::Float(f) if f.exponent_bits <= 5 => Encoder::new(f, SATURATE),
                        _ => Encoder::NONE,
                    }
                };
                signed_float::<M, APART>(x, sign, integers, f, encoder)
            }
            _ => unreachable!("only asked for floats"),
        }
    }
}

/// The codes of a float with a sign.
///
/// As in `format::minifloat` one float addition rounds: that of the power of two `2^(23 - mantissa bits)` times the one below
/// the value, whose last mantissa bit then has the weight of the code's. A fused multiply-add makes that power and the sum at
/// once. The sum is `exponent << 23 | count`, and `exponent << mantissa bits` added to `count` is the code and a constant: a
/// sum of products of the two 16-bit halves.
#[inline(always)]
unsafe fn signed_float<M: Simd, const APART: bool>(
    x: [M::V; 4],
    sign: Option<M::V>,
    integers: bool,
    f: FloatSpec,
    encoder: Encoder,
) -> M::V {
    // SAFETY: as the caller's.
    unsafe {
        let absolute = each!(x, |x| M::and(x, M::splat(0x7FFF_FFFF)));
        // NaN has to become another magnitude than what is too large.
        let nan_apart = !integers && (f.nan().is_none() || encoder.limit != encoder.nan);
        let mut limited = if M::NAN_BY_MIN && nan_apart && f.nan().is_some() {
            // Its magnitude is above the limit.
            each!(absolute, |x| M::min_u(M::min_f(M::splat(encoder.limit), x), M::splat(encoder.nan)))
        } else {
            // A limit that is NaN's code takes NaN with it.
            each!(absolute, |x| M::min_u(x, M::splat(encoder.limit)))
        };
        let mut sign = match sign {
            Some(sign) => sign,
            None => M::pack_sign::<APART>(x),
        };
        if nan_apart && !(M::NAN_BY_MIN && f.nan().is_some()) && M::any_nan(x) {
            // Rare: one question per block is cheaper than a selection per register.
            for k in 0..4 {
                limited[k] = M::select_nan(x[k], M::splat(encoder.nan), limited[k]);
            }
            if f.nan().is_none() {
                // NaN is a zero of the opposite sign.
                let (ones, zero) = (M::splat(u32::MAX), M::splat(0));
                sign = M::xor(sign, M::pack_sign::<APART>(each!(x, |x| M::select_nan(x, ones, zero))));
            }
        }
        let counts = each!(limited, |x| {
            let power = M::max_u(M::and(x, M::splat(0x7F80_0000)), M::splat(encoder.min_field << 23));
            M::fma(power, M::splat((127 + encoder.shift) << 23), x)
        });
        let codes = M::pack_counts::<APART>(counts, f.mantissa_bits, encoder.min_field + encoder.shift);
        M::in_order::<APART>(signed::<M>(codes, sign, f))
    }
}

/// The codes of magnitudes with signs, which are the top bits of bytes.
///
/// # Safety
///
/// As of the methods of [`Simd`].
#[inline(always)]
pub(crate) unsafe fn signed<M: Simd>(codes: M::V, sign: M::V, f: FloatSpec) -> M::V {
    // SAFETY: as the caller's.
    unsafe {
        let sign = M::and(sign, M::splat(0x8080_8080));
        // Moved down inside the byte.
        let sign = match f.bits() {
            4 => M::shr::<4>(sign),
            6 => M::shr::<2>(sign),
            _ => sign,
        };
        match f.flavor {
            Flavor::Fnuz => M::sign_nonzero(codes, sign),
            _ => M::or(codes, sign),
        }
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
        let mut r = each!(x, |x| {
            let last = M::and(M::shr::<16>(x), M::splat(1));
            M::add(M::add(x, M::splat(0x7FFF)), last)
        });
        if M::any_nan(x) {
            // Rare: one question per block is cheaper than a selection per register.
            let nan = each!(x, |x| M::or(M::and(x, M::splat(1 << 31)), M::splat(0x7FC0_0000)));
            for k in 0..4 {
                r[k] = M::select_nan(x[k], nan[k], r[k]);
            }
        }
        [M::pack_high_halves(r[0], r[1]), M::pack_high_halves(r[2], r[3])]
    }
}
