//! The program `lanecast-bench`.

mod args;
mod speed_args;

use args::*;
use clap::Parser;
use lanecast::Tier;
#[cfg(target_os = "linux")]
use lanecast_bench::loops;
use lanecast_bench::{
    addresses, calls, checked, compare, costs,
    count::{
        self, baseline,
        gate::Gate,
        guest,
        host::{self, Target},
    },
    dimensions, json, limits,
    machine::Machine,
    options,
    report::{self, peers::PeerResults},
    results::Results,
    run::{self, Selection},
    scaled,
    speed::tables::Measured,
    strided, text, threads,
    worst::{self, Filter},
};
use lanecast_kernels::cost;
use serde::de::DeserializeOwned;
use std::{
    path::{Path, PathBuf},
    process::ExitCode,
    time::Duration,
};

/// The tiers with vectors that can run here.
fn vector_tiers() -> Vec<Tier> {
    Tier::ALL.iter().copied().filter(|tier| *tier != Tier::Scalar && tier.is_available()).collect()
}

fn main() -> ExitCode {
    let done = match Cli::parse().command {
        Command::Run(args) => measure(args),
        Command::Checked(args) => checked(args),
        Command::Options(args) => options(args),
        Command::Addresses(args) => addresses(&args),
        Command::Costs(args) => costs(args),
        Command::Calls(args) => {
            let tiers = if args.tier.is_empty() { vector_tiers() } else { args.tier };
            calls::run(&tiers).map(|rows| print!("{}", calls::table(&rows, args.n)))
        }
        Command::Threads(args) => {
            let sizes: Vec<usize> = args.kib.iter().map(|kib| kib << 10).collect();
            threads::run(&sizes).and_then(|rows| shared(&rows, &args.output))
        }
        Command::Batch(args) => {
            threads::batch(args.tensors, args.mib << 20).and_then(|rows| shared(&rows, &args.output))
        }
        Command::Limits(args) => limits(args),
        Command::Text(args) => {
            text::text(args.dtype, Duration::from_millis(args.budget)).map(|table| print!("{table}"))
        }
        Command::Strided(args) => {
            let pairs: Vec<_> = args.pair.iter().filter_map(|(from, to)| Some(((*from)?, (*to)?))).collect();
            let pairs = if pairs.is_empty() { &strided::PAIRS[..] } else { &pairs };
            let budget = Duration::from_millis(args.budget);
            let layout = args.layout.as_deref();
            match args.losses {
                None => strided::table(pairs, &args.side, layout, budget)
                    .and_then(|measured| tables(&measured, args.output.as_deref())),
                Some(inputs) => {
                    strided::losses(pairs, &args.side, layout, inputs, budget).map(|table| print!("{table}"))
                }
            }
        }
        Command::Scaled(args) => {
            let selection = scaled::Selection {
                tiers: &if args.tier.is_empty() { vector_tiers() } else { args.tier },
                sizes: &args.kilo,
                scheme: args.scheme.as_deref(),
                budget: Duration::from_millis(args.budget),
            };
            scaled::tables(&selection).and_then(|measured| tables(&measured, args.output.as_deref()))
        }
        Command::Report(args) => report(args),
        Command::Compare(args) => compare(args),
        Command::Count(args) => count(args),
        Command::Gate(args) => gate(args),
        Command::CountGuest(args) => count_guest(args),
        #[cfg(target_os = "linux")]
        Command::Loops(args) if args.every_pair => loops::check_every_pair(&args.objdump),
        #[cfg(target_os = "linux")]
        Command::Loops(args) => {
            let record = format!("benches/matrix/loops/{}.txt", std::env::consts::ARCH);
            loops::check(&args.record.unwrap_or(record.into()), args.bless, args.any_compiler, &args.objdump)
        }
        #[cfg(not(target_os = "linux"))]
        Command::Loops(_) => Err("loops are looked at on Linux only".into()),
        Command::Worst(args) => list(args),
        Command::Store(args) => speed_args::store(&args),
        Command::Page(args) => speed_args::page(&args),
        Command::Chart(args) => speed_args::chart(&args),
        Command::Ab(args) => speed_args::ab(args),
        Command::History(args) => speed_args::history(&args),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("error: {message}");
            ExitCode::FAILURE
        }
    }
}

