//! Codes in the storage of the data, in runs that may begin within a byte.
//!
//! The packing of the tiers begins at whole bytes. Here rows and slabs need not end at one.

use core::ops::Range;
use lanecast_kernels::Encoding;

/// Elements that are cast at once, in memory of the stack.
pub(super) const CHUNK: usize = 1024;

/// Whether the codes of a run begin with a byte.
pub(super) fn is_aligned(of: Encoding, start: usize) -> bool {
    (start * of.bits_per_element() as usize).is_multiple_of(8)
}

/// The bytes of a run that begins with a byte.
pub(super) fn bytes_of(of: Encoding, range: &Range<usize>) -> Range<usize> {
    let bits = of.bits_per_element() as usize;
    range.start * bits / 8..(range.end * bits).div_ceil(8)
}

/// Stores codes, one per byte or wider, as `data` does. Those in front of them are there already.
pub(super) fn put(of: Encoding, codes: &[u8], range: Range<usize>, data: &mut [u8]) {
    let (bits, size) = (of.bits_per_element() as usize, of.dtype().size());
    if bits >= 8 {
        data[range.start * size..range.end * size].copy_from_slice(codes);
        return;
    }
    let mask = (1_u16 << bits) - 1;
    let first = range.start * bits;
    if first.is_multiple_of(8) && 8 % bits == 0 {
        let per_byte = 8 / bits;
        for (byte, codes) in data[first / 8..].iter_mut().zip(codes.chunks(per_byte)) {
            let packed = codes.iter().enumerate().map(|(i, code)| (u16::from(*code) & mask) << (bits * i));
            *byte = packed.fold(0, |a, b| a | b) as u8;
        }
        return;
    }
    for (i, code) in codes.iter().enumerate() {
        let (byte, shift) = ((first + i * bits) / 8, (first + i * bits) % 8);
        let kept = u16::from(data[byte]) & ((1 << shift) - 1);
        let word = kept | (u16::from(*code) & mask) << shift;
        data[byte] = word as u8;
        if shift + bits > 8 {
            data[byte + 1] = (word >> 8) as u8;
        }
    }
}

/// The codes of a range, one per byte or wider.
pub(super) fn take(of: Encoding, data: &[u8], range: Range<usize>, codes: &mut [u8]) {
    let (bits, size) = (of.bits_per_element() as usize, of.dtype().size());
    if bits >= 8 {
        codes.copy_from_slice(&data[range.start * size..range.end * size]);
        return;
    }
    let first = range.start * bits;
    for (i, code) in codes.iter_mut().enumerate() {
        let (byte, shift) = ((first + i * bits) / 8, (first + i * bits) % 8);
        let high = if shift + bits > 8 { u16::from(data[byte + 1]) << 8 } else { 0 };
        *code = ((u16::from(data[byte]) | high) >> shift & ((1 << bits) - 1)) as u8;
    }
}

/// A range in pieces of [`CHUNK`] elements.
pub(super) fn chunks(range: Range<usize>) -> impl Iterator<Item = Range<usize>> {
    let end = range.end;
    range.step_by(CHUNK).map(move |start| start..end.min(start + CHUNK))
}
