//! Sources of one byte per element or less, looked up ([`lookup`](super::lookup)), and the choice of a kernel for all of them.
//!
//! A table gives the results themselves ([`Found8`], [`Found16`]), or what they are easily made of: short integers, or the
//! upper halves of float32.

use super::{
    computed::{Exponents, ExponentsToBf16, Limited, Masked, PowersOfTwo},
    lookup::{Direct, Entries, Fnuz, Lookup, Magnitude, Nonzero, Quads, Sixteen},
    packing::spread,
    sources::{Source, upper_halves},
    *,
};
use crate::lut::{self, Lut, Saturating, Truncating, Wrapping};
use core::marker::PhantomData;

/// Results of a byte.
#[derive(Clone, Copy)]
pub(super) struct Found8(pub(super) Bytes);

/// Results of two bytes.
#[derive(Clone, Copy)]
pub(super) struct Found16(pub(super) Halves);

impl Lanes for Found8 {
    #[inline(always)]
    unsafe fn found_8(self) -> Bytes {
        self.0
    }
}

impl Lanes for Found16 {
    #[inline(always)]
    unsafe fn found_16(self) -> Halves {
        self.0
    }
}

/// Two units of codes of `BITS` bits: one per byte if they are 8.
///
/// # Safety
///
/// The CPU has the tier, and the units can be read.
#[inline(always)]
pub(super) unsafe fn codes<const BITS: usize>([first, second]: [*const u8; 2]) -> [Bytes; 2] {
    // SAFETY: the caller's promise.
    unsafe {
        match BITS {
            2 => spread::<2>(first),
            4 => spread::<4>(first),
            6 => spread::<6>(first),
            _ => [vld1q_u8(first), vld1q_u8(second)],
        }
    }
}

/// Words of two planes.
///
/// # Safety
///
/// The CPU has the tier.
#[inline(always)]
pub(super) unsafe fn zip([low, high]: [Bytes; 2]) -> Halves {
    // SAFETY: the caller's promise.
    unsafe { each!([vzip1q_u8(low, high), vzip2q_u8(low, high)], |x| vreinterpretq_u16_u8(x)) }
}

/// Packed (`BITS` less than 8) or not: the results themselves, of a byte.
pub(super) struct To8<T, Q, const E: usize, const BITS: usize>(PhantomData<(T, Q)>);
/// The same of two bytes.
pub(super) struct To16<T, Q, const E: usize, const BITS: usize>(PhantomData<(T, Q)>);
/// Integers of a byte, of which the results are made.
pub(super) struct ToInts<T, Q, const SIGNED: bool, const E: usize, const BITS: usize>(PhantomData<(T, Q)>);
/// Float32, of which the results are made.
pub(super) struct ToSingles<T, Q, const E: usize, const BITS: usize>(PhantomData<(T, Q)>);

impl<T: lut::Words, Q: Lookup<E>, const E: usize, const BITS: usize> Source for To8<T, Q, E, BITS> {
    const BITS: usize = BITS;
    type Lanes = Found8;
    type Tables = Q::Entries;
    #[inline(always)]
    unsafe fn tables(_: &Data) -> Q::Entries {
        // SAFETY: the caller's promise; the table has `E` entries.
        unsafe { Q::Entries::new(lut::Of::<T, Q::Codes, E, 1>::LUT.planes[0].as_ptr()) }
    }
    #[inline(always)]
    unsafe fn load(tables: Q::Entries, src: [*const u8; 2]) -> [Found8; 2] {
        // SAFETY: the caller's promise.
        unsafe {
            let [a, b] = codes::<BITS>(src);
            each!([a, b], |codes| Found8(tables.get(Q::index(codes))))
        }
    }
}

impl<T: lut::Words, Q: Lookup<E>, const SIGNED: bool, const E: usize, const BITS: usize> Source
    for ToInts<T, Q, SIGNED, E, BITS>
{
    const BITS: usize = BITS;
    type Lanes = Ints8<SIGNED>;
    type Tables = Q::Entries;
    #[inline(always)]
    unsafe fn tables(data: &Data) -> Q::Entries {
        // SAFETY: the caller's promise.
        unsafe { To8::<T, Q, E, BITS>::tables(data) }
    }
    #[inline(always)]
    unsafe fn load(tables: Q::Entries, src: [*const u8; 2]) -> [Ints8<SIGNED>; 2] {
        // SAFETY: the caller's promise.
        unsafe {
            let [a, b] = To8::<T, Q, E, BITS>::load(tables, src);
            [Ints8(a.0), Ints8(b.0)]
        }
    }
}

