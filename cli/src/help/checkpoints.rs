//! The texts of the subcommands for whole checkpoints.

/// The examples of `convert`.
pub const CONVERT: &str = "
  lanecast convert model model-bf16 --to bfloat16
  lanecast convert model model-fp16 --to f16 --map '*norm*=f32' --resume
  lanecast convert model arrived --to bfloat16 --wait 600
  lanecast convert model cut --to bfloat16 --max-shard-size 5GB --verify
  lanecast convert model.safetensors small.safetensors --to bfloat16
  lanecast convert model.gguf small.gguf --to float16
  lanecast convert model model-bf16 --to bfloat16 --plan m.json";
/// The examples of `dequantize`.
pub const DEQUANTIZE: &str = "
  lanecast dequantize model-fp8 model-bf16 --to bfloat16
  lanecast dequantize model-fp8 model-f32 --to float32 --json
  lanecast dequantize model-q4.gguf model-f16.gguf --to float16";
/// The examples of `quantize`.
pub const QUANTIZE: &str = "
  lanecast quantize model m-nvfp4 --scheme nvfp4 --layout compressed-tensors
  lanecast quantize model m-fp8 --scheme fp8-block --layout deepseek --json
  lanecast quantize model m-nf4 --scheme nf4 --layout bitsandbytes
  lanecast quantize model.gguf model-q8.gguf --scheme q8_0 --layout gguf";
/// The examples of `requantize`.
pub const REQUANTIZE: &str = "
  lanecast requantize mxfp4 fp8 --lossless --scheme fp8-block --layout deepseek
  lanecast requantize mxfp4 mx-nvfp4 --lossless --scheme nvfp4 --layout modelopt
  lanecast requantize w4a16 m-gptq --lossless --scheme w4a16 --layout gptq";
/// The examples of `tasks`.
pub const TASKS: &str = "
  lanecast tasks run 0/1 --of plan.json
  lanecast tasks pending plan.json
  lanecast tasks finish plan.json";
/// The examples of `tasks run`.
pub const TASKS_RUN: &str = "
  lanecast tasks run 0/1 --of plan.json
  lanecast tasks run 1/8 --of plan.json --phase range --threads 4
  lanecast tasks run 0 1 --of plan.json --json";
/// The examples of `tasks pending`.
pub const TASKS_PENDING: &str = "
  lanecast tasks pending plan.json
  lanecast tasks pending plan.json --phase range | wc -l
  lanecast tasks pending plan.json --count";
/// The examples of `tasks finish`.
pub const TASKS_FINISH: &str = "
  lanecast tasks finish plan.json
  lanecast tasks finish plan.json --json";
/// The examples of `check`.
pub const CHECK: &str = "
  lanecast check model-fp8
  lanecast check model-fp8 --for vllm --json";
/// The examples of `diff`.
pub const DIFF: &str = "
  lanecast diff model-fp8 model-fp8
  lanecast diff model-fp8 model-fp8 --fail-above rel=1e-2,sqnr=30
  lanecast diff model-fp8 model-fp8 --html diff.html --json";
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

A .gguf file may become a .gguf file: DST then ends with .gguf. Names, metadata and
alignment stay, and so do the types of tensors that llama-quantize keeps: those of
one axis, norms, routers.

A checkpoint whose weights are codes with scales is refused: `lanecast dequantize`
decodes it. A warning names tensors in which at least a tenth of the values became
zero, and tensors with values outside the range of the dtype.

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

--wait casts a download while it arrives. It waits for the index, or for
model.safetensors, and then casts every shard when its size is what its header says.
A shard with another name, such as one that ends with .incomplete, or with an .aria2
file beside it, is not complete. A line on standard error names each shard that is
saved. Its file in SRC may then be removed, now or before a run with --resume, but
not with --verify or --max-shard-size. A float32 tensor waits until most of the model
is there, because the rule above depends on it. Files that are no weights are copied
at the end, once nothing has changed for two seconds. If nothing in SRC changes for
so many seconds, 3600 by default, the error names what is missing, and --wait
--resume goes on.

--verify reads the output before it gets its name, and casts the source a second
time, by other code. The first difference is an error that names the tensor.

--plan writes a plan of tasks for `lanecast tasks`, and no output. Tasks always go on
from what is done. With --plan, --verify compares files with the checksums of what
tasks wrote to them, not with a second cast.

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
their names, and files that are no weights are copied. A .gguf file may become one:
DST then ends with .gguf, and names and metadata stay. Otherwise the tensors keep
the names of GGUF, and the metadata goes to gguf_metadata.json.

A part that is missing, damaged or unexpected is an error that names the file and
the tensor. A weight is decoded in parts and never held as a whole. DST appears
complete or not at all; --force replaces a folder with all that is in it. DST may
be a .safetensors file if SRC is one. Signals remove the temporary folder; a killed
process leaves it beside DST, as `.lanecast-*.tmp`.

--plan writes a plan of tasks for `lanecast tasks`, and no output.

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
  q8_0, q4_0, q5_0: integers, a float16 scale for 32 elements; gguf
  q4_1, q5_1: the same with a float16 minimum; gguf, which has mxfp4 and nvfp4, too

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
schemes: compressed-tensors, modelopt, comfy, gguf.

--like FILE, for comfy, gives each weight the scheme that it has in FILE: weights
that are plain there stay, and those that FILE lacks follow --scheme. --map and
--ignore come first.

