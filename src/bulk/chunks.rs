//! A cast, cut into chunks.
//!
//! Chunks begin on whole bytes of both buffers and of a validity bitmap, and, where the elements allow it, on cache lines of the
//! destination. So no two threads write to one line or share a byte.

use crate::{CastPlan, Element};
use core::mem;
use lanecast_kernels::{Part, machine::CACHE_LINE};

/// A number of elements that fills whole cache lines in every storage, including a bitmap: one line of bits.
pub(super) const GRAIN: usize = 512;

/// One chunk of a cast.
pub(super) struct Chunk<'a, S, D> {
    /// The index of its first element.
    pub(super) first: usize,
    /// Elements.
    pub(super) len: usize,
    pub(super) src: &'a [S],
    pub(super) dst: &'a mut [D],
}

/// The chunks of a cast from the first element to the last: of bytes, or of slices of elements.
pub(super) struct Chunks<'a, S, D> {
    src: &'a [S],
    dst: &'a mut [D],
    /// Slice items per eight elements, for each side.
    eight: (usize, usize),
    first: usize,
    left: usize,
    /// Elements of the next chunk, and of the chunks after it.
    next: usize,
    size: usize,
}

impl<'a> Chunks<'a, u8, u8> {
    /// Exactly the bytes of `n` elements, in chunks of about `size` elements.
    pub(super) fn of_bytes(plan: &CastPlan, src: &'a [u8], dst: &'a mut [u8], n: usize, size: usize) -> Self {
        let eight = (plan.source().bits_per_element() as usize, plan.target().bits_per_element() as usize);
        Self::new(src, dst, eight, n, size)
    }
}

impl<'a, S: Element, D: Element> Chunks<'a, S, D> {
    /// Slices of the same length, in chunks of about `size` elements.
    pub(super) fn of_elements(src: &'a [S], dst: &'a mut [D], size: usize) -> Self {
        let n = src.len();
        Self::new(src, dst, (8, 8), n, size)
    }
}

impl<'a, S, D> Chunks<'a, S, D> {
    fn new(src: &'a [S], dst: &'a mut [D], eight: (usize, usize), n: usize, size: usize) -> Self {
        let size = size.max(1).checked_next_multiple_of(GRAIN).unwrap_or(n);
        let next = size.saturating_add(head(dst.as_ptr().addr(), eight.1 * size_of::<D>()));
        Chunks { src, dst, eight, first: 0, left: n, next, size }
    }
}

/// The number of elements before the first cache line of a destination, a multiple of eight; 0 if no multiple of eight begins a line.
fn head(address: usize, eight: usize) -> usize {
    (0..GRAIN / 8)
        .find(|eights| (address + eights * eight).is_multiple_of(CACHE_LINE))
        .map_or(0, |eights| 8 * eights)
}

impl<'a, S, D> Iterator for Chunks<'a, S, D> {
    type Item = Chunk<'a, S, D>;

    fn next(&mut self) -> Option<Chunk<'a, S, D>> {
        if self.left == 0 {
            return None;
        }
        let len = self.next.min(self.left);
        let first = self.first;
        let whole = len == self.left;
        let cut = |eight: usize, have: usize| if whole { have } else { len / 8 * eight };
        let (src, src_left) = self.src.split_at(cut(self.eight.0, self.src.len()));
        let dst = mem::take(&mut self.dst);
        let at = cut(self.eight.1, dst.len());
        let (dst, dst_left) = dst.split_at_mut(at);
        (self.src, self.dst) = (src_left, dst_left);
        (self.first, self.left, self.next) = (first + len, self.left - len, self.size);
        Some(Chunk { first, len, src, dst })
    }
}

/// Chunks with their bytes of a validity bitmap.
pub(super) struct Masked<'a> {
    pub(super) chunks: Chunks<'a, u8, u8>,
    pub(super) validity: &'a mut [u8],
}

impl<'a> Iterator for Masked<'a> {
    type Item = (Chunk<'a, u8, u8>, &'a mut [u8]);

    fn next(&mut self) -> Option<Self::Item> {
        let chunk = self.chunks.next()?;
        let (validity, left) = mem::take(&mut self.validity).split_at_mut(chunk.len.div_ceil(8));
        self.validity = left;
        Some((chunk, validity))
    }
}

/// The parts of a vector under construction.
pub(super) struct Parts<'a, S, D> {
    rest: Option<Part<'a, S, D>>,
    next: usize,
    size: usize,
}

impl<'a, S: Element, D: Element> Parts<'a, S, D> {
    /// Cuts `whole` into parts of about `size` elements.
    pub(super) fn new(whole: Part<'a, S, D>, size: usize) -> Self {
        let size = size.max(1).checked_next_multiple_of(GRAIN).unwrap_or(usize::MAX);
        let next = size.saturating_add(head(whole.address(), 8 * size_of::<D>()));
        Parts { rest: Some(whole), next, size }
    }
}

impl<'a, S: Element, D: Element> Iterator for Parts<'a, S, D> {
    type Item = Part<'a, S, D>;

    fn next(&mut self) -> Option<Part<'a, S, D>> {
        let (part, rest) = self.rest.take()?.split(self.next);
        self.next = self.size;
        self.rest = (rest.len() > 0).then_some(rest);
        Some(part)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{CastOptions, DType, Encoding};
    use alloc::vec;

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
            let (src, mut dst) = (vec![0; n], vec![0; to.byte_len(n).expect("small") + 128]);
            for offset in 0..64 {
                let len = to.byte_len(n).expect("small");
                let dst = &mut dst[offset..offset + len];
                let (address, bits) = (dst.as_ptr().addr(), to.bits_per_element() as usize);
                let possible = (0..512).step_by(8).any(|h| (address + h * bits / 8).is_multiple_of(64));
                let mut seen = 0;
                for chunk in Chunks::of_bytes(&plan, &src, dst, n, 1000) {
                    assert_eq!(chunk.first, seen);
                    assert_eq!(chunk.src.len(), chunk.len);
                    assert_eq!(chunk.dst.len(), (chunk.len * bits).div_ceil(8));
                    if chunk.first > 0 && possible {
                        assert!(chunk.dst.as_ptr().addr().is_multiple_of(64), "{to}, {offset}");
                    }
                    seen += chunk.len;
                }
                assert_eq!(seen, n);
            }
        }
    }
}
