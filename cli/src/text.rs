//! Text that people read: one line, bounded, free of control characters; and byte counts.

use std::{fmt::Write, io};

use crate::terminal::HEAD;

/// More than this many characters of a part of a message are left out: a file may hold names of megabytes.
const LONGEST: usize = 400;

/// `text` on one line: control characters and the characters that reorder text are escaped, the middle of a
/// very long text is left out.
pub fn one_line(text: &str) -> String {
    let mut line = String::with_capacity(text.len().min(LONGEST));
    for (i, c) in text.chars().enumerate() {
        if i == LONGEST {
            line.push_str("...");
            break;
        }
        if c.is_control() || is_invisible(c) {
            // Writing to a String does not fail.
            let _ = write!(line, "{}", c.escape_default());
        } else {
            line.push(c);
        }
    }
    line
}

/// Line separators, zero-width characters and bidirectional controls, which make a terminal show another
/// text.
fn is_invisible(c: char) -> bool {
    matches!(c, '\u{200B}'..='\u{200F}' | '\u{2028}'..='\u{202E}' | '\u{2060}'..='\u{206F}' | '\u{FEFF}')
}

/// What an I/O error says, without the number of the operating system.
pub fn io_reason(error: &io::Error) -> String {
    let text = error.to_string();
    match text.find(" (os error") {
        Some(end) => text[..end].to_lowercase(),
        None => text,
    }
}

/// `shape` as Python writes a tuple: `()`, `(3,)`, `(3, 4)`.
pub fn tuple(shape: &[u64]) -> String {
    let mut out = String::from("(");
    for (i, dim) in shape.iter().enumerate() {
        let _ = write!(out, "{}{dim}", if i == 0 { "" } else { ", " });
    }
    out.push_str(if shape.len() == 1 { ",)" } else { ")" });
    out
}

/// No column is widened beyond this for the sake of one long cell. (The formatter bears no more than 65535
/// in any case.)
const WIDEST: usize = 80;

/// [`table`] of `rows`, the first of which is the head, which is bold where colours are wanted.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_stay_on_one_line() {
        assert_eq!(one_line("a\nb\x1b[31m\u{202E}ä"), "a\\nb\\u{1b}[31m\\u{202e}ä");
        assert_eq!(one_line(&"x".repeat(1 << 20)).len(), LONGEST + 3);
    }

    #[test]
    fn tables_bear_long_cells() {
        let rows = [vec!["a".to_owned(), "b".to_owned()], vec!["x".repeat(70_000), "c".to_owned()]];
        let table = table(&rows);
        assert!(table.lines().next().is_some_and(|line| line.len() == WIDEST + 3), "{}", table.len());
    }

    #[test]
    fn tuples_are_pythons() {
        assert_eq!([tuple(&[]), tuple(&[3]), tuple(&[3, 4])], ["()", "(3,)", "(3, 4)"]);
    }
}
