//! The errors of this crate, which are the errors of `lanecast-files`.

use lanecast_files::{Detail, Error, Remedy};

use crate::source::{Source, Stored};

fn detail(what: impl Into<String>) -> Detail {
    Detail { what: what.into(), ..Detail::default() }
}

/// The checkpoint is invalid: its parts disagree, or one is missing.
pub(crate) fn invalid(what: impl Into<String>) -> Error {
    let remedy = Remedy::Text("check that all files are of the same checkpoint".to_owned());
    Error::Format(Detail { remedy, ..detail(what) })
}

/// A scale or what a value is made of is NaN or infinite.
pub(crate) fn not_finite(what: impl Into<String>) -> Error {
    Error::Format(Detail { remedy: Remedy::AllowNan, ..detail(what) })
}

/// The checkpoint is valid, and this crate does not decode it.
pub(crate) fn unsupported(what: impl Into<String>) -> Error {
    Error::Unsupported(detail(what))
}

/// A file that a program wrote is damaged; `remedy` says what to do.
pub(crate) fn damaged(what: impl Into<String>, remedy: &str) -> Error {
    Error::Format(Detail { remedy: Remedy::Text(remedy.to_owned()), ..detail(what) })
}

/// A file is valid, and this crate does not read it; `remedy` says what to do.
pub(crate) fn refused(what: impl Into<String>, remedy: &str) -> Error {
    Error::Unsupported(Detail { remedy: Remedy::Text(remedy.to_owned()), ..detail(what) })
}

/// A value would be lost.
pub(crate) fn lost(what: impl Into<String>) -> Error {
    Error::Loss(detail(what))
}

/// The request does not fit the checkpoint.
pub(crate) fn request(what: impl Into<String>) -> Error {
    Error::Request(detail(what))
}

/// The request does not fit the checkpoint; `remedy` says what to do.
pub(crate) fn request_with(what: impl Into<String>, remedy: &str) -> Error {
    Error::Request(Detail { remedy: Remedy::Text(remedy.to_owned()), ..detail(what) })
}

/// What makes one file of a checkpoint of several.
pub(crate) const MERGE: &str = "merge the files first: convert with a max_shard_size (--max-shard-size) that is larger than the checkpoint";

/// The place of a tensor, for a message.
pub(crate) trait At {
    /// Adds the file and the name of a tensor as the place of the error.
    fn tensor(self, source: &Source, tensor: &Stored) -> Self;
}

impl At for Error {
    fn tensor(self, source: &Source, tensor: &Stored) -> Self {
        let name = lanecast_files::text::one_line(&tensor.name);
        self.at(format!("{}, tensor \"{name}\"", source.files[tensor.file].path.display()))
    }
}

/// The parts of a place: the file and the tensor.
pub(crate) fn parts(place: &str) -> (Option<String>, Option<String>) {
    let of = |text: &str| (!text.is_empty()).then(|| text.to_owned());
    let tensor = |text: &str| text.strip_suffix('"').and_then(of);
    match place.split_once(", tensor \"") {
        Some((file, rest)) => (of(file), tensor(rest)),
        None => match place.strip_prefix("tensor \"") {
            Some(rest) => (None, tensor(rest)),
            None => (of(place), None),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_have_a_file_and_a_tensor() {
        let both = |file: &str, tensor: &str| (Some(file.to_owned()), Some(tensor.to_owned()));
        assert_eq!(parts("a/b.safetensors, tensor \"m.up\""), both("a/b.safetensors", "m.up"));
        assert_eq!(parts("tensor \"m.up\""), (None, Some("m.up".to_owned())));
        assert_eq!(parts("a, b.json"), (Some("a, b.json".to_owned()), None));
        assert_eq!(parts(""), (None, None));
    }
}
