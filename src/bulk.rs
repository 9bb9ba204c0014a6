//! One cast over all threads of a rayon pool.

use crate::{CastError, CastPlan, Streaming};
use rayon::prelude::*;

/// Bytes read and written below which one thread is quicker than waking others.
const THRESHOLD: usize = 4 << 20;

/// Elements of one task: whole bytes of every packed width and whole cache lines of every dtype.
const CHUNK: usize = 64 << 10;

impl CastPlan {
    /// [`run`](Self::run) over the threads of the current rayon pool; the bytes written are the same.
    ///
    /// Small casts run on the calling thread.
    ///
    /// # Errors
    ///
    /// As [`run`](Self::run).
    pub fn par_run(&self, src: &[u8], dst: &mut [u8], n: usize) -> Result<(), CastError> {
        let lengths = (self.from().byte_len(n), self.to().byte_len(n));
        let (read, written) = match lengths {
            (Some(read), Some(written)) if read <= src.len() && written <= dst.len() => (read, written),
            _ => return self.run(src, dst, n),
        };
        if read.saturating_add(written) < THRESHOLD || rayon::current_num_threads() == 1 {
            return self.run(src, dst, n);
        }
        // All chunks together are what no cache holds, or one does.
        let streaming = if self.streams(read + written) { Streaming::Always } else { Streaming::Never };
        let plan = self.with_streaming(streaming);
        // `CHUNK` elements are whole bytes on both sides.
        let bytes = |bits: u32| CHUNK / 8 * bits as usize;
        src[..read]
            .par_chunks(bytes(self.from().bits_per_element()))
            .zip(dst[..written].par_chunks_mut(bytes(self.to().bits_per_element())))
            .enumerate()
            .try_for_each(|(i, (src, dst))| plan.run(src, dst, CHUNK.min(n - i * CHUNK)))
    }
}
