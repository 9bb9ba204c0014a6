//! What a run looks for, and what it finds.

use crate::error::CastError;
use crate::loss::{CastReport, Level, Rejection};
use lanecast_kernels::{DType, Losses, Lost};

/// What a run returns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Outcome {
    /// The results, or the first element that a checked plan refuses.
    Results,
    /// A validity bitmap.
    Mask,
    /// The number of losses of each kind.
    Counts,
}

/// What a run looks for, and in which cast.
#[derive(Clone, Copy, Debug)]
pub(super) struct Search {
    pub(super) outcome: Outcome,
    /// Which losses; `None` if the run looks for none.
    pub(super) level: Option<Level>,
    pub(super) from: DType,
    pub(super) to: DType,
}

impl Search {
    /// The error of a lost element in a part whose first element has the index `first`.
    #[cold]
    pub(super) fn rejected(&self, lost: &Lost, first: usize) -> CastError {
        CastError::Rejected(Rejection::new(lost, self.from, self.to).after(first))
    }
}

/// The losses that a part has found. The sum over all parts is the losses of the cast.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Tally {
    /// Elements whose bits were cleared.
    pub(super) marked: usize,
    pub(super) report: CastReport,
}

impl Tally {
    pub(super) fn counted(n: usize, losses: &Losses) -> Tally {
        Tally { marked: 0, report: CastReport::new(n, losses) }
    }

    pub(super) fn marked(marked: usize) -> Tally {
        Tally { marked, ..Tally::default() }
    }

    #[cfg(feature = "rayon")]
    pub(super) fn and(&self, other: &Tally) -> Tally {
        Tally { marked: self.marked + other.marked, report: self.report.and(&other.report) }
    }
}
