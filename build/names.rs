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
const NUMBERS: [&str; 3] = ["onnx number", "dlpack code", "dlpack bits"];

/// The rows: the canonical names of the dtypes in the order of their codes. The library asserts that it has these and no
/// others; a build script cannot ask it.
pub fn dtypes<'a>(file: &'a str, text: &'a str) -> Result<Vec<&'a str>, Faults> {
    Ok(Grid::read(file, text)?.rows.into_iter().map(|(name, _)| name).collect())
}

/// Parses and checks the names and writes them as Rust source: no name or number stands for two dtypes of its namespace.
pub fn render(file: &str, text: &str) -> Result<String, Faults> {
    let grid = Grid::read(file, text)?;
    let mut faults = Vec::new();
    let columns: Vec<&str> = NAMESPACES.iter().chain(&NUMBERS).copied().collect();
    if grid.corner != "dtype" || grid.columns != columns {
        faults.push(format!("{file}: the columns are {:?} instead of {columns:?}", grid.columns));
    }
    if !faults.is_empty() {
        return Err(faults);
    }
    for (j, column) in columns[..NAMESPACES.len()].iter().enumerate() {
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
    let [onnx, dlpack] = [&[NAMESPACES.len()][..], &[NAMESPACES.len() + 1, NAMESPACES.len() + 2]];
    for indices in [onnx, dlpack] {
        let mut known: Vec<(Vec<Option<u8>>, &str)> = Vec::new();
        for (row, cells) in &grid.rows {
            let mut numbers = Vec::new();
            for &j in indices {
                match number(cells[j]) {
                    Ok(value) => numbers.push(value),
                    Err(()) => {
                        faults.push(format!("{}: {} is no number", grid.at(row, columns[j]), cells[j]))
                    }
                }
            }
            match known.iter().find(|(other, _)| *other == numbers && numbers.iter().all(Option::is_some)) {
                Some((_, first)) => {
                    faults.push(format!("{}: the number of {first}", grid.at(row, columns[indices[0]])));
                }
                None => known.push((numbers, row)),
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
        for cell in &cells[..NAMESPACES.len()] {
            source += &format!("&{:?}, ", names(cell).collect::<Vec<_>>());
        }
        source += "],\n";
    }
    source +=
        &format!("];\npub static NUMBERS: [[Option<u8>; {}]; {}] = [\n", NUMBERS.len(), grid.rows.len());
    for (_, cells) in &grid.rows {
        let numbers: Vec<_> =
            cells[NAMESPACES.len()..].iter().map(|cell| number(cell).unwrap_or(None)).collect();
        source += &format!("{numbers:?},\n");
    }
    Ok(source + "];\n")
}

/// The names in a cell.
fn names(cell: &str) -> impl Iterator<Item = &str> {
    cell.split(' ').filter(|name| *name != "-")
}

/// The number in a cell.
fn number(cell: &str) -> Result<Option<u8>, ()> {
    if cell == "-" { Ok(None) } else { cell.parse().map(Some).map_err(drop) }
}
