//! The tables of the common rules: rows of those of a source.

use super::*;
use crate::{
    dtype::COUNT,
    format::*,
    lut::{BYTES, Choice, Of, byte_place, choice, count, places, set, set_of},
};

/// What 16 bits hold of results of more than a byte. Many targets need the same.
#[derive(Clone, Copy)]
pub(super) enum Results {
    /// The upper half of float32.
    Float32,
    /// The upper half of the first half of float64.
    Float64,
    Float16,
    /// float32 to be truncated to 32 bits, which wrap or saturate.
    Truncating32(bool),
    /// To 64 bits.
    Truncating64(bool),
}

impl Results {
    const COUNT: usize = 7;

    const fn place(self) -> usize {
        match self {
            Results::Float32 => 0,
            Results::Float64 => 1,
            Results::Float16 => 2,
            Results::Truncating32(saturate) => 3 + saturate as usize,
            Results::Truncating64(saturate) => 5 + saturate as usize,
        }
    }
}

/// `[saturate][target]` of a byte.
type Narrow<const E: usize> = [[Lut<E, 1>; BYTES]; 2];
/// `[results]`
type Wide<const E: usize> = [Lut<E, 2>; Results::COUNT];
/// 16-bit integers: `[saturate][unsigned]`.
type Integers<const E: usize> = [[Lut<E, 2>; 2]; 2];

const fn wide<S: Format, C: Choice, const E: usize>() -> Wide<E> {
    let mut row = [Lut::EMPTY; Results::COUNT];
    row[Results::Float32.place()] = *Of::<Saturating<S, f32>, C, E, 2>::LUT;
    row[Results::Float64.place()] = *Of::<Saturating<S, f64>, C, E, 2>::LUT;
    row[Results::Float16.place()] = *Of::<Saturating<S, half::f16>, C, E, 2>::LUT;
    row[Results::Truncating32(false).place()] = *Of::<Truncating<S, 32, false>, C, E, 2>::LUT;
    row[Results::Truncating32(true).place()] = *Of::<Truncating<S, 32, true>, C, E, 2>::LUT;
    row[Results::Truncating64(false).place()] = *Of::<Truncating<S, 64, false>, C, E, 2>::LUT;
    row[Results::Truncating64(true).place()] = *Of::<Truncating<S, 64, true>, C, E, 2>::LUT;
    row
}

const fn integers<S: Format, const E: usize>() -> Integers<E> {
    [
        [*Of::<Wrapping<S, i16>, choice::All, E, 2>::LUT, *Of::<Wrapping<S, u16>, choice::All, E, 2>::LUT],
        [
            *Of::<Saturating<S, i16>, choice::All, E, 2>::LUT,
            *Of::<Saturating<S, u16>, choice::All, E, 2>::LUT,
        ],
    ]
}

/// float32 and float16 of integers of a byte.
const fn floats<S: Format, C: Choice, const E: usize>() -> [Lut<E, 2>; 2] {
    [*Of::<Saturating<S, f32>, C, E, 2>::LUT, *Of::<Saturating<S, half::f16>, C, E, 2>::LUT]
}

