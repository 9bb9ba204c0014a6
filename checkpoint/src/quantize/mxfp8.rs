//! Microscaling as SGLang, miles and MiniMax have it: `weight`, and `weight_scale_inv` with the bytes of powers of two.

use lanecast::DType;
use serde_json::{Value, json};

use super::{
    QuantizeOptions, Weight,
    choose::Chosen,
    layout::{Layout, Output},
    scheme::QuantScheme,
};

pub(super) struct Mxfp8;

impl Layout for Mxfp8 {
    fn name(&self) -> &'static str {
        "mxfp8"
    }

    fn schemes(&self) -> &'static [QuantScheme] {
        &[QuantScheme::Mxfp8]
    }

    fn outputs(
        &self,
        weight: &Weight,
        _chosen: &Chosen,
        _source: DType,
        _options: &QuantizeOptions,
    ) -> Vec<Output> {
        let Some(cast) = weight.cast() else { return Vec::new() };
        let scales = weight.scales(".weight_scale_inv", DType::UInt8, &cast);
        vec![weight.codes(DType::Float8E4M3FN, &cast), scales]
    }

    fn config(&self, chosen: &Chosen, _options: &QuantizeOptions) -> Option<Value> {
        Some(json!({
            "quant_method": "mxfp8",
            "fmt": "e4m3",
            "activation_scheme": "dynamic",
            "weight_block_size": [1, 32],
            "scale_fmt": "ue8m0",
            "modules_to_not_convert": chosen.ignored,
        }))
    }
}
