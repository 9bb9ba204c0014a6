//! Casts in parts, and from one scheme to another.

mod requantize;

use super::{
    Granularity, NonFinite, Quantized, ScaledError, ScaledPlan, Scheme,
    elements::{Elements, Values},
    team::Team,
};
use crate::{
    DType, Storage,
    stochastic::Stochastic,
    strided::{View, ViewMut},
};
use alloc::{vec, vec::Vec};

/// Elements with runs of zeros and magnitudes that grow, and the same with a NaN and an infinity.
fn samples(n: usize) -> [Vec<f32>; 2] {
    let floats: Vec<f32> = (0..n as u32)
        .map(|i| {
            let bits = i.wrapping_mul(0x9E37_79B1);
            if i % 60 < 20 { 0.0 } else { f32::from_bits(bits & 0x807F_FFFF | (110 + i / 60 * 3) << 23) }
        })
        .collect();
    let mut poisoned = floats.clone();
    (poisoned[25], poisoned[300]) = (f32::NAN, f32::INFINITY);
    [floats, poisoned]
}

/// Every named scheme and integers in every granularity, with and without zero points.
fn schemes() -> impl Iterator<Item = (Scheme, Storage)> {
    let granularities = [
        Granularity::Tensor,
        Granularity::Axis(0),
        Granularity::Axis(1),
        Granularity::Block { axis: -1, len: 4 },
        Granularity::Block { axis: -1, len: 40 },
        Granularity::Block { axis: 0, len: 3 },
        Granularity::Tile { rows: 2, cols: 8 },
    ];
    let stored = [
        (DType::UInt8, Storage::Byte),
        (DType::Int16, Storage::Byte),
        (DType::UInt4, Storage::Packed),
        (DType::Int4, Storage::Byte),
        (DType::Int2, Storage::Packed),
    ];
    let asymmetric = granularities.into_iter().flat_map(move |granularity| {
        stored.map(|(element, storage)| (Scheme { granularity, element, ..Scheme::UINT8_ROW }, storage))
    });
    let symmetric = granularities.map(|granularity| Scheme { granularity, ..Scheme::INT4_GROUP128 });
    let named = Scheme::NAMED.iter().map(|(_, scheme)| *scheme).chain(symmetric);
    named.map(|scheme| (scheme, Storage::Packed)).chain(asymmetric)
}

/// Casts cut in many ways give what they give in one go: codes, scales, zero points, reports and values.
#[test]
fn parts_change_nothing() {
    let (rows, cols) = (7, 52);
    let n = rows * cols;
    let [floats, poisoned] = samples(n);
    for (scheme, storage) in schemes() {
        let plan = ScaledPlan::new(DType::Float32, &scheme, &[rows, cols]).expect("fits");
        let plan = plan.with_storage(storage).with_squared_error().with_counts();
        let random = plan.with_stochastic(Stochastic { first: 9, ..Stochastic::default() });
        let known = plan.with_global(3e-4).unwrap_or(plan.clone());
        for (plan, floats) in [(&plan, &floats), (&random, &floats), (&plan, &poisoned), (&known, &poisoned)]
        {
            let mut q = plan.alloc();
            let report = plan.quantize(floats, &mut q).expect("casts");
            let mut given = q.clone();
            let given_report = plan.quantize_given(floats, &mut given).expect("casts");
            let mut values = vec![half::bf16::ZERO; n];
            plan.dequantize(&q, &mut values).expect("casts");
            let resolved = &plan.resolved;
            let from = Elements::new(resolved, floats.into()).expect("fits");
            for target in [8, 52, 130, 1000] {
                let (team, mut got) = (Team::alone(target), plan.alloc());
                let to = resolved.parts_mut(&mut got).expect("fits");
                let its = resolved.quantize(&from, &team, to).expect("casts");
                got.global = its.global;
                assert!(its == report && got == q, "{scheme:?} by {target}: {its:?} {report:?}");
                got.data.fill(1);
                let to = resolved.given(&mut got).expect("fits");
                let its = resolved.quantize_given(&from, &team, to).expect("casts");
                assert!(its == given_report && got == given, "{scheme:?} by {target}: {its:?}");
                let mut back = vec![half::bf16::ZERO; n];
                let (of, back_to) = (resolved.parts(&q).expect("fits"), (&mut back).into());
                let (dst, to) = Values::new(resolved, back_to).expect("fits");
                resolved.dequantize(of, &team, to, dst).expect("casts");
                assert!(bits(&back) == bits(&values), "{scheme:?} by {target}");
                assert_eq!(
                    resolved.amax(&from, &team).map(bits_of),
                    resolved.amax(&from, &Team::alone(n)).map(bits_of)
                );
            }
        }
    }
}

fn bits(values: &[half::bf16]) -> Vec<u16> {
    values.iter().map(|x| x.to_bits()).collect()
}

