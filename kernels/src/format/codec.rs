//! Formats: the compile-time types of the dtypes, with their decoders and encoders.
//!
//! A format is the element type itself (`f32`, `half::f16`, [`F8E4M3FN`]). Its code has the type [`Format::Code`], a plain integer, because a
//! `bool` or a float cannot hold every bit pattern unchanged.

use crate::{dtype::Element, exact::hub::Hub};

/// The decoder and the encoder of a format.
pub(crate) trait Format: Element {
    /// An integer (two of them if complex) of the size of the element; any bit pattern may be read.
    type Code: bytemuck::Pod;
    /// A hub that holds every value of the format.
    type Hub: Hub;
    /// The format whose encoder gives the same codes if nothing saturates: integers wrap to the same bits whatever their sign.
    type Wrapping: Format;
    /// Decodes exactly.
    fn decode(code: Self::Code) -> Self::Hub;
    /// Encodes with one rounding. `SATURATE` is for integers and 8-bit floats; all other formats ignore it.
    fn encode<const SATURATE: bool>(hub: impl Hub) -> Self::Code;
    /// A code with its unused bits cleared, for casts of a dtype to itself.
    fn clean(code: Self::Code) -> Self::Code {
        code
    }
}
