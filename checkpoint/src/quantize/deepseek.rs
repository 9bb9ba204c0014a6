//! Tiles of 8-bit floats, as DeepSeek V3 has them: `weight` and `weight_scale_inv`, a multiplier despite its name.

use lanecast::DType;
use serde_json::{Value, json};

use super::{
    QuantizeOptions, Weight,
    choose::Chosen,
    layout::{Layout, Output},
    scheme::QuantScheme,
};

pub(super) struct DeepSeek;

impl Layout for DeepSeek {
    fn name(&self) -> &'static str {
        "deepseek"
    }

    fn schemes(&self) -> &'static [QuantScheme] {
        &[QuantScheme::Fp8Block]
    }

    fn outputs(
        &self,
        weight: &Weight,
        _chosen: &Chosen,
        _source: DType,
        _options: &QuantizeOptions,
    ) -> Vec<Output> {
        let Some(cast) = weight.cast() else { return Vec::new() };
        let scales = weight.scales(".weight_scale_inv", DType::Float32, &cast);
        vec![weight.codes(DType::Float8E4M3FN, &cast), scales]
    }

    fn config(&self, chosen: &Chosen, _options: &QuantizeOptions) -> Option<Value> {
        let mut config = json!({
            "quant_method": "fp8",
            "fmt": "e4m3",
            "activation_scheme": "dynamic",
            "weight_block_size": [128, 128],
            "modules_to_not_convert": chosen.ignored,
        });
        // Runtimes then quantize activations with powers of two, too.
        if chosen.weights.iter().all(|weight| weight.lossless) {
            config["scale_fmt"] = "ue8m0".into();
        }
        Some(config)
    }
}