fn bits_of(amax: super::Amax) -> (u32, u32) {
    (amax.finite().to_bits(), amax.largest().to_bits())
}

/// Elements of any layout are those in C order, panel by panel: read from a view, and written to one.
#[test]
fn views_are_elements_in_c_order() {
    let shape = [3, 5, 24];
    let n = 360;
    let [floats, _] = samples(n);
    // The same elements with the axes in reverse order.
    let mut reversed = vec![0.0_f32; n];
    for (i, x) in floats.iter().enumerate() {
        reversed[i % 24 * 15 + i / 24 % 5 * 3 + i / 120] = *x;
    }
    for scheme in [Scheme::MX, Scheme::NVFP4, Scheme::INT8_ROW, Scheme::UINT4_GROUP128] {
        let plan = ScaledPlan::new(DType::Float32, &scheme, &shape).expect("fits");
        let (mut want, mut got) = (plan.alloc(), plan.alloc());
        plan.quantize(&floats, &mut want).expect("casts");
        let view = View::from_slice(&reversed, &[24, 5, 3]).expect("fits").transposed();
        let mut back = vec![0.0_f32; n];
        plan.dequantize(&want, &mut back).expect("casts");
        for target in [8, 50, 1000] {
            let (resolved, team) = (&plan.resolved, Team::alone(target));
            let from = Elements::new(resolved, (&view).into()).expect("fits");
            let report = resolved.quantize(&from, &team, resolved.parts_mut(&mut got).expect("fits"));
            got.global = report.expect("casts").global;
            assert!(got == want, "{scheme:?} by {target}");
            let mut values = vec![0.0_f32; n];
            let columns = ViewMut::from_slice(&mut values, &[24, 5, 3]).expect("fits");
            let layout = columns.layout().transposed();
            let mut rows = ViewMut::new(bytemuck::cast_slice_mut(&mut values), layout).expect("fits");
            let (dst, to) = Values::new(resolved, (&mut rows).into()).expect("fits");
            resolved.dequantize(resolved.parts(&want).expect("fits"), &team, to, dst).expect("casts");
            for (i, x) in back.iter().enumerate() {
                assert_eq!(values[i % 24 * 15 + i / 24 % 5 * 3 + i / 120], *x, "{scheme:?} by {target}");
            }
        }
    }
}

/// The sum of squares equals the sum over the values in double precision, computed as integers.
#[test]
fn squared_errors_are_exact() {
    let src: Vec<f32> = (0..96).map(|i| (i as f32 - 40.0) / 7.0).collect();
    let plan = ScaledPlan::new(DType::Float32, &Scheme::MX, &[96]).expect("fits").with_squared_error();
    let (mut q, mut values) = (plan.alloc(), vec![0.0_f32; 96]);
    let report = plan.quantize(&src, &mut q).expect("casts");
    plan.dequantize(&q, &mut values).expect("casts");
    // All values are multiples of 2^-30, and errors less than 1.
    let unit = 1_073_741_824.0;
    let sum: i128 = src
        .iter()
        .zip(&values)
        .map(|(x, y)| ((f64::from(*x) - f64::from(*y)) * unit) as i128)
        .map(|error| error * error)
        .sum();
    assert!(sum > 0);
    assert_eq!(report.squared_error, Some(sum as f64 / unit / unit));
}

/// The first block that is refused is reported, whichever part it is in, whether its scale is made or given.
#[test]
fn refusals_name_blocks_of_the_whole() {
    let mut src = vec![1.0_f32; 9000];
    (src[8000], src[8900]) = (f32::NAN, f32::NAN);
    for (granularity, block) in [(Granularity::Block { axis: -1, len: 32 }, 250), (Granularity::Tensor, 0)] {
        for scheme in [Scheme::MX, Scheme::INT8_ROW, Scheme::UINT8_ROW] {
            let scheme = Scheme { granularity, ..scheme }.with_non_finite(NonFinite::Refuse);
            let plan = ScaledPlan::new(DType::Float32, &scheme, &[9000]).expect("fits");
            let (resolved, mut q): (_, Quantized) = (&plan.resolved, plan.alloc());
            let from = Elements::new(resolved, (&src).into()).expect("fits");
            for target in [32, 6000, 9000] {
                let (team, refused) = (Team::alone(target), Err(ScaledError::NonFinite { block }));
                let got = resolved.quantize(&from, &team, resolved.parts_mut(&mut q).expect("fits"));
                assert_eq!(got, refused, "{granularity:?} by {target}");
                q.scales.fill(63);
                let got = resolved.quantize_given(&from, &team, resolved.given(&mut q).expect("fits"));
                assert_eq!(got, refused, "{granularity:?} by {target}, given");
            }
        }
    }
}
