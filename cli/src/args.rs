//! The command line that the program accepts. [`help`] has its help texts, and [`usage`](crate::usage) answers wrong
//! command lines.

mod check;
mod convert;
mod dequantize;
mod diff;
mod quantize;
mod scaled;
mod tasks;
pub mod values;
mod writing;

pub use check::Check;
pub use convert::Convert;
pub use dequantize::Dequantize;
pub use diff::{Diff, Limit};
pub use quantize::{Quantization, Quantize, Requantize};
pub use scaled::{Scale, Unscale};
pub use tasks::{Chosen, FinishTasks, PendingTasks, Planning, RunTasks, Tasks, TasksCommand};
pub use values::{OrderArg, StorageArg, Which};
pub use writing::Writing;

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};
use clap_complete::Shell;
use lanecast::{DType, E8M0Round, FnuzInf, Tier, onnx::ElementType, promote::Standard};
use lanecast_files::{FileFormat, formats::extensions};

use crate::{
    help,
    meant::Targets,
    options::{CastArgs, flag, fnuz_inf, format, round_mode, tier},
    terminal::ColorWhen,
};
use values::{dtype, element, standard, standard_or_all, targets};

/// Cast tensors from one numeric dtype to another, each value rounded once, the same bits on every CPU.
#[derive(Debug, Parser)]
#[command(name = "lanecast", version, arg_required_else_help = true, subcommand_required = true)]
#[command(after_help = help::program())]
pub struct Cli {
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
    /// Print no progress, no warnings and no summary, only errors; `--json` still prints its line
    #[arg(long, short, global = true, help_heading = "Everywhere")]
    pub quiet: bool,
    /// Colour help, errors and the heads of tables
    #[arg(long, value_name = "WHEN", value_enum, default_value_t = ColorWhen::Auto)]
    #[arg(global = true, help_heading = "Everywhere")]
    pub color: ColorWhen,
}

/// The subcommands.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Cast the tensors of a file
    #[command(about = about("Cast"))]
    Cast(Cast),
    /// Cast a stream of bare elements: little-endian, from files or standard input to files or standard
    /// output
    Raw(Raw),
    /// Cast a stream of bare elements or lines of text as the ONNX operator Cast or CastLike does
    OnnxCast(OnnxCast),
    /// Scale and cast a tensor of bare elements by a scheme such as mx, nvfp4 or fp8-row
    Scale(Scale),
    /// Turn codes and scales back into floats
    Unscale(Unscale),
    /// Cast the tensors of a whole checkpoint: shards, index and configuration
    Convert(Convert),
    /// Decode the weights of a quantized checkpoint, and write a plain one
    Dequantize(Dequantize),
    /// Quantize the weights of a model folder, and write one that loaders of a layout take
    Quantize(Quantize),
    /// Write a quantized model folder in another layout, with the same values
    Requantize(Requantize),
    /// Run the tasks of a plan, which `convert` and others write with --plan, on any number of machines
    Tasks(Tasks),
    /// Check a checkpoint, and whether a loader reads it
    Check(Check),
    /// Compare the values of two checkpoints, tensor by tensor
    Diff(Diff),
    /// Show which dtype two operands compute in, and which casts they need
    Promote(Promote),
    /// Print a table of all pairs of dtypes
    Table(Table),
    /// List the dtypes
    #[command(after_help = help::examples(help::DTYPES))]
    Dtypes(JsonOnly),
    /// Explain what a cast does on this CPU, stage by stage, and why
    Explain(Explain),
    /// Show which tiers (instruction sets) this CPU has, and which one is used
    #[command(after_help = help::examples(help::CPU))]
    Cpu(JsonOnly),
    /// List the tensors of a file
    #[command(about = about("List"))]
    Inspect(Inspect),
    /// Print a completion script for a shell
    Completions(Completions),
    /// Print the man page of the program, or write the pages of all subcommands
    Man(Man),
}

/// The summary of a subcommand that applies `verb` to files of any format.
fn about(verb: &str) -> String {
    format!("{verb} the tensors of a {} file", extensions("or"))
}

/// The help of an input file.
fn input_help() -> String {
    format!("The file to read: {}, recognised by its content; `-` for standard input", extensions("or"))
}

