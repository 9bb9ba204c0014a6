//! `lanecast scale` and `lanecast unscale`: tensors of bare elements, by schemes whose blocks share a scale.

use std::{
    io::{self, Read, Write},
    path::Path,
};

use lanecast::{
    BufferType, ByteOrder, DType,
    scaled::{Report, ScaleType, ScaledError, ScaledPlan, Scheme},
};
use lanecast_files::{Error, Output};
use serde_json::json;

use super::sink::{self, Content, Source, is_standard};
use crate::{
    args::{Scale, Unscale, Writing},
    error::{Failure, Result},
    output, signals, terminal,
};

/// Runs `scale`.
pub fn scale(args: &Scale) -> Result<()> {
    let scheme =
        args.to.map_or(args.scheme, |to| args.scheme.with_element(to)).with_non_finite(args.non_finite);
    let from = BufferType::new(args.from).with_order(ByteOrder::Little);
    let plan = ScaledPlan::new(from, &scheme, &args.shape).map_err(refused)?;
    let global = GLOBAL.path(&scheme, args.global.as_deref())?;
    let points = ZERO_POINTS.path(&scheme, args.zero_points.as_deref())?;
    signals::watch();

    let bytes = from.byte_len(plan.elements()).unwrap_or(usize::MAX);
    let src = read(&args.input, "elements", bytes)?;
    let (mut data, mut scales) = (vec![0; plan.data_len()], vec![0; plan.scales_len()]);
    let mut zeros = vec![0; points.map_or(0, |_| plan.zeros_len())];
    let report = match points {
        Some(_) => plan.quantize_min_max(&src, &mut data, &mut scales, &mut zeros),
        None => plan.quantize_dynamic(&src, &mut data, &mut scales),
    };
    let report = report.map_err(refused)?;
    swap(&mut scales, plan.scale_type().dtype().size());
    [&mut data, &mut zeros].into_iter().for_each(|codes| swap(codes, scheme.element.size()));

    let mut output = create(&args.data, &args.writing)?;
    write(&mut output, &data, &args.data)?;
    let global = global.map(|path| (path, report.global.to_le_bytes().to_vec()));
    let points = points.map(|path| (path, zeros));
    for (path, bytes) in [(args.scales.as_path(), scales)].into_iter().chain(global).chain(points) {
        let mut companion = output.companion(path)?;
        write(&mut companion, &bytes, path)?;
        output.attach(companion);
    }
    output.commit()?;
    summarize(&plan, &report, args.json)
}

/// Runs `unscale`.
pub fn unscale(args: &Unscale) -> Result<()> {
    let scheme = args.from.map_or(args.scheme, |from| args.scheme.with_element(from));
    let to = BufferType::new(args.to).with_order(ByteOrder::Little);
    let plan = ScaledPlan::new(DType::Float32, &scheme, &args.shape).map_err(refused)?;
    let global = GLOBAL.path(&scheme, args.global.as_deref())?;
    let points = ZERO_POINTS.path(&scheme, args.zero_points.as_deref())?;
    signals::watch();

    let mut data = read(&args.data, "codes", plan.data_len())?;
    let mut scales = read(&args.scales, "scales", plan.scales_len())?;
    swap(&mut data, scheme.element.size());
    swap(&mut scales, plan.scale_type().dtype().size());
    let global = match global {
        Some(path) => {
            let bytes = read(path, "scale of the tensor", 4)?;
            f32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]])
        }
        None => 1.0,
    };
    let mut out = vec![0; to.byte_len(plan.elements()).unwrap_or(usize::MAX)];
    let done = match points {
        Some(path) => {
            let mut zeros = read(path, "zero points", plan.zeros_len())?;
            swap(&mut zeros, scheme.element.size());
            plan.dequantize_min_max(&data, &scales, &zeros, to, &mut out)
        }
        None => plan.dequantize(&data, &scales, global, to, &mut out),
    };
    done.map_err(refused)?;

    let mut output = create(&args.output, &args.writing)?;
    write(&mut output, &out, &args.output)?;
    Ok(output.commit()?)
}

