//! The arguments of the program, as `clap` reads them.

use crate::speed_args::{AbArgs, ChartArgs, HistoryArgs, PageArgs, StoreArgs};
use clap::{Args, Parser, Subcommand};
use lanecast::{DType, Tier};
use lanecast_bench::{
    cells::Mode,
    classes::{self, CLASSES, Class},
    compare,
    count::host,
    dimensions::Dimension,
    inputs::Inputs,
    results::{Size, Store},
};
use std::path::PathBuf;

/// Times every pair of dtypes against the memory traffic it cannot avoid.
#[derive(Parser)]
#[command(name = "lanecast-bench", version)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Subcommand)]
pub(crate) enum Command {
    /// Measures the selected cells (everything, if nothing is selected), or representative casts of other dimensions, and writes them as JSON.
    Run(RunArgs),
    /// Measures checked and counting casts beside plain ones and writes them as JSON.
    Checked(CellArgs),
    /// Measures every combination of options beside the same pair with default options and writes the ratios as JSON.
    Options(OptionsArgs),
    /// Times casts between buffers that do not begin at a cache line beside those that do; of the sizes l1, l2 and dram.
    Addresses(CellArgs),
    /// Measures the cost class of every pair on every tier and compares it with the checked-in table.
    Costs(CostsArgs),
    /// Measures small calls beside the compiler's own loop of `as`.
    Calls(CallsArgs),
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
    /// Times scaled casts: the time of pure traffic divided by that of the cast.
    Scaled(ScaledArgs),
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
    CountGuest(GuestArgs),
    /// Looks at the machine code of representative pairs: every loop has to be vector code, and to be the one on record.
    Loops(LoopsArgs),
    /// Lists the cells that are furthest from their targets.
    Worst(WorstArgs),
    /// Stores result files as a record that is small enough to be checked in.
    Store(StoreArgs),
    /// Writes the page of speeds, one HTML file, from the records.
    Page(PageArgs),
    /// Writes the chart of lanecast beside its peers, one SVG file, from the newest record that has peers.
    Chart(ChartArgs),
    /// Compares two programs by turns, or the results of several processes of each, and fails if a cell became slower.
    Ab(AbArgs),
    /// Lists the records of each machine, compares the newest with those before it and, with --check, fails if a cast became slower.
    History(HistoryArgs),
}

#[derive(Args)]
pub(crate) struct RunArgs {
    #[command(flatten)]
    pub(crate) cells: CellArgs,
    /// Measures representative casts of these dimensions instead of cells; separated by commas.
    #[arg(
        long,
        value_enum,
        value_delimiter = ',',
        conflicts_with_all = [
            "pair", "class", "tier", "size", "mode", "storage", "inputs", "unaligned", "budget", "rounds", "n"
        ]
    )]
    pub(crate) dimension: Vec<Dimension>,
    /// Takes one round of a few casts of each dimension, to see that answers are right.
    #[arg(long, requires = "dimension")]
    pub(crate) short: bool,
}

#[derive(Args)]
pub(crate) struct CellArgs {
    /// Where the results go.
    #[arg(short, long, default_value = "matrix.json")]
    pub(crate) output: PathBuf,
    /// A pair of dtypes such as `f32:bf16`, `*:f32`; may be given several times.
    #[arg(long, value_parser = pair)]
    pub(crate) pair: Vec<(Option<DType>, Option<DType>)>,
    /// A class of pairs; may be given several times.
    #[arg(long, value_parser = class)]
    pub(crate) class: Vec<&'static Class>,
    /// Tiers, separated by commas [default: all but scalar that can run here].
    #[arg(long, value_delimiter = ',')]
    pub(crate) tier: Vec<Tier>,
    /// Sizes: l1, l2, dram, n1, n7, n64, n255, or `small` for the last four, separated by commas.
    #[arg(long, value_delimiter = ',', value_parser = size, default_value = "l1,l2,dram,small")]
    pub(crate) size: Vec<Sizes>,
    /// Only this mode (only, saturate, wrap, overflow).
    #[arg(long, value_parser = mode)]
    pub(crate) mode: Vec<Mode>,
    /// Only pairs in byte storage, or only pairs with a packed side.
    #[arg(long, value_parser = storage)]
    pub(crate) storage: Option<Store>,
    /// What the sources hold.
    #[arg(long, value_enum, default_value_t)]
    pub(crate) inputs: Inputs,
    /// Both buffers one element off their alignment.
    #[arg(long)]
    pub(crate) unaligned: bool,
    /// Milliseconds per cell instead of the size's own.
    #[arg(long)]
    pub(crate) budget: Option<u64>,
    /// Rounds per cell instead of as many as the budget holds.
    #[arg(long)]
    pub(crate) rounds: Option<usize>,
    /// Lists this many of the worst cells at the end.
    #[arg(short, long, default_value_t = 20)]
    pub(crate) n: usize,
}

