//! [`CastPlan`]: a pair, its options and how it is run, resolved once and run often.
//!
//! `cast_plan` makes it, `run` matches the operands and chooses who works, `job` does one part of a cast on one thread, `parallel` cuts it
//! for several, `batch` joins many casts, and `explain` says what a plan does and why.

#[cfg(feature = "rayon")]
mod batch;
mod cast_plan;
mod explain;
mod job;
mod outcome;
#[cfg(feature = "rayon")]
mod parallel;
mod ptr;
mod run;
mod stochastic;

#[cfg(feature = "rayon")]
pub use batch::{BatchError, BatchItem, cast_batch};
pub use cast_plan::CastPlan;
pub use explain::{ExplainedStage, Explanation};
