//! Targets: encode a block of float32 as elements of a family of formats.
//!
//! A family is a type, and a format of the family is numbers ([`Data`]): one body per source and family serves all formats and rules.

use crate::{
    dtype::{DType, Spec},
    format::{Format, data::Data},
    vector::{
        Blocks, Casts, bf16, each,
        small::{self, FloatFamily, Values},
        style::{Away, Common, Directed, Mode, RoundingMode},
    },
};
use core::marker::PhantomData;

/// A family of targets.
pub(crate) trait Target<M: Blocks> {
    /// Bits of an element in its storage.
    const BITS: usize;
    /// Whether the last bits of a value that float32 cannot hold matter. They do not if all values with more than 24 significant bits are out of
    /// the formats' range.
    const NEEDS_ODD: bool = false;
    const TRUTH: bool = false;
    const FLOAT32: bool = false;
    /// Whether float64 are clamped to magnitudes of float32.
    const CLAMPED: bool = false;
    /// Stores a block or, if `PART`, its first `n` elements. `APART` says in which order the registers are, and `sign` holds the signs, if they
    /// are already packed in that order.
    ///
    /// # Safety
    ///
    /// As for the methods of [`Simd`].
    unsafe fn store<S: Format, const PART: bool, const APART: bool>(
        m: M,
        p: *mut u8,
        x: [M::V; 4],
        sign: Option<M::V>,
        n: usize,
        data: &Data,
    );
}

/// A family of codes of up to 8 bits.
pub(crate) trait Codes<M: Blocks> {
    const NEEDS_ODD: bool = false;
    const TRUTH: bool = false;
    /// The codes of a block, one per byte, in order.
    fn codes<S: Format, const APART: bool>(m: M, x: [M::V; 4], sign: Option<M::V>, data: &Data) -> M::V;
}

/// Codes, one per byte.
pub(crate) struct Bytes<C>(PhantomData<C>);
/// Codes of `BITS` bits, packed.
pub(crate) struct Packed<C, const BITS: u32>(PhantomData<C>);

impl<M: Blocks, C: Codes<M>> Target<M> for Bytes<C> {
    const BITS: usize = 8;
    const NEEDS_ODD: bool = C::NEEDS_ODD;
    const TRUTH: bool = C::TRUTH;
    #[inline(always)]
    unsafe fn store<S: Format, const PART: bool, const APART: bool>(
        m: M,
        p: *mut u8,
        x: [M::V; 4],
        sign: Option<M::V>,
        n: usize,
        data: &Data,
    ) {
        // SAFETY: the caller's promise is the same.
        unsafe { m.store_8::<PART>(p, C::codes::<S, APART>(m, x, sign, data), n) }
    }
}

impl<M: Blocks, C: Codes<M>, const BITS: u32> Target<M> for Packed<C, BITS> {
    const BITS: usize = BITS as usize;
    const NEEDS_ODD: bool = C::NEEDS_ODD;
    #[inline(always)]
    unsafe fn store<S: Format, const PART: bool, const APART: bool>(
        m: M,
        p: *mut u8,
        x: [M::V; 4],
        sign: Option<M::V>,
        n: usize,
        data: &Data,
    ) {
        // SAFETY: the caller's promise is the same.
        unsafe { m.store_packed::<BITS, PART>(p, C::codes::<S, APART>(m, x, sign, data), n) }
    }
}

/// Float32, unchanged.
pub(crate) struct F32;
/// Float32 as the first of two steps, rounded to odd in the default environment. Unless `ODD`, values out of float16's range may round in any way.
pub(crate) struct F32Odd<const ODD: bool>;
/// Float16.
pub(crate) struct F16<R: RoundingMode>(PhantomData<R>);
/// Bfloat16.
pub(crate) struct BF16<R: RoundingMode>(PhantomData<R>);

impl<M: Blocks> Target<M> for F32 {
    const BITS: usize = 32;
    const FLOAT32: bool = true;
    #[inline(always)]
    unsafe fn store<S: Format, const PART: bool, const APART: bool>(
        m: M,
        p: *mut u8,
        x: [M::V; 4],
        _: Option<M::V>,
        n: usize,
        _: &Data,
    ) {
        // SAFETY: the caller's promise is the same.
        unsafe { m.store_32::<PART>(p, x, n) }
    }
}

