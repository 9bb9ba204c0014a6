//! `lossless.tsv`, the matrix of the pairs that keep every value, against what casts do; and the way back for those
//! that do.
//!
//! Sources of up to 16 bits are tested with every code, wider ones with the patterns that are hard to cast.

use crate::oracle;
use crate::oracle::format::{Class, class};
use crate::oracle::value::Value;
use crate::support::data::{dtype, rows};
use crate::support::{load, patterns, size, store};
use lanecast::{Bytes, BytesMut};
use lanecast::{CastOptions, CastPlan, DType, Saturate};

/// What became of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Fate {
    Kept,
    /// -0 became +0.
    ZeroSign,
    Lost,
}

/// The parts of an element; a real one has the imaginary part +0.
fn parts(dtype: DType, bits: u128) -> [Value; 2] {
    match class(dtype) {
        Class::Complex(part) => {
            let (re, im) = oracle::halves(part, bits);
            [oracle::value(part, re), oracle::value(part, im)]
        }
        _ => [oracle::value(dtype, bits), Value::integer(false, 0)],
    }
}

fn fate(before: Value, after: Value) -> Fate {
    match (before, after) {
        (Value::Nan(_), Value::Nan(_)) => Fate::Kept,
        (a, b) if a == b => Fate::Kept,
        (Value::Finite { magnitude: a, .. }, Value::Finite { magnitude: b, .. })
            if a.is_zero() && b.is_zero() =>
        {
            Fate::ZeroSign
        }
        _ => Fate::Lost,
    }
}

/// `source` cast by the crate. Nothing saturates: an infinity of an 8-bit float has to survive.
fn cast(from: DType, to: DType, source: &[u128]) -> Vec<u128> {
    let mut out = vec![0; source.len() * size(to)];
    let plan = CastPlan::new(from, to, &CastOptions::RUST.with_saturate(Saturate::Off)).expect("a plan");
    plan.run(Bytes::new(&store(from.into(), source), source.len()), BytesMut::new(&mut out, source.len()))
        .expect("the buffers fit");
    load(to.into(), &out, source.len())
}

/// The codes that are tried: all, if they are few.
fn source(from: DType, to: DType) -> Vec<u128> {
    match oracle::width(from) {
        width @ ..=16 => (0..1 << width.max(8)).collect(),
        _ => patterns::sources(from, to),
    }
}

/// The matrix: `1` every value is kept, `z` every one but -0, `.` some are lost.
fn matrix() -> Vec<(DType, DType, &'static str)> {
    let rows = rows(data!("lossless.tsv"));
    let (head, body) = rows.split_first().expect("a head");
    let row = |row: &Vec<&'static str>| -> Vec<_> {
        head[1..].iter().zip(&row[1..]).map(|(to, cell)| (dtype(row[0]), dtype(to), *cell)).collect()
    };
    body.iter().flat_map(row).collect()
}

#[test]
fn matrix_is_what_casts_do() {
    for (from, to, cell) in matrix() {
        let source = source(from, to);
        let result = cast(from, to, &source);
        let fates = source.iter().zip(&result).flat_map(|(&before, &after)| {
            let (before, after) = (parts(from, before), parts(to, after));
            [fate(before[0], after[0]), fate(before[1], after[1])]
        });
        let expected = match fates.max() {
            Some(Fate::Kept) => "1",
            Some(Fate::ZeroSign) => "z",
            _ => ".",
        };
        assert_eq!(cell, expected, "{from} -> {to}");
    }
}

/// A lossless cast and the cast back give the same bits; of a NaN they give a NaN.
#[test]
fn widen_then_narrow_is_the_identity() {
    for (from, to, _) in matrix().into_iter().filter(|(_, _, cell)| *cell == "1") {
        let source = source(from, to);
        let back = cast(to, from, &cast(from, to, &source));
        for (&bits, &back) in source.iter().zip(&back) {
            let bits = if from == DType::Bool { u128::from(bits != 0) } else { bits & oracle::mask(from) };
            let nan = parts(from, bits).iter().any(|part| matches!(part, Value::Nan(_)));
            let kept = || (0..2).all(|k| fate(parts(from, bits)[k], parts(from, back)[k]) == Fate::Kept);
            assert!(bits == back || nan && kept(), "{from} {bits:#x} -> {to} -> {back:#x}");
        }
    }
}
