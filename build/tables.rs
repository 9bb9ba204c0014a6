//! The promotion tables: parsed, checked, and written as static arrays.
//!
//! A table has a row and a column for every dtype of its standard, `-` where the standard refuses the pair, and behind the
//! dtypes either
//!
//! * columns for the Python numbers, `Python bool`, `Python int`, `Python float` and `Python complex`, or
//! * rows and columns for the weak types of JAX, `int*`, `float*` and `complex*`; weak results have a star, or
//! * nothing, if the standard knows only arrays.

use crate::grid::{Faults, Grid};

/// The standards in the order of `Standard::ALL`; their tables are called so.
pub const STANDARDS: [&str; 9] =
    ["mindspore", "megengine", "megengine_core", "array_api", "numpy", "torch", "jax", "jax_strict", "onnx"];
/// Results that systems have and the library does not.
pub const FOREIGN: [&str; 2] = ["complex32", "bcomplex32"];
const NUMBERS: [&str; 4] = ["Python bool", "Python int", "Python float", "Python complex"];
const WEAK: [&str; 3] = ["int*", "float*", "complex*"];

// What stands in a cell of the static arrays; `src/promote/table.rs` reads it. Below these are the codes of dtypes.
const WEAK_RESULT: u8 = 0x80;
const FIRST_FOREIGN: u8 = 0xF0;
const ABSENT: u8 = 0xFE;
const REFUSED: u8 = 0xFF;

/// A checked table, indexed by the codes of dtypes and, for pairs, behind them by the weak types.
#[derive(Debug)]
pub struct Table {
    pairs: Vec<Vec<u8>>,
    numbers: Vec<[u8; NUMBERS.len()]>,
}

/// The code of the dtype with this canonical name.
fn code(dtypes: &[&str], name: &str) -> Option<usize> {
    dtypes.iter().position(|known| *known == name)
}

/// The index of a row or column.
fn index(dtypes: &[&str], name: &str) -> Option<usize> {
    let weak = || WEAK.iter().position(|weak| *weak == name).map(|i| dtypes.len() + i);
    code(dtypes, name).or_else(weak)
}

/// A cell as it is stored; the `Err` says what is wrong with it.
fn cell(dtypes: &[&str], text: &str, columns: &[&str]) -> Result<u8, String> {
    if text == "-" {
        return Ok(REFUSED);
    }
    if let Some(i) = FOREIGN.iter().position(|foreign| *foreign == text) {
        return Ok(FIRST_FOREIGN + i as u8);
    }
    let (name, flag) = match text.strip_suffix('*') {
        Some(name) if columns.contains(&WEAK[0]) => (name, WEAK_RESULT),
        Some(_) => return Err(format!("{text} is weak, but the table has no weak types")),
        None => (text, 0),
    };
    match code(dtypes, name) {
        Some(_) if !columns.contains(&name) => Err(format!("{name} is not a dtype of this table")),
        Some(code) => Ok(code as u8 | flag),
        None => Err(format!("{text} is not the name of a dtype")),
    }
}

/// Parses and checks a table: names are known, it is complete, symmetric, and every dtype with itself is itself.
pub fn parse(dtypes: &[&str], file: &str, standard: &str, text: &str) -> Result<Table, Faults> {
    let grid = Grid::read(file, text)?;
    let mut faults = Vec::new();
    if grid.corner != standard {
        faults.push(format!("{file}: the head starts with {:?} instead of {standard:?}", grid.corner));
    }
    let count = grid.columns.iter().take_while(|name| !NUMBERS.contains(name)).count();
    let (columns, numbers) = grid.columns.split_at(count);
    for name in columns.iter().filter(|name| index(dtypes, name).is_none()) {
        faults.push(format!("{file}, column {name}: not the name of a dtype"));
    }
    if !numbers.is_empty() && numbers != NUMBERS {
        faults.push(format!("{file}: the last columns are {numbers:?} instead of {NUMBERS:?}"));
    }
    let weak = WEAK.iter().filter(|name| columns.contains(name)).count();
    if weak != 0 && (weak != WEAK.len() || !numbers.is_empty()) {
        faults.push(format!("{file}: weak types are {WEAK:?} and take the place of Python numbers"));
    }
    let rows: Vec<&str> = grid.rows.iter().map(|(name, _)| *name).collect();
    if rows != columns {
        let wrong =
            (0..rows.len().max(columns.len())).find(|&i| rows.get(i) != columns.get(i)).unwrap_or_default();
        let [row, column] = [rows.get(wrong), columns.get(wrong)].map(|name| name.unwrap_or(&"missing"));
        faults.push(format!("{file}: row {} is {row} but column {0} is {column}", wrong + 1));
    }
    if !faults.is_empty() {
        return Err(faults);
    }

    let side = dtypes.len() + WEAK.len();
    let no_number = if numbers.is_empty() { ABSENT } else { REFUSED };
    let mut table = Table {
        pairs: vec![vec![ABSENT; side]; side],
        numbers: vec![[no_number; NUMBERS.len()]; dtypes.len()],
    };
    for (i, (row, cells)) in grid.rows.iter().enumerate() {
        for (j, (column, text)) in grid.columns.iter().zip(cells).enumerate() {
            let value = match cell(dtypes, text, columns) {
                Ok(value) => value,
                Err(fault) => {
                    faults.push(format!("{}: {fault}", grid.at(row, column)));
                    continue;
                }
            };
            let a = index(dtypes, row).expect("checked above");
            if j >= columns.len() {
                table.numbers[a][j - columns.len()] = value;
                continue;
            }
            table.pairs[a][index(dtypes, column).expect("checked above")] = value;
            let mirrored = grid.rows[j].1[i];
            if *text != mirrored && i < j {
                let (here, there) = (grid.at(row, column), grid.at(column, row));
                faults.push(format!("{here}: {text}, but {there}: {mirrored}; a table is symmetric"));
            }
            if i == j && row != text && !is_weak_result(row, text) {
                faults.push(format!("{}: {text}; a dtype with itself is itself", grid.at(row, column)));
            }
        }
    }
    if faults.is_empty() { Ok(table) } else { Err(faults) }
}

