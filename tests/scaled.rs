//! Laws of scaled casts, by an oracle that never forms a quotient: `|x|` is compared with the midpoints of the codes times the scale.

#![cfg(feature = "scaled")]

use crate::support::every_tier::on_every_tier;
use crate::support::rng::Rng;
use lanecast::half::bf16;
use lanecast::scaled::{
    Amax, Global, Granularity, NonFinite, Quantized, Quotient, Report, ScaleRule, ScaleType, ScaledError,
    ScaledPlan, Scheme,
};
use lanecast::{Bytes, CastError, DType, Kind, Storage, cast_to_vec};

/// Floats of many magnitudes, with zeros of both signs.
fn values(n: usize, seed: u64) -> Vec<f32> {
    let mut rng = Rng(seed);
    (0..n)
        .map(|_| {
            let (bits, kind) = (rng.bits() as u32, rng.below(16));
            match kind {
                0 => 0.0,
                1 => -0.0,
                // Ties and their neighbours are more likely among short significands.
                2..=8 => f32::from_bits((bits & 0x807C_0000) | (112 + bits % 24) << 23),
                _ => f32::from_bits((bits & 0x807F_FFFF) | (100 + bits % 40) << 23),
            }
        })
        .collect()
}

/// The magnitudes of all finite codes of a dtype, ascending: the code of the magnitude is the index.
fn magnitudes(dtype: DType) -> Vec<f64> {
    let bits = dtype.bits();
    let decode = |code: u8| -> f64 {
        let plan = lanecast::CastPlan::new(dtype, DType::Float64, &Default::default()).expect("a plan");
        let mut out = [0.0_f64];
        plan.run(Bytes::new(&[code], 1), &mut out).expect("one element");
        out[0]
    };
    (0..1_u16 << (bits - 1)).map(|code| decode(code as u8)).take_while(|x| x.is_finite()).collect()
}

/// The code nearest to `x / scale`, an exact tie to the even one, the largest if it is beyond. Products are exact: 9 bits times 28.
fn nearest(magnitudes: &[f64], x: f32, scale: f64) -> usize {
    let x = f64::from(x.abs());
    let mut code = 0;
    while code + 1 < magnitudes.len() {
        let midpoint = (magnitudes[code] + magnitudes[code + 1]) / 2.0 * scale;
        if x < midpoint || (x == midpoint && code % 2 == 0) {
            break;
        }
        code += 1;
    }
    code
}

const FLOATS: [DType; 5] =
    [DType::Float8E4M3FN, DType::Float8E5M2, DType::Float6E3M2FN, DType::Float6E2M3FN, DType::Float4E2M1FN];

#[test]
fn every_code_is_the_nearest_for_the_stored_scale() {
    let schemes = [
        Scheme::MX_OCP,
        Scheme::MX,
        Scheme::MX_EVEN,
        Scheme::MX_CEIL,
        Scheme::NVFP4,
        Scheme::FP8_TENSOR,
        Scheme::FP8_ROW,
        Scheme::FP8_GROUP128,
        Scheme::FP8_BLOCK128,
        Scheme { scale: ScaleType::BFloat16, ..Scheme::FP8_ROW },
        Scheme { scale: ScaleType::Float16, ..Scheme::FP8_GROUP128 },
    ];
    let (rows, cols) = (9, 133);
    for (seed, scheme) in schemes.into_iter().enumerate() {
        let src = values(rows * cols, 77 + seed as u64);
        for element in FLOATS {
            let scheme = scheme.with_element(element);
            let plan = ScaledPlan::new(DType::Float32, &scheme, &[rows, cols]).expect("fits");
            let plan = plan.with_storage(Storage::Byte).with_counts();
            let mut q = plan.alloc();
            let report = plan.quantize(&src, &mut q).expect("casts");
            let magnitudes = magnitudes(element);
            let sign = 1 << (element.bits() - 1);
            // What codes of 1 mean is the scale of their block.
            let one = magnitudes.iter().position(|x| *x == 1.0).expect("1 has a code") as u8;
            let ones = Quantized { data: vec![one; src.len()], ..q.clone() };
            let mut of_one = vec![0.0_f64; src.len()];
            plan.dequantize(&ones, &mut of_one).expect("casts");
            let mut clipped = 0;
            for (i, x) in src.iter().enumerate() {
                let scale = of_one[i];
                let code = usize::from(q.data[i]);
                let want = if scale == 0.0 { 0 } else { nearest(&magnitudes, *x, scale) };
                assert_eq!(code % sign, want, "{scheme:?}: {x:e} by {scale:e}");
                assert!(scale == 0.0 || (code >= sign) == x.is_sign_negative(), "{scheme:?}: {x:e}");
                clipped +=
                    u64::from(scale > 0.0 && f64::from(x.abs()) > magnitudes[magnitudes.len() - 1] * scale);
            }
            assert_eq!((report.clipped, report.elements), (Some(clipped), src.len() as u64), "{scheme:?}");
        }
    }
}

