//! The value of a `TensorProto`: read from the field that holds it, written to `raw_data` or to the field of its type.
//!
//! *Law*, of `onnx.proto`: exactly one field holds the elements. `raw_data` holds all types but text, packed and
//! little-endian; otherwise each type has its field:
//!
//! | field | types |
//! |---|---|
//! | `float_data` | float32; complex64, real parts and imaginary ones in turn |
//! | `double_data` | float64; complex128 |
//! | `int64_data` | int64 |
//! | `uint64_data` | uint64, uint32 |
//! | `int32_data` | all other numbers and bool: signed integers as their value, all others as their unsigned code; elements of 4 and 2 bits as one packed byte per entry, elements of 6 bits as one element per entry |
//! | `string_data` | text |
//!
//! A value that violates this is refused with the field and the entry; nothing is truncated to fit.

use super::element::ElementType;
use alloc::{borrow::Cow, vec::Vec};
use core::fmt;
use lanecast_kernels::{DType, Encoding, Kind};

/// The value of a `TensorProto`, borrowed from the message. `S` is an element of `string_data`.
///
/// ```
/// use lanecast::onnx::{Contents, Payload};
/// // Three 4-bit integers, two to an entry.
/// let payload = Payload { int32_data: &[0x21, 0x03], ..Payload::<Vec<u8>>::new(21, 3) };
/// let Contents::Numbers(dtype, raw) = payload.read()? else { panic!("numbers") };
/// assert_eq!((dtype.name(), &*raw), ("uint4", &[0x21, 0x03][..]));
/// # Ok::<(), lanecast::onnx::TensorError>(())
/// ```
#[derive(Debug)]
pub struct Payload<'a, S = Vec<u8>> {
    /// `data_type`, a number of `TensorProto.DataType`.
    pub data_type: i32,
    /// The number of elements: the product of `dims` ([`elements`]).
    pub elements: usize,
    /// `raw_data`; `None` if the message does not have it.
    pub raw_data: Option<&'a [u8]>,
    /// `float_data`
    pub float_data: &'a [f32],
    /// `int32_data`
    pub int32_data: &'a [i32],
    /// `string_data`
    pub string_data: &'a [S],
    /// `int64_data`
    pub int64_data: &'a [i64],
    /// `double_data`
    pub double_data: &'a [f64],
    /// `uint64_data`
    pub uint64_data: &'a [u64],
}

/// What a tensor holds.
#[derive(Clone, Debug)]
pub enum Contents<'a, S> {
    /// Numbers of a dtype, as in `raw_data`: packed and little-endian.
    Numbers(DType, Cow<'a, [u8]>),
    /// Text, which ONNX requires to be UTF-8; that is not checked.
    Strings(&'a [S]),
}

/// A field that holds elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum DataField {
    /// `raw_data`
    Raw,
    /// `float_data`
    Float,
    /// `int32_data`
    Int32,
    /// `string_data`
    String,
    /// `int64_data`
    Int64,
    /// `double_data`
    Double,
    /// `uint64_data`
    UInt64,
}

impl DataField {
    /// The field for elements of a type that are not in `raw_data`; `None` for dtypes that ONNX does not have.
    ///
    /// ```
    /// use lanecast::{DType, onnx::DataField};
    /// assert_eq!(DataField::of(DType::BFloat16), Some(DataField::Int32));
    /// assert_eq!(DataField::of(DType::UInt32), Some(DataField::UInt64));
    /// ```
    pub fn of(element: impl Into<ElementType>) -> Option<DataField> {
        let element = element.into();
        element.code()?;
        Some(match element {
            ElementType::String => DataField::String,
            ElementType::Number(dtype) => match dtype {
                DType::Float32 | DType::Complex64 => DataField::Float,
                DType::Float64 | DType::Complex128 => DataField::Double,
                DType::Int64 => DataField::Int64,
                DType::UInt64 | DType::UInt32 => DataField::UInt64,
                _ => DataField::Int32,
            },
        })
    }
}

impl fmt::Display for DataField {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            DataField::Raw => "raw_data",
            DataField::Float => "float_data",
            DataField::Int32 => "int32_data",
            DataField::String => "string_data",
            DataField::Int64 => "int64_data",
            DataField::Double => "double_data",
            DataField::UInt64 => "uint64_data",
        })
    }
}

