//! The tests of the program, one module per subject, in one test program: `cargo test --test program -- npz::` runs
//! a part.

#[macro_use]
#[path = "../../tests/support/mod.rs"]
mod support;

mod common;

mod check;
mod convert;
mod dequantize;
mod diff;
mod explain;
mod full_disk;
mod gguf;
mod help;
mod hostile;
mod inputs;
mod inspect;
mod kinds;
mod loss;
mod made_models;
mod npy;
mod npz;
mod onnx_again;
mod onnx_cast;
mod onnx_files;
mod onnx_models;
mod output;
mod package;
mod program;
mod promote;
mod quantize;
mod quantized;
mod raw;
mod reference_readers;
mod safetensors;
mod scale;
mod selection;
mod several;
mod signals;
mod tasks;
mod terminal;
mod words;

/// The golden tables of the library once more, through `lanecast raw`: other programs check us this way.
#[path = "../../tests/golden.rs"]
mod golden;
#[path = "../../tests/oracle/mod.rs"]
mod oracle;