macro_rules! define_rows {
    ($($kind:ident ($variant:ident, $format:ty, $code:literal, $name:literal, $spec:expr, [$($alias:literal),*]))*) => {
        const fn narrow<S: Format, const E: usize>() -> Narrow<E> {
            const fn of<S: Format, D: Format, const E: usize>() -> [Lut<E, 1>; 2] {
                [*Of::<Wrapping<S, D>, choice::All, E, 1>::LUT, *Of::<Saturating<S, D>, choice::All, E, 1>::LUT]
            }
            let mut row = [[Lut::EMPTY; BYTES]; 2];
            $(if set_of(DType::$variant) != 0 {
                let [wrapping, saturating] = of::<S, $format, E>();
                row[0][byte_place(DType::$variant)] = wrapping;
                row[1][byte_place(DType::$variant)] = saturating;
            })*
            row
        }
        static TRUTH: [Narrow<64>; count(set::TRUTH, COUNT)] = {
            let (mut rows, mut i) = ([[[Lut::EMPTY; BYTES]; 2]; count(set::TRUTH, COUNT)], 0);
            $(if set_of(DType::$variant) & set::TRUTH != 0 {
                rows[i] = narrow::<$format, 64>();
                i += 1;
            })*
            assert!(i == rows.len());
            rows
        };
        static SHORT: [Narrow<64>; count(set::SHORT, COUNT)] = {
            let (mut rows, mut i) = ([[[Lut::EMPTY; BYTES]; 2]; count(set::SHORT, COUNT)], 0);
            $(if set_of(DType::$variant) & set::SHORT != 0 {
                rows[i] = narrow::<$format, 64>();
                i += 1;
            })*
            assert!(i == rows.len());
            rows
        };
        static EIGHT: [Narrow<256>; count(set::EIGHT, COUNT)] = {
            let (mut rows, mut i) = ([[[Lut::EMPTY; BYTES]; 2]; count(set::EIGHT, COUNT)], 0);
            $(if set_of(DType::$variant) & set::EIGHT != 0 {
                rows[i] = narrow::<$format, 256>();
                i += 1;
            })*
            assert!(i == rows.len());
            rows
        };
        static SHORT_INTEGERS: [Integers<64>; count(set::SHORT, COUNT)] = {
            let (mut rows, mut i) = ([[[Lut::EMPTY; 2]; 2]; count(set::SHORT, COUNT)], 0);
            $(if set_of(DType::$variant) & set::SHORT != 0 {
                rows[i] = integers::<$format, 64>();
                i += 1;
            })*
            assert!(i == rows.len());
            rows
        };
        static FLOAT_INTEGERS: [Integers<256>; count(set::FLOATS, COUNT)] = {
            let (mut rows, mut i) = ([[[Lut::EMPTY; 2]; 2]; count(set::FLOATS, COUNT)], 0);
            $(if set_of(DType::$variant) & set::FLOATS != 0 {
                rows[i] = integers::<$format, 256>();
                i += 1;
            })*
            assert!(i == rows.len());
            rows
        };
        static SHORT_WIDE: [Wide<64>; count(set::SHORT, COUNT)] = {
            let (mut rows, mut i) = ([[Lut::EMPTY; Results::COUNT]; count(set::SHORT, COUNT)], 0);
            $(if set_of(DType::$variant) & set::SHORT != 0 {
                rows[i] = wide::<$format, choice::All, 64>();
                i += 1;
            })*
            assert!(i == rows.len());
            rows
        };
        static SIGNED_WIDE: [Wide<128>; count(set::SIGNED, COUNT)] = {
            let (mut rows, mut i) = ([[Lut::EMPTY; Results::COUNT]; count(set::SIGNED, COUNT)], 0);
            $(if set_of(DType::$variant) & set::SIGNED != 0 {
                rows[i] = wide::<$format, choice::Magnitudes, 128>();
                i += 1;
            })*
            assert!(i == rows.len());
            rows
        };
        static FNUZ_WIDE: [Wide<128>; count(set::FNUZ, COUNT)] = {
            let (mut rows, mut i) = ([[Lut::EMPTY; Results::COUNT]; count(set::FNUZ, COUNT)], 0);
            $(if set_of(DType::$variant) & set::FNUZ != 0 {
                rows[i] = wide::<$format, choice::Patched, 128>();
                i += 1;
            })*
            assert!(i == rows.len());
            rows
        };
        static EXPONENT_WIDE: [Wide<256>; count(set::EXPONENTS, COUNT)] = {
            let (mut rows, mut i) = ([[Lut::EMPTY; Results::COUNT]; count(set::EXPONENTS, COUNT)], 0);
            $(if set_of(DType::$variant) & set::EXPONENTS != 0 {
                rows[i] = wide::<$format, choice::All, 256>();
                i += 1;
            })*
            assert!(i == rows.len());
            rows
        };
    };
}
crate::dtype::for_each_dtype!(define_rows);

/// float32 and float16 of integers of a byte.
static INT8: [Lut<128, 2>; 2] = floats::<i8, choice::Absolutes, 128>();
static UINT8: [Lut<256, 2>; 2] = floats::<u8, choice::All, 256>();

/// The place among the sources of a set that have a row.
const fn place<const SET: u8>(from: DType) -> usize {
    let places = const { &places(SET) };
    places[from as usize] as usize
}

const fn pointer<T>(table: &'static T) -> *const u8 {
    core::ptr::from_ref(table).cast()
}

/// The table of a target of a byte.
pub(super) const fn to_byte(from: DType, to: DType, saturate: bool) -> *const u8 {
    let (to, saturate) = (byte_place(to), saturate as usize);
    match set_of(from) {
        set::TRUTH => pointer(&TRUTH[0][saturate][to]),
        set::FOUR | set::SIX => pointer(&SHORT[place::<{ set::SHORT }>(from)][saturate][to]),
        _ => pointer(&EIGHT[place::<{ set::EIGHT }>(from)][saturate][to]),
    }
}

/// The table of an integer of 16 bits.
pub(super) const fn to_integer_16(from: DType, unsigned: bool, saturate: bool) -> *const u8 {
    match set_of(from) {
        set::FOUR | set::SIX => {
            pointer(&SHORT_INTEGERS[place::<{ set::SHORT }>(from)][saturate as usize][unsigned as usize])
        }
        _ => pointer(&FLOAT_INTEGERS[place::<{ set::FLOATS }>(from)][saturate as usize][unsigned as usize]),
    }
}

/// The table of other targets.
pub(super) const fn to_wide(from: DType, results: Results) -> *const u8 {
    let r = results.place();
    match set_of(from) {
        set::FOUR | set::SIX => pointer(&SHORT_WIDE[place::<{ set::SHORT }>(from)][r]),
        set::SIGNED => pointer(&SIGNED_WIDE[place::<{ set::SIGNED }>(from)][r]),
        set::FNUZ => pointer(&FNUZ_WIDE[place::<{ set::FNUZ }>(from)][r]),
        set::EXPONENTS => pointer(&EXPONENT_WIDE[place::<{ set::EXPONENTS }>(from)][r]),
        _ => {
            let half = matches!(results, Results::Float16) as usize;
            if matches!(from, DType::Int8) { pointer(&INT8[half]) } else { pointer(&UINT8[half]) }
        }
    }
}