/// Why a `TensorProto` is invalid or cannot be made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum TensorError {
    /// No type has this number.
    UnknownCode(i32),
    /// ONNX does not have this dtype.
    NotInOnnx(DType),
    /// A dimension is negative.
    Negative {
        /// Its axis.
        axis: usize,
        /// The dimension.
        dimension: i64,
    },
    /// More elements than memory can hold.
    TooLarge,
    /// Two fields hold elements.
    Two(DataField, DataField),
    /// Elements are in a field that is not for their type.
    WrongField {
        /// The type.
        element: ElementType,
        /// The field that holds the elements.
        field: DataField,
    },
    /// A field does not have as many entries (in `raw_data`: bytes) as the elements need.
    Length {
        /// The field; if all fields are empty, the field for the type.
        field: DataField,
        /// Entries that the elements need.
        need: usize,
        /// Entries that the field has.
        have: usize,
    },
    /// An entry is out of the range of the type.
    Range {
        /// The type.
        dtype: DType,
        /// The field.
        field: DataField,
        /// The index of the entry.
        entry: usize,
    },
}

impl fmt::Display for TensorError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            TensorError::UnknownCode(code) => write!(f, "{code} is no number of a TensorProto.DataType"),
            TensorError::NotInOnnx(dtype) => write!(f, "ONNX has no dtype {dtype}; cast it to another one"),
            TensorError::Negative { axis, dimension } => write!(f, "dimension {axis} is {dimension}"),
            TensorError::TooLarge => f.write_str("more elements than memory can hold"),
            TensorError::Two(one, other) => write!(f, "both {one} and {other} hold elements; one may"),
            TensorError::WrongField { element, field } => match DataField::of(*element) {
                Some(DataField::String) => write!(f, "string elements stand in string_data, not in {field}"),
                Some(right) => write!(f, "{element} elements stand in raw_data or {right}, not in {field}"),
                None => write!(f, "{element} elements do not stand in {field}"),
            },
            TensorError::Length { field, need, have } => {
                let what = if *field == DataField::Raw { "bytes" } else { "entries" };
                write!(f, "{field} has {have} {what}, the elements take {need}")
            }
            TensorError::Range { dtype, field, entry } => {
                write!(f, "{field}[{entry}] is out of the range of {dtype}")
            }
        }
    }
}

impl core::error::Error for TensorError {}

/// The number of elements of a tensor with these `dims`; 1 if there are none.
///
/// ```
/// use lanecast::onnx::elements;
/// assert_eq!(elements(&[2, 3]), Ok(6));
/// assert_eq!(elements(&[1 << 40, 0, 1 << 40]), Ok(0));
/// ```
///
/// # Errors
///
/// [`TensorError::Negative`] or [`TensorError::TooLarge`].
pub fn elements(dims: &[i64]) -> Result<usize, TensorError> {
    let mut product = Some(1_usize);
    let mut empty = false;
    for (axis, &dimension) in dims.iter().enumerate() {
        let size = u64::try_from(dimension).map_err(|_| TensorError::Negative { axis, dimension })?;
        empty |= size == 0;
        product = product.zip(usize::try_from(size).ok()).and_then(|(a, b)| a.checked_mul(b));
    }
    if empty { Ok(0) } else { product.ok_or(TensorError::TooLarge) }
}

impl<S> Clone for Payload<'_, S> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<S> Copy for Payload<'_, S> {}

impl<S> Payload<'_, S> {
    /// A value of this type with this number of elements, with all fields empty.
    pub const fn new(data_type: i32, elements: usize) -> Self {
        Self {
            data_type,
            elements,
            raw_data: None,
            float_data: &[],
            int32_data: &[],
            string_data: &[],
            int64_data: &[],
            double_data: &[],
            uint64_data: &[],
        }
    }
}

