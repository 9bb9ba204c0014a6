//! [`compare`]: the values of two checkpoints, tensor by tensor.
//!
//! *Law.* Tensors are matched by their names in a plain checkpoint, whatever their layouts. Plain tensors are compared exactly. A weight with
//! codes is decoded to the dtype of the other side, as [`dequantize`](crate::dequantize()) would write it, or to `float32` if the other side
//! has codes, too.
//!
//! *Method.* A thread for each side decodes parts of a tensor and sends them through a bounded queue (`streams`); the caller's thread adds
//! their differences up in `float64` (`measure`). Memory holds a few parts of each side.

mod measure;
mod streams;

use lanecast::DType;
use lanecast_files::{Error, Result};
use serde::Serialize;

use crate::{
    checkpoint::{Checkpoint, Content, Tensor},
    write::{Callbacks, Step},
};
use measure::Measure;
use streams::{Side, Streams};

/// What [`compare`] found. `a` is measured against `b`, the reference.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Comparison {
    /// The layout of `a`.
    pub layout_a: String,
    /// The layout of `b`.
    pub layout_b: String,
    /// The tensors that both have in one shape, in the order of `a`.
    pub tensors: Vec<Difference>,
    /// The names of tensors that only `a` has.
    pub only_a: Vec<String>,
    /// The names of tensors that only `b` has.
    pub only_b: Vec<String>,
    /// Tensors that are in both, and cannot be compared: their shapes differ, or only one of them is complex.
    pub incomparable: Vec<Incomparable>,
}

impl Comparison {
    /// Whether both have the same tensors with the same values.
    pub fn is_equal(&self) -> bool {
        self.has_same_tensors() && self.tensors.iter().all(|tensor| tensor.different == 0)
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
    /// Values that are NaN or infinite in one of the two, or infinities that differ. The errors below leave them out.
    pub not_finite: u64,
    /// The largest magnitude of an error.
    pub largest: f64,
    /// The index of the first value with that error, in C order.
    pub largest_at: u64,
    /// The mean magnitude of the errors.
    pub mean: f64,
    /// The root of the sum of squared errors over that of the squares of `b`. Infinite if only `b` is zero.
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
    /// The dtype: that of the two with fewer bits of mantissa, or `bfloat16` if both have codes.
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
/// Those of [`Checkpoint::read`], which name the file and the tensor; [`Error::Cancelled`].
pub fn compare(a: &Checkpoint, b: &Checkpoint, mut callbacks: Callbacks<'_>) -> Result<Comparison> {
    let mut out = Comparison {
        layout_a: a.layout().to_owned(),
        layout_b: b.layout().to_owned(),
        tensors: Vec::new(),
        only_a: Vec::new(),
        only_b: b
            .tensors()
            .iter()
            .map(|of| &of.name)
            .filter(|name| a.find(name).is_none())
            .cloned()
            .collect(),
        incomparable: Vec::new(),
    };
    let mut pairs = Vec::new();
    for (tensor, content) in a.tensors().iter().zip(&a.contents) {
        let Ok((other, of)) = b.content(&tensor.name) else {
            out.only_a.push(tensor.name.clone());
            continue;
        };
        let (left, right) = (Part { tensor, content }, Part { tensor: other, content: of });
        match Pair::new(left, right) {
            Some(pair) => pairs.push(pair),
            None => {
                let (name, a, b) = (tensor.name.clone(), left.with_shape(), right.with_shape());
                out.incomparable.push(Incomparable { name, a, b });
            }
        }
    }
    let total = pairs.iter().map(Pair::bytes).sum();
    let mut done = 0;
    for pair in &pairs {
        let file = &a.source.files[a.source.tensors[pair.a.content.id()].file].name;
        let mut go_on = |values: u64| {
            if callbacks.cancelled.is_some_and(|cancelled| cancelled()) {
                return Err(Error::Cancelled);
            }
            if let Some(progress) = &mut callbacks.progress {
                let part = values as f64 / pair.values().max(1) as f64;
                let done = done + (pair.bytes() as f64 * part) as u64;
                let (file_done, file_total, is_check) = (done, total, false);
                progress(Step {
                    file,
                    tensor: &pair.a.tensor.name,
                    done,
                    total,
                    file_done,
                    file_total,
                    is_check,
                });
            }
            Ok(())
        };
        go_on(0)?;
        out.tensors.push(pair.measure(a, b, &mut go_on)?);
        done += pair.bytes();
    }
    Ok(out)
}

/// A tensor of one side.
#[derive(Clone, Copy)]
struct Part<'a> {
    tensor: &'a Tensor,
    content: &'a Content,
}

impl Part<'_> {
    fn described(&self) -> String {
        self.tensor.dtype.map_or(self.tensor.layout, |dtype| dtype.name()).to_owned()
    }

