//! The data of the common rules that many targets share: one row per source.

use crate::{
    dtype::COUNT,
    format::{
        linear::{self, Ends, EndsOf, Line},
        lut::{Magnitudes, MagnitudesOf, Set, count, is_in, places},
        *,
    },
};
use crate::{
    dtype::DType,
    format::{
        Format,
        lut::{Lut, Of, Saturating, Truncating, Words, Wrapping, choice},
    },
};

/// What the 16 bits of results of more than a byte contain. Many targets need the same bits.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Results {
    /// The upper half of float32.
    Float32,
    /// The upper 16 bits of float64.
    Float64,
    Float16,
    /// float32 to be truncated to 32 bits, wrapping or saturating.
    Truncating(bool),
}

impl Results {
    const COUNT: usize = 5;

    const fn place(self) -> usize {
        match self {
            Results::Float32 => 0,
            Results::Float64 => 1,
            Results::Float16 => 2,
            Results::Truncating(saturate) => 3 + saturate as usize,
        }
    }
}

/// 16-bit integers of short sources: `[saturate][unsigned]`.
type Integers<const E: usize> = [[Lut<E, 2>; 2]; 2];

/// `[results]`
macro_rules! wide {
    ($of:ident, $s:ty) => {{
        let mut row = [$of::<Saturating<$s, f32>>(); Results::COUNT];
        row[Results::Float64.place()] = $of::<Saturating<$s, f64>>();
        row[Results::Float16.place()] = $of::<Saturating<$s, half::f16>>();
        row[Results::Truncating(false).place()] = $of::<Truncating<$s, 32, false>>();
        row[Results::Truncating(true).place()] = $of::<Truncating<$s, 32, true>>();
        row
    }};
}

const fn four_of<T: Words>() -> Lut<16, 2> {
    *Of::<T, choice::Differences, 16, 2>::LUT
}

const fn six_of<T: Words>() -> Magnitudes {
    *MagnitudesOf::<T>::TABLE
}

const fn ends_of<T: Words>() -> Ends {
    *EndsOf::<T>::ENDS
}

const fn line_of<T: Words>() -> Line {
    *linear::Of::<T>::LINE
}

const fn integers<S: Format, const E: usize>() -> Integers<E> {
    [
        [
            *Of::<Wrapping<S, i16>, choice::Differences, E, 2>::LUT,
            *Of::<Wrapping<S, u16>, choice::Differences, E, 2>::LUT,
        ],
        [
            *Of::<Saturating<S, i16>, choice::Differences, E, 2>::LUT,
            *Of::<Saturating<S, u16>, choice::Differences, E, 2>::LUT,
        ],
    ]
}

/// Whether an 8-bit float has short ends; others have longer ones.
const fn has_ends(from: DType) -> bool {
    is_in(from, &[Set::Signed, Set::Fnuz, Set::Exponents]) && linear::Entry::of(from).is_some()
}
const fn has_line(from: DType) -> bool {
    is_in(from, &[Set::Signed, Set::Fnuz]) && linear::Entry::of(from).is_none()
}

macro_rules! define_rows {
    ($($kind:ident ($variant:ident, $format:ty, $code:literal, $name:literal, $spec:expr, [$($alias:literal),*]))*) => {
        static FOUR: [[Lut<16, 2>; Results::COUNT]; count(&[Set::Four], COUNT)] = {
            let (mut rows, mut i) = ([[Lut::EMPTY; Results::COUNT]; count(&[Set::Four], COUNT)], 0);
            $(if is_in(DType::$variant, &[Set::Four]) {
                rows[i] = wide!(four_of, $format);
                i += 1;
            })*
            assert!(i == rows.len());
            rows
        };
        static FOUR_INTEGERS: [Integers<16>; count(&[Set::Four], COUNT)] = {
            let (mut rows, mut i) = ([[[Lut::EMPTY; 2]; 2]; count(&[Set::Four], COUNT)], 0);
            $(if is_in(DType::$variant, &[Set::Four]) {
                rows[i] = integers::<$format, 16>();
                i += 1;
            })*
            assert!(i == rows.len());
            rows
        };
        static SIX: [[Magnitudes; Results::COUNT]; count(&[Set::Six], COUNT)] = {
            let (mut rows, mut i) = ([wide!(six_of, F6E2M3FN); count(&[Set::Six], COUNT)], 0);
            $(if is_in(DType::$variant, &[Set::Six]) {
                rows[i] = wide!(six_of, $format);
                i += 1;
            })*
            assert!(i == rows.len());
            rows
        };
        static SIX_INTEGERS: [Integers<64>; count(&[Set::Six], COUNT)] = {
            let (mut rows, mut i) = ([[[Lut::EMPTY; 2]; 2]; count(&[Set::Six], COUNT)], 0);
            $(if is_in(DType::$variant, &[Set::Six]) {
                rows[i] = integers::<$format, 64>();
                i += 1;
            })*
            assert!(i == rows.len());
            rows
        };
        static ENDS: [[Ends; Results::COUNT]; count_of(true)] = {
            let (mut rows, mut i) = ([wide!(ends_of, F8E5M2); count_of(true)], 0);
            $(if has_ends(DType::$variant) {
                rows[i] = wide!(ends_of, $format);
                i += 1;
            })*
            assert!(i == rows.len());
            rows
        };
        static LINES: [[Line; Results::COUNT]; count_of(false)] = {
            let (mut rows, mut i) = ([wide!(line_of, F8E3M4); count_of(false)], 0);
            $(if has_line(DType::$variant) {
                rows[i] = wide!(line_of, $format);
                i += 1;
            })*
            assert!(i == rows.len());
            rows
        };
    };
}
crate::dtype::for_each_dtype!(define_rows);

