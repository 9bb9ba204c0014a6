//! Casts over several threads write, count and reject what one thread does, whoever runs the tasks and however they are cut.
#![cfg(feature = "rayon")]

mod batches;

use crate::support;
use crate::support::{byte_len, rng::Rng, storages};
use lanecast::strided::{Layout, View, ViewMut};
use lanecast::{
    BatchItem, Bytes, BytesMut, CastError, CastOptions, CastPlan, DType, Encoding, FloatRound, InPlace,
    Level, ParallelFor, Side, Threads, Tier, Uninit, cast_batch, half::bf16,
};
use proptest::prelude::*;
use rayon::prelude::*;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

/// What a host does with the tasks it is given.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Habit {
    Forward,
    Backward,
    Threads,
    First,
    Twice,
    None,
}

/// A host, with the number of threads that it says it has.
struct Host(usize, Habit, AtomicUsize);

impl Host {
    fn new(threads: usize, habit: Habit) -> Host {
        Host(threads, habit, AtomicUsize::new(0))
    }
}

impl ParallelFor for Host {
    fn threads(&self) -> usize {
        self.0
    }

    fn run(&self, tasks: usize, task: &(dyn Fn(usize) + Sync)) {
        assert!((2..=self.0).contains(&tasks), "{tasks} tasks for {} threads", self.0);
        self.2.fetch_add(1, Ordering::Relaxed);
        match self.1 {
            Habit::Forward => (0..tasks).for_each(task),
            Habit::Backward => (0..tasks).rev().for_each(task),
            Habit::Threads => std::thread::scope(|scope| {
                (0..tasks).for_each(|index| _ = scope.spawn(move || task(index)));
            }),
            Habit::First => task(0),
            Habit::Twice => (0..2 * tasks).for_each(|k| task(k / 2)),
            Habit::None => {}
        }
    }
}

/// Hosts of all habits; without threads in the target, those that need none.
fn hosts() -> Vec<Arc<Host>> {
    use Habit::*;
    let all = [
        (2, Forward),
        (3, Backward),
        (3, Threads),
        (8, First),
        (5, Twice),
        (2, None),
        (1000, Backward),
        (1, Forward),
        (0, Forward),
    ];
    let can = |habit: &Habit| support::THREADS || *habit != Threads;
    all.into_iter().filter(|(_, habit)| can(habit)).map(|(n, habit)| Arc::new(Host::new(n, habit))).collect()
}

/// Pools of rayon; none, and a word about it, where there are no threads.
fn pools() -> Vec<Arc<rayon::ThreadPool>> {
    if !support::THREADS || cfg!(miri) {
        support::say("SKIPPED: casts over the pools of rayon: this target has no threads");
        return Vec::new();
    }
    let pool = |n| rayon::ThreadPoolBuilder::new().num_threads(n).build().expect("a few threads").into();
    [1, 2, 3, 8].into_iter().map(pool).collect()
}

/// Calls `check` with everybody who can run a cast.
fn with_all(mut check: impl FnMut(&Threads)) {
    check(&Threads::Serial);
    hosts().into_iter().for_each(|host| check(&Threads::Host(host)));
    let pools = pools();
    if !pools.is_empty() {
        check(&Threads::Rayon);
        check(&Threads::AtMost(2));
    }
    pools.into_iter().for_each(|pool| check(&Threads::Host(pool)));
}

fn noise(seed: u64, bytes: usize) -> Vec<u8> {
    let mut rng = Rng(seed);
    (0..bytes.div_ceil(8)).flat_map(|_| rng.bits().to_ne_bytes()).take(bytes).collect()
}

fn plan(from: impl Into<Encoding>, to: impl Into<Encoding>) -> CastPlan {
    CastPlan::new(from, to, &CastOptions::RUST).expect("a plan")
}

/// A cast that takes long enough for a few dozen chunks: a rounding of the scalar tier.
fn slow(from: impl Into<Encoding>, to: impl Into<Encoding>) -> CastPlan {
    let options = CastOptions::RUST.with_float_round(FloatRound::TowardZero);
    CastPlan::with_tier(from, to, &options, Tier::Scalar).expect("there is always one")
}

