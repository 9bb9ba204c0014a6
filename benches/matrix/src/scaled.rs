//! Scaled casts: the time of pure traffic for the bytes moved, divided by that of the cast.
//!
//! Contenders take turns in one process. Within the second cache the traffic loop uses ordinary stores, in memory streaming ones. Answers
//! of the tier are compared with those of the scalar one first.

use crate::{
    measure::{Contender, Effort, measure},
    pool::Pool,
    traffic::Traffic,
};
use lanecast::{
    BufferType, CastOptions, CastPlan, DType, Tier,
    scaled::{Quotient, ScaledError, ScaledPlan, Scheme},
    tier,
};
use std::{cell::RefCell, hint::black_box, time::Duration};

/// The schemes that are measured if none is asked for, with the names of their codes.
const SCHEMES: &[(&str, Scheme)] = &[
    ("fp8-row", Scheme::FP8_ROW),
    ("fp8-group128", Scheme::FP8_GROUP128),
    ("fp8-block128", Scheme::FP8_BLOCK128),
    ("mxfp8", Scheme::MX),
    ("mxfp4", Scheme::MX.with_element(DType::Float4E2M1FN)),
    ("nvfp4", Scheme::NVFP4),
    ("int8-row", Scheme::INT8_ROW),
    ("int4-group128", Scheme::INT4_GROUP128),
];

/// Columns of the tensors: whole blocks and tiles.
const COLUMNS: usize = 1024;

/// What is measured.
pub struct Selection<'a> {
    /// The tiers.
    pub tiers: &'a [Tier],
    /// Thousands of elements of the tensors.
    pub sizes: &'a [usize],
    /// Only schemes with this in their names.
    pub scheme: Option<&'a str>,
    /// The time of a row.
    pub budget: Duration,
}

/// A row of the table for every tier, size, scheme, and source.
///
/// # Errors
///
/// If an answer differs from the scalar tier's.
pub fn table(selection: &Selection<'_>) -> Result<String, String> {
    let mut text = format!(
        "{:8}{:>9}  {:14}{:10}{:>9}{:>9}{:>9}{:>10}{:>9}{:>9}\n",
        "tier",
        "elements",
        "scheme",
        "source",
        "quantize",
        "divide",
        "ns/elem",
        "to float32",
        "to bf16",
        "ns/elem"
    );
    for &tier in selection.tiers {
        for &size in selection.sizes {
            for (name, scheme) in SCHEMES {
                if selection.scheme.is_some_and(|part| !name.contains(part)) {
                    continue;
                }
                for from in [DType::Float32, DType::BFloat16] {
                    let cell = Cell { tier, name, scheme, from, rows: (size << 10) / COLUMNS };
                    let row =
                        cell.row(selection.budget).map_err(|e| format!("{name} of {from} on {tier}: {e}"));
                    tier::force(None).map_err(|e| e.to_string())?;
                    text += &row?;
                }
            }
        }
    }
    Ok(text)
}

struct Cell<'a> {
    tier: Tier,
    name: &'a str,
    scheme: &'a Scheme,
    from: DType,
    rows: usize,
}

/// The answers of a plan.
#[derive(PartialEq)]
struct Answers {
    codes: Vec<u8>,
    scales: Vec<u8>,
    global: f32,
}

