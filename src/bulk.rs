//! Casts over several threads: of one large buffer, or of thousands of tensors.
//!
//! *The law.* The bytes written, the losses counted and the elements rejected are those of one thread, however the cast is cut
//! and whichever threads run it. If several elements are rejected, the first is reported.
//!
//! *The method.* A cast is a queue of chunks. Every participating thread takes the next chunk when it has finished one, until
//! there are none. So a thread that comes late, or is given other work, delays nothing, and a [host](ParallelFor) that calls its
//! tasks one after the other, or not at all, changes only the time. The calling thread takes part. Threads wait for each other
//! only at the end, and a rayon worker then waits by doing other work of its pool. So, as with everything that runs on rayon, do
//! not hold a lock during a cast that tasks of the same pool also take.
//!
//! Chunks begin on whole bytes of packed elements and of validity bitmaps, and on cache lines of the destination. They
//! take about 20 to 250 us each, by an estimate from the bytes, the pair, the tier and the options; a cast that one thread does in
//! less than 45 us is not shared. Whether non-temporal stores ([`Streaming`](crate::Streaming)) are used is decided for the cast,
//! or the batch, as a whole.
//!
//! After a `fork`, rayon's threads exist only in the parent. The child detects this and casts on the calling thread.
//! The first cast of a process does not wait for rayon to start its threads either: it begins alone.

mod batch;
mod chunks;
mod cost;
mod fork_guard;
mod plans;
mod schedule;
mod strided;
mod threads;

pub use batch::{BatchError, BatchItem, par_cast_batch};
#[cfg(feature = "scaled")]
pub(crate) use schedule::Share;
pub use strided::{par_cast_strided, par_cast_strided_with};
pub use threads::{ParallelFor, Threads};

use crate::{CastError, CastOptions, CastPlan, Element, Encoding, cast::certain};
use alloc::vec::Vec;

/// [`cast`](crate::cast()) over several threads.
///
/// ```
/// use lanecast::{bulk, half::f16};
/// let src = vec![0.25_f32; 2_000_000];
/// let mut dst = vec![f16::ZERO; src.len()];
/// bulk::par_cast(&src, &mut dst, bulk::Threads::Rayon)?;
/// assert!(dst.iter().all(|x| x.to_f32() == 0.25));
/// # Ok::<(), lanecast::CastError>(())
/// ```
///
/// # Errors
///
/// As [`cast`](crate::cast()).
pub fn par_cast<S: Element, D: Element>(
    src: &[S],
    dst: &mut [D],
    threads: Threads<'_>,
) -> Result<(), CastError> {
    par_cast_with(src, dst, threads, &CastOptions::RUST)
}

/// [`cast_with`](crate::cast_with) over several threads.
///
/// # Errors
///
/// As [`cast_with`](crate::cast_with).
pub fn par_cast_with<S: Element, D: Element>(
    src: &[S],
    dst: &mut [D],
    threads: Threads<'_>,
    options: &CastOptions,
) -> Result<(), CastError> {
    CastPlan::new(S::DTYPE, D::DTYPE, options)?.par_run_slice(src, dst, threads)
}

/// [`cast_to_vec`](crate::cast_to_vec) over several threads. It cannot fail.
pub fn par_cast_to_vec<S: Element, D: Element>(src: &[S], threads: Threads<'_>) -> Vec<D> {
    par_cast_to_vec_with(src, threads, &CastOptions::RUST)
}

/// [`cast_to_vec_with`](crate::cast_to_vec_with) over several threads. It cannot fail.
pub fn par_cast_to_vec_with<S: Element, D: Element>(
    src: &[S],
    threads: Threads<'_>,
    options: &CastOptions,
) -> Vec<D> {
    const { lanecast_kernels::typed::assert_built::<S, D>() };
    certain(CastPlan::new(S::DTYPE, D::DTYPE, options).and_then(|plan| plan.par_run_to_vec(src, threads)))
}

/// [`cast_bytes`](crate::cast_bytes) over several threads.
///
/// # Errors
///
/// As [`cast_bytes`](crate::cast_bytes).
pub fn par_cast_bytes(
    src: &[u8],
    from: impl Into<Encoding>,
    dst: &mut [u8],
    to: impl Into<Encoding>,
    n: usize,
    threads: Threads<'_>,
) -> Result<(), CastError> {
    par_cast_bytes_with(src, from, dst, to, n, threads, &CastOptions::RUST)
}

/// [`cast_bytes_with`](crate::cast_bytes_with) over several threads.
///
/// # Errors
///
/// As [`cast_bytes_with`](crate::cast_bytes_with).
pub fn par_cast_bytes_with(
    src: &[u8],
    from: impl Into<Encoding>,
    dst: &mut [u8],
    to: impl Into<Encoding>,
    n: usize,
    threads: Threads<'_>,
    options: &CastOptions,
) -> Result<(), CastError> {
    CastPlan::new(from, to, options)?.par_run(src, dst, n, threads)
}
