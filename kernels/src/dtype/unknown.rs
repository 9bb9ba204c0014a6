//! The error for an unknown name.

use alloc::{borrow::Cow, string::String, vec::Vec};
use core::fmt;

/// The error for a name that no dtype, tier or other named thing has.
///
/// ```
/// # use lanecast_kernels as lanecast;
/// use lanecast::{DType, Tier};
/// let error = "floot32".parse::<DType>().unwrap_err();
/// assert_eq!(error.to_string(), "unknown dtype \"floot32\"; did you mean float32");
/// let error = "sse2".parse::<Tier>().unwrap_err();
/// assert_eq!(error.to_string(), "unknown tier \"sse2\"; the names are scalar, avx2, avx512, neon, wasm128");
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct UnknownName {
    /// The name that was given.
    pub name: String,
    /// What was looked up: `"dtype"`, `"tier"`, or `"numpy dtype"` for a name in another system.
    pub of: Cow<'static, str>,
    /// For dtypes, up to three canonical names within two edits of the name (within one edit for names of two or three bytes), the nearest
    /// first.
    pub near: Vec<&'static str>,
    /// All known names; empty for dtypes, which are many.
    pub known: Vec<&'static str>,
}

impl UnknownName {
    #[doc(hidden)]
    pub fn new(of: impl Into<Cow<'static, str>>, name: &str, known: Vec<&'static str>) -> Self {
        Self { name: name.into(), of: of.into(), near: Vec::new(), known }
    }
}

impl fmt::Display for UnknownName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "unknown {} {:?}", self.of, self.name)?;
        for (i, near) in self.near.iter().enumerate() {
            write!(f, "{}{near}", if i == 0 { "; did you mean " } else { " or " })?;
        }
        for (i, known) in self.known.iter().enumerate() {
            write!(f, "{}{known}", if i == 0 { "; the names are " } else { ", " })?;
        }
        if self.near.is_empty() && self.known.is_empty() {
            f.write_str("; DType::ALL and `lanecast dtypes` list the known ones")?;
        }
        Ok(())
    }
}

impl core::error::Error for UnknownName {}
