//! Targets: a block of float32 as elements of a family of formats.
//!
//! A family is a type, a format of it is numbers ([`Data`]): one body per source and family serves all formats and rules.

use super::{
    Blocks, Simd, bf16,
    style::{DIRECTED, ODD, PLAIN, TIES},
};
use crate::{
    data::Data,
    dtype::{DType, Spec},
    format::Format,
};
use core::marker::PhantomData;

/// A family of targets.
pub(crate) trait Target {
    /// Bits of an element in its storage.
    const BITS: usize;
    /// Whether the last bits of a value that float32 cannot hold matter: not if only values beyond the range of the formats have
    /// more than 24 significant bits.
    const NEEDS_ODD: bool = false;
    const TRUTH: bool = false;
    const FLOAT32: bool = false;
    /// Whether float64 are clamped to magnitudes that float32 has.
    const CLAMPED: bool = false;
    /// Stores a block, or if `PART`, its first `n` elements. `APART` says in which order the registers are, and `sign` are the
    /// signs, already packed in that order.
    ///
    /// # Safety
    ///
    /// As of the methods of [`Simd`].
    unsafe fn store<M: Blocks, S: Format, const PART: bool, const APART: bool>(
        p: *mut u8,
        x: [M::V; 4],
        sign: Option<M::V>,
        n: usize,
        data: &Data,
    );
}

/// A family of codes of up to 8 bits.
pub(crate) trait Codes {
    const NEEDS_ODD: bool = false;
    const TRUTH: bool = false;
    /// The codes of a block, one per byte, in order.
    ///
    /// # Safety
    ///
    /// As of the methods of [`Simd`].
    unsafe fn codes<M: Blocks, S: Format, const APART: bool>(
        x: [M::V; 4],
        sign: Option<M::V>,
        data: &Data,
    ) -> M::V;
}

/// Codes, one per byte.
pub(crate) struct Bytes<C>(PhantomData<C>);
/// Codes of `BITS` bits, packed.
pub(crate) struct Packed<C, const BITS: u32>(PhantomData<C>);

impl<C: Codes> Target for Bytes<C> {
    const BITS: usize = 8;
    const NEEDS_ODD: bool = C::NEEDS_ODD;
    const TRUTH: bool = C::TRUTH;
    #[inline(always)]
    unsafe fn store<M: Blocks, S: Format, const PART: bool, const APART: bool>(
        p: *mut u8,
        x: [M::V; 4],
        sign: Option<M::V>,
        n: usize,
        data: &Data,
    ) {
        // SAFETY: as the caller's.
        unsafe { M::store_8::<PART>(p, C::codes::<M, S, APART>(x, sign, data), n) }
    }
}

impl<C: Codes, const BITS: u32> Target for Packed<C, BITS> {
    const BITS: usize = BITS as usize;
    const NEEDS_ODD: bool = C::NEEDS_ODD;
    #[inline(always)]
    unsafe fn store<M: Blocks, S: Format, const PART: bool, const APART: bool>(
        p: *mut u8,
        x: [M::V; 4],
        sign: Option<M::V>,
        n: usize,
        data: &Data,
    ) {
        // SAFETY: as the caller's.
        unsafe { M::store_packed::<BITS, PART>(p, C::codes::<M, S, APART>(x, sign, data), n) }
    }
}

/// Float32.
pub(crate) struct F32;
/// Float32 as the first of two steps, rounded to odd. If not `ODD`, values beyond the range of float16 may be rounded in any way.
pub(crate) struct F32Odd<const ODD: bool>;
/// Float16.
pub(crate) struct F16<const STYLE: u8>;
/// Bfloat16.
pub(crate) struct BF16<const STYLE: u8>;

impl Target for F32 {
    const BITS: usize = 32;
    const FLOAT32: bool = true;
    #[inline(always)]
    unsafe fn store<M: Blocks, S: Format, const PART: bool, const APART: bool>(
        p: *mut u8,
        x: [M::V; 4],
        _: Option<M::V>,
        n: usize,
        _: &Data,
    ) {
        // SAFETY: as the caller's.
        unsafe { M::store_32::<PART>(p, x, n) }
    }
}

