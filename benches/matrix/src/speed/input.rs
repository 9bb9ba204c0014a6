//! Result files. A file is recognised by its fields.

use super::tables;
use crate::{
    addresses, checked, dimensions, json, machine::Machine, options, report::peers::PeerResults,
    results::Results, threads,
};
use serde::de::DeserializeOwned;
use serde_json::Value;
use std::path::Path;

/// What a result file holds.
#[derive(Debug)]
pub enum Input {
    /// Of `run`.
    Matrix(Results),
    /// Of `run --dimension`.
    Dimensions(dimensions::Results),
    /// Of the peers.
    Peers(PeerResults),
    /// Of `options`.
    Options(options::Rows),
    /// Of `addresses`.
    Addresses(addresses::Rows),
    /// Of `checked`.
    Checked(checked::Rows),
    /// Of `threads` or `batch`.
    Threads(threads::Rows),
    /// Of `scaled` or `strided`.
    Table(tables::Measured),
}

impl Input {
    /// Reads a result file.
    ///
    /// # Errors
    ///
    /// If it cannot be read, or is of none of these kinds; with the path.
    pub fn read(path: &Path) -> Result<Input, String> {
        let value: Value = json::read(path)?;
        Input::parse(value).map_err(|error| format!("{}: {error}", path.display()))
    }

    fn parse(value: Value) -> Result<Input, String> {
        fn of<T: DeserializeOwned>(value: Value) -> Result<T, String> {
            serde_json::from_value(value).map_err(|error| error.to_string())
        }
        let has = |field: &str| value.get(field).is_some();
        let row_has = |field: &str| value.pointer("/rows/0").is_some_and(|row| row.get(field).is_some());
        Ok(match () {
            () if has("counting") => return Err("counts of instructions are stored in benches/matrix/counts".into()),
            () if has("cells") => Input::Matrix(of(value)?),
            () if has("dimensions") => Input::Dimensions(of(value)?),
            () if has("versions") => Input::Peers(of(value)?),
            () if has("quick") => Input::Options(of(value)?),
            () if has("batches") => Input::Threads(of(value)?),
            () if has("tables") => Input::Table(of(value)?),
            () if row_has("way") => Input::Checked(of(value)?),
            () if row_has("aligned_ns") => Input::Addresses(of(value)?),
            () => return Err("it is no result of run, options, addresses, checked, threads, batch, scaled, strided or the peers".into()),
        })
    }

    /// On what it ran; `None` for peers that do not say it.
    pub(super) fn machine(&self) -> Option<&Machine> {
        let machine = match self {
            Input::Matrix(results) => &results.machine,
            Input::Dimensions(results) => &results.machine,
            Input::Peers(peers) => &peers.machine,
            Input::Options(rows) => &rows.machine,
            Input::Addresses(rows) => &rows.machine,
            Input::Checked(rows) => &rows.machine,
            Input::Threads(rows) => &rows.machine,
            Input::Table(table) => &table.machine,
        };
        (*machine != Machine::default()).then_some(machine)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of_file<T: serde::Serialize>(results: &T) -> Result<Input, String> {
        Input::parse(serde_json::to_value(results).expect("JSON"))
    }

    #[test]
    fn files_are_known_by_their_fields() {
        let matrix = Results::default();
        assert!(matches!(of_file(&matrix), Ok(Input::Matrix(_))));
        assert!(matches!(of_file(&dimensions::Results::default()), Ok(Input::Dimensions(_))));
        assert!(matches!(of_file(&PeerResults::default()), Ok(Input::Peers(_))));
        assert!(matches!(of_file(&options::Rows::default()), Ok(Input::Options(_))));
        assert!(matches!(of_file(&threads::Rows::default()), Ok(Input::Threads(_))));
        assert!(matches!(of_file(&tables::Measured::default()), Ok(Input::Table(_))));
        let counted = Results { counting: Some(Default::default()), ..matrix };
        assert!(of_file(&counted).expect_err("counts").contains("benches/matrix/counts"));
        assert!(of_file(&[1, 2]).is_err());
    }
}
