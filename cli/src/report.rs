//! What was done: a few lines for people, or one JSON object.

use std::time::Duration;

use lanecast::CastReport;
use serde::{Serialize, Serializer, ser::SerializeMap};

use crate::{
    error::{Failure, Result},
    text,
};

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

    /// The summary for people. A dry run lists each tensor.
    pub fn to_text(&self) -> String {
        let mut out = String::new();
        if self.dry_run {
            out.push_str(&text::table(&self.entries.iter().map(row).collect::<Vec<_>>()));
        }
        let c = &self.counts;
        out.push_str(&format!(
            "{} {} of {} tensors to {}, {} elements\n",
            if self.dry_run { "would cast" } else { "cast" },
            self.tensors_cast,
            self.tensors,
            self.to,
            self.elements
        ));
        out.push_str(&format!("{} bytes in, {} bytes out", self.bytes_in, self.bytes_out));
        if self.dry_run {
            out.push_str(&format!(", tier {}\n", self.tier));
            return out;
        }
        out.push_str(&format!(", {:.2} GB/s, tier {}\n", self.gb_per_second, self.tier));
        out.push_str(&format!(
            "{} saturated, {} wrapped, {} overflowed to infinity, {} became NaN, {} NaN lost, \
             {} imaginary parts dropped, {} underflowed to zero\n",
            c.saturated,
            c.wrapped,
            c.overflowed_to_infinity,
            c.became_nan,
            c.nan_lost,
            c.imaginary_dropped,
            c.underflowed_to_zero
        ));
        out
    }
}

impl Entry {
    /// A line about the values that were outside the range of the target, if there were any.
    pub fn warning(&self) -> Option<String> {
        let counts = self.counts.as_ref().filter(|counts| counts.out_of_range() > 0)?;
        let kinds: Vec<String> = counts
            .counts()
            .iter()
            .filter(|(name, n)| *n > 0 && *name != "underflowed_to_zero")
            .map(|(name, n)| format!("{n} {}", name.replace('_', " ")))
            .collect();
        let name = if self.name.is_empty() { String::new() } else { text::one_line(&self.name) + ": " };
        Some(format!(
            "lanecast: warning: {name}{} values do not fit in {}: {}\n",
            counts.out_of_range(),
            self.to.as_deref().unwrap_or_default(),
            kinds.join(", ")
        ))
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

fn row(entry: &Entry) -> Vec<String> {
    vec![
        text::one_line(&entry.name),
        text::one_line(&entry.from),
        entry.to.as_ref().map_or("copied".to_owned(), |to| format!("-> {to}")),
        entry.shape.as_deref().map_or_else(String::new, text::tuple),
        format!("{} -> {} bytes", entry.bytes_in, entry.bytes_out),
    ]
}

/// `value` as one line of JSON.
pub fn json(value: &impl Serialize) -> Result<String> {
    let mut line =
        serde_json::to_string(value).map_err(|e| Failure::io(format!("cannot write JSON, {e}")))?;
    line.push('\n');
    Ok(line)
}
