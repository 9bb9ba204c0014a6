//! [`compare`]: the values of two checkpoints, tensor by tensor.
//!
//! *Law.* Tensors are matched by their names in a plain checkpoint, whatever their layouts. A tensor that fuses or stacks weights is matched
//! with these weights if the other side has them apart. Plain tensors are compared exactly, and so are codes with codes. Beside a plain tensor,
//! codes are decoded to its dtype, as [`dequantize`](crate::dequantize()) would write them, and values that only this rounding makes equal are
//! counted.
//!
//! *Method.* `matching` pairs the tensors. A thread for each side decodes parts of a `pair` and sends them through a bounded queue
//! (`streams`); the caller's thread adds their differences up in `float64` (`measure`). Memory holds a few parts of each side, and one matrix
//! of a stack that is stored transposed. `config` compares the configurations.

mod config;
mod matching;
mod measure;
mod pair;
mod streams;

use lanecast_files::{Error, Result};
use serde::Serialize;

pub use self::config::ConfigDifference;
use crate::{
    checkpoint::Checkpoint,
    write::{Callbacks, Step},
};

/// What [`compare`] found. `a` is measured against `b`, the reference.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Comparison {
    /// The layout of `a`.
    pub layout_a: String,
    /// The layout of `b`.
    pub layout_b: String,
    /// The tensors that both have, in the order of `a`. Weights that one side fuses or stacks in one tensor are listed one by one.
    pub tensors: Vec<Difference>,
    /// The names of tensors that only `a` has.
    pub only_a: Vec<String>,
    /// The names of tensors that only `b` has.
    pub only_b: Vec<String>,
    /// Tensors that are in both, and cannot be compared: their shapes differ, or only one of them is complex. A tensor that fuses or stacks
    /// weights has its own name here.
    pub incomparable: Vec<Incomparable>,
    /// The keys of `config.json` that differ, without the keys of the quantization. Empty unless both have a configuration.
    pub config: Vec<ConfigDifference>,
    /// The keys that describe the quantization in `config.json` and differ. Empty unless both have a configuration.
    pub quantization_config: Vec<ConfigDifference>,
}

impl Comparison {
    /// Whether both have the same tensors with the same values, whatever their configurations say. Values that are equal only after a code was
    /// rounded to the dtype of the other side are not.
    pub fn is_equal(&self) -> bool {
        let is_exact = |tensor: &Difference| tensor.different == 0 && tensor.rounded == 0;
        self.has_same_tensors() && self.tensors.iter().all(is_exact)
    }

    /// Whether both have the same tensors in the same shapes.
    pub fn has_same_tensors(&self) -> bool {
        self.only_a.is_empty() && self.only_b.is_empty() && self.incomparable.is_empty()
    }
}

/// A tensor that has two shapes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Incomparable {
    /// Its name.
    pub name: String,
    /// Dtype or layout, and shape in `a`.
    pub a: String,
    /// Dtype or layout, and shape in `b`.
    pub b: String,
}

/// How far the values of a tensor in `a` are from those in `b`. An error is the value of `a` less that of `b`. The two parts of a complex
/// number count as two values.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Difference {
    /// Its name.
    pub name: String,
    /// Its shape, in elements.
    pub shape: Vec<usize>,
    /// The dtype in `a`, or the layout if it has codes.
    pub a: String,
    /// The dtype in `b`, or the layout if it has codes.
    pub b: String,
    /// The number of values.
    pub values: u64,
    /// Values that differ. NaN equals NaN, and 0 equals -0.
    pub different: u64,
    /// Values that are equal only because the exact value of a code was rounded to the dtype of the other side.
    pub rounded: u64,
    /// Values that are NaN or infinite in one of the two, or infinities that differ. The errors below leave them out.
    pub not_finite: u64,
    /// The largest magnitude of an error.
    pub largest: f64,
    /// The index of the first value with that error, in C order.
    pub largest_at: u64,
    /// The mean magnitude of the errors.
    pub mean: f64,
    /// The root of the sum of squared errors over the root of the sum of squares of `b`. Infinite if only `b` is zero.
    pub relative: f64,
    /// The signal-to-quantization-noise ratio in decibels: -20 log10 of `relative`. Infinite without errors.
    pub sqnr: f64,
    /// The cosine of the angle between the tensors as vectors; `None` if one of them is zero.
    pub cosine: Option<f64>,
    /// The distances in units in the last place; `None` unless both are floats.
    pub ulps: Option<Ulps>,
}

