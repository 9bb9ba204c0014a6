//! 8-bit floats in blocks, as DeepSeek stores them, and what derives from it: `weight_scale_inv` (a multiplier, despite its name) for each
//! tile; `.scale` and experts of 4-bit floats in DeepSeek V4; scales of bytes for 32 codes (`mxfp8`); one scale for the tensor.
//!
//! The configuration gives the block, not the quotient of the shapes, which is wrong where the last tile is partial.

use lanecast::DType::{self, Float4E2M1FN, Float8E8M0FNU, Int8, UInt8};
use lanecast_files::Result;
use serde_json::Value;

use super::{Context, FP8, Method, WIDE, Weight};
use crate::{
    coding::{Codes, Coding, Id, Packing},
    error::invalid,
    source::Stored,
};

/// The ends of the names of scales, behind the name of the codes without `weight`.
const SCALES: [&str; 4] = ["weight_scale_inv", "scale", "weight_scale", "qscale_weight"];

pub(super) fn recognise(of: &Context<'_>) -> Result<Option<Box<dyn Method>>> {
    let Some(method) = of.method() else {
        let found = of.any(|tensor| {
            tensor.name.ends_with("_scale_inv")
                || tensor.name.ends_with(".scale") && tensor.dtype() == Some(Float8E8M0FNU)
        });
        return Ok(found.then(|| {
            Box::new(BlockFp8 { block: None, declared: false, doubt: doubt(of) }) as Box<dyn Method>
        }));
    };
    let Some(config) = of.config().filter(|_| ["fp8", "mxfp8"].contains(&&*method)) else { return Ok(None) };
    let block = match config.get("weight_block_size") {
        None | Some(Value::Null) => (method == "mxfp8").then_some([1, 32]),
        Some(block) => {
            let axes: Option<Vec<usize>> = block.as_array().map(|axes| {
                axes.iter()
                    .filter_map(|axis| axis.as_u64().and_then(|axis| usize::try_from(axis).ok()))
                    .collect()
            });
            match axes.as_deref() {
                Some([rows, cols]) if *rows > 0 && *cols > 0 => Some([*rows, *cols]),
                _ => {
                    let what = format!("weight_block_size must be two positive numbers, not {block}");
                    return Err(invalid(what).at_path(of.config_path()));
                }
            }
        }
    };
    Ok(Some(Box::new(BlockFp8 { block, declared: true, doubt: doubt(of) })))
}

struct BlockFp8 {
    block: Option<[usize; 2]>,
    /// Whether a configuration declares it, or that there is none.
    declared: bool,
    /// What is doubtful about the experts.
    doubt: Option<String>,
}

/// A warning if `expert_dtype` of the configuration is not what the experts are stored as. The dtypes are believed.
fn doubt(of: &Context<'_>) -> Option<String> {
    let config = of.source.config.as_ref()?;
    let declared = ["", "/text_config", "/quantization_config"]
        .iter()
        .find_map(|place| config.value.pointer(&format!("{place}/expert_dtype")).and_then(Value::as_str))?;
    let is_expert = |tensor: &&Stored| tensor.name.contains(".experts.") && tensor.name.ends_with(".weight");
    let expert = of.source.tensors.iter().find(is_expert)?;
    let fits = match declared {
        "fp8" => expert.dtype().is_some_and(|dtype| FP8.contains(&dtype)),
        "fp4" => matches!(expert.dtype(), Some(Int8 | UInt8 | Float4E2M1FN)),
        _ => true,
    };
    (!fits).then(|| {
        format!(
            "{}: expert_dtype is \"{declared}\", and the tensor \"{}\" is {}; it is read as that",
            config.path.display(),
            expert.name,
            expert.described()
        )
    })
}

impl Method for BlockFp8 {
    fn name(&self) -> &'static str {
        "block fp8"
    }

    fn warnings(&self) -> Vec<String> {
        self.doubt.iter().cloned().collect()
    }

    fn resolve(&self, of: &Context<'_>, codes: Id) -> Result<Option<Weight>> {
        let name = &of.tensor(codes).name;
        // Experts are 4-bit floats, declared as they are or as the bytes of two.
        let experts = [Int8, UInt8, Float4E2M1FN];
        let known = |dtype: &DType| FP8.contains(dtype) || experts.contains(dtype);
        let Some(dtype) = of.dtype(codes).filter(known) else {
            return Ok(None);
        };
        let module = name.strip_suffix(".weight");
        let stem = module.unwrap_or(name);
        let beside = |end: &str| match module {
            Some(module) => of.find(&format!("{module}.{end}")),
            // Stacked experts have no `weight` in their names.
            None => of.find(&format!("{stem}_{}", end.trim_start_matches("weight_"))),
        };
        let Some(scale) = SCALES.iter().find_map(|end| beside(end)) else {
            // Integers may be a table; floats of 8 bits are codes.
            return match dtype {
                Int8 | UInt8 => Ok(None),
                _ => Err(of.wrong(
                    codes,
                    format!("the codes need scales, such as \"{stem}.weight_scale_inv\", which are missing"),
                )),
            };
        };
        let powers = matches!(of.dtype(scale), Some(Float8E8M0FNU | UInt8));
        if !powers {
            of.expect(scale, WIDE)?;
        }
        let stored = of.shape(codes);
        let coding = if experts.contains(&dtype) {
            let [leading @ .., last] = stored else { return Err(of.wrong(codes, "the codes have no axes")) };
            if !powers {
                return Err(of.wrong(
                    codes,
                    format!(
                        "4-bit experts need scales of powers of two, not {}",
                        of.tensor(scale).described()
                    ),
                ));
            }
            let cols = if dtype == Float4E2M1FN { *last } else { 2 * last };
            if cols % 2 == 1 {
                return Err(of.wrong(codes, "rows of 4-bit floats must have whole bytes"));
            }
            let shape = [leading, &[cols]].concat();
            let coding =
                Coding::packed(codes, Codes::Float(Float4E2M1FN), Packing::rows(4, cols / 2), &shape);
            Coding { scales: Some(of.scales(scale, &shape, [1, 32])?), ..coding }
        } else {
            let block = match self.block {
                _ if of.tensor(scale).len() == 1 && self.block.is_none() => [0, 0],
                Some(block) => block,
                None if self.declared => of.implied_block(scale, stored),
                None if powers && of.dtype(scale) == Some(UInt8) => [1, 32],
                None => of.implied_block(scale, stored),
            };
            Coding {
                scales: Some(of.scales(scale, stored, block)?),
                ..Coding::plain(codes, Codes::Float(dtype), stored)
            }
        };
        let (name, module) = (name.clone(), stem.to_owned());
        Ok(Some(Weight { name, module, coding, companions: vec![scale] }))
    }
}
