//! `lanecast onnx-cast`: the ONNX operators Cast and CastLike on streams.

use std::io::{BufRead, BufReader, Read, Write};

use lanecast::{
    Bytes, CastOptions, Encoding,
    onnx::{Attributes, Cast, ElementType, OnnxError},
    text::{BadText, Exponent, Special, StringsRef, TextError, TextOptions},
};
use lanecast_files::{
    Hooks, Settings, in_files,
    pump::{Extent, Lane, Pump, Stopped},
};

use super::{
    progress::Bar,
    sink::{self, Content, Source, named, stop},
};
use crate::{
    args::OnnxCast,
    error::{Failure, Result},
    options::chosen_tier,
    signals,
};

/// Elements formatted or parsed at a time, a number that fills whole bytes in every storage.
const BATCH: usize = 1 << 14;

/// The longest line that is read.
const LONGEST_LINE: u64 = 1 << 20;

/// Runs the subcommand.
pub fn run(args: &OnnxCast) -> Result<()> {
    let cast = node(args)?;
    let settings =
        Settings { options: *cast.options(), tier: chosen_tier(args.tier)?, ..Settings::default() };
    signals::watch();
    let mut source = Source::open(named(&args.input))?;
    // An unsupported cast is refused here, before the output is started.
    let lane = match (cast.source(), cast.target()) {
        (ElementType::Number(from), ElementType::Number(to)) => {
            Some(Lane::new(&settings, in_files(from), in_files(to))?)
        }
        _ => None,
    };
    let content = if cast.target() == ElementType::String { Content::Lines } else { Content::Elements };
    let like = source.permissions.take();
    let mut output = sink::start(named(&args.output), &args.writing, content, like)?;
    let reader = &mut source.reader;
    let passed = match (lane, cast.source()) {
        (Some(mut lane), _) => {
            let extent = args.count.map_or(Extent::All, Extent::Elements);
            let total = Some(source.length).filter(|length| !output.is_stream() && *length > 0);
            let bar = Bar::new(total);
            let mut show = |progress| bar.show(progress);
            let mut pump = Pump::new(Hooks::none().on_progress(&mut show).cancel_if(&signals::ended), total);
            let passed = pump.cast(&mut lane, reader, output.writer(), extent);
            passed.map(drop).map_err(Trouble::Stopped)
        }
        (None, ElementType::Number(from)) => {
            format(&cast, Encoding::packed(from), reader, output.writer(), args.count)
        }
        (None, ElementType::String) => parse(&cast, &mut BufReader::new(reader), output.writer(), args.count),
    };
    passed.map_err(|trouble| match trouble {
        Trouble::Stopped(stopped) => stop(stopped, args.count, &source.place, &output),
        Trouble::Line(failure) => failure.at(&source.place),
    })?;
    Ok(output.commit()?)
}

/// Why a cast to or from text stopped.
enum Trouble {
    Stopped(Stopped),
    Line(Failure),
}

impl From<Stopped> for Trouble {
    fn from(stopped: Stopped) -> Self {
        Trouble::Stopped(stopped)
    }
}

/// Fails once a signal ended the work.
fn go_on() -> std::result::Result<(), Stopped> {
    if signals::ended() { Err(Stopped::Cancelled) } else { Ok(()) }
}

/// Casts elements to lines.
fn format(
    cast: &Cast,
    from: Encoding,
    reader: &mut dyn Read,
    writer: &mut dyn Write,
    count: Option<u64>,
) -> std::result::Result<(), Trouble> {
    let bits = from.bits_per_element() as usize;
    let mut block = Vec::new();
    let mut lines = Vec::new();
    let mut done = 0;
    loop {
        let wanted = count.map_or(BATCH, |count| (count - done).min(BATCH as u64) as usize);
        if wanted == 0 {
            return Ok(());
        }
        go_on()?;
        let bytes = (wanted * bits).div_ceil(8);
        block.clear();
        reader.take(bytes as u64).read_to_end(&mut block).map_err(Stopped::Read)?;
        let got = if block.len() == bytes { wanted } else { block.len() * 8 / bits };
        let texts = cast.format(Bytes::new(&block, got)).map_err(refused)?;
        lines.clear();
        for text in &texts {
            lines.extend_from_slice(text.as_bytes());
            lines.push(b'\n');
        }
        writer.write_all(&lines).map_err(Stopped::Write)?;
        done += got as u64;
        if got < wanted {
            return match (count, block.len().checked_rem(bits / 8)) {
                (Some(_), _) => Err(Stopped::Short(done).into()),
                (None, Some(torn)) if torn > 0 => Err(Stopped::Partial((bits / 8 - torn) as u64).into()),
                _ => Ok(()),
            };
        }
    }
}

