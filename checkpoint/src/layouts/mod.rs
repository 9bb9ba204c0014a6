//! The layouts: one module each, which resolves the tensors of a weight to a [`Coding`].
//!
//! *Law.* The configuration (or header) and the names, dtypes and shapes of the tensors are two witnesses. Both must agree; otherwise the
//! error names both. The name of the model is never evidence.
//!
//! A layout is a [`Method`]. [`recognise`] tries the rows of [`METHODS`] in order. To add a layout, write a module with a `recognise`
//! function, and add a row.

mod awq;
mod bitsandbytes;
mod block_fp8;
mod comfy;
mod compressed;
mod gptq;
mod mlx;
mod modelopt;
mod mxfp4;
mod plain;
pub(crate) mod targets;
mod torchao;

use std::{collections::HashSet, path::Path};

use lanecast::DType;
use lanecast_files::{Error, Result};
use serde_json::Value;

use crate::{
    coding::{Axis, Coding, Id, ScaleData, Scales, Zeros},
    error::{At, invalid, unsupported},
    source::{Json, Source, Stored, is_addressable},
};

pub(crate) use comfy::{METADATA as COMFY_METADATA, VERSION as COMFY_VERSION};

/// A weight that was recognised.
#[derive(Debug)]
pub(crate) struct Weight {
    /// Its name in a plain checkpoint.
    pub(crate) name: String,
    /// The module: what its tensors share, without a dot at the end.
    pub(crate) module: String,
    pub(crate) coding: Coding,
    /// The tensors beside the codes.
    pub(crate) companions: Vec<Id>,
}

/// A way to store weights.
pub(crate) trait Method {
    /// What it is called.
    fn name(&self) -> &'static str;

    /// The weight whose codes are in this tensor, if the tensor has codes of this layout.
    fn resolve(&self, of: &Context<'_>, codes: Id) -> Result<Option<Weight>>;

    /// Whether 8-bit floats without a scale are values of their own.
    fn allows_plain_fp8(&self) -> bool {
        false
    }

    /// The ends of the names of its tensors that mean something only beside codes.
    fn telling(&self) -> &'static [&'static str] {
        &[]
    }

    /// Tensors that belong to the checkpoint and to no weight.
    fn is_marker(&self, _tensor: &Stored) -> bool {
        false
    }

    /// What a reader should know about the checkpoint.
    fn warnings(&self) -> Vec<String> {
        Vec::new()
    }
}

/// A row of the table: whether a checkpoint has a layout, by its evidence.
type Recognise = fn(&Context<'_>) -> Result<Option<Box<dyn Method>>>;

/// The layouts, in the order in which they are tried.
const METHODS: &[Recognise] = &[
    comfy::recognise,
    torchao::recognise,
    mlx::recognise,
    compressed::recognise,
    block_fp8::recognise,
    mxfp4::recognise,
    modelopt::recognise,
    bitsandbytes::recognise,
    gptq::recognise,
    awq::recognise,
    plain::recognise,
];

/// The layout of a checkpoint.
pub(crate) fn recognise(of: &Context<'_>) -> Result<Box<dyn Method>> {
    for recognise in METHODS {
        if let Some(method) = recognise(of)? {
            return Ok(method);
        }
    }
    let method = of.method().unwrap_or_default();
    Err(unsupported(format!("the quantization method \"{method}\" is not known")).at_path(of.config_path()))
}

/// The weight whose codes are in this tensor, if the tensor has codes and the configuration does not say that its module has none.
pub(crate) fn resolve(method: &dyn Method, of: &Context<'_>, codes: Id) -> Result<Option<Weight>> {
    let weight = method.resolve(of, codes)?;
    if let Some(Weight { coding, .. }) = &weight
        && !is_addressable(&coding.shape)
    {
        let what = format!("the axes {:?} of the weight are larger than memory could hold", coding.shape);
        return Err(of.wrong(codes, what));
    }
    if let Some(Weight { coding, .. }) = &weight {
        check_companions(of, coding)?;
    }
    if let Some(Weight { module, .. }) = &weight
        && of.skipped.contains(module.as_str())
    {
        return Err(of.disagree(codes, format!("that \"{module}\" is not quantized")));
    }
    Ok(weight)
}

/// Fails if zero points or groups have another shape than the coding needs, such as the transposed one, which has as many bytes.
fn check_companions(of: &Context<'_>, coding: &Coding) -> Result<()> {
    let leading = &coding.shape[..coding.shape.len().saturating_sub(2)];
    let rows = coding.scales.as_ref().map_or(0, |scales| scales.grid[0]);
    let zeros = match coding.zeros {
        Zeros::Tensor { id, packing, .. } => {
            let size = of.dtype(id).map_or(1, DType::size);
            Some((id, [leading, &[packing.stored_rows(rows), packing.pitch / size]].concat()))
        }
        Zeros::None | Zeros::Constant(_) => None,
    };
    let groups = coding.groups.map(|(id, axis)| match axis {
        Axis::Rows => (id, vec![coding.rows]),
        Axis::Columns => (id, vec![coding.cols]),
    });
    for (id, want) in zeros.into_iter().chain(groups) {
        if significant(of.shape(id)) != significant(&want) {
            let (codes, shape) = (&of.tensor(coding.codes).name, &coding.shape);
            let what = format!(
                "the tensor has the shape {:?}, and the codes \"{codes}\" of a weight {shape:?} need {want:?}",
                of.shape(id)
            );
            return Err(of.wrong(id, what));
        }
    }
    Ok(())
}

/// The axes of a shape that matter. Some writers leave axes of length 1 out, and others add them.
fn significant(shape: &[usize]) -> Vec<usize> {
    shape.iter().copied().filter(|n| *n != 1).collect()
}

/// What the layouts read: the tensors and the configuration.
#[derive(Debug)]
pub(crate) struct Context<'a> {
    pub(crate) source: &'a Source,
    /// The object of the configuration that describes the quantization, and the file that has it.
    config: Option<(&'a Path, &'a Value)>,
    /// Modules that are not quantized, by their whole names. Loaders match patterns of these lists in ways that differ, so no others count.
    skipped: HashSet<&'a str>,
}

