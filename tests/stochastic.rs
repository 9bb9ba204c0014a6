//! Stochastic rounding: golden vectors, an oracle of exact fractions, laws and statistics with fixed seeds.

#![cfg(feature = "scaled")]

mod scaled;

use lanecast::scaled::{Granularity, Quantized, Quotient, ScaledPlan, Scheme};
use lanecast::stochastic::{RandomBits, Stochastic, philox4x32_10};
use lanecast::strided::{Layout, View, ViewMut};
use lanecast::{
    Bytes, BytesMut, CastError, CastOptions, CastPlan, DType, Encoding, InPlace, Level, Side, Storage,
};
use num_bigint::BigInt;

const BITS: [RandomBits; 3] = [RandomBits::Eight, RandomBits::Sixteen, RandomBits::ThirtyTwo];

fn bytes(hex: &str, size: usize) -> Vec<u8> {
    let mut bytes: Vec<u8> = (0..hex.len())
        .step_by(2)
        .map(|i| u8::from_str_radix(&hex[i..i + 2], 16).expect("hexadecimal"))
        .collect();
    if cfg!(target_endian = "little") {
        bytes.chunks_mut(size).for_each(<[u8]>::reverse);
    }
    bytes
}

/// The word of an element, by the definition.
fn word(random: Stochastic, index: u64) -> u32 {
    let halves = |word: u64| [word as u32, (word >> 32) as u32];
    let ([a, b], [c, d]) = (halves(index / 4), halves(random.stream));
    philox4x32_10([a, b, c, d], halves(random.seed))[(index % 4) as usize]
}

/// The random bits of an element as an integer.
fn random_bits(random: Stochastic, index: u64) -> u32 {
    word(random, index) >> (32 - random.bits.count())
}

fn plan(from: impl Into<Encoding>, to: impl Into<Encoding>, random: Stochastic) -> CastPlan {
    let plan = CastPlan::new(from, to, &CastOptions::RUST).expect("a pair");
    plan.with_stochastic(random).expect("floats to what rounds")
}

fn run(plan: &CastPlan, src: &[u8], n: usize) -> Vec<u8> {
    let mut dst = vec![0; plan.target().byte_len(n).expect("small")];
    plan.run(Bytes::new(src, n), BytesMut::new(&mut dst, n)).expect("long enough");
    dst
}

#[test]
fn golden() {
    let (mut src, mut seen) = (Vec::new(), 0);
    let number = |text: &str| u64::from_str_radix(text, 16).expect("hexadecimal");
    for line in include_str!("scaled/stochastic.tsv").lines().filter(|line| !line.starts_with('#')) {
        let row: Vec<_> = line.split('\t').collect();
        match row[0] {
            "source" => src = bytes(row[1], 4),
            "words" => {
                let random =
                    Stochastic { seed: number(row[2]), stream: number(row[3]), ..Stochastic::default() };
                for (i, want) in bytes(row[4], 4).chunks(4).enumerate() {
                    let want = u32::from_ne_bytes(want.try_into().expect("4 bytes"));
                    assert_eq!(word(random, number(row[1]) + i as u64), want);
                }
            }
            _ => {
                let bits = match row[3] {
                    "8" => RandomBits::Eight,
                    "16" => RandomBits::Sixteen,
                    _ => RandomBits::ThirtyTwo,
                };
                let to = match row[4] {
                    "e4m3fn" => DType::Float8E4M3FN,
                    "e5m2" => DType::Float8E5M2,
                    "e2m1fn" => DType::Float4E2M1FN,
                    "e2m3fn" => DType::Float6E2M3FN,
                    _ => DType::BFloat16,
                };
                let (seed, stream, first) = (number(row[1]), number(row[2]), number(row[0]));
                let plan = plan(DType::Float32, to, Stochastic { seed, stream, bits, first });
                let got = run(&plan, &src, 76);
                assert_eq!(got, bytes(row[5], to.size()), "{row:?}");
                seen += 1;
            }
        }
    }
    assert_eq!(seen, 45);
}

/// An exact fraction: a double times a power of two that leaves no fraction.
fn exact(x: f64) -> BigInt {
    let bits = x.abs().to_bits();
    let (exponent, fraction) = ((bits >> 52) as usize, bits & ((1 << 52) - 1));
    let magnitude = match exponent {
        0 => BigInt::from(fraction) << 1_usize,
        _ => BigInt::from(fraction | 1 << 52) << exponent,
    };
    if x < 0.0 { -magnitude } else { magnitude }
}

