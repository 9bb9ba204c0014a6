//! The texts of `--help`: examples, and what there is to know beyond the options. The man pages have them too.
//!
//! A test runs every example: lines of two spaces and a command, in a folder with sample files.

use std::fmt::Write;

use clap::builder::{StyledStr, styling::Style};
use lanecast_files::{FORMATS, FileFormat};

const HEADING: Style = Style::new().bold().underline();

/// The heading of the examples, which the tests and the man pages look for.
pub const EXAMPLES: &str = "Examples:";

/// The heading of the exit codes.
pub const EXIT: &str = "Exit codes:";

const EXIT_CODES: &str = "
  0  done                        4  bad file: truncated, corrupt or hostile
  2  wrong usage                 5  not supported: dtypes, tiers, kinds of files
  3  input or output failed      6  a value does not fit (--on-loss error)
  129, 130, 143  ended by SIGHUP, SIGINT, SIGTERM
  141  nobody reads the pipe that is written to";

/// What stands below the options of the program.
pub fn program() -> StyledStr {
    let mut out = examples(PROGRAM);
    let _ = write!(out, "\n\n{HEADING}{EXIT}{HEADING:#}{EXIT_CODES}");
    out
}

/// Examples below the options of a subcommand.
pub fn examples(examples: &str) -> StyledStr {
    let mut out = StyledStr::new();
    let _ = write!(out, "{HEADING}{EXAMPLES}{HEADING:#}{examples}");
    out
}

/// Examples, and what there is to know beyond them.
pub fn long(list: &str, notes: &str) -> StyledStr {
    let mut out = examples(list);
    let _ = write!(out, "\n\n{notes}");
    out
}

const PROGRAM: &str = "
  lanecast cast model.safetensors small.safetensors --to bfloat16
  lanecast inspect model.safetensors
  lanecast dtypes
  lanecast help cast";
/// The usage of `cast`.
pub const CAST_USAGE: &str = "\
lanecast cast [OPTIONS] --to <DTYPE> <IN> <OUT>
       lanecast cast [OPTIONS] --to <DTYPE> <IN>... --out-dir <DIR>";
/// Of `cast`.
pub const CAST: &str = "
  lanecast cast model.safetensors small.safetensors --to bfloat16
  lanecast cast model.safetensors fp8.safetensors --to e4m3fn --exclude '*norm*'
  lanecast cast logits.npy half.npy --to float16 --on-loss error
  lanecast cast packed.npz wide.npz --from bfloat16 --to float32
  lanecast cast model.safetensors model.onnx --to bfloat16 --out-dir small
  lanecast cast - - --to float16 < logits.npy > half.npy
  lanecast cast model.onnx half.onnx --to float16 --dry-run";
/// Of `raw`.
pub const RAW: &str = "
  lanecast raw --from float32 --to bfloat16 in.bin out.bin
  lanecast raw --from f32 --to e5m2 --profile torch < in.bin > out.bin
  lanecast raw --from bf16 --to f32 --from-order big in.bin | od -A d -t f4";
/// Of `onnx-cast`.
pub const ONNX_CAST: &str = "
  lanecast onnx-cast --opset 19 --from float32 --to float8_e4m3fn in.bin out.bin
  echo 1.5 | lanecast onnx-cast --opset 9 --from string --to float16 > out.bin
  lanecast onnx-cast --opset 24 --from float16 --to string in.bin";
/// Of `promote`.
pub const PROMOTE: &str = "
  lanecast promote int8 uint8
  lanecast promote bfloat16 int32 --standard torch";
/// Of `table`.
pub const TABLE: &str = "
  lanecast table promote --standard numpy
  lanecast table cast --format csv";
/// Of `table promote`.
pub const TABLE_PROMOTE: &str = "
  lanecast table promote --standard numpy
  lanecast table promote --standard jax --format md > jax.md";
/// Of `table cast`.
pub const TABLE_CAST: &str = "
  lanecast table cast
  lanecast table cast --format csv > lossless.csv";
/// Of `dtypes`.
pub const DTYPES: &str = "
  lanecast dtypes
  lanecast dtypes --json";
/// Of `explain`.
pub const EXPLAIN: &str = "
  lanecast explain float32 bfloat16
  lanecast explain f32 e4m3fn --profile onnx --tier scalar";
/// Of `cpu`.
pub const CPU: &str = "
  lanecast cpu
  LANECAST_TIER=scalar lanecast cpu --json";
/// Of `inspect`.
pub const INSPECT: &str = "
  lanecast inspect model.safetensors
  lanecast inspect model.onnx --json
  lanecast inspect model.safetensors --what-if bf16,fp8 --exclude '*norm*'
  lanecast inspect logits.npy --histogram";
