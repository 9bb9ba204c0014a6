//! The types that are elements.

use super::{codec::Format, newtypes::*};
use crate::{
    dtype::{DType, Element},
    exact::hub::Hub,
};

macro_rules! impl_elements {
    ($($kind:ident ($variant:ident, $format:ty, $code:literal, $name:literal, $spec:expr, [$($alias:literal),*]))*) => {
        $(
            // SAFETY: the assertions check the size; primitive types, `half`'s (`repr(transparent)` over u16), `num-complex`'s (`repr(C)` of two
            // floats) and the newtypes (`repr(transparent)` over u8) have no padding. All of them except bool accept every bit pattern, and
            // encoders of bool write 0 or 1.
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
