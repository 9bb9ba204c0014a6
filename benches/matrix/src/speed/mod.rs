//! Stored results: what the page of speeds and the chart of the README are drawn from.
//!
//! A result file has a line per cell and several megabytes. A *record* keeps the same figures by column and to four digits, so that it
//! is small enough to be checked in. There is one folder per machine, and in it one record per date and commit.
//!
//! * `record`: what a record holds, and its folder;
//! * `input`: result files;
//! * `store`: result files become a record;
//! * `dimensions`: representative casts along other dimensions, with intervals over processes;
//! * `processes`: several processes of this program, one after the other;
//! * `tables`: results that are summarised rather than kept;
//! * `page`: records become one HTML file;
//! * `chart`: a record becomes the SVG of the README;
//! * `stats`: medians, bootstrap intervals and scatter;
//! * `ab`: two programs measured by turns;
//! * `history`: the records of one machine over commits.

pub mod ab;
pub mod chart;
pub mod dimensions;
pub mod history;
pub mod input;
pub mod page;
pub mod processes;
pub mod record;
pub mod stats;
pub mod store;
pub mod tables;

#[cfg(test)]
mod tests {
    use super::{chart, page, record};
    use std::{fs, path::Path};

    /// What is checked in is what `lanecast-bench page` and `lanecast-bench chart` write.
    #[test]
    fn the_page_and_the_chart_are_those_of_the_records() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        let records = record::read_all(&root.join("benches/results")).expect("records are checked in");
        let drawn = [
            ("docs/speed.html", page::page(&records), "page"),
            ("docs/images/peers.svg", chart::chart(&records), "chart"),
        ];
        for (path, text, command) in drawn {
            let kept = fs::read_to_string(root.join(path)).expect("it is checked in");
            let same = kept == text.expect("the records are sound");
            assert!(same, "{path} is old: `lanecast-bench {command}` writes it from the records");
        }
    }

    #[test]
    fn records_are_where_their_machines_and_dates_say() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        for stored in record::read_all(&root.join("benches/results")).expect("records are checked in") {
            let (folder, file) = (stored.record.folder(), stored.record.file());
            assert_eq!(format!("{}.json", stored.name), format!("{folder}/{file}"));
            let text = stored.record.to_json().expect("JSON");
            assert!(text.len() < 500 << 10, "{} has {} KiB", stored.name, text.len() >> 10);
        }
    }
}
