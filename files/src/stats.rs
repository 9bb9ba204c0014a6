//! Statistics of the values of a tensor, and what casts to other dtypes would lose.
//!
//! The elements are read once, in blocks, however many there are. Floats are widened to `float64` and integers to 64 bits, which is
//! exact.

use std::io::Read;

use lanecast::{Bytes, BytesMut, CastPlan, CastReport, DType, Encoding, Kind, Level, Spec, Threads};
use serde::Serialize;

use crate::{
    error::{Error, Result},
    file::TensorFile,
    formats::format::{Place, quoted},
    pump::byte_len,
    report::all_counts,
    settings::{Settings, in_files},
};

/// Elements per block; they take at most 8 MiB.
const BLOCK: u64 = 1 << 19;

/// The binary exponent of the least number that is not zero, 2^-1074.
const LEAST: i32 = -1074;

/// Statistics of the values of a tensor. The two parts of a complex number count as two values.
#[derive(Clone, Debug, Serialize)]
pub struct Stats {
    /// The smallest finite number; `None` if no number is finite.
    pub min: Option<Number>,
    /// The largest finite number; `None` if no number is finite.
    pub max: Option<Number>,
    /// How many are NaN.
    pub nan: u64,
    /// How many are infinite.
    pub infinities: u64,
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

/// What a cast would lose.
#[derive(Clone, Debug, Serialize)]
pub struct WhatIf {
    /// The dtype.
    #[serde(serialize_with = "as_name")]
    pub to: DType,
    /// The size of the tensor in that dtype, packed, in bytes.
    pub bytes: u64,
    /// Counts of values that would not fit, including those that would only be rounded.
    #[serde(flatten, serialize_with = "all_counts")]
    pub counts: CastReport,
}

fn as_name<S: serde::Serializer>(dtype: &DType, serializer: S) -> std::result::Result<S::Ok, S::Error> {
    serializer.serialize_str(dtype.name())
}

/// The running counts.
struct Tally {
    /// Nonzero numbers below this are subnormal.
    normal: f64,
    min: Option<Number>,
    max: Option<Number>,
    nan: u64,
    infinities: u64,
    zeros: u64,
    subnormals: u64,
    /// The counts of the exponents from [`LEAST`] on.
    exponents: Vec<u64>,
}

impl Tally {
    fn new(dtype: DType) -> Self {
        let normal = match dtype.spec() {
            // In a format without a mantissa all numbers are normal.
            Spec::Float(of) | Spec::Complex(of) if of.mantissa_bits > 0 => {
                f64::from_bits(((1 - of.bias + 1023) as u64) << 52)
            }
            _ => 0.0,
        };
        let exponents = vec![0; (1024 - LEAST) as usize];
        Self { normal, min: None, max: None, nan: 0, infinities: 0, zeros: 0, subnormals: 0, exponents }
    }

    fn floats(&mut self, numbers: impl Iterator<Item = f64>) {
        let (mut min, mut max) = (f64::INFINITY, f64::NEG_INFINITY);
        for x in numbers {
            let size = x.abs();
            if size == 0.0 {
                self.zeros += 1;
            } else if size < f64::INFINITY {
                self.subnormals += u64::from(size < self.normal);
                self.exponents[(exponent(size) - LEAST) as usize] += 1;
            } else {
                let nan = u64::from(size.is_nan());
                self.nan += nan;
                self.infinities += 1 - nan;
                continue;
            }
            min = min.min(x);
            max = max.max(x);
        }
        if min <= max {
            self.extend(Number::Float(min), Number::Float(max));
        }
    }

    fn integers(&mut self, numbers: impl Iterator<Item = i128>) {
        let (mut min, mut max) = (i128::MAX, i128::MIN);
        for x in numbers {
            match x.unsigned_abs().checked_ilog2() {
                Some(exponent) => self.exponents[(exponent as i32 - LEAST) as usize] += 1,
                None => self.zeros += 1,
            }
            min = min.min(x);
            max = max.max(x);
        }
        if min <= max {
            self.extend(Number::Int(min), Number::Int(max));
        }
    }

    fn extend(&mut self, min: Number, max: Number) {
        self.min = self.min.filter(|old| *old <= min).or(Some(min));
        self.max = self.max.filter(|old| *old >= max).or(Some(max));
    }

