//! Scaled casts, whose quotients, products and sums are arithmetic of their own.

use super::states;
use crate::control;
use lanecast::DType;
use lanecast::scaled::{Quantized, Report, ScaledPlan, Scheme, requantize};
use lanecast::strided::View;
use std::fmt::Debug;

/// Magnitudes down to subnormal ones, so that flushing them would show.
fn elements(n: u32) -> Vec<f32> {
    let bits = |i: u32| (i.wrapping_mul(0x9E37_79B1) & 0x83FF_FFFF) + (i * 8 / n) * 0x0C00_0000;
    (0..n).map(|i| f32::from_bits(bits(i))).collect()
}

fn bytes(values: &[f32]) -> Vec<u8> {
    values.iter().flat_map(|x| x.to_ne_bytes()).collect()
}

/// A report by its bits: a comparison of floats would feel the environment.
fn bits(report: Report) -> (u32, [u64; 3], [Option<u64>; 3]) {
    let Report { global, elements, empty, poisoned, clipped, underflowed, squared_error, .. } = report;
    (global.to_bits(), [elements, empty, poisoned], [clipped, underflowed, squared_error.map(f64::to_bits)])
}

/// Whether a function has the same results in every state, and leaves it alone.
fn check<R: PartialEq + Debug>(what: &str, run: impl Fn() -> R) {
    check_in_one_of(1, what, run);
}

/// The same in one of so many states.
fn check_in_one_of<R: PartialEq + Debug>(step: usize, what: &str, run: impl Fn() -> R) {
    let want = run();
    for state in [true, false].into_iter().flat_map(|masked| states(masked).into_iter().step_by(step)) {
        let mut got = None;
        let (before, after) = control::under(state, &mut || got = Some(run()));
        assert_eq!(after, before, "{what}: the control register ({state:?}) is another one");
        assert!(got.as_ref() == Some(&want), "{what}: differs in {state:?}");
    }
}

#[test]
fn scaled() {
    let src = bytes(&elements(1024));
    for (name, scheme) in Scheme::NAMED.iter().filter(|(_, scheme)| !scheme.has_zero_points()) {
        let plan = ScaledPlan::new(DType::Float32, scheme, &[8, 128]).expect("fits").with_counts();
        let random = plan.clone().with_squared_error().stochastic(Default::default());
        let empty = vec![0; plan.data_len()];
        check(name, || {
            let (mut codes, mut by_chance, mut by_given) = (empty.clone(), empty.clone(), empty.clone());
            let (mut scales, mut back) = (vec![0; plan.scales_len()], vec![0; src.len()]);
            let chance = random.quantize_dynamic(&src, &mut by_chance, &mut scales).expect("casts");
            let report = plan.quantize_dynamic(&src, &mut codes, &mut scales).expect("casts");
            let given = plan.quantize(&src, &scales, report.global, &mut by_given).expect("casts");
            plan.dequantize(&codes, &scales, report.global, DType::Float32, &mut back).expect("casts");
            let amax = plan.amax(&src).map(f32::to_bits);
            // Zero, to CPUs that flush.
            let mut of_part = empty.clone();
            let part = plan.quantize_with_amax(&src, f32::from_bits(3), &mut of_part, &mut scales);
            let reports = [chance, report, given, part.expect("casts")].map(bits);
            ([codes, by_chance, by_given, of_part, scales, back], reports, amax)
        });
    }
}

/// Views, by the nearest code and by chance.
#[test]
fn views() {
    let values = elements(1024);
    let view = View::from_slice(&values, &[128, 8]).expect("inside").transposed();
    for (name, scheme) in Scheme::NAMED.iter().filter(|(_, scheme)| !scheme.has_zero_points()) {
        let plan = ScaledPlan::new(DType::Float32, scheme, &[8, 128]).expect("fits").with_squared_error();
        for plan in [plan.clone(), plan.stochastic(Default::default()).starting_at(7)] {
            check(name, || {
                let (mut codes, mut scales) = (vec![0; plan.data_len()], vec![0; plan.scales_len()]);
                let report = plan.quantize_dynamic_view(&view, &mut codes, &mut scales).expect("casts");
                (codes, scales, bits(report))
            });
        }
    }
}

#[test]
fn zero_points() {
    let src = bytes(&elements(1024));
    for element in [DType::UInt8, DType::Int4] {
        let scheme = Scheme::UINT4_GROUP128.with_element(element);
        let plan = ScaledPlan::new(DType::Float32, &scheme, &[8, 128]).expect("fits");
        let plan = plan.with_squared_error().with_counts();
        for plan in [plan.clone(), plan.stochastic(Default::default())] {
            check(element.name(), || {
                let (mut codes, mut scales) = (vec![0; plan.data_len()], vec![0; plan.scales_len()]);
                let (mut zeros, mut back) = (vec![0; plan.zeros_len()], vec![0; src.len()]);
                let report = plan.quantize_min_max(&src, &mut codes, &mut scales, &mut zeros).expect("casts");
                plan.dequantize_min_max(&codes, &scales, &zeros, DType::Float32, &mut back).expect("casts");
                (codes, scales, zeros, back, bits(report))
            });
        }
    }
}

