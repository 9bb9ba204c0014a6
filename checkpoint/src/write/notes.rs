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

/// Warnings about tensors, and what they lost.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Notes {
    pub(crate) warnings: Vec<String>,
    pub(crate) losses: Vec<Loss>,
}

impl Notes {
    pub(crate) fn extend(&mut self, more: Self) {
        self.warnings.extend(more.warnings);
        self.losses.extend(more.losses);
    }
}

impl From<Option<String>> for Notes {
    fn from(warning: Option<String>) -> Self {
        Self { warnings: warning.into_iter().collect(), losses: Vec::new() }
    }
}
