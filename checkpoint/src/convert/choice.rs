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
    /// Whether the output is a GGUF file, whose loader needs the types of some tensors.
    to_gguf: bool,
}

impl Choice {
    /// The rules of these options. Every glob must match a tensor.
    pub(super) fn new(source: &Source, options: &ConvertOptions, to_gguf: bool) -> Result<Self> {
        let selection = Selection::new(None, &options.include, &options.exclude)?;
        let names = || source.tensors.iter().map(|tensor| tensor.name.as_str());
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
        let main = elements.into_iter().max_by_key(|(dtype, n)| (*n, dtype.bits(), dtype.name()));
        Ok(Self { to: options.to, selection, map, main: main.map(|(dtype, _)| dtype), to_gguf })
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
        self.main != Some(DType::Float32) || name.split('.').any(|part| FLOAT32_PARTS.contains(&part))
    }
}