impl<T: lut::Words, Q: Lookup<E>, const E: usize, const BITS: usize> To16<T, Q, E, BITS> {
    /// The results of codes, one per byte.
    ///
    /// # Safety
    ///
    /// The CPU has the tier.
    #[inline(always)]
    pub(super) unsafe fn found(tables: [Q::Entries; 2], codes: Bytes) -> Halves {
        // SAFETY: the caller's promise.
        unsafe { zip(Q::planes(tables, lut::Of::<T, Q::Codes, E, 2>::LUT.patch, codes)) }
    }
}

impl<T: lut::Words, Q: Lookup<E>, const E: usize, const BITS: usize> Source for To16<T, Q, E, BITS> {
    const BITS: usize = BITS;
    type Lanes = Found16;
    type Tables = [Q::Entries; 2];
    #[inline(always)]
    unsafe fn tables(_: &Data) -> [Q::Entries; 2] {
        // SAFETY: the caller's promise; the tables have `E` entries.
        unsafe {
            let [low, high] = &lut::Of::<T, Q::Codes, E, 2>::LUT.planes;
            [Q::Entries::new(low.as_ptr()), Q::Entries::new(high.as_ptr())]
        }
    }
    #[inline(always)]
    unsafe fn load(tables: [Q::Entries; 2], src: [*const u8; 2]) -> [Found16; 2] {
        // SAFETY: the caller's promise.
        unsafe {
            let [a, b] = codes::<BITS>(src);
            each!([a, b], |codes| Found16(Self::found(tables, codes)))
        }
    }
}

impl<T: lut::Words, Q: Lookup<E>, const E: usize, const BITS: usize> Source for ToSingles<T, Q, E, BITS> {
    const BITS: usize = BITS;
    type Lanes = Singles<{ floats::SHORT }>;
    type Tables = [Q::Entries; 2];
    #[inline(always)]
    unsafe fn tables(data: &Data) -> [Q::Entries; 2] {
        // SAFETY: the caller's promise.
        unsafe { To16::<T, Q, E, BITS>::tables(data) }
    }
    #[inline(always)]
    unsafe fn load(tables: [Q::Entries; 2], src: [*const u8; 2]) -> [Self::Lanes; 2] {
        // SAFETY: the caller's promise.
        unsafe {
            let [a, b] = To16::<T, Q, E, BITS>::load(tables, src);
            [Singles(upper_halves(a.0)), Singles(upper_halves(b.0))]
        }
    }
}

/// Codes whose results of a byte come with the cast (`Data::table`).
pub(super) struct Given<Q, const E: usize, const BITS: usize>(PhantomData<Q>);
/// The same of integers of a byte, of which the results are made.
pub(super) struct GivenInts<Q, const SIGNED: bool, const E: usize, const BITS: usize>(PhantomData<Q>);
/// 8-bit floats, as float32 of which the upper halves come with the cast, in a [`lut::Lut`].
pub(super) struct GivenSingles;

impl<Q: Lookup<E>, const E: usize, const BITS: usize> Source for Given<Q, E, BITS> {
    const BITS: usize = BITS;
    type Lanes = Found8;
    type Tables = Q::Entries;
    #[inline(always)]
    unsafe fn tables(data: &Data) -> Q::Entries {
        // SAFETY: the caller's promise; the table has `E` entries.
        unsafe { Q::Entries::new(data.table) }
    }
    #[inline(always)]
    unsafe fn load(tables: Q::Entries, src: [*const u8; 2]) -> [Found8; 2] {
        // SAFETY: the caller's promise.
        unsafe {
            let [a, b] = codes::<BITS>(src);
            each!([a, b], |codes| Found8(tables.get(Q::index(codes))))
        }
    }
}

