//! Arrays of other layouts: the time of a strided cast beside the contiguous cast of as many elements.
//!
//! Every answer is checked against a cast of elements that were brought together one by one. `benches/peers/strided.py` times
//! numpy on arrays of the same layouts, by the same names. Casts that detect losses are timed beside the plain cast of the same views.

use crate::{
    checked::source_of,
    dimensions::{self, Amount},
    inputs::{self, Inputs},
    machine::Machine,
    measure::{Contender, Effort, Rounds, measure},
    pool::Pool,
    speed::{
        record::{Table, round},
        tables::Measured,
    },
    traffic::Traffic,
};
use lanecast::{
    Bytes, BytesMut, CastOptions, CastPlan, DType, Encoding, Level, Tier,
    strided::{Layout, View, ViewError, ViewMut},
    tier,
};
use serde_json::json;
use std::{cell::RefCell, hint::black_box, time::Duration};

/// The layouts of source and destination, from both dtypes and the side of a square of as many elements.
type Layouts = fn(DType, DType, usize) -> Result<(Layout, Layout), ViewError>;

/// A layout by its strides in elements.
fn of(dtype: DType, shape: &[usize], strides: &[isize]) -> Result<Layout, ViewError> {
    let strides: Vec<isize> = strides.iter().map(|stride| stride * dtype.size() as isize).collect();
    Layout::new(dtype, shape, &strides)
}

fn dense(dtype: DType, shape: &[usize]) -> Result<Layout, ViewError> {
    Layout::contiguous(dtype, shape)
}

/// By the names that `strided.py` uses as well.
const LAYOUTS: &[(&str, Layouts)] = &[
    ("contiguous", |s, d, n| Ok((dense(s, &[n, n])?, dense(d, &[n, n])?))),
    ("every second row", |s, d, n| Ok((of(s, &[n, n], &[2 * n as isize, 1])?, dense(d, &[n, n])?))),
    ("every second column", |s, d, n| Ok((of(s, &[n, n], &[2 * n as isize, 2])?, dense(d, &[n, n])?))),
    ("one column of 64", |s, d, n| Ok((of(s, &[n * n / 64], &[64])?, dense(d, &[n * n / 64])?))),
    ("transposed", |s, d, n| Ok((dense(s, &[n, n])?.transposed(), dense(d, &[n, n])?))),
    ("transposed result", |s, d, n| Ok((dense(s, &[n, n])?, dense(d, &[n, n])?.transposed()))),
    ("reversed", |s, d, n| Ok((dense(s, &[n, n])?.reversed(0)?.reversed(1)?, dense(d, &[n, n])?))),
    ("one row repeated", |s, d, n| Ok((dense(s, &[n])?.broadcast(&[n, n])?, dense(d, &[n, n])?))),
    ("one column repeated", |s, d, n| Ok((dense(s, &[n, 1])?.broadcast(&[n, n])?, dense(d, &[n, n])?))),
    ("channels last to first", |s, d, n| {
        Ok((dense(s, &[n, n / 4, 4])?.permuted(&[2, 0, 1])?, dense(d, &[4, n, n / 4])?))
    }),
    ("channels first to last", |s, d, n| {
        Ok((dense(s, &[4, n, n / 4])?.permuted(&[1, 2, 0])?, dense(d, &[n, n / 4, 4])?))
    }),
    ("rows of 8 of 12", |s, d, n| Ok((of(s, &[n * n / 8, 8], &[12, 1])?, dense(d, &[n * n / 8, 8])?))),
    ("every second result", |s, d, n| Ok((dense(s, &[n * n])?, of(d, &[n * n], &[2])?))),
];

/// The pairs that are measured if none is asked for.
pub const PAIRS: [(DType, DType); 5] = [
    (DType::Float32, DType::Float16),
    (DType::Float64, DType::Float32),
    (DType::UInt8, DType::Float32),
    (DType::Float32, DType::UInt8),
    (DType::Int32, DType::Int64),
];

/// Bytes that the elements of a layout reach over.
fn reach(layout: &Layout) -> usize {
    let ways =
        layout.shape().iter().zip(layout.strides()).map(|(len, stride)| (len - 1) * stride.unsigned_abs());
    ways.sum::<usize>() + layout.encoding().dtype().size()
}

