//! ModelOpt: one `quant_algo` for all modules, or one for each. Scales multiply.
//!
//! Stacked experts are `X` [E, in, out], not `X.weight`, and their scale is `X_weight_scale`. FP8 experts are decoded. Packed ones are refused:
//! programs differ in the axis that is packed.

use std::collections::HashMap;

use lanecast::DType::{self, Float4E2M1FN, Float8E4M3FN, UInt8};
use lanecast_files::Result;
use serde_json::Value;

use super::{Context, Method, POWERS, WIDE, Weight, targets::glob, text, texts};
use crate::{
    coding::{Codes, Coding, Factor, Id, Packing},
    error::unsupported,
};

/// How an algorithm stores a weight.
struct Algorithm {
    name: &'static str,
    dtype: DType,
    build: fn(&Context<'_>, Id, Id, &str) -> Result<Coding>,
}

const ALGORITHMS: &[Algorithm] = &[
    Algorithm {
        name: "FP8",
        dtype: Float8E4M3FN,
        build: |of, codes, scale, _| fp8(of, codes, scale, [0, 0], WIDE),
    },
    Algorithm {
        name: "FP8_PER_CHANNEL_PER_TOKEN",
        dtype: Float8E4M3FN,
        build: |of, codes, scale, _| fp8(of, codes, scale, [1, 0], WIDE),
    },
    Algorithm {
        name: "FP8_PB_WO",
        dtype: Float8E4M3FN,
        build: |of, codes, scale, _| fp8(of, codes, scale, [128, 128], WIDE),
    },
    Algorithm {
        name: "MXFP8",
        dtype: Float8E4M3FN,
        build: |of, codes, scale, _| fp8(of, codes, scale, [1, 32], POWERS),
    },
    Algorithm { name: "NVFP4", dtype: UInt8, build: nvfp4 },
    Algorithm { name: "W4A16_NVFP4", dtype: UInt8, build: nvfp4 },
    Algorithm {
        name: "MXFP4",
        dtype: UInt8,
        build: |of, codes, scale, _| {
            of.expect(scale, POWERS)?;
            packed(of, codes, scale, 32)
        },
    },
];

pub(super) fn recognise(of: &Context<'_>) -> Result<Option<Box<dyn Method>>> {
    let named = ["modelopt", "modelopt_fp4", "modelopt_fp8", "modelopt_mixed", "modelopt_mxfp8"];
    let Some(config) = of.config().filter(|_| of.method().is_some_and(|method| named.contains(&&*method)))
    else {
        return Ok(None);
    };
    let known = |algo: &str| {
        let found = ALGORITHMS.iter().find(|known| known.name == algo.to_ascii_uppercase());
        found.ok_or_else(|| {
            unsupported(format!("the quant_algo \"{algo}\" of ModelOpt is not decoded"))
                .at_path(of.config_path())
        })
    };
    let mut layers = HashMap::new();
    for (module, layer) in config.get("quantized_layers").and_then(Value::as_object).into_iter().flatten() {
        layers.insert(module.clone(), known(text(layer, "quant_algo").unwrap_or_default())?);
    }
    let all = text(config, "quant_algo")
        .filter(|algo| !algo.eq_ignore_ascii_case("MIXED_PRECISION"))
        .map(known)
        .transpose()?;
    let excluded =
        ["ignore", "exclude_modules"].iter().flat_map(|key| texts(config, key)).map(str::to_owned).collect();
    Ok(Some(Box::new(ModelOpt { all, layers, excluded })))
}

struct ModelOpt {
    /// The algorithm of all modules that are not excluded.
    all: Option<&'static Algorithm>,
    /// The algorithm of each module, if they differ.
    layers: HashMap<String, &'static Algorithm>,
    excluded: Vec<String>,
}

impl Method for ModelOpt {
    fn name(&self) -> &'static str {
        "ModelOpt"
    }

