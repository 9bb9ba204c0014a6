//! Recognises quantized checkpoints: weights stored as codes, with scales in tensors beside them.
//!
//! A cast reads each tensor as numbers. Codes and scales are not numbers of their own: a code without its scale, or two codes packed in
//! a byte, cast to another dtype, are no weights any more, and no reader can tell. So a plan refuses to cast them, unless the job
//! allows it.
//!
//! There are two kinds of evidence: names and dtypes of tensors ([`LAYOUTS`], one row per layout), and the configuration beside the file
//! ([`CONFIGS`]), which also covers shards whose scales are in another shard.

use std::{
    collections::{BTreeMap, HashMap},
    fmt::Write as _,
    fs::File,
    io::Read,
    path::Path,
};

use lanecast::DType::{
    self, Float4E2M1FN, Float8E4M3FN, Float8E4M3FNUZ, Float8E5M2, Float8E5M2FNUZ, Float8E8M0FNU, Int8, UInt8,
    UInt32,
};
use serde_json::Value;

use crate::{
    error::{Error, Remedy, Result},
    formats::format::quoted,
    path::folder,
};

/// A layout of quantized weights.
#[derive(Debug)]
struct Layout {
    /// What it is called.
    name: &'static str,
    /// The tensors that identify it. All of them are present.
    marks: &'static [Mark],
    /// Other tensors that may belong to the same weight, by the ends of their names.
    others: &'static [&'static str],
}

/// A tensor of a layout: the end of its name, after the name that all tensors of the weight share, and its dtypes; none means any.
type Mark = (&'static str, &'static [DType]);

/// Codes of 8 bits.
const FP8: &[DType] = &[Float8E4M3FN, Float8E5M2, Float8E4M3FNUZ, Float8E5M2FNUZ];
const CODES: &[DType] =
    &[Float8E4M3FN, Float8E5M2, Float8E4M3FNUZ, Float8E5M2FNUZ, Float4E2M1FN, Int8, UInt8];

/// All layouts. The first that fits a tensor is its layout, so a row comes before rows that need less.
const LAYOUTS: &[Layout] = &[
    Layout {
        name: "ComfyUI",
        marks: &[(".comfy_quant", &[])],
        others: &[".weight", ".weight_scale", ".weight_scale_2", ".input_scale"],
    },
    Layout {
        name: "ComfyUI scaled fp8",
        marks: &[(".scale_weight", &[]), (".weight", FP8)],
        others: &[".scale_input"],
    },
    Layout {
        name: "torchao",
        marks: &[("_weight_qdata", &[])],
        others: &["_weight_scale", "_weight_zero_point"],
    },
    Layout {
        name: "compressed-tensors, packed",
        marks: &[(".weight_packed", &[])],
        others: &[
            ".weight_scale",
            ".weight_global_scale",
            ".weight_zero_point",
            ".weight_shape",
            ".weight_g_idx",
        ],
    },
    Layout { name: "GPTQ", marks: &[(".qweight", &[]), (".g_idx", &[])], others: &[".qzeros", ".scales"] },
    Layout {
        name: "AWQ, or GPTQ without g_idx",
        marks: &[(".qweight", &[]), (".scales", &[])],
        others: &[".qzeros"],
    },
    Layout { name: "ExLlamaV2", marks: &[(".q_weight", &[]), (".q_scale", &[])], others: &[".q_scale_max"] },
    Layout { name: "HQQ", marks: &[(".W_q", &[])], others: &[".scale", ".zero"] },
    Layout { name: "AQLM", marks: &[(".codes", &[]), (".codebooks", &[])], others: &[".scales"] },
    Layout {
        name: "bitsandbytes, 4 bits",
        marks: &[(".absmax", &[]), ("", &[])],
        others: &[
            ".quant_map",
            ".nested_absmax",
            ".nested_quant_map",
            ".quant_state.bitsandbytes__nf4",
            ".quant_state.bitsandbytes__fp4",
        ],
    },
    Layout {
        name: "bitsandbytes, 8 bits",
        marks: &[(".SCB", &[]), (".weight", &[Int8])],
        others: &[".weight_format"],
    },
    Layout {
        name: "MXFP4 of gpt-oss",
        marks: &[("_blocks", &[UInt8]), ("_scales", &[UInt8, Float8E8M0FNU])],
        others: &[],
    },
    Layout {
        name: "NVFP4 of ModelOpt",
        marks: &[("_scale_2", &[]), ("", &[UInt8, Float4E2M1FN])],
        others: &["_scale"],
    },
    Layout { name: "MXFP8", marks: &[("_scale_inv", &[UInt8])], others: &[""] },
    Layout { name: "block-scaled fp8 of DeepSeek", marks: &[("_scale_inv", &[])], others: &[""] },
    Layout { name: "DeepSeek V4", marks: &[(".scale", &[Float8E8M0FNU]), (".weight", CODES)], others: &[] },
    Layout {
        name: "scaled codes, as of compressed-tensors, ModelOpt and Quark",
        marks: &[("_scale", &[]), ("", CODES)],
        others: &["_zero_point"],
    },
    Layout { name: "EETQ", marks: &[("_scales", &[]), ("", &[Int8, UInt8])], others: &[] },
    Layout {
        name: "scaled fp8 of Mistral",
        marks: &[(".qscale_weight", &[]), (".weight", FP8)],
        others: &[".qscale_act"],
    },
    Layout { name: "MLX", marks: &[(".scales", &[]), (".weight", &[UInt32])], others: &[".biases"] },
];

