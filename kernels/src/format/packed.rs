//! Packed storage of elements of 2, 4 and 6 bits. `docs/semantics.md`, section 1.
//!
//! Element `i` is in the bits `i * width ..` of the buffer, counted from the lowest bit of each byte. The rule is the same for all widths; four
//! elements always fill `width / 2` bytes.

use core::{mem::MaybeUninit, slice};

/// The functions of a tier for elements of 2, 4 and 6 bits, in this order.
pub(crate) struct Packing {
    /// Splits `n` packed elements into one per byte.
    ///
    /// # Safety
    ///
    /// The source is readable for the bytes of `n` packed elements and the destination is writable for `n` bytes; the two do not overlap; the CPU
    /// has the tier.
    pub(crate) unpack: [unsafe fn(packed: *const u8, codes: *mut u8, n: usize); 3],
    /// Joins `n` codes, whose unused bits are zero, and fills the last byte with zeros.
    ///
    /// # Safety
    ///
    /// As for `unpack`, with source and destination exchanged.
    pub(crate) pack: [unsafe fn(codes: *const u8, packed: *mut u8, n: usize); 3],
    /// Looks up `n` packed elements of 2 (4) bits in a table whose results take a byte; and the halves of `n` bytes, with results of half a byte.
    ///
    /// # Safety
    ///
    /// As for `unpack`.
    pub(crate) map: [unsafe fn(packed: *const u8, codes: *mut u8, n: usize, table: &Nibbles); 3],
}

/// The results of all values of half a byte.
pub(crate) type Nibbles = [u8; 16];

/// # Safety
///
/// As for [`Packing::map`].
unsafe fn map<const WIDTH: usize>(packed: *const u8, codes: *mut u8, n: usize, table: &Nibbles) {
    // SAFETY: the caller's promise covers both steps; the first one initialises the codes.
    let codes = unsafe {
        unpack::<WIDTH>(packed, codes, n);
        slice::from_raw_parts_mut(codes, n)
    };
    codes.iter_mut().for_each(|code| *code = table[*code as usize & 15]);
}

/// # Safety
///
/// As for [`Packing::map`].
unsafe fn map_nibbles(src: *const u8, dst: *mut u8, bytes: usize, table: &Nibbles) {
    for i in 0..bytes {
        // SAFETY: one of the caller's bytes on either side.
        unsafe {
            let byte = *src.add(i) as usize;
            *dst.add(i) = table[byte & 15] | table[byte >> 4] << 4;
        }
    }
}

/// The packing functions that every target has.
pub(crate) static SCALAR: Packing = Packing {
    unpack: [unpack::<2>, unpack::<4>, unpack::<6>],
    pack: [pack::<2>, pack::<4>, pack::<6>],
    map: [map::<2>, map::<4>, map_nibbles],
};

impl Packing {
    /// Splits groups of four elements into one element per byte.
    ///
    /// # Safety
    ///
    /// The CPU has the tier; `packed` holds at least the bytes of `codes.len()` elements.
    pub(crate) unsafe fn unpack(&self, width: u32, packed: &[u8], codes: &mut [MaybeUninit<u8>]) {
        debug_assert!(packed.len() >= (codes.len() * width as usize).div_ceil(8));
        // SAFETY: the caller's promise and the validity of slices.
        unsafe {
            self.unpack[width as usize / 2 - 1](packed.as_ptr(), codes.as_mut_ptr().cast(), codes.len())
        }
    }

    /// Joins codes, whose unused bits are zero, and fills the last byte with zeros; all of `packed` is written.
    ///
    /// # Safety
    ///
    /// The CPU has the tier; `packed` has exactly the bytes of `codes.len()` elements.
    pub(crate) unsafe fn pack(&self, width: u32, codes: &[u8], packed: &mut [MaybeUninit<u8>]) {
        debug_assert!(packed.len() == (codes.len() * width as usize).div_ceil(8));
        // SAFETY: the caller's promise and the validity of slices.
        unsafe { self.pack[width as usize / 2 - 1](codes.as_ptr(), packed.as_mut_ptr().cast(), codes.len()) }
    }
}

/// # Safety
///
/// As for [`Packing::unpack`].
unsafe fn unpack<const WIDTH: usize>(packed: *const u8, codes: *mut u8, n: usize) {
    // SAFETY: the caller's promise; both are bytes.
    let packed = unsafe { slice::from_raw_parts(packed, (n * WIDTH).div_ceil(8)) };
    // SAFETY: as above.
    let codes = unsafe { slice::from_raw_parts_mut(codes.cast::<MaybeUninit<u8>>(), n) };
    unpack_groups::<WIDTH>(packed, codes);
}