const LARGE: usize = if cfg!(miri) { 100 } else { 300_007 };

/// All classes of dtypes, in all storages, to a few targets and from a few sources.
#[test]
fn dtypes() {
    use DType::*;
    let host = Arc::new(Host::new(3, if support::THREADS { Habit::Threads } else { Habit::Backward }));
    let some = [
        Bool,
        Int4,
        UInt2,
        Int8,
        UInt64,
        Float16,
        Float32,
        Complex64,
        Float6E3M2FN,
        Float8E5M2,
        Float4E2M1FN,
    ];
    let n = LARGE / 4 - 3;
    for from in some.iter().flat_map(|dtype| storages(*dtype)) {
        let src = noise(7, byte_len(from, n) + 3);
        for to in some.iter().flat_map(|dtype| storages(*dtype)) {
            let plan = CastPlan::with_tier(from, to, &CastOptions::RUST, Tier::Scalar).expect("always there");
            let len = byte_len(to, n);
            let (mut one, mut many) = (vec![0xA5; len + 70], vec![0xA5; len + 70]);
            for (s, d) in [(0, 0), (3, 61)] {
                plan.run(Bytes::new(&src[s..], n), BytesMut::new(&mut one[d..d + len], n))
                    .expect("the buffers fit");
                plan.with_threads(Threads::Host(host.clone()))
                    .run(Bytes::new(&src[s..], n), BytesMut::new(&mut many[d..], n))
                    .expect("as before");
                assert!(one == many, "{plan:?}, offsets {s} and {d}");
            }
        }
    }
    assert!(cfg!(miri) || host.2.load(Ordering::Relaxed) > 100, "most of them are shared");
}

/// Everybody who can run tasks, on buffers with a few hundred chunks, of odd lengths and at odd places.
#[test]
fn everybody() {
    let cases = [
        (slow(DType::Float32, DType::Float8E4M3FN), LARGE),
        (slow(DType::Float64, Encoding::packed(DType::Float6E2M3FN)), LARGE / 3),
        (slow(Encoding::packed(DType::Int4), Encoding::packed(DType::Float4E2M1FN)), LARGE + 1),
        (plan(Encoding::packed(DType::UInt2), DType::Float32), 8 * LARGE + 3),
        (plan(DType::Complex128, DType::Bool), LARGE),
    ];
    for (plan, n) in cases {
        let src = noise(n as u64, byte_len(plan.source(), n) + 1);
        let len = byte_len(plan.target(), n);
        let mut want = vec![0xA5; len + 9];
        plan.run(Bytes::new(&src[1..], n), BytesMut::new(&mut want[5..], n)).expect("the buffers fit");
        with_all(|threads| {
            let mut got = vec![0xA5; len + 9];
            plan.with_threads(threads.clone())
                .run(Bytes::new(&src[1..], n), BytesMut::new(&mut got[5..], n))
                .expect("the buffers fit");
            assert!(got == want, "{plan:?}, {threads:?}");
            // Too small is too small for all threads.
            let short = plan
                .with_threads(threads.clone())
                .run(Bytes::new(&src[1..], n), BytesMut::new(&mut got[9..len + 8], n));
            let error = CastError::BufferTooSmall { which: Side::Destination, need: len, have: len - 1 };
            assert_eq!(short, Err(error));
            assert!(got == want, "nothing is written");
        });
    }
}

