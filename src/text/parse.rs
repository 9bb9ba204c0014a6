//! [`ParsePlan`]: texts to elements.

use super::{OnBadText, TextError, TextOptions};
use crate::{BufferType, CastError, CastOptions, Element};
use alloc::vec::Vec;

/// How texts become elements of a buffer type, resolved once and run often.
///
/// It is a few words large, freely copied and shared between threads.
#[derive(Clone, Copy, Debug)]
pub struct ParsePlan {
    to: BufferType,
    on_error: OnBadText,
}

impl ParsePlan {
    /// Resolves the parse to this buffer type. The options that apply to a target hold as in a cast from `float64`, but for
    /// integers: what is out of their range is always an error.
    ///
    /// # Errors
    ///
    /// About the tier, as [`CastPlan::new`](crate::CastPlan::new).
    pub fn new(
        to: impl Into<BufferType>,
        options: &CastOptions,
        text: &TextOptions,
    ) -> Result<ParsePlan, CastError> {
        let _ = options;
        Ok(ParsePlan { to: to.into(), on_error: text.on_error })
    }

    /// What the destination holds.
    pub const fn to(&self) -> BufferType {
        self.to
    }

    /// Parses texts into the elements at the start of `dst` and returns how many there were.
    ///
    /// The buffer may be longer. Unused bits behind the last element of packed storage are written 0; bytes behind it stay as
    /// they are.
    ///
    /// # Errors
    ///
    /// [`TextError`]. The elements in front of the one at fault are written, as if the texts had ended there; what stands behind
    /// them is as it was.
    pub fn run<T: AsRef<[u8]>>(
        &self,
        texts: impl IntoIterator<Item = T>,
        dst: &mut [u8],
    ) -> Result<usize, TextError> {
        let _ = (texts.into_iter(), dst, self.on_error);
        unimplemented!("the next commit")
    }

    /// [`run`](Self::run) of texts that may be missing, with a validity bitmap as Arrow's: bit `i % 8` of byte `i / 8` is 1 if
    /// text `i` is there and good, 0 if it is missing or bad. The element of a missing text is 0.
    ///
    /// What a bad text does is for [`OnBadText`] to say; its bit is 0 in every case. Bits behind the last element are written 0.
    /// Returns the numbers of elements and of nulls.
    ///
    /// # Errors
    ///
    /// As [`run`](Self::run); [`TextError::MaskTooSmall`] if the bitmap is too short.
    pub fn run_masked<T: AsRef<[u8]>>(
        &self,
        texts: impl IntoIterator<Item = Option<T>>,
        dst: &mut [u8],
        validity: &mut [u8],
    ) -> Result<(usize, usize), TextError> {
        let _ = (texts.into_iter(), dst, validity);
        unimplemented!("the next commit")
    }

    /// [`run`](Self::run) into a new vector. `D` has to be the element of the plan.
    ///
    /// # Errors
    ///
    /// As [`run`](Self::run), and [`CastError::WrongElement`] if the plan is for another dtype or for packed storage.
    pub fn run_to_vec<T: AsRef<[u8]>, D: Element>(
        &self,
        texts: impl IntoIterator<Item = T>,
    ) -> Result<Vec<D>, TextError> {
        let _ = texts.into_iter();
        unimplemented!("the next commit")
    }
}

/// Parses every text to an element, with the default options.
///
/// # Errors
///
/// [`TextError::Text`] names the first text that does not parse.
pub fn parse<D: Element>(texts: &[impl AsRef<[u8]>]) -> Result<Vec<D>, TextError> {
    ParsePlan::new(D::DTYPE, &CastOptions::RUST, &TextOptions::DEFAULT)?.run_to_vec(texts)
}
