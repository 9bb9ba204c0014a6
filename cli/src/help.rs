//! The texts of `--help` besides the options: examples and notes. The man pages have them too.
//!
//! A test runs every example, a line of two spaces and a command, in a folder with sample files.

mod checkpoints;

use std::fmt::Write;

use clap::builder::{StyledStr, styling::Style};
use lanecast_files::{FORMATS, FileFormat};

pub use checkpoints::*;

const HEADING: Style = Style::new().bold().underline();

/// The heading of the examples, which the tests and the man pages look for.
pub const EXAMPLES: &str = "Examples:";

/// The heading of the exit codes.
pub const EXIT: &str = "Exit codes:";

const EXIT_CODES: &str = "
  0  done                        4  bad file: truncated, corrupt or hostile
  1  findings of check and diff  5  not supported: dtypes, tiers, kinds of files,
  2  wrong usage                    plain casts of quantized checkpoints
  3  input or output failed
                                 6  a value is lost that --on-loss or
                                    --max-underflow does not allow
  129, 130, 143  ended by SIGHUP, SIGINT, SIGTERM
  141  the reader closed the output pipe";

/// The text below the options of the program: examples and exit codes.
pub fn program() -> StyledStr {
    let mut out = examples(PROGRAM);
    let _ = write!(out, "\n\n{HEADING}{EXIT}{HEADING:#}{EXIT_CODES}");
    out
}

/// The text below the options of a subcommand: examples.
pub fn examples(examples: &str) -> StyledStr {
    let mut out = StyledStr::new();
    let _ = write!(out, "{HEADING}{EXAMPLES}{HEADING:#}{examples}");
    out
}

/// The text below the options of a subcommand: examples and notes.
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
/// The examples of `cast`.
pub const CAST: &str = "
  lanecast cast model.safetensors small.safetensors --to bfloat16
  lanecast cast model.safetensors fp8.safetensors --to e4m3fn --exclude '*norm*'
  lanecast cast logits.npy half.npy --to float16 --on-loss error
  lanecast cast logits.npy half.npy --to float16 --max-underflow 1%
  lanecast cast packed.npz wide.npz --from bfloat16 --to float32
  lanecast cast model.safetensors model.onnx --to bfloat16 --out-dir small
  lanecast cast - - --to float16 < logits.npy > half.npy
  lanecast cast model.onnx half.onnx --to float16 --dry-run";
/// The examples of `raw`.
pub const RAW: &str = "
  lanecast raw --from float32 --to bfloat16 in.bin out.bin
  lanecast raw --from f32 --to e5m2 --profile torch < in.bin > out.bin
  lanecast raw --from bf16 --to f32 --from-order big in.bin | od -A d -t f4";
/// The examples of `onnx-cast`.
pub const ONNX_CAST: &str = "
  lanecast onnx-cast --opset 19 --from float32 --to float8_e4m3fn in.bin out.bin
  echo 1.5 | lanecast onnx-cast --opset 9 --from string --to float16 > out.bin
  lanecast onnx-cast --opset 24 --from float16 --to string in.bin";
/// The examples of `scale`.
pub const SCALE: &str = "
  lanecast scale --scheme fp8-row logits.npy --data fp8.safetensors
  lanecast scale --scheme mx --from f32 --shape 4 in.bin --data d --scales s";
/// The examples of `unscale`.
pub const UNSCALE: &str = "
  lanecast unscale --scheme mx --to f32 --shape 4 --data c --scales e out.bin";
/// The examples of `promote`.
pub const PROMOTE: &str = "
  lanecast promote int8 uint8
  lanecast promote bfloat16 int32 --standard torch";
/// The examples of `table`.
pub const TABLE: &str = "
  lanecast table promote --standard numpy
  lanecast table cast --format csv";
/// The examples of `table promote`.
pub const TABLE_PROMOTE: &str = "
  lanecast table promote --standard numpy
  lanecast table promote --standard jax --format md > jax.md";
/// The examples of `table cast`.
pub const TABLE_CAST: &str = "
  lanecast table cast
  lanecast table cast --format csv > lossless.csv";
/// The examples of `dtypes`.
pub const DTYPES: &str = "
  lanecast dtypes
  lanecast dtypes --json";
/// The examples of `explain`.
pub const EXPLAIN: &str = "
  lanecast explain float32 bfloat16
  lanecast explain f32 e4m3fn --profile onnx --tier scalar";
/// The examples of `cpu`.
pub const CPU: &str = "
  lanecast cpu
  LANECAST_TIER=scalar lanecast cpu --json";
