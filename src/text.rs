//! Numbers and text: every dtype parsed from strings and formatted to them.
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
//! run time, for bytes, packed storage and options; a plan is resolved once and run often. A plan of parsing reads any iterator
//! of texts (`&[u8]`, `&str`, `String`), so every container of strings can be read in place:
//!
//! | strings | read | written |
//! |---|---|---|
//! | slices of `&str`, `String`, `Vec<u8>` | as they are | |
//! | Arrow `Utf8`, `LargeUtf8`, `Binary` | [`StringsRef::new`] of [`Offsets`] and bytes, then [`iter`](StringsRef::iter) | [`Strings`], [`Strings::offsets_i32`] |
//! | NumPy `S` (bytes padded with NUL) | [`fixed::Bytes`] | [`StringsRef::write_bytes`] |
//! | NumPy `U` (UCS-4, either byte order) | [`fixed::Ucs4`] | [`StringsRef::write_ucs4`] |
//!
//! A string that becomes a string is copied: [`StringsRef::to_strings`]. [`Strings`] own text and give `&str`; a [`StringsRef`] borrows
//! bytes of any kind and gives `&[u8]`.
//!
//! # Errors
//!
//! Texts that do not parse, and buffers that are too small, are a [`TextError`]; a buffer that cannot be formatted is a
//! [`CastError`](crate::CastError). Offsets that do not cut bytes into texts are [`BadOffsets`], and bytes that are not UTF-8 where they are
//! to be `&str` [`StringsError::NotUtf8`].
//!
//! # Method
//!
//! Parsing reads a text once, into at most 19 digits and an exponent, and makes the nearest `float64` of them with one or two
//! products of 64 bits (the algorithm of Eisel and Lemire); texts with more digits take an exact comparison where that is not
//! enough. For targets narrower than `float64`, and for those that do not round to nearest, the `float64` is as good as the text
//! unless it lies on a boundary of the target, a representable value or the middle between two. Then the text is compared with it
//! exactly, and if they differ the `float64` moves one place towards the text: its last bit is odd now, it lies on no boundary, and
//! the ordinary cast of a block of `float64` rounds it as it would have rounded the text. So all options of
//! [`CastOptions`](crate::CastOptions) hold, and the vector kernels do the rounding. Integers are read exactly.
//!
//! Formatting takes the shortest digits of `float32` and `float64` from the crate `zmij` and brings them into the layout of section
//! 8.2; `float16` has digits of its own (src/text/half.rs); all other floats are widened exactly to `float32` by a cast first.

mod binary;
mod element;
mod error;
mod exact;
pub mod fixed;
mod format;
mod half;
mod layout;
mod options;
mod parse;
mod powers;
mod scan;
mod strings;
mod write;

pub use error::{BadText, TextError};
pub use format::{FormatPlan, format, format_with};
pub use options::{Exponent, OnBadText, Special, TextOptions};
pub use parse::{ParsePlan, parse, parse_with};
pub use strings::{BadOffsets, BytesIter, Iter, Offsets, Strings, StringsError, StringsRef};
