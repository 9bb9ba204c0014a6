//! Small calls: nanoseconds with the plan resolved.
//!
//! Up to 64 elements a call is asked to take no longer than one `memcpy` of the same bytes and a few nanoseconds.

use super::{heading, tiers};
use crate::{
    measure::median,
    results::{Cell, Results, Size},
};
use std::fmt::Write as _;

/// The nanoseconds above `memcpy` that a tier is allowed for up to 64 elements.
fn allowance(tier: &str) -> Option<f64> {
    match tier {
        "avx512" => Some(5.0),
        "avx2" => Some(12.0),
        _ => None,
    }
}

/// One table per run and tier.
pub(super) fn tables(runs: &[Results]) -> String {
    let mut text = String::from(
        "\n## Small calls\n\nNanoseconds of a call with the plan resolved, beside a `memcpy` of the same bytes. Asked for up to \
         64 elements: `memcpy` and 5 ns on avx512, 12 ns on avx2.\n",
    );
    for (k, run) in runs.iter().enumerate() {
        for tier in tiers(run) {
            let rows: Vec<String> = Size::SMALL.iter().filter_map(|&size| row(run, tier, size)).collect();
            if !rows.is_empty() {
                text += &heading(runs, k, tier);
                text += "| elements | median | 95 of 100 | slowest | memcpy, median | within |\n|---|---|---|---|---|---|\n";
                text += &rows.concat();
            }
        }
    }
    text
}

fn row(run: &Results, tier: &str, size: Size) -> Option<String> {
    let has = |cell: &&Cell| cell.key.tier == tier && cell.key.size == size;
    let mut cells: Vec<&Cell> = run.cells.iter().filter(has).collect();
    cells.sort_by(|a, b| a.cast_ns.total_cmp(&b.cast_ns));
    let slowest = cells.last()?;
    let elements = size.elements()?;
    let allowed = allowance(tier).filter(|_| elements <= 64);
    let within = allowed.map_or("-".into(), |allowed| {
        let count = cells.iter().filter(|cell| cell.cast_ns <= cell.memcpy_ns + allowed).count();
        format!("{count} of {}", cells.len())
    });
    let mut text = String::new();
    let _ = writeln!(
        text,
        "| {elements} | {:.1} | {:.1} | {:.1} ({}) | {:.1} | {within} |",
        median(cells.iter().map(|cell| cell.cast_ns)),
        cells[(cells.len() - 1) * 95 / 100].cast_ns,
        slowest.cast_ns,
        slowest.key.pair(),
        median(cells.iter().map(|cell| cell.memcpy_ns)),
    );
    Some(text)
}
