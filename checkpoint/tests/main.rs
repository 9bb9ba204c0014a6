//! The tests of checkpoints, one module per subject.

mod common;

mod check;
mod compare;
mod dequantize;
mod gguf;
mod golden;
mod hostile;
mod layouts;
mod naive;
mod refusals;
