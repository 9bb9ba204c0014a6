//! What casts lose: which values a checked cast rejects, and what a counting cast reports.
//!
//! A plain cast is total: it silently clamps, wraps or rounds. [`CastPlan::checked`](crate::CastPlan::checked) makes a plan that refuses,
//! marks or counts values that its target cannot hold. [`semantics`](crate::semantics), section 11, defines what counts as lost.

mod rejection;
mod report;

pub use rejection::{RejectedValue, Rejection, RejectionReason};
pub use report::CastReport;

/// Which losses a checked cast looks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Level {
    /// Values outside the range of the target: a number or an infinity that would be clamped, reduced modulo the range, or become an
    /// infinity or NaN; NaN where the target has none; an imaginary part that is not zero.
    ///
    /// ```
    /// use lanecast::{CastError, CastOptions, CastPlan, Level};
    /// let plan = CastPlan::of::<f32, u8>(&CastOptions::RUST).checked(Level::Range);
    /// let mut out = [0_u8; 3];
    /// assert!(plan.run(&[0.5_f32, 255.9, -0.0], &mut out).is_ok());
    /// let Err(CastError::Rejected(found)) = plan.run(&[1.0_f32, -1.0, 256.0], &mut out) else {
    ///     panic!("-1 is no uint8")
    /// };
    /// assert_eq!(found.index, 1);
    /// ```
    Range,
    /// These, and every nonzero value that becomes zero: below the subnormal numbers of a float target, or so small that the rounding of
    /// an integer target drops all of it.
    ///
    /// ```
    /// use lanecast::{CastError, CastOptions, CastPlan, Level, RejectionReason};
    /// let plan = CastPlan::of::<f32, i8>(&CastOptions::RUST).checked(Level::Underflow);
    /// let mut out = [0_i8; 3];
    /// assert!(plan.run(&[0.0_f32, 1.5, -2.0], &mut out).is_ok());
    /// let Err(CastError::Rejected(found)) = plan.run(&[0.0_f32, 1.5, 0.02], &mut out) else {
    ///     panic!("0.02 becomes 0")
    /// };
    /// assert_eq!((found.index, found.reason), (2, RejectionReason::Underflow));
    /// ```
    Underflow,
    /// These, and every value that the target cannot represent exactly: it would be rounded, lose its fraction, or become zero.
    /// A NaN that stays NaN and a lost sign of zero are not rejected.
    Exact,
}
