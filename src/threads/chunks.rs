//! Bytes cut into chunks.
//!
//! Chunks begin on whole bytes of both buffers and of a validity bitmap, and, where the elements allow it, on cache lines of the
//! destination. So no two threads write to one line or share a byte.

use core::mem;
use lanecast_kernels::{Encoding, Flat, machine::CACHE_LINE};

/// A number of elements that fills whole cache lines in every storage, including a bitmap: one line of bits.
pub(crate) const GRAIN: usize = 512;

/// The chunks of a cast from the first element to the last.
pub(crate) struct Chunks<'a> {
    rest: Option<Flat<'a>>,
    /// The bits of the elements, if the cast has a mask; otherwise it is empty.
    mask: &'a mut [u8],
    /// Bits of an element, on each side.
    bits: (u32, u32),
    first: usize,
    /// Elements of the next chunk, and of the chunks after it.
    next: usize,
    size: usize,
}

impl<'a> Chunks<'a> {
    /// Chunks of about `size` elements.
    pub(crate) fn new(
        flat: Flat<'a>,
        mask: &'a mut [u8],
        (from, to): (Encoding, Encoding),
        size: usize,
    ) -> Chunks<'a> {
        let bits = (from.bits_per_element(), to.bits_per_element());
        let size = size.max(1).checked_next_multiple_of(GRAIN).unwrap_or(usize::MAX / 8 * 8);
        let next = size.saturating_add(head(flat.dst.as_ptr().addr(), bits.1 as usize)) / 8 * 8;
        Chunks { rest: (flat.n > 0).then_some(flat), mask, bits, first: 0, next, size }
    }
}

/// The number of elements before the first cache line of a destination, a multiple of eight; 0 if no multiple of eight begins a line.
fn head(address: usize, eight: usize) -> usize {
    (0..GRAIN / 8)
        .find(|eights| (address + eights * eight).is_multiple_of(CACHE_LINE))
        .map_or(0, |eights| 8 * eights)
}

impl<'a> Iterator for Chunks<'a> {
    /// The index of the first element, the bytes, and the bits of the mask.
    type Item = (usize, Flat<'a>, &'a mut [u8]);

    fn next(&mut self) -> Option<Self::Item> {
        let rest = self.rest.take()?;
        let (first, mask) = (self.first, mem::take(&mut self.mask));
        if rest.n <= self.next {
            return Some((first, rest, mask));
        }
        let (chunk, rest) = rest.split(self.next, self.bits);
        let (bits, mask) = mask.split_at_mut(mask.len().min(chunk.n / 8));
        self.mask = mask;
        (self.first, self.next) = (first + chunk.n, self.size);
        self.rest = Some(rest);
        Some((first, chunk, bits))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{CastOptions, CastPlan};
    use alloc::vec;
    use lanecast_kernels::{BytesMut, DType, Operands};

    /// Where the destination has a line at an element that is an eighth, all chunks but the first begin there.
    #[test]
    fn lines() {
        for to in [
            Encoding::new(DType::UInt8),
            Encoding::new(DType::Float32),
            Encoding::packed(DType::Int2),
            Encoding::packed(DType::Float6E2M3FN),
            Encoding::new(DType::Complex128),
        ] {
            let plan = CastPlan::new(DType::Int8, to, &CastOptions::RUST).expect("a plan");
            let n = 5003;
            let (src, mut dst) = (vec![0_i8; n], vec![0; to.byte_len(n).expect("small") + 128]);
            let mut mask = vec![0; n.div_ceil(8)];
            for offset in 0..64 {
                let dst = BytesMut::new(&mut dst[offset..], n);
                let operands = plan.kernel().operands((&src).into(), dst.into());
                let Ok((Operands::Flat(flat), _)) = operands else { panic!("bytes") };
                let (address, bits) = (flat.dst.as_ptr().addr(), to.bits_per_element() as usize);
                let possible = (0..512).step_by(8).any(|h| (address + h * bits / 8).is_multiple_of(64));
                let mut seen = 0;
                for (first, flat, mask) in Chunks::new(flat, &mut mask, (plan.source(), to), 1000) {
                    assert_eq!(first, seen);
                    assert_eq!((flat.src.len(), mask.len()), (flat.n, flat.n.div_ceil(8)));
                    assert_eq!(flat.dst.len(), (flat.n * bits).div_ceil(8));
                    if first > 0 && possible {
                        assert!(flat.dst.as_ptr().addr().is_multiple_of(64), "{to}, {offset}");
                    }
                    seen += flat.n;
                }
                assert_eq!(seen, n);
            }
        }
    }
}
