//! `lanecast diff`.

mod page;

use std::{io::Write, path::Path};

use lanecast_checkpoint::{Callbacks, Checkpoint, Comparison, ConfigDifference, Difference, Step, compare};
use lanecast_files::{Output, Progress};
use serde::Serialize;

use super::progress::Bar;
use crate::{
    args::{Diff, Limit},
    error::{Failure, Result},
    output,
    report::json,
    signals, terminal, text,
};

/// The object of `--json`.
#[derive(Serialize)]
struct Report<'a> {
    a: String,
    b: String,
    #[serde(flatten)]
    found: &'a Comparison,
    /// What `--fail-above` does not allow.
    exceeded: Vec<Exceeded<'a>>,
}

/// A tensor that passes a limit.
#[derive(Serialize)]
struct Exceeded<'a> {
    tensor: &'a str,
    metric: &'static str,
    /// `null` if it is infinite, or not a number.
    value: Option<f64>,
    limit: f64,
}

/// Runs the subcommand. It fails without a message if a limit is exceeded, which its output says.
pub fn run(args: &Diff) -> Result<()> {
    signals::watch();
    let (a, b) = (open(&args.a, args.allow_nan)?, open(&args.b, args.allow_nan)?);
    let mut bar: Option<Bar> = None;
    let mut show = |step: Step<'_>| {
        let progress = Progress { done: step.done, total: Some(step.total) };
        bar.get_or_insert_with(|| Bar::new(Some(step.total))).show(progress);
    };
    let callbacks = Callbacks { progress: Some(&mut show), cancelled: Some(&signals::ended) };
    let found = compare(&a, &b, callbacks);
    drop(bar);
    let mut found = found?;
    sort(&mut found.tensors);
    if let Some(path) = &args.html {
        let page = page::page(&found, &args.a, &args.b);
        let mut file = Output::create(path, args.force)?;
        file.writer().write_all(page.as_bytes()).map_err(|e| Failure::writing(&e).at_path(path))?;
        file.commit()?;
    }
    let exceeded = exceeded(&found.tensors, &args.fail_above);
    let within = exceeded.is_empty() && found.has_same_tensors();
    let fails = !args.fail_above.is_empty() && !within;
    if args.json {
        let (a, b) = (args.a.display().to_string(), args.b.display().to_string());
        output::print(&json(&Report { a, b, found: &found, exceeded })?)?;
    } else {
        output::print_styled(&to_text(&found, &exceeded))?;
    }
    if fails { Err(Failure::findings()) } else { Ok(()) }
}

/// Opens a checkpoint, and prints its warnings.
fn open(path: &Path, allow_nan: bool) -> Result<Checkpoint> {
    let opened = Checkpoint::open(path)?;
    for warning in opened.warnings().iter().filter(|_| !terminal::quiet()) {
        // Standard error may be closed.
        let _ = terminal::warning(&format!("lanecast: warning: {}\n", text::one_line(warning)));
    }
    Ok(if allow_nan { opened.with_nan_allowed() } else { opened })
}

/// Largest errors first: values that are not finite on one side only, then by the relative error.
fn sort(tensors: &mut [Difference]) {
    tensors.sort_by(|x, y| {
        let order = (y.not_finite > 0).cmp(&(x.not_finite > 0)).then(y.relative.total_cmp(&x.relative));
        order.then(y.different.cmp(&x.different)).then_with(|| x.name.cmp(&y.name))
    });
}

fn exceeded<'t>(tensors: &'t [Difference], limits: &[Limit]) -> Vec<Exceeded<'t>> {
    let of = |limit: &Limit, tensor: &'t Difference| Exceeded {
        tensor: &tensor.name,
        metric: limit.metric.name(),
        value: limit.metric.of(tensor),
        limit: limit.value,
    };
    let passed = |limit: &Limit| {
        let limit = *limit;
        tensors.iter().filter(move |tensor| limit.is_passed_by(tensor)).map(move |tensor| of(&limit, tensor))
    };
    limits.iter().flat_map(passed).collect()
}

