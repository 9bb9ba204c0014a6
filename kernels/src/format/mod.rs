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
mod typed;

use crate::{dtype::DType, hub::Hub};
pub(crate) use minifloat::{Encoder, Signs};
pub use newtypes::*;
pub(crate) use typed::typed;

/// A type that a typed slice can hold: the Rust form of a [`DType`].
///
/// Elements are `bool`, Rust's integers up to 64 bits, `usize` and `isize` among them, `f32`, `f64`, `half`'s and `num-complex`'s
/// types, and the types of this crate for the dtypes that Rust has no type for. `usize` and `isize` have the dtype of their width.
///
/// # Your own types
///
/// A wrapper around an element is cast like the element if it implements the trait:
///
/// ```
/// # use lanecast_kernels as lanecast;
/// use lanecast::{DType, Element};
///
/// #[derive(Clone, Copy, Debug, PartialEq)]
/// #[repr(transparent)]
/// struct Metres(f32);
///
/// // SAFETY: `Metres` is `repr(transparent)` over `f32`, the element of `DType::Float32`, and every `f32` is valid in it.
/// unsafe impl Element for Metres {
///     const DTYPE: DType = DType::Float32;
/// }
/// ```
///
/// A generic wrapper has the `DTYPE` of its parameter: `T::DTYPE`.
///
/// Text, `char`, `i128`, `u128` and types with niches such as `NonZero` are no elements. The compiler says what to do with them:
///
/// ```compile_fail,E0277
/// # use lanecast_kernels as lanecast;
/// fn dtype_of<E: lanecast::Element>(_: &[E]) -> lanecast::DType {
///     E::DTYPE
/// }
/// dtype_of(&["1.5"]);
/// ```
///
/// # Safety
///
/// Casts read a slice of the type as bytes and write the bytes of a slice of it. The implementor promises that:
///
/// * the type has the size of its dtype, [`DTYPE.size()`](DType::size);
/// * the bytes of every value are initialised: there is no padding;
/// * the bytes of a value are an element of the dtype in the byte order of the host;
/// * every sequence of that many bytes is a valid value of the type. If the dtype is [`DType::Bool`], the bytes 0 and 1 are valid values,
///   and no other byte is.
///
/// `#[repr(transparent)]` over an element meets all of them unless the wrapper promises more about its values than the element, as a
/// `NonZero` does.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not an element of a cast: no dtype stands for it",
    label = "not an `Element`",
    note = "elements are bool, i8 to i64, u8 to u64, isize, usize, f32, f64, `half::f16`, `half::bf16`, `num_complex::Complex` of f32 \
            or f64, and the small types of `lanecast` (I2, I4, U2, U4, F8E4M3FN and its kin)",
    note = "strings are cast by `lanecast::text`; cast a char as `u32::from(char)`, an i128 or u128 as an i64, u64 or f64, and a wrapper \
            such as `NonZero` as the number in it",
    note = "a `#[repr(transparent)]` wrapper around an element becomes one with `unsafe impl Element`"
)]
pub unsafe trait Element: Copy + Send + Sync + 'static {
    /// The dtype of the elements.
    const DTYPE: DType;
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

#[cfg(any(target_pointer_width = "32", target_pointer_width = "64"))]
mod pointers {
    use super::{DType, Element};

    const WIDE: bool = cfg!(target_pointer_width = "64");
    // SAFETY: the integer of this size, without padding; every bit pattern is valid.
    unsafe impl Element for usize {
        const DTYPE: DType = if WIDE { DType::UInt64 } else { DType::UInt32 };
    }
    // SAFETY: as above.
    unsafe impl Element for isize {
        const DTYPE: DType = if WIDE { DType::Int64 } else { DType::Int32 };
    }
    const _: () = assert!(size_of::<usize>() == <usize as Element>::DTYPE.size());
}