impl<M: Blocks, const ODD: bool> Target<M> for F32Odd<ODD> {
    const BITS: usize = 32;
    const NEEDS_ODD: bool = ODD;
    const FLOAT32: bool = true;
    const CLAMPED: bool = true;
    #[inline(always)]
    unsafe fn store<S: Format, const PART: bool, const APART: bool>(
        m: M,
        p: *mut u8,
        x: [M::V; 4],
        _: Option<M::V>,
        n: usize,
        _: &Data,
    ) {
        // SAFETY: the caller's promise is the same.
        unsafe { m.store_32::<PART>(p, x, n) }
    }
}

impl<M: Casts, R: RoundingMode> Target<M> for F16<R> {
    const BITS: usize = 16;
    #[inline(always)]
    unsafe fn store<S: Format, const PART: bool, const APART: bool>(
        m: M,
        p: *mut u8,
        mut x: [M::V; 4],
        _: Option<M::V>,
        n: usize,
        _: &Data,
    ) {
        // SAFETY: the caller's promise is the same.
        unsafe {
            if R::MODE == Mode::Away {
                // Infinity must stay unchanged.
                let (infinity, one) = (m.splat(0x7F80_0000), m.splat(1));
                x = each!(x, |x| {
                    let absolute = m.and(x, m.splat(0x7FFF_FFFF));
                    m.select_eq(absolute, infinity, x, m.or(x, one))
                });
                m.store_f16::<PART, APART, Common>(p, x, n);
            } else {
                m.store_f16::<PART, APART, R>(p, x, n);
            }
        }
    }
}

impl<M: Blocks, R: RoundingMode> Target<M> for BF16<R> {
    const BITS: usize = 16;
    const NEEDS_ODD: bool = true;
    #[inline(always)]
    unsafe fn store<S: Format, const PART: bool, const APART: bool>(
        m: M,
        p: *mut u8,
        x: [M::V; 4],
        _: Option<M::V>,
        n: usize,
        data: &Data,
    ) {
        // SAFETY: the caller's promise is the same.
        unsafe {
            if R::MODE != Mode::Common {
                m.store_16::<PART>(p, bf16::<M, R>(m, x, data), n);
            } else if matches!(S::DTYPE, DType::Float16) {
                m.store_16::<PART>(p, m.to_bf16::<false>(x, data), n);
            } else {
                m.store_16::<PART>(p, m.to_bf16::<true>(x, data), n);
            }
        }
    }
}

/// Whether a value is not zero; NaN and subnormals are not zero, so the bits are tested.
pub(crate) struct Truth;
/// The low bits of integers; the whole byte if `WHOLE`.
pub(crate) struct Wrapped<const WHOLE: bool, R: RoundingMode>(PhantomData<R>);
/// Unsigned integers.
pub(crate) struct Unsigned<R: RoundingMode>(PhantomData<R>);
/// Signed integers; of a whole byte if `WHOLE`.
pub(crate) struct Signed<const WHOLE: bool, R: RoundingMode>(PhantomData<R>);
/// `float8_e8m0fnu`, rounded up.
pub(crate) struct Exponent<const SATURATE: bool>;
/// `float8_e8m0fnu` under any rules.
pub(crate) struct Powers;

impl<M: Blocks> Codes<M> for Truth {
    const TRUTH: bool = true;
    #[inline(always)]
    fn codes<S: Format, const APART: bool>(m: M, x: [M::V; 4], _: Option<M::V>, _: &Data) -> M::V {
        let one = m.splat(1);
        m.in_order::<APART>(m.pack_low::<APART>(each!(x, |x| m.min_u(m.shl::<1>(x), one))))
    }
}

/// A mode in which float32 become int32: truncated ([`Common`]), in the direction of the environment ([`Directed`]), or to nearest with ties away
/// from zero ([`Away`], in the direction toward zero). The tier's conversion determines the results for NaN and values out of range.
pub(crate) trait ToInt<M: Blocks>: RoundingMode {
    fn integer(m: M, x: M::V, data: &Data) -> M::V;
}

impl<M: Casts> ToInt<M> for Common {
    #[inline(always)]
    fn integer(m: M, x: M::V, _: &Data) -> M::V {
        m.truncate(x)
    }
}

impl<M: Blocks> ToInt<M> for Directed {
    #[inline(always)]
    fn integer(m: M, x: M::V, _: &Data) -> M::V {
        m.round(x)
    }
}

impl<M: Casts> ToInt<M> for Away {
    #[inline(always)]
    fn integer(m: M, x: M::V, data: &Data) -> M::V {
        let half = m.or(m.and(x, m.splat(1 << 31)), m.splat(data.rounding.half));
        m.truncate(m.fma_env(x, m.splat(127 << 23), half))
    }
}