/// A table: for every layout the time of a cast in nanoseconds per element, and the contiguous cast's time divided by it.
///
/// # Errors
///
/// If a cast gives another answer than element by element.
pub fn table(
    pairs: &[(DType, DType)],
    sides: &[usize],
    only: Option<&str>,
    budget: Duration,
) -> Result<Measured, String> {
    let effort = Effort { budget, min_rounds: 5, max_rounds: 200, turn: Duration::from_millis(1) };
    let mut rows = Vec::new();
    for &(from, to) in pairs {
        for &side in sides {
            for (name, layouts) in
                LAYOUTS.iter().filter(|(name, _)| only.is_none_or(|only| name.contains(only)))
            {
                let (src, dst) = layouts(from, to, side).map_err(|error| error.to_string())?;
                let rounds = row(&src, &dst, tier::active(), &effort)
                    .map_err(|error| format!("{from} -> {to}, {name}: {error}"))?;
                let (ns, ratio) = (rounds.time(VIEW) / src.elements() as f64, rounds.ratio(TOGETHER, VIEW));
                let pair = format!("{from} -> {to}");
                rows.push(vec![json!(pair), json!(side), json!(name), json!(round(ns)), json!(round(ratio))]);
            }
        }
    }
    let table = Table {
        name: "Layouts".into(),
        note: "Arrays of other layouts, side by side in elements: nanoseconds per element, and the time of the contiguous cast of as many \
               elements divided by the time of this one."
            .into(),
        columns: ["pair", "side", "layout", "ns per element", "of contiguous"].map(String::from).into(),
        rows,
    };
    Ok(Measured { machine: Machine::detect(), tables: vec![table] })
}

/// The rows of the dimension: every layout, within the second cache and beyond it. The baseline is the contiguous cast of as many elements.
///
/// # Errors
///
/// If a cast gives another answer than element by element.
pub(crate) fn rows(amount: &Amount) -> Result<Vec<dimensions::Row>, String> {
    let mut rows = Vec::new();
    let sides: &[usize] = if amount.short { &[64] } else { &[256, 1024] };
    for (name, layouts) in amount.of(LAYOUTS, LAYOUTS.len()) {
        for &(from, to) in amount.of(&PAIRS, 1) {
            for &side in sides {
                // Beyond the second cache, memory decides and not the tier.
                let all = if side > 256 { &[amount.strongest()][..] } else { &amount.tiers };
                for &tier in all {
                    let (src, dst) = layouts(from, to, side).map_err(|error| error.to_string())?;
                    let rounds = row(&src, &dst, tier, &amount.effort(25, 50))
                        .map_err(|error| format!("{from} -> {to}, {name}, {tier}: {error}"))?;
                    let contiguous = *name == "contiguous";
                    rows.push(dimensions::Row {
                        at: vec![
                            (*name).into(),
                            tier.name().into(),
                            side.to_string(),
                            dimensions::pair(from.into(), to.into()),
                        ],
                        ns: rounds.time(VIEW) / src.elements() as f64,
                        ratio: (!contiguous).then(|| rounds.ratio(VIEW, TOGETHER)),
                        fraction: rounds.ratio(TRAFFIC, VIEW),
                    });
                }
            }
        }
    }
    Ok(rows)
}

/// The contenders of a row: elements together, the view, and pure traffic of as many bytes together.
const TOGETHER: usize = 0;
const VIEW: usize = 1;
const TRAFFIC: usize = 2;

