//! MLX: `weight` U32 [N, K b/32], dense, with `scales` and `biases` [N, K/g]; or microscaled modes with `scales` of bytes.

use lanecast::DType::{self, Float4E2M1FN, Float8E4M3FN, Float8E8M0FNU, UInt8, UInt32};
use lanecast_files::Result;
use serde_json::Value;

use super::{Context, Method, WIDE, Weight, number, text};
use crate::{
    coding::{Codes, Coding, Factor, Id, Packing, ScaleData},
    error::invalid,
};

pub(super) fn recognise(of: &Context<'_>) -> Result<Option<Box<dyn Method>>> {
    let codes = |name: &str| {
        let beside = name.strip_suffix(".weight").and_then(|module| of.find(&format!("{module}.scales")));
        beside.is_some()
    };
    let found = of.any(|tensor| tensor.dtype() == Some(UInt32) && codes(&tensor.name));
    let config =
        of.source.config.as_ref().and_then(|file| file.value.get("quantization")).or_else(|| of.config());
    let config =
        config.filter(|config| number(config, "bits").is_some() && config.get("group_size").is_some());
    match (found, config) {
        (true, Some(config)) => Ok(Some(Box::new(Mlx { config: config.clone() }))),
        (true, None) => {
            let what = "the tensors are those of MLX, and the configuration has no \"quantization\" with bits and group_size";
            Err(invalid(what).at_path(&of.source.folder.join("config.json")))
        }
        (false, _) => Ok(None),
    }
}

struct Mlx {
    config: Value,
}

/// A microscaled mode: its name, codes, their bits, scales, and elements of a group.
const MODES: &[(&str, DType, u32, DType, usize)] = &[
    ("mxfp4", Float4E2M1FN, 4, Float8E8M0FNU, 32),
    ("mxfp8", Float8E4M3FN, 8, Float8E8M0FNU, 32),
    ("nvfp4", Float4E2M1FN, 4, Float8E4M3FN, 16),
];

impl Method for Mlx {
    fn name(&self) -> &'static str {
        "MLX"
    }

    fn telling(&self) -> &'static [&'static str] {
        &[".scales", ".qbiases"]
    }

    fn resolve(&self, of: &Context<'_>, codes: Id) -> Result<Option<Weight>> {
        let name = &of.tensor(codes).name;
        let Some(module) = name.strip_suffix(".weight").filter(|_| of.dtype(codes) == Some(UInt32)) else {
            return Ok(None);
        };
        let own = self.config.get(module);
        if own == Some(&Value::Bool(false)) {
            let what = format!("config.json says that \"{module}\" is not quantized, and it has codes");
            return Err(of.wrong(codes, what));
        }
        let own = own.filter(|own| own.is_object()).unwrap_or(&self.config);
        let get = |key: &str| number(own, key).or_else(|| number(&self.config, key)).unwrap_or(0);
        let mode = text(own, "mode").unwrap_or("affine");
        let scales = of.need(&format!("{module}.scales"), codes)?;
        let [leading @ .., words] = of.shape(codes) else {
            return Err(of.wrong(codes, "the codes have no axes"));
        };
        let shape = |bits: usize| -> Result<Vec<usize>> {
            match bits {
                1..=8 => Ok([leading, &[words * 32 / bits]].concat()),
                _ => Err(of.refused(codes, format!("MLX of {bits} bits is not decoded"))),
            }
        };
        let (coding, companions) = if mode == "affine" {
            of.expect(scales, WIDE)?;
            // transformers has another name for it.
            let biases = of.find(&format!("{module}.qbiases"));
            let biases = biases.map_or_else(|| of.need(&format!("{module}.biases"), codes), Ok)?;
            if of.dtype(biases) != of.dtype(scales) || of.shape(biases) != of.shape(scales) {
                return Err(of.wrong(
                    biases,
                    format!("the biases must be {}, as the scales", of.tensor(scales).described()),
                ));
            }
            let shape = shape(get("bits"))?;
            let coding =
                Coding::packed(codes, Codes::Unsigned, Packing::rows(get("bits") as u32, 4 * words), &shape);
            let scales = of.scales(scales, &shape, [1, get("group_size")])?;
            (Coding { scales: Some(scales), biases: Some(biases), ..coding }, vec![biases])
        } else {
            let known = MODES.iter().find(|(name, ..)| *name == mode);
            let Some((_, element, bits, scale, group)) = known else {
                return Err(of.refused(codes, format!("the mode \"{mode}\" of MLX is not decoded")));
            };
            of.expect(scales, &[UInt8])?;
            let shape = shape(*bits as usize)?;
            let mut grid = of.scales(scales, &shape, [1, *group])?;
            grid.data = ScaleData::Tensor(scales, *scale);
            let global = of.find(&format!("{module}.global_scale"));
            let factor = global.map_or(Factor::None, Factor::Times);
            let coding =
                Coding::packed(codes, Codes::Float(*element), Packing::rows(*bits, 4 * words), &shape);
            (Coding { scales: Some(grid), factor, ..coding }, global.into_iter().collect())
        };
        let companions = companions.into_iter().chain([scales]).collect();
        Ok(Some(Weight { name: name.clone(), module: module.to_owned(), coding, companions }))
    }
}
