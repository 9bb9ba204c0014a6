//! Files of PyTorch (`.bin`, `.pt`, `.pth`): a pickle of the names and shapes, and storages beside it.
//!
//! *Law.* The pickle is read as data ([`crate::pickle`]); nothing is run. A tensor is listed only if its storage is in the file, and large
//! enough for it.
//!
//! *Method.* A newer file is an archive: `NAME/data.pkl`, `NAME/byteorder`, and a member `NAME/data/KEY` for each storage, which is not
//! compressed. An older file has five pickles and then the storages, each behind its number of elements.

use std::{
    borrow::Cow,
    collections::{HashMap, HashSet},
    fs::File,
    io::{BufReader, Read, Seek, SeekFrom},
    path::Path,
};

use lanecast_files::{Error, Result, archive::Archive, text::one_line};

use crate::{
    error::damaged,
    pickle::{Ref, Storage, Value, Values, View, refused},
    source::{Elements, Stored, Via},
};

/// The end of the name of the member with the pickle.
const PICKLE: &str = "/data.pkl";
/// The first bytes of an older file: a pickle of a number.
const MAGIC: &[u8; 16] = b"\x80\x02\x8a\x0a\x6c\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x19.\x80";
/// The version of older files.
const OLDER_VERSION: i64 = 1001;
/// The most bytes of a pickle in an archive.
const MAX_PICKLE: u64 = 1 << 26;
/// The most levels of nested dictionaries.
const MAX_DEPTH: usize = 16;
/// The longest name of a tensor, in bytes.
const MAX_NAME: usize = 1 << 12;
/// The keys of training checkpoints that have the weights, beside the states of optimizers.
const WEIGHTS: [&str; 4] = ["state_dict", "model_state_dict", "model", "module"];
/// The most keys in a warning.
const NAMED: usize = 3;

/// What a file has.
pub(crate) struct Contents {
    pub(crate) tensors: Vec<Stored>,
    /// What a reader should know.
    pub(crate) warnings: Vec<String>,
}

/// Whether a file that begins with these 8 bytes may be one of PyTorch: an archive or a pickle.
pub(crate) fn may_be(head: &[u8]) -> bool {
    // A safetensors file begins with the length of its header, which is less than 2^32.
    let pickle = |head: &[u8]| head[0] == 0x80 && (2..=5).contains(&head[1]) && head[4..] != [0; 4];
    head.starts_with(b"PK\x03\x04") || head.len() == 8 && pickle(head)
}

/// Whether a file that begins with these bytes is one of PyTorch: an archive whose first member is the pickle, or an older file.
pub(crate) fn begins(head: &[u8]) -> bool {
    let archive = |head: &[u8]| {
        let length = u16::from_le_bytes([*head.get(26)?, *head.get(27)?]);
        let name = head.get(30..)?.get(..usize::from(length))?;
        Some(head.starts_with(b"PK\x03\x04") && name.ends_with(PICKLE.as_bytes()))
    };
    head.starts_with(MAGIC) || archive(head) == Some(true)
}

/// Reads the description of the tensors of a file; `None` if it is an archive of another kind.
pub(crate) fn read(path: &Path) -> Result<Option<Contents>> {
    let failed = |e: std::io::Error| Error::system("cannot open", &e).at_path(path);
    let mut head = Vec::new();
    let file = File::open(path).map_err(failed)?;
    (&file).take(MAGIC.len() as u64).read_to_end(&mut head).map_err(failed)?;
    if head.starts_with(b"PK") {
        let archive = Archive::open(path)?;
        return match archive.members().iter().any(|member| member.name.ends_with(PICKLE)) {
            true => newer(archive).map(Some).map_err(|e| e.in_path(path)),
            false => Ok(None),
        };
    }
    if head != MAGIC {
        let what = "the pickle is not one that `torch.save` wrote";
        return Err(refused(what).at_path(path));
    }
    older(file).map(Some).map_err(|e| e.in_path(path))
}

/// The error of a file that is damaged.
fn bad(what: impl Into<String>) -> Error {
    damaged(what, "download the file again, or save it again with `torch.save`")
}

