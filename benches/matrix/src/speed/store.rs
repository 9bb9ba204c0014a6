//! Result files become a record.
//!
//! Everything that a run says of itself has to agree: results of two commits, two CPUs or two kinds
//! of inputs are not one record. Several files of the matrix are several processes, and the record has the medians over them.

use super::{
    dimensions,
    input::Input,
    record::{Block, Cast, OptionBlock, PeerBlock, PeerColumns, Record, SCHEMA, Table, Type, round},
    tables,
};
use crate::{
    cells::Mode,
    classes::CLASSES,
    measure::median,
    options,
    report::peers::PeerCell,
    results::{Cell, Key, Results, Size, Store},
};
use lanecast::Tier;
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// The record of result files, and what a person should know about them.
///
/// # Errors
///
/// If no file is of the matrix or of dimensions, the files are of several machines, or a figure is not a positive number.
pub fn record(inputs: Vec<Input>) -> Result<(Record, Vec<String>), String> {
    let mut warnings = Vec::new();
    let runs: Vec<&Results> = inputs
        .iter()
        .filter_map(|input| if let Input::Matrix(run) = input { Some(run) } else { None })
        .collect();
    let processes: Vec<&crate::dimensions::Results> = inputs
        .iter()
        .filter_map(|input| if let Input::Dimensions(results) = input { Some(results) } else { None })
        .collect();
    let machines =
        runs.iter().map(|run| &run.machine).chain(processes.iter().map(|results| &results.machine));
    let machine = machines.clone().next();
    let machine = machine.ok_or("one of the files has to be a result of `lanecast-bench run`")?;
    for other in inputs.iter().filter_map(Input::machine) {
        if (&other.cpu, &other.cpu_id) != (&machine.cpu, &machine.cpu_id) {
            return Err(format!("the files are of two machines: {} and {}", machine.cpu, other.cpu));
        }
        if other.commit != machine.commit {
            warnings.push(format!("a file is of commit {}, not {}", other.commit, machine.commit));
        }
    }
    if machine.commit.ends_with("-dirty") {
        warnings.push(format!("files differed from commit {}", machine.commit));
    }
    if processes.iter().any(|results| results.short) {
        warnings.push("the short form of dimensions takes no times that mean anything".into());
    }
    let dimensions = dimensions::columns(&processes)?;
    let Some(first) = runs.first() else {
        if inputs.len() > processes.len() {
            return Err("peers, options and tables need a result of `lanecast-bench run` beside them".into());
        }
        let record = Record {
            schema: SCHEMA,
            machine: machine.clone(),
            processes: processes.len(),
            dimensions,
            ..Record::default()
        };
        return Ok((record, warnings));
    };
    let same = |run: &&Results| {
        (&run.machine.commit, run.inputs, run.unaligned, run.dram_bytes)
            == (&first.machine.commit, first.inputs, first.unaligned, first.dram_bytes)
    };
    if !runs.iter().all(same) {
        return Err("runs of two commits, inputs, alignments or sizes are not one record".into());
    }

    let mut record = Record { dimensions, ..matrix(&runs)? };
    let mut peers: Vec<PeerBlock> = Vec::new();
    for input in &inputs {
        match input {
            Input::Matrix(_) | Input::Dimensions(_) => {}
            Input::Peers(of) => {
                let mut of = of.clone();
                of.steady_copies();
                add_peers(&record, &runs, &of.rows, &mut peers)?;
                record.versions.extend(of.versions);
            }
            Input::Options(rows) => record.options.extend(options_of(&record, rows)),
            Input::Addresses(rows) => record.tables.push(tables::addresses(rows)),
            Input::Checked(rows) => record.tables.push(tables::checked(rows)),
            Input::Threads(rows) => record.tables.extend(tables::threads(rows)),
            Input::Table(measured) => record.tables.extend(measured.tables.iter().map(tables::rounded)),
        }
    }
    peers.sort_by(|a, b| (&a.peer, &a.tier).cmp(&(&b.peer, &b.tier)));
    record.peers = peers;
    Ok((record, warnings))
}

/// The place of a cast, and its cells: one per process.
type CastCells<'a> = (usize, Vec<&'a Cell>);

