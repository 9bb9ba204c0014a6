//! `lanecast scale`: a tensor, by a scheme whose blocks share a scale.

use std::path::Path;

use lanecast::{
    ByteOrder, Bytes, DType, Encoding,
    scaled::{Report, ScaleType, ScaledError, ScaledPlan, Scheme},
};
use lanecast_files::TensorFile;
use serde_json::{Value, json};

use super::{
    scaled_files::{self, GLOBAL, Kind, Part, Record, SCALES, UNNAMED, ZERO_POINTS, counted, refused},
    sink,
};
use crate::{
    args::Scale,
    error::{Failure, Result},
    output, signals, terminal,
};

/// Runs the subcommand.
pub fn run(args: &Scale) -> Result<()> {
    let scheme =
        args.to.map_or(args.scheme, |to| args.scheme.with_element(to)).with_non_finite(args.non_finite);
    let together = Kind::of(&args.data) == Kind::Safetensors;
    signals::watch();
    let (name, source) = read(args)?;
    let from = Encoding::new(source.dtype).with_order(ByteOrder::Little);
    let plan = ScaledPlan::new(from, &scheme, &source.shape).map_err(refused)?.with_counts();
    let names =
        [("--scales", &args.scales), ("--global", &args.global), ("--zero-points", &args.zero_points)];
    let [scales_to, global_to, zeros_to] = check_files(&scheme, together, names)?;

    let mut scaled = plan.alloc();
    let report = plan.quantize(Bytes::new(&source.bytes, plan.elements()), &mut scaled).map_err(refused)?;

    let blocks = scheme.granularity.scales_shape(&source.shape);
    let global = scaled.global.map(|global| global.to_ne_bytes().to_vec());
    let data = Part::new(scheme.element, source.shape.clone(), scaled.data);
    let scales = Part::new(plan.scale_encoding().dtype(), blocks.clone(), scaled.scales);
    let global = global.map(|global| Part::new(DType::Float32, vec![1], global));
    let zeros = scaled.zero_points.map(|zeros| Part::new(scheme.element, blocks, zeros));
    let summary = summary(args, [&data, &scales], zeros.as_ref(), &report);
    let to_stream = if together {
        let record =
            Record::new(&scheme, args.scheme.name().unwrap_or_default(), source.dtype, &source.shape);
        let mut parts = vec![("", data), (SCALES, scales)];
        parts.extend(global.map(|part| (GLOBAL, part)));
        parts.extend(zeros.map(|part| (ZERO_POINTS, part)));
        let metadata = record.to_metadata(&name)?;
        scaled_files::write_together(&args.data, &name, &parts, &metadata, &args.writing)?;
        false
    } else {
        let others = [(scales_to, Some(scales)), (global_to, global), (zeros_to, zeros)];
        let mut parts = vec![(args.data.as_path(), data)];
        parts.extend(others.into_iter().filter_map(|(path, part)| path.zip(part)));
        scaled_files::write_each(&parts, &args.writing)?
    };
    summary.print(args.json, to_stream)
}

/// The name of the input's tensor, and its elements.
fn read(args: &Scale) -> Result<(String, Part)> {
    const WHAT: &str = "elements";
    let name = || args.tensor.clone().unwrap_or_else(|| UNNAMED.to_owned());
    if Kind::of(&args.input) == Kind::Bare {
        let missing = |option: &str| {
            Failure::usage("bare elements do not say their dtype and shape")
                .at_path(&args.input)
                .advise(format!("give {option}, or a .safetensors or .npy file"))
        };
        let from = args.from.ok_or_else(|| missing("--from"))?;
        let shape = args.shape.clone().ok_or_else(|| missing("--shape"))?;
        check_source(from)?;
        return Ok((name(), scaled_files::read(&args.input, WHAT, from, shape)?));
    }
    let mut file = TensorFile::open(&args.input)?;
    let index = scaled_files::find(&file, args.tensor.as_deref(), |_| true)?;
    let info = &file.tensors()[index];
    let no_dtype = || {
        Failure::usage(format!("the dtype {} does not say what the elements are", info.described))
            .at_path(&args.input)
            .advise("name it with --from")
    };
    let dtype = args.from.or(info.dtype()).ok_or_else(no_dtype)?;
    check_source(dtype)?;
    let shape = scaled_files::shape_of(info).unwrap_or_default();
    if let Some(given) = args.shape.as_ref().filter(|given| **given != shape) {
        let wrong = format!("--shape is {given:?}, and the tensor has the shape {shape:?}");
        return Err(Failure::usage(wrong).at_path(&args.input).advise("leave out --shape"));
    }
    let name = if info.name.is_empty() { name() } else { info.name.clone() };
    Ok((name, scaled_files::read_tensor(&mut file, index, WHAT, dtype, shape)?))
}