fn newer(mut archive: Archive) -> Result<Contents> {
    let places: HashMap<String, usize> =
        archive.members().iter().enumerate().map(|(i, member)| (member.name.clone(), i)).collect();
    // Only the root of the archive has a pickle of a state dict.
    let mut roots =
        places.keys().filter_map(|name| name.strip_suffix(PICKLE).filter(|root| !root.contains('/')));
    let (Some(root), None) = (roots.next(), roots.next()) else {
        return Err(bad("the archive does not have one member \"NAME/data.pkl\""));
    };
    if let Some(order) = places.get(&format!("{root}/byteorder")) {
        let order = archive.read(*order, 16)?;
        if order != b"little" {
            let order = String::from_utf8_lossy(&order).into_owned();
            return Err(refused(format!(
                "the file has the byte order \"{order}\", and only \"little\" is read"
            )));
        }
    }
    let pickle = archive.read(places[&format!("{root}{PICKLE}")], MAX_PICKLE)?;
    let values = Values::read(&mut &pickle[..]).map_err(|e| e.in_path(Path::new("data.pkl")))?;
    list(&values, |storage| {
        let name = format!("{root}/data/{}", storage.key);
        let member = places.get(&name).map(|i| &archive.members()[*i]);
        let member =
            member.ok_or_else(|| bad(format!("the archive has no member \"{}\"", one_line(&name))))?;
        if Some(member.bytes) != storage.bytes().map(|n| n as u64) {
            return Err(bad(format!(
                "the member \"{}\" has {} bytes, and its storage {}",
                one_line(&name),
                member.bytes,
                storage.bytes().unwrap_or(usize::MAX)
            )));
        }
        member
            .stored_at
            .ok_or_else(|| refused(format!("the member \"{}\" is compressed or encrypted", one_line(&name))))
    })
}

fn older(file: File) -> Result<Contents> {
    let length = file.metadata().map_err(|e| Error::reading(&e))?.len();
    let mut input = BufReader::new(file);
    // The magic number ends where the next pickle begins.
    let mut at = MAGIC.len() as u64 - 1;
    input.seek(SeekFrom::Start(at)).map_err(|e| Error::reading(&e))?;
    let mut next = || -> Result<Values> {
        let values = Values::read(&mut input)?;
        at += values.bytes;
        Ok(values)
    };
    let (version, system, object, keys) = (next()?, next()?, next()?, next()?);
    if !matches!(version.get(version.root()), Value::Int(OLDER_VERSION)) {
        return Err(refused("the file has another version than 1001"));
    }
    if let Value::Dict(entries) = system.get(system.root()) {
        let order = entries
            .iter()
            .find(|(key, _)| matches!(system.get(*key), Value::Text(key) if key == "little_endian"));
        if order.is_some_and(|(_, value)| !matches!(system.get(*value), Value::Bool(true))) {
            return Err(refused("the file has big-endian elements, and only little-endian ones are read"));
        }
    }
    let Value::List(keys_in_order) = keys.get(keys.root()) else {
        return Err(bad("the file does not list its storages"));
    };
    let mut starts: HashMap<&str, u64> = HashMap::new();
    for key in keys_in_order {
        let Value::Text(key) = keys.get(*key) else { return Err(bad("the name of a storage is no text")) };
        let place = |e: Error| e.at(format!("storage \"{}\"", one_line(key)));
        let storage = object.storages.get(key);
        let storage =
            storage.ok_or_else(|| place(bad("no tensor names the storage, so its size is not known")))?;
        let mut count = [0; 8];
        input.seek(SeekFrom::Start(at)).map_err(|e| place(Error::reading(&e)))?;
        input.read_exact(&mut count).map_err(|e| place(Error::reading(&e)))?;
        if i64::from_le_bytes(count) != storage.elements as i64 {
            let have = i64::from_le_bytes(count);
            return Err(place(bad(format!(
                "the storage has {have} elements, and its tensors say {}",
                storage.elements
            ))));
        }
        let end = storage.bytes().and_then(|n| (at + 8).checked_add(n as u64)).filter(|end| *end <= length);
        let end = end.ok_or_else(|| place(bad("the storage extends beyond the end of the file")))?;
        if starts.insert(key, at + 8).is_some() {
            return Err(place(bad("the file lists the storage twice")));
        }
        at = end;
    }
    list(&object, |storage| {
        starts.get(&*storage.key).copied().ok_or_else(|| bad("the file does not have the storage"))
    })
}

/// The tensors of a state dict. `start` is the first byte of a storage in the file.
fn list(values: &Values, start: impl Fn(&Storage) -> Result<u64>) -> Result<Contents> {
    let mut walk = Walk { values, seen: HashSet::new(), views: Vec::new(), others: Vec::new() };
    let mut warnings = Vec::new();
    let root = walk.weights(&mut warnings)?;
    walk.dict(root, "", 0)?;
    if walk.views.is_empty() {
        return Err(refused("the file has no tensors in a dictionary"));
    }
    if let Some(warning) = walk.warning() {
        warnings.push(warning);
    }
    let mut tensors = Vec::new();
    for (name, view) in walk.views {
        let stored = stored(name.clone(), view, &start);
        tensors.push(stored.map_err(|e| e.in_path(Path::new(&format!("tensor \"{}\"", one_line(&name)))))?);
    }
    Ok(Contents { tensors, warnings })
}

