//! The packed storages of section 1, one bit at a time: bit `i` of the buffer is bit `i % 8` of byte `i / 8`, and
//! element `k` of a dtype `w` bits wide is bits `k * w` to `k * w + w - 1`, its lowest bit first.

use super::width;
use lanecast::DType;

/// Bytes that `n` packed elements take.
pub fn byte_len(dtype: DType, n: usize) -> usize {
    (n * width(dtype) as usize).div_ceil(8)
}

/// The packed form of these codes; bits that belong to no element are 0.
pub fn pack(dtype: DType, codes: &[u128]) -> Vec<u8> {
    let width = width(dtype) as usize;
    let mut bytes = vec![0_u8; byte_len(dtype, codes.len())];
    for (k, code) in codes.iter().enumerate() {
        for bit in (0..width).filter(|bit| code >> bit & 1 == 1) {
            let place = k * width + bit;
            bytes[place / 8] |= 1 << (place % 8);
        }
    }
    bytes
}

/// The first `n` codes of a packed buffer.
pub fn unpack(dtype: DType, bytes: &[u8], n: usize) -> Vec<u128> {
    let width = width(dtype) as usize;
    let bit = |place: usize| u128::from(bytes[place / 8] >> (place % 8) & 1);
    (0..n).map(|k| (0..width).map(|b| bit(k * width + b) << b).sum()).collect()
}
