//! One part of a cast, on one thread: what the plan does with bytes, with views and in place, and what it finds out.

use super::{CastPlan, stochastic::Stochastically};
use crate::error::CastError;
use crate::loss::{CastReport, Level, Rejection};
#[cfg(feature = "rayon")]
use lanecast_kernels::Streaming;
use lanecast_kernels::{Flat, InPlaceBytes, Kernel, Layout, LossDetector, Losses, Lost, View, ViewMut};

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

/// What a part has found; the sum of those of all parts is what the cast has found.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Tally {
    /// Elements whose bits were cleared.
    pub(super) marked: usize,
    pub(super) report: CastReport,
}

impl Tally {
    pub(super) fn and(&self, other: &Tally) -> Tally {
        Tally { marked: self.marked + other.marked, report: self.report.and(&other.report) }
    }
}

/// How the parts of one cast are done.
#[derive(Clone, Copy)]
pub(super) struct Job<'p> {
    pub(super) plan: &'p CastPlan,
    pub(super) outcome: Outcome,
    /// Which losses it looks for.
    pub(super) level: Option<Level>,
    kernel: Kernel,
    detector: Option<LossDetector>,
    random: Option<&'p Stochastically>,
}

impl<'p> Job<'p> {
    pub(super) fn new(plan: &'p CastPlan, outcome: Outcome) -> Job<'p> {
        let random = plan.stochastically();
        let level = plan.level().or((outcome != Outcome::Results).then_some(Level::Range));
        // Stochastic rounding finds its losses by itself.
        let detector = if random.is_none() { plan.detector(outcome) } else { None };
        Job { plan, outcome, level, kernel: *plan.kernel(), detector, random }
    }

    /// The same job with non-temporal stores or without.
    #[cfg(feature = "rayon")]
    pub(super) fn with_streaming(self, streaming: Streaming) -> Job<'p> {
        let detector = self.detector.map(|detector| detector.with_streaming(streaming));
        Job { kernel: self.kernel.with_streaming(streaming), detector, ..self }
    }

    /// Casts bytes whose first element has the index `first`. The mask has the bits of these elements, all of them set.
    pub(super) fn flat(&self, first: usize, flat: Flat<'_>, mask: &mut [u8]) -> Result<Tally, CastError> {
        let n = flat.n;
        if let Some(random) = self.random {
            return random.flat(self, first, flat, mask);
        }
        let Some(detector) = &self.detector else {
            let ran = self.kernel.run_uninit(flat.src, flat.dst, n);
            return ran.map(|_| Tally::default()).ok_or_else(|| self.too_short(n));
        };
        match self.outcome {
            Outcome::Results => match detector.run(flat) {
                None => Err(self.too_short(n)),
                Some(Some(lost)) => Err(self.rejected(&lost, first)),
                Some(None) => Ok(Tally::default()),
            },
            Outcome::Mask => {
                let marked = detector.run_masked(flat, mask).ok_or_else(|| self.too_short(n))?;
                Ok(Tally { marked, ..Tally::default() })
            }
            Outcome::Counts => {
                let losses = detector.run_counted(flat).ok_or_else(|| self.too_short(n))?;
                Ok(counted(n, &losses))
            }
        }
    }

    /// Casts a view whose first element has the index `first` in C order; otherwise as [`flat`](Self::flat).
    pub(super) fn views(
        &self,
        first: usize,
        src: &View<'_>,
        dst: &mut ViewMut<'_>,
        mask: &mut [u8],
    ) -> Result<Tally, CastError> {
        let n = src.layout().elements();
        if let Some(random) = self.random {
            return random.views(self, first, src, dst, mask);
        }
        let Some(detector) = &self.detector else {
            self.kernel.run_strided(src, dst)?;
            return Ok(Tally::default());
        };
        match self.outcome {
            Outcome::Results => match detector.run_strided(src, dst)? {
                Some(lost) => Err(self.rejected(&lost, first)),
                None => Ok(Tally::default()),
            },
            Outcome::Mask => {
                let marked = detector.run_strided_masked(src, dst, mask)?.ok_or_else(|| self.too_short(n))?;
                Ok(Tally { marked, ..Tally::default() })
            }
            Outcome::Counts => Ok(counted(n, &detector.run_strided_counted(src, dst)?)),
        }
    }

    /// What [`views`](Self::views) would find, without results.
    pub(super) fn look(&self, first: usize, src: &View<'_>, mask: &mut [u8]) -> Result<Tally, CastError> {
        let n = src.layout().elements();
        if let Some(random) = self.random {
            return random.look(self, first, src, mask);
        }
        let Some(detector) = &self.detector else { return Ok(Tally::default()) };
        match self.outcome {
            Outcome::Results => match detector.find_strided(src)? {
                Some(lost) => Err(self.rejected(&lost, first)),
                None => Ok(Tally::default()),
            },
            Outcome::Mask => {
                let marked = detector.mask_strided(src, mask)?.ok_or_else(|| self.too_short(n))?;
                Ok(Tally { marked, ..Tally::default() })
            }
            Outcome::Counts => Ok(counted(n, &detector.count_strided(src)?)),
        }
    }

    /// Casts a buffer in place. It is searched for losses first, so a rejected cast leaves it unchanged.
    pub(super) fn in_place(&self, mut bytes: InPlaceBytes<'_>, mask: &mut [u8]) -> Result<Tally, CastError> {
        if let Some(random) = self.random {
            return random.in_place(self, bytes, mask);
        }
        let n = bytes.len();
        let found = match &self.detector {
            Some(_) => {
                let of = self.kernel.source();
                let src = bytes.read(of, 0, n).ok_or_else(|| self.too_short(n))?;
                self.look(0, &View::new(src, Layout::contiguous(of, &[n])?)?, mask)?
            }
            None => Tally::default(),
        };
        match bytes.run(&self.kernel) {
            Some(()) => Ok(found),
            None => Err(self.too_short(n)),
        }
    }

    #[cold]
    pub(super) fn rejected(&self, lost: &Lost, first: usize) -> CastError {
        let found = Rejection::new(lost, self.plan.source().dtype(), self.plan.target().dtype());
        CastError::Rejected(found.after(first))
    }

    /// Operands have the bytes of their elements, so this is no answer that a caller sees.
    #[cold]
    fn too_short(&self, n: usize) -> CastError {
        CastError::TooLarge { elements: n, encoding: self.plan.source() }
    }
}

fn counted(n: usize, losses: &Losses) -> Tally {
    Tally { marked: 0, report: CastReport::new(n, losses) }
}
