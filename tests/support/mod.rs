//! What the tests share: elements in buffers, the options that matter to a pair, the tiers of this machine, patterns
//! that are hard to cast, and the comparison of a plan with the oracle.

#![allow(dead_code, unused_macros, reason = "every test binary uses another part of it")]

pub mod check;
#[macro_use]
pub mod data;
pub mod every_tier;
pub mod options;
pub mod pages;
pub mod patterns;
pub mod rng;
#[macro_use]
pub mod sources;
pub mod sweep;
pub mod tiers;

use crate::oracle;
use lanecast::{DType, Encoding, Storage};

/// The storages of a dtype: packed as well if that is another one.
pub fn storages(dtype: DType) -> Vec<Encoding> {
    let mut all = vec![Encoding::new(dtype)];
    if oracle::width(dtype) < 8 {
        all.push(Encoding::packed(dtype));
    }
    all
}

/// Bytes of one element that does not share them.
pub fn size(dtype: DType) -> usize {
    oracle::width(dtype).div_ceil(8) as usize
}

/// Bytes that `n` elements take.
pub fn byte_len(buffer: Encoding, n: usize) -> usize {
    match buffer.storage() {
        Storage::Byte => n * size(buffer.dtype()),
        Storage::Packed => oracle::packed::byte_len(buffer.dtype(), n),
    }
}

/// These codes as a buffer. One element per byte takes the codes as they are, unused high bits included.
pub fn store(buffer: Encoding, codes: &[u128]) -> Vec<u8> {
    if buffer.storage() == Storage::Packed {
        return oracle::packed::pack(buffer.dtype(), codes);
    }
    let mut bytes = Vec::with_capacity(byte_len(buffer, codes.len()));
    for &code in codes {
        // Complex elements are two elements of the host's byte order, the real part first on every host.
        match (buffer.dtype(), size(buffer.dtype())) {
            (_, 1) => bytes.push(code as u8),
            (_, 2) => bytes.extend((code as u16).to_ne_bytes()),
            (_, 4) => bytes.extend((code as u32).to_ne_bytes()),
            (DType::Complex64, _) => {
                bytes.extend((code as u32).to_ne_bytes());
                bytes.extend(((code >> 32) as u32).to_ne_bytes());
            }
            (_, 8) => bytes.extend((code as u64).to_ne_bytes()),
            _ => {
                bytes.extend((code as u64).to_ne_bytes());
                bytes.extend(((code >> 64) as u64).to_ne_bytes());
            }
        }
    }
    bytes
}

/// The first `n` codes of a buffer.
pub fn load(buffer: Encoding, bytes: &[u8], n: usize) -> Vec<u128> {
    if buffer.storage() == Storage::Packed {
        return oracle::packed::unpack(buffer.dtype(), bytes, n);
    }
    let dtype = buffer.dtype();
    let word = |chunk: &[u8]| -> u128 {
        match chunk.len() {
            1 => chunk[0].into(),
            2 => u16::from_ne_bytes(chunk.try_into().unwrap()).into(),
            4 => u32::from_ne_bytes(chunk.try_into().unwrap()).into(),
            _ => u64::from_ne_bytes(chunk.try_into().unwrap()).into(),
        }
    };
    let half = |chunk: &[u8]| chunk.len() / 2;
    let element = |chunk: &[u8]| match dtype {
        DType::Complex64 | DType::Complex128 => {
            let (re, im) = chunk.split_at(half(chunk));
            word(re) | word(im) << (8 * re.len())
        }
        _ => word(chunk),
    };
    bytes.chunks_exact(size(dtype)).take(n).map(element).collect()
}

/// Whether the target has threads. WebAssembly without them runs every test on the one thread there is.
pub const THREADS: bool = !cfg!(target_family = "wasm");

/// Writes a line to the terminal, also from a test that passes: the test harness holds back `println!` only.
pub fn say(line: &str) {
    use std::io::Write;
    // A closed terminal is no reason to fail.
    let _ = writeln!(std::io::stderr(), "{line}");
}
