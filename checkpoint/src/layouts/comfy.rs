//! ComfyUI: one file. The header, or a tensor of bytes beside each weight, names the format of a layer; scales are swizzled where the GPU
//! takes them so.

use std::collections::HashMap;

use lanecast::DType::{self, Float4E2M1FN, Float8E4M3FN, Float8E5M2, Int8, UInt8};
use lanecast_files::Result;
use serde_json::Value;

use super::{Context, FP8, Method, POWERS, WIDE, Weight, text};
use crate::{
    coding::{Codes, Coding, Factor, Id, Order, Packing, ScaleData, Scales},
    error::{invalid, unsupported},
    source::Stored,
};

/// The key of the metadata that describes the layers.
pub(crate) const METADATA: &str = "_quantization_metadata";
/// The version of the metadata.
pub(crate) const VERSION: &str = "1.0";
/// The end of the names of tensors that describe a layer.
const DESCRIPTION: &str = ".comfy_quant";
/// The name of the marker of older files.
const MARKER: &str = "scaled_fp8";

pub(super) fn recognise(of: &Context<'_>) -> Result<Option<Box<dyn Method>>> {
    let mut layers = HashMap::new();
    let mut found = of.any(|tensor| tensor.name.ends_with(DESCRIPTION) || is_marker(tensor));
    for file in &of.source.files {
        let Some((_, text)) = file.metadata.iter().find(|(key, _)| key == METADATA) else { continue };
        found = true;
        let json: Value = serde_json::from_str(text)
            .map_err(|e| invalid(format!("the metadata {METADATA} is bad JSON, {e}")).at_path(&file.path))?;
        // Files without a version are older than the number.
        if let Some(version) = json.get("format_version").filter(|version| version.as_str() != Some(VERSION))
        {
            let what = format!(
                "the metadata {METADATA} has the format_version {version}, which is not decoded; \"{VERSION}\" is"
            );
            return Err(unsupported(what).at_path(&file.path));
        }
        let Some(described) = json.get("layers").and_then(Value::as_object) else {
            let what = format!("the metadata {METADATA} has no object \"layers\"");
            return Err(invalid(what).at_path(&file.path));
        };
        for (module, layer) in described {
            layers.insert(module.clone(), layer.clone());
        }
    }
    Ok(found.then(|| Box::new(Comfy { layers }) as Box<dyn Method>))
}

fn is_marker(tensor: &Stored) -> bool {
    tensor.name.rsplit('.').next() == Some(MARKER)
}

struct Comfy {
    /// The layers that the header describes.
    layers: HashMap<String, Value>,
}

impl Comfy {
    /// The description of a layer. Names in the header may lack the beginning of the names of tensors.
    fn layer(&self, module: &str) -> Option<&Value> {
        let ends = std::iter::once(module).chain(module.match_indices('.').map(|(i, _)| &module[i + 1..]));
        ends.into_iter().find_map(|name| self.layers.get(name))
    }
}

impl Method for Comfy {
    fn name(&self) -> &'static str {
        "ComfyUI"
    }

    fn resolve(&self, of: &Context<'_>, codes: Id) -> Result<Option<Weight>> {
        let name = &of.tensor(codes).name;
        let Some(module) = name.strip_suffix(".weight") else { return Ok(None) };
        let beside = |end: &str| of.find(&format!("{module}.{end}"));
        let description = beside("comfy_quant");
        let own: Option<Value> = match description {
            Some(id) => {
                let bytes = of.source.read_all(of.tensor(id))?;
                Some(serde_json::from_slice(&bytes).map_err(|e| of.wrong(id, format!("bad JSON, {e}")))?)
            }
            None => self.layer(module).cloned(),
        };
        let older = beside("scale_weight");
        let (coding, mut companions) = match (own, older) {
            (Some(own), _) => {
                if own.get("convrot").is_some_and(|rotation| rotation != &Value::Bool(false)) {
                    return Err(of.refused(codes, "weights that are rotated (convrot) are not decoded"));
                }
                let format = text(&own, "format").unwrap_or_default();
                let build = match format {
                    "float8_e4m3fn" => e4m3,
                    "float8_e5m2" => e5m2,
                    "nvfp4" => nvfp4,
                    "mxfp8" => mxfp8,
                    "int8_tensorwise" => int8,
                    _ => {
                        return Err(
                            of.refused(codes, format!("the format \"{format}\" of ComfyUI is not decoded"))
                        );
                    }
                };
                build(of, codes, module)?
            }
            (None, Some(scale)) => {
                of.expect(codes, FP8)?;
                (scaled(of, codes, scale)?, vec![scale])
            }
            (None, None) => return Ok(None),
        };
        companions.extend(description.into_iter().chain(beside("scale_input")));
        Ok(Some(Weight { name: name.clone(), module: module.to_owned(), coding, companions }))
    }

    fn allows_plain_fp8(&self) -> bool {
        true
    }

    fn is_marker(&self, tensor: &Stored) -> bool {
        is_marker(tensor)
    }
}

