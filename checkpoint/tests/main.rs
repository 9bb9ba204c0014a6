//! The tests of checkpoints, one module per subject.

mod common;

mod check;
mod compare;
mod convert;
mod dequantize;
mod gguf;
mod golden;
mod hostile;
mod layouts;
mod naive;
mod npz;
mod refusals;
mod resume;
mod torch;
