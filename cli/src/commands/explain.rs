//! `lanecast explain`.

use lanecast::{Encoding, ExplainedStage, Explanation};
use serde::Serialize;

use crate::{args::Explain, error::Result, options::settings, output, report::json};

#[derive(Serialize)]
struct Answer {
    from: String,
    to: String,
    tier: &'static str,
    features: Vec<&'static str>,
    stages: Vec<Stage>,
    /// Elements of a block; `None` if the route is a single pass.
    block: Option<usize>,
    /// Whether every call checks the floating-point control register.
    guarded: bool,
    /// The direction of rounding that every call sets.
    direction: Option<&'static str>,
    /// Bytes of source and destination above which non-temporal stores are used.
    streams_above: Option<usize>,
    picoseconds_per_element: u32,
}

#[derive(Serialize)]
struct Stage {
    name: &'static str,
    /// The kind of kernel, for a stage that casts.
    kernel: Option<&'static str>,
    from: String,
    to: String,
    why: String,
}

impl From<ExplainedStage> for Stage {
    fn from(stage: ExplainedStage) -> Self {
        Self {
            name: stage.name,
            kernel: stage.kernel,
            from: stage.from.to_string(),
            to: stage.to.to_string(),
            why: stage.why,
        }
    }
}

impl From<Explanation> for Answer {
    fn from(of: Explanation) -> Self {
        Self {
            from: of.from.to_string(),
            to: of.to.to_string(),
            tier: of.tier.name(),
            features: of.features,
            stages: of.stages.into_iter().map(Stage::from).collect(),
            block: of.block,
            guarded: of.guarded,
            direction: of.direction,
            streams_above: of.streams_above,
            picoseconds_per_element: of.picoseconds_per_element,
        }
    }
}

/// Runs the subcommand.
pub fn run(args: &Explain) -> Result<()> {
    let from = Encoding::with_storage(args.from, args.from_storage.into()).with_order(args.from_order.into());
    let to = Encoding::with_storage(args.to, args.to_storage.into()).with_order(args.to_order.into());
    let explanation = settings(&args.cast)?.plan(from, to)?.explain();
    if args.json {
        return output::print(&json(&Answer::from(explanation))?);
    }
    output::print(&format!("{explanation}\n"))
}
