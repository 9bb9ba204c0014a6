//! What each loader reads of each layout: a table.
//!
//! The sources are transformers 5.23.0, vLLM 0.33.0, SGLang 0.5.23, llama.cpp's converter, mlx-lm 0.32.2, and ComfyUI. Another
//! version may read more or less. To record a change, edit a row of [`TABLE`].

use lanecast::DType::{self, Float4E2M1FN, Float8E8M0FNU, UInt8};
use serde::Serialize;
use serde_json::Value;

use super::{Finding, Kind, Severity, Subject, gguf};
use crate::{
    checkpoint::{Content, Tensor},
    coding::{Codes, Coding, Factor, ScaleData},
    error::MERGE,
    layouts::Context,
};

/// A program that loads checkpoints.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Loader {
    /// vLLM.
    Vllm,
    /// SGLang.
    Sglang,
    /// Hugging Face transformers.
    Transformers,
    /// llama.cpp: the script that converts checkpoints to GGUF, and GGUF itself.
    LlamaCpp,
    /// mlx-lm.
    Mlx,
    /// ComfyUI.
    Comfy,
}

impl Loader {
    /// All loaders.
    pub const ALL: &'static [Self] =
        &[Self::Vllm, Self::Sglang, Self::Transformers, Self::LlamaCpp, Self::Mlx, Self::Comfy];

    /// Its name on a command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::Vllm => "vllm",
            Self::Sglang => "sglang",
            Self::Transformers => "transformers",
            Self::LlamaCpp => "llama.cpp",
            Self::Mlx => "mlx",
            Self::Comfy => "comfy",
        }
    }

    /// Its name and the version that the table describes.
    pub fn title(self) -> &'static str {
        match self {
            Self::Vllm => "vLLM 0.33.0",
            Self::Sglang => "SGLang 0.5.23",
            Self::Transformers => "transformers 5.23.0",
            Self::LlamaCpp => "llama.cpp",
            Self::Mlx => "mlx-lm 0.32.2",
            Self::Comfy => "ComfyUI",
        }
    }
}

/// A weight and the configuration.
struct Facts<'a> {
    coding: &'a Coding,
    /// The dtype of the scales as they are stored.
    scales: Option<DType>,
    /// Whether the tensor of biases has the name that transformers gives it.
    qbiases: bool,
    /// The module.
    module: &'a str,
    /// `config.json`.
    config: &'a Value,
    /// The part of the configuration that describes the quantization.
    quantization: &'a Value,
}

impl Facts<'_> {
    fn block(&self) -> [usize; 2] {
        self.coding.scales.as_ref().map_or([1, 1], |scales| scales.block)
    }

    fn bits(&self) -> u32 {
        self.coding.packing.bits
    }

    fn is_four_bit_float(&self) -> bool {
        matches!(self.coding.values, Codes::Float(Float4E2M1FN))
    }

    fn is_nvfp4(&self) -> bool {
        self.is_four_bit_float() && matches!(self.coding.factor, Factor::Times(_) | Factor::Over(_))
    }

    fn has_powers(&self) -> bool {
        matches!(self.scales, Some(Float8E8M0FNU | UInt8))
    }

    /// Integers packed in words.
    fn is_packed(&self) -> bool {
        matches!(self.coding.values, Codes::Unsigned)
    }

    fn is_mxfp8(&self) -> bool {
        self.has_powers() && !self.is_four_bit_float() && self.block() == [1, 32]
    }

    /// Whether the last of several tiles of an axis has fewer rows or columns than the others.
    fn has_partial_tile(&self) -> bool {
        let Some(scales) = &self.coding.scales else { return false };
        let partial = |axis: usize, n: usize| scales.grid[axis] > 1 && !n.is_multiple_of(scales.block[axis]);
        scales.block[0] > 1 && (partial(0, self.coding.rows) || partial(1, self.coding.cols))
    }

    /// Whether the last of several groups of a row is shorter than the others.
    fn has_partial_group(&self) -> bool {
        let Some(scales) = &self.coding.scales else { return false };
        let (axis, n) = if self.coding.transposed { (0, self.coding.rows) } else { (1, self.coding.cols) };
        scales.block[1 - axis] == 1 && scales.grid[axis] > 1 && !n.is_multiple_of(scales.block[axis])
    }

    fn says(&self, key: &str, value: bool) -> bool {
        self.quantization.get(key) == Some(&Value::Bool(value))
    }
}

