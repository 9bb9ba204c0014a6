//! `lanecast raw`: bare elements, streamed.

use std::time::Instant;

use lanecast::Encoding;
use lanecast_files::{
    Entry, Hooks, Report,
    pump::{Extent, Lane, Passed, Pump},
};

use super::{
    progress::{Bar, warn},
    sink::{self, Content, Source, named, stop},
};
use crate::{
    args::Raw,
    error::Result,
    options::{OnLoss, settings},
    report::json,
    signals,
};

/// Runs the subcommand.
pub fn run(args: &Raw) -> Result<()> {
    let settings = settings(&args.common.cast)?;
    let from = Encoding::with_storage(args.from, args.from_storage.into()).with_order(args.from_order.into());
    let to = Encoding::with_storage(args.to, args.to_storage.into()).with_order(args.to_order.into());
    let mut lane = Lane::new(&settings, from, to)?;
    let started = Instant::now();

    signals::watch();
    let mut source = Source::open(named(&args.input))?;
    let like = source.permissions.take();
    let mut output = sink::start(named(&args.output), &args.common.writing, Content::Elements, like)?;
    let to_stream = output.is_stream();
    let extent = args.count.map_or(Extent::All, Extent::Elements);
    let total = Some(source.length).filter(|length| !to_stream && *length > 0);
    let bar = Bar::new(total);
    let mut show = |progress| bar.show(progress);
    let mut pump = Pump::new(Hooks::none().on_progress(&mut show).cancel_if(&signals::ended), total);
    let passed = pump.cast(&mut lane, &mut source.reader, output.writer(), extent);
    drop(bar);
    let passed = passed.map_err(|stopped| stop(stopped, args.count, &source.place, &output))?;
    output.commit()?;

    let each = args.common.cast.on_loss == OnLoss::Warn;
    // Where the JSON is on standard error, too, only the warnings that were asked for are in its way.
    if each || !(args.common.json && to_stream) {
        warn(&[entry(args, &passed)], None, each);
    }
    if args.common.json {
        let entry = entry(args, &passed);
        let report = Report::new(args.to.name(), settings.tier.name(), vec![entry], Some(started.elapsed()));
        let line = json(&report)?;
        sink::print_json(&line, to_stream)?;
    }
    Ok(())
}

fn entry(args: &Raw, passed: &Passed) -> Entry {
    Entry {
        name: String::new(),
        from: args.from.name().to_owned(),
        to: Some(args.to.name().to_owned()),
        shape: None,
        elements: Some(passed.elements),
        bytes_in: passed.bytes_in,
        bytes_out: passed.bytes_out,
        kept: None,
        counts: Some(passed.counts),
    }
}
