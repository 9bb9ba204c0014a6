//! What two runs must have in common for one to go on with the other: the program, the source, the options and the files of the output.

use std::collections::BTreeMap;

use lanecast_files::Result;
use serde::{Deserialize, Serialize};

use super::ConvertOptions;
use crate::{
    origin::{Fnv, NewFile, Origin, differs, origins},
    source::Source,
    write::Plan,
};

/// The description of a run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Job {
    version: String,
    source: Vec<Origin>,
    options: BTreeMap<String, String>,
    output: Vec<NewFile>,
}

impl Job {
    pub(super) fn new(source: &Source, options: &ConvertOptions, plan: &Plan<'_>) -> Result<Self> {
        let map: Vec<String> =
            options.map.iter().map(|(glob, dtype)| format!("{glob}={}", dtype.name())).collect();
        let named = [
            ("to", options.to.name().to_owned()),
            ("map", format!("{map:?}")),
            ("include", format!("{:?}", options.include)),
            ("exclude", format!("{:?}", options.exclude)),
            ("max_shard_size", options.max_shard_size.map_or("none".to_owned(), |most| most.to_string())),
            ("allow_quantized", options.allow_quantized.to_string()),
        ];
        Ok(Self {
            version: env!("CARGO_PKG_VERSION").to_owned(),
            source: origins(source)?,
            options: named.map(|(key, value)| (key.to_owned(), value)).into(),
            output: plan.shards.iter().map(NewFile::of).collect::<Result<_>>()?,
        })
    }

    /// The text, and its hash.
    pub(super) fn text(&self) -> Result<(String, String)> {
        let text = serde_json::to_string_pretty(self);
        let text = text.map_err(|e| crate::error::unsupported(format!("cannot write JSON, {e}")))?;
        let hash = Fnv::of(text.as_bytes());
        Ok((text, hash))
    }

    /// How this job differs from one that is unfinished; `None` if it does not.
    pub(super) fn differs(&self, old: &Self) -> Option<String> {
        if self.version != old.version {
            return Some(format!("it was begun by version {}, and this is {}", old.version, self.version));
        }
        for (key, new) in &self.options {
            let old = old.options.get(key).map_or("none", String::as_str);
            if old != new {
                return Some(format!("its option \"{key}\" is {old}, and now it is {new}"));
            }
        }
        differs(&old.source, &self.source)
            .or_else(|| (self != old).then(|| "its output has other files".to_owned()))
    }

    /// The files of the output: names and bytes.
    pub(super) fn files(&self) -> impl Iterator<Item = (&str, u64)> {
        self.output.iter().map(|file| (file.name.as_str(), file.bytes))
    }
}
