//! compressed-tensors: groups of modules, each with a format. `X.weight_packed` or `X.weight` with `X.weight_scale` and what the format adds.

use lanecast::DType::{
    self, Float4E2M1FN, Float6E2M3FN, Float8E4M3FN, Float8E8M0FNU, Int8, Int32, Int64, UInt8,
};
use lanecast_files::Result;
use serde_json::Value;

use super::{Context, FP8, Method, POWERS, WIDE, Weight, number, targets::Target, text, texts};
use crate::{
    coding::{Axis, Codes, Coding, Factor, Id, Packing, Zeros},
    error::unsupported,
};

/// How a format stores a weight.
struct Format {
    name: &'static str,
    /// The end of the name of the codes.
    codes: &'static str,
    dtypes: &'static [DType],
    /// Whether scales are powers of two.
    powers: bool,
    /// Whether a tensor states the shape.
    states_shape: bool,
    build: fn(&Part<'_>) -> Result<Coding>,
}

/// The formats. Codes without a configuration have the first one that fits their tensors.
const FORMATS: &[Format] = &[
    Format {
        name: "nvfp4-pack-quantized",
        codes: "weight_packed",
        dtypes: &[UInt8],
        powers: false,
        states_shape: false,
        build: nvfp4,
    },
    Format {
        name: "mxfp4-pack-quantized",
        codes: "weight_packed",
        dtypes: &[UInt8],
        powers: true,
        states_shape: false,
        build: mxfp4,
    },
    Format {
        name: "mxfp6-pack-quantized",
        codes: "weight_packed",
        dtypes: &[UInt8],
        powers: true,
        states_shape: false,
        build: mxfp6,
    },
    Format {
        name: "pack-quantized",
        codes: "weight_packed",
        dtypes: &[Int32],
        powers: false,
        states_shape: true,
        build: pack,
    },
    Format {
        name: "mxfp8-quantized",
        codes: "weight",
        dtypes: &[Float8E4M3FN],
        powers: true,
        states_shape: false,
        build: mxfp8,
    },
    Format {
        name: "float-quantized",
        codes: "weight",
        dtypes: FP8,
        powers: false,
        states_shape: false,
        build: float,
    },
    Format {
        name: "int-quantized",
        codes: "weight",
        dtypes: &[Int8],
        powers: false,
        states_shape: false,
        build: int,
    },
    Format {
        name: "naive-quantized",
        codes: "weight",
        dtypes: FP8,
        powers: false,
        states_shape: false,
        build: float,
    },
    Format {
        name: "naive-quantized",
        codes: "weight",
        dtypes: &[Int8],
        powers: false,
        states_shape: false,
        build: int,
    },
];

pub(super) fn recognise(of: &Context<'_>) -> Result<Option<Box<dyn Method>>> {
    let Some(method) = of.method() else {
        let found = of.any(|tensor| tensor.name.ends_with(".weight_packed"));
        return Ok(found
            .then(|| Box::new(Compressed { groups: Vec::new(), ignore: Vec::new(), declared: false }) as _));
    };
    let Some(config) = of.config() else { return Ok(None) };
    // The older name of the configuration says no method.
    let older = method.is_empty() && config.get("config_groups").is_some() && config.get("format").is_some();
    if method != "compressed-tensors" && !older {
        return Ok(None);
    }
    let refused = |what: String| unsupported(what).at_path(of.config_path());
    let is_set =
        |key: &str| config.get(key).is_some_and(|of| of.as_object().is_some_and(|of| !of.is_empty()));
    if is_set("transform_config") {
        return Err(refused("weights that are rotated (transform_config) are not decoded".to_owned()));
    }
    if is_set("sparsity_config")
        && config["sparsity_config"].get("format").and_then(Value::as_str) != Some("dense")
    {
        return Err(refused("sparse weights (sparsity_config) are not decoded".to_owned()));
    }
    let parse = |list: &Value, key: &str| {
        texts(list, key)
            .into_iter()
            .map(Target::parse)
            .collect::<Result<Vec<_>>>()
            .map_err(|e| e.at_path(of.config_path()))
    };
    let mut groups = Vec::new();
    for group in
        config.get("config_groups").and_then(Value::as_object).into_iter().flat_map(|groups| groups.values())
    {
        let weights = group.get("weights").cloned().unwrap_or(Value::Null);
        // A group without weights quantizes only activations.
        if weights.is_null() {
            continue;
        }
        let format = text(group, "format")
            .or_else(|| text(config, "format"))
            .filter(|name| *name != "mixed-precision");
        let format = format.unwrap_or_else(|| derived(&weights)).to_owned();
        if format == "dense" {
            continue;
        }
        if !FORMATS.iter().any(|known| known.name == format) {
            return Err(refused(format!("the format \"{format}\" of compressed-tensors is not decoded")));
        }
        groups.push((parse(group, "targets")?, Group { format, weights }));
    }
    let (targets, groups) = groups.into_iter().unzip::<_, _, Vec<_>, Vec<_>>();
    let groups = targets.into_iter().zip(groups).collect();
    Ok(Some(Box::new(Compressed { groups, ignore: parse(config, "ignore")?, declared: true })))
}

/// The format of weights whose group names none.
fn derived(weights: &Value) -> &'static str {
    let powers = text(weights, "scale_dtype") == Some("torch.uint8");
    match (
        text(weights, "type").unwrap_or("int"),
        number(weights, "num_bits").unwrap_or(8),
        number(weights, "group_size"),
    ) {
        ("float", 4, Some(32)) if powers => "mxfp4-pack-quantized",
        ("float", 4, _) => "nvfp4-pack-quantized",
        ("float", 6, _) => "mxfp6-pack-quantized",
        ("float", _, Some(32)) if powers => "mxfp8-quantized",
        ("float", ..) => "float-quantized",
        (_, 8, _) => "int-quantized",
        _ => "pack-quantized",
    }
}

