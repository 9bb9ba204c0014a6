//! Casts that reject, mark or count values that their target cannot hold.
//!
//! A plain cast is total: it silently clamps, wraps or rounds. A *checked* cast returns an error for the first element that
//! does not fit, or marks such elements in a validity bitmap. A *counting* cast is a plain one that reports how many values it
//! lost, and how. [`semantics`](crate::semantics), section 11, defines what counts as lost.
//!
//! Each block is cast and then tested for losses in vector code while it is in the first-level cache. So if nothing is rejected,
//! a checked cast costs little more than a plain one, and nothing more if the buffers are larger than the last-level cache. The
//! reported element is always the first, even if the cast runs on several threads.

mod rejection;
mod report;

pub use rejection::{Reason, Rejection, Value};
pub use report::{CastReport, CountingPlan};

use crate::{CastError, CastOptions, CastPlan, Element, Encoding, Streaming};
use alloc::vec::Vec;
use core::{
    fmt,
    hash::{Hash, Hasher},
};
use lanecast_kernels::{LossDetector, Lost};

/// What a checked cast rejects.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Level {
    /// Values outside the range of the target: a number or an infinity that would be clamped, reduced modulo the range, or become an
    /// infinity or NaN; NaN where the target has none; an imaginary part that is not zero.
    ///
    /// ```
    /// use lanecast::{CastError, Level, try_cast};
    /// let mut out = [0_u8; 3];
    /// assert!(try_cast(&[0.5_f32, 255.9, -0.0], &mut out, Level::Range).is_ok());
    /// let Err(CastError::Rejected(found)) = try_cast(&[1.0_f32, -1.0, 256.0], &mut out, Level::Range) else {
    ///     panic!("-1 is no uint8")
    /// };
    /// assert_eq!(found.index, 1);
    /// ```
    Range,
    /// These, and every nonzero value that becomes zero: below the subnormal numbers of a float target, or so small that the rounding of
    /// an integer target drops all of it.
    ///
    /// ```
    /// use lanecast::{CastError, Level, Reason, try_cast};
    /// let mut out = [0_i8; 3];
    /// assert!(try_cast(&[0.0_f32, 1.5, -2.0], &mut out, Level::Underflow).is_ok());
    /// let Err(CastError::Rejected(found)) = try_cast(&[0.0_f32, 1.5, 0.02], &mut out, Level::Underflow) else {
    ///     panic!("0.02 becomes 0")
    /// };
    /// assert_eq!((found.index, found.reason), (2, Reason::Underflow));
    /// ```
    Underflow,
    /// These, and every value that the target cannot represent exactly: it would be rounded, lose its fraction, or become zero.
    /// A NaN that stays NaN and a lost sign of zero are not rejected.
    Exact,
}

/// A cast that rejects values that its target cannot hold; made by [`CastPlan::checked`].
///
/// A cast to bool rejects nothing: every value is either zero or not.
///
/// Two checked plans are equal if their plain plans and levels are equal.
#[derive(Clone, Copy)]
pub struct CheckedPlan {
    plan: CastPlan,
    level: Level,
    detector: LossDetector,
}

impl PartialEq for CheckedPlan {
    fn eq(&self, other: &Self) -> bool {
        (self.plan, self.level) == (other.plan, other.level)
    }
}

impl Eq for CheckedPlan {}

impl Hash for CheckedPlan {
    fn hash<H: Hasher>(&self, state: &mut H) {
        (self.plan, self.level).hash(state);
    }
}

impl CastPlan {
    /// The same cast, with values rejected according to `level`.
    ///
    /// ```
    /// use lanecast::{CastError, CastOptions, CastPlan, DType, Level, Reason};
    /// let plan = CastPlan::new(DType::Int32, DType::Float32, &CastOptions::RUST)?.checked(Level::Exact);
    /// let mut out = [0.0_f32; 3];
    /// let Err(CastError::Rejected(found)) = plan.run_slice(&[1, 16777217, 16777219], &mut out) else {
    ///     panic!("float32 has 24 bits")
    /// };
    /// assert_eq!((found.index, found.reason), (1, Reason::Inexact));
    /// # Ok::<(), lanecast::CastError>(())
    /// ```
    pub fn checked(&self, level: Level) -> CheckedPlan {
        let detector = self.detector(level == Level::Exact, level == Level::Underflow);
        CheckedPlan { plan: *self, level, detector }
    }
}

impl CheckedPlan {
    /// The plain cast.
    pub const fn plan(&self) -> &CastPlan {
        &self.plan
    }

    /// The same cast, with non-temporal stores as `streaming` says; see [`CastPlan::with_streaming`].
    #[must_use]
    pub fn with_streaming(self, streaming: Streaming) -> CheckedPlan {
        CheckedPlan {
            plan: self.plan.with_streaming(streaming),
            detector: self.detector.with_streaming(streaming),
            ..self
        }
    }

    pub(crate) const fn detector(&self) -> &LossDetector {
        &self.detector
    }

