//! Errors that callers match on: what went wrong, where, and what to do about it.

use std::{fmt, io, path::Path};

use lanecast::CastError;

use crate::text;

/// The result of everything in this crate that can fail.
pub type Result<T> = std::result::Result<T, Error>;

/// Why a file was not read, cast or written.
#[derive(Debug)]
#[non_exhaustive]
pub enum Error {
    /// The request does not fit the file, or asks for something that does not exist.
    Request(Detail),
    /// The operating system failed, or a path names no regular file.
    Io(Detail, io::ErrorKind),
    /// The output exists, and may not be replaced.
    Exists(Detail),
    /// The input is not what it has to be: truncated, corrupt or hostile.
    Format(Detail),
    /// The input is sound, but what is asked for is not supported.
    Unsupported(Detail),
    /// A value is outside the range of the target, and [`OnLoss::Refuse`](crate::OnLoss::Refuse) refuses those.
    Loss(Detail),
    /// The caller stopped the work. Nothing was written under the name of the output.
    Cancelled,
}

/// The parts of a message.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Detail {
    /// What went wrong.
    pub what: String,
    /// Where: a path, a tensor, or both. Empty if it is not known.
    pub place: String,
    /// What to do about it.
    pub remedy: Remedy,
}

/// What to do about an error. A program words those that its own options provide.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Remedy {
    /// Nothing is known to help.
    #[default]
    None,
    /// This helps.
    Text(String),
    /// Allow the output to be replaced.
    Overwrite,
    /// Give the dtype of the source.
    NameSource,
    /// Leave out the dtype of the source.
    OmitSource,
    /// Choose other fields of a structured array.
    ChooseFields,
    /// Select by dtype only.
    OmitPatterns,
    /// Exclude what `item` names (the tensor, the member), or do what `instead` says, which may be empty.
    Exclude {
        /// What to exclude.
        item: &'static str,
        /// What helps, too.
        instead: &'static str,
    },
    /// Cast to a wider dtype, or allow values to be lost.
    AllowLoss,
    /// Say which format the file has.
    NameFormat,
    /// Name one of `near`, which may be empty, or another tensor of the file.
    Rename {
        /// Names that may be meant, the likeliest first.
        near: Vec<String>,
    },
    /// Choose tensors by other names or another dtype.
    ChooseOthers,
    /// Name a dtype that exists.
    ListDTypes,
}

impl fmt::Display for Remedy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::None => Ok(()),
            Self::Text(text) => f.write_str(text),
            Self::Overwrite => f.write_str("allow it to be replaced"),
            Self::NameSource => f.write_str("name its dtype"),
            Self::OmitSource => f.write_str("leave the dtype of the source out"),
            Self::ChooseFields => f.write_str("choose one of its fields"),
            Self::OmitPatterns => f.write_str("leave the patterns out"),
            Self::Exclude { item, instead: "" } => write!(f, "exclude {item}"),
            Self::Exclude { item, instead } => write!(f, "{instead}, or exclude {item}"),
            Self::AllowLoss => f.write_str("cast to a dtype that holds it, or allow losses"),
            Self::Rename { near } => match near.as_slice() {
                [] => f.write_str("name a tensor of the file"),
                near => write!(f, "did you mean {}?", either(near)),
            },
            Self::ChooseOthers => f.write_str("choose other names or another dtype"),
            Self::ListDTypes => f.write_str("use a dtype that lanecast knows"),
            Self::NameFormat => write!(f, "name a {} file, or its format", crate::formats::extensions("or")),
        }
    }
}

/// `a, b or c`
fn either(names: &[String]) -> String {
    match names.split_last() {
        Some((last, [])) => last.clone(),
        Some((last, rest)) => format!("{} or {last}", rest.join(", ")),
        None => String::new(),
    }
}

impl Remedy {
    /// What helps where there is no room for an output.
    fn of(kind: io::ErrorKind) -> Self {
        match kind {
            io::ErrorKind::StorageFull => "free space on that disk, or write to another one".into(),
            io::ErrorKind::QuotaExceeded => "free some of your quota, or write to another disk".into(),
            io::ErrorKind::FileTooLarge => {
                "raise the limit on the size of files, `ulimit -f`, or write to another file system".into()
            }
            _ => Self::None,
        }
    }
}

impl From<&str> for Remedy {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

impl Detail {
    fn new(what: impl Into<String>) -> Self {
        Self { what: what.into(), ..Self::default() }
    }
}

impl Error {
    /// The request is wrong.
    pub(crate) fn request(what: impl Into<String>) -> Self {
        Self::Request(Detail::new(what))
    }

