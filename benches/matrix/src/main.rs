//! The program `lanecast-bench`.

use clap::{Args, Parser, Subcommand};
use lanecast::{DType, Tier};
#[cfg(target_os = "linux")]
use lanecast_bench::loops;
use lanecast_bench::{
    cells::Mode,
    checked,
    classes::{self, CLASSES, Class},
    compare, costs,
    count::{
        baseline,
        gate::Gate,
        guest,
        host::{self, Target},
    },
    inputs::Inputs,
    json, limits,
    machine::Machine,
    options,
    report::{self, peers::PeerResults},
    results::{Results, Size, Store},
    run::{self, Selection},
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

/// Times every pair of dtypes against the memory traffic it cannot avoid.
#[derive(Parser)]
#[command(name = "lanecast-bench", version)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Measures the selected cells (everything, if nothing is selected) and writes them as JSON.
    Run(RunArgs),
    /// Measures checked and counting casts beside plain ones and writes them as JSON.
    Checked(RunArgs),
    /// Measures every combination of options beside the same pair with default options and writes the ratios as JSON.
    Options(OptionsArgs),
    /// Measures the cost class of every pair on every tier and compares it with the checked-in table.
    Costs(CostsArgs),
    /// Measures casts over the threads of a pool beside those on one thread, by size.
    Threads(ThreadsArgs),
    /// Measures batches of tensors beside one contiguous cast of the same bytes.
    Batch(BatchArgs),
    /// Measures the pure-traffic loops themselves, beside `memcpy`.
    Limits(LimitsArgs),
    /// Measures parsing and formatting of text, beside the standard library.
    Text(TextArgs),
    /// Measures casts between arrays of other layouts, beside contiguous ones.
    Strided(StridedArgs),
    /// Writes `performance.md` and its heat maps.
    Report(ReportArgs),
    /// Fails if a cell became slower.
    Compare(CompareArgs),
    /// Counts the instructions of the selected casts under QEMU (everything, if nothing is selected) and writes them as JSON.
    Count(CountArgs),
    /// Counts the instructions of all casts and fails if one takes more than is on record.
    Gate(GateArgs),
    /// The part of `count` that runs under QEMU.
    #[command(hide = true)]
    CountGuest(CastArgs),
    /// Looks at the machine code of representative pairs: every loop has to be vector code, and to be the one on record.
    Loops(LoopsArgs),
    /// Lists the cells that are furthest from their targets.
    Worst(WorstArgs),
}

#[derive(Args)]
struct RunArgs {
    /// Where the results go.
    #[arg(short, long, default_value = "matrix.json")]
    output: PathBuf,
    /// A pair of dtypes such as `f32:bf16`, `*:f32`; may be given several times.
    #[arg(long, value_parser = pair)]
    pair: Vec<(Option<DType>, Option<DType>)>,
    /// A class of pairs; may be given several times.
    #[arg(long, value_parser = class)]
    class: Vec<&'static Class>,
    /// Tiers, separated by commas [default: all but scalar that can run here].
    #[arg(long, value_delimiter = ',')]
    tier: Vec<Tier>,
    /// Sizes: l1, l2, dram, n1, n7, n64, n255, or `small` for the last four, separated by commas.
    #[arg(long, value_delimiter = ',', value_parser = size, default_value = "l1,l2,dram,small")]
    size: Vec<Sizes>,
    /// Only this mode (only, saturate, wrap, overflow).
    #[arg(long, value_parser = mode)]
    mode: Vec<Mode>,
    /// Only pairs in byte storage, or only pairs with a packed side.
    #[arg(long, value_parser = storage)]
    storage: Option<Store>,
    /// What the sources hold.
    #[arg(long, value_enum, default_value_t)]
    inputs: Inputs,
    /// Both buffers one element off their alignment.
    #[arg(long)]
    unaligned: bool,
    /// Milliseconds per cell instead of the size's own.
    #[arg(long)]
    budget: Option<u64>,
    /// Rounds per cell instead of as many as the budget holds.
    #[arg(long)]
    rounds: Option<usize>,
    /// Lists this many of the worst cells at the end.
    #[arg(short, long, default_value_t = 20)]
    n: usize,
}

