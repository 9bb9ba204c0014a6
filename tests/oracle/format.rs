//! The formats, stated as in section 1 of `docs/semantics.md`: by their codes.

use super::value::{Nan, Value};
use lanecast::DType;

/// What a dtype is to the oracle.
#[derive(Clone, Copy)]
pub enum Class {
    /// A truth value in a byte.
    Bool,
    /// An integer.
    Int {
        /// Width in bits.
        bits: u32,
        /// Whether it is two's complement.
        signed: bool,
    },
    /// A float with sign, exponent and mantissa.
    Float(&'static Float),
    /// `float8_e8m0fnu`: the code `c` is `2^(c - 127)`, 0xFF is NaN.
    PowerOfTwo,
    /// Two floats of this dtype.
    Complex(DType),
}

/// Where a float keeps its NaNs.
#[derive(Clone, Copy, PartialEq)]
pub enum Nans {
    /// Every magnitude code above this one.
    Above(u64),
    /// The code of negative zero and no other.
    NegativeZero,
    /// There is none.
    None,
}

/// Which rules a float target follows.
#[derive(Clone, Copy, PartialEq)]
pub enum Rules {
    /// Section 4: overflow to infinity.
    Wide,
    /// Section 6.1: overflow by the `saturate` option.
    Eight,
    /// Section 6.6: overflow clamps.
    Tiny,
}

/// A float format.
pub struct Float {
    /// The dtype.
    pub dtype: DType,
    /// Width of a code in bits.
    pub width: u32,
    /// Width of the mantissa field.
    pub mantissa: u32,
    /// What is subtracted from the exponent field.
    pub bias: i32,
    /// The magnitude code of the largest finite value.
    pub largest: u64,
    /// The magnitude code of infinity.
    pub infinity: Option<u64>,
    /// The codes of NaN.
    pub nans: Nans,
    /// The code of positive NaN that a cast writes.
    pub nan: u64,
    /// The rules of casts into it.
    pub rules: Rules,
}

impl Float {
    /// The code whose only set bit is the sign.
    pub fn sign(&self) -> u64 {
        1 << (self.width - 1)
    }

    /// Whether it has no negative zero.
    pub fn unsigned_zero(&self) -> bool {
        self.nans == Nans::NegativeZero
    }

    /// The significand and the exponent of a magnitude code read as a finite value, also above the largest one, where
    /// the codes go on as if the exponent range were unbounded.
    pub fn magnitude(&self, code: u64) -> (u64, i32) {
        let (field, fraction) = (code >> self.mantissa, code & ((1 << self.mantissa) - 1));
        let least = 1 - self.bias - self.mantissa as i32;
        match field {
            0 => (fraction, least),
            _ => (fraction | 1 << self.mantissa, least + (field - 1) as i32),
        }
    }

