//! What has been done of a cast.

use super::{
    super::{error::ScaledError, report::Report, resolved::Resolved, rule::Rule},
    exact_sum::ExactSum,
    slabs::Scales,
};
use alloc::boxed::Box;

/// The report of a part, and its squared errors if they are wanted.
pub(super) struct Done {
    pub(super) report: Report,
    pub(super) errors: Option<Box<ExactSum>>,
}

impl Done {
    /// Nothing so far.
    pub(super) fn new(plan: &Resolved) -> Done {
        let counted = plan.counts.then_some(0);
        let report = Report { clipped: counted, underflowed: counted, ..Report::default() };
        Done { report, errors: plan.errors.then(Box::default) }
    }

    pub(super) fn add(&mut self, other: Done) {
        let Report { global: _, elements, empty, poisoned, clipped, underflowed, squared_error: _ } =
            other.report;
        self.report.elements += elements;
        self.report.empty += empty;
        self.report.poisoned += poisoned;
        let sum = |a: Option<u64>, b: Option<u64>| a.zip(b).map(|(a, b)| a + b);
        self.report.clipped = sum(self.report.clipped, clipped);
        self.report.underflowed = sum(self.report.underflowed, underflowed);
        match (&mut self.errors, other.errors) {
            (Some(sum), Some(errors)) => sum.add(&errors),
            (sum, errors) => *sum = sum.take().or(errors),
        }
    }

    /// The report of a tensor whose scale the rule computes.
    pub(super) fn report(&self, plan: &Resolved, rule: &Rule<'_>) -> Report {
        let squared_error = self.errors.as_ref().map(|sum| sum.value());
        Report { global: plan.has_global().then_some(rule.global), squared_error, ..self.report }
    }
}

impl Resolved {
    /// Casts, and sums the errors if they are wanted. `stored` has the scales, unless they are made here.
    pub(super) fn cast_and_compare(
        &self,
        src: &[u8],
        rule: &Rule<'_>,
        scales: Scales<'_>,
        stored: &[u8],
        data: &mut [u8],
    ) -> Result<Done, ScaledError> {
        let sum = |data: &[u8], scales: &[u8]| match self.errors {
            true => self.squared_errors(src, rule, (data, scales)).map(|sum| Some(Box::new(sum))),
            false => Ok(None),
        };
        let (report, errors) = match scales {
            Scales::Made(scales) => {
                (self.cast(src, rule, Scales::Made(&mut *scales), data)?, sum(data, scales)?)
            }
            known => (self.cast(src, rule, known, data)?, sum(data, stored)?),
        };
        Ok(Done { report, errors })
    }
}
