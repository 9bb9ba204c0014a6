//! The numbers of dtypes in ONNX and DLPack.

use super::DType;
use crate::dtype::Encoding;

/// Defines two functions from one list: from dtypes to the numbers of another system, and back. The compiler warns if a number or a dtype occurs
/// twice.
macro_rules! numbers {
    ($to:ident, $from:ident, $number:ty: $($value:tt $variant:ident,)*) => {
        const fn $to(dtype: DType) -> Option<$number> {
            match dtype {
                $(DType::$variant => Some($value),)*
                #[allow(unreachable_patterns, reason = "the system may have every dtype")]
                _ => None,
            }
        }

        const fn $from(number: $number) -> Option<DType> {
            match number {
                $($value => Some(DType::$variant),)*
                _ => None,
            }
        }
    };
}

// `TensorProto.DataType` of ONNX, opset 28.
numbers! { to_onnx, of_onnx, u8:
    1 Float32,
    2 UInt8,
    3 Int8,
    4 UInt16,
    5 Int16,
    6 Int32,
    7 Int64,
    9 Bool,
    10 Float16,
    11 Float64,
    12 UInt32,
    13 UInt64,
    14 Complex64,
    15 Complex128,
    16 BFloat16,
    17 Float8E4M3FN,
    18 Float8E4M3FNUZ,
    19 Float8E5M2,
    20 Float8E5M2FNUZ,
    21 UInt4,
    22 Int4,
    23 Float4E2M1FN,
    24 Float8E8M0FNU,
    25 UInt2,
    26 Int2,
    27 Float6E2M3FN,
    28 Float6E3M2FN,
}

// `DLDataTypeCode` of DLPack 1.1 and the bits of a lane.
numbers! { to_dlpack, of_dlpack, (u8, u8):
    (0, 2) Int2,
    (0, 4) Int4,
    (0, 8) Int8,
    (0, 16) Int16,
    (0, 32) Int32,
    (0, 64) Int64,
    (1, 2) UInt2,
    (1, 4) UInt4,
    (1, 8) UInt8,
    (1, 16) UInt16,
    (1, 32) UInt32,
    (1, 64) UInt64,
    (2, 16) Float16,
    (2, 32) Float32,
    (2, 64) Float64,
    (4, 16) BFloat16,
    (5, 64) Complex64,
    (5, 128) Complex128,
    (6, 8) Bool,
    (7, 8) Float8E3M4,
    (8, 8) Float8E4M3,
    (9, 8) Float8E4M3B11FNUZ,
    (10, 8) Float8E4M3FN,
    (11, 8) Float8E4M3FNUZ,
    (12, 8) Float8E5M2,
    (13, 8) Float8E5M2FNUZ,
    (14, 8) Float8E8M0FNU,
    (15, 6) Float6E2M3FN,
    (16, 6) Float6E3M2FN,
    (17, 4) Float4E2M1FN,
}

impl DType {
    /// The number of the dtype in ONNX's `TensorProto.DataType`, as of opset 28; `None` if ONNX does not have the dtype.
    ///
    /// ```
    /// # use lanecast_kernels as lanecast;
    /// use lanecast::DType;
    /// assert_eq!(DType::Float8E5M2.onnx(), Some(19));
    /// ```
    pub const fn onnx(self) -> Option<u8> {
        to_onnx(self)
    }

    /// The dtype with this number in ONNX's `TensorProto.DataType`; `None` for the numbers of strings and of no type.
    pub const fn from_onnx(number: u8) -> Option<DType> {
        of_onnx(number)
    }

    /// The type code of the dtype in DLPack 1.1 and its bits, for one lane; `None` if DLPack does not have the dtype.
    ///
    /// ```
    /// # use lanecast_kernels as lanecast;
    /// use lanecast::DType;
    /// assert_eq!(DType::BFloat16.dlpack(), Some((4, 16)));
    /// ```
    pub const fn dlpack(self) -> Option<(u8, u8)> {
        to_dlpack(self)
    }

    /// The dtype with this type code and number of bits in DLPack, for one lane; `None` if there is none.
    pub const fn from_dlpack(code: u8, bits: u8) -> Option<DType> {
        of_dlpack((code, bits))
    }
}

impl Encoding {
    /// The encoding of the elements of a DLPack tensor: the fields of its `DLDataType`, and whether its flags have
    /// `DLPACK_FLAG_BITMASK_IS_SUBBYTE_TYPE_PADDED`, which gives every element of less than 8 bits a byte of its own.
    ///
    /// `lanes` is 1, or 2 for pairs of packed `float4_e2m1fn`: the tensor then has twice as many elements along its last axis as its shape
    /// says. `None` if no dtype has these numbers.
    ///
    /// ```
    /// # use lanecast_kernels as lanecast;
    /// use lanecast::{DType, Encoding};
    /// assert_eq!(Encoding::from_dlpack(2, 32, 1, false), Some(DType::Float32.into()));
    /// assert_eq!(Encoding::from_dlpack(17, 4, 2, false), Some(Encoding::packed(DType::Float4E2M1FN)));
    /// assert_eq!(Encoding::from_dlpack(2, 32, 4, false), None);
    /// ```
    pub const fn from_dlpack(code: u8, bits: u8, lanes: u16, padded: bool) -> Option<Encoding> {
        match (of_dlpack((code, bits)), lanes, padded) {
            (Some(dtype), 1, true) => Some(Encoding::new(dtype)),
            (Some(dtype), 1, false) => Some(Encoding::packed(dtype)),
            (Some(DType::Float4E2M1FN), 2, false) => Some(Encoding::packed(DType::Float4E2M1FN)),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_come_back() {
        for &dtype in DType::EVERY {
            assert!(dtype.onnx().is_none_or(|number| DType::from_onnx(number) == Some(dtype)), "{dtype}");
            let (code, bits) = dtype.dlpack().expect("DLPack has all");
            assert_eq!((DType::from_dlpack(code, bits), u32::from(bits)), (Some(dtype), dtype.bits()));
            assert_eq!(Encoding::from_dlpack(code, bits, 1, true), Some(Encoding::new(dtype)));
            assert_eq!(Encoding::from_dlpack(code, bits, 1, false), Some(Encoding::packed(dtype)));
        }
        assert_eq!([DType::from_onnx(0), DType::from_onnx(8), DType::from_dlpack(0, 1)], [None; 3]);
    }
}
