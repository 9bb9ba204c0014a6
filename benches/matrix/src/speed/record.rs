//! What is stored of the results of one machine, one commit and one date.

use super::dimensions::Columns;
use crate::{
    cells::Mode,
    inputs::Inputs,
    machine::Machine,
    results::{Size, Store},
};
use lanecast::{DType, Encoding};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::{
    collections::BTreeMap,
    fmt, fs,
    path::{Path, PathBuf},
};

/// The version of the format. A reader refuses every other one.
pub const SCHEMA: u32 = 1;

/// A record.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Record {
    /// The version of the format.
    pub schema: u32,
    /// On what the casts ran.
    pub machine: Machine,
    /// The values that the sources held.
    pub inputs: Inputs,
    /// Whether both buffers were one element off their alignment.
    pub unaligned: bool,
    /// Bytes of source and destination of the size `dram`.
    pub dram_bytes: usize,
    /// How many processes were measured. Each figure is the median over them.
    pub processes: usize,
    /// The encodings that casts name by their place in this list.
    pub types: Vec<Type>,
    /// The classes of pairs that casts name by their place in this list.
    pub classes: Vec<String>,
    /// The casts that blocks name by their place in this list.
    pub casts: Vec<Cast>,
    /// The figures of the casts.
    pub blocks: Vec<Block>,
    /// The versions of the peers.
    pub versions: BTreeMap<String, String>,
    /// The figures of the peers.
    pub peers: Vec<PeerBlock>,
    /// What single options cost.
    pub options: Vec<OptionBlock>,
    /// Results that are summarised.
    pub tables: Vec<Table>,
    /// Representative casts along other dimensions.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub dimensions: Vec<Columns>,
}

/// An encoding.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Type {
    /// The name of the dtype.
    pub name: String,
    /// Whether elements share bytes.
    pub packed: bool,
    /// Bits of an element in memory.
    pub bits: u32,
}

impl Type {
    /// The encoding of a dtype and a storage.
    ///
    /// # Errors
    ///
    /// If there is no dtype of this name.
    pub fn new(name: &str, storage: Store) -> Result<Type, String> {
        let dtype: DType = name.parse().map_err(|error| format!("{name}: {error}"))?;
        let packed = storage == Store::Packed;
        let encoding = if packed { Encoding::packed(dtype) } else { Encoding::new(dtype) };
        Ok(Type { name: dtype.name().into(), packed, bits: encoding.bits_per_element() })
    }

    /// Its name in results: `int4/packed`.
    pub fn label(&self) -> String {
        if self.packed { format!("{}/packed", self.name) } else { self.name.clone() }
    }
}

/// A cast: the places of source, destination and class in their lists, the mode, and whether that is the default mode of the pair.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Cast(pub usize, pub usize, pub Mode, pub usize, pub u8);

/// The figures of one tier at one size. Columns have a figure per cast of the record, `null` for one that was not measured.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Block {
    /// The tier.
    pub tier: String,
    /// The size.
    pub size: Size,
    /// Nanoseconds: of an element at the sizes l1, l2 and dram, of a call at the sizes of small calls.
    pub ns: Vec<Option<f64>>,
    /// Time of the pure-traffic loop divided by that of the cast.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub fraction: Vec<Option<f64>>,
    /// The same with the streaming loop.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub streaming: Vec<Option<f64>>,
    /// The fraction that is asked of each class of the record.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub targets: Vec<Option<f64>>,
    /// Bytes read and written per nanosecond by `memcpy`, the median over the casts; not at the sizes of small calls.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub memcpy_gbps: Option<f64>,
    /// Small calls: bytes read and written together, and nanoseconds of a `memcpy` of so many bytes.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub memcpy: Vec<(usize, f64)>,
    /// With several processes: the greatest relative distance of a process from the median, in the median over the casts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub noise: Option<f64>,
}

/// The figures of a peer beside one of our tiers.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PeerBlock {
    /// Its name.
    pub peer: String,
    /// Our tier.
    pub tier: String,
    /// The places of the casts that it has.
    pub at: Vec<usize>,
    /// The figures by size, each column as long as `at`.
    pub sizes: BTreeMap<Size, PeerColumns>,
}

/// The figures of a peer at one size.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct PeerColumns {
    /// Nanoseconds of an element.
    pub ns: Vec<Option<f64>>,
    /// The peer's time divided by ours.
    pub ratio: Vec<Option<f64>>,
    /// The share of elements that differ from ours; empty if results were not compared.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub differing: Vec<Option<f64>>,
}

