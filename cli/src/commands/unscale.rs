//! `lanecast unscale`: codes and scales, back to floats.

use lanecast::{
    ByteOrder, BytesMut, DType, Encoding,
    scaled::{Quantized, ScaleType, ScaledPlan, Scheme},
};
use lanecast_files::TensorFile;

use super::{
    scale::{check_files, has_global},
    scaled_files::{self, GLOBAL, Kind, Part, Record, SCALES, UNNAMED, ZERO_POINTS, is_companion, refused},
    sink::is_standard,
};
use crate::{
    args::Unscale,
    error::{Failure, Result},
    signals,
};

/// The parts of a scaled tensor, and what they are.
struct Scaled {
    name: String,
    shape: Vec<usize>,
    plan: ScaledPlan,
    data: Part,
    scales: Part,
    global: Option<Part>,
    zeros: Option<Part>,
}

/// Runs the subcommand.
pub fn run(args: &Unscale) -> Result<()> {
    signals::watch();
    let of = match Kind::of(&args.data) {
        Kind::Safetensors => together(args)?,
        _ => apart(args)?,
    };
    let to = Encoding::new(args.to).with_order(ByteOrder::Little);
    let mut out = vec![0; to.byte_len(of.plan.elements()).unwrap_or(usize::MAX)];
    let (data, scales) = (of.data.into_native(), of.scales.into_native());
    let global = of.global.map(Part::into_native);
    let global = global.and_then(|bytes| Some(f32::from_ne_bytes(*bytes.first_chunk()?)));
    let scaled = Quantized { data, scales, zero_points: of.zeros.map(Part::into_native), global };
    let values = BytesMut::new(&mut out, of.plan.elements());
    of.plan.with_output(to).dequantize(&scaled, values).map_err(refused)?;

    let values = Part { dtype: args.to, shape: of.shape, bytes: out };
    match Kind::of(&args.output) {
        Kind::Safetensors => {
            scaled_files::write_together(&args.output, &of.name, &[("", values)], &[], &args.writing)
        }
        _ => scaled_files::write_each(&[(&args.output, values)], &args.writing).map(drop),
    }
}

/// The parts of separate files, which do not say what they are.
fn apart(args: &Unscale) -> Result<Scaled> {
    let missing = |option: &str, what: &str| {
        Failure::usage(format!("bare elements and .npy files do not say their {what}"))
            .advise(format!("give {option}, or a .safetensors file of `lanecast scale` with --data"))
    };
    let scheme = args.scheme.ok_or_else(|| missing("--scheme", "scheme"))?;
    let shape = args.shape.clone().ok_or_else(|| missing("--shape", "shape"))?;
    let scheme = args.from.map_or(scheme, |from| scheme.with_element(from));
    let source = match (scheme.scale, args.source) {
        (ScaleType::Source, None) => {
            return Err(Failure::usage("the scales of the scheme have the dtype that was scaled")
                .advise("name it with --source: float32, float16 or bfloat16"));
        }
        (_, source) => source.unwrap_or(DType::Float32),
    };
    let plan = ScaledPlan::new(source, &scheme, &shape).map_err(refused)?;
    let names =
        [("--scales", &args.scales), ("--global", &args.global), ("--zero-points", &args.zero_points)];
    let [scales, global, zeros] = check_files(&scheme, false, names)?;
    let inputs = [Some(args.data.as_path()), scales, global, zeros];
    if inputs.iter().flatten().filter(|path| is_standard(path)).count() > 1 {
        return Err(Failure::usage("two inputs come from standard input").advise("give `-` to one of them"));
    }
    let blocks = scheme.granularity.scales_shape(&shape);
    let data = scaled_files::read(&args.data, "codes", scheme.element, shape.clone())?;
    let part = |path: Option<&std::path::Path>, what, dtype, shape: Vec<usize>| {
        path.map(|path| scaled_files::read(path, what, dtype, shape)).transpose()
    };
    let scales = part(scales, "scales", plan.scale_encoding().dtype(), blocks.clone())?;
    let scales = scales.ok_or_else(|| missing("--scales", "scales"))?;
    let global = part(global, "scale of the tensor", DType::Float32, vec![1])?;
    let zeros = part(zeros, "zero points", scheme.element, blocks)?;
    let name = args.tensor.clone().unwrap_or_else(|| UNNAMED.to_owned());
    Ok(Scaled { name, shape, plan, data, scales, global, zeros })
}