/// Distances in representable values: the values of both sides are rounded to one dtype, and values of this dtype between them are counted.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Ulps {
    /// The dtype: of the two, the one with fewer bits of mantissa, or `bfloat16` if both have codes.
    pub dtype: String,
    /// The largest distance.
    pub largest: u64,
    /// The mean distance.
    pub mean: f64,
    /// Entry 0 counts distances of 0, and entry `i` those from `2^(i-1)` to `2^i - 1`.
    pub histogram: Vec<u64>,
}

/// Compares the values of two checkpoints. `a` is measured against `b`, the reference.
///
/// Tensors with the same name are compared. These are, too, if one side has a tensor of several weights and the other has each weight alone:
/// `qkv_proj`, `gate_up_proj` and `fused_qkv_a_proj` with their parts, and experts that are stacked in `experts.gate_up_proj` and
/// `experts.down_proj` with the weights in `experts.N`. The `model_type` of the configuration says whether stacked matrices are transposed and
/// whether their rows alternate. If it is unknown, the shapes decide, and square matrices are taken as they are.
///
/// A step of the callbacks names the file of `a`, and counts stored bytes that were read of both.
///
/// ```no_run
/// use lanecast_checkpoint::{Callbacks, Checkpoint, compare};
/// let (a, b) = (Checkpoint::open("model-nvfp4".as_ref())?, Checkpoint::open("model-bf16".as_ref())?);
/// for tensor in compare(&a, &b, Callbacks::default())?.tensors {
///     println!("{} {:.1} dB", tensor.name, tensor.sqnr);
/// }
/// # Ok::<(), lanecast_checkpoint::Error>(())
/// ```
///
/// # Errors
///
/// The errors of [`Checkpoint::read`], which name the file and the tensor; [`Error::Cancelled`].
pub fn compare(a: &Checkpoint, b: &Checkpoint, mut callbacks: Callbacks<'_>) -> Result<Comparison> {
    let matching::Matched { pairs, only_a, only_b, incomparable } = matching::matched(a, b);
    let (layout_a, layout_b) = (a.layout().to_owned(), b.layout().to_owned());
    let [config, quantization_config] = match (&a.source.config, &b.source.config) {
        (Some(a), Some(b)) => config::differences(&a.value, &b.value),
        _ => [Vec::new(), Vec::new()],
    };
    let mut out = Comparison {
        layout_a,
        layout_b,
        tensors: Vec::new(),
        only_a,
        only_b,
        incomparable,
        config,
        quantization_config,
    };
    let total = pairs.iter().map(|pair| pair.bytes()).sum();
    let mut done = 0;
    for pair in &pairs {
        let first = pair.a.first();
        let file = &a.source.files[a.source.tensors[first.content.id()].file].name;
        let mut go_on = |values: u64| {
            if callbacks.cancelled.is_some_and(|cancelled| cancelled()) {
                return Err(Error::Cancelled);
            }
            if let Some(progress) = &mut callbacks.progress {
                let part = values as f64 / pair.values().max(1) as f64;
                let done = done + (pair.bytes() as f64 * part) as u64;
                progress(Step::of_all(file, &first.tensor.name, done, total));
            }
            Ok(())
        };
        go_on(0)?;
        out.tensors.extend(pair.measure(a, b, &mut go_on)?);
        done += pair.bytes();
    }
    Ok(out)
}