impl<Q: Lookup<E>, const SIGNED: bool, const E: usize, const BITS: usize> Source
    for GivenInts<Q, SIGNED, E, BITS>
{
    const BITS: usize = BITS;
    type Lanes = Ints8<SIGNED>;
    type Tables = Q::Entries;
    #[inline(always)]
    unsafe fn tables(data: &Data) -> Q::Entries {
        // SAFETY: the caller's promise.
        unsafe { Given::<Q, E, BITS>::tables(data) }
    }
    #[inline(always)]
    unsafe fn load(tables: Q::Entries, src: [*const u8; 2]) -> [Ints8<SIGNED>; 2] {
        // SAFETY: the caller's promise.
        unsafe {
            let [a, b] = Given::<Q, E, BITS>::load(tables, src);
            [Ints8(a.0), Ints8(b.0)]
        }
    }
}

impl Source for GivenSingles {
    const BITS: usize = 8;
    type Lanes = Singles<{ floats::SHORT_OR_INFINITE }>;
    type Tables = ([Quads<2>; 2], [u8; 2]);
    #[inline(always)]
    unsafe fn tables(data: &Data) -> Self::Tables {
        // SAFETY: the caller's promise; the table is one of 128 entries.
        unsafe {
            let Lut { planes: [low, high], patch } = &*data.table.cast::<Lut<128, 2>>();
            ([Quads::<2>::new(low.as_ptr()), Quads::<2>::new(high.as_ptr())], *patch)
        }
    }
    #[inline(always)]
    unsafe fn load((tables, patch): Self::Tables, src: [*const u8; 2]) -> [Self::Lanes; 2] {
        // SAFETY: the caller's promise.
        unsafe {
            let [a, b] = codes::<8>(src);
            each!([a, b], |codes| Singles(upper_halves(zip(Fnuz::planes(tables, patch, codes)))))
        }
    }
}

/// The kernel of a pair whose source has a byte per element, or `BITS` packed.
pub(super) const fn kernel<S: Format, D: Format, const FINE: u8, const BITS: usize, const PACKED: bool>(
    saturate: bool,
) -> KernelFn {
    /// Integers of `bits` bits without a sign; what fits anyway is not limited.
    const fn masked<S: Source, D: Format, const FINE: u8, const PACKED: bool>(
        bits: u32,
        saturate: bool,
    ) -> KernelFn {
        let (to_bits, signed) = match D::DTYPE.spec() {
            Spec::Int { bits, signed } => (bits, signed as u32),
            _ => panic!("not an integer"),
        };
        to::<S, D, FINE, PACKED>(saturate && to_bits - signed < bits)
    }
    let int = matches!(D::DTYPE.spec(), Spec::Int { .. });
    match S::DTYPE {
        DType::UInt2 if int => masked::<Masked<3, BITS>, D, FINE, PACKED>(2, saturate),
        DType::UInt4 if int => masked::<Masked<15, BITS>, D, FINE, PACKED>(4, saturate),
        // Bits that are cut off.
        DType::Int2 if int && !saturate && D::DTYPE.bits() == 2 => {
            masked::<Masked<3, BITS>, D, FINE, PACKED>(2, false)
        }
        DType::Int4 if int && !saturate && D::DTYPE.bits() <= 4 => {
            masked::<Masked<15, BITS>, D, FINE, PACKED>(4, false)
        }
        DType::Bool if D::DTYPE.size() > 1 && matches!(D::DTYPE.spec(), Spec::Int { .. }) => {
            to::<sources::Truth, D, FINE, false>(saturate)
        }
        DType::Int8 if D::DTYPE.size() > 1 => to::<i8, D, FINE, false>(saturate),
        DType::UInt8 if D::DTYPE.size() > 1 => to::<u8, D, FINE, false>(saturate),
        DType::Float8E8M0FNU if matches!(D::DTYPE, DType::BFloat16) => {
            run::<ExponentsToBf16, targets::Found16, true>
        }
        DType::Float8E8M0FNU if D::DTYPE.size() > 1 && int && !saturate => {
            to::<PowersOfTwo, D, FINE, false>(false)
        }
        DType::Float8E8M0FNU if D::DTYPE.size() > 1 => to::<Exponents, D, FINE, false>(saturate),
        _ if D::DTYPE.size() == 1 => to_8::<S, D, BITS, PACKED>(saturate),
        DType::Bool => wide::<S, D, Nonzero, FINE, 16, 8>(saturate),
        _ => match (S::DTYPE.bits(), S::DTYPE.spec()) {
            (..=4, _) => short::<S, D, Direct<Sixteen>, FINE, 16, BITS>(saturate),
            (..=6, _) => short::<S, D, Direct<Quads<1>>, FINE, 64, BITS>(saturate),
            (_, Spec::Float(f)) if matches!(f.flavor, crate::dtype::Flavor::Fnuz) => {
                wide::<S, D, Fnuz, FINE, 128, BITS>(saturate)
            }
            _ => wide::<S, D, Magnitude, FINE, 128, BITS>(saturate),
        },
    }
}

