//! Reports as text for people, or as one JSON object.

use lanecast_files::{Entry, Report};
use serde::Serialize;

use crate::{
    error::{Failure, Result},
    text,
};

/// The summary for people. A dry run lists each tensor.
pub fn to_text(report: &Report) -> String {
    let mut out = String::new();
    if report.dry_run {
        out.push_str(&text::table(&report.entries.iter().map(row).collect::<Vec<_>>()));
    }
    let c = &report.counts;
    out.push_str(&format!(
        "{} {} of {} tensors to {}, {} elements\n",
        if report.dry_run { "would cast" } else { "cast" },
        report.tensors_cast,
        report.tensors,
        report.to,
        report.elements
    ));
    out.push_str(&format!("{} bytes in, {} bytes out", report.bytes_in, report.bytes_out));
    if report.dry_run {
        out.push_str(&format!(", tier {}\n", report.tier));
        return out;
    }
    out.push_str(&format!(", {:.2} GB/s, tier {}\n", report.gb_per_second, report.tier));
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

/// A line about the values that were outside the range of the target, if there were any.
pub fn warning(entry: &Entry) -> Option<String> {
    let counts = entry.counts.as_ref().filter(|counts| counts.out_of_range() > 0)?;
    let kinds: Vec<String> = counts
        .counts()
        .iter()
        .filter(|(name, n)| *n > 0 && *name != "underflowed_to_zero")
        .map(|(name, n)| format!("{n} {}", name.replace('_', " ")))
        .collect();
    let name = if entry.name.is_empty() { String::new() } else { text::one_line(&entry.name) + ": " };
    Some(format!(
        "lanecast: warning: {name}{} values do not fit in {}: {}\n",
        counts.out_of_range(),
        entry.to.as_deref().unwrap_or_default(),
        kinds.join(", ")
    ))
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
