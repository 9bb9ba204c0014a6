//! The report: Markdown and heat maps of one run, or of several machines side by side. Runs that counted instructions instead
//! of taking times have a section of their own.

mod classes;
mod counts;
mod lists;
pub mod peers;
mod small;
pub mod svg;

use crate::results::{Results, Size};
use std::{fmt::Write as _, fs, io, path::Path};

/// Writes `performance.md` and the folder `performance` with its heat maps. What a person wrote into `performance/notes.md`
/// stands before them, and before that the other `sections`.
///
/// # Errors
///
/// If a file cannot be written.
pub fn write(runs: &[Results], sections: &str, directory: &Path) -> io::Result<()> {
    let maps = directory.join("performance");
    fs::create_dir_all(&maps)?;
    let (counted, timed): (Vec<&Results>, Vec<&Results>) =
        runs.iter().partition(|run| run.counting.is_some());
    let runs: Vec<Results> = timed.into_iter().cloned().collect();
    let mut text = if runs.is_empty() { HEAD.to_owned() } else { markdown(&runs) };
    text += sections;
    text += &counts::section(&counted);
    if let Ok(notes) = fs::read_to_string(maps.join("notes.md")) {
        text += "\n";
        text += &notes;
    }
    if !runs.is_empty() {
        text += "\n## Heat maps\n\n";
    }
    for (k, run) in runs.iter().enumerate() {
        if runs.len() > 1 {
            let _ = writeln!(text, "### {}\n", machine_name(run, k));
        }
        for tier in tiers(run) {
            for size in [Size::L1, Size::L2, Size::Dram] {
                if let Some(map) = svg::heat_map(run, tier, size) {
                    let name = if runs.len() > 1 {
                        format!("{}-{tier}-{size}.svg", k + 1)
                    } else {
                        format!("{tier}-{size}.svg")
                    };
                    fs::write(maps.join(&name), map)?;
                    let _ = writeln!(text, "![{tier}, {size}](performance/{name})\n");
                }
            }
        }
    }
    fs::write(directory.join("performance.md"), text.trim_end().to_owned() + "\n")
}

/// Everything that was timed, but peers and heat maps.
pub fn markdown(runs: &[Results]) -> String {
    let mut text = format!("{HEAD}{INTRODUCTION}{}", age(runs));
    text += &machines(runs);
    text += &classes::tables(runs);
    text += &lists::worst(runs, 5);
    text += &small::tables(runs);
    text += &lists::misses(runs);
    text
}

const HEAD: &str = "# Performance

<!-- Written by `lanecast-bench report`. -->
";

const INTRODUCTION: &str = "
No cast is faster than the memory it reads and writes. The *pure-traffic loop* loads the bytes of the source, combines them
with one operation and stores the bytes of the destination, with vectors of the same tier; `fraction` is its time divided by
that of the cast, both measured in turn in one process (medians of many rounds, single thread). L1 and L2 are footprints of
24 KiB and 512 KiB, source and destination together; DRAM is at least four times the last cache. Every measured answer is
compared with that of the scalar tier. How to repeat it: `cargo run --release -p lanecast-bench -- run -o matrix.json`, then
`cargo run --release -p lanecast-bench -- report matrix.json -o docs`.
";

/// Which code the tables are of: a page that is read long after its measurement says so before its first figure.
fn age(runs: &[Results]) -> String {
    let of: Vec<String> = runs
        .iter()
        .map(|run| {
            format!("`{}` ({})", run.machine.commit, run.machine.date.split('T').next().unwrap_or_default())
        })
        .collect();
    format!(
        "\nThe tables and heat maps show the code of commit {}. Kernels that changed later have other speeds: measure the pairs that \
         matter to you with the commands above.\n",
        of.join(" and ")
    )
}

/// The tiers that a run has cells of, the strongest last.
pub(crate) fn tiers(run: &Results) -> Vec<&'static str> {
    let has = |name: &str| run.cells.iter().any(|cell| cell.key.tier == name);
    lanecast::Tier::ALL.iter().map(|tier| tier.name()).filter(|name| has(name)).collect()
}

/// What tells the machines of a report apart.
pub(crate) fn machine_name(run: &Results, k: usize) -> String {
    format!("{}: {}", k + 1, run.machine.cpu)
}

/// A heading for a tier of a run; it names the machine if there are several.
pub(crate) fn heading(runs: &[Results], k: usize, tier: &str) -> String {
    match runs.len() {
        1 => format!("\n### {tier}\n\n"),
        _ => format!("\n### {tier} on {}\n\n", machine_name(&runs[k], k)),
    }
}

