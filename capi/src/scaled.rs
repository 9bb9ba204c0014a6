//! Scaled casts: blocks of elements that share a scale.

mod plan;
mod run;

pub use plan::{
    lanecast_scaled_create, lanecast_scaled_describe, lanecast_scaled_destroy, lanecast_scaled_info,
    lanecast_scaled_name, lanecast_scaled_options, lanecast_scaled_plan,
};
pub use run::{
    lanecast_scaled_amax, lanecast_scaled_dequantize, lanecast_scaled_quantize,
    lanecast_scaled_quantize_dynamic, lanecast_scaled_quantize_with_amax, lanecast_scaled_report,
};
