//! What each class was asked for and what it reached.

use super::{geometric_mean, heading, smallest, tiers};
use crate::{
    classes::{CLASSES, streaming_target},
    results::{Cell, Results, Size},
};
use std::fmt::Write as _;

/// One table per run and tier.
pub(super) fn tables(runs: &[Results]) -> String {
    let mut text = String::from(
        "\n## Classes\n\nEach figure: the fraction asked for, then the smallest that a pair of the class reached and the \
         geometric mean of all. `(n)`: so many casts miss it.\n",
    );
    for (k, run) in runs.iter().enumerate() {
        for tier in tiers(run) {
            text += &heading(runs, k, tier);
            text += &table(run, tier);
        }
    }
    text
}

fn table(run: &Results, tier: &str) -> String {
    let mut text = String::from("| class | pairs | casts | L1 | L2 | DRAM |\n|---|---|---|---|---|---|\n");
    for class in CLASSES {
        let cells = |size: Size| -> Vec<&Cell> {
            let has =
                |cell: &&Cell| cell.class == class.name && cell.key.tier == tier && cell.key.size == size;
            run.cells.iter().filter(has).collect()
        };
        let sizes = [Size::L1, Size::L2, Size::Dram].map(cells);
        let casts = sizes.iter().map(Vec::len).max().unwrap_or(0);
        if casts > 0 {
            let figures: Vec<String> = sizes.iter().map(|cells| figure(cells)).collect();
            let _ =
                writeln!(text, "| {} | {} | {casts} | {} |", class.name, class.pairs, figures.join(" | "));
        }
    }
    text + &streaming(run, tier)
}

fn figure(cells: &[&Cell]) -> String {
    let fractions: Vec<f64> = cells.iter().filter_map(|cell| cell.fraction).collect();
    if fractions.is_empty() {
        return "-".into();
    }
    let missed = cells.iter().filter(|cell| cell.reached().is_some_and(|reached| reached < 1.0)).count();
    let target =
        cells.iter().find_map(|cell| cell.target).map_or("-".into(), |target| format!("{target:.2}"));
    let missed = if missed > 0 { format!(" ({missed})") } else { String::new() };
    format!("{target}: {:.2}, {:.2}{missed}", smallest(&fractions), geometric_mean(&fractions))
}

/// The streaming driver against the streaming loop, for the pairs whose plain target is above 0.9.
fn streaming(run: &Results, tier: &str) -> String {
    let Some(target) = tier.parse().ok().and_then(streaming_target) else { return String::new() };
    let asked = |cell: &&Cell| cell.key.tier == tier && cell.target.is_some_and(|target| target > 0.9);
    let reached: Vec<f64> =
        run.cells.iter().filter(asked).filter_map(|cell| cell.fraction_streaming).collect();
    if reached.is_empty() {
        return String::new();
    }
    let missed = reached.iter().filter(|fraction| **fraction < target).count();
    format!(
        "\nBeyond the caches, against the loop with *streaming* stores, the {} casts that are asked for more than 0.9 above: \
         asked {target:.2}, smallest {:.2}, geometric mean {:.2}, {missed} miss it.\n",
        reached.len(),
        smallest(&reached),
        geometric_mean(&reached),
    )
}
