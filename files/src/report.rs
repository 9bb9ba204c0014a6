//! What a cast did, or would do. Serialized, it is the object that `lanecast cast --json` prints.

use std::time::Duration;

use lanecast::CastReport;
use serde::{Serialize, Serializer, ser::SerializeMap};

/// What is done, or was done, to one tensor.
#[derive(Clone, Debug, Serialize)]
pub struct Entry {
    /// Its name.
    pub name: String,
    /// Its dtype, or a descriptor if it has none.
    pub from: String,
    /// The dtype that it is cast to; `None` if it is copied.
    pub to: Option<String>,
    /// Its shape, if it is known.
    pub shape: Option<Vec<u64>>,
    /// The number of its elements, if it is known.
    pub elements: Option<u64>,
    /// Its bytes before.
    pub bytes_in: u64,
    /// Its bytes after.
    pub bytes_out: u64,
    /// Why it is copied, unless it is cast.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kept: Option<&'static str>,
    /// Counts of values that did not fit, once it is cast.
    #[serde(serialize_with = "optional_counts")]
    pub counts: Option<CastReport>,
}

/// Why a tensor is copied whose descriptor gives the size of its elements, but not their dtype.
pub(crate) const UNNAMED: &str = "of a dtype that the file does not name";

impl Entry {
    /// Whether the tensor is copied because the file does not name its dtype, which has to be given then.
    pub fn is_unnamed(&self) -> bool {
        self.kept == Some(UNNAMED)
    }
}

/// How to read elements whose dtype the file cannot name.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ReadBack {
    /// The descriptor in the file.
    pub descriptor: String,
    /// The dtype to give when the file is read.
    pub from: &'static str,
}

/// The summary of a run.
#[derive(Clone, Debug, Serialize)]
pub struct Report {
    /// The target.
    pub to: &'static str,
    /// The tier that was used.
    pub tier: &'static str,
    /// Whether nothing was written.
    pub dry_run: bool,
    /// How many tensors were cast.
    pub tensors_cast: u64,
    /// How many tensors there are.
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
    /// Counts of values that did not fit.
    #[serde(flatten, serialize_with = "counts")]
    pub counts: CastReport,
    /// Why no tensor was cast, if none was: `2 not floating, 1 excluded by name`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub nothing_cast: Option<String>,
    /// How to read the output, if the file does not say what dtype it holds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub read_back: Option<ReadBack>,
    /// Each tensor.
    pub entries: Vec<Entry>,
}

impl Report {
    /// The summary of `entries`. The work took `elapsed`, or is a dry run if that is `None`.
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
            nothing_cast: (sum(cast) == 0).then(|| reasons(&entries)),
            read_back: None,
            entries,
        }
    }
}

/// Why tensors are copied, the most frequent reason first: `2 not floating, 1 excluded by name`.
pub(crate) fn reasons(entries: &[Entry]) -> String {
    let mut found: Vec<(&str, u64)> = Vec::new();
    for reason in entries.iter().map(|entry| entry.kept.unwrap_or("copied")) {
        match found.iter_mut().find(|(known, _)| *known == reason) {
            Some((_, n)) => *n += 1,
            None => found.push((reason, 1)),
        }
    }
    found.sort_by_key(|(_, n)| std::cmp::Reverse(*n));
    match found.as_slice() {
        [] => "there is none in the file".to_owned(),
        found => found.iter().map(|(reason, n)| format!("{n} {reason}")).collect::<Vec<_>>().join(", "),
    }
}

/// The counts by name, without the counts of rounding, which are not made here.
fn counts<S: Serializer>(report: &CastReport, serializer: S) -> std::result::Result<S::Ok, S::Error> {
    let mut map = serializer.serialize_map(None)?;
    for (name, n) in report.counts().iter().filter(|(name, _)| *name != "inexact") {
        map.serialize_entry(name, n)?;
    }
    map.end()
}

/// The counts by name, with the counts of rounding.
pub(crate) fn all_counts<S: Serializer>(
    report: &CastReport,
    serializer: S,
) -> std::result::Result<S::Ok, S::Error> {
    serializer.collect_map(report.counts())
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