/// The arguments of `cast`.
#[derive(Debug, Args)]
#[command(after_help = help::examples(help::CAST))]
#[command(after_long_help = help::long(help::CAST, &help::cast_notes()))]
#[command(override_usage = help::CAST_USAGE)]
pub struct Cast {
    #[arg(value_name = "IN", help = input_help())]
    pub input: PathBuf,
    /// The file to write, in the format of IN
    #[arg(value_name = "OUT", required_unless_present_any = ["dry_run", "out_dir"])]
    pub output: Option<PathBuf>,
    /// With --out-dir: more files to read
    #[arg(value_name = "MORE", requires = "out_dir")]
    pub more: Vec<PathBuf>,
    /// Write the result of each IN to this folder, under the name of IN
    #[arg(long, value_name = "DIR")]
    pub out_dir: Option<PathBuf>,
    /// The dtype to cast to, see `lanecast dtypes`
    #[arg(long, value_name = "DTYPE", value_parser = dtype(), hide_possible_values = true)]
    pub to: DType,
    /// Cast only tensors of this dtype [default: all floats]; in .npy and .npz files also names the dtype of an ambiguous descriptor
    #[arg(long, value_name = "DTYPE", value_parser = dtype(), hide_possible_values = true)]
    pub from: Option<DType>,
    /// Cast only tensors (or fields) whose name matches, may be given several times [default: all]
    #[arg(long, value_name = "GLOB")]
    pub include: Vec<String>,
    /// Do not cast tensors (or fields) whose name matches, may be given several times [default: none]
    #[arg(long, value_name = "GLOB")]
    pub exclude: Vec<String>,
    /// The format of IN, and OUT, whatever their names and contents say [default: the format of the content of IN]
    #[arg(long, value_name = "NAME", value_parser = format())]
    pub format: Option<&'static dyn FileFormat>,
    /// Only print what would be done
    #[arg(long)]
    pub dry_run: bool,
    /// Cast the codes and scales of a quantized checkpoint as if they were numbers of their own, which destroys its weights
    #[arg(long)]
    pub allow_quantized: bool,
    /// The arguments shared by `cast` and `raw`.
    #[command(flatten)]
    pub common: Common,
}

/// The arguments of `raw`.
#[derive(Debug, Args)]
#[command(after_help = help::examples(help::RAW))]
#[command(after_long_help = help::long(help::RAW, help::RAW_NOTES))]
pub struct Raw {
    /// The dtype of the input
    #[arg(long, value_name = "DTYPE", value_parser = dtype(), hide_possible_values = true)]
    pub from: DType,
    /// The dtype of the output
    #[arg(long, value_name = "DTYPE", value_parser = dtype(), hide_possible_values = true)]
    pub to: DType,
    /// How elements of 2, 4 and 6 bits are stored in the input
    #[arg(long, value_name = "STORAGE", value_enum, default_value_t = StorageArg::Packed)]
    pub from_storage: StorageArg,
    /// How elements of 2, 4 and 6 bits are stored in the output
    #[arg(long, value_name = "STORAGE", value_enum, default_value_t = StorageArg::Packed)]
    pub to_storage: StorageArg,
    /// The byte order of the input
    #[arg(long, value_name = "ORDER", value_enum, default_value_t = OrderArg::Little)]
    pub from_order: OrderArg,
    /// The byte order of the output
    #[arg(long, value_name = "ORDER", value_enum, default_value_t = OrderArg::Little)]
    pub to_order: OrderArg,
    /// Cast this many elements [default: all]
    #[arg(short = 'n', value_name = "COUNT")]
    pub count: Option<u64>,
    /// The file to read, `-` for standard input [default: -]
    #[arg(value_name = "IN")]
    pub input: Option<PathBuf>,
    /// The file to write, `-` for standard output [default: -]
    #[arg(value_name = "OUT")]
    pub output: Option<PathBuf>,
    /// The arguments shared by `cast` and `raw`.
    #[command(flatten)]
    pub common: Common,
}