/// The examples of `inspect`.
pub const INSPECT: &str = "
  lanecast inspect model.safetensors
  lanecast inspect model.onnx --json
  lanecast inspect model.safetensors --what-if bf16,fp8 --exclude '*norm*'
  lanecast inspect logits.npy --histogram
  lanecast inspect model-fp8
  lanecast inspect model-fp8 --what-if nvfp4,mx,int8-row,bf16
  lanecast inspect model-q4.gguf --stats
  lanecast inspect - --what-if nvfp4,mx < logits.npy";
/// The examples of `completions`.
pub const COMPLETIONS: &str = "
  lanecast completions bash > lanecast.bash
  lanecast completions zsh > _lanecast
  lanecast completions fish > lanecast.fish";
/// The examples of `man`.
pub const MAN: &str = "
  lanecast man > lanecast.1
  lanecast man --out-dir man1";

/// The notes of `cast`, with a section for each file format.
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
the temporary file; only a killed process leaves it behind, as `.lanecast-*.tmp`.
The next run that writes to the folder reports it, or removes it with --clean.

With --out-dir all files are inputs. Before the first output is written, the
headers of all inputs are read, and no two inputs may have the same name. --json
prints a line for each. `-` is standard input, which is copied to a temporary
file unless it is a file, or standard output, for .safetensors and .npy. Other
pipes, such as those of `<(...)`, are read like standard input. On
standard output, data cast before an error is already written, and the only
summary is that of --json, on standard error.

Which tensors are cast:
  By default all floats, without complex numbers; all other tensors are copied.
  With --from, exactly those of that dtype. --include and --exclude narrow the
  selection by name, with `*`, `?`, `[a-z]`, `[!a-z]`, `{a,b}` and `\\`; `*` and
  `?` also match `.` and `/`. Members of .npz archives are named without `.npy`.
  The array of a .npy file is always cast, unless it is structured: then its
  fields are treated as tensors. It is an error if a pattern matches no name, or
  if --from or --include selects no tensor. If no tensor is cast for another
  reason, the summary says why; --dry-run and --json say it for each tensor.

Quantized checkpoints:
  Codes and scales of quantized weights, in tensors such as weight_scale_inv,
  weight_packed, qweight or *_blocks, mean nothing alone, so a cast of them is
  refused. They are recognised by names and dtypes, and by the quantization in
  the config.json beside IN. `lanecast dequantize` decodes them;
  --allow-quantized casts them nevertheless.";

const CAST_SUMMARY: &str = "\
At the end the program prints what it did, the bytes read and written per
second, and, where there were any, how many values were saturated (clamped to an
end of the range), wrapped (modulo the range of an integer), overflowed to
infinity, became NaN, were NaN where the target has none, lost an imaginary
part, or underflowed to zero: they were not zero, and are zero in the output.
--on-loss error ends the cast at the first such value except an underflow,
--on-loss underflow at an underflow, too, and --on-loss exact also at a value
that is only rounded. --max-underflow ends it after a tensor of which a larger
part of the elements underflowed. A warning names a tensor of which a tenth or
more did, if they are at least ten: it probably needs scales, which `lanecast
scale` makes. If the output cannot name the dtype that it holds, the summary says
which --from reads it back.";

/// The notes of `raw`.
pub const RAW_NOTES: &str = "\
Elements are little-endian unless --from-order or --to-order says big; a complex
number is its real part, then the imaginary one. Elements of 2, 4 and 6 bits are
packed, the first one in the lowest bits, or are one per byte; all others have
only one storage.

-n gives the number of elements; it is an error if the input has fewer. Without
-n the input decides: it must be a whole number of elements or, if packed, has
as many as fit in its bytes.

`-` or no argument means standard input and standard output. A file OUT appears
complete or not at all.";

/// The notes of `onnx-cast`.
pub const ONNX_CAST_NOTES: &str = "\
The operator has the version that is in force in the opset; types and attributes
that this version does not have are refused. Where the operator leaves a result
open, it is that of `lanecast raw --profile onnx`.

Numbers are stored as in `raw_data` of a TensorProto: little-endian, elements of
2, 4 and 6 bits packed, the first one in the lowest bits. Text has one element
per line, which ends with a newline.

-n gives the number of elements; it is an error if the input has fewer. Without
-n the input decides: it must be a whole number of elements or, if packed, has
as many as fit in its bytes.

`-` or no argument means standard input and standard output. A file OUT appears
complete or not at all.";

