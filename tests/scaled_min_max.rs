//! Integers with zero points, by an oracle of big integers.

#![cfg(feature = "scaled")]

use lanecast::scaled::{Granularity, NonFinite, ScaleRule, ScaleType, ScaledError, ScaledPlan, Scheme};
use lanecast::{DType, Storage, iinfo};
use num_bigint::BigInt;

/// A double as a multiple of 2^-1100.
fn exact(x: f64) -> BigInt {
    let (exponent, fraction) = ((x.to_bits() >> 52 & 0x7FF) as usize, x.to_bits() & ((1 << 52) - 1));
    let magnitude = match exponent {
        0 => BigInt::from(fraction) << 26_usize,
        _ => BigInt::from(fraction | 1 << 52) << (exponent + 25),
    };
    if x < 0.0 { -magnitude } else { magnitude }
}

/// The integer nearest to `a / b`, ties to even; `b` is positive.
fn nearest(a: &BigInt, b: &BigInt) -> BigInt {
    let two = BigInt::from(2);
    let doubled = a * &two + b;
    let divisor = b * &two;
    // The floor, whichever way division rounds.
    let mut floor = &doubled / &divisor;
    if &floor * &divisor > doubled {
        floor -= 1;
    }
    let tie = &floor * &divisor == doubled;
    if tie && &floor % &two != BigInt::from(0) { floor - 1 } else { floor }
}

fn values(n: usize, seed: u32) -> Vec<f32> {
    let mut state = seed;
    (0..n)
        .map(|i| {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            let exponent = if i % 40 == 7 { state >> 8 & 0xFF } else { 120 + (state >> 9) % 8 };
            f32::from_bits((state & 0x807F_FF00) | exponent.min(0xFE) << 23)
        })
        .collect()
}

#[test]
fn codes_zeros_and_scales_are_the_nearest() {
    let (rows, cols) = (8, 41);
    for element in [DType::UInt8, DType::Int8, DType::UInt4, DType::Int4] {
        for (seed, granularity) in
            [Granularity::Tensor, Granularity::Axis(0), Granularity::Block { axis: -1, len: 16 }]
                .into_iter()
                .enumerate()
        {
            let scheme = Scheme { rule: ScaleRule::MinMax, granularity, element, ..Scheme::INT8_ROW };
            let plan = ScaledPlan::new(DType::Float32, &scheme, &[rows, cols]).expect("fits");
            let plan = plan.with_storage(Storage::Byte).with_squared_error().with_counts();
            let mut src = values(rows * cols, 5 + seed as u32);
            // A row of zeros, one without negative values, and one whose ends are far apart.
            src[..cols].fill(0.0);
            src[cols..2 * cols].iter_mut().for_each(|x| *x = x.abs());
            (src[2 * cols], src[2 * cols + 1]) = (-1.0e-30, 3.0e5);
            let bytes: Vec<u8> = src.iter().flat_map(|x| x.to_ne_bytes()).collect();
            let (mut data, mut scales) = (vec![0; plan.data_len()], vec![0; plan.scales_len()]);
            let mut zeros = vec![0; plan.zeros_len()];
            let report = plan.quantize_min_max(&bytes, &mut data, &mut scales, &mut zeros).expect("casts");
            let limits = iinfo(element).expect("an integer");
            let integer = |code: u8| match limits.min < 0 {
                true => i64::from((code << (8 - limits.bits)) as i8 >> (8 - limits.bits)),
                false => i64::from(code),
            };
            let (least, largest) = (limits.min as i64, limits.max as i64);
            let block_of = |i: usize| match granularity {
                Granularity::Tensor => 0,
                Granularity::Axis(_) => i / cols,
                _ => i / cols * cols.div_ceil(16) + i % cols / 16,
            };
            let scale_of = |block: usize| {
                f32::from_ne_bytes(scales[4 * block..4 * block + 4].try_into().expect("4 bytes"))
            };
            for (block, zero) in zeros.iter().enumerate() {
                let its = || (0..src.len()).filter(|i| block_of(*i) == block).map(|i| src[i]);
                let (low, high) = (its().fold(0.0, f32::min), its().fold(0.0, f32::max));
                let (s, z) = (scale_of(block), integer(*zero));
                if low == high {
                    assert_eq!(s, 1.0);
                } else {
                    // The scale is the float32 nearest to the width over the number of steps.
                    let steps = BigInt::from(largest - least);
                    let width = exact(f64::from(high)) - exact(f64::from(low));
                    let [below, above] =
                        [s.to_bits() - 1, s.to_bits() + 1].map(|bits| f64::from(f32::from_bits(bits)));
                    let (below, above) = ((f64::from(s) + below) / 2.0, (f64::from(s) + above) / 2.0);
                    assert!(exact(below) * &steps <= width && width <= exact(above) * &steps, "{s:e}");
                }
                let want = BigInt::from(least) - -nearest(&-exact(f64::from(low)), &exact(f64::from(s)));
                assert_eq!(
                    BigInt::from(z),
                    want.clamp(least.into(), largest.into()),
                    "{scheme:?}, block {block}"
                );
            }
            for (i, x) in src.iter().enumerate() {
                let block = block_of(i);
                let (s, z) = (f64::from(scale_of(block)), integer(zeros[block]));
                let want = nearest(&exact(f64::from(*x)), &exact(s)) + z;
                let want = want.clamp(least.into(), largest.into());
                assert_eq!(BigInt::from(integer(data[i])), want, "{scheme:?}: {x:e} by {s:e}, {z}");
            }
            // Values are exact products, and the sum of squares is near that of their differences.
            let mut back = vec![0; 8 * src.len()];
            plan.dequantize_min_max(&data, &scales, &zeros, DType::Float64, &mut back).expect("casts");
            let mut sum = 0.0;
            for (i, value) in back.chunks(8).enumerate() {
                let value = f64::from_ne_bytes(value.try_into().expect("8 bytes"));
                let block = block_of(i);
                let steps = integer(data[i]) - integer(zeros[block]);
                assert_eq!(value, steps as f64 * f64::from(scale_of(block)));
                sum += (value - f64::from(src[i])).powi(2);
            }
            let got = report.squared_error.expect("summed");
            assert!((got - sum).abs() <= sum * 1e-9, "{got:e} {sum:e}");
            // Packed codes and zero points are the same.
            let packed = ScaledPlan::new(DType::Float32, &scheme, &[rows, cols]).expect("fits");
            let (mut codes, mut its) = (vec![0; packed.data_len()], vec![0; packed.scales_len()]);
            let mut points = vec![0; packed.zeros_len()];
            packed.quantize_min_max(&bytes, &mut codes, &mut its, &mut points).expect("casts");
            let mut same = vec![0; back.len()];
            packed.dequantize_min_max(&codes, &its, &points, DType::Float64, &mut same).expect("casts");
            assert!(same == back, "{scheme:?}");
        }
    }
}

