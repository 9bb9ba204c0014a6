//! From elements to codes.
//!
//! A tensor in C order that one thread casts is cast slab by slab ([`slabs`]): while the elements of a slab are in the cache, their scales are
//! made and then their codes. Otherwise a cast is cut into parts ([`by_parts`]). Integers with a zero point have loops of their own
//! ([`zero_points`]).

mod affine;
pub(super) mod amax;
mod amaxes;
mod by_parts;
mod done;
mod exact_sum;
mod factors;
mod load;
mod requantize;
mod scales;
mod slabs;
mod squared_error;
mod zero_points;

use super::{
    elements::Elements,
    error::ScaledError,
    quantized::{Parts, PartsMut},
    report::Report,
    resolved::{INFINITY, Resolved, TensorScale, guarded},
    rule::Rule,
    team::Team,
};
use done::Done;
use slabs::Scales;

impl Resolved {
    /// Scales and casts a tensor.
    pub(super) fn quantize(
        &self,
        from: &Elements<'_>,
        team: &Team<'_>,
        to: PartsMut<'_>,
    ) -> Result<Report, ScaledError> {
        if self.scheme.has_zero_points() {
            return self.quantize_zero_points(from, team, to);
        }
        self.makes_scales()?;
        let PartsMut { data, scales, .. } = to;
        let Some(src) = from.in_order().filter(|_| team.part >= self.elements()) else {
            return self.quantize_by_parts(from, team, data, scales);
        };
        guarded(|| {
            let amax = if self.needs_amax() { self.amax_bits(src, INFINITY)? } else { 0 };
            let rule = self.rule(|| Rule::of_amax(self, amax));
            Ok(self.cast_and_compare(src, &rule, Scales::Made(scales), &[], data)?.report(self, &rule))
        })
    }

    /// Casts with given scales.
    pub(super) fn quantize_given(
        &self,
        from: &Elements<'_>,
        team: &Team<'_>,
        (data, by): (&mut [u8], Parts<'_>),
    ) -> Result<Report, ScaledError> {
        if self.scheme.has_zero_points() {
            return self.quantize_by_zero_points(from, team, (data, by));
        }
        let rule = guarded(|| Rule::of_global(self, by.global));
        match from.in_order().filter(|_| team.part >= self.elements()) {
            None => self.codes_by_parts((from, team), &rule, (by.scales, None), data, Done::new(self)),
            Some(src) => guarded(|| {
                let done = self.cast_and_compare(src, &rule, Scales::Given(by.scales), by.scales, data)?;
                Ok(done.report(self, &rule))
            }),
        }
    }

    /// The rule of the scale of the tensor that is known, or the one that follows from the elements.
    fn rule<'a>(&'a self, follows: impl FnOnce() -> Rule<'a>) -> Rule<'a> {
        match self.tensor {
            TensorScale::Elements => follows(),
            TensorScale::Amax(amax) => Rule::of_amax(self, amax),
            TensorScale::Known(global) => Rule::of_global(self, global),
        }
    }
}
