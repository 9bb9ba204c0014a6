//! The operands of operations.

use core::fmt;
use lanecast_kernels::{DType, Kind};

/// The kind of a Python number. (In Python a bool is also an int, so check for bool first.)
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum NumberKind {
    /// `True` or `False`.
    Bool,
    /// An `int`.
    Int,
    /// A `float`.
    Float,
    /// A `complex`.
    Complex,
}

impl NumberKind {
    /// All kinds, from the lowest to the highest.
    pub const ALL: [NumberKind; 4] =
        [NumberKind::Bool, NumberKind::Int, NumberKind::Float, NumberKind::Complex];

    /// The name of the type in Python.
    pub const fn name(self) -> &'static str {
        match self {
            NumberKind::Bool => "bool",
            NumberKind::Int => "int",
            NumberKind::Float => "float",
            NumberKind::Complex => "complex",
        }
    }

    /// The kind of a dtype's elements as numbers.
    pub const fn of(dtype: DType) -> NumberKind {
        match dtype.kind() {
            Kind::Bool => NumberKind::Bool,
            Kind::SignedInt | Kind::UnsignedInt => NumberKind::Int,
            Kind::Float => NumberKind::Float,
            Kind::Complex => NumberKind::Complex,
        }
    }
}

impl fmt::Display for NumberKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// An operand of an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Operand {
    /// An array with dimensions.
    Array(DType),
    /// An array without dimensions. Only PyTorch gives it less weight than others.
    ZeroDim(DType),
    /// An array whose dtype came from Python numbers. Only JAX has these; the other standards refuse it.
    Weak(DType),
    /// A Python number.
    Number(NumberKind),
    /// A Python int of this value: a [`Number`](Self::Number) that is checked against the range of the result.
    Int(i128),
}

impl Operand {
    /// The dtype of an array.
    pub const fn dtype(self) -> Option<DType> {
        match self {
            Operand::Array(dtype) | Operand::ZeroDim(dtype) | Operand::Weak(dtype) => Some(dtype),
            Operand::Number(_) | Operand::Int(_) => None,
        }
    }

    /// The kind of a Python number.
    pub const fn number(self) -> Option<NumberKind> {
        match self {
            Operand::Number(kind) => Some(kind),
            Operand::Int(_) => Some(NumberKind::Int),
            Operand::Array(_) | Operand::ZeroDim(_) | Operand::Weak(_) => None,
        }
    }
}

impl From<DType> for Operand {
    fn from(dtype: DType) -> Self {
        Operand::Array(dtype)
    }
}

impl From<NumberKind> for Operand {
    fn from(kind: NumberKind) -> Self {
        Operand::Number(kind)
    }
}

impl fmt::Display for Operand {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Operand::Array(dtype) => dtype.fmt(f),
            Operand::ZeroDim(dtype) => write!(f, "0-d {dtype}"),
            Operand::Weak(dtype) => write!(f, "weak {dtype}"),
            Operand::Number(kind) => write!(f, "a Python {kind}"),
            Operand::Int(value) => value.fmt(f),
        }
    }
}

/// The dtype of a result.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct Resolved {
    /// The dtype to compute in.
    pub dtype: DType,
    /// Whether the result is weakly typed (JAX); the caller then passes it on as [`Operand::Weak`].
    pub weak: bool,
}
