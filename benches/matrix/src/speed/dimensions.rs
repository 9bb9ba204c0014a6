//! The stored form of dimensions: rows by column, each figure the median over processes with its interval.
//!
//! A process is the unit of every interval, as in `stats`. Ends of intervals are kept as their distances from the figure, in thousandths of
//! it and rounded outwards. That is as exact as people need, and takes a third of the space.

use super::{
    record::{Record, round},
    stats::{Interval, SEED},
};
use crate::dimensions::{Dimension, Results, Row};
use serde::{Deserialize, Serialize};
use std::collections::{HashMap, HashSet};

/// With fewer processes than this, an interval says nothing, and none is stored.
const LEAST: usize = 3;

/// A dimension of a record.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Columns {
    /// Which dimension.
    pub dimension: Dimension,
    /// How many processes were measured.
    pub processes: usize,
    /// Where the rows are: a column for each key of the dimension.
    pub keys: Vec<Key>,
    /// Nanoseconds: of a call in `calls`, otherwise of an element.
    pub ns: Figures,
    /// The time divided by that of the baseline, `null` for the baseline itself.
    pub ratio: Figures,
    /// The time of pure traffic divided by that of the cast.
    pub fraction: Figures,
}

/// A key of all rows.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Key {
    /// Its name.
    pub name: String,
    /// Its values, in the order in which they were measured.
    pub values: Vec<String>,
    /// The place of each row's value in that list.
    pub at: Vec<usize>,
}

/// A figure of all rows.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Figures {
    /// The medians over the processes.
    pub value: Vec<Option<f64>>,
    /// How far the interval of 95 % reaches below each, in thousandths of it; empty without intervals.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub below: Vec<u32>,
    /// How far it reaches above each.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub above: Vec<u32>,
}

/// The dimensions of several processes, each of which has the same rows.
///
/// # Errors
///
/// If a process has other rows than the first one, a row is there twice, or a figure is not a positive number.
pub fn columns(processes: &[&Results]) -> Result<Vec<Columns>, String> {
    let Some((first, others)) = processes.split_first() else { return Ok(vec![]) };
    let all = |dimension: Dimension| -> Result<Vec<Columns>, String> {
        let of = |results: &&Results| -> Vec<Row> {
            let measured = results.dimensions.iter().filter(|measured| measured.dimension == dimension);
            measured.flat_map(|measured| measured.rows.clone()).collect()
        };
        let rows = of(first);
        let others: Vec<HashMap<Vec<String>, Row>> = others
            .iter()
            .map(|results| of(results).into_iter().map(|row| (row.at.clone(), row)).collect())
            .collect();
        if let Some(other) = others.iter().find(|other| other.len() != rows.len()) {
            return Err(format!("{dimension}: one process has {} rows, another {}", rows.len(), other.len()));
        }
        if rows.is_empty() { Ok(vec![]) } else { one(dimension, &rows, &others).map(|columns| vec![columns]) }
    };
    let all = Dimension::ALL.into_iter().map(all).collect::<Result<Vec<_>, _>>()?;
    Ok(all.concat())
}

fn one(dimension: Dimension, rows: &[Row], others: &[HashMap<Vec<String>, Row>]) -> Result<Columns, String> {
    let names = dimension.keys();
    let mut keys: Vec<Key> =
        names.iter().map(|name| Key { name: (*name).into(), values: vec![], at: vec![] }).collect();
    let (mut ns, mut ratio, mut fraction) = <(Figures, Figures, Figures)>::default();
    let mut seen = HashSet::new();
    for row in rows {
        let place = || format!("{dimension}, {}", row.at.join(", "));
        if row.at.len() != names.len() || !seen.insert(&row.at) {
            return Err(format!("{}: the row is there twice or lacks a key", place()));
        }
        let find = |other: &HashMap<_, Row>| other.get(&row.at).cloned();
        let found: Option<Vec<Row>> = others.iter().map(find).collect();
        let mut found = found.ok_or_else(|| format!("{}: a process has no such row", place()))?;
        found.insert(0, row.clone());
        for (key, value) in keys.iter_mut().zip(&row.at) {
            let at = key.values.iter().position(|known| known == value).unwrap_or_else(|| {
                key.values.push(value.clone());
                key.values.len() - 1
            });
            key.at.push(at);
        }
        ns.push(found.iter().map(|row| Some(row.ns)), &place)?;
        ratio.push(found.iter().map(|row| row.ratio), &place)?;
        fraction.push(found.iter().map(|row| Some(row.fraction)), &place)?;
    }
    Ok(Columns { dimension, processes: 1 + others.len(), keys, ns, ratio, fraction })
}

