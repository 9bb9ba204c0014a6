//! Casts of all dtypes whose elements take one byte or less.
//!
//! Such a cast has at most 256 results. For targets of a byte, a kernel looks 32 of them up at once ([`lookup`]), where possible in half the
//! table with a rule for the rest ([`folded`]). For wider targets it makes the 16 bits in which results differ, from smaller tables or by an
//! affine map ([`sources`]), and unpacks them to the width of the target ([`shapes`]). Tables and maps are data (`lut`, `linear`), so that one
//! body serves all pairs of the same kind. Integers of a whole byte are extended instead ([`widen`]). Packed elements are spread or packed on
//! the way ([`load`], [`store`]).

use super::simd::Avx2;
use crate::{
    arch::x86::{ClampSigned, ClampUnsigned, Overflow, Wrap, intrinsics::*},
    dtype::{DType, Encoding, Spec},
    exact::Rules,
    format::{
        Format,
        data::direction,
        linear,
        lut::{self, Codes, Folded, FoldedOf, Lut, Of, Saturating, Set, Wrapping, choice},
    },
    vector::{
        Simd,
        kernel::{Entry, Made, TableFn, WithTable, erased},
        padded_bits,
        pairs::has_overflow_rule,
        table::Found,
    },
};
use blocks::{BLOCK, for_each_block, load, store};
use lookup::look_up;
use shapes::{C64, C128, F32, F64, H16, I16, I32, I64, Shape, W16};
use sources::{Fnuz, Last, Linear, Magnitude, Nothing, Shifted, Sign, Signed, Table, Truth, Window};
use tables::Results;
mod blocks;
mod folded;
mod lookup;
pub(in crate::arch) mod scaled;
mod shapes;
mod sources;
mod tables;
mod widen;

avx2_fn! {
    /// The body of the pairs of a kind; `data` has the data of the pair. `TO` is the number of bits of `W`.
    ///
    /// # Safety
    ///
    /// As [`KernelFn`](crate::vector::kernel::KernelFn).
    unsafe fn wide<Q: sources::Source, W: Shape, const FROM: u32, const TO: u32>(
        src: *const u8,
        dst: *mut u8,
        n: usize,
        data: &WithTable<Q::Data>,
    ) {
        const { assert!(TO as usize == 8 * W::SIZE) };
        // SAFETY: each block lies among the caller's elements; a block on the stack is cast with the same data.
        unsafe {
            // No store changes a copy, so it stays in registers.
            let table = &core::ptr::from_ref(data.table()).read();
            for_each_block!((FROM, TO), (src, dst, n), (wide::<Q, W, FROM, TO>, data), false, |src, dst| {
                W::emit(Q::words(table, W::order(load::<FROM>(src))), dst, data.data());
            });
        }
    }
}

avx2_fn! {
    /// The body of the pairs with a target of a byte or less; `data` has the table of the pair. bool (`TRUTH`) is looked up as 0 or 1.
    ///
    /// # Safety
    ///
    /// As [`KernelFn`](crate::vector::kernel::KernelFn).
    unsafe fn narrow<const TRUTH: bool, const E: usize, const FROM: u32, const TO: u32>(
        src: *const u8,
        dst: *mut u8,
        n: usize,
        data: &WithTable<Lut<E, 1>>,
    ) {
        // SAFETY: as in `wide`.
        unsafe {
            // No store changes a copy, so it stays in registers.
            let lut = &core::ptr::from_ref(data.table()).read();
            for_each_block!(
                (FROM, TO),
                (src, dst, n),
                (narrow::<TRUTH, E, FROM, TO>, data),
                E == 16,
                |src, dst| {
                    let bytes = load::<FROM>(src);
                    let index = if TRUTH { _mm256_min_epu8(bytes, _mm256_set1_epi8(1)) } else { bytes };
                    let [codes] = look_up(lut, index);
                    store::<TO>(dst, codes);
                }
            );
        }
    }
}

/// How a pair whose source has at most a byte per element is cast.
pub(super) const fn find(from: Encoding, to: Encoding, saturate: bool) -> Found {
    let (s, d) = (from.dtype(), to.dtype());
    if from.is_packed() || to.is_packed() {
        // Small tables map half bytes to bytes; integers of a byte to shorter ones are cheaper to make first and pack afterwards.
        let mapped = s.bits() <= 4 && d.size() == 1 && !to.is_packed();
        if mapped || lut::limits_of(s, d, saturate).is_some() {
            return Found::Staged;
        }
    } else if let Some(entry) = extended(s, d, saturate) {
        return Found::Kernel(entry);
    }
    if d.size() == 1 {
        return Found::Tabled;
    }
    Found::Kernel(to_more(from, d, saturate || !has_overflow_rule(d)))
}