/// The heads of all runs, one column each.
fn machines(runs: &[Results]) -> String {
    let mut text = String::from("\n## Measured on\n\n");
    let column = |value: &dyn Fn(&Results) -> String| -> String {
        runs.iter().map(|run| format!(" {} |", value(run).replace('|', "/"))).collect()
    };
    let heads: String = (1..=runs.len()).map(|k| format!(" {k} |")).collect();
    let _ = writeln!(
        text,
        "| |{}\n|---|{}",
        if runs.len() == 1 { "  |" } else { &heads },
        "---|".repeat(runs.len())
    );
    let mut row = |name: &str, value: &dyn Fn(&Results) -> String| {
        let _ = writeln!(text, "| {name} |{}", column(value));
    };
    row("CPU", &|run| format!("{} ({})", run.machine.cpu, run.machine.cpu_id));
    row("caches", &|run| {
        let kib = |(name, bytes): (&String, &usize)| format!("{name} {} KiB", bytes >> 10);
        run.machine.caches.iter().map(kib).collect::<Vec<_>>().join(", ")
    });
    row("features", &|run| run.machine.features.join(" "));
    row("tiers", &|run| run.machine.tiers.join(" "));
    row("target, system", &|run| format!("{}, {}", run.machine.target, run.machine.os));
    row("compiler", &|run| run.machine.rustc.clone());
    row("commit, date", &|run| format!("{}, {}", run.machine.commit, run.machine.date));
    row("DRAM footprint", &|run| format!("{} MiB", run.dram_bytes >> 20));
    row("inputs", &|run| {
        let shift = if run.unaligned { ", both buffers one element off" } else { "" };
        format!("{:?}{shift}", run.inputs).to_lowercase()
    });
    text
}

/// The geometric mean, NaN of nothing.
pub(crate) fn geometric_mean(values: &[f64]) -> f64 {
    (values.iter().map(|value| value.ln()).sum::<f64>() / values.len() as f64).exp()
}

/// The smallest value, NaN of nothing.
pub(crate) fn smallest(values: &[f64]) -> f64 {
    values.iter().copied().min_by(f64::total_cmp).unwrap_or(f64::NAN)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::results::tests::cell;

    #[test]
    fn means() {
        assert!((geometric_mean(&[0.5, 2.0]) - 1.0).abs() < 1e-12);
        assert_eq!(smallest(&[0.5, 0.25, 2.0]), 0.25);
        assert!(geometric_mean(&[]).is_nan() && smallest(&[]).is_nan());
    }

    #[test]
    fn a_report_names_targets_worst_and_misses() {
        let mut cells = vec![cell("float32", "bool", Size::L1), cell("int8", "bool", Size::Dram)];
        cells[1].fraction = Some(0.25);
        cells[1].fraction_streaming = Some(0.2);
        cells.push(crate::results::Cell { fraction: None, ..cell("int8", "bool", Size::N64) });
        let mut runs = [Results { cells, ..Results::default() }];
        runs[0].machine.commit = "0123456789ab".into();
        runs[0].machine.date = "2026-11-20T16:42Z".into();
        let text = markdown(&runs);
        let before_tables = text.split("\n## ").next().expect("a beginning");
        assert!(before_tables.contains("commit `0123456789ab` (2026-11-20)"), "{before_tables}");
        for part in ["## Classes", "| narrow |", "int8 -> bool", "## Small calls", "## Misses"] {
            assert!(text.contains(part), "no {part:?} in {text}");
        }
        let both = markdown(&[runs[0].clone(), runs[0].clone()]);
        assert!(both.contains("### avx2 on 2:"), "{both}");
    }

    #[test]
    fn files_are_written() {
        let directory = std::env::temp_dir().join(format!("lanecast-bench-{}", std::process::id()));
        let run = Results { cells: vec![cell("float32", "bool", Size::L1)], ..Results::default() };
        write(&[run], "\n## Peers\n", &directory).expect("a writable directory");
        let text = fs::read_to_string(directory.join("performance.md")).expect("it is there");
        assert!(text.contains("(performance/avx2-l1.svg)") && text.contains("## Peers"));
        assert!(directory.join("performance/avx2-l1.svg").exists());
        let counts = vec![crate::count::tests::count("float32", "bool", lanecast::Tier::Scalar, 2.0)];
        let counted = Results { counting: Some(Default::default()), counts, ..Results::default() };
        write(&[counted], "", &directory).expect("a writable directory");
        let text = fs::read_to_string(directory.join("performance.md")).expect("it is there");
        assert!(text.contains("## Instructions") && !text.contains("## Classes"), "{text}");
        fs::remove_dir_all(directory).expect("it is ours");
    }
}
