//! The command line: what the program accepts, and the one line it answers when it does not.

use std::{io, io::Write, path::PathBuf};

use clap::{Args, Parser, Subcommand, ValueEnum, error::ErrorKind};
use lanecast::{ByteOrder, DType, E8M0Round, FnuzInf, Storage, Tier, onnx::ElementType, promote::Standard};
use lanecast_files::{FORMATS, FileFormat, formats::extensions};

use crate::{
    error::{Failure, Result},
    options::{CastArgs, flag, fnuz_inf, format, round_mode, tier},
};

/// Cast tensors from one numeric dtype to another, each value rounded once, the same bits on every CPU.
#[derive(Debug, Parser)]
#[command(name = "lanecast", version, arg_required_else_help = true, subcommand_required = true)]
#[command(
    after_help = "Exit codes: 0 done, 2 wrong usage, 3 input or output failed, 4 bad file, 5 not supported, 6 a value does not fit (--on-loss error)."
)]
pub struct Cli {
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
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
    /// Say which dtype two operands compute in, and which casts they need
    Promote(Promote),
    /// Print a table of all pairs of dtypes
    Table(Table),
    /// List the dtypes
    Dtypes(JsonOnly),
    /// Say what a cast does on this CPU, stage by stage, and why
    Explain(Explain),
    /// Say which tiers (instruction sets) this CPU has, and which one is used
    Cpu(JsonOnly),
    /// List the tensors of a file
    #[command(about = about("List"))]
    Inspect(Inspect),
}

const CAST_HELP: &str = "\
The input is read in blocks and never held as a whole. The output is written to
a temporary file in its own folder, flushed to disk and renamed: it appears
complete or not at all, and replaces an existing file only with --force. A
process that is killed leaves the temporary file `.lanecast-*.tmp` behind.

Which tensors are cast:
  By default the floating ones, complex numbers not among them; all others are
  copied. With --from, exactly those of that dtype. --include and --exclude
  narrow the choice by name: `*` and `?` also match `.` and `/`; members of .npz
  archives are named without `.npy`. The array of a .npy file is always cast,
  unless it is structured: then its fields are what the tensors of other files are.";

const CAST_SUMMARY: &str = "\
At the end the program prints what it did, the bytes read and written per
second, and how many values were saturated (clamped to an end of the range),
wrapped (modulo the range of an integer), overflowed to infinity, became NaN,
were NaN where the target has none, lost an imaginary part, or underflowed to
zero. With --on-loss error the first value of all but the last kind ends it.";

/// The help of `cast`, with a section for each file format.
fn cast_help() -> String {
    let section = |format: &&dyn FileFormat| {
        let extensions: Vec<String> = format.extensions().iter().map(|name| format!(".{name}")).collect();
        format!("{} ({}):\n{}\n", format.name(), extensions.join(", "), format.help())
    };
    let sections: String = FORMATS.iter().map(section).collect();
    format!("{CAST_HELP}\n\n{sections}{CAST_SUMMARY}")
}

/// What a subcommand does with the files of all formats.
fn about(verb: &str) -> String {
    format!("{verb} the tensors of a {} file", extensions("or"))
}

/// The help of an input file.
fn input_help() -> String {
    format!("The file to read: {}, recognised by its content", extensions("or"))
}

/// The arguments of `cast`.
#[derive(Debug, Args)]
#[command(after_long_help = cast_help())]
pub struct Cast {
    #[arg(value_name = "IN", help = input_help())]
    pub input: PathBuf,
    /// The file to write, of the same kind
    #[arg(value_name = "OUT", required_unless_present = "dry_run")]
    pub output: Option<PathBuf>,
    /// The dtype to cast to, see `lanecast dtypes`
    #[arg(long, value_name = "DTYPE", value_parser = dtype)]
    pub to: DType,
    /// Cast only tensors of this dtype; for .npy and .npz also what a descriptor that does not say it holds
    #[arg(long, value_name = "DTYPE", value_parser = dtype)]
    pub from: Option<DType>,
    /// Cast only tensors (or fields) whose name matches, may be given several times
    #[arg(long, value_name = "GLOB")]
    pub include: Vec<String>,
    /// Do not cast tensors (or fields) whose name matches, may be given several times
    #[arg(long, value_name = "GLOB")]
    pub exclude: Vec<String>,
    /// The format of IN, and OUT, whatever their names and contents say
    #[arg(long, value_name = "NAME", value_parser = format())]
    pub format: Option<&'static dyn FileFormat>,
    /// Only say what would be done
    #[arg(long)]
    pub dry_run: bool,
    /// What is common to `cast` and `raw`.
    #[command(flatten)]
    pub common: Common,
}

