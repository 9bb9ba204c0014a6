//! Targets under the common rules: the results that lanes become, and how these are stored.

use super::{
    super::{
        small::{Family, Nan, Values, Width, exponents, floats},
        style::Common,
    },
    LaneOps, Lanes, Limits,
    part::{To, store_1, store_2, store_4, store_8, store_complex_32, store_complex_64},
    two,
};
use crate::{
    dtype::{DType, Spec},
    exact::Rules,
    format::{Format, data::Data},
};
use core::marker::PhantomData;

/// An element type on the destination's side.
pub(crate) trait Target<M: LaneOps> {
    /// Bits of an element in its storage.
    const BITS: usize;
    /// Whether the body of a kernel from a [light](super::source::Source::LIGHT) source is short, too.
    const LIGHT: bool = true;
    /// Stores two units that begin at these places; packed units both begin at the first.
    ///
    /// # Safety
    ///
    /// The units can be written.
    unsafe fn store<L: Lanes<M>, const SATURATE: bool>(m: M, x: [L; 2], dst: [*mut u8; 2], data: &Data);
    /// Stores a part of a unit, of elements that are not packed.
    ///
    /// # Safety
    ///
    /// The part can be written.
    unsafe fn store_part<L: Lanes<M>, const SATURATE: bool, const QUARTERS: usize>(
        m: M,
        x: L,
        dst: To<QUARTERS>,
        data: &Data,
    );
}

/// Makes elements of a byte or less from lanes.
pub(crate) trait Codes<M: LaneOps> {
    /// As [`Target::LIGHT`].
    const LIGHT: bool = true;
    fn codes<L: Lanes<M>, const SATURATE: bool>(m: M, x: L, data: &Data) -> M::V;
}

/// The lanes already hold the codes.
pub(crate) struct Found;
/// Integers.
pub(crate) struct Int<const WIDTH: u32, const SIGNED: bool>;
/// Integers of up to 8 bits, whose limits are data.
pub(crate) struct AnyInt<const SIGNED: bool>;
pub(crate) struct Truth;
/// Floats.
pub(crate) struct Small<D>(PhantomData<D>);

impl<M: LaneOps> Codes<M> for Found {
    #[inline(always)]
    fn codes<L: Lanes<M>, const SATURATE: bool>(m: M, x: L, _: &Data) -> M::V {
        x.found_8(m)
    }
}

impl<M: LaneOps> Codes<M> for Truth {
    const LIGHT: bool = false;
    #[inline(always)]
    fn codes<L: Lanes<M>, const SATURATE: bool>(m: M, x: L, _: &Data) -> M::V {
        x.truth(m)
    }
}

impl<M: LaneOps, const WIDTH: u32, const SIGNED: bool> Codes<M> for Int<WIDTH, SIGNED> {
    #[inline(always)]
    fn codes<L: Lanes<M>, const SATURATE: bool>(m: M, x: L, _: &Data) -> M::V {
        if WIDTH < 8 {
            x.codes::<true, SATURATE, SIGNED>(m, const { Limits::of(WIDTH, SIGNED) })
        } else {
            x.int8::<SATURATE, SIGNED>(m)
        }
    }
}

impl<M: LaneOps, const SIGNED: bool> Codes<M> for AnyInt<SIGNED> {
    #[inline(always)]
    fn codes<L: Lanes<M>, const SATURATE: bool>(m: M, x: L, data: &Data) -> M::V {
        let limits =
            Limits { ones: data.int.ones(), highest: data.int.highest, lowest: data.int.lowest() as u8 };
        x.codes::<true, SATURATE, SIGNED>(m, limits)
    }
}

impl<D: Format> Small<D> {
    /// Whether the target is `float8_e8m0fnu`: only there the last bits of a value that float32 cannot hold matter. For other targets, values with
    /// more than 24 significant bits are out of range.
    const EXPONENT: bool = matches!(D::DTYPE, DType::Float8E8M0FNU);
    /// The constants under the common rules, known at compile time.
    const DATA: [&Data; 2] = [
        &Data::new(D::DTYPE, &Rules::common(D::DTYPE, false)),
        &Data::new(D::DTYPE, &Rules::common(D::DTYPE, true)),
    ];
    const FAMILIES: [Family; 2] = [Self::family(false), Self::family(true)];

    const fn family(saturate: bool) -> Family {
        match D::DTYPE.spec() {
            Spec::Float(f) => Family::new(f, &Self::DATA[saturate as usize].float.encoder),
            // Not a float.
            _ => Family { width: Width::Eight, fnuz: false, nan: Nan::None },
        }
    }
}

impl<M: LaneOps, D: Format> Codes<M> for Small<D> {
    #[inline(always)]
    fn codes<L: Lanes<M>, const SATURATE: bool>(m: M, x: L, _: &Data) -> M::V {
        if Self::EXPONENT {
            exponents::<M, SATURATE, false>(m, x.f32_odd::<true>(m))
        } else {
            let (sign, values) = match (L::INTEGERS, L::UNSIGNED) {
                (true, true) => (Some(m.splat(0)), Values::Naturals),
                (integers, _) => (x.signs(m), if integers { Values::Integers } else { Values::Any }),
            };
            let family = const { Self::FAMILIES[SATURATE as usize] };
            let data = const { Self::DATA[SATURATE as usize] };
            floats::<M, Common, false>(m, x.f32_odd::<false>(m), sign, values, family, data)
        }
    }
}

/// `float8_e5m2` from float16, by dropping the last eight bits.
pub(crate) struct E5m2;

