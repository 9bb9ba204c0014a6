//! Small calls: what a typed cast and the run of a plan take, beside the compiler's own loop of `as`.
//!
//! The contenders of a cell take turns, in batches that a clock can see, and write to one buffer; each keeps its shortest batch, which
//! is what the call takes when nobody disturbs it. The loop of `as` is compiled here, with the instructions that the target always has,
//! as in a program that has no tiers. Before, the three answers are compared.
//!
//! The source and the destination begin with a cache line and lie in different halves of a page. Where the end of the destination has the
//! last twelve bits of its address in common with the beginning of the source, the CPU delays the first load of a call until the last stores
//! of the call before are done. That took up to 10 ns, so where an allocator put the two decided more than who wrote.

use crate::{
    dimensions::{self, Amount},
    machine::Machine,
    measure::{Contender as Timed, measure},
};
use lanecast::{
    CastOptions, CastPlan, DType, Element, F8E4M3FN, IntOverflow, Tier, cast,
    half::{bf16, f16},
    tier,
};
use std::{cell::RefCell, fmt::Write as _, hint::black_box, time::Instant};

/// The lengths, in elements: those of small calls, and those at which a loop of `as` has got going.
pub const LENGTHS: [usize; 9] = [1, 4, 8, 16, 64, 100, 128, 200, 255];
/// The first of the longer ones.
const LONG: usize = 64;
/// Calls in a batch, and batches of each contender.
const BATCH: usize = 400;
const BATCHES: usize = 40;

/// Nanoseconds of a call of `elements`, on a tier.
#[derive(Clone, Debug)]
pub struct Row {
    /// The tier.
    pub tier: Tier,
    /// The pair.
    pub from: DType,
    /// The pair.
    pub to: DType,
    /// Elements.
    pub elements: usize,
    /// `lanecast::cast`.
    pub typed: f64,
    /// `CastPlan::run`.
    pub plan: f64,
    /// The loop of `as`.
    pub compiler: f64,
}

/// The longest source or destination, in half a page.
#[repr(align(2048))]
struct Half<T>([T; 256]);

/// Source and destination of a copy, each in half a page.
#[repr(align(2048))]
struct Copies([u8; 4096]);

const _: () = assert!(LENGTHS[LENGTHS.len() - 1] <= 256 && size_of::<Half<u64>>() == 2048);

/// `as` as a function.
trait As<D> {
    fn as_(self) -> D;
}

#[inline(never)]
fn loop_of_as<S: Copy + As<D>, D>(src: &[S], dst: &mut [D]) {
    for (dst, src) in dst.iter_mut().zip(src) {
        *dst = src.as_();
    }
}

/// A call that writes to a buffer.
type Contender<'a, D> = &'a dyn Fn(&mut [D]);

/// The shortest batch of each, in nanoseconds per call. All write to the same buffer, because its address changes the time of a call.
fn shortest<D>(dst: &mut [D], contenders: [Contender<'_, D>; 3]) -> [f64; 3] {
    let mut best = [f64::INFINITY; 3];
    for _ in 0..BATCHES {
        for (best, contender) in best.iter_mut().zip(contenders) {
            let start = Instant::now();
            for _ in 0..BATCH {
                contender(black_box(&mut *dst));
            }
            *best = best.min(start.elapsed().as_nanos() as f64 / BATCH as f64);
        }
    }
    best
}

fn pair<S, D>(tier: Tier, rows: &mut Vec<Row>) -> Result<(), String>
where
    S: Element + Default + As<D> + TryFrom<u8>,
    D: Element + Default + PartialEq,
{
    // Integers that are out of range keep their low bits, as by `as`.
    let options = CastOptions::RUST.with_int_to_int(IntOverflow::Wrap);
    let plan = CastPlan::with_tier(S::DTYPE, D::DTYPE, &options, tier).map_err(|e| e.to_string())?;
    let mut halves = Box::new((Half([S::default(); 256]), Half([D::default(); 256])));
    let (Half(src), Half(dst)) = &mut *halves;
    for (i, x) in src.iter_mut().enumerate() {
        *x = S::try_from((i % 120) as u8).unwrap_or_default();
    }
    for elements in LENGTHS {
        let (src, dst) = (&src[..elements], &mut dst[..elements]);
        let typed = |dst: &mut [D]| cast(black_box(src), dst).expect("the lengths agree");
        let planned = |dst: &mut [D]| {
            plan.run(black_box(src), dst).expect("the lengths agree");
        };
        let compiled = |dst: &mut [D]| loop_of_as(black_box(src), dst);
        let answer = |contender: Contender<'_, D>| {
            let mut dst = vec![D::default(); elements];
            contender(&mut dst);
            dst
        };
        let want = answer(&compiled);
        if answer(&typed) != want || answer(&planned) != want {
            return Err(format!("{} -> {}, {elements} elements: the answers differ", S::DTYPE, D::DTYPE));
        }
        let best = shortest(dst, [&typed, &planned, &compiled]);
        let [typed, plan, compiler] = best;
        rows.push(Row { tier, from: S::DTYPE, to: D::DTYPE, elements, typed, plan, compiler });
    }
    Ok(())
}

