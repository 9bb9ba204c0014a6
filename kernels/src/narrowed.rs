//! Wide integers to floats whose range ends far below 127: through integers of a byte.
//!
//! Every value beyond the range of such a float has the same result. So saturating to 8 bits first changes no result, and casts from
//! 8-bit integers look their results up, under any rules.

use crate::{
    data::Data,
    dtype::{DType, Flavor, Spec},
    table::KernelFn,
};
use core::mem::MaybeUninit;

/// Elements of a block: whole bytes of every packed width, and a small part of the first cache.
pub(crate) const BLOCK: usize = 512;

/// The first of two steps.
#[derive(Clone, Copy)]
pub(crate) struct First {
    pub(crate) run: KernelFn,
    pub(crate) data: &'static Data,
    /// Bytes of an element of the source.
    pub(crate) size: usize,
}

/// The integer of a byte through which a pair is cast, if it is one of these.
pub(crate) const fn through(from: DType, to: DType) -> Option<DType> {
    let is_short = match to.spec() {
        // 2^6 is beyond the range, and so is whatever rounds to it.
        Spec::Float(f) => !matches!(f.flavor, Flavor::Exponent) && f.max_exponent() < 6,
        _ => false,
    };
    match from.spec() {
        Spec::Int { bits: 16.., signed } if is_short => Some(if signed { DType::Int8 } else { DType::UInt8 }),
        _ => None,
    }
}

/// Both steps, block by block.
///
/// # Safety
///
/// As [`KernelFn`] of the pair of the source of `data.first` and the target of `data.second`; what the one writes is what the other
/// reads: bytes.
pub(crate) unsafe fn run(mut src: *const u8, mut dst: *mut u8, mut n: usize, data: &Data) {
    let (Some(first), Some((second, bits))) = (data.first, data.second) else {
        debug_assert!(false, "`Kernel::narrowed` puts both steps into the data");
        return;
    };
    #[repr(align(64))]
    struct Stage([MaybeUninit<u8>; BLOCK]);
    let mut stage = Stage([const { MaybeUninit::uninit() }; BLOCK]);
    let bytes = stage.0.as_mut_ptr().cast::<u8>();
    while n > 0 {
        let count = n.min(BLOCK);
        // SAFETY: `count` of the caller's elements on either side; the first step writes all that the second reads.
        unsafe {
            (first.run)(src, bytes, count, first.data);
            second(bytes, dst, count, data);
            // A block that is not the last has whole bytes.
            (src, dst) = (src.add(count * first.size), dst.add((count * bits as usize).div_ceil(8)));
        }
        n -= count;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pairs() {
        for &to in DType::EVERY {
            let short = matches!(
                to,
                DType::Float8E3M4
                    | DType::Float8E4M3B11FNUZ
                    | DType::Float6E2M3FN
                    | DType::Float6E3M2FN
                    | DType::Float4E2M1FN
            );
            assert_eq!(through(DType::Int64, to), short.then_some(DType::Int8), "{to}");
            assert_eq!(through(DType::UInt16, to), short.then_some(DType::UInt8), "{to}");
            assert_eq!(through(DType::Int8, to), None);
            assert_eq!(through(DType::Float32, to), None);
        }
    }
}
