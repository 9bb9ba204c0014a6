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
//! [`DType::name`] and `DType::from_str` are the names of lanecast itself; [`DType::onnx`] and [`DType::dlpack`] are numbers of other systems.

use crate::{ByteOrder, DType, Encoding, Kind, UnknownName};
use alloc::{format, string::String};

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
    /// [`encoding`](Self::encoding)). `long`, `int` and similar names mean what they do on 64-bit Linux. ml_dtypes has no codes.
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
    /// ONNX: the names of `TensorProto.DataType`; its numbers are [`DType::onnx`].
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

    /// The dtype of this name, in whatever byte order ([`encoding`](Self::encoding)).
    ///
    /// # Errors
    ///
    /// [`UnknownName`] if the system has no such name, or lanecast no such dtype.
    pub fn parse(self, name: &str) -> Result<DType, UnknownName> {
        self.encoding(name).map(Encoding::dtype)
    }

    /// The dtype and the byte order of a name: NumPy's codes `<f4`, `>i2`, `|u1` and `=f8` have one. Every other name means the byte order
    /// of the host.
    ///
    /// ```
    /// use lanecast::{ByteOrder, DType, Encoding, names::Namespace};
    /// let big = Encoding::new(DType::Int16).with_order(ByteOrder::Big);
    /// assert_eq!(Namespace::NumPy.encoding(">i2"), Ok(big));
    /// assert_eq!(Namespace::NumPy.encoding("f8"), Ok(DType::Float64.into()));
    /// ```
    ///
    /// # Errors
    ///
    /// [`UnknownName`] if the system has no such name, or lanecast no such dtype.
    pub fn encoding(self, name: &str) -> Result<Encoding, UnknownName> {
        let (order, code) = match name.split_at_checked(1) {
            Some(("<", code)) => (Some(ByteOrder::Little), code),
            Some((">", code)) => (Some(ByteOrder::Big), code),
            Some(("=" | "|", code)) => (Some(ByteOrder::NATIVE), code),
            _ => (None, name),
        };
        // Only codes have an order: a letter, or a letter and the size in bytes.
        let may_have_order =
            || self == Namespace::NumPy && code.bytes().skip(1).all(|byte| byte.is_ascii_digit());
        match self.find(code) {
            Some(dtype) if order.is_none() || may_have_order() => {
                Ok(Encoding::new(dtype).with_order(order.unwrap_or(ByteOrder::NATIVE)))
            }
            _ => Err(self.unknown(name)),
        }
    }

    /// The code that the system writes into files, with the byte order: `<f4` or `|b1`. Only NumPy has such codes, and not for the dtypes of
    /// ml_dtypes: `None` for all others.
    ///
    /// ```
    /// use lanecast::{ByteOrder, DType, Encoding, names::Namespace};
    /// let big = Encoding::new(DType::Complex64).with_order(ByteOrder::Big);
    /// assert_eq!(Namespace::NumPy.code(big).as_deref(), Some(">c8"));
    /// assert_eq!(Namespace::NumPy.code(DType::BFloat16), None);
    /// ```
    pub fn code(self, encoding: impl Into<Encoding>) -> Option<String> {
        let encoding = encoding.into();
        let dtype = encoding.dtype();
        if self != Namespace::NumPy || Namespace::MlDtypes.name(dtype).is_some() {
            return None;
        }
        let kind = match dtype.kind() {
            Kind::Bool => 'b',
            Kind::SignedInt => 'i',
            Kind::UnsignedInt => 'u',
            Kind::Float => 'f',
            Kind::Complex => 'c',
        };
        let order = match encoding.order() {
            _ if dtype.size() == 1 => '|',
            ByteOrder::Little => '<',
            ByteOrder::Big => '>',
        };
        Some(format!("{order}{kind}{}", dtype.size()))
    }

    #[cold]
    fn unknown(self, name: &str) -> UnknownName {
        let known = DType::EVERY.iter().filter_map(|dtype| self.name(*dtype)).collect();
        UnknownName::new(format!("{} dtype", self.id()), name, known)
    }

    fn find(self, name: &str) -> Option<DType> {
        DType::EVERY.iter().copied().find(|dtype| self.names(*dtype).contains(&name))
    }
}

const _: () = {
    let mut i = 0;
    while i < Namespace::ALL.len() {
        assert!(Namespace::ALL[i] as usize == i, "the namespaces are in the order of their numbers");
        i += 1;
    }
    assert!(made::IDS.len() == Namespace::ALL.len(), "NAMESPACES in build/names.rs are not all");
};
