//! bitsandbytes: 4-bit codes of a table in blocks of the flat tensor, which JSON in a tensor describes; and int8 rows.

use lanecast::DType;
use serde_json::{Value, json};

use super::{
    QuantizeOptions, Weight,
    choose::Chosen,
    layout::{Layout, Make, Output},
    scheme::QuantScheme,
    table::{BLOCK, NESTED, Part, Table, dynamic_map},
};

pub(super) struct BitsAndBytes;

/// The most characters that a float64 has in JSON.
const LONGEST_NUMBER: usize = 24;

fn floats(values: &[f32]) -> Make {
    Make::Bytes(values.iter().flat_map(|value| value.to_le_bytes()).collect())
}

/// What torch calls the dtype.
fn torch(dtype: DType) -> &'static str {
    dtype.name()
}

impl Layout for BitsAndBytes {
    fn name(&self) -> &'static str {
        "bitsandbytes"
    }

    fn schemes(&self) -> &'static [QuantScheme] {
        &[QuantScheme::Nf4, QuantScheme::Fp4, QuantScheme::Int8]
    }

    fn splits_stacks(&self) -> bool {
        false
    }

    fn outputs(
        &self,
        weight: &Weight,
        _chosen: &Chosen,
        source: DType,
        options: &QuantizeOptions,
    ) -> Vec<Output> {
        let [rows, cols] = weight.shape();
        let table = match weight.scheme {
            QuantScheme::Nf4 => Table::Nf4,
            QuantScheme::Fp4 => Table::Fp4,
            _ => {
                return vec![
                    weight.output(".weight", DType::Int8, &[rows, cols], Make::Table(Part::Int8)),
                    weight.output(".SCB", DType::Float32, &[rows], Make::Table(Part::RowAbsmax)),
                    weight.output(".weight_format", DType::UInt8, &[], Make::Bytes(vec![0])),
                ];
            }
        };
        let (n, name) = (rows * cols, table.name());
        let (blocks, offset) = (n.div_ceil(BLOCK), Value::from(f64::from(weight.offset)));
        let mut state = json!({
            "quant_type": name,
            "blocksize": BLOCK,
            "dtype": torch(source),
            "shape": [rows, cols],
        });
        let mut outputs = vec![
            weight.output(".weight", DType::UInt8, &[n.div_ceil(2), 1], Make::Table(Part::Codes(table))),
            weight.output(".weight.quant_map", DType::Float32, &[16], floats(&table.values())),
        ];
        if options.double_quant {
            state["nested_blocksize"] = NESTED.into();
            state["nested_dtype"] = "float32".into();
            state["nested_offset"] = offset.clone();
            let absmaxes = blocks.div_ceil(NESTED);
            outputs.extend([
                weight.output(".weight.absmax", DType::UInt8, &[blocks], Make::Table(Part::NestedCodes)),
                weight.output(
                    ".weight.nested_absmax",
                    DType::Float32,
                    &[absmaxes],
                    Make::Table(Part::NestedAbsmax),
                ),
                weight.output(".weight.nested_quant_map", DType::Float32, &[256], floats(&dynamic_map())),
            ]);
        } else {
            let absmax = Make::Table(Part::Absmax);
            outputs.push(weight.output(".weight.absmax", DType::Float32, &[blocks], absmax));
        }
        let mut state = state.to_string().into_bytes();
        if options.double_quant {
            // The shape must not depend on the offset, which is known only once the weight has been read.
            state.resize(state.len() + LONGEST_NUMBER - offset.to_string().len(), b' ');
        }
        let (end, len) = (format!(".weight.quant_state.bitsandbytes__{name}"), state.len());
        outputs.push(weight.output(&end, DType::UInt8, &[len], Make::Bytes(state)));
        outputs
    }

    fn config(&self, chosen: &Chosen, options: &QuantizeOptions) -> Option<Value> {
        let four_bits = options.scheme != QuantScheme::Int8;
        let kind = if options.scheme == QuantScheme::Fp4 { "fp4" } else { "nf4" };
        Some(json!({
            "quant_method": "bitsandbytes",
            "load_in_4bit": four_bits,
            "load_in_8bit": !four_bits,
            "_load_in_4bit": four_bits,
            "_load_in_8bit": !four_bits,
            "bnb_4bit_quant_type": kind,
            "bnb_4bit_use_double_quant": options.double_quant,
            "bnb_4bit_compute_dtype": "bfloat16",
            "bnb_4bit_quant_storage": "uint8",
            "llm_int8_enable_fp32_cpu_offload": false,
            "llm_int8_has_fp16_weight": false,
            "llm_int8_threshold": 6.0,
            "llm_int8_skip_modules": chosen.ignored,
        }))
    }
}