/// The files of a checkpoint that say how it is quantized, and where: the path of an object, none for the whole file.
const CONFIGS: &[(&str, &[&str])] = &[
    ("config.json", &["quantization_config"]),
    ("config.json", &["text_config", "quantization_config"]),
    ("config.json", &["compression_config"]),
    ("config.json", &["quantization"]),
    ("hf_quant_config.json", &["quantization"]),
    ("quantize_config.json", &[]),
];

/// The members of such an object that name the method, the most telling first.
const METHODS: &[&str] = &["quant_method", "method", "quant_algo", "mode", "bits"];

/// The most bytes of a configuration that are read.
const LONGEST_CONFIG: u64 = 16 << 20;

/// A tensor as a file lists it: its name, and its dtype if it has one.
type Listed<'a> = (&'a str, Option<DType>);

/// What is quantized in a file.
#[derive(Debug, Default)]
pub(crate) struct Quantized {
    /// The number of the weight that each tensor belongs to.
    tensors: HashMap<String, usize>,
    /// The weights: their layouts, and the tensors that identify them.
    weights: Vec<(&'static Layout, Vec<String>)>,
    /// What the configuration says, and where.
    config: Option<String>,
}

impl Quantized {
    /// What is quantized among `tensors`, and what the configuration beside the file `path` says.
    pub(crate) fn find<'a>(path: &Path, tensors: impl Iterator<Item = Listed<'a>> + Clone) -> Self {
        let dtypes: HashMap<&str, Option<DType>> = tensors.clone().collect();
        let mut found = Self { config: config_beside(path), ..Self::default() };
        for layout in LAYOUTS {
            for (name, dtype) in tensors.clone() {
                let weight = layout.weight(name, dtype, &dtypes);
                if let Some(weight) = weight.filter(|_| !found.tensors.contains_key(name)) {
                    found.add(layout, weight, &dtypes);
                }
            }
        }
        found
    }

    /// Adds the weight `weight` in the layout, with all its tensors that are in the file.
    fn add(&mut self, layout: &'static Layout, weight: &str, dtypes: &HashMap<&str, Option<DType>>) {
        let number = self.weights.len();
        let names =
            |end: &'static str| Some(format!("{weight}{end}")).filter(|name| dtypes.contains_key(&**name));
        let marks: Vec<String> = layout.marks.iter().filter_map(|(end, _)| names(end)).collect();
        let others = layout.others.iter().filter_map(|end| names(end));
        for name in marks.iter().cloned().chain(others) {
            self.tensors.entry(name).or_insert(number);
        }
        self.weights.push((layout, marks));
    }

