//! Casts part by part: over threads, and from sources whose elements are not in C order.
//!
//! A part with whole blocks is cast as a tensor of its own. Where blocks are too large for that, the largest magnitudes come first, part by
//! part, then the scales, and then the codes. Magnitudes and counts are merged by operations that do not depend on an order, so the answer
//! does not depend on the parts either.

use super::{
    super::{
        elements::Elements,
        error::ScaledError,
        parts::{Cut, TOO_LARGE, next},
        report::Report,
        resolved::{INFINITY, Resolved, guarded},
        rule::{Rule, Scale},
        scheme::NonFinite,
        team::Team,
    },
    amaxes::Amaxes,
    done::Done,
    slabs::Scales,
};
use alloc::{vec, vec::Vec};

impl Resolved {
    /// The bits of the largest magnitude below `limit`.
    pub(in crate::scaled) fn amax_by_parts(
        &self,
        from: &Elements<'_>,
        team: &Team<'_>,
        limit: u32,
    ) -> Result<u32, ScaledError> {
        let mut amax = 0;
        team.run(
            Cut::new(self.blocks, team.part, true, 8).parts(),
            |part, memory| {
                let (plan, src) = (self.of_part(&part), from.get(part.elements, memory)?);
                guarded(|| plan.amax_bits(src, limit))
            },
            |bits| amax = amax.max(bits),
        )?;
        Ok(amax)
    }

    /// Scales and casts a tensor in parts.
    pub(super) fn quantize_by_parts(
        &self,
        from: &Elements<'_>,
        team: &Team<'_>,
        mut data: &mut [u8],
        mut scales: &mut [u8],
    ) -> Result<Report, ScaledError> {
        let amax = if self.needs_amax() { self.amax_by_parts(from, team, INFINITY)? } else { 0 };
        let rule = guarded(|| self.rule(|| Rule::of_amax(self, amax)));
        let mut all = Done::new(self);
        let (with_blocks, within) = (self.cut(team.part, false), self.cut(team.part, true));
        if with_blocks.largest() > team.part.saturating_mul(TOO_LARGE)
            && within.largest() < with_blocks.largest()
        {
            let made = self.scales_by_parts(from, team, &rule, scales, &mut all.report)?;
            return self.codes_by_parts((from, team), &rule, (scales, Some(&made)), data, all);
        }
        let jobs = with_blocks.parts().map(|part| {
            let codes = next(&mut data, self.codes_in(part.elements.len()));
            let its = next(&mut scales, part.scales.len() * self.scale_size());
            (part, codes, its)
        });
        team.run(
            jobs,
            |(part, codes, scales), memory| {
                let (plan, first) = (self.of_part(&part), part.scales.start);
                let src = from.get(part.elements, memory)?;
                guarded(|| plan.cast_and_compare(src, &rule, Scales::Made(&mut *scales), &[], codes))
                    .map_err(|error| error.after(first))
            },
            |done| all.add(done),
        )?;
        Ok(guarded(|| all.report(self, &rule)))
    }

    /// Makes and stores all scales.
    fn scales_by_parts(
        &self,
        from: &Elements<'_>,
        team: &Team<'_>,
        rule: &Rule<'_>,
        scales: &mut [u8],
        report: &mut Report,
    ) -> Result<Vec<Scale>, ScaledError> {
        let mut amaxes = vec![0_u32; self.scales()];
        team.run(
            Cut::new(self.blocks, team.part, true, 8).parts(),
            |part, memory| {
                let (plan, src) = (self.of_part(&part), from.get(part.elements.clone(), memory)?);
                let (mut amaxes, n) = (Amaxes::new(), part.elements.len());
                let blocks = 0..part.scales.len();
                guarded(|| plan.amaxes(src, 0..n, &blocks, rule.ignores_non_finite(), &mut amaxes))?;
                Ok((part.scales, amaxes.words))
            },
            |(blocks, part)| {
                amaxes[blocks].iter_mut().zip(part).for_each(|(all, amax)| *all = amax.max(*all))
            },
        )?;
        guarded(|| {
            let mut made = Vec::with_capacity(amaxes.len());
            for (block, &amax) in amaxes.iter().enumerate() {
                if amax >= INFINITY && self.scheme.non_finite == NonFinite::Refuse {
                    return Err(ScaledError::NonFinite { block });
                }
                let scale = rule.scale(amax);
                report.empty += u64::from(amax == 0);
                report.poisoned += u64::from(amax >= INFINITY);
                self.put_scale(scales, block, scale.code);
                made.push(scale);
            }
            Ok(made)
        })
    }

    /// Casts all elements with scales that are there.
    pub(super) fn codes_by_parts(
        &self,
        (from, team): (&Elements<'_>, &Team<'_>),
        rule: &Rule<'_>,
        (scales, made): (&[u8], Option<&[Scale]>),
        mut data: &mut [u8],
        mut all: Done,
    ) -> Result<Report, ScaledError> {
        let size = self.scale_size();
        team.run(
            self.cut(team.part, true).parts().map(|part| {
                let codes = next(&mut data, self.codes_in(part.elements.len()));
                (part, codes)
            }),
            |(part, codes), memory| {
                let (plan, src) = (self.of_part(&part), from.get(part.elements, memory)?);
                let scales = &scales[part.scales.start * size..part.scales.end * size];
                guarded(|| {
                    let known = match made {
                        Some(made) => Scales::Known(&made[part.scales.clone()]),
                        None => Scales::Given(scales),
                    };
                    plan.cast_and_compare(src, rule, known, scales, codes)
                })
                .map_err(|error| error.after(part.scales.start))
            },
            |done| all.add(done),
        )?;
        Ok(guarded(|| all.report(self, rule)))
    }
}
