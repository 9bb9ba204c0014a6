//! Scaled casts: the time of pure traffic for the bytes moved, divided by that of the cast.
//!
//! Contenders take turns in one process. Within the second cache the traffic loop uses ordinary stores, in memory streaming ones. Answers
//! of the tier are compared with those of the scalar one first. Their instructions are counted in `count::scaled`.

use crate::{
    dimensions::{self, Amount},
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
    Bytes, BytesMut, CastOptions, CastPlan, DType, Encoding, Tier,
    scaled::{Quantized, Quotient, ScaledError, ScaledPlan, Scheme},
    tier,
};
use serde_json::json;
use std::{cell::RefCell, hint::black_box, time::Duration};

/// The schemes that are measured and counted if none is asked for, with the names of their codes.
pub(crate) const SCHEMES: &[(&str, Scheme)] = &[
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
pub(crate) const COLUMNS: usize = 1024;

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

/// A table for every tier and size, with a row for every scheme.
///
/// # Errors
///
/// If an answer differs from the scalar tier's.
pub fn tables(selection: &Selection<'_>) -> Result<Measured, String> {
    let mut tables = Vec::new();
    for &tier in selection.tiers {
        for &size in selection.sizes {
            let mut table = Table {
                name: format!("Scaled casts, {tier}, {size} Ki elements"),
                note: NOTE.into(),
                columns: COLUMN_NAMES.iter().map(|name| (*name).to_owned()).collect(),
                rows: Vec::new(),
            };
            for (name, scheme) in SCHEMES {
                if selection.scheme.is_some_and(|part| !name.contains(part)) {
                    continue;
                }
                let rows = [DType::Float32, DType::BFloat16].map(|from| {
                    let cell = Cell { tier, scheme, from, shape: [(size << 10) / COLUMNS, COLUMNS] };
                    let effort = Effort {
                        budget: selection.budget,
                        min_rounds: 5,
                        max_rounds: 400,
                        turn: Duration::from_micros(300),
                    };
                    cell.row(&effort).map_err(|e| format!("{name} of {from} on {tier}: {e}"))
                });
                let [float32, bfloat16] = rows;
                let (float32, bfloat16) = (float32?, bfloat16?);
                // Dequantization does not depend on the source.
                let figures = [
                    float32.quantize.fraction,
                    float32.divide.fraction,
                    float32.quantize.nanoseconds,
                    bfloat16.quantize.fraction,
                    bfloat16.quantize.nanoseconds,
                    bfloat16.to_float32.fraction,
                    bfloat16.to_float32.nanoseconds,
                    bfloat16.to_bfloat16.fraction,
                    bfloat16.to_bfloat16.nanoseconds,
                ];
                let figures = figures.iter().map(|figure| json!(round(*figure)));
                table.rows.push([json!(name)].into_iter().chain(figures).collect());
            }
            tables.push(table);
        }
    }
    Ok(Measured { machine: Machine::detect(), tables })
}

/// The rows of the dimension: quantization of two sources and dequantization to both, in the second cache on every tier and in memory on
/// the strongest. The baseline is the plain cast between the same encodings.
///
/// # Errors
///
/// If an answer differs from the scalar tier's.
pub(crate) fn rows(amount: &Amount) -> Result<Vec<dimensions::Row>, String> {
    let mut rows = Vec::new();
    for (name, scheme) in amount.of(SCHEMES, 2) {
        for &tier in &amount.tiers {
            let in_memory = !amount.short && tier == amount.strongest();
            let sizes = [("l2", 96_usize), ("dram", 12 << 10)];
            for &(size, kilo) in &sizes[..1 + usize::from(in_memory)] {
                for from in [DType::Float32, DType::BFloat16] {
                    let kilo = if amount.short { 16 } else { kilo };
                    let cell = Cell { tier, scheme, from, shape: [(kilo << 10) / COLUMNS, COLUMNS] };
                    let effort = amount.effort(60, 100);
                    let effort = Effort { min_rounds: effort.min_rounds.min(3), ..effort };
                    let row = cell.row(&effort).map_err(|e| format!("{name} of {from} on {tier}: {e}"))?;
                    let mut put = |cast: &str, speed: &Speed| {
                        rows.push(dimensions::Row {
                            at: vec![(*name).into(), tier.name().into(), size.into(), cast.into()],
                            ns: speed.nanoseconds,
                            ratio: Some(speed.plain),
                            fraction: speed.fraction,
                        });
                    };
                    put(&format!("from {from}"), &row.quantize);
                    put(&format!("from {from}, rounded quotients"), &row.divide);
                    // Dequantization does not depend on the source.
                    if from == DType::BFloat16 {
                        put("to float32", &row.to_float32);
                        put("to bfloat16", &row.to_bfloat16);
                    }
                }
            }
        }
    }
    Ok(rows)
}

const NOTE: &str = "Fractions of pure traffic for the elements, codes and scales, and nanoseconds per element. Divide rounds quotients to \
                    float32 first.";
const COLUMN_NAMES: [&str; 10] = [
    "scheme",
    "from float32",
    "Divide",
    "ns",
    "from bfloat16",
    "ns",
    "to float32",
    "ns",
    "to bfloat16",
    "ns",
];

/// How quick a cast is.
struct Speed {
    /// The time of pure traffic divided by that of the cast.
    fraction: f64,
    /// Per element.
    nanoseconds: f64,
    /// The time divided by that of the plain cast between the same encodings.
    plain: f64,
}

/// The casts of a scheme.
struct Row {
    quantize: Speed,
    /// With quotients rounded to float32 first.
    divide: Speed,
    to_float32: Speed,
    to_bfloat16: Speed,
}

/// A scheme for a tensor on a tier.
pub(crate) struct Cell<'a> {
    pub(crate) tier: Tier,
    pub(crate) scheme: &'a Scheme,
    pub(crate) from: DType,
    pub(crate) shape: [usize; 2],
}

