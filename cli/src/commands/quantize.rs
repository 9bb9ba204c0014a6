//! `lanecast quantize` and `lanecast requantize`.

use lanecast_checkpoint::{
    Callbacks, QuantizeOptions, QuantizeReport, Step, quantize as to_codes, requantize as to_other_codes,
};
use lanecast_files::Progress;

use super::progress::Bar;
use crate::{
    args::{Quantization, Quantize, Requantize},
    error::Result,
    output,
    report::json,
    signals, terminal, text,
};

/// Runs `quantize`.
pub fn run(args: &Quantize) -> Result<()> {
    let options = QuantizeOptions {
        ignore: args.ignore.clone(),
        double_quant: args.double_quant,
        ..args.how.options()
    };
    watched(&args.how, |callbacks| to_codes(&args.input, &args.how.output, &options, callbacks))
}

/// Runs `requantize`.
pub fn run_again(args: &Requantize) -> Result<()> {
    let options = args.how.options();
    watched(&args.how, |callbacks| to_other_codes(&args.input, &args.how.output, &options, callbacks))
}

/// Does the work with a bar, and prints the report.
fn watched(
    how: &Quantization,
    work: impl FnOnce(Callbacks<'_>) -> lanecast_checkpoint::Result<QuantizeReport>,
) -> Result<()> {
    signals::watch();
    // The bytes to write are known once weights are chosen.
    let mut bar: Option<Bar> = None;
    let mut show = |step: Step<'_>| {
        let progress = Progress { done: step.done, total: Some(step.total) };
        bar.get_or_insert_with(|| Bar::new(Some(step.total))).show(progress);
    };
    let report = work(Callbacks { progress: Some(&mut show), cancelled: Some(&signals::ended) });
    drop(bar);
    let report = report?;
    if how.json {
        return output::print(&json(&report)?);
    }
    if terminal::quiet() {
        return Ok(());
    }
    for warning in &report.warnings {
        // Standard error may be closed.
        let _ = terminal::warning(&format!("lanecast: warning: {}\n", text::one_line(warning)));
    }
    output::report(&summary(&report))
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
