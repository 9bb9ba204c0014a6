//! Every tier gives the bits of the scalar one, which divides in double precision.

#![cfg(feature = "scaled")]

use crate::support::{every_tier, rng::Rng};
use lanecast::scaled::{Granularity, NonFinite, Quantized, Report, ScaledPlan, Scheme};
use lanecast::{Bytes, BytesMut, CastOptions, CastPlan, DType, Encoding, Storage, Tier, tier};
use lanecast_kernels::scaled::{ScaledCast, Step};
use lanecast_kernels::{Kernel, Rounding, Rules};

/// Elements of a source: most within a few binades, many of few significant bits, whose quotients lie near midpoints; some zero,
/// tiny or huge, and if not `finite`, some that are not numbers.
fn elements(rng: &mut Rng, n: usize, from: DType, finite: bool) -> Vec<u8> {
    let values: Vec<f32> = (0..n)
        .map(|_| {
            let (bits, kind) = (rng.bits() as u32, rng.below(512));
            match kind {
                0..8 => f32::from_bits(bits & 0x8000_0000),
                8..12 => f32::from_bits(bits & 0x807F_FFFF),
                12..16 => f32::from_bits((bits & 0x807F_FFFF) | (140 + bits % 110) << 23),
                16 if !finite => f32::from_bits(bits | 0x7F80_0000),
                17 if !finite => f32::from_bits((bits & 0x8000_0000) | 0x7F80_0000),
                18..256 => f32::from_bits((bits & 0x8078_0000) | (118 + bits % 12) << 23),
                _ => f32::from_bits((bits & 0x807F_FFFF) | (116 + bits % 14) << 23),
            }
        })
        .collect();
    let to = CastPlan::new(DType::Float32, from, &CastOptions::RUST).expect("a plan");
    let mut elements = vec![0; n * from.size()];
    to.run(&values, BytesMut::new(&mut elements, n)).expect("fits");
    elements
}

/// A report with the bits of its float, which may be NaN.
fn bits(report: Report) -> (Option<u32>, [u64; 3], [Option<u64>; 2]) {
    let blocks = [report.elements, report.empty, report.poisoned];
    (report.global.map(f32::to_bits), blocks, [report.clipped, report.underflowed])
}

/// All answers of a plan for a source and for given scales.
fn answers(plan: &ScaledPlan, src: &[u8], given: &[u8]) -> Vec<Vec<u8>> {
    let src = Bytes::new(src, plan.elements());
    let filled = || vec![0xA5_u8; plan.data_len()];
    let mut q = Quantized::new(filled(), vec![0xA5; plan.scales_len()]);
    let report = plan.quantize(src, &mut q).expect("casts");
    let mut by_given = Quantized::new(filled(), given.to_vec()).with_global(0.37);
    let of_given = plan.quantize_given(src, &mut by_given).expect("casts");
    let amax = plan.amax(src).expect("fits").largest().to_bits();
    let reports = format!("{:?} {:?} {amax:?}", bits(report), bits(of_given));
    let mut all = vec![reports.into_bytes(), q.data.clone(), q.scales.clone(), by_given.data.clone()];
    // Codes that no quotient has: NaN and infinities in blocks of any scale.
    let whole_bytes = plan.data_encoding().bits_per_element().is_multiple_of(8);
    let mask = if whole_bytes { 0xFF >> (8 - plan.data_encoding().dtype().bits().min(8)) } else { 0xFF };
    let any = (0..q.data.len() as u32).map(|i| (i.wrapping_mul(0x9E37_79B1) >> 24) as u8 & mask);
    let any = Quantized { data: any.collect(), ..by_given.clone() };
    for q in [&q, &by_given, &any] {
        for to in [DType::Float32, DType::BFloat16, DType::Float16, DType::Float64] {
            let mut back = vec![0; plan.elements() * to.size()];
            // The scale of a tensor of zeros or of what is not finite is none to divide by.
            let dst = BytesMut::new(&mut back, plan.elements());
            if plan.with_output(to).dequantize(q, dst).is_ok() {
                all.push(back);
            }
        }
    }
    all
}

#[test]
fn tiers_agree() {
    let mut rng = Rng(0x1234_5677);
    let mut shapes = vec![&[3, 96][..], &[3, 16], &[5, 77], &[2, 3, 130], &[1, 1], &[2, 1100], &[130, 33]];
    if Tier::Avx512.is_available() {
        // Blocks that are worth a table.
        shapes.push(&[2, 4160]);
    }
    let tiers: Vec<Tier> = Tier::ALL.iter().copied().filter(|tier| tier.is_available()).collect();
    let named = || Scheme::NAMED.iter().filter(|(_, scheme)| !scheme.has_zero_points());
    let mut schemes: Vec<(String, Scheme)> =
        named().map(|(name, scheme)| (name.to_string(), *scheme)).collect();
    for (name, scheme) in named() {
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
    let _lock = every_tier::lock();
    for (name, scheme) in &schemes {
        for (i, &shape) in shapes.iter().enumerate() {
            for from in [DType::Float32, DType::BFloat16, DType::Float16] {
                let n: usize = shape.iter().product();
                let src = elements(&mut rng, n, from, i % 2 == 0);
                let mut given = None;
                let mut want = None;
                for tier in &tiers {
                    tier::force(Some(*tier)).expect("it is available");
                    let plan = ScaledPlan::new(from, scheme, shape).expect("fits");
                    let packed = plan.with_counts();
                    let bytes = plan.with_storage(Storage::Byte);
                    // Any scales: half of them near 1, with zeros, infinities and NaN among the others.
                    let scales = given.get_or_insert_with(|| {
                        let count = packed.scales();
                        let near: Vec<u8> = elements(&mut rng, count, scheme.scale.dtype(from), i % 2 == 0);
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

/// A tier scales in registers for kernels that round to the nearest and saturate, and for no others.
#[test]
fn other_rules_are_not_scaled_in_registers() {
    for tier in Tier::ALL.iter().copied().filter(|tier| tier.is_available()) {
        let mut found = 0;
        for to in [DType::Float8E4M3FN, DType::Float8E5M2, DType::Int8, DType::Int4, DType::Float4E2M1FN] {
            let block = to == DType::Float4E2M1FN;
            let data = Encoding::packed(to);
            let cast = |rules: Rules| {
                let kernel =
                    Kernel::new(tier, DType::Float32.into(), data, &rules).expect("every tier has it");
                ScaledCast::new(&kernel, DType::Float32, Step::Quotient { block }).is_some()
            };
            let nearest = Rules { rounding: Rounding::NearestEven, ..Rules::common(to, true) };
            found += usize::from(cast(nearest));
            for rounding in [Rounding::TowardZero, Rounding::NearestAway, Rounding::Floor, Rounding::Ceil] {
                assert!(!cast(Rules { rounding, ..nearest }), "{to} on {tier}: {rounding:?}");
            }
            // Floats of 4 bits always saturate.
            assert!(
                block || !cast(Rules { saturate: false, ..nearest }),
                "{to} on {tier} without saturation"
            );
        }
        assert_eq!(found, if tier == Tier::Scalar { 0 } else { 5 }, "{tier}");
    }
}
