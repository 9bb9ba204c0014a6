//! Block formats: ggml's golden blocks to the bit, random blocks against an oracle that finds each element by itself, the laws of
//! encoding, and what is refused.
#![cfg(feature = "gguf")]

#[path = "gguf/oracle.rs"]
mod blocks;
#[path = "gguf/refusals.rs"]
mod refusals;

use crate::oracle;
use crate::support::every_tier::on_every_tier;
use crate::support::{data::rows, rng::Rng};
use lanecast::gguf::{BlockFormat, Float, GgufError, dequantize, quantize};
use lanecast::half::{bf16, f16};
use lanecast::{CastOptions, DType, cast_to_vec};
use proptest::prelude::*;

fn format(name: &str) -> BlockFormat {
    BlockFormat::from_name(name).unwrap_or_else(|| panic!("no format is called {name:?}"))
}

fn bytes(digits: &str) -> Vec<u8> {
    (0..digits.len())
        .step_by(2)
        .map(|i| u8::from_str_radix(&digits[i..i + 2], 16).expect("hexadecimal"))
        .collect()
}

fn floats(cell: &str) -> Vec<f32> {
    let code = |digits: &str| u32::from_str_radix(&format!("{digits:0<8}"), 16).expect("hexadecimal");
    cell.split(' ').map(|digits| f32::from_bits(code(digits))).collect()
}

fn encoders() -> impl Iterator<Item = BlockFormat> {
    BlockFormat::ALL.iter().copied().filter(|format| format.can_encode())
}

fn encoded<S: Float>(format: BlockFormat, x: &[S]) -> Result<Vec<u8>, GgufError> {
    let mut blocks = vec![0xA5; format.byte_len(x.len()).expect("whole blocks")];
    quantize(format, x, &mut blocks).map(|()| blocks)
}

fn decoded<T: Float + Default + Clone>(format: BlockFormat, blocks: &[u8]) -> Vec<T> {
    let mut out = vec![T::default(); blocks.len() / format.block_bytes() * format.block_elements()];
    dequantize(format, blocks, &mut out).expect("the lengths agree");
    out
}

fn bits(x: &[f32]) -> Vec<u32> {
    x.iter().map(|x| x.to_bits()).collect()
}

// ---- ggml -----------------------------------------------------------------------------------------------------------

#[test]
fn encodes_as_ggml() {
    let mut seen = Vec::new();
    for row in &rows(data!("gguf_encode.tsv"))[1..] {
        let [name, values, block] = row[..] else { panic!("{row:?}") };
        let (x, block) = (floats(values), bytes(block));
        let (expected, finite) = blocks::encode(format(name), &x);
        assert_eq!(expected, block, "the oracle, {name}");
        on_every_tier(|tier| {
            let mut written = vec![0xA5; block.len()];
            let result = quantize(format(name), &x, &mut written);
            assert_eq!(written, block, "{name} on {tier}");
            assert_eq!(result.is_ok(), finite, "{name} on {tier}: {result:?}");
        });
        seen.push(format(name));
    }
    assert_eq!(seen.len(), 140);
    assert!(encoders().all(|format| seen.contains(&format)));
}

#[test]
fn decodes_as_ggml() {
    let mut seen = Vec::new();
    for row in &rows(data!("gguf_decode.tsv"))[1..] {
        let [name, block, values] = row[..] else { panic!("{row:?}") };
        let (block, x) = (bytes(block), floats(values));
        on_every_tier(|tier| {
            assert_eq!(bits(&decoded::<f32>(format(name), &block)), bits(&x), "{name} on {tier}");
        });
        let exact = (0..x.len()).map(|i| blocks::decode(format(name), &block, i) as f32);
        // -0 is +0 in ggml's tables of integers, and 0 times a negative scale is -0; the oracle has integers everywhere.
        assert!(exact.eq(x.iter().copied()), "the oracle, {name}");
        seen.push(format(name));
    }
    assert_eq!(seen.len(), 48);
    assert!(BlockFormat::ALL.iter().all(|format| seen.contains(format)));
}

// ---- The oracle -----------------------------------------------------------------------------------------------------

/// The code of an exact value rounded once; NaNs have one code.
fn rounded(exact: f64, to: DType, nan: u128) -> u128 {
    if exact.is_nan() {
        return nan;
    }
    oracle::cast(DType::Float64, to, &CastOptions::RUST, u128::from(exact.to_bits()))
}

