//! Floor 3: the formats, which are the compile-time types of the dtypes: their decoders and encoders, the constants of kernels ([`data`]), and
//! the look-up tables made from them ([`lut`], [`linear`]).

mod bool;
mod codec;
mod complex;
pub(crate) mod data;
mod elements;
mod floats;
mod ints;
pub(crate) mod kept;
pub(crate) mod linear;
pub(crate) mod lut;
mod minifloat;
pub(crate) mod newtypes;
pub(crate) mod packed;
mod typed;
pub(crate) mod words;

pub(crate) use codec::Format;
pub(crate) use minifloat::{Encoder, Signs};
pub use newtypes::*;
pub(crate) use typed::typed;

pub(crate) use crate::dtype::Element;
