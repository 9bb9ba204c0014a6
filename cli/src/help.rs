//! The texts of `--help` besides the options: examples and notes. The man pages have them too.
//!
//! A test runs every example, a line of two spaces and a command, in a folder with sample files.

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
/// The examples of `convert`.
pub const CONVERT: &str = "
  lanecast convert model model-bf16 --to bfloat16
  lanecast convert model model-fp16 --to f16 --map '*norm*=f32' --resume
  lanecast convert model cut --to bfloat16 --max-shard-size 5GB --verify
  lanecast convert model.safetensors small.safetensors --to bfloat16";
/// The examples of `dequantize`.
pub const DEQUANTIZE: &str = "
  lanecast dequantize model-fp8 model-bf16 --to bfloat16
  lanecast dequantize model-fp8 model-f32 --to float32 --json";
/// The examples of `quantize`.
pub const QUANTIZE: &str = "
  lanecast quantize model m-nvfp4 --scheme nvfp4 --layout compressed-tensors
  lanecast quantize model m-fp8 --scheme fp8-block --layout deepseek --json
  lanecast quantize model m-nf4 --scheme nf4 --layout bitsandbytes";
/// The examples of `requantize`.
pub const REQUANTIZE: &str = "
  lanecast requantize mxfp4 fp8 --lossless --scheme fp8-block --layout deepseek";
/// The examples of `check`.
pub const CHECK: &str = "
  lanecast check model-fp8
  lanecast check model-fp8 --for vllm --json";
/// The examples of `diff`.
pub const DIFF: &str = "
  lanecast diff model-fp8 model-fp8
  lanecast diff model-fp8 model-fp8 --fail-above rel=1e-2,sqnr=30
  lanecast diff model-fp8 model-fp8 --html diff.html --json";
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
  lanecast inspect - < logits.npy";
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

/// The notes of `convert`.
pub const CONVERT_NOTES: &str = "\
SRC is a folder with model.safetensors or an index and its shards, a .safetensors
or .npz file, a PyTorch file (.bin, .pt, .pth), or a .gguf file without quantized
blocks. Every float is rounded once to --to. These tensors keep their dtypes, unless
--map names them:

  integers, bools and complex numbers
  float32 tensors of a checkpoint whose weights mostly have another dtype
  float32 tensors that models need so: A_log, router, gate,
    e_score_correction_bias

A checkpoint whose weights are codes with scales is refused: `lanecast dequantize`
decodes it. A warning names tensors whose values all became zero, or left the
range of the dtype.

Shards keep their names and tensors. --max-shard-size divides the tensors again,
in their order, into model-00001-of-0000N.safetensors; one with more bytes gets
its own file. The index gets the new names and total_size, and keeps all else. In
config.json dtype and torch_dtype change, at every level; all else in it stays.
Files that are no weights are copied.

The work is done in the folder DST.lanecast-partial, which is renamed at the end.
A signal, an error or a kill leaves it if a part of the output is on the disk:
--resume goes on from there, and the result has the same bytes as that of one run.
It is refused if the source, its dates or the options have changed, or while
another run writes the same output. --force discards what is unfinished, and
replaces DST with all that is in it.

--verify reads the output before it gets its name, and casts the source a second
time, by other code. The first difference is an error that names the tensor.

The object of --json has the dtype, the numbers of tensors cast, copied, kept as
float32 and verified (null without --verify), the bytes read, written and resumed,
the files, the losses of each tensor that has any, and the warnings.";

/// The notes of `dequantize`.
pub const DEQUANTIZE_NOTES: &str = "\
SRC is a folder with model.safetensors or an index and its shards, or a file:
.safetensors, .gguf, .npz, or one that torch.save wrote (.bin, .pt, .pth). A folder
without .safetensors files may have pytorch_model.bin, its index and shards, or one
file of the others. The pickle of a PyTorch file is read as data, and nothing in it
is run: a name that a dictionary of tensors does not need is an error.