/// Refuses what cannot be scaled, before it is read.
fn check_source(dtype: DType) -> Result<()> {
    match dtype {
        DType::Float16 | DType::BFloat16 | DType::Float32 => Ok(()),
        dtype => Err(refused(ScaledError::Source { dtype })),
    }
}

/// Whether a scheme has a scale for the tensor.
pub fn has_global(scheme: &Scheme) -> bool {
    matches!(scheme.scale, ScaleType::E4M3(_))
}

/// The files of the scales, of the scale of the tensor and of the zero points, each there if and only if the scheme has that part and it is
/// not in the file of the codes.
pub fn check_files<'a>(
    scheme: &Scheme,
    together: bool,
    files: [(&str, &'a Option<std::path::PathBuf>); 3],
) -> Result<[Option<&'a Path>; 3]> {
    let parts = [
        (true, "scales"),
        (has_global(scheme), "a scale for the tensor"),
        (scheme.has_zero_points(), "zero points"),
    ];
    for ((option, path), (has, part)) in files.iter().zip(parts) {
        let leave_out = format!("leave out {option}");
        match path {
            Some(_) if together => {
                let what = format!(
                    "the .safetensors file of --data holds all parts, and {option} names another file"
                );
                return Err(Failure::usage(what).advise(leave_out));
            }
            Some(_) if !has => {
                return Err(Failure::usage(format!("the scheme has no {}", part.trim_start_matches("a ")))
                    .advise(leave_out));
            }
            Some(path) => scaled_files::check_alone(path, option)?,
            None if has && !together => {
                return Err(Failure::usage(format!("the scheme has {part}"))
                    .advise(format!("name the file with {option}, or a .safetensors file with --data")));
            }
            None => {}
        }
    }
    Ok(files.map(|(_, path)| path.as_deref()))
}

/// What was done and what was lost, as text and as JSON.
struct Summary {
    text: String,
    json: Value,
}

fn summary(args: &Scale, [data, scales]: [&Part; 2], zeros: Option<&Part>, report: &Report) -> Summary {
    let blocks: usize = scales.shape.iter().product();
    let counts = [
        (report.empty, "block is zero", "blocks are zero"),
        (report.poisoned, "block has a NaN or an infinity", "blocks have a NaN or an infinity"),
        (report.clipped.unwrap_or(0), "element was clipped", "elements were clipped"),
        (report.underflowed.unwrap_or(0), "element underflowed to zero", "elements underflowed to zero"),
    ];
    let (elements, blocks) = (counted(data.shape.iter().product(), "element"), counted(blocks, "scale"));
    let mut text = format!("scaled {elements}, {blocks}\n");
    for (n, one, several) in counts.into_iter().filter(|(n, ..)| *n > 0) {
        text.push_str(&format!("{n} {}\n", if n == 1 { one } else { several }));
    }
    let part =
        |part: &Part| json!({ "dtype": part.dtype.name(), "shape": part.shape, "bytes": part.bytes.len() });
    let json = json!({
        "scheme": args.scheme.name(),
        "elements": report.elements,
        "data": part(data),
        "scales": part(scales),
        "global": report.global,
        "zero_points": zeros.map(part),
        "empty": report.empty,
        "poisoned": report.poisoned,
        "clipped": report.clipped,
        "underflowed": report.underflowed,
    });
    Summary { text, json }
}

impl Summary {
    /// Prints the summary: on standard error, if standard output has one of the parts.
    fn print(&self, as_json: bool, to_stream: bool) -> Result<()> {
        if as_json {
            return sink::print_json(&format!("{}\n", self.json), to_stream);
        }
        match terminal::quiet() {
            true => Ok(()),
            false if to_stream => sink::print_json(&self.text, true),
            false => output::report(&self.text),
        }
    }
}