/// The parts of a `.safetensors` file, which says what they are if `lanecast scale` wrote it.
fn together(args: &Unscale) -> Result<Scaled> {
    let mut file = TensorFile::open(&args.data)?;
    let records = Record::all(&file)?;
    let codes = |name: &str| match records.is_empty() {
        true => !is_companion(name),
        false => records.iter().any(|(of, _)| of == name),
    };
    let index = scaled_files::find(&file, args.tensor.as_deref(), codes)?;
    let info = file.tensors()[index].clone();
    let name = info.name.clone();
    let at = |failure: Failure| failure.at(format!("{}, tensor {name:?}", args.data.display()));
    let record = records.into_iter().find(|(of, _)| *of == name).map(|(_, record)| record);
    let (scheme, source, shape) = match &record {
        Some(record) => recorded(args, record).map_err(at)?,
        None => {
            let scheme = args.scheme.ok_or_else(|| {
                at(Failure::usage("the file does not say its scheme").advise("name it with --scheme"))
            })?;
            let scheme = args.from.map_or(scheme, |from| scheme.with_element(from));
            let shape = args.shape.clone().or_else(|| scaled_files::shape_of(&info)).unwrap_or_default();
            let scales =
                file.find(&format!("{name}{SCALES}")).and_then(|index| file.tensors()[index].dtype());
            (scheme, args.source.or(scales.filter(|_| scheme.scale == ScaleType::Source)), shape)
        }
    };
    let plan =
        ScaledPlan::new(source.unwrap_or(DType::Float32), &scheme, &shape).map_err(|e| at(refused(e)))?;
    let names =
        [("--scales", &args.scales), ("--global", &args.global), ("--zero-points", &args.zero_points)];
    check_files(&scheme, true, names)?;
    let blocks = scheme.granularity.scales_shape(&shape);
    let mut part = |suffix: &str, what, dtype, shape: Vec<usize>| {
        let of = format!("{name}{suffix}");
        let index = file.find(&of).ok_or_else(|| {
            Failure::format(format!("the file has no tensor {of:?}, the {what} of {name:?}"))
                .at_path(&args.data)
        })?;
        scaled_files::read_tensor(&mut file, index, what, dtype, shape)
    };
    let data = part("", "codes", scheme.element, shape.clone())?;
    let scales = part(SCALES, "scales", plan.scale_encoding().dtype(), blocks.clone())?;
    let global = has_global(&scheme)
        .then(|| part(GLOBAL, "scale of the tensor", DType::Float32, vec![1]))
        .transpose()?;
    let zeros = scheme
        .has_zero_points()
        .then(|| part(ZERO_POINTS, "zero points", scheme.element, blocks))
        .transpose()?;
    Ok(Scaled { name, shape, plan, data, scales, global, zeros })
}

/// The scheme of a record, the dtype of the source and the shape. Arguments that say something else are refused.
fn recorded(args: &Unscale, record: &Record) -> Result<(Scheme, Option<DType>, Vec<usize>)> {
    let unknown = |what: &str, name: &str| {
        Failure::unsupported(format!(
            "the file was written by the {what} {name:?}, which this version does not have"
        ))
    };
    let dtype = |name: &str| name.parse::<DType>().map_err(|_| unknown("dtype", name));
    let scheme = Scheme::from_name(&record.scheme).ok_or_else(|| unknown("scheme", &record.scheme))?;
    let (element, source) = (dtype(&record.element)?, dtype(&record.source)?);
    for (what, name) in [("storage", (&record.storage, "packed")), ("layout", (&record.layout, "row-major"))]
    {
        if name.0 != name.1 {
            return Err(unknown(what, name.0));
        }
    }
    let shape = |shape: &[usize]| format!("{shape:?}");
    let given = [
        ("--scheme", args.scheme.and_then(|scheme| scheme.name()).map(str::to_owned), record.scheme.clone()),
        ("--from", args.from.map(|from| from.name().to_owned()), record.element.clone()),
        ("--source", args.source.map(|source| source.name().to_owned()), record.source.clone()),
        ("--shape", args.shape.as_deref().map(shape), shape(&record.shape)),
    ];
    for (option, given, recorded) in given {
        if let Some(given) = given.filter(|given| *given != recorded) {
            return Err(Failure::usage(format!(
                "{option} is {given}, and the file was written with {recorded}"
            ))
            .advise(format!("leave out {option}")));
        }
    }
    Ok((scheme.with_element(element), Some(source), record.shape.clone()))
}
