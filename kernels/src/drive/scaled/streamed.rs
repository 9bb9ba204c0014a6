//! Scaled casts of buffers larger than the caches ([`crate::drive::stream`]).
//!
//! Blocks are cast into memory of the first-level cache and stored from there in whole lines of the destination. Blocks and lines need
//! not begin together: the end of a block that fills no line is stored with the next block.

use super::ScaledCast;
use crate::drive::stream::Fence;
use crate::vector::machine::{BLOCK_BYTES, CACHE_LINE};
use crate::vector::scaled::Factors;

/// How far ahead the source is prefetched, in bytes.
const AHEAD: usize = 8192;

#[repr(align(64))]
struct Lines([u8; BLOCK_BYTES]);

/// Casts with non-temporal stores.
pub struct ScaledStream<'a> {
    cast: &'a ScaledCast,
    lines: Lines,
}

impl core::fmt::Debug for ScaledStream<'_> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_tuple("ScaledStream").field(self.cast).finish()
    }
}

impl ScaledCast {
    /// The same cast with non-temporal stores, if the tier has these.
    pub fn stream(&self) -> ScaledStream<'_> {
        ScaledStream { cast: self, lines: Lines([0; BLOCK_BYTES]) }
    }
}

impl ScaledStream<'_> {
    /// [`ScaledCast::run`] with non-temporal stores, which are ordered before everything that follows the call.
    pub fn run(&mut self, src: &[u8], dst: &mut [u8], n: usize, run: usize, factors: &Factors<'_>) -> usize {
        let Self { cast, lines: Lines(lines) } = self;
        let n = cast.whole_blocks(src, dst, n, run, factors);
        let block = 4 * cast.fused.lanes;
        let tools = match cast.tier.non_temporal() {
            Some(tools) if n > 0 && (run.is_multiple_of(block) || block.is_multiple_of(run)) => tools,
            _ => return cast.run(src, dst, n, run, factors),
        };
        // Safe code reads and publishes the destination after the call.
        let _fence = Fence(tools.fence);
        let [read, written] = cast.bits;
        // One step of the loop casts whole blocks and runs, or whole blocks of one run. Its bytes follow the carried ones, less than a line.
        let room = 8 * (BLOCK_BYTES - CACHE_LINE) / written;
        let unit = if run < room { run.max(block) } else { block };
        let limit = room / unit * unit;
        // `lines` begins as a line of the destination does: with `foreign` bytes before the destination, which are not written.
        // The first `carried` bytes are the foreign ones and the bytes that the last step cast for a line that it did not fill.
        let mut carried = dst.as_ptr().addr() % CACHE_LINE;
        let (mut done, mut foreign) = (0, carried);
        while done < n {
            let left = if run < room { n - done } else { (run - done % run).min(n - done) };
            let count = limit.min(left);
            let (from, to, len) = (done / 8 * read, done / 8 * written, count / 8 * written);
            let factors = factors.from(done / run);
            (tools.prefetch)(src.as_ptr().wrapping_add(from + AHEAD), count / 8 * read);
            let end = carried + len;
            let cast = cast.run(&src[from..], &mut lines[carried..end], count, run.min(count), &factors);
            debug_assert!(cast == count, "whole blocks, and a factor for each run");
            let whole = end / CACHE_LINE * CACHE_LINE;
            // Where the first line in the destination begins within the memory.
            let mut first = 0;
            if foreign > 0 && whole > 0 {
                dst[..CACHE_LINE - foreign].copy_from_slice(&lines[foreign..CACHE_LINE]);
                (first, foreign) = (CACHE_LINE, 0);
            }
            if first < whole {
                let target = &mut dst[to + first - carried..][..whole - first];
                // SAFETY: the tier can run here; both begin with a line and are the same number of whole lines.
                unsafe { (tools.store)(lines[first..].as_ptr(), target.as_mut_ptr(), whole - first) };
            }
            lines.copy_within(whole..end, 0);
            (done, carried) = (done + count, end - whole);
        }
        let end = done / 8 * written;
        dst[end + foreign - carried..end].copy_from_slice(&lines[foreign..carried]);
        done
    }
}