impl<const ODD: bool> Target for F32Odd<ODD> {
    const BITS: usize = 32;
    const NEEDS_ODD: bool = ODD;
    const FLOAT32: bool = true;
    const CLAMPED: bool = true;
    #[inline(always)]
    unsafe fn store<M: Blocks, S: Format, const PART: bool, const APART: bool>(
        p: *mut u8,
        mut x: [M::V; 4],
        _: Option<M::V>,
        n: usize,
        _: &Data,
    ) {
        // SAFETY: as the caller's.
        unsafe {
            // A difference that is zero is negative where the direction is down. A comparison with that zero would be folded by a
            // compiler that knows the default direction only, so unsigned integers lose their sign.
            match S::DTYPE.spec() {
                Spec::Int { signed: false, .. } => x = each!(x, |x| M::and(x, M::splat(0x7FFF_FFFF))),
                Spec::Int { .. } => {
                    let (negative, zero) = (M::splat(1 << 31), M::splat(0));
                    x = each!(x, |x| M::select_eq(x, negative, zero, x));
                }
                _ => {}
            }
            M::store_32::<PART>(p, x, n);
        }
    }
}

impl<const STYLE: u8> Target for F16<STYLE> {
    const BITS: usize = 16;
    #[inline(always)]
    unsafe fn store<M: Blocks, S: Format, const PART: bool, const APART: bool>(
        p: *mut u8,
        mut x: [M::V; 4],
        _: Option<M::V>,
        n: usize,
        _: &Data,
    ) {
        // SAFETY: as the caller's.
        unsafe {
            if STYLE == TIES {
                // Infinity has no bits to spare.
                let (infinity, one) = (M::splat(0x7F80_0000), M::splat(1));
                x = each!(x, |x| {
                    let absolute = M::and(x, M::splat(0x7FFF_FFFF));
                    M::select_eq(absolute, infinity, x, M::or(x, one))
                });
                M::store_f16::<PART, APART, PLAIN>(p, x, n);
            } else {
                M::store_f16::<PART, APART, STYLE>(p, x, n);
            }
        }
    }
}

impl<const STYLE: u8> Target for BF16<STYLE> {
    const BITS: usize = 16;
    const NEEDS_ODD: bool = true;
    #[inline(always)]
    unsafe fn store<M: Blocks, S: Format, const PART: bool, const APART: bool>(
        p: *mut u8,
        x: [M::V; 4],
        _: Option<M::V>,
        n: usize,
        data: &Data,
    ) {
        // SAFETY: as the caller's.
        unsafe {
            if STYLE != PLAIN {
                M::store_16::<PART>(p, bf16::<M, STYLE>(x, data), n);
            } else if matches!(S::DTYPE, DType::Float16) {
                M::store_16::<PART>(p, M::to_bf16::<false>(x, data), n);
            } else {
                M::store_16::<PART>(p, M::to_bf16::<true>(x, data), n);
            }
        }
    }
}

/// Whether a value is not zero; NaN and subnormals are not, so the bits are tested.
pub(crate) struct Truth;
/// The low bits of integers; all of a byte if `WHOLE`.
pub(crate) struct Wrapped<const WHOLE: bool, const STYLE: u8>;
/// Unsigned integers.
pub(crate) struct Unsigned<const STYLE: u8>;
/// Signed integers; of a byte if `WHOLE`.
pub(crate) struct Signed<const WHOLE: bool, const STYLE: u8>;
/// `float8_e8m0fnu`, rounded up.
pub(crate) struct Exponent<const SATURATE: bool>;
/// `float8_e8m0fnu` under any rules.
pub(crate) struct Powers;

