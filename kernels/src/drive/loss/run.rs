//! Runs a cast with loss detection.
//!
//! The source is processed in blocks, each small enough for the first-level cache. A block is cast first. Then its results are tested
//! for losses, if losses are visible in narrower results, and then its codes, which the cast has left in the cache. Only blocks that
//! lost a value are examined further: for the first lost element, for the count of each kind of loss, or for a mask.

use super::detector::LossDetector;
use crate::vector::loss::{Loss, Losses, loss, shape::LossCounts};
use crate::{
    drive::{blocks::Stack, fpenv, operand::Flat},
    exact::buffer::read,
    route::Streaming,
    vector::machine::BLOCK_BYTES,
};
use core::mem::MaybeUninit;

/// Bytes of a block of a cast with non-temporal stores, which has its own smaller blocks.
const STREAMED: usize = 8 * BLOCK_BYTES;

/// An element that its target cannot hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lost {
    /// Its index, counted from 0.
    pub index: usize,
    /// The element in the low bits, the real part lowest.
    pub code: u128,
    /// Its loss. If both parts are lost, a loss out of range takes precedence; otherwise this is the loss of the first part.
    pub loss: Loss,
}

/// What a run searches for.
pub(crate) enum Sought<'a> {
    /// The first lost element, where the run ends.
    First(Option<Lost>),
    /// The number of losses of each kind.
    Counts(Losses),
    /// A mask in which the bits of lost elements are cleared, and their number.
    Mask(&'a mut [u8], usize),
}

impl Sought<'_> {
    /// Examines a block that lost something; false if the rest is not needed.
    fn look(&mut self, block: &Block<'_>) -> bool {
        match self {
            Sought::First(found) => {
                *found = block.first_lost();
                return found.is_none();
            }
            Sought::Counts(losses) => losses.merge(&block.losses()),
            Sought::Mask(bits, lost) => *lost += block.mask(bits),
        }
        true
    }
}

impl LossDetector {
    /// Casts until an element is lost, and returns that element; then the elements of the destination from it on are unspecified.
    ///
    /// `None`, with nothing written, if either side is shorter than `n` elements.
    pub fn run(&self, flat: Flat<'_>) -> Option<Option<Lost>> {
        let mut sought = Sought::First(None);
        self.run_uninit(flat.src, flat.dst, flat.n, &mut sought)?;
        Some(sought.first())
    }

    /// Casts and counts losses. The detector must be `labelled`.
    ///
    /// `None`, with nothing written, if either side is shorter than `n` elements.
    pub fn run_counted(&self, flat: Flat<'_>) -> Option<Losses> {
        let mut sought = Sought::Counts(Losses::default());
        self.run_uninit(flat.src, flat.dst, flat.n, &mut sought)?;
        Some(sought.counts())
    }

    /// Casts and clears bit `i % 8` of byte `i / 8` of `mask` for every element `i` that is lost. Returns the number of lost elements.
    ///
    /// `None`, with nothing written, if either side is shorter than `n` elements, or the mask than `n` bits.
    pub fn run_masked(&self, flat: Flat<'_>, mask: &mut [u8]) -> Option<usize> {
        let mut sought = Sought::Mask(mask.get_mut(..flat.n.div_ceil(8))?, 0);
        self.run_uninit(flat.src, flat.dst, flat.n, &mut sought)?;
        Some(sought.count())
    }

    /// Casts `n` elements and passes every block that lost something to `sought`, in order, until it needs no more; then the result is
    /// false. If the result is true, all `n` elements are written.
    ///
    /// `None`, with nothing written, if either buffer is shorter than `n` elements.
    fn run_uninit(
        &self,
        src: &[u8],
        dst: &mut [MaybeUninit<u8>],
        n: usize,
        sought: &mut Sought<'_>,
    ) -> Option<bool> {
        if self.idle {
            return self.kernel.run_uninit(src, dst, n).map(|_| true);
        }
        let src = src.get(..self.kernel.source().byte_len(n)?)?;
        let dst = dst.get_mut(..self.kernel.target().byte_len(n)?)?;
        let _guard = self.guard();
        let streams = self.kernel.streams(src.len() + dst.len());
        // SAFETY: both were just cut to the bytes of `n` elements; the guard lives to the end of the function.
        Some(unsafe { self.run_unguarded(src, dst, n, streams, sought) })
    }