macro_rules! pairs {
    ($($type:ident)*) => { pairs!(@ [$($type)*] [$($type)*]); };
    (@ [$($from:ident)*] $all:tt) => {
        $(pairs!(@from $from $all);)*
        fn all(tier: Tier, rows: &mut Vec<Row>) -> Result<(), String> {
            $(pairs!(@run $from $all, tier, rows);)*
            Ok(())
        }
    };
    (@from $from:ident [$($to:ident)*]) => {
        $(impl As<$to> for $from {
            #[inline(always)]
            fn as_(self) -> $to {
                self as $to
            }
        })*
    };
    (@run $from:ident [$($to:ident)*], $tier:ident, $rows:ident) => {
        $(if <$from>::DTYPE != <$to>::DTYPE {
            pair::<$from, $to>($tier, $rows)?;
        })*
    };
}
pairs!(u8 i8 u16 i16 u32 i32 u64 i64 f32 f64);

/// Measures all pairs of Rust's own numbers on some tiers.
///
/// # Errors
///
/// A tier that cannot run here, or answers that differ.
pub fn run(tiers: &[Tier]) -> Result<Vec<Row>, String> {
    let mut rows = Vec::new();
    for &tier in tiers {
        tier::force(Some(tier)).map_err(|e| e.to_string())?;
        all(tier, &mut rows)?;
    }
    tier::force(None).map_err(|e| e.to_string())?;
    Ok(rows)
}

/// The rows of the dimension: a typed cast and the run of a plan. The baseline is the compiler's loop of `as`, where Rust has one.
///
/// # Errors
///
/// If a tier cannot run here, or answers differ.
pub(crate) fn rows(amount: &Amount) -> Result<Vec<dimensions::Row>, String> {
    let mut rows = Vec::new();
    for &tier in &amount.tiers {
        tier::force(Some(tier)).map_err(|e| e.to_string())?;
        let done = amount.of(REPRESENTATIVES, 4).iter().try_for_each(|pair| pair(tier, amount, &mut rows));
        tier::force(None).map_err(|e| e.to_string())?;
        done?;
    }
    Ok(rows)
}

/// A loop of `as`.
type Loop<S, D> = fn(&[S], &mut [D]);

/// Measures a pair on a tier.
type Representative = fn(Tier, &Amount, &mut Vec<dimensions::Row>) -> Result<(), String>;

