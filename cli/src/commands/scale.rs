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
    let global = global_path(&scheme, args.global.as_deref())?;
    signals::watch();

    let bytes = from.byte_len(plan.elements()).unwrap_or(usize::MAX);
    let src = read(&args.input, "elements", bytes)?;
    let (mut data, mut scales) = (vec![0; plan.data_len()], vec![0; plan.scales_len()]);
    let report = plan.quantize_dynamic(&src, &mut data, &mut scales).map_err(refused)?;
    swap(&mut scales, plan.scale_type().dtype().size());

    let mut output = create(&args.data, &args.writing)?;
    write(&mut output, &data, &args.data)?;
    let more = global.map(|path| (path, report.global.to_le_bytes().to_vec()));
    for (path, bytes) in [(args.scales.as_path(), scales)].into_iter().chain(more) {
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
    let global = global_path(&scheme, args.global.as_deref())?;
    signals::watch();

    let data = read(&args.data, "codes", plan.data_len())?;
    let mut scales = read(&args.scales, "scales", plan.scales_len())?;
    swap(&mut scales, plan.scale_type().dtype().size());
    let global = match global {
        Some(path) => {
            let bytes = read(path, "scale of the tensor", 4)?;
            f32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]])
        }
        None => 1.0,
    };
    let mut out = vec![0; to.byte_len(plan.elements()).unwrap_or(usize::MAX)];
    plan.dequantize(&data, &scales, global, to, &mut out).map_err(refused)?;

    let mut output = create(&args.output, &args.writing)?;
    write(&mut output, &out, &args.output)?;
    Ok(output.commit()?)
}

/// The file of the scale of the tensor, if the scheme has one.
fn global_path<'a>(scheme: &Scheme, path: Option<&'a Path>) -> Result<Option<&'a Path>> {
    match (scheme.scale, path) {
        (ScaleType::E4M3(_), None) => {
            Err(Failure::usage("the scheme has a scale for the tensor").advise("name its file with --global"))
        }
        (ScaleType::E4M3(_), path) => Ok(path),
        (_, Some(_)) => {
            Err(Failure::usage("the scheme has no scale for the tensor").advise("leave out --global"))
        }
        (_, None) => Ok(None),
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

/// Wide scales are in the byte order of the host in memory, and little-endian in files.
fn swap(scales: &mut [u8], size: usize) {
    if cfg!(target_endian = "big") && size > 1 {
        scales.chunks_mut(size).for_each(<[u8]>::reverse);
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
