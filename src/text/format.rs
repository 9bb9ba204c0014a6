//! [`FormatPlan`]: elements to texts.

use super::{Strings, TextOptions};
use crate::{BufferType, CastError, Element};
use alloc::vec::Vec;

/// How elements of a buffer type become texts, resolved once and run often.
///
/// It is a few words large, freely copied and shared between threads.
#[derive(Clone, Copy, Debug)]
pub struct FormatPlan {
    from: BufferType,
    options: TextOptions,
}

impl FormatPlan {
    /// Resolves the format of this buffer type.
    ///
    /// # Errors
    ///
    /// About the tier, as [`CastPlan::new`](crate::CastPlan::new).
    pub fn new(from: impl Into<BufferType>, options: &TextOptions) -> Result<FormatPlan, CastError> {
        Ok(FormatPlan { from: from.into(), options: *options })
    }

    /// What the source holds.
    pub const fn from(&self) -> BufferType {
        self.from
    }

    /// Formats the first `n` elements of `src`.
    ///
    /// # Errors
    ///
    /// [`CastError::BufferTooSmall`] or [`CastError::TooLarge`].
    pub fn run(&self, src: &[u8], n: usize) -> Result<Strings, CastError> {
        let mut out = Strings::new();
        self.run_into(src, n, &mut out)?;
        Ok(out)
    }

    /// [`run`](Self::run), with the texts added to others.
    ///
    /// # Errors
    ///
    /// As [`run`](Self::run); then nothing is added.
    pub fn run_into(&self, src: &[u8], n: usize, out: &mut Strings) -> Result<(), CastError> {
        let _ = (src, n, out, self.options);
        unimplemented!("the next commit")
    }

    /// Appends the text of one element, the first of `src`.
    ///
    /// # Errors
    ///
    /// As [`run`](Self::run); then nothing is added.
    pub fn run_one(&self, src: &[u8], out: &mut Vec<u8>) -> Result<(), CastError> {
        let _ = (src, out);
        unimplemented!("the next commit")
    }

    /// Formats a slice.
    ///
    /// # Errors
    ///
    /// [`CastError::WrongElement`] if the plan is for another dtype or for packed storage.
    pub fn run_slice<S: Element>(&self, src: &[S]) -> Result<Strings, CastError> {
        let _ = src;
        unimplemented!("the next commit")
    }
}

/// Formats every element, with the default options.
///
/// # Errors
///
/// Only about the tier, if `LANECAST_TIER` asks for one that is not to be had.
pub fn format<S: Element>(src: &[S]) -> Result<Strings, CastError> {
    FormatPlan::new(S::DTYPE, &TextOptions::DEFAULT)?.run_slice(src)
}
