//! `lanecast raw`: bare elements, streamed.

use std::{
    fs::{self, File},
    io::{self, IsTerminal, Read, Write},
    path::{Path, PathBuf},
    time::Instant,
};

use lanecast::BufferType;
use lanecast_files::{
    Entry, Hooks, Output, Report,
    pump::{Extent, Lane, Passed, Pump, Stopped},
};

use super::{Bar, warn};
use crate::{
    args::Raw,
    error::{Failure, Result},
    options::{OnLoss, settings},
    output,
    report::json,
};

/// Runs the subcommand.
pub fn run(args: &Raw) -> Result<()> {
    let settings = settings(&args.common.cast)?;
    let from =
        BufferType::with_storage(args.from, args.from_storage.into()).with_order(args.from_order.into());
    let to = BufferType::with_storage(args.to, args.to_storage.into()).with_order(args.to_order.into());
    let mut lane = Lane::new(&settings, from, to)?;
    let started = Instant::now();

    let input = named(&args.input);
    let (mut reader, length): (Box<dyn Read>, u64) = match input {
        Some(path) => open(path)?,
        None => (Box::new(io::stdin().lock()), 0),
    };
    let place = input.map_or("standard input".to_owned(), |path| path.display().to_string());
    let mut sink = Sink::new(named(&args.output), args.common.force, Content::Elements)?;
    let to_file = matches!(sink, Sink::File(_));
    let extent = args.count.map_or(Extent::All, Extent::Elements);
    let total = Some(length).filter(|length| to_file && *length > 0);
    let bar = Bar::new(total);
    let mut show = |progress| bar.show(progress);
    let mut pump = Pump::new(Hooks::none().on_progress(&mut show), total);
    let passed = pump.cast(&mut lane, &mut reader, sink.writer(), extent);
    drop(bar);
    let passed = passed.map_err(|stopped| stop(stopped, args.count, &place, &sink))?;
    sink.commit()?;

    if args.common.cast.on_loss == OnLoss::Warn {
        warn(&[entry(args, &passed)]);
    }
    if args.common.json {
        let entry = entry(args, &passed);
        let report = Report::new(args.to.name(), settings.tier.name(), vec![entry], Some(started.elapsed()));
        let line = json(&report)?;
        if to_file {
            return output::print(&line);
        }
        return io::stderr()
            .write_all(line.as_bytes())
            .map_err(|e| Failure::writing(&e).at("standard error"));
    }
    Ok(())
}

/// The path of an argument that is neither missing nor `-`.
pub(super) fn named(argument: &Option<PathBuf>) -> Option<&Path> {
    argument.as_deref().filter(|path| path.as_os_str() != "-")
}

/// Opens an input of any kind. The length is 0 if it is not known.
pub(super) fn open(path: &Path) -> Result<(Box<dyn Read>, u64)> {
    let failed = |e: io::Error| Failure::system("cannot open", &e).at_path(path);
    let file = File::open(path).map_err(failed)?;
    let metadata = file.metadata().map_err(failed)?;
    if metadata.is_dir() {
        return Err(Failure::io("a folder").at_path(path).advise("name a file"));
    }
    Ok((Box::new(file), metadata.len()))
}

/// What a stopped stream means.
pub(super) fn stop(stopped: Stopped, count: Option<u64>, place: &str, sink: &Sink) -> Failure {
    match stopped {
        Stopped::Short(have) => {
            let want = count.unwrap_or_default();
            Failure::format(format!("the input has {have} elements, -n asks for {want}"))
                .at(place)
                .advise("give a smaller -n or none")
        }
        Stopped::Partial(missing) => Failure::format(format!("the last element lacks {missing} bytes"))
            .at(place)
            .advise("check --from"),
        other => other.fail(|e| e.at(place), |e| e.at(sink.place())).into(),
    }
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

/// What goes there.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Content {
    /// Bare elements, of whose bytes a terminal would take some for commands.
    Elements,
    /// Text.
    Lines,
}

/// Where the elements go.
pub(super) enum Sink {
    /// A regular file, which appears when it is complete.
    File(Output),
    /// Standard output, a pipe or a device: elements appear as they come.
    Stream(Box<dyn Write>, String),
}

impl Sink {
    pub(super) fn new(path: Option<&Path>, force: bool, content: Content) -> Result<Self> {
        let Some(path) = path else {
            let stdout = io::stdout().lock();
            return Self::stream(stdout.is_terminal(), Box::new(stdout), "standard output".into(), content);
        };
        match fs::metadata(path) {
            // A rename would put a file in the place of a device.
            Ok(metadata) if !metadata.is_file() && !metadata.is_dir() => {
                let failed = |e: io::Error| Failure::system("cannot open", &e).at_path(path);
                let file = fs::OpenOptions::new().write(true).open(path).map_err(failed)?;
                Self::stream(file.is_terminal(), Box::new(file), path.display().to_string(), content)
            }
            _ => Ok(Self::File(Output::create(path, force)?)),
        }
    }

    fn stream(terminal: bool, writer: Box<dyn Write>, place: String, content: Content) -> Result<Self> {
        if terminal && content == Content::Elements {
            return Err(Failure::usage("bare elements are not written to a terminal")
                .at(place)
                .advise("name a file OUT, or pipe them: `... | od -A d -t x1`"));
        }
        Ok(Self::Stream(writer, place))
    }

    pub(super) fn writer(&mut self) -> &mut dyn Write {
        match self {
            Self::File(output) => output.writer(),
            Self::Stream(writer, _) => writer,
        }
    }

    pub(super) fn place(&self) -> String {
        match self {
            Self::File(output) => output.path().display().to_string(),
            Self::Stream(_, place) => place.clone(),
        }
    }

    pub(super) fn commit(self) -> Result<()> {
        let place = self.place();
        match self {
            Self::File(output) => Ok(output.commit()?),
            Self::Stream(mut writer, _) => writer.flush().map_err(|e| Failure::writing(&e).at(place)),
        }
    }
}
