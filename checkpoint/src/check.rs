//! [`check`](check()): all that is wrong with a checkpoint, and what a loader cannot read.
//!
//! *Law.* All findings are reported, not only the first. A finding names the file, the tensor, what is wrong, and what to do.
//!
//! *Method.* The checkpoint is opened as [`Checkpoint::open`](crate::Checkpoint::open) opens it, but faulty parts are set aside
//! ([`Faults`]). What is left is examined: `scales` reads the scales of every weight, `fused` compares weights that loaders
//! concatenate, `declared` compares the configuration and the index with the tensors, and `loaders` has the table of layouts and loaders.

mod declared;
mod fused;
mod gguf;
mod loaders;
mod scales;
mod skipped;

use std::{fmt, path::Path};

use lanecast_files::{Error, Remedy, Result, text::one_line};
use serde::Serialize;

use crate::{
    checkpoint::{Checkpoint, Content, Tensor},
    error::parts,
    faults::Faults,
    source::Stored,
};

pub use loaders::Loader;

/// What kind of fault a finding is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Kind {
    /// A file cannot be read.
    Unreadable,
    /// A part is missing, damaged or unexpected, or the configuration and the tensors disagree.
    Invalid,
    /// The layout, or an option of it, is not decoded by this crate.
    Unsupported,
    /// Readers may understand the checkpoint differently.
    Ambiguous,
    /// A scale, a bias or an entry of a table is NaN or infinite.
    NotFinite,
    /// A scale is zero, and its block has codes other than zero.
    ZeroScale,
    /// Weights that loaders concatenate are stored differently, or have unequal global scales.
    FusedSet,
    /// The index states another size than the tensors have.
    TotalSize,
    /// The configuration declares static activations, and their scale is missing or is 1.
    ActivationScale,
    /// The configuration declares a quantized cache, and its scales are missing.
    CacheScale,
    /// Two files describe the quantization differently.
    Configuration,
    /// The list of modules that are not quantized does not fit the tensors, as the loader matches names.
    SkipList,
    /// The loader does not read the layout, or reads other values.
    Loader,
}

/// How severe a finding is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Severity {
    /// The checkpoint does not load, or has wrong values.
    Error,
    /// The checkpoint loads, and some of its values may not be what is expected.
    Warning,
}

/// One thing that is wrong.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Finding {
    /// What kind of fault it is.
    pub kind: Kind,
    /// How severe it is.
    pub severity: Severity,
    /// The path of the file, if one file is at fault.
    pub file: Option<String>,
    /// The name of the tensor as the file has it, if one tensor is at fault.
    pub tensor: Option<String>,
    /// What is wrong.
    pub what: String,
    /// What to do about it; empty if nothing is known.
    pub remedy: String,
}

impl fmt::Display for Finding {
    /// One line: `error: FILE, tensor "NAME": what is wrong: what to do`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let severity = match self.severity {
            Severity::Error => "error",
            Severity::Warning => "warning",
        };
        let tensor = self.tensor.as_ref().map(|name| format!("tensor \"{name}\""));
        let place: Vec<&str> = [&self.file, &tensor].into_iter().flatten().map(String::as_str).collect();
        let place = place.join(", ");
        f.write_str(severity)?;
        for part in [&place, &self.what, &self.remedy] {
            if !part.is_empty() {
                write!(f, ": {}", one_line(part))?;
            }
        }
        Ok(())
    }
}

/// The result of [`check`](check()).
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Checked {
    /// The layout of the weights, as [`Checkpoint::layout`](crate::Checkpoint::layout) names it.
    pub layout: String,
    /// The loader of the request, by its name and version.
    pub loader: Option<String>,
    /// Tensors of the files, with scales and other companions.
    pub tensors: usize,
    /// Weights with codes that were recognised.
    pub weights: usize,
    /// What is wrong.
    pub findings: Vec<Finding>,
}