impl<M: LaneOps> Codes<M> for E5m2 {
    #[inline(always)]
    fn codes<L: Lanes<M>, const SATURATE: bool>(m: M, x: L, _: &Data) -> M::V {
        let x = x.halves(m);
        let all = |x: u16| m.splat_16(x);
        let codes = two!(x, |x| {
            let magnitude = m.and(x, all(0x7FFF));
            let limited = if SATURATE { m.min_u16(magnitude, all(0x7B00)) } else { magnitude };
            // Just under half a unit, plus the last kept bit.
            let last = m.and(m.shr_16::<8>(limited), all(1));
            let rounded = m.add_16(m.add_16(limited, all(0x7F)), last);
            m.select(m.gt_u16(magnitude, all(0x7C00)), all(0x7E00), rounded)
        });
        m.select(m.splat_8(0x80), m.odd_8(x[0], x[1]), m.odd_8(codes[0], codes[1]))
    }
}

/// Elements of `BITS` bits, packed if `BITS` is less than 8.
pub(crate) struct Byte<C, const BITS: usize>(PhantomData<C>);

impl<M: LaneOps, C: Codes<M>, const BITS: usize> Target<M> for Byte<C, BITS> {
    const BITS: usize = BITS;
    const LIGHT: bool = C::LIGHT;
    #[inline(always)]
    unsafe fn store<L: Lanes<M>, const SATURATE: bool>(
        m: M,
        x: [L; 2],
        [first, second]: [*mut u8; 2],
        data: &Data,
    ) {
        let codes = two!(x, |x| C::codes::<L, SATURATE>(m, x, data));
        // SAFETY: the caller's units: packed units take twice `BITS` bits for each byte of a register, all others a register each.
        unsafe {
            if BITS < 8 {
                m.pack::<BITS>(first, codes);
            } else {
                m.store(first, codes[0]);
                m.store(second, codes[1]);
            }
        }
    }
    #[inline(always)]
    unsafe fn store_part<L: Lanes<M>, const SATURATE: bool, const QUARTERS: usize>(
        m: M,
        x: L,
        dst: To<QUARTERS>,
        data: &Data,
    ) {
        // SAFETY: the caller's part.
        unsafe { store_1(m, C::codes::<L, SATURATE>(m, x, data), dst) }
    }
}

/// Elements of two bytes that the lanes already hold.
pub(crate) struct Found16;
pub(crate) struct Int16<const SIGNED: bool>;
pub(crate) struct Int32<const SIGNED: bool>;
pub(crate) struct Int64<const SIGNED: bool>;
pub(crate) struct F16;
pub(crate) struct BF16;
pub(crate) struct F32;
pub(crate) struct F64;
pub(crate) struct C64;
pub(crate) struct C128;

/// Implements [`Target`] by the code that stores a part of a unit.
macro_rules! targets {
    ($(<$(const $generic:ident: $kind:ty)? $(; $mode:ident: $bound:path)?> $name:ty, $bytes:literal, $saturate:ident, |$m:ident, $x:ident, $dst:ident, $data:ident| $body:expr;)*) => {$(
        impl<M: $crate::vector::lanes::LaneOps, $(const $generic: $kind)? $($mode: $bound)?> $crate::vector::lanes::target::Target<M> for $name {
            const BITS: usize = 8 * $bytes;
            #[inline(always)]
            unsafe fn store<L: $crate::vector::lanes::Lanes<M>, const SATURATE: bool>(
                m: M,
                [x, y]: [L; 2],
                [first, second]: [*mut u8; 2],
                data: &$crate::format::data::Data,
            ) {
                // SAFETY: the caller's units.
                unsafe {
                    Self::store_part::<L, SATURATE, 4>(m, x, $crate::vector::lanes::part::To::new(first), data);
                    Self::store_part::<L, SATURATE, 4>(m, y, $crate::vector::lanes::part::To::new(second), data);
                }
            }
            #[inline(always)]
            unsafe fn store_part<L: $crate::vector::lanes::Lanes<M>, const $saturate: bool, const QUARTERS: usize>(
                $m: M,
                $x: L,
                $dst: $crate::vector::lanes::part::To<QUARTERS>,
                $data: &$crate::format::data::Data,
            ) {
                // SAFETY: the caller's part.
                unsafe { $body }
            }
        }
    )*};
}
pub(crate) use targets;

targets! {
    <> Found16, 2, SATURATE, |m, x, dst, _data| store_2(m, x.found_16(m), dst);
    <const SIGNED: bool> Int16<SIGNED>, 2, SATURATE, |m, x, dst, _data| {
        store_2(m, x.int16::<SATURATE, SIGNED>(m), dst)
    };
    <const SIGNED: bool> Int32<SIGNED>, 4, SATURATE, |m, x, dst, _data| {
        store_4(m, x.int32::<SATURATE, SIGNED>(m), dst)
    };
    <const SIGNED: bool> Int64<SIGNED>, 8, SATURATE, |m, x, dst, _data| {
        store_8(m, x.int64::<SATURATE, SIGNED>(m), dst)
    };
    <> F16, 2, SATURATE, |m, x, dst, _data| store_2(m, x.f16(m), dst);
    <> BF16, 2, SATURATE, |m, x, dst, _data| store_2(m, x.bf16(m), dst);
    <> F32, 4, SATURATE, |m, x, dst, _data| store_4(m, x.f32(m), dst);
    <> F64, 8, SATURATE, |m, x, dst, _data| store_8(m, x.f64(m), dst);
    <> C64, 8, SATURATE, |m, x, dst, _data| store_complex_32(m, x.f32(m), dst);
    <> C128, 16, SATURATE, |m, x, dst, _data| store_complex_64(m, x.f64(m), dst);
}
