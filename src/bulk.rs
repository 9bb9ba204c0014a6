//! One cast over all threads of a rayon pool.

use crate::checked::{CastReport, CheckedPlan, CountingPlan, Rejection, all_valid};
use crate::{BufferType, CastError, CastPlan, Streaming};
use core::sync::atomic::{AtomicUsize, Ordering};
use rayon::prelude::*;

/// Bytes read and written below which one thread is quicker than waking others.
const THRESHOLD: usize = 4 << 20;

/// Elements of one task: whole bytes of every packed width and of a bitmap, and whole cache lines of every dtype.
const CHUNK: usize = 64 << 10;

/// Bytes of a chunk.
fn chunk(buffer: BufferType) -> usize {
    CHUNK / 8 * buffer.bits_per_element() as usize
}

/// One chunk of a cast.
struct Chunk<'a> {
    /// The number of its first element.
    first: usize,
    len: usize,
    src: &'a [u8],
    dst: &'a mut [u8],
}

impl CastPlan {
    /// How a cast is shared: whether it writes past the caches, and the bytes of both buffers. `None` if one thread does it all,
    /// also because a buffer is too small.
    fn shared(&self, src: usize, dst: usize, n: usize) -> Option<(Streaming, usize, usize)> {
        let (read, written) = (self.from().byte_len(n)?, self.to().byte_len(n)?);
        let bytes = read.saturating_add(written);
        if read > src || written > dst || bytes < THRESHOLD || rayon::current_num_threads() == 1 {
            return None;
        }
        // All chunks together are what no cache holds, or one does.
        let streaming = if self.streams(bytes) { Streaming::Always } else { Streaming::Never };
        Some((streaming, read, written))
    }

    /// The chunks of a cast that is shared.
    fn chunks<'a>(
        &self,
        src: &'a [u8],
        dst: &'a mut [u8],
        n: usize,
    ) -> impl IndexedParallelIterator<Item = Chunk<'a>> {
        src.par_chunks(chunk(self.from()))
            .zip(dst.par_chunks_mut(chunk(self.to())))
            .enumerate()
            .map(move |(i, (src, dst))| Chunk { first: i * CHUNK, len: CHUNK.min(n - i * CHUNK), src, dst })
    }

    /// [`run`](Self::run) over the threads of the current rayon pool; the bytes written are the same.
    ///
    /// Small casts run on the calling thread.
    ///
    /// # Errors
    ///
    /// As [`run`](Self::run).
    pub fn par_run(&self, src: &[u8], dst: &mut [u8], n: usize) -> Result<(), CastError> {
        let Some((streaming, read, written)) = self.shared(src.len(), dst.len(), n) else {
            return self.run(src, dst, n);
        };
        let plan = self.with_streaming(streaming);
        self.chunks(&src[..read], &mut dst[..written], n).try_for_each(|c| plan.run(c.src, c.dst, c.len))
    }
}

impl CheckedPlan {
    /// [`run`](Self::run) over the threads of the current rayon pool. The element that is reported is the first, whichever
    /// thread finds its own first.
    ///
    /// # Errors
    ///
    /// As [`run`](Self::run).
    pub fn par_run(&self, src: &[u8], dst: &mut [u8], n: usize) -> Result<(), CastError> {
        let plan = *self.plan();
        let Some((streaming, read, written)) = plan.shared(src.len(), dst.len(), n) else {
            return self.run(src, dst, n);
        };
        let checked = self.with_streaming(streaming);
        // Chunks behind a rejected element need not be looked at.
        let lowest = AtomicUsize::new(usize::MAX);
        let first = plan
            .chunks(&src[..read], &mut dst[..written], n)
            .filter_map(|c| {
                if c.first > lowest.load(Ordering::Relaxed) {
                    return None;
                }
                match checked.run(c.src, c.dst, c.len) {
                    Ok(()) => None,
                    Err(CastError::Rejected(found)) => {
                        let found = found.after(c.first);
                        lowest.fetch_min(found.index, Ordering::Relaxed);
                        Some(CastError::Rejected(found))
                    }
                    Err(error) => Some(error),
                }
            })
            .min_by_key(|error| match error {
                CastError::Rejected(Rejection { index, .. }) => *index,
                _ => 0,
            });
        first.map_or(Ok(()), Err)
    }

    /// [`run_masked`](Self::run_masked) over the threads of the current rayon pool; what is written is the same.
    ///
    /// # Errors
    ///
    /// As [`run_masked`](Self::run_masked).
    pub fn par_run_masked(
        &self,
        src: &[u8],
        dst: &mut [u8],
        validity: &mut [u8],
        n: usize,
    ) -> Result<usize, CastError> {
        let plan = *self.plan();
        let Some((streaming, read, written)) = plan.shared(src.len(), dst.len(), n) else {
            return self.run_masked(src, dst, validity, n);
        };
        let checked = self.with_streaming(streaming);
        let validity = all_valid(validity, n)?;
        plan.chunks(&src[..read], &mut dst[..written], n)
            .zip(validity.par_chunks_mut(CHUNK / 8))
            .map(|(c, validity)| checked.run_masked(c.src, c.dst, validity, c.len))
            .try_reduce(|| 0, |a, b| Ok(a + b))
    }
}

impl CountingPlan {
    /// [`run`](Self::run) over the threads of the current rayon pool; what is written and counted is the same.
    ///
    /// # Errors
    ///
    /// As [`run`](Self::run).
    pub fn par_run(&self, src: &[u8], dst: &mut [u8], n: usize) -> Result<CastReport, CastError> {
        let plan = *self.plan();
        let Some((streaming, read, written)) = plan.shared(src.len(), dst.len(), n) else {
            return self.run(src, dst, n);
        };
        let counting = self.with_streaming(streaming);
        plan.chunks(&src[..read], &mut dst[..written], n)
            .map(|c| counting.run(c.src, c.dst, c.len))
            .try_reduce(CastReport::default, |a, b| Ok(a.and(&b)))
    }
}
