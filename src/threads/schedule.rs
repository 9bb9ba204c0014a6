//! How many threads a cast uses, and how long their chunks are.
//!
//! Waking a thread and waiting for it takes 11 to 17 us, as measured. So a cast that one thread does in less than [`ALONE`] is not
//! shared, and no chunk is shorter than [`SHORTEST`]. Otherwise there are several chunks per thread, so that all threads end at about
//! the same time, whatever else they have to do.

use super::cost;
use lanecast_kernels::Kernel;

/// Nanoseconds below which one thread does a cast by itself.
const ALONE: u64 = 45_000;

/// Nanoseconds of the shortest chunk.
const SHORTEST: u64 = 20_000;

/// Nanoseconds of the longest chunk: the last thread ends at most this much later than the others.
const LONGEST: u64 = 250_000;

/// Chunks per thread, unless that makes them too short.
const CHUNKS: u64 = 4;

/// The number of elements that every route casts in less than [`ALONE`], so that the cost need not be looked up.
const FEW: usize = 1024;

/// Whether one thread should do a cast.
#[inline]
pub(crate) fn alone(kernel: &Kernel, n: usize) -> bool {
    n <= FEW || cost::of(kernel).nanoseconds(n) < ALONE
}

/// How work is shared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Share {
    /// The number of threads, at least 2.
    pub(crate) tasks: usize,
    /// Nanoseconds of a chunk.
    pub(crate) chunk: u64,
}

impl Share {
    /// For work of `time` nanoseconds; `None` if one thread should do it.
    pub(crate) fn new(time: u64, threads: impl FnOnce() -> usize) -> Option<Share> {
        if time < ALONE {
            return None;
        }
        let worth = usize::try_from(time / SHORTEST).unwrap_or(usize::MAX);
        let tasks = threads().min(worth);
        if tasks < 2 {
            return None;
        }
        let chunk = (time / CHUNKS / tasks as u64).clamp(SHORTEST, LONGEST);
        // The same number of chunks, made equally long.
        Some(Share { tasks, chunk: time.div_ceil(time / chunk) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::CastPlan;
    use crate::{CastOptions, DType, Encoding, FloatRound, Tier};

    /// No cast of few elements is thought to be worth a second thread, and every one of many is.
    #[test]
    fn what_is_short() {
        let storages = |dtype: &DType| [Encoding::new(*dtype), Encoding::packed(*dtype)];
        let round = CastOptions::RUST.with_float_round(FloatRound::Up);
        for from in DType::ALL.iter().flat_map(storages) {
            for to in DType::ALL.iter().flat_map(storages) {
                for options in [CastOptions::RUST, round] {
                    for &tier in Tier::ALL.iter().filter(|tier| tier.is_available()) {
                        let plan = CastPlan::with_tier(from, to, &options, tier).expect("a plan");
                        assert!(cost::of(plan.kernel()).nanoseconds(FEW) < ALONE, "{plan:?}");
                        assert!(alone(plan.kernel(), FEW) && !alone(plan.kernel(), 1 << 26), "{plan:?}");
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