impl Cell<'_> {
    pub(crate) fn plan(&self, tier: Tier, quotient: Quotient) -> Result<ScaledPlan, String> {
        tier::force(Some(tier)).map_err(|e| e.to_string())?;
        let scheme = self.scheme.with_quotient(quotient);
        ScaledPlan::new(self.from, &scheme, &self.shape).map_err(|e| e.to_string())
    }

    /// Numbers of a bell curve, as weights are.
    pub(crate) fn source(&self) -> Result<Vec<u8>, String> {
        let n = self.shape[0] * self.shape[1];
        let mut state = 0x9E37_79B9_7F4A_7C15_u64;
        let mut uniform = || {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            (state >> 40) as f32 / (1 << 24) as f32 - 0.5
        };
        let values: Vec<f32> = (0..n).map(|_| uniform() + uniform() + uniform() + uniform()).collect();
        let cast = CastPlan::new(DType::Float32, self.from, &CastOptions::RUST).map_err(|e| e.to_string())?;
        let mut src = vec![0; n * self.from.size()];
        cast.run(&values, BytesMut::new(&mut src, n)).map_err(|e| e.to_string())?;
        Ok(src)
    }

    pub(crate) fn answers(&self, tier: Tier, src: &[u8]) -> Result<Quantized, String> {
        let plan = self.plan(tier, self.scheme.quotient)?;
        let mut answers = plan.alloc();
        plan.quantize(Bytes::new(src, plan.elements()), &mut answers).map_err(|e| e.to_string())?;
        Ok(answers)
    }

    /// What dequantization to both sources gives on a tier.
    fn backs(&self, tier: Tier, q: &Quantized) -> Result<[Vec<u8>; 2], String> {
        let plan = self.plan(tier, self.scheme.quotient)?;
        let n = plan.elements();
        let back = |to: DType| {
            let mut back = vec![0; n * to.size()];
            plan.with_output(to).dequantize(q, BytesMut::new(&mut back, n)).map_err(|e| e.to_string())?;
            Ok(back)
        };
        let [wide, narrow] = [DType::Float32, DType::BFloat16].map(back);
        wide.and_then(|wide| Ok([wide, narrow?]))
    }

    fn row(&self, effort: &Effort) -> Result<Row, String> {
        let row = self.row_by_force(effort);
        tier::force(None).map_err(|e| e.to_string())?;
        row
    }

    /// As [`row`](Self::row), and leaves the tier forced.
    fn row_by_force(&self, effort: &Effort) -> Result<Row, String> {
        let source = self.source()?;
        let want = self.answers(self.tier, &source)?;
        if want != self.answers(Tier::Scalar, &source)?
            || self.backs(self.tier, &want)? != self.backs(Tier::Scalar, &want)?
        {
            return Err("the answer differs from that of the scalar tier".into());
        }
        let (exact, divide) =
            (self.plan(self.tier, self.scheme.quotient)?, self.plan(self.tier, Quotient::Divide)?);
        let [wide, narrow] = [DType::Float32, DType::BFloat16].map(|to| exact.with_output(to));
        let n = exact.elements();
        let lens = [source.len(), exact.data_len(), exact.scales_len(), 4 * n];
        let mut pool = Pool::for_buffers(&lens);
        let [src, codes, scales, back] = pool.buffers(lens);
        src.copy_from_slice(&source);
        codes.copy_from_slice(&want.data);
        scales.copy_from_slice(&want.scales);
        let (src, codes, scales, back) =
            (&*src, RefCell::new(codes), RefCell::new(scales), RefCell::new(back));
        let in_memory = n > 1 << 22;
        let traffic = |from: Encoding, to: Encoding| match in_memory {
            true => Traffic::streaming(self.tier, from, to),
            false => Traffic::new(self.tier, from, to),
        };
        let data = exact.data_encoding();
        let there = traffic(self.from.into(), data);
        let quantize = |plan: &ScaledPlan| -> Result<(), ScaledError> {
            let (mut codes, mut scales) = (codes.borrow_mut(), scales.borrow_mut());
            let mut q = Quantized::new(&mut **codes, &mut **scales);
            plan.quantize(Bytes::new(src, n), &mut q).map(|_| ())
        };
        let dequantize = |to: DType| -> Result<(), ScaledError> {
            let (codes, scales, mut back) = (codes.borrow(), scales.borrow(), back.borrow_mut());
            let q = Quantized { global: want.global, ..Quantized::new(&**codes, &**scales) };
            let dst = BytesMut::new(&mut back[..n * to.size()], n);
            if to == DType::BFloat16 { narrow.dequantize(&q, dst) } else { wide.dequantize(&q, dst) }
        };
        // All of them once, so that none of the timed calls can fail.
        quantize(&divide).and_then(|()| quantize(&exact)).map_err(|e| e.to_string())?;
        let targets = [DType::Float32, DType::BFloat16];
        targets.iter().try_for_each(|to| dequantize(*to)).map_err(|e| e.to_string())?;
        let plain = |from: Encoding, to: Encoding| {
            CastPlan::with_tier(from, to, &CastOptions::RUST, self.tier).map_err(|e| e.to_string())
        };
        let plain_there = plain(self.from.into(), data)?;
        let backs = targets.map(|to| Ok((traffic(data, to.into()), plain(data, to.into())?, to)));
        let backs = backs.into_iter().collect::<Result<Vec<_>, String>>()?;
        let mut contenders: Vec<Contender<'_>> = vec![
            Box::new(|calls| (0..calls).for_each(|_| there.run(black_box(src), &mut codes.borrow_mut()))),
            Box::new(|calls| (0..calls).for_each(|_| drop(black_box(quantize(&exact))))),
            Box::new(|calls| (0..calls).for_each(|_| drop(black_box(quantize(&divide))))),
            Box::new(|calls| {
                for _ in 0..calls {
                    let dst = &mut codes.borrow_mut();
                    drop(black_box(plain_there.run(Bytes::new(black_box(src), n), BytesMut::new(dst, n))));
                }
            }),
        ];
        let (dequantize, codes, back) = (&dequantize, &codes, &back);
        for (traffic, plain, to) in &backs {
            contenders.push(Box::new(move |calls| {
                let dst = &mut back.borrow_mut()[..n * to.size()];
                (0..calls).for_each(|_| traffic.run(black_box(&codes.borrow()), dst));
            }));
            contenders.push(Box::new(move |calls| (0..calls).for_each(|_| drop(black_box(dequantize(*to))))));
            contenders.push(Box::new(move |calls| {
                for _ in 0..calls {
                    let (codes, dst) = (codes.borrow(), &mut back.borrow_mut()[..n * to.size()]);
                    drop(black_box(plain.run(Bytes::new(black_box(&codes), n), BytesMut::new(dst, n))));
                }
            }));
        }
        let rounds: Rounds = measure(&mut contenders, effort);
        // The scales are bytes, too.
        let more = |bytes: usize| (bytes + lens[2]) as f64 / bytes as f64;
        let speed = |[limit, of, plain]: [usize; 3], bytes: usize| Speed {
            fraction: rounds.ratio(limit, of) * more(bytes),
            nanoseconds: rounds.time(of) / n as f64,
            plain: rounds.ratio(of, plain),
        };
        Ok(Row {
            quantize: speed([0, 1, 3], lens[0] + lens[1]),
            divide: speed([0, 2, 3], lens[0] + lens[1]),
            to_float32: speed([4, 5, 6], lens[1] + 4 * n),
            to_bfloat16: speed([7, 8, 9], lens[1] + 2 * n),
        })
    }
}