impl Figures {
    /// Adds the figure of a row, from that of each process.
    fn push(
        &mut self,
        processes: impl Iterator<Item = Option<f64>>,
        place: &dyn Fn() -> String,
    ) -> Result<(), String> {
        let all: Vec<Option<f64>> = processes.collect();
        let values: Vec<f64> = all.iter().copied().flatten().collect();
        let none = values.is_empty();
        if !none && (values.len() < all.len() || !values.iter().all(|v| v.is_finite() && *v > 0.0)) {
            return Err(format!("{}: a figure is not a positive number", place()));
        }
        let interval = Interval::of(&values, SEED).filter(|_| values.len() >= LEAST);
        let value = interval.as_ref().map_or_else(|| crate::measure::median(values), |found| found.value);
        self.value.push((!none).then(|| round(value)));
        if all.len() >= LEAST {
            let thousandths = |distance: f64| (1000.0 * distance / value).ceil().clamp(0.0, 1e6) as u32;
            let reach = interval.map_or([0, 0], |found| {
                [thousandths(found.value - found.low), thousandths(found.high - found.value)]
            });
            self.below.push(reach[0]);
            self.above.push(reach[1]);
        }
        Ok(())
    }

    fn fits(&self, rows: usize) -> bool {
        let [below, above] = [self.below.len(), self.above.len()];
        self.value.len() == rows && below == above && (below == rows || below == 0)
    }
}

impl Columns {
    /// How many rows there are.
    pub fn rows(&self) -> usize {
        self.ns.value.len()
    }

    /// Whether all columns have the same length and name what there is.
    pub(super) fn check(&self) -> Result<(), String> {
        let rows = self.rows();
        let key = |key: &Key| key.at.len() == rows && key.at.iter().all(|at| *at < key.values.len());
        let names = self.keys.iter().map(|key| &*key.name).eq(self.dimension.keys().iter().copied());
        if !names || !self.keys.iter().all(key) {
            return Err(format!("the keys of the dimension {} do not fit its rows", self.dimension));
        }
        if [&self.ns, &self.ratio, &self.fraction].iter().all(|figures| figures.fits(rows)) {
            Ok(())
        } else {
            Err(format!("a figure of the dimension {} has another length than its rows", self.dimension))
        }
    }
}