/// The kernel of a pair of byte storage, its table a constant.
pub(super) const fn kernel<S: Format, D: Format>(saturate: bool) -> Entry {
    let (from, to) = (Encoding::new(S::DTYPE), Encoding::new(D::DTYPE));
    if let Found::Kernel(entry) = find(from, to, saturate) {
        return entry;
    }
    let saturate = saturate || !has_overflow_rule(D::DTYPE);
    if lut::is_in(S::DTYPE, &[Set::Truth, Set::Four]) {
        return Entry::with_table(short(from, to), of_short::<S, D>(saturate));
    }
    match of_long::<S, D>(saturate) {
        Some(table) => match folded::kernel(table, 8, 8) {
            Some(run) => Entry::with_table(run, table),
            None => panic!("every table has a body"),
        },
        None => panic!("a pair of more than 4 bits has no short table"),
    }
}

/// The table of a pair whose source has up to 4 bits, or is bool.
const fn of_short<S: Format, D: Format>(saturate: bool) -> &'static Lut<16, 1> {
    match saturate {
        true => Of::<Saturating<S, D>, choice::Differences, 16, 1>::LUT,
        false => Of::<Wrapping<S, D>, choice::Differences, 16, 1>::LUT,
    }
}

/// The table of a pair whose source is longer.
const fn of_long<S: Format, D: Format>(saturate: bool) -> &'static Option<Folded> {
    match saturate {
        true => FoldedOf::<Saturating<S, D>>::TABLE,
        false => FoldedOf::<Wrapping<S, D>>::TABLE,
    }
}

/// The kernels that extend or narrow integers of a byte, and the kernels of exponents.
const fn extended(from: DType, to: DType, saturate: bool) -> Option<Entry> {
    use widen::{ClampedBytes, Extended, SignedBytes, TruthBytes, UnsignedBytes, Wide, widen as run};
    const fn of<W: Wide>(from: Extended) -> TableFn<u8> {
        match from {
            Extended::Signed => run::<W, SignedBytes>,
            Extended::Clamped => run::<W, ClampedBytes>,
            Extended::Unsigned => run::<W, UnsignedBytes>,
            _ => run::<W, TruthBytes>,
        }
    }
    /// Integers that are never out of range, except bool.
    const fn in_range<W: Wide>(from: Extended) -> TableFn<u8> {
        if matches!(from, Extended::Signed) { run::<W, SignedBytes> } else { run::<W, UnsignedBytes> }
    }
    if let Some(limits) = lut::limits_of(from, to, saturate) {
        let run = if limits.signed { widen::narrow::<true> } else { widen::narrow::<false> };
        return Some(Entry::with_table(run, limits));
    }
    let loses_sign = saturate && matches!(to.spec(), Spec::Int { signed: false, .. });
    let from = match from {
        DType::Bool => Extended::Truth,
        DType::UInt8 => Extended::Unsigned,
        DType::Int8 if loses_sign => Extended::Clamped,
        DType::Int8 => Extended::Signed,
        DType::Float8E8M0FNU => {
            return match powers::<UnsignedBytes>(to, saturate) {
                // SAFETY: it reads no table.
                Some(run) => Some(Entry::new(unsafe { erased(run) })),
                None => None,
            };
        }
        _ => return None,
    };
    let run = match (to, to.spec()) {
        (_, Spec::Int { bits: 16, .. }) => of::<widen::I16>(from),
        (_, Spec::Int { bits: 32, .. }) => of::<widen::I32>(from),
        (_, Spec::Int { bits: 64, .. }) => of::<widen::I64>(from),
        (DType::Float16, _) if matches!(from, Extended::Truth) => run::<widen::F16, TruthBytes>,
        (DType::Float16, _) => in_range::<widen::F16>(from),
        // The results of bool are zero or the bits of one constant.
        _ if matches!(from, Extended::Truth) => return None,
        (DType::BFloat16, _) => in_range::<widen::BF16>(from),
        (DType::Float32, _) => in_range::<widen::F32>(from),
        (DType::Float64, _) => in_range::<widen::F64>(from),
        (DType::Complex64, _) => in_range::<widen::C64>(from),
        (DType::Complex128, _) => in_range::<widen::C128>(from),
        _ => return None,
    };
    // SAFETY: none of these sources is `Rounded`, so no table is read.
    Some(Entry::new(unsafe { erased(run) }))
}

