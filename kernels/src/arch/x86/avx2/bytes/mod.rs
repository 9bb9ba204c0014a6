//! Casts of all dtypes that take a byte per element.
//!
//! Such a cast has 256 answers. To targets of a byte a kernel looks 32 of them up at once ([`lookup`]), where it can in half
//! the table with a rule for the rest ([`folded`]). To wider ones it makes
//! the 16 bits in which results differ, from smaller tables or on a line ([`sources`]), and unpacks them to the width of the
//! target ([`shapes`]). Tables and lines are data (`lut`, `linear`), so that one body serves all pairs of the same kind.
//! Integers of a whole byte are extended instead ([`widen`]). Packed elements are spread or packed on the way ([`load`],
//! [`store`]).

/// Does `$body` for every block of a cast between elements of `$from` and `$to` bits, less than 8 if they are packed. The last
/// block lies over some of the one before. If there is none, or elements are packed, the last ones are cast by `$whole`, the
/// kernel itself. `$tight`: there is so little to do that the loop itself counts. (Else a tight loop is the slower one: it
/// keeps all of a long table in registers, which leaves none for the rest.)
macro_rules! for_each_block {
    (($from:expr, $to:expr), ($src:expr, $dst:expr, $n:expr), ($whole:expr, $data:expr), $tight:expr, |$s:ident, $d:ident| $body:block) => {
        let (mut $s, mut $d, mut left) = ($src, $dst, $n);
        let (read, written) = (const { BLOCK * $from as usize / 8 }, const { BLOCK * $to as usize / 8 });
        loop {
            while $tight && left >= 2 * BLOCK {
                $body;
                ($s, $d) = ($s.add(read), $d.add(written));
                $body;
                ($s, $d) = ($s.add(read), $d.add(written));
                left -= 2 * BLOCK;
            }
            if left < BLOCK {
                if left == 0 {
                    return;
                }
                if $from < 8 || $to < 8 || $n < BLOCK {
                    return padded_bits(
                        <Avx2>::new_unchecked(),
                        $whole,
                        BLOCK,
                        $from as usize,
                        $to as usize,
                        $s,
                        $d,
                        left,
                        $data,
                    );
                }
                let done = BLOCK - left;
                ($s, $d) = ($s.sub(done * $from as usize / 8), $d.sub(done * $to as usize / 8));
                left = BLOCK;
            }
            $body;
            ($s, $d) = ($s.add(read), $d.add(written));
            left -= BLOCK;
        }
    };
}

mod folded;
mod lookup;
pub(in crate::arch) mod scaled;
mod shapes;
mod sources;
mod tables;
mod widen;

use super::{
    super::packing::spread,
    simd::{Avx2, store_packed},
};
use crate::arch::native::intrinsics::*;
use crate::{
    data::Data,
    dtype::{DType, Spec},
    exact::Rules,
    format::Format,
    linear,
    lut::{self, Codes, Folded, FoldedOf, Lut, Of, Saturating, Truncating, Words, Wrapping, choice, set},
    storage::Encoding,
    table::{Entry, Found, KernelFn, has_overflow_rule},
    tabled::{Made, direction},
    vector::{Simd, padded_bits, short::padded},
};
use lookup::look_up;
use shapes::{C64, C128, F32, F64, H16, I16, I32, I64, Shape, W16};
use sources::{FNUZ, LAST, Linear, MAGNITUDE, NONE, SIGN, Shifted, Signed, Table, Truth, Window};
use tables::{Results, pointer};

/// Elements of a block.
const BLOCK: usize = 32;

/// A block of elements of `BITS` bits, one per byte.
///
/// # Safety
///
/// The CPU has the features of the kernel, and the block is readable.
#[inline(always)]
unsafe fn load<const BITS: u32>(p: *const u8) -> __m256i {
    // SAFETY: as the caller's.
    unsafe { if BITS == 8 { _mm256_loadu_si256(p.cast()) } else { spread::<BITS>(p) } }
}

