//! Scales that nothing can be divided by, numbers of schemes that make such scales, and values that are NaN: the same bits on every tier.

#![cfg(feature = "scaled")]

use crate::support::every_tier::on_every_tier;
use lanecast::scaled::{
    Empty, Global, Granularity, NonFinite, Quantized, Quotient, Report, ScaleRule, ScaleType, ScaledError,
    ScaledPlan, Scheme,
};
use lanecast::{Bytes, BytesMut, CastOptions, CastPlan, DType, Storage};

/// Floats as elements of a dtype.
fn of_dtype(values: &[f32], dtype: DType) -> Vec<u8> {
    let mut elements = vec![0; values.len() * dtype.size()];
    let cast = CastPlan::new(DType::Float32, dtype, &CastOptions::RUST).expect("a plan");
    cast.run(values, BytesMut::new(&mut elements, values.len())).expect("fits");
    elements
}

/// Codes in bytes by given scales.
fn given(plan: &ScaledPlan, src: &[f32], scales: &[u8], global: f32) -> (Vec<u8>, Report) {
    let plan = plan.with_storage(Storage::Byte);
    let mut q = Quantized::new(vec![0xA5_u8; plan.data_len()], scales).with_global(global);
    let report = plan.quantize_given(src, &mut q).expect("casts");
    (q.data, report)
}

/// Elements of both signs, of any magnitude.
const ELEMENTS: [f32; 12] =
    [0.0, -0.0, 1.0, -1.0, 1e-40, -1e-40, f32::MAX, f32::MIN, 3e-5, -7e9, f32::INFINITY, f32::NEG_INFINITY];

const BAD: [f32; 5] = [0.0, -0.0, f32::INFINITY, f32::NEG_INFINITY, f32::NAN];

#[test]
fn codes_are_zero_where_nothing_can_divide() {
    let src = ELEMENTS.repeat(12);
    on_every_tier(|tier| {
        for quotient in [Quotient::Exact, Quotient::Divide, Quotient::DivideSource] {
            for element in [DType::Float8E4M3FN, DType::Float8E5M2, DType::Float4E2M1FN, DType::Int8] {
                for scale in [ScaleType::Float32, ScaleType::BFloat16, ScaleType::Float16] {
                    let scheme = Scheme { scale, ..Scheme::FP8_ROW.with_element(element) };
                    let scheme = scheme.with_quotient(quotient).with_non_finite(NonFinite::Saturate);
                    // A block without a scale, and one that has one.
                    let plan = ScaledPlan::new(DType::Float32, &scheme, &[2, 72]).expect("fits");
                    for plan in [plan.with_counts(), plan] {
                        for bad in BAD {
                            let scales = of_dtype(&[bad, 0.5], scale.dtype(DType::Float32));
                            let (codes, _) = given(&plan, &src, &scales, 1.0);
                            assert_eq!(codes[..72], [0; 72], "{scheme:?} by {bad} on {tier}");
                            assert!(codes[72..].iter().any(|code| *code > 0), "{scheme:?} on {tier}");
                        }
                    }
                }
            }
        }
    });
}

/// Blocks far smaller than the tensor have a stored scale of zero.
#[test]
fn stored_scales_of_zero_give_codes_of_zero() {
    let mut src = vec![1e-6_f32; 64];
    src[..16].copy_from_slice(&[1000.0; 16]);
    (src[20], src[21]) = (-1e-6, -0.0);
    src[40..48].fill(0.0);
    on_every_tier(|tier| {
        for quotient in [Quotient::Exact, Quotient::Divide, Quotient::DivideSource] {
            for element in [DType::Float4E2M1FN, DType::Float8E4M3FN] {
                let scheme = Scheme::NVFP4.with_element(element).with_quotient(quotient);
                let plan = ScaledPlan::new(DType::Float32, &scheme, &[64]).expect("fits");
                let plan = plan.with_storage(Storage::Byte);
                let mut q = Quantized::new([0xA5_u8; 64], [0xA5; 4]);
                plan.quantize(&src, &mut q).expect("casts");
                let Quantized { data, scales, .. } = q;
                assert!(scales[0] > 0 && scales[1..] == [0; 3], "{scheme:?} on {tier}: {scales:x?}");
                assert_eq!(data[16..], [0; 48], "{scheme:?} on {tier}");
                let global = q.global.expect("NVFP4 has one");
                assert_eq!(given(&plan, &src, &scales, global).0, data, "{scheme:?} on {tier}");
            }
        }
    });
}