fn row(from: &Layout, to: &Layout, tier: Tier, effort: &Effort) -> Result<Rounds, String> {
    let told = |error: &dyn std::fmt::Display| error.to_string();
    let n = from.elements();
    let plan = CastPlan::with_tier(from.encoding(), to.encoding(), &CastOptions::RUST, tier);
    let plan = plan.map_err(|e| told(&e))?;
    let traffic = Traffic::new(tier, from.encoding(), to.encoding());
    let sizes =
        [reach(from), reach(to), n * from.encoding().dtype().size(), n * to.encoding().dtype().size()];
    let mut pool = Pool::for_buffers(&sizes);
    let [src, dst, together, results] = pool.buffers(sizes);
    noise(from.encoding(), src);
    let (src, dst) = (&*src, RefCell::new(dst));
    let view = View::new(src, from.clone()).map_err(|e| told(&e))?;
    plan.run(&view, &mut ViewMut::new(&mut dst.borrow_mut(), to.clone()).map_err(|e| told(&e))?)
        .map_err(|e| told(&e))?;

    // The elements together, in the order of the shape.
    let bytes = |layout: &Layout, all: &[u8]| -> Vec<u8> {
        let size = layout.encoding().dtype().size();
        places(layout).flat_map(|at| all[at..at + size].iter().copied()).collect()
    };
    together.copy_from_slice(&bytes(from, src));
    plan.run(Bytes::new(together, n), BytesMut::new(results, n)).map_err(|e| told(&e))?;
    let mut want = vec![0; results.len()];
    let scalar = CastPlan::with_tier(from.encoding(), to.encoding(), &CastOptions::RUST, Tier::Scalar);
    scalar
        .and_then(|scalar| scalar.run(Bytes::new(together, n), BytesMut::new(&mut want, n)))
        .map_err(|e| told(&e))?;
    if *results != *want || bytes(to, &dst.borrow()) != want {
        return Err("another answer than element by element".into());
    }

    let (together, results) = (&*together, RefCell::new(results));
    let mut contenders: Vec<Contender<'_>> = vec![
        Box::new(|calls| {
            for _ in 0..calls {
                let (n, mut results) = (black_box(n), results.borrow_mut());
                let src = Bytes::new(black_box(together), n);
                black_box(plan.run(src, BytesMut::new(black_box(&mut results), n)).is_ok());
            }
        }),
        Box::new(|calls| {
            let mut dst = dst.borrow_mut();
            for _ in 0..calls {
                let Ok(mut out) = ViewMut::new(&mut dst, to.clone()) else { return };
                black_box(plan.run(black_box(&view), black_box(&mut out)).is_ok());
            }
        }),
        Box::new(|calls| {
            let mut results = results.borrow_mut();
            (0..calls).for_each(|_| traffic.run(black_box(together), black_box(&mut results)));
        }),
    ];
    Ok(measure(&mut contenders, effort))
}

/// A table: for every layout the time of the plain cast in nanoseconds per element, and the times of casts that detect losses divided
/// by it. A checked cast of values out of range ends at the first of them, so it is left out for these.
///
/// # Errors
///
/// If a cast finds other losses than that of the same elements brought together.
pub fn losses(
    pairs: &[(DType, DType)],
    sides: &[usize],
    only: Option<&str>,
    inputs: Inputs,
    budget: Duration,
) -> Result<String, String> {
    let effort = Effort { budget, min_rounds: 5, max_rounds: 200, turn: Duration::from_millis(1) };
    let mut table = format!("{:16}{:16}{:>6}  {:24}{:>12}", "from", "to", "side", "layout", "ns/element");
    ["range", "exact", "masked", "counted", "no result"]
        .iter()
        .for_each(|way| table += &format!("{way:>10}"));
    table += "\n";
    for &(from, to) in pairs {
        for &side in sides {
            for (name, layouts) in
                LAYOUTS.iter().filter(|(name, _)| only.is_none_or(|only| name.contains(only)))
            {
                let (src, dst) = layouts(from, to, side).map_err(|error| error.to_string())?;
                let (ns, ratios) = losses_of(&src, &dst, inputs, &effort)
                    .map_err(|error| format!("{from} -> {to}, {name}: {error}"))?;
                table += &format!("{from:16}{to:16}{side:>6}  {name:24}{ns:>12.3}");
                for ratio in ratios {
                    table += &ratio.map_or(format!("{:>10}", "-"), |ratio| format!("{ratio:>10.2}"));
                }
                table += "\n";
            }
        }
    }
    Ok(table)
}

