//! Integers with zero points, by an oracle of big integers.

#![cfg(feature = "scaled")]

use crate::support::every_tier::on_every_tier;
use lanecast::scaled::{Granularity, NonFinite, Quantized, ScaleType, ScaledError, ScaledPlan, Scheme};
use lanecast::{Bytes, BytesMut, DType, Storage};
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

/// The value of a 16-bit float without infinities and NaN, by its definition.
fn half(bits: u16, mantissa_bits: u16) -> f64 {
    let (code, hidden) = (bits & 0x7FFF, 1_u16 << mantissa_bits);
    let (exponent, fraction) = (code >> mantissa_bits, code % hidden);
    let significand = if exponent == 0 { fraction } else { fraction + hidden };
    let bias = (1 << (14 - mantissa_bits)) - 1;
    let power = i32::from(exponent.max(1)) - bias - i32::from(mantissa_bits);
    let magnitude = f64::from(significand) * f64::from(power).exp2();
    if bits >> 15 == 1 { -magnitude } else { magnitude }
}

/// The value of a code of a float of 16 or 32 bits.
fn float(dtype: DType, code: u32) -> f64 {
    match dtype {
        DType::Float16 => half(code as u16, 10),
        DType::BFloat16 => half(code as u16, 7),
        _ => f64::from(f32::from_bits(code)),
    }
}

/// The code at an index of a buffer.
fn code(dtype: DType, bytes: &[u8], i: usize) -> u32 {
    match dtype.size() {
        2 => u32::from(u16::from_ne_bytes([bytes[2 * i], bytes[2 * i + 1]])),
        _ => u32::from_ne_bytes(bytes[4 * i..4 * i + 4].try_into().expect("4 bytes")),
    }
}

/// The codes of elements of which most have similar magnitudes.
fn elements(from: DType, n: usize, seed: u32) -> Vec<u32> {
    let mut state = seed;
    let mut next = |i: usize| {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        let exponent = if i % 40 == 7 { state >> 8 & 0xFF } else { 120 + (state >> 9) % 8 };
        match from {
            DType::Float16 => {
                let exponent = if i % 40 == 7 { state >> 8 & 0x1F } else { 12 + (state >> 9) % 5 };
                (state >> 16 & 0x83FF) | exponent.min(0x1E) << 10
            }
            DType::BFloat16 => (state >> 16 & 0x807F) | exponent.min(0xFE) << 7,
            _ => (state & 0x807F_FF00) | exponent.min(0xFE) << 23,
        }
    };
    (0..n).map(&mut next).collect()
}

/// The block of an element.
fn block_of(granularity: Granularity, shape: &[usize], i: usize) -> usize {
    let cols = shape[shape.len() - 1];
    match granularity {
        Granularity::Tensor => 0,
        Granularity::Axis(0) => i / shape[1..].iter().product::<usize>(),
        Granularity::Block { axis: -1, len } => i / cols * cols.div_ceil(len) + i % cols / len,
        other => unreachable!("{other:?}"),
    }
}

/// The integers of codes or of zero points.
fn integers(element: DType, storage: Storage, bytes: &[u8], n: usize) -> Vec<i64> {
    let limits = element.iinfo().expect("an integer");
    let bits = limits.bits as usize;
    let code = |i: usize| match storage {
        Storage::Packed if bits < 8 => bytes[i * bits / 8] >> (i * bits % 8),
        _ => bytes[i],
    };
    let integer = |code: u8| match limits.min < 0 {
        true => i64::from((code << (8 - bits)) as i8 >> (8 - bits)),
        false => i64::from(code & (0xFF >> (8 - bits)) as u8),
    };
    (0..n).map(|i| integer(code(i))).collect()
}