/// Libraries that multiply by a reciprocal saturate what is not zero. NaN is made of no number either.
#[test]
fn reciprocals_of_zero_saturate() {
    let src = ELEMENTS.repeat(6);
    let quotients = [
        (Quotient::TimesReciprocal, ScaleType::Float32),
        (Quotient::TimesMultiplier, ScaleType::Float32),
        (Quotient::TimesReciprocal, ScaleType::E4M3(Global::Multiplier)),
        (Quotient::TimesGlobalReciprocal, ScaleType::E4M3(Global::Multiplier)),
    ];
    on_every_tier(|tier| {
        for (quotient, scale) in quotients {
            let scheme = Scheme { scale, ..Scheme::FP8_ROW }.with_quotient(quotient);
            let plan = ScaledPlan::new(DType::Float32, &scheme, &[1, 72]).expect("fits");
            let (codes, _) = given(&plan, &src, &of_dtype(&[0.0], scale.dtype(DType::Float32)), 1.0);
            let want = |x: &f32| if *x == 0.0 { 0 } else { 0x7E } | u8::from(x.is_sign_negative()) << 7;
            assert_eq!(codes, src.iter().map(want).collect::<Vec<_>>(), "{scheme:?} on {tier}");
            let (codes, _) = given(&plan, &src, &of_dtype(&[f32::NAN], scale.dtype(DType::Float32)), 1.0);
            assert_eq!(codes, [0; 72], "{scheme:?} on {tier}");
        }
    });
}

/// A stored scale is the reciprocal of a multiplier, so to cast by a given one is to multiply by its reciprocal.
#[test]
fn multipliers_of_given_scales() {
    let src: Vec<f32> = (0..64).map(|i| (i as f32 - 20.0) * 448.0 / 43.0 * 4.0).collect();
    on_every_tier(|tier| {
        let scheme = Scheme::FP8_ROW_MULTIPLIER;
        let plan = ScaledPlan::new(DType::Float32, &scheme, &[1, 64]).expect("fits");
        let mut q = Quantized::new([0_u8; 64], [0.0_f32]);
        plan.quantize(&src, &mut q).expect("casts");
        assert_eq!(q.scales, [4.0]);
        assert_eq!(given(&plan, &src, &4.0_f32.to_ne_bytes(), 1.0).0, q.data, "{tier}");
    });
}

/// NaN of a code keeps its sign, and every other one is positive; none has a payload.
#[test]
fn values_that_are_nan() {
    // Long blocks are decoded by tables on some CPUs.
    const LEN: usize = 2048;
    // Code, value: the NaNs and infinities of float8_e5m2, zeros and ones.
    let codes: [(u8, f32); 8] = [
        (0x7E, f32::NAN),
        (0xFF, -f32::NAN),
        (0x7C, f32::INFINITY),
        (0xFC, f32::NEG_INFINITY),
        (0x00, 0.0),
        (0x80, -0.0),
        (0x3C, 1.0),
        (0xBC, -1.0),
    ];
    let nan = |dtype: DType, negative: bool| of_dtype(&[if negative { -f32::NAN } else { f32::NAN }], dtype);
    let data: Vec<u8> = (0..LEN).map(|i| codes[i % 8].0).collect();
    on_every_tier(|tier| {
        for scale in [
            ScaleType::Float32,
            ScaleType::BFloat16,
            ScaleType::E8M0,
            ScaleType::E4M3(Global::Multiplier),
            ScaleType::E4M3(Global::Divisor),
        ] {
            let rule = ScaleRule::Given;
            let scheme = Scheme { scale, rule, quotient: Quotient::Divide, ..Scheme::FP8_TENSOR };
            let scheme = scheme.with_element(DType::Float8E5M2);
            let plan = ScaledPlan::new(DType::Float32, &scheme, &[LEN]).expect("fits");
            for by in BAD.into_iter().chain([-f32::NAN, 2.0, -2.0, 1.0]) {
                let scales = of_dtype(&[by], scale.dtype(DType::Float32));
                let stored = CastPlan::new(scale.dtype(DType::Float32), DType::Float32, &CastOptions::RUST)
                    .expect("a plan");
                let mut by = [0.0_f32];
                stored.run(Bytes::new(&scales, 1), &mut by).expect("fits");
                let by = by[0];
                let q = Quantized::new(&data, &scales).with_global(1.0);
                for to in [DType::Float32, DType::BFloat16, DType::Float16, DType::Float64] {
                    let mut got = vec![0; LEN * to.size()];
                    plan.with_output(to).dequantize(&q, BytesMut::new(&mut got, LEN)).expect("casts");
                    for (i, got) in got.chunks(to.size()).enumerate() {
                        let value = codes[i % 8].1;
                        let want = match (value.is_nan(), (value * by).is_nan()) {
                            (true, _) => nan(to, value.is_sign_negative()),
                            (_, true) => nan(to, false),
                            _ => of_dtype(&[value * by], to),
                        };
                        assert_eq!(got, want, "{value} by {by} of {scale:?} to {to} on {tier}");
                    }
                }
            }
        }
        let scheme = Scheme { rule: ScaleRule::MinMax, ..Scheme::INT8_ROW };
        let plan = ScaledPlan::new(DType::Float32, &scheme, &[1, 2]).expect("fits");
        for by in [f32::INFINITY, f32::NAN, -f32::NAN] {
            let mut got = [0.0_f32; 2];
            let q = Quantized::new(&[3_i8, 4][..], [by]).with_zero_points(&[3]);
            plan.dequantize(&q, &mut got).expect("casts");
            let second = if by.is_nan() { f32::NAN } else { by };
            assert_eq!(got.map(f32::to_bits), [f32::NAN, second].map(f32::to_bits), "{by} on {tier}");
        }
    });
}