#[derive(Args)]
pub(crate) struct OptionsArgs {
    /// Where the results go.
    #[arg(short, long, default_value = "options.json")]
    pub(crate) output: PathBuf,
    /// A pair of dtypes such as `f32:bf16`, `*:f32`; may be given several times.
    #[arg(long, value_parser = pair)]
    pub(crate) pair: Vec<(Option<DType>, Option<DType>)>,
    /// Tiers, separated by commas [default: all that can run here but the scalar one].
    #[arg(long, value_delimiter = ',')]
    pub(crate) tier: Vec<Tier>,
    /// Only pairs in byte storage, or only pairs with a packed side.
    #[arg(long, value_parser = storage)]
    pub(crate) storage: Option<Store>,
    /// Only combinations with this in their names: `float-round`, `saturate=off`; of several, all.
    #[arg(long)]
    pub(crate) option: Vec<String>,
    /// What the sources hold.
    #[arg(long, value_enum, default_value_t)]
    pub(crate) inputs: Inputs,
    /// Measures a sample of the combinations in few rounds.
    #[arg(long)]
    pub(crate) quick: bool,
    /// Rounds per pair.
    #[arg(long)]
    pub(crate) rounds: Option<usize>,
    /// Lists this many of the worst combinations of each tier.
    #[arg(short, long, default_value_t = 20)]
    pub(crate) n: usize,
}

#[derive(Args)]
pub(crate) struct CallsArgs {
    /// Tiers, separated by commas [default: all that can run here but the scalar one].
    #[arg(long, value_delimiter = ',')]
    pub(crate) tier: Vec<Tier>,
    /// Lists this many of the cells that are furthest behind the loop of `as`.
    #[arg(short, long, default_value_t = 20)]
    pub(crate) n: usize,
}

#[derive(Args)]
pub(crate) struct CostsArgs {
    /// Tiers, separated by commas [default: all that can run here].
    #[arg(long, value_delimiter = ',')]
    pub(crate) tier: Vec<Tier>,
    /// Rewrites the blocks of these tiers in the table. A class that is near to what is measured stays as it is.
    #[arg(long)]
    pub(crate) bless: bool,
    /// Measures in few passes.
    #[arg(long)]
    pub(crate) quick: bool,
    /// Passes over all casts.
    #[arg(long)]
    pub(crate) passes: Option<usize>,
    /// The table.
    #[arg(long, default_value = "kernels/src/table/cost/classes.txt")]
    pub(crate) table: PathBuf,
    /// Lists this many of the pairs of each tier that differ most from the table.
    #[arg(short, long, default_value_t = 10)]
    pub(crate) n: usize,
}

/// Which casts are counted.
#[derive(Args)]
pub(crate) struct CastArgs {
    /// A pair of dtypes such as `f32:bf16`, `*:f32`; may be given several times.
    #[arg(long, value_parser = pair)]
    pub(crate) pair: Vec<(Option<DType>, Option<DType>)>,
    /// A class of pairs; may be given several times.
    #[arg(long, value_parser = class)]
    pub(crate) class: Vec<&'static Class>,
    /// Tiers, separated by commas [default: all that the emulated CPU has].
    #[arg(long, value_delimiter = ',')]
    pub(crate) tier: Vec<Tier>,
    /// Only this mode (only, saturate, wrap, overflow).
    #[arg(long, value_parser = mode)]
    pub(crate) mode: Vec<Mode>,
    /// Only pairs in byte storage, or only pairs with a packed side.
    #[arg(long, value_parser = storage)]
    pub(crate) storage: Option<Store>,
    /// Only scaled casts, by schemes with this in their names.
    #[arg(long, conflicts_with_all = ["pair", "class", "mode", "storage"])]
    pub(crate) scheme: Option<String>,
}

