//! Codes, or parts of them, as unsigned integers.

use core::ops;

/// A code or a part of one.
pub(crate) trait Lane:
    Copy
    + PartialEq
    + PartialOrd
    + From<bool>
    + ops::BitAnd<Output = Self>
    + Ord
    + ops::BitOr<Output = Self>
    + ops::BitXor<Output = Self>
    + ops::Not<Output = Self>
{
    const BYTES: usize;
    const ZERO: Self;
    /// The number of lanes that can be counted in one lane without overflow.
    const AT_ONCE: usize;
    fn from_word(word: u64) -> Self;
    /// Reads a lane from its bytes.
    fn read(bytes: &[u8]) -> Self;
    fn write(self, bytes: &mut [u8]);
    fn word(self) -> u64;
    fn plus(self, other: Self) -> Self;
    fn minus(self, other: Self) -> Self;
    /// The larger and the smaller lane as two's complement.
    fn signed_max(self, other: Self) -> Self;
    fn signed_min(self, other: Self) -> Self;
    fn signed_less(self, other: Self) -> bool;
    /// The magnitude of a two's complement lane.
    fn magnitude(self) -> Self;
    fn shift_right(self, by: u32) -> Self;
}

macro_rules! lane {
    ($($lane:ident $signed:ident $at_once:literal),*) => {$(
        impl Lane for $lane {
            const BYTES: usize = size_of::<$lane>();
            const ZERO: Self = 0;
            const AT_ONCE: usize = $at_once;
            #[inline(always)]
            fn from_word(word: u64) -> Self {
                word as $lane
            }
            #[inline(always)]
            fn read(bytes: &[u8]) -> Self {
                let mut lane = [0; size_of::<$lane>()];
                lane.copy_from_slice(bytes);
                $lane::from_ne_bytes(lane)
            }
            #[inline(always)]
            fn write(self, bytes: &mut [u8]) {
                bytes.copy_from_slice(&self.to_ne_bytes());
            }
            #[inline(always)]
            fn word(self) -> u64 {
                self as u64
            }
            #[inline(always)]
            fn plus(self, other: Self) -> Self {
                self.wrapping_add(other)
            }
            #[inline(always)]
            fn minus(self, other: Self) -> Self {
                self.wrapping_sub(other)
            }
            #[inline(always)]
            fn signed_max(self, other: Self) -> Self {
                (self as $signed).max(other as $signed) as $lane
            }
            #[inline(always)]
            fn signed_min(self, other: Self) -> Self {
                (self as $signed).min(other as $signed) as $lane
            }
            #[inline(always)]
            fn signed_less(self, other: Self) -> bool {
                (self as $signed) < other as $signed
            }
            #[inline(always)]
            fn magnitude(self) -> Self {
                (self as $signed).unsigned_abs()
            }
            #[inline(always)]
            fn shift_right(self, by: u32) -> Self {
                // The shift is always in range.
                self >> (by & ($lane::BITS - 1))
            }
        }
    )*};
}
// A byte counts up to 255. The wider lanes can count all lanes of a block.
lane!(u8 i8 192, u16 i16 4096, u32 i32 4096, u64 i64 4096);
