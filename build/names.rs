//! The names of the dtypes in other systems: parsed, checked, and written as static arrays.

use crate::grid::{Faults, Grid};

/// The namespaces in the order of `Namespace::ALL`.
pub const NAMESPACES: [&str; 10] = [
    "numpy",
    "array_api",
    "torch",
    "mindspore",
    "megengine",
    "jax",
    "onnx",
    "safetensors",
    "arrow",
    "ml_dtypes",
];

/// The rows: the canonical names of the dtypes in the order of their codes. The library asserts that it has these and no
/// others; a build script cannot ask it.
pub fn dtypes<'a>(file: &'a str, text: &'a str) -> Result<Vec<&'a str>, Faults> {
    Ok(Grid::read(file, text)?.rows.into_iter().map(|(name, _)| name).collect())
}

/// Parses and checks the names and writes them as Rust source: no name means two dtypes of its namespace.
pub fn render(file: &str, text: &str) -> Result<String, Faults> {
    let grid = Grid::read(file, text)?;
    let mut faults = Vec::new();
    if grid.corner != "dtype" || grid.columns != NAMESPACES {
        faults.push(format!("{file}: the columns are {:?} instead of {NAMESPACES:?}", grid.columns));
    }
    if !faults.is_empty() {
        return Err(faults);
    }
    for (j, column) in NAMESPACES.iter().enumerate() {
        let mut known: Vec<(&str, &str)> = Vec::new();
        for (row, cells) in &grid.rows {
            for name in names(cells[j]) {
                match known.iter().find(|(other, _)| *other == name) {
                    Some((_, first)) => {
                        faults.push(format!("{}: {name} is also a name of {first}", grid.at(row, column)));
                    }
                    None => known.push((name, row)),
                }
            }
        }
    }
    if !faults.is_empty() {
        return Err(faults);
    }

    let mut source = format!("pub const IDS: [&str; {}] = {NAMESPACES:?};\n", NAMESPACES.len());
    source += &format!("pub static NAMES: [[&[&str]; {}]; {}] = [\n", NAMESPACES.len(), grid.rows.len());
    for (_, cells) in &grid.rows {
        source += "[";
        for cell in cells {
            source += &format!("&{:?}, ", names(cell).collect::<Vec<_>>());
        }
        source += "],\n";
    }
    Ok(source + "];\n")
}

/// The names in a cell.
fn names(cell: &str) -> impl Iterator<Item = &str> {
    cell.split(' ').filter(|name| *name != "-")
}