    /// Fails if a cast of `tensor` reads codes or scales as numbers. The scales of a code may be in another file: where the configuration
    /// says that the checkpoint is quantized, every tensor of codes counts, and if no layout is found, every tensor.
    pub(crate) fn check(&self, tensor: &str, dtype: Option<DType>) -> Result<()> {
        let weight = self.tensors.get(tensor);
        let code = self.weights.is_empty() || dtype.is_some_and(|dtype| CODES.contains(&dtype));
        if weight.is_none() && !(self.config.is_some() && code) {
            return Ok(());
        }
        let mut what = "a cast of codes or scales alone destroys quantized weights".to_owned();
        // Writing to a String does not fail.
        if let Some((layout, marks)) = weight.and_then(|number| self.weights.get(*number)) {
            let names: Vec<String> = marks.iter().map(|name| format!("\"{name}\"")).collect();
            let more = self.weights.len() - 1;
            let have = if names.len() == 1 { "has" } else { "have" };
            let _ = write!(what, "; {} {have} the layout \"{}\"", names.join(" and "), layout.name);
            match more {
                0 => {}
                1 => what.push_str(", and so has another weight"),
                more => {
                    let _ = write!(what, ", and so have {more} other weights");
                }
            }
        }
        if let Some(config) = &self.config {
            let _ = write!(what, "; {config}");
        }
        Err(Error::unsupported(what).at(quoted("tensor", tensor)).advise(Remedy::AllowQuantized))
    }
}

impl Layout {
    /// The name that the tensors of the weight share, if `name` is the first mark of this layout and the others are in the file.
    fn weight<'a>(
        &self,
        name: &'a str,
        dtype: Option<DType>,
        dtypes: &HashMap<&str, Option<DType>>,
    ) -> Option<&'a str> {
        let fits = |wanted: &[DType], dtype: Option<DType>| {
            wanted.is_empty() || dtype.is_some_and(|dtype| wanted.contains(&dtype))
        };
        let ((end, wanted), rest) = self.marks.split_first()?;
        let weight = name.strip_suffix(end).filter(|_| fits(wanted, dtype))?;
        let others = rest.iter().all(|(end, wanted)| {
            dtypes.get(format!("{weight}{end}").as_str()).is_some_and(|dtype| fits(wanted, *dtype))
        });
        others.then_some(weight)
    }
}

/// What the configuration beside the file `path` says about quantization.
fn config_beside(path: &Path) -> Option<String> {
    // Standard input has no neighbours, and neither has a pipe.
    let folder = path.is_file().then(|| folder(path))?;
    let mut read = BTreeMap::new();
    CONFIGS.iter().find_map(|(file, keys)| {
        let config = read.entry(*file).or_insert_with(|| json(&folder.join(file))).as_ref()?;
        let object = keys.iter().try_fold(config, |value, key| value.get(key))?.as_object()?;
        let method = METHODS.iter().find_map(|key| {
            let value = object.get(*key).filter(|value| value.is_string() || value.is_number())?;
            Some(format!("{key} {value}"))
        })?;
        Some(format!("{file} has the {method}"))
    })
}

fn json(path: &Path) -> Option<Value> {
    let file = File::open(path).ok()?;
    serde_json::from_reader(file.take(LONGEST_CONFIG)).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_layout_is_found_by_its_marks() {
        for layout in LAYOUTS {
            let marks = layout.marks.iter().map(|(end, dtypes)| {
                (format!("model.up.weight{end}"), Some(dtypes.first().copied().unwrap_or(DType::Float16)))
            });
            let marks: Vec<_> = marks.collect();
            let listed = marks.iter().map(|(name, dtype)| (name.as_str(), *dtype));
            let found = Quantized::find(Path::new("/nowhere/a.safetensors"), listed);
            let layouts: Vec<&str> = found.weights.iter().map(|(layout, _)| layout.name).collect();
            assert_eq!(layouts, [layout.name]);
            for (name, dtype) in &marks {
                let error = found.check(name, *dtype).expect_err(name).to_string();
                assert!(error.contains(layout.name) && error.contains(name.as_str()), "{error}");
            }
            assert!(found.check("model.norm.weight", Some(DType::BFloat16)).is_ok());
        }
    }

    #[test]
    fn plain_tensors_are_not_quantized() {
        let plain = [
            ("a.weight", DType::Float8E4M3FN),
            ("a.hc_attn_scale", DType::Float32),
            ("b.scale", DType::Float32),
            ("b.weight", DType::Float32),
            ("c.weight_scale", DType::Float32),
            ("c.weight", DType::BFloat16),
            ("d.scales", DType::Float16),
        ];
        let found = Quantized::find(
            Path::new("/nowhere/a.safetensors"),
            plain.iter().map(|(name, dtype)| (*name, Some(*dtype))),
        );
        assert!(plain.iter().all(|(name, dtype)| found.check(name, Some(*dtype)).is_ok()), "{found:?}");
    }
}
