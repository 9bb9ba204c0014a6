//! Model checkpoints: quantized weights of every common layout, recognised, decoded, and written as plain safetensors.
//!
//! *Laws.* A value is the exact product of code, scale and factor, rounded once. What the configuration and the tensors say must agree.
//! An output directory appears complete or not at all. Memory holds ranges of weights with their scales, not a shard, and no byte
//! depends on the ranges or on the threads.
//!
//! # Reading
//!
//! ```no_run
//! use lanecast_checkpoint::Checkpoint;
//! let checkpoint = Checkpoint::open("DeepSeek-V3".as_ref())?;
//! for tensor in checkpoint.tensors() {
//!     println!("{} {:?} {}", tensor.name, tensor.shape, tensor.layout);
//! }
//! let weight = checkpoint.find("model.layers.0.mlp.down_proj.weight").expect("a weight");
//! let mut values = vec![0.0_f32; weight.elements()];
//! checkpoint.read(&weight.name, &mut values)?;
//! # Ok::<(), lanecast_checkpoint::Error>(())
//! ```
//!
//! # The source
//!
//! `source` lists the tensors of a `folder`: `gguf`, `torch` (with `pickle`) and `npz` read files that are no safetensors, and `spool` holds
//! tensors that are not in a file as they are. A module of `layouts` resolves the tensors of a weight to a `Coding`
//! (`coding`), which `decode` turns into values: `unpack` unpacks codes, and `fast` decodes with [`lanecast::scaled`] what that can. `values`
//! has the other kinds of tensors, `read` reads one of them to memory, and `activations` those that are dropped with the quantization.
//! `dequantize` plans plain checkpoints, with the `config` that belongs to them, and warns of `doubts`; `convert` plans
//! casts, and `quantize` quantized checkpoints. `write` writes what is planned, with the threads of `parallel`, and `tasks` writes ranges of it
//! on many machines, where `origin` detects whether the source is the same. `check` collects the `faults` of a checkpoint, and
//! `compare` measures the values of one against the values of another.

#![forbid(unsafe_code)]

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

mod activations;
mod arrivals;
mod check;
mod checkpoint;
mod coding;
mod compare;
mod config;
mod convert;
mod decode;
mod dequantize;
mod doubts;
mod error;
mod fast;
mod faults;
mod folder;
mod gguf;
mod layouts;
mod named;
mod npz;
mod origin;
mod parallel;
mod pickle;
mod pieces;
mod prepared;
mod quantize;
mod read;
mod source;
mod spool;
mod tasks;
mod torch;
mod unpack;
mod values;
mod write;

pub use check::{Checked, Finding, Kind, Loader, Severity, check};
pub use checkpoint::{Checkpoint, Tensor};
pub use compare::{Comparison, ConfigDifference, Difference, Incomparable, Ulps, compare};
pub use convert::{ConvertOptions, ConvertReport, convert};
pub use dequantize::{Options, Report, dequantize};
pub use lanecast_files::{Error, Result};
pub use prepared::Outcome;
pub use quantize::{
    Experts, QuantLayout, QuantScheme, QuantizeOptions, QuantizeReport, quantize, requantize,
};
pub use tasks::{ByteRange, Operation, Phase, PlanOptions, Task, TaskPlan, TaskReport};
pub use write::{Callbacks, Loss, Step};