const RAW_HELP: &str = "\
Elements are little-endian unless --from-order or --to-order says big; a complex
number is its real part, then the imaginary one. Elements of 2, 4 and 6 bits are packed, the first one in the
lowest bits, or stand one per byte; all others have only one storage.

The count of elements is that of -n, and fewer are an error. Without -n the
input decides: it is a whole number of elements or, if packed, as many as its
bytes have room for.

`-` or nothing stands for standard input and standard output. A file OUT appears
complete or not at all.";

/// The arguments of `raw`.
#[derive(Debug, Args)]
#[command(after_long_help = RAW_HELP)]
pub struct Raw {
    /// The dtype of the input
    #[arg(long, value_name = "DTYPE", value_parser = dtype)]
    pub from: DType,
    /// The dtype of the output
    #[arg(long, value_name = "DTYPE", value_parser = dtype)]
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
    /// Cast this many elements
    #[arg(short = 'n', value_name = "COUNT")]
    pub count: Option<u64>,
    /// The file to read, `-` for standard input
    #[arg(value_name = "IN")]
    pub input: Option<PathBuf>,
    /// The file to write, `-` for standard output
    #[arg(value_name = "OUT")]
    pub output: Option<PathBuf>,
    /// What is common to `cast` and `raw`.
    #[command(flatten)]
    pub common: Common,
}

const ONNX_CAST_HELP: &str = "\
The version of the operator is the one in force in the opset; types and
attributes that it does not have are refused. What it leaves open is answered as
by `lanecast raw --profile onnx`.

Numbers are those of `raw_data` in a TensorProto: little-endian, elements of 2, 4
and 6 bits packed, the first one in the lowest bits. Text is one element per
line, which ends with a newline.

The count of elements is that of -n, and fewer are an error. Without -n the
input decides: it is a whole number of elements or, if packed, as many as its
bytes have room for.

`-` or nothing stands for standard input and standard output. A file OUT appears
complete or not at all.";

/// The arguments of `onnx-cast`.
#[derive(Debug, Args)]
#[command(after_long_help = ONNX_CAST_HELP)]
pub struct OnnxCast {
    /// The opset that the model imports
    #[arg(long, value_name = "VERSION")]
    pub opset: u32,
    /// The type of the input: a dtype, see `lanecast dtypes`, or string
    #[arg(long, value_name = "TYPE", value_parser = element)]
    pub from: ElementType,
    /// The type of the output
    #[arg(long, value_name = "TYPE", value_parser = element)]
    pub to: ElementType,
    /// CastLike instead of Cast; --to is the type of its second input
    #[arg(long)]
    pub like: bool,
    /// The attribute saturate
    #[arg(long, value_name = "0|1", value_parser = flag())]
    pub saturate: Option<bool>,
    /// The attribute round_mode
    #[arg(long, value_name = "MODE", value_parser = round_mode())]
    pub round_mode: Option<E8M0Round>,
    /// Infinity in FNUZ targets that saturate: nan is the text of opsets 19 to 23
    #[arg(long, value_name = "WHAT", value_parser = fnuz_inf(), default_value = "max")]
    pub fnuz_inf: FnuzInf,
    /// Text never has an exponent
    #[arg(long)]
    pub plain: bool,
    /// Text has nan, inf and -inf instead of NaN, INF and -INF
    #[arg(long)]
    pub lower: bool,
    /// Cast this many elements
    #[arg(short = 'n', value_name = "COUNT")]
    pub count: Option<u64>,
    /// Replace OUT if it exists
    #[arg(long)]
    pub force: bool,
    /// Cast numbers with this instruction set instead of the best one
    #[arg(long, value_parser = tier())]
    pub tier: Option<Tier>,
    /// The file to read, `-` for standard input
    #[arg(value_name = "IN")]
    pub input: Option<PathBuf>,
    /// The file to write, `-` for standard output
    #[arg(value_name = "OUT")]
    pub output: Option<PathBuf>,
}

/// What `cast` and `raw` have in common.
#[derive(Debug, Args)]
pub struct Common {
    /// Replace OUT if it exists
    #[arg(long)]
    pub force: bool,
    /// Print the summary as one JSON object, on standard output (`raw` to standard output: on standard error)
    #[arg(long)]
    pub json: bool,
    /// The options of the cast itself.
    #[command(flatten)]
    pub cast: CastArgs,
}

const EXPLAIN_HELP: &str = "\
A cast is a route of stages: a kernel, and before and after it what storage and
byte order need. The answer is that of the plain cast, so --on-loss changes
nothing. Storage and byte order are those of `raw`: elements of 2, 4 and 6 bits
packed and all others little-endian, unless the options say otherwise.

