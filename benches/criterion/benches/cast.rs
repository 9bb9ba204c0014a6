//! Representative pairs on every tier that can run here: groups `<from>-<to>/<tier>/<size>`, throughput in bytes read and
//! written.
//!
//! `cargo bench -p lanecast-criterion -- float32-` runs a part of them. `plan/` is what it takes to resolve one.

#![allow(missing_docs, reason = "the macro of criterion makes a public function without a comment")]

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use lanecast::{Bytes, BytesMut, CastOptions, CastPlan, DType, Encoding, Level, Tier};
use std::hint::black_box;

include!("../../common/pairs.rs");

/// Total footprints: source and destination together.
const SIZES: &[(&str, usize)] = &[("24KiB", 24 << 10), ("512KiB", 512 << 10), ("64MiB", 64 << 20)];

fn pairs(c: &mut Criterion) {
    for &(from, to) in PAIRS {
        let (from, to) = (Encoding::packed(from), Encoding::packed(to));
        let mut group = c.benchmark_group(format!("{}-{}", from.dtype(), to.dtype()));
        for &tier in Tier::ALL.iter().filter(|tier| tier.is_available()) {
            let plan =
                CastPlan::with_tier(from, to, &CastOptions::RUST, tier).expect("the tier is available");
            for &(name, footprint) in SIZES {
                let bits = (from.bits_per_element() + to.bits_per_element()) as usize;
                let n = (footprint * 8 / bits) & !3;
                let bytes = |t: Encoding| t.byte_len(n).expect("a small buffer");
                // Normal numbers in every format, in a range that integers of 8 bits hold.
                let ramp: Vec<u8> =
                    (0..n).flat_map(|i| (0.5 + (i % 61) as f32 / 16.0).to_ne_bytes()).collect();
                let mut src = vec![0; bytes(from)];
                let make = CastPlan::new(DType::Float32, from, &CastOptions::RUST);
                make.and_then(|make| make.run(Bytes::new(&ramp, n), BytesMut::new(&mut src, n)))
                    .expect("every pair has a plan");
                let mut dst = vec![0; bytes(to)];
                check(&plan, &src, &mut dst, n);
                group.throughput(Throughput::Bytes((bytes(from) + bytes(to)) as u64));
                group.bench_function(BenchmarkId::new(tier.name(), name), |b| {
                    b.iter(|| {
                        plan.run(Bytes::new(black_box(&src), n), BytesMut::new(black_box(&mut dst), n))
                    });
                });
            }
        }
    }
}

/// A benchmark of a wrong answer is worth nothing: the tier must agree with the scalar one.
fn check(plan: &CastPlan, src: &[u8], dst: &mut [u8], n: usize) {
    plan.run(Bytes::new(src, n), BytesMut::new(dst, n)).expect("the buffers are large enough");
    let scalar = CastPlan::with_tier(plan.source(), plan.target(), &CastOptions::RUST, Tier::Scalar);
    let mut want = vec![0; dst.len()];
    scalar
        .and_then(|plan| plan.run(Bytes::new(src, n), BytesMut::new(&mut want, n)))
        .expect("every machine has the scalar tier");
    assert!(*dst == *want, "{plan:?} differs from the scalar tier");
}

/// Resolving a plan, for pairs in turn: `plan/new`; and making a checked one of it, at either level.
fn plans(c: &mut Criterion) {
    let mut pairs = PAIRS.iter().cycle();
    c.bench_function("plan/new", |b| {
        b.iter(|| {
            let &(from, to) = pairs.next().expect("there are pairs");
            CastPlan::new(black_box(from), black_box(to), black_box(&CastOptions::RUST))
        });
    });
    let made: Vec<CastPlan> =
        PAIRS.iter().flat_map(|(from, to)| CastPlan::new(*from, *to, &CastOptions::RUST)).collect();
    let mut plans = made.iter().cycle();
    c.bench_function("plan/checked", |b| {
        b.iter(|| plans.next().expect("there are plans").checked(black_box(Level::Range)));
    });
    c.bench_function("plan/counted", |b| {
        b.iter(|| plans.next().expect("there are plans").checked(black_box(Level::Exact)));
    });
}

criterion_group!(benches, pairs, plans);
criterion_main!(benches);