    fn resolve(&self, of: &Context<'_>, codes: Id) -> Result<Option<Weight>> {
        let name = &of.tensor(codes).name;
        let Some(module) = name.strip_suffix(".weight") else { return self.stacked(of, codes) };
        let scale = of.find(&format!("{module}.weight_scale"));
        let dtype = of.dtype(codes);
        if scale.is_none() && !matches!(dtype, Some(Float8E4M3FN | UInt8)) {
            return Ok(None);
        }
        let all = self.all.filter(|_| !self.excluded.iter().any(|pattern| glob(pattern, module)));
        let algorithm = if self.layers.is_empty() { all } else { self.layers.get(module).copied() };
        let Some(algorithm) = algorithm else {
            return Err(of.disagree(codes, format!("that \"{module}\" is not quantized")));
        };
        if dtype != Some(algorithm.dtype) {
            return Err(of.disagree(codes, format!("the quant_algo {} for \"{module}\"", algorithm.name)));
        }
        if let Some(id) = of
            .find(&format!("{module}.pre_quant_scale"))
            .or_else(|| of.find(&format!("{module}.input_quantizer._pre_quant_scale")))
        {
            let what = "a pre_quant_scale multiplies the inputs of the module, so the weights alone are not those of a plain checkpoint";
            return Err(of.refused(id, what));
        }
        let scale = of.need(&format!("{module}.weight_scale"), codes)?;
        let coding = (algorithm.build)(of, codes, scale, module)?;
        let companions = coding.companions();
        Ok(Some(Weight { name: name.clone(), module: module.to_owned(), coding, companions }))
    }
}

impl ModelOpt {
    /// Stacked experts, if the tensor has those.
    fn stacked(&self, of: &Context<'_>, codes: Id) -> Result<Option<Weight>> {
        let (name, shape) = (&of.tensor(codes).name, of.shape(codes));
        let (Some(scale), [experts, rows, cols]) = (of.find(&format!("{name}_weight_scale")), shape) else {
            return Ok(None);
        };
        let all = self.all.filter(|_| !self.excluded.iter().any(|pattern| glob(pattern, name)));
        let Some(algorithm) = self.layers.get(name).copied().or(all) else {
            return Err(of.disagree(codes, format!("that \"{name}\" is not quantized")));
        };
        if algorithm.name != "FP8" {
            let what = format!("stacked experts of the quant_algo {} are not decoded", algorithm.name);
            return Err(of.refused(codes, what));
        }
        of.expect(codes, &[Float8E4M3FN])?;
        of.expect(scale, WIDE)?;
        // One scale for all experts, or one for each, whose rows are then a block.
        let rows_of_all = experts.checked_mul(*rows);
        let rows_of_all = rows_of_all.ok_or_else(|| of.wrong(codes, "the axes overflow"))?;
        let block = if of.tensor(scale).len() == 1 { [0, 0] } else { [*rows, 0] };
        let matrix = [rows_of_all, *cols];
        // The scale of each expert may have axes of length 1 behind it.
        let coding = Coding {
            scales: Some(of.scales(scale, &matrix, block)?),
            shape: shape.to_vec(),
            ..Coding::plain(codes, Codes::Float(Float8E4M3FN), &matrix)
        };
        let inputs = of.find(&format!("{name}_input_scale"));
        let companions = [scale].into_iter().chain(inputs).collect();
        Ok(Some(Weight { name: name.clone(), module: name.clone(), coding, companions }))
    }
}

fn fp8(of: &Context<'_>, codes: Id, scale: Id, block: [usize; 2], dtypes: &[DType]) -> Result<Coding> {
    of.expect(scale, dtypes)?;
    let shape = of.shape(codes);
    Ok(Coding {
        scales: Some(of.scales(scale, shape, block)?),
        ..Coding::plain(codes, Codes::Float(Float8E4M3FN), shape)
    })
}

fn packed(of: &Context<'_>, codes: Id, scale: Id, group: usize) -> Result<Coding> {
    let [leading @ .., bytes] = of.shape(codes) else {
        return Err(of.wrong(codes, "the codes have no axes"));
    };
    let shape = [leading, &[2 * bytes]].concat();
    let coding = Coding::packed(codes, Codes::Float(Float4E2M1FN), Packing::rows(4, *bytes), &shape);
    Ok(Coding { scales: Some(of.scales(scale, &shape, [1, group])?), ..coding })
}

fn nvfp4(of: &Context<'_>, codes: Id, scale: Id, module: &str) -> Result<Coding> {
    of.expect(scale, &[Float8E4M3FN])?;
    let global = of.need(&format!("{module}.weight_scale_2"), codes)?;
    Ok(Coding { factor: Factor::Times(global), ..packed(of, codes, scale, 16)? })
}