#[test]
fn slices_and_vectors() {
    let src: Vec<f64> = (0..2 * LARGE).map(|i| i as f64 * 0.37 - 9e4).collect();
    let want: Vec<i16> = lanecast::cast_to_vec(&src);
    let plan = CastPlan::with_tier(DType::Float64, DType::Int16, &CastOptions::RUST, Tier::Scalar);
    let plan = plan.expect("always there");
    with_all(|threads| {
        let mut got = vec![0; src.len() + 1];
        plan.with_threads(threads.clone()).run(&src, &mut got[1..]).expect("equal lengths");
        assert!(got[1..] == want, "{threads:?}");
        assert!(plan.with_threads(threads.clone()).run_to_vec::<i16>(&src).expect("the right types") == want);
        let (src, dst) = (src.len(), got.len());
        let long = vec![0.0; src];
        assert_eq!(
            plan.with_threads(threads.clone()).run(&long, &mut got),
            Err(CastError::LengthMismatch { src, dst })
        );
        assert!(matches!(
            plan.with_threads(threads.clone()).run(&long, &mut vec![0_u16; src]),
            Err(CastError::WrongElement { which: Side::Destination, .. })
        ));
        let wrong = plan.with_threads(threads.clone()).run_to_vec::<u16>(&long);
        assert!(matches!(wrong, Err(CastError::WrongElement { .. })));
    });
}

/// Elements of `wrong` do not fit in int8; of several, the first is found.
#[test]
fn errors() {
    let plan = CastPlan::with_tier(DType::Float32, DType::Int8, &CastOptions::RUST, Tier::Scalar);
    let plan = plan.expect("always there");
    let (checked, counted) = (plan.checked(Level::Range), plan.checked(Level::Range));
    let n = 8 * LARGE;
    let good = 1.5_f32;
    let mut src = vec![good; n];
    let mut rng = Rng(11);
    let mut dst = vec![0_i8; n];
    let mut masks = [vec![0; n.div_ceil(8)], vec![0; n.div_ceil(8)]];
    let pools = pools();
    let hosts = hosts();
    let mut everybody: Vec<Threads> = hosts.into_iter().map(|host| Threads::Host(host)).collect();
    everybody.extend(pools.into_iter().map(|pool| Threads::Host(pool)));
    for round in 0..if cfg!(miri) { 3 } else { 60 } {
        let count = [0, 1, 2, 40][round % 4];
        let wrong: Vec<usize> = (0..count).map(|_| rng.below(n as u64) as usize).collect();
        wrong.iter().for_each(|at| src[*at] = 1000.0);
        let threads = &everybody[round % everybody.len()];
        let first = wrong.iter().min().copied();
        let found = |result| match result {
            Ok(()) => None,
            Err(CastError::Rejected(found)) => Some(found.index),
            Err(error) => panic!("{error}"),
        };
        assert_eq!(found(checked.with_threads(threads.clone()).run(&src, &mut dst)), first, "{threads:?}");
        if round % 4 == 3 {
            let raw: Vec<u8> = src.iter().flat_map(|x| x.to_ne_bytes()).collect();
            let mut out = vec![0; n];
            assert_eq!(
                found(
                    checked
                        .with_threads(threads.clone())
                        .run(Bytes::new(&raw, n), BytesMut::new(&mut out, n))
                ),
                first,
                "{threads:?}"
            );
            let [a, b] = &mut masks;
            let rejected = checked.run_masked(Bytes::new(&raw, n), BytesMut::new(&mut out, n), a);
            assert_eq!(
                checked.with_threads(threads.clone()).run_masked(
                    Bytes::new(&raw, n),
                    BytesMut::new(&mut out, n),
                    b
                ),
                rejected
            );
            assert!(a == b && rejected.is_ok_and(|k| k > 0));
            let report = counted.run_counted(Bytes::new(&raw, n), BytesMut::new(&mut out, n));
            assert_eq!(
                counted
                    .with_threads(threads.clone())
                    .run_counted(Bytes::new(&raw, n), BytesMut::new(&mut out, n)),
                report
            );
            assert_eq!(counted.with_threads(threads.clone()).run_counted(&src, &mut dst), report);
        }
        wrong.iter().for_each(|at| src[*at] = good);
    }
}