/// Every target has the exact values rounded once. Zeros are compared without their signs, which are ggml's.
fn check_decoding(format: BlockFormat, bytes: &[u8]) {
    let (single, half, brain) =
        (decoded::<f32>(format, bytes), decoded::<f16>(format, bytes), decoded::<bf16>(format, bytes));
    for (i, single) in single.iter().enumerate() {
        let (block, at) = (i / format.block_elements(), i % format.block_elements());
        let exact = blocks::decode(format, &bytes[block * format.block_bytes()..], at);
        let got = [single.to_bits().into(), half[i].to_bits().into(), brain[i].to_bits().into()]
            .map(|code: u128| code);
        let want = [
            rounded(exact, DType::Float32, 0x7FC0_0000),
            rounded(exact, DType::Float16, 0x7E00),
            rounded(exact, DType::BFloat16, 0x7FC0),
        ];
        if exact == 0.0 {
            assert!(*single == 0.0 && half[i] == f16::ZERO && brain[i] == bf16::ZERO, "{format} {i}");
        } else {
            assert_eq!(got, want, "{format}, element {i}: {exact:e}");
        }
    }
}

/// Random blocks; some of their scales are zero, subnormal, infinite and NaN.
#[test]
fn random_blocks() {
    let mut rng = Rng(1);
    for &format in BlockFormat::ALL {
        // More than the 1024 elements that are staged at a time.
        let n = format.block_bytes() * (5000 / format.block_elements());
        for _ in 0..if cfg!(miri) { 1 } else { 20 } {
            let blocks: Vec<u8> = (0..n).map(|_| rng.bits() as u8).collect();
            on_every_tier(|_| check_decoding(format, &blocks));
        }
    }
}

#[test]
fn every_scale_byte() {
    for code in 0..=u8::MAX {
        let mut block = [0x76; 36];
        block[..4].fill(code);
        check_decoding(BlockFormat::MXFP4, &block[3..20]);
        check_decoding(BlockFormat::NVFP4, &block);
    }
}

/// Finite elements of a block: of one magnitude, of many, of few values, with zeros.
fn elements(rng: &mut Rng, n: usize) -> Vec<f32> {
    let kind = rng.below(6);
    let exponent = match rng.below(4) {
        0 => rng.below(254) as i32 - 126,
        _ => rng.below(24) as i32 - 12,
    };
    let scale = 2_f64.powi(exponent);
    let sign = if rng.below(4) == 0 { 1.0 } else { -1.0 };
    let mut x: Vec<f32> = (0..n)
        .map(|_| {
            let u = rng.bits() as i32 as f64 / 2_f64.powi(31);
            let x = match kind {
                0 => u * scale,
                1 => u * u * u * scale,
                2 => (u * 8.0).round() * scale / 8.0,
                3 => (u * 254.0).round() / 2.0 * scale / 128.0,
                4 => u.abs() * scale * sign,
                _ => u * scale * 2_f64.powi(-(rng.below(30) as i32)),
            };
            x.clamp(f64::from(f32::MIN), f64::from(f32::MAX)) as f32
        })
        .collect();
    if rng.below(8) == 0 {
        x[rng.below(n as u64) as usize] = -0.0;
    }
    if rng.below(8) == 0 {
        // A few units in the last place around a power of two.
        let power = (scale as f32).to_bits().max(200);
        x[rng.below(n as u64) as usize] = f32::from_bits(power - 100 + rng.below(200) as u32);
    }
    x
}

#[test]
fn random_elements() {
    let mut rng = Rng(2);
    for format in encoders() {
        let (mut done, mut refused) = (0, 0);
        for _ in 0..if cfg!(miri) { 20 } else { 20_000 } {
            let x = elements(&mut rng, format.block_elements());
            let (block, finite) = blocks::encode(format, &x);
            let mut result = Ok(());
            on_every_tier(|tier| {
                let mut got = vec![0xA5; block.len()];
                result = quantize(format, &x, &mut got);
                assert_eq!(got, block, "{format} on {tier}: {x:?}");
            });
            if finite {
                assert_eq!(result, Ok(()), "{format}: {x:?}");
                assert!(decoded::<f32>(format, &block).iter().all(|x| x.is_finite()), "{format}: {x:?}");
                done += 1;
            } else {
                assert_eq!(result, Err(GgufError::ScaleOverflow { format, index: 0 }), "{x:?}");
                refused += 1;
            }
        }
        assert!(done > 0);
        assert!(cfg!(miri) || (refused > 0) != matches!(format, BlockFormat::MXFP4 | BlockFormat::NVFP4));
    }
}

/// Of equal magnitudes and of zeros the first counts, sign included.
#[test]
fn the_first_of_equal_elements() {
    for format in encoders() {
        for pair in [[0.0, -0.0], [-0.0, 0.0], [2.5, -2.5], [-2.5, 2.5]] {
            for rest in [0.0, -0.0, 1.0, -1.0] {
                for (one, other) in [(0, 1), (3, 30), (17, 18)] {
                    let mut x = vec![rest; format.block_elements()];
                    [x[one], x[other]] = pair;
                    let (block, _) = blocks::encode(format, &x);
                    assert_eq!(encoded(format, &x), Ok(block), "{format}: {x:?}");
                }
            }
        }
    }
}