impl Codes for Truth {
    const TRUTH: bool = true;
    #[inline(always)]
    unsafe fn codes<M: Blocks, S: Format, const APART: bool>(
        x: [M::V; 4],
        _: Option<M::V>,
        _: &Data,
    ) -> M::V {
        // SAFETY: as the caller's.
        unsafe {
            let one = M::splat(1);
            M::in_order::<APART>(M::pack_low::<APART>(each!(x, |x| M::min_u(M::shl::<1>(x), one))))
        }
    }
}

/// Float32 as int32: truncated ([`PLAIN`]), in the direction of the environment ([`DIRECTED`]), or to nearest with ties away from
/// zero ([`TIES`], with the direction toward zero); the least integer if that is out of range or NaN.
#[inline(always)]
unsafe fn integer<M: Blocks, const STYLE: u8>(x: M::V, data: &Data) -> M::V {
    // SAFETY: as of the methods of `Simd`.
    unsafe {
        match STYLE {
            PLAIN => M::truncate(x),
            DIRECTED => M::round(x),
            _ => {
                let half = M::or(M::and(x, M::splat(1 << 31)), M::splat(data.half));
                M::truncate(M::fma(M::splat(127 << 23), x, half))
            }
        }
    }
}

impl<const WHOLE: bool, const STYLE: u8> Codes for Wrapped<WHOLE, STYLE> {
    #[inline(always)]
    unsafe fn codes<M: Blocks, S: Format, const APART: bool>(
        x: [M::V; 4],
        _: Option<M::V>,
        data: &Data,
    ) -> M::V {
        // SAFETY: as the caller's. Beyond the 31 bits that a conversion can give, a float32 is a multiple of 2^8.
        unsafe {
            let codes = each!(x, |x| integer::<M, STYLE>(x, data));
            let codes = M::in_order::<APART>(M::pack_low::<APART>(codes));
            if WHOLE { codes } else { M::and(codes, M::splat(data.int.mask)) }
        }
    }
}

/// Integers in range: packing saturates. What is too large is brought into range before it is converted; what is too small, and
/// what the conversion makes of NaN unless it becomes zero (`NAN`), is below the low end.
#[inline(always)]
unsafe fn limited<M: Blocks, const APART: bool, const SIGNED: bool, const NAN: bool, const STYLE: u8>(
    x: [M::V; 4],
    data: &Data,
) -> M::V {
    // SAFETY: as of the methods of `Simd`.
    unsafe {
        let (high, zero) = (M::splat(data.int.high), M::splat(0));
        M::pack_saturated::<APART, SIGNED>(each!(x, |x| {
            let integer = integer::<M, STYLE>(M::min_f(high, x), data);
            if NAN { M::select_nan(x, zero, integer) } else { integer }
        }))
    }
}

impl<const STYLE: u8> Codes for Unsigned<STYLE> {
    #[inline(always)]
    unsafe fn codes<M: Blocks, S: Format, const APART: bool>(
        x: [M::V; 4],
        _: Option<M::V>,
        data: &Data,
    ) -> M::V {
        // SAFETY: as the caller's.
        unsafe { limited::<M, APART, false, false, STYLE>(x, data) }
    }
}

impl<const WHOLE: bool, const STYLE: u8> Codes for Signed<WHOLE, STYLE> {
    #[inline(always)]
    unsafe fn codes<M: Blocks, S: Format, const APART: bool>(
        x: [M::V; 4],
        _: Option<M::V>,
        data: &Data,
    ) -> M::V {
        // SAFETY: as the caller's.
        unsafe {
            // A question of a block is cheaper than a mask for every register.
            let codes = if M::any_nan(x) {
                limited::<M, APART, true, true, STYLE>(x, data)
            } else {
                limited::<M, APART, true, false, STYLE>(x, data)
            };
            if WHOLE {
                codes
            } else {
                M::and(M::max_bytes(codes, M::splat(data.int.low)), M::splat(data.int.mask))
            }
        }
    }
}

