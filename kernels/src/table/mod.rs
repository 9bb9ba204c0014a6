//! Floor 6: which kernel takes a pair on a tier, and what it costs.

pub(crate) mod active;
pub mod cost;
pub(crate) mod tabled;
