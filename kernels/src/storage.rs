//! How the elements of a dtype lie in a buffer.

use crate::dtype::{COUNT, DType};
use core::fmt;

/// Whether dtypes below 8 bits share their bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Storage {
    /// One element per byte in its low bits, as NumPy arrays of ml_dtypes types. The high bits are ignored on read and
    /// written zero.
    Byte,
    /// Elements follow each other without a gap, the first in the lowest bits, as ONNX `raw_data` and safetensors. Bits
    /// after the last element are ignored on read and written zero.
    Packed,
}

/// A dtype and the storage of its elements: what a byte buffer holds.
///
/// Elements of more than one byte are in the byte order of the host, at any alignment.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct BufferType {
    dtype: DType,
    storage: Storage,
}

impl BufferType {
    /// Every element in bytes of its own.
    pub const fn new(dtype: DType) -> Self {
        Self { dtype, storage: Storage::Byte }
    }

    /// Elements of 2, 4 and 6 bits packed. For all other dtypes this is the same as [`new`](Self::new): their elements
    /// fill their bytes.
    pub const fn packed(dtype: DType) -> Self {
        Self { dtype, storage: if dtype.is_sub_byte() { Storage::Packed } else { Storage::Byte } }
    }

    /// [`packed`](Self::packed) or [`new`](Self::new), as `storage` says.
    pub const fn with_storage(dtype: DType, storage: Storage) -> Self {
        match storage {
            Storage::Byte => Self::new(dtype),
            Storage::Packed => Self::packed(dtype),
        }
    }

    /// The dtype of the elements.
    pub const fn dtype(self) -> DType {
        self.dtype
    }

    /// [`Storage::Packed`] only if elements do share bytes.
    pub const fn storage(self) -> Storage {
        self.storage
    }

    /// The distance from one element to the next in bits.
    #[inline]
    pub const fn bits_per_element(self) -> u32 {
        /// `[storage][dtype]`: every call of a plan asks.
        const BITS: [[u8; COUNT]; 2] = {
            let mut bits = [[0; COUNT]; 2];
            let mut i = 0;
            while i < COUNT {
                bits[Storage::Byte as usize][i] = 8 * DType::ALL[i].size() as u8;
                bits[Storage::Packed as usize][i] = DType::ALL[i].bits() as u8;
                i += 1;
            }
            bits
        };
        BITS[self.storage as usize][self.dtype as usize] as u32
    }

    /// Bytes that `n` elements take, a last partial byte included; `None` if that is above [`isize::MAX`], which no buffer
    /// can reach.
    #[inline]
    pub const fn byte_len(self, n: usize) -> Option<usize> {
        let bits = self.bits_per_element() as usize;
        let bytes = if bits.is_multiple_of(8) {
            n.checked_mul(bits / 8)
        } else {
            // Less than a byte per element.
            Some(n / 8 * bits + (n % 8 * bits).div_ceil(8))
        };
        match bytes {
            Some(bytes) if bytes <= isize::MAX as usize => Some(bytes),
            _ => None,
        }
    }

    pub(crate) const fn is_packed(self) -> bool {
        matches!(self.storage, Storage::Packed)
    }
}

impl From<DType> for BufferType {
    fn from(dtype: DType) -> Self {
        Self::new(dtype)
    }
}

impl fmt::Display for BufferType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.dtype.name())?;
        match (self.dtype.is_sub_byte(), self.storage) {
            (true, Storage::Packed) => f.write_str(" (packed)"),
            (true, Storage::Byte) => f.write_str(" (one per byte)"),
            (false, _) => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::string::ToString;

    #[test]
    fn lengths() {
        assert_eq!(BufferType::new(DType::Int4).byte_len(5), Some(5));
        assert_eq!(BufferType::packed(DType::Int4).byte_len(5), Some(3));
        assert_eq!(BufferType::packed(DType::UInt2).byte_len(5), Some(2));
        assert_eq!(BufferType::packed(DType::Float6E2M3FN).byte_len(5), Some(4));
        assert_eq!(BufferType::packed(DType::Complex128).byte_len(5), Some(80));
        assert_eq!(BufferType::packed(DType::Float32).storage(), Storage::Byte);
        assert_eq!(BufferType::new(DType::Float64).byte_len(usize::MAX), None);
        assert_eq!(BufferType::new(DType::UInt8).byte_len(usize::MAX), None);
        assert_eq!(BufferType::packed(DType::Int4).to_string(), "int4 (packed)");
        assert_eq!(BufferType::from(DType::Float32).to_string(), "float32");
    }
}