/// # Safety
///
/// The CPU has the features of the kernel, and the block is writable; the codes have no bits above `BITS`.
#[inline(always)]
unsafe fn store<const BITS: u32>(p: *mut u8, codes: __m256i) {
    // SAFETY: as the caller's.
    unsafe { if BITS == 8 { _mm256_storeu_si256(p.cast(), codes) } else { store_packed::<BITS>(p, codes) } }
}

avx2_fn! {
    /// The body of the pairs of a kind, the data of the pair in `data`. `TO` are the bits of `W`.
    ///
    /// # Safety
    ///
    /// As [`KernelFn`].
    unsafe fn wide<Q: sources::Source, W: Shape, const FROM: u32, const TO: u32>(
        src: *const u8,
        dst: *mut u8,
        n: usize,
        data: &Data,
    ) {
        const { assert!(TO as usize == 8 * W::SIZE) };
        // SAFETY: the table of a kernel is the one that it was chosen with. Blocks that lie among the caller's elements.
        unsafe {
            // No store changes a copy, so it stays in registers.
            let table = &data.table.cast::<Q::Data>().read();
            for_each_block!((FROM, TO), (src, dst, n), (wide::<Q, W, FROM, TO>, data), false, |src, dst| {
                W::emit(Q::words(table, W::order(load::<FROM>(src))), dst, data);
            });
        }
    }
}