fn selection(args: &CellArgs) -> Result<Selection, String> {
    Ok(Selection {
        pairs: args.pair.clone(),
        classes: args.class.clone(),
        tiers: tiers(args.tier.clone())?,
        sizes: args.size.concat(),
        modes: args.mode.clone(),
        storages: args.storage.into_iter().collect(),
        scheme: None,
        inputs: args.inputs,
        unaligned: args.unaligned,
        budget: args.budget,
        rounds: args.rounds,
    })
}

fn measure(RunArgs { cells: args, dimension, short }: RunArgs) -> Result<(), String> {
    if !dimension.is_empty() {
        return json::write(&args.output, &dimensions::run(&dimension, short)?);
    }
    let results = run::run(&selection(&args)?)?;
    results.write(&args.output).map_err(|error| format!("{}: {error}", args.output.display()))?;
    print!("{}", worst::worst(&results, &Filter { count: args.n, ..Filter::default() }));
    Ok(())
}

fn checked(args: CellArgs) -> Result<(), String> {
    let mut selection = selection(&args)?;
    if selection.modes.is_empty() {
        selection.modes = checked::MODES.to_vec();
    }
    let rows = checked::run(&selection)?;
    json::write(&args.output, &rows)?;
    print!("{}", rows.table(checked::LIMIT, args.n));
    Ok(())
}

fn addresses(args: &CellArgs) -> Result<(), String> {
    let rows = addresses::run(&selection(args)?)?;
    json::write(&args.output, &rows)?;
    print!("{}", rows.table(args.n).replace("; ", "\n  "));
    Ok(())
}

fn options(args: OptionsArgs) -> Result<(), String> {
    let selection = Selection {
        pairs: args.pair,
        tiers: tiers(args.tier)?,
        storages: args.storage.into_iter().collect(),
        inputs: args.inputs,
        rounds: args.rounds,
        ..Selection::default()
    };
    let rows = options::run(&selection, &options::Wanted { options: args.option, quick: args.quick })?;
    json::write(&args.output, &rows)?;
    print!("{}\n{}", rows.by_option(), rows.table(args.n).replace("; ", "\n  "));
    Ok(())
}

fn costs(args: CostsArgs) -> Result<(), String> {
    let tiers = match tiers(args.tier.clone())? {
        tiers if args.tier.is_empty() => [vec![Tier::Scalar], tiers].concat(),
        tiers => tiers,
    };
    let named = |error: &dyn std::fmt::Display| format!("{}: {error}", args.table.display());
    let text = std::fs::read_to_string(&args.table).map_err(|error| named(&error))?;
    let table = cost::parse(&text).map_err(|error| named(&error))?;
    let measured = costs::measure(&tiers, args.passes.unwrap_or(if args.quick { 3 } else { 15 }))?;
    for measured in &measured {
        print!("{}", measured.compare(&table[measured.tier as usize], args.n));
    }
    if args.bless {
        let blessed = costs::bless(&text, &measured, &Machine::detect()).map_err(|error| named(&error))?;
        std::fs::write(&args.table, blessed).map_err(|error| named(&error))?;
        println!("{} is written", args.table.display());
    }
    Ok(())
}

fn shared(rows: &threads::Rows, output: &Path) -> Result<(), String> {
    json::write(output, &rows)?;
    print!("{}", rows.table());
    Ok(())
}

/// Prints tables and writes them as JSON, if a path is given.
fn tables(measured: &Measured, output: Option<&Path>) -> Result<(), String> {
    measured.tables.iter().for_each(|table| print!("{table}"));
    output.map_or(Ok(()), |path| json::write(path, measured))
}

impl From<CastArgs> for Selection {
    fn from(args: CastArgs) -> Selection {
        Selection {
            pairs: args.pair,
            classes: args.class,
            tiers: args.tier,
            modes: args.mode,
            storages: args.storage.into_iter().collect(),
            scheme: args.scheme,
            ..Selection::default()
        }
    }
}

impl From<TargetArgs> for Target {
    fn from(args: TargetArgs) -> Target {
        Target { triple: args.target, cpu: args.cpu }
    }
}