fn losses_of(
    from: &Layout,
    to: &Layout,
    inputs: Inputs,
    effort: &Effort,
) -> Result<(f64, [Option<f64>; 5]), String> {
    let told = |error: &dyn std::fmt::Display| error.to_string();
    let n = from.elements();
    let plan = CastPlan::new(from.encoding(), to.encoding(), &CastOptions::RUST).map_err(|e| told(&e))?;
    let [range, exact] = [Level::Range, Level::Exact].map(|level| plan.checked(level));
    let (size, written) = (from.encoding().dtype().size(), n * to.encoding().dtype().size());
    let sizes = [reach(from), reach(to), n * size, written, n.div_ceil(8), n.div_ceil(8)];
    let mut pool = Pool::for_buffers(&sizes);
    let [src, dst, together, results, mask, want] = pool.buffers(sizes);
    let period = source_of(from.encoding().dtype(), to.encoding().dtype(), inputs).map_err(|e| told(&e))?;
    inputs::repeat(&period, src);
    let view = View::new(src, from.clone()).map_err(|e| told(&e))?;
    let out = RefCell::new(ViewMut::new(dst, to.clone()).map_err(|e| told(&e))?);
    let mask = RefCell::new(mask);
    let plain = || plan.run(black_box(&view), &mut *out.borrow_mut());
    let masked = || range.run_masked(black_box(&view), &mut *out.borrow_mut(), &mut mask.borrow_mut());
    let counted = || range.run_counted(black_box(&view), &mut *out.borrow_mut());

    for (at, element) in places(from).zip(together.chunks_exact_mut(size)) {
        element.copy_from_slice(&src[at..at + size]);
    }
    let together = Bytes::new(together, n);
    let rejected = range.run_masked(together, BytesMut::new(results, n), want).map_err(|e| told(&e))?;
    if masked().map_err(|e| told(&e))? != rejected || **mask.borrow() != *want {
        return Err("another mask than of the elements brought together".into());
    }
    let report = range.run_counted(together, BytesMut::new(results, n)).map_err(|e| told(&e))?;
    if counted() != Ok(report) || range.count(&view) != Ok(report) {
        return Err("other counts than of the elements brought together".into());
    }
    let clean = exact.run(&view, &mut *out.borrow_mut()).is_ok();
    let mut contenders: Vec<Contender<'_>> = vec![
        Box::new(|calls| (0..calls).for_each(|_| _ = black_box(plain()))),
        Box::new(|calls| (0..calls).for_each(|_| _ = black_box(masked()))),
        Box::new(|calls| (0..calls).for_each(|_| _ = black_box(counted()))),
        Box::new(|calls| (0..calls).for_each(|_| _ = black_box(range.count(&view)))),
    ];
    if clean {
        for checked in [&range, &exact] {
            let (view, out) = (&view, &out);
            contenders.push(Box::new(move |calls| {
                (0..calls).for_each(|_| _ = black_box(checked.run(view, &mut *out.borrow_mut())));
            }));
        }
    }
    let rounds = measure(&mut contenders, effort);
    let ratio = |k: usize| (k < 4 || clean).then(|| rounds.ratio(k, 0));
    Ok((rounds.time(0) / n as f64, [4, 5, 1, 2, 3].map(ratio)))
}

/// The first bytes of all elements, the last axis first.
fn places(layout: &Layout) -> impl Iterator<Item = usize> {
    (0..layout.elements()).map(|mut i| {
        let axes = layout.shape().iter().zip(layout.strides()).rev();
        let way: isize = axes
            .map(|(len, stride)| {
                let at = i % len;
                i /= len;
                at as isize * stride
            })
            .sum();
        layout.offset().wrapping_add_signed(way)
    })
}

/// Values that are in range of every target.
fn noise(buffer: Encoding, out: &mut [u8]) {
    let size = buffer.dtype().size();
    let small: Vec<u8> = (0..1024_u32).map(|i| (i * 37 % 101) as u8).collect();
    let mut period = vec![0; 1024 * size];
    let plan = CastPlan::new(DType::UInt8, buffer, &CastOptions::RUST);
    black_box(plan.is_ok_and(|plan| plan.run(&small, BytesMut::new(&mut period, 1024)).is_ok()));
    inputs::repeat(&period, out);
}