/// The magnitudes of the codes of a dtype that are finite, ascending.
fn magnitudes(dtype: DType) -> Vec<f64> {
    let mut values = match dtype {
        DType::Int8 | DType::UInt4 => {
            let max = dtype.iinfo().expect("an integer").max;
            (0..=max as u32).map(f64::from).collect()
        }
        _ => {
            let codes: Vec<u8> = (0..1_u32 << dtype.bits())
                .flat_map(|code| code.to_le_bytes()[..dtype.size()].to_vec())
                .collect();
            let codes: Vec<u8> = match cfg!(target_endian = "little") {
                true => codes,
                false => codes.chunks(dtype.size()).flat_map(|code| code.iter().rev().copied()).collect(),
            };
            let n = codes.len() / dtype.size();
            let plan = CastPlan::new(dtype, DType::Float64, &CastOptions::RUST).expect("a pair");
            let mut out = vec![0; 8 * n];
            plan.run(Bytes::new(&codes, n), BytesMut::new(&mut out, n)).expect("long enough");
            let values = out.chunks(8).map(|x| f64::from_ne_bytes(x.try_into().expect("8 bytes")));
            values.filter(|x| x.is_finite() && x.is_sign_positive()).collect::<Vec<_>>()
        }
    };
    values.sort_by(f64::total_cmp);
    values
}

/// The magnitude that `|x / s|` becomes, by the definition.
fn oracle(magnitudes: &[f64], x: f64, s: f64, random: Stochastic, index: u64) -> f64 {
    let (x, s) = (x.abs(), s.abs());
    // With one factor of `s` on both sides, and the scale of `exact` once more.
    let (wanted, unit) = (exact(x) * exact(1.0), exact(s));
    let above = magnitudes.partition_point(|y| exact(*y) * &unit <= wanted);
    let (Some(high), low) = (magnitudes.get(above), magnitudes[above - 1]) else {
        return magnitudes[above - 1];
    };
    let (discarded, gap) = (wanted - exact(low) * &unit, (exact(*high) - exact(low)) * &unit);
    let bits = random.bits.count();
    let floor = (discarded << bits as usize) / gap;
    if floor + random_bits(random, index) >= BigInt::from(1_u64 << bits) { *high } else { low }
}

/// Deterministic random words.
fn noise(seed: u64) -> impl FnMut() -> u64 {
    let mut state = seed;
    move || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state ^ state >> 29).wrapping_mul(0xBF58_476D_1CE4_E5B9)
    }
}

/// The values of codes as doubles.
fn decoded(to: impl Into<Encoding>, codes: &[u8], n: usize) -> Vec<f64> {
    let mut out = vec![0; 8 * n];
    CastPlan::new(to, DType::Float64, &CastOptions::RUST)
        .and_then(|plan| plan.run(Bytes::new(codes, n), BytesMut::new(&mut out, n)))
        .expect("long enough");
    out.chunks(8).map(|x| f64::from_ne_bytes(x.try_into().expect("8 bytes"))).collect()
}

/// Doubles of all magnitudes around those of the target, many of them where one more unit decides.
fn doubles(magnitudes: &[f64], n: usize, next: &mut impl FnMut() -> u64) -> Vec<f64> {
    (0..n)
        .map(|i| {
            let noise = next();
            let at = noise as usize % (magnitudes.len() - 1);
            let (low, high) = (magnitudes[at], magnitudes[at + 1]);
            let x = match i % 4 {
                0 => low + (high - low) * ((noise >> 32 & 0xFF) as f64 / 256.0),
                1 => low + (high - low) * ((noise >> 32) as f64 / 4_294_967_296.0),
                2 => f64::from_bits(noise >> 12 | (900 + noise % 200) << 52),
                _ => magnitudes[1] * ((noise >> 40) as f64 / 16_777_216.0),
            };
            let x = f64::from_bits(x.to_bits() + (noise >> 20) % 3);
            if noise & 1 == 0 { x } else { -x }
        })
        .collect()
}

