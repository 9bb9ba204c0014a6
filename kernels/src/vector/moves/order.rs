//! Converts elements to the opposite byte order.
//!
//! *Law.* The bytes of every part of an element are reversed and nothing else changes: NaNs keep all their bits.
//!
//! *Method.* If a cast changes only the order, its kernel is one loop of the tier over words. Otherwise swaps are stages of the route: the source
//! is swapped before the cast, or the results after it.

use crate::{
    dtype::{COUNT, DType},
    format::data::Data,
    vector::kernel::KernelFn,
};

/// The swap kernels of a tier, for words of 2, 4 and 8 bytes and for pairs of words of 4 and 8 bytes.
pub(crate) type Swaps = [KernelFn; 5];

/// The index of every dtype in [`Swaps`]; arbitrary for dtypes without an order.
pub(crate) static PLACES: [u8; COUNT] = {
    let mut places = [0; COUNT];
    let mut i = 0;
    while i < COUNT {
        let (size, word) = (DType::EVERY[i].size(), DType::EVERY[i].alignment());
        places[i] = (word / 4 + 2 * (size / word - 1)) as u8;
        i += 1;
    }
    places
};

/// The swap kernels that every target has.
pub(crate) static SCALAR: Swaps = [swap::<2, 1>, swap::<4, 1>, swap::<8, 1>, swap::<4, 2>, swap::<8, 2>];

/// Swaps `n` elements of `PARTS` words of `WORD` bytes.
///
/// # Safety
///
/// As [`KernelFn`], except that the floating-point environment does not matter.
pub(crate) unsafe fn swap<const WORD: usize, const PARTS: usize>(
    src: *const u8,
    dst: *mut u8,
    n: usize,
    _: &Data,
) {
    macro_rules! words {
        ($word:ty) => {{
            let (src, dst) = (src.cast::<$word>(), dst.cast::<$word>());
            for i in 0..n * PARTS {
                // SAFETY: a word of the caller's elements on either side; no alignment is assumed.
                unsafe { dst.add(i).write_unaligned(src.add(i).read_unaligned().swap_bytes()) };
            }
        }};
    }
    match WORD {
        2 => words!(u16),
        4 => words!(u32),
        _ => words!(u64),
    }
}

/// Tests small enough for Miri; `tests/byte_order.rs` of the root crate tests all routes on all tiers.
#[cfg(test)]
mod tests {
    use crate::{ByteOrder, DType, Encoding, Kernel, Rules, Tier};
    use alloc::{vec, vec::Vec};

    const OTHER: ByteOrder =
        if matches!(ByteOrder::NATIVE, ByteOrder::Little) { ByteOrder::Big } else { ByteOrder::Little };

    fn reversed(bytes: &[u8], of: Encoding) -> Vec<u8> {
        let part = if of.is_swapped() { of.dtype().alignment() } else { 1 };
        bytes.chunks(part).flat_map(|word| word.iter().rev().copied()).collect()
    }

    #[test]
    fn swapped_around_the_native_cast() {
        let pairs = [
            (DType::Float32, DType::Float16),
            (DType::UInt16, DType::Complex64),
            (DType::Float64, DType::Int4),
            (DType::Float6E2M3FN, DType::Int64),
            (DType::Complex128, DType::Complex128),
            (DType::UInt32, DType::UInt32),
            (DType::Int16, DType::UInt16),
        ];
        let lengths: &[usize] = if cfg!(miri) { &[3, 300] } else { &[0, 1, 7, 255, 256, 257, 1024, 5000] };
        for (from, to) in pairs {
            let (from, to) = (Encoding::packed(from), Encoding::packed(to));
            for (source, target) in [(from.with_order(OTHER), to), (from, to.with_order(OTHER))]
                .into_iter()
                .chain([(from.with_order(OTHER), to.with_order(OTHER))])
            {
                for &n in lengths {
                    let rules = Rules::common(to.dtype(), false);
                    let kernel = |from, to| Kernel::new(Tier::Scalar, from, to, &rules).expect("scalar");
                    let len = from.byte_len(n).expect("small");
                    let src: Vec<u8> = (0..len).map(|i| ((i * 151) >> 2) as u8).collect();
                    let (mut want, mut got) = (vec![0; 16 * n], vec![0; 16 * n]);
                    let want = kernel(from, to).run(&src, &mut want, n).expect("large enough");
                    let kernel = kernel(source, target);
                    let got = kernel.run(&reversed(&src, source), &mut got, n).expect("large enough");
                    assert!(*got == reversed(want, target), "{kernel:?}, {n} elements");
                }
            }
        }
    }
}
