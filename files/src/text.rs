//! Text for people: on one line, of bounded length, free of control characters.

use std::{fmt::Write, io};

/// The most characters shown of a part of a message: a file may hold names of megabytes.
const LONGEST: usize = 400;

/// `text` on one line: control characters and characters that reorder text are escaped, and the middle of a
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

/// Whether `c` is a line separator, a zero-width character or a bidirectional control, which make a terminal
/// show a different text.
fn is_invisible(c: char) -> bool {
    matches!(c, '\u{200B}'..='\u{200F}' | '\u{2028}'..='\u{202E}' | '\u{2060}'..='\u{206F}' | '\u{FEFF}')
}

/// The message of an I/O error, without the operating system's error number.
pub(crate) fn io_reason(error: &io::Error) -> String {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_stay_on_one_line() {
        assert_eq!(one_line("a\nb\x1b[31m\u{202E}ä"), "a\\nb\\u{1b}[31m\\u{202e}ä");
        assert_eq!(one_line(&"x".repeat(1 << 20)).len(), LONGEST + 3);
    }

    #[test]
    fn tuples_are_pythons() {
        assert_eq!([tuple(&[]), tuple(&[3]), tuple(&[3, 4])], ["()", "(3,)", "(3, 4)"]);
    }
}