/// A weight that the loader does not read, or reads as other values, although it reads the layout.
struct Limit {
    severity: Severity,
    what: &'static str,
    applies: fn(&Facts<'_>) -> bool,
}

/// What a loader reads of a layout. A pair that the table does not have is not read.
enum Reads {
    All,
    Except(&'static [Limit]),
    /// Blocks of GGUF, except some.
    Blocks(&'static [gguf::Limit]),
    /// The table does not say.
    Unknown,
}

const fn error(what: &'static str, applies: fn(&Facts<'_>) -> bool) -> Limit {
    Limit { severity: Severity::Error, what, applies }
}

const fn warning(what: &'static str, applies: fn(&Facts<'_>) -> bool) -> Limit {
    Limit { severity: Severity::Warning, what, applies }
}

const GROUPS: Limit =
    error("it needs rows of whole groups, and the last group is shorter", |of| of.has_partial_group());

/// The layouts and their loaders.
const TABLE: &[(&str, &[(Loader, Reads)])] = &[
    (
        "compressed-tensors",
        &[
            (
                Loader::Transformers,
                Reads::Except(&[error(
                    "it stacks the experts of gpt_oss, does not load single ones, and fills the stacks with random numbers",
                    |of| of.config["model_type"] == "gpt_oss" && of.module.contains(".experts."),
                )]),
            ),
            (
                Loader::Vllm,
                Reads::Except(&[
                    error("it refuses weight_g_idx (actorder \"group\")", |of| of.coding.groups.is_some()),
                    GROUPS,
                ]),
            ),
            (Loader::Sglang, Reads::Except(&[GROUPS])),
            (
                Loader::LlamaCpp,
                Reads::Except(&[
                    error("it unpacks codes of 3, 5, 6 and 7 bits to wrong values", |of| {
                        of.is_packed() && [3, 5, 6, 7].contains(&of.bits())
                    }),
                    error("it reads only one group of config_groups", |of| {
                        let groups = of.quantization.get("config_groups").and_then(Value::as_object);
                        groups.is_some_and(|groups| groups.len() > 1)
                    }),
                ]),
            ),
            (
                Loader::Mlx,
                Reads::Except(&[
                    error(
                        "it decodes pack-quantized codes in groups of 32, whatever their groups are",
                        |of| of.is_packed() && of.block() != [1, 32],
                    ),
                    warning("it is known to read only the format pack-quantized", |of| !of.is_packed()),
                ]),
            ),
        ],
    ),
    (
        "block fp8",
        &[
            (
                Loader::Transformers,
                Reads::Except(&[
                    error(
                        "it divides the shape by the number of scales, and the last tile is partial, so it raises or decodes to wrong values",
                        |of| of.has_partial_tile(),
                    ),
                    error("it needs \"expert_dtype\": \"fp8\" inside quantization_config", |of| {
                        is_fp8_expert(of) && of.quantization.get("expert_dtype") != Some(&"fp8".into())
                    }),
                ]),
            ),
            (
                Loader::Vllm,
                Reads::Except(&[
                    error(
                        "it reads weight_scale_inv of bytes only for models whose class renames it, such as MiniMax M3",
                        |of| of.is_mxfp8(),
                    ),
                    error("it needs \"expert_dtype\": \"fp8\" at the top of config.json", |of| {
                        is_fp8_expert(of) && of.config.get("expert_dtype") != Some(&"fp8".into())
                    }),
                ]),
            ),
            (Loader::Sglang, Reads::All),
            (
                Loader::LlamaCpp,
                Reads::Except(&[
                    error("it does not read MXFP8", |of| of.is_mxfp8()),
                    warning("it reads 4-bit experts only of the model classes that it knows", |of| {
                        of.is_four_bit_float()
                    }),
                ]),
            ),
            (
                Loader::Mlx,
                Reads::Except(&[error("it reads only MXFP8, in blocks of 1 by 32", |of| !of.is_mxfp8())]),
            ),
        ],
    ),
    (
        "MXFP4 of gpt-oss",
        &[
            (Loader::Transformers, Reads::All),
            (Loader::Vllm, Reads::All),
            (Loader::Sglang, Reads::All),
            (Loader::LlamaCpp, Reads::All),
            (Loader::Mlx, Reads::All),
        ],
    ),
    (
        "ModelOpt",
        &[
            (Loader::Vllm, Reads::Except(&[GROUPS])),
            (Loader::Sglang, Reads::Except(&[GROUPS])),
            (Loader::Mlx, Reads::Except(&[error("it reads only NVFP4", |of| !of.is_nvfp4())])),
            (
                Loader::LlamaCpp,
                Reads::Except(&[error("it reads only NVFP4 and FP8 with one scale for the tensor", |of| {
                    let one = of.coding.scales.as_ref().is_some_and(|scales| scales.grid == [1, 1]);
                    !of.is_nvfp4() && (!one || of.has_powers())
                })]),
            ),
        ],
    ),
    ("bitsandbytes", &[(Loader::Transformers, Reads::All), (Loader::Sglang, Reads::All)]),
    (
        "GPTQ",
        &[
            (Loader::Transformers, Reads::All),
            (Loader::Sglang, Reads::All),
            (
                Loader::Vllm,
                Reads::Except(&[
                    error("it reads only 4 and 8 bits", |of| ![4, 8].contains(&of.bits())),
                    error("it reads only symmetric codes (\"sym\": true)", |of| of.says("sym", false)),
                ]),
            ),
            (Loader::LlamaCpp, Reads::Except(&[error("it does not read 3 bits", |of| of.bits() == 3)])),
            (
                Loader::Mlx,
                Reads::Except(&[
                    error("it ignores g_idx (\"desc_act\": true)", |of| of.says("desc_act", true)),
                    error("it unpacks the codes in the order of AWQ, to wrong values", |_| true),
                ]),
            ),
        ],
    ),
    (
        "AWQ",
        &[
            (Loader::Transformers, Reads::All),
            (Loader::Vllm, Reads::Except(&[GROUPS])),
            (Loader::Sglang, Reads::Except(&[GROUPS])),
            (Loader::Mlx, Reads::All),
        ],
    ),
    ("ComfyUI", &[(Loader::Comfy, Reads::All)]),
    ("torchao", &[(Loader::Transformers, Reads::All), (Loader::Vllm, Reads::All)]),
    (
        "MLX",
        &[
            (Loader::Mlx, Reads::All),
            (
                Loader::Transformers,
                Reads::Except(&[error(
                    "it reads the layout as its method \"metal\", which calls the biases qbiases",
                    |of| of.coding.biases.is_some() && !of.qbiases,
                )]),
            ),
        ],
    ),
    (
        "GGUF",
        &[
            (Loader::LlamaCpp, Reads::All),
            (Loader::Transformers, Reads::Blocks(gguf::TRANSFORMERS)),
            (Loader::Sglang, Reads::Blocks(gguf::SGLANG)),
            (Loader::Comfy, Reads::Unknown),
        ],
    ),
];

/// Whether a weight is an expert of DeepSeek V4 that is stored as 8-bit floats.
fn is_fp8_expert(of: &Facts<'_>) -> bool {
    of.module.contains(".ffn.experts.") && !of.is_four_bit_float()
}

const DEQUANTIZE: &str = "`lanecast dequantize` writes a checkpoint that it reads";

/// Adds what the loader does not read: a finding for the layout, or one for each limit, which names the first weight and counts the others.
pub(super) fn check(of: &Subject<'_>, findings: &mut Vec<Finding>) {
    let Some(loader) = of.loader else { return };
    let (checkpoint, title) = (of.checkpoint, loader.title());
    let layout = checkpoint.layout();
    let source = &checkpoint.source;
    if loader == Loader::Comfy && source.gguf.is_none() && source.files.len() > 1 {
        let what = format!("ComfyUI loads one file, and the checkpoint has {}", source.files.len());
        findings.push(of.about(Kind::Loader, Severity::Error, &source.folder, what, MERGE));
    }
    let coded = || of.contents().filter(|(_, content)| !matches!(content, Content::Plain(_)));
    // All loaders read plain tensors.
    let Some((_, content)) = coded().next() else { return };
    let row = TABLE.iter().find(|(name, _)| *name == layout).map_or(&[][..], |(_, row)| row);
    let limits = match row.iter().find(|(who, _)| *who == loader).map(|(_, reads)| reads) {
        None => {
            let what = format!("{title} does not read the layout {layout}");
            let stored = of.stored(content);
            findings.push(of.finding(Kind::Loader, Severity::Error, stored, what, DEQUANTIZE));
            return;
        }
        Some(Reads::Unknown) => {
            let what = format!("whether {title} reads the layout {layout} is not known here");
            let remedy = "load a small model of the layout first";
            findings.push(of.finding(Kind::Loader, Severity::Warning, of.stored(content), what, remedy));
            return;
        }
        Some(Reads::All) => return,
        Some(Reads::Blocks(limits)) => {
            for limit in *limits {
                let applies = |content: &Content| (limit.applies)(&gguf::Blocks::of(of, content));
                let limited = coded().map(|(_, content)| content).filter(|content| applies(content));
                findings.extend(limited_weights(of, loader, Severity::Error, limit.what, limited));
            }
            return;
        }
        Some(Reads::Except(limits)) => limits,
    };
    let context = Context::new(source);
    let (config, none) = (source.config.as_ref().map(|file| &file.value), Value::Null);
    for limit in *limits {
        let applies = |(tensor, content): &(&Tensor, &Content)| {
            let Content::Coded(coding) = content else { return false };
            let scales = coding.scales.as_ref().and_then(|scales| match &scales.data {
                ScaleData::Tensor(id, _) => source.tensors[*id].dtype(),
                ScaleData::Nested(_) => None,
            });
            (limit.applies)(&Facts {
                coding,
                scales,
                qbiases: coding.biases.is_some_and(|id| source.tensors[id].name.ends_with(".qbiases")),
                module: tensor.name.strip_suffix(".weight").unwrap_or(&tensor.name),
                config: config.unwrap_or(&none),
                quantization: context.config().unwrap_or(&none),
            })
        };
        let limited = coded().filter(applies).map(|(_, content)| content);
        findings.extend(limited_weights(of, loader, limit.severity, limit.what, limited));
    }
}

/// A finding about weights that a limit applies to, if there are any.
fn limited_weights<'a>(
    of: &Subject<'_>,
    loader: Loader,
    severity: Severity,
    what: &str,
    mut weights: impl Iterator<Item = &'a Content>,
) -> Option<Finding> {
    let first = weights.next()?;
    let more = match weights.count() {
        0 => String::new(),
        1 => " (and one more weight)".to_owned(),
        more => format!(" (and {more} more weights)"),
    };
    let what = format!("{}: {what}{more}", loader.title());
    Some(of.finding(Kind::Loader, severity, of.stored(first), what, DEQUANTIZE))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_layout_and_loader_stands_once() {
        for (i, (layout, row)) in TABLE.iter().enumerate() {
            assert!(TABLE[..i].iter().all(|(other, _)| other != layout), "{layout}");
            for (j, (loader, _)) in row.iter().enumerate() {
                assert!(row[..j].iter().all(|(other, _)| other != loader), "{layout}: {loader:?}");
            }
        }
    }

    #[test]
    fn loaders_have_names_of_their_own() {
        for (i, loader) in Loader::ALL.iter().enumerate() {
            assert!(Loader::ALL[..i].iter().all(|other| other.name() != loader.name()), "{loader:?}");
            assert!(loader.title().to_lowercase().contains(loader.name()), "{loader:?}");
        }
    }
}
