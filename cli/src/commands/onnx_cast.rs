//! `lanecast onnx-cast`: the ONNX operators Cast and CastLike on streams.

use std::io::{self, Read};

use lanecast::{
    BufferType, CastOptions,
    onnx::{Attributes, Cast, ElementType, Error},
};

use super::{
    progress,
    raw::{Sink, named, open, stop},
};
use crate::{
    args::OnnxCast,
    error::{Failure, Result},
    options::{Settings, chosen_tier},
    pump::{Extent, Lane, Pump},
};

/// Runs the subcommand.
pub fn run(args: &OnnxCast) -> Result<()> {
    let cast = node(args)?;
    let settings = Settings { options: *cast.options(), tier: chosen_tier(args.tier)? };
    let input = named(&args.input);
    let (mut reader, length): (Box<dyn Read>, u64) = match input {
        Some(path) => open(path)?,
        None => (Box::new(io::stdin().lock()), 0),
    };
    let place = input.map_or("standard input".to_owned(), |path| path.display().to_string());
    match (cast.from(), cast.to()) {
        (ElementType::Number(from), ElementType::Number(to)) => {
            let mut lane = Lane::new(&settings, BufferType::packed(from), BufferType::packed(to), false)?;
            let mut sink = Sink::new(named(&args.output), args.force)?;
            let to_file = matches!(sink, Sink::File(_));
            let bar = if to_file && length > 0 { progress(length) } else { indicatif::ProgressBar::hidden() };
            let extent = args.count.map_or(Extent::All, Extent::Elements);
            let passed = Pump::new(bar.clone()).cast(&mut lane, &mut reader, sink.writer(), extent);
            bar.finish_and_clear();
            passed.map_err(|stopped| stop(stopped, args.count, &place, &sink))?;
            sink.commit()
        }
        _ => Err(Failure::unsupported("text")),
    }
}

/// The node that the arguments describe.
fn node(args: &OnnxCast) -> Result<Cast> {
    let mut attributes = Attributes::NONE;
    attributes.saturate = args.saturate;
    attributes.round_mode = args.round_mode;
    let make = if args.like { Cast::like } else { Cast::new };
    let options = CastOptions::ONNX.with_fnuz_inf(args.fnuz_inf);
    let cast = make(args.opset, args.from, args.to, &attributes).and_then(|cast| cast.with_options(&options));
    cast.map_err(|error| match error {
        Error::Cast(error) => error.into(),
        Error::NoSuchOpset { .. } | Error::NoAttribute { .. } => Failure::usage(error.to_string()),
        _ => Failure::unsupported(error.to_string()),
    })
}