/// Pairs with `as`, and pairs of types that Rust does not have.
const REPRESENTATIVES: &[Representative] = &[
    |tier, amount, rows| turns::<f32, f64>(tier, amount, rows, Some(loop_of_as)),
    |tier, amount, rows| turns::<f32, f16>(tier, amount, rows, None),
    |tier, amount, rows| turns::<f32, F8E4M3FN>(tier, amount, rows, None),
    |tier, amount, rows| turns::<f32, u8>(tier, amount, rows, Some(loop_of_as)),
    |tier, amount, rows| turns::<f16, f32>(tier, amount, rows, None),
    |tier, amount, rows| turns::<f32, bf16>(tier, amount, rows, None),
    |tier, amount, rows| turns::<bf16, f32>(tier, amount, rows, None),
    |tier, amount, rows| turns::<F8E4M3FN, f32>(tier, amount, rows, None),
    |tier, amount, rows| turns::<bf16, F8E4M3FN>(tier, amount, rows, None),
    |tier, amount, rows| turns::<f64, f32>(tier, amount, rows, Some(loop_of_as)),
    |tier, amount, rows| turns::<f32, i32>(tier, amount, rows, Some(loop_of_as)),
    |tier, amount, rows| turns::<f32, i8>(tier, amount, rows, Some(loop_of_as)),
    |tier, amount, rows| turns::<u8, f32>(tier, amount, rows, Some(loop_of_as)),
    |tier, amount, rows| turns::<u16, f32>(tier, amount, rows, Some(loop_of_as)),
    |tier, amount, rows| turns::<i32, f32>(tier, amount, rows, Some(loop_of_as)),
    |tier, amount, rows| turns::<i64, i32>(tier, amount, rows, Some(loop_of_as)),
    |tier, amount, rows| turns::<i8, i32>(tier, amount, rows, Some(loop_of_as)),
    |tier, amount, rows| turns::<i64, f32>(tier, amount, rows, Some(loop_of_as)),
];

/// The rows of a pair. The answers of both calls are those of the scalar tier, and of the loop of `as`.
fn turns<S, D>(
    tier: Tier,
    amount: &Amount,
    rows: &mut Vec<dimensions::Row>,
    compiled: Option<Loop<S, D>>,
) -> Result<(), String>
where
    S: Element + Default,
    D: Element + Default + PartialEq,
{
    let plan = |tier| CastPlan::with_tier(S::DTYPE, D::DTYPE, &CastOptions::RUST, tier);
    let [plan, scalar] = [plan(tier), plan(Tier::Scalar)].map(|plan| plan.map_err(|e| e.to_string()));
    let (plan, scalar) = (plan?, scalar?);
    let mut halves = Box::new((Half([S::default(); 256]), Half([D::default(); 256]), Copies([0; 4096])));
    let (Half(src), Half(dst), Copies(copy)) = &mut *halves;
    let values: Vec<u8> = (0..256).map(|i| (i % 120) as u8).collect();
    cast(&values, src).map_err(|e| e.to_string())?;
    let src = &*src;
    for elements in LENGTHS {
        let (src, mut want) = (&src[..elements], vec![D::default(); elements]);
        let dst = RefCell::new(&mut dst[..elements]);
        let failed = |e: lanecast::CastError| e.to_string();
        scalar.run(src, &mut *want).map_err(failed)?;
        let (plan, out) = (&plan, &dst);
        // Each call has a loop of its own: a choice between them would be part of the time.
        let mut contenders: Vec<Timed<'_>> = vec![
            Box::new(move |calls| {
                let mut dst = out.borrow_mut();
                (0..calls).for_each(|_| _ = black_box(cast(black_box(src), black_box(&mut **dst)).is_ok()));
            }),
            Box::new(move |calls| {
                let mut dst = out.borrow_mut();
                (0..calls)
                    .for_each(|_| _ = black_box(plan.run(black_box(src), black_box(&mut **dst)).is_ok()));
            }),
        ];
        if let Some(compiled) = compiled {
            contenders.push(Box::new(move |calls| {
                let mut dst = out.borrow_mut();
                (0..calls).for_each(|_| compiled(black_box(src), black_box(&mut **dst)));
            }));
        }
        for contender in &mut contenders {
            dst.borrow_mut().fill(D::default());
            contender(1);
            if **dst.borrow() != *want {
                return Err(format!("{} -> {}, {elements} elements: the answers differ", S::DTYPE, D::DTYPE));
            }
        }
        // Half of all bytes is read, the other half written.
        let bytes = (elements * (size_of::<S>() + size_of::<D>())).div_ceil(2);
        let (from, to) = copy.split_at_mut(2048);
        contenders.push(Box::new(move |calls| {
            (0..calls).for_each(|_| black_box(&mut to[..bytes]).copy_from_slice(black_box(&from[..bytes])));
        }));
        let memcpy = contenders.len() - 1;
        let rounds = measure(&mut contenders, &amount.effort(4, 10));
        for (way, name) in [(TYPED, "cast"), (PLAN, "plan")] {
            rows.push(dimensions::Row {
                at: vec![
                    dimensions::pair(S::DTYPE.into(), D::DTYPE.into()),
                    tier.name().into(),
                    name.into(),
                    elements.to_string(),
                ],
                ns: rounds.time(way),
                ratio: compiled.is_some().then(|| rounds.ratio(way, COMPILED)),
                fraction: rounds.ratio(memcpy, way),
            });
        }
    }
    Ok(())
}