/// The upper halves of 1 as float32 and as float64.
static ONES: [[u8; 2]; 2] =
    [((1_f32.to_bits() >> 16) as u16).to_le_bytes(), ((1_f64.to_bits() >> 48) as u16).to_le_bytes()];

/// `float8_e8m0fnu` as float32 and as float64.
static POWERS: [Line; 2] = [line_of::<Saturating<F8E8M0FNU, f32>>(), line_of::<Saturating<F8E8M0FNU, f64>>()];

/// The row of a source among the places of its set.
const fn place(from: DType, places: &[u8; COUNT]) -> usize {
    places[from as usize] as usize
}

/// The row of an 8-bit float among the floats with short ends, or among the floats with longer ones.
const fn float_place(from: DType) -> usize {
    const PLACES: [u8; COUNT] = {
        let mut places = [0; COUNT];
        let (mut i, mut short, mut long) = (0, 0, 0);
        while i < COUNT {
            let from = DType::EVERY[i];
            places[i] = if has_ends(from) { short } else { long };
            short += has_ends(from) as u8;
            long += has_line(from) as u8;
            i += 1;
        }
        places
    };
    PLACES[from as usize] as usize
}

const fn count_of(ends: bool) -> usize {
    let (mut i, mut count) = (0, 0);
    while i < COUNT {
        count += (if ends { has_ends(DType::EVERY[i]) } else { has_line(DType::EVERY[i]) }) as usize;
        i += 1;
    }
    count
}

/// The table of a source of up to 4 bits and an integer of 16 bits.
pub(super) const fn four_to_integer_16(from: DType, unsigned: bool, saturate: bool) -> &'static Lut<16, 2> {
    let row = place(from, const { &places(&[Set::Four]) });
    &FOUR_INTEGERS[row][saturate as usize][unsigned as usize]
}

/// The same of a source of 6 bits.
pub(super) const fn six_to_integer_16(from: DType, unsigned: bool, saturate: bool) -> &'static Lut<64, 2> {
    let row = place(from, const { &places(&[Set::Six]) });
    &SIX_INTEGERS[row][saturate as usize][unsigned as usize]
}

/// The data of bool for targets of more than a byte.
pub(super) const fn one(results: Results) -> &'static [u8; 2] {
    &ONES[results.place()]
}

/// The data of a source of up to 4 bits.
pub(super) const fn four(from: DType, results: Results) -> &'static Lut<16, 2> {
    &FOUR[place(from, const { &places(&[Set::Four]) })][results.place()]
}

/// The data of a source of 6 bits.
pub(super) const fn six(from: DType, results: Results) -> &'static Magnitudes {
    &SIX[place(from, const { &places(&[Set::Six]) })][results.place()]
}

/// The data of exponents.
pub(super) const fn powers(results: Results) -> &'static Line {
    &POWERS[results.place()]
}

/// The data of an 8-bit float whose ends are short.
pub(super) const fn ends(from: DType, results: Results) -> &'static Ends {
    assert!(has_ends(from));
    &ENDS[float_place(from)][results.place()]
}

/// The data of an 8-bit float whose ends are longer.
pub(super) const fn line(from: DType, results: Results) -> &'static Line {
    assert!(has_line(from));
    &LINES[float_place(from)][results.place()]
}
