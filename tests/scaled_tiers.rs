//! Every tier gives the bits of the scalar one, which divides in double precision.

#![cfg(feature = "scaled")]

#[path = "support/rng.rs"]
mod rng;

use lanecast::scaled::{Granularity, NonFinite, Report, ScaledPlan, Scheme};
use lanecast::{CastOptions, CastPlan, DType, Storage, Tier, tier};
use rng::Rng;

/// Elements of a source: most within a few binades, many of few significant bits, whose quotients lie near midpoints; some zero,
/// tiny or huge, and if not `finite`, some that are not numbers.
fn elements(rng: &mut Rng, n: usize, from: DType, finite: bool) -> Vec<u8> {
    let values: Vec<u8> = (0..n)
        .flat_map(|_| {
            let (bits, kind) = (rng.bits() as u32, rng.below(512));
            let value = match kind {
                0..8 => f32::from_bits(bits & 0x8000_0000),
                8..12 => f32::from_bits(bits & 0x807F_FFFF),
                12..16 => f32::from_bits((bits & 0x807F_FFFF) | (140 + bits % 110) << 23),
                16 if !finite => f32::from_bits(bits | 0x7F80_0000),
                17 if !finite => f32::from_bits((bits & 0x8000_0000) | 0x7F80_0000),
                18..256 => f32::from_bits((bits & 0x8078_0000) | (118 + bits % 12) << 23),
                _ => f32::from_bits((bits & 0x807F_FFFF) | (116 + bits % 14) << 23),
            };
            value.to_ne_bytes()
        })
        .collect();
    let to = CastPlan::new(DType::Float32, from, &CastOptions::RUST).expect("a plan");
    let mut elements = vec![0; n * from.size()];
    to.run(&values, &mut elements, n).expect("fits");
    elements
}

/// A report with the bits of its float, which may be NaN.
fn bits(report: Report) -> (u32, [u64; 3], [Option<u64>; 2]) {
    let blocks = [report.elements, report.empty, report.poisoned];
    (report.global.to_bits(), blocks, [report.clipped, report.underflowed])
}

/// All answers of a plan for a source and for given scales.
fn answers(plan: &ScaledPlan, src: &[u8], given: &[u8]) -> Vec<Vec<u8>> {
    let (mut codes, mut scales) = (vec![0xA5; plan.data_len()], vec![0xA5; plan.scales_len()]);
    let report = plan.quantize_dynamic(src, &mut codes, &mut scales).expect("casts");
    let mut by_given = vec![0xA5; plan.data_len()];
    let of_given = plan.quantize(src, given, 0.37, &mut by_given).expect("casts");
    let reports = format!("{:?} {:?} {:?}", bits(report), bits(of_given), plan.amax(src).map(f32::to_bits));
    let mut all = vec![reports.into_bytes(), codes.clone(), scales.clone(), by_given.clone()];
    for (codes, scales, global) in [(&codes, &scales[..], report.global), (&by_given, given, 0.37)] {
        for to in [DType::Float32, DType::BFloat16, DType::Float16, DType::Float64] {
            let mut back = vec![0; plan.elements() * to.size()];
            // The scale of a tensor of zeros or of what is not finite is none to divide by.
            if plan.dequantize(codes, scales, global, to, &mut back).is_ok() {
                // NaN has a sign that arithmetic does not keep.
                all.push(without_nan(back, to));
            }
        }
    }
    all
}

fn without_nan(mut back: Vec<u8>, to: DType) -> Vec<u8> {
    let wide = CastPlan::new(to, DType::Float64, &CastOptions::RUST).expect("a plan");
    let n = back.len() / to.size();
    let mut values = vec![0; 8 * n];
    wide.run(&back, &mut values, n).expect("fits");
    for (i, value) in values.chunks_exact(8).enumerate() {
        if f64::from_ne_bytes(value.try_into().expect("8 bytes")).is_nan() {
            back[i * to.size()..(i + 1) * to.size()].fill(0xFF);
        }
    }
    back
}

#[test]
fn tiers_agree() {
    let mut rng = Rng(0x1234_5677);
    let shapes: [&[usize]; 6] = [&[3, 96], &[5, 77], &[2, 3, 130], &[1, 1], &[2, 1100], &[130, 33]];
    let tiers: Vec<Tier> = Tier::ALL.iter().copied().filter(|tier| tier.is_available()).collect();
    let mut schemes: Vec<(String, Scheme)> =
        Scheme::NAMED.iter().map(|(name, scheme)| (name.to_string(), *scheme)).collect();
    for (name, scheme) in Scheme::NAMED {
        let float = scheme.element != DType::Int8 && scheme.element != DType::Int4;
        let other = if float { DType::Float8E5M2 } else { DType::UInt8 };
        schemes.push((format!("{name}, {other}"), scheme.with_element(other)));
        if *name == "mx" {
            schemes.push(("mx, int8".into(), scheme.with_element(DType::Int8)));
            schemes.push(("mx, float6".into(), scheme.with_element(DType::Float6E2M3FN)));
        }
        let saturated = scheme.with_non_finite(NonFinite::Saturate);
        schemes.push((format!("{name}, saturated"), saturated));
        let columns = Scheme { granularity: Granularity::Axis(-1), ..*scheme };
        schemes.push((format!("{name}, by column"), columns));
    }
    let mut done = 0;
    for (name, scheme) in &schemes {
        for (i, shape) in shapes.iter().enumerate() {
            for from in [DType::Float32, DType::BFloat16, DType::Float16] {
                let n: usize = shape.iter().product();
                let src = elements(&mut rng, n, from, i % 2 == 0);
                let mut given = None;
                let mut want = None;
                for tier in &tiers {
                    tier::force(Some(*tier)).expect("it is available");
                    let plan = ScaledPlan::new(from, scheme, shape).expect("fits");
                    let packed = plan.clone().with_counts();
                    let bytes = plan.with_storage(Storage::Byte);
                    // Any scales: half of them near 1, with zeros, infinities and NaN among the others.
                    let scales = given.get_or_insert_with(|| {
                        let count = packed.scales();
                        let near: Vec<u8> = elements(&mut rng, count, scheme.scale.dtype(), i % 2 == 0);
                        near
                    });
                    let got = [answers(&packed, &src, scales), answers(&bytes, &src, scales)];
                    let want = want.get_or_insert_with(|| got.clone());
                    for (k, (got, want)) in got.iter().flatten().zip(want.iter().flatten()).enumerate() {
                        if got != want {
                            let at = got.iter().zip(want).position(|(a, b)| a != b).unwrap_or(0);
                            let near = at..(at + 8).min(got.len());
                            let [got, want] = [&got[near.clone()], &want[near]];
                            panic!(
                                "{name} {from} {shape:?} on {tier}: answer {k} from byte {at} on {got:02x?}, not {want:02x?}"
                            );
                        }
                    }
                    done += 1;
                }
            }
        }
    }
    tier::force(None).expect("undone");
    assert!(done >= schemes.len() * shapes.len() * 3 * tiers.len());
}