/// A file that some schemes have and others do not.
struct Companion {
    is_part_of: fn(&Scheme) -> bool,
    with: &'static str,
    without: &'static str,
    option: &'static str,
}

const GLOBAL: Companion = Companion {
    is_part_of: |scheme| matches!(scheme.scale, ScaleType::E4M3(_)),
    with: "the scheme has a scale for the tensor",
    without: "the scheme has no scale for the tensor",
    option: "--global",
};

const ZERO_POINTS: Companion = Companion {
    is_part_of: Scheme::has_zero_points,
    with: "the scheme has zero points",
    without: "the scheme has no zero points",
    option: "--zero-points",
};

impl Companion {
    /// The path of the file, if it is part of the scheme.
    fn path<'a>(&self, scheme: &Scheme, path: Option<&'a Path>) -> Result<Option<&'a Path>> {
        match ((self.is_part_of)(scheme), path) {
            (true, None) => {
                Err(Failure::usage(self.with).advise(format!("name the file with {}", self.option)))
            }
            (false, Some(_)) => {
                Err(Failure::usage(self.without).advise(format!("leave out {}", self.option)))
            }
            (_, path) => Ok(path),
        }
    }
}

fn refused(error: ScaledError) -> Failure {
    match error {
        ScaledError::NonFinite { .. } | ScaledError::Global { .. } => Failure::format(error.to_string()),
        ScaledError::Cast(error) => error.into(),
        error => Failure::usage(error.to_string()),
    }
}

/// All bytes of a file, which must have `want`.
fn read(path: &Path, what: &str, want: usize) -> Result<Vec<u8>> {
    let source = Source::open((!is_standard(path)).then_some(path))?;
    let place = source.place;
    let mut bytes = Vec::new();
    // One byte more shows that there are too many.
    let limit = (want as u64).saturating_add(1);
    let failed = |e: io::Error| Failure::from(Error::reading(&e)).at(&place);
    source.reader.take(limit).read_to_end(&mut bytes).map_err(failed)?;
    if bytes.len() == want {
        return Ok(bytes);
    }
    let has = if bytes.len() > want { "more".to_owned() } else { format!("{} bytes", bytes.len()) };
    let wrong = format!("the {what} take {want} bytes, and the file has {has}");
    Err(Failure::format(wrong).at(&place).advise("check --shape, --scheme, --from and --to"))
}

/// Elements of several bytes are in the byte order of the host in memory, and little-endian in files.
fn swap(elements: &mut [u8], size: usize) {
    if cfg!(target_endian = "big") && size > 1 {
        elements.chunks_mut(size).for_each(<[u8]>::reverse);
    }
}

fn create(path: &Path, writing: &Writing) -> Result<Output> {
    sink::start((!is_standard(path)).then_some(path), writing, Content::Elements, None)
}

fn write(output: &mut Output, bytes: &[u8], path: &Path) -> Result<()> {
    output.writer().write_all(bytes).map_err(|e| Failure::writing(&e).at_path(path))
}

/// Prints what was lost.
fn summarize(plan: &ScaledPlan, report: &Report, as_json: bool) -> Result<()> {
    if as_json {
        let line = json!({
            "elements": report.elements,
            "scales": plan.scales(),
            "global": report.global,
            "empty": report.empty,
            "poisoned": report.poisoned,
            "clipped": report.clipped,
            "underflowed": report.underflowed,
        });
        return sink::print_json(&line.to_string(), false);
    }
    if terminal::quiet() {
        return Ok(());
    }
    let counts = [
        (report.empty, "blocks are zero"),
        (report.poisoned, "blocks have a NaN or an infinity"),
        (report.clipped.unwrap_or(0), "elements were clipped"),
        (report.underflowed.unwrap_or(0), "elements underflowed to zero"),
    ];
    let mut text = format!("scaled {} elements, {} scales\n", report.elements, plan.scales());
    for (n, what) in counts.into_iter().filter(|(n, _)| *n > 0) {
        text.push_str(&format!("{n} {what}\n"));
    }
    output::report(&text)
}