    /// Whether no element of the pair can be rejected.
    pub const fn accepts_all(&self) -> bool {
        self.detector.is_idle()
    }

    /// Casts the first `n` elements of `src` to the first `n` of `dst`, as [`CastPlan::run`].
    ///
    /// # Errors
    ///
    /// [`CastError::Rejected`] with the first element that does not fit; then each element of `dst` before it has either been
    /// cast or is unchanged, and those from it on are unspecified. Otherwise as [`CastPlan::run`]; then nothing is written.
    pub fn run(&self, src: &[u8], dst: &mut [u8], n: usize) -> Result<(), CastError> {
        match self.detector.run(src, dst, n) {
            None => Err(self.plan.shortage(src.len(), dst.len(), n)),
            Some(Some(lost)) => Err(self.rejected(&lost)),
            Some(None) => Ok(()),
        }
    }

    /// Casts the first `n` elements of `src` to the first `n` of `dst` and marks which of them fit: bit `i % 8` (counted from the
    /// lowest) of byte `i / 8` of `validity` becomes 1 if element `i` fits and 0 if it is rejected, as in Arrow. A rejected element
    /// is cast as by the plain cast.
    ///
    /// The bitmap is overwritten; to keep elements that were missing before, combine both bitmaps with a bitwise and. The unused
    /// bits of the last byte become 0; bytes after it are not written. Returns how many elements were rejected.
    ///
    /// # Errors
    ///
    /// [`CastError::ValidityTooSmall`], or as [`CastPlan::run`]; then nothing is written.
    pub fn run_masked(
        &self,
        src: &[u8],
        dst: &mut [u8],
        validity: &mut [u8],
        n: usize,
    ) -> Result<usize, CastError> {
        let have = (src.len(), dst.len());
        let lengths = (self.plan.source().byte_len(n), self.plan.target().byte_len(n));
        if !matches!(lengths, (Some(src), Some(dst)) if src <= have.0 && dst <= have.1) {
            return Err(self.plan.shortage(have.0, have.1, n));
        }
        let validity = all_valid(validity, n)?;
        let ran = self.detector.run_masked(src, dst, validity, n);
        ran.ok_or_else(|| self.plan.shortage(have.0, have.1, n))
    }

    /// [`run`](Self::run) from a slice of elements to another of the same length.
    ///
    /// # Errors
    ///
    /// [`CastError::Rejected`] as [`run`](Self::run), or as [`CastPlan::run_slice`].
    pub fn run_slice<S: Element, D: Element>(&self, src: &[S], dst: &mut [D]) -> Result<(), CastError> {
        match self.detector.run_elements(src, dst) {
            None => Err(self.plan.mismatch::<S, D>(src.len(), dst.len())),
            Some(Some(lost)) => Err(self.rejected(&lost)),
            Some(None) => Ok(()),
        }
    }

    /// [`run_slice`](Self::run_slice) into a new vector.
    ///
    /// # Errors
    ///
    /// [`CastError::Rejected`], or [`CastError::WrongElement`] as [`CastPlan::run_slice`].
    pub fn run_to_vec<S: Element, D: Element>(&self, src: &[S]) -> Result<Vec<D>, CastError> {
        match self.detector.run_to_vec(src) {
            None => Err(self.plan.mismatch::<S, D>(src.len(), src.len())),
            Some(ran) => ran.map_err(|lost| self.rejected(&lost)),
        }
    }

    /// [`run_masked`](Self::run_masked) from a slice of elements to another of the same length.
    ///
    /// # Errors
    ///
    /// [`CastError::ValidityTooSmall`], or as [`CastPlan::run_slice`]; then nothing is written.
    pub fn run_slice_masked<S: Element, D: Element>(
        &self,
        src: &[S],
        dst: &mut [D],
        validity: &mut [u8],
    ) -> Result<usize, CastError> {
        let len = dst.len();
        let fits =
            self.plan.source() == Encoding::new(S::DTYPE) && self.plan.target() == Encoding::new(D::DTYPE);
        if !fits || src.len() != len {
            return Err(self.plan.mismatch::<S, D>(src.len(), len));
        }
        let validity = all_valid(validity, len)?;
        let ran = self.detector.run_elements_masked(src, dst, validity);
        ran.ok_or_else(|| self.plan.mismatch::<S, D>(src.len(), len))
    }

    #[cold]
    pub(crate) fn rejected(&self, lost: &Lost) -> CastError {
        CastError::Rejected(Rejection::new(lost, self.plan.source().dtype(), self.plan.target().dtype()))
    }
}

impl fmt::Debug for CheckedPlan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "CheckedPlan({:?})", self.plan)
    }
}

/// The bytes of `validity` for `n` elements, with all elements marked as valid.
pub(crate) fn all_valid(validity: &mut [u8], n: usize) -> Result<&mut [u8], CastError> {
    let (need, have) = (n.div_ceil(8), validity.len());
    let bits = validity.get_mut(..need).ok_or(CastError::ValidityTooSmall { need, have })?;
    bits.fill(0xFF);
    if let (Some(last), 1..) = (bits.last_mut(), n % 8) {
        *last = 0xFF >> (8 - n % 8);
    }
    Ok(bits)
}