fn stored(name: String, view: &View, start: impl Fn(&Storage) -> Result<u64>) -> Result<Stored> {
    let size = view.dtype.size();
    let start = start(&view.storage)? + (view.offset * size) as u64;
    let bytes = view.shape.iter().product::<usize>() * size;
    let via = match view.is_contiguous() {
        true => Via::File,
        false => Via::Strides(view.strides.clone()),
    };
    let elements = Elements::Plain(view.dtype);
    Ok(Stored { name, elements, shape: view.shape.clone(), file: 0, start, bytes, via })
}

/// A walk through the dictionaries of a pickle.
struct Walk<'v> {
    values: &'v Values,
    /// Dictionaries that were visited.
    seen: HashSet<Ref>,
    views: Vec<(String, &'v View)>,
    /// The names of entries that are no tensors.
    others: Vec<String>,
}

impl<'v> Walk<'v> {
    fn entries(&self, dict: Ref) -> Option<&'v [(Ref, Ref)]> {
        match self.values.get(dict) {
            Value::Dict(entries) => Some(entries),
            _ => None,
        }
    }

    /// The dictionary that has the weights: the pickle itself, or the one that a training checkpoint keeps them in.
    fn weights(&self, warnings: &mut Vec<String>) -> Result<Ref> {
        let root = self.values.root();
        let Some(entries) = self.entries(root) else {
            let what = self.values.get(root).described();
            return Err(refused(format!("the file has {what}, not a dictionary of tensors")));
        };
        let tensor = |(_, value): &&(Ref, Ref)| matches!(self.values.get(*value), Value::Tensor(_));
        if entries.iter().any(|entry| tensor(&entry)) {
            return Ok(root);
        }
        let inner: Vec<(&str, Ref)> = entries
            .iter()
            .filter_map(|(key, value)| match (self.values.get(*key), self.values.get(*value)) {
                (Value::Text(key), Value::Dict(_)) if WEIGHTS.contains(&key.as_str()) => {
                    Some((key.as_str(), *value))
                }
                _ => None,
            })
            .collect();
        match inner[..] {
            [] => Ok(root),
            [(key, dict)] => {
                if entries.len() > 1 {
                    let n = entries.len() - 1;
                    warnings.push(format!(
                        "only \"{key}\" of the file is read, not the other entries beside it ({n})"
                    ));
                }
                Ok(dict)
            }
            [(first, _), (second, _), ..] => {
                let what = format!("both \"{first}\" and \"{second}\" of the file may have the weights");
                Err(refused(what))
            }
        }
    }

    /// Adds the tensors of a dictionary, whose names begin with `prefix`.
    fn dict(&mut self, dict: Ref, prefix: &str, depth: usize) -> Result<()> {
        let shown = || format!("dictionary \"{}\"", one_line(prefix.trim_end_matches('.')));
        if depth > MAX_DEPTH {
            return Err(bad(format!("dictionaries are nested more than {MAX_DEPTH} deep")).at(shown()));
        }
        if !self.seen.insert(dict) {
            return Err(bad("the dictionary is in two places").at(shown()));
        }
        for (key, value) in self.entries(dict).unwrap_or_default() {
            let key = match self.values.get(*key) {
                Value::Text(key) => Cow::from(key),
                Value::Int(key) => Cow::from(key.to_string()),
                other => {
                    return Err(refused(format!("a key is {}, not a text", other.described())).at(shown()));
                }
            };
            if prefix.len() + key.len() > MAX_NAME {
                return Err(bad(format!("a name has more than {MAX_NAME} bytes")).at(shown()));
            }
            let name = format!("{prefix}{key}");
            match self.values.get(*value) {
                Value::Tensor(view) => self.views.push((name, view)),
                Value::Dict(_) => self.dict(*value, &format!("{name}."), depth + 1)?,
                Value::List(items) | Value::Tuple(items)
                    if items.iter().any(|item| matches!(self.values.get(*item), Value::Tensor(_))) =>
                {
                    let what = "a list of tensors has no names for them";
                    return Err(refused(what).at(format!("entry \"{}\"", one_line(&name))));
                }
                _ => self.others.push(name),
            }
        }
        Ok(())
    }

    /// A warning about entries that are no tensors.
    fn warning(&self) -> Option<String> {
        let first = self.others.iter().take(NAMED).map(|name| format!("\"{}\"", one_line(name)));
        let first = first.collect::<Vec<_>>().join(", ");
        let n = self.others.len();
        let more = if n > NAMED { ", and others" } else { "" };
        (n > 0).then(|| format!("{n} entries that are no tensors are not read: {first}{more}"))
    }
}
