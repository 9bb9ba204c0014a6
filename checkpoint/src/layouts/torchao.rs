//! torchao: the metadata of the header has `tensor_names`, and for each weight its tensor class. `P.weight` is stored as `P._weight_qdata`,
//! `P._weight_scale` and `P._weight_zero_point`.

use std::collections::HashMap;

use lanecast::DType::{Float4E2M1FN, Float8E4M3FN, Int8, UInt8};
use lanecast_files::Result;
use serde_json::Value;

use super::{Context, FP8, Method, POWERS, WIDE, Weight, texts};
use crate::{
    coding::{Codes, Coding, Factor, Id, Packing, Zeros},
    error::unsupported,
};

/// The end of the name of the codes, behind the name of the weight.
const CODES: &str = "_qdata";

/// The names of the tensors of a class that are decoded.
const READ: &[&str] = &["qdata", "scale", "zero_point", "per_tensor_scale"];

/// The names of those that only a runtime with quantized activations uses.
const ACTIVATIONS: &[&str] =
    &["act_quant_scale", "act_quant_zero_point", "act_per_tensor_scale", "output_quant_scale"];

pub(super) fn recognise(of: &Context<'_>) -> Result<Option<Box<dyn Method>>> {
    let mut classes = HashMap::new();
    for file in &of.source.files {
        let find = |key: &str| file.metadata.iter().find(|(of, _)| of == key).map(|(_, text)| text);
        let Some(names) =
            find("tensor_names").and_then(|text| serde_json::from_str::<Vec<String>>(text).ok())
        else {
            continue;
        };
        for name in names {
            let value = find(&name).and_then(|text| serde_json::from_str::<Value>(text).ok());
            if let Some(value) = value.filter(|value| value.get("_type").is_some_and(Value::is_string)) {
                classes.insert(name, value);
            }
        }
    }
    if classes.is_empty() && of.method().is_some_and(|method| method == "torchao") {
        let what = "the configuration says torchao, and no header has \"tensor_names\" with the classes of the tensors";
        return Err(unsupported(what).at_path(of.config_path()));
    }
    Ok((!classes.is_empty()).then(|| Box::new(Torchao { classes }) as Box<dyn Method>))
}

struct Torchao {
    /// The description of every weight.
    classes: HashMap<String, Value>,
}

/// The tensors of a class that the values of the weight do not need. Fails if the class has a tensor that is not known or is missing.
fn activations(of: &Context<'_>, codes: Id, stored: &str, class: &Value) -> Result<Vec<Id>> {
    let mut listed = texts(class, "_tensor_data_names");
    if of.find(&format!("{stored}_act_pre_scale")).is_some() {
        listed.push("act_pre_scale");
    }
    let mut dropped = Vec::new();
    for name in listed {
        if name == "act_pre_scale" {
            let what = "act_pre_scale multiplies the inputs of the module, so the weights alone are not those of a plain checkpoint";
            return Err(of.refused(codes, what));
        }
        if !READ.contains(&name) && !ACTIVATIONS.contains(&name) {
            return Err(
                of.refused(codes, format!("the tensor \"{name}\" of torchao's classes is not decoded"))
            );
        }
        let id = of.need(&format!("{stored}_{name}"), codes)?;
        dropped.extend(ACTIVATIONS.contains(&name).then_some(id));
    }
    Ok(dropped)
}

impl Method for Torchao {
    fn name(&self) -> &'static str {
        "torchao"
    }

    fn resolve(&self, of: &Context<'_>, codes: Id) -> Result<Option<Weight>> {
        let Some(stored) = of.tensor(codes).name.strip_suffix(CODES) else { return Ok(None) };
        let Some((module, weight)) = stored.rsplit_once("._") else { return Ok(None) };
        let name = format!("{module}.{weight}");
        let class = self.classes.get(&name);
        let class =
            class.ok_or_else(|| of.wrong(codes, format!("the header does not describe \"{name}\"")))?;
        let dropped = activations(of, codes, stored, class)?;
        let beside = |end: &str| of.find(&format!("{stored}_{end}"));
        let scale = of.need(&format!("{stored}_scale"), codes)?;
        let zero = beside("zero_point");
        let shape = of.shape(codes);
        let data = class.get("_data").unwrap_or(&Value::Null);
        if ["is_swizzled_scales", "_is_swizzled_scales"]
            .iter()
            .any(|key| data.get(key) == Some(&Value::Bool(true)))
        {
            return Err(of.refused(codes, "scales that are swizzled (is_swizzled_scales) are not decoded"));
        }
        let block: Option<Vec<usize>> = data.get("block_size").and_then(|block| match block {
            Value::Array(axes) => axes.iter().map(|axis| axis.as_u64()?.try_into().ok()).collect(),
            one => Some(vec![1, one.as_u64()?.try_into().ok()?]),
        });
        let Some([rows, cols]) = block.as_deref() else {
            return Err(of.wrong(codes, "the header has no block_size of two numbers for the tensor"));
        };
        let block = [*rows, *cols];
        let integers = |coding: Coding| -> Result<Coding> {
            of.expect(codes, &[Int8])?;
            let zeros = match zero {
                Some(id) => {
                    of.expect(id, &[Int8])?;
                    let grid = coding.scales.as_ref().map_or(1, |scales| scales.grid[1]);
                    Zeros::Tensor { id, packing: Packing::bytes(grid), signed: true, less_one: false }
                }
                None => Zeros::None,
            };
            Ok(Coding { zeros, ..coding })
        };
        let scaled = |values: Codes| -> Result<Coding> {
            Ok(Coding {
                scales: Some(of.scales(scale, shape, block)?),
                ..Coding::plain(codes, values, shape)
            })
        };
        let nibbles = || -> Result<Coding> {
            of.expect(codes, &[UInt8, Float4E2M1FN])?;
            let [leading @ .., last] = shape else { return Err(of.wrong(codes, "the codes have no axes")) };
            let packed = of.dtype(codes) == Some(UInt8);
            let cols = if packed { 2 * last } else { *last };
            let shape = [leading, &[cols]].concat();
            let coding =
                Coding::packed(codes, Codes::Float(Float4E2M1FN), Packing::rows(4, cols / 2), &shape);
            Ok(Coding { scales: Some(of.scales(scale, &shape, block)?), ..coding })
        };
        let factor = beside("per_tensor_scale");
        let kind = class.get("_type").and_then(Value::as_str).unwrap_or_default();
        let dtypes = match kind {
            "MXTensor" => POWERS,
            "NVFP4Tensor" => &[Float8E4M3FN],
            _ => WIDE,
        };
        of.expect(scale, dtypes)?;
        let coding = match kind {
            "Float8Tensor" => {
                of.expect(codes, FP8)?;
                scaled(Codes::Float(of.dtype(codes).unwrap_or(Int8)))?
            }
            "Int8Tensor" | "IntxUnpackedToInt8Tensor" => integers(scaled(Codes::Signed)?)?,
            "MXTensor" if of.dtype(codes).is_some_and(|dtype| FP8.contains(&dtype)) => {
                scaled(Codes::Float(of.dtype(codes).unwrap_or(Int8)))?
            }
            "MXTensor" => nibbles()?,
            "NVFP4Tensor" => Coding { factor: factor.map_or(Factor::None, Factor::Times), ..nibbles()? },
            _ => return Err(of.refused(codes, format!("the tensor class {kind} of torchao is not decoded"))),
        };
        let companions = coding.companions().into_iter().chain(dropped).collect();
        Ok(Some(Weight { name, module: module.to_owned(), coding, companions }))
    }

    fn allows_plain_fp8(&self) -> bool {
        true
    }
}
