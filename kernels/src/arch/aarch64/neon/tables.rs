//! Sources of one byte per element or less, looked up: an instruction looks 16 indices up in 64 entries.
//!
//! A table gives the results themselves ([`Found8`], [`Found16`]), or what they are easily made of: short integers, or the
//! upper halves of float32.

use super::{
    packing::spread,
    sources::{Source, upper_halves},
    *,
};
use crate::lut::{self, Choice, Limits, Lut, Saturating, Truncating, Wrapping, choice};
use core::marker::PhantomData;

/// Results of a byte.
#[derive(Clone, Copy)]
pub(super) struct Found8(Bytes);

/// Results of two bytes.
#[derive(Clone, Copy)]
pub(super) struct Found16(Halves);

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
#[inline(always)]
unsafe fn codes<const BITS: usize>([first, second]: [*const u8; 2]) -> [Bytes; 2] {
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

/// A table of `E` entries in registers.
pub(super) trait Entries<const E: usize>: Copy {
    /// # Safety
    ///
    /// The CPU has the tier, and the entries can be read.
    unsafe fn new(entries: *const u8) -> Self;
    /// The entries of indices less than `E`.
    ///
    /// # Safety
    ///
    /// The CPU has the tier.
    unsafe fn get(self, index: Bytes) -> Bytes;
}

/// Sixteen entries.
#[derive(Clone, Copy)]
pub(super) struct Sixteen(Bytes);

/// `N` times 64 entries.
#[derive(Clone, Copy)]
pub(super) struct Quads<const N: usize>([uint8x16x4_t; N]);

impl Entries<16> for Sixteen {
    #[inline(always)]
    unsafe fn new(entries: *const u8) -> Self {
        // SAFETY: the caller's promise.
        Self(unsafe { vld1q_u8(entries) })
    }
    #[inline(always)]
    unsafe fn get(self, index: Bytes) -> Bytes {
        // SAFETY: the caller's promise.
        unsafe { vqtbl1q_u8(self.0, index) }
    }
}

macro_rules! quads {
    ($($entries:literal: [$($n:literal)*], [$($more:literal)*];)*) => {$(
        impl Entries<$entries> for Quads<{ $entries / 64 }> {
            #[inline(always)]
            unsafe fn new(entries: *const u8) -> Self {
                // SAFETY: the caller's promise.
                Self(unsafe { [$(vld1q_u8_x4(entries.add(64 * $n))),*] })
            }
            #[inline(always)]
            unsafe fn get(self, index: Bytes) -> Bytes {
                // SAFETY: the caller's promise. An index beyond 64 entries leaves what others have found.
                unsafe {
                    #[allow(unused_mut, reason = "64 entries are one table")]
                    let mut found = vqtbl4q_u8(self.0[0], index);
                    $(found = vqtbx4q_u8(found, self.0[$more], vsubq_u8(index, vdupq_n_u8(64 * $more)));)*
                    found
                }
            }
        }
    )*};
}
quads! {
    64: [0], [];
    128: [0 1], [1];
    256: [0 1 2 3], [1 2 3];
}

/// How codes are looked up in tables of `E` entries.
pub(super) trait Lookup<const E: usize> {
    /// Which codes stand in the tables.
    type Codes: Choice;
    type Entries: Entries<E>;
    /// # Safety
    ///
    /// The CPU has the tier.
    unsafe fn index(codes: Bytes) -> Bytes;
    /// The words of two planes; `patch` is that of the table.
    ///
    /// # Safety
    ///
    /// The CPU has the tier.
    #[inline(always)]
    unsafe fn planes(tables: [Self::Entries; 2], _: [u8; 2], codes: Bytes) -> [Bytes; 2] {
        // SAFETY: the caller's promise.
        unsafe {
            let index = Self::index(codes);
            [tables[0].get(index), tables[1].get(index)]
        }
    }
}

/// Every code has an entry.
pub(super) struct Direct<T>(PhantomData<T>);
/// bool: 0 or 1.
pub(super) struct Nonzero;
/// Those without the sign, which is that of the word.
pub(super) struct Magnitude;
/// The same with NaN in the place of -0.
pub(super) struct Fnuz;

macro_rules! direct {
    ($($entries:literal $mask:literal $type:ty;)*) => {$(
        impl Lookup<$entries> for Direct<$type> {
            type Codes = choice::All;
            type Entries = $type;
            #[inline(always)]
            unsafe fn index(codes: Bytes) -> Bytes {
                // SAFETY: the caller's promise. Bits that a source does not use are junk.
                unsafe { if $mask == 0xFF { codes } else { vandq_u8(codes, vdupq_n_u8($mask)) } }
            }
        }
    )*};
}
direct! {
    16 0x0F Sixteen;
    64 0x3F Quads<1>;
    256 0xFF Quads<4>;
}

impl Lookup<16> for Nonzero {
    type Codes = choice::All;
    type Entries = Sixteen;
    #[inline(always)]
    unsafe fn index(codes: Bytes) -> Bytes {
        // SAFETY: the caller's promise.
        unsafe { vminq_u8(codes, vdupq_n_u8(1)) }
    }
}

impl Lookup<128> for Magnitude {
    type Codes = choice::Magnitudes;
    type Entries = Quads<2>;
    #[inline(always)]
    unsafe fn index(codes: Bytes) -> Bytes {
        // SAFETY: the caller's promise.
        unsafe { vandq_u8(codes, vdupq_n_u8(0x7F)) }
    }
    #[inline(always)]
    unsafe fn planes(tables: [Quads<2>; 2], _: [u8; 2], codes: Bytes) -> [Bytes; 2] {
        // SAFETY: the caller's promise.
        unsafe {
            let index = Self::index(codes);
            [tables[0].get(index), vbslq_u8(vdupq_n_u8(0x80), codes, tables[1].get(index))]
        }
    }
}

impl Lookup<128> for Fnuz {
    type Codes = choice::Patched;
    type Entries = Quads<2>;
    #[inline(always)]
    unsafe fn index(codes: Bytes) -> Bytes {
        // SAFETY: the caller's promise.
        unsafe { Magnitude::index(codes) }
    }
    #[inline(always)]
    unsafe fn planes(tables: [Quads<2>; 2], patch: [u8; 2], codes: Bytes) -> [Bytes; 2] {
        // SAFETY: the caller's promise.
        unsafe {
            let nan = vceqq_u8(codes, vdupq_n_u8(0x80));
            let [low, high] = Magnitude::planes(tables, patch, codes);
            [vbslq_u8(nan, vdupq_n_u8(patch[0]), low), vbslq_u8(nan, vdupq_n_u8(patch[1]), high)]
        }
    }
}

/// Words of two planes.
#[inline(always)]
unsafe fn zip([low, high]: [Bytes; 2]) -> Halves {
    // SAFETY: the CPU has the tier.
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
            let patch = lut::Of::<T, Q::Codes, E, 2>::LUT.patch;
            let [a, b] = codes::<BITS>(src);
            each!([a, b], |codes| Found16(zip(Q::planes(tables, patch, codes))))
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

/// `float8_e8m0fnu`: the exponents of float32, and as bfloat16 the results themselves.
pub(super) struct Exponents;
pub(super) struct ExponentsToBf16;

impl Source for ExponentsToBf16 {
    const BITS: usize = 8;
    type Lanes = Found16;
    type Tables = ();
    #[inline(always)]
    unsafe fn tables(_: &Data) {}
    #[inline(always)]
    unsafe fn load((): (), src: [*const u8; 2]) -> [Found16; 2] {
        // SAFETY: the caller's promise.
        unsafe {
            let [a, b] = codes::<8>(src);
            each!([a, b], |codes| {
                // The lowest is a subnormal, the highest NaN: both are the bit below the field.
                let ends = vcleq_u8(vaddq_u8(codes, vdupq_n_u8(1)), vdupq_n_u8(1));
                let low = vsliq_n_u8::<7>(vandq_u8(ends, vdupq_n_u8(0x40)), codes);
                Found16(zip([low, vshrq_n_u8::<1>(codes)]))
            })
        }
    }
}

impl Source for Exponents {
    const BITS: usize = 8;
    type Lanes = Singles<{ floats::ANY }>;
    type Tables = ();
    #[inline(always)]
    unsafe fn tables(_: &Data) {}
    #[inline(always)]
    unsafe fn load((): (), src: [*const u8; 2]) -> [Self::Lanes; 2] {
        // SAFETY: the caller's promise.
        unsafe {
            let [a, b] = ExponentsToBf16::load((), src);
            [Singles(upper_halves(a.0)), Singles(upper_halves(b.0))]
        }
    }
}

/// Powers of two as integers that wrap: 1, shifted by the bytes. Shifts that are negative or too many give 0: fractions, what
/// wraps, and NaN, which counts as 2^128.
#[derive(Clone, Copy)]
pub(super) struct Shifts(Bytes);

impl Lanes for Shifts {
    #[inline(always)]
    unsafe fn int16<const SATURATE: bool, const TO: bool>(self) -> Halves {
        // SAFETY: the caller's promise.
        unsafe {
            let [a, b] = widths::widen_8::<true>(self.0);
            each!([a, b], |x| vshlq_u16(vdupq_n_u16(1), vreinterpretq_s16_u16(x)))
        }
    }
    #[inline(always)]
    unsafe fn int32<const SATURATE: bool, const TO: bool>(self) -> Words {
        // SAFETY: the caller's promise. Of a lane only the lowest byte counts.
        unsafe {
            each!(widths::in_words::<0>(self.0), |x| vshlq_u32(vdupq_n_u32(1), vreinterpretq_s32_u32(x)))
        }
    }
    #[inline(always)]
    unsafe fn int64<const SATURATE: bool, const TO: bool>(self) -> Doubles {
        // SAFETY: the caller's promise. Of a lane only the lowest byte counts.
        unsafe {
            eight!(widths::in_doubles::<0>(self.0), |x| vshlq_u64(vdupq_n_u64(1), vreinterpretq_s64_u64(x)))
        }
    }
}

/// `float8_e8m0fnu` on the way to integers that wrap.
pub(super) struct PowersOfTwo;

impl Source for PowersOfTwo {
    const BITS: usize = 8;
    type Lanes = Shifts;
    type Tables = ();
    #[inline(always)]
    unsafe fn tables(_: &Data) {}
    #[inline(always)]
    unsafe fn load((): (), src: [*const u8; 2]) -> [Shifts; 2] {
        // SAFETY: the caller's promise.
        unsafe {
            let [a, b] = codes::<8>(src);
            each!([a, b], |codes| Shifts(vsubq_u8(codes, vdupq_n_u8(127))))
        }
    }
}

/// Integers and truth values by limits, without a table.
pub(super) struct Limited<S, D, const SATURATE: bool, const BITS: usize>(PhantomData<(S, D)>);

impl<S: Format, D: Format, const SATURATE: bool, const BITS: usize> Source for Limited<S, D, SATURATE, BITS> {
    const BITS: usize = BITS;
    type Lanes = Found8;
    type Tables = ();
    #[inline(always)]
    unsafe fn tables(_: &Data) {}
    #[inline(always)]
    unsafe fn load((): (), src: [*const u8; 2]) -> [Found8; 2] {
        const fn limits<S: Format, D: Format>(saturate: bool) -> Limits {
            match lut::limits(S::DTYPE, D::DTYPE, saturate) {
                Some(limits) => limits,
                None => panic!("not a pair of limits"),
            }
        }
        let Limits { signed, used, min, max, bits } = const { limits::<S, D>(SATURATE) };
        // SAFETY: the caller's promise. Of steps that change nothing no instruction is left.
        unsafe {
            let [a, b] = codes::<BITS>(src);
            each!([a, b], |x| {
                let x = if used == 0xFF { x } else { vandq_u8(x, vdupq_n_u8(used)) };
                let x = match signed {
                    _ if (signed, min, max) == (true, 0x80, 0x7F)
                        || (signed, min, max) == (false, 0, 0xFF) =>
                    {
                        x
                    }
                    true => {
                        let x = vmaxq_s8(vreinterpretq_s8_u8(x), vdupq_n_s8(min as i8));
                        vreinterpretq_u8_s8(vminq_s8(x, vdupq_n_s8(max as i8)))
                    }
                    false => {
                        let x = if min == 0 { x } else { vmaxq_u8(x, vdupq_n_u8(min)) };
                        vminq_u8(x, vdupq_n_u8(max))
                    }
                };
                Found8(if bits == 0xFF { x } else { vandq_u8(x, vdupq_n_u8(bits)) })
            })
        }
    }
}

/// Unsigned integers of a byte or less, of which the bits in `MASK` count.
pub(super) struct Masked<const MASK: u8, const BITS: usize>;

impl<const MASK: u8, const BITS: usize> Source for Masked<MASK, BITS> {
    const BITS: usize = BITS;
    type Lanes = Ints8<false>;
    type Tables = ();
    #[inline(always)]
    unsafe fn tables(_: &Data) {}
    #[inline(always)]
    unsafe fn load((): (), src: [*const u8; 2]) -> [Ints8<false>; 2] {
        // SAFETY: the caller's promise. What was unpacked has no bits above.
        unsafe {
            let [a, b] = codes::<BITS>(src);
            each!([a, b], |x| Ints8(vandq_u8(x, vdupq_n_u8(MASK))))
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