/// The scale of `MXFP4` just below every power of two, where a logarithm in float32 rounds up.
#[test]
fn logarithms() {
    for power in 1..=255_u32 {
        for below in 1..=64 {
            let mut x = [0.0; 32];
            x[7] = f32::from_bits((power << 23) - below);
            assert_eq!(
                encoded(BlockFormat::MXFP4, &x),
                Ok(blocks::encode(BlockFormat::MXFP4, &x).0),
                "2^{} less {below} units",
                power as i32 - 127
            );
        }
    }
}

/// The scale of `NVFP4` at and beside every middle between two scales.
#[test]
fn scales_of_nvfp4() {
    for code in 0..0x7E {
        let middle = ((blocks::ue4m3(code) + blocks::ue4m3(code + 1)) * 3.0) as f32;
        for near in -2..=2 {
            let mut x = [0.0; 64];
            x[20] = f32::from_bits(middle.to_bits().wrapping_add_signed(near));
            assert_eq!(
                encoded(BlockFormat::NVFP4, &x),
                Ok(blocks::encode(BlockFormat::NVFP4, &x).0),
                "{} after {code:#x}",
                x[20]
            );
        }
    }
}

// ---- Laws -----------------------------------------------------------------------------------------------------------

/// An element comes back within half a step, or a step at the end of a range that has one value less than the other end; the scale
/// and the minimum are rounded to float16 besides.
#[test]
fn errors_are_bounded() {
    let mut rng = Rng(3);
    for format in encoders() {
        for _ in 0..if cfg!(miri) { 10 } else { 2000 } {
            let x = elements(&mut rng, format.block_elements());
            let Ok(block) = encoded(format, &x) else { continue };
            let back: Vec<f32> = decoded(format, &block);
            for (part, (x, back)) in x.chunks(16).zip(back.chunks(16)).enumerate() {
                let half =
                    |at: usize| f64::from(f16::from_le_bytes([block[at], block[at + 1]]).to_f32()).abs();
                // Half a step or a whole one, the largest quotient, and what float16 rounds away from a minimum.
                let (step, error, most, minimum) = match format {
                    BlockFormat::Q8_0 => (half(0), 0.5, 127.0, 0.0),
                    BlockFormat::Q4_0 => (half(0), 1.0, 8.0, 0.0),
                    BlockFormat::Q5_0 => (half(0), 1.0, 16.0, 0.0),
                    BlockFormat::Q4_1 => (half(0), 0.5, 15.0, half(2)),
                    BlockFormat::Q5_1 => (half(0), 0.5, 31.0, half(2)),
                    // Between 4 and 6 a step is 2; elements below 8 are clipped to 6.
                    BlockFormat::MXFP4 => (blocks::e8m0(block[0]), 2.0, 0.0, 0.0),
                    // The scale is rounded to 4 bits, and clipped or zero at the ends of its range.
                    _ => match block[part] {
                        0 | 0x7E => continue,
                        code => (blocks::ue4m3(code), if code < 8 { 4.0 } else { 1.4 }, 0.0, 0.0),
                    },
                };
                // float16 has 11 bits, and nothing below 2^-24; float32 has 24.
                let of_half = |x: f64| x / 2048.0 + 2_f64.powi(-25);
                let of_scale = if most == 0.0 { 0.0 } else { most * of_half(step) };
                let of_minimum = if minimum == 0.0 && most < 15.0 { 0.0 } else { of_half(minimum) };
                for (x, back) in x.iter().zip(back) {
                    let float = f64::from(x.abs()).max(minimum) * 2_f64.powi(-21) + 2_f64.powi(-149);
                    let bound = step * error + of_scale + of_minimum + float;
                    let off = (f64::from(*x) - f64::from(*back)).abs();
                    assert!(off <= bound, "{format}: {x:e} became {back:e}, {off:e} off, at most {bound:e}");
                }
            }
        }
    }
}

