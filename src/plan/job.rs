//! One part of a cast, on one thread: what the plan does with bytes, with views and in place, and what it finds out.

use super::cast_plan::CastPlan;
use super::outcome::{Outcome, Search, Tally};
use super::stochastic::Stochastically;
use crate::error::CastError;
use crate::loss::Level;
#[cfg(feature = "rayon")]
use lanecast_kernels::Streaming;
use lanecast_kernels::{Flat, InPlaceBytes, Kernel, Layout, LossDetector, Operands, View, ViewMut};

/// How the parts of one cast are done.
#[derive(Clone, Copy)]
pub(super) struct Job<'p> {
    pub(super) plan: &'p CastPlan,
    pub(super) search: Search,
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
        let (from, to) = (plan.source().dtype(), plan.target().dtype());
        let search = Search { outcome, level, from, to };
        Job { plan, search, kernel: *plan.kernel(), detector, random }
    }

    /// Whether no order of the elements matters: nothing is looked for, and nothing counts elements.
    #[cfg(feature = "rayon")]
    pub(super) fn is_plain(&self) -> bool {
        self.detector.is_none() && self.random.is_none()
    }

    /// The same job with non-temporal stores or without.
    #[cfg(feature = "rayon")]
    pub(super) fn with_streaming(self, streaming: Streaming) -> Job<'p> {
        let detector = self.detector.map(|detector| detector.with_streaming(streaming));
        Job { kernel: self.kernel.with_streaming(streaming), detector, ..self }
    }

    /// The whole cast on this thread.
    pub(super) fn alone(&self, operands: Operands<'_>, mask: &mut [u8]) -> Result<Tally, CastError> {
        match operands {
            Operands::Flat(flat) => self.flat(0, flat, mask),
            Operands::Views(src, mut dst) => self.views(0, &src, &mut dst, mask),
            Operands::InPlace(bytes) => self.in_place(bytes, mask),
        }
    }

    /// Casts bytes whose first element has the index `first`. The mask has the bits of these elements, all of them set.
    pub(super) fn flat(&self, first: usize, flat: Flat<'_>, mask: &mut [u8]) -> Result<Tally, CastError> {
        let n = flat.n;
        if let Some(random) = self.random {
            return random.flat(&self.search, first, flat, mask);
        }
        let Some(detector) = &self.detector else {
            let ran = self.kernel.run_uninit(flat.src, flat.dst, n);
            return ran.map(|_| Tally::default()).ok_or_else(|| self.too_short(n));
        };
        match self.search.outcome {
            Outcome::Results => match detector.run(flat) {
                None => Err(self.too_short(n)),
                Some(Some(lost)) => Err(self.search.rejected(&lost, first)),
                Some(None) => Ok(Tally::default()),
            },
            Outcome::Mask => {
                let marked = detector.run_masked(flat, mask).ok_or_else(|| self.too_short(n))?;
                Ok(Tally::marked(marked))
            }
            Outcome::Counts => {
                let losses = detector.run_counted(flat).ok_or_else(|| self.too_short(n))?;
                Ok(Tally::counted(n, &losses))
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
            return random.views(&self.search, first, (src, Some(dst)), mask);
        }
        let Some(detector) = &self.detector else {
            self.kernel.run_strided(src, dst)?;
            return Ok(Tally::default());
        };
        match self.search.outcome {
            Outcome::Results => match detector.run_strided(src, dst)? {
                Some(lost) => Err(self.search.rejected(&lost, first)),
                None => Ok(Tally::default()),
            },
            Outcome::Mask => {
                let marked = detector.run_strided_masked(src, dst, mask)?.ok_or_else(|| self.too_short(n))?;
                Ok(Tally::marked(marked))
            }
            Outcome::Counts => Ok(Tally::counted(n, &detector.run_strided_counted(src, dst)?)),
        }
    }

    /// What [`views`](Self::views) would find, without results.
    pub(super) fn look(&self, first: usize, src: &View<'_>, mask: &mut [u8]) -> Result<Tally, CastError> {
        let n = src.layout().elements();
        if let Some(random) = self.random {
            return random.views(&self.search, first, (src, None), mask);
        }
        let Some(detector) = &self.detector else { return Ok(Tally::default()) };
        match self.search.outcome {
            Outcome::Results => match detector.find_strided(src)? {
                Some(lost) => Err(self.search.rejected(&lost, first)),
                None => Ok(Tally::default()),
            },
            Outcome::Mask => {
                let marked = detector.mask_strided(src, mask)?.ok_or_else(|| self.too_short(n))?;
                Ok(Tally::marked(marked))
            }
            Outcome::Counts => Ok(Tally::counted(n, &detector.count_strided(src)?)),
        }
    }

    /// Casts a buffer in place. It is searched for losses first, so a rejected cast leaves it unchanged.
    pub(super) fn in_place(&self, mut bytes: InPlaceBytes<'_>, mask: &mut [u8]) -> Result<Tally, CastError> {
        if let Some(random) = self.random {
            return random.in_place(&self.search, bytes, mask);
        }
        let n = bytes.elements();
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

    /// Operands have the bytes of their elements, so this is no answer that a caller sees.
    #[cold]
    fn too_short(&self, n: usize) -> CastError {
        CastError::TooLarge { elements: n, encoding: self.plan.source() }
    }
}
