//! Numbers and text: parsing strings to every dtype, and formatting every dtype as strings.
//!
//! *Law.* A parsed element is the exact decimal value of its text, rounded once to the target; a formatted text is the shortest
//! that parses back to the same value. Both are specified in section 8 of [`semantics`](crate::semantics), to the bit and to the
//! character.
//!
//! ```
//! use lanecast::text;
//! let values: Vec<f32> = text::parse(&["1.5", " -2e3 ", "inf"])?;
//! assert_eq!(values, [1.5, -2000.0, f32::INFINITY]);
//! let texts = text::format(&[0.1_f32, -0.0, 1e16, f32::NAN])?;
//! assert!(texts.iter().eq(["0.1", "-0.0", "1e+16", "nan"]));
//! # Ok::<(), text::TextError>(())
//! ```
//!
//! # Use
//!
//! [`parse`] and [`format()`] work on slices, with the default options. [`ParsePlan`] and [`FormatPlan`] are for dtypes known at
//! run time, for bytes, packed storage and other options; a plan is resolved once and run often. A parse plan reads any iterator
//! of texts (`&[u8]`, `&str`, `String`), so every container of strings can be read in place:
//!
//! | strings | read | written |
//! |---|---|---|
//! | slices of `&str`, `String`, `Vec<u8>` | as they are | |
//! | Arrow `Utf8`, `LargeUtf8`, `Binary` | [`StringsRef::new`] of [`Offsets`] and bytes, then [`iter`](StringsRef::iter) | [`Strings`], [`Strings::offsets_i32`] |
//! | NumPy `S` (bytes padded with NUL) | [`fixed::PaddedBytes`] | [`StringsRef::write_bytes`] |
//! | NumPy `U` (UCS-4, either byte order) | [`fixed::Ucs4`] | [`StringsRef::write_ucs4`] |
//!
//! A cast from strings to strings is a copy: [`StringsRef::to_strings`]. [`Strings`] owns text and yields `&str`; a [`StringsRef`]
//! borrows arbitrary bytes and yields `&[u8]`.
//!
//! # Errors
//!
//! Texts that do not parse, and buffers that are too small, are a [`TextError`]; a buffer that cannot be formatted is a
//! [`CastError`](crate::CastError). Invalid offsets are [`TextError::Offsets`], and bytes that are not UTF-8 but must be `&str` are
//! [`TextError::NotUtf8`].
//!
//! # Method
//!
//! Parsing reads a text once, into at most 19 digits and an exponent, and computes the nearest `float64` with one or two 64-bit
//! products (the algorithm of Eisel and Lemire); texts with more digits need an exact comparison where that is not enough. For
//! targets narrower than `float64`, and for other rounding directions, the `float64` can replace the text unless it lies on a
//! boundary of the target: a representable value or the midpoint of two. In that case the text is compared with it exactly. If they
//! differ, the `float64` moves one place towards the text: its last bit is then odd, so it lies on no boundary, and the ordinary
//! cast of a block of `float64` rounds it as it would have rounded the text. So all options of
//! [`CastOptions`](crate::CastOptions) apply, and the vector kernels do the rounding. Integers are read exactly.
//!
//! Formatting takes the shortest digits of `float32` and `float64` from the crate `zmij` and puts them into the layout of section
//! 8.2; `float16` has its own algorithm (src/text/float16.rs); all other floats are first widened exactly to `float32` by a cast.

mod binary;
mod element;
mod error;
mod exact;
pub mod fixed;
mod float16;
mod format;
mod layout;
mod options;
mod parse;
mod powers;
mod scan;
mod strings;
pub(crate) mod write;

pub use error::{BadText, TextError};
pub use format::{FormatPlan, format};
pub use options::{Exponent, OnBadText, Special, TextOptions};
pub use parse::{ParsePlan, parse};
pub use strings::{BytesIter, Iter, Offsets, Strings, StringsRef};