    /// Sets the floating-point environment in which the cast and its tests run, if they obey it, until the result is dropped.
    pub(crate) fn guard(&self) -> Option<fpenv::Guard> {
        self.guarded.then(fpenv::guard)
    }

    /// Casts as [`run_uninit`](Self::run_uninit), with non-temporal stores if `streams` says so.
    ///
    /// # Safety
    ///
    /// The slices are exactly the bytes of `n` elements, and the caller holds the [guard](Self::guard).
    pub(crate) unsafe fn run_unguarded(
        &self,
        src: &[u8],
        dst: &mut [MaybeUninit<u8>],
        n: usize,
        streams: bool,
        sought: &mut Sought<'_>,
    ) -> bool {
        let (from, to) = (self.kernel.source(), self.kernel.target());
        // Results that are read again should stay in a cache.
        let streams = streams && self.back.is_none();
        let kernel = self.native.with_streaming(if streams { Streaming::Always } else { Streaming::Never });
        // With non-temporal stores, results would have to be read back from memory.
        let results = self.results.as_ref().filter(|_| !streams);
        let [mut unpacked, mut returned] = [const { Stack::<BLOCK_BYTES>::new() }; 2];
        let size = from.dtype().size();
        // Elements of one byte each fill a block; the stack has room for one.
        let elements = if streams && self.unpack.is_none() { STREAMED } else { BLOCK_BYTES } / size;
        let swapped = from.is_swapped();
        for first in (0..n).step_by(elements) {
            let len = elements.min(n - first);
            let src = &src[from.span(first, len)];
            let dst = &mut dst[to.span(first, len)];
            let codes = match &self.unpack {
                // SAFETY: the slices are the bytes of `len` elements; the guard is held. The kernel rounds nothing.
                Some(unpack) => unsafe {
                    unpack.run_unguarded(src, &mut unpacked.bytes()[..len * size], len)
                },
                None => src,
            };
            let src = if swapped { codes } else { src };
            // SAFETY: the slices are the bytes of `len` elements; the guard is held if a kernel needs one.
            let out = unsafe { kernel.run_cut(src, dst, len) };
            let back: &[u8] = match &self.back {
                // SAFETY: as above; the kernel rounds to nearest.
                Some(back) => unsafe { back.run_unguarded(out, &mut returned.bytes()[..codes.len()], len) },
                None => &[],
            };
            // SAFETY: the kernel proves its tier; the guard is held if any of the loops needs it.
            let may_lose = unsafe {
                results.is_none_or(|(may_lose, tests)| may_lose(tests, 0, out, &[]))
                    && self.loops.candidates(self.shape, &self.tests, (codes, back))
            };
            if !may_lose {
                continue;
            }
            // Blocks with non-temporal stores are longer; their results are not tested.
            for (i, codes) in codes.chunks(BLOCK_BYTES).enumerate() {
                // SAFETY: as above.
                let counts = unsafe { self.loops.counts(self.shape, &self.tests, (codes, back)) };
                let (first, len) = (first + i * BLOCK_BYTES / size, codes.len() / size);
                let block = Block { watch: self, first, len, counts: &counts, codes };
                if counts.any() && !sought.look(&block) {
                    return false;
                }
            }
        }
        true
    }
}

