use lanecast::*;
use std::time::Instant;
fn best(mut f: impl FnMut()) -> f64 {
    let mut b = f64::MAX;
    for _ in 0..200 {
        let t = Instant::now();
        f();
        b = b.min(t.elapsed().as_secs_f64());
    }
    b
}
fn main() {
    for (from, to) in [
        (DType::Float32, DType::Int8),
        (DType::Float32, DType::UInt8),
        (DType::Float32, DType::Int32),
        (DType::Float64, DType::Int32),
        (DType::Float16, DType::Int8),
        (DType::BFloat16, DType::UInt8),
        (DType::Float8E4M3FN, DType::Int8),
    ] {
        for (what, val) in [("clean", 3.0f64), ("tiny", 0.02)] {
            for n in [4096usize, 1 << 20] {
                let src64: Vec<f64> =
                    (0..n).map(|i| val + if what == "clean" { (i % 100) as f64 } else { 0.0 }).collect();
                let mut src = vec![0u8; n * 8];
                CastPlan::new(DType::Float64, from, &CastOptions::RUST)
                    .unwrap()
                    .run(bytemuck_cast(&src64), &mut src, n)
                    .unwrap();
                let plan = CastPlan::new(from, to, &CastOptions::RUST).unwrap();
                let mut out = vec![0u8; n * 8];
                let ch = plan.checked(Level::Range);
                let co = plan.counted(Level::Range);
                let ex = plan.counted(Level::Exact);
                let (mut p, mut c, mut k, mut e) = (f64::MAX, f64::MAX, f64::MAX, f64::MAX);
                for _ in 0..3 {
                    p = p.min(best(|| plan.run(&src, &mut out, n).unwrap()));
                    c = c.min(best(|| ch.run(&src, &mut out, n).unwrap()));
                    k = k.min(best(|| {
                        co.run(&src, &mut out, n).unwrap();
                    }));
                    e = e.min(best(|| {
                        ex.run(&src, &mut out, n).unwrap();
                    }));
                }
                println!(
                    "{from}-{to} {what} {n}: plain {:.3} ns/el, checked {:.2}x, counted {:.2}x, counted exact {:.2}x",
                    p / n as f64 * 1e9,
                    c / p,
                    k / p,
                    e / p
                );
            }
        }
    }
}
fn bytemuck_cast(x: &[f64]) -> &[u8] {
    unsafe { std::slice::from_raw_parts(x.as_ptr().cast(), x.len() * 8) }
}