/// The exponent field of a float32, rounded up to a power of two; 0 for `min`, a subnormal with the field of the next power.
#[inline(always)]
unsafe fn up<M: Simd>(x: M::V, min: M::V) -> M::V {
    // SAFETY: as of the methods of `Simd`.
    unsafe {
        let one = M::splat(1);
        let field = M::shr::<23>(M::add(x, M::splat(0x7F_FFFF)));
        M::add(M::sub(field, one), M::min_u(M::sub(x, min), one))
    }
}

/// `docs/semantics.md`, section 6.5.
impl<const SATURATE: bool> Codes for Exponent<SATURATE> {
    const NEEDS_ODD: bool = true;
    #[inline(always)]
    unsafe fn codes<M: Blocks, S: Format, const APART: bool>(
        x: [M::V; 4],
        _: Option<M::V>,
        _: &Data,
    ) -> M::V {
        const MIN: u32 = 0x0040_0000;
        const MAX: u32 = 0x7F00_0000;
        // SAFETY: as the caller's.
        unsafe {
            let (min, nan) = (M::splat(MIN), M::splat(0xFF));
            let fields = each!(x, |x| {
                if SATURATE {
                    let clamped = M::min_i(M::max_i(x, min), M::splat(MAX));
                    M::select_nan(x, nan, up::<M>(clamped, min))
                } else {
                    let above_min = M::sub(x, min);
                    let inside = M::min_u(above_min, M::splat(MAX - MIN));
                    M::select_eq(inside, above_min, up::<M>(x, min), nan)
                }
            });
            M::in_order::<APART>(M::pack_low::<APART>(fields))
        }
    }
}

/// The code of NaN is a magnitude like others: what is too large has it, too.
pub(crate) const NAN_AS_OVERFLOW: u8 = 0;
/// The code of NaN is another one than that of overflow.
pub(crate) const NAN_APART: u8 = 1;
/// There is no code of NaN.
pub(crate) const NO_NAN: u8 = 2;

/// Floats of `BITS` (4, 6 or 8) bits with a sign.
pub(crate) struct Float<const BITS: u32, const FNUZ: bool, const NAN: u8, const STYLE: u8>;