/// The scale is the code nearest to the exact width over the number of steps, at least the smallest and at most the largest finite one.
fn check_scale(dtype: DType, scale: u32, [low, high]: [f64; 2], steps: i64) {
    if low == high {
        assert_eq!(float(dtype, scale), 1.0);
        return;
    }
    let value = |code| float(dtype, code);
    let (width, steps) = (exact(high) - exact(low), BigInt::from(steps));
    let largest = match dtype {
        DType::Float16 => 0x7BFF,
        DType::BFloat16 => 0x7F7F,
        _ => 0x7F7F_FFFF,
    };
    let below = exact((value(scale - 1) + value(scale)) / 2.0) * &steps;
    assert!(scale == 1 || below <= width, "{dtype} {scale:#x} is too large for {low:e} to {high:e}");
    assert!(below != width || scale.is_multiple_of(2), "{dtype} {scale:#x} is not even");
    if scale < largest {
        let above = exact((value(scale) + value(scale + 1)) / 2.0) * &steps;
        assert!(width <= above, "{dtype} {scale:#x} is too small for {low:e} to {high:e}");
        assert!(above != width || scale.is_multiple_of(2), "{dtype} {scale:#x} is not even");
    }
}

/// A value in a buffer is the code nearest to a product, which is exact in double precision.
fn check_value(to: DType, bytes: &[u8], i: usize, want: f64) {
    match to {
        DType::Float64 => {
            let got = f64::from_ne_bytes(bytes[8 * i..8 * i + 8].try_into().expect("8 bytes"));
            assert_eq!(got, want);
        }
        DType::Float32 => assert_eq!(f32::from_bits(code(to, bytes, i)), want as f32),
        _ => {
            // Infinity is the code behind the largest one, as far as rounding is concerned.
            let got = code(to, bytes, i);
            let distance = |code: u32| (float(to, code & 0x7FFF) - want.abs()).abs();
            let nearer = |other: u32| match distance(other).total_cmp(&distance(got)) {
                std::cmp::Ordering::Less => true,
                std::cmp::Ordering::Equal => got % 2 == 1,
                std::cmp::Ordering::Greater => false,
            };
            let infinity = if to == DType::Float16 { 0x7C00 } else { 0x7F80 };
            let magnitude = got & 0x7FFF;
            assert!(magnitude == 0 || !nearer(magnitude - 1), "{to} {got:#x} for {want:e}");
            assert!(magnitude == infinity || !nearer(magnitude + 1), "{to} {got:#x} for {want:e}");
            assert!(magnitude == 0 || (got >> 15 == 1) == (want < 0.0));
        }
    }
}

