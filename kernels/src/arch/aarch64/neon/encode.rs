//! A block of float32 as small floats under the common rules.

use crate::{
    dtype::{DType, Flavor, FloatSpec, Spec},
    format::{Encoder, Format},
    vector::{Simd, each},
};

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
        let mut limited = if nan_apart && f.nan().is_some() {
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
        if nan_apart && f.nan().is_none() && M::any_nan(x) {
            // Rare: one question per block is cheaper than a selection per register.
            for k in 0..4 {
                limited[k] = M::select_nan(x[k], M::splat(encoder.nan), limited[k]);
            }
            // NaN is a zero of the opposite sign.
            let (ones, zero) = (M::splat(u32::MAX), M::splat(0));
            sign = M::xor(sign, M::pack_sign::<APART>(each!(x, |x| M::select_nan(x, ones, zero))));
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

/// Whether the last bits of a value that float32 cannot hold matter to the target: not if only values beyond its range have
/// more than 24 significant bits.
pub(crate) const fn needs_odd(to: DType) -> bool {
    match to.spec() {
        Spec::Float(f) => f.exponent_bits == 8 || matches!(f.flavor, Flavor::Exponent),
        _ => true,
    }
}