/// Targets of a byte or less.
const fn to_8<S: Format, D: Format, const BITS: usize, const PACKED: bool>(saturate: bool) -> KernelFn {
    const fn stored<Q: Source<Lanes = Found8>, const PACKED: bool>(bits: u32) -> KernelFn {
        match bits {
            2 if PACKED => run::<Q, targets::Byte<targets::Found, 2>, true>,
            4 if PACKED => run::<Q, targets::Byte<targets::Found, 4>, true>,
            6 if PACKED => run::<Q, targets::Byte<targets::Found, 6>, true>,
            _ => run::<Q, targets::Byte<targets::Found, 8>, true>,
        }
    }
    const fn looked_up<
        S: Format,
        D: Format,
        Q: Lookup<E>,
        const E: usize,
        const BITS: usize,
        const PACKED: bool,
    >(
        saturate: bool,
    ) -> KernelFn {
        if saturate || !has_overflow_rule(D::DTYPE) {
            stored::<To8<Saturating<S, D>, Q, E, BITS>, PACKED>(D::DTYPE.bits())
        } else {
            stored::<To8<Wrapping<S, D>, Q, E, BITS>, PACKED>(D::DTYPE.bits())
        }
    }
    if lut::limits(S::DTYPE, D::DTYPE, saturate).is_some() {
        return if saturate {
            stored::<Limited<S, D, true, BITS>, PACKED>(D::DTYPE.bits())
        } else {
            stored::<Limited<S, D, false, BITS>, PACKED>(D::DTYPE.bits())
        };
    }
    match (S::DTYPE, S::DTYPE.bits()) {
        (DType::Bool, _) => looked_up::<S, D, Nonzero, 16, BITS, PACKED>(saturate),
        (_, ..=4) => looked_up::<S, D, Direct<Sixteen>, 16, BITS, PACKED>(saturate),
        (_, ..=6) => looked_up::<S, D, Direct<Quads<1>>, 64, BITS, PACKED>(saturate),
        _ => looked_up::<S, D, Direct<Quads<4>>, 256, BITS, PACKED>(saturate),
    }
}

/// Wider targets of sources of up to 6 bits, whose truncated values have a byte.
const fn short<S: Format, D: Format, Q: Lookup<E>, const FINE: u8, const E: usize, const BITS: usize>(
    saturate: bool,
) -> KernelFn {
    match D::DTYPE.spec() {
        // What is negative saturates to 0 by the table.
        Spec::Int { signed: false, .. } if saturate => {
            to::<ToInts<Saturating<S, u8>, Q, false, E, BITS>, D, FINE, false>(false)
        }
        Spec::Int { .. } => to::<ToInts<Saturating<S, i8>, Q, true, E, BITS>, D, FINE, false>(false),
        _ => wide::<S, D, Q, FINE, E, BITS>(saturate),
    }
}

/// Wider targets. Many need the same words.
const fn wide<S: Format, D: Format, Q: Lookup<E>, const FINE: u8, const E: usize, const BITS: usize>(
    saturate: bool,
) -> KernelFn {
    match D::DTYPE {
        DType::Float16 => run::<To16<Saturating<S, D>, Q, E, BITS>, targets::Found16, true>,
        DType::BFloat16 => run::<To16<Saturating<S, f32>, Q, E, BITS>, targets::Found16, true>,
        _ if matches!(D::DTYPE.spec(), Spec::Int { .. }) && !saturate => {
            to::<ToSingles<Truncating<S, 32, false>, Q, E, BITS>, D, FINE, false>(false)
        }
        _ => to::<ToSingles<Saturating<S, f32>, Q, E, BITS>, D, FINE, false>(saturate),
    }
}