/// The kernel of `float8_e8m0fnu` to integers of more than a byte.
const fn powers<E: widen::Extend>(to: DType, saturate: bool) -> Option<TableFn<u8>> {
    const fn of<const BYTES: usize, E: widen::Extend>(overflow: Overflow) -> TableFn<u8>
    where
        widen::Powers<BYTES, Wrap>: widen::Wide,
        widen::Powers<BYTES, ClampSigned>: widen::Wide,
        widen::Powers<BYTES, ClampUnsigned>: widen::Wide,
    {
        use widen::{Powers, widen};
        match overflow {
            Overflow::Wrap => widen::<Powers<BYTES, Wrap>, E>,
            Overflow::Signed => widen::<Powers<BYTES, ClampSigned>, E>,
            Overflow::Unsigned => widen::<Powers<BYTES, ClampUnsigned>, E>,
        }
    }
    let overflow = Overflow::of(to, saturate);
    match to.spec() {
        Spec::Int { bits: 16, .. } => Some(of::<2, E>(overflow)),
        Spec::Int { bits: 32, .. } => Some(of::<4, E>(overflow)),
        Spec::Int { bits: 64, .. } => Some(of::<8, E>(overflow)),
        _ => None,
    }
}

/// The body of a source of at most 4 bits, or of bool.
const fn short(from: Encoding, to: Encoding) -> TableFn<Lut<16, 1>> {
    match (from.bits_per_element(), to.bits_per_element()) {
        (2, 4) => narrow::<false, 16, 2, 4>,
        (2, 6) => narrow::<false, 16, 2, 6>,
        (4, 2) => narrow::<false, 16, 4, 2>,
        (4, 6) => narrow::<false, 16, 4, 6>,
        (2 | 4, _) => panic!("half bytes to bytes, or to as many bits, are mapped"),
        (_, to) if matches!(from.dtype(), DType::Bool) => to_bits::<true, 16>(to),
        (_, to) => to_bits::<false, 16>(to),
    }
}

/// The body of a source of a byte to `to` bits.
const fn to_bits<const TRUTH: bool, const E: usize>(to: u32) -> TableFn<Lut<E, 1>> {
    match to {
        2 => narrow::<TRUTH, E, 8, 2>,
        4 => narrow::<TRUTH, E, 8, 4>,
        6 => narrow::<TRUTH, E, 8, 6>,
        _ => narrow::<TRUTH, E, 8, 8>,
    }
}

/// The kernel of a target of more than a byte.
const fn to_more(from: Encoding, to: DType, saturate: bool) -> Entry {
    let s = from.dtype();
    let is_short = lut::is_in(s, Set::SHORT);
    if is_short && matches!(to, DType::Int16 | DType::UInt16) {
        let unsigned = matches!(to, DType::UInt16);
        return match from.bits_per_element() {
            2 => Entry::with_table(
                wide::<Table<16>, W16, 2, 16>,
                tables::four_to_integer_16(s, unsigned, saturate),
            ),
            4 => Entry::with_table(
                wide::<Table<16>, W16, 4, 16>,
                tables::four_to_integer_16(s, unsigned, saturate),
            ),
            6 => Entry::with_table(
                wide::<Table<64>, W16, 6, 16>,
                tables::six_to_integer_16(s, unsigned, saturate),
            ),
            _ if s.bits() == 6 => Entry::with_table(
                wide::<Table<64>, W16, 8, 16>,
                tables::six_to_integer_16(s, unsigned, saturate),
            ),
            _ => Entry::with_table(
                wide::<Table<16>, W16, 8, 16>,
                tables::four_to_integer_16(s, unsigned, saturate),
            ),
        };
    }
    let results = match to {
        // The powers of two reach far below and far above the range of float16.
        DType::Float16 if matches!(s, DType::Float8E8M0FNU) => Results::Float32,
        DType::Float16 => Results::Float16,
        DType::BFloat16 | DType::Float32 | DType::Complex64 => Results::Float32,
        DType::Float64 | DType::Complex128 => Results::Float64,
        _ => Results::Truncating(saturate),
    };
    let overflow = Overflow::of(to, saturate);
    match (from.bits_per_element(), s) {
        (2, _) => Entry::with_table(shaped::<Table<16>, 2>(to, overflow), tables::four(s, results)),
        (4, _) => Entry::with_table(shaped::<Table<16>, 4>(to, overflow), tables::four(s, results)),
        (6, _) => Entry::with_table(shaped::<Signed, 6>(to, overflow), tables::six(s, results)),
        (_, DType::Bool) => Entry::with_table(real::<Truth, 8>(to), tables::one(results)),
        (_, DType::Float8E8M0FNU) if matches!(to, DType::Float16) => {
            Entry::with_table(wide::<Linear<Magnitude>, H16, 8, 16>, tables::powers(results))
        }
        (_, DType::Float8E8M0FNU) => {
            Entry::with_table(real::<Linear<Magnitude>, 8>(to), tables::powers(results))
        }
        _ if s.bits() <= 4 => {
            Entry::with_table(shaped::<Table<16>, 8>(to, overflow), tables::four(s, results))
        }
        _ if s.bits() == 6 => Entry::with_table(shaped::<Signed, 8>(to, overflow), tables::six(s, results)),
        // These floats are laid out as the upper byte of float16, so their words begin with the code.
        (_, DType::Float8E5M2FNUZ) if matches!(to, DType::Float16) => {
            Entry::with_table(wide::<Shifted<Fnuz, false>, W16, 8, 16>, tables::ends(s, results))
        }
        (_, DType::Float8E5M2) if matches!(to, DType::Float16) => {
            Entry::with_table(wide::<Shifted<Last, false>, W16, 8, 16>, tables::ends(s, results))
        }
        _ => of_float_8::<false>(s, to, overflow, results),
    }
}

