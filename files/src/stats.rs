//! Statistics of the values of a tensor, and what casts to other dtypes and schemes would lose.
//!
//! *Law.* The elements are read in order, in blocks, however many there are, and the numbers do not depend on the threads. Floats are widened to
//! `float64` and integers to 64 bits, which is exact.
//!
//! *Method.* `blocks` divides what arrives, `tally` counts each block, and `trial` tries what it becomes. Schemes with a scale for the whole
//! tensor need its largest magnitude first, so that the elements are read a second time for them.

mod blocks;
mod tally;
mod trial;

use std::{io::Read, thread};

use lanecast::{Bytes, CastReport, DType, Encoding, Kind, scaled::Scheme};
use serde::Serialize;

use self::{
    blocks::Division,
    tally::{Moments, Tally},
    trial::{Block, Lost, Trial},
};
use crate::{
    error::{Error, Result},
    file::TensorFile,
    formats::format::{Place, quoted},
    pump::byte_len,
    report::all_counts,
    settings::Settings,
};

/// Elements of a block, about, unless a scheme needs more.
const BLOCK: u64 = 1 << 15;
/// Bytes that are read at once.
const PIECE: usize = 1 << 18;
/// Bytes of memory that all blocks may take, unless one alone takes more.
const MEMORY: u64 = 1 << 27;
/// Bytes of memory for an element: what is read, what it becomes, and all in between.
const PER_ELEMENT: u64 = 40;

/// Statistics of the values of a tensor. The two parts of a complex number count as two values.
#[derive(Clone, Debug, Serialize)]
pub struct Stats {
    /// The smallest finite number; `None` if no number is finite.
    pub min: Option<Number>,
    /// The largest finite number; `None` if no number is finite.
    pub max: Option<Number>,
    /// The mean of the finite numbers; `None` if no number is finite.
    pub mean: Option<f64>,
    /// The standard deviation of all finite numbers; `None` if no number is finite.
    pub deviation: Option<f64>,
    /// How many are NaN.
    pub nan: u64,
    /// How many are infinite.
    pub infinities: u64,
    /// How many are NaN or infinite.
    pub not_finite: u64,
    /// How many are zero, of either sign.
    pub zeros: u64,
    /// How many are nonzero and smaller in magnitude than the smallest normal number of the dtype.
    pub subnormals: u64,
    /// The binary exponents of the finite nonzero numbers in ascending order, each with the count of numbers that have it. Magnitudes
    /// from 2^e up to 2^(e+1) have the exponent e.
    pub exponents: Vec<(i32, u64)>,
    /// What casts would lose.
    pub what_if: Vec<WhatIf>,
}

/// A number in a report.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd, Serialize)]
#[serde(untagged)]
pub enum Number {
    /// A value of a float.
    Float(f64),
    /// A value of an integer.
    Int(i128),
}

impl Number {
    /// The nearest `float64`.
    fn to_f64(self) -> f64 {
        match self {
            Self::Float(x) => x,
            Self::Int(x) => x as f64,
        }
    }
}

/// What values may become.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Target {
    /// Elements of a dtype.
    DType(DType),
    /// Codes and scales of a scheme.
    Scheme(Scheme),
}

impl Target {
    /// Its name.
    pub fn name(&self) -> &'static str {
        match self {
            Self::DType(dtype) => dtype.name(),
            Self::Scheme(scheme) => scheme.name().unwrap_or("scheme"),
        }
    }
}

/// What a target would make of the values.
#[derive(Clone, Debug, Serialize)]
pub struct WhatIf {
    /// The name of the dtype or the scheme.
    pub to: &'static str,
    /// The size of the tensor, packed and with all scales, in bytes; `None` if the scheme does not take it.
    pub bytes: Option<u64>,
    /// The signal-to-quantization-noise ratio in decibels: the sum of the squares of the values over the sum of the squares of the errors.
    /// `None` if it is infinite, if a value is not finite or complex, or if the scheme does not take the tensor.
    pub sqnr: Option<f64>,
    /// Counts of values that would not fit in the dtype, including those that would only be rounded; `None` for a scheme.
    #[serde(flatten, serialize_with = "counts")]
    pub counts: Option<CastReport>,
}

fn counts<S: serde::Serializer>(
    report: &Option<CastReport>,
    serializer: S,
) -> std::result::Result<S::Ok, S::Error> {
    match report {
        Some(report) => all_counts(report, serializer),
        None => serializer.collect_map(std::iter::empty::<(&str, u64)>()),
    }
}

/// The elements of a tensor, as they are given to [`measure`].
#[derive(Clone, Debug)]
pub struct Elements {
    /// Their dtype, storage and byte order.
    pub encoding: Encoding,
    /// The shape of the tensor, which schemes divide.
    pub shape: Vec<usize>,
    /// Whether the first axis varies fastest.
    pub fortran_order: bool,
}

