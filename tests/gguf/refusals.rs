//! What is refused, and what is written then.

use super::{encoded, encoders};
use lanecast::cast_to_vec;
use lanecast::gguf::{BlockFormat, GgufError, dequantize, quantize};
use lanecast::half::{bf16, f16};

#[test]
fn refusals() {
    for &format in BlockFormat::ALL {
        let (n, block) = (format.block_elements(), format.block_bytes());
        for elements in [1, n - 1, n + 1, 3 * n - 1] {
            let error = Err(GgufError::PartialBlock { format, elements });
            assert_eq!(dequantize(format, &vec![0; 4 * block], &mut vec![0_f32; elements]), error);
            if format.can_encode() {
                assert_eq!(quantize(format, &vec![0_f32; elements], &mut vec![0; 4 * block]), error);
            }
            assert_eq!(format.byte_len(elements), None);
        }
        for have in [0, 1, block - 1, block + 1, 2 * block - 1, 2 * block + 1, 3 * block] {
            let error = Err(GgufError::WrongLength { format, elements: 2 * n, need: 2 * block, have });
            let mut out = vec![f16::ONE; 2 * n];
            assert_eq!(dequantize(format, &vec![0; have], &mut out), error);
            assert!(out.iter().all(|x| *x == f16::ONE), "{format}: nothing is written");
            if format.can_encode() {
                assert_eq!(quantize(format, &out, &mut vec![0; have]), error);
            }
        }
        assert_eq!(dequantize::<f32>(format, &[], &mut []), Ok(()));
        if !format.can_encode() {
            assert_eq!(quantize::<f32>(format, &[], &mut []), Err(GgufError::NotEncoded { format }));
        }
        assert_eq!(format.byte_len(0), Some(0));
        assert_eq!(format.byte_len(usize::MAX / n * n), (usize::MAX / n).checked_mul(block));
    }
}

#[test]
fn elements_that_are_not_finite() {
    for format in encoders() {
        let n = format.block_elements();
        for bad in [f32::NAN, -f32::NAN, f32::from_bits(0x7F80_0001), f32::INFINITY, f32::NEG_INFINITY] {
            for index in [0, n - 1, n, 3 * n - 2, 1024 + n + 5] {
                let mut x = vec![1.0_f32; 2048];
                (x[index], x[index + 1]) = (bad, f32::NAN);
                let mut blocks = vec![0xA5; format.byte_len(2048).expect("whole blocks")];
                assert_eq!(
                    quantize(format, &x, &mut blocks),
                    Err(GgufError::NonFinite { index }),
                    "{format}"
                );
                let (before, after) = blocks.split_at(index / n * format.block_bytes());
                assert_eq!(Ok(before.to_vec()), encoded(format, &x[..index / n * n]), "{format}");
                assert!(after.iter().all(|byte| *byte == 0xA5), "{format}: blocks behind are as they were");
                let x: Vec<bf16> = cast_to_vec(&x);
                assert_eq!(
                    quantize(format, &x, &mut blocks),
                    Err(GgufError::NonFinite { index }),
                    "{format}"
                );
            }
        }
    }
}

/// Blocks around one that is too large are as if it were not there.
#[test]
fn scales_that_overflow() {
    for format in encoders().filter(|format| !matches!(format, BlockFormat::MXFP4 | BlockFormat::NVFP4)) {
        let mut x = vec![1.0_f32; 3200];
        let plain = encoded(format, &x).expect("small elements");
        for index in [1088, 2080] {
            x[index + 3] = -1e30;
        }
        let mut blocks = vec![0xA5; plain.len()];
        let error = Err(GgufError::ScaleOverflow { format, index: 1088 });
        assert_eq!(quantize(format, &x, &mut blocks), error);
        let n = format.block_bytes();
        for (i, (block, plain)) in blocks.chunks(n).zip(plain.chunks(n)).enumerate() {
            assert_eq!(block == plain, ![1088 / 32, 2080 / 32].contains(&i), "{format}, block {i}");
        }
        let x: Vec<bf16> = cast_to_vec(&x);
        assert_eq!(quantize(format, &x, &mut blocks), error);
    }
}

#[test]
fn messages() {
    let (format, index) = (BlockFormat::Q4_0, 64);
    let say = |error: GgufError| error.to_string();
    assert_eq!(
        say(GgufError::PartialBlock { format, elements: 100 }),
        "100 elements are not a whole number of Q4_0 blocks, which have 32 elements; pad every row to a multiple of that"
    );
    assert_eq!(
        say(GgufError::WrongLength { format, elements: 64, need: 36, have: 35 }),
        "64 elements as Q4_0 are 36 bytes but the slice has 35; BlockFormat::byte_len returns the length"
    );
    assert_eq!(
        say(GgufError::ScaleOverflow { format, index }),
        "the Q4_0 block of elements 64..96 has a scale or a minimum that is infinite in float16; divide the tensor by a constant, or use MXFP4"
    );
}

#[test]
fn names() {
    for &format in BlockFormat::ALL {
        assert_eq!(BlockFormat::from_name(format.name()), Some(format));
        assert_eq!(BlockFormat::from_name(&format.name().to_lowercase()), Some(format));
        assert_eq!(format!("{format:>8}").trim_start(), format.name());
    }
    assert_eq!(BlockFormat::from_name("q4_K"), Some(BlockFormat::Q4_K));
    assert_eq!(BlockFormat::from_name("Q4"), None);
}