The layout follows from config.json and the tensors, which must agree:

  compressed-tensors: float, int, naive, pack (1 to 8 bits), NVFP4, MXFP4, MXFP6
    and MXFP8, several groups
  block fp8: DeepSeek V3 and V4, one scale for the tensor, mxfp8 of SGLang
  gpt-oss: MXFP4
  ModelOpt: FP8, FP8_PER_CHANNEL_PER_TOKEN, FP8_PB_WO, MXFP8, MXFP4, NVFP4,
    W4A16_NVFP4, MIXED_PRECISION
  bitsandbytes: nf4, fp4, int8
  GPTQ (2, 3, 4 and 8 bits, gptq and gptq_v2, rules for modules), AWQ (gemm)
  ComfyUI: fp8, scaled fp8, nvfp4, mxfp8, int8_tensorwise
  torchao, MLX, GGUF

A weight is the exact (code - zero point) times scale, rounded once to --to. All
other tensors keep their dtypes, except 8-bit floats without scales, whose values
get --to. Scales and other companions are dropped. In config.json the description
of the quantization goes and the dtype changes; all else in it stays. Shards keep
their names, and files that are no weights are copied. The tensors of a GGUF file
keep its names, and its metadata goes to gguf_metadata.json.

A part that is missing, damaged or unexpected is an error that names the file and
the tensor. A weight is decoded in parts and never held as a whole. DST appears
complete or not at all; --force replaces a folder with all that is in it. DST may
be a .safetensors file if SRC is one. Signals remove the temporary folder; a killed
process leaves it beside DST, as `.lanecast-*.tmp`.

The object of --json has the layout, the dtype, the numbers of tensors decoded and
copied, the bytes read and written, the files, and the warnings.";

/// The notes of `quantize`.
pub const QUANTIZE_NOTES: &str = "\
The schemes, and the layouts that store them:

  fp8-dynamic: float8_e4m3fn, a scale for each row; compressed-tensors, modelopt
  fp8-block: float8_e4m3fn, a scale for each tile of 128 by 128; compressed-tensors,
    deepseek, modelopt
  fp8-tensor: float8_e4m3fn, one scale; comfy
  mxfp8: float8_e4m3fn, a power of two for 32 elements; compressed-tensors,
    modelopt, comfy, mxfp8
  mxfp4: float4_e2m1fn, a power of two for 32 elements; compressed-tensors,
    modelopt, gpt-oss
  nvfp4: float4_e2m1fn, a scale of float8_e4m3fn for 16 elements and one for the
    tensor; compressed-tensors, modelopt, comfy
  int8: a scale for each row; compressed-tensors, bitsandbytes
  w4a16: int4, a scale for 128 elements; compressed-tensors
  nf4, fp4: tables of 16 values, a scale for 64 elements; bitsandbytes

Each code is the one nearest to the quotient by the scale that is written. Only
weights are quantized; with fp8-dynamic, fp8-block and int8, runtimes quantize
activations as they come. Schemes whose scales of activations or whose codes
follow from real inputs (static fp8, GPTQ, AWQ, SmoothQuant) need calibration and
are refused.

Weights are the matrices *.weight. These stay as they are: norms, embeddings,
lm_head and other heads, routers and gates of experts, convolutions, vision
towers, mtp, and weights whose columns no whole block divides. --map quantizes
some of them all the same; --ignore keeps more. Patterns match the name of a
tensor, or that of its module. Parts that runtimes fuse (q, k and v; gate and up)
share the scale of the tensor in nvfp4. Layouts that describe groups take several
schemes: compressed-tensors, modelopt, comfy.

Experts that are stacked in one tensor are split into modules if the model_type is
known (llama4, qwen3_vl_moe, qwen3_5_moe). gpt-oss stores those of gpt-oss only,
and comfy is one file. DST appears complete or not at all.

The object of --json has the layout, the scheme, the numbers of weights quantized
and tensors copied, the modules ignored, the bytes read and written, the files, and
the warnings.";

