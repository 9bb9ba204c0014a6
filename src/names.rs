//! The names of the dtypes in other systems: a parser and a printer for each.
//!
//! The same name may mean different dtypes: `float` is float64 in NumPy and float32 in PyTorch, `f8` is NumPy's float64,
//! and `F8_E4M3` is float8_e4m3fn in safetensors, while ml_dtypes has a different `float8_e4m3`. So the caller names the system,
//! and names are case-sensitive. The lists are in `src/names.tsv`, checked when the library is built.
//!
//! ```
//! use lanecast::{DType, names::Namespace};
//! assert_eq!(Namespace::NumPy.parse("float"), Ok(DType::Float64));
//! assert_eq!(Namespace::Torch.parse("float"), Ok(DType::Float32));
//! assert_eq!(Namespace::Safetensors.parse("F8_E4M3"), Ok(DType::Float8E4M3FN));
//! assert_eq!(Namespace::Onnx.name(DType::Float32), Some("FLOAT"));
//! ```
//!
//! [`DType::name`] and [`DType::from_name`] are the names of lanecast itself.

pub use crate::ByteOrder;

use crate::{DType, Kind};
use alloc::{format, string::String};
use core::fmt;

#[rustfmt::skip]
mod made {
    include!(concat!(env!("OUT_DIR"), "/names.rs"));
}

/// The choice with this name, in any letter case; hyphens, underscores and spaces may stand for each other or be left out. Everything that
/// reads the name of an option's value reads it this way.
///
/// ```
/// use lanecast::{IntRound, names};
/// assert_eq!(names::find(IntRound::NAMED, "nearest-even"), Some(IntRound::NearestEven));
/// assert_eq!(names::find(IntRound::NAMED, "nearest_even"), Some(IntRound::NearestEven));
/// ```
pub fn find<T: Copy>(choices: &[(&str, T)], name: &str) -> Option<T> {
    choices.iter().find(|(own, _)| is_same(own, name)).map(|(_, value)| *value)
}

/// Whether two names of a value differ at most in letter case, hyphens, underscores and spaces.
pub(crate) fn is_same(a: &str, b: &str) -> bool {
    fn letters(name: &str) -> impl Iterator<Item = char> {
        name.chars().filter(|c| !['_', '-', ' '].contains(c)).map(|c| c.to_ascii_lowercase())
    }
    letters(a).eq(letters(b))
}

/// The system whose names are used.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
#[non_exhaustive]
pub enum Namespace {
    /// NumPy with ml_dtypes: `float32`, `single`, and codes with and without their byte order, `f4`, `<f4`, `?` (see
    /// [`parse_numpy`]). `long`, `int` and similar names mean what they do on 64-bit Linux. ml_dtypes has no codes.
    NumPy,
    /// The Python array API standard.
    ArrayApi,
    /// PyTorch: attributes of `torch`, such as `half`.
    Torch,
    /// MindSpore: attributes of `mindspore`, old and new, and the output of `str` (`Float32`).
    MindSpore,
    /// MegEngine.
    MegEngine,
    /// JAX: its dtypes and its short forms, `bf16`, which count bits: `i4` is int4.
    Jax,
    /// ONNX: the names of `TensorProto.DataType`; its numbers are [`onnx_number`].
    Onnx,
    /// safetensors.
    Safetensors,
    /// Apache Arrow: its types (`halffloat`) and the formats of its C data interface (`e`). Its bool is packed by bits.
    Arrow,
    /// ml_dtypes.
    MlDtypes,
}

impl Namespace {
    /// All namespaces.
    pub const ALL: &'static [Namespace] = &[
        Namespace::NumPy,
        Namespace::ArrayApi,
        Namespace::Torch,
        Namespace::MindSpore,
        Namespace::MegEngine,
        Namespace::Jax,
        Namespace::Onnx,
        Namespace::Safetensors,
        Namespace::Arrow,
        Namespace::MlDtypes,
    ];

    /// The name of the namespace in lower case, such as `"array_api"`.
    pub const fn id(self) -> &'static str {
        made::IDS[self as usize]
    }

    /// The name that the system prints; `None` if it does not have the dtype.
    pub const fn name(self, dtype: DType) -> Option<&'static str> {
        match self.names(dtype) {
            [name, ..] => Some(name),
            [] => None,
        }
    }

    /// All names of a dtype, the printed one first.
    pub const fn names(self, dtype: DType) -> &'static [&'static str] {
        made::NAMES[dtype.code() as usize][self as usize]
    }

    /// The dtype of this name.
    ///
    /// # Errors
    ///
    /// [`UnknownDType`] if the system has no such name, or lanecast no such dtype.
    pub fn parse(self, name: &str) -> Result<DType, UnknownDType> {
        if self == Namespace::NumPy {
            return parse_numpy(name).map(|(dtype, _)| dtype);
        }
        self.find(name).ok_or_else(|| UnknownDType { name: name.into(), namespace: self })
    }

    fn find(self, name: &str) -> Option<DType> {
        DType::EVERY.iter().copied().find(|dtype| self.names(*dtype).contains(&name))
    }
}

