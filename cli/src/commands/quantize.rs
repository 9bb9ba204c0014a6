//! `lanecast quantize` and `lanecast requantize`.

use std::path::Path;

use lanecast_checkpoint::{
    Callbacks, Experts, Operation, QuantizeOptions, QuantizeReport, TaskPlan, quantize as to_codes,
    requantize as to_other_codes,
};

use super::{checkpoints, plan};
use crate::{
    args::{Quantization, Quantize, Requantize},
    error::Result,
    text,
};

/// Runs `quantize`.
pub fn run(args: &Quantize) -> Result<()> {
    let options = QuantizeOptions {
        ignore: args.ignore.clone(),
        experts: args.experts.map(Experts::from).unwrap_or_default(),
        double_quant: args.double_quant,
        ..args.how.options()
    };
    let options = match &args.like {
        Some(like) => options.like(&args.input, like)?,
        None => options,
    };
    if is_planned(&args.input, &args.how, Operation::Quantize(options.clone()))? {
        return Ok(());
    }
    watched(&args.how, |callbacks| to_codes(&args.input, &args.how.output, &options, callbacks))
}

/// Runs `requantize`.
pub fn run_again(args: &Requantize) -> Result<()> {
    let options = args.how.options();
    if is_planned(&args.input, &args.how, Operation::Requantize(options.clone()))? {
        return Ok(());
    }
    watched(&args.how, |callbacks| to_other_codes(&args.input, &args.how.output, &options, callbacks))
}

/// Plans the operation, unless it is to be done.
fn is_planned(input: &Path, how: &Quantization, operation: Operation) -> Result<bool> {
    let Quantization { planning, verify, threads, json, output, .. } = how;
    let request = plan::Request { planning, verify: *verify, threads: *threads, as_json: *json };
    request.is_planned(|options| Ok(TaskPlan::new(input, output, operation, options)?))
}

/// Does the work, and prints the report.
fn watched(
    how: &Quantization,
    work: impl FnOnce(Callbacks<'_>) -> lanecast_checkpoint::Result<QuantizeReport>,
) -> Result<()> {
    checkpoints::write(how.json, |callbacks| Ok(work(callbacks)?), |report| &report.warnings, summary)
}

/// The summary for people.
pub fn summary(report: &QuantizeReport) -> String {
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