    /// The input is not what it has to be.
    pub(crate) fn format(what: impl Into<String>) -> Self {
        Self::Format(Detail::new(what))
    }

    /// What is asked for is not supported.
    pub(crate) fn unsupported(what: impl Into<String>) -> Self {
        Self::Unsupported(Detail::new(what))
    }

    /// A value does not fit.
    pub(crate) fn loss(what: impl Into<String>) -> Self {
        Self::Loss(Detail::new(what)).advise(Remedy::AllowLoss)
    }

    /// A path names something that cannot be used.
    pub(crate) fn not_a_file(path: &Path) -> Self {
        Self::Io(Detail::new("not a regular file"), io::ErrorKind::InvalidInput)
            .at_path(path)
            .advise("name a file")
    }

    /// The operating system refused to `doing`, for example "cannot open".
    pub fn system(doing: &str, error: &io::Error) -> Self {
        let what = format!("{doing}: {}", text::io_reason(error));
        Self::Io(Detail { what, remedy: Remedy::of(error.kind()), ..Detail::default() }, error.kind())
    }

    /// Reading an input failed: the input's fault if it ends early or does not decompress, else the system's.
    pub fn reading(error: &io::Error) -> Self {
        if error.raw_os_error().is_some() {
            return Self::system("cannot read", error);
        }
        match error.kind() {
            io::ErrorKind::UnexpectedEof => Self::format("the file ends early"),
            _ => Self::format(format!("corrupt data, {}", text::io_reason(error))),
        }
    }

    /// Writing an output failed.
    pub fn writing(error: &io::Error) -> Self {
        Self::system("cannot write", error)
    }

    /// What went wrong, where, and what to do; `None` if the work was cancelled.
    pub fn detail(&self) -> Option<&Detail> {
        match self {
            Self::Request(detail)
            | Self::Io(detail, _)
            | Self::Exists(detail)
            | Self::Format(detail)
            | Self::Unsupported(detail)
            | Self::Loss(detail) => Some(detail),
            Self::Cancelled => None,
        }
    }

    fn with(mut self, change: impl FnOnce(&mut Detail)) -> Self {
        match &mut self {
            Self::Request(detail)
            | Self::Io(detail, _)
            | Self::Exists(detail)
            | Self::Format(detail)
            | Self::Unsupported(detail)
            | Self::Loss(detail) => change(detail),
            Self::Cancelled => {}
        }
        self
    }

    /// Adds where it happened, if that is not known yet.
    pub fn at(self, place: impl fmt::Display) -> Self {
        self.with(|detail| {
            if detail.place.is_empty() {
                detail.place = place.to_string();
            }
        })
    }

    /// Adds where it happened, as the path of a file.
    pub fn at_path(self, path: &Path) -> Self {
        self.at(path.display())
    }

    /// Puts the file `path` before the place in it.
    pub fn in_path(self, path: &Path) -> Self {
        self.with(|detail| {
            detail.place = match detail.place.as_str() {
                "" => path.display().to_string(),
                inner => format!("{}, {inner}", path.display()),
            };
        })
    }

    pub(crate) fn advise(self, remedy: impl Into<Remedy>) -> Self {
        self.with(|detail| detail.remedy = remedy.into())
    }
}

/// One line: what, where, what to do. Whatever a file put into it, it is bounded and has no control characters.
impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Some(detail) = self.detail() else {
            return f.write_str("cancelled");
        };
        f.write_str(&text::one_line(&detail.what))?;
        for part in [&detail.place, &detail.remedy.to_string()] {
            if !part.is_empty() {
                write!(f, ": {}", text::one_line(part))?;
            }
        }
        Ok(())
    }
}

impl std::error::Error for Error {}

impl From<CastError> for Error {
    fn from(error: CastError) -> Self {
        match error {
            CastError::Rejected(_) => Self::loss(error.to_string()),
            CastError::UnknownTier(_) => Self::request(error.to_string()),
            _ => Self::unsupported(error.to_string()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A quota cannot be set up by a test.
    #[test]
    #[cfg(target_os = "linux")]
    fn no_room_has_a_remedy() {
        for (code, remedy) in [(28, "free space"), (122, "your quota"), (27, "ulimit -f")] {
            let error = Error::writing(&io::Error::from_raw_os_error(code)).at("out.npy").to_string();
            assert!(error.starts_with("cannot write: ") && error.contains(remedy), "{error}");
        }
    }
}