/// The notes of `scale`.
pub const SCALE_NOTES: &str = "\
Each element is divided by the scale of its block and rounded once: to the code
that is nearest to the exact quotient by the scale that is written. The schemes,
which docs/scaled.md specifies:

  mx, mx-ocp, mx-even, mx-ceil: blocks of 32 along the last axis and scales that
    are powers of two (float8_e8m0fnu). mx clips nothing; mx-ocp is the rule of
    the standard. --to is float8_e4m3fn, float8_e5m2, float6_e3m2fn,
    float6_e2m3fn, float4_e2m1fn or int8 in the standard. Other integers work, too:
    all but two of their bits are behind the point (six of int8, two of int4)
  nvfp4: blocks of 16, scales of float8_e4m3fn and a float32 for the tensor
  fp8-tensor, fp8-row, fp8-group128, fp8-block128: float8_e4m3fn and scales of
    float32 for the tensor, a row, 128 elements of a row, a tile of 128 by 128
  fp8-block128-ue8m0: the same tiles with powers of two
  int8-row, int4-group128: symmetric integers and scales of float32
  uint8-row, uint4-group128: the same granularities with a zero point for each
    scale; an element is (code - zero point) times scale. --to int8 and --to int4
    make signed ones

The others have the arithmetic of the library that their name says.
Integers saturate to the ends of their dtype: with --non-finite saturate, -inf
becomes -128 in int8, although finite elements end at -127 (symmetric schemes).

The extension of a file tells its format. A .safetensors file of --data holds all
parts: the codes under the name of the tensor, the others under this name with
_scale, _global_scale and _zero_point. Its metadata records the scheme, the dtype
of the input, the dtype of the codes and the shape, so `lanecast unscale` needs no
--scheme. (Codes that the format has no name for, such as int4, are bytes.)
Other files do not say their scheme: codes of fp8-row can be read by int8-row,
which gives wrong values. A .npy file has a dtype and a shape, except those of
--data and --zero-points, whose elements of less than 8 bits have a byte each. All
other files are bare little-endian elements in C order; codes of less than 8 bits
are packed, the first one in the lowest bits.

The tensor is held in memory. One of the outputs may be standard output; the
summary then goes to standard error. The outputs appear together, complete, or
not at all.

The object of --json has the scheme, the number of elements, the dtype, the shape
and the bytes of the codes (data), the scales and the zero_points, the global
scale (null if the scheme has none), and the numbers of empty blocks, of poisoned
blocks, and of elements that were clipped or underflowed to zero.";

/// The notes of `unscale`.
pub const UNSCALE_NOTES: &str = "\
A .safetensors file of `lanecast scale` says its scheme, the dtypes and the shape.
An option that says something else is refused. Without this record, the codes
must have the name of the tensor, the other parts this name with _scale,
_global_scale and _zero_point, and --scheme is required.

Bare elements and .npy files do not say their scheme: give --scheme, --shape,
--from and --source as they were scaled. Only the sizes are checked, and the
dtypes of .npy files; the codes of two schemes may have the same size.";

/// The notes of `inspect`.
pub const INSPECT_NOTES: &str = "\
Each tensor is listed with its dtype, shape, size in bytes, byte order, order of
axes (C: the last varies fastest), compression, and external file if it is in
one. Only headers are read, except with --stats, --what-if and --histogram.

Minimum, maximum, mean and standard deviation are those of the finite values.
Subnormal numbers are those below the smallest normal number of the dtype. The
two parts of a complex number count as two numbers. The exponent of a number is
e if its magnitude is at least 2^e and less than 2^(e+1). Values are read in
blocks, on all threads. Fields of structured arrays, and arrays whose descriptor
does not say what they hold, have no statistics. `-` and pipes are copied to a
temporary file first.

--what-if takes dtypes and schemes of `lanecast scale`, such as nvfp4 or
int8-row. It prints the signal-to-noise ratio of each in decibels: the sum of
the squares of the values over that of the errors. `-` is an infinite ratio, a
value that is not finite, or a tensor that the scheme does not take. A scheme
holds the elements that share a scale in memory, and all of an array in Fortran
order. A scheme with a scale for the whole tensor, such as nvfp4, reads the
values twice.

A checkpoint, which is a folder, a .gguf file or a file of PyTorch, is listed as
a tree of modules with the tensors that a plain checkpoint would have, their
shapes, how each is stored (a dtype, or the layout of its codes), and sizes with
scales; and a total for each way. Numbered modules that are alike share their
rows. With --sort it is a list. Codes are decoded to float32 for statistics.

Losses are counted as `lanecast cast` counts them, and so are values that would
be inexact: in range, but rounded.";

/// The notes of `explain`.
pub const EXPLAIN_NOTES: &str = "\
A cast is a route of stages: a kernel, preceded and followed by the stages that
storage and byte order need. The route is that of the plain cast, so --on-loss
changes nothing. As in `raw`, elements of 2, 4 and 6 bits are packed and all
others are little-endian, unless options say otherwise.

The stages of a route differ between versions and CPUs; the bits that a cast
writes do not.";