/// Checks a checkpoint, and whether a loader reads it: partners, dtypes and shapes, the configuration and the index, scales that are zero or
/// not finite, and unequal global scales of weights that loaders concatenate.
///
/// It reads headers, scales and configurations. It reads codes only where a scale is zero, and GGUF files as a whole, because their scales are
/// among the codes.
///
/// ```no_run
/// use lanecast_checkpoint::{Loader, check};
/// for finding in check("DeepSeek-V3".as_ref(), Some(Loader::Vllm))?.findings {
///     println!("{finding}");
/// }
/// # Ok::<(), lanecast_checkpoint::Error>(())
/// ```
///
/// # Errors
///
/// [`Io`](crate::Error::Io) if `path` cannot be opened. Whatever is wrong inside the checkpoint is a [`Finding`].
pub fn check(path: &Path, loader: Option<Loader>) -> Result<Checked> {
    let mut faults = Faults::collected();
    let checkpoint = Checkpoint::open_with(path, &mut faults)?;
    let mut findings: Vec<Finding> = faults.into_errors().into_iter().map(of_error).collect();
    findings.extend(checkpoint.warnings().iter().map(|warning| of_warning(warning)));
    let subject = Subject { checkpoint: &checkpoint, loader };
    scales::check(&subject, &mut findings);
    fused::check(&subject, &mut findings);
    declared::check(&subject, &mut findings);
    skipped::check(&subject, &mut findings);
    loaders::check(&subject, &mut findings);
    let weights = checkpoint.contents.iter().filter(|content| !matches!(content, Content::Plain(_))).count();
    Ok(Checked {
        layout: checkpoint.layout().to_owned(),
        loader: loader.map(|loader| loader.title().to_owned()),
        tensors: checkpoint.source.tensors.len(),
        weights,
        findings,
    })
}

/// What is checked.
struct Subject<'a> {
    checkpoint: &'a Checkpoint,
    loader: Option<Loader>,
}

impl<'a> Subject<'a> {
    /// The tensors, and where their values come from.
    fn contents(&self) -> impl Iterator<Item = (&'a Tensor, &'a Content)> + use<'a> {
        self.checkpoint.tensors().iter().zip(&self.checkpoint.contents)
    }

    /// The stored tensor of the values or codes.
    fn stored(&self, content: &Content) -> &'a Stored {
        &self.checkpoint.source.tensors[content.id()]
    }

    /// A finding about a tensor.
    fn finding(
        &self,
        kind: Kind,
        severity: Severity,
        tensor: &Stored,
        what: String,
        remedy: &str,
    ) -> Finding {
        let file = self.checkpoint.source.files[tensor.file].path.display().to_string();
        let tensor = Some(tensor.name.clone());
        Finding { kind, severity, file: Some(file), tensor, what, remedy: remedy.to_owned() }
    }

    /// A finding about a file.
    fn about(&self, kind: Kind, severity: Severity, file: &Path, what: String, remedy: &str) -> Finding {
        let file = Some(file.display().to_string());
        Finding { kind, severity, file, tensor: None, what, remedy: remedy.to_owned() }
    }
}

fn of_error(error: Error) -> Finding {
    let kind = match &error {
        Error::Io(..) => Kind::Unreadable,
        Error::Unsupported(_) => Kind::Unsupported,
        _ => Kind::Invalid,
    };
    let (what, place, remedy) = match error.detail() {
        Some(detail) => (detail.what.clone(), &*detail.place, &detail.remedy),
        None => (error.to_string(), "", &Remedy::None),
    };
    let ((file, tensor), remedy) = (parts(place), remedy.to_string());
    Finding { kind, severity: Severity::Error, file, tensor, what, remedy }
}

/// A warning begins with its place if it is about a tensor.
fn of_warning(warning: &str) -> Finding {
    let place = warning.find(", tensor \"").and_then(|start| {
        let end = start + warning[start..].find("\": ")?;
        Some((&warning[..=end], &warning[end + 3..]))
    });
    let (place, what) = place.unwrap_or(("", warning));
    let (file, tensor) = parts(place);
    let remedy = "check that the loader reads it as described".to_owned();
    Finding {
        kind: Kind::Ambiguous,
        severity: Severity::Warning,
        file,
        tensor,
        what: what.to_owned(),
        remedy,
    }
}
