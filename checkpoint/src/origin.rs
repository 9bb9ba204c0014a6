//! Which files a checkpoint consists of, and whether they are the same from one run to the next; and what an output consists of.

use std::{fs, path::Path, time::UNIX_EPOCH};

use lanecast_files::{Error, Result};
use serde::{Deserialize, Serialize};

use crate::{
    source::{Json, Source, TensorsFile, file_name},
    write::Shard,
};

/// A file of the source.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Origin {
    pub(crate) name: String,
    bytes: u64,
    /// Nanoseconds from 1970 to the last change; 0 if the system does not say.
    modified: u64,
    /// The hash of the names, dtypes, shapes and places of its tensors; the hash of the text for JSON.
    content: String,
}

impl Origin {
    fn new(name: &str, path: &Path, content: String) -> Result<Self> {
        let (bytes, modified) = stamp(path)?;
        Ok(Self { name: name.to_owned(), bytes, modified, content })
    }

    /// Whether the file in the folder of the checkpoint has this size and time.
    pub(crate) fn is_in(&self, folder: &Path) -> Result<bool> {
        Ok(stamp(&folder.join(&self.name))? == (self.bytes, self.modified))
    }
}

/// Bytes and time of a file.
fn stamp(path: &Path) -> Result<(u64, u64)> {
    let metadata = fs::metadata(path).map_err(|e| Error::system("cannot open", &e).at_path(path))?;
    let modified = metadata.modified().ok().and_then(|time| time.duration_since(UNIX_EPOCH).ok());
    Ok((metadata.len(), modified.map_or(0, |time| u64::try_from(time.as_nanos()).unwrap_or(0))))
}

/// The files that decide what the tensors are: files of tensors, then descriptions.
pub(crate) fn origins(source: &Source) -> Result<Vec<Origin>> {
    let mut hashes = vec![Fnv::new(); source.files.len()];
    for tensor in &source.tensors {
        let text = format!("{}\0{}\0{}\0{}\0", tensor.name, tensor.described(), tensor.start, tensor.bytes);
        hashes[tensor.file].add(text.as_bytes());
    }
    let tensors = |(file, hash): (&TensorsFile, &Fnv)| match &file.described {
        Some(origin) if !file.path.exists() => Ok(origin.clone()),
        _ => Origin::new(&file.name, &file.path, hash.text()),
    };
    let description =
        |json: &Json| Origin::new(&file_name(&json.path), &json.path, Fnv::of(json.text.as_bytes()));
    let Source { index, config, hf_quant_config, quantize_config, .. } = source;
    let descriptions = [index, config, hf_quant_config, quantize_config].into_iter().flatten();
    source.files.iter().zip(&hashes).map(tensors).chain(descriptions.map(description)).collect()
}

/// How a source differs from what it was; `None` if it does not. Unless both are `whole`, a file that only one has is no difference.
pub(crate) fn differs(old: &[Origin], new: &[Origin], whole: bool) -> Option<String> {
    for file in new {
        match old.iter().find(|old| old.name == file.name) {
            None if !whole => {}
            None => return Some(format!("its source has no file \"{}\"", file.name)),
            Some(old) if old != file => {
                return Some(format!("\"{}\" of the source has changed since", file.name));
            }
            Some(_) => {}
        }
    }
    (whole && new != old).then(|| "its source has other files".to_owned())
}

/// A file of tensors of the output.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct NewFile {
    pub(crate) name: String,
    /// Bytes, with the header.
    pub(crate) bytes: u64,
    /// Bytes of the header.
    pub(crate) head: u64,
    /// The hash of the header.
    pub(crate) header: String,
}

impl NewFile {
    pub(crate) fn of(shard: &Shard<'_>) -> Result<Self> {
        let (head, _) = shard.header()?;
        let bytes = head.len() as u64 + shard.bytes();
        Ok(Self { name: shard.name.clone(), bytes, head: head.len() as u64, header: Fnv::of(&head) })
    }
}

/// The hash FNV-1a of 64 bits, which is the same in every version. It detects accidents, not attacks.
#[derive(Clone)]
pub(crate) struct Fnv(u64);

impl Fnv {
    pub(crate) fn new() -> Self {
        Self(0xCBF2_9CE4_8422_2325)
    }

    pub(crate) fn add(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.0 = (self.0 ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01B3);
        }
    }

    pub(crate) fn text(&self) -> String {
        format!("{:016x}", self.0)
    }

    /// The hash of these bytes.
    pub(crate) fn of(bytes: &[u8]) -> String {
        let mut hash = Self::new();
        hash.add(bytes);
        hash.text()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_hash_is_the_published_one() {
        let hashes = ["", "a", "foobar"].map(|text| Fnv::of(text.as_bytes()));
        assert_eq!(hashes, ["cbf29ce484222325", "af63dc4c8601ec8c", "85944171f73967e8"]);
    }
}
