//! Results that are kept as tables for people: their single cells are too many, or no page draws them.

use super::record::{Table, round};
use crate::{addresses, checked, machine::Machine, report::geometric_mean, results::Size, threads};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// Tables and where they were measured: the results of `scaled` and `strided`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Measured {
    /// On what.
    pub machine: Machine,
    /// The tables.
    pub tables: Vec<Table>,
}

/// A table with figures of four digits.
pub fn rounded(table: &Table) -> Table {
    let figure = |value: &Value| match value.as_f64() {
        Some(real) if value.is_f64() => json!(round(real)),
        _ => value.clone(),
    };
    let rows = table.rows.iter().map(|row| row.iter().map(figure).collect()).collect();
    Table { rows, ..table.clone() }
}

/// Ratios with the names of their casts.
type Named = Vec<(f64, String)>;

fn heads(names: &[&str]) -> Vec<String> {
    names.iter().map(|name| (*name).to_owned()).collect()
}

/// How a group of ratios is summarised: how many, their geometric mean, how many are above a limit, the worst and what it is.
fn group(ratios: &[(f64, String)], limit: f64) -> [Value; 5] {
    let values: Vec<f64> = ratios.iter().map(|(ratio, _)| *ratio).collect();
    let above = values.iter().filter(|ratio| **ratio > limit).count();
    let worst = ratios.iter().max_by(|a, b| a.0.total_cmp(&b.0));
    let (ratio, name) = worst.map_or((f64::NAN, ""), |(ratio, name)| (*ratio, name));
    [
        json!(values.len()),
        json!(round(geometric_mean(&values))),
        json!(above),
        json!(round(ratio)),
        json!(name),
    ]
}

/// Buffers that do not begin at a cache line, by tier and size.
pub fn addresses(rows: &addresses::Rows) -> Table {
    let mut groups: BTreeMap<(&str, Size), Named> = BTreeMap::new();
    for row in &rows.rows {
        let name = format!("{} at {}/{}", row.pair, row.src, row.dst);
        groups.entry((&row.tier, row.size)).or_default().push((row.ratio, name));
    }
    let line = |((tier, size), ratios): ((&str, Size), Named)| {
        [vec![json!(tier), json!(size.name())], group(&ratios, addresses::LIMIT).into()].concat()
    };
    Table {
        name: "Addresses".into(),
        note: "Buffers that begin 16, 32 or 48 bytes behind a cache line: time divided by the time between buffers that begin at one."
            .into(),
        columns: heads(&["tier", "size", "cells", "geometric mean", "above 1.03", "worst", "where"]),
        rows: groups.into_iter().map(line).collect(),
    }
}

/// Checked and counting casts, by tier, size and way.
pub fn checked(rows: &checked::Rows) -> Table {
    let mut groups: BTreeMap<(&str, Size, &str), Named> = BTreeMap::new();
    for row in rows.rows.iter().filter(|row| !row.idle) {
        groups.entry((&row.tier, row.size, row.way.name())).or_default().push((row.ratio, row.pair.clone()));
    }
    Table {
        name: "Checked casts".into(),
        note: format!(
            "Casts that detect losses, of {} values: time divided by the time of the plain cast.",
            format!("{:?}", rows.inputs).to_lowercase()
        ),
        columns: heads(&["tier", "size", "way", "pairs", "geometric mean", "above 1.5", "worst", "where"]),
        rows: groups
            .into_iter()
            .map(|((tier, size, way), ratios)| {
                [vec![json!(tier), json!(size.name()), json!(way)], group(&ratios, 1.5).into()].concat()
            })
            .collect(),
    }
}

/// Threads and batches.
pub fn threads(rows: &threads::Rows) -> Vec<Table> {
    let note = |what: &str| format!("{what} A pool of {} threads.", rows.threads);
    let casts = Table {
        name: "Threads".into(),
        note: note("One cast: time on one thread divided by the time on the pool."),
        columns: heads(&["pair", "KiB", "microseconds on one thread", "speedup"]),
        rows: rows
            .casts
            .iter()
            .map(|row| {
                let us = json!(round(row.serial_ns / 1000.0));
                vec![json!(row.pair), json!(row.bytes >> 10), us, json!(round(row.speedup))]
            })
            .collect(),
    };
    let batches = Table {
        name: "Batches".into(),
        note: note("Tensors cast by one call, beside one contiguous cast of the same bytes on one thread."),
        columns: heads(&["pair", "MiB", "tensors", "time on one thread", "speedup on the pool"]),
        rows: rows
            .batches
            .iter()
            .map(|row| {
                let (serial, speedup) = (json!(round(row.serial)), json!(round(row.speedup)));
                vec![json!(row.pair), json!(row.bytes >> 20), json!(row.tensors), serial, speedup]
            })
            .collect(),
    };
    [casts, batches].into_iter().filter(|table| !table.rows.is_empty()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_summarised_by_tier_and_size() {
        let row = |src, ratio| addresses::Row {
            pair: "float32 -> int16".into(),
            tier: "avx2".into(),
            size: Size::L2,
            src,
            dst: 0,
            aligned_ns: 1.0,
            ratio,
        };
        let rows = addresses::Rows { rows: vec![row(16, 1.0), row(32, 1.21)], ..Default::default() };
        let table = addresses(&rows);
        let want = [
            json!("avx2"),
            json!("l2"),
            json!(2),
            json!(1.1),
            json!(1),
            json!(1.21),
            json!("float32 -> int16 at 32/0"),
        ];
        assert_eq!(table.rows, [want]);
        assert_eq!(table.rows[0].len(), table.columns.len());
    }

    #[test]
    fn figures_of_tables_have_four_digits() {
        let table =
            Table { rows: vec![vec![json!("mxfp4"), json!(0.123_456), json!(96)]], ..Table::default() };
        assert_eq!(rounded(&table).rows, [[json!("mxfp4"), json!(0.1235), json!(96)]]);
    }
}