const TARGETS: [DType; 9] = [
    DType::Float8E4M3FN,
    DType::Float8E5M2,
    DType::Float8E4M3FNUZ,
    DType::Float6E3M2FN,
    DType::Float4E2M1FN,
    DType::Float16,
    DType::BFloat16,
    DType::Int8,
    DType::UInt4,
];

#[test]
fn every_code_is_that_of_the_definition() {
    let n = if cfg!(miri) { 40 } else { 700 };
    for (i, to) in TARGETS.into_iter().enumerate() {
        let magnitudes = magnitudes(to);
        for bits in BITS {
            let random = Stochastic { seed: 0x5EED + i as u64, stream: 3, bits, first: 5 };
            let mut values = doubles(&magnitudes, n, &mut noise(i as u64));
            if to == DType::UInt4 {
                values.iter_mut().for_each(|x| *x = x.abs());
            }
            let src: Vec<u8> = values.iter().flat_map(|x| x.to_ne_bytes()).collect();
            let plan = plan(DType::Float64, to, random);
            let got = decoded(to, &run(&plan, &src, n), n);
            for (i, (x, got)) in values.iter().zip(got).enumerate() {
                let want = match (to, *x) {
                    // Integers have one negative value more.
                    (DType::Int8, x) if x < -127.0 => {
                        let more: Vec<f64> = (0..=128).map(f64::from).collect();
                        oracle(&more, x, 1.0, random, i as u64 + 5)
                    }
                    _ => oracle(&magnitudes, *x, 1.0, random, i as u64 + 5),
                };
                assert_eq!(got.abs(), want, "{to}, {bits:?}: {x:e}");
                assert!(got == 0.0 || (got < 0.0) == (*x < 0.0), "{to}: {x:e}");
            }
        }
    }
}

/// What needs no rounding, and what is no number, is as in a plain cast.
#[test]
fn exact_values_and_others() {
    let random = Stochastic { seed: 9, ..Stochastic::default() };
    for to in TARGETS.into_iter().chain([DType::Int64, DType::UInt8]) {
        for from in [DType::Float32, DType::Float16, DType::Float8E4M3] {
            // A cast to the same dtype keeps even what others saturate.
            if from == to {
                continue;
            }
            let values = [0.0, -0.0, 1.0, 1.5, 2.0, -3.0, f32::INFINITY, f32::NEG_INFINITY, f32::NAN];
            let values: Vec<f32> = match to.iinfo() {
                Some(int) => values.into_iter().filter(|x| *x != 1.5 && (*x >= 0.0 || int.min < 0)).collect(),
                None => values.to_vec(),
            };
            let mut src = vec![0; values.len() * from.size()];
            let options = CastOptions::NUMPY;
            CastPlan::new(DType::Float32, from, &options)
                .and_then(|plan| plan.run(&values, BytesMut::new(&mut src, values.len())))
                .expect("long enough");
            let plain = CastPlan::new(from, to, &CastOptions::RUST).expect("a pair");
            let (plan, want) = (plan(from, to, random), run(&plain, &src, values.len()));
            assert_eq!(run(&plan, &src, values.len()), want, "{from} to {to}");
        }
    }
    // Finite values do not become infinite.
    let plan = plan(DType::Float32, DType::Float16, random);
    let got = decoded(DType::Float16, &run(&plan, &f32::MAX.to_ne_bytes(), 1), 1);
    assert_eq!(got, [65504.0]);
}

#[test]
fn chunks_change_nothing() {
    let n = 2113;
    let src: Vec<u8> = (0..n).flat_map(|i| (i as f32 / 700.0 - 1.5).to_ne_bytes()).collect();
    let first = u64::MAX - 600;
    let random = Stochastic { seed: 77, stream: 1, bits: RandomBits::Sixteen, first };
    for to in [
        Encoding::new(DType::Float8E4M3FN),
        Encoding::packed(DType::Float4E2M1FN),
        Encoding::packed(DType::Float6E2M3FN),
        Encoding::new(DType::Int16),
    ] {
        let whole = run(&plan(DType::Float32, to, random), &src, n);
        for size in [8, 24, 520, 1000] {
            let parts: Vec<u8> = src
                .chunks(4 * size)
                .enumerate()
                .flat_map(|(i, src)| {
                    let first = first.wrapping_add((i * size) as u64);
                    run(&plan(DType::Float32, to, Stochastic { first, ..random }), src, src.len() / 4)
                })
                .collect();
            assert_eq!(parts, whole, "{to} by {size}");
        }
    }
}

