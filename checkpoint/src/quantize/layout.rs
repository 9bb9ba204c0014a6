//! [`QuantLayout`]: how the parts of a quantized weight are called and stored, and what describes them.
//!
//! A layout is a [`Layout`] in a module of its own. To add one, write the module, and add a row to [`ROWS`].

use std::{fmt, ops::Range, str::FromStr, sync::Arc};

use lanecast::{DType, gguf::BlockFormat};
use lanecast_files::{Error, Result};
use serde_json::Value;

use super::{
    QuantizeOptions, Weight, awq, bitsandbytes,
    cast::{Cast, Form},
    choose::Chosen,
    comfy, compressed, deepseek, gguf, gpt_oss, gptq,
    kept::Kept,
    modelopt,
    moved::{self, Move, Mover},
    mxfp8,
    scheme::{QuantScheme, listed},
    table,
};
use crate::{checkpoint::Checkpoint, coding::Packing, decode::Sink, error::request};

/// What loads the checkpoint that [`quantize`](crate::quantize) writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum QuantLayout {
    /// compressed-tensors, which transformers, vLLM and SGLang load.
    CompressedTensors,
    /// Tiles of 8-bit floats, as DeepSeek V3 has them.
    DeepSeek,
    /// ModelOpt, which vLLM and SGLang load.
    ModelOpt,
    /// MXFP4 experts, as gpt-oss has them.
    GptOss,
    /// bitsandbytes, which transformers loads.
    BitsAndBytes,
    /// ComfyUI.
    Comfy,
    /// Microscaling with scales beside `weight`, which SGLang loads.
    Mxfp8,
    /// A GGUF file made of another one, which llama.cpp loads.
    Gguf,
    /// GPTQ, which transformers, vLLM and SGLang load. Only [`requantize`](crate::requantize) writes it.
    Gptq,
    /// AWQ in the version gemm, which transformers, vLLM and SGLang load. Only [`requantize`](crate::requantize) writes it.
    Awq,
}

/// A layout by its name.
type Row = (QuantLayout, &'static str, &'static dyn Layout);

const ROWS: &[Row] = &[
    (QuantLayout::CompressedTensors, "compressed-tensors", &compressed::Compressed),
    (QuantLayout::DeepSeek, "deepseek", &deepseek::DeepSeek),
    (QuantLayout::ModelOpt, "modelopt", &modelopt::ModelOpt),
    (QuantLayout::GptOss, "gpt-oss", &gpt_oss::GptOss),
    (QuantLayout::BitsAndBytes, "bitsandbytes", &bitsandbytes::BitsAndBytes),
    (QuantLayout::Comfy, "comfy", &comfy::Comfy),
    (QuantLayout::Mxfp8, "mxfp8", &mxfp8::Mxfp8),
    (QuantLayout::Gguf, "gguf", &gguf::Gguf),
    (QuantLayout::Gptq, "gptq", &gptq::Gptq),
    (QuantLayout::Awq, "awq", &awq::Awq),
];

impl QuantLayout {
    /// All layouts by their names.
    pub const NAMED: &'static [(&'static str, QuantLayout)] = &[
        ("compressed-tensors", QuantLayout::CompressedTensors),
        ("deepseek", QuantLayout::DeepSeek),
        ("modelopt", QuantLayout::ModelOpt),
        ("gpt-oss", QuantLayout::GptOss),
        ("bitsandbytes", QuantLayout::BitsAndBytes),
        ("comfy", QuantLayout::Comfy),
        ("mxfp8", QuantLayout::Mxfp8),
        ("gguf", QuantLayout::Gguf),
        ("gptq", QuantLayout::Gptq),
        ("awq", QuantLayout::Awq),
    ];

    fn row(self) -> &'static Row {
        // The rows are in the order of the variants, which a test checks.
        &ROWS[self as usize]
    }

    /// Its name, as the program spells it.
    pub fn name(self) -> &'static str {
        self.row().1
    }

    /// The schemes that the layout can store.
    pub fn schemes(self) -> &'static [QuantScheme] {
        self.row().2.schemes()
    }

    /// Whether [`requantize`](crate::requantize) writes it, and [`quantize`](crate::quantize) does not.
    pub fn needs_codes(self) -> bool {
        self.target().only_moves()
    }

    pub(super) fn target(self) -> &'static dyn Layout {
        self.row().2
    }

    /// Fails unless the layout has all schemes of a request.
    pub(super) fn check(self, options: &QuantizeOptions) -> Result<()> {
        let asked = || options.map.iter().map(|(_, scheme)| *scheme).chain([options.scheme]);
        if let Some(scheme) = asked().find(|scheme| !self.schemes().contains(scheme)) {
            let have = listed(self.schemes().iter().map(|scheme| scheme.name()));
            return Err(request(format!("the layout {self} has no scheme {scheme}, but {have}")));
        }
        if !self.target().mixes() && asked().any(|scheme| scheme != options.scheme) {
            let mix = ROWS.iter().filter(|(.., layout)| layout.mixes()).map(|(_, name, _)| *name);
            let what =
                format!("the layout {self} has one scheme for all weights; several have {}", listed(mix));
            return Err(request(what));
        }
        if options.double_quant && !matches!(options.scheme, QuantScheme::Nf4 | QuantScheme::Fp4) {
            return Err(request("only the scales of nf4 and fp4 can be quantized themselves"));
        }
        Ok(())
    }
}