impl Elements {
    fn count(&self) -> u64 {
        self.shape.iter().fold(1, |n, axis| n.saturating_mul(*axis as u64))
    }

    /// The bytes that [`measure`] takes for these targets: all of the elements, once or twice.
    pub fn bytes(&self, targets: &[Target]) -> u64 {
        let twice = targets
            .iter()
            .any(|target| matches!(target, Target::Scheme(scheme) if trial::needs_amax(scheme)));
        let bytes = byte_len(self.encoding, self.count()).unwrap_or(u64::MAX);
        bytes.saturating_mul(if twice { 2 } else { 1 })
    }
}

/// What receives bytes.
pub type Sink<'s> = dyn FnMut(&[u8]) -> Result<()> + 's;
/// What gives all bytes of a tensor to a [`Sink`], in pieces of any size.
pub type Feed<'f> = dyn FnMut(&mut Sink<'_>) -> Result<()> + 'f;

/// A block, measured.
struct Part {
    tally: Option<Tally>,
    moments: Moments,
    lost: Vec<Lost>,
}

/// Statistics of elements, and what targets would make of them with these `settings`, on at most `threads` threads. `feed` is called once for each
/// time that the elements have to be read.
///
/// # Errors
///
/// [`Error::Format`] if `feed` gives fewer or more bytes than the elements have, [`Error::Unsupported`] if the library refuses a cast, and the
/// errors of `feed`.
pub fn measure(
    of: &Elements,
    targets: &[Target],
    settings: &Settings,
    threads: usize,
    feed: &mut Feed<'_>,
) -> Result<Stats> {
    let trials =
        targets.iter().map(|target| Trial::new(of, target, settings)).collect::<Result<Vec<Trial>>>()?;
    let numbers = Numbers::new(of.encoding, settings)?;
    let (early, late): (Vec<usize>, Vec<usize>) =
        (0..trials.len()).partition(|index| !trials[*index].needs_amax());
    let (mut tally, mut moments) = (Tally::new(of.encoding.dtype()), Moments::default());
    let mut lost = vec![Lost::default(); trials.len()];
    for (pass, chosen) in [early, late].iter().enumerate() {
        if pass > 0 && chosen.is_empty() {
            break;
        }
        let (is_first, amax) = (pass == 0, tally.largest());
        let work = |source: &[u8], n: usize| {
            let mut part = Part { tally: None, moments: Moments::default(), lost: Vec::new() };
            let (counted, numbers) = numbers.of(source, n, is_first)?;
            if is_first {
                (part.tally, part.moments) = (counted, Moments::of(&numbers));
            }
            let block = Block { source, n, numbers: &numbers };
            let lost = chosen.iter().map(|index| trials[*index].run(&block, &of.shape, amax));
            Ok(Part { lost: lost.collect::<Result<_>>()?, ..part })
        };
        let mut merge = |part: Part| {
            part.tally.iter().for_each(|more| tally.merge(more));
            moments.merge(&part.moments);
            chosen.iter().zip(&part.lost).for_each(|(index, more)| lost[*index].merge(more));
        };
        division(of, chosen.iter().map(|index| &trials[*index]), threads).run(feed, &work, &mut merge)?;
    }
    let what_if =
        trials.iter().zip(&lost).map(|(trial, lost)| trial.what_if(of.count(), lost, moments.squares));
    Ok(Stats {
        min: tally.min,
        max: tally.max,
        mean: moments.mean(),
        deviation: moments.deviation(),
        nan: tally.nan,
        infinities: tally.infinities,
        not_finite: tally.nan + tally.infinities,
        zeros: tally.zeros,
        subnormals: tally.subnormals,
        exponents: tally.exponents(),
        what_if: what_if.collect(),
    })
}

/// Blocks that all trials can take.
fn division<'t>(of: &Elements, trials: impl Iterator<Item = &'t Trial>, threads: usize) -> Division {
    let elements = of.count();
    // Elements of less than a byte fill whole bytes in eights.
    let unit = trials.map(|trial| trial.unit(elements)).fold(8, least_common_multiple);
    let block = unit.saturating_mul((BLOCK / unit).max(1));
    let most = (MEMORY / PER_ELEMENT) / block.saturating_mul(2);
    let threads = threads.min(usize::try_from(most).unwrap_or(usize::MAX)).max(1);
    Division { encoding: of.encoding, elements, block, threads }
}

fn least_common_multiple(x: u64, y: u64) -> u64 {
    let (mut divisor, mut rest) = (x.max(1), y.max(1));
    while rest != 0 {
        (divisor, rest) = (rest, divisor % rest);
    }
    (x.max(1) / divisor).saturating_mul(y.max(1))
}

/// Reads elements as numbers.
struct Numbers {
    dtype: DType,
    /// 2 for complex numbers, which are read as two floats.
    parts: usize,
    plan: lanecast::CastPlan,
}