impl<M: Blocks, const WHOLE: bool, R: ToInt<M>> Codes<M> for Wrapped<WHOLE, R> {
    #[inline(always)]
    fn codes<S: Format, const APART: bool>(m: M, x: [M::V; 4], _: Option<M::V>, data: &Data) -> M::V {
        let codes = each!(x, |x| R::integer(m, x, data));
        let codes = m.in_order::<APART>(m.pack_low::<APART>(codes));
        if WHOLE { codes } else { m.and(codes, m.splat(data.int.mask)) }
    }
}

/// Integers in range: packing saturates. Values that are too large are clamped before they are converted. Values that are too small, and the
/// result of the conversion for NaN unless it becomes zero (`NAN`), are below the low end or zero.
#[inline(always)]
fn limited<M: Blocks, I: ToInt<M>, const APART: bool, const SIGNED: bool, const NAN: bool>(
    m: M,
    x: [M::V; 4],
    data: &Data,
) -> M::V {
    let (high, zero) = (m.splat(data.int.high), m.splat(0));
    m.pack_saturated::<APART, SIGNED>(each!(x, |x| {
        let integer = I::integer(m, m.min_f(high, x), data);
        if NAN { m.select_nan(x, zero, integer) } else { integer }
    }))
}

impl<M: Blocks, R: ToInt<M>> Codes<M> for Unsigned<R> {
    #[inline(always)]
    fn codes<S: Format, const APART: bool>(m: M, x: [M::V; 4], _: Option<M::V>, data: &Data) -> M::V {
        limited::<M, R, APART, false, false>(m, x, data)
    }
}

impl<M: Blocks, const WHOLE: bool, R: ToInt<M>> Codes<M> for Signed<WHOLE, R> {
    #[inline(always)]
    fn codes<S: Format, const APART: bool>(m: M, x: [M::V; 4], _: Option<M::V>, data: &Data) -> M::V {
        // One test per block is cheaper than a mask for every register.
        let codes = if m.any_nan(x) {
            limited::<M, R, APART, true, true>(m, x, data)
        } else {
            limited::<M, R, APART, true, false>(m, x, data)
        };
        if WHOLE { codes } else { m.and(m.max_bytes(codes, m.splat(data.int.low)), m.splat(data.int.mask)) }
    }
}

impl<M: Blocks, const SATURATE: bool> Codes<M> for Exponent<SATURATE> {
    const NEEDS_ODD: bool = true;
    #[inline(always)]
    fn codes<S: Format, const APART: bool>(m: M, x: [M::V; 4], _: Option<M::V>, _: &Data) -> M::V {
        small::exponents::<M, SATURATE, APART>(m, x)
    }
}

/// Floats with a sign.
pub(crate) struct Float<F: FloatFamily, R: RoundingMode>(PhantomData<(F, R)>);

impl<M: Blocks, F: FloatFamily, R: RoundingMode> Codes<M> for Float<F, R> {
    #[inline(always)]
    fn codes<S: Format, const APART: bool>(m: M, x: [M::V; 4], sign: Option<M::V>, data: &Data) -> M::V {
        let values = const {
            match S::DTYPE.spec() {
                Spec::Int { .. } => Values::Integers,
                _ => Values::Any,
            }
        };
        small::floats::<M, R, APART>(m, x, sign, values, F::FAMILY, data)
    }
}

/// `docs/semantics.md`, section 6.5.
impl<M: Blocks> Codes<M> for Powers {
    const NEEDS_ODD: bool = true;
    #[inline(always)]
    fn codes<S: Format, const APART: bool>(m: M, x: [M::V; 4], _: Option<M::V>, data: &Data) -> M::V {
        let power = data.power;
        let (zero, nan) = (m.splat(0), m.splat(0xFF));
        let fields = each!(x, |bits| {
            // Negative floats compare as negative integers.
            let x = m.max_i(m.and(bits, m.splat(power.magnitude)), zero);
            let x = m.min_u(x, m.splat(power.largest));
            let field = m.shr::<23>(m.add(x, m.splat(power.addend)));
            let below = m.min_u(x, m.splat(power.second - 1));
            let field = m.select_eq(below, x, zero, field);
            let number = m.sub(m.and(bits, m.splat(power.number)), m.splat(power.start));
            m.select_eq(m.min_u(number, m.splat(power.span)), number, field, nan)
        });
        m.in_order::<APART>(m.pack_low::<APART>(fields))
    }
}