/// The lists and blocks of the matrix.
fn matrix(runs: &[&Results]) -> Result<Record, String> {
    let first = runs[0];
    let mut figures: HashMap<&Key, Vec<&Cell>> = HashMap::new();
    for run in runs {
        let mut seen = BTreeSet::new();
        for cell in &run.cells {
            check(cell)?;
            if !seen.insert(&cell.key) {
                return Err(format!("the cell {} is there twice", cell.key));
            }
            figures.entry(&cell.key).or_default().push(cell);
        }
    }
    if figures.is_empty() {
        return Err("the matrix has no cell".into());
    }
    let mut record = Record {
        schema: SCHEMA,
        machine: first.machine.clone(),
        inputs: first.inputs,
        unaligned: first.unaligned,
        dram_bytes: first.dram_bytes,
        processes: runs.len(),
        classes: CLASSES.iter().map(|class| class.name.into()).collect(),
        ..Record::default()
    };
    for buffer in crate::cells::buffer_types() {
        let store = if buffer.storage() == lanecast::Storage::Packed { Store::Packed } else { Store::Byte };
        record.types.push(Type::new(buffer.dtype().name(), store)?);
    }
    // A cast without tier and size, with its class.
    let mut casts: BTreeMap<Cast, Vec<&Cell>> = BTreeMap::new();
    for cells in figures.values() {
        let cast = cast_of(&record, cells[0])?;
        casts.entry(cast).or_default().extend(cells);
    }
    record.casts = casts.keys().copied().collect();
    let mut blocks: BTreeMap<(Tier, Size), Vec<CastCells<'_>>> = BTreeMap::new();
    for (at, cells) in casts.values().enumerate() {
        let mut by_block: BTreeMap<(Tier, Size), Vec<&Cell>> = BTreeMap::new();
        for cell in cells {
            let tier = cell.key.tier.parse().map_err(|error| format!("{}: {error}", cell.key))?;
            by_block.entry((tier, cell.key.size)).or_default().push(cell);
        }
        for (key, cells) in by_block {
            blocks.entry(key).or_default().push((at, cells));
        }
    }
    for ((tier, size), cells) in blocks {
        record.blocks.push(block(&record, tier.name(), size, &cells));
    }
    Ok(record)
}

fn check(cell: &Cell) -> Result<(), String> {
    let sound = |value: f64| value.is_finite() && value > 0.0;
    let times =
        [Some(cell.cast_ns), Some(cell.memcpy_ns), cell.fraction, cell.fraction_streaming, cell.target];
    if times.into_iter().flatten().all(sound) && cell.elements > 0 {
        Ok(())
    } else {
        Err(format!("{}: a figure is not a positive number", cell.key))
    }
}

fn cast_of(record: &Record, cell: &Cell) -> Result<Cast, String> {
    let place = |name: &str, storage| {
        let wanted = Type::new(name, storage)?;
        let at = record.types.iter().position(|of| *of == wanted);
        at.ok_or_else(|| format!("{}: there is no encoding {}", cell.key, wanted.label()))
    };
    let class = record.classes.iter().position(|class| *class == cell.class);
    let class = class.ok_or_else(|| format!("{}: there is no class {:?}", cell.key, cell.class))?;
    let (from, to) =
        (place(&cell.key.from, cell.key.from_storage)?, place(&cell.key.to, cell.key.to_storage)?);
    let default = modes(&cell.key)?.first() == Some(&cell.key.mode);
    Ok(Cast(from, to, cell.key.mode, class, u8::from(default)))
}

fn modes(key: &Key) -> Result<&'static [Mode], String> {
    let dtype = |name: &str| name.parse().map_err(|error| format!("{name}: {error}"));
    Ok(Mode::of(dtype(&key.from)?, dtype(&key.to)?))
}

/// A median over processes, to four digits.
fn middle(values: impl IntoIterator<Item = f64>) -> f64 {
    round(median(values))
}