#[test]
fn numbers_that_are_refused() {
    for bad in [0.0, -0.0, -6.0, f32::INFINITY, f32::NEG_INFINITY, f32::NAN] {
        let good = 6.0;
        let rules = [
            ScaleRule::Amax { over: bad },
            ScaleRule::AmaxTwice { over: bad },
            ScaleRule::AmaxTimesInverse { over: bad, range: good },
            ScaleRule::AmaxTimesInverse { over: good, range: bad },
            ScaleRule::AmaxTimesInverseSource { over: good, range: bad },
        ];
        let of_rules = rules.map(|rule| Scheme { rule, quotient: Quotient::Divide, ..Scheme::NVFP4 });
        let empties = [
            Empty::Floor(bad),
            Empty::AtLeast { empty: bad, least: good },
            Empty::AtLeast { empty: good, least: bad },
        ];
        for scheme in of_rules.into_iter().chain(empties.map(|empty| Scheme::NVFP4.with_empty(empty))) {
            let error = ScaledPlan::new(DType::Float32, &scheme, &[16]).expect_err("refused");
            let ScaledError::Number { given, .. } = error else { panic!("{scheme:?}: {error:?}") };
            assert_eq!(given.to_bits(), bad.to_bits(), "{scheme:?}");
        }
    }
    let scheme = Scheme { rule: ScaleRule::Amax { over: -6.0 }, ..Scheme::NVFP4 };
    let error = ScaledPlan::new(DType::Float32, &scheme, &[16]).expect_err("refused");
    assert_eq!(
        error.to_string(),
        "`over` of the scale rule is -6; give a number that is positive and finite"
    );
}

/// Numbers as small or as large as can be give the same codes on every tier, and values that are no NaN.
#[test]
fn numbers_at_the_ends() {
    let tiny: Vec<f32> = (0..32).map(|i| f32::from_bits(i * 0x0004_0001)).collect();
    let huge: Vec<f32> = (0..32).map(|i| f32::MAX / (1 + i) as f32).collect();
    let ones: Vec<f32> = (0..32).map(|i| (i as f32 - 9.0) / 8.0).collect();
    let mut first = Vec::new();
    on_every_tier(|tier| {
        let mut answers = Vec::new();
        for over in [1.0, 6.0, 1e-45, 1e-39, 2e-20, 3e38, f32::MAX] {
            let schemes = [
                Scheme { rule: ScaleRule::Amax { over }, ..Scheme::NVFP4 },
                Scheme { rule: ScaleRule::AmaxTwice { over }, ..Scheme::MODELOPT_NVFP4 },
                Scheme { rule: ScaleRule::AmaxTimesInverse { over, range: 2688.0 }, ..Scheme::TE_NVFP4 },
                Scheme {
                    rule: ScaleRule::AmaxTimesInverseSource { over: 6.0, range: over },
                    ..Scheme::COMPRESSED_TENSORS_NVFP4
                },
                Scheme { rule: ScaleRule::Amax { over }, ..Scheme::FP8_ROW_MULTIPLIER },
                Scheme { rule: ScaleRule::Amax { over }, ..Scheme::FP8_ROW_DIVIDE },
                Scheme { rule: ScaleRule::Amax { over }, ..Scheme::FP8_ROW },
            ];
            for (scheme, src) in
                schemes.iter().flat_map(|scheme| [&tiny, &huge, &ones].map(|src| (scheme, src)))
            {
                let scheme = Scheme { granularity: Granularity::Block { axis: -1, len: 16 }, ..*scheme };
                let plan = ScaledPlan::new(DType::Float32, &scheme, &[1, 32]).expect("fits");
                let (mut q, mut values) = (plan.alloc(), [0.0_f64; 32]);
                plan.quantize(src, &mut q).expect("casts");
                plan.dequantize(&q, &mut values).expect("casts");
                assert!(!values.iter().any(|value| value.is_nan()), "{scheme:?} on {tier}: {src:?}");
                answers.push((scheme, q));
            }
        }
        match first.is_empty() {
            true => first = answers,
            false => assert!(first == answers, "{tier}"),
        }
    });
}

/// Codes of 16 bits that become zero are counted as those of 8 bits are.
#[test]
fn underflow_of_wide_codes() {
    let src: Vec<f32> = (0..40).map(|i| if i % 4 == 0 { 1e-30 } else { i as f32 }).collect();
    for element in [DType::Int16, DType::UInt16, DType::Float16, DType::Int8] {
        let scheme = Scheme::INT8_ROW.with_element(element);
        let plan = ScaledPlan::new(DType::Float32, &scheme, &[1, 40]).expect("fits").with_counts();
        let report = plan.quantize(&src, &mut plan.alloc()).expect("casts");
        assert_eq!(report.underflowed, Some(10), "{element}");
    }
}
