//! MXFP4 as gpt-oss has it: the experts of a layer in `X_blocks` `[experts, outputs, inputs / 32, 16]` and `X_scales`.

use lanecast::DType;
use serde_json::{Value, json};

use super::{
    QuantizeOptions, Weight,
    cast::Form,
    choose::Chosen,
    layout::{Layout, Make, Output},
    scheme::QuantScheme,
};

pub(super) struct GptOss;

impl Layout for GptOss {
    fn name(&self) -> &'static str {
        "gpt-oss"
    }

    fn schemes(&self) -> &'static [QuantScheme] {
        &[QuantScheme::Mxfp4]
    }

    fn takes_stacks(&self) -> bool {
        true
    }

    fn outputs(
        &self,
        weight: &Weight,
        _chosen: &Chosen,
        _source: DType,
        _options: &QuantizeOptions,
    ) -> Vec<Output> {
        let Some(cast) = weight.cast() else { return Vec::new() };
        let matrix = &weight.matrix;
        let shape = [matrix.batches.len(), matrix.rows.len(), matrix.cols / 32, 16];
        vec![
            weight.output("_blocks", DType::UInt8, &shape, Make::Codes(cast.clone(), Form::Plain)),
            weight.output("_scales", DType::UInt8, &shape[..3], Make::Scales(cast, false)),
        ]
    }

    fn config(&self, chosen: &Chosen, _options: &QuantizeOptions) -> Option<Value> {
        Some(json!({ "quant_method": "mxfp4", "modules_to_not_convert": chosen.ignored }))
    }
}