/// The contenders of a pair: `lanecast::cast`, the run of a plan, and the loop of `as`, if there is one.
const TYPED: usize = 0;
const PLAN: usize = 1;
const COMPILED: usize = 2;

fn quantile(mut values: Vec<f64>, q: f64) -> f64 {
    values.sort_by(f64::total_cmp);
    values.get(((values.len().max(1) - 1) as f64 * q) as usize).copied().unwrap_or(f64::NAN)
}

/// The rows as Markdown: per tier and length the median and the longest call, and how the longer ones stand beside `as`.
pub fn table(rows: &[Row], worst: usize) -> String {
    let mut out = format!("{}\n\n", Machine::detect().cpu);
    out.push_str("| tier | elements | typed, median | longest | plan, median | longest | `as`, median | behind `as` by more than 5 % | worst |\n");
    out.push_str("|---|---|---|---|---|---|---|---|---|\n");
    let mut tiers: Vec<Tier> = rows.iter().map(|row| row.tier).collect();
    tiers.dedup();
    for tier in tiers {
        for elements in LENGTHS {
            let of: Vec<&Row> = rows.iter().filter(|r| r.tier == tier && r.elements == elements).collect();
            let by = |f: fn(&Row) -> f64, q| quantile(of.iter().map(|row| f(row)).collect(), q);
            let ratio = |row: &&Row| row.compiler / row.typed;
            let behind = of.iter().filter(|row| ratio(row) < 0.95).count();
            let slowest = of.iter().min_by(|a, b| ratio(a).total_cmp(&ratio(b)));
            let _ = write!(
                out,
                "| {tier} | {elements} | {:.1} ns | {:.1} | {:.1} | {:.1} | {:.1} |",
                by(|r| r.typed, 0.5),
                by(|r| r.typed, 1.0),
                by(|r| r.plan, 0.5),
                by(|r| r.plan, 1.0),
                by(|r| r.compiler, 0.5),
            );
            let _ = match slowest {
                Some(row) if elements >= LONG => writeln!(
                    out,
                    " {behind} of {} | {:.2} ({} -> {}) |",
                    of.len(),
                    ratio(row),
                    row.from,
                    row.to
                ),
                _ => writeln!(out, " | |"),
            };
        }
    }
    let mut long: Vec<&Row> = rows.iter().filter(|row| row.elements >= LONG).collect();
    long.sort_by(|a, b| (a.compiler / a.typed).total_cmp(&(b.compiler / b.typed)));
    for row in long.iter().take(worst) {
        let Row { tier, from, to, elements, typed, plan, compiler } = row;
        let _ = writeln!(
            out,
            "{:.2} {tier} {from} -> {to}, {elements} elements: typed {typed:.1} ns, plan {plan:.1}, as {compiler:.1}",
            compiler / typed
        );
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_are_those_of_as() {
        let rows = run(&[Tier::Scalar]).expect("every machine has it");
        assert_eq!(rows.len(), 90 * LENGTHS.len());
        let table = table(&rows, 1);
        assert_eq!(table.matches("| scalar |").count(), LENGTHS.len(), "{table}");
    }
}