struct Group {
    format: String,
    weights: Value,
}

struct Compressed {
    groups: Vec<(Vec<Target>, Group)>,
    ignore: Vec<Target>,
    declared: bool,
}

/// A weight that is to be resolved.
struct Part<'a> {
    of: &'a Context<'a>,
    module: &'a str,
    codes: Id,
    /// The arguments of its group; null without a configuration.
    weights: &'a Value,
}

impl Method for Compressed {
    fn name(&self) -> &'static str {
        "compressed-tensors"
    }

    fn resolve(&self, of: &Context<'_>, codes: Id) -> Result<Option<Weight>> {
        let name = &of.tensor(codes).name;
        let Some((module, end)) = name.rsplit_once('.') else { return Ok(None) };
        let dtype = of.dtype(codes);
        let scaled = of.find(&format!("{module}.weight_scale")).is_some();
        let is_code = dtype.is_some_and(|dtype| FP8.contains(&dtype) || dtype == Int8);
        if end != "weight_packed" && (end != "weight" || !scaled && !is_code) {
            return Ok(None);
        }
        let fits = |format: &&Format| {
            format.codes == end && dtype.is_some_and(|dtype| format.dtypes.contains(&dtype))
        };
        let (format, weights) = if self.declared {
            let group = Target::best(self.groups.iter().map(|(targets, _)| targets), module);
            let group = group.filter(|_| !self.ignore.iter().any(|target| target.names(module)));
            let Some((_, group)) = group.map(|i| &self.groups[i]) else {
                return Err(of.disagree(codes, format!("that \"{module}\" is not quantized")));
            };
            let format = FORMATS.iter().filter(|format| format.name == group.format).find(fits);
            let format = format
                .ok_or_else(|| of.disagree(codes, format!("the format {} for \"{module}\"", group.format)))?;
            (format, &group.weights)
        } else {
            let scale = of.find(&format!("{module}.weight_scale"));
            let powers = matches!(scale.and_then(|id| of.dtype(id)), Some(UInt8 | Float8E8M0FNU));
            let wanted = |format: &&Format| fits(format) && format.powers == powers;
            let format = FORMATS.iter().find(wanted);
            (
                format.ok_or_else(|| of.wrong(codes, "no format of compressed-tensors has such codes"))?,
                &Value::Null,
            )
        };
        let coding = (format.build)(&Part { of, module, codes, weights })?;
        let mut companions = coding.companions();
        if format.states_shape {
            companions.extend(of.find(&format!("{module}.weight_shape")));
        }
        Ok(Some(Weight { name: format!("{module}.weight"), module: module.to_owned(), coding, companions }))
    }
}

