//! Casts of all dtypes whose elements take one byte or less.
//!
//! Such a cast has at most 256 results. A kernel looks 64 of them up at once, one byte of the results after the other, and unpacks the bytes to
//! the width of the target. The tables are data (`lut`), so that one body serves all pairs of the same kind of source ([`planes`]) and the same
//! shape of target ([`shapes`]). The instructions of VBMI permute bytes ([`lookup`]); a CPU without VBMI uses the kernels of AVX2. Integers of a
//! whole byte are extended instead ([`widen`]). Packed elements are looked up and packed on the way ([`loads`], [`WPacked`]).

mod loads;
mod lookup;
mod planes;
pub(in crate::arch) mod scaled;
mod shapes;
mod tables;
mod widen;

use crate::{
    arch::x86::{ClampSigned, ClampUnsigned, Overflow, Wrap, intrinsics::*},
    dtype::{DType, Encoding, Spec},
    format::{
        Format,
        lut::{self, Codes, Lut, Of, Saturating, Set, Wrapping, choice},
    },
    vector::{
        kernel::{Entry, KernelFn, Made, TableFn, WithTable},
        pairs::has_overflow_rule,
        table::Found,
    },
};
use loads::{Bytes, Load, Packed};
use lookup::{T64, T128, T256};
use planes::{Direct, Exponent, Fnuz, Planes, Signed, Truth, Twos};
use shapes::{C64, C128, F32, F64, I32, I64, Part, Shape, W8, W16, WPacked, Whole, first};
use tables::Results;

vbmi_fn! {
    /// The body of many pairs; `data` has the table of the pair.
    ///
    /// # Safety
    ///
    /// As [`KernelFn`], and the CPU has VBMI.
    unsafe fn run<L: Load, Q: Planes<E, P>, W: Shape<P>, const E: usize, const P: usize>(
        src: *const u8,
        dst: *mut u8,
        n: usize,
        data: &WithTable<Lut<E, P>>,
    ) {
        // SAFETY: the blocks of 64 elements lie among the caller's `n`, and masks select the elements that are left. Blocks begin on whole bytes
        // of every width.
        unsafe {
            let planes = Q::load(data.table());
            let (read, written) = (L::BITS as usize, W::BITS as usize);
            let mut i = 0;
            while n - i >= 64 {
                let bytes = L::codes::<W, P>(L::load(src.add(i / 8 * read)));
                W::emit(planes.of(bytes), Whole(dst.add(i / 8 * written)));
                i += 64;
            }
            if i < n {
                let left = first(((n - i) * read).div_ceil(8));
                let bytes = L::codes::<W, P>(_mm512_maskz_loadu_epi8(left, src.add(i / 8 * read).cast()));
                let sink = Part(dst.add(i / 8 * written), ((n - i) * written).div_ceil(8));
                W::emit(W::only(planes.of(bytes), n - i), sink);
            }
        }
    }
}

/// The vectors of a target of more than a byte, and the bits that they are made from.
#[derive(Clone, Copy)]
struct Wide {
    shape: WideShape,
    results: Results,
}

#[derive(Clone, Copy)]
enum WideShape {
    W16,
    F32,
    C64,
    F64,
    C128,
    I32(Overflow),
    I64(Overflow),
}

impl Wide {
    /// The shape of a target; `None` for integers of 16 bits, whose tables are not shared.
    const fn of(to: DType, saturate: bool) -> Option<Wide> {
        let overflow = Overflow::of(to, saturate);
        let (shape, results) = match to {
            DType::Int16 | DType::UInt16 => return None,
            DType::Float16 => (WideShape::W16, Results::Float16),
            DType::BFloat16 => (WideShape::W16, Results::Float32),
            DType::Float32 => (WideShape::F32, Results::Float32),
            DType::Complex64 => (WideShape::C64, Results::Float32),
            DType::Float64 => (WideShape::F64, Results::Float64),
            DType::Complex128 => (WideShape::C128, Results::Float64),
            _ if to.size() == 4 => (WideShape::I32(overflow), Results::Truncating32(saturate)),
            _ => (WideShape::I64(overflow), Results::Truncating64(saturate)),
        };
        Some(Wide { shape, results })
    }
}

/// The body of a target of a byte or less.
const fn narrow<L: Load, Q: Planes<E, 1>, const E: usize>(to: Encoding) -> TableFn<Lut<E, 1>> {
    match to.bits_per_element() {
        2 => run::<L, Q, WPacked<2>, E, 1>,
        4 => run::<L, Q, WPacked<4>, E, 1>,
        6 => run::<L, Q, WPacked<6>, E, 1>,
        _ => run::<L, Q, W8, E, 1>,
    }
}

/// The body of a target of more than a byte.
const fn wide<L: Load, Q: Planes<E, 2>, const E: usize>(shape: WideShape) -> TableFn<Lut<E, 2>> {
    match shape {
        WideShape::F32 => run::<L, Q, F32, E, 2>,
        WideShape::C64 => run::<L, Q, C64, E, 2>,
        _ => wide_but_f32::<L, Q, E>(shape),
    }
}

