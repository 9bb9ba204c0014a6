//! Tables in registers, and how the codes of a source become indices of them: an instruction looks 16 indices up in 64 entries.

use super::*;
use crate::lut::{Choice, choice};
use core::marker::PhantomData;

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