/// Casts lines to elements, or to lines.
fn parse(
    cast: &Cast,
    reader: &mut dyn BufRead,
    writer: &mut dyn Write,
    count: Option<u64>,
) -> std::result::Result<(), Trouble> {
    let to = cast.target().dtype().map(Encoding::packed);
    // The lines of a batch, concatenated, and the offset of each. They need not be UTF-8.
    let (mut bytes, mut offsets) = (Vec::new(), Vec::new());
    let (mut line, mut out) = (Vec::new(), Vec::new());
    let mut done = 0;
    loop {
        let wanted = count.map_or(BATCH, |count| (count - done).min(BATCH as u64) as usize);
        go_on()?;
        bytes.clear();
        offsets.clear();
        offsets.push(0_i64);
        while offsets.len() <= wanted {
            line.clear();
            (&mut *reader).take(LONGEST_LINE + 1).read_until(b'\n', &mut line).map_err(Stopped::Read)?;
            if line.is_empty() {
                break;
            }
            if line.last() == Some(&b'\n') {
                line.pop();
            }
            if line.len() as u64 > LONGEST_LINE {
                let number = done + offsets.len() as u64;
                return Err(Trouble::Line(Failure::format(format!(
                    "line {number} has more than {LONGEST_LINE} bytes"
                ))));
            }
            bytes.extend_from_slice(&line);
            offsets.push(bytes.len() as i64);
        }
        let texts = StringsRef::new(&offsets[..], &bytes)
            .map_err(|error| Trouble::Line(Failure::format(error.to_string())))?;
        out.clear();
        match to {
            Some(to) => {
                out.resize((texts.len() * to.bits_per_element() as usize).div_ceil(8), 0);
                cast.parse(texts, &mut out).map_err(|error| refused_line(error, done))?;
            }
            None => {
                for text in texts {
                    out.extend_from_slice(text);
                    out.push(b'\n');
                }
            }
        }
        writer.write_all(&out).map_err(Stopped::Write)?;
        done += texts.len() as u64;
        if texts.len() < wanted || wanted == 0 {
            return match count {
                Some(count) if done < count => Err(Stopped::Short(done).into()),
                _ => Ok(()),
            };
        }
    }
}

/// Converts an error of the library that is not about a text.
fn refused(error: OnnxError) -> Trouble {
    Trouble::Line(match error {
        OnnxError::Cast(error) => error.into(),
        error => Failure::unsupported(error.to_string()),
    })
}

/// Converts an error about the texts of a batch that follows `done` lines; lines are counted from 1.
fn refused_line(error: OnnxError, done: u64) -> Trouble {
    match error {
        OnnxError::Text(TextError::Text { index, text, reason, to }) => {
            let what = match reason {
                BadText::Empty => "is empty, not a value",
                BadText::NotANumber => "is not a value",
                BadText::OutOfRange => "is out of the range",
                _ => "is not a value",
            };
            let line = done + index as u64 + 1;
            Trouble::Line(
                Failure::format(format!("line {line}, \"{text}\", {what} of {to}"))
                    .advise("correct the line"),
            )
        }
        error => refused(error),
    }
}

/// The node that the arguments describe.
fn node(args: &OnnxCast) -> Result<Cast> {
    let mut attributes = Attributes::NONE;
    attributes.saturate = args.saturate;
    attributes.round_mode = args.round_mode;
    let make = if args.like { Cast::like } else { Cast::new };
    let options = CastOptions::ONNX.with_fnuz_inf(args.fnuz_inf);
    let exponent = if args.plain { Exponent::Never } else { Exponent::Auto };
    let special = if args.lower { Special::Lower } else { Special::Onnx };
    let text = TextOptions::ONNX.with_exponent(exponent).with_special(special);
    let cast = make(args.opset, args.from, args.to, &attributes)
        .and_then(|cast| cast.with_options(&options))
        .and_then(|cast| cast.with_text(&text));
    cast.map_err(|error| match error {
        OnnxError::Cast(error) => error.into(),
        OnnxError::NoSuchOpset { .. } | OnnxError::NoAttribute { .. } => Failure::usage(error.to_string()),
        _ => Failure::unsupported(error.to_string()),
    })
}