/// What the counted program runs.
#[derive(Args)]
pub(crate) struct GuestArgs {
    #[command(flatten)]
    pub(crate) casts: CastArgs,
    /// Plain casts of fewer elements.
    #[arg(long)]
    pub(crate) shorter: bool,
}

/// What is emulated.
#[derive(Args)]
pub(crate) struct TargetArgs {
    /// The target triple.
    #[arg(long, default_value = host::HOST)]
    pub(crate) target: String,
    /// The CPU for QEMU's `-cpu` [default: all that it knows; on x86 without the fast `rep movsb`].
    #[arg(long)]
    pub(crate) cpu: Option<String>,
}

#[derive(Args)]
pub(crate) struct CountArgs {
    #[command(flatten)]
    pub(crate) target: TargetArgs,
    #[command(flatten)]
    pub(crate) casts: CastArgs,
    /// Where the results go.
    #[arg(short, long, default_value = "counts.json")]
    pub(crate) output: PathBuf,
}

#[derive(Args)]
pub(crate) struct GateArgs {
    #[command(flatten)]
    pub(crate) target: TargetArgs,
    #[command(flatten)]
    pub(crate) casts: CastArgs,
    /// A result file of `count`; nothing is counted then.
    #[arg(long, conflicts_with_all = ["target", "cpu", "pair", "class", "tier", "mode", "storage", "scheme"])]
    pub(crate) results: Option<PathBuf>,
    /// The folder with the records.
    #[arg(long, default_value = "benches/matrix/counts")]
    pub(crate) record: PathBuf,
    /// How far a count may grow, as a share of itself.
    #[arg(long, default_value = "2%", value_parser = compare::margin)]
    pub(crate) margin: f64,
    /// Compares with the record of another compiler, too.
    #[arg(long)]
    pub(crate) any_compiler: bool,
    /// Writes the record of the target instead of comparing with it.
    #[arg(long, conflicts_with_all = ["pair", "class", "mode", "storage", "scheme"])]
    pub(crate) bless: bool,
}

#[derive(Args)]
pub(crate) struct WorstArgs {
    /// A result file.
    pub(crate) results: PathBuf,
    /// Only this class.
    #[arg(long)]
    pub(crate) class: Option<String>,
    /// Only this tier.
    #[arg(long)]
    pub(crate) tier: Option<String>,
    /// Only this size.
    #[arg(long, value_enum)]
    pub(crate) size: Option<Size>,
    /// How many.
    #[arg(short, long, default_value_t = 40)]
    pub(crate) n: usize,
}

#[derive(Args)]
pub(crate) struct LimitsArgs {
    /// Tiers, separated by commas [default: all that can run here].
    #[arg(long, value_delimiter = ',')]
    pub(crate) tier: Vec<Tier>,
    /// Footprints in KiB, separated by commas.
    #[arg(long, value_delimiter = ',', default_value = "24,512,131072")]
    pub(crate) kib: Vec<usize>,
}

#[derive(Args)]
pub(crate) struct TextArgs {
    /// Only this dtype.
    pub(crate) dtype: Option<DType>,
    /// Milliseconds per row.
    #[arg(long, default_value_t = 1000)]
    pub(crate) budget: u64,
}

#[derive(Args)]
pub(crate) struct ScaledArgs {
    /// Where the results go as JSON, for `store`.
    #[arg(short, long)]
    pub(crate) output: Option<PathBuf>,
    /// Thousands of elements, separated by commas: some of the second cache, and some of memory.
    #[arg(long, value_delimiter = ',', default_value = "96,32768")]
    pub(crate) kilo: Vec<usize>,
    /// Only this tier; may be given several times [default: all that can run here but the scalar one].
    #[arg(long)]
    pub(crate) tier: Vec<Tier>,
    /// Only schemes with this in their names.
    #[arg(long)]
    pub(crate) scheme: Option<String>,
    /// Milliseconds per row.
    #[arg(long, default_value_t = 300)]
    pub(crate) budget: u64,
}

