//! Casts over several threads: of one large buffer, or of thousands of tensors.
//!
//! *The law.* The bytes written, the losses counted and the elements rejected are the same as with one thread, however the cast is cut
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

pub(crate) mod chunks;
pub(crate) mod cost;
mod fork_guard;
mod pool;
mod schedule;

pub use pool::{ParallelFor, Threads};
pub(crate) use schedule::{Share, alone};