/// Codes do not depend on what else is in the tensor, and a power of two moves scales only.
#[test]
fn blocks_are_alone_and_scales_move() {
    for scheme in [Scheme::MX, Scheme::FP8_GROUP128, Scheme::INT4_GROUP128] {
        let cast = |src: &[f32], shape: &[usize]| {
            let plan =
                ScaledPlan::new(DType::Float32, &scheme, shape).expect("fits").with_storage(Storage::Byte);
            let (codes, scales, _) = quantized(&plan, src).expect("casts");
            (codes, scales)
        };
        let src = values(40 * 256, 5);
        let (codes, scales) = cast(&src, &[40, 256]);
        let per_row = scales.len() / 40;
        for row in [0, 7, 39] {
            let (alone, its_own) = cast(&src[row * 256..(row + 1) * 256], &[256]);
            assert_eq!(
                (&codes[row * 256..(row + 1) * 256], &scales[row * per_row..(row + 1) * per_row]),
                (&alone[..], &its_own[..])
            );
        }
        let larger: Vec<f32> = src.iter().map(|x| x * 16.0).collect();
        let (moved, by_four) = cast(&larger, &[40, 256]);
        assert_eq!(codes, moved);
        assert_ne!(scales, by_four);
    }
}

#[test]
fn values_come_back_rounded_once() {
    let src = values(33 * 65, 9);
    let plan = ScaledPlan::new(DType::Float32, &Scheme::NVFP4, &[33, 65]).expect("fits");
    let mut q = plan.alloc();
    plan.quantize(&src, &mut q).expect("casts");
    let (mut exact, mut single) = (vec![0.0_f64; src.len()], vec![0.0_f32; src.len()]);
    let mut half = vec![bf16::ZERO; src.len()];
    plan.dequantize(&q, &mut exact).expect("casts");
    plan.dequantize(&q, &mut single).expect("casts");
    plan.dequantize(&q, &mut half).expect("casts");
    assert_eq!((single, half), (cast_to_vec(&exact), cast_to_vec(&exact)));
}

#[test]
fn one_amax_for_the_parts_of_a_tensor() {
    let src = values(64 * 32, 21);
    let whole = ScaledPlan::new(DType::Float32, &Scheme::NVFP4, &[64, 32]).expect("fits");
    let half = ScaledPlan::new(DType::Float32, &Scheme::NVFP4, &[32, 32]).expect("fits");
    let (low, high) = src.split_at(1024);
    let amax = half.amax(low).expect("fits").merge(half.amax(high).expect("fits")).finite();
    assert_eq!(amax, src.iter().fold(0.0, |a: f32, x| a.max(x.abs())));
    let (codes, scales, report) = quantized(&whole, &src).expect("casts");
    let mut parts = (Vec::new(), Vec::new());
    let half = half.with_amax(amax).expect("it is finite");
    for part in [low, high] {
        let (codes, scales, its_own) = quantized(&half, part).expect("casts");
        assert_eq!(its_own.global, report.global);
        parts.0.extend(codes);
        parts.1.extend(scales);
    }
    assert_eq!(parts, (codes, scales));
}

/// The answers to blocks in another order are the answers in that order.
#[test]
fn permuted_blocks() {
    let (blocks, len) = (12, 32);
    let src = values(blocks * len, 31);
    let order: Vec<usize> = (0..blocks).map(|i| i * 5 % blocks).collect();
    let permuted: Vec<f32> = order.iter().flat_map(|i| src[i * len..(i + 1) * len].to_vec()).collect();
    // The scale of the tensor does not depend on the order.
    for scheme in [Scheme::MX, Scheme::NVFP4, Scheme::FP8_ROW, Scheme::INT4_GROUP128] {
        let shape = [blocks, len];
        let plan =
            ScaledPlan::new(DType::Float32, &scheme, &shape).expect("fits").with_storage(Storage::Byte);
        let cast = |src: &[f32]| quantized(&plan, src).expect("casts");
        let (codes, scales, report) = cast(&src);
        let (got, its, same) = cast(&permuted);
        let each = |of: &[u8]| -> Vec<u8> {
            let len = of.len() / blocks;
            order.iter().flat_map(|i| of[i * len..(i + 1) * len].to_vec()).collect()
        };
        assert_eq!((got, its, same), (each(&codes), each(&scales), report), "{scheme:?}");
    }
}