/// Of `completions`.
pub const COMPLETIONS: &str = "
  lanecast completions bash > lanecast.bash
  lanecast completions zsh > _lanecast
  lanecast completions fish > lanecast.fish";
/// Of `man`.
pub const MAN: &str = "
  lanecast man > lanecast.1
  lanecast man --out-dir man1";

/// Beyond the options of `cast`, with a section for each file format.
pub fn cast_notes() -> String {
    let section = |format: &&dyn FileFormat| {
        let extensions: Vec<String> = format.extensions().iter().map(|name| format!(".{name}")).collect();
        format!("{} ({}):\n{}\n", format.name(), extensions.join(", "), format.help())
    };
    let sections: String = FORMATS.iter().map(section).collect();
    format!("{CAST_NOTES}\n\n{sections}{CAST_SUMMARY}")
}

const CAST_NOTES: &str = "\
The input is read in blocks and never held as a whole. The output is written to
a temporary file in its own folder, flushed to disk and renamed: it appears
complete or not at all, and replaces an existing file only with --force. A new
file has the permissions of IN, less the umask. SIGINT, SIGTERM and SIGHUP remove
the temporary file; only a killed process leaves it, `.lanecast-*.tmp`, behind.
The next one that writes to the folder names it, and removes it with --clean.

With --out-dir all files are inputs. All of them are looked at, and no two may
have the same name, before the first output is written; --json prints a line for
each. `-` is standard input, which is copied to a temporary file unless it is a
file, or standard output, for .safetensors and .npy: what is cast before an error
is written by then, and the summary is only that of --json, on standard error.

Which tensors are cast:
  By default the floating ones, complex numbers not among them; all others are
  copied. With --from, exactly those of that dtype. --include and --exclude
  narrow the choice by name, with `*`, `?`, `[a-z]`, `[!a-z]`, `{a,b}` and `\\`:
  `*` and `?` also match `.` and `/`. Members of .npz archives are named without
  `.npy`. The array of a .npy file is always cast, unless it is structured: then
  its fields are what the tensors of other files are. A pattern that matches no
  name, and a choice by --from or --include that leaves no tensor, are errors. A
  cast of nothing else says why; --dry-run and --json say it of each tensor.";

const CAST_SUMMARY: &str = "\
At the end the program prints what it did, the bytes read and written per
second, and how many values were saturated (clamped to an end of the range),
wrapped (modulo the range of an integer), overflowed to infinity, became NaN,
were NaN where the target has none, lost an imaginary part, or underflowed to
zero, as far as there were any. With --on-loss error the first value of all but
the last kind ends it. If the file cannot name the dtype that it holds now, the
summary says which --from reads it back.";

/// Beyond the options of `raw`.
pub const RAW_NOTES: &str = "\
Elements are little-endian unless --from-order or --to-order says big; a complex
number is its real part, then the imaginary one. Elements of 2, 4 and 6 bits are
packed, the first one in the lowest bits, or are one per byte; all others have
only one storage.

The count of elements is that of -n, and fewer are an error. Without -n the
input decides: it is a whole number of elements or, if packed, as many as its
bytes have room for.

`-` or nothing stands for standard input and standard output. A file OUT appears
complete or not at all.";

/// Beyond the options of `onnx-cast`.
pub const ONNX_CAST_NOTES: &str = "\
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

/// Beyond the options of `inspect`.
pub const INSPECT_NOTES: &str = "\
Each tensor is shown with its dtype, its shape, its bytes, their byte order, the
order of the axes (C: the last varies fastest), how it is compressed, and the
file that it is in if that is another one. Without the options that read values
only headers are read.

Minimum and maximum are those of the finite values. Subnormal numbers are those
below the least normal one of the dtype. The parts of a complex number count one
by one. The exponent of a number is e if it is at least 2^e and less than
2^(e+1). Values are read in blocks and never held as a whole. Fields of
structured arrays, and arrays whose descriptor does not say what they hold, have
no statistics.

What a cast would lose is counted as `lanecast cast` counts it, and besides how
many values would be inexact: rounded, and in range.";

/// Beyond the options of `explain`.
pub const EXPLAIN_NOTES: &str = "\
A cast is a route of stages: a kernel, and before and after it what storage and
byte order need. The answer is that of the plain cast, so --on-loss changes
nothing. Storage and byte order are those of `raw`: elements of 2, 4 and 6 bits
packed and all others little-endian, unless the options say otherwise.

What a route is made of differs between versions and CPUs; the bits that a cast
writes do not.";
