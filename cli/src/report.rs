//! Reports as text for people, or as one JSON object.

use lanecast::CastReport;
use lanecast_files::{Entry, ReadBack, Report};
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
    out.push_str(&format!(
        "{} {} of {} to {}, {}\n",
        if report.dry_run { "would cast" } else { "cast" },
        report.tensors_cast,
        text::count(report.tensors, "tensor"),
        report.to,
        text::count(report.elements, "element")
    ));
    if let Some(why) = &report.nothing_cast {
        out.push_str(&format!("no tensor is cast: {why}\n"));
    }
    out.push_str(&format!(
        "{} in, {} out",
        text::count(report.bytes_in, "byte"),
        text::count(report.bytes_out, "byte")
    ));
    if !report.dry_run {
        out.push_str(&format!(", {:.2} GB/s", report.gb_per_second));
    }
    out.push_str(&format!(", tier {}\n", report.tier));
    if let Some(ReadBack { descriptor, from }) = &report.read_back {
        out.push_str(&format!(
            "the output has the descriptor `{descriptor}`, not {from}: give --from {from} to read it back\n"
        ));
    }
    let kinds = kinds(&report.counts, &[]);
    if !kinds.is_empty() {
        out.push_str(&format!("{}\n", kinds.join(", ")));
    }
    out
}

/// The nonzero counts in words, except those named in `without`.
fn kinds(counts: &CastReport, without: &[&str]) -> Vec<String> {
    let counts = counts.counts();
    let some = counts.iter().filter(|(name, n)| *n > 0 && *name != "inexact" && !without.contains(name));
    some.map(|(name, n)| format!("{n} {}", in_words(name, *n))).collect()
}

/// The name of a count of `n` values, in words.
pub fn in_words(name: &str, n: u64) -> String {
    match (name, n) {
        ("nan_lost", 1) => "NaN lost".to_owned(),
        ("nan_lost", _) => "NaNs lost".to_owned(),
        ("became_nan", _) => "became NaN".to_owned(),
        ("imaginary_dropped", 1) => "imaginary part dropped".to_owned(),
        ("imaginary_dropped", _) => "imaginary parts dropped".to_owned(),
        (name, _) => name.replace('_', " "),
    }
}

/// A line about the values that were outside the range of the target, if there were any.
pub fn warning(entry: &Entry) -> Option<String> {
    let counts = entry.counts.as_ref().filter(|counts| counts.out_of_range() > 0)?;
    let name = if entry.name.is_empty() { String::new() } else { text::one_line(&entry.name) + ": " };
    let n = counts.out_of_range();
    Some(format!(
        "lanecast: warning: {name}{} not fit in {}: {}\n",
        if n == 1 { "1 value does".to_owned() } else { format!("{n} values do") },
        entry.to.as_deref().unwrap_or_default(),
        kinds(counts, &["underflowed_to_zero"]).join(", ")
    ))
}

fn row(entry: &Entry) -> Vec<String> {
    vec![
        text::one_line(&entry.name),
        text::one_line(&entry.from),
        entry.to.as_ref().map_or("copied".to_owned(), |to| format!("-> {to}")),
        entry.shape.as_deref().map_or_else(String::new, text::tuple),
        format!("{} -> {} bytes", entry.bytes_in, entry.bytes_out),
        entry.kept.unwrap_or_default().to_owned(),
    ]
}

/// `value` as one line of JSON.
pub fn json(value: &impl Serialize) -> Result<String> {
    let mut line =
        serde_json::to_string(value).map_err(|e| Failure::io(format!("cannot write JSON, {e}")))?;
    line.push('\n');
    Ok(line)
}