/// The same without targets whose bits are, or begin with, the upper half of a float32: exponents have no table for these.
const fn wide_but_f32<L: Load, Q: Planes<E, 2>, const E: usize>(shape: WideShape) -> TableFn<Lut<E, 2>> {
    match shape {
        WideShape::F64 => run::<L, Q, F64, E, 2>,
        WideShape::C128 => run::<L, Q, C128, E, 2>,
        WideShape::I32(Overflow::Wrap) => run::<L, Q, I32<Wrap>, E, 2>,
        WideShape::I32(Overflow::Signed) => run::<L, Q, I32<ClampSigned>, E, 2>,
        WideShape::I32(Overflow::Unsigned) => run::<L, Q, I32<ClampUnsigned>, E, 2>,
        WideShape::I64(Overflow::Wrap) => run::<L, Q, I64<Wrap>, E, 2>,
        WideShape::I64(Overflow::Signed) => run::<L, Q, I64<ClampSigned>, E, 2>,
        WideShape::I64(Overflow::Unsigned) => run::<L, Q, I64<ClampUnsigned>, E, 2>,
        WideShape::W16 | WideShape::F32 | WideShape::C64 => run::<L, Q, W16, E, 2>,
    }
}

/// The body of a source of at most 6 bits, packed or not, or of bool, to a target of a byte or less.
const fn short_to_byte(from: Encoding, to: Encoding) -> TableFn<Lut<64, 1>> {
    match from.bits_per_element() {
        2 => narrow::<Packed<2>, Direct<T64, 1>, 64>(to),
        4 => narrow::<Packed<4>, Direct<T64, 1>, 64>(to),
        6 => narrow::<Packed<6>, Direct<T64, 1>, 64>(to),
        _ if matches!(from.dtype(), DType::Bool) => narrow::<Bytes, Truth<T64, 1>, 64>(to),
        _ => narrow::<Bytes, Direct<T64, 1>, 64>(to),
    }
}

/// The body of a longer source to a target of a byte or less.
const fn to_byte(to: Encoding) -> TableFn<Lut<256, 1>> {
    narrow::<Bytes, Direct<T256, 1>, 256>(to)
}

/// The body of a source of at most 6 bits, packed or not, to a target of more than a byte.
const fn short(from: Encoding, shape: WideShape) -> TableFn<Lut<64, 2>> {
    match from.bits_per_element() {
        2 => wide::<Packed<2>, Direct<T64, 2>, 64>(shape),
        4 => wide::<Packed<4>, Direct<T64, 2>, 64>(shape),
        6 => wide::<Packed<6>, Direct<T64, 2>, 64>(shape),
        _ => wide::<Bytes, Direct<T64, 2>, 64>(shape),
    }
}

/// How a pair whose source has at most a byte per element is cast.
pub(super) const fn find(from: Encoding, to: Encoding, saturate: bool) -> Found {
    let (s, d) = (from.dtype(), to.dtype());
    if !from.is_packed()
        && !to.is_packed()
        && let Some(entry) = extended(s, d, saturate)
    {
        return Found::Kernel(entry);
    }
    if d.size() == 1 {
        return Found::Tabled;
    }
    let Some(Wide { shape, results }) = Wide::of(d, saturate) else { return Found::Tabled };
    Found::Kernel(match Set::of(s) {
        Some(Set::Four | Set::Six) => Entry::with_table(short(from, shape), tables::short(s, results)),
        Some(Set::Signed) => {
            Entry::with_table(wide::<Bytes, Signed<T128, 2>, 128>(shape), tables::signed(s, results))
        }
        Some(Set::Fnuz) => {
            Entry::with_table(wide::<Bytes, Fnuz<T128, 2>, 128>(shape), tables::fnuz(s, results))
        }
        // The upper half of a float32 is made from the exponent, without a table.
        Some(Set::Exponents) => match (shape, results) {
            (WideShape::F32, _) => Entry::with_table(run::<Bytes, Exponent, F32, 0, 2>, &Lut::EMPTY),
            (WideShape::C64, _) => Entry::with_table(run::<Bytes, Exponent, C64, 0, 2>, &Lut::EMPTY),
            (_, Results::Float32) => Entry::with_table(run::<Bytes, Exponent, W16, 0, 2>, &Lut::EMPTY),
            _ => Entry::with_table(
                wide_but_f32::<Bytes, Direct<T256, 2>, 256>(shape),
                tables::exponents(s, results),
            ),
        },
        _ if matches!(s, DType::Int8) => {
            Entry::with_table(run::<Bytes, Twos<T128, 2>, W16, 128, 2>, tables::int8(results))
        }
        _ => Entry::with_table(wide_but_f32::<Bytes, Direct<T256, 2>, 256>(shape), tables::uint8(results)),
    })
}

