//! The worst cells and all misses.

use super::{heading, tiers};
use crate::{
    classes::CLASSES,
    results::{Cell, Results, Size},
};
use std::fmt::Write as _;

const SIZES: [Size; 3] = [Size::L1, Size::L2, Size::Dram];

/// The casts with the smallest fractions, per tier and size.
pub(super) fn worst(runs: &[Results], count: usize) -> String {
    let mut text = format!("\n## The {count} slowest casts\n");
    for (k, run) in runs.iter().enumerate() {
        for tier in tiers(run) {
            text += &heading(runs, k, tier);
            text += "| size | cast | class | fraction | asked | GB/s |\n|---|---|---|---|---|---|\n";
            for size in SIZES {
                let mut cells: Vec<(f64, &Cell)> = of(run, tier, size)
                    .filter_map(|cell| cell.fraction.map(|fraction| (fraction, cell)))
                    .collect();
                cells.sort_by(|a, b| a.0.total_cmp(&b.0));
                for (fraction, cell) in cells.into_iter().take(count) {
                    let asked = cell.target.map_or("-".into(), |target| format!("{target:.2}"));
                    let _ = writeln!(
                        text,
                        "| {size} | {} | {} | {fraction:.3} | {asked} | {:.1} |",
                        cell.key.pair(),
                        cell.class,
                        cell.gbps
                    );
                }
            }
        }
    }
    text
}

/// Every cast below its target, with its fraction, grouped by class and size.
pub(super) fn misses(runs: &[Results]) -> String {
    let mut text = String::from(
        "\n## Misses\n\nThe casts below their targets, the furthest first, with their fractions.\n",
    );
    for (k, run) in runs.iter().enumerate() {
        for tier in tiers(run) {
            text += &heading(runs, k, tier);
            let mut any = false;
            for class in CLASSES {
                for size in SIZES {
                    any |= missed(&mut text, class.name, size, &of(run, tier, size).collect::<Vec<_>>());
                }
            }
            if !any {
                text += "None.\n";
            }
        }
    }
    text
}

fn missed(text: &mut String, class: &str, size: Size, cells: &[&Cell]) -> bool {
    let mut list: Vec<(f64, &&Cell)> = cells
        .iter()
        .filter(|cell| cell.class == class)
        .filter_map(|cell| Some((cell.reached()?, cell)))
        .filter(|(reached, _)| *reached < 1.0)
        .collect();
    list.sort_by(|a, b| a.0.total_cmp(&b.0));
    let Some((_, first)) = list.first() else { return false };
    let target = first.target.unwrap_or(f64::NAN);
    const MOST: usize = 24;
    let names: Vec<String> = list
        .iter()
        .take(MOST)
        .map(|(_, cell)| format!("{} {:.2}", cell.key.pair(), cell.fraction.unwrap_or(f64::NAN)))
        .collect();
    let of = cells.iter().filter(|cell| cell.class == class).count();
    let _ =
        write!(text, "* {class}, {size}, asked {target:.2}, {} of {of}: {}", list.len(), names.join("; "));
    *text += if list.len() > MOST { "; and nearer ones.\n" } else { ".\n" };
    true
}

fn of<'a>(run: &'a Results, tier: &'a str, size: Size) -> impl Iterator<Item = &'a Cell> {
    run.cells.iter().filter(move |cell| cell.key.tier == tier && cell.key.size == size)
}