/// The codes, scales and report of a plan.
fn quantized(plan: &ScaledPlan, src: &[f32]) -> Result<(Vec<u8>, Vec<u8>, Report), ScaledError> {
    let mut q = Quantized::new(vec![1_u8; plan.data_len()], vec![1_u8; plan.scales_len()]);
    let report = plan.quantize(src, &mut q)?;
    assert_eq!(q.global, report.global);
    Ok((q.data, q.scales, report))
}

/// A scale of the tensor that divides is the reciprocal of the one that multiplies: the largest block has the largest scale either way.
#[test]
fn a_divisor_is_computed_for_every_rule() {
    let mut src = values(64 * 48, 5);
    let amax = 2.0 * src.iter().fold(0.0, |amax: f32, x| amax.max(x.abs()));
    src[100] = -amax;
    for rule in [6.0, 5.0].map(|over| ScaleRule::Amax { over }) {
        let ScaleRule::Amax { over } = rule else { unreachable!() };
        let scale = ScaleType::E4M3(Global::Divisor);
        let scheme = Scheme { rule, scale, ..Scheme::NVFP4 }.with_quotient(Quotient::Divide);
        let plan = ScaledPlan::new(DType::Float32, &scheme, &[64, 48]).expect("fits");
        let mut q = Quantized::new(vec![1_u8; plan.data_len()], vec![1_u8; plan.scales_len()]);
        let report = plan.quantize(&src, &mut q).expect("casts");
        assert_eq!(report.global, Some((f64::from(over) * 448.0 / f64::from(amax)) as f32));
        assert_eq!(q.scales[100 / 16], 0x7E);
        let mut back = vec![0.0_f32; src.len()];
        plan.dequantize(&q, &mut back).expect("casts");
        let (error, all) = src.iter().zip(&back).fold((0.0, 0.0), |(error, all), (x, y)| {
            (error + f64::from(x - y).powi(2), all + f64::from(*x).powi(2))
        });
        assert!(error < 0.05 * all, "{error} of {all}");
    }
}

/// Scales of blocks beside a known scale of the tensor: one that fits, larger ones, and smaller ones, with which they saturate.
#[test]
fn static_scales_of_tensors() {
    let (rows, cols) = (9, 133);
    let mut src = values(rows * cols, 12);
    src[16..32].fill(0.0);
    // Infinite in float32 if it is divided by a small scale.
    src[700] = f32::MAX;
    let e4m3 = magnitudes(DType::Float8E4M3FN);
    for element in FLOATS {
        let scheme = Scheme::NVFP4.with_element(element);
        let ScaleRule::Amax { over } = scheme.rule else { panic!("the rule of NVFP4") };
        let magnitudes = magnitudes(element);
        let sign = 1 << (element.bits() - 1);
        let fits = quantized(&ScaledPlan::new(DType::Float32, &scheme, &[528]).expect("fits"), &src[..528]);
        let fits = fits.expect("casts").2.global.expect("NVFP4 has one");
        for global in [fits, fits * 3.0, fits * 1e9, fits / 5.0, fits * 1e-9, 1e-18, 1e-44, 3e38] {
            on_every_tier(|tier| {
                // Made on this tier.
                let plan = |counts: bool| {
                    let plan = ScaledPlan::new(DType::Float32, &scheme, &[rows, cols]).expect("fits");
                    let plan = if counts { plan.with_counts() } else { plan };
                    plan.with_storage(Storage::Byte).with_global(global).expect("it is positive")
                };
                let (codes, scales, report) = quantized(&plan(true), &src).expect("casts");
                assert_eq!((report.global, report.empty), (Some(global), 1));
                let mut uncounted = report;
                (uncounted.clipped, uncounted.underflowed) = (None, None);
                let without = quantized(&plan(false), &src).expect("casts");
                assert!(without == (codes.clone(), scales.clone(), uncounted), "{tier}: {global:e}");
                let mut clipped = 0;
                for (row, (src, codes)) in src.chunks(cols).zip(codes.chunks(cols)).enumerate() {
                    for (block, (src, codes)) in src.chunks(16).zip(codes.chunks(16)).enumerate() {
                        let scale = scales[row * cols.div_ceil(16) + block];
                        let amax = src.iter().fold(0.0, |a: f32, x| a.max(x.abs()));
                        let want = nearest(&e4m3, amax, f64::from(over) * f64::from(global));
                        assert_eq!(usize::from(scale), want, "{tier}: {amax:e} by {global:e}");
                        let scale = e4m3[want] * f64::from(global);
                        for (x, code) in src.iter().zip(codes) {
                            let want = if scale == 0.0 { 0 } else { nearest(&magnitudes, *x, scale) };
                            assert_eq!(usize::from(*code) % sign, want, "{tier}: {x:e} by {scale:e}");
                            let max = magnitudes[magnitudes.len() - 1] * scale;
                            clipped += u64::from(scale > 0.0 && f64::from(x.abs()) > max);
                        }
                    }
                }
                assert_eq!(report.clipped, Some(clipped), "{tier}: {global:e}");
            });
        }
    }
}