impl fmt::Display for QuantLayout {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for QuantLayout {
    type Err = Error;

    /// The layout of this name.
    ///
    /// # Errors
    ///
    /// [`Error::Request`] with the names of all layouts.
    fn from_str(name: &str) -> Result<Self> {
        let found = Self::NAMED.iter().find(|(known, _)| known.eq_ignore_ascii_case(name));
        found.map(|(_, layout)| *layout).ok_or_else(|| {
            let names = listed(Self::NAMED.iter().map(|(name, _)| *name));
            request(format!("there is no layout \"{name}\", but {names}"))
        })
    }
}

/// How a layout stores and describes weights.
pub(super) trait Layout: Sync {
    /// Its name, for messages.
    fn name(&self) -> &'static str;

    /// The schemes that it has.
    fn schemes(&self) -> &'static [QuantScheme];

    /// The tensors of a weight whose elements have the dtype `source`.
    fn outputs(
        &self,
        weight: &Weight,
        chosen: &Chosen,
        source: DType,
        options: &QuantizeOptions,
    ) -> Vec<Output>;

    /// The description in `config.json`, under `quantization_config`; `None` for a layout without it.
    fn config(&self, chosen: &Chosen, options: &QuantizeOptions) -> Option<Value>;

    /// The contents of `hf_quant_config.json`.
    fn hf_quant_config(&self, _chosen: &Chosen, _options: &QuantizeOptions) -> Option<Value> {
        None
    }

    /// The description in the headers of files: a key and its text.
    fn metadata(&self, _weights: &[Weight]) -> Option<(String, String)> {
        None
    }

    /// Whether weights may have different schemes.
    fn mixes(&self) -> bool {
        false
    }

    /// Whether it stores the stacked experts of gpt-oss, and no other weights.
    fn takes_stacks(&self) -> bool {
        false
    }

    /// Whether experts that are stacked in one tensor become modules.
    fn splits_stacks(&self) -> bool {
        true
    }

    /// Whether these modules may be experts in whose stack the rows of gate and up alternate. Only codes are moved to such modules.
    fn splits_alternating_rows(&self) -> bool {
        false
    }

    /// Whether it writes GGUF files, whose weights have other names and whose blocks hold their scales.
    fn is_gguf(&self) -> bool {
        false
    }

    /// Whether values of NVFP4 are divided by the scale of the tensor.
    fn divides(&self) -> bool {
        false
    }

    /// Whether it stores only codes that another checkpoint has.
    fn only_moves(&self) -> bool {
        false
    }

    /// What the numbers of rows and columns must be multiples of.
    fn words(&self) -> [usize; 2] {
        [1, 1]
    }

