//! Text for the terminal: whether it is coloured, and how much of it is printed.
//!
//! Text with escape sequences goes through `anstream`, which removes them where colour is off. `auto` means colour
//! on terminals, unless `NO_COLOR` is set or `TERM` is `dumb`; with `CLICOLOR_FORCE` also on pipes.

use std::{
    ffi::OsString,
    io::{self, Write},
    sync::OnceLock,
};

use anstream::ColorChoice;
use clap::{
    ValueEnum,
    builder::styling::{AnsiColor, Style},
};

/// When text is coloured.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ColorWhen {
    /// On terminals, unless the environment variable NO_COLOR is set
    Auto,
    /// Always, including files and pipes
    Always,
    /// Never
    Never,
}

const ERROR: Style = AnsiColor::Red.on_default().bold();
const WARNING: Style = AnsiColor::Yellow.on_default().bold();
/// The heads of tables.
pub const HEAD: Style = Style::new().bold();

static QUIET: OnceLock<bool> = OnceLock::new();

/// Sets both for the rest of the run.
pub fn settle(color: ColorWhen, quiet: bool) {
    match color {
        ColorWhen::Auto => ColorChoice::Auto,
        ColorWhen::Always => ColorChoice::Always,
        ColorWhen::Never => ColorChoice::Never,
    }
    .write_global();
    let _ = QUIET.set(quiet);
}

/// Whether progress, warnings and summaries are left out.
pub fn quiet() -> bool {
    QUIET.get().copied().unwrap_or(false)
}

/// The value of `--color` on a command line that is wrong, or that requests help.
pub fn color_of(words: impl Iterator<Item = OsString>) -> ColorWhen {
    let mut found = ColorWhen::Auto;
    let mut words = words.take_while(|word| word != "--");
    while let Some(word) = words.next() {
        let value = match word.to_str() {
            Some("--color") => words.next(),
            Some(word) => word.strip_prefix("--color=").map(OsString::from),
            None => None,
        };
        if let Some(value) = value.as_deref().and_then(|value| value.to_str()) {
            found = ColorWhen::from_str(value, false).unwrap_or(found);
        }
    }
    found
}

/// Writes an error to standard error: `lanecast: ...`, a line or more, which may have escape sequences.
pub fn error(text: &str) -> io::Result<()> {
    say(ERROR, "lanecast:", text)
}

/// Writes a warning to standard error: a line that begins with `lanecast: warning:`.
pub fn warning(text: &str) -> io::Result<()> {
    say(WARNING, "lanecast: warning:", text)
}

fn say(style: Style, prefix: &str, text: &str) -> io::Result<()> {
    let rest = text.strip_prefix(prefix).unwrap_or(text);
    let prefix = if rest.len() == text.len() { "" } else { prefix };
    // One write, so that lines of several processes are not mixed.
    anstream::stderr().lock().write_all(format!("{style}{prefix}{style:#}{rest}").as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn color_is_found_on_any_command_line() {
        let color = |words: &[&str]| color_of(words.iter().map(OsString::from));
        assert_eq!(color(&["cast", "--colour"]), ColorWhen::Auto);
        assert_eq!(color(&["cast", "--color", "never", "--bad"]), ColorWhen::Never);
        assert_eq!(color(&["--color=always", "cast"]), ColorWhen::Always);
        assert_eq!(color(&["--color=always", "--color", "gray"]), ColorWhen::Always);
        assert_eq!(color(&["cast", "--", "--color=always"]), ColorWhen::Auto);
        assert_eq!(color(&["--color"]), ColorWhen::Auto);
    }
}
