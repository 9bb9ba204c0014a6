//! The tensors of `.safetensors`, `.npy`, `.npz` and `.onnx` files: listed, read, written, and cast from one numeric dtype to another.
//!
//! *Laws.* Files are read and written in bounded blocks, whatever sizes a file claims. A damaged or hostile file is an [`Error`] that
//! names the place. An output appears complete under its name, or not at all ([`Output`]). The result of a cast is defined by the
//! library `lanecast` alone.
//!
//! A file is recognised by its content, and by its extension if that fails; [`FORMATS`] lists the formats. Dtypes have the names of
//! `lanecast::names`.
//!
//! # Reading
//!
//! ```no_run
//! use lanecast_files::TensorFile;
//! let mut file = TensorFile::open("model.safetensors".as_ref())?;
//! for tensor in file.tensors() {
//!     println!("{} {} {:?}", tensor.name, tensor.described, tensor.shape);
//! }
//! if let Some(index) = file.find("lm_head.weight") {
//!     let bytes: Vec<u8> = file.read(index)?;
//! }
//! # Ok::<(), lanecast_files::Error>(())
//! ```
//!
//! # Casting
//!
//! ```no_run
//! use lanecast::DType;
//! use lanecast_files::{Hooks, Job, Plan, Selection};
//! use std::sync::atomic::{AtomicBool, Ordering};
//!
//! static STOP: AtomicBool = AtomicBool::new(false);
//! let job = Job { selection: Selection::new(None, &[], &["*norm*".into()])?, ..Job::to(DType::BFloat16) };
//! let plan = Plan::new("model.safetensors".as_ref(), &job)?;
//! let mut show = |progress: lanecast_files::Progress| eprintln!("{} bytes", progress.done);
//! let cancelled = || STOP.load(Ordering::Relaxed);
//! let hooks = Hooks::none().on_progress(&mut show).cancel_if(&cancelled);
//! let report = plan.run("model-bf16.safetensors".as_ref(), false, hooks)?;
//! println!("{} tensors cast", report.tensors_cast);
//! # Ok::<(), lanecast_files::Error>(())
//! ```

#![forbid(unsafe_code)]

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

pub mod archive;
mod error;
mod extensions;
mod file;
pub mod formats;
mod glob;
mod hooks;
mod near;
mod output;
mod path;
mod plan;
pub mod pump;
mod quantized;
mod report;
mod select;
mod settings;
mod staged;
mod stats;
mod temporary;
pub mod text;

pub use self::{
    error::{Detail, Error, Remedy, Result},
    file::{TensorFile, save},
    formats::{Compression, FORMATS, FileFormat, Input, Job, NewTensor, Place, TensorInfo},
    hooks::{Hooks, Progress},
    output::Output,
    plan::Plan,
    report::{Entry, ReadBack, Report},
    select::Selection,
    settings::{OnLoss, Settings, in_files},
    staged::StagedFolder,
    stats::{Elements, Feed, Number, Sink, Stats, Target, WhatIf, measure},
    temporary::{abandon, leftovers, remove_leftovers},
};
