//! From one scheme to another.

use crate::scaled::{NonFinite, Quantized, Quotient, ScaleType, ScaledError, ScaledPlan, Scheme};
use crate::{DType, stochastic::Stochastic};
use alloc::{vec, vec::Vec};

/// Codes whose values float32 has are cast as those values are: scales, codes and reports.
#[test]
fn as_float32_where_that_is_exact() {
    let (rows, cols) = (5, 70);
    let n = rows * cols;
    let named = Scheme::NAMED.iter().map(|(_, scheme)| *scheme);
    let exact = |scheme: &Scheme| scheme.quotient == Quotient::Exact && !scheme.has_zero_points();
    for scheme in named.filter(exact) {
        for source in [Scheme::MX, Scheme::MX_OCP.with_element(DType::Float4E2M1FN)] {
            let from = ScaledPlan::new(DType::Float32, &source, &[rows, cols]).expect("fits");
            let data: Vec<u8> = (0..from.data_len()).map(|i| (i * 37 % 120 + i % 2 * 128) as u8).collect();
            let powers: Vec<u8> = (0..from.scales_len()).map(|i| 110 + (i * 7 % 40) as u8).collect();
            let (src, mut values) = (Quantized::new(data, powers), vec![0.0_f32; n]);
            from.dequantize(&src, &mut values).expect("casts");
            let plan = ScaledPlan::new(DType::Float32, &scheme, &[rows, cols]).expect("fits");
            let random = plan.with_stochastic(Stochastic { first: 3, ..Stochastic::default() });
            for to in [plan, random] {
                let to = to.with_counts().with_squared_error();
                let (mut want, mut got) = (to.alloc(), to.alloc());
                let report = to.quantize(&values, &mut want).expect("casts");
                assert_eq!(to.requantize(&from, &src, &mut got), Ok(report), "{source:?} to {scheme:?}");
                assert!(got == want, "{source:?} to {scheme:?}");
            }
        }
    }
}

/// Values of 28 bits and more are not rounded on the way: their codes are the nearest, and so are the scales.
#[test]
fn values_are_exact() {
    let from = ScaledPlan::new(DType::Float32, &Scheme::NVFP4, &[64]).expect("fits");
    let to = Scheme { scale: ScaleType::Float32, ..Scheme::FP8_GROUP128 };
    let to = ScaledPlan::new(DType::Float32, &to, &[64]).expect("fits").with_squared_error();
    let one = ScaledPlan::new(DType::Float32, &Scheme::FP8_TENSOR, &[1]).expect("fits");
    let data: Vec<u8> = (0..32).map(|i| (i * 41 % 256) as u8).collect();
    let mut checked = 0;
    for seed in 0..200_u32 {
        let scales: Vec<u8> = (0..4).map(|i| 0x31 + (seed * 5 + i * 11) as u8 % 64).collect();
        let global = f32::from_bits(0x3A80_0001 + seed * 0x2_4681);
        let src = Quantized::new(&data, &scales).with_global(global);
        let mut values = [0.0_f64; 64];
        from.dequantize(&src, &mut values).expect("casts");
        let mut got = Quantized::new([0_u8; 64], [0.0_f32; 1]);
        let report = to.requantize(&from, &src, &mut got).expect("casts");
        let amax = values.iter().fold(0.0_f64, |a, x| a.max(x.abs()));
        let s = f64::from(got.scales[0]);
        // Half a unit of a float32, from below and above.
        let ulp = f64::from(got.scales[0].next_up()) - s;
        assert!((s - ulp / 2.0) * 448.0 <= amax && amax <= (s + ulp / 2.0) * 448.0);
        let mut back = [0.0_f64; 64];
        to.dequantize(&got, &mut back).expect("casts");
        for ((x, y), code) in values.iter().zip(back).zip(got.data) {
            // No neighbour of the code is nearer.
            for other in [code.wrapping_sub(1), code + 1] {
                if other & 0x7F == 0x7F || (code & 0x7F == 0 && other < code) {
                    continue;
                }
                let mut value = [0.0_f64];
                one.dequantize(&Quantized::new([other], got.scales), &mut value).expect("casts");
                assert!((x - y).abs() <= (x - value[0]).abs(), "{x:e}: {y:e}, {:e}", value[0]);
                checked += 1;
            }
        }
        assert!(report.squared_error.is_some_and(|error| error > 0.0));
    }
    assert!(checked > 20_000);
}

#[test]
fn refusals() {
    let plan = |scheme: &Scheme, n| ScaledPlan::new(DType::Float32, scheme, &[n]).expect("fits");
    let (from, to) = (plan(&Scheme::MX, 32), plan(&Scheme::FP8_TENSOR, 32));
    let src = Quantized::new(&[0x38_u8; 32][..], &[0xFF_u8][..]);
    let cast = |src: &Quantized<&[u8]>, to: &ScaledPlan| {
        let mut got = to.alloc();
        to.requantize(&from, src, &mut got).map(|report| (report.poisoned, got.data, got.scales))
    };
    let nan = f32::NAN.to_ne_bytes().to_vec();
    assert_eq!(cast(&src, &to), Ok((1, vec![0; 32], nan)));
    let refusing = plan(&Scheme::FP8_TENSOR.with_non_finite(NonFinite::Refuse), 32);
    assert_eq!(cast(&src, &refusing), Err(ScaledError::NonFinite { block: 0 }));
    assert_eq!(cast(&src, &plan(&Scheme::FP8_TENSOR, 33)), Err(ScaledError::OtherShape));
    let divided = plan(&Scheme::FP8_TENSOR.with_quotient(Quotient::Divide), 32);
    assert!(matches!(cast(&src, &divided), Err(ScaledError::Scheme { .. })));
    let asymmetric = plan(&Scheme::UINT8_ROW, 32);
    let refused = to.requantize(&asymmetric, &asymmetric.alloc(), &mut to.alloc());
    assert!(matches!(refused, Err(ScaledError::Scheme { .. })));
    let short = Quantized { data: &[0; 31][..], ..src };
    let wrong = ScaledError::Length { which: "source data", want: 32, have: 31 };
    assert_eq!(cast(&short, &to), Err(wrong));
}
