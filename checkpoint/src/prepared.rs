//! [`Prepared`]: an operation on a checkpoint whose headers are read and whose decisions are made, before anything is written.
//!
//! One machine writes its [`Plan`] whole, and `tasks` writes ranges of it on many.

use std::{ops::Range, path::Path};

use lanecast_files::Result;
use serde::{Deserialize, Serialize};

use crate::{
    convert::ConvertReport,
    dequantize::Report,
    quantize::QuantizeReport,
    source::Source,
    write::{Callbacks, Plan, Written},
};

/// What an operation did, as its own function reports it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
#[non_exhaustive]
pub enum Outcome {
    /// The report of [`convert`](crate::convert()).
    Convert(ConvertReport),
    /// The report of [`dequantize`](crate::dequantize()).
    Dequantize(Report),
    /// The report of [`quantize`](crate::quantize()) and [`requantize`](crate::requantize).
    Quantize(QuantizeReport),
}

/// Bytes that are divided at multiples of `part` only.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Extent {
    pub(crate) bytes: u64,
    pub(crate) part: u64,
}

/// What the first pass finds out about a weight, or about a range of it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Measured {
    /// The largest magnitude. JSON does not change a float32 that is written as a float64.
    pub(crate) amax: f64,
    /// The mean of the largest magnitudes of blocks. Only a whole weight has one.
    pub(crate) offset: f64,
}

impl Measured {
    /// What ranges that do not overlap say together.
    pub(crate) fn merge(self, other: Self) -> Self {
        Self { amax: self.amax.max(other.amax), offset: self.offset + other.offset }
    }
}

/// An operation, ready to write. It is shared by threads.
pub(crate) trait Prepared: Send + Sync {
    fn source(&self) -> &Source;

    /// Whether the output may exist.
    fn replaces(&self) -> bool;

    /// The output `dst`. Fails if the checkpoint cannot be written there.
    fn plan(&self, dst: &Path) -> Result<Plan<'_>>;

    /// The report, once the plan is written.
    fn outcome(&self, written: Written) -> Result<Outcome>;

    /// The weights that must be measured before their tensors can be produced: usually none.
    fn unmeasured(&self) -> Vec<Extent> {
        Vec::new()
    }

    /// Measures a range of the weight `index` of those.
    fn measure(&self, _index: usize, _range: Range<u64>, _callbacks: &Callbacks<'_>) -> Result<Measured> {
        Ok(Measured::default())
    }

    /// Takes the measurements of all those weights. Plans that are made later have them.
    fn take(&self, _measured: &[Measured]) {}
}
