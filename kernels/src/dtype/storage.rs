//! How the elements of a dtype are stored in a buffer.

use crate::dtype::{COUNT, DType};
use core::{fmt, ops::Range};

/// Whether dtypes below 8 bits share their bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Storage {
    /// One element per byte in its low bits, as in NumPy arrays of ml_dtypes types. The high bits are ignored on read and
    /// written as zero.
    Byte,
    /// Elements follow each other without gaps, the first in the lowest bits, as in ONNX `raw_data` and safetensors. Bits
    /// after the last element are ignored on read and written as zero.
    Packed,
}

/// Which byte of a multi-byte element comes first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ByteOrder {
    /// The lowest byte comes first: `<` in NumPy.
    Little,
    /// The highest byte comes first: `>` in NumPy.
    Big,
}

impl ByteOrder {
    /// The order of the host.
    pub const NATIVE: ByteOrder =
        if cfg!(target_endian = "big") { ByteOrder::Big } else { ByteOrder::Little };
}

/// The content of a byte buffer: a dtype, the storage of its elements and their byte order.
///
/// Elements may have any alignment. Multi-byte elements are in the byte order of the host unless [`with_order`](Self::with_order) says otherwise.
/// The two parts of a complex number are swapped separately.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Encoding {
    dtype: DType,
    form: Form,
}

/// Storage and byte order in one enum, since packed elements have no byte order. Every call of a plan reads two encodings, which is faster if each
/// takes two bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Form {
    Byte,
    Packed,
    Swapped,
}

impl Encoding {
    /// Elements with separate bytes, one per byte if they are smaller.
    pub const fn new(dtype: DType) -> Self {
        Self { dtype, form: Form::Byte }
    }

    /// Elements of 2, 4 and 6 bits packed. For all other dtypes, whose elements fill their bytes, this is the same as
    /// [`new`](Self::new).
    pub const fn packed(dtype: DType) -> Self {
        Self { dtype, form: if dtype.is_sub_byte() { Form::Packed } else { Form::Byte } }
    }

    /// [`packed`](Self::packed) or [`new`](Self::new), as `storage` says.
    pub const fn with_storage(dtype: DType, storage: Storage) -> Self {
        match storage {
            Storage::Byte => Self::new(dtype),
            Storage::Packed => Self::packed(dtype),
        }
    }

    /// The same with elements in the given byte order. Elements of one byte or less have no order, so for them this changes nothing.
    pub const fn with_order(self, order: ByteOrder) -> Self {
        if self.dtype.alignment() == 1 {
            return self;
        }
        let form = if order as u8 == ByteOrder::NATIVE as u8 { Form::Byte } else { Form::Swapped };
        Self { form, ..self }
    }

    /// The byte order of the elements; the host's order for elements of one byte or less.
    pub const fn order(self) -> ByteOrder {
        match (self.is_swapped(), ByteOrder::NATIVE) {
            (false, native) => native,
            (true, ByteOrder::Little) => ByteOrder::Big,
            (true, ByteOrder::Big) => ByteOrder::Little,
        }
    }

    /// Whether the elements are in the opposite byte order to the host's.
    pub const fn is_swapped(self) -> bool {
        matches!(self.form, Form::Swapped)
    }

    /// The same elements in the byte order of the host.
    pub const fn native(self) -> Self {
        match self.form {
            Form::Swapped => Self { form: Form::Byte, ..self },
            Form::Byte | Form::Packed => self,
        }
    }

    /// The dtype of the elements.
    pub const fn dtype(self) -> DType {
        self.dtype
    }

    /// The storage: [`Storage::Packed`] only if elements really share bytes.
    pub const fn storage(self) -> Storage {
        if self.is_packed() { Storage::Packed } else { Storage::Byte }
    }

    /// The distance from one element to the next in bits.
    #[inline]
    pub const fn bits_per_element(self) -> u32 {
        /// `[form][dtype]`: a table, because every call of a plan reads it.
        const BITS: [[u8; COUNT]; 3] = {
            let mut bits = [[0; COUNT]; 3];
            let mut i = 0;
            while i < COUNT {
                bits[Form::Byte as usize][i] = 8 * DType::EVERY[i].size() as u8;
                bits[Form::Packed as usize][i] = DType::EVERY[i].bits() as u8;
                bits[Form::Swapped as usize][i] = bits[Form::Byte as usize][i];
                i += 1;
            }
            bits
        };
        BITS[self.form as usize][self.dtype as usize] as u32
    }

    /// The bytes that `n` elements take, including a last partial byte; `None` if that exceeds [`isize::MAX`], the limit of every
    /// buffer.
    #[inline]
    pub const fn byte_len(self, n: usize) -> Option<usize> {
        bytes_of(n, self.bits_per_element() as usize)
    }

    /// The bytes of `count` elements from `first` on, where element `first` begins a byte.
    #[doc(hidden)]
    pub fn span(self, first: usize, count: usize) -> Range<usize> {
        let bits = self.bits_per_element() as usize;
        let start = first / 8 * bits + first % 8 * bits / 8;
        // Divide first: the number of bits may overflow a `usize`.
        start..start + count / 8 * bits + (count % 8 * bits).div_ceil(8)
    }

    pub(crate) const fn is_packed(self) -> bool {
        matches!(self.form, Form::Packed)
    }
}

/// The bytes of `n` elements of `bits` bits, including a last partial byte; `None` if that exceeds [`isize::MAX`].
#[inline]
pub(crate) const fn bytes_of(n: usize, bits: usize) -> Option<usize> {
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

impl From<DType> for Encoding {
    fn from(dtype: DType) -> Self {
        Self::new(dtype)
    }
}

impl fmt::Display for Encoding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.dtype.name())?;
        match (self.dtype.is_sub_byte(), self.storage()) {
            (true, Storage::Packed) => f.write_str(" (packed)"),
            (true, Storage::Byte) => f.write_str(" (one per byte)"),
            (false, _) => Ok(()),
        }?;
        match (self.is_swapped(), self.order()) {
            (false, _) => Ok(()),
            (true, ByteOrder::Little) => f.write_str(" (little-endian)"),
            (true, ByteOrder::Big) => f.write_str(" (big-endian)"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::string::ToString;

    #[test]
    fn lengths() {
        assert_eq!(Encoding::new(DType::Int4).byte_len(5), Some(5));
        assert_eq!(Encoding::packed(DType::Int4).byte_len(5), Some(3));
        assert_eq!(Encoding::packed(DType::UInt2).byte_len(5), Some(2));
        assert_eq!(Encoding::packed(DType::Float6E2M3FN).byte_len(5), Some(4));
        assert_eq!(Encoding::packed(DType::Complex128).byte_len(5), Some(80));
        assert_eq!(Encoding::packed(DType::Float32).storage(), Storage::Byte);
        assert_eq!(Encoding::new(DType::Float64).byte_len(usize::MAX), None);
        assert_eq!(Encoding::new(DType::UInt8).byte_len(usize::MAX), None);
        assert_eq!(Encoding::packed(DType::Int4).to_string(), "int4 (packed)");
        assert_eq!(Encoding::from(DType::Float32).to_string(), "float32");
    }
}