/// Casts and checks everything that is written.
fn check(plan: &ScaledPlan, storage: Storage, from: DType, shape: &[usize], source: &[u32]) {
    let scheme = plan.scheme();
    let bytes: Vec<u8> = match from.size() {
        2 => source.iter().flat_map(|code| (*code as u16).to_ne_bytes()).collect(),
        _ => source.iter().flat_map(|code| code.to_ne_bytes()).collect(),
    };
    let src: Vec<f64> = source.iter().map(|code| float(from, *code)).collect();
    let filled = |len| vec![0xA5_u8; len];
    let mut q = Quantized::new(filled(plan.data_len()), filled(plan.scales_len()))
        .with_zero_points(filled(plan.zero_points_len()));
    let bytes = Bytes::new(&bytes, src.len());
    let report = plan.quantize(bytes, &mut q).expect("casts");
    // The same scales and zero points, given, give the same codes.
    let mut given = Quantized { data: filled(plan.data_len()), ..q.clone() };
    let again = plan.quantize_given(bytes, &mut given).expect("casts");
    assert_eq!((&given, again.clipped, again.squared_error), (&q, report.clipped, report.squared_error));
    let (data, scales, zeros) = (&q.data, &q.scales, q.zero_points.as_ref().expect("they are there"));
    let limits = scheme.element.iinfo().expect("an integer");
    let (least, largest) = (limits.min as i64, limits.max as i64);
    let codes = integers(scheme.element, storage, data, src.len());
    let points = integers(scheme.element, storage, zeros, plan.scales());
    let mut ranges = vec![[0.0_f64; 2]; plan.scales()];
    for (i, x) in src.iter().enumerate() {
        let [low, high] = &mut ranges[block_of(scheme.granularity, shape, i)];
        (*low, *high) = (low.min(*x), high.max(*x));
    }
    let scale_of = |block: usize| {
        float(scheme.scale.dtype(DType::Float32), code(scheme.scale.dtype(DType::Float32), scales, block))
    };
    for (block, (range, z)) in ranges.iter().zip(&points).enumerate() {
        check_scale(
            scheme.scale.dtype(DType::Float32),
            code(scheme.scale.dtype(DType::Float32), scales, block),
            *range,
            largest - least,
        );
        let want = BigInt::from(least) + nearest(&-exact(range[0]), &exact(scale_of(block)));
        assert_eq!(BigInt::from(*z), want.clamp(least.into(), largest.into()), "{scheme:?}, block {block}");
    }
    let (mut clipped, mut underflowed) = (0, 0);
    for (i, x) in src.iter().enumerate() {
        let block = block_of(scheme.granularity, shape, i);
        let (s, z) = (scale_of(block), points[block]);
        let code = nearest(&exact(*x), &exact(s)) + z;
        let want = code.clone().clamp(least.into(), largest.into());
        assert_eq!(BigInt::from(codes[i]), want, "{scheme:?}: {x:e} by {s:e}, {z}");
        clipped += u64::from(code != want);
        underflowed += u64::from(*x != 0.0 && codes[i] == z);
    }
    assert_eq!((report.clipped, report.underflowed), (Some(clipped), Some(underflowed)), "{scheme:?}");
    let empty = ranges.iter().filter(|[low, high]| low == high).count() as u64;
    assert_eq!((report.elements, report.empty, report.poisoned), (src.len() as u64, empty, 0));
    // Values are exact products, rounded once, and the sum of squares is near that of their differences.
    let values: Vec<f64> = (0..src.len())
        .map(|i| {
            let block = block_of(scheme.granularity, shape, i);
            (codes[i] - points[block]) as f64 * scale_of(block)
        })
        .collect();
    for to in [DType::Float64, DType::Float32, DType::Float16, DType::BFloat16] {
        let mut back = vec![0xA5; to.size() * src.len()];
        plan.with_output(to).dequantize(&q, BytesMut::new(&mut back, src.len())).expect("casts");
        values.iter().enumerate().for_each(|(i, want)| check_value(to, &back, i, *want));
    }
    let sum: f64 = src.iter().zip(&values).map(|(x, value)| (value - x).powi(2)).sum();
    let got = report.squared_error.expect("summed");
    assert!((got - sum).abs() <= sum * 1e-9, "{got:e} {sum:e}");
}

/// Checks casts of a scheme: on every tier, of every source, in both storages.
fn check_everywhere(scheme: &Scheme, shape: &[usize], seed: u32) {
    let (n, cols) = (shape.iter().product::<usize>(), shape[shape.len() - 1]);
    for from in [DType::Float32, DType::BFloat16, DType::Float16] {
        let mut source = elements(from, n, seed);
        if n > 3 * cols {
            // A row of zeros, one without negative values, and one whose ends are far apart.
            source[..cols].fill(0);
            source[cols..2 * cols].iter_mut().for_each(|x| *x &= !(1 << (8 * from.size() - 1)));
            let far = match from {
                DType::Float16 => [0x8001, 0x7BFF],
                DType::BFloat16 => [0x8DA2, 0x4892],
                _ => [0x8DA2_425F, 0x4892_7C00],
            };
            source[2 * cols..2 * cols + 2].copy_from_slice(&far);
        }
        for storage in [Storage::Packed, Storage::Byte] {
            on_every_tier(|_| {
                let plan = ScaledPlan::new(from, scheme, shape).expect("fits").with_storage(storage);
                check(&plan.with_squared_error().with_counts(), storage, from, shape, &source);
            });
        }
    }
}

