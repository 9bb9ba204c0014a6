//! `lanecast quantize` and `lanecast requantize`.

use lanecast_checkpoint::{
    Callbacks, QuantizeOptions, QuantizeReport, quantize as to_codes, requantize as to_other_codes,
};

use super::checkpoints;
use crate::{
    args::{Quantization, Quantize, Requantize},
    error::Result,
    text,
};

/// Runs `quantize`.
pub fn run(args: &Quantize) -> Result<()> {
    let options = QuantizeOptions {
        ignore: args.ignore.clone(),
        double_quant: args.double_quant,
        ..args.how.options()
    };
    let options = match &args.like {
        Some(like) => options.like(&args.input, like)?,
        None => options,
    };
    watched(&args.how, |callbacks| to_codes(&args.input, &args.how.output, &options, callbacks))
}

/// Runs `requantize`.
pub fn run_again(args: &Requantize) -> Result<()> {
    let options = args.how.options();
    watched(&args.how, |callbacks| to_other_codes(&args.input, &args.how.output, &options, callbacks))
}

/// Does the work, and prints the report.
fn watched(
    how: &Quantization,
    work: impl FnOnce(Callbacks<'_>) -> lanecast_checkpoint::Result<QuantizeReport>,
) -> Result<()> {
    checkpoints::write(how.json, |callbacks| Ok(work(callbacks)?), |report| &report.warnings, summary)
}

/// The summary for people.
fn summary(report: &QuantizeReport) -> String {
    format!(
        "quantized {} to {}, layout {}; copied {}\n{} in, {} out\n",
        text::count(report.weights_quantized as u64, "weight"),
        report.scheme,
        report.layout,
        text::count(report.tensors_copied as u64, "other tensor"),
        text::bytes(report.bytes_in),
        text::bytes(report.bytes_out),
    )
}