/// Inside the tasks of a pool, also when all of its threads wait for casts of their own.
#[test]
fn nested() {
    let plan = slow(DType::Float32, DType::Float8E4M3FN);
    let n = LARGE / 10;
    let src = noise(3, 4 * n);
    let mut want = vec![0; n];
    plan.run(Bytes::new(&src, n), BytesMut::new(&mut want, n)).expect("the buffers fit");
    let check = |threads: &Threads| {
        let mut got = vec![0; n];
        plan.with_threads(threads.clone())
            .run(Bytes::new(&src, n), BytesMut::new(&mut got, n))
            .expect("the buffers fit");
        assert!(got == want);
    };
    let pools = pools();
    for pool in &pools {
        pool.install(|| {
            check(&Threads::Rayon);
            rayon::join(|| check(&Threads::Rayon), || check(&Threads::Rayon));
            rayon::scope(|scope| (0..5).for_each(|_| scope.spawn(|_| check(&Threads::Rayon))));
            (0..20).into_par_iter().for_each(|_| check(&Threads::Rayon));
            // Another pool's tasks, and our own by name.
            (0..6).into_par_iter().for_each(|k| check(&Threads::Host(pools[k % pools.len()].clone())));
        });
    }
    // From many threads that belong to no pool.
    if !pools.is_empty() {
        std::thread::scope(|scope| (0..4).for_each(|_| _ = scope.spawn(|| check(&Threads::Rayon))));
    }
}

/// A host whose tasks fail takes nobody else down.
#[test]
fn a_host_that_panics() {
    struct Panics;
    impl ParallelFor for Panics {
        fn threads(&self) -> usize {
            2
        }
        fn run(&self, _: usize, task: &(dyn Fn(usize) + Sync)) {
            task(0);
            panic!("the host's own affair");
        }
    }
    if cfg!(target_family = "wasm") {
        return support::say("SKIPPED: a host that panics: this target does not unwind");
    }
    let src = vec![1.0_f64; 4 * LARGE];
    let mut dst = vec![bf16::ZERO; src.len()];
    let plan = plan(DType::Float64, DType::BFloat16);
    let failing = plan.with_threads(Threads::Host(Arc::new(Panics)));
    let failed = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| failing.run(&src, &mut dst)));
    assert!(failed.is_err() || cfg!(miri));
    plan.with_threads(Threads::Rayon).run(&src, &mut dst).expect("equal lengths");
    assert!(dst.iter().all(|x| *x == bf16::ONE));
}