#[test]
fn from_one_scheme_to_another() {
    let src = bytes(&elements(1024));
    let from = ScaledPlan::new(DType::Float32, &Scheme::FP8_GROUP128, &[8, 128]).expect("fits");
    let (mut data, mut scales) = (vec![0; from.data_len()], vec![0; from.scales_len()]);
    let global = from.quantize_dynamic(&src, &mut data, &mut scales).expect("casts").global;
    for scheme in [Scheme::MX, Scheme::NVFP4, Scheme::FP8_ROW, Scheme::INT8_ROW] {
        let plan = ScaledPlan::new(DType::Float32, &scheme, &[8, 128]).expect("fits");
        let plan = plan.with_squared_error().with_counts();
        for to in [plan.clone(), plan.stochastic(Default::default())] {
            check(&format!("{scheme:?}"), || {
                let of = Quantized { data: &data, scales: &scales, global };
                let (mut codes, mut its) = (vec![0; to.data_len()], vec![0; to.scales_len()]);
                let report = requantize(&from, of, &to, &mut codes, &mut its).expect("casts");
                (codes, its, bits(report))
            });
        }
    }
}

/// Threads of the host program have the environment that it left them.
#[cfg(all(feature = "rayon", not(target_family = "wasm")))]
#[test]
fn threads() {
    use lanecast::{ParallelFor, Threads};

    /// Threads in the environment of the caller.
    struct Host;

    impl ParallelFor for Host {
        fn threads(&self) -> usize {
            3
        }

        fn run(&self, tasks: usize, task: &(dyn Fn(usize) + Sync)) {
            let state = control::read();
            std::thread::scope(|scope| {
                for index in 0..tasks {
                    scope.spawn(move || {
                        let (before, after) = control::under(state, &mut || task(index));
                        assert_eq!(after, before, "the control register ({state:?}) is another one");
                    });
                }
            });
        }
    }

    let (rows, cols) = (397, 409);
    let values = elements((rows * cols) as u32);
    let src = bytes(&values);
    let transposed = View::from_slice(&values, &[cols, rows]).expect("inside").transposed();
    for scheme in [Scheme::NVFP4, Scheme::FP8_TENSOR] {
        let plan =
            ScaledPlan::new(DType::Float32, &scheme, &[rows, cols]).expect("fits").with_squared_error();
        let random = plan.clone().stochastic(Default::default());
        let (empty, threads) = (vec![0; plan.data_len()], Threads::Host(std::sync::Arc::new(Host)));
        // Each of the rounding directions, and each way to flush: large tensors are slow under emulation.
        check_in_one_of(5, &format!("{scheme:?}"), || {
            let (mut codes, mut by_chance, mut by_given) = (empty.clone(), empty.clone(), empty.clone());
            let (mut of_view, mut scales) = (empty.clone(), vec![0; plan.scales_len()]);
            let chance = random.par_quantize_dynamic(&src, &mut by_chance, &mut scales, threads.clone());
            let view =
                plan.par_quantize_dynamic_view(&transposed, &mut of_view, &mut scales, threads.clone());
            let report =
                plan.par_quantize_dynamic(&src, &mut codes, &mut scales, threads.clone()).expect("casts");
            let given = plan.par_quantize(&src, &scales, report.global, &mut by_given, threads.clone());
            let mut back = vec![0; src.len()];
            let global = report.global;
            // Zero, to CPUs that flush.
            let tiny = plan.par_quantize(
                &src,
                &scales,
                f32::from_bits(3),
                &mut vec![0; empty.len()],
                threads.clone(),
            );
            plan.par_dequantize(&codes, &scales, global, DType::Float32, &mut back, threads.clone())
                .expect("casts");
            let reports = [chance, view, Ok(report), given, tiny].map(|report| bits(report.expect("casts")));
            let amax = plan.par_amax(&src, threads.clone()).map(f32::to_bits);
            ([codes, by_chance, by_given, of_view, scales, back], reports, amax)
        });
    }
    for granularity in [lanecast::scaled::Granularity::Axis(0), lanecast::scaled::Granularity::Tensor] {
        let scheme = Scheme { granularity, ..Scheme::UINT8_ROW };
        let plan = ScaledPlan::new(DType::Float32, &scheme, &[rows, cols]).expect("fits");
        let (plan, threads) =
            (plan.with_squared_error().with_counts(), Threads::Host(std::sync::Arc::new(Host)));
        check_in_one_of(5, &format!("{scheme:?}"), || {
            let (mut codes, mut zeros) = (vec![0; plan.data_len()], vec![0; plan.zeros_len()]);
            let (mut scales, mut back) = (vec![0; plan.scales_len()], vec![0; src.len()]);
            let report =
                plan.par_quantize_min_max(&src, &mut codes, &mut scales, &mut zeros, threads.clone());
            plan.par_dequantize_min_max(&codes, &scales, &zeros, DType::Float32, &mut back, threads.clone())
                .expect("casts");
            ([codes, scales, zeros, back], bits(report.expect("casts")))
        });
    }
}