    /// Whether rows and columns are padded to whole blocks.
    fn pads(&self) -> bool {
        false
    }
}

/// A tensor of the output.
pub(super) struct Output {
    pub(super) name: String,
    pub(super) dtype: DType,
    pub(super) shape: Vec<usize>,
    pub(super) make: Arc<Make>,
}

/// What makes the bytes of a tensor.
pub(super) enum Make {
    Bytes(Vec<u8>),
    Codes(Cast, Form),
    /// Scales, and whether they are swizzled.
    Scales(Cast, bool),
    Table(table::Part),
    /// Blocks of codes with their scales.
    Blocks(BlockFormat),
    /// What is stored already, in another order.
    Moved(moved::Part),
}

impl Make {
    /// Bytes that the rows of a unit of the weight become; `None` if rows have no bytes of their own.
    fn unit_len(&self, weight: &Weight) -> Option<usize> {
        let (rows, cols) = (weight.matrix.unit(), weight.matrix.cols);
        match self {
            Self::Bytes(_) | Self::Moved(_) => None,
            Self::Codes(cast, _) => Some(cast.codes_len(rows, cols)),
            Self::Scales(cast, swizzled) => cast.scales_len(rows, cols, *swizzled),
            Self::Table(part) => part.len(rows, cols),
            Self::Blocks(format) => format.byte_len(rows * cols),
        }
    }

    /// Bytes of the smallest range that can be produced alone; `u64::MAX` if only all of them can.
    pub(super) fn part(&self, weight: &Weight) -> u64 {
        match self {
            Self::Bytes(_) => 1,
            Self::Moved(part) => part.len(weight),
            // Rows without columns have no bytes.
            _ => self.unit_len(weight).map_or(u64::MAX, |len| len.max(1) as u64),
        }
    }

    /// The rows of the weight that become a range of the `all` bytes.
    fn rows(&self, weight: &Weight, range: &Range<u64>, all: u64) -> Range<usize> {
        let (unit, part) = (weight.matrix.unit() as u64, self.part(weight).max(1));
        let row = |byte: u64| match byte == all {
            true => weight.matrix.all_rows(),
            // A part of the bytes is a part of the rows.
            false => usize::try_from(byte / part * unit).unwrap_or(usize::MAX),
        };
        row(range.start)..row(range.end)
    }

    /// The range of the `all` bytes that rows of the weight become.
    fn range(&self, weight: &Weight, rows: &Range<usize>, all: u64) -> Range<u64> {
        let byte = |row: usize| match row == weight.matrix.all_rows() {
            true => all,
            false => (row / weight.matrix.unit()) as u64 * self.part(weight),
        };
        byte(rows.start)..byte(rows.end)
    }
}

/// A tensor of a weight, and how its bytes are made.
pub(super) struct Maker<'a> {
    pub(super) checkpoint: &'a Checkpoint,
    pub(super) weight: &'a Weight,
    pub(super) make: Arc<Make>,
    /// Its bytes.
    pub(super) all: u64,
    /// The scales that are made with these codes, and their bytes, or which these scales are.
    pub(super) scales: Option<(Arc<Make>, u64, Arc<Kept>)>,
}

impl Maker<'_> {
    /// Passes a range of the bytes to a sink. It begins at a multiple of the [`part`](Make::part), and ends at one or with the tensor.
    pub(super) fn produce(&self, range: Range<u64>, sink: &mut Sink<'_>) -> Result<()> {
        let Self { checkpoint, weight, make, all, scales } = self;
        if let (Make::Moved(part), Some(mover)) = (&**make, Mover::new(checkpoint, weight)) {
            return mover.produce(*part, range, sink);
        }
        let rows = make.rows(weight, &range, *all);
        match &**make {
            // Only weights that are moved have such parts.
            Make::Moved(_) => Ok(()),
            // They are in memory, so is the range.
            Make::Bytes(bytes) => sink(&bytes[range.start as usize..range.end as usize]),
            Make::Codes(cast, form) => {
                let kept = scales.as_ref().and_then(|(make, all, kept)| {
                    let Make::Scales(_, swizzled) = **make else { return None };
                    Some((kept.begin(make.range(weight, &rows, *all))?, swizzled))
                });
                cast.codes(checkpoint, weight, *form, rows, kept, sink)
            }
            Make::Scales(cast, swizzled) => {
                match scales.as_ref().and_then(|(_, _, kept)| kept.take(&range)) {
                    Some(bytes) => sink(&bytes),
                    None => cast.scales(checkpoint, weight, *swizzled, rows, sink),
                }
            }
            Make::Table(part) => table::produce(checkpoint, weight, *part, rows, sink),
            Make::Blocks(format) => gguf::produce(checkpoint, weight, *format, rows, sink),
        }
    }
}

