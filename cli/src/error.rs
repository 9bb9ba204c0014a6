//! Failures: an exit code and one line.
//!
//! The line reads `lanecast: <what>: <where>: <what to do>`. It has a bounded length and no control characters,
//! even where it quotes a file or an argument ([`text::one_line`](crate::text::one_line)).

use std::{fmt, io, path::Path};

use lanecast::{CastError, tier::EnvError};
use lanecast_files::{Detail, Error, Remedy, formats::extensions};

use crate::{exit::Exit, signals, terminal, text};

/// Why the program failed.
#[derive(Debug)]
pub struct Failure {
    exit: Exit,
    what: String,
    place: String,
    advice: String,
    quiet: bool,
}

/// The result of everything that can fail.
pub type Result<T> = std::result::Result<T, Failure>;

impl Failure {
    fn new(exit: Exit, what: impl Into<String>) -> Self {
        Self { exit, what: what.into(), place: String::new(), advice: String::new(), quiet: false }
    }

    /// The command line is wrong.
    pub fn usage(what: impl Into<String>) -> Self {
        Self::new(Exit::Usage, what)
    }

    /// The input is invalid.
    pub fn format(what: impl Into<String>) -> Self {
        Self::new(Exit::Format, what)
    }

    /// The request is not supported.
    pub fn unsupported(what: impl Into<String>) -> Self {
        Self::new(Exit::Unsupported, what)
    }

    /// The output of the program has findings. Nothing is printed.
    pub fn findings() -> Self {
        Self { quiet: true, ..Self::new(Exit::Findings, String::new()) }
    }

    /// Reading or writing failed for a reason that the operating system did not report.
    pub fn io(what: impl Into<String>) -> Self {
        Self::new(Exit::Io, what)
    }

    /// The operating system failed; `doing` says at what, for example "cannot open".
    pub fn system(doing: &str, error: &io::Error) -> Self {
        Error::system(doing, error).into()
    }

    /// Writing an output failed.
    pub fn writing(error: &io::Error) -> Self {
        Error::writing(error).into()
    }

    /// Adds the place of the failure, unless one is known already.
    pub fn at(mut self, place: impl fmt::Display) -> Self {
        if self.place.is_empty() {
            self.place = place.to_string();
        }
        self
    }

    /// Adds the path of a file as the place of the failure, unless one is known already.
    pub fn at_path(self, path: &Path) -> Self {
        self.at(path.display())
    }

    /// Replaces the place of the failure, if `place` is given.
    pub fn placed(mut self, place: Option<String>) -> Self {
        self.place = place.unwrap_or(self.place);
        self
    }

    /// Puts a wider place before the place of the failure. A failure that prints no place, such as the end by a signal, stays as it is.
    pub fn within(mut self, place: impl fmt::Display) -> Self {
        if !self.quiet && !self.is_signal() {
            let inner = if self.place.is_empty() { String::new() } else { format!(", {}", self.place) };
            self.place = format!("{place}{inner}");
        }
        self
    }

    /// Rewrites what to do about the failure.
    pub fn advise_with(self, rewrite: impl FnOnce(String) -> String) -> Self {
        let advice = rewrite(self.advice);
        Self { advice, ..self }
    }

    /// Replaces a path in the place of the failure with what it is called in messages.
    pub fn renamed(mut self, path: &Path, shown: &Path) -> Self {
        self.place = self.place.replace(&*path.to_string_lossy(), &shown.to_string_lossy());
        self
    }

    /// Adds what to do about the failure.
    pub fn advise(mut self, advice: impl Into<String>) -> Self {
        self.advice = advice.into();
        self
    }

    /// The exit code.
    pub fn exit(&self) -> Exit {
        self.exit
    }

    fn is_signal(&self) -> bool {
        matches!(self.exit, Exit::Hangup | Exit::Interrupt | Exit::Terminate)
    }

    /// Prints the line on standard error, unless the failure is quiet.
    pub fn print(&self) {
        if self.is_signal() {
            signals::leave();
        }
        if !self.quiet {
            // If standard error is closed, only the exit code can report the failure.
            let _ = terminal::error(&format!("{self}\n"));
        }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("lanecast")?;
        let advice = match (self.exit, self.advice.as_str()) {
            (Exit::Format, "") => "get an undamaged copy of the file",
            (_, advice) => advice,
        };
        for part in [&self.what, &self.place, advice] {
            if !part.is_empty() {
                write!(f, ": {}", text::one_line(part))?;
            }
        }
        Ok(())
    }
}

impl From<EnvError> for Failure {
    fn from(error: EnvError) -> Self {
        let what = error.to_string();
        match error {
            EnvError::Unsupported { .. } => Self::unsupported(what).advise("see `lanecast cpu`"),
            _ => Self::usage(what),
        }
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        let exit = match &error {
            Error::Request(_) => Exit::Usage,
            Error::Io(_, io::ErrorKind::BrokenPipe) => Exit::Pipe,
            Error::Io(..) | Error::Exists(_) => Exit::Io,
            Error::Format(_) => Exit::Format,
            Error::Loss(_) => Exit::Loss,
            Error::Cancelled => signals::exit(),
            _ => Exit::Unsupported,
        };
        let mut failure = Self::new(exit, signals::line());
        // The reader closed the pipe and knows it, so there is nothing to print.
        failure.quiet = exit == Exit::Pipe;
        if let Some(Detail { what, place, remedy }) = error.detail() {
            failure = Self { what: what.clone(), place: place.clone(), advice: advice(remedy), ..failure };
        }
        failure
    }
}

impl From<CastError> for Failure {
    fn from(error: CastError) -> Self {
        Error::from(error).into()
    }
}

/// What to do about an error, in terms of the options of this program.
fn advice(remedy: &Remedy) -> String {
    match remedy {
        Remedy::Overwrite => "give --force to replace it".into(),
        Remedy::NameSource => "name its dtype with --from".into(),
        Remedy::OmitSource => "leave out --from".into(),
        Remedy::ChooseFields => "see `lanecast inspect` for its fields, and --from and --include".into(),
        Remedy::OmitPatterns => "leave out --include and --exclude".into(),
        Remedy::Exclude { item, instead: "" } => format!("leave out {item} with --exclude"),
        Remedy::Exclude { item, instead } => format!("{instead}, or leave out {item} with --exclude"),
        Remedy::ListDTypes => "see `lanecast dtypes`".into(),
        Remedy::Rename { near } if near.is_empty() => "see `lanecast inspect` for the names".into(),
        Remedy::ChooseOthers => {
            "see `lanecast inspect` for names and dtypes, and --from and --include".into()
        }
        Remedy::Resume => "give --resume to go on with it, or --force to discard it".into(),
        Remedy::StartAnew => {
            "give the same source and options, or --force without --resume to discard it".into()
        }
        Remedy::AllowNan => "give --allow-nan to decode its codes all the same".into(),
        Remedy::AllowLoss => "cast to a dtype that holds it, or with --on-loss ignore".into(),
        Remedy::Scale => "`lanecast scale` keeps small values; or allow more with --max-underflow".into(),
        Remedy::AllowQuantized => {
            "`lanecast dequantize` decodes the checkpoint; or select other tensors with --from or --exclude, or give --allow-quantized".into()
        }
        Remedy::NameFiles => {
            format!("name the {} files in it, and --out-dir for their results", extensions("and"))
        }
        Remedy::NameFormat => format!("name a {} file, or give --format", extensions("or")),
        other => other.to_string(),
    }
}