#[derive(Args)]
struct OptionsArgs {
    /// Where the results go.
    #[arg(short, long, default_value = "options.json")]
    output: PathBuf,
    /// A pair of dtypes such as `f32:bf16`, `*:f32`; may be given several times.
    #[arg(long, value_parser = pair)]
    pair: Vec<(Option<DType>, Option<DType>)>,
    /// Tiers, separated by commas [default: all that can run here but the scalar one].
    #[arg(long, value_delimiter = ',')]
    tier: Vec<Tier>,
    /// Only pairs in byte storage, or only pairs with a packed side.
    #[arg(long, value_parser = storage)]
    storage: Option<Store>,
    /// Only combinations with this in their names: `float-round`, `saturate=off`; of several, all.
    #[arg(long)]
    option: Vec<String>,
    /// What the sources hold.
    #[arg(long, value_enum, default_value_t)]
    inputs: Inputs,
    /// Measures a sample of the combinations in few rounds.
    #[arg(long)]
    quick: bool,
    /// Rounds per pair.
    #[arg(long)]
    rounds: Option<usize>,
    /// Lists this many of the worst combinations of each tier.
    #[arg(short, long, default_value_t = 20)]
    n: usize,
}

#[derive(Args)]
struct CostsArgs {
    /// Tiers, separated by commas [default: all that can run here].
    #[arg(long, value_delimiter = ',')]
    tier: Vec<Tier>,
    /// Rewrites the blocks of these tiers in the table. A class that is near to what is measured stays as it is.
    #[arg(long)]
    bless: bool,
    /// Measures in few passes.
    #[arg(long)]
    quick: bool,
    /// Passes over all casts.
    #[arg(long)]
    passes: Option<usize>,
    /// The table.
    #[arg(long, default_value = "kernels/src/cost/classes.txt")]
    table: PathBuf,
    /// Lists this many of the pairs of each tier that differ most from the table.
    #[arg(short, long, default_value_t = 10)]
    n: usize,
}

/// Which casts are counted.
#[derive(Args)]
struct CastArgs {
    /// A pair of dtypes such as `f32:bf16`, `*:f32`; may be given several times.
    #[arg(long, value_parser = pair)]
    pair: Vec<(Option<DType>, Option<DType>)>,
    /// A class of pairs; may be given several times.
    #[arg(long, value_parser = class)]
    class: Vec<&'static Class>,
    /// Tiers, separated by commas [default: all that the emulated CPU has].
    #[arg(long, value_delimiter = ',')]
    tier: Vec<Tier>,
    /// Only this mode (only, saturate, wrap, overflow).
    #[arg(long, value_parser = mode)]
    mode: Vec<Mode>,
    /// Only pairs in byte storage, or only pairs with a packed side.
    #[arg(long, value_parser = storage)]
    storage: Option<Store>,
}

/// What is emulated.
#[derive(Args)]
struct TargetArgs {
    /// The target triple.
    #[arg(long, default_value = host::HOST)]
    target: String,
    /// The CPU for QEMU's `-cpu` [default: all that it knows; on x86 without the fast `rep movsb`].
    #[arg(long)]
    cpu: Option<String>,
}

#[derive(Args)]
struct CountArgs {
    #[command(flatten)]
    target: TargetArgs,
    #[command(flatten)]
    casts: CastArgs,
    /// Where the results go.
    #[arg(short, long, default_value = "counts.json")]
    output: PathBuf,
}

#[derive(Args)]
struct GateArgs {
    #[command(flatten)]
    target: TargetArgs,
    #[command(flatten)]
    casts: CastArgs,
    /// A result file of `count`; nothing is counted then.
    #[arg(long, conflicts_with_all = ["target", "cpu", "pair", "class", "tier", "mode", "storage"])]
    results: Option<PathBuf>,
    /// The folder with the records.
    #[arg(long, default_value = "benches/matrix/counts")]
    record: PathBuf,
    /// How far a count may grow, as a share of itself.
    #[arg(long, default_value = "2%", value_parser = compare::margin)]
    margin: f64,
    /// Compares with the record of another compiler, too.
    #[arg(long)]
    any_compiler: bool,
    /// Writes the record of the target instead of comparing with it.
    #[arg(long, conflicts_with_all = ["pair", "class", "mode", "storage"])]
    bless: bool,
}