/// Adds the dimensions of an older record of the same file that the new one does not have.
pub fn keep_others(record: &mut Record, older: Record) {
    let measured: Vec<_> = record.dimensions.iter().map(|columns| columns.dimension).collect();
    record.dimensions.extend(older.dimensions.into_iter().filter(|old| !measured.contains(&old.dimension)));
    record.dimensions.sort_by_key(|columns| columns.dimension);
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::{
        dimensions::Measured,
        report::peers::PeerResults,
        results::{Size, tests::cell},
        speed::{
            input::Input,
            record::tests::record as base,
            store::{record, summary, tests::run},
        },
    };

    /// A process with a dimension of two rows: the baseline and an option that takes `ratio` times as long.
    pub(crate) fn process(ratio: f64) -> Results {
        let row = |option: &str, ns: f64, ratio: Option<f64>| Row {
            at: ["float32:int8", "avx2", option].map(String::from).into(),
            ns,
            ratio,
            fraction: 0.1 / ns,
        };
        let rows = vec![row("default", 0.2, None), row("float-round=up", 0.2 * ratio, Some(ratio))];
        let measured = Measured { dimension: Dimension::Options, rows };
        Results { dimensions: vec![measured], ..Results::default() }
    }

    #[test]
    fn rows_of_processes_become_medians_with_intervals() {
        let processes = [1.25, 1.0, 1.5, 1.24, 1.26].map(process);
        let all = columns(&processes.iter().collect::<Vec<_>>()).expect("the same rows");
        assert_eq!(all.len(), 1);
        let Columns { dimension, processes, keys, ns, ratio, .. } = &all[0];
        assert_eq!((*dimension, *processes, all[0].rows()), (Dimension::Options, 5, 2));
        assert_eq!(keys[2].values, ["default", "float-round=up"]);
        assert_eq!((&*keys[0].at, &*keys[2].at), (&[0, 0][..], &[0, 1][..]));
        assert_eq!(ratio.value, [None, Some(1.25)]);
        // The interval of five processes reaches from the least to the greatest: 1.0 and 1.5.
        assert_eq!((&*ratio.below, &*ratio.above), (&[0, 200][..], &[0, 200][..]));
        assert_eq!((ns.value[0], ns.below[0], ns.above[0]), (Some(0.2), 0, 0));
        assert_eq!(all[0].check(), Ok(()));
    }

    #[test]
    fn one_process_has_no_interval() {
        let all = columns(&[&process(2.0)]).expect("rows");
        assert_eq!((&*all[0].ratio.value, all[0].ratio.below.len()), (&[None, Some(2.0)][..], 0));
    }

    #[test]
    fn processes_have_the_same_rows() {
        let good = process(1.5);
        let mut other = good.clone();
        other.dimensions[0].rows.pop();
        assert!(columns(&[&good, &other]).expect_err("a row is missing").contains("one process has 2 rows"));
        let mut other = good.clone();
        other.dimensions[0].rows[1].at[2] = "float-round=down".into();
        assert!(columns(&[&good, &other]).expect_err("another row").contains("no such row"));
        let mut other = good.clone();
        other.dimensions[0].rows[1].at[2] = "default".into();
        assert!(columns(&[&other]).expect_err("twice").contains("twice"));
        let mut other = good.clone();
        other.dimensions[0].rows[1].ns = f64::NAN;
        assert!(columns(&[&good, &other]).expect_err("not a number").contains("positive"));
    }

    #[test]
    fn columns_that_do_not_fit_are_refused() {
        let good = columns(&[&process(2.0)]).expect("rows").remove(0);
        for change in [
            (|c| c.ns.value.push(None)) as fn(&mut Columns),
            |c| c.ratio.below.push(1),
            |c| c.keys[1].at[0] = 1,
            |c| _ = c.keys.pop(),
            |c| c.keys[0].name = "cast".into(),
        ] {
            let mut bad = good.clone();
            change(&mut bad);
            assert!(bad.check().is_err(), "{bad:?}");
        }
    }

    #[test]
    fn dimensions_return_from_text() {
        let processes = [1.2, 1.21, 1.25].map(process);
        let dimensions = columns(&processes.iter().collect::<Vec<_>>());
        let dimensions = dimensions.expect("the same rows");
        let mut record = Record { dimensions, ..base("2026-11-25T01:00Z", 2.0) };
        let text = record.to_json().expect("JSON");
        assert!(text.contains("\"value\":[null,1.21]") && text.contains("\"below\":[0,9]"), "{text}");
        assert_eq!(Record::parse(&text).expect("the same"), record);
        assert_eq!(record.file(), "2026-11-25-0123456789ab.json");
        record.blocks.clear();
        record.casts.clear();
        assert_eq!(record.file(), "2026-11-25-0123456789ab-dimensions.json");
        assert_eq!(Record::parse(&record.to_json().expect("JSON")).expect("the same"), record);
        record.dimensions[0].keys.pop();
        assert!(Record::parse(&record.to_json().expect("JSON")).is_err());
    }

    #[test]
    fn dimensions_are_kept_with_and_without_a_matrix() {
        let process = || {
            let machine = run(vec![]).machine;
            Input::Dimensions(Results { machine, ..process(1.5) })
        };
        let (alone, warnings) = record(vec![process(), process(), process()]).expect("a record");
        assert_eq!(warnings, [""; 0]);
        assert_eq!((alone.processes, alone.casts.len(), alone.dimensions.len()), (3, 0, 1));
        assert_eq!(Record::parse(&alone.to_json().expect("JSON")).expect("sound"), alone);
        let matrix = || Input::Matrix(run(vec![cell("float32", "bool", Size::L1)]));
        let (both, _) = record(vec![process(), matrix()]).expect("a record");
        assert_eq!((both.processes, both.casts.len(), both.dimensions[0].processes), (1, 1, 1));
        let peers = Input::Peers(PeerResults::default());
        assert!(record(vec![process(), peers]).expect_err("nothing to compare with").contains("beside them"));
        assert!(summary(&both).ends_with("dimensions: options (2 rows)"), "{}", summary(&both));

        // Some dimensions that were measured later join those of the same file.
        let (mut some, mut older) = (both.clone(), both.clone());
        older.dimensions[0].processes = 9;
        keep_others(&mut some, older.clone());
        assert_eq!(some, both, "what was measured again is new");
        some.dimensions[0].dimension = Dimension::Checked;
        keep_others(&mut some, older);
        let kept: Vec<usize> = some.dimensions.iter().map(|columns| columns.processes).collect();
        assert_eq!(kept, [9, 1], "in the order of all dimensions");
    }
}