/// The arguments of `onnx-cast`.
#[derive(Debug, Args)]
#[command(after_help = help::examples(help::ONNX_CAST))]
#[command(after_long_help = help::long(help::ONNX_CAST, help::ONNX_CAST_NOTES))]
pub struct OnnxCast {
    /// The opset that the model imports
    #[arg(long, value_name = "VERSION")]
    pub opset: u32,
    /// The type of the input: a dtype, see `lanecast dtypes`, or string
    #[arg(long, value_name = "TYPE", value_parser = element(), hide_possible_values = true)]
    pub from: ElementType,
    /// The type of the output
    #[arg(long, value_name = "TYPE", value_parser = element(), hide_possible_values = true)]
    pub to: ElementType,
    /// CastLike instead of Cast; --to is the type of its second input
    #[arg(long)]
    pub like: bool,
    /// The attribute saturate [default: 1]
    #[arg(long, value_name = "0|1", value_parser = flag())]
    pub saturate: Option<bool>,
    /// The attribute round_mode [default: up]
    #[arg(long, value_name = "MODE", value_parser = round_mode())]
    pub round_mode: Option<E8M0Round>,
    /// Infinity in FNUZ targets that saturate: nan follows the text of opsets 19 to 23
    #[arg(long, value_name = "WHAT", value_parser = fnuz_inf(), default_value = "max")]
    pub fnuz_inf: FnuzInf,
    /// Write text without exponents
    #[arg(long)]
    pub plain: bool,
    /// Write nan, inf and -inf in text instead of NaN, INF and -INF
    #[arg(long)]
    pub lower: bool,
    /// Cast this many elements [default: all]
    #[arg(short = 'n', value_name = "COUNT")]
    pub count: Option<u64>,
    /// How OUT is written.
    #[command(flatten)]
    pub writing: Writing,
    /// Cast numbers with this instruction set [default: the best one]
    #[arg(long, value_parser = tier())]
    pub tier: Option<Tier>,
    /// The file to read, `-` for standard input [default: -]
    #[arg(value_name = "IN")]
    pub input: Option<PathBuf>,
    /// The file to write, `-` for standard output [default: -]
    #[arg(value_name = "OUT")]
    pub output: Option<PathBuf>,
}

/// The arguments shared by `cast` and `raw`.
#[derive(Debug, Args)]
pub struct Common {
    /// How OUT is written.
    #[command(flatten)]
    pub writing: Writing,
    /// Print the summary as one JSON object, on standard output (`raw` to standard output: on standard error)
    #[arg(long)]
    pub json: bool,
    /// The options of the cast itself.
    #[command(flatten)]
    pub cast: CastArgs,
}

/// The arguments of `explain`.
#[derive(Debug, Args)]
#[command(after_help = help::examples(help::EXPLAIN))]
#[command(after_long_help = help::long(help::EXPLAIN, help::EXPLAIN_NOTES))]
pub struct Explain {
    /// The dtype to cast from, see `lanecast dtypes`
    #[arg(value_name = "FROM", value_parser = dtype(), hide_possible_values = true)]
    pub from: DType,
    /// The dtype to cast to
    #[arg(value_name = "TO", value_parser = dtype(), hide_possible_values = true)]
    pub to: DType,
    /// How elements of 2, 4 and 6 bits are stored before the cast
    #[arg(long, value_name = "STORAGE", value_enum, default_value_t = StorageArg::Packed)]
    pub from_storage: StorageArg,
    /// How elements of 2, 4 and 6 bits are stored after it
    #[arg(long, value_name = "STORAGE", value_enum, default_value_t = StorageArg::Packed)]
    pub to_storage: StorageArg,
    /// The byte order before the cast
    #[arg(long, value_name = "ORDER", value_enum, default_value_t = OrderArg::Little)]
    pub from_order: OrderArg,
    /// The byte order after it
    #[arg(long, value_name = "ORDER", value_enum, default_value_t = OrderArg::Little)]
    pub to_order: OrderArg,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
    /// The options of the cast itself.
    #[command(flatten)]
    pub cast: CastArgs,
}