    fn done(self, what_if: Vec<WhatIf>) -> Stats {
        let exponents = self.exponents.iter().enumerate().filter(|(_, n)| **n > 0);
        Stats {
            exponents: exponents.map(|(i, n)| (i as i32 + LEAST, *n)).collect(),
            min: self.min,
            max: self.max,
            nan: self.nan,
            infinities: self.infinities,
            zeros: self.zeros,
            subnormals: self.subnormals,
            what_if,
        }
    }
}

/// The binary exponent of a finite number above zero.
fn exponent(x: f64) -> i32 {
    let bits = x.to_bits();
    match bits >> 52 {
        0 => LEAST + 63 - bits.leading_zeros() as i32,
        field => field as i32 - 1023,
    }
}

/// A cast whose losses are counted.
struct Trial {
    plan: CastPlan,
    counts: CastReport,
}

impl TensorFile {
    /// Statistics of the values of a tensor, and what casts to `what_if` would lose with these `settings`. `None` if the file does not
    /// say what the elements are, or if the tensor is a field of a structured array. After each block `go_on` is called with its size in
    /// bytes, and an error from it ends the work.
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
        what_if: &[DType],
        settings: &Settings,
        go_on: &mut dyn FnMut(u64) -> Result<()>,
    ) -> Result<Option<Stats>> {
        let tensor = &self.tensors()[index];
        let (Some(from), Some(elements)) = (tensor.buffer, tensor.elements) else { return Ok(None) };
        if tensor.place == Place::Field {
            return Ok(None);
        }
        let place = quoted("tensor", &tensor.name);
        let path = self.path().to_owned();
        let failed = |e: Error| e.at(&place).in_path(&path);
        let trials = what_if.iter().map(|to| {
            let plan = settings.plan(from, Encoding::packed(*to))?.checked(Level::Exact);
            Ok(Trial { plan: plan.with_threads(Threads::Rayon), counts: CastReport::default() })
        });
        let mut trials = trials.collect::<Result<Vec<Trial>>>().map_err(failed)?;
        let mut reader = self.reader(index)?;
        let tally = tally(&mut *reader, from, elements, settings, &mut trials, go_on).map_err(failed)?;
        let what_if = trials.iter().map(|trial| {
            let to = trial.plan.target();
            WhatIf { to: to.dtype(), bytes: byte_len(to, elements).unwrap_or(u64::MAX), counts: trial.counts }
        });
        Ok(Some(tally.done(what_if.collect())))
    }
}

fn tally(
    reader: &mut dyn Read,
    from: Encoding,
    elements: u64,
    settings: &Settings,
    trials: &mut [Trial],
    go_on: &mut dyn FnMut(u64) -> Result<()>,
) -> Result<Tally> {
    let dtype = from.dtype();
    let mut tally = Tally::new(dtype);
    // A complex number is read as two floats.
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
    let plan: CastPlan = settings.plan(part, in_files(wide))?;
    let (mut source, mut numbers) = (Vec::new(), Vec::new());
    let mut done = 0;
    while done < elements {
        let n = (elements - done).min(BLOCK);
        let bytes = byte_len(from, n).unwrap_or(0);
        source.clear();
        reader.take(bytes).read_to_end(&mut source).map_err(|e| Error::reading(&e))?;
        if source.len() as u64 != bytes {
            return Err(Error::format("the data ends early"));
        }
        let count = n as usize * parts;
        numbers.resize(count * 8, 0);
        plan.run(Bytes::new(&source, count), BytesMut::new(&mut numbers, count))?;
        let (words, _) = numbers.as_chunks();
        match wide {
            DType::Int64 => tally.integers(words.iter().map(|w| i64::from_le_bytes(*w).into())),
            DType::UInt64 => tally.integers(words.iter().map(|w| u64::from_le_bytes(*w).into())),
            _ => tally.floats(words.iter().map(|w| f64::from_le_bytes(*w))),
        }
        for trial in trials.iter_mut() {
            trial.counts = trial.counts.and(&trial.plan.count(Bytes::new(&source, n as usize))?);
        }
        done += n;
        go_on(bytes)?;
    }
    // The checksum of a compressed member is verified at its end.
    reader.read(&mut [0]).map_err(|e| Error::reading(&e))?;
    Ok(tally)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exponents_are_those_of_the_numbers() {
        for (x, e) in [
            (1.0, 0),
            (1.999, 0),
            (0.5, -1),
            (f64::MAX, 1023),
            (f64::MIN_POSITIVE, -1022),
            (f64::from_bits(1), -1074),
            (f64::from_bits(3), -1073),
        ] {
            assert_eq!(exponent(x), e, "{x}");
        }
        let mut tally = Tally::new(DType::Float16);
        tally.floats([f64::from_bits(1), -f64::MAX, 0.0, -0.0, f64::NAN].into_iter());
        assert_eq!((tally.zeros, tally.nan, tally.subnormals), (2, 1, 1));
        assert_eq!((tally.min, tally.max), (Some(Number::Float(-f64::MAX)), Some(Number::Float(5e-324))));
        let mut tally = Tally::new(DType::UInt64);
        tally.integers([u64::MAX.into(), 0, 1].into_iter());
        assert_eq!(tally.done(Vec::new()).exponents, [(0, 1), (63, 1)]);
    }
}
