//! Two programs, or two sets of results, cell by cell: which casts became slower or faster.
//!
//! Programs run by turns, the old one first and then the new one first, so that a machine that becomes warmer or busier changes both alike.
//! The figure of a cell is the time of the cast divided by the time of the pure-traffic loop in the same process; small calls have no such
//! loop, and their figure is the time itself. A process gives one figure per cell, and `stats` compares the processes.
//!
//! With an interval of 95 %, about one cell of twenty has an interval without 1 by chance. The threshold removes most of these; measure the
//! rest again with `--pair` before you blame a change.

use super::stats::{Ratio, SEED, Verdict};
use crate::{
    json,
    report::geometric_mean,
    results::{Cell, Key, Results},
};
use std::{
    collections::BTreeMap,
    ffi::OsString,
    fs,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

/// With fewer processes than this, an interval says nothing.
pub const LEAST: usize = 3;

/// How two programs are measured.
#[derive(Clone, Debug)]
pub struct Effort {
    /// How often each of them runs.
    pub processes: usize,
    /// Where their results go: `old/1.json`, `new/1.json` and so on.
    pub directory: PathBuf,
    /// Further arguments for `run`.
    pub arguments: Vec<OsString>,
}

/// A cell with its ratio: the new time divided by the old one.
#[derive(Clone, Debug, PartialEq)]
pub struct Compared {
    /// The cell.
    pub key: Key,
    /// The ratio.
    pub ratio: Ratio,
}

/// The results of one side: those of a folder.
///
/// # Errors
///
/// If the folder has no result file, or one cannot be read.
pub fn results_of(folder: &Path) -> Result<Vec<Results>, String> {
    let at = |error: std::io::Error| format!("{}: {error}", folder.display());
    let entries = fs::read_dir(folder).map_err(at)?.collect::<Result<Vec<_>, _>>().map_err(at)?;
    let mut files: Vec<PathBuf> = entries.iter().map(fs::DirEntry::path).collect();
    files.retain(|path| path.extension().is_some_and(|end| end == "json"));
    files.sort();
    if files.is_empty() {
        return Err(format!("{}: no result files (*.json) are in this folder", folder.display()));
    }
    files.iter().map(|path| json::read(path)).collect()
}

/// Runs two programs by turns and returns the results of both.
///
/// # Errors
///
/// If a program cannot be run or fails.
pub fn measure(old: &Path, new: &Path, effort: &Effort) -> Result<[Vec<Results>; 2], String> {
    let mut results = [Vec::new(), Vec::new()];
    let sides = [("old", old), ("new", new)];
    for (side, _) in sides {
        let folder = effort.directory.join(side);
        fs::create_dir_all(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    }
    for round in 0..effort.processes {
        let order = if round % 2 == 0 { [0, 1] } else { [1, 0] };
        for k in order {
            let (side, program) = sides[k];
            eprintln!("process {} of {}: {side}", round + 1, effort.processes);
            let output = effort.directory.join(side).join(format!("{}.json", round + 1));
            let mut command = Command::new(program);
            command.arg("run").arg("-o").arg(&output).args(&effort.arguments);
            let status = command.stdout(Stdio::null()).status();
            match status {
                Ok(status) if status.success() => results[k].push(json::read(&output)?),
                Ok(status) => return Err(format!("{}: {status}", program.display())),
                Err(error) => return Err(format!("{}: {error}", program.display())),
            }
        }
    }
    Ok(results)
}

/// The figure of a cell that is compared.
fn figure(cell: &Cell) -> f64 {
    cell.fraction.map_or(cell.cast_ns, |fraction| 1.0 / fraction)
}

/// Compares the cells that every process has.
///
/// # Errors
///
/// If a side has too few processes, or there is no common cell.
pub fn compare(old: &[Results], new: &[Results]) -> Result<Vec<Compared>, String> {
    let few = old.len().min(new.len());
    if few < LEAST {
        return Err(format!("{few} processes are too few: at least {LEAST} of each side are compared"));
    }
    let mut cells: BTreeMap<&Key, [Vec<f64>; 2]> = BTreeMap::new();
    for (side, runs) in [old, new].into_iter().enumerate() {
        for cell in runs.iter().flat_map(|run| &run.cells) {
            cells.entry(&cell.key).or_default()[side].push(figure(cell));
        }
    }
    let whole = |sides: &[Vec<f64>; 2]| sides[0].len() == old.len() && sides[1].len() == new.len();
    let compared: Vec<Compared> = cells
        .iter()
        .filter(|(_, sides)| whole(sides))
        .filter_map(|(key, [old, new])| {
            Some(Compared { key: (*key).clone(), ratio: Ratio::of(old, new, SEED)? })
        })
        .collect();
    if compared.is_empty() { Err("the two sides have no cell in common".into()) } else { Ok(compared) }
}

/// The cells of a verdict, those with the greatest effect first.
fn of(compared: &[Compared], verdict: Verdict, threshold: f64) -> Vec<&Compared> {
    let mut cells: Vec<&Compared> =
        compared.iter().filter(|cell| cell.ratio.verdict(threshold) == verdict).collect();
    cells.sort_by(|a, b| b.ratio.value.ln().abs().total_cmp(&a.ratio.value.ln().abs()));
    cells
}

/// The findings as text, at most `most` cells of each verdict; and how many cells are slower.
pub fn text(compared: &[Compared], threshold: f64, most: usize) -> (String, usize) {
    let ratios: Vec<f64> = compared.iter().map(|cell| cell.ratio.value).collect();
    let [slower, faster] = [Verdict::Slower, Verdict::Faster].map(|verdict| of(compared, verdict, threshold));
    let mut text = format!(
        "{} cells, new time divided by old time: geometric mean {:.3}\n\
         {} slower, {} faster (interval of 95 % without 1, effect above {:.0} %)\n",
        compared.len(),
        geometric_mean(&ratios),
        slower.len(),
        faster.len(),
        100.0 * threshold,
    );
    for (name, cells) in [("slower", &slower), ("faster", &faster)] {
        for Compared { key, ratio } in cells.iter().take(most) {
            text += &format!("  {name} {:.3} ({:.3} to {:.3})  {key}\n", ratio.value, ratio.low, ratio.high);
        }
        if cells.len() > most {
            text += &format!("  {} more are {name}\n", cells.len() - most);
        }
    }
    (text, slower.len())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::results::{Size, tests::cell};

    /// Processes whose two cells have these times relative to the traffic loop, each a little different.
    fn runs(times: [f64; 2]) -> Vec<Results> {
        let run = |k: usize| {
            let mut cells = vec![cell("float32", "bool", Size::L1), cell("int8", "bool", Size::L2)];
            for (cell, time) in cells.iter_mut().zip(times) {
                cell.fraction = Some(1.0 / (time * (1.0 + 0.002 * k as f64)));
            }
            Results { cells, ..Results::default() }
        };
        (0..5).map(run).collect()
    }

    #[test]
    fn only_the_cell_that_changed_is_named() {
        let compared = compare(&runs([2.0, 3.0]), &runs([2.3, 3.0])).expect("cells in common");
        let (text, slower) = text(&compared, 0.05, 10);
        assert_eq!(slower, 1, "{text}");
        assert!(text.contains("slower 1.150") && text.contains("float32 -> bool, avx2, l1"), "{text}");
        assert!(!text.contains("int8"), "{text}");
    }

    #[test]
    fn small_calls_are_compared_by_their_times() {
        let runs = |ns: f64| -> Vec<Results> {
            let cell = Cell { fraction: None, cast_ns: ns, ..cell("int8", "bool", Size::N64) };
            vec![Results { cells: vec![cell], ..Results::default() }; 3]
        };
        let compared = compare(&runs(10.0), &runs(8.0)).expect("cells in common");
        assert_eq!(compared[0].ratio.verdict(0.05), Verdict::Faster);
        assert_eq!(compared[0].ratio.value, 0.8);
    }

    #[test]
    fn too_few_processes_are_refused() {
        let runs = runs([2.0, 3.0]);
        assert!(compare(&runs[..2], &runs).is_err());
        let other = vec![Results::default(); 3];
        assert!(compare(&runs, &other).is_err(), "no cell in common");
    }

    #[cfg(unix)]
    #[test]
    fn programs_run_by_turns_with_their_arguments() {
        use std::os::unix::fs::PermissionsExt as _;
        let directory = std::env::temp_dir().join(format!("lanecast-ab-{}", std::process::id()));
        fs::create_dir_all(&directory).expect("a writable directory");
        let result = directory.join("result.json");
        runs([2.0, 3.0])[0].write(&result).expect("it can be written");
        // A program that writes down how it was called and gives a result.
        let program = |name: &str| {
            let path = directory.join(name);
            let (log, result) = (directory.join("log"), result.display());
            let script =
                format!("#!/bin/sh\necho {name} $1 $4 $5 >> {}\ncp {result} \"$3\"\n", log.display());
            fs::write(&path, script).expect("it can be written");
            fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).expect("it is ours");
            path
        };
        let (old, new) = (program("a"), program("b"));
        let effort = Effort {
            processes: 2,
            directory: directory.join("runs"),
            arguments: vec!["--size".into(), "l1".into()],
        };
        let results = measure(&old, &new, &effort).expect("both succeed");
        assert_eq!(results.each_ref().map(Vec::len), [2, 2]);
        let log = fs::read_to_string(directory.join("log")).expect("the programs wrote it");
        let order = ["a", "b", "b", "a"].map(|name| format!("{name} run --size l1\n"));
        assert_eq!(log, order.concat());
        assert_eq!(results_of(&directory.join("runs/new")).expect("two files").len(), 2);
        fs::remove_dir_all(directory).expect("it is ours");
    }
}