Experts that are stacked in one tensor are split into modules if the model_type is
known (llama4, qwen3_vl_moe, qwen3_5_moe, granitemoe, granitemoeshared,
granitemoehybrid). --experts keep keeps stacks of experts as they are. Other weights
of three axes are refused, unless --ignore names them or the last axis is the kernel
of a convolution (at most 16). gpt-oss stores experts of gpt-oss only, and comfy is
one file. DST appears complete or not at all.

The layout gguf makes a .gguf file of one with floats; a split model becomes one
file. Names, metadata and alignment stay; general.file_type is that of --scheme.
Tensors of one axis, norms, routers and whatever else llama-quantize keeps stay as
they are; token_embd and output are quantized, unless --map or --ignore names them.

--plan writes a plan of tasks for `lanecast tasks`, and no output.

The object of --json has the layout, the scheme, the numbers of weights quantized
and tensors copied, the modules ignored, the bytes read and written, the files, and
the warnings.";

/// The notes of `requantize`.
pub const REQUANTIZE_NOTES: &str = "\
Codes become those of another scheme with the same values, and all other tensors
stay as they are. The first value that would change is an error that names it.
`lanecast help quantize` lists the layouts; gptq and awq are written only here.

Codes and scales of these schemes are moved as they are:

  nvfp4 from NVFP4: compressed-tensors divides by the scale of the tensor, and
    modelopt and comfy multiply by it: between these it must be a power of two
  nvfp4 from MXFP4: the scales of all weights that share a scale of the tensor must
    be within 2^17 of each other; blocks of zeros do not count
  mxfp4 from MXFP4: compressed-tensors, modelopt. The stacked experts of gpt-oss
    become modules of compressed-tensors, which transformers does not load. Such
    modules with their biases become stacks of gpt-oss; all must be there, and
    nothing else may be quantized
  w4a16 from 4-bit integers of compressed-tensors, GPTQ or AWQ, of any group size:
    compressed-tensors, gptq, awq. gptq needs rows and columns in multiples of 8,
    awq rows, and both one group size. Codes in the order of activations (g_idx)
    are refused. Symmetric codes become GPTQ of version 1, others gptq_v2.

The scales of fp8-dynamic, fp8-block, mxfp8 and mxfp4 become powers of two, the
smallest that clip nothing. MXFP4 always fits mxfp8. It fits fp8-block if the
scales within a tile are near each other. Zeros may lose their signs. Products that
are not exact in float32, such as those of float32 scales, do not fit.

Scales of activations (input_scale and the like) and of caches are dropped, and a
warning counts them: the output describes weights only.

--plan writes a plan of tasks for `lanecast tasks`, and no output.";

/// The notes of `tasks`.
pub const TASKS_NOTES: &str = "\
`convert`, `dequantize`, `quantize` and `requantize` write a plan with --plan FILE.
It divides the work into tasks, which any number of processes on any machines run.
The output has the bytes that one command without --plan writes. A plan has up to
five phases. Tasks of one phase run in any order and at the same time; a phase
begins when the one before it is done:

  amax: measures weights that have a scale for the whole tensor; few schemes need it
  prepare: makes a file of the output, in its full size
  range: reads, casts and writes ranges of bytes of the output, about --range-size
  shard: checks that all ranges of a file are written, and gives the file its name
  finish: writes configuration, index and other files, and gives the output its name

All machines see the source, the output and the plan under the same paths, on a file
system where any machine may write at any place of a file. A task may be killed at
any moment, run again, or run twice at the same time. A task that is done is skipped.
A source that has changed since the plan was made is refused.

The work is in the folder DST.lanecast-HASH until the output is complete. A small
record is left there then, from which later runs know that the output is done: remove
it with the plan. Making a plan again gives the same plan, which goes on.";

/// The notes of `tasks run`.
pub const TASKS_RUN_NOTES: &str = "\
A share I/N is every task whose number is I modulo N: `0/8` to `7/8` are shares of
eight processes. Give --phase with shares, and start a phase when the one before it
is done; a task whose phase cannot begin yet is an error. `0/1` without --phase runs
the whole plan, phase by phase, in this process.

The first task that fails ends the command, and the error names the task. Signals
and kills lose no task that is done: the same command goes on.

--json prints a line for each task: its number (id), its phase, whether it was done
before (skipped), the bytes that it writes, or reads if it is an amax task, the
seconds that it took, and the report of the operation if it is the finish task.";

/// The notes of `tasks finish`.
pub const TASKS_FINISH_NOTES: &str = "\
The pending tasks of the phases shard and finish run in this process. The ranges must
be written: otherwise the error says which tasks are pending. The summary and the
object of --json are those of the operation that was planned.";

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
and B. Weights that only one side fuses (qkv_proj, gate_up_proj, fused_qkv_a_proj)
or stacks (experts.gate_up_proj, experts.down_proj) are matched with the single
weights of the other side, and listed one by one. The model_type in config.json says
whether stacked matrices are transposed; if it is unknown, their shapes do.

Plain tensors are compared exactly, and so are two weights with codes. Beside a
plain tensor, a weight with codes is decoded to the dtype of that tensor. The summary
counts tensors that only this rounding makes equal; in the object of --json, rounded
is the number of such values of a tensor.

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

If both have a config.json, its keys with different values are listed, too: nested
keys by their path, and those of the quantization aside. They exceed no limit.

The table lists the tensors that differ, the largest relative errors first. The page
of --html is one file without scripts and needs no network: it has a map with a row
for each layer and a column for each module, and the table. In the object of --json,
numbers that are infinite are null.

Both sides are decoded in parts and never held as a whole.";
