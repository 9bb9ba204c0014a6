//! The operands of casts as values: what a cast reads, and where its results go.
//!
//! A [`Source`] or a [`Target`] is made from a slice of elements, from [`Bytes`] and a number of elements, or from a view. A cast matches
//! the two with its own encodings once (`resolve`). Then they are either the bytes of exactly `n` elements on both sides ([`Flat`]), two
//! views of one shape, or one buffer that is cast in place.

mod append;
mod bytes;
mod one;
mod resolve;
mod uninit;

pub use append::append;
pub use bytes::{Bytes, BytesMut, InPlace, Source, Target, ViewTarget};
pub use one::{Memory, OneSource, OneTarget};
pub use resolve::{Flat, InPlaceBytes, OperandError, Operands, Written};
pub use uninit::Uninit;

#[cfg(test)]
mod tests;