/// The notes of `requantize`.
pub const REQUANTIZE_NOTES: &str = "\
Codes become those of another scheme with the same values, and all other tensors
stay as they are. Scales are powers of two, the smallest that clip nothing, which
keep every digit if the codes have enough of them. The schemes with such scales:
fp8-dynamic, fp8-block, mxfp8, mxfp4. `lanecast help quantize` lists the layouts.

MXFP4 always fits mxfp8. It fits fp8-block if the scales within a tile are near
each other. The first element that would change is an error that names it; zeros
may lose their signs. Products that are not exact in float32, such as those of
float32 scales, do not fit.";

/// The notes of `check`.
pub const CHECK_NOTES: &str = "\
A finding is a line: its severity, the file, the tensor, what is wrong, and what to
do. All findings are printed, not only the first. The program exits with 1 if there
are any.

Checked are the files and their index, the configuration, the parts of every weight
with their dtypes and shapes, scales that are NaN, infinite or zero beside codes
that are not, scales of static activations and of the cache that the configuration
declares, and weights that loaders concatenate (such as q_proj, k_proj and v_proj):
they need one way of storing codes and one global scale.

Headers, scales and configurations are read. Codes are read only where a scale is
zero. A GGUF file is read whole, because its scales are among the codes.

--for adds what a loader cannot read, by a table of layouts and loaders: layouts
that it does not know, widths and groups that it refuses or decodes to other values,
and lists of plain modules that it matches in its own way.

The object of --json has the layout, the loader with its version, the numbers of
tensors and of weights with codes, and the findings: kind, severity (error or
warning), file, tensor, what and remedy.";

/// The notes of `diff`.
pub const DIFF_NOTES: &str = "\
Tensors are matched by their names in a plain checkpoint, whatever the layouts of A
and B. Plain tensors are compared exactly. A weight with codes is decoded to the
dtype of the other side, or to float32 if the other side has codes, too.

An error is the value in A less that in B, the reference:

  max: the largest magnitude       mean: the mean magnitude
  rel: the root of the sum of squared errors over that of the squares of B
  sqnr: the ratio of signal and noise in decibels, -20 log10 of rel
  cosine: of the angle between both tensors as vectors
  ulps: the most values of one dtype between both: of the dtype of A or B that has
    fewer bits of mantissa, or of bfloat16 if both have codes

NaN equals NaN. Other values that are not finite on one side only are counted, left
out of the errors, and exceed every limit of --fail-above. With --fail-above the
program also fails if a tensor is missing on one side or has another shape. It then
exits with 1; without --fail-above it exits with 0, whatever the differences are.

The table lists the tensors that differ, the largest relative errors first. The page
of --html is one file without scripts and needs no network: it has a map with a row
for each layer and a column for each module, and the table. In the object of --json,
numbers that are infinite are null.

Both sides are decoded in parts and never held as a whole.";

/// The notes of `inspect`.
pub const INSPECT_NOTES: &str = "\
Each tensor is listed with its dtype, shape, size in bytes, byte order, order of
axes (C: the last varies fastest), compression, and external file if it is in
one. Only headers are read, except with --stats, --what-if and --histogram.

Minimum and maximum are those of the finite values. Subnormal numbers are those
below the smallest normal number of the dtype. The two parts of a complex number
count as two numbers. The exponent of a number is e if its magnitude is at least
2^e and less than 2^(e+1). Values are read in blocks and never held as a whole.
Fields of structured arrays, and arrays whose descriptor does not say what they
hold, have no statistics. `-` and pipes are copied to a temporary file first.

A folder is listed as the checkpoint that it is: a tree of modules with the tensors
that a plain checkpoint would have, their shapes, how each is stored (a dtype, or the
layout of its codes), and sizes with scales; and a total for each way. Numbered
modules that are alike share their rows. With --sort it is a list. --stats decodes
each tensor to float32 and prints minimum, maximum, mean and standard deviation of
its finite values. --what-if also takes schemes of `lanecast scale`, such as nvfp4
or int8-row, and prints the signal-to-noise ratio in decibels of each dtype or
scheme; `-` is infinite, or a tensor that the scheme does not take.

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