avx2_fn! {
    /// The body of the pairs with a target of a byte or less, the table of the pair in `data`. bool (`TRUTH`) is looked up as 0 or
    /// 1.
    ///
    /// # Safety
    ///
    /// As [`KernelFn`].
    unsafe fn narrow<const TRUTH: bool, const E: usize, const FROM: u32, const TO: u32>(
        src: *const u8,
        dst: *mut u8,
        n: usize,
        data: &Data,
    ) {
        // SAFETY: as in `wide`.
        unsafe {
            // No store changes a copy, so it stays in registers.
            let lut = &data.table.cast::<Lut<E, 1>>().read();
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
        // Small tables map half bytes to bytes, and integers of a byte to shorter ones are soon made and packed afterwards.
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
    if lut::set_of(S::DTYPE) & (set::TRUTH | set::FOUR) != 0 {
        return Entry { run: short(from, to), table: pointer(of_short::<S, D>(saturate)) };
    }
    match of_long::<S, D>(saturate) {
        Some(table) => match folded::kernel(table, 8, 8) {
            Some(run) => Entry { run, table: pointer(table) },
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

/// The kernels that extend or narrow integers of a byte, and those of exponents.
const fn extended(from: DType, to: DType, saturate: bool) -> Option<Entry> {
    use widen::{CLAMPED, SIGNED, TRUTH, UNSIGNED, Wide, widen as run};
    const fn of<W: Wide>(from: u8) -> KernelFn {
        match from {
            SIGNED => run::<W, SIGNED>,
            CLAMPED => run::<W, CLAMPED>,
            UNSIGNED => run::<W, UNSIGNED>,
            _ => run::<W, TRUTH>,
        }
    }
    /// Integers that are never out of range, but for bool.
    const fn in_range<W: Wide>(from: u8) -> KernelFn {
        if from == SIGNED { run::<W, SIGNED> } else { run::<W, UNSIGNED> }
    }
    if let Some(limits) = lut::limits_of(from, to, saturate) {
        let run = if limits.signed { widen::narrow::<true> } else { widen::narrow::<false> };
        return Some(Entry { run, table: pointer(limits) });
    }
    let loses_sign = saturate && matches!(to.spec(), Spec::Int { signed: false, .. });
    let from = match from {
        DType::Bool => TRUTH,
        DType::UInt8 => UNSIGNED,
        DType::Int8 if loses_sign => CLAMPED,
        DType::Int8 => SIGNED,
        DType::Float8E8M0FNU => {
            return match powers::<UNSIGNED>(to, saturate) {
                Some(run) => Some(Entry::new(run)),
                None => None,
            };
        }
        _ => return None,
    };
    Some(Entry::new(match (to, to.spec()) {
        (_, Spec::Int { bits: 16, .. }) => of::<widen::I16>(from),
        (_, Spec::Int { bits: 32, .. }) => of::<widen::I32>(from),
        (_, Spec::Int { bits: 64, .. }) => of::<widen::I64>(from),
        (DType::Float16, _) if from == TRUTH => run::<widen::F16, TRUTH>,
        (DType::Float16, _) => in_range::<widen::F16>(from),
        // Those of bool are all ones or nothing of a constant.
        _ if from == TRUTH => return None,
        (DType::BFloat16, _) => in_range::<widen::BF16>(from),
        (DType::Float32, _) => in_range::<widen::F32>(from),
        (DType::Float64, _) => in_range::<widen::F64>(from),
        (DType::Complex64, _) => in_range::<widen::C64>(from),
        (DType::Complex128, _) => in_range::<widen::C128>(from),
        _ => return None,
    }))
}

/// `float8_e8m0fnu` to integers of more than a byte.
const fn powers<const FROM: u8>(to: DType, saturate: bool) -> Option<KernelFn> {
    const fn of<const BYTES: usize, const FROM: u8>(overflow: u8) -> KernelFn
    where
        widen::Powers<BYTES, { shapes::WRAP }>: widen::Wide,
        widen::Powers<BYTES, { shapes::SIGNED }>: widen::Wide,
        widen::Powers<BYTES, { shapes::UNSIGNED }>: widen::Wide,
    {
        use widen::{Powers, widen};
        match overflow {
            shapes::WRAP => widen::<Powers<BYTES, { shapes::WRAP }>, FROM>,
            shapes::SIGNED => widen::<Powers<BYTES, { shapes::SIGNED }>, FROM>,
            _ => widen::<Powers<BYTES, { shapes::UNSIGNED }>, FROM>,
        }
    }
    let overflow = overflow(to, saturate);
    match to.spec() {
        Spec::Int { bits: 16, .. } => Some(of::<2, FROM>(overflow)),
        Spec::Int { bits: 32, .. } => Some(of::<4, FROM>(overflow)),
        Spec::Int { bits: 64, .. } => Some(of::<8, FROM>(overflow)),
        _ => None,
    }
}

/// The answer to overflow of an integer.
const fn overflow(to: DType, saturate: bool) -> u8 {
    match to.spec() {
        _ if !saturate => shapes::WRAP,
        Spec::Int { signed: true, .. } => shapes::SIGNED,
        _ => shapes::UNSIGNED,
    }
}

/// The body of a source of at most 4 bits, or of bool.
const fn short(from: Encoding, to: Encoding) -> KernelFn {
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
const fn to_bits<const TRUTH: bool, const E: usize>(to: u32) -> KernelFn {
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
    let is_short = lut::set_of(s) & set::SHORT != 0;
    if is_short && matches!(to, DType::Int16 | DType::UInt16) {
        let run = match from.bits_per_element() {
            2 => wide::<Table<16>, W16, 2, 16>,
            4 => wide::<Table<16>, W16, 4, 16>,
            6 => wide::<Table<64>, W16, 6, 16>,
            _ if s.bits() == 6 => wide::<Table<64>, W16, 8, 16>,
            _ => wide::<Table<16>, W16, 8, 16>,
        };
        return Entry { run, table: tables::to_integer_16(s, matches!(to, DType::UInt16), saturate) };
    }
    let results = match to {
        // Powers of two from far below to far above.
        DType::Float16 if matches!(s, DType::Float8E8M0FNU) => Results::Float32,
        DType::Float16 => Results::Float16,
        DType::BFloat16 | DType::Float32 | DType::Complex64 => Results::Float32,
        DType::Float64 | DType::Complex128 => Results::Float64,
        _ => Results::Truncating(saturate),
    };
    let overflow = overflow(to, saturate);
    let run = match (from.bits_per_element(), s) {
        (2, _) => shaped::<Table<16>, 2>(to, overflow),
        (4, _) => shaped::<Table<16>, 4>(to, overflow),
        (6, _) => shaped::<Signed, 6>(to, overflow),
        (_, DType::Bool) => real::<Truth, 8>(to),
        (_, DType::Float8E8M0FNU) if matches!(to, DType::Float16) => wide::<Linear<MAGNITUDE>, H16, 8, 16>,
        (_, DType::Float8E8M0FNU) => real::<Linear<MAGNITUDE>, 8>(to),
        _ if s.bits() <= 4 => shaped::<Table<16>, 8>(to, overflow),
        _ if s.bits() == 6 => shaped::<Signed, 8>(to, overflow),
        // They begin as float16 does, and so do its words.
        (_, DType::Float8E5M2FNUZ) if matches!(to, DType::Float16) => {
            wide::<Shifted<FNUZ, false>, W16, 8, 16>
        }
        (_, DType::Float8E5M2) if matches!(to, DType::Float16) => wide::<Shifted<LAST, false>, W16, 8, 16>,
        _ => match linear::Entry::of(s) {
            Some(linear::Entry::Last) => of_8::<Shifted<LAST, true>, false>(to, overflow),
            Some(linear::Entry::None) => of_8::<Shifted<NONE, true>, false>(to, overflow),
            Some(linear::Entry::Fnuz) => of_8::<Shifted<FNUZ, true>, false>(to, overflow),
            None => of_8::<Linear<SIGN>, false>(to, overflow),
        },
    };
    Entry { run, table: tables::to_wide(s, results) }
}

/// The body of a float of more than a byte.
const fn real<Q: sources::Source, const FROM: u32>(to: DType) -> KernelFn {
    match to {
        DType::Float32 => wide::<Q, F32, FROM, 32>,
        DType::Complex64 => wide::<Q, C64, FROM, 64>,
        DType::Float64 => wide::<Q, F64, FROM, 64>,
        DType::Complex128 => wide::<Q, C128, FROM, 128>,
        _ => wide::<Q, W16, FROM, 16>,
    }
}

/// The body of any target of more than a byte, of a source whose words are those of 16-bit integers.
const fn shaped<Q: sources::Source, const FROM: u32>(to: DType, overflow: u8) -> KernelFn {
    match to.spec() {
        Spec::Int { bits: 32 | 64, .. } => integer::<Q, FROM, false>(to, overflow),
        _ => real::<Q, FROM>(to),
    }
}

/// The same of an 8-bit float, whose integers are all made of float32.
const fn of_8<Q: sources::Source, const ROUNDED: bool>(to: DType, overflow: u8) -> KernelFn {
    use shapes::{SIGNED, UNSIGNED, WRAP};
    match (to.spec(), overflow) {
        (Spec::Int { bits: 16, .. }, WRAP) => wide::<Q, I16<WRAP, ROUNDED>, 8, 16>,
        (Spec::Int { bits: 16, .. }, SIGNED) => wide::<Q, I16<SIGNED, ROUNDED>, 8, 16>,
        (Spec::Int { bits: 16, .. }, _) => wide::<Q, I16<UNSIGNED, ROUNDED>, 8, 16>,
        (Spec::Int { .. }, _) => integer::<Q, 8, ROUNDED>(to, overflow),
        _ => real::<Q, 8>(to),
    }
}

/// The body of an integer of 32 or 64 bits.
const fn integer<Q: sources::Source, const FROM: u32, const ROUNDED: bool>(
    to: DType,
    overflow: u8,
) -> KernelFn {
    use shapes::{SIGNED, UNSIGNED, WRAP};
    match (to.size(), overflow) {
        (4, WRAP) => wide::<Q, I32<WRAP, ROUNDED>, FROM, 32>,
        (4, SIGNED) => wide::<Q, I32<SIGNED, ROUNDED>, FROM, 32>,
        (4, _) => wide::<Q, I32<UNSIGNED, ROUNDED>, FROM, 32>,
        (_, WRAP) => wide::<Q, I64<WRAP, ROUNDED>, FROM, 64>,
        (_, SIGNED) => wide::<Q, I64<SIGNED, ROUNDED>, FROM, 64>,
        (_, _) => wide::<Q, I64<UNSIGNED, ROUNDED>, FROM, 64>,
    }
}

/// The kernel of a pair under any rules, if its buffers are not better unpacked or packed around that of byte storage.
pub(super) fn tabled(from: Encoding, to: Encoding, rules: &Rules, words: &[u16; 256]) -> Option<Made> {
    let (s, d) = (from.dtype(), to.dtype());
    let (from_bits, bits) = (from.bits_per_element(), to.bits_per_element());
    let set = lut::set_of(s);
    if d.size() == 1 {
        if from_bits <= 4 && bits == 8 {
            return None;
        }
        if set & (set::TRUTH | set::FOUR) != 0 {
            return Some(Made::new(short(from, to), Lut::<16, 1>::new(words, Codes::Differences)));
        }
        if let Some(table) = lut::fold(s, d, words)
            && let Some(run) = folded::kernel(&table, from_bits, bits)
        {
            return Some(Made::new(run, table));
        }
        // Where positive and negative numbers are rounded differently.
        return Some(match (set, from_bits, bits) {
            (set::SIX, 6, 2) => Made::new(narrow::<false, 64, 6, 2>, six(words)),
            (set::SIX, 6, 4) => Made::new(narrow::<false, 64, 6, 4>, six(words)),
            (set::SIX, 6, 6) => Made::new(narrow::<false, 64, 6, 6>, six(words)),
            (set::SIX, 6, _) => Made::new(narrow::<false, 64, 6, 8>, six(words)),
            (set::SIX, ..) => Made::new(to_bits::<false, 64>(bits), six(words)),
            _ => Made::new(to_bits::<false, 256>(bits), Lut::<256, 1>::new(words, Codes::Differences)),
        });
    }
    let overflow = overflow(d, rules.saturate);
    let is_float = !matches!(d.spec(), Spec::Int { .. });
    match (set, from_bits) {
        (set::FOUR, _) => {
            let wide_of: fn(DType, u8) -> KernelFn = match from_bits {
                2 => shaped::<Table<16>, 2>,
                4 => shaped::<Table<16>, 4>,
                _ => shaped::<Table<16>, 8>,
            };
            Some(Made::new(wide_of(d, overflow), Lut::<16, 2>::new(words, Codes::Differences)))
        }
        (set::SIX, _) if !matches!(d, DType::Int16 | DType::UInt16) => {
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
        (set::SIX, 6) => {
            Some(Made::new(wide::<Table<64>, W16, 6, 16>, Lut::<64, 2>::new(words, Codes::Differences)))
        }
        (set::SIX, _) => {
            Some(Made::new(wide::<Table<64>, W16, 8, 16>, Lut::<64, 2>::new(words, Codes::Differences)))
        }
        (set::EXPONENTS, _) if is_float => Some(Made::new(wide::<Window, W16, 8, 16>, Window::table(words)?)),
        (set::EXPONENTS, _) => {
            // What is less than 1 becomes 0 or 1.
            let least = words.iter().position(|word| *word != 0)?;
            Some(Made::new(powers::<{ widen::ROUNDED }>(d, rules.saturate)?, least as u8))
        }
        (set::SIGNED | set::FNUZ, _) if !is_float => {
            let run = match linear::Entry::of(s) {
                Some(linear::Entry::Last) => of_8::<Shifted<LAST, true>, true>(d, overflow),
                Some(linear::Entry::None) => of_8::<Shifted<NONE, true>, true>(d, overflow),
                Some(linear::Entry::Fnuz) => of_8::<Shifted<FNUZ, true>, true>(d, overflow),
                None => of_8::<Linear<SIGN>, true>(d, overflow),
            };
            let table = tables::to_wide(s, Results::Truncating(rules.saturate));
            Some(Made::directed(run, table, direction(rules.rounding)?))
        }
        _ => None,
    }
}

fn six(words: &[u16; 256]) -> Lut<64, 1> {
    Lut::new(words, Codes::Differences)
}
