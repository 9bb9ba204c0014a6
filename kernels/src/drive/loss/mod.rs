//! Casts that report their losses.

mod detector;
mod run;

pub use detector::LossDetector;
pub use run::Lost;
pub(crate) use run::Sought;