#[test]
fn non_finite_elements_and_refusals() {
    let scheme = Scheme { rule: ScaleRule::MinMax, granularity: Granularity::Tensor, ..Scheme::INT8_ROW };
    let scheme = scheme.with_element(DType::UInt8);
    let src = [-1.0_f32, f32::NAN, f32::INFINITY, 4.1].map(f32::to_ne_bytes).concat();
    let cast = |non_finite| {
        let scheme = scheme.with_non_finite(non_finite);
        let plan = ScaledPlan::new(DType::Float32, &scheme, &[4]).expect("fits");
        let (mut data, mut scales, mut zeros) = ([9; 4], [9; 4], [9; 1]);
        plan.quantize_min_max(&src, &mut data, &mut scales, &mut zeros)
            .map(|report| (report.poisoned, data, f32::from_ne_bytes(scales), zeros))
    };
    assert_eq!(cast(NonFinite::Saturate), Ok((0, [0, 50, 255, 255], 0.02, [50])));
    assert_eq!(cast(NonFinite::Refuse), Err(ScaledError::NonFinite { block: 0 }));
    let (poisoned, data, scale, zeros) = cast(NonFinite::Poison).expect("casts");
    assert!((poisoned, data, zeros) == (1, [0; 4], [0]) && scale.is_nan());
    let plan = ScaledPlan::new(DType::Float32, &scheme, &[4]).expect("fits");
    let dynamic = plan.quantize_dynamic(&src, &mut [0; 4], &mut [0; 4]);
    assert!(matches!(dynamic, Err(ScaledError::Scheme { .. })));
    assert!(matches!(
        plan.dequantize(&[0; 4], &[0; 4], 1.0, DType::Float32, &mut [0; 16]),
        Err(ScaledError::Scheme { .. })
    ));
    assert!(matches!(
        plan.quantize_min_max(&src, &mut [0; 4], &mut [0; 4], &mut []),
        Err(ScaledError::Length { which: "zero points", want: 1, have: 0 })
    ));
    for wrong in
        [Scheme { element: DType::Float8E4M3FN, ..scheme }, Scheme { scale: ScaleType::E8M0, ..scheme }]
    {
        assert!(ScaledPlan::new(DType::Float32, &wrong, &[4]).is_err());
    }
    let plain = ScaledPlan::new(DType::Float32, &Scheme::MX, &[4]).expect("fits");
    let refused = plain.quantize_min_max(&src, &mut [0; 4], &mut [0; 1], &mut [0; 1]);
    assert!(matches!(refused, Err(ScaledError::Scheme { .. })));
}
