//! Text for people: lines as in the library of files, and tables.

use std::{fmt::Write, path::Path};

use indicatif::BinaryBytes;

pub use lanecast_files::text::{one_line, tuple};

use crate::terminal::HEAD;

/// The widest that a column becomes for one long cell. (The formatter allows at most 65535 in any case.)
const WIDEST: usize = 80;

/// The name of a tensor; `-` if it is empty.
pub fn shown(name: &str) -> String {
    one_line(if name.is_empty() { "-" } else { name })
}

/// A path as a shell takes it.
pub fn argument(path: &Path) -> String {
    let path = path.display().to_string();
    let plain = |c: char| c.is_alphanumeric() || "/._-+=:@%,".contains(c);
    let line = one_line(&path);
    // What a line cannot show is not quoted for a shell, either.
    match line != path || !path.is_empty() && path.chars().all(plain) {
        true => line,
        false => format!("'{}'", path.replace('\'', r"'\''")),
    }
}

/// `1 tensor`, `2 tensors`.
pub fn count(n: u64, what: &str) -> String {
    if n == 1 { format!("1 {what}") } else { format!("{n} {what}s") }
}

/// `1 byte`, `2048 bytes (2.00 KiB)`.
pub fn bytes(n: u64) -> String {
    with_unit(count(n, "byte"), n)
}

/// `1`, `2048 (2.00 KiB)`.
pub fn size(n: u64) -> String {
    with_unit(n.to_string(), n)
}

fn with_unit(exact: String, n: u64) -> String {
    if n < 1 << 10 { exact } else { format!("{exact} ({})", BinaryBytes(n)) }
}

/// [`table`] of `rows`. The first row is the head, which is bold where colours are on.
pub fn headed(rows: &[Vec<String>]) -> String {
    let text = table(rows);
    match text.split_once('\n') {
        Some((head, rest)) => format!("{HEAD}{head}{HEAD:#}\n{rest}"),
        None => text,
    }
}

/// The columns of `rows` aligned to the left, two spaces between them.
pub fn table(rows: &[Vec<String>]) -> String {
    let columns = rows.iter().map(Vec::len).max().unwrap_or(0);
    let widths: Vec<usize> = (0..columns)
        .map(|c| {
            rows.iter()
                .filter_map(|row| row.get(c))
                .map(|cell| cell.chars().count())
                .max()
                .unwrap_or(0)
                .min(WIDEST)
        })
        .collect();
    let mut out = String::new();
    for row in rows {
        let mut line = String::new();
        for (cell, width) in row.iter().zip(&widths) {
            let _ = write!(line, "{cell:width$}  ");
        }
        out.push_str(line.trim_end());
        out.push('\n');
    }
    out
}

/// A cell of a table, cut to the [`WIDEST`] column.
pub fn shortened(cell: String) -> String {
    match cell.char_indices().nth(WIDEST) {
        Some(_) => cell.chars().take(WIDEST - 1).chain(['…']).collect(),
        None => cell,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_cells_are_cut() {
        let exact = "é".repeat(WIDEST);
        assert_eq!(shortened(exact.clone()), exact);
        assert_eq!(shortened(exact + "a"), "é".repeat(WIDEST - 1) + "…");
    }

    #[test]
    fn tables_bear_long_cells() {
        let rows = [vec!["a".to_owned(), "b".to_owned()], vec!["x".repeat(70_000), "c".to_owned()]];
        let table = table(&rows);
        assert!(table.lines().next().is_some_and(|line| line.len() == WIDEST + 3), "{}", table.len());
    }
}