/// What one option that is not the default costs, within the second cache.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct OptionBlock {
    /// The tier.
    pub tier: String,
    /// `float-round=up`
    pub option: String,
    /// The places of the casts.
    pub at: Vec<usize>,
    /// The time divided by that with default options.
    pub ratio: Vec<f64>,
}

/// A table for people.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Table {
    /// Its name.
    pub name: String,
    /// What its figures are.
    pub note: String,
    /// The heads of the columns.
    pub columns: Vec<String>,
    /// The rows: text or numbers.
    pub rows: Vec<Vec<Value>>,
}

impl fmt::Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let line = |cells: &[String]| format!("| {} |", cells.join(" | "));
        writeln!(f, "**{}**\n\n{}\n|{}", self.name, line(&self.columns), "---|".repeat(self.columns.len()))?;
        for row in &self.rows {
            let text = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
            writeln!(f, "{}", line(&row.iter().map(text).collect::<Vec<_>>()))?;
        }
        writeln!(f)
    }
}

/// Four significant digits.
pub fn round(value: f64) -> f64 {
    if value == 0.0 || !value.is_finite() {
        return value;
    }
    let places = 3 - value.abs().log10().floor() as i32;
    // Through text: only that gives the number with the fewest digits.
    let text = if places > 0 { format!("{value:.*}", places as usize) } else { format!("{value:.0}") };
    text.parse().unwrap_or(value)
}

impl Record {
    /// The folder of its machine: the CPU with its family, model and stepping, or the target where the CPU is not known.
    pub fn folder(&self) -> String {
        let machine = &self.machine;
        let cpu = if machine.cpu == "unknown" { &machine.target } else { &machine.cpu };
        let id = if machine.cpu_id.contains("unknown") { "" } else { &machine.cpu_id };
        let words = format!("{cpu} {id}").to_lowercase();
        let words = words.replace("(r)", " ").replace("(tm)", " ");
        let dropped = ["family", "model", "stepping", "cpu", "processor", "@"];
        let words: Vec<&str> = words
            .split(|c: char| !c.is_ascii_alphanumeric())
            .filter(|word| !word.is_empty() && !dropped.contains(word))
            .collect();
        words.join("-")
    }

    /// The name of its file without the folder: date and commit, and `dimensions` if it has nothing else.
    pub fn file(&self) -> String {
        let day = self.machine.date.split('T').next().unwrap_or_default();
        let only = if self.blocks.is_empty() { "-dimensions" } else { "" };
        format!("{day}-{}{only}.json", self.machine.commit)
    }

    /// The block of a tier at a size.
    pub fn block(&self, tier: &str, size: Size) -> Option<&Block> {
        self.blocks.iter().find(|block| block.tier == tier && block.size == size)
    }