What a route is made of differs between versions and CPUs; the bits that a cast
writes do not.";

/// The arguments of `explain`.
#[derive(Debug, Args)]
#[command(after_long_help = EXPLAIN_HELP)]
pub struct Explain {
    /// The dtype to cast from, see `lanecast dtypes`
    #[arg(value_name = "FROM", value_parser = dtype)]
    pub from: DType,
    /// The dtype to cast to
    #[arg(value_name = "TO", value_parser = dtype)]
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
pub struct Inspect {
    #[arg(value_name = "FILE", help = input_help())]
    pub input: PathBuf,
    /// The format of FILE, whatever its name and content say
    #[arg(long, value_name = "NAME", value_parser = format())]
    pub format: Option<&'static dyn FileFormat>,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

/// The arguments of `promote`.
#[derive(Debug, Args)]
pub struct Promote {
    /// The dtype of the left operand, see `lanecast dtypes`
    #[arg(value_name = "A", value_parser = dtype)]
    pub left: DType,
    /// The dtype of the right operand
    #[arg(value_name = "B", value_parser = dtype)]
    pub right: DType,
    /// Whose rules: mindspore, megengine, megengine_core, array_api, numpy, torch, jax, jax_strict, onnx, or all
    #[arg(long, value_name = "STANDARD", value_parser = standard_or_all, default_value = "all")]
    pub standard: Which,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

/// One standard or all of them.
#[derive(Clone, Copy, Debug)]
pub enum Which {
    /// All.
    All,
    /// This one.
    One(Standard),
}

/// The arguments of `table`.
#[derive(Debug, Args)]
pub struct Table {
    /// Which table.
    #[command(subcommand)]
    pub table: TableCommand,
}

/// The tables.
#[derive(Debug, Subcommand)]
pub enum TableCommand {
    /// The dtype that each pair computes in: `-` if the pair is refused, `*` after a weak one
    Promote {
        /// Whose rules: mindspore, megengine, megengine_core, array_api, numpy, torch, jax, jax_strict or onnx
        #[arg(long, value_name = "STANDARD", value_parser = standard)]
        standard: Standard,
        /// How to print it
        #[arg(long, value_name = "FORMAT", value_enum, default_value_t = TableFormat::Text)]
        format: TableFormat,
    },
    /// Whether the cast of the row's dtype to the column's keeps every value: 1 or 0
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

/// How elements of less than a byte are stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum StorageArg {
    /// Several elements share a byte
    Packed,
    /// One element per byte
    Byte,
}

impl From<StorageArg> for Storage {
    fn from(storage: StorageArg) -> Self {
        match storage {
            StorageArg::Packed => Storage::Packed,
            StorageArg::Byte => Storage::Byte,
        }
    }
}

/// Which byte of an element comes first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum OrderArg {
    /// The lowest
    Little,
    /// The highest
    Big,
}

impl From<OrderArg> for ByteOrder {
    fn from(order: OrderArg) -> Self {
        match order {
            OrderArg::Little => ByteOrder::Little,
            OrderArg::Big => ByteOrder::Big,
        }
    }
}

fn dtype(name: &str) -> std::result::Result<DType, String> {
    name.parse::<DType>().map_err(|unknown| unknown.to_string())
}

fn element(name: &str) -> std::result::Result<ElementType, String> {
    if name.eq_ignore_ascii_case("string") {
        return Ok(ElementType::String);
    }
    dtype(name).map(ElementType::Number)
}

fn standard(name: &str) -> std::result::Result<Standard, String> {
    name.parse::<Standard>().map_err(|unknown| unknown.to_string())
}

fn standard_or_all(name: &str) -> std::result::Result<Which, String> {
    if name.eq_ignore_ascii_case("all") { Ok(Which::All) } else { standard(name).map(Which::One) }
}

/// What to answer when the command line asked for help or is wrong.
pub fn answer(error: &clap::Error) -> Result<()> {
    match error.kind() {
        ErrorKind::DisplayHelp | ErrorKind::DisplayVersion => {
            error.print().and_then(|()| io::stdout().flush()).map_err(|e| Failure::writing(&e))
        }
        ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand | ErrorKind::MissingSubcommand => {
            Err(Failure::usage("no subcommand").advise("see `lanecast --help`"))
        }
        _ => {
            // The message is the first paragraph, `error: ...`; tips and usage follow it.
            let text = error.to_string();
            let words: Vec<&str> = text.lines().take_while(|line| !line.is_empty()).map(str::trim).collect();
            let message = words.join(" ");
            Err(Failure::usage(message.trim_start_matches("error: ")).advise("see `lanecast --help`"))
        }
    }
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
