//! The counts on record: one file per target and tier, `aarch64-unknown-linux-gnu.neon.tsv`.
//!
//! Its first line names the compiler, the second what else a count depends on. Then four tables, each with a row for every
//! source and a column for every destination: instructions per element, and of a call, with both answers to overflow. A cast
//! without a choice stands in the first of both and is left out of the second. Two tables of scaled casts follow, with a row for
//! every scheme.

use super::{CALL, Count, Counting, LENGTHS, SHORTER, scaled, steps};
use crate::{
    cells::{self, Cast, Mode},
    classes,
    machine::Machine,
    results::Results,
};
use lanecast::{Encoding, Tier};
use std::{
    collections::HashMap,
    fmt::Write as _,
    fs, io,
    path::{Path, PathBuf},
};

/// The casts of a table.
#[derive(Clone, Copy)]
enum Casts {
    /// Pairs, with the first of two modes or with the second.
    Pairs {
        saturate: bool,
    },
    Scaled,
}

/// What stands above each table, which casts it has, and whether it holds calls.
const TABLES: [(&str, Casts, bool); 6] = [
    ("per element, saturate", Casts::Pairs { saturate: true }, false),
    ("per element, wrap", Casts::Pairs { saturate: false }, false),
    ("call of 64, saturate", Casts::Pairs { saturate: true }, true),
    ("call of 64, wrap", Casts::Pairs { saturate: false }, true),
    ("per element, scaled", Casts::Scaled, false),
    ("call of 64, scaled", Casts::Scaled, true),
];

/// The labels of the rows and columns of a table, and the casts of each row without figures; `None` where there is no cast.
struct Frame {
    columns: Vec<String>,
    rows: Vec<(String, Vec<Option<Count>>)>,
}

impl Casts {
    fn frame(self, tier: &str) -> Frame {
        match self {
            Casts::Pairs { saturate } => {
                let types = cells::buffer_types();
                let row = |from: Encoding| {
                    let count = |&to: &Encoding| {
                        Some(empty(&Cast { from, to, mode: mode(from, to, saturate)? }, tier))
                    };
                    (cells::label(from), types.iter().map(count).collect())
                };
                let columns = types.iter().map(|&buffer| cells::label(buffer)).collect();
                Frame { columns, rows: types.iter().map(|&from| row(from)).collect() }
            }
            Casts::Scaled => {
                let columns: Vec<String> = scaled::columns().collect();
                let casts: Vec<_> = scaled::every().collect();
                let row = |casts: &[scaled::ScaledCast]| {
                    let counts = casts.iter().map(|cast| Some(cast.empty(tier))).collect();
                    (casts[0].name.to_owned(), counts)
                };
                Frame { rows: casts.chunks(columns.len()).map(row).collect(), columns }
            }
        }
    }
}

fn path(directory: &Path, target: &str, tier: &str) -> PathBuf {
    directory.join(format!("{target}.{tier}.tsv"))
}

/// The mode of a pair that stands in the first table of two, or in the second.
fn mode(from: Encoding, to: Encoding, saturate: bool) -> Option<Mode> {
    let modes = Mode::of(from.dtype(), to.dtype()).iter().copied();
    modes.into_iter().find(|mode| matches!(mode, Mode::Only | Mode::Saturate) == saturate)
}

/// Writes the record of a run, one file for each of its tiers.
///
/// # Errors
///
/// If a file cannot be written.
pub fn write(results: &Results, directory: &Path) -> io::Result<Vec<PathBuf>> {
    fs::create_dir_all(directory)?;
    let tiers = Tier::ALL.iter().filter(|tier| results.counts.iter().any(|c| c.tier == tier.name()));
    let write = |tier: &Tier| {
        let path = path(directory, &results.machine.target, tier.name());
        fs::write(&path, text(results, *tier))?;
        Ok(path)
    };
    tiers.map(write).collect()
}

/// The record of a tier.
fn text(results: &Results, tier: Tier) -> String {
    let counts: HashMap<_, &Count> = results.counts.iter().map(|count| (count.key(), count)).collect();
    let counting = results.counting.clone().unwrap_or_default();
    let mut text = format!("{}\n{}\t{}\n", results.machine.rustc, counting.c_library, counting.emulator);
    for (title, casts, call) in TABLES {
        let Frame { columns, rows } = casts.frame(tier.name());
        let _ = write!(text, "\n{title}\n\t{}\n", columns.join("\t"));
        for (label, row) in rows {
            let figure = |cast: &Option<Count>| {
                let count = counts.get(&cast.as_ref()?.key())?;
                Some(match call {
                    true => count.instructions_of_call.to_string(),
                    false => format!("{:.3}", count.instructions_per_element),
                })
            };
            let row: Vec<String> = row.iter().map(|cast| figure(cast).unwrap_or_default()).collect();
            let _ = writeln!(text, "{label}\t{}", row.join("\t"));
        }
    }
    text
}

/// Reads the record of a target and tier; `None` if there is none.
///
/// # Errors
///
/// If it cannot be read or is no record.
pub fn read(directory: &Path, target: &str, tier: &str) -> Result<Option<Results>, String> {
    let path = path(directory, target, tier);
    let text = match fs::read_to_string(&path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        read => read.map_err(|error| format!("{}: {error}", path.display()))?,
    };
    let parsed = parse(&text, target, tier).map_err(|error| format!("{}: {error}", path.display()))?;
    Ok(Some(parsed))
}