#[derive(Args)]
struct WorstArgs {
    /// A result file.
    results: PathBuf,
    /// Only this class.
    #[arg(long)]
    class: Option<String>,
    /// Only this tier.
    #[arg(long)]
    tier: Option<String>,
    /// Only this size.
    #[arg(long, value_enum)]
    size: Option<Size>,
    /// How many.
    #[arg(short, long, default_value_t = 40)]
    n: usize,
}

#[derive(Args)]
struct LimitsArgs {
    /// Tiers, separated by commas [default: all that can run here].
    #[arg(long, value_delimiter = ',')]
    tier: Vec<Tier>,
    /// Footprints in KiB, separated by commas.
    #[arg(long, value_delimiter = ',', default_value = "24,512,131072")]
    kib: Vec<usize>,
}

#[derive(Args)]
struct TextArgs {
    /// Only this dtype.
    dtype: Option<DType>,
    /// Milliseconds per row.
    #[arg(long, default_value_t = 1000)]
    budget: u64,
}

#[derive(Args)]
struct StridedArgs {
    /// A pair of dtypes such as `f32:f16`; may be given several times [default: five pairs].
    #[arg(long, value_parser = pair)]
    pair: Vec<(Option<DType>, Option<DType>)>,
    /// Sides of the square that has as many elements, separated by commas.
    #[arg(long, value_delimiter = ',', default_value = "256,4096")]
    side: Vec<usize>,
    /// Only layouts with this in their names.
    #[arg(long)]
    layout: Option<String>,
    /// Milliseconds per row.
    #[arg(long, default_value_t = 500)]
    budget: u64,
}

#[derive(Args)]
struct ThreadsArgs {
    /// Where the results go.
    #[arg(short, long, default_value = "threads.json")]
    output: PathBuf,
    /// Bytes of source and destination in KiB, separated by commas.
    #[arg(long, value_delimiter = ',', default_value = "16,64,256,512,1024,2048,4096,8192,16384,65536")]
    kib: Vec<usize>,
}

#[derive(Args)]
struct BatchArgs {
    /// Where the results go.
    #[arg(short, long, default_value = "batch.json")]
    output: PathBuf,
    /// MiB of all sources and destinations; halved until the memory suffices.
    #[arg(long, default_value_t = 1024)]
    mib: usize,
    /// Tensors.
    #[arg(long, default_value_t = 2000)]
    tensors: usize,
}

#[derive(Args)]
struct LoopsArgs {
    /// Looks at every pair, in all storages and both answers to overflow: each has to be vector code
    #[arg(long)]
    every_pair: bool,
    /// The record [default: that of this architecture].
    #[arg(long)]
    record: Option<PathBuf>,
    /// Writes the record instead of comparing with it.
    #[arg(long)]
    bless: bool,
    /// Compares sizes with those of a record that another compiler made: the share by which they may grow.
    #[arg(long, value_parser = compare::margin)]
    any_compiler: Option<f64>,
    /// The program that disassembles this one.
    #[arg(long, default_value = "objdump")]
    objdump: String,
}

#[derive(Args)]
struct ReportArgs {
    /// Result files; those of several machines stand side by side.
    #[arg(required_unless_present_any = ["counts", "checked", "options", "threads"])]
    results: Vec<PathBuf>,
    /// A folder with counts of instructions on record.
    #[arg(long)]
    counts: Option<PathBuf>,
    /// Results of `checked`, of one machine.
    #[arg(long)]
    checked: Vec<PathBuf>,
    /// Results of `options`, of one machine.
    #[arg(long)]
    options: Vec<PathBuf>,
    /// Results of `threads` and `batch`, of one machine.
    #[arg(long)]
    threads: Vec<PathBuf>,
    /// Results of peers; they are joined with the first result file that has times.
    #[arg(long)]
    peers: Vec<PathBuf>,
    /// The folder that receives `performance.md` and `performance/`.
    #[arg(short, long)]
    output: PathBuf,
}

#[derive(Args)]
struct CompareArgs {
    /// The run to compare with.
    before: PathBuf,
    /// Later runs: only what fell in all of them counts.
    #[arg(required = true)]
    after: Vec<PathBuf>,
    /// How far a fraction may fall, as a share of itself.
    #[arg(long, default_value = "10%", value_parser = compare::margin)]
    margin: f64,
}