    /// The strongest tier that was measured.
    pub fn strongest(&self) -> Option<&'static str> {
        let has = |name: &&str| self.blocks.iter().any(|block| block.tier == *name);
        lanecast::Tier::ALL.iter().map(|tier| tier.name()).rfind(has)
    }

    /// The name of a cast: `int4/packed -> int8 wrap`.
    pub fn label(&self, cast: Cast) -> String {
        let side = |k: usize| self.types.get(k).map(Type::label).unwrap_or_default();
        crate::cells::pair_label(&side(cast.0), &side(cast.1), cast.2)
    }

    /// The place of the cast of a pair in its default mode. Names are those of [`Type::label`].
    pub fn default_cast(&self, from: &str, to: &str) -> Option<usize> {
        let at = |name: &str| self.types.iter().position(|of| of.label() == name);
        let (from, to) = (at(from)?, at(to)?);
        self.casts.iter().position(|cast| (cast.0, cast.1, cast.4) == (from, to, 1))
    }

    /// The record as text: a line per field, and a line per item of its lists of objects.
    ///
    /// # Errors
    ///
    /// If it cannot be written as JSON.
    pub fn to_json(&self) -> Result<String, String> {
        let value = serde_json::to_value(self).map_err(|error| error.to_string())?;
        let Value::Object(fields) = value else { return Err("a record is an object".into()) };
        let mut lines = Vec::new();
        for (name, value) in fields {
            let line = match whole_numbers(value) {
                Value::Array(items) if items.iter().any(Value::is_object) => {
                    let items: Vec<String> = items.iter().map(Value::to_string).collect();
                    format!("\"{name}\":[\n{}]", items.join(",\n"))
                }
                value => format!("\"{name}\":{value}"),
            };
            lines.push(line);
        }
        Ok(format!("{{{}}}\n", lines.join(",\n")))
    }

    /// Reads a record and checks that its columns fit its lists.
    ///
    /// # Errors
    ///
    /// If the text is not a record of this version.
    pub fn parse(text: &str) -> Result<Record, String> {
        let record: Record = serde_json::from_str(text).map_err(|error| error.to_string())?;
        record.check()?;
        Ok(record)
    }

    fn check(&self) -> Result<(), String> {
        if self.schema != SCHEMA {
            return Err(format!("the record has schema {}, this program reads {SCHEMA}", self.schema));
        }
        let casts = self.casts.len();
        let known =
            |cast: &Cast| cast.0.max(cast.1) < self.types.len() && cast.3 < self.classes.len() && cast.4 < 2;
        if let Some(cast) = self.casts.iter().find(|cast| !known(cast)) {
            return Err(format!("the cast {cast:?} names what the record does not have"));
        }
        let fits = |len: usize, of: usize| len == of || len == 0;
        for Block { tier, size, ns, fraction, streaming, targets, .. } in &self.blocks {
            if ns.len() != casts
                || !fits(fraction.len(), casts)
                || !fits(streaming.len(), casts)
                || !fits(targets.len(), self.classes.len())
            {
                return Err(format!("a column of {tier}, {size} has another length than the list of casts"));
            }
        }
        for block in &self.peers {
            let len = block.at.len();
            let columns = block.sizes.values();
            if block.at.iter().any(|&at| at >= casts)
                || columns
                    .clone()
                    .any(|c| c.ns.len() != len || c.ratio.len() != len || !fits(c.differing.len(), len))
            {
                return Err(format!("a column of {} has another length than its list of casts", block.peer));
            }
        }
        for block in &self.options {
            if block.ratio.len() != block.at.len() || block.at.iter().any(|&at| at >= casts) {
                return Err(format!(
                    "the column of {} has another length than its list of casts",
                    block.option
                ));
            }
        }
        self.dimensions.iter().try_for_each(Columns::check)?;
        match self.tables.iter().find(|table| table.rows.iter().any(|row| row.len() != table.columns.len())) {
            Some(table) => Err(format!("a row of the table {} has another length than its head", table.name)),
            None => Ok(()),
        }
    }
}

/// Whole numbers without a decimal point.
fn whole_numbers(value: Value) -> Value {
    match value {
        Value::Array(items) => Value::Array(items.into_iter().map(whole_numbers).collect()),
        Value::Object(fields) => {
            Value::Object(fields.into_iter().map(|(name, value)| (name, whole_numbers(value))).collect())
        }
        Value::Number(number) => match number.as_f64() {
            Some(real) if number.is_f64() && real.fract() == 0.0 && real.abs() < 1e15 => {
                Value::from(real as i64)
            }
            _ => Value::Number(number),
        },
        value => value,
    }
}

/// A stored record and its place below the folder of all records: `MACHINE/DATE-COMMIT`.
#[derive(Clone, Debug, PartialEq)]
pub struct Stored {
    /// Its place.
    pub name: String,
    /// The record.
    pub record: Record,
}

impl Stored {
    /// The folder of its machine.
    pub fn machine(&self) -> &str {
        self.name.split('/').next().unwrap_or_default()
    }
}

/// Reads all records of a folder: machines by name, the records of each by date.
///
/// # Errors
///
/// If there is none, or one cannot be read; with its path.
pub fn read_all(directory: &Path) -> Result<Vec<Stored>, String> {
    let mut all = Vec::new();
    for folder in entries(directory)?.into_iter().filter(|path| path.is_dir()) {
        let files = entries(&folder)?;
        for path in files.into_iter().filter(|path| path.extension().is_some_and(|end| end == "json")) {
            let at = |error: String| format!("{}: {error}", path.display());
            let text = fs::read_to_string(&path).map_err(|error| at(error.to_string()))?;
            let part = |of: Option<&std::ffi::OsStr>| of.unwrap_or_default().to_string_lossy().into_owned();
            let name = format!("{}/{}", part(folder.file_name()), part(path.file_stem()));
            all.push(Stored { name, record: Record::parse(&text).map_err(at)? });
        }
    }
    if all.is_empty() {
        return Err(format!(
            "{}: no record; `lanecast-bench store RESULT.json` writes one",
            directory.display()
        ));
    }
    all.sort_by(|a, b| {
        (a.machine(), &a.record.machine.date, &a.name).cmp(&(b.machine(), &b.record.machine.date, &b.name))
    });
    Ok(all)
}

