//! Formats: the compile-time types of the dtypes, with their decoders and encoders.
//!
//! A format is the element type itself (`f32`, `half::f16`, [`F8E4M3FN`]). Its code travels as [`Format::Code`], a plain
//! integer, because a `bool` or a float is not free to hold every bit pattern on its way.

mod bool;
mod complex;
mod floats;
mod ints;
mod minifloat;
pub(crate) mod newtypes;
pub(crate) mod packed;

use crate::{dtype::DType, hub::Hub};
pub(crate) use minifloat::{Encoder, Signs};
pub use newtypes::*;

/// A type that a typed slice can hold: the Rust form of a [`DType`].
///
/// # Safety
///
/// `DTYPE` describes the type: it is `DTYPE.size()` bytes large, has no padding, and every value that a cast to `DTYPE`
/// writes is a valid value of the type. The trait is sealed by the private supertrait.
pub unsafe trait Element: Copy + Send + Sync + 'static + sealed::Sealed {
    /// The dtype of the elements.
    const DTYPE: DType;
}

mod sealed {
    pub trait Sealed {}
}

/// The decoder and the encoder of a format.
pub(crate) trait Format: Element {
    /// An integer (two of them if complex) of the size of the element; any bit pattern may be read.
    type Code: bytemuck::Pod;
    /// Where every value of the format has a place.
    type Hub: Hub;
    /// The format whose encoder gives the same codes where nothing saturates: integers wrap to the same bits whatever their
    /// sign.
    type Wrapping: Format;
    /// Exact.
    fn decode(code: Self::Code) -> Self::Hub;
    /// Rounds once. `SATURATE` is for integers and 8-bit floats; the others ignore it.
    fn encode<const SATURATE: bool>(hub: impl Hub) -> Self::Code;
    /// A code with its unused bits cleared, for casts of a dtype to itself.
    fn clean(code: Self::Code) -> Self::Code {
        code
    }
}

macro_rules! impl_elements {
    ($($kind:ident ($variant:ident, $format:ty, $code:literal, $name:literal, $spec:expr, [$($alias:literal),*]))*) => {
        $(
            impl sealed::Sealed for $format {}
            // SAFETY: the assertions check the size; primitive types, `half`'s (`repr(transparent)` over u16), `num-complex`'s
            // (`repr(C)` of two floats) and the newtypes (`repr(transparent)` over u8) have no padding. All of them but bool
            // accept every bit pattern, and encoders of bool write 0 or 1.
            unsafe impl Element for $format {
                const DTYPE: DType = DType::$variant;
            }
            const _: () = assert!(size_of::<$format>() == DType::$variant.size());
            const _: () = assert!(size_of::<<$format as Format>::Code>() == size_of::<$format>());
            // The law: decode is exact because the hub holds every value of the format.
            const _: () = assert!(<$format as Format>::Hub::CAPACITY.holds(DType::$variant.spec()));
        )*
    };
}
crate::dtype::for_each_dtype!(impl_elements);