    fn with_shape(&self) -> String {
        format!("{} {:?}", self.described(), self.tensor.shape)
    }

    fn is_complex(&self) -> bool {
        self.tensor.dtype.is_some_and(is_complex)
    }

    /// The dtype to decode to beside the other side.
    fn decoded(&self, other: &Self) -> DType {
        match (self.tensor.dtype, other.tensor.dtype) {
            (Some(dtype), _) if is_complex(dtype) || other.is_complex() => DType::Complex128,
            (Some(dtype), _) => dtype,
            (None, Some(DType::Float64)) if matches!(self.content, Content::Coded(_)) => DType::Float64,
            (None, Some(dtype @ (DType::Float16 | DType::BFloat16))) => dtype,
            (None, _) => DType::Float32,
        }
    }
}

fn is_complex(dtype: DType) -> bool {
    matches!(dtype, DType::Complex64 | DType::Complex128)
}

/// A tensor of both sides.
struct Pair<'a> {
    a: Part<'a>,
    b: Part<'a>,
    ulps: Option<DType>,
}

impl<'a> Pair<'a> {
    /// The pair, if its tensors can be compared.
    fn new(a: Part<'a>, b: Part<'a>) -> Option<Self> {
        let codes = [a, b].iter().any(|part| part.tensor.dtype.is_none());
        let fits = a.tensor.shape == b.tensor.shape && !(codes && (a.is_complex() || b.is_complex()));
        fits.then(|| Self { a, b, ulps: coarser(a.tensor.dtype, b.tensor.dtype) })
    }

    /// The bytes that both sides store.
    fn bytes(&self) -> u64 {
        self.a.tensor.stored_bytes + self.b.tensor.stored_bytes
    }

    /// The number of values.
    fn values(&self) -> u64 {
        let parts = if self.a.is_complex() || self.b.is_complex() { 2 } else { 1 };
        parts * self.a.tensor.elements() as u64
    }

    fn measure(
        &self,
        a: &Checkpoint,
        b: &Checkpoint,
        go_on: &mut dyn FnMut(u64) -> Result<()>,
    ) -> Result<Difference> {
        let mut measure = Measure::default();
        let side = |checkpoint, part: &Part<'a>, other: &Part<'a>| {
            Side::new(checkpoint, part.content, self.values() as usize, part.decoded(other), self.ulps)
        };
        let sides = [side(a, &self.a, &self.b)?, side(b, &self.b, &self.a)?];
        Streams::run(&sides, &mut |left, right| {
            measure.add(left, right);
            go_on(measure.values())
        })?;
        let mut difference = measure.difference(self);
        if let (Some(left), Some(right)) = (self.a.tensor.dtype, self.b.tensor.dtype)
            && left == right
            && matches!(left, DType::Int64 | DType::UInt64)
        {
            difference.different = self.different_integers(a, b)?;
        }
        Ok(difference)
    }

    /// The number of 64-bit integers that differ, of which `float64` cannot tell all apart. Both tensors are read whole.
    fn different_integers(&self, a: &Checkpoint, b: &Checkpoint) -> Result<u64> {
        let read = |checkpoint: &Checkpoint, part: &Part<'_>| {
            checkpoint.source.read_all(&checkpoint.source.tensors[part.content.id()])
        };
        let (left, right) = (read(a, &self.a)?, read(b, &self.b)?);
        let differ = left.chunks_exact(8).zip(right.chunks_exact(8)).filter(|(left, right)| left != right);
        Ok(differ.count() as u64)
    }
}

/// The float dtype in which distances are counted.
fn coarser(a: Option<DType>, b: Option<DType>) -> Option<DType> {
    let mantissa = |dtype: &DType| dtype.finfo().map(|info| info.mantissa_bits);
    let real = |dtype: DType| match dtype {
        DType::Complex64 => DType::Float32,
        DType::Complex128 => DType::Float64,
        real => real,
    };
    match (a.map(real), b.map(real)) {
        (None, None) => Some(DType::BFloat16),
        (Some(one), None) | (None, Some(one)) => mantissa(&one).map(|_| one),
        (Some(a), Some(b)) => Some(if mantissa(&a)? <= mantissa(&b)? { a } else { b }),
    }
}
