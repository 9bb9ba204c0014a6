//! Errors that callers match on: what went wrong, where, and what to do about it.

use std::{fmt, io, path::Path};

use lanecast::CastError;

use crate::{extensions::extensions, text};

/// The result of everything in this crate that can fail.
pub type Result<T> = std::result::Result<T, Error>;

/// Why a file was not read, cast or written.
#[derive(Debug)]
#[non_exhaustive]
pub enum Error {
    /// The request does not fit the file, or names something that does not exist.
    Request(Detail),
    /// The operating system failed, or a path names no regular file.
    Io(Detail, io::ErrorKind),
    /// The output exists, and may not be replaced.
    Exists(Detail),
    /// The input is invalid: truncated, corrupt or hostile.
    Format(Detail),
    /// The input is valid, but the request is not supported.
    Unsupported(Detail),
    /// A value is outside the range of the target, and [`OnLoss::Refuse`](crate::OnLoss::Refuse) is set.
    Loss(Detail),
    /// The caller cancelled the work. No file was written under the output's name.
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

/// What to do about an error. A program can word the remedies that its own options provide.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Remedy {
    /// No remedy is known.
    #[default]
    None,
    /// A remedy in words.
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
    /// Exclude the `item` (the tensor, the member), or do what `instead` says; `instead` may be empty.
    Exclude {
        /// What to exclude.
        item: &'static str,
        /// Another remedy.
        instead: &'static str,
    },
    /// Cast to a wider dtype, or allow values to be lost.
    AllowLoss,
    /// Scale the values before they are cast, or allow more of them to become zero.
    Scale,
    /// Dequantize the checkpoint, or allow the tensors to be cast as they are.
    AllowQuantized,
    /// Go on with an unfinished output, or discard it.
    Resume,
    /// Repeat what an unfinished output was begun with, or discard it.
    StartAnew,
    /// Allow scales that are NaN or infinite.
    AllowNan,
    /// Say which format the file has.
    NameFormat,
    /// Name the files in the folder.
    NameFiles,
    /// Name one of `near` (possibly empty), or another tensor of the file.
    Rename {
        /// Names that the user may have meant, likeliest first.
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
            Self::OmitSource => f.write_str("leave out the dtype of the source"),
            Self::ChooseFields => f.write_str("choose one of its fields"),
            Self::OmitPatterns => f.write_str("leave out the patterns"),
            Self::Exclude { item, instead: "" } => write!(f, "exclude {item}"),
            Self::Exclude { item, instead } => write!(f, "{instead}, or exclude {item}"),
            Self::AllowLoss => f.write_str("cast to a dtype that holds it, or allow losses"),
            Self::NameFiles => write!(f, "name the {} files in it", extensions("and")),
            Self::Scale => f.write_str("scale the values, or allow more of them to become zero"),
            Self::AllowQuantized => {
                f.write_str("dequantize the checkpoint first, choose other tensors, or set allow_quantized")
            }
            Self::Resume => f.write_str("set resume to go on with it, or replace to discard it"),
            Self::StartAnew => f.write_str(
                "give it the source and the options of that run, or set replace and not resume to discard it",
            ),
            Self::AllowNan => f.write_str("allow NaN and infinity, to read its codes all the same"),
            Self::Rename { near } => match near.as_slice() {
                [] => f.write_str("name a tensor of the file"),
                near => write!(f, "did you mean {}?", either(near)),
            },
            Self::ChooseOthers => f.write_str("choose other names or another dtype"),
            Self::ListDTypes => f.write_str("use a dtype that lanecast knows"),
            Self::NameFormat => write!(f, "name a {} file, or its format", extensions("or")),
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
    /// The remedy for an output that does not fit on the disk.
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

    /// The input is invalid.
    pub(crate) fn format(what: impl Into<String>) -> Self {
        Self::Format(Detail::new(what))
    }

    /// The request is not supported.
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

    /// A path names something that is no folder.
    pub(crate) fn not_a_folder(path: &Path) -> Self {
        Self::Io(Detail::new("not a folder"), io::ErrorKind::NotADirectory)
            .at_path(path)
            .advise("name a folder")
    }

    /// The input is a folder.
    pub(crate) fn folder(path: &Path) -> Self {
        Self::Io(Detail::new("the input is a folder"), io::ErrorKind::IsADirectory)
            .at_path(path)
            .advise(Remedy::NameFiles)
    }

    /// The operating system failed; `doing` says at what, for example "cannot open".
    pub fn system(doing: &str, error: &io::Error) -> Self {
        let what = format!("{doing}: {}", text::io_reason(error));
        Self::Io(Detail { what, remedy: Remedy::of(error.kind()), ..Detail::default() }, error.kind())
    }

    /// Reading an input failed. The input is at fault if it ends early or does not decompress, otherwise the system is.
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

    /// Adds the place of the error, unless one is known already.
    pub fn at(self, place: impl fmt::Display) -> Self {
        self.with(|detail| {
            if detail.place.is_empty() {
                detail.place = place.to_string();
            }
        })
    }

    /// Adds the path of a file as the place of the error, unless one is known already.
    pub fn at_path(self, path: &Path) -> Self {
        self.at(path.display())
    }

    /// Puts the path of the file before the place in it.
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

/// One line: what, where, what to do. Its length is bounded and it has no control characters, even where it quotes a file.
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
            CastError::UnknownName(_) => Self::request(error.to_string()),
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