/// Views and one buffer have the codes of contiguous elements; elements count in C order.
#[test]
fn operands_change_nothing() {
    let shape = [3, 5, 37];
    let n: usize = shape.iter().product();
    let values: Vec<f32> = (0..n).map(|i| i as f32 / 100.0 - 2.0).collect();
    let src: Vec<u8> = values.iter().flat_map(|x| x.to_ne_bytes()).collect();
    for to in [DType::Int8, DType::BFloat16, DType::Float4E2M1FN] {
        let plan = plan(DType::Float32, to, Stochastic { seed: 3, first: 11, ..Stochastic::default() });
        let want = run(&plan, &src, n);
        let mut out = vec![0; want.len()];
        let (view, to_layout) = (View::from_slice(&values, &shape), Layout::contiguous(to, &shape));
        let mut dst = ViewMut::new(&mut out, to_layout.expect("small")).expect("inside");
        plan.run(&view.expect("inside"), &mut dst).expect("one shape");
        assert_eq!(out, want, "{to}: views");

        // Backwards twice: the same order of indices.
        let reversed: Vec<f32> = values.iter().rev().copied().collect();
        let layout = Layout::contiguous(DType::Float32, &[n]).and_then(|layout| layout.reversed(0));
        let bytes: Vec<u8> = reversed.iter().flat_map(|x| x.to_ne_bytes()).collect();
        let view = View::new(&bytes, layout.expect("an axis")).expect("inside");
        plan.run(&view, BytesMut::new(&mut out, n)).expect("one length");
        assert_eq!(out, want, "{to}: a reversed view");

        let mut buffer = src.clone();
        plan.run(InPlace, BytesMut::new(&mut buffer, n)).expect("room");
        assert_eq!(buffer[..want.len()], want, "{to}: in place");
    }
    // Wider results, from the last block to the first.
    let n = 1300;
    let small: Vec<u8> = (0..n).map(|i| (i % 120) as u8).collect();
    let plan = plan(DType::Float8E5M2, DType::Int32, Stochastic::default());
    let want = run(&plan, &small, n);
    let mut buffer = small.clone();
    buffer.resize(4 * n, 0);
    plan.run(InPlace, BytesMut::new(&mut buffer, n)).expect("room");
    assert_eq!(buffer, want);
}

/// What is refused, marked and counted, with all operands.
#[test]
fn losses() {
    let n = 1003;
    let values: Vec<f32> = (0..n)
        .map(|i| match i % 10 {
            0 => 1000.0,
            1 => f32::NAN,
            2 => 0.25,
            3 => 1.5,
            _ => i as f32 % 100.0,
        })
        .collect();
    let plain = plan(DType::Float32, DType::Int8, Stochastic { seed: 5, ..Stochastic::default() });
    let codes = plain.run_to_vec::<i8>(&values).expect("one length");
    for level in [Level::Range, Level::Underflow, Level::Exact] {
        let plan = plain.checked(level);
        let lost = |i: usize| match i % 10 {
            0 | 1 => true,
            2 => (level != Level::Range && codes[i] == 0) || level == Level::Exact,
            3 => level == Level::Exact,
            _ => false,
        };
        let want: Vec<bool> = (0..n).map(lost).collect();
        let count = want.iter().filter(|lost| **lost).count();
        let (mut out, mut mask) = (vec![0_i8; n], vec![0; n.div_ceil(8)]);
        assert_eq!(plan.run_masked(&values, &mut out, &mut mask), Ok(count), "{level:?}");
        assert_eq!(out, codes, "what is marked is cast");
        assert!((0..n).all(|i| (mask[i / 8] >> (i % 8) & 1 == 0) == want[i]), "{level:?}");
        let flat = plan.run_counted(&values, &mut out).expect("one length");
        let ends = (flat.saturated, flat.nan_lost, flat.underflowed_to_zero > 20);
        assert_eq!((ends, flat.inexact > 100), ((101, 101, true), level == Level::Exact), "{flat}");
        assert_eq!((flat.elements, plan.count(&values)), (n as u64, Ok(flat)));
        let view = View::from_slice(&values, &[17, 59]).expect("inside");
        assert_eq!(plan.run_counted(&view, &mut out), Ok(flat));
        let Err(CastError::Rejected(found)) = plan.run(&values[2..], &mut out[2..]) else {
            panic!("a thousand is out of range")
        };
        let first =
            (2..n).position(|i| if i % 10 == 2 || i % 10 == 3 { level == Level::Exact } else { want[i] });
        if level != Level::Underflow {
            assert_eq!(Some(found.index), first);
            assert_eq!(found.value.code() as u32, values[2 + found.index].to_bits());
        }
        let bytes: Vec<u8> = values.iter().flat_map(|x| x.to_ne_bytes()).collect();
        let mut buffer = bytes.clone();
        assert!(plan.run(InPlace, BytesMut::new(&mut buffer, n)).is_err());
        assert_eq!(buffer, bytes, "a rejected cast leaves the buffer");
        assert_eq!(plan.run_masked(InPlace, BytesMut::new(&mut buffer, n), &mut mask), Ok(count));
        assert!(buffer.iter().zip(&codes).all(|(a, b)| *a == *b as u8));
    }
}

