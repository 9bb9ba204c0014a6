//! The texts of `--help`: examples, and what there is to know beyond the options. The man pages have them too.
//!
//! A test runs every example: lines of two spaces and a command, in a folder with sample files.

use std::fmt::Write;

use clap::builder::{StyledStr, styling::Style};

const HEADING: Style = Style::new().bold().underline();

/// The heading of the examples, which the tests and the man pages look for.
pub const EXAMPLES: &str = "Examples:";

/// The heading of the exit codes.
pub const EXIT: &str = "Exit codes:";

const EXIT_CODES: &str = "
  0  done                        4  bad file: truncated, corrupt or hostile
  2  wrong usage                 5  not supported: dtypes, tiers, kinds of files
  3  input or output failed      6  a value does not fit (--on-loss error)";

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
/// Of `cast`.
pub const CAST: &str = "
  lanecast cast model.safetensors small.safetensors --to bfloat16
  lanecast cast model.safetensors fp8.safetensors --to e4m3fn --exclude '*norm*'
  lanecast cast logits.npy half.npy --to float16 --on-loss error
  lanecast cast packed.npz wide.npz --from bfloat16 --to float32
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
  lanecast inspect model.onnx --json";
/// Of `completions`.
pub const COMPLETIONS: &str = "
  lanecast completions bash > lanecast.bash
  lanecast completions zsh > _lanecast
  lanecast completions fish > lanecast.fish";
/// Of `man`.
pub const MAN: &str = "
  lanecast man > lanecast.1
  lanecast man --out-dir man1";

/// Beyond the options of `cast`.
pub const CAST_NOTES: &str = "\
The input is read in blocks and never held as a whole. The output is written to
a temporary file in its own folder, flushed to disk and renamed: it appears
complete or not at all, and replaces an existing file only with --force. A
process that is killed leaves the temporary file `.lanecast-*.tmp` behind.

Which tensors are cast:
  By default the floating ones, complex numbers not among them; all others are
  copied. With --from, exactly those of that dtype. --include and --exclude
  narrow the choice by name, with `*`, `?`, `[a-z]`, `[!a-z]`, `{a,b}` and `\\`:
  `*` and `?` also match `.` and `/`. Members of .npz archives are named without
  `.npy`. The array of a .npy file is always cast, unless it is structured: then
  its fields are what the tensors of other files are.

.safetensors:
  Names, their order and `__metadata__` are kept. F4, F6_E2M3 and F6_E3M2 are
  packed. The data keeps its order, unless elements would then lie across their
  alignment: wide elements come first then. dtypes for which the format has no
  name are refused.

.npy and .npz:
  NumPy writes arrays of ml_dtypes with descriptors that do not say what they
  hold: `<V2` for bfloat16, `<f1` for float8_e5m2, `<V1` for all others, which
  take one byte per element. The output has the same descriptors, and --from
  names what such an input holds. With a dtype of ml_dtypes --from also reads
  `|u1` and `<u2` arrays of its size as that dtype: the array of a .npy file, and
  those members of a .npz archive that an --include names. NumPy loads `<V1` and
  `<V2` as bytes to be viewed, `np.load(f).view(ml_dtypes.bfloat16)`; it cannot
  load the `<f1` that it writes.
  Structured arrays are cast field by field. Fields have names, `field`, or
  `outer.field` in a struct within; those of an archive `member.field`, and the
  name of the member stands for all of them. Fields that are not cast are copied,
  with their byte order; the layout stays packed or aligned as it was, padding
  becomes zeros and is not counted. With --from fields of bytes, `|V2`, are read
  as a dtype of ml_dtypes of their size. The element of --on-loss error is the
  first of the first field that has one, in a block of the file.
  Big-endian arrays are read, little-endian ones are written; Fortran order is
  kept. Members of archives keep their compression; those that are not cast are
  copied as they are.

.onnx:
  The initializers of the graph and of its subgraphs are the tensors, and the
  attributes `value` of their Constant nodes, named by the outputs. One that is
  cast is renamed, NAME__DTYPE, and a Cast node makes NAME of it, of its old
  dtype: everything that used it still does. So the model computes in the dtypes
  that it did, with the values that the cast left. Cast has to know the dtype in
  the opset that the model imports, or the model is refused: onnx.version_converter
  brings it to a later opset. The IR version is raised to that of the dtype.
  Tensors of fewer than 16 elements are copied unless an --include matches them:
  most are not weights but settings, such as exponents, bounds and the scales of
  Resize, and a Cast node would take more bytes than it saves. `--include '*'`
  casts them too.
  Variances of BatchNormalization may be too large for float16, which ruins the
  model: they are counted as overflowed to infinity, --on-loss and --json say
  where, and --exclude leaves them out.
  Initializers that are inputs of the graph too are values that a caller may
  replace, and are copied; up to IR version 3, where all are listed so, they are
  constants: those that are cast are listed no more, and the IR version becomes 4.
  Sparse tensors, the other attributes of Constant nodes and functions are copied,
  and so is everything that this program does not know. Models with training
  information, which names initializers, are refused.
  Tensors in external files of the model's folder are streamed to OUT.data; those
  inside the model stay there.

At the end the program prints what it did, the bytes read and written per
second, and how many values were saturated (clamped to an end of the range),
wrapped (modulo the range of an integer), overflowed to infinity, became NaN,
were NaN where the target has none, lost an imaginary part, or underflowed to
zero. With --on-loss error the first value of all but the last kind ends it.";

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

/// Beyond the options of `explain`.
pub const EXPLAIN_NOTES: &str = "\
A cast is a route of stages: a kernel, and before and after it what storage and
byte order need. The answer is that of the plain cast, so --on-loss changes
nothing. Storage and byte order are those of `raw`: elements of 2, 4 and 6 bits
packed and all others little-endian, unless the options say otherwise.

What a route is made of differs between versions and CPUs; the bits that a cast
writes do not.";
