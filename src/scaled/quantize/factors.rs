//! The numbers that the blocks of a slab are cast by.

use super::super::{
    rule::{NORMAL, Rule, Scale},
    scheme::Quotient,
};
use alloc::vec::Vec;
use core::ops::Range;
use lanecast_kernels::scaled::{Factors, Step};

/// The numbers of the blocks of a slab. Those that the loops of a tier read are there if `step` is.
#[derive(Debug)]
pub(super) struct SlabFactors {
    /// What the loops do with an element; `None` if it has to be divided in double precision.
    pub(super) step: Option<Step>,
    /// Whether there are blocks whose codes are 0, whatever their elements are: their `wide` factor, if there are any, and `factor` are
    /// NaN.
    pub(super) any_nan: bool,
    /// The factors of [`Rule`], in double precision; none if they were not needed.
    pub(super) wide: Vec<f64>,
    pub(super) factor: Vec<f32>,
    pub(super) block: Vec<f32>,
    pub(super) scale: Vec<f32>,
}

impl SlabFactors {
    pub(super) fn new() -> Self {
        let [factor, block, scale] = [Vec::new(), Vec::new(), Vec::new()];
        Self { step: None, any_nan: false, wide: Vec::new(), factor, block, scale }
    }

    /// Forgets the blocks, for a slab that is cast by `step`.
    pub(super) fn clear(&mut self, step: Option<Step>) {
        (self.step, self.any_nan) = (step, false);
        self.wide.clear();
        self.factor.clear();
        self.block.clear();
        self.scale.clear();
    }

    /// Adds a block.
    pub(super) fn push(&mut self, rule: &Rule<'_>, scale: Scale) {
        self.any_nan |= scale.factor.is_nan();
        self.wide.push(scale.factor);
        let Some(step) = self.step else { return };
        let (factor, block, value) = match step {
            _ if scale.factor.is_nan() => (f32::NAN, 1.0, 1.0),
            Step::Quotient { block: true } => {
                let (block, global) = rule.parts(scale.code);
                ((1.0 / scale.factor) as f32, block as f32, global as f32)
            }
            Step::Quotient { block: false } => ((1.0 / scale.factor) as f32, 1.0, scale.factor as f32),
            // A power of two, if anything.
            Step::Times if rule.scheme.quotient == Quotient::Exact => {
                ((rule.codes.unit / scale.factor) as f32, 1.0, 1.0)
            }
            _ => (scale.factor as f32, 1.0, 1.0),
        };
        self.factor.push(factor);
        self.block.push(block);
        self.scale.push(value);
    }

    /// Leaves the step to double precision if a number is beyond what the loops are exact for.
    pub(super) fn check(&mut self) {
        let fits = match self.step {
            // On which side of a midpoint a quotient is, the loops say for positive scales only.
            Some(Step::Quotient { .. }) => {
                self.scale.iter().all(|x| NORMAL.contains(x)) && self.block.iter().all(|x| *x > 0.0)
            }
            _ => self.factor.iter().all(|x| !x.is_infinite()),
        };
        if !fits {
            self.step = None;
        }
    }

    /// The numbers of some blocks of the slab.
    pub(super) fn of(&self, blocks: Range<usize>) -> Factors<'_> {
        let part = |of: &'_ [f32]| -> Range<usize> { blocks.start.min(of.len())..blocks.end.min(of.len()) };
        Factors {
            factor: &self.factor[part(&self.factor)],
            block: &self.block[part(&self.block)],
            scale: &self.scale[part(&self.scale)],
        }
    }
}