impl Part<'_> {
    fn beside(&self, end: &str) -> Option<Id> {
        self.of.find(&format!("{}.{end}", self.module))
    }

    fn need(&self, end: &str) -> Result<Id> {
        self.of.need(&format!("{}.{end}", self.module), self.codes)
    }

    /// The block that the strategy of the group names, or the one that the shape of the scales implies.
    fn block(&self, scale: Id, shape: &[usize]) -> [usize; 2] {
        let size = || number(self.weights, "group_size").unwrap_or(0);
        let structure: Vec<usize> = self
            .weights
            .get("block_structure")
            .and_then(Value::as_array)
            .into_iter()
            .flatten()
            .filter_map(|axis| axis.as_u64()?.try_into().ok())
            .collect();
        match text(self.weights, "strategy") {
            Some("tensor") => [0, 0],
            Some("channel") => [1, 0],
            Some("group" | "tensor_group") => [1, size()],
            Some("block") if structure.len() == 2 => [structure[0], structure[1]],
            _ => self.of.implied_block(scale, shape),
        }
    }

    /// Packed microscaled floats of a number of bits.
    fn packed(&self, element: DType, bits: u32, group: usize) -> Result<Coding> {
        let scale = self.need("weight_scale")?;
        let [leading @ .., bytes] = self.of.shape(self.codes) else {
            return Err(self.of.wrong(self.codes, "the codes have no axes"));
        };
        let shape = [leading, &[bytes * 8 / bits as usize]].concat();
        let coding = Coding::packed(self.codes, Codes::Float(element), Packing::rows(bits, *bytes), &shape);
        Ok(Coding { scales: Some(self.of.scales(scale, &shape, [1, group])?), ..coding })
    }

    /// The zero points that are stored beside scales, as they are.
    fn zeros(&self) -> Result<Option<Id>> {
        let id = self.beside("weight_zero_point");
        if id.is_none() && self.weights.get("symmetric") == Some(&Value::Bool(false)) {
            self.need("weight_zero_point")?;
        }
        Ok(id)
    }
}

fn nvfp4(part: &Part<'_>) -> Result<Coding> {
    part.of.expect(part.need("weight_scale")?, &[Float8E4M3FN])?;
    let global = part.need("weight_global_scale")?;
    Ok(Coding { factor: Factor::Over(global), ..part.packed(Float4E2M1FN, 4, 16)? })
}

fn mxfp4(part: &Part<'_>) -> Result<Coding> {
    part.of.expect(part.need("weight_scale")?, POWERS)?;
    part.packed(Float4E2M1FN, 4, 32)
}

fn mxfp6(part: &Part<'_>) -> Result<Coding> {
    part.of.expect(part.need("weight_scale")?, POWERS)?;
    part.packed(Float6E2M3FN, 6, 32)
}

fn mxfp8(part: &Part<'_>) -> Result<Coding> {
    let (scale, shape) = (part.need("weight_scale")?, part.of.shape(part.codes));
    part.of.expect(scale, POWERS)?;
    let coding = Coding::plain(part.codes, Codes::Float(Float8E4M3FN), shape);
    Ok(Coding { scales: Some(part.of.scales(scale, shape, [1, 32])?), ..coding })
}