/// Whether `text` is what a weak type is when it stands alone: `int64*` for `int*`.
fn is_weak_result(weak: &str, text: &str) -> bool {
    let kind =
        |name: &str| name.trim_end_matches('*').trim_end_matches(|c: char| c.is_ascii_digit()).to_owned();
    weak.ends_with('*') && text.ends_with('*') && kind(weak) == kind(text)
}

/// The tables as Rust source.
pub fn render(dtypes: &[&str], tables: &[Table]) -> String {
    let mut source = format!(
        "// Rows are those of src/names.tsv, which are the dtypes in the order of their codes.\n\
         pub const NAMES: [&str; {}] = {dtypes:?};\n\
         pub const IDS: [&str; {}] = {STANDARDS:?};\n\
         pub const FOREIGN: [&str; {}] = {FOREIGN:?};\n\
         pub const WEAK_RESULT: u8 = {WEAK_RESULT};\n\
         pub const FIRST_FOREIGN: u8 = {FIRST_FOREIGN};\n\
         pub const ABSENT: u8 = {ABSENT};\n\
         pub const REFUSED: u8 = {REFUSED};\n\
         pub static TABLES: [Table; {}] = [\n",
        dtypes.len(),
        STANDARDS.len(),
        FOREIGN.len(),
        tables.len()
    );
    for table in tables {
        source += &format!("Table {{ pairs: {:?}, numbers: {:?} }},\n", table.pairs, table.numbers);
    }
    source + "];\n"
}

/// The castings of `numpy_can_cast.tsv` from the strictest on.
const CASTINGS: [&str; 4] = ["safe", "same_kind", "unsafe", "-"];

/// Parses and checks `numpy_can_cast.tsv` and writes it as Rust source: the index of the strictest casting that allows it.
/// A dtype without a row is none of NumPy's.
pub fn can_cast(dtypes: &[&str], file: &str, text: &str) -> Result<String, Faults> {
    let grid = Grid::read(file, text)?;
    let mut faults = Vec::new();
    if grid.corner != "numpy_can_cast" {
        faults.push(format!("{file}: the head starts with {:?}", grid.corner));
    }
    if grid.rows.iter().map(|(name, _)| name).ne(&grid.columns) {
        faults.push(format!("{file}: the rows are not the columns"));
    }
    let mut array = vec![vec![CASTINGS.len() - 1; dtypes.len()]; dtypes.len()];
    for (row, cells) in &grid.rows {
        for (column, text) in grid.columns.iter().zip(cells) {
            let casting = CASTINGS.iter().position(|casting| casting == text);
            match (code(dtypes, row), code(dtypes, column), casting) {
                (Some(from), Some(to), Some(casting)) => array[from][to] = casting,
                (Some(_), Some(_), None) => {
                    faults.push(format!("{}: {text} is no casting", grid.at(row, column)));
                }
                _ => faults.push(format!("{}: not the names of dtypes", grid.at(row, column))),
            }
        }
    }
    let source = format!("pub static NUMPY_CAN_CAST: [[u8; {0}]; {0}] = {array:?};\n", dtypes.len());
    if faults.is_empty() { Ok(source) } else { Err(faults) }
}