/// The scale that follows from a tensor, given as a static one, gives the same.
#[test]
fn static_scales_that_would_follow() {
    let src = values(21 * 80, 13);
    let mut schemes = 0;
    for (name, scheme) in Scheme::NAMED {
        // The factor of this one is not the reciprocal of the scale that it stores, which is rounded.
        if !matches!(scheme.scale, ScaleType::E4M3(_)) || *name == "te-nvfp4" {
            continue;
        }
        schemes += 1;
        let plan = ScaledPlan::new(DType::Float32, scheme, &[21, 80]).expect("fits").with_squared_error();
        let want = quantized(&plan, &src).expect("casts");
        let plan = plan.with_global(want.2.global.expect("there is one")).expect("it is positive");
        assert_eq!(quantized(&plan, &src), Ok(want.clone()), "{name}");
        // Nothing else is taken from the tensor.
        let zeros = quantized(&plan, &[0.0; 21 * 80]).expect("casts");
        assert_eq!(zeros.2.global, want.2.global, "{name}");
    }
    assert_eq!(schemes, 4);
}

#[test]
fn static_scales_and_other_casts() {
    let (src, global) = (values(32 * 64, 14), 0.01);
    let new = |from| ScaledPlan::new(from, &Scheme::NVFP4, &[32, 64]).expect("fits");
    let plan = new(DType::Float32).with_global(global).expect("it is positive");
    let (codes, scales, report) = quantized(&plan, &src).expect("casts");
    // A part has the scale of the whole.
    let part = ScaledPlan::new(DType::Float32, &Scheme::NVFP4, &[64]).expect("fits").with_global(global);
    let (its, by, _) = quantized(&part.expect("it is positive"), &src[640..704]).expect("casts");
    assert_eq!((&its[..], &by[..]), (&codes[320..352], &scales[40..44]));
    // Casts that are given a scale take that.
    let mut given = Quantized::new(vec![1_u8; codes.len()], &scales).with_global(0.02);
    let other = plan.quantize_given(&src, &mut given).expect("casts");
    assert_eq!(other.global, Some(0.02));
    assert_ne!(given.data, codes);
    // Without one, they take that of the plan.
    given.global = None;
    plan.quantize_given(&src, &mut given).expect("casts");
    assert_eq!(given.data, codes);
    // From another scheme, whose values float32 has.
    let mx = ScaledPlan::new(DType::Float32, &Scheme::MX, &[32, 64]).expect("fits");
    let (mut of, mut back) = (mx.alloc(), vec![0.0_f32; src.len()]);
    mx.quantize(&src, &mut of).expect("casts");
    mx.dequantize(&of, &mut back).expect("casts");
    let (want, by, _) = quantized(&plan, &back).expect("casts");
    let mut got = plan.alloc();
    let again = plan.requantize(&mx, &of, &mut got).expect("casts");
    assert_eq!((again.global, got.data, got.scales), (report.global, want, by));
}

