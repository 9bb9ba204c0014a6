//! The dtype that each tensor gets.

use std::collections::HashMap;

use lanecast::{DType, Kind};
use lanecast_files::{Result, Selection};

use super::ConvertOptions;
use crate::{
    error::request,
    gguf,
    source::{Source, Stored},
};

/// Parts of the names of tensors that models compute with in float32.
const FLOAT32_PARTS: &[&str] = &["A_log", "router", "gate", "e_score_correction_bias"];

/// What becomes of a tensor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fate {
    /// It is cast, possibly to the dtype that it has.
    Cast(DType),
    /// It is copied.
    Copied,
    /// It is copied, because its dtype is float32 on purpose.
    KeptFloat32,
}

impl Fate {
    /// The dtype that it is cast to.
    pub(super) fn dtype(self) -> Option<DType> {
        match self {
            Self::Cast(to) => Some(to),
            Self::Copied | Self::KeptFloat32 => None,
        }
    }
}

/// The rules.
pub(super) struct Choice {
    to: DType,
    selection: Selection,
    map: Vec<(Selection, DType)>,
    /// The float dtype that most elements have.
    main: Option<DType>,
    /// Whether files that are missing cannot change it.
    is_certain: bool,
    /// Whether the output is a GGUF file, whose loader needs the types of some tensors.
    to_gguf: bool,
}

impl Choice {
    /// The rules of these options. Every glob must match a tensor.
    pub(super) fn new(source: &Source, options: &ConvertOptions, to_gguf: bool) -> Result<Self> {
        let selection = Selection::new(None, &options.include, &options.exclude)?;
        let names = || source.tensor_names();
        selection.check_patterns(names())?;
        let mut map = Vec::new();
        for (glob, dtype) in &options.map {
            let wrong = |e: lanecast_files::Error| {
                let what = e.detail().map(|detail| detail.what.clone()).unwrap_or_default();
                request(what).at("map")
            };
            let globs = Selection::new(None, std::slice::from_ref(glob), &[]).map_err(wrong)?;
            globs.check_patterns(names()).map_err(wrong)?;
            map.push((globs, *dtype));
        }
        let mut elements: HashMap<DType, usize> = HashMap::new();
        for tensor in &source.tensors {
            if let Some(dtype) = tensor.dtype().filter(|dtype| dtype.kind() == Kind::Float) {
                *elements.entry(dtype).or_default() += tensor.len();
            }
        }
        // Of two dtypes with as many elements the wider one: nothing is kept by chance.
        let count = |(dtype, n): (&DType, &usize)| (*n, dtype.bits(), dtype.name(), *dtype);
        let main = elements.iter().map(count).max().map(|(.., dtype)| dtype);
        let is_certain = source.missing.is_empty() || is_certain(source, main, &elements);
        Ok(Self { to: options.to, selection, map, main, is_certain, to_gguf })
    }

    /// Whether tensors that are in missing files may change the fate of this one.
    pub(super) fn is_open(&self, tensor: &Stored) -> bool {
        // Only one rule is about other tensors.
        let by_name = named_float32(&tensor.name) || !self.selection.allows(&tensor.name);
        let is_float32 = tensor.dtype() == Some(DType::Float32) && self.to != DType::Float32;
        !self.is_certain
            && is_float32
            && !by_name
            && !self.map.iter().any(|(globs, _)| globs.allows(&tensor.name))
    }

    pub(super) fn fate(&self, tensor: &Stored) -> Fate {
        if !self.selection.allows(&tensor.name) {
            return Fate::Copied;
        }
        if let Some((_, dtype)) = self.map.iter().find(|(globs, _)| globs.allows(&tensor.name)) {
            return Fate::Cast(*dtype);
        }
        if self.to_gguf && gguf::stays(tensor) {
            let is_kept = tensor.dtype() == Some(DType::Float32) && self.to != DType::Float32;
            return if is_kept { Fate::KeptFloat32 } else { Fate::Copied };
        }
        match tensor.dtype() {
            Some(DType::Float32) if self.to != DType::Float32 && self.keeps_float32(&tensor.name) => {
                Fate::KeptFloat32
            }
            Some(dtype) if dtype.kind() != Kind::Float => Fate::Copied,
            // Blocks are refused when they are read.
            _ => Fate::Cast(self.to),
        }
    }

    /// Whether a float32 tensor stays one: the other weights have another dtype, or the name says so.
    fn keeps_float32(&self, name: &str) -> bool {
        self.main != Some(DType::Float32) || named_float32(name)
    }
}

/// Whether models compute with a tensor of this name in float32.
fn named_float32(name: &str) -> bool {
    name.split('.').any(|part| FLOAT32_PARTS.contains(&part))
}

/// Whether most elements are float32, or most are not, whatever is in the files that are missing. The index says how many bytes there are.
fn is_certain(source: &Source, main: Option<DType>, elements: &HashMap<DType, usize>) -> bool {
    let total =
        source.index.as_ref().and_then(|index| index.value.get("metadata")?.get("total_size")?.as_u64());
    let known: u64 = source.tensors.iter().map(|tensor| tensor.bytes as u64).sum();
    let (Some(main), Some(rest)) = (main, total.and_then(|total| total.checked_sub(known))) else {
        return false;
    };
    let count = |dtype| elements.get(&dtype).map_or(0, |n| *n as u64);
    match main {
        // The smallest floats have four bits.
        DType::Float32 => {
            let others = elements.keys().filter(|dtype| **dtype != main).map(|dtype| count(*dtype));
            count(main) > others.max().unwrap_or(0).saturating_add(rest.saturating_mul(2))
        }
        _ => count(main) > count(DType::Float32).saturating_add(rest / 4),
    }
}