/// The kernel of an 8-bit float with a sign and a target of more than a byte.
const fn of_float_8<const ROUNDED: bool>(s: DType, to: DType, overflow: Overflow, results: Results) -> Entry {
    let run = match linear::Entry::of(s) {
        Some(linear::Entry::Last) => of_8::<Shifted<Last, true>, ROUNDED>(to, overflow),
        Some(linear::Entry::None) => of_8::<Shifted<Nothing, true>, ROUNDED>(to, overflow),
        Some(linear::Entry::Fnuz) => of_8::<Shifted<Fnuz, true>, ROUNDED>(to, overflow),
        None => {
            let run = of_8::<Linear<Sign>, ROUNDED>(to, overflow);
            return Entry::with_table(run, tables::line(s, results));
        }
    };
    Entry::with_table(run, tables::ends(s, results))
}

/// The body of a float of more than a byte.
const fn real<Q: sources::Source, const FROM: u32>(to: DType) -> TableFn<Q::Data> {
    match to {
        DType::Float32 => wide::<Q, F32, FROM, 32>,
        DType::Complex64 => wide::<Q, C64, FROM, 64>,
        DType::Float64 => wide::<Q, F64, FROM, 64>,
        DType::Complex128 => wide::<Q, C128, FROM, 128>,
        _ => wide::<Q, W16, FROM, 16>,
    }
}

/// The body of any target of more than a byte, for a source whose words are 16-bit integers.
const fn shaped<Q: sources::Source, const FROM: u32>(to: DType, overflow: Overflow) -> TableFn<Q::Data> {
    match to.spec() {
        Spec::Int { bits: 32 | 64, .. } => integer::<Q, FROM, false>(to, overflow),
        _ => real::<Q, FROM>(to),
    }
}

/// The same for an 8-bit float, whose integers are all made from float32.
const fn of_8<Q: sources::Source, const ROUNDED: bool>(to: DType, overflow: Overflow) -> TableFn<Q::Data> {
    match (to.spec(), overflow) {
        (Spec::Int { bits: 16, .. }, Overflow::Wrap) => wide::<Q, I16<Wrap, ROUNDED>, 8, 16>,
        (Spec::Int { bits: 16, .. }, Overflow::Signed) => wide::<Q, I16<ClampSigned, ROUNDED>, 8, 16>,
        (Spec::Int { bits: 16, .. }, _) => wide::<Q, I16<ClampUnsigned, ROUNDED>, 8, 16>,
        (Spec::Int { .. }, _) => integer::<Q, 8, ROUNDED>(to, overflow),
        _ => real::<Q, 8>(to),
    }
}

/// The body of an integer of 32 or 64 bits.
const fn integer<Q: sources::Source, const FROM: u32, const ROUNDED: bool>(
    to: DType,
    overflow: Overflow,
) -> TableFn<Q::Data> {
    match (to.size(), overflow) {
        (4, Overflow::Wrap) => wide::<Q, I32<Wrap, ROUNDED>, FROM, 32>,
        (4, Overflow::Signed) => wide::<Q, I32<ClampSigned, ROUNDED>, FROM, 32>,
        (4, _) => wide::<Q, I32<ClampUnsigned, ROUNDED>, FROM, 32>,
        (_, Overflow::Wrap) => wide::<Q, I64<Wrap, ROUNDED>, FROM, 64>,
        (_, Overflow::Signed) => wide::<Q, I64<ClampSigned, ROUNDED>, FROM, 64>,
        (_, _) => wide::<Q, I64<ClampUnsigned, ROUNDED>, FROM, 64>,
    }
}