#[test]
fn static_scales_and_what_is_not_finite() {
    let mut src = values(64, 15);
    let global = 0.01;
    let cast = |non_finite, src: &[f32]| {
        let scheme = Scheme::NVFP4.with_non_finite(non_finite);
        let plan = ScaledPlan::new(DType::Float32, &scheme, &[64]).expect("fits").with_storage(Storage::Byte);
        quantized(&plan.with_global(global).expect("it is positive"), src)
    };
    let (codes, scales, _) = cast(NonFinite::Poison, &src).expect("casts");
    (src[20], src[40]) = (f32::NAN, f32::NEG_INFINITY);
    let (poisoned, its, report) = cast(NonFinite::Poison, &src).expect("casts");
    assert_eq!((report.poisoned, report.global), (2, Some(global)));
    assert_eq!((its[1], its[2], &poisoned[16..48]), (0x7F, 0x7F, &[0; 32][..]));
    for block in [0, 3] {
        let range = 16 * block..16 * block + 16;
        assert_eq!((&poisoned[range.clone()], its[block]), (&codes[range], scales[block]));
    }
    let (_, saturated, report) = cast(NonFinite::Saturate, &src).expect("casts");
    (src[20], src[40]) = (0.0, 0.0);
    assert_eq!((report.poisoned, report.global), (0, Some(global)));
    assert_eq!(saturated, cast(NonFinite::Poison, &src).expect("casts").1);
    src[40] = f32::INFINITY;
    assert_eq!(cast(NonFinite::Refuse, &src), Err(ScaledError::NonFinite { block: 2 }));
}

#[test]
fn static_scales_that_are_refused() {
    let plan = |scheme| ScaledPlan::new(DType::Float32, &scheme, &[16]).expect("fits");
    for given in [0.0, -1.0, f32::INFINITY, f32::NAN] {
        let error = plan(Scheme::NVFP4).with_global(given).expect_err("not positive and finite");
        assert!(matches!(error, ScaledError::Global { given: Some(x) } if x.to_bits() == given.to_bits()));
    }
    for scheme in [Scheme::MX, Scheme::FP8_ROW] {
        let error = plan(scheme).with_global(1.0).expect_err("it has no scale of the tensor");
        assert!(error.to_string().contains("has no scale of the tensor"), "{error}");
    }
    let error = plan(Scheme::NVFP4).with_amax(f32::INFINITY).expect_err("not finite");
    assert_eq!(error, ScaledError::Amax { given: f32::INFINITY });
    let fixed = plan(Scheme::NVFP4).with_global(2.0).expect("a scale");
    assert_eq!(fixed.with_amax(1.0).expect_err("two scales"), ScaledError::TwoScales);
    // Casts that need one and have none.
    let mut q = plan(Scheme::NVFP4).alloc();
    let missing = Err(ScaledError::Global { given: None });
    assert_eq!(plan(Scheme::NVFP4).quantize_given(&[0.0_f32; 16], &mut q).map(drop), missing);
    assert_eq!(plan(Scheme::NVFP4).dequantize(&q, &mut [0.0_f32; 16]), missing);
}

#[test]
fn magnitudes_merge() {
    let mut src = values(100, 8);
    let of = |src: &[f32]| Amax::of(DType::Float32, src).expect("elements of that dtype");
    let whole = of(&src);
    assert_eq!(
        (whole.finite(), whole.has_non_finite()),
        (src.iter().fold(0.0, |a: f32, x| a.max(x.abs())), false)
    );
    for size in [1, 7, 64] {
        assert_eq!(src.chunks(size).rev().map(of).fold(Amax::default(), Amax::merge), whole);
    }
    src[50] = f32::NEG_INFINITY;
    src[51] = f32::NAN;
    let merged = src.chunks(9).map(of).fold(Amax::default(), Amax::merge);
    assert_eq!(merged, of(&src));
    assert!(merged.has_non_finite() && merged.finite() > 0.0 && merged.finite().is_finite());
    assert!(merged.largest().is_nan() && of(&src[..51]).largest() == f32::INFINITY);
    let short = Amax::of(DType::BFloat16, Bytes::new(&[0; 3], 2));
    assert!(matches!(short, Err(ScaledError::Cast(CastError::BufferTooSmall { need: 4, have: 3, .. }))));
    assert_eq!(Amax::of(DType::Int8, &[0_i8]), Err(ScaledError::Source { dtype: DType::Int8 }));
}

