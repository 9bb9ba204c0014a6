//! What a cast did, or would do. Serialized, it is the object that `lanecast cast --json` prints.

use std::time::Duration;

use lanecast::CastReport;
use serde::{Serialize, Serializer, ser::SerializeMap};

/// What becomes, or became, of one tensor.
#[derive(Clone, Debug, Serialize)]
pub struct Entry {
    /// Its name.
    pub name: String,
    /// Its dtype, or the descriptor of something that is none.
    pub from: String,
    /// The dtype it is cast to; none if it is copied.
    pub to: Option<String>,
    /// Its shape, if it is known.
    pub shape: Option<Vec<u64>>,
    /// The number of its elements, if it is known.
    pub elements: Option<u64>,
    /// Its bytes before.
    pub bytes_in: u64,
    /// Its bytes after.
    pub bytes_out: u64,
    /// What became of values that did not fit, once it is cast.
    #[serde(serialize_with = "optional_counts")]
    pub counts: Option<CastReport>,
}

/// The summary of a run.
#[derive(Clone, Debug, Serialize)]
pub struct Report {
    /// The target.
    pub to: &'static str,
    /// The tier that cast.
    pub tier: &'static str,
    /// Whether nothing was written.
    pub dry_run: bool,
    /// How many tensors were cast.
    pub tensors_cast: u64,
    /// How many there are.
    pub tensors: u64,
    /// How many elements were cast.
    pub elements: u64,
    /// Bytes of all tensors before.
    pub bytes_in: u64,
    /// Bytes of all tensors after.
    pub bytes_out: u64,
    /// How long it took.
    pub seconds: f64,
    /// Bytes read and written per second, in units of 10^9.
    pub gb_per_second: f64,
    /// What became of values that did not fit.
    #[serde(flatten, serialize_with = "counts")]
    pub counts: CastReport,
    /// Each tensor.
    pub entries: Vec<Entry>,
}

impl Report {
    /// The summary of `entries`, done in `elapsed`, or not at all if that is `None`.
    pub fn new(to: &'static str, tier: &'static str, entries: Vec<Entry>, elapsed: Option<Duration>) -> Self {
        let sum = |of: fn(&Entry) -> u64| entries.iter().map(of).fold(0, u64::saturating_add);
        let cast = |e: &Entry| u64::from(e.to.is_some());
        let counts = entries.iter().filter_map(|e| e.counts.as_ref());
        let counts = counts.fold(CastReport::default(), |sum, counts| sum.and(counts));
        let (bytes_in, bytes_out) = (sum(|e| e.bytes_in), sum(|e| e.bytes_out));
        let seconds = elapsed.unwrap_or_default().as_secs_f64();
        let traffic = bytes_in as f64 + bytes_out as f64;
        Self {
            to,
            tier,
            dry_run: elapsed.is_none(),
            tensors_cast: sum(cast),
            tensors: entries.len() as u64,
            elements: sum(|e| if e.to.is_some() { e.elements.unwrap_or(0) } else { 0 }),
            bytes_in,
            bytes_out,
            seconds,
            gb_per_second: if seconds > 0.0 { traffic / seconds / 1e9 } else { 0.0 },
            counts,
            entries,
        }
    }
}

/// The counts by their names, those of rounding left out, which is not counted.
fn counts<S: Serializer>(report: &CastReport, serializer: S) -> std::result::Result<S::Ok, S::Error> {
    let mut map = serializer.serialize_map(None)?;
    for (name, n) in report.counts().iter().filter(|(name, _)| *name != "inexact") {
        map.serialize_entry(name, n)?;
    }
    map.end()
}

fn optional_counts<S: Serializer>(
    report: &Option<CastReport>,
    serializer: S,
) -> std::result::Result<S::Ok, S::Error> {
    match report {
        Some(report) => counts(report, serializer),
        None => serializer.serialize_none(),
    }
}
