//! How many threads a cast is worth, and how long their chunks are.
//!
//! To wake a thread and to hear from it again takes 11 to 17 us, as measured; so a cast that one thread does in less than
//! [`ALONE`] is left to it, and no chunk is shorter than [`SHORTEST`]. Beyond that there are several chunks to a thread, so that
//! all of them end at about the same time, whatever else they have to do.

use super::Threads;
use super::cost::{self, Cost};
use crate::{CastPlan, Tier};

/// Nanoseconds below which one thread does a cast by itself.
const ALONE: u64 = 45_000;

/// Nanoseconds of the shortest chunk.
const SHORTEST: u64 = 20_000;

/// Nanoseconds of the longest one: the last thread to end is late by no more than this.
const LONGEST: u64 = 250_000;

/// Chunks to a thread, if they are not too short then.
const CHUNKS: u64 = 4;

/// Elements that no route takes [`ALONE`] for, and bits of source and destination that no vector kernel does.
const FEW: usize = 1024;
const SHORT: usize = 8 << 20;

/// Whether one thread is to do a cast, as far as that can be told in a nanosecond.
#[inline]
pub(super) fn alone(plan: &CastPlan, n: usize) -> bool {
    let bits = plan.from().bits_per_element() + plan.to().bits_per_element();
    let short = n.saturating_mul(bits as usize) < SHORT;
    n <= FEW || short && plan.tier() as u8 != Tier::Scalar as u8
}

/// How some work is shared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Share {
    /// Threads that take part, 2 or more.
    pub(super) tasks: usize,
    /// Nanoseconds of a chunk.
    pub(super) chunk: u64,
}

impl Share {
    /// For work of so many nanoseconds; `None` if one thread is to do it.
    pub(super) fn new(time: u64, threads: impl FnOnce() -> usize) -> Option<Share> {
        if time < ALONE {
            return None;
        }
        let worth = usize::try_from(time / SHORTEST).unwrap_or(usize::MAX);
        let tasks = threads().min(worth);
        if tasks < 2 {
            return None;
        }
        let chunk = (time / CHUNKS / tasks as u64).clamp(SHORTEST, LONGEST);
        // As many chunks, all of the same length.
        Some(Share { tasks, chunk: time.div_ceil(time / chunk) })
    }

    /// For one cast; and the elements of a chunk.
    pub(super) fn of_cast(plan: &CastPlan, n: usize, threads: &Threads<'_>) -> Option<(Share, usize)> {
        if alone(plan, n) {
            return None;
        }
        let time = cost::of(plan).nanoseconds(n);
        let share = Share::new(time, || threads.count())?;
        Some((share, Cost::elements(n, share.chunk, time)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{BufferType, CastOptions, DType};

    /// No vector kernel is thought to take longer than one thread should for what is short.
    #[test]
    fn what_is_short() {
        let storages = |dtype: &DType| [BufferType::new(*dtype), BufferType::packed(*dtype)];
        for from in DType::ALL.iter().flat_map(storages) {
            for to in DType::ALL.iter().flat_map(storages) {
                let plan = CastPlan::new(from, to, &CastOptions::RUST).expect("a plan");
                if plan.tier() == Tier::Scalar {
                    continue;
                }
                let n = SHORT / (from.bits_per_element() + to.bits_per_element()) as usize;
                assert!(cost::of(&plan).nanoseconds(n) < ALONE, "{plan:?}");
                assert!(alone(&plan, n - 1) && !alone(&plan, n + 1));
            }
        }
        let plan = CastPlan::with_tier(DType::Float32, DType::Float8E5M2, &CastOptions::RUST, Tier::Scalar);
        let plan = plan.expect("there is always one");
        assert!(alone(&plan, FEW) && !alone(&plan, FEW + 1));
        assert!(cost::of(&plan).nanoseconds(FEW) < ALONE);
    }

    #[test]
    fn shares() {
        let share = |time, threads| Share::new(time, || threads).map(|s| (s.tasks, s.chunk));
        assert_eq!(share(44_999, 8), None);
        assert_eq!(share(1_000_000, 1), None);
        assert_eq!(share(1_000_000, 0), None);
        assert_eq!(share(46_000, 8), Some((2, 23_000)));
        assert_eq!(share(160_000, 64), Some((8, 20_000)));
        assert_eq!(share(1_000_000, 4), Some((4, 62_500)));
        assert_eq!(share(u64::MAX, 4).map(|s| s.0), Some(4));
        assert_eq!(Share::new(1, || panic!("nobody is asked for small casts")), None);
    }
}