#[test]
fn nan_and_infinity() {
    let mut src = values(96, 3);
    (src[40], src[70]) = (f32::NAN, f32::INFINITY);
    let cast = |non_finite| {
        let scheme = Scheme::MX.with_non_finite(non_finite);
        let plan = ScaledPlan::new(DType::Float32, &scheme, &[96]).expect("fits");
        let mut q = Quantized::new(vec![1_u8; plan.data_len()], vec![1_u8; plan.scales_len()]);
        (plan.quantize(&src, &mut q), q.data, q.scales)
    };
    let (report, codes, scales) = cast(NonFinite::Poison);
    assert_eq!(
        (report.expect("casts").poisoned, &scales[1..], &codes[32..]),
        (2, &[0xFF, 0xFF][..], &[0; 64][..])
    );
    let (report, codes, scales) = cast(NonFinite::Saturate);
    assert_eq!((report.expect("casts").poisoned, codes[70], codes[40] & 0x7F), (0, 0x7E, 0x7F));
    assert!(scales.iter().all(|code| *code < 0xFF));
    assert_eq!(cast(NonFinite::Refuse).0, Err(ScaledError::NonFinite { block: 1 }));
    // Scales that are given stay as they are.
    let cast_given = |non_finite| {
        let scheme = Scheme::MX.with_non_finite(non_finite);
        let plan = ScaledPlan::new(DType::Float32, &scheme, &[96]).expect("fits");
        let mut given = Quantized::new(vec![1_u8; plan.data_len()], &scales);
        plan.quantize_given(&src, &mut given).map(|report| (report.poisoned, given.data))
    };
    for non_finite in [NonFinite::Poison, NonFinite::Saturate] {
        assert_eq!(cast_given(non_finite), Ok((0, codes.clone())));
    }
    assert_eq!(cast_given(NonFinite::Refuse), Err(ScaledError::NonFinite { block: 1 }));
}

#[test]
fn wrong_requests() {
    let mx = |shape: &[usize]| ScaledPlan::new(DType::Float32, &Scheme::MX, shape).expect("fits");
    let short = mx(&[32]).quantize(&[0.0_f32; 31], &mut mx(&[32]).alloc());
    assert_eq!(short, Err(ScaledError::Length { which: "source", want: 128, have: 124 }));
    let mut few = Quantized { scales: Vec::new(), ..mx(&[32]).alloc() };
    let short = mx(&[32]).quantize(&[0.0_f32; 32], &mut few);
    assert_eq!(short, Err(ScaledError::Length { which: "scales", want: 1, have: 0 }));
    let mut odd = Quantized::new([0_i16; 32], [0_u8; 1]);
    let wrong = mx(&[32]).quantize(&[0.0_f32; 32], &mut odd);
    assert!(matches!(wrong, Err(ScaledError::Cast(CastError::WrongElement { .. }))));
    let error = wrong.expect_err("int16 holds no codes of float8");
    assert!(std::error::Error::source(&error).is_some(), "{error}");
    let wrong = mx(&[32]).dequantize(&mx(&[32]).alloc(), &mut [0_i32; 32]);
    assert_eq!(wrong, Err(ScaledError::Target { dtype: DType::Int32 }));
    let refused = |from, scheme: Scheme| ScaledPlan::new(from, &scheme, &[4]).err();
    assert_eq!(refused(DType::Int8, Scheme::MX), Some(ScaledError::Source { dtype: DType::Int8 }));
    let complex = Scheme::MX.with_element(DType::Complex64);
    assert_eq!(refused(DType::Float32, complex), Some(ScaledError::Element { dtype: DType::Complex64 }));
    for dtype in DType::ALL.iter().copied() {
        let named = match dtype.kind() {
            Kind::SignedInt | Kind::UnsignedInt => dtype.bits() <= 16,
            Kind::Float => dtype == DType::Float16 || dtype.bits() <= 8 && dtype != DType::Float8E8M0FNU,
            _ => false,
        };
        let error = refused(DType::Float32, Scheme::FP8_TENSOR.with_element(dtype));
        assert_eq!(error, (!named).then_some(ScaledError::Element { dtype }), "what the message names");
    }
    let axis = Scheme { granularity: Granularity::Axis(1), ..Scheme::FP8_ROW };
    assert_eq!(refused(DType::Float32, axis), Some(ScaledError::Axis { axis: 1, axes: 1 }));
    let none = mx(&[0, 32]);
    assert_eq!(none.quantize(&[0.0_f32; 0], &mut none.alloc()).map(|report| report.elements), Ok(0));
}
