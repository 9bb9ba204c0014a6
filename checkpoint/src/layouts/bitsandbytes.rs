//! bitsandbytes: 4-bit codes of a table, in blocks of the flat tensor, whose description is JSON in a tensor of bytes; and int8 with the
//! largest magnitude of each row.

use std::sync::Arc;

use lanecast::DType::{self, Float32, Int8, UInt8};
use lanecast_files::Result;
use serde_json::Value;

use super::{Context, Method, Weight, number, text};
use crate::coding::{Codes, Coding, Factor, Id, Nested, Order, Packing, ScaleData, Scales, Zeros};

/// The ends of the names of descriptions, behind the name of the codes.
const STATES: [&str; 2] = [".quant_state.bitsandbytes__nf4", ".quant_state.bitsandbytes__fp4"];

/// The largest block that is read; the library makes blocks of at most 4096.
const LARGEST_BLOCK: usize = 1 << 16;

pub(super) fn recognise(of: &Context<'_>) -> Result<Option<Box<dyn Method>>> {
    let found = match of.method() {
        Some(method) => method == "bitsandbytes",
        None => of.any(|tensor| {
            STATES.iter().any(|end| tensor.name.ends_with(end)) || tensor.name.ends_with(".SCB")
        }),
    };
    Ok(found.then(|| Box::new(BitsAndBytes) as Box<dyn Method>))
}

struct BitsAndBytes;

impl Method for BitsAndBytes {
    fn name(&self) -> &'static str {
        "bitsandbytes"
    }

    fn resolve(&self, of: &Context<'_>, codes: Id) -> Result<Option<Weight>> {
        let name = &of.tensor(codes).name;
        let module = name.strip_suffix(".weight").unwrap_or(name).to_owned();
        let state = STATES.iter().find_map(|end| of.find(&format!("{name}{end}")));
        let (coding, companions) = match (state, of.find(&format!("{module}.SCB"))) {
            (Some(state), _) => four_bits(of, codes, state)?,
            (None, Some(scale)) if name.ends_with(".weight") => eight_bits(of, codes, scale, &module)?,
            _ if of.find(&format!("{name}.absmax")).is_some() => {
                return Err(of.wrong(
                    codes,
                    format!("the codes need the tensor \"{name}{}\" or that of fp4", STATES[0]),
                ));
            }
            _ => return Ok(None),
        };
        Ok(Some(Weight { name: name.clone(), module, coding, companions }))
    }
}

fn eight_bits(of: &Context<'_>, codes: Id, scale: Id, module: &str) -> Result<(Coding, Vec<Id>)> {
    of.expect(codes, &[Int8])?;
    of.expect(scale, &[Float32])?;
    let format = of.find(&format!("{module}.weight_format"));
    if let Some(format) = format {
        of.expect(format, &[UInt8])?;
        if of.source.read_all(of.tensor(format))? != [0] {
            return Err(of.refused(format, "only int8 weights in the format 0 (rows) are decoded"));
        }
    }
    let shape = of.shape(codes);
    let scales = of.scales(scale, shape, [1, 0])?;
    let coding = Coding::plain(codes, Codes::Signed, shape);
    let coding = Coding { scales: Some(scales), factor: Factor::OverConstant(127.0), ..coding };
    Ok((coding, [scale].into_iter().chain(format).collect()))
}

/// The elements of a `float32` tensor.
fn floats(of: &Context<'_>, id: Id, n: usize) -> Result<Arc<[f32]>> {
    of.expect(id, &[Float32])?;
    if of.tensor(id).len() != n {
        return Err(of.wrong(id, format!("the tensor must have {n} elements")));
    }
    let bytes = of.source.read_all(of.tensor(id))?;
    Ok(bytes.chunks_exact(4).map(|x| f32::from_le_bytes([x[0], x[1], x[2], x[3]])).collect())
}

fn four_bits(of: &Context<'_>, codes: Id, state: Id) -> Result<(Coding, Vec<Id>)> {
    let name = &of.tensor(codes).name;
    let bytes = of.source.read_all(of.tensor(state))?;
    let json: Value =
        serde_json::from_slice(&bytes).map_err(|e| of.wrong(state, format!("bad JSON, {e}")))?;
    let shape = json.get("shape").and_then(Value::as_array).into_iter().flatten();
    let shape: Option<Vec<usize>> = shape.map(|axis| axis.as_u64()?.try_into().ok()).collect();
    let n = shape.as_ref().and_then(|shape| shape.iter().try_fold(1_usize, |n, axis| n.checked_mul(*axis)));
    let block = number(&json, "blocksize")
        .filter(|block| (2..=LARGEST_BLOCK).contains(block) && block.is_multiple_of(2));
    let (Some(shape), Some(n), Some(block)) = (shape, n, block) else {
        return Err(of.wrong(state, "the description needs a shape and an even blocksize of at most 65536"));
    };
    if of.tensor(codes).bytes != n.div_ceil(2) {
        return Err(of.wrong(
            codes,
            format!(
                "the codes have {} bytes, and the shape {shape:?} needs {}",
                of.tensor(codes).bytes,
                n.div_ceil(2)
            ),
        ));
    }
    let beside = |end: &str| of.need(&format!("{name}.{end}"), codes);
    let (absmax, map) = (beside("absmax")?, beside("quant_map")?);
    let mut companions = vec![state, absmax, map];
    let blocks = n.div_ceil(block);
    if of.tensor(absmax).len() != blocks {
        return Err(of.wrong(
            absmax,
            format!("the tensor must have {blocks} elements, one for each block of {block}"),
        ));
    }
    let data = if of.dtype(absmax) == Some(UInt8) {
        let (nested, nested_map) = (beside("nested_absmax")?, beside("nested_quant_map")?);
        companions.extend([nested, nested_map]);
        let size = number(&json, "nested_blocksize").filter(|size| *size > 0).unwrap_or(256);
        if text(&json, "nested_dtype").is_some_and(|dtype| dtype != "float32") {
            return Err(of.refused(state, "nested scales of other dtypes than float32 are not decoded"));
        }
        let offset = json.get("nested_offset").and_then(Value::as_f64).unwrap_or(0.0) as f32;
        let (absmaxes, map) = (floats(of, nested, blocks.div_ceil(size))?, floats(of, nested_map, 256)?);
        ScaleData::Nested(Arc::new(Nested { absmax, map, absmaxes, block: size, offset }))
    } else {
        of.expect(absmax, &[Float32])?;
        ScaleData::Tensor(absmax, DType::Float32)
    };
    // Blocks run across rows: the stored matrix has a row for each block, of which the last may be shorter.
    let packing = Packing::rows(4, block / 2).with_order(Order::HighNibbleFirst);
    let scales = Scales { data, block: [1, block], grid: [blocks, 1], swizzled: None, zero_is_zero: false };
    let coding = Coding {
        elements: n,
        scales: Some(scales),
        zeros: Zeros::None,
        shape,
        ..Coding::packed(codes, Codes::Table(floats(of, map, 16)?), packing, &[blocks, block])
    };
    Ok((coding, companions))
}
