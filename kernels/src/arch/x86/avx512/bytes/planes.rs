//! Makes the planes of results from 64 source bytes.

use super::lookup::Table;
use crate::{
    arch::x86::intrinsics::*,
    format::lut::{
        Lut,
        choice::{self, Choice},
    },
};

/// What a kernel keeps in registers to make `P` planes from a table of `E` entries.
pub(super) trait Planes<const E: usize, const P: usize>: Copy {
    /// The codes that the table contains.
    type Codes: Choice;
    /// # Safety
    ///
    /// The CPU has the features of the kernel.
    unsafe fn load(lut: &Lut<E, P>) -> Self;
    /// # Safety
    ///
    /// The CPU has the features of the kernel.
    unsafe fn of(&self, bytes: __m512i) -> [__m512i; P];
}

// Loops, not `array::from_fn`: the compiler does not always inline a closure there, and then it inlines no vector instruction either.
macro_rules! each {
    ($p:ident: $value:expr) => {{
        let mut all = [_mm512_setzero_si512(); P];
        let mut $p = 0;
        while $p < P {
            all[$p] = $value;
            $p += 1;
        }
        all
    }};
}

macro_rules! sources {
    ($($(#[$doc:meta])* $name:ident: $codes:ident, |$bytes:ident| $index:expr, $result:ident;)*) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy)]
        pub(super) struct $name<T, const P: usize> {
            tables: [T; P],
            patch: [__m512i; P],
        }
        impl<T: Table<E>, const E: usize, const P: usize> Planes<E, P> for $name<T, P> {
            type Codes = choice::$codes;
            #[inline(always)]
            unsafe fn load(lut: &Lut<E, P>) -> Self {
                // SAFETY: a plane has `E` entries; the caller has the features.
                unsafe {
                    let mut tables = [T::load(lut.planes[0].as_ptr()); P];
                    let mut p = 1;
                    while p < P {
                        tables[p] = T::load(lut.planes[p].as_ptr());
                        p += 1;
                    }
                    Self { tables, patch: each!(p: _mm512_set1_epi8(lut.patch[p] as i8)) }
                }
            }
            #[inline(always)]
            unsafe fn of(&self, $bytes: __m512i) -> [__m512i; P] {
                // SAFETY: the caller's CPU has the features.
                unsafe {
                    let index = $index;
                    let found = each!(p: self.tables[p].get(index));
                    $result(found, self.patch, $bytes)
                }
            }
        }
    )*};
}

sources! {
    /// The bytes are the indices.
    Direct: All, |bytes| bytes, as_found;
    /// bool: any byte but 0 is 1.
    Truth: All, |bytes| _mm512_min_epu8(bytes, _mm512_set1_epi8(1)), as_found;
    /// A sign and a magnitude, with a negative zero.
    Signed: Magnitudes, |bytes| bytes, with_sign;
    /// A sign and a magnitude, with something else in the place of negative zero.
    Fnuz: Patched, |bytes| bytes, with_sign_and_patch;
    /// Two's complement, looked up by absolute value.
    Twos: Absolutes, |bytes| _mm512_abs_epi8(bytes), with_sign_and_high_patch;
}

#[inline(always)]
unsafe fn as_found<const P: usize>(found: [__m512i; P], _: [__m512i; P], _: __m512i) -> [__m512i; P] {
    found
}

/// Copies the sign of the code to the last plane.
#[inline(always)]
unsafe fn with_sign<const P: usize>(
    mut found: [__m512i; P],
    _: [__m512i; P],
    bytes: __m512i,
) -> [__m512i; P] {
    const OR_AND: i32 = 0xF8;
    // SAFETY: the caller's CPU has the features.
    unsafe {
        let sign = _mm512_set1_epi8(0x80_u8 as i8);
        found[P - 1] = _mm512_ternarylogic_epi32::<OR_AND>(found[P - 1], bytes, sign);
    }
    found
}

#[inline(always)]
unsafe fn with_sign_and_patch<const P: usize>(
    found: [__m512i; P],
    patch: [__m512i; P],
    bytes: __m512i,
) -> [__m512i; P] {
    // SAFETY: the caller's CPU has the features.
    unsafe {
        let found = with_sign(found, patch, bytes);
        let at = _mm512_cmpeq_epi8_mask(bytes, _mm512_set1_epi8(0x80_u8 as i8));
        each!(p: _mm512_mask_mov_epi8(found[p], at, patch[p]))
    }
}

/// The patch is a power of two, so the other plane is zero there, as for 0.
#[inline(always)]
unsafe fn with_sign_and_high_patch<const P: usize>(
    found: [__m512i; P],
    patch: [__m512i; P],
    bytes: __m512i,
) -> [__m512i; P] {
    // SAFETY: the caller's CPU has the features.
    unsafe {
        let mut found = with_sign(found, patch, bytes);
        let at = _mm512_cmpeq_epi8_mask(bytes, _mm512_set1_epi8(0x80_u8 as i8));
        found[P - 1] = _mm512_mask_mov_epi8(found[P - 1], at, patch[P - 1]);
        found
    }
}

/// `float8_e8m0fnu` to the upper half of a float32, without a table. The code is the exponent field; only the lowest code, a subnormal, and the
/// highest, NaN, have a bit below the field.
#[derive(Clone, Copy)]
pub(super) struct Exponent;

impl Planes<0, 2> for Exponent {
    type Codes = choice::All;
    #[inline(always)]
    unsafe fn load(_: &Lut<0, 2>) -> Self {
        Self
    }
    #[inline(always)]
    unsafe fn of(&self, bytes: __m512i) -> [__m512i; 2] {
        // SAFETY: the caller's CPU has the features.
        unsafe {
            let byte = |x: u8| _mm512_set1_epi8(x as i8);
            let high = _mm512_and_si512(_mm512_srli_epi16::<1>(bytes), byte(0x7F));
            let low = _mm512_and_si512(_mm512_slli_epi16::<7>(bytes), byte(0x80));
            let ends = _mm512_cmple_epu8_mask(_mm512_add_epi8(bytes, byte(1)), byte(1));
            [_mm512_mask_add_epi8(low, ends, low, byte(0x40)), high]
        }
    }
}