#[derive(Args)]
pub(crate) struct StridedArgs {
    /// Where the results go as JSON, for `store`.
    #[arg(short, long, conflicts_with = "losses")]
    pub(crate) output: Option<PathBuf>,
    /// A pair of dtypes such as `f32:f16`; may be given several times [default: five pairs].
    #[arg(long, value_parser = pair)]
    pub(crate) pair: Vec<(Option<DType>, Option<DType>)>,
    /// Sides of the square that has as many elements, separated by commas.
    #[arg(long, value_delimiter = ',', default_value = "256,4096")]
    pub(crate) side: Vec<usize>,
    /// Only layouts with this in their names.
    #[arg(long)]
    pub(crate) layout: Option<String>,
    /// Measures casts that detect losses beside plain ones of the same views, with such values.
    #[arg(long, value_enum)]
    pub(crate) losses: Option<Inputs>,
    /// Milliseconds per row.
    #[arg(long, default_value_t = 500)]
    pub(crate) budget: u64,
}

#[derive(Args)]
pub(crate) struct ThreadsArgs {
    /// Where the results go.
    #[arg(short, long, default_value = "threads.json")]
    pub(crate) output: PathBuf,
    /// Bytes of source and destination in KiB, separated by commas.
    #[arg(long, value_delimiter = ',', default_value = "16,64,256,512,1024,2048,4096,8192,16384,65536")]
    pub(crate) kib: Vec<usize>,
}

#[derive(Args)]
pub(crate) struct BatchArgs {
    /// Where the results go.
    #[arg(short, long, default_value = "batch.json")]
    pub(crate) output: PathBuf,
    /// MiB of all sources and destinations; halved until the memory suffices.
    #[arg(long, default_value_t = 1024)]
    pub(crate) mib: usize,
    /// Tensors.
    #[arg(long, default_value_t = 2000)]
    pub(crate) tensors: usize,
}

#[derive(Args)]
pub(crate) struct LoopsArgs {
    /// Looks at every pair, in all storages and both answers to overflow: each has to be vector code
    #[arg(long)]
    pub(crate) every_pair: bool,
    /// The record [default: that of this architecture].
    #[arg(long)]
    pub(crate) record: Option<PathBuf>,
    /// Writes the record instead of comparing with it.
    #[arg(long)]
    pub(crate) bless: bool,
    /// Compares sizes with those of a record that another compiler made: the share by which they may grow.
    #[arg(long, value_parser = compare::margin)]
    pub(crate) any_compiler: Option<f64>,
    /// The program that disassembles this one.
    #[arg(long, default_value = "objdump")]
    pub(crate) objdump: String,
}

#[derive(Args)]
pub(crate) struct ReportArgs {
    /// Result files; those of several machines stand side by side.
    #[arg(required_unless_present_any = ["counts", "checked", "options", "threads"])]
    pub(crate) results: Vec<PathBuf>,
    /// A folder with counts of instructions on record.
    #[arg(long)]
    pub(crate) counts: Option<PathBuf>,
    /// Results of `checked`, of one machine.
    #[arg(long)]
    pub(crate) checked: Vec<PathBuf>,
    /// Results of `addresses`.
    #[arg(long)]
    pub(crate) addresses: Vec<PathBuf>,
    /// Results of `options`, of one machine.
    #[arg(long)]
    pub(crate) options: Vec<PathBuf>,
    /// Results of `threads` and `batch`, of one machine.
    #[arg(long)]
    pub(crate) threads: Vec<PathBuf>,
    /// Results of peers; they are joined with the first result file that has times.
    #[arg(long)]
    pub(crate) peers: Vec<PathBuf>,
    /// The folder that receives `performance.md` and `performance/`.
    #[arg(short, long)]
    pub(crate) output: PathBuf,
}

#[derive(Args)]
pub(crate) struct CompareArgs {
    /// The run to compare with.
    pub(crate) before: PathBuf,
    /// Later runs: only what fell in all of them counts.
    #[arg(required = true)]
    pub(crate) after: Vec<PathBuf>,
    /// How far a fraction may fall, as a share of itself.
    #[arg(long, default_value = "10%", value_parser = compare::margin)]
    pub(crate) margin: f64,
}

pub(crate) type Sizes = &'static [Size];

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
