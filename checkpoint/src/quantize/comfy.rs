//! ComfyUI: one file, whose header names the format of each layer. Codes are padded and scales swizzled, as the GPU takes them.

use lanecast::DType;
use serde_json::{Map, Value, json};

use super::{
    QuantizeOptions, Weight,
    cast::{Cast, Form, nvfp4},
    choose::Chosen,
    layout::{Layout, Make, Output},
    matrix::TILE,
    scheme::QuantScheme,
};
use crate::layouts::{COMFY_METADATA, COMFY_VERSION};

pub(super) struct Comfy;

/// What ComfyUI calls a scheme.
fn format(scheme: QuantScheme) -> &'static str {
    match scheme {
        QuantScheme::Nvfp4 => "nvfp4",
        QuantScheme::Mxfp8 => "mxfp8",
        _ => "float8_e4m3fn",
    }
}

/// Swizzled scales for groups of a padded matrix.
fn swizzled(weight: &Weight, dtype: DType, cast: &Cast, [rows, cols]: [usize; 2]) -> Output {
    let grid = cast.scheme.granularity.scales_shape(&[rows, cols]);
    let shape = [grid[0].next_multiple_of(TILE), grid[1].next_multiple_of(4)];
    weight.output(".weight_scale", dtype, &shape, Make::Scales(cast.clone(), true))
}

impl Layout for Comfy {
    fn name(&self) -> &'static str {
        "comfy"
    }

    fn schemes(&self) -> &'static [QuantScheme] {
        &[QuantScheme::Fp8Tensor, QuantScheme::Mxfp8, QuantScheme::Nvfp4]
    }

    fn mixes(&self) -> bool {
        true
    }

    fn splits_stacks(&self) -> bool {
        false
    }

    fn pads(&self) -> bool {
        true
    }

    fn outputs(
        &self,
        weight: &Weight,
        _chosen: &Chosen,
        _source: DType,
        _options: &QuantizeOptions,
    ) -> Vec<Output> {
        let Some(mut cast) = weight.cast() else { return Vec::new() };
        let [rows, cols] = weight.shape();
        match weight.scheme {
            QuantScheme::Nvfp4 => {
                let Some((codes, scales, global)) = nvfp4(weight, false, 16) else { return Vec::new() };
                let [rows, cols] = [rows, cols].map(|n| n.next_multiple_of(16));
                let grid = [rows.next_multiple_of(TILE), (cols / 16).next_multiple_of(4)];
                vec![
                    weight.output(".weight", DType::UInt8, &[rows, cols / 2], codes),
                    weight.output(".weight_scale", DType::Float8E4M3FN, &grid, scales),
                    weight.number(".weight_scale_2", &[], global),
                ]
            }
            QuantScheme::Mxfp8 => {
                cast.pad = 32;
                let shape = cast.padded(rows, cols);
                let codes = Make::Codes(cast.clone(), Form::Plain);
                vec![
                    weight.output(".weight", DType::Float8E4M3FN, &shape, codes),
                    swizzled(weight, DType::Float8E8M0FNU, &cast, shape),
                ]
            }
            _ => {
                let scale =
                    if weight.amax == 0.0 { 1.0 } else { (weight.amax / 448.0).max(f32::from_bits(1)) };
                cast.scale = Some(scale);
                vec![weight.codes(DType::Float8E4M3FN, &cast), weight.number(".weight_scale", &[], scale)]
            }
        }
    }

    fn config(&self, _chosen: &Chosen, _options: &QuantizeOptions) -> Option<Value> {
        None
    }

    fn metadata(&self, weights: &[Weight]) -> Option<(String, String)> {
        let layer = |weight: &Weight| (weight.module.clone(), json!({ "format": format(weight.scheme) }));
        let layers: Map<String, Value> = weights.iter().map(layer).collect();
        let text = json!({ "format_version": COMFY_VERSION, "layers": layers }).to_string();
        Some((COMFY_METADATA.to_owned(), text))
    }
}
