//! Scaled casts: blocks of elements that share a scale.

mod plan;
mod requantize;
mod run;
mod scheme;
mod values;
mod view;
mod zeros;

pub use plan::{
    lanecast_scaled_create, lanecast_scaled_create_from, lanecast_scaled_describe, lanecast_scaled_destroy,
    lanecast_scaled_info, lanecast_scaled_options, lanecast_scaled_plan,
};
pub use requantize::lanecast_scaled_requantize;
pub use run::{
    lanecast_scaled_amax, lanecast_scaled_dequantize, lanecast_scaled_finite_amax, lanecast_scaled_quantize,
    lanecast_scaled_quantize_dynamic, lanecast_scaled_quantize_with_amax, lanecast_scaled_report,
};
pub use scheme::{lanecast_scaled_name, lanecast_scaled_scheme, lanecast_scaled_scheme_named};
pub use values::*;
pub use view::lanecast_scaled_quantize_dynamic_view;
pub use zeros::{lanecast_scaled_dequantize_min_max, lanecast_scaled_quantize_min_max};