fn count(args: CountArgs) -> Result<(), String> {
    let mut runs = host::count(&args.target.into(), &args.casts.into())?.into_iter();
    let mut results = runs.next().unwrap_or_default();
    for run in runs {
        results.counts.extend(run.counts);
        if let (Some(all), Some(of)) = (&mut results.counting, run.counting) {
            all.emulator = format!("{}; {}", all.emulator, of.emulator);
        }
    }
    results.write(&args.output).map_err(|error| format!("{}: {error}", args.output.display()))?;
    println!("{} casts counted: {}", results.counts.len(), args.output.display());
    Ok(())
}

fn gate(args: GateArgs) -> Result<(), String> {
    let gate = Gate {
        record: &args.record,
        margin: args.margin,
        any_compiler: args.any_compiler,
        bless: args.bless,
    };
    match &args.results {
        Some(path) => gate.judge(&json::read(path)?),
        None => gate.run(&args.target.into(), &args.casts.into()),
    }
}

fn count_guest(args: GuestArgs) -> Result<(), String> {
    let lengths = if args.shorter { count::SHORTER } else { count::LENGTHS };
    let results = guest::run(&args.casts.into(), lengths)?;
    print!("{}", results.to_json().map_err(|error| error.to_string())?);
    Ok(())
}

/// The tiers that were asked for; without any, all that can run here but the scalar one.
fn tiers(asked: Vec<Tier>) -> Result<Vec<Tier>, String> {
    if asked.is_empty() {
        let vectors = |tier: &Tier| *tier != Tier::Scalar && tier.is_available();
        return Ok(Tier::ALL.iter().copied().filter(vectors).collect());
    }
    match asked.iter().find(|tier| !tier.is_available()) {
        Some(tier) => Err(format!("{tier}: {}", tier.status())),
        None => Ok(asked),
    }
}

fn limits(args: LimitsArgs) -> Result<(), String> {
    let footprints: Vec<usize> = args.kib.iter().map(|kib| kib << 10).collect();
    print!("{}", limits::limits(&tiers(args.tier)?, &footprints));
    Ok(())
}

fn read_all<T: DeserializeOwned>(paths: &[PathBuf]) -> Result<Vec<T>, String> {
    paths.iter().map(|path| json::read(path)).collect()
}

fn report(args: ReportArgs) -> Result<(), String> {
    let mut runs = read_all::<Results>(&args.results)?;
    if let Some(record) = &args.counts {
        runs.extend(baseline::read_all(record)?);
    }
    let mut peers: Vec<PeerResults> = read_all(&args.peers)?;
    peers.iter_mut().for_each(PeerResults::steady_copies);
    let timed = runs.iter().find(|run| run.counting.is_none()).filter(|_| !peers.is_empty());
    let joined = timed.map(|timed| report::peers::section(timed, &peers));
    let checked: Vec<checked::Rows> = read_all(&args.checked)?;
    let options: Vec<options::Rows> = read_all(&args.options)?;
    let addresses: Vec<addresses::Rows> = read_all(&args.addresses)?;
    let threads: Vec<threads::Rows> = read_all(&args.threads)?;
    let sections = joined.unwrap_or_default()
        + &checked::section(&checked)
        + &options::section(&options)
        + &addresses::section(&addresses)
        + &threads::section(&threads);
    let written = report::write(&runs, &sections, &args.output);
    written.map_err(|error| format!("{}: {error}", args.output.display()))
}

fn compare(args: CompareArgs) -> Result<(), String> {
    let before: Results = json::read(&args.before)?;
    let after: Vec<Results> = read_all(&args.after)?;
    if let Some(other) = after.iter().find(|run| run.machine.cpu != before.machine.cpu) {
        eprintln!("warning: {:?} and {:?} are different CPUs", before.machine.cpu, other.machine.cpu);
    }
    let found = compare::compare(&before, &after, args.margin);
    print!("{}", found.text(args.margin));
    if found.compared == 0 {
        return Err("the runs have no cell in common".into());
    }
    if found.fallen.is_empty() { Ok(()) } else { Err(format!("{} cells fell", found.fallen.len())) }
}

fn list(args: WorstArgs) -> Result<(), String> {
    let results: Results = json::read(&args.results)?;
    let filter = Filter { class: args.class, tier: args.tier, size: args.size, count: args.n };
    print!("{}", worst::worst(&results, &filter));
    Ok(())
}