/// # Safety
///
/// As for [`Packing::pack`].
unsafe fn pack<const WIDTH: usize>(codes: *const u8, packed: *mut u8, n: usize) {
    // SAFETY: the caller's promise; both are bytes.
    let codes = unsafe { slice::from_raw_parts(codes, n) };
    // SAFETY: as above.
    let packed =
        unsafe { slice::from_raw_parts_mut(packed.cast::<MaybeUninit<u8>>(), (n * WIDTH).div_ceil(8)) };
    pack_groups::<WIDTH>(codes, packed);
}

/// Unpacks groups of four elements, which take whole bytes in every width, and a last group that may be shorter.
fn unpack_groups<const WIDTH: usize>(packed: &[u8], codes: &mut [MaybeUninit<u8>]) {
    #[inline(always)]
    fn group<const WIDTH: usize>(bytes: &[u8], codes: &mut [MaybeUninit<u8>]) {
        let word = bytes.iter().rev().fold(0_u32, |word, byte| word << 8 | *byte as u32);
        for (j, code) in codes.iter_mut().enumerate() {
            code.write((word >> (WIDTH * j)) as u8 & (0xFF >> (8 - WIDTH)));
        }
    }
    let (whole, rest) = codes.as_chunks_mut::<4>();
    let (bytes, last) = packed.split_at(whole.len() * (WIDTH / 2));
    for (bytes, codes) in bytes.chunks_exact(WIDTH / 2).zip(whole) {
        group::<WIDTH>(bytes, codes);
    }
    group::<WIDTH>(last, rest);
}

fn pack_groups<const WIDTH: usize>(codes: &[u8], packed: &mut [MaybeUninit<u8>]) {
    #[inline(always)]
    fn group<const WIDTH: usize>(codes: &[u8], bytes: &mut [MaybeUninit<u8>]) {
        let word = codes.iter().rev().fold(0_u32, |word, code| word << WIDTH | *code as u32);
        for (i, byte) in bytes.iter_mut().enumerate() {
            byte.write((word >> (8 * i)) as u8);
        }
    }
    let (whole, rest) = codes.as_chunks::<4>();
    let (bytes, last) = packed.split_at_mut(whole.len() * (WIDTH / 2));
    for (codes, bytes) in whole.iter().zip(bytes.chunks_exact_mut(WIDTH / 2)) {
        group::<WIDTH>(codes, bytes);
    }
    group::<WIDTH>(rest, last);
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::{vec, vec::Vec};

    fn packed(width: u32, codes: &[u8]) -> Vec<u8> {
        let mut bytes = vec![MaybeUninit::new(0xAA); (codes.len() * width as usize).div_ceil(8)];
        // SAFETY: every target has these functions, and the buffers match the number of codes.
        unsafe { SCALAR.pack(width, codes, &mut bytes) };
        // SAFETY: every byte was initialised above.
        bytes.into_iter().map(|b| unsafe { b.assume_init() }).collect()
    }

    #[test]
    fn order_of_the_elements() {
        assert_eq!(packed(4, &[1, 2, 3]), [0x21, 0x03]);
        assert_eq!(packed(2, &[1, 2, 3, 0, 1]), [0b00_11_10_01, 0b01]);
        // b0 = v0 | v1 << 6, b1 = v1 >> 2 | v2 << 4, b2 = v2 >> 4 | v3 << 2
        assert_eq!(packed(6, &[0x3F, 0, 0, 0]), [0x3F, 0, 0]);
        assert_eq!(packed(6, &[0, 0x3F, 0, 0]), [0xC0, 0x0F, 0]);
        assert_eq!(packed(6, &[0, 0, 0x3F]), [0, 0xF0, 0x03]);
        assert_eq!(packed(6, &[0, 0, 0, 0x3F]), [0, 0, 0xFC]);
    }

    #[test]
    fn round_trip_of_every_length() {
        for width in [2, 4, 6] {
            for n in 0..=16_usize {
                let codes: Vec<u8> = (0..n).map(|i| (i * 37 + 11) as u8 & (0xFF >> (8 - width))).collect();
                let mut bytes = packed(width, &codes);
                // Bits after the last element belong to no element.
                let used = n * width as usize % 8;
                if used != 0 {
                    *bytes.last_mut().expect("n > 0") |= 0xFF << used;
                }
                let mut back = vec![MaybeUninit::new(0xAA); n];
                // SAFETY: as above.
                unsafe { SCALAR.unpack(width, &bytes, &mut back) };
                // SAFETY: every byte was initialised above.
                assert!(back.iter().zip(&codes).all(|(b, code)| unsafe { b.assume_init() } == *code));
            }
        }
    }
}