impl<'a, S> Payload<'a, S> {
    /// The elements: `raw_data` as it is, the elements of other fields packed.
    ///
    /// This allocates no more memory than the message already takes.
    ///
    /// # Errors
    ///
    /// [`TensorError`] if the fields are not as `onnx.proto` requires.
    pub fn read(&self) -> Result<Contents<'a, S>, TensorError> {
        let element =
            ElementType::from_code(self.data_type).ok_or(TensorError::UnknownCode(self.data_type))?;
        let field = self.field(element)?;
        let ElementType::Number(dtype) = element else {
            self.check(field, self.elements)?;
            return Ok(Contents::Strings(self.string_data));
        };
        let buffer = Encoding::packed(dtype);
        let bytes = buffer.byte_len(self.elements).ok_or(TensorError::TooLarge)?;
        if let (DataField::Raw, Some(raw)) = (field, self.raw_data) {
            self.check(field, bytes)?;
            return Ok(Contents::Numbers(dtype, Cow::Borrowed(raw)));
        }
        let need = entries(dtype, self.elements, bytes);
        self.check(field, need.ok_or(TensorError::TooLarge)?)?;
        let mut packed = Vec::new();
        packed.try_reserve_exact(bytes).map_err(|_| TensorError::TooLarge)?;
        match field {
            DataField::Float => self.float_data.iter().for_each(|x| packed.extend(x.to_bits().to_le_bytes())),
            DataField::Double => {
                self.double_data.iter().for_each(|x| packed.extend(x.to_bits().to_le_bytes()))
            }
            DataField::Int64 => self.int64_data.iter().for_each(|x| packed.extend(x.to_le_bytes())),
            DataField::UInt64 if dtype == DType::UInt64 => {
                self.uint64_data.iter().for_each(|x| packed.extend(x.to_le_bytes()));
            }
            DataField::UInt64 => {
                for (entry, x) in self.uint64_data.iter().enumerate() {
                    let narrow = u32::try_from(*x).map_err(|_| TensorError::Range { dtype, field, entry })?;
                    packed.extend(narrow.to_le_bytes());
                }
            }
            _ => pack_int32(dtype, self.int32_data, &mut packed)?,
        }
        Ok(Contents::Numbers(dtype, Cow::Owned(packed)))
    }

    /// The field that holds the elements. It must be the only one, and be `raw_data` or the field for the type.
    fn field(&self, element: ElementType) -> Result<DataField, TensorError> {
        let right = DataField::of(element).ok_or(TensorError::UnknownCode(self.data_type))?;
        let mut found = None;
        for (field, len) in self.lengths() {
            if len.is_none_or(|len| len == 0 && field != DataField::Raw) {
                continue;
            }
            if let Some(other) = found.replace(field) {
                return Err(TensorError::Two(other, field));
            }
        }
        match found {
            Some(DataField::Raw) if right != DataField::String => Ok(DataField::Raw),
            Some(field) if field != right => Err(TensorError::WrongField { element, field }),
            _ => Ok(right),
        }
    }

    /// The number of entries of every field; `None` for a missing `raw_data`.
    fn lengths(&self) -> [(DataField, Option<usize>); 7] {
        [
            (DataField::Raw, self.raw_data.map(<[u8]>::len)),
            (DataField::Float, Some(self.float_data.len())),
            (DataField::Int32, Some(self.int32_data.len())),
            (DataField::String, Some(self.string_data.len())),
            (DataField::Int64, Some(self.int64_data.len())),
            (DataField::Double, Some(self.double_data.len())),
            (DataField::UInt64, Some(self.uint64_data.len())),
        ]
    }

    fn check(&self, field: DataField, need: usize) -> Result<(), TensorError> {
        let found = self.lengths().into_iter().find(|(other, _)| *other == field);
        match found.and_then(|(_, len)| len).unwrap_or_default() {
            have if have == need => Ok(()),
            have => Err(TensorError::Length { field, need, have }),
        }
    }
}

/// How many entries `elements` elements of a dtype, which take `bytes` bytes packed, need in their field.
fn entries(dtype: DType, elements: usize, bytes: usize) -> Option<usize> {
    match dtype.bits() {
        _ if dtype.kind() == Kind::Complex => elements.checked_mul(2),
        2 | 4 => Some(bytes),
        _ => Some(elements),
    }
}

/// The values that an entry of `int32_data` may have: a signed integer of the dtype, or its unsigned code.
fn range(dtype: DType) -> (i32, i32) {
    match (dtype.bits(), dtype.kind()) {
        (_, Kind::Bool) => (0, 1),
        (8, Kind::SignedInt) => (i8::MIN.into(), i8::MAX.into()),
        (16, Kind::SignedInt) => (i16::MIN.into(), i16::MAX.into()),
        (32, Kind::SignedInt) => (i32::MIN, i32::MAX),
        (16, _) => (0, u16::MAX.into()),
        (6, _) => (0, 0x3F),
        // A byte, which may hold packed elements.
        _ => (0, u8::MAX.into()),
    }
}

/// Packs the entries of `int32_data`.
fn pack_int32(dtype: DType, data: &[i32], packed: &mut Vec<u8>) -> Result<(), TensorError> {
    let (low, high) = range(dtype);
    if let Some(entry) = data.iter().position(|x| !(low..=high).contains(x)) {
        return Err(TensorError::Range { dtype, field: DataField::Int32, entry });
    }
    match dtype.bits() {
        6 => {
            for group in data.chunks(4) {
                let bits = group.iter().rev().fold(0, |bits, code| bits << 6 | *code as u32);
                packed.extend(&bits.to_le_bytes()[..(group.len() * 6).div_ceil(8)]);
            }
        }
        32 => data.iter().for_each(|x| packed.extend(x.to_le_bytes())),
        16 => data.iter().for_each(|x| packed.extend((*x as u16).to_le_bytes())),
        _ => packed.extend(data.iter().map(|x| *x as u8)),
    }
    Ok(())
}