/// One float addition rounds: that of the power of two `2^(23 - mantissa bits)` times the one below the value, whose last
/// mantissa bit then has the weight of the code's. A fused multiply-add makes that power and the sum at once. The sum is
/// `exponent << 23 | count`, and `exponent << mantissa bits` added to `count` is the code and a constant: a sum of products of
/// the two 16-bit halves.
impl<const BITS: u32, const FNUZ: bool, const NAN: u8, const STYLE: u8> Codes
    for Float<BITS, FNUZ, NAN, STYLE>
{
    #[inline(always)]
    unsafe fn codes<M: Blocks, S: Format, const APART: bool>(
        x: [M::V; 4],
        sign: Option<M::V>,
        data: &Data,
    ) -> M::V {
        let encoder = data.encoder;
        let integers = const { matches!(S::DTYPE.spec(), Spec::Int { .. }) };
        // SAFETY: as the caller's.
        unsafe {
            let mut absolute = each!(x, |x| M::and(x, M::splat(0x7FFF_FFFF)));
            // The same answer for all blocks.
            if FNUZ && STYLE != PLAIN && data.infinity_is_nan != 0 {
                let (infinity, replaced) =
                    (M::splat(0x7F80_0000), M::splat(0x7F80_0000 | data.infinity_is_nan));
                absolute = each!(absolute, |x| M::select_eq(x, infinity, replaced, x));
            }
            let mut limited = if NAN == NAN_APART && !integers {
                // The minimum of floats leaves NaN, whose magnitude is above the limit.
                each!(absolute, |x| M::min_u(M::min_f(M::splat(encoder.limit), x), M::splat(encoder.nan)))
            } else {
                // A limit that is NaN's code takes NaN with it.
                each!(absolute, |x| M::min_u(x, M::splat(encoder.limit)))
            };
            let mut sign = match sign {
                Some(sign) => sign,
                None => M::pack_sign::<APART>(x),
            };
            if NAN == NO_NAN && !integers && M::any_nan(x) {
                // One test per block is cheaper than a selection per register.
                let (ones, zero) = (M::splat(u32::MAX), M::splat(0));
                let nan = each!(x, |x| M::select_nan(x, ones, zero));
                for k in 0..4 {
                    limited[k] = M::select_nan(x[k], M::splat(encoder.nan), limited[k]);
                }
                // A zero of the opposite sign, or the largest positive value.
                let nan = M::pack_sign::<APART>(nan);
                sign = M::xor(sign, nan);
                sign = M::xor(sign, M::and(M::and(sign, nan), M::splat(data.nan_is_max)));
            }
            if STYLE == TIES {
                limited = each!(limited, |x| M::or(x, M::splat(data.sticky)));
            }
            let (unit, smallest) = (M::splat((127 + encoder.shift) << 23), M::splat(encoder.min_field << 23));
            let mut power = each!(limited, |x| M::max_u(M::and(x, M::splat(0x7F80_0000)), smallest));
            if STYLE == DIRECTED {
                let signs = each!(x, |x| M::and(x, M::splat(1 << 31)));
                for k in 0..4 {
                    power[k] = M::or(power[k], signs[k]);
                    limited[k] = M::or(limited[k], signs[k]);
                }
            }
            let mut counts = limited;
            for k in 0..4 {
                counts[k] = M::fma(power[k], unit, limited[k]);
                if STYLE == DIRECTED && !M::COUNTS_DROP_SIGN {
                    counts[k] = M::and(counts[k], M::splat(0x7FFF_FFFF));
                }
                if STYLE == ODD {
                    // What the sum stands for, exactly; inexact sums become odd.
                    let minus = M::splat(1 << 31 | (127 + encoder.shift) << 23);
                    let value = M::fma(power[k], minus, counts[k]);
                    let odd = M::or(counts[k], M::splat(1));
                    counts[k] = M::select_eq(value, limited[k], counts[k], odd);
                }
            }
            let codes =
                M::pack_counts::<APART>(counts, 23 - encoder.shift, encoder.min_field + encoder.shift);
            M::in_order::<APART>(signed::<M, BITS, FNUZ>(codes, sign))
        }
    }
}

/// The codes of magnitudes with signs, which are the top bits of bytes.
#[inline(always)]
unsafe fn signed<M: Simd, const BITS: u32, const FNUZ: bool>(codes: M::V, sign: M::V) -> M::V {
    // SAFETY: as of the methods of `Simd`.
    unsafe {
        let sign = M::and(sign, M::splat(0x8080_8080));
        // Moved down inside the byte.
        let sign = match BITS {
            4 => M::shr::<4>(sign),
            6 => M::shr::<2>(sign),
            _ => sign,
        };
        if FNUZ { M::sign_nonzero(codes, sign) } else { M::or(codes, sign) }
    }
}

/// `docs/semantics.md`, section 6.5.
impl Codes for Powers {
    const NEEDS_ODD: bool = true;
    #[inline(always)]
    unsafe fn codes<M: Blocks, S: Format, const APART: bool>(
        x: [M::V; 4],
        _: Option<M::V>,
        data: &Data,
    ) -> M::V {
        let power = data.power;
        // SAFETY: as the caller's.
        unsafe {
            let (zero, nan) = (M::splat(0), M::splat(0xFF));
            let fields = each!(x, |bits| {
                // Negative values are negative integers.
                let x = M::max_i(M::and(bits, M::splat(power.magnitude)), zero);
                let x = M::min_u(x, M::splat(power.largest));
                let field = M::shr::<23>(M::add(x, M::splat(power.addend)));
                let below = M::min_u(x, M::splat(power.second - 1));
                let field = M::select_eq(below, x, zero, field);
                let number = M::sub(M::and(bits, M::splat(power.number)), M::splat(power.start));
                M::select_eq(M::min_u(number, M::splat(power.span)), number, field, nan)
            });
            M::in_order::<APART>(M::pack_low::<APART>(fields))
        }
    }
}
