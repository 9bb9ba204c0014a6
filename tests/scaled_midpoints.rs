//! Quotients at, just below and just above the midpoints between codes, where an error of one unit in the last place gives another code. The
//! oracle compares the elements with the midpoints times the scale, both of which are exact in double precision.

#![cfg(feature = "scaled")]

use crate::support::every_tier::on_every_tier;
use crate::support::rng::Rng;
use lanecast::scaled::{Granularity, Quantized, ScaledPlan, Scheme};
use lanecast::{Bytes, CastOptions, CastPlan, DType, Kind, Storage};

/// Elements of a row, in whole blocks of every tier.
const RUN: usize = 64 * 3;
const RUNS: usize = 1200;

/// The codes of all finite values of a dtype, ascending. Of the zeros, the positive one.
fn ascending(dtype: DType) -> Vec<(f64, u8)> {
    let plan = CastPlan::new(dtype, DType::Float64, &CastOptions::default()).expect("a plan");
    let mut values: Vec<(f64, u8)> = (0..=u8::MAX >> (8 - dtype.bits()))
        .filter_map(|code| {
            let mut value = [0.0_f64];
            plan.run(Bytes::new(&[code], 1), &mut value).ok()?;
            Some((value[0], code))
        })
        .filter(|(value, _)| value.is_finite() && !(*value == 0.0 && value.is_sign_negative()))
        .collect();
    values.sort_by(|a, b| a.0.total_cmp(&b.0));
    values.dedup_by(|a, b| a.0 == b.0);
    values
}

/// The code of the value nearest to `x / scale`; of two that are as near, the even one.
fn nearest(values: &[(f64, u8)], x: f64, scale: f64) -> u8 {
    let mut i = 0;
    while i + 1 < values.len() {
        let midpoint = (values[i].0 + values[i + 1].0) / 2.0 * scale;
        if x < midpoint || (x == midpoint && values[i].1.is_multiple_of(2)) {
            break;
        }
        i += 1;
    }
    values[i].1
}

#[test]
fn quotients_beside_midpoints_have_the_nearest_codes() {
    let mut rng = Rng(0x31D_0575);
    let eights = [DType::Float8E4M3FN, DType::Float8E5M2, DType::Int8];
    let fours = [DType::Float4E2M1FN, DType::Int4];
    for element in eights.into_iter().chain(fours) {
        let values = ascending(element);
        let blocks = [Scheme::FP8_ROW, Scheme::MX, Scheme::NVFP4];
        for (scheme, from) in
            blocks.iter().flat_map(|scheme| [DType::Float32, DType::BFloat16].map(|from| (scheme, from)))
        {
            if element.kind() != Kind::Float && *scheme != Scheme::FP8_ROW {
                continue;
            }
            // The scales of NVFP4 are for 16 elements, those of MX for 32.
            let len = match scheme.granularity {
                Granularity::Block { len, .. } => len,
                _ => RUN,
            };
            let scheme =
                Scheme { granularity: Granularity::Block { axis: -1, len }, ..*scheme }.with_element(element);
            let plan = || ScaledPlan::new(from, &scheme, &[RUNS, RUN]).expect("fits");
            let global =
                if scheme.scale.dtype(DType::Float32) == DType::Float8E4M3FN { 0.003_792_7 } else { 1.0 };
            let scales = scales(&mut rng, plan().scales(), scheme.scale.dtype(DType::Float32));
            let per_row = RUN.div_ceil(len);
            let mut src = Vec::new();
            let mut want = Vec::new();
            for (i, scale) in
                (0..RUNS * RUN).map(|i| (i, scales[i / RUN * per_row + i % RUN / len].0 * f64::from(global)))
            {
                let at = rng.below(values.len() as u64 - 1) as usize;
                // Most are far from every midpoint, so that vector blocks have one element beside a midpoint, or none.
                let near = match rng.below(48) {
                    0 => ((values[at].0 + values[at + 1].0) / 2.0 * scale) as f32,
                    _ => (values[at].0 * scale * 1.01) as f32,
                };
                // Within some units of the last place of either source.
                let unit = if from == DType::Float32 || i % 3 == 0 { 1 } else { 1 << 16 };
                let units = if near == 0.0 { 0 } else { (rng.below(9) as i32 - 4) * unit };
                let near = near.to_bits().wrapping_add_signed(units);
                let x = f32::from_bits(if from == DType::BFloat16 { near & 0xFFFF_0000 } else { near });
                match from {
                    DType::BFloat16 => src.extend(((x.to_bits() >> 16) as u16).to_ne_bytes()),
                    _ => src.extend(x.to_ne_bytes()),
                }
                let code = nearest(&values, f64::from(x), scale);
                // Negative quotients that become zero keep their sign.
                let sign = element.kind() == Kind::Float && x.is_sign_negative() && code == 0;
                want.push(code | u8::from(sign) << (element.bits() - 1));
            }
            let codes_of_scales: Vec<u8> = scales.iter().flat_map(|scale| scale.1.clone()).collect();
            on_every_tier(|tier| {
                // A plan is for the tier of its making.
                let plan = plan().with_storage(Storage::Byte);
                let given = |plan: &ScaledPlan| {
                    let mut q = Quantized::new(vec![0_u8; plan.data_len()], &codes_of_scales);
                    q.global = Some(global);
                    plan.quantize_given(Bytes::new(&src, RUNS * RUN), &mut q).expect("casts");
                    q.data
                };
                let got = given(&plan);
                let mask = u8::MAX >> (8 - element.bits());
                for (i, (got, want)) in got.iter().zip(&want).enumerate() {
                    assert_eq!(got & mask, want & mask, "{element} of {from} on {tier}: element {i}");
                }
                if element.bits() == 4 {
                    let got = given(&plan.with_storage(Storage::Packed));
                    let pairs = want.chunks(2).map(|pair| (pair[0] & 15) | pair[1] << 4);
                    assert!(got.into_iter().eq(pairs), "{element} of {from} on {tier}, packed");
                }
            });
        }
    }
}

/// Scales and their codes.
fn scales(rng: &mut Rng, n: usize, dtype: DType) -> Vec<(f64, Vec<u8>)> {
    (0..n)
        .map(|i| {
            let bits = rng.bits() as u32;
            match dtype {
                DType::Float32 => {
                    // Every third one has few significant bits, so that there are exact ties.
                    let short = if i % 3 == 0 { 0xFFF8_0000 } else { u32::MAX };
                    let scale = f32::from_bits(((bits & 0x7F_FFFF) | (100 + bits % 50) << 23) & short);
                    (f64::from(scale), scale.to_ne_bytes().to_vec())
                }
                DType::Float8E8M0FNU => {
                    let code = 90 + (bits % 70) as u8;
                    (f64::from_bits((u64::from(code) + 1023 - 127) << 52), vec![code])
                }
                _ => {
                    let code = 8 + (bits % 118) as u8;
                    let field = u32::from(code >> 3) + 120;
                    let scale = f32::from_bits(field << 23 | u32::from(code & 7) << 20);
                    (f64::from(scale), vec![code])
                }
            }
        })
        .collect()
}