#[test]
fn codes_zeros_and_scales_are_the_nearest() {
    let granularities = [Granularity::Tensor, Granularity::Axis(0), Granularity::Block { axis: -1, len: 16 }];
    for element in [DType::UInt8, DType::Int8, DType::UInt4, DType::Int4, DType::UInt2] {
        for (seed, granularity) in granularities.into_iter().enumerate() {
            let scheme = Scheme { granularity, ..Scheme::UINT8_ROW }.with_element(element);
            check_everywhere(&scheme, &[8, 41], 5 + seed as u32);
        }
    }
}

/// The schemes with names, with scales of every dtype that they can have.
#[test]
fn named_schemes() {
    let named: Vec<_> = Scheme::NAMED.iter().filter(|(_, scheme)| scheme.has_zero_points()).collect();
    assert_eq!(named.iter().map(|(name, _)| *name).collect::<Vec<_>>(), ["uint8-row", "uint4-group128"]);
    for (_, scheme) in named {
        for scale in [ScaleType::Float32, ScaleType::Float16, ScaleType::BFloat16] {
            for (seed, shape) in
                [&[1, 1][..], &[4, 129], &[5, 300], &[2, 3, 131], &[257]].into_iter().enumerate()
            {
                check_everywhere(&Scheme { scale, ..*scheme }, shape, 21 + seed as u32);
            }
        }
    }
}

#[test]
fn non_finite_elements_and_refusals() {
    let scheme = Scheme { granularity: Granularity::Tensor, ..Scheme::UINT8_ROW };
    let src = [-1.0_f32, f32::NAN, f32::INFINITY, 4.1];
    let cast = |non_finite| {
        let scheme = scheme.with_non_finite(non_finite);
        let plan = ScaledPlan::new(DType::Float32, &scheme, &[4]).expect("fits");
        let (mut data, mut scales, mut zeros) = ([9_u8; 4], [9.0_f32], [9]);
        let mut q = Quantized::new(&mut data[..], &mut scales).with_zero_points(&mut zeros);
        let report = plan.quantize(&src, &mut q);
        report.map(|report| (report.poisoned, data, scales[0], zeros))
    };
    assert_eq!(cast(NonFinite::Saturate), Ok((0, [0, 50, 255, 255], 0.02, [50])));
    assert_eq!(cast(NonFinite::Refuse), Err(ScaledError::NonFinite { block: 0 }));
    let (poisoned, data, scale, zeros) = cast(NonFinite::Poison).expect("casts");
    assert!((poisoned, data, zeros) == (1, [0; 4], [0]) && scale.is_nan());
    let plan = ScaledPlan::new(DType::Float32, &scheme, &[4]).expect("fits");
    let mut without = Quantized { zero_points: None, ..plan.alloc() };
    assert!(matches!(plan.quantize(&src, &mut without), Err(ScaledError::Scheme { .. })));
    assert!(matches!(plan.dequantize(&without, &mut [0.0_f32; 4]), Err(ScaledError::Scheme { .. })));
    let mut few = Quantized { zero_points: Some(Vec::new()), ..plan.alloc() };
    let short = ScaledError::Length { which: "zero points", want: 1, have: 0 };
    assert_eq!(plan.quantize(&src, &mut few), Err(short.clone()));
    assert_eq!(plan.dequantize(&few, &mut [0.0_f32; 4]), Err(short));
    for wrong in
        [Scheme { element: DType::Float8E4M3FN, ..scheme }, Scheme { scale: ScaleType::E8M0, ..scheme }]
    {
        assert!(ScaledPlan::new(DType::Float32, &wrong, &[4]).is_err());
    }
    let plain = ScaledPlan::new(DType::Float32, &Scheme::MX, &[4]).expect("fits");
    let refused = plain.quantize(&src, &mut plain.alloc().with_zero_points(vec![0]));
    assert!(matches!(refused, Err(ScaledError::Scheme { .. })));
}