/// A block that uses its range and has a scale in the middle of the range of scales is what its own elements are encoded to.
#[test]
fn canonical_blocks_come_back() {
    let mut rng = Rng(4);
    for format in encoders() {
        for _ in 0..if cfg!(miri) { 10 } else { 2000 } {
            let mut block: Vec<u8> = (0..format.block_bytes()).map(|_| rng.bits() as u8).collect();
            let scale =
                f16::from_f32(2_f32.powi(rng.below(16) as i32 - 8) * (1.0 + rng.below(1024) as f32 / 1024.0));
            let sign = if rng.below(2) == 0 { scale } else { -scale };
            // The code of -0 is never chosen.
            let no_zero = |q: &mut u8| *q = if *q & 0x80 == *q & 0xF0 { *q & 15 } else { *q };
            let no_zeros = |q: &mut u8| {
                no_zero(q);
                *q = if *q & 15 == 8 { *q & 0xF0 } else { *q };
            };
            match format {
                BlockFormat::Q8_0 => {
                    block[..2].copy_from_slice(&scale.to_le_bytes());
                    block[2..].iter_mut().for_each(|q| *q = (*q as i8).max(-127) as u8);
                    block[9] = 127;
                }
                BlockFormat::Q4_0 => {
                    block[..2].copy_from_slice(&sign.to_le_bytes());
                    block[5] &= 15;
                }
                BlockFormat::Q5_0 => {
                    block[..2].copy_from_slice(&sign.to_le_bytes());
                    (block[2], block[6]) = (block[2] & !1, block[6] & 0xF0);
                }
                BlockFormat::Q4_1 | BlockFormat::Q5_1 => {
                    // Without a minimum nothing is rounded.
                    block[..4].copy_from_slice(&[scale.to_le_bytes(), [0; 2]].concat());
                    let at = if format == BlockFormat::Q4_1 { 4 } else { 8 };
                    (block[at], block[at + 1]) = (block[at] & 0xF0, block[at + 1] | 15);
                    if format == BlockFormat::Q5_1 {
                        block[4] = block[4] & !1 | 2;
                    }
                }
                BlockFormat::MXFP4 => {
                    block[0] = 100 + rng.below(50) as u8;
                    block[1..].iter_mut().for_each(no_zeros);
                    block[3] = block[3] & 0xF0 | 6;
                }
                _ => {
                    block[..4].iter_mut().for_each(|scale| *scale = 8 + *scale % 0x70);
                    block[4..].iter_mut().for_each(no_zeros);
                    block[4..].iter_mut().step_by(8).for_each(|q| *q = *q & 0xF0 | 15);
                }
            }
            let x: Vec<f32> = decoded(format, &block);
            assert_eq!(encoded(format, &x), Ok(block), "{format}: {x:?}");
        }
    }
}

/// Blocks are independent, however many are encoded or decoded at a time; sources of 16 bits are the same as widened ones.
#[test]
fn pieces_and_widths() {
    let mut rng = Rng(5);
    for &format in BlockFormat::ALL {
        let (n, block) = (format.block_elements(), format.block_bytes());
        let x: Vec<f32> = elements(&mut rng, 3072).iter().map(|x| x.clamp(-1e4, 1e4)).collect();
        let halves: Vec<f16> = cast_to_vec(&x);
        let brains: Vec<bf16> = cast_to_vec(&x);
        let bytes = if format.can_encode() {
            for (one, other) in [
                (encoded(format, &halves), encoded::<f32>(format, &cast_to_vec(&halves))),
                (encoded(format, &brains), encoded::<f32>(format, &cast_to_vec(&brains))),
            ] {
                assert_eq!(one, other, "{format}");
                assert!(one.is_ok());
            }
            let whole = encoded(format, &x).expect("small elements");
            let pieces = x.chunks(n).flat_map(|x| encoded(format, x).expect("small elements"));
            assert!(pieces.eq(whole.iter().copied()), "{format}");
            whole
        } else {
            (0..3072 / n * block).map(|_| rng.bits() as u8).collect()
        };
        let pieces: Vec<f32> = bytes.chunks(block).flat_map(|block| decoded::<f32>(format, block)).collect();
        assert_eq!(bits(&pieces), bits(&decoded(format, &bytes)), "{format}");
        let pieces: Vec<bf16> =
            bytes.chunks(block).flat_map(|block| decoded::<bf16>(format, block)).collect();
        assert!(
            pieces.iter().map(|x| x.to_bits()).eq(decoded(format, &bytes).iter().map(|x: &bf16| x.to_bits()))
        );
    }
}

proptest! {
    /// No bytes and no elements make a panic.
    #[test]
    fn nothing_panics(
        which in 0..BlockFormat::ALL.len(),
        bytes in proptest::collection::vec(any::<u8>(), 0..600),
        codes in proptest::collection::vec(any::<u32>(), 0..130),
        room in 0..300_usize,
    ) {
        let format = BlockFormat::ALL[which];
        let whole = bytes.len() / format.block_bytes();
        let mut out = vec![0_f32; whole * format.block_elements()];
        prop_assert_eq!(dequantize(format, &bytes[..whole * format.block_bytes()], &mut out), Ok(()));
        let x: Vec<f32> = codes.iter().map(|code| f32::from_bits(*code)).collect();
        let _ = quantize(format, &x, &mut vec![0; room]);
        let whole = x.len() / format.block_elements() * format.block_elements();
        let mut blocks = vec![0; format.byte_len(whole).unwrap_or_default()];
        let _ = quantize(format, &x[..whole], &mut blocks);
    }
}