/// The kernel of a pair under any rules, unless it is faster to unpack or pack the buffers around the kernel of byte storage.
pub(super) fn tabled(from: Encoding, to: Encoding, rules: &Rules, words: &[u16; 256]) -> Option<Made> {
    let (s, d) = (from.dtype(), to.dtype());
    let (from_bits, bits) = (from.bits_per_element(), to.bits_per_element());
    let set = Set::of(s);
    if d.size() == 1 {
        if from_bits <= 4 && bits == 8 {
            return None;
        }
        if matches!(set, Some(Set::Truth | Set::Four)) {
            return Some(Made::new(short(from, to), Lut::<16, 1>::new(words, Codes::Differences)));
        }
        if let Some(table) = lut::fold(s, d, words)
            && let Some(run) = folded::kernel(&table, from_bits, bits)
        {
            return Some(Made::new(run, table));
        }
        // For rules that round positive and negative numbers differently.
        return Some(match (set, from_bits, bits) {
            (Some(Set::Six), 6, 2) => Made::new(narrow::<false, 64, 6, 2>, six(words)),
            (Some(Set::Six), 6, 4) => Made::new(narrow::<false, 64, 6, 4>, six(words)),
            (Some(Set::Six), 6, 6) => Made::new(narrow::<false, 64, 6, 6>, six(words)),
            (Some(Set::Six), 6, _) => Made::new(narrow::<false, 64, 6, 8>, six(words)),
            (Some(Set::Six), ..) => Made::new(to_bits::<false, 64>(bits), six(words)),
            _ => Made::new(to_bits::<false, 256>(bits), Lut::<256, 1>::new(words, Codes::Differences)),
        });
    }
    let overflow = Overflow::of(d, rules.saturate);
    let is_float = !matches!(d.spec(), Spec::Int { .. });
    match (set, from_bits) {
        (Some(Set::Four), _) => {
            let wide_of: fn(DType, Overflow) -> TableFn<Lut<16, 2>> = match from_bits {
                2 => shaped::<Table<16>, 2>,
                4 => shaped::<Table<16>, 4>,
                _ => shaped::<Table<16>, 8>,
            };
            Some(Made::new(wide_of(d, overflow), Lut::<16, 2>::new(words, Codes::Differences)))
        }
        (Some(Set::Six), _) if !matches!(d, DType::Int16 | DType::UInt16) => {
            if let Some(table) = lut::magnitudes(s, words) {
                let run = if from_bits == 6 {
                    shaped::<Signed, 6>(d, overflow)
                } else {
                    shaped::<Signed, 8>(d, overflow)
                };
                return Some(Made::new(run, table));
            }
            let run = if from_bits == 6 {
                integer::<Table<64>, 6, false>(d, overflow)
            } else {
                integer::<Table<64>, 8, false>(d, overflow)
            };
            Some(Made::new(run, Lut::<64, 2>::new(words, Codes::Differences)))
        }
        (Some(Set::Six), 6) => {
            Some(Made::new(wide::<Table<64>, W16, 6, 16>, Lut::<64, 2>::new(words, Codes::Differences)))
        }
        (Some(Set::Six), _) => {
            Some(Made::new(wide::<Table<64>, W16, 8, 16>, Lut::<64, 2>::new(words, Codes::Differences)))
        }
        (Some(Set::Exponents), _) if is_float => {
            Some(Made::new(wide::<Window, W16, 8, 16>, Window::table(words)?))
        }
        (Some(Set::Exponents), _) => {
            // Magnitudes less than 1 become 0 or 1.
            let least = words.iter().position(|word| *word != 0)?;
            Some(Made::new(powers::<widen::RoundedBytes>(d, rules.saturate)?, least as u8))
        }
        (Some(Set::Signed | Set::Fnuz), _) if !is_float => {
            let entry = of_float_8::<true>(s, d, overflow, Results::Truncating(rules.saturate));
            Some(Made::directed(entry, direction(rules.rounding)?))
        }
        _ => None,
    }
}

fn six(words: &[u16; 256]) -> Lut<64, 1> {
    Lut::new(words, Codes::Differences)
}
