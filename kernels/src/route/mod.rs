//! Floor 7: casts as values. [`resolve`] finds the route of a cast once, and a [`Kernel`] holds it.

mod kernel;
mod resolve;
mod streaming;

pub use kernel::Kernel;
pub use resolve::{Family, Stage};
pub(crate) use resolve::{Route, Side, Way};
pub use streaming::Streaming;