/// The files that may describe the quantization, and where in them: the path of an object.
fn places(source: &Source) -> [(Option<&Json>, &'static [&'static str]); 5] {
    let config = source.config.as_ref();
    [
        (config, &["quantization_config"]),
        (config, &["text_config", "quantization_config"]),
        (config, &["compression_config"]),
        (source.hf_quant_config.as_ref(), &["quantization"]),
        (source.quantize_config.as_ref(), &[]),
    ]
}

impl<'a> Context<'a> {
    pub(crate) fn new(source: &'a Source) -> Self {
        let config = places(source).into_iter().find_map(|(file, keys)| {
            let file = file?;
            let value = keys.iter().try_fold(&file.value, |value, key| value.get(key))?;
            value.is_object().then_some((file.path.as_path(), value))
        });
        let lists = ["modules_to_not_convert", "llm_int8_skip_modules"];
        let skipped =
            config.iter().flat_map(|(_, config)| lists.iter().flat_map(|key| texts(config, key))).collect();
        Self { source, config, skipped }
    }

    /// The description of the quantization.
    pub(crate) fn config(&self) -> Option<&'a Value> {
        self.config.map(|(_, value)| value)
    }

    /// The file that has it.
    pub(crate) fn config_path(&self) -> &'a Path {
        self.config.map_or(&self.source.folder, |(path, _)| path)
    }

    /// The name of the method in the configuration, in lower case.
    pub(crate) fn method(&self) -> Option<String> {
        let (path, config) = self.config?;
        let name = ["quant_method", "method"].iter().find_map(|key| config.get(key)?.as_str());
        // Two files of other names describe one method each.
        let implied = match path.file_name().and_then(|name| name.to_str()) {
            Some("hf_quant_config.json") => Some("modelopt"),
            Some("quantize_config.json") => Some("gptq"),
            _ => None,
        };
        Some(name.or(implied).unwrap_or_default().to_ascii_lowercase())
    }

    /// The tensor with this name.
    fn find(&self, name: &str) -> Option<Id> {
        self.source.names.get(name).copied()
    }

    /// The tensor `name`, which the codes need.
    fn need(&self, name: &str, codes: Id) -> Result<Id> {
        self.find(name).ok_or_else(|| {
            self.wrong(codes, format!("the codes need the tensor \"{name}\", which is missing"))
        })
    }

    fn tensor(&self, id: Id) -> &'a Stored {
        &self.source.tensors[id]
    }

    fn dtype(&self, id: Id) -> Option<DType> {
        self.tensor(id).dtype()
    }

    fn shape(&self, id: Id) -> &'a [usize] {
        &self.tensor(id).shape
    }

    /// The names of all tensors.
    fn any(&self, wanted: impl Fn(&Stored) -> bool) -> bool {
        self.source.tensors.iter().any(wanted)
    }

    /// The error of a tensor that is not what its layout needs.
    fn wrong(&self, id: Id, what: impl Into<String>) -> Error {
        invalid(what).tensor(self.source, self.tensor(id))
    }

    /// The error of a tensor that this crate does not decode.
    fn refused(&self, id: Id, what: impl Into<String>) -> Error {
        unsupported(what).tensor(self.source, self.tensor(id))
    }

    /// The error of a configuration and tensors that say different things.
    fn disagree(&self, id: Id, config: impl std::fmt::Display) -> Error {
        let evidence = match self.config {
            Some((path, _)) => format!("{} says", path.display()),
            None => "the shapes of the tensors imply".to_owned(),
        };
        let tensor = self.tensor(id).described();
        self.wrong(id, format!("{evidence} {config}, and the tensor is {tensor}"))
    }

    /// Fails unless a tensor has one of these dtypes.
    fn expect(&self, id: Id, dtypes: &[DType]) -> Result<()> {
        match self.dtype(id).is_some_and(|dtype| dtypes.contains(&dtype)) {
            true => Ok(()),
            false => {
                let names: Vec<&str> = dtypes.iter().map(|dtype| dtype.name()).collect();
                let have = self.tensor(id).described();
                Err(self.wrong(id, format!("the tensor must be {}, not {have}", names.join(" or "))))
            }
        }
    }

    /// The only matrix of a tensor.
    fn matrix(&self, id: Id) -> Result<[usize; 2]> {
        match self.shape(id) {
            [rows, cols] => Ok([*rows, *cols]),
            shape => Err(self.wrong(id, format!("the tensor must have two axes, not the shape {shape:?}"))),
        }
    }

    /// The scales of a weight of this shape: one for each block. `block` is the rows and columns of a block in the last two axes. Bytes are powers of two.
    /// A block has all rows if it has 0, and all columns likewise.
    fn scales(&self, id: Id, shape: &[usize], block: [usize; 2]) -> Result<Scales> {
        let (leading, matrix) = shape.split_at(shape.len().saturating_sub(2));
        let (rows, cols) = match matrix {
            [rows, cols] => (*rows, *cols),
            [cols] => (1, *cols),
            _ => (1, 1),
        };
        let [block_rows, block_cols] = block;
        let block = [
            if block_rows == 0 { rows } else { block_rows }.max(1),
            if block_cols == 0 { cols } else { block_cols }.max(1),
        ];
        let grid = [rows.div_ceil(block[0]), cols.div_ceil(block[1])];
        let want = [leading, &grid].concat();
        let have = self.shape(id);
        if significant(have) != significant(&want) {
            let what = format!(
                "the scales have the shape {have:?}, and a weight {shape:?} in blocks of {block:?} needs {want:?}"
            );
            return Err(self.wrong(id, what));
        }
        Ok(Scales {
            data: ScaleData::Tensor(id, self.scale_dtype(id)?),
            block,
            grid,
            swizzled: None,
            zero_is_zero: false,
        })
    }

    /// The dtype of the elements of scales. Bytes are powers of two.
    fn scale_dtype(&self, id: Id) -> Result<DType> {
        match self.dtype(id) {
            Some(DType::UInt8) => Ok(DType::Float8E8M0FNU),
            Some(dtype) if dtype.finfo().is_some() || dtype == DType::Float8E8M0FNU => Ok(dtype),
            _ => Err(self.wrong(id, format!("scales cannot be {}", self.tensor(id).described()))),
        }
    }

    /// The block that scales of this shape imply without a declaration: the tensor, a row, tiles of 128 by 128, or groups of a row.
    fn implied_block(&self, id: Id, shape: &[usize]) -> [usize; 2] {
        let [.., rows, cols] = *shape else { return [0, 0] };
        match self.shape(id) {
            scale if scale.iter().product::<usize>() == 1 => [0, 0],
            [n] | [n, 1] if *n == rows => [1, 0],
            [r, c] if [*r, *c] == [rows.div_ceil(128), cols.div_ceil(128)] => [128, 128],
            [r, c] if *r == rows && *c > 0 && cols.is_multiple_of(*c) => [1, cols / c],
            _ => [128, 128],
        }
    }
}

/// 8-bit floats.
const FP8: &[DType] = &[DType::Float8E4M3FN, DType::Float8E5M2, DType::Float8E4M3FNUZ, DType::Float8E5M2FNUZ];

/// Floats that scales are stored as, beside powers of two.
const WIDE: &[DType] = &[DType::Float32, DType::Float16, DType::BFloat16];

/// How scales that are powers of two are stored.
const POWERS: &[DType] = &[DType::Float8E8M0FNU, DType::UInt8];

/// An unsigned number of a configuration.
fn number(of: &Value, key: &str) -> Option<usize> {
    of.get(key).and_then(Value::as_u64).and_then(|n| usize::try_from(n).ok())
}

/// A text of a configuration.
pub(crate) fn text<'v>(of: &'v Value, key: &str) -> Option<&'v str> {
    of.get(key).and_then(Value::as_str)
}

/// The texts of a list in a configuration.
pub(crate) fn texts<'v>(of: &'v Value, key: &str) -> Vec<&'v str> {
    of.get(key).and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str).collect()
}