impl Numbers {
    fn new(from: Encoding, settings: &Settings) -> Result<Self> {
        let dtype = from.dtype();
        let (part, parts) = match dtype {
            DType::Complex64 => (Encoding::new(DType::Float32).with_order(from.order()), 2),
            DType::Complex128 => (Encoding::new(DType::Float64).with_order(from.order()), 2),
            _ => (from, 1),
        };
        let wide = match dtype.kind() {
            Kind::SignedInt => DType::Int64,
            Kind::UnsignedInt => DType::UInt64,
            _ => DType::Float64,
        };
        Ok(Self { dtype, parts, plan: settings.plan(part, wide.into())? })
    }

    /// The numbers, and their counts if `counted` is set.
    fn of(&self, source: &[u8], n: usize, counted: bool) -> Result<(Option<Tally>, Vec<f64>)> {
        let count = n * self.parts;
        let bytes = Bytes::new(source, count);
        let mut tally = counted.then(|| Tally::new(self.dtype));
        let numbers = match self.plan.target().dtype() {
            DType::Int64 => {
                let mut numbers = vec![0_i64; count];
                self.plan.run(bytes, &mut numbers[..])?;
                tally.iter_mut().for_each(|tally| tally.integers(numbers.iter().map(|x| (*x).into())));
                numbers.into_iter().map(|x| x as f64).collect()
            }
            DType::UInt64 => {
                let mut numbers = vec![0_u64; count];
                self.plan.run(bytes, &mut numbers[..])?;
                tally.iter_mut().for_each(|tally| tally.integers(numbers.iter().map(|x| (*x).into())));
                numbers.into_iter().map(|x| x as f64).collect()
            }
            _ => {
                let mut numbers = vec![0.0_f64; count];
                self.plan.run(bytes, &mut numbers[..])?;
                tally.iter_mut().for_each(|tally| tally.floats(&numbers));
                numbers
            }
        };
        Ok((tally, numbers))
    }
}

impl TensorFile {
    /// The elements of a tensor, for [`measure`]. `None` if the file does not say what the elements are, or if the tensor is a field of a
    /// structured array.
    ///
    /// # Panics
    ///
    /// If `index` is out of range.
    pub fn elements(&self, index: usize) -> Option<Elements> {
        let tensor = &self.tensors()[index];
        let (encoding, elements) = (tensor.buffer?, tensor.elements?);
        if tensor.place == Place::Field {
            return None;
        }
        let whole = |axis: &u64| usize::try_from(*axis).ok();
        let shape = tensor.shape.as_ref().and_then(|shape| shape.iter().map(whole).collect());
        let shape = match shape {
            Some(shape) => shape,
            None => vec![usize::try_from(elements).ok()?],
        };
        Some(Elements { encoding, shape, fortran_order: tensor.fortran_order })
    }

    /// Statistics of the values of a tensor, and what casts to targets would lose with these `settings`, on all threads. `None` if the tensor
    /// has no [`elements`](Self::elements). After each piece that was read `go_on` is called with its size in bytes, and an error from it ends
    /// the work.
    ///
    /// # Errors
    ///
    /// As [`read`](Self::read), [`Error::Unsupported`] if the library refuses a cast, and the errors of `go_on`.
    ///
    /// # Panics
    ///
    /// If `index` is out of range.
    pub fn stats(
        &mut self,
        index: usize,
        targets: &[Target],
        settings: &Settings,
        go_on: &mut dyn FnMut(u64) -> Result<()>,
    ) -> Result<Option<Stats>> {
        let Some(of) = self.elements(index) else { return Ok(None) };
        let (place, path) = (quoted("tensor", &self.tensors()[index].name), self.path().to_owned());
        let threads = thread::available_parallelism().map_or(1, usize::from);
        let bytes = byte_len(of.encoding, of.count()).unwrap_or(u64::MAX);
        let mut feed = |sink: &mut Sink<'_>| {
            let (mut reader, mut piece) = (self.reader(index)?, Vec::new());
            let mut left = bytes;
            while left > 0 {
                piece.clear();
                let most = left.min(PIECE as u64);
                (&mut *reader).take(most).read_to_end(&mut piece).map_err(|e| Error::reading(&e))?;
                if piece.is_empty() {
                    break;
                }
                left -= piece.len() as u64;
                sink(&piece)?;
                go_on(piece.len() as u64)?;
            }
            // The checksum of a compressed member is verified at its end.
            reader.read(&mut [0]).map_err(|e| Error::reading(&e))?;
            Ok(())
        };
        measure(&of, targets, settings, threads, &mut feed).map(Some).map_err(|e| match e.detail() {
            Some(detail) if detail.place.is_empty() => e.at(&place).in_path(&path),
            _ => e,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn multiples_are_common() {
        assert_eq!(
            [(8, 6), (8, 1), (1, 0), (12, 8)].map(|(x, y)| least_common_multiple(x, y)),
            [24, 8, 1, 24]
        );
        assert_eq!(least_common_multiple(u64::MAX, 2), u64::MAX);
    }
}
