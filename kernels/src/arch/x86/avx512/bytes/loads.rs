//! Loads 64 source bytes in the order of a shape.

use super::super::packed;
use super::shapes::Shape;
use crate::arch::x86::intrinsics::*;

/// How the elements of a source lie in memory.
pub(super) trait Load {
    /// Bits of an element.
    const BITS: u32;
    /// Loads 64 elements in their storage.
    ///
    /// # Safety
    ///
    /// The CPU has the features of the kernel, and the elements are readable.
    unsafe fn load(p: *const u8) -> __m512i;
    /// Makes one element per byte, in the order of `W`; bits above the bits of the element do not matter.
    ///
    /// # Safety
    ///
    /// The CPU has the features of the kernel.
    unsafe fn codes<W: Shape<P>, const P: usize>(x: __m512i) -> __m512i;
}

/// A byte per element.
pub(super) struct Bytes;

/// Packed elements.
pub(super) struct Packed<const BITS: u32>;

impl Load for Bytes {
    const BITS: u32 = 8;
    #[inline(always)]
    unsafe fn load(p: *const u8) -> __m512i {
        // SAFETY: the caller's promise is the same.
        unsafe { _mm512_loadu_si512(p.cast()) }
    }
    #[inline(always)]
    unsafe fn codes<W: Shape<P>, const P: usize>(x: __m512i) -> __m512i {
        // SAFETY: the caller's promise is the same.
        unsafe { W::order(x) }
    }
}

impl<const BITS: u32> Packed<BITS> {
    /// For every element of a block: the byte that goes to its lane (`first_byte`), and the bit at which it begins (`shift`).
    const INDEX: [[u8; 64]; 2] = {
        let mut index = [[0; 64]; 2];
        let mut i = 0;
        while i < 64 {
            index[0][i] = packed::first_byte(BITS, i);
            index[1][i] = packed::shift(BITS, i);
            i += 1;
        }
        index
    };

    /// For every byte of a vector: the bit at which it, or its dword for elements of 6 bits, begins in its eight bytes.
    const PLACE: [u8; 64] = {
        let mut place = [0; 64];
        let mut i = 0;
        while i < 64 {
            place[i] = (if BITS == 6 { i % 8 / 4 * 32 } else { i % 8 * 8 }) as u8;
            i += 1;
        }
        place
    };
}

impl<const BITS: u32> Load for Packed<BITS> {
    const BITS: u32 = BITS;
    #[inline(always)]
    unsafe fn load(p: *const u8) -> __m512i {
        // SAFETY: the caller's promise is the same.
        unsafe { packed::load::<BITS>(p) }
    }
    #[inline(always)]
    unsafe fn codes<W: Shape<P>, const P: usize>(x: __m512i) -> __m512i {
        // SAFETY: the caller's CPU has the features; the constants are vectors.
        unsafe {
            // An element of 6 bits needs the other bytes of its dword, so the dword has to stay together.
            let movable = BITS < 6 || W::CHUNK >= 4;
            let [index, shift] = const { &Self::INDEX };
            let mut index = _mm512_loadu_si512(index.as_ptr().cast());
            let mut shift = _mm512_loadu_si512(shift.as_ptr().cast());
            if movable {
                (index, shift) = (W::order(index), W::order(shift));
            }
            let shift = _mm512_add_epi8(shift, _mm512_loadu_si512(const { &Self::PLACE }.as_ptr().cast()));
            let codes = _mm512_multishift_epi64_epi8(shift, _mm512_permutexvar_epi8(index, x));
            if movable { codes } else { W::order(codes) }
        }
    }
}