/// [`cast`](crate::cast) that rejects values according to `level`, with the default options.
///
/// # Errors
///
/// [`CastError::Rejected`] with the first element that does not fit; then each element of `dst` before it has either been cast or
/// is unchanged, and those from it on are unspecified. Otherwise as [`cast`](crate::cast); then nothing is written.
pub fn try_cast<S: Element, D: Element>(src: &[S], dst: &mut [D], level: Level) -> Result<(), CastError> {
    try_cast_with(src, dst, level, &CastOptions::RUST)
}

/// [`try_cast`] with other options. Their rounding decides which values are in range; a value out of range is rejected whether
/// the options would clamp it or make it infinite.
///
/// # Errors
///
/// As [`try_cast`].
pub fn try_cast_with<S: Element, D: Element>(
    src: &[S],
    dst: &mut [D],
    level: Level,
    options: &CastOptions,
) -> Result<(), CastError> {
    CastPlan::new(S::DTYPE, D::DTYPE, options)?.checked(level).run_slice(src, dst)
}

/// [`try_cast`] into a new vector.
///
/// ```
/// use lanecast::{Level, half::f16, try_cast_to_vec};
/// let halves: Vec<f16> = try_cast_to_vec(&[1.0_f64, -0.5], Level::Exact)?;
/// assert_eq!(halves, [f16::ONE, f16::from_f32(-0.5)]);
/// let error = try_cast_to_vec::<f64, f16>(&[1.0, 1e9], Level::Range).unwrap_err();
/// assert_eq!(error.to_string(), "element 1, the float64 1000000000.0, does not fit in float16: it is out of range");
/// # Ok::<(), lanecast::CastError>(())
/// ```
///
/// # Errors
///
/// [`CastError::Rejected`] with the first element that does not fit.
pub fn try_cast_to_vec<S: Element, D: Element>(src: &[S], level: Level) -> Result<Vec<D>, CastError> {
    try_cast_to_vec_with(src, level, &CastOptions::RUST)
}

/// [`try_cast_to_vec`] with other options.
///
/// # Errors
///
/// As [`try_cast_to_vec`].
pub fn try_cast_to_vec_with<S: Element, D: Element>(
    src: &[S],
    level: Level,
    options: &CastOptions,
) -> Result<Vec<D>, CastError> {
    CastPlan::new(S::DTYPE, D::DTYPE, options)?.checked(level).run_to_vec(src)
}

/// Casts every element and marks those that fit, as [`CheckedPlan::run_masked`] does, with the default options. Returns how many
/// were rejected.
///
/// ```
/// use lanecast::{Level, try_cast_masked};
/// let (mut out, mut validity) = ([0_i8; 4], [0]);
/// let rejected = try_cast_masked(&[1.0_f32, f32::NAN, -300.0, 5.5], &mut out, &mut validity, Level::Range)?;
/// assert_eq!((rejected, out, validity), (2, [1, 0, -128, 5], [0b1001]));
/// # Ok::<(), lanecast::CastError>(())
/// ```
///
/// # Errors
///
/// [`CastError::ValidityTooSmall`], or as [`cast`](crate::cast); then nothing is written.
pub fn try_cast_masked<S: Element, D: Element>(
    src: &[S],
    dst: &mut [D],
    validity: &mut [u8],
    level: Level,
) -> Result<usize, CastError> {
    try_cast_masked_with(src, dst, validity, level, &CastOptions::RUST)
}

/// [`try_cast_masked`] with other options.
///
/// # Errors
///
/// As [`try_cast_masked`].
pub fn try_cast_masked_with<S: Element, D: Element>(
    src: &[S],
    dst: &mut [D],
    validity: &mut [u8],
    level: Level,
    options: &CastOptions,
) -> Result<usize, CastError> {
    CastPlan::new(S::DTYPE, D::DTYPE, options)?.checked(level).run_slice_masked(src, dst, validity)
}

/// [`cast_bytes`](crate::cast_bytes) that rejects values according to `level`, with the default options.
///
/// # Errors
///
/// As [`CheckedPlan::run`] and [`CastPlan::new`].
pub fn try_cast_bytes(
    src: &[u8],
    from: impl Into<Encoding>,
    dst: &mut [u8],
    to: impl Into<Encoding>,
    n: usize,
    level: Level,
) -> Result<(), CastError> {
    try_cast_bytes_with(src, from, dst, to, n, level, &CastOptions::RUST)
}

/// [`try_cast_bytes`] with other options.
///
/// # Errors
///
/// As [`try_cast_bytes`].
pub fn try_cast_bytes_with(
    src: &[u8],
    from: impl Into<Encoding>,
    dst: &mut [u8],
    to: impl Into<Encoding>,
    n: usize,
    level: Level,
    options: &CastOptions,
) -> Result<(), CastError> {
    CastPlan::new(from, to, options)?.checked(level).run(src, dst, n)
}
