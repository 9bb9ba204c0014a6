//! What a run leaves behind: a head and one row per cell, as JSON.

use crate::{
    cells::{Mode, pair_label},
    classes::Level,
    count::{Count, Counting},
    inputs::Inputs,
    machine::Machine,
};
use serde::{Deserialize, Serialize};
use std::{fmt, fs, io, path::Path};

/// A measured size.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, clap::ValueEnum,
)]
#[serde(rename_all = "lowercase")]
pub enum Size {
    /// 24 KiB, source and destination together.
    L1,
    /// 512 KiB.
    L2,
    /// Four times the last cache, 384 MiB at most.
    Dram,
    /// 1 element.
    N1,
    /// 7 elements.
    N7,
    /// 64 elements.
    N64,
    /// 255 elements.
    N255,
}

impl Size {
    /// The sizes of small calls.
    pub const SMALL: &'static [Size] = &[Size::N1, Size::N7, Size::N64, Size::N255];

    /// The number of elements of a small call.
    pub const fn elements(self) -> Option<usize> {
        match self {
            Size::N1 => Some(1),
            Size::N7 => Some(7),
            Size::N64 => Some(64),
            Size::N255 => Some(255),
            Size::L1 | Size::L2 | Size::Dram => None,
        }
    }

    /// The level that targets speak of.
    pub const fn level(self) -> Option<Level> {
        match self {
            Size::L1 => Some(Level::L1),
            Size::L2 => Some(Level::L2),
            Size::Dram => Some(Level::Dram),
            _ => None,
        }
    }

    /// Its name in results.
    pub const fn name(self) -> &'static str {
        match self {
            Size::L1 => "l1",
            Size::L2 => "l2",
            Size::Dram => "dram",
            Size::N1 => "n1",
            Size::N7 => "n7",
            Size::N64 => "n64",
            Size::N255 => "n255",
        }
    }
}

impl fmt::Display for Size {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// How elements lie in a buffer, as in `lanecast::Storage`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Store {
    /// One element per byte, or its natural bytes.
    Byte,
    /// Elements share bytes.
    Packed,
}

/// What makes two cells of different runs the same cell.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Key {
    /// The dtype of the source.
    pub from: String,
    /// Its storage.
    pub from_storage: Store,
    /// The dtype of the destination.
    pub to: String,
    /// Its storage.
    pub to_storage: Store,
    /// What happens on overflow.
    pub mode: Mode,
    /// The tier.
    pub tier: String,
    /// The size.
    pub size: Size,
}

impl Key {
    /// The cast without tier and size: `int4/packed -> int8 wrap`.
    pub fn pair(&self) -> String {
        let side = |name: &str, storage| match storage {
            Store::Byte => name.to_owned(),
            Store::Packed => format!("{name}/packed"),
        };
        let (from, to) = (side(&self.from, self.from_storage), side(&self.to, self.to_storage));
        pair_label(&from, &to, self.mode)
    }
}

impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}, {}, {}", self.pair(), self.tier, self.size)
    }
}

/// A measured cell. Times are medians in nanoseconds.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Cell {
    /// Which cell it is.
    #[serde(flatten)]
    pub key: Key,
    /// The class of the pair.
    pub class: String,
    /// Elements of a call.
    pub elements: usize,
    /// Bytes that a call reads.
    pub read: usize,
    /// Bytes that a call writes.
    pub written: usize,
    /// How many rounds were measured.
    pub rounds: usize,
    /// One cast.
    pub cast_ns: f64,
    /// A `memcpy` that reads and writes as many bytes together.
    pub memcpy_ns: f64,
    /// The pure-traffic loop; small calls have none.
    pub traffic_ns: Option<f64>,
    /// The streaming pure-traffic loop, in sizes larger than the last-level cache only.
    pub streaming_ns: Option<f64>,
    /// Time of the pure-traffic loop divided by that of the cast.
    pub fraction: Option<f64>,
    /// Time of the streaming pure-traffic loop divided by that of the cast.
    pub fraction_streaming: Option<f64>,
    /// The fraction that is asked for.
    pub target: Option<f64>,
    /// Bytes read and written per nanosecond: GB/s.
    pub gbps: f64,
}

