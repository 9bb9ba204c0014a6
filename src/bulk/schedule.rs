//! How many threads a cast is worth, and how long their chunks are.
//!
//! To wake a thread and to hear from it again takes 11 to 17 us, as measured; so a cast that one thread does in less than
//! [`ALONE`] is left to it, and no chunk is shorter than [`SHORTEST`]. Beyond that there are several chunks to a thread, so that
//! all of them end at about the same time, whatever else they have to do.

use super::Threads;
use super::cost::{self, Cost};
use crate::CastPlan;

/// Nanoseconds below which one thread does a cast by itself.
const ALONE: u64 = 45_000;

/// Nanoseconds of the shortest chunk.
const SHORTEST: u64 = 20_000;

/// Nanoseconds of the longest one: the last thread to end is late by no more than this.
const LONGEST: u64 = 250_000;

/// Chunks to a thread, if they are not too short then.
const CHUNKS: u64 = 4;

/// Elements that no route takes [`ALONE`] for: the cost of the plan is not even looked up.
const FEW: usize = 1024;

/// Whether one thread is to do a cast.
#[inline]
pub(super) fn alone(plan: &CastPlan, n: usize) -> bool {
    n <= FEW || cost::of(plan).nanoseconds(n) < ALONE
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
        if n <= FEW {
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
    use crate::{BufferType, CastOptions, DType, FloatRound, Tier};

    /// No cast of few elements is thought to be worth a second thread, and every one of many is.
    #[test]
    fn what_is_short() {
        let storages = |dtype: &DType| [BufferType::new(*dtype), BufferType::packed(*dtype)];
        let round = CastOptions::RUST.with_float_round(FloatRound::Up);
        for from in DType::ALL.iter().flat_map(storages) {
            for to in DType::ALL.iter().flat_map(storages) {
                for options in [CastOptions::RUST, round] {
                    for &tier in Tier::ALL.iter().filter(|tier| tier.is_available()) {
                        let plan = CastPlan::with_tier(from, to, &options, tier).expect("a plan");
                        assert!(cost::of(&plan).nanoseconds(FEW) < ALONE, "{plan:?}");
                        assert!(alone(&plan, FEW) && !alone(&plan, 1 << 26), "{plan:?}");
                    }
                }
            }
        }
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