    /// The exact value of a code.
    pub fn decode(&self, code: u64) -> Value {
        let (negative, magnitude) = (code & self.sign() != 0, code & (self.sign() - 1));
        let nan = match self.nans {
            Nans::Above(top) => magnitude > top,
            Nans::NegativeZero => code == self.sign(),
            Nans::None => false,
        };
        if nan {
            // Payloads live in formats of 16 bits and more only.
            let field = magnitude & ((1 << self.mantissa) - 1);
            let payload = (self.width >= 16).then(|| field << (64 - self.mantissa));
            return Value::Nan(Nan { negative, payload });
        }
        if self.infinity == Some(magnitude) {
            return Value::Infinite { negative };
        }
        let (sig, exp) = self.magnitude(magnitude);
        Value::finite(negative, sig, exp)
    }
}

const fn ieee(dtype: DType, width: u32, mantissa: u32, bias: i32, infinity: u64, nan: u64) -> Float {
    let rules = if width == 8 { Rules::Eight } else { Rules::Wide };
    let nans = Nans::Above(infinity);
    Float { dtype, width, mantissa, bias, largest: infinity - 1, infinity: Some(infinity), nans, nan, rules }
}

const fn fnuz(dtype: DType, mantissa: u32, bias: i32) -> Float {
    let (nans, rules) = (Nans::NegativeZero, Rules::Eight);
    Float { dtype, width: 8, mantissa, bias, largest: 0x7F, infinity: None, nans, nan: 0x80, rules }
}

const fn finite(dtype: DType, width: u32, mantissa: u32, bias: i32, largest: u64) -> Float {
    let (nans, rules) = (Nans::None, Rules::Tiny);
    Float { dtype, width, mantissa, bias, largest, infinity: None, nans, nan: 0, rules }
}

static FLOATS: [Float; 14] = [
    ieee(DType::Float16, 16, 10, 15, 0x7C00, 0x7E00),
    ieee(DType::BFloat16, 16, 7, 127, 0x7F80, 0x7FC0),
    ieee(DType::Float32, 32, 23, 127, 0x7F80_0000, 0x7FC0_0000),
    ieee(DType::Float64, 64, 52, 1023, 0x7FF0_0000_0000_0000, 0x7FF8_0000_0000_0000),
    Float {
        dtype: DType::Float8E4M3FN,
        width: 8,
        mantissa: 3,
        bias: 7,
        largest: 0x7E,
        infinity: None,
        nans: Nans::Above(0x7E),
        nan: 0x7F,
        rules: Rules::Eight,
    },
    fnuz(DType::Float8E4M3FNUZ, 3, 8),
    ieee(DType::Float8E5M2, 8, 2, 15, 0x7C, 0x7E),
    fnuz(DType::Float8E5M2FNUZ, 2, 16),
    ieee(DType::Float8E3M4, 8, 4, 3, 0x70, 0x78),
    ieee(DType::Float8E4M3, 8, 3, 7, 0x78, 0x7C),
    fnuz(DType::Float8E4M3B11FNUZ, 3, 11),
    finite(DType::Float6E2M3FN, 6, 3, 1, 0x1F),
    finite(DType::Float6E3M2FN, 6, 2, 3, 0x1F),
    finite(DType::Float4E2M1FN, 4, 1, 1, 0x7),
];

/// What `dtype` is. The row of a float is its place in `FLOATS`.
pub fn class(dtype: DType) -> Class {
    let int = |bits, signed| Class::Int { bits, signed };
    let float = |row: usize| Class::Float(&FLOATS[row]);
    match dtype {
        DType::Bool => Class::Bool,
        DType::Int2 => int(2, true),
        DType::Int4 => int(4, true),
        DType::Int8 => int(8, true),
        DType::Int16 => int(16, true),
        DType::Int32 => int(32, true),
        DType::Int64 => int(64, true),
        DType::UInt2 => int(2, false),
        DType::UInt4 => int(4, false),
        DType::UInt8 => int(8, false),
        DType::UInt16 => int(16, false),
        DType::UInt32 => int(32, false),
        DType::UInt64 => int(64, false),
        DType::Float16 => float(0),
        DType::BFloat16 => float(1),
        DType::Float32 => float(2),
        DType::Float64 => float(3),
        DType::Complex64 => Class::Complex(DType::Float32),
        DType::Complex128 => Class::Complex(DType::Float64),
        DType::Float8E4M3FN => float(4),
        DType::Float8E4M3FNUZ => float(5),
        DType::Float8E5M2 => float(6),
        DType::Float8E5M2FNUZ => float(7),
        DType::Float8E8M0FNU => Class::PowerOfTwo,
        DType::Float8E3M4 => float(8),
        DType::Float8E4M3 => float(9),
        DType::Float8E4M3B11FNUZ => float(10),
        DType::Float6E2M3FN => float(11),
        DType::Float6E3M2FN => float(12),
        DType::Float4E2M1FN => float(13),
        other => panic!("{other} is not known to the oracle: state its definition here"),
    }
}

/// All float formats with a mantissa.
pub fn floats() -> &'static [Float] {
    &FLOATS
}