fn entries(directory: &Path) -> Result<Vec<PathBuf>, String> {
    let at = |error: std::io::Error| format!("{}: {error}", directory.display());
    fs::read_dir(directory).map_err(at)?.map(|entry| entry.map(|entry| entry.path()).map_err(at)).collect()
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// A record of one cast, `float32 -> float16`, on one tier at the size l2.
    pub(crate) fn record(date: &str, ns: f64) -> Record {
        let machine = Machine {
            cpu: "AMD EPYC".into(),
            cpu_id: "family 26, model 2, stepping 1".into(),
            commit: "0123456789ab".into(),
            date: date.into(),
            rustc: "rustc 1.95.0".into(),
            ..Machine::default()
        };
        let types = [DType::Float32, DType::Float16].map(|dtype| Type::new(dtype.name(), Store::Byte));
        let block = Block {
            tier: "avx2".into(),
            size: Size::L2,
            ns: vec![Some(ns)],
            fraction: vec![Some(round(0.04 / ns))],
            streaming: vec![],
            targets: vec![Some(0.8)],
            memcpy_gbps: Some(120.5),
            memcpy: vec![],
            noise: None,
        };
        Record {
            schema: SCHEMA,
            machine,
            processes: 1,
            types: types.into_iter().collect::<Result<_, _>>().expect("both are dtypes"),
            classes: vec!["narrow-light".into()],
            casts: vec![Cast(0, 1, Mode::Only, 0, 1)],
            blocks: vec![block],
            ..Record::default()
        }
    }

    #[test]
    fn four_digits_are_kept() {
        for (value, want) in [
            (0.051_234_9, 0.051_23),
            (123_456.0, 123_456.0),
            (99.996, 100.0),
            (-1.234_56, -1.235),
            (0.0, 0.0),
        ] {
            assert_eq!(round(value), want, "{value}");
        }
        assert!(round(f64::NAN).is_nan());
    }

    #[test]
    fn names_of_machines_are_folders() {
        assert_eq!(record("2026-11-25T01:00Z", 1.0).folder(), "amd-epyc-26-2-1");
        let mut intel = record("2026-11-25T01:00Z", 1.0);
        intel.machine.cpu = "Intel(R) Xeon(R) Processor @ 2.60GHz".into();
        intel.machine.cpu_id = "family unknown, model unknown, stepping unknown".into();
        assert_eq!(intel.folder(), "intel-xeon-2-60ghz");
        assert_eq!(intel.file(), "2026-11-25-0123456789ab.json");
    }

    #[test]
    fn records_return_from_text() {
        let record = record("2026-11-25T01:00Z", 2.0);
        let text = record.to_json().expect("JSON");
        assert!(text.contains("\"ns\":[2]") && text.contains("\"fraction\":[0.02]"), "{text}");
        assert_eq!(Record::parse(&text).expect("the same"), record);
    }

    #[test]
    fn tables_are_written_as_markdown() {
        let table = Table {
            name: "Scaled casts".into(),
            columns: vec!["scheme".into(), "fraction".into()],
            rows: vec![vec![Value::from("mxfp4"), Value::from(0.25)]],
            ..Table::default()
        };
        assert_eq!(
            table.to_string(),
            "**Scaled casts**\n\n| scheme | fraction |\n|---|---|\n| mxfp4 | 0.25 |\n\n"
        );
    }

    #[test]
    fn columns_of_another_length_are_refused() {
        let good = record("2026-11-25T01:00Z", 2.0);
        let mut other = good.clone();
        other.blocks[0].ns.push(None);
        assert!(Record::parse(&other.to_json().expect("JSON")).is_err());
        other = good.clone();
        other.casts[0].1 = 2;
        assert!(Record::parse(&other.to_json().expect("JSON")).is_err());
        other = good.clone();
        other.schema = 2;
        assert!(Record::parse(&other.to_json().expect("JSON")).is_err());
        other = good;
        other.options.push(OptionBlock {
            tier: "avx2".into(),
            option: "x".into(),
            at: vec![0],
            ratio: vec![],
        });
        assert!(Record::parse(&other.to_json().expect("JSON")).is_err());
    }
}
