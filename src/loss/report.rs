//! [`CastReport`]: how many values a cast lost.

use core::fmt;
use lanecast_kernels::{Loss, Losses};

/// How many values a cast lost, and how. Every value counts at most once; the parts of a complex number count as two values.
///
/// Rounding that stays inside the range is [`inexact`](Self::inexact) and nothing else: 450 becomes 448 in `float8_e4m3fn` without
/// being clamped, 465 is clamped.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct CastReport {
    /// Elements that were cast.
    pub elements: u64,
    /// Values clamped to an end of the range, infinities included.
    pub saturated: u64,
    /// Values reduced modulo the range of an integer target.
    pub wrapped: u64,
    /// Finite values that became infinite.
    pub overflowed_to_infinity: u64,
    /// Numbers and infinities that became NaN.
    pub became_nan: u64,
    /// NaNs that became a number because the target has none.
    pub nan_lost: u64,
    /// Imaginary parts, not zero, that were dropped.
    pub imaginary_dropped: u64,
    /// Nonzero values in range that became zero. In a float target they were below its subnormal numbers; in an integer target the
    /// rounding dropped all of them: 0.02, and -0.9 toward zero.
    pub underflowed_to_zero: u64,
    /// Values in range that were rounded or lost a fraction, but did not become zero; 0 unless the level is [`Level::Exact`](crate::Level::Exact).
    pub inexact: u64,
}

impl CastReport {
    pub(crate) fn new(elements: usize, losses: &Losses) -> Self {
        Self {
            elements: elements as u64,
            saturated: losses.of(Loss::Saturated),
            wrapped: losses.of(Loss::Wrapped),
            overflowed_to_infinity: losses.of(Loss::Infinite),
            became_nan: losses.of(Loss::MadeNan),
            nan_lost: losses.of(Loss::LostNan),
            imaginary_dropped: losses.of(Loss::Imaginary),
            underflowed_to_zero: losses.of(Loss::Underflow),
            inexact: losses.of(Loss::Inexact),
        }
    }

    /// The counts with their names, without `elements`.
    pub const fn counts(&self) -> [(&'static str, u64); 8] {
        [
            ("saturated", self.saturated),
            ("wrapped", self.wrapped),
            ("overflowed_to_infinity", self.overflowed_to_infinity),
            ("became_nan", self.became_nan),
            ("nan_lost", self.nan_lost),
            ("imaginary_dropped", self.imaginary_dropped),
            ("underflowed_to_zero", self.underflowed_to_zero),
            ("inexact", self.inexact),
        ]
    }

    /// Whether nothing was counted.
    pub fn is_clean(&self) -> bool {
        self.counts().iter().all(|(_, n)| *n == 0)
    }

    /// How many values were outside the range of the target: the sum of all counts except those that became zero or were rounded.
    pub const fn out_of_range(&self) -> u64 {
        self.saturated
            .saturating_add(self.wrapped)
            .saturating_add(self.overflowed_to_infinity)
            .saturating_add(self.became_nan)
            .saturating_add(self.nan_lost)
            .saturating_add(self.imaginary_dropped)
    }

    /// The sum of both reports.
    #[must_use]
    pub const fn and(&self, other: &CastReport) -> CastReport {
        CastReport {
            elements: self.elements.saturating_add(other.elements),
            saturated: self.saturated.saturating_add(other.saturated),
            wrapped: self.wrapped.saturating_add(other.wrapped),
            overflowed_to_infinity: self.overflowed_to_infinity.saturating_add(other.overflowed_to_infinity),
            became_nan: self.became_nan.saturating_add(other.became_nan),
            nan_lost: self.nan_lost.saturating_add(other.nan_lost),
            imaginary_dropped: self.imaginary_dropped.saturating_add(other.imaginary_dropped),
            underflowed_to_zero: self.underflowed_to_zero.saturating_add(other.underflowed_to_zero),
            inexact: self.inexact.saturating_add(other.inexact),
        }
    }
}

impl fmt::Display for CastReport {
    /// `4 elements, saturated 2, nan_lost 1`
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} elements", self.elements)?;
        self.counts().iter().filter(|(_, n)| *n != 0).try_for_each(|(name, n)| write!(f, ", {name} {n}"))
    }
}
