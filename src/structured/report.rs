//! Casts of structs that count or reject losses, field by field.

use super::{
    error::StructError,
    gather::Stage,
    leaf::{Leaf, Op},
    plan::StructPlan,
};
use crate::{error::CastError, loss::CastReport, plan::CastPlan};
use alloc::{boxed::Box, vec::Vec};
use lanecast_kernels::{Bytes, BytesMut};

impl StructPlan {
    /// [`run`](Self::run) that counts what is lost, as [`CastPlan::run_counted`], and returns a report for each of
    /// [`casts`](Self::casts). An element of the source that fills several elements of the destination is counted for each of them.
    ///
    /// # Errors
    ///
    /// [`StructError::BufferTooSmall`] or [`StructError::TooLarge`]; then nothing is written.
    pub fn run_counted(&self, src: &[u8], dst: &mut [u8], n: usize) -> Result<Vec<CastReport>, StructError> {
        let elements = |count: usize| (n as u64).saturating_mul(count as u64);
        // Fields that are copied count, too.
        let mut reports: Vec<CastReport> = self
            .casts()
            .map(|cast| CastReport { elements: elements(cast.count), ..CastReport::default() })
            .collect();
        let casts: Vec<_> = self.changing().map(|(i, leaf)| (i, self.columns(leaf.clone()))).collect();
        casts.iter().for_each(|(i, _)| reports[*i].elements = 0);
        let (copies, mut stage) = (self.copies(), Stage::new());
        self.blocks(src, dst, n, |src, dst, items| {
            self.copy(&copies, src, dst, items, &mut stage)?;
            for (i, run) in casts.iter().flat_map(|(i, runs)| runs.iter().map(move |run| (*i, run))) {
                self.apply(run, src, dst, items, &mut stage, |plan, src, dst, n, _| {
                    let report = plan.run_counted(Bytes::new(src, n), BytesMut::new(dst, n))?;
                    reports[i] = reports[i].and(&report);
                    Ok::<_, CastError>(())
                })?;
            }
            Ok(())
        })?;
        Ok(reports)
    }

    /// Casts one field after the other over all items, and refuses the first value that does not fit.
    pub(super) fn run_checked(&self, src: &[u8], dst: &mut [u8], n: usize) -> Result<(), StructError> {
        let (src, dst) = self.items(src, dst, n)?;
        if n == 0 {
            return Ok(());
        }
        let mut stage = Stage::new();
        self.copy(&self.copies(), src, dst, n, &mut stage)?;
        for (_, leaf) in self.changing() {
            let piece = |plan: &CastPlan, src: &[u8], dst: &mut [u8], n: usize, before: usize| {
                plan.run(Bytes::new(src, n), BytesMut::new(dst, n)).map_err(|error| match error {
                    CastError::Rejected(found) => CastError::Rejected(found.after(before)),
                    error => error,
                })
            };
            self.apply(leaf, src, dst, n, &mut stage, piece).map_err(|error| match error {
                CastError::Rejected(rejection) => StructError::Rejected {
                    field: leaf.field.clone(),
                    item: rejection.index / leaf.count(),
                    rejection: Box::new(rejection),
                },
                error => error.into(),
            })?;
        }
        Ok(())
    }

    /// The fields whose casts can change a value, each with its index among [`casts`](Self::casts).
    fn changing(&self) -> impl Iterator<Item = (usize, &Leaf)> {
        let casts = self.leaves.iter().filter(|leaf| matches!(leaf.op, Op::Cast { .. }));
        casts.enumerate().filter(|(_, leaf)| changes(leaf))
    }

    /// The runs that lose nothing: copies and zeros.
    fn copies(&self) -> Vec<Leaf> {
        let copies: Vec<Leaf> = self.leaves.iter().filter(|leaf| !changes(leaf)).cloned().collect();
        self.joined(&copies)
    }

    fn copy(
        &self,
        copies: &[Leaf],
        src: &[u8],
        dst: &mut [u8],
        items: usize,
        stage: &mut Stage,
    ) -> Result<(), CastError> {
        copies.iter().try_for_each(|run| self.apply(run, src, dst, items, stage, |_, _, _, _, _| Ok(())))
    }
}

fn changes(leaf: &Leaf) -> bool {
    !leaf.is_empty() && matches!(leaf.op.clone().simplified(), Op::Cast { .. })
}