impl Weight {
    /// The cast of its scheme, without a scale of the tensor.
    pub(super) fn cast(&self) -> Option<Cast> {
        Some(Cast::of(self.scheme.codes(self.lossless)?, self.lossless))
    }

    /// Rows and columns.
    pub(super) fn shape(&self) -> [usize; 2] {
        [self.matrix.all_rows(), self.matrix.cols]
    }

    /// A tensor of the output, whose name ends with `end`.
    pub(super) fn output(&self, end: &str, dtype: DType, shape: &[usize], make: Make) -> Output {
        Output { name: format!("{}{end}", self.module), dtype, shape: shape.to_vec(), make: Arc::new(make) }
    }

    /// Codes as `{module}.weight`, in elements of the codes.
    pub(super) fn codes(&self, dtype: DType, cast: &Cast) -> Output {
        self.output(".weight", dtype, &self.shape(), Make::Codes(cast.clone(), Form::Plain))
    }

    /// Two 4-bit codes in each byte, as a tensor whose name ends with `end`.
    pub(super) fn pairs(&self, end: &str, cast: &Cast) -> Output {
        let [rows, cols] = self.shape();
        self.output(end, DType::UInt8, &[rows, cols / 2], Make::Codes(cast.clone(), Form::Plain))
    }

    /// The codes of MXFP4 as a tensor whose name ends with `end`, and their scales.
    pub(super) fn mxfp4(&self, end: &str, cast: &Cast) -> Vec<Output> {
        if self.moved != Some(Move::Same) {
            return vec![self.pairs(end, cast), self.scales(".weight_scale", DType::UInt8, cast)];
        }
        let [rows, cols] = self.shape();
        let packing = Packing::rows(4, cols / 2);
        let codes = Make::Moved(moved::Part::Codes { packing, transposed: false, pad: 1 });
        let scales = Make::Moved(moved::Part::Scales { transposed: false, swizzled: false });
        vec![
            self.output(end, DType::UInt8, &[rows, cols / 2], codes),
            self.output(".weight_scale", DType::UInt8, &[rows, cols / 32], scales),
        ]
    }

    /// Scales in the shape of their grid.
    pub(super) fn scales(&self, end: &str, dtype: DType, cast: &Cast) -> Output {
        let grid = cast.scheme.granularity.scales_shape(&self.shape());
        self.output(end, dtype, &grid, Make::Scales(cast.clone(), false))
    }

    /// A number of float32.
    pub(super) fn number(&self, end: &str, shape: &[usize], number: f32) -> Output {
        self.output(end, DType::Float32, shape, Make::Bytes(number.to_le_bytes().to_vec()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_in_the_order_of_the_variants() {
        for ((name, layout), row) in QuantLayout::NAMED.iter().zip(ROWS) {
            assert_eq!(
                (layout.name(), row.0, name.parse::<QuantLayout>().unwrap()),
                (*name, *layout, *layout)
            );
        }
        assert_eq!(QuantLayout::NAMED.len(), ROWS.len());
        assert!("exl2".parse::<QuantLayout>().is_err());
    }

    #[test]
    fn layouts_list_what_they_have() {
        let options = QuantizeOptions::new(QuantScheme::Nf4, QuantLayout::DeepSeek);
        let error = QuantLayout::DeepSeek.check(&options).unwrap_err().to_string();
        assert!(
            error.contains("deepseek") && error.contains("nf4") && error.contains("fp8-block"),
            "{error}"
        );
        let map = vec![("*".to_owned(), QuantScheme::Fp4)];
        let options =
            QuantizeOptions { map, ..QuantizeOptions::new(QuantScheme::Nf4, QuantLayout::BitsAndBytes) };
        let error = QuantLayout::BitsAndBytes.check(&options).unwrap_err().to_string();
        assert!(error.contains("compressed-tensors, modelopt, comfy, gguf"), "{error}");
        // Every layout takes each of its schemes.
        for (_, layout) in QuantLayout::NAMED {
            let all = layout.schemes().iter();
            assert!(all.clone().count() > 0);
            all.for_each(|scheme| layout.check(&QuantizeOptions::new(*scheme, *layout)).unwrap());
        }
    }
}