impl Cell {
    /// How much of its target a cell reaches; `None` without a target.
    pub fn reached(&self) -> Option<f64> {
        Some(self.fraction? / self.target?)
    }
}

/// A run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Results {
    /// On what.
    pub machine: Machine,
    /// The values that the sources held.
    pub inputs: Inputs,
    /// Whether both buffers were one element off their alignment.
    pub unaligned: bool,
    /// Bytes of source and destination above the last-level cache.
    pub dram_bytes: usize,
    /// How instructions were counted, in a run that counted them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub counting: Option<Counting>,
    /// The cells of a run that took times.
    pub cells: Vec<Cell>,
    /// The casts of a run that counted instructions. Such a run has no cells.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub counts: Vec<Count>,
}

impl Results {
    /// Writes a result file: the head, then one line per cell, so that files can be searched and compared by line.
    ///
    /// # Errors
    ///
    /// If it cannot be written.
    pub fn write(&self, path: &Path) -> io::Result<()> {
        fs::write(path, self.to_json()?)
    }

    /// A result file as text.
    ///
    /// # Errors
    ///
    /// If a part of it cannot be written as JSON.
    pub fn to_json(&self) -> serde_json::Result<String> {
        let head = Results { cells: Vec::new(), counts: Vec::new(), ..self.clone() };
        let head = serde_json::to_string_pretty(&head)?;
        // `cells` is the last field of the head, and empty there.
        let open = head.rfind("[]").unwrap_or(head.len());
        let counts = match &*self.counts {
            [] => String::new(),
            counts => format!(",\n  \"counts\": {}", rows(counts)?),
        };
        Ok(format!("{}{}{counts}\n}}\n", &head[..open], rows(&self.cells)?))
    }
}

/// A list with one line per item.
fn rows<T: Serialize>(items: &[T]) -> serde_json::Result<String> {
    let rows: Vec<String> = items.iter().map(serde_json::to_string).collect::<Result<_, _>>()?;
    Ok(if rows.is_empty() { "[]".into() } else { format!("[\n{}\n]", rows.join(",\n")) })
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::count::tests::count;
    use lanecast::Tier;

    /// A cell with a fraction of 0.5, of which 0.4 was asked.
    pub(crate) fn cell(from: &str, to: &str, size: Size) -> Cell {
        Cell {
            key: Key {
                from: from.into(),
                from_storage: Store::Byte,
                to: to.into(),
                to_storage: Store::Byte,
                mode: Mode::Only,
                tier: "avx2".into(),
                size,
            },
            class: "narrow".into(),
            elements: 1000,
            read: 4000,
            written: 2000,
            rounds: 9,
            cast_ns: 60.0,
            memcpy_ns: 40.0,
            traffic_ns: Some(30.0),
            streaming_ns: None,
            fraction: Some(0.5),
            fraction_streaming: None,
            target: Some(0.4),
            gbps: 100.0,
        }
    }

    #[test]
    fn json_round_trip() {
        let machine = Machine { cpu: "a \"CPU\" []".into(), cpus: 2, ..Machine::default() };
        for cells in [vec![], vec![cell("float32", "bool", Size::L1), cell("int4", "int8", Size::Dram)]] {
            let results = Results { machine: machine.clone(), cells, ..Results::default() };
            let json = results.to_json().expect("JSON");
            assert_eq!(serde_json::from_str::<Results>(&json).expect("the same"), results, "{json}");
        }
        let counts = vec![count("float32", "bool", Tier::Avx2, 1.5), count("bool", "int8", Tier::Avx2, 0.5)];
        let results = Results { counting: Some(Counting::default()), counts, ..Results::default() };
        let json = results.to_json().expect("JSON");
        assert_eq!(serde_json::from_str::<Results>(&json).expect("the same"), results, "{json}");
    }
}
