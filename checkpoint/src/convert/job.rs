//! What two runs must have in common for one to go on with the other: the program, the source, the options and the files of the output.

use std::{collections::BTreeMap, fs, time::UNIX_EPOCH};

use lanecast_files::{Error, Result};
use serde::{Deserialize, Serialize};

use super::ConvertOptions;
use crate::{source::Source, write::Plan};

/// A file of the source.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Origin {
    name: String,
    bytes: u64,
    /// Nanoseconds from 1970 to the last change; 0 if the system does not say.
    modified: u64,
    /// The hash of the names, dtypes, shapes and places of its tensors.
    tensors: String,
}

/// A file of the output.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct NewFile {
    name: String,
    bytes: u64,
    /// The hash of its header.
    header: String,
}

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
        let mut hashes = vec![Fnv::new(); source.files.len()];
        for tensor in &source.tensors {
            let text =
                format!("{}\0{}\0{}\0{}\0", tensor.name, tensor.described(), tensor.start, tensor.bytes);
            hashes[tensor.file].add(text.as_bytes());
        }
        let origin = |(file, hash): (&crate::source::TensorsFile, &Fnv)| {
            let metadata =
                fs::metadata(&file.path).map_err(|e| Error::system("cannot open", &e).at_path(&file.path))?;
            let modified = metadata.modified().ok().and_then(|time| time.duration_since(UNIX_EPOCH).ok());
            Ok(Origin {
                name: file.name.clone(),
                bytes: metadata.len(),
                modified: modified.map_or(0, |time| u64::try_from(time.as_nanos()).unwrap_or(0)),
                tensors: hash.text(),
            })
        };
        let output = plan.shards.iter().map(|shard| {
            let (head, _) = shard.header()?;
            let mut hash = Fnv::new();
            hash.add(&head);
            Ok(NewFile {
                name: shard.name.clone(),
                bytes: head.len() as u64 + shard.bytes(),
                header: hash.text(),
            })
        });
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
            source: source.files.iter().zip(&hashes).map(origin).collect::<Result<_>>()?,
            options: named.map(|(key, value)| (key.to_owned(), value)).into(),
            output: output.collect::<Result<_>>()?,
        })
    }

    /// The text, and its hash.
    pub(super) fn text(&self) -> Result<(String, String)> {
        let text = serde_json::to_string_pretty(self);
        let text = text.map_err(|e| crate::error::unsupported(format!("cannot write JSON, {e}")))?;
        let mut hash = Fnv::new();
        hash.add(text.as_bytes());
        Ok((text, hash.text()))
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
        for new in &self.source {
            match old.source.iter().find(|old| old.name == new.name) {
                None => return Some(format!("its source has no file \"{}\"", new.name)),
                Some(old) if old != new => {
                    return Some(format!("\"{}\" of the source has changed since", new.name));
                }
                Some(_) => {}
            }
        }
        (self != old).then(|| "its source has other files".to_owned())
    }

    /// The files of the output: names and bytes.
    pub(super) fn files(&self) -> impl Iterator<Item = (&str, u64)> {
        self.output.iter().map(|file| (file.name.as_str(), file.bytes))
    }
}

/// The hash FNV-1a of 64 bits, which is the same in every version. It detects accidents, not attacks.
#[derive(Clone)]
struct Fnv(u64);

impl Fnv {
    fn new() -> Self {
        Self(0xCBF2_9CE4_8422_2325)
    }

    fn add(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.0 = (self.0 ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01B3);
        }
    }

    fn text(&self) -> String {
        format!("{:016x}", self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_hash_is_the_published_one() {
        let hash = |text: &str| {
            let mut hash = Fnv::new();
            hash.add(text.as_bytes());
            hash.text()
        };
        assert_eq!(
            ["", "a", "foobar"].map(hash),
            ["cbf29ce484222325", "af63dc4c8601ec8c", "85944171f73967e8"]
        );
    }
}
