//! The tests of checkpoints, one module per subject.

mod common;

mod check;
mod compare;
mod convert;
mod dequantize;
mod experts;
mod fused;
mod gguf;
mod gguf_files;
mod golden;
mod hostile;
mod layouts;
mod like;
mod moved;
mod naive;
mod npz;
mod quantize;
mod refusals;
mod requantize;
mod resume;
mod runs;
mod stacks;
mod task_sources;
mod tasks;
mod threads;
mod torch;
mod wait;
