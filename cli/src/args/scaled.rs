//! The arguments of `scale` and `unscale`.

use std::path::PathBuf;

use clap::{Args, builder::TypedValueParser};
use lanecast::{
    DType,
    scaled::{NonFinite, Scheme},
};

use super::{
    values::{axes, dtype},
    writing::Writing,
};
use crate::{help, options::one_of};

/// The arguments of `scale`.
#[derive(Debug, Args)]
#[command(after_help = help::examples(help::SCALE))]
#[command(after_long_help = help::long(help::SCALE, help::SCALE_NOTES))]
pub struct Scale {
    /// The scheme, see below
    #[arg(long, value_name = "NAME", value_parser = scheme())]
    pub scheme: Scheme,
    /// The dtype of the input: float16, bfloat16 or float32 [default: the dtype in a .safetensors or .npy file]
    #[arg(long, value_name = "DTYPE", value_parser = dtype(), hide_possible_values = true)]
    pub from: Option<DType>,
    /// The dtype of the codes [default: the dtype of the scheme]
    #[arg(long, value_name = "DTYPE", value_parser = dtype(), hide_possible_values = true)]
    pub to: Option<DType>,
    /// The lengths of the axes, such as 4096,1024 or 4096x1024 [default: the shape in a .safetensors or .npy file]
    #[arg(long, value_name = "ROWS,COLS", value_parser = axes)]
    pub shape: Option<Shape>,
    /// The name of the tensor in .safetensors files [default: the name of the only tensor of IN, or `tensor`]
    #[arg(long, value_name = "NAME")]
    pub tensor: Option<String>,
    /// The file to read: .safetensors, .npy or bare elements, `-` for standard input
    #[arg(value_name = "IN")]
    pub input: PathBuf,
    /// The file of the codes to write, `-` for standard output; a .safetensors file also holds the other parts and the scheme
    #[arg(long, value_name = "FILE")]
    pub data: PathBuf,
    /// The file of the scales to write, `-` for standard output; required unless --data is a .safetensors file
    #[arg(long, value_name = "FILE")]
    pub scales: Option<PathBuf>,
    /// The file of the scale of the tensor to write, a float32, if the scheme has one
    #[arg(long, value_name = "FILE")]
    pub global: Option<PathBuf>,
    /// The file of the zero points to write, if the scheme has them; they are stored as the codes are
    #[arg(long, value_name = "FILE")]
    pub zero_points: Option<PathBuf>,
    /// A block with a NaN or an infinity: its scale is NaN (poison) or that of its finite elements (saturate), or it is an error (refuse)
    #[arg(long, value_name = "WHAT", value_parser = non_finite(), default_value = "poison")]
    pub non_finite: NonFinite,
    /// How the files are written.
    #[command(flatten)]
    pub writing: Writing,
    /// Print what was written and lost as one JSON object, on standard error if standard output has one of the parts
    #[arg(long)]
    pub json: bool,
}

/// The arguments of `unscale`.
#[derive(Debug, Args)]
#[command(after_help = help::examples(help::UNSCALE))]
#[command(after_long_help = help::long(help::UNSCALE, help::UNSCALE_NOTES))]
pub struct Unscale {
    /// The scheme, see `lanecast help scale` [default: the scheme in a .safetensors file]
    #[arg(long, value_name = "NAME", value_parser = scheme(), hide_possible_values = true)]
    pub scheme: Option<Scheme>,
    /// The dtype of the codes [default: the dtype of the scheme]
    #[arg(long, value_name = "DTYPE", value_parser = dtype(), hide_possible_values = true)]
    pub from: Option<DType>,
    /// The dtype that was scaled, for a scheme whose scales have it: compressed-tensors-fp8-row
    #[arg(long, value_name = "DTYPE", value_parser = dtype(), hide_possible_values = true)]
    pub source: Option<DType>,
    /// The dtype of the output: float16, bfloat16, float32 or float64
    #[arg(long, value_name = "DTYPE", value_parser = dtype(), hide_possible_values = true)]
    pub to: DType,
    /// The lengths of the axes, such as 4096,1024 or 4096x1024 [default: the shape in a .safetensors file]
    #[arg(long, value_name = "ROWS,COLS", value_parser = axes)]
    pub shape: Option<Shape>,
    /// The name of the tensor in .safetensors files [default: the only one of --data, or `tensor`]
    #[arg(long, value_name = "NAME")]
    pub tensor: Option<String>,
    /// The file of the codes, `-` for standard input; a .safetensors file also holds the other parts and the scheme
    #[arg(long, value_name = "FILE")]
    pub data: PathBuf,
    /// The file of the scales; required unless --data is a .safetensors file
    #[arg(long, value_name = "FILE")]
    pub scales: Option<PathBuf>,
    /// The file of the scale of the tensor, if the scheme has one
    #[arg(long, value_name = "FILE")]
    pub global: Option<PathBuf>,
    /// The file of the zero points, if the scheme has them
    #[arg(long, value_name = "FILE")]
    pub zero_points: Option<PathBuf>,
    /// The file to write: .safetensors, .npy or bare elements, `-` for standard output
    #[arg(value_name = "OUT")]
    pub output: PathBuf,
    /// How the file is written.
    #[command(flatten)]
    pub writing: Writing,
}

/// The lengths of the axes. (An argument of the type `Vec` may be given several times.)
type Shape = Vec<usize>;

fn scheme() -> impl TypedValueParser<Value = Scheme> {
    one_of(Scheme::NAMED)
}

fn non_finite() -> impl TypedValueParser<Value = NonFinite> {
    one_of(&[("poison", NonFinite::Poison), ("saturate", NonFinite::Saturate), ("refuse", NonFinite::Refuse)])
}