type Sizes = &'static [Size];

fn size(text: &str) -> Result<Sizes, String> {
    Ok(match text {
        "l1" => &[Size::L1],
        "l2" => &[Size::L2],
        "dram" => &[Size::Dram],
        "n1" => &[Size::N1],
        "n7" => &[Size::N7],
        "n64" => &[Size::N64],
        "n255" => &[Size::N255],
        "small" => Size::SMALL,
        _ => return Err("sizes are l1, l2, dram, n1, n7, n64, n255, small".into()),
    })
}

fn pair(text: &str) -> Result<(Option<DType>, Option<DType>), String> {
    let (from, to) = text.split_once(':').ok_or("a pair is FROM:TO")?;
    let side = |name: &str| match name {
        "*" => Ok(None),
        name => name.parse().map(Some).map_err(|error| format!("{error}")),
    };
    Ok((side(from)?, side(to)?))
}

fn class(name: &str) -> Result<&'static Class, String> {
    let names: Vec<_> = CLASSES.iter().map(|class| class.name).collect();
    classes::by_name(name).ok_or_else(|| format!("classes are {}", names.join(", ")))
}

fn mode(name: &str) -> Result<Mode, String> {
    let all = [Mode::Only, Mode::Saturate, Mode::Wrap, Mode::Overflow];
    all.into_iter().find(|mode| mode.name() == name).ok_or("modes are only, saturate, wrap, overflow".into())
}

fn storage(name: &str) -> Result<Store, String> {
    match name {
        "byte" => Ok(Store::Byte),
        "packed" => Ok(Store::Packed),
        _ => Err("storages are byte, packed".into()),
    }
}

fn main() -> ExitCode {
    let done = match Cli::parse().command {
        Command::Run(args) => measure(args),
        Command::Checked(args) => checked(args),
        Command::Options(args) => options(args),
        Command::Costs(args) => costs(args),
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
            strided::table(pairs, &args.side, args.layout.as_deref(), budget).map(|table| print!("{table}"))
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
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("error: {message}");
            ExitCode::FAILURE
        }
    }
}

fn selection(args: &RunArgs) -> Result<Selection, String> {
    Ok(Selection {
        pairs: args.pair.clone(),
        classes: args.class.clone(),
        tiers: tiers(args.tier.clone())?,
        sizes: args.size.concat(),
        modes: args.mode.clone(),
        storages: args.storage.into_iter().collect(),
        inputs: args.inputs,
        unaligned: args.unaligned,
        budget: args.budget,
        rounds: args.rounds,
    })
}

fn measure(args: RunArgs) -> Result<(), String> {
    let results = run::run(&selection(&args)?)?;
    results.write(&args.output).map_err(|error| format!("{}: {error}", args.output.display()))?;
    print!("{}", worst::worst(&results, &Filter { count: args.n, ..Filter::default() }));
    Ok(())
}

fn checked(args: RunArgs) -> Result<(), String> {
    let mut selection = selection(&args)?;
    if selection.modes.is_empty() {
        selection.modes = checked::MODES.to_vec();
    }
    let rows = checked::run(&selection)?;
    json::write(&args.output, &rows)?;
    print!("{}", rows.table(checked::LIMIT, args.n));
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

impl From<CastArgs> for Selection {
    fn from(args: CastArgs) -> Selection {
        Selection {
            pairs: args.pair,
            classes: args.class,
            tiers: args.tier,
            modes: args.mode,
            storages: args.storage.into_iter().collect(),
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
    let results = host::count(&args.target.into(), &args.casts.into())?;
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

fn count_guest(args: CastArgs) -> Result<(), String> {
    let results = guest::run(&args.into())?;
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
    let peers: Vec<PeerResults> = read_all(&args.peers)?;
    let timed = runs.iter().find(|run| run.counting.is_none()).filter(|_| !peers.is_empty());
    let joined = timed.map(|timed| report::peers::section(timed, &peers));
    let checked: Vec<checked::Rows> = read_all(&args.checked)?;
    let options: Vec<options::Rows> = read_all(&args.options)?;
    let threads: Vec<threads::Rows> = read_all(&args.threads)?;
    let sections = joined.unwrap_or_default()
        + &checked::section(&checked)
        + &options::section(&options)
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
