//! Blocks element by element: decoded to their exact values, encoded by float32 arithmetic in the order of ggml's reference.
//!
//! An element is found by its index in the block, and nothing here is shared with the library. It is slow.

use lanecast::{gguf::BlockFormat, half::f16};

const E2M1_TWICE: [i32; 16] = [0, 1, 2, 3, 4, 6, 8, 12, 0, -1, -2, -3, -4, -6, -8, -12];
const IQ4: [i32; 16] = [-127, -104, -83, -65, -49, -35, -22, -10, 1, 13, 25, 38, 53, 69, 89, 113];

fn half(block: &[u8], at: usize) -> f64 {
    f16::from_le_bytes([block[at], block[at + 1]]).to_f64()
}

/// The nibble of element `i` where byte `j` of `n / 2` holds `j` and `j + n / 2` of every `n` elements.
fn nibble(qs: &[u8], i: usize, n: usize) -> i32 {
    let byte = qs[i / n * (n / 2) + i % (n / 2)];
    i32::from(if i % n < n / 2 { byte & 15 } else { byte >> 4 })
}

/// Bit `i` of little-endian bytes.
fn bit(bytes: &[u8], i: usize) -> i32 {
    i32::from(bytes[i / 8] >> (i % 8) & 1)
}

/// The two bits of element `i` where 32 bytes hold 128 elements, the first 32 in their lowest bits.
fn pair(qs: &[u8], i: usize) -> i32 {
    i32::from(qs[i / 128 * 32 + i % 32] >> (i % 128 / 32 * 2) & 3)
}

/// The 6-bit scale and minimum of part `i` of `Q4_K` and `Q5_K`, whose bits are taken one by one.
fn six_bits(s: &[u8], i: usize) -> (f64, f64) {
    let (mut scale, mut minimum) = (0, 0);
    for b in 0..6 {
        let (at, from) = match (i < 4, b < 4) {
            (true, _) => ((8 * i + b, 8 * (i + 4) + b), b),
            (false, true) => ((8 * (i + 4) + b, 8 * (i + 4) + 4 + b), b),
            (false, false) => ((8 * (i - 4) + 2 + b, 8 * i + 2 + b), b),
        };
        scale |= bit(s, at.0) << from;
        minimum |= bit(s, at.1) << from;
    }
    (f64::from(scale), f64::from(minimum))
}

pub fn e8m0(code: u8) -> f64 {
    2_f64.powi(i32::from(code) - 127)
}

pub fn ue4m3(code: u8) -> f64 {
    match (code & 0x7F, code >> 3 & 15) {
        (0x7F, _) if code == 0x7F => 0.0,
        (low, 0) => f64::from(low) * 2_f64.powi(-9),
        (low, exponent) => f64::from(8 + (low & 7)) / 8.0 * 2_f64.powi(i32::from(exponent) - 7),
    }
}

