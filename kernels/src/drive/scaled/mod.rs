//! Scaled casts on buffers.

mod fused;
mod loops;
mod streamed;
#[cfg(test)]
mod tests;

pub use crate::vector::scaled::{Factors, PowerRule, Step, Word};
pub use fused::{ProductTable, ScaledCast};
pub use loops::ScaledLoops;
pub use streamed::ScaledStream;