/// A name that a system does not have, or whose dtype lanecast does not have.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct UnknownDType {
    /// The name that was given.
    pub name: String,
    /// The system in which it was looked up.
    pub namespace: Namespace,
}

impl fmt::Display for UnknownDType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?} is no dtype of {}; it has", self.name, self.namespace.id())?;
        let names = DType::EVERY.iter().filter_map(|dtype| self.namespace.name(*dtype));
        for (i, name) in names.enumerate() {
            write!(f, "{}{name}", if i == 0 { " " } else { ", " })?;
        }
        Ok(())
    }
}

impl core::error::Error for UnknownDType {}

/// The dtype and the byte order of a NumPy name or code: `<f4`, `>i2`, `|u1`, `=f8`, `?`, `float32`. Names, and codes without
/// an order, are native. The order does not affect promotion; in a cast it is part of the
/// [`Encoding`](crate::Encoding).
///
/// ```
/// use lanecast::{Encoding, CastOptions, DType, cast_bytes, names::{ByteOrder, parse_numpy}};
/// assert_eq!(parse_numpy(">i2"), Ok((DType::Int16, ByteOrder::Big)));
/// assert_eq!(parse_numpy("f8"), Ok((DType::Float64, ByteOrder::NATIVE)));
///
/// let (dtype, order) = parse_numpy(">f4")?;
/// let mut out = [0];
/// cast_bytes(&[0x41, 0x20, 0, 0], Encoding::new(dtype).with_order(order), &mut out, DType::UInt8, 1)?;
/// assert_eq!(out, [10]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
///
/// [`UnknownDType`] if NumPy has no such name, or lanecast no such dtype.
pub fn parse_numpy(name: &str) -> Result<(DType, ByteOrder), UnknownDType> {
    let (order, code) = match name.split_at_checked(1) {
        Some(("<", code)) => (Some(ByteOrder::Little), code),
        Some((">", code)) => (Some(ByteOrder::Big), code),
        Some(("=" | "|", code)) => (Some(ByteOrder::NATIVE), code),
        _ => (None, name),
    };
    // Only codes have an order: a letter, or a letter and the size in bytes.
    let is_code = code.bytes().skip(1).all(|byte| byte.is_ascii_digit());
    match Namespace::NumPy.find(code) {
        Some(dtype) if order.is_none() || is_code => Ok((dtype, order.unwrap_or(ByteOrder::NATIVE))),
        _ => Err(UnknownDType { name: name.into(), namespace: Namespace::NumPy }),
    }
}

/// The code that NumPy writes into files, such as `<f4` or `|b1`; `None` for dtypes of ml_dtypes, which have no code.
///
/// ```
/// use lanecast::{DType, names::{ByteOrder, numpy_code}};
/// assert_eq!(numpy_code(DType::Complex64, ByteOrder::Big).as_deref(), Some(">c8"));
/// ```
pub fn numpy_code(dtype: DType, order: ByteOrder) -> Option<String> {
    if Namespace::MlDtypes.name(dtype).is_some() {
        return None;
    }
    let kind = match dtype.kind() {
        Kind::Bool => 'b',
        Kind::SignedInt => 'i',
        Kind::UnsignedInt => 'u',
        Kind::Float => 'f',
        Kind::Complex => 'c',
    };
    let order = match order {
        _ if dtype.size() == 1 => '|',
        ByteOrder::Little => '<',
        ByteOrder::Big => '>',
    };
    Some(format!("{order}{kind}{}", dtype.size()))
}

/// The number of a dtype in ONNX's `TensorProto.DataType`, as of opset 28.
///
/// ```
/// use lanecast::{DType, names::onnx_number};
/// assert_eq!(onnx_number(DType::Float8E5M2), Some(19));
/// ```
pub const fn onnx_number(dtype: DType) -> Option<u8> {
    made::NUMBERS[dtype.code() as usize][0]
}

/// The dtype with this number in ONNX.
pub fn from_onnx_number(number: u8) -> Option<DType> {
    DType::EVERY.iter().copied().find(|dtype| onnx_number(*dtype) == Some(number))
}

/// The type code and the bits of a dtype in DLPack 1.1, for one lane.
///
/// ```
/// use lanecast::{DType, names::dlpack};
/// assert_eq!(dlpack(DType::BFloat16), Some((4, 16)));
/// ```
pub const fn dlpack(dtype: DType) -> Option<(u8, u8)> {
    match made::NUMBERS[dtype.code() as usize] {
        [_, Some(code), Some(bits)] => Some((code, bits)),
        _ => None,
    }
}

/// The dtype with this type code and number of bits in DLPack, for one lane.
pub fn from_dlpack(code: u8, bits: u8) -> Option<DType> {
    DType::EVERY.iter().copied().find(|dtype| dlpack(*dtype) == Some((code, bits)))
}

const _: () = {
    let mut i = 0;
    while i < Namespace::ALL.len() {
        assert!(Namespace::ALL[i] as usize == i, "the namespaces are in the order of their numbers");
        i += 1;
    }
    assert!(made::IDS.len() == Namespace::ALL.len(), "NAMESPACES in build/names.rs are not all");
};