/// The elements of a tensor in the form of the field of their type.
#[derive(Clone, Debug, PartialEq)]
pub enum TypedData {
    /// `float_data`
    Float(Vec<f32>),
    /// `int32_data`
    Int32(Vec<i32>),
    /// `int64_data`
    Int64(Vec<i64>),
    /// `double_data`
    Double(Vec<f64>),
    /// `uint64_data`
    UInt64(Vec<u64>),
}

impl TypedData {
    /// The typed form of `raw`, which holds `elements` elements packed and little-endian, as `raw_data` does. (To write
    /// `raw_data` take the bytes that a cast gave.)
    ///
    /// ```
    /// use lanecast::{DType, onnx::TypedData};
    /// let codes = TypedData::new(DType::Float16, 1, &[0x00, 0x3C]);
    /// assert_eq!(codes, Ok(TypedData::Int32(vec![0x3C00])));
    /// ```
    ///
    /// # Errors
    ///
    /// [`TensorError::NotInOnnx`], [`TensorError::Length`] if `raw` has another length, [`TensorError::TooLarge`].
    pub fn new(dtype: DType, elements: usize, raw: &[u8]) -> Result<Self, TensorError> {
        let field = DataField::of(dtype).ok_or(TensorError::NotInOnnx(dtype))?;
        let buffer = Encoding::packed(dtype);
        let need = buffer.byte_len(elements).ok_or(TensorError::TooLarge)?;
        if raw.len() != need {
            return Err(TensorError::Length { field: DataField::Raw, need, have: raw.len() });
        }
        Ok(match field {
            DataField::Float => {
                TypedData::Float(words(raw, |word| f32::from_bits(u32::from_le_bytes(word)))?)
            }
            DataField::Double => {
                TypedData::Double(words(raw, |word| f64::from_bits(u64::from_le_bytes(word)))?)
            }
            DataField::Int64 => TypedData::Int64(words(raw, i64::from_le_bytes)?),
            DataField::UInt64 if dtype == DType::UInt64 => TypedData::UInt64(words(raw, u64::from_le_bytes)?),
            DataField::UInt64 => TypedData::UInt64(words(raw, |word| u32::from_le_bytes(word).into())?),
            _ => TypedData::Int32(match (dtype.bits(), dtype.kind()) {
                (_, Kind::Bool) => words(raw, |[byte]| i32::from(byte != 0))?,
                (8, Kind::SignedInt) => words(raw, |word| i8::from_le_bytes(word).into())?,
                (16, Kind::SignedInt) => words(raw, |word| i16::from_le_bytes(word).into())?,
                (32, _) => words(raw, i32::from_le_bytes)?,
                (16, _) => words(raw, |word| u16::from_le_bytes(word).into())?,
                (6, _) => sixes(raw, elements)?,
                (bits, _) => {
                    let mut data = words(raw, |[byte]| byte.into())?;
                    // Bits after the last element are 0.
                    let used = (elements % (8 / bits as usize)) as u32 * bits;
                    if let Some(last) = data.last_mut().filter(|_| used > 0) {
                        *last &= (1 << used) - 1;
                    }
                    data
                }
            }),
        })
    }
}

/// The words of `raw`, one per entry.
fn words<const N: usize, T>(raw: &[u8], entry: impl Fn([u8; N]) -> T) -> Result<Vec<T>, TensorError> {
    let mut data = Vec::new();
    data.try_reserve_exact(raw.len() / N).map_err(|_| TensorError::TooLarge)?;
    data.extend(raw.as_chunks().0.iter().map(|word| entry(*word)));
    Ok(data)
}

/// Elements of 6 bits, one per entry.
fn sixes(raw: &[u8], elements: usize) -> Result<Vec<i32>, TensorError> {
    let mut data = Vec::new();
    data.try_reserve_exact(elements).map_err(|_| TensorError::TooLarge)?;
    for group in raw.chunks(3) {
        let bits = group.iter().rev().fold(0, |bits, byte| bits << 8 | i32::from(*byte));
        let left = (elements - data.len()).min(4);
        data.extend((0..left).map(|i| bits >> (6 * i) & 0x3F));
    }
    Ok(data)
}
