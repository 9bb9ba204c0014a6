//! What a reader should know about the tensors of a shard.

use serde::{Deserialize, Serialize};

/// Values of a tensor that its new dtype does not hold.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Loss {
    /// The tensor.
    pub tensor: String,
    /// Its dtype in the output.
    pub to: String,
    /// Its elements.
    pub elements: u64,
    /// Values that were clamped, wrapped, or became infinite or NaN, and NaNs that became numbers.
    pub out_of_range: u64,
    /// Values other than zero that became zero.
    pub became_zero: u64,
    /// Whether all elements of the output are zero.
    pub all_zero: bool,
}

/// Warnings about tensors, and what they lost. The notes of a range of a tensor have an entry for each cast, also for one that lost nothing.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Notes {
    pub(crate) warnings: Vec<String>,
    pub(crate) losses: Vec<Loss>,
}

impl Notes {
    /// Adds notes about the ranges or the tensors that come next.
    pub(crate) fn extend(&mut self, more: Self) {
        for warning in more.warnings {
            if self.warnings.last() != Some(&warning) {
                self.warnings.push(warning);
            }
        }
        for loss in more.losses {
            match self.losses.last_mut().filter(|last| last.tensor == loss.tensor) {
                Some(last) => {
                    last.out_of_range += loss.out_of_range;
                    last.became_zero += loss.became_zero;
                    last.all_zero &= loss.all_zero;
                }
                None => self.losses.push(loss),
            }
        }
    }

    /// The notes about whole tensors: those that lost nothing are left out.
    pub(crate) fn whole(mut self) -> Self {
        self.losses.retain(|loss| loss.out_of_range + loss.became_zero > 0);
        self
    }
}

impl From<Option<String>> for Notes {
    fn from(warning: Option<String>) -> Self {
        Self { warnings: warning.into_iter().collect(), losses: Vec::new() }
    }
}
