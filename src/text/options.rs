//! [`TextOptions`]: how text is written and read where there is a choice.

/// How NaN and the infinities are written. All spellings are read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Special {
    /// `nan`, `inf`, `-inf`, as in Python and NumPy.
    #[default]
    Lower,
    /// `NaN`, `INF`, `-INF`, as in the ONNX `Cast` operator.
    Onnx,
}

/// When numbers are written with an exponent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Exponent {
    /// Below `1e-4` and from `1e16` on, as in Python.
    #[default]
    Auto,
    /// Never: zeros fill the places up to the point.
    Never,
}

/// How to handle a text that does not parse, or not to an integer in range of the target.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum OnBadText {
    /// The parse ends with an error that names the text.
    #[default]
    Error,
    /// The element is 0 and its bit of the validity bitmap is cleared; only for
    /// [`ParsePlan::run_masked`](super::ParsePlan::run_masked).
    Null,
    /// The element is the cast of a NaN: NaN if the target has one, 0 in integers, true in bool; for floats of 4 and 6 bits see
    /// [`NanToFinite`](crate::NanToFinite). In complex targets both parts are NaN.
    Nan,
    /// The element is 0, cast to the target (`float8_e8m0fnu` has no zero).
    Zero,
}

/// How numbers are written, and how texts that are not numbers are handled.
///
/// ```
/// use lanecast::{DType, text::{FormatPlan, Special, TextOptions}};
/// let plan = FormatPlan::new(DType::Float32, &TextOptions::ONNX)?;
/// let texts = plan.run(&[f32::NAN])?;
/// assert_eq!(texts.get(0), Some("NaN"));
/// assert_eq!(TextOptions::ONNX.special, Special::Onnx);
/// # Ok::<(), lanecast::CastError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct TextOptions {
    /// Formatting: NaN and the infinities.
    pub special: Special,
    /// Formatting: when there is an exponent.
    pub exponent: Exponent,
    /// Formatting: whether whole numbers of real floats end in `.0` (where there is no exponent). Complex numbers never do.
    pub trailing_dot_zero: bool,
    /// Parsing: how to handle a text that does not parse.
    pub on_error: OnBadText,
}

impl TextOptions {
    /// The default: the layout of Python's `repr`, and errors for bad texts.
    pub const DEFAULT: Self = Self {
        special: Special::Lower,
        exponent: Exponent::Auto,
        trailing_dot_zero: true,
        on_error: OnBadText::Error,
    };
    /// The ONNX `Cast` operator: `NaN`, `INF`, `-INF`.
    pub const ONNX: Self = Self::DEFAULT.with_special(Special::Onnx);

    /// These options with another [`special`](Self::special).
    #[must_use]
    pub const fn with_special(mut self, special: Special) -> Self {
        self.special = special;
        self
    }
    /// These options with another [`exponent`](Self::exponent).
    #[must_use]
    pub const fn with_exponent(mut self, exponent: Exponent) -> Self {
        self.exponent = exponent;
        self
    }
    /// These options with another [`trailing_dot_zero`](Self::trailing_dot_zero).
    #[must_use]
    pub const fn with_trailing_dot_zero(mut self, trailing_dot_zero: bool) -> Self {
        self.trailing_dot_zero = trailing_dot_zero;
        self
    }
    /// These options with another [`on_error`](Self::on_error).
    #[must_use]
    pub const fn with_on_error(mut self, on_error: OnBadText) -> Self {
        self.on_error = on_error;
        self
    }
}

impl Default for TextOptions {
    fn default() -> Self {
        Self::DEFAULT
    }
}
