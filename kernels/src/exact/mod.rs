//! Floor 2: the law. One element is decoded exactly and encoded with one rounding: in integer arithmetic ([`law`], [`one`]), and through
//! the types between the decoders and encoders of the kernels ([`hub`]).

pub(crate) mod buffer;
pub(crate) mod hub;
mod law;
pub(crate) mod one;
pub(crate) mod round;
mod rules;
pub(crate) mod steps;

pub(crate) use law::{
    Class, Exact, FLOAT32, decode, encode, extended_to_f32, float_spec, rounded, shift_right, to_bool,
    to_float, to_int,
};
pub use law::{PowerRange, Rounding, Rules};
pub use one::cast_one;
