//! The types of elements.

use super::DType;

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
/// Text, `char`, `i128`, `u128` and types with niches such as `NonZero` are no elements. The compiler's message says what to use instead:
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

impl DType {
    /// The dtype of an element type.
    ///
    /// ```
    /// # use lanecast_kernels as lanecast;
    /// use lanecast::{DType, F8E4M3FN};
    /// assert_eq!(DType::of::<F8E4M3FN>(), DType::Float8E4M3FN);
    /// ```
    pub const fn of<T: Element>() -> DType {
        T::DTYPE
    }
}
