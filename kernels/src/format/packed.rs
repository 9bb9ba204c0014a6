//! Packed storage of elements of 2, 4 and 6 bits. `docs/semantics.md`, section 1.
//!
//! Element `i` stands in the bits `i * width ..` of the buffer, the lowest bit of a byte first. That is one rule for all
//! widths; four elements always fill `width / 2` bytes.

use core::mem::MaybeUninit;

/// Splits groups of four elements into one element per byte.
///
/// `packed` holds at least the bytes of `codes.len()` elements.
pub(crate) fn unpack(width: u32, packed: &[u8], codes: &mut [u8]) {
    match width {
        2 => unpack_groups::<2>(packed, codes),
        4 => unpack_groups::<4>(packed, codes),
        _ => unpack_groups::<6>(packed, codes),
    }
}

fn unpack_groups<const WIDTH: usize>(packed: &[u8], codes: &mut [u8]) {
    for (bytes, group) in packed.chunks(WIDTH / 2).zip(codes.chunks_mut(4)) {
        let mut word = 0_u32;
        for (i, byte) in bytes.iter().enumerate() {
            word |= (*byte as u32) << (8 * i);
        }
        for (j, code) in group.iter_mut().enumerate() {
            *code = (word >> (WIDTH * j)) as u8 & (0xFF >> (8 - WIDTH));
        }
    }
}

/// Joins codes, whose unused bits are zero, and fills the last byte with zeros.
///
/// `packed` has exactly the bytes of `codes.len()` elements; all of them are written.
pub(crate) fn pack(width: u32, codes: &[u8], packed: &mut [MaybeUninit<u8>]) {
    match width {
        2 => pack_groups::<2>(codes, packed),
        4 => pack_groups::<4>(codes, packed),
        _ => pack_groups::<6>(codes, packed),
    }
}

fn pack_groups<const WIDTH: usize>(codes: &[u8], packed: &mut [MaybeUninit<u8>]) {
    for (group, bytes) in codes.chunks(4).zip(packed.chunks_mut(WIDTH / 2)) {
        let mut word = 0_u32;
        for (j, code) in group.iter().enumerate() {
            word |= (*code as u32) << (WIDTH * j);
        }
        for (i, byte) in bytes.iter_mut().enumerate() {
            byte.write((word >> (8 * i)) as u8);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::{vec, vec::Vec};

    fn packed(width: u32, codes: &[u8]) -> Vec<u8> {
        let mut bytes = vec![MaybeUninit::new(0xAA); (codes.len() * width as usize).div_ceil(8)];
        pack(width, codes, &mut bytes);
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
                // Bits after the last element are no element's.
                let used = n * width as usize % 8;
                if used != 0 {
                    *bytes.last_mut().expect("n > 0") |= 0xFF << used;
                }
                let mut back = vec![0xAA; n];
                unpack(width, &bytes, &mut back);
                assert_eq!(back, codes);
            }
        }
    }
}