/// One scale for the tensor.
fn scaled(of: &Context<'_>, codes: Id, scale: Id) -> Result<Coding> {
    of.expect(scale, WIDE)?;
    let shape = of.shape(codes);
    let values = of.dtype(codes).filter(|dtype| FP8.contains(dtype)).map_or(Codes::Signed, Codes::Float);
    Ok(Coding { scales: Some(of.scales(scale, shape, [0, 0])?), ..Coding::plain(codes, values, shape) })
}

fn e4m3(of: &Context<'_>, codes: Id, module: &str) -> Result<(Coding, Vec<Id>)> {
    one_scale(of, codes, module, Float8E4M3FN)
}

fn e5m2(of: &Context<'_>, codes: Id, module: &str) -> Result<(Coding, Vec<Id>)> {
    one_scale(of, codes, module, Float8E5M2)
}

fn int8(of: &Context<'_>, codes: Id, module: &str) -> Result<(Coding, Vec<Id>)> {
    one_scale(of, codes, module, Int8)
}

fn one_scale(of: &Context<'_>, codes: Id, module: &str, dtype: DType) -> Result<(Coding, Vec<Id>)> {
    of.expect(codes, &[dtype])?;
    let scale = of.need(&format!("{module}.weight_scale"), codes)?;
    Ok((scaled(of, codes, scale)?, vec![scale]))
}

fn nvfp4(of: &Context<'_>, codes: Id, module: &str) -> Result<(Coding, Vec<Id>)> {
    of.expect(codes, &[UInt8])?;
    let [rows, bytes] = of.matrix(codes)?;
    let (scale, global) = (
        of.need(&format!("{module}.weight_scale"), codes)?,
        of.need(&format!("{module}.weight_scale_2"), codes)?,
    );
    of.expect(scale, &[Float8E4M3FN])?;
    let packing = Packing::rows(4, bytes).with_order(Order::HighNibbleFirst);
    let coding = Coding::packed(codes, Codes::Float(Float4E2M1FN), packing, &[rows, 2 * bytes]);
    let coding = Coding {
        scales: Some(swizzled(of, scale, [rows, 2 * bytes], 16)?),
        factor: Factor::Times(global),
        ..coding
    };
    Ok((cut(of, coding, module, 16)?, vec![scale, global]))
}

fn mxfp8(of: &Context<'_>, codes: Id, module: &str) -> Result<(Coding, Vec<Id>)> {
    of.expect(codes, &[Float8E4M3FN])?;
    let shape = of.matrix(codes)?;
    let scale = of.need(&format!("{module}.weight_scale"), codes)?;
    of.expect(scale, POWERS)?;
    let scales = Scales { zero_is_zero: true, ..swizzled(of, scale, shape, 32)? };
    let coding = Coding { scales: Some(scales), ..Coding::plain(codes, Codes::Float(Float8E4M3FN), &shape) };
    Ok((cut(of, coding, module, 32)?, vec![scale]))
}

/// Scales in tiles of 128 rows by 4 columns, for each `group` elements of a row.
fn swizzled(of: &Context<'_>, scale: Id, [rows, cols]: [usize; 2], group: usize) -> Result<Scales> {
    let grid = [rows, cols.div_ceil(group)];
    let want = [rows.next_multiple_of(128), grid[1].next_multiple_of(4)];
    if of.shape(scale) != want {
        let what = format!(
            "the swizzled scales have the shape {:?}, and codes of {rows} by {cols} need {want:?}",
            of.shape(scale)
        );
        return Err(of.wrong(scale, what));
    }
    let data = ScaleData::Tensor(scale, of.scale_dtype(scale)?);
    Ok(Scales { data, block: [1, group], grid, swizzled: Some(want[1]), zero_is_zero: false })
}

/// The rows of a padded weight that its bias has an element for. Rows are padded to a multiple of `pad`. Padded columns are known only to the
/// model.
fn cut(of: &Context<'_>, coding: Coding, module: &str, pad: usize) -> Result<Coding> {
    let Some(bias) = of.find(&format!("{module}.bias")) else { return Ok(coding) };
    match of.shape(bias) {
        [rows] if *rows == coding.rows => Ok(coding),
        [rows] if rows.checked_next_multiple_of(pad) == Some(coding.rows) => {
            let cut = [*rows, coding.cols];
            Ok(Coding { elements: rows * coding.cols, shape: cut.to_vec(), cut: Some(cut), ..coding })
        }
        shape => {
            let codes = &of.tensor(coding.codes).name;
            let what = format!(
                "the bias has the shape {shape:?}, and \"{codes}\" has {} rows, padded to a multiple of {pad}",
                coding.rows
            );
            Err(of.wrong(bias, what))
        }
    }
}
