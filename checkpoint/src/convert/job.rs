//! What two runs must have in common for one to go on with the other: the program, the source, the options and the files of the output.
//!
//! A file of the output depends on some files of the source only. Its key stands for these, so that it stays when others arrive.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use lanecast_files::Result;
use serde::{Deserialize, Serialize};

use super::ConvertOptions;
use crate::{
    arrivals::Description,
    error::unsupported,
    origin::{Fnv, NewFile, Origin, differs, origins},
    source::Source,
    write::Plan,
};

/// The description of a run.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Job {
    version: String,
    source: Vec<Origin>,
    options: BTreeMap<String, String>,
    output: Vec<NewFile>,
    /// Whether all files of the source were there.
    whole: bool,
    /// What each file of the output depends on, by its name.
    #[serde(skip)]
    needs: HashMap<String, Needs>,
    /// The files of the source, as a run needs them that no longer has them.
    #[serde(skip)]
    described: Vec<Option<Description>>,
}

/// What a file of the output depends on.
#[derive(Debug)]
struct Needs {
    /// A hash of all of it.
    key: String,
    /// The files of the source, by their indices.
    sources: BTreeSet<usize>,
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
        let mut job = Self {
            version: env!("CARGO_PKG_VERSION").to_owned(),
            source: origins(source)?,
            options: named.map(|(key, value)| (key.to_owned(), value)).into(),
            output: plan.shards.iter().map(NewFile::of).collect::<Result<_>>()?,
            whole: source.missing.is_empty(),
            needs: HashMap::new(),
            described: Vec::new(),
        };
        for (shard, file) in plan.shards.iter().zip(&job.output) {
            let sources: BTreeSet<usize> = shard.tensors.iter().map(|tensor| tensor.file).collect();
            let origins: Vec<&Origin> = sources.iter().map(|file| &job.source[*file]).collect();
            let key = Fnv::of(json(&(&job.version, &job.options, origins, file))?.as_bytes());
            job.needs.insert(shard.name.clone(), Needs { key, sources });
        }
        let describe = |file| Description::of(source, file, &job.source[file]);
        job.described = (0..source.files.len()).map(describe).collect();
        Ok(job)
    }

    pub(super) fn text(&self) -> Result<String> {
        json(self)
    }

    /// The key of a file of the output.
    pub(super) fn key(&self, name: &str) -> Option<&str> {
        self.needs.get(name).map(|needs| needs.key.as_str())
    }

    /// Descriptions of the files of the source that this file of the output is made of.
    pub(super) fn described(&self, name: &str) -> impl Iterator<Item = &Description> {
        let sources = self.needs.get(name).into_iter().flat_map(|needs| &needs.sources);
        sources.filter_map(|file| self.described[*file].as_ref())
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
        let whole = self.whole && old.whole;
        let is_other = || whole && self.output != old.output;
        differs(&old.source, &self.source, whole)
            .or_else(|| is_other().then(|| "its output has other files".to_owned()))
    }

    /// The files of the output: names and bytes.
    pub(super) fn files(&self) -> impl Iterator<Item = (&str, u64)> {
        self.output.iter().map(|file| (file.name.as_str(), file.bytes))
    }
}

fn json(value: &impl Serialize) -> Result<String> {
    serde_json::to_string_pretty(value).map_err(|e| unsupported(format!("cannot write JSON, {e}")))
}
