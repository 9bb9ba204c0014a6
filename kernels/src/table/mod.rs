//! Floor 6: chooses the kernel of a pair on a tier, and knows its cost.

pub(crate) mod active;
pub mod cost;
pub(crate) mod tabled;