/// The number of times that a value between 1 and 2 becomes 2.
fn count_up(random: Stochastic, x: f32, n: usize) -> f64 {
    let plan = plan(DType::Float32, DType::Int8, random);
    let src = x.to_ne_bytes().repeat(n);
    run(&plan, &src, n).iter().filter(|code| **code == 2).count() as f64
}

/// Chi-square of the answers to 16 values that lie between two neighbours, for each number of random bits and three seeds.
#[test]
fn as_often_as_it_should() {
    let n = if cfg!(miri) { 200 } else { 20_000 };
    for bits in BITS {
        for seed in [1, 2, 0xDEAD_BEEF] {
            let mut chi_square = 0.0;
            for k in 1..16_u32 {
                let p = f64::from(k) / 16.0;
                let up =
                    count_up(Stochastic { seed, stream: u64::from(k), bits, first: 0 }, 1.0 + p as f32, n);
                let expected = n as f64 * p;
                chi_square += (up - expected).powi(2) / (expected * (1.0 - p));
            }
            // 15 degrees of freedom: less than 4.6 or more than 37.7 happens once in a thousand times, less than 3.5 once in 5000.
            assert!((3.5..37.7).contains(&chi_square), "{bits:?}, seed {seed}: {chi_square}");
        }
    }
}

/// The mean of many casts is the value, where the nearest code is off by more than a third.
#[test]
fn means() {
    let n = if cfg!(miri) { 400 } else { 40_000 };
    let x = 1.1_f32;
    let random = Stochastic { seed: 4, ..Stochastic::default() };
    let plan = plan(DType::Float32, DType::Float4E2M1FN, random);
    let codes = run(&plan, &x.to_ne_bytes().repeat(n), n);
    let mean = decoded(DType::Float4E2M1FN, &codes, n).iter().sum::<f64>() / n as f64;
    // Four standard deviations of the mean: a gap of 0.5, and a probability of 0.2.
    let tolerance = 4.0 * 0.5 * (0.2 * 0.8 / n as f64).sqrt();
    assert!((mean - f64::from(x)).abs() < tolerance, "{mean}");
}

#[test]
fn refusals() {
    let refused = |from, to| {
        let plan = CastPlan::new(from, to, &CastOptions::RUST).expect("a pair");
        assert_eq!(plan.with_stochastic(Stochastic::default()), Err(CastError::NotStochastic { from, to }));
    };
    refused(DType::Int8, DType::Float16);
    for to in [DType::Float32, DType::Float8E8M0FNU, DType::Bool, DType::Complex64] {
        refused(DType::Float32, to);
    }
    let plan = plan(DType::Float32, DType::Float16, Stochastic::default());
    assert_eq!(
        plan.run(Bytes::new(&[0; 11], 3), BytesMut::new(&mut [0; 6], 3)),
        Err(CastError::BufferTooSmall { which: Side::Source, need: 12, have: 11 })
    );
    assert_eq!(
        plan.run(Bytes::new(&[0; 12], 3), BytesMut::new(&mut [0; 5], 3)),
        Err(CastError::BufferTooSmall { which: Side::Destination, need: 6, have: 5 })
    );
}