impl Cell<'_> {
    fn plan(&self, tier: Tier, quotient: Quotient) -> Result<ScaledPlan, String> {
        tier::force(Some(tier)).map_err(|e| e.to_string())?;
        let scheme = self.scheme.with_quotient(quotient);
        ScaledPlan::new(self.from, &scheme, &[self.rows, COLUMNS]).map_err(|e| e.to_string())
    }

    /// Numbers of a bell curve, as weights are.
    fn source(&self) -> Result<Vec<u8>, String> {
        let n = self.rows * COLUMNS;
        let mut state = 0x9E37_79B9_7F4A_7C15_u64;
        let mut uniform = || {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            (state >> 40) as f32 / (1 << 24) as f32 - 0.5
        };
        let values: Vec<u8> =
            (0..n).flat_map(|_| (uniform() + uniform() + uniform() + uniform()).to_ne_bytes()).collect();
        let cast = CastPlan::new(DType::Float32, self.from, &CastOptions::RUST).map_err(|e| e.to_string())?;
        let mut src = vec![0; n * self.from.size()];
        cast.run(&values, &mut src, n).map_err(|e| e.to_string())?;
        Ok(src)
    }

    fn answers(&self, tier: Tier, src: &[u8]) -> Result<Answers, String> {
        let plan = self.plan(tier, self.scheme.quotient)?;
        let (mut codes, mut scales) = (vec![0; plan.data_len()], vec![0; plan.scales_len()]);
        let report = plan.quantize_dynamic(src, &mut codes, &mut scales).map_err(|e| e.to_string())?;
        Ok(Answers { codes, scales, global: report.global })
    }

    fn row(&self, budget: Duration) -> Result<String, String> {
        let source = self.source()?;
        let want = self.answers(self.tier, &source)?;
        if source.len() < 1 << 22 && want != self.answers(Tier::Scalar, &source)? {
            return Err("the answer differs from that of the scalar tier".into());
        }
        let (exact, divide) =
            (self.plan(self.tier, self.scheme.quotient)?, self.plan(self.tier, Quotient::Divide)?);
        let n = exact.elements();
        let lens = [source.len(), exact.data_len(), exact.scales_len(), 4 * n];
        let mut pool = Pool::for_buffers(&lens);
        let [src, codes, scales, back] = pool.buffers(lens);
        src.copy_from_slice(&source);
        codes.copy_from_slice(&want.codes);
        scales.copy_from_slice(&want.scales);
        let (src, codes, scales, back) =
            (&*src, RefCell::new(codes), RefCell::new(scales), RefCell::new(back));
        let in_memory = n > 1 << 22;
        let traffic = |from: BufferType, to: BufferType| match in_memory {
            true => Traffic::streaming(self.tier, from, to),
            false => Traffic::new(self.tier, from, to),
        };
        let data = exact.data_type();
        let there = traffic(self.from.into(), data);
        let quantize = |plan: &ScaledPlan| -> Result<(), ScaledError> {
            plan.quantize_dynamic(src, &mut codes.borrow_mut(), &mut scales.borrow_mut()).map(|_| ())
        };
        let dequantize = |to: DType| -> Result<(), ScaledError> {
            let dst = &mut back.borrow_mut()[..n * to.size()];
            exact.dequantize(&codes.borrow(), &scales.borrow(), want.global, to, dst)
        };
        // All of them once, so that none of the timed calls can fail.
        quantize(&divide).and_then(|()| quantize(&exact)).map_err(|e| e.to_string())?;
        let targets = [DType::Float32, DType::BFloat16];
        targets.iter().try_for_each(|to| dequantize(*to)).map_err(|e| e.to_string())?;
        let backs = targets.map(|to| (traffic(data, to.into()), to));
        let mut contenders: Vec<Contender<'_>> = vec![
            Box::new(|calls| (0..calls).for_each(|_| there.run(black_box(src), &mut codes.borrow_mut()))),
            Box::new(|calls| (0..calls).for_each(|_| drop(black_box(quantize(&exact))))),
            Box::new(|calls| (0..calls).for_each(|_| drop(black_box(quantize(&divide))))),
        ];
        let (dequantize, codes, back) = (&dequantize, &codes, &back);
        for (traffic, to) in &backs {
            contenders.push(Box::new(move |calls| {
                let dst = &mut back.borrow_mut()[..n * to.size()];
                (0..calls).for_each(|_| traffic.run(black_box(&codes.borrow()), dst));
            }));
            contenders.push(Box::new(move |calls| (0..calls).for_each(|_| drop(black_box(dequantize(*to))))));
        }
        let effort = Effort { budget, min_rounds: 5, max_rounds: 400, turn: Duration::from_micros(300) };
        let rounds = measure(&mut contenders, &effort);
        // The scales are bytes, too.
        let more = |bytes: usize| (bytes + lens[2]) as f64 / bytes as f64;
        let fraction = |limit: usize, of: usize, bytes: usize| rounds.ratio(limit, of) * more(bytes);
        let each = |contender: usize| rounds.time(contender) / n as f64;
        Ok(format!(
            "{:8}{n:>9}  {:14}{:10}{:>9.2}{:>9.2}{:>9.3}{:>10.2}{:>9.2}{:>9.3}\n",
            self.tier.name(),
            self.name,
            self.from.name(),
            fraction(0, 1, lens[0] + lens[1]),
            fraction(0, 2, lens[0] + lens[1]),
            each(1),
            fraction(3, 4, lens[1] + 4 * n),
            fraction(5, 6, lens[1] + 2 * n),
            each(6),
        ))
    }
}