/// The results, or an empty result if something else was sought.
impl Sought<'_> {
    pub(crate) fn first(self) -> Option<Lost> {
        if let Sought::First(found) = self { found } else { None }
    }

    pub(crate) fn counts(self) -> Losses {
        if let Sought::Counts(losses) = self { losses } else { Losses::default() }
    }

    pub(crate) fn count(self) -> usize {
        if let Sought::Mask(_, lost) = self { lost } else { 0 }
    }
}

/// A block that lost some elements.
struct Block<'a> {
    watch: &'a LossDetector,
    /// The index of its first element.
    first: usize,
    /// The number of its elements.
    len: usize,
    counts: &'a LossCounts,
    /// The elements in byte storage.
    codes: &'a [u8],
}

impl Block<'_> {
    /// The losses, if the detector is `labelled`.
    fn losses(&self) -> Losses {
        let mut losses = Losses::default();
        for (label, n) in self.watch.labels.iter().zip(self.counts.ranges) {
            losses.add(*label, n);
        }
        losses.add(Loss::Imaginary, self.counts.imaginary);
        losses.add(Loss::Inexact, self.counts.inexact);
        losses
    }

    /// Bits that say which of up to 64 elements from `at` on are lost. The lowest bit belongs to `at`, which is a multiple of 64; bits
    /// after the end of the block are 0.
    fn flags(&self, at: usize) -> u64 {
        let width = self.watch.shape.width;
        // Each part of a complex number has its own bit.
        if self.watch.kernel.source().dtype().size() == width {
            return self.counts.flags(width, at / 64);
        }
        let pairs = |i: usize| {
            let flags = self.counts.flags(width, i);
            (0..32).fold(0, |out, i| out | u64::from(flags >> (2 * i) & 3 != 0) << i)
        };
        let i = (at / 64).saturating_mul(2);
        pairs(i) | pairs(i.saturating_add(1)) << 32
    }

    /// The code of element `i` of the block, the real part lowest, and the losses of its parts; `None` if the block has no such
    /// element.
    fn loss(&self, i: usize) -> Option<(u128, [Option<Loss>; 2])> {
        let (from, to) = (self.watch.kernel.source().dtype(), self.watch.kernel.target().dtype());
        let mut code = read(self.codes.chunks_exact(from.size()).nth(i)?, from);
        if from.is_sub_byte() {
            // The high bits of the byte are ignored.
            code &= (1 << from.bits()) - 1;
        }
        Some((code, loss(from, to, code, &self.watch.rules)))
    }

    /// The first element that is lost.
    fn first_lost(&self) -> Option<Lost> {
        (0..self.len).step_by(64).find_map(|at| {
            let flags = self.flags(at);
            let i = at + flags.trailing_zeros() as usize;
            let (code, losses) = if flags == 0 { None } else { self.loss(i) }?;
            let mut lost = losses.into_iter().flatten();
            let out_of_range = lost.clone().find(|loss| loss.is_out_of_range());
            Some(Lost { index: self.first + i, code, loss: out_of_range.or_else(|| lost.next())? })
        })
    }

    /// Clears the bits of lost elements in a mask of all elements, and returns their number.
    fn mask(&self, mask: &mut [u8]) -> usize {
        let mut lost = 0;
        // Blocks begin at whole bytes of the mask.
        for (i, bits) in mask[self.first / 8..].chunks_mut(8).take(self.len.div_ceil(64)).enumerate() {
            let flags = self.flags(64 * i);
            lost += flags.count_ones() as usize;
            for (byte, flags) in bits.iter_mut().zip(flags.to_le_bytes()) {
                *byte &= !flags;
            }
        }
        lost
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        Kernel, Rules, Tier,
        dtype::{DType, Encoding},
    };
    use alloc::{vec, vec::Vec};

    /// Runs every path through the blocks, in all storages, also with uninitialised destinations: small enough for Miri.
    #[test]
    fn blocks() {
        let lengths: &[usize] = if cfg!(miri) { &[0, 65] } else { &[0, 1, 65, 4097, 9001] };
        for (from, to) in [
            (DType::Float32.into(), DType::UInt8.into()),
            (DType::Float32.into(), DType::BFloat16.into()),
            (DType::Float16.into(), Encoding::new(DType::Float8E4M3FN)),
            (Encoding::packed(DType::Int4), Encoding::packed(DType::UInt4)),
            (DType::Complex64.into(), DType::Float32.into()),
            (DType::Int32.into(), DType::Float32.into()),
        ] {
            let rules = Rules::common(to.dtype(), true);
            let new = |from, to, rules: &Rules| Kernel::new(Tier::Scalar, from, to, rules).expect("scalar");
            let kernel = new(from, to, &rules);
            let (source, size) = (from.dtype(), from.dtype().size());
            for &n in lengths {
                let len = from.byte_len(n).expect("small");
                let src: Vec<u8> = (0..len).map(|i| (i * 37 + i / 256) as u8).collect();
                let mut plain = vec![0; to.byte_len(n).expect("small")];
                kernel.run(&src, &mut plain, n).expect("large enough");
                let mut codes = vec![0; n * size];
                new(from, source.into(), &Rules::common(source, true))
                    .run(&src, &mut codes, n)
                    .expect("room");
                let ways = [(false, false), (true, true), (false, true), (true, false)];
                // Miri is slow: it runs both ends.
                for &(inexact, labelled) in &ways[..if cfg!(miri) { 2 } else { 4 }] {
                    let watch = LossDetector::new(kernel, &rules, inexact, labelled);
                    let asked = |loss: &Loss| {
                        loss.is_out_of_range() || inexact || labelled && *loss == Loss::Underflow
                    };
                    let mut want = Losses::default();
                    let (mut first, mut lost, mut mask) = (None, 0, vec![0xFF; n.div_ceil(8)]);
                    for (i, bytes) in codes.chunks(size).enumerate() {
                        let code = read(bytes, source);
                        let all = loss(source, to.dtype(), code, &rules).into_iter().flatten().filter(asked);
                        all.clone().for_each(|loss| want.add(loss, 1));
                        if let Some(loss) =
                            all.clone().find(|loss| loss.is_out_of_range()).or(all.clone().next())
                        {
                            first = first.or(Some((i, code, loss)));
                            lost += 1;
                            mask[i / 8] &= !(1 << (i % 8));
                        }
                    }
                    let mut dst = vec![0xA5; plain.len() + 1];
                    let mut got = vec![0xFF; n.div_ceil(8) + 1];
                    assert_eq!(
                        watch.run_masked(Flat::new(&src, &mut dst, n), &mut got),
                        Some(lost),
                        "{kernel:?}"
                    );
                    assert_eq!((&got[..mask.len()], got[mask.len()]), (&mask[..], 0xFF), "{kernel:?}");
                    assert_eq!((&dst[..plain.len()], dst[plain.len()]), (&plain[..], 0xA5), "{kernel:?}");
                    let found = watch.run(Flat::new(&src, &mut dst, n)).expect("large enough");
                    let found = found.map(|Lost { index, code, loss }| (index, code, loss));
                    assert_eq!(found, first, "{kernel:?}, {inexact}, {labelled}");
                    if labelled {
                        let counts = watch.run_counted(Flat::new(&src, &mut dst, n)).expect("large enough");
                        assert!(
                            Loss::ALL.iter().all(|loss| counts.of(*loss) == want.of(*loss)),
                            "{kernel:?}"
                        );
                        assert_eq!((&dst[..plain.len()], dst[plain.len()]), (&plain[..], 0xA5));
                    }
                    let short = &mut plain[1.min(n)..].to_vec();
                    assert!(n == 0 || watch.run(Flat::new(&src, short, n)).is_none());
                    assert!(n == 0 || watch.run_masked(Flat::new(&src, &mut dst, n), &mut []).is_none());
                }
            }
        }
    }
}