/// The exact value of element `i` of a block.
pub fn decode(format: BlockFormat, b: &[u8], i: usize) -> f64 {
    let of = |q: i32| f64::from(q);
    match format {
        BlockFormat::Q8_0 => half(b, 0) * f64::from(b[2 + i] as i8),
        BlockFormat::Q4_0 => half(b, 0) * of(nibble(&b[2..], i, 32) - 8),
        BlockFormat::Q4_1 => half(b, 0) * of(nibble(&b[4..], i, 32)) + half(b, 2),
        BlockFormat::Q5_0 => half(b, 0) * of(nibble(&b[6..], i, 32) + 16 * bit(&b[2..6], i) - 16),
        BlockFormat::Q5_1 => half(b, 0) * of(nibble(&b[8..], i, 32) + 16 * bit(&b[4..8], i)) + half(b, 2),
        BlockFormat::MXFP4 => e8m0(b[0]) / 2.0 * of(E2M1_TWICE[nibble(&b[1..], i, 32) as usize]),
        BlockFormat::NVFP4 => ue4m3(b[i / 16]) / 2.0 * of(E2M1_TWICE[nibble(&b[4..], i, 16) as usize]),
        BlockFormat::Q2_K => {
            let s = b[i / 16];
            half(b, 80) * f64::from(s & 15) * of(pair(&b[16..], i)) - half(b, 82) * f64::from(s >> 4)
        }
        BlockFormat::Q3_K => {
            let p = i / 16;
            let low = b[96 + p % 8] >> (4 * (p / 8)) & 15;
            let top = b[104 + p % 4] >> (2 * (p / 4)) & 3;
            let q = pair(&b[32..], i) - 4 * (1 - i32::from(b[i % 32] >> (i / 32) & 1));
            half(b, 108) * of(i32::from(low + 16 * top) - 32) * of(q)
        }
        BlockFormat::Q4_K => {
            let (s, m) = six_bits(&b[4..], i / 32);
            half(b, 0) * s * of(nibble(&b[16..], i, 64)) - half(b, 2) * m
        }
        BlockFormat::Q5_K => {
            let (s, m) = six_bits(&b[4..], i / 32);
            let q = nibble(&b[48..], i, 64) + 16 * i32::from(b[16 + i % 32] >> (i / 32) & 1);
            half(b, 0) * s * of(q) - half(b, 2) * m
        }
        BlockFormat::Q6_K => {
            let q = nibble(&b[64 * (i / 128)..], i % 128, 128) + 16 * pair(&b[128..], i);
            half(b, 208) * f64::from(b[192 + i / 16] as i8) * of(q - 32)
        }
        BlockFormat::IQ4_NL => half(b, 0) * of(IQ4[nibble(&b[2..], i, 32) as usize]),
        BlockFormat::IQ4_XS => {
            let p = i / 32;
            let low = b[4 + p / 2] >> (4 * (p % 2)) & 15;
            let top = 2 * bit(&b[2..4], 2 * p + 1) + bit(&b[2..4], 2 * p);
            half(b, 0) * of(i32::from(low) + 16 * top - 32) * of(IQ4[nibble(&b[8..], i, 32) as usize])
        }
        BlockFormat::TQ1_0 => {
            let (byte, digit) = match i {
                0..160 => (b[i % 32], i / 32),
                160..240 => (b[32 + i % 16], (i - 160) / 16),
                _ => (b[48 + i % 4], (i - 240) / 4),
            };
            let rest = u32::from(byte) * 3_u32.pow(digit as u32) % 256;
            half(b, 52) * (f64::from(rest * 3 / 256) - 1.0)
        }
        BlockFormat::TQ2_0 => half(b, 64) * of(pair(b, i) - 1),
        _ => unreachable!("{format} has no oracle"),
    }
}

/// The first element of the largest magnitude.
fn extreme(x: &[f32]) -> f32 {
    x.iter().fold(0.0, |most: f32, &v| if most.abs() < v.abs() { v } else { most })
}

/// The smallest element and the largest, the first of equal ones.
fn range(x: &[f32]) -> (f32, f32) {
    x.iter().fold((f32::MAX, f32::MIN), |(low, high), &v| {
        (if v < low { v } else { low }, if v > high { v } else { high })
    })
}

fn nibbles(codes: &[u8]) -> impl Iterator<Item = u8> {
    let (low, high) = codes.split_at(codes.len() / 2);
    low.iter().zip(high).map(|(low, high)| low & 15 | high << 4)
}

fn fifths(codes: &[u8]) -> Vec<u8> {
    codes.chunks(8).map(|codes| codes.iter().rev().fold(0, |bits, code| bits << 1 | code >> 4 & 1)).collect()
}

/// The code of the nearest value under half a scale, the first of equal ones.
fn nearest(x: f32, half_scale: f32) -> u8 {
    let mut best = (0, f32::INFINITY);
    for (code, &twice) in E2M1_TWICE.iter().enumerate() {
        let error = (twice as f32 * half_scale - x).abs();
        if error < best.1 {
            best = (code as u8, error);
        }
    }
    best.0
}