/// The block of a tier and a size.
fn block(record: &Record, tier: &str, size: Size, cells: &[CastCells<'_>]) -> Block {
    let whole = size.elements().is_none();
    let column = |figure: &dyn Fn(&Cell) -> Option<f64>| -> Vec<Option<f64>> {
        let mut column = vec![None; record.casts.len()];
        for (at, cells) in cells {
            let values: Vec<f64> = cells.iter().filter_map(|cell| figure(cell)).collect();
            column[*at] = (!values.is_empty()).then(|| middle(values));
        }
        if column.iter().all(Option::is_none) { vec![] } else { column }
    };
    let targets = if whole {
        let of = |class: usize| {
            let mut casts = cells.iter().filter(|(at, _)| record.casts[*at].3 == class);
            casts.find_map(|(_, cells)| cells[0].target)
        };
        (0..record.classes.len()).map(of).collect()
    } else {
        vec![]
    };
    let bytes = |cell: &Cell| cell.read + cell.written;
    let mut memcpy: BTreeMap<usize, Vec<f64>> = BTreeMap::new();
    for cell in cells.iter().flat_map(|(_, cells)| cells).filter(|_| !whole) {
        memcpy.entry(bytes(cell)).or_default().push(cell.memcpy_ns);
    }
    let rates = cells.iter().flat_map(|(_, cells)| cells).map(|cell| bytes(cell) as f64 / cell.memcpy_ns);
    let distances: Vec<f64> =
        cells.iter().filter(|(_, cells)| cells.len() > 1).map(|(_, cells)| distance(cells)).collect();
    Block {
        tier: tier.into(),
        size,
        ns: column(&|cell| Some(if whole { cell.cast_ns / cell.elements as f64 } else { cell.cast_ns })),
        fraction: column(&|cell| cell.fraction),
        streaming: column(&|cell| cell.fraction_streaming),
        targets,
        memcpy_gbps: whole.then(|| middle(rates.collect::<Vec<_>>())),
        memcpy: memcpy.into_iter().map(|(bytes, ns)| (bytes, middle(ns))).collect(),
        noise: (!distances.is_empty()).then(|| middle(distances)),
    }
}

/// How far the farthest process is from the median, relative to that.
fn distance(cells: &[&Cell]) -> f64 {
    let relative = |cell: &&Cell| cell.fraction.map_or(cell.cast_ns, |fraction| 1.0 / fraction);
    let centre = median(cells.iter().map(relative));
    cells.iter().map(|cell| (relative(cell) / centre - 1.0).abs()).fold(0.0, f64::max)
}

/// Adds the rows of peers. In one process with ours, a ratio is the quotient of the times; in another one, it is the quotient of both
/// divided by the median times of a copy of as many bytes there.
fn add_peers(
    record: &Record,
    runs: &[&Results],
    rows: &[PeerCell],
    peers: &mut Vec<PeerBlock>,
) -> Result<(), String> {
    let strongest = record.strongest().ok_or("the matrix has no tier")?;
    let cells: HashMap<&Key, &Cell> = runs[0].cells.iter().map(|cell| (&cell.key, cell)).collect();
    for row in rows {
        let tier = row.tier.as_deref().unwrap_or(strongest);
        let Some(at) = record.default_cast(&row.from, &row.to) else { continue };
        let key = Key {
            from: row.from.clone(),
            from_storage: Store::Byte,
            to: row.to.clone(),
            to_storage: Store::Byte,
            mode: record.casts[at].2,
            tier: tier.into(),
            size: row.size,
        };
        // Without ours at this size and tier there is nothing to compare with.
        let Some(ours) = cells.get(&key) else { continue };
        let ratio = match (row.cast_ns, record.block(tier, row.size).and_then(|block| block.memcpy_gbps)) {
            (Some(cast), _) => row.peer_ns / cast,
            (None, Some(gbps)) => {
                let copy = (ours.read + ours.written) as f64 / gbps;
                (row.peer_ns / row.copy_ns) / (ours.cast_ns / copy)
            }
            (None, None) => continue,
        };
        if !(ratio.is_finite() && ratio > 0.0) {
            return Err(format!("{}, {key}: a figure is not a positive number", row.peer));
        }
        let ns = elements(record, at, row, ours).map(|elements| round(row.peer_ns / elements as f64));
        let place = peers.iter().position(|block| block.peer == row.peer && block.tier == tier);
        let place = place.unwrap_or_else(|| {
            peers.push(PeerBlock {
                peer: row.peer.clone(),
                tier: tier.into(),
                at: vec![],
                sizes: BTreeMap::new(),
            });
            peers.len() - 1
        });
        put(&mut peers[place], at, row, ns, round(ratio));
    }
    Ok(())
}

/// How many elements a peer's time is divided by: one for small calls, whose figures are of a call. In another process the number can
/// differ from ours; there, it is known from the row, or from the footprints of the caches.
fn elements(record: &Record, at: usize, row: &PeerCell, ours: &Cell) -> Option<usize> {
    if row.size.elements().is_some() {
        return Some(1);
    }
    if row.elements.is_some() || row.cast_ns.is_some() {
        return row.elements.or(Some(ours.elements));
    }
    let cast = record.casts[at];
    let bytes = (record.types[cast.0].bits + record.types[cast.1].bits) as usize / 8;
    let footprint = match row.size {
        Size::L1 => 24 << 10,
        Size::L2 => 512 << 10,
        _ => return None,
    };
    Some(footprint / bytes / 64 * 64)
}

/// Puts a row into the columns of its peer. Columns grow with `at`.
fn put(block: &mut PeerBlock, at: usize, row: &PeerCell, ns: Option<f64>, ratio: f64) {
    let k = block.at.iter().position(|&other| other == at).unwrap_or_else(|| {
        block.at.push(at);
        for columns in block.sizes.values_mut() {
            columns.ns.push(None);
            columns.ratio.push(None);
            if !columns.differing.is_empty() {
                columns.differing.push(None);
            }
        }
        block.at.len() - 1
    });
    let len = block.at.len();
    let columns = block.sizes.entry(row.size).or_insert_with(|| PeerColumns {
        ns: vec![None; len],
        ratio: vec![None; len],
        differing: vec![],
    });
    (columns.ns[k], columns.ratio[k]) = (ns, Some(ratio));
    if let Some(share) = row.differing {
        columns.differing.resize(len, None);
        columns.differing[k] = Some(round(share));
    }
}

/// The combinations that change one option only.
fn options_of(record: &Record, rows: &options::Rows) -> Vec<OptionBlock> {
    let mut blocks: BTreeMap<(&str, &str), OptionBlock> = BTreeMap::new();
    for row in rows.rows.iter().filter(|row| !row.options.contains(' ')) {
        let place = row.pair.split_once(" -> ").and_then(|(from, to)| record.default_cast(from, to));
        let Some(at) = place else { continue };
        let block = blocks.entry((&row.tier, &row.options)).or_insert_with(|| OptionBlock {
            tier: row.tier.clone(),
            option: row.options.clone(),
            at: vec![],
            ratio: vec![],
        });
        block.at.push(at);
        block.ratio.push(round(row.ratio));
    }
    blocks.into_values().collect()
}

/// A summary for the person who stored a record.
pub fn summary(record: &Record) -> String {
    let figures: usize = record.blocks.iter().map(|block| block.ns.iter().flatten().count()).sum();
    let tables: Vec<&str> = record.tables.iter().map(|table: &Table| &*table.name).collect();
    let dimensions: Vec<String> =
        record.dimensions.iter().map(|of| format!("{} ({} rows)", of.dimension, of.rows())).collect();
    let list = |all: String| if all.is_empty() { "none".into() } else { all };
    format!(
        "{} casts, {figures} cells of {} blocks, {} peers, {} options, tables: {}, dimensions: {}",
        record.casts.len(),
        record.blocks.len(),
        record.peers.len(),
        record.options.len(),
        list(tables.join(", ")),
        list(dimensions.join(", ")),
    )
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::{machine::Machine, report::peers::PeerResults, results::tests::cell};

    pub(crate) fn run(cells: Vec<Cell>) -> Results {
        let machine = Machine { cpu: "a CPU".into(), commit: "0123456789ab".into(), ..Machine::default() };
        Results { machine, cells, dram_bytes: 128 << 20, ..Results::default() }
    }

    fn peer(peer_ns: f64, cast_ns: Option<f64>, size: Size) -> PeerCell {
        PeerCell {
            peer: if cast_ns.is_some() { "near" } else { "far" }.into(),
            from: "float32".into(),
            to: "bool".into(),
            size,
            tier: cast_ns.map(|_| "avx2".into()),
            elements: None,
            peer_ns,
            copy_ns: 20.0,
            cast_ns,
            differing: cast_ns.map(|_| 0.25),
        }
    }

    #[test]
    fn figures_go_into_the_columns_of_their_casts() {
        let mut cells = vec![cell("float32", "bool", Size::L1), cell("int8", "bool", Size::N64)];
        cells[1].fraction = None;
        let (record, warnings) = record(vec![Input::Matrix(run(cells))]).expect("a record");
        assert_eq!(warnings, [""; 0]);
        assert_eq!(record.casts.len(), 2);
        let place = |from: &str| record.default_cast(from, "bool").expect("a cast");
        let l1 = record.block("avx2", Size::L1).expect("a block");
        // 60 ns for 1000 elements.
        assert_eq!((l1.ns[place("float32")], l1.ns[place("int8")]), (Some(0.06), None));
        assert_eq!(l1.fraction[place("float32")], Some(0.5));
        assert_eq!((l1.memcpy_gbps, l1.noise), (Some(150.0), None));
        let small = record.block("avx2", Size::N64).expect("a block");
        assert_eq!((small.ns[place("int8")], &small.fraction), (Some(60.0), &vec![]));
        assert_eq!(small.memcpy, [(6000, 40.0)]);
        assert_eq!(Record::parse(&record.to_json().expect("JSON")).expect("sound"), record);
    }

    #[test]
    fn several_processes_give_their_median_and_their_noise() {
        let of = |fraction| {
            Input::Matrix(run(vec![Cell { fraction: Some(fraction), ..cell("float32", "bool", Size::L1) }]))
        };
        let (record, _) = record(vec![of(0.5), of(0.4), of(0.51)]).expect("a record");
        let block = &record.blocks[0];
        assert_eq!((record.processes, block.fraction[0]), (3, Some(0.5)));
        assert_eq!(block.noise, Some(0.25), "0.4 takes a quarter longer than 0.5");
    }

    #[test]
    fn peers_are_divided_by_ours() {
        let peers = PeerResults {
            rows: vec![
                peer(30.0, Some(60.0), Size::L1),
                peer(90.0, None, Size::L1),
                peer(90.0, None, Size::L2),
            ],
            ..PeerResults::default()
        };
        let cells = vec![cell("float32", "bool", Size::L1)];
        let (record, _) = record(vec![Input::Matrix(run(cells)), Input::Peers(peers)]).expect("a record");
        let names: Vec<&str> = record.peers.iter().map(|block| &*block.peer).collect();
        assert_eq!(names, ["far", "near"]);
        let [far, near] = [0, 1].map(|k| &record.peers[k].sizes[&Size::L1]);
        // Ours: 60 ns beside a copy of 40 ns.
        assert_eq!((far.ratio[0], near.ratio[0]), (Some(3.0), Some(0.5)));
        // 24 KiB of 5 bytes are 4915 elements, rounded down to 64.
        assert_eq!((far.ns[0], near.ns[0]), (Some(round(90.0 / 4864.0)), Some(0.03)));
        assert_eq!((&*far.differing, &*near.differing), (&[][..], &[Some(0.25)][..]));
        assert!(!record.peers[0].sizes.contains_key(&Size::L2), "ours was not measured there");
    }

    #[test]
    fn single_options_are_kept_by_pair() {
        let row = |options: &str| options::Row {
            pair: "float32 -> bool".into(),
            tier: "avx2".into(),
            options: options.into(),
            default_ns: 1.0,
            ratio: 1.234_56,
        };
        let rows = options::Rows { rows: vec![row("a=b"), row("a=b c=d")], ..options::Rows::default() };
        let inputs = vec![Input::Matrix(run(vec![cell("float32", "bool", Size::L1)])), Input::Options(rows)];
        let (record, _) = record(inputs).expect("a record");
        assert_eq!(record.options.len(), 1);
        assert_eq!((&*record.options[0].at, &*record.options[0].ratio), (&[0][..], &[1.235][..]));
    }

    #[test]
    fn what_does_not_fit_together_is_refused() {
        let good = || run(vec![cell("float32", "bool", Size::L1)]);
        let refused = |inputs: Vec<Input>| record(inputs).expect_err("refused");
        assert!(refused(vec![]).contains("lanecast-bench run"));
        assert!(refused(vec![Input::Matrix(run(vec![]))]).contains("no cell"));
        let mut other = good();
        other.machine.cpu = "another CPU".into();
        assert!(refused(vec![Input::Matrix(good()), Input::Matrix(other)]).contains("two machines"));
        let mut other = good();
        other.machine.commit = "ba9876543210".into();
        assert!(refused(vec![Input::Matrix(good()), Input::Matrix(other)]).contains("two commits"));
        let mut other = good();
        other.cells.push(other.cells[0].clone());
        assert!(refused(vec![Input::Matrix(other)]).contains("twice"));
        let mut other = good();
        other.cells[0].fraction = Some(0.0);
        assert!(refused(vec![Input::Matrix(other)]).contains("positive"));
        let mut other = good();
        other.cells[0].class = "unknown".into();
        assert!(refused(vec![Input::Matrix(other)]).contains("no class"));
    }
}
