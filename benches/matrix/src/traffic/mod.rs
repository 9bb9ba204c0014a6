//! The limit: loops that move the bytes of a cast and do nothing with them.
//!
//! A loop for the ratio `r : w` loads `r` vectors, combines them by exclusive or, stores the result `w` times, and goes on. It
//! is written with the vectors of the tier, because the width of loads and stores is part of what a tier can do. One loop is
//! compiled for every ratio that two widths of elements make; small groups are unrolled so that the loop's own
//! instructions do not count. The streaming form uses non-temporal stores.

mod vectors;

use lanecast::{Encoding, Tier};
use vectors::Vector;

/// One loop: `groups` times `r` vectors from the source, `w` to the destination.
type Loop = unsafe fn(src: *const u8, dst: *mut u8, groups: usize);

/// The pure-traffic loop of a pair of encodings on a tier.
#[derive(Clone, Copy)]
pub struct Traffic {
    body: Loop,
    /// Bytes that a group reads.
    read: usize,
    /// Bytes that a group writes.
    written: usize,
    /// What the destination has to be aligned to.
    alignment: usize,
}

impl Traffic {
    /// The loop with ordinary stores.
    ///
    /// # Panics
    ///
    /// If the CPU lacks the tier.
    pub fn new(tier: Tier, from: Encoding, to: Encoding) -> Traffic {
        Self::select::<false>(tier, from, to)
    }

    /// The loop with streaming stores.
    ///
    /// # Panics
    ///
    /// If the CPU lacks the tier.
    pub fn streaming(tier: Tier, from: Encoding, to: Encoding) -> Traffic {
        Self::select::<true>(tier, from, to)
    }

    fn select<const STREAM: bool>(tier: Tier, from: Encoding, to: Encoding) -> Traffic {
        assert!(tier.is_available(), "{tier}: {}", tier.status());
        let (r, w) = ratio(from.bits_per_element(), to.bits_per_element());
        let (body, bytes) = vectors::select::<STREAM>(tier, r, w);
        let alignment = if STREAM { bytes } else { 1 };
        Traffic { body, read: r * bytes, written: w * bytes, alignment }
    }

    /// Moves the bytes of two buffers.
    ///
    /// # Panics
    ///
    /// If their lengths are not of the loop's ratio, or the destination of a streaming loop is not aligned to a vector.
    pub fn run(&self, src: &[u8], dst: &mut [u8]) {
        let groups = src.len() / self.read;
        assert_eq!((src.len(), dst.len()), (groups * self.read, groups * self.written), "whole groups");
        assert!((dst.as_ptr() as usize).is_multiple_of(self.alignment), "streaming stores are aligned");
        // SAFETY: both slices have the bytes of this many groups; `select` has seen that the CPU has the tier; the alignment is
        // the one that streaming stores ask for.
        unsafe { (self.body)(src.as_ptr(), dst.as_mut_ptr(), groups) }
    }
}

/// Two widths as the smallest whole numbers of the same ratio.
fn ratio(from: u32, to: u32) -> (usize, usize) {
    let (mut a, mut b) = (from, to);
    while b != 0 {
        (a, b) = (b, a % b);
    }
    ((from / a) as usize, (to / a) as usize)
}

/// The body of all loops.
///
/// # Safety
///
/// `src` is readable for `groups * R` vectors, `dst` writable for `groups * W`, and aligned to a vector if `STREAM`; the CPU has
/// the instructions of `V`.
#[inline(always)]
unsafe fn groups<V: Vector, const R: usize, const W: usize, const U: usize, const STREAM: bool>(
    mut src: *const u8,
    mut dst: *mut u8,
    groups: usize,
) {
    // The compiler must not know it: else an exclusive or of equals could vanish.
    let key = std::hint::black_box(0x5A_u8);
    // SAFETY: as the caller's, for the instructions.
    let key = unsafe { V::splat(key) };
    for _ in 0..groups / U {
        for _ in 0..U {
            // SAFETY: as the caller's: these are the vectors of one group.
            unsafe { group::<V, R, W, STREAM>(src, dst, key) };
            // SAFETY: one past the last group is the end of the buffers.
            (src, dst) = unsafe { (src.add(R * V::BYTES), dst.add(W * V::BYTES)) };
        }
    }
    for _ in 0..groups % U {
        // SAFETY: as above.
        unsafe { group::<V, R, W, STREAM>(src, dst, key) };
        // SAFETY: as above.
        (src, dst) = unsafe { (src.add(R * V::BYTES), dst.add(W * V::BYTES)) };
    }
    if STREAM {
        // SAFETY: as the caller's, for the instructions.
        unsafe { V::fence() };
    }
}

/// One group. Four partial results, so that a long group is bound by its loads and not by a chain of operations.
///
/// # Safety
///
/// As [`groups`], for one of them.
#[inline(always)]
unsafe fn group<V: Vector, const R: usize, const W: usize, const STREAM: bool>(
    src: *const u8,
    dst: *mut u8,
    key: V,
) {
    // SAFETY: in every load here `k` is among the vectors of the group.
    let load = |k: usize| unsafe { V::load(src.add(k * V::BYTES)) };
    // SAFETY: as the caller's, for the instructions.
    let xor = |a: V, b: V| unsafe { a.xor(b) };
    let mut value = xor(key, load(0));
    if R >= 4 {
        // All longer groups are multiples of four.
        let (mut b, mut c, mut d) = (load(1), load(2), load(3));
        for k in (4..R).step_by(4) {
            (value, b) = (xor(value, load(k)), xor(b, load(k + 1)));
            (c, d) = (xor(c, load(k + 2)), xor(d, load(k + 3)));
        }
        value = xor(xor(value, b), xor(c, d));
    } else {
        for k in 1..R {
            value = xor(value, load(k));
        }
    }
    for k in 0..W {
        // SAFETY: `k` is among the vectors of the group; the alignment is the caller's.
        unsafe {
            let to = dst.add(k * V::BYTES);
            if STREAM { value.stream(to) } else { value.store(to) }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cells;

    #[test]
    fn loops_write_everything_and_nothing_else() {
        for cast in cells::all() {
            let n = 3 * cells::step(cast.from, cast.to);
            let bytes = |buffer: Encoding| buffer.byte_len(n).expect("a small buffer");
            let src = vec![0xA5_u8; bytes(cast.from)];
            let mut dst = vec![0_u8; bytes(cast.to) + 192];
            let start = dst.as_ptr().align_offset(64) + 64;
            let end = start + bytes(cast.to);
            for &tier in Tier::ALL.iter().filter(|tier| tier.is_available()) {
                for traffic in [Traffic::new, Traffic::streaming].map(|new| new(tier, cast.from, cast.to)) {
                    dst.fill(0x11);
                    traffic.run(&src, &mut dst[start..end]);
                    assert!(dst[start..end].iter().all(|&byte| byte != 0x11), "{cast} on {tier}: a gap");
                    let outside = dst[..start].iter().chain(&dst[end..]);
                    assert!(outside.copied().all(|byte| byte == 0x11), "{cast} on {tier}: outside");
                }
            }
        }
    }

    #[test]
    fn ratios() {
        assert_eq!(ratio(32, 16), (2, 1));
        assert_eq!(ratio(6, 128), (3, 64));
        assert_eq!(ratio(2, 6), (1, 3));
    }
}