/// Views of all kinds, cut along whichever axis.
#[test]
fn views() {
    let k = if cfg!(miri) { 8 } else { 48 };
    let shapes: [&[usize]; 6] =
        [&[k * k * k], &[2, k * k * k / 2], &[k, k, k], &[k * k * k / 4, 4], &[3 * k, k], &[1, k * k, 1, k]];
    for (from, to) in [
        (Encoding::new(DType::Float32), Encoding::new(DType::Float8E4M3FN)),
        (Encoding::packed(DType::Int4), Encoding::new(DType::Float64)),
        (Encoding::new(DType::Int16), Encoding::packed(DType::Float6E3M2FN)),
    ] {
        let plan = slow(from, to);
        for shape in shapes {
            let n: usize = shape.iter().product();
            let (a, b) = (Layout::contiguous(from, shape), Layout::contiguous(to, shape));
            let (a, b) = (a.expect("small"), b.expect("small"));
            let packed = from != Encoding::new(from.dtype()) || to != Encoding::new(to.dtype());
            // Transposed sources where elements have places of their own.
            let turned = |layout: &Layout| {
                let other: Vec<usize> = layout.shape().iter().rev().copied().collect();
                Layout::contiguous(from, &other).expect("small").transposed()
            };
            let layouts =
                if packed { vec![a] } else { vec![a.clone(), turned(&a), a.reversed(0).expect("an axis")] };
            // Rows of packed elements begin at bytes of their own.
            let src = noise(9, 9 * n + 100);
            for layout in layouts {
                let view = View::new(&src, layout.clone()).expect("within");
                let mut want = vec![0xA5; 9 * n + 100];
                plan.run(&view, &mut ViewMut::new(&mut want, b.clone()).expect("within")).expect("one shape");
                for host in &hosts() {
                    let mut got = vec![0xA5; 9 * n + 100];
                    let mut out = ViewMut::new(&mut got, b.clone()).expect("within");
                    plan.with_threads(Threads::Host(host.clone())).run(&view, &mut out).expect("one shape");
                    assert!(got == want, "{layout:?} to {b:?}");
                }
            }
        }
        let shape: &[usize] = &[k, k, k];
        let (a, b) = (Layout::contiguous(from, shape).expect("small"), Layout::contiguous(to, &[k, k * k]));
        let (src, mut dst) = (noise(1, 9 * k * k * k + 100), vec![0xA5; 9 * k * k * k + 100]);
        let view = View::new(&src, a).expect("within");
        let mut out = ViewMut::new(&mut dst, b.expect("small")).expect("within");
        let error = plan.with_threads(Threads::Host(hosts()[0].clone())).run(&view, &mut out);
        assert_eq!(error, plan.run(&view, &mut out));
        assert!(matches!(error, Err(CastError::View(_))));
        assert!(dst.iter().all(|byte| *byte == 0xA5));
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: if cfg!(miri) { 2 } else { 60 }, failure_persistence: None, ..ProptestConfig::default() })]

    /// Chunks cover every element once: each is asked for what it is, at any length, offset and number of threads.
    #[test]
    fn chunking(
        n in 0_usize..if cfg!(miri) { 200 } else { 150_000 },
        (s, d) in (0_usize..16, 0_usize..80),
        threads in 2_usize..40,
        pair in 0_usize..6,
        habit in 0_usize..4,
    ) {
        let (from, to) = [
            (Encoding::new(DType::Float32), Encoding::new(DType::BFloat16)),
            (Encoding::new(DType::Float16), Encoding::packed(DType::Float4E2M1FN)),
            (Encoding::packed(DType::UInt2), Encoding::packed(DType::Float6E2M3FN)),
            (Encoding::packed(DType::Float6E3M2FN), Encoding::new(DType::Float4E2M1FN)),
            (Encoding::new(DType::Complex128), Encoding::new(DType::Complex64)),
            (Encoding::new(DType::Int64), Encoding::new(DType::Float64)),
        ][pair];
        let plan = slow(from, to);
        let habit = [Habit::Forward, Habit::Backward, Habit::First, Habit::None][habit];
        let host = Arc::new(Host::new(threads, habit));
        let src = noise(n as u64, byte_len(from, n) + s);
        let (mut want, mut got) = (vec![0xA5; byte_len(to, n) + 100], vec![0xA5; byte_len(to, n) + 100]);
        plan.run(Bytes::new(&src[s..], n), BytesMut::new(&mut want[d..], n)).expect("the buffers fit");
        plan.with_threads(Threads::Host(host.clone())).run(Bytes::new(&src[s..], n), BytesMut::new(&mut got[d..], n)).expect("the buffers fit");
        prop_assert!(got == want);
    }
}

/// Every thread of a host gets something to do, if it is worth it, and no more tasks are made than there are threads.
#[test]
fn work_for_all() {
    struct Watched(Mutex<Vec<usize>>);
    impl ParallelFor for Watched {
        fn threads(&self) -> usize {
            4
        }
        fn run(&self, tasks: usize, task: &(dyn Fn(usize) + Sync)) {
            self.0.lock().expect("no panic").push(tasks);
            (0..tasks).for_each(task);
        }
    }
    let host = Arc::new(Watched(Mutex::new(Vec::new())));
    let run = |n: usize| {
        let (src, mut dst) = (vec![0; 4 * n], vec![1; n]);
        slow(DType::Float32, DType::Float8E4M3FN)
            .with_threads(Threads::Host(host.clone()))
            .run(Bytes::new(&src, n), BytesMut::new(&mut dst, n))
            .expect("the buffers fit");
        assert!(dst.iter().all(|byte| *byte == 0));
        host.0.lock().expect("no panic").pop()
    };
    // Where the steps between are is a matter of measured costs.
    let tasks = [20_000, 40_000, 80_000, 160_000, 320_000, 1_000_000].map(run);
    assert_eq!((tasks[0], tasks[5]), (None, Some(4)), "a few microseconds, and several hundred");
    assert!(tasks.is_sorted(), "{tasks:?}");
}