fn float(part: &Part<'_>) -> Result<Coding> {
    let (scale, shape) = (part.need("weight_scale")?, part.of.shape(part.codes));
    part.of.expect(scale, WIDE)?;
    let values = Codes::Float(part.of.dtype(part.codes).unwrap_or(Float8E4M3FN));
    let scales = part.of.scales(scale, shape, part.block(scale, shape))?;
    Ok(Coding { scales: Some(scales), ..Coding::plain(part.codes, values, shape) })
}

fn int(part: &Part<'_>) -> Result<Coding> {
    let (scale, shape) = (part.need("weight_scale")?, part.of.shape(part.codes));
    part.of.expect(scale, WIDE)?;
    let scales = part.of.scales(scale, shape, part.block(scale, shape))?;
    let zeros = match part.zeros()? {
        Some(id) => {
            part.of.expect(id, &[Int8])?;
            Zeros::Tensor { id, packing: Packing::bytes(scales.grid[1]), signed: true, less_one: false }
        }
        None => Zeros::None,
    };
    Ok(Coding { scales: Some(scales), zeros, ..Coding::plain(part.codes, Codes::Signed, shape) })
}

fn pack(part: &Part<'_>) -> Result<Coding> {
    let of = part.of;
    let (scale, stated) = (part.need("weight_scale")?, part.need("weight_shape")?);
    of.expect(scale, WIDE)?;
    of.expect(stated, &[Int64, Int32])?;
    let size = if of.dtype(stated) == Some(Int64) { 8 } else { 4 };
    let bytes = of.source.read_all(of.tensor(stated))?;
    // What is too large for this machine is larger than any tensor here.
    let axis = |bytes: &[u8]| {
        bytes.iter().rev().fold(0_usize, |n, byte| n.saturating_mul(256).saturating_add(usize::from(*byte)))
    };
    let shape: Vec<usize> = bytes.chunks_exact(size).map(axis).collect();
    let ([rows, words], [n, k]) = (of.matrix(part.codes)?, &shape[..]) else {
        return Err(of.wrong(stated, "weight_shape must have two numbers"));
    };
    let derived = (words * 32).checked_div(*k).unwrap_or(0);
    let bits = number(part.weights, "num_bits").unwrap_or(derived);
    let words_of = |bits: usize| k.checked_mul(bits).map(|n| n.div_ceil(32));
    if !(1..=8).contains(&bits) || rows != *n || words_of(bits) != Some(words) {
        return Err(of.disagree(part.codes, format!("{bits} bits for a weight {shape:?} (by weight_shape)")));
    }
    let bits = bits as u32;
    let scales = of.scales(scale, &shape, part.block(scale, &shape))?;
    let zeros = match part.zeros()? {
        Some(id) => {
            of.expect(id, &[Int32])?;
            Zeros::Tensor {
                id,
                packing: Packing::columns(bits, scales.grid[1]),
                signed: false,
                less_one: false,
            }
        }
        // Codes are stored with this offset, and so are zero points.
        None => Zeros::Constant(1 << (bits - 1)),
    };
    // The other orders, "static" and "weight", leave the groups in the order of the columns.
    let ordered = part.weights.get("actorder").is_some_and(|order| {
        order == &Value::Bool(true) || order.as_str().is_some_and(|order| order.eq_ignore_ascii_case("group"))
    });
    let groups = if ordered { Some(part.need("weight_g_idx")?) } else { part.beside("weight_g_idx") };
    if let Some(id) = groups {
        of.expect(id, &[Int32])?;
    }
    let groups = groups.map(|id| (id, Axis::Columns));
    let coding = Coding::packed(part.codes, Codes::Unsigned, Packing::rows(bits, 4 * words), &shape);
    Ok(Coding { scales: Some(scales), zeros, groups, ..coding })
}
