//! Every bfloat16 by every power of two: an oracle walks up the magnitudes of a row, and through the midpoints of the codes times the scale.

#![cfg(feature = "scaled")]

use crate::support::every_tier::on_every_tier;
use lanecast::scaled::{Granularity, Quantized, ScaledPlan, Scheme};
use lanecast::{Bytes, BytesMut, CastOptions, CastPlan, DType, Storage};

/// All scales of `float8_e8m0fnu` that are numbers, and all codes of a bfloat16.
const SHAPE: [usize; 2] = [255, 1 << 16];

fn power(exponent: i32) -> f64 {
    f64::from_bits(((exponent + 1023) as u64) << 52)
}

/// The values of the finite codes of a float without a sign, by the definition of the format: an exponent field of `e` bits and a mantissa
/// of `m` bits.
fn values(e: u32, m: u32, codes: u32) -> Vec<f64> {
    let bias = (1 << (e - 1)) - 1;
    (0..codes)
        .map(|code| {
            let (field, fraction) =
                ((code >> m) as i32, f64::from(code & ((1 << m) - 1)) / f64::from(1 << m));
            let (exponent, hidden) = if field == 0 { (1 - bias, 0.0) } else { (field - bias, 1.0) };
            (hidden + fraction) * power(exponent)
        })
        .collect()
}

/// The codes of a row: of all positive bfloat16, by the scale 2^exponent. `values` are those of finite codes.
fn row(values: &[f64], nan: [u8; 2], sign: u8, exponent: i32) -> Vec<u8> {
    let scale = power(exponent);
    let midpoints: Vec<f64> = values.windows(2).map(|pair| (pair[0] + pair[1]) / 2.0 * scale).collect();
    let mut code = 0;
    let magnitudes: Vec<u8> = (0..0x7F81_u32)
        .map(|bits| {
            // Exact, as are the midpoints. Infinity is above all of them.
            let x = f64::from(f32::from_bits(bits << 16));
            while code < midpoints.len() && (x > midpoints[code] || x == midpoints[code] && code % 2 == 1) {
                code += 1;
            }
            code as u8
        })
        .collect();
    let of_sign = |negative: bool| {
        let sign = if negative { sign } else { 0 };
        let numbers = magnitudes.iter().map(move |code| code | sign);
        numbers.chain(std::iter::repeat_n(nan[usize::from(negative)], 0x8000 - 0x7F81))
    };
    of_sign(false).chain(of_sign(true)).collect()
}

#[test]
fn every_bfloat16_by_every_power_of_two() {
    let codes: Vec<u16> = (0..=u16::MAX).collect();
    let src: Vec<u8> = codes.iter().flat_map(|code| code.to_ne_bytes()).collect::<Vec<_>>().repeat(SHAPE[0]);
    let scales: Vec<u8> = (0..255).collect();
    let formats = [
        (DType::Float8E4M3FN, values(4, 3, 0x7F), [0x7F, 0xFF]),
        (DType::Float8E5M2, values(5, 2, 0x7C), [0x7E, 0xFE]),
        // NaN is a zero of the opposite sign.
        (DType::Float4E2M1FN, values(2, 1, 8), [0x8, 0x0]),
    ];
    for (element, values, nan) in formats {
        let scheme = Scheme { granularity: Granularity::Axis(0), ..Scheme::MX.with_element(element) };
        let sign = 1 << (element.bits() - 1);
        let want: Vec<Vec<u8>> = (0..255)
            .map(|scale| {
                let codes = row(&values, nan, sign, scale - 127);
                match element.bits() {
                    4 => codes.chunks(2).map(|pair| pair[0] | pair[1] << 4).collect(),
                    _ => codes,
                }
            })
            .collect();
        on_every_tier(|tier| {
            let plan = ScaledPlan::new(DType::BFloat16, &scheme, &SHAPE).expect("fits");
            let mut got = Quantized::new(vec![0xA5_u8; plan.data_len()], &scales);
            plan.quantize_given(Bytes::new(&src, plan.elements()), &mut got).expect("casts");
            for (scale, (got, want)) in got.data.chunks(plan.data_len() / 255).zip(&want).enumerate() {
                let differing = got.iter().zip(want).position(|(got, want)| got != want);
                assert!(
                    differing.is_none(),
                    "{element} on {tier}: byte {differing:?} of the scale {scale:x} is not that of the oracle"
                );
            }
        });
    }
}

/// Every code by every power of two is the exact product, rounded once.
#[test]
fn every_code_by_every_power_of_two() {
    let scales: Vec<u8> = (0..255).collect();
    for (element, e, m, finite) in [
        (DType::Float8E4M3FN, 4, 3, 0x7F),
        (DType::Float8E5M2, 5, 2, 0x7C),
        (DType::Float6E3M2FN, 3, 2, 0x20),
        (DType::Float4E2M1FN, 2, 1, 8),
    ] {
        let values = values(e, m, finite);
        let scheme = Scheme { granularity: Granularity::Axis(0), ..Scheme::MX.with_element(element) };
        let n = values.len();
        let data: Vec<u8> = (0..n as u8).collect::<Vec<_>>().repeat(255);
        let exact: Vec<f64> =
            (0..255).flat_map(|scale| values.iter().map(move |x| x * power(scale - 127))).collect();
        let q = Quantized::new(data, &scales);
        on_every_tier(|tier| {
            let plan = ScaledPlan::new(DType::Float32, &scheme, &[255, n]).expect("fits");
            let plan = plan.with_storage(Storage::Byte);
            for to in [DType::Float64, DType::Float32, DType::BFloat16, DType::Float16] {
                let mut want = vec![0; 255 * n * to.size()];
                let cast = CastPlan::new(DType::Float64, to, &CastOptions::RUST).expect("a plan");
                cast.run(&exact, BytesMut::new(&mut want, 255 * n)).expect("fits");
                let mut got = vec![0; want.len()];
                let dst = BytesMut::new(&mut got, 255 * n);
                plan.with_output(to).dequantize(&q, dst).expect("casts");
                assert!(got == want, "{element} to {to} on {tier}");
            }
        });
    }
}