fn scale_of_nvfp4(x: f32) -> u8 {
    match x {
        248.0.. => 0x7E,
        // The sum is rounded to float32, and nothing rounds to the smallest normal number.
        ..0.015_625 => ((x * 512.0 + 0.5) as u8).min(7),
        // Halves go up.
        _ => (9..0x78)
            .take_while(|&code| f64::from(x) >= (ue4m3(code) + ue4m3(code - 1)) / 2.0)
            .last()
            .unwrap_or(8),
    }
}

/// A block of these finite elements, and whether its scale and its minimum are finite.
pub fn encode(format: BlockFormat, x: &[f32]) -> (Vec<u8>, bool) {
    let inverse = |d: f32| if d == 0.0 || (1.0 / d).is_infinite() { 0.0 } else { 1.0 / d };
    let mut block = Vec::new();
    let mut finite = true;
    let mut half = |block: &mut Vec<u8>, x: f32| {
        let half = f16::from_f32(x);
        block.extend(half.to_le_bytes());
        finite &= half.is_finite();
    };
    match format {
        BlockFormat::Q8_0 => {
            let d = extreme(x).abs() / 127.0;
            half(&mut block, d);
            block.extend(x.iter().map(|x| (x * inverse(d)).round() as i8 as u8));
        }
        BlockFormat::Q4_0 => {
            let d = extreme(x) / -8.0;
            half(&mut block, d);
            let codes: Vec<u8> = x.iter().map(|x| ((x * inverse(d) + 8.5) as u8).min(15)).collect();
            block.extend(nibbles(&codes));
        }
        BlockFormat::Q5_0 => {
            let d = extreme(x) / -16.0;
            half(&mut block, d);
            let codes: Vec<u8> = x.iter().map(|x| ((x * inverse(d) + 16.5) as u8).min(31)).collect();
            block.extend(fifths(&codes));
            block.extend(nibbles(&codes));
        }
        BlockFormat::Q4_1 => {
            let (low, high) = range(x);
            let d = (high - low) / 15.0;
            half(&mut block, d);
            half(&mut block, low);
            let codes: Vec<u8> = x.iter().map(|x| (((x - low) * inverse(d) + 0.5) as u8).min(15)).collect();
            block.extend(nibbles(&codes));
        }
        BlockFormat::Q5_1 => {
            let (low, high) = range(x);
            let d = (high - low) / 31.0;
            half(&mut block, d);
            half(&mut block, low);
            let codes: Vec<u8> = x.iter().map(|x| ((x - low) * inverse(d) + 0.5) as u8).collect();
            block.extend(fifths(&codes));
            block.extend(nibbles(&codes));
        }
        BlockFormat::MXFP4 => {
            let amax = extreme(x).abs();
            // The logarithm rounded to float32, by way of float64.
            let power = (f64::from(amax).log2() as f32).floor();
            let code = if amax > 0.0 { (power - 2.0 + 127.0).max(0.0) as u8 } else { 0 };
            block.push(code);
            let codes: Vec<u8> = x.iter().map(|&x| nearest(x, (e8m0(code) / 2.0) as f32)).collect();
            block.extend(nibbles(&codes));
        }
        BlockFormat::NVFP4 => {
            let scales: Vec<u8> = x.chunks(16).map(|x| scale_of_nvfp4(extreme(x).abs() / 6.0)).collect();
            block.extend(&scales);
            for (x, scale) in x.chunks(16).zip(scales) {
                let codes: Vec<u8> = x.iter().map(|&x| nearest(x, (ue4m3(scale) / 2.0) as f32)).collect();
                block.extend(nibbles(&codes));
            }
        }
        _ => unreachable!("{format} is only read"),
    }
    (block, finite)
}
