//! Scaled casts, whose quotients, products and sums are arithmetic of their own.

use super::states;
use crate::control;
use lanecast::scaled::{Quantized, Report, ScaledPlan, Scheme};
use lanecast::strided::View;
use lanecast::{DType, Source, Stochastic};
use std::fmt::Debug;

/// Magnitudes down to subnormal ones, so that flushing them would show.
fn elements(n: u32) -> Vec<f32> {
    let bits = |i: u32| (i.wrapping_mul(0x9E37_79B1) & 0x83FF_FFFF) + (i * 8 / n) * 0x0C00_0000;
    (0..n).map(|i| f32::from_bits(bits(i))).collect()
}

/// The bits of a report: a comparison of floats would feel the environment.
type Bits = (Option<u32>, [u64; 3], [Option<u64>; 3]);

fn bits(report: Report) -> Bits {
    let Report { global, elements, empty, poisoned, clipped, underflowed, squared_error, .. } = report;
    let counts = [clipped, underflowed, squared_error.map(f64::to_bits)];
    (global.map(f32::to_bits), [elements, empty, poisoned], counts)
}

/// The report and the codes of a plan.
fn cast<'s>(plan: &ScaledPlan, src: impl Into<Source<'s>>) -> (Bits, Quantized) {
    let mut q = plan.alloc();
    (bits(plan.quantize(src, &mut q).expect("casts")), q)
}

/// The codes by given scales.
fn given<'s>(plan: &ScaledPlan, src: impl Into<Source<'s>>, q: &Quantized) -> (Bits, Vec<u8>) {
    let mut q = q.clone();
    q.data.fill(0);
    (bits(plan.quantize_given(src, &mut q).expect("casts")), q.data)
}

fn values(plan: &ScaledPlan, q: &Quantized) -> Vec<u32> {
    let mut values = vec![0.0_f32; plan.elements()];
    plan.dequantize(q, &mut values).expect("casts");
    values.into_iter().map(f32::to_bits).collect()
}

fn amax(plan: &ScaledPlan, src: &[f32]) -> u32 {
    plan.amax(src).expect("fits").largest().to_bits()
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
    let src = elements(1024);
    for (name, scheme) in Scheme::NAMED.iter().filter(|(_, scheme)| !scheme.has_zero_points()) {
        let plan = ScaledPlan::new(DType::Float32, scheme, &[8, 128]).expect("fits").with_counts();
        let random = plan.with_squared_error().with_stochastic(Default::default());
        // Zero, to CPUs that flush.
        let part = plan.with_amax(f32::from_bits(3)).expect("it is finite");
        check(name, || {
            let (q, by_chance, of_part) = (cast(&plan, &src), cast(&random, &src), cast(&part, &src));
            (given(&plan, &src, &q.1), values(&plan, &q.1), amax(&plan, &src), q, by_chance, of_part)
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
        let random = plan.with_stochastic(Stochastic { first: 7, ..Stochastic::default() });
        for plan in [plan, random] {
            check(name, || cast(&plan, &view));
        }
    }
}

#[test]
fn zero_points() {
    let src = elements(1024);
    for element in [DType::UInt8, DType::Int4] {
        let scheme = Scheme::UINT4_GROUP128.with_element(element);
        let plan = ScaledPlan::new(DType::Float32, &scheme, &[8, 128]).expect("fits");
        let plan = plan.with_squared_error().with_counts();
        for plan in [plan.with_stochastic(Default::default()), plan] {
            check(element.name(), || {
                let q = cast(&plan, &src);
                (given(&plan, &src, &q.1), values(&plan, &q.1), q)
            });
        }
    }
}

#[test]
fn from_one_scheme_to_another() {
    let from = ScaledPlan::new(DType::Float32, &Scheme::FP8_GROUP128, &[8, 128]).expect("fits");
    let (_, q) = cast(&from, &elements(1024));
    for scheme in [Scheme::MX, Scheme::NVFP4, Scheme::FP8_ROW, Scheme::INT8_ROW] {
        let plan = ScaledPlan::new(DType::Float32, &scheme, &[8, 128]).expect("fits");
        let plan = plan.with_squared_error().with_counts();
        for to in [plan.with_stochastic(Default::default()), plan] {
            check(&format!("{scheme:?}"), || {
                let mut got = to.alloc();
                (bits(to.requantize(&from, &q, &mut got).expect("casts")), got)
            });
        }
    }
}

/// Threads of the host program have the environment that it left them.
#[cfg(all(feature = "rayon", not(target_family = "wasm")))]
#[test]
fn threads() {
    use lanecast::{ParallelFor, Threads};
    use std::sync::Arc;

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
    let src = elements((rows * cols) as u32);
    let transposed = View::from_slice(&src, &[cols, rows]).expect("inside").transposed();
    let threads = || Threads::Host(Arc::new(Host));
    for scheme in [Scheme::NVFP4, Scheme::FP8_TENSOR] {
        let plan = ScaledPlan::new(DType::Float32, &scheme, &[rows, cols]).expect("fits");
        let plan = plan.with_squared_error().with_threads(threads());
        let random = plan.with_stochastic(Default::default());
        // Each of the rounding directions, and each way to flush: large tensors are slow under emulation.
        check_in_one_of(5, &format!("{scheme:?}"), || {
            let (q, by_chance, of_view) = (cast(&plan, &src), cast(&random, &src), cast(&plan, &transposed));
            // Zero, to CPUs that flush.
            let tiny = Quantized { global: Some(f32::from_bits(3)), ..q.1.clone() };
            let given = [&q.1, &tiny].map(|q| given(&plan, &src, q));
            (given, values(&plan, &q.1), amax(&plan, &src), q, by_chance, of_view)
        });
    }
    for granularity in [lanecast::scaled::Granularity::Axis(0), lanecast::scaled::Granularity::Tensor] {
        let scheme = Scheme { granularity, ..Scheme::UINT8_ROW };
        let plan = ScaledPlan::new(DType::Float32, &scheme, &[rows, cols]).expect("fits");
        let plan = plan.with_squared_error().with_counts().with_threads(threads());
        check_in_one_of(5, &format!("{scheme:?}"), || {
            let q = cast(&plan, &src);
            (values(&plan, &q.1), q)
        });
    }
}