/// The table for people: the tensors that differ, and the number of others.
fn to_text(found: &Comparison, exceeded: &[Exceeded<'_>]) -> String {
    let head = ["name", "A", "B", "largest", "mean", "relative", "SQNR dB", "cosine", "ulps"];
    let mut rows = vec![head.map(str::to_owned).to_vec()];
    for tensor in found.tensors.iter().filter(|tensor| tensor.different > 0) {
        let mut row = vec![text::shown(&tensor.name), tensor.a.clone(), tensor.b.clone()];
        row.extend(cells(tensor));
        rows.push(row);
    }
    let mut out = if rows.len() > 1 { text::headed(&rows) } else { String::new() };
    for tensor in found.tensors.iter().filter(|tensor| tensor.not_finite > 0) {
        let (name, n) = (text::shown(&tensor.name), text::count(tensor.not_finite, "value"));
        out.push_str(&format!("not finite on one side only: {name}: {n}\n"));
    }
    for other in &found.incomparable {
        out.push_str(&format!("incomparable: {}: {} and {}\n", text::shown(&other.name), other.a, other.b));
    }
    for (side, names) in [("A", &found.only_a), ("B", &found.only_b)] {
        out.extend(names.iter().map(|name| format!("only in {side}: {}\n", text::shown(name))));
    }
    for (title, keys) in configurations(found) {
        let mut rows = vec![[title, "A", "B"].map(str::to_owned).to_vec()];
        // `--json` has them whole.
        rows.extend(keys.iter().map(|key| key_cells(key).map(text::shortened).to_vec()));
        out.push_str(&text::headed(&rows));
    }
    for Exceeded { tensor, metric, value, limit } in exceeded {
        let value = value.map_or_else(|| "-".to_owned(), number);
        out.push_str(&format!("limit {metric}={limit} exceeded: {}: {value}\n", text::shown(tensor)));
    }
    if !terminal::quiet() {
        out.push_str(&summary(found));
    }
    out
}

/// The keys of `config.json` that differ and the differing keys of its quantization, both with a title. A part without keys is left out.
fn configurations(found: &Comparison) -> impl Iterator<Item = (&'static str, &[ConfigDifference])> {
    let parts =
        [("config.json", &found.config[..]), ("config.json, quantization", &found.quantization_config)];
    parts.into_iter().filter(|(_, keys)| !keys.is_empty())
}

/// A key and its values as JSON; `-` on the side that does not have it.
fn key_cells(of: &ConfigDifference) -> [String; 3] {
    let value = |value: &Option<serde_json::Value>| {
        value.as_ref().map_or_else(|| "-".to_owned(), |value| text::shown(&value.to_string()))
    };
    [text::shown(&of.key), value(&of.a), value(&of.b)]
}

fn summary(found: &Comparison) -> String {
    let of = |is: fn(&Difference) -> bool| found.tensors.iter().filter(|tensor| is(tensor)).count();
    let equal = of(|tensor| tensor.different == 0 && tensor.rounded == 0);
    let rounded = match of(|tensor| tensor.different == 0 && tensor.rounded > 0) {
        0 => String::new(),
        n => format!(", {n} equal after rounding to the other dtype"),
    };
    format!(
        "{} compared, {equal} equal{rounded}; {} incomparable, {} only in A, {} only in B; layouts {} and {}\n",
        text::count(found.tensors.len() as u64, "tensor"),
        found.incomparable.len(),
        found.only_a.len(),
        found.only_b.len(),
        found.layout_a,
        found.layout_b,
    )
}

/// The errors of a tensor: largest, mean, relative, SQNR, cosine and ulps.
fn cells(tensor: &Difference) -> [String; 6] {
    let ulps = tensor.ulps.as_ref().map(|ulps| format!("{} ({})", ulps.largest, ulps.dtype));
    [
        number(tensor.largest),
        number(tensor.mean),
        number(tensor.relative),
        decibels(tensor.sqnr),
        tensor.cosine.map_or_else(|| "-".to_owned(), |cosine| format!("{cosine:.6}")),
        ulps.unwrap_or_else(|| "-".to_owned()),
    ]
}

fn decibels(value: f64) -> String {
    if value.is_finite() { format!("{value:.1}") } else { value.to_string() }
}

fn number(value: f64) -> String {
    if value == 0.0 || !value.is_finite() { value.to_string() } else { format!("{value:.3e}") }
}