/// Reads all records of a directory; the tiers of a target are one run.
///
/// # Errors
///
/// If one cannot be read.
pub fn read_all(directory: &Path) -> Result<Vec<Results>, String> {
    let entries = fs::read_dir(directory).map_err(|error| format!("{}: {error}", directory.display()))?;
    let names = entries.flatten().filter_map(|entry| entry.file_name().into_string().ok());
    let mut targets: Vec<String> =
        names.filter_map(|name| Some(name.strip_suffix(".tsv")?.rsplit_once('.')?.0.to_owned())).collect();
    targets.sort();
    targets.dedup();
    let mut runs = Vec::new();
    for target in targets {
        let mut run: Option<Results> = None;
        for tier in Tier::ALL {
            match (read(directory, &target, tier.name())?, &mut run) {
                (Some(read), None) => run = Some(read),
                (Some(read), Some(run)) => run.counts.extend(read.counts),
                (None, _) => {}
            }
        }
        runs.extend(run);
    }
    Ok(runs)
}

fn parse(text: &str, target: &str, tier: &str) -> Result<Results, String> {
    let mut parts = text.split("\n\n");
    let head = parts.next().unwrap_or_default();
    let (rustc, rest) = head.split_once('\n').ok_or("no head")?;
    let (c_library, emulator) = rest.trim_end().split_once('\t').ok_or("no second line")?;
    let mut counts = Vec::<Count>::new();
    let mut places = HashMap::<(String, String, Mode), usize>::new();
    for table in parts {
        let mut lines = table.lines();
        let title = lines.next().unwrap_or_default();
        let known = TABLES.iter().find(|(name, ..)| *name == title);
        let &(_, casts, call) = known.ok_or_else(|| format!("{title:?} is no table"))?;
        let frame = casts.frame(tier);
        let column = |name: &str| {
            let place = frame.columns.iter().position(|column| column == name);
            place.ok_or_else(|| format!("{name:?} is no column of {title:?}"))
        };
        let columns = lines.next().unwrap_or_default().split('\t').skip(1).map(column);
        let columns = columns.collect::<Result<Vec<_>, _>>()?;
        for line in lines {
            let mut fields = line.split('\t');
            let name = fields.next().unwrap_or_default();
            let row = frame.rows.iter().find(|(label, _)| label == name);
            let (_, row) = row.ok_or_else(|| format!("{name:?} is no row of {title:?}"))?;
            for (&column, figure) in columns.iter().zip(fields).filter(|(_, figure)| !figure.is_empty()) {
                let figure: f64 = figure.parse().map_err(|_| format!("{figure:?} is no number"))?;
                let cast = row[column].as_ref();
                let cast = cast.ok_or_else(|| format!("{line:?} has too many figures"))?;
                let key = (cast.from.clone(), cast.to.clone(), cast.mode);
                let place = *places.entry(key).or_insert_with(|| {
                    counts.push(cast.clone());
                    counts.len() - 1
                });
                match call {
                    true => counts[place].instructions_of_call = figure as u64,
                    false => counts[place].instructions_per_element = figure,
                }
            }
        }
    }
    let elements = if emulator.starts_with(steps::NAME) { SHORTER } else { LENGTHS };
    let counting = Counting { emulator: emulator.into(), c_library: c_library.into(), elements, call: CALL };
    let machine = Machine { target: target.into(), rustc: rustc.into(), ..Machine::default() };
    Ok(Results { machine, counting: Some(counting), counts, ..Results::default() })
}

/// A count without figures.
fn empty(cast: &Cast, tier: &str) -> Count {
    Count {
        from: cells::label(cast.from),
        to: cells::label(cast.to),
        mode: cast.mode,
        tier: tier.into(),
        class: classes::of(cast).name.into(),
        instructions_per_element: 0.0,
        instructions_of_call: 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_record_holds_every_cast() {
        let casts = cells::every();
        let counts: Vec<Count> = casts
            .iter()
            .map(|cast| empty(cast, "scalar"))
            .chain(scaled::every().map(|cast| cast.empty("scalar")))
            .enumerate()
            .map(|(k, count)| Count {
                instructions_per_element: k as f64 / 8.0,
                instructions_of_call: k as u64,
                ..count
            })
            .collect();
        let machine = Machine { rustc: "rustc 1".into(), target: "t".into(), ..Machine::default() };
        let counting =
            Counting { c_library: "glibc 2".into(), emulator: "qemu".into(), elements: LENGTHS, call: CALL };
        let results = Results { machine, counting: Some(counting), counts, ..Results::default() };
        let text = text(&results, Tier::Scalar);
        assert!(text.starts_with("rustc 1\nglibc 2\tqemu\n\nper element, saturate\n\tbool\t"));
        let k = casts.len();
        let row = format!("{k}\t{}\t{}\t{}", k + 1, k + 2, k + 3);
        let head = "call of 64, scaled\n\tfrom float32\tfrom bfloat16\tto float32\tto bfloat16\n";
        assert!(text.contains(&format!("{head}fp8-row\t{row}\n")));
        let mut read = parse(&text, "t", "scalar").expect("a record");
        let order = |count: &Count| count.instructions_of_call;
        read.counts.sort_by_key(order);
        assert_eq!(read, results);
    }

    #[test]
    fn what_is_no_record_is_refused() {
        for text in [
            "",
            "rustc\n",
            "rustc\nglibc\tqemu\n\nsomething\n",
            "r\ng\tq\n\nper element, wrap\n\tint99\n",
            "r\ng\tq\n\nper element, wrap\n\tbool\nint99\t1\n",
            // A cast without a choice has no second mode.
            "r\ng\tq\n\nper element, wrap\n\tbool\nbool\t1\n",
        ] {
            assert!(parse(text, "t", "scalar").is_err(), "{text:?}");
        }
    }
}