/// The kernel of a pair of byte storage, its table a constant.
pub(super) const fn kernel<S: Format, D: Format>(saturate: bool) -> Entry {
    let (from, to) = (Encoding::new(S::DTYPE), Encoding::new(D::DTYPE));
    if let Found::Kernel(entry) = find(from, to, saturate) {
        return entry;
    }
    let saturate = saturate || !has_overflow_rule(D::DTYPE);
    let is_short = lut::is_in(S::DTYPE, &[Set::Four, Set::Six, Set::Truth]);
    match (D::DTYPE.size(), is_short) {
        (1, true) => Entry::with_table(short_to_byte(from, to), own::<S, D, 64, 1>(saturate)),
        (1, false) => Entry::with_table(to_byte(to), own::<S, D, 256, 1>(saturate)),
        (_, true) => Entry::with_table(short(from, WideShape::W16), own::<S, D, 64, 2>(saturate)),
        // The sign of a two-byte integer is no single bit.
        (_, false) => Entry::with_table(
            wide_but_f32::<Bytes, Direct<T256, 2>, 256>(WideShape::W16),
            own::<S, D, 256, 2>(saturate),
        ),
    }
}

/// The table of one pair.
const fn own<S: Format, D: Format, const E: usize, const P: usize>(saturate: bool) -> &'static Lut<E, P> {
    match saturate {
        true => Of::<Saturating<S, D>, choice::All, E, P>::LUT,
        false => Of::<Wrapping<S, D>, choice::All, E, P>::LUT,
    }
}

/// The kernel that makes the words of a pair from a table of any words.
pub(super) fn tabled(from: Encoding, to: Encoding, saturate: bool, words: &[u16; 256]) -> Made {
    let (s, d) = (from.dtype(), to.dtype());
    let set = Set::of(s);
    if d.size() == 1 {
        return if matches!(set, Some(Set::Four | Set::Six | Set::Truth)) {
            Made::new(short_to_byte(from, to), Lut::new(words, Codes::All))
        } else {
            Made::new(to_byte(to), Lut::new(words, Codes::All))
        };
    }
    let shape = Wide::of(d, saturate).map_or(WideShape::W16, |wide| wide.shape);
    if matches!(set, Some(Set::Four | Set::Six)) {
        return Made::new(short(from, shape), Lut::new(words, Codes::All));
    }
    // A table of half the codes is faster, if positive and negative numbers are rounded alike.
    if set == Some(Set::Signed) && Codes::Magnitudes.tell(words) {
        let run = wide::<Bytes, Signed<T128, 2>, 128>(shape);
        return Made::new(run, Lut::new(words, Codes::Magnitudes));
    }
    if set == Some(Set::Fnuz) && Codes::Patched.tell(words) {
        let run = wide::<Bytes, Fnuz<T128, 2>, 128>(shape);
        return Made::new(run, Lut::new(words, Codes::Patched));
    }
    Made::new(wide_but_f32::<Bytes, Direct<T256, 2>, 256>(shape), Lut::new(words, Codes::All))
}

/// The kernels that extend or narrow integers of a byte.
const fn extended(from: DType, to: DType, saturate: bool) -> Option<Entry> {
    use widen::{
        ClampedBytes, Extended, SignedBytes, SignedNibbles, TruthBytes, UnsignedBytes, UnsignedNibbles, Wide,
        widen as run,
    };
    const fn of<W: Wide>(from: Extended) -> KernelFn {
        match from {
            Extended::Signed => run::<W, SignedBytes>,
            Extended::Clamped => run::<W, ClampedBytes>,
            Extended::Unsigned => run::<W, UnsignedBytes>,
            Extended::Signed4 => run::<W, SignedNibbles>,
            Extended::Unsigned4 => run::<W, UnsignedNibbles>,
            _ => run::<W, TruthBytes>,
        }
    }
    /// Integers that are never out of range.
    const fn in_range<W: Wide>(from: Extended) -> KernelFn {
        match from {
            Extended::Signed => run::<W, SignedBytes>,
            Extended::Unsigned => run::<W, UnsignedBytes>,
            Extended::Signed4 => run::<W, SignedNibbles>,
            Extended::Unsigned4 => run::<W, UnsignedNibbles>,
            _ => run::<W, TruthBytes>,
        }
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
        DType::UInt4 => Extended::Unsigned4,
        DType::Int4 if !loses_sign => Extended::Signed4,
        _ => return None,
    };
    Some(Entry::new(match (to, to.spec()) {
        (_, Spec::Int { bits: 16, .. }) => of::<widen::I16>(from),
        (_, Spec::Int { bits: 32, .. }) => of::<widen::I32>(from),
        (_, Spec::Int { bits: 64, .. }) => of::<widen::I64>(from),
        (DType::Float32, _) => in_range::<widen::F32>(from),
        (DType::Complex64, _) => in_range::<widen::C64>(from),
        // The casts to float64 obey the environment, and reading it does not pay for four bits.
        _ if matches!(from, Extended::Signed4 | Extended::Unsigned4) => return None,
        (DType::Float64, _) => in_range::<widen::F64>(from),
        (DType::Complex128, _) => in_range::<widen::C128>(from),
        (DType::Float16, _) if matches!(from, Extended::Truth) => run::<widen::F16, TruthBytes>,
        (DType::BFloat16, _) if matches!(from, Extended::Truth) => run::<widen::BF16, TruthBytes>,
        _ => return None,
    }))
}
