//! Reports as text for people, or as one JSON object.

use lanecast::{CastReport, DType, Kind};
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
    out.push_str(&format!("{} in, {} out", text::bytes(report.bytes_in), text::bytes(report.bytes_out)));
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

/// A warning names a tensor if at least this part of its elements became zero, unless they are fewer than [`FEW`].
const MANY: f64 = 0.1;
const FEW: u64 = 10;

/// The warnings about `entries`, which are of `file` if there are several: about tensors that became zero to a large part, tensors that are
/// copied because the file does not name their dtype and, with `each`, a line for every tensor with lost values.
pub fn warnings(entries: &[Entry], file: Option<&str>, each: bool) -> Vec<String> {
    let name = |entry: &Entry| {
        let parts = [file.unwrap_or_default(), &*entry.name].map(text::one_line);
        parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(", ")
    };
    let mut lines = Vec::new();
    for entry in entries.iter().filter(|_| each) {
        lines.extend(lost(entry).map(|lost| [name(entry), lost]));
    }
    let zeros = |entry: &&Entry| {
        let zeros = entry.counts.as_ref().map_or(0, |counts| counts.underflowed_to_zero);
        zeros >= FEW && zeros as f64 >= MANY * entry.elements.unwrap_or(0) as f64
    };
    lines.extend(about(entries.iter().filter(zeros), &name, |entry, more| {
        let zeros = entry.counts.as_ref().map_or(0, |counts| counts.underflowed_to_zero);
        format!(
            "{zeros} of {}{more} became zero in {}: {}",
            text::count(entry.elements.unwrap_or(0), "value"),
            entry.to.as_deref().unwrap_or_default(),
            remedy_of_zeros(entry)
        )
    }));
    lines.extend(about(entries.iter().filter(|entry| entry.is_unnamed()), &name, |entry, more| {
        format!(
            "the descriptor `{}` does not say what the array holds, so it is copied{more}: name its dtype with --from",
            text::one_line(&entry.from)
        )
    }));
    let line = |[name, what]: [String; 2]| {
        let place = if name.is_empty() { name } else { name + ": " };
        format!("lanecast: warning: {place}{what}\n")
    };
    lines.into_iter().map(line).collect()
}

/// The name of the first of `entries`, and what `say` says of it, given words for the number of others.
fn about<'a>(
    mut entries: impl Iterator<Item = &'a Entry>,
    name: &dyn Fn(&Entry) -> String,
    say: impl Fn(&Entry, &str) -> String,
) -> Option<[String; 2]> {
    let first = entries.next()?;
    let more = match entries.count() {
        0 => String::new(),
        more => format!(" (and so in {})", text::count(more as u64, "more tensor")),
    };
    Some([name(first), say(first, &more)])
}

/// What to do about small values. Scales are for narrow targets; a wide one has a wider brother.
fn remedy_of_zeros(entry: &Entry) -> &'static str {
    match entry.to.as_deref().and_then(|name| name.parse::<DType>().ok()) {
        Some(to) if to.bits() <= 8 => "you probably want `lanecast scale`, which keeps small values",
        Some(to) if to.kind() == Kind::Float => "cast to a dtype with a wider exponent, such as bfloat16",
        _ => "multiply the values first, or cast to a float",
    }
}

/// What a tensor lost, if it lost anything but digits.
fn lost(entry: &Entry) -> Option<String> {
    let counts = entry.counts.as_ref()?;
    let of = |n: u64, one: &str, many: &str| {
        format!("{} {}", text::count(n, "value"), if n == 1 { one } else { many })
    };
    let to = entry.to.as_deref().unwrap_or_default();
    let mut parts = Vec::new();
    if let n @ 1.. = counts.out_of_range() {
        let kinds = kinds(counts, &["underflowed_to_zero"]).join(", ");
        parts.push(format!("{} not fit in {to}: {kinds}", of(n, "does", "do")));
    }
    if let n @ 1.. = counts.underflowed_to_zero {
        parts.push(format!("{} zero in {to}", of(n, "becomes", "become")));
    }
    if parts.is_empty() { None } else { Some(parts.join("; ")) }
}

fn row(entry: &Entry) -> Vec<String> {
    vec![
        text::one_line(&entry.name),
        text::one_line(&entry.from),
        entry.to.as_ref().map_or("copied".to_owned(), |to| format!("-> {to}")),
        entry.shape.as_deref().map_or_else(String::new, text::tuple),
        format!("{} -> {}", entry.bytes_in, text::bytes(entry.bytes_out)),
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
