//! The tables of the common rules that many targets share: one row per source.

use crate::{
    dtype::COUNT,
    format::{
        lut::{
            Set,
            choice::{self, Choice},
            count, is_in, places,
        },
        *,
    },
};
use crate::{
    dtype::DType,
    format::{
        Format,
        lut::{Lut, Of, Saturating, Truncating},
    },
};

/// What the 16 bits of results of more than a byte contain. Many targets need the same bits.
#[derive(Clone, Copy)]
pub(super) enum Results {
    /// The upper half of float32.
    Float32,
    /// The upper 16 bits of float64.
    Float64,
    Float16,
    /// float32 to be truncated to 32 bits, wrapping or saturating.
    Truncating32(bool),
    /// float32 to be truncated to 64 bits.
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

/// `[results]`
type Wide<const E: usize> = [Lut<E, 2>; Results::COUNT];

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

/// float32 and float16 of integers of a byte.
const fn floats<S: Format, C: Choice, const E: usize>() -> [Lut<E, 2>; 2] {
    [*Of::<Saturating<S, f32>, C, E, 2>::LUT, *Of::<Saturating<S, half::f16>, C, E, 2>::LUT]
}

macro_rules! define_rows {
    ($($kind:ident ($variant:ident, $format:ty, $code:literal, $name:literal, $spec:expr, [$($alias:literal),*]))*) => {
        static SHORT_WIDE: [Wide<64>; count(Set::SHORT, COUNT)] = {
            let (mut rows, mut i) = ([[Lut::EMPTY; Results::COUNT]; count(Set::SHORT, COUNT)], 0);
            $(if is_in(DType::$variant, Set::SHORT) {
                rows[i] = wide::<$format, choice::All, 64>();
                i += 1;
            })*
            assert!(i == rows.len());
            rows
        };
        static SIGNED_WIDE: [Wide<128>; count(&[Set::Signed], COUNT)] = {
            let (mut rows, mut i) = ([[Lut::EMPTY; Results::COUNT]; count(&[Set::Signed], COUNT)], 0);
            $(if is_in(DType::$variant, &[Set::Signed]) {
                rows[i] = wide::<$format, choice::Magnitudes, 128>();
                i += 1;
            })*
            assert!(i == rows.len());
            rows
        };
        static FNUZ_WIDE: [Wide<128>; count(&[Set::Fnuz], COUNT)] = {
            let (mut rows, mut i) = ([[Lut::EMPTY; Results::COUNT]; count(&[Set::Fnuz], COUNT)], 0);
            $(if is_in(DType::$variant, &[Set::Fnuz]) {
                rows[i] = wide::<$format, choice::Patched, 128>();
                i += 1;
            })*
            assert!(i == rows.len());
            rows
        };
        static EXPONENT_WIDE: [Wide<256>; count(&[Set::Exponents], COUNT)] = {
            let (mut rows, mut i) = ([[Lut::EMPTY; Results::COUNT]; count(&[Set::Exponents], COUNT)], 0);
            $(if is_in(DType::$variant, &[Set::Exponents]) {
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

/// The row of a source among the places of its set.
const fn place(from: DType, places: &[u8; COUNT]) -> usize {
    places[from as usize] as usize
}

/// The table of a source of at most 6 bits.
pub(super) const fn short(from: DType, results: Results) -> &'static Lut<64, 2> {
    &SHORT_WIDE[place(from, const { &places(Set::SHORT) })][results.place()]
}

/// The table of a float with a sign.
pub(super) const fn signed(from: DType, results: Results) -> &'static Lut<128, 2> {
    &SIGNED_WIDE[place(from, const { &places(&[Set::Signed]) })][results.place()]
}

/// The table of a float without negative zero.
pub(super) const fn fnuz(from: DType, results: Results) -> &'static Lut<128, 2> {
    &FNUZ_WIDE[place(from, const { &places(&[Set::Fnuz]) })][results.place()]
}

/// The table of exponents.
pub(super) const fn exponents(from: DType, results: Results) -> &'static Lut<256, 2> {
    &EXPONENT_WIDE[place(from, const { &places(&[Set::Exponents]) })][results.place()]
}

/// The table of int8 to floats.
pub(super) const fn int8(results: Results) -> &'static Lut<128, 2> {
    &INT8[matches!(results, Results::Float16) as usize]
}

/// The table of uint8 to floats.
pub(super) const fn uint8(results: Results) -> &'static Lut<256, 2> {
    &UINT8[matches!(results, Results::Float16) as usize]
}