/// The arguments of `dtypes` and `cpu`.
#[derive(Debug, Args)]
pub struct JsonOnly {
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

/// The arguments of `inspect`.
#[derive(Debug, Args)]
#[command(after_help = help::examples(help::INSPECT))]
#[command(after_long_help = help::long(help::INSPECT, help::INSPECT_NOTES))]
pub struct Inspect {
    #[arg(value_name = "FILE", required = true, help = format!("{}; or a checkpoint: a folder, or a .gguf or PyTorch file", input_help()))]
    pub inputs: Vec<PathBuf>,
    /// The format of FILE, whatever its name and content say [default: that of its content]
    #[arg(long, value_name = "NAME", value_parser = format())]
    pub format: Option<&'static dyn FileFormat>,
    /// Read the values: minimum, maximum, mean, deviation, NaNs, infinities, zeros and subnormal numbers of each tensor
    #[arg(long)]
    pub stats: bool,
    /// Like --stats, and show what casts to these dtypes and schemes would lose; `fp8` means float8_e4m3fn and float8_e5m2
    #[arg(long, value_name = "TARGETS", value_parser = targets(), value_delimiter = ',', hide_possible_values = true)]
    pub what_if: Vec<Targets>,
    /// Like --stats, and draw how often each binary exponent occurs
    #[arg(long)]
    pub histogram: bool,
    /// List only tensors (or fields) whose name matches, may be given several times [default: all]
    #[arg(long, value_name = "GLOB")]
    pub include: Vec<String>,
    /// Do not list tensors (or fields) whose name matches, may be given several times [default: none]
    #[arg(long, value_name = "GLOB")]
    pub exclude: Vec<String>,
    /// List tensors in this order [default: the order of the file; a checkpoint as a tree]
    #[arg(long, value_name = "ORDER", value_enum)]
    pub sort: Option<Sort>,
    /// Print JSON, a line for each FILE
    #[arg(long)]
    pub json: bool,
}

/// The order of a list of tensors.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Sort {
    /// By name
    Name,
    /// The largest first
    Size,
}

/// The arguments of `completions`.
#[derive(Debug, Args)]
#[command(after_help = help::examples(help::COMPLETIONS))]
pub struct Completions {
    /// The shell
    #[arg(value_name = "SHELL", value_enum)]
    pub shell: Shell,
}

/// The arguments of `man`.
#[derive(Debug, Args)]
#[command(after_help = help::examples(help::MAN))]
pub struct Man {
    /// Write lanecast.1 and a page for each subcommand, such as lanecast-cast.1, to this folder
    #[arg(long, value_name = "DIR")]
    pub out_dir: Option<PathBuf>,
    /// Replace pages that exist
    #[arg(long, requires = "out_dir")]
    pub force: bool,
}

/// The arguments of `promote`.
#[derive(Debug, Args)]
#[command(after_help = help::examples(help::PROMOTE))]
pub struct Promote {
    /// The dtype of the left operand, see `lanecast dtypes`
    #[arg(value_name = "A", value_parser = dtype(), hide_possible_values = true)]
    pub left: DType,
    /// The dtype of the right operand
    #[arg(value_name = "B", value_parser = dtype(), hide_possible_values = true)]
    pub right: DType,
    /// The standard whose rules apply: mindspore, megengine, megengine_core, array_api, numpy, torch, jax, jax_strict, onnx, or all
    #[arg(long, value_name = "STANDARD", value_parser = standard_or_all(), hide_possible_values = true, default_value = "all")]
    pub standard: Which,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

/// The arguments of `table`.
#[derive(Debug, Args)]
#[command(after_help = help::examples(help::TABLE))]
pub struct Table {
    /// Which table.
    #[command(subcommand)]
    pub table: TableCommand,
}

/// The tables.
#[derive(Debug, Subcommand)]
pub enum TableCommand {
    /// The dtype that each pair computes in: `-` if the pair is refused, `*` after a weak dtype
    #[command(after_help = help::examples(help::TABLE_PROMOTE))]
    Promote {
        /// The standard whose rules apply: mindspore, megengine, megengine_core, array_api, numpy, torch, jax, jax_strict or onnx
        #[arg(long, value_name = "STANDARD", value_parser = standard(), hide_possible_values = true)]
        standard: Standard,
        /// How to print it
        #[arg(long, value_name = "FORMAT", value_enum, default_value_t = TableFormat::Text)]
        format: TableFormat,
    },
    /// Whether the cast of the row's dtype to the column's keeps every value: 1 or 0
    #[command(after_help = help::examples(help::TABLE_CAST))]
    Cast {
        /// How to print it
        #[arg(long, value_name = "FORMAT", value_enum, default_value_t = TableFormat::Text)]
        format: TableFormat,
    },
}

/// How a table is printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum TableFormat {
    /// Aligned columns
    Text,
    /// Markdown
    Md,
    /// Comma-separated values
    Csv,
    /// JSON
    Json,
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_definition_is_sound() {
        Cli::command().debug_assert();
    }
}
