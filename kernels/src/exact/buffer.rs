//! Reads and writes single elements in memory.

use crate::dtype::DType;

/// The parts of an element in native byte order, the first part lowest.
pub(crate) fn read(bytes: &[u8], dtype: DType) -> u128 {
    let part = dtype.alignment();
    bytes.chunks_exact(part).rev().fold(0, |code, bytes| {
        let mut word = [0; 8];
        if cfg!(target_endian = "little") {
            word[..part].copy_from_slice(bytes);
        } else {
            word[8 - part..].copy_from_slice(bytes);
        }
        code << (8 * part) | u64::from_ne_bytes(word) as u128
    })
}

/// Writes the parts of an element; the inverse of [`read`].
pub(crate) fn write(mut code: u128, dtype: DType, out: &mut [u8]) {
    let part = dtype.alignment();
    for bytes in out.chunks_exact_mut(part) {
        let word = (code as u64).to_ne_bytes();
        let word = if cfg!(target_endian = "little") { &word[..part] } else { &word[8 - part..] };
        bytes.copy_from_slice(word);
        code >>= 8 * part;
    }
}
