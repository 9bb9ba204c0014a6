//! Casts of structs that count or reject losses, field by field.

use super::{
    StructError, StructPlan,
    gather::Stage,
    plan::{Leaf, Op},
};
use crate::{CastError, CastPlan, CastReport, Level};
use alloc::{boxed::Box, vec::Vec};
use lanecast_kernels::{Bytes, BytesMut};

/// A cast of structs that counts the losses of its fields; made by [`StructPlan::counted`].
#[derive(Clone)]
pub struct CountingStructPlan {
    plan: StructPlan,
    level: Level,
    /// The runs that lose nothing: copies and zeros.
    copies: Vec<Leaf>,
    /// For each cast of the plan, its index, its counting plan and its runs.
    casts: Vec<(usize, CastPlan, Vec<Leaf>)>,
}

/// A cast of structs that rejects values that the fields cannot hold; made by [`StructPlan::checked`].
#[derive(Clone)]
pub struct CheckedStructPlan {
    plan: StructPlan,
    level: Level,
    copies: Vec<Leaf>,
    casts: Vec<(Leaf, CastPlan)>,
}

impl StructPlan {
    /// The same cast, with losses counted, as in [`CastPlan::run_counted`].
    pub fn counted(&self, level: Level) -> CountingStructPlan {
        let (copies, casts) = self.parted();
        let casts = casts.map(|(i, leaf, plan)| (i, plan.checked(level), self.columns(leaf))).collect();
        CountingStructPlan { plan: self.clone(), level, copies, casts }
    }

    /// The same cast, with values rejected according to `level`, as in [`CastPlan::checked`].
    pub fn checked(&self, level: Level) -> CheckedStructPlan {
        let (copies, casts) = self.parted();
        let casts = casts.map(|(_, leaf, plan)| (leaf, plan.checked(level))).collect();
        CheckedStructPlan { plan: self.clone(), level, copies, casts }
    }

    /// The runs that are not casts, and the fields that are cast, each with its index among the casts of the plan.
    fn parted(&self) -> (Vec<Leaf>, impl Iterator<Item = (usize, Leaf, CastPlan)>) {
        let cast = |leaf: &&Leaf| matches!(leaf.op, Op::Cast { .. });
        let all = self.leaves.iter().filter(cast).cloned().enumerate().collect::<Vec<_>>();
        let changes =
            |leaf: &Leaf| !leaf.is_empty() && matches!(leaf.op.clone().simplified(), Op::Cast { .. });
        let copies: Vec<Leaf> = self.leaves.iter().filter(|leaf| !changes(leaf)).cloned().collect();
        let casts = all.into_iter().filter_map(move |(i, leaf)| match &leaf.op {
            Op::Cast { plan, .. } if changes(&leaf) => Some((i, leaf.clone(), plan.clone())),
            _ => None,
        });
        (self.joined(&copies), casts)
    }
}

impl CountingStructPlan {
    /// The plain cast.
    pub fn plan(&self) -> &StructPlan {
        &self.plan
    }

    /// Casts as [`StructPlan::run`], and returns a report for each of [`StructPlan::casts`]. An element of the source that fills
    /// several elements of the destination is counted for each of them.
    ///
    /// # Errors
    ///
    /// As [`StructPlan::run`]; then nothing is written.
    pub fn run(&self, src: &[u8], dst: &mut [u8], n: usize) -> Result<Vec<CastReport>, StructError> {
        let elements = |count: usize| (n as u64).saturating_mul(count as u64);
        // Fields that are copied count, too.
        let mut reports: Vec<CastReport> = self
            .plan
            .casts()
            .map(|cast| CastReport { elements: elements(cast.count), ..CastReport::default() })
            .collect();
        self.casts.iter().for_each(|(i, ..)| reports[*i].elements = 0);
        let mut stage = Stage::new();
        self.plan.blocks(src, dst, n, |src, dst, items| {
            for run in &self.copies {
                self.plan.apply(run, src, dst, items, &mut stage, plain)?;
            }
            for (i, counting, runs) in &self.casts {
                for run in runs {
                    self.plan.apply(run, src, dst, items, &mut stage, |_, src, dst, n, _| {
                        reports[*i] = reports[*i]
                            .and(&counting.run_counted(Bytes::new(src, n), BytesMut::new(dst, n))?);
                        Ok::<_, CastError>(())
                    })?;
                }
            }
            Ok(())
        })?;
        Ok(reports)
    }
}

/// Casts a piece without checking or counting.
fn plain(plan: &CastPlan, src: &[u8], dst: &mut [u8], n: usize, _: usize) -> Result<(), CastError> {
    plan.run(Bytes::new(src, n), BytesMut::new(dst, n))
}

impl CheckedStructPlan {
    /// The plain cast.
    pub fn plan(&self) -> &StructPlan {
        &self.plan
    }

    /// Casts as [`StructPlan::run`], one field after the other over all items.
    ///
    /// # Errors
    ///
    /// [`StructError::Rejected`] with the first rejected element of the first field, in the order of the destination, that has one;
    /// then the fields of the destination are unspecified. Otherwise as [`StructPlan::run`]; then nothing is written.
    pub fn run(&self, src: &[u8], dst: &mut [u8], n: usize) -> Result<(), StructError> {
        let (src, dst) = self.plan.items(src, dst, n)?;
        if n == 0 {
            return Ok(());
        }
        let mut stage = Stage::new();
        for run in &self.copies {
            self.plan.apply(run, src, dst, n, &mut stage, plain)?;
        }
        for (leaf, checked) in &self.casts {
            let piece = |_: &CastPlan, src: &[u8], dst: &mut [u8], n: usize, before: usize| {
                checked.run(Bytes::new(src, n), BytesMut::new(dst, n)).map_err(|error| match error {
                    CastError::Rejected(found) => CastError::Rejected(found.after(before)),
                    error => error,
                })
            };
            self.plan.apply(leaf, src, dst, n, &mut stage, piece).map_err(|error| match error {
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
}

impl core::fmt::Debug for CountingStructPlan {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(f, "CountingStructPlan({:?}, {:?})", self.plan, self.level)
    }
}

impl core::fmt::Debug for CheckedStructPlan {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(f, "CheckedStructPlan({:?}, {:?})", self.plan, self.level)
    }
}
