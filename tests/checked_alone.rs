//! What a cast loses is seen where nothing else is lost.
//!
//! A block is looked at closely only if a quick search suspects it. `tests/checked.rs` casts blocks in which much is lost, so
//! they are suspected whatever the search overlooks. Here every code is a cast of its own, with every combination of the
//! options that apply to the pair.

use crate::oracle;
use crate::oracle::loss::{Loss, losses};
use crate::support::{check::Case, options, patterns, store, tiers::tiers};
use lanecast::{Bytes, BytesMut, DType, Kind, Level};

/// An element, what it is in a buffer, and what is lost of it.
type Element = (u128, Vec<u8>, [Option<Loss>; 2]);

/// The codes on both sides of every place where what is lost changes, and some others. (What is only rounded changes at every
/// other code, and the parts of complex numbers are in no order; of those no more are taken.)
fn elements(case: &Case<'_>, all: &[u128], others: usize) -> Vec<Element> {
    let (from, to) = (case.from.dtype(), case.to.dtype());
    let lost: Vec<_> =
        all.iter().map(|code| losses(from, to, case.options, code & oracle::mask(from))).collect();
    let ordered = from.kind() != Kind::Complex;
    let label = |i: usize| lost[i][0].filter(|loss| *loss != Loss::Inexact);
    let step = all.len().div_ceil(others) | 1;
    (0..all.len())
        .filter(|&i| {
            let near = [i.saturating_sub(1), (i + 1).min(all.len() - 1)];
            i % step == 0 || ordered && near.iter().any(|&near| label(near) != label(i))
        })
        .map(|i| (all[i], store(case.from, &all[i..=i]), lost[i]))
        .collect()
}

/// How many values of an element a counting cast counts, and how many a checked cast rejects.
fn numbers(lost: [Option<Loss>; 2], level: Level) -> (u64, u64) {
    let number = |of: fn(Loss) -> bool| {
        let all = lost.iter().flatten();
        all.filter(|loss| level == Level::Exact || of(**loss)).count() as u64
    };
    let counted = number(|loss| loss != Loss::Inexact);
    (counted, if level == Level::Range { number(Loss::is_out_of_range) } else { counted })
}

fn check(case: &Case<'_>, elements: &[Element]) {
    for &tier in tiers() {
        let case = Case { tier, ..*case };
        let plan = case.plan();
        let mut out = [0; 16];
        for level in [Level::Range, Level::Underflow, Level::Exact] {
            let (counted, checked) = (plan.checked(level), plan.checked(level));
            for (code, element, lost) in elements {
                let (count, rejected) = numbers(*lost, level);
                let report =
                    counted.run_counted(Bytes::new(element, 1), BytesMut::new(&mut out, 1)).expect("it fits");
                let counts: u64 = report.counts().iter().map(|(_, n)| n).sum();
                assert_eq!(
                    counts, count,
                    "{case}, {level:?}: {code:#x} counts as {report}, expected {lost:?}"
                );
                let result = checked.run(Bytes::new(element, 1), BytesMut::new(&mut out, 1));
                assert_eq!(
                    result.is_err(),
                    rejected > 0,
                    "{case}, {level:?}: {code:#x}, {lost:?}: {result:?}"
                );
            }
        }
    }
}

/// Every `nth` dtype as a source, so that the tests share the work of the cores.
fn check_sources(nth: usize, of: usize) {
    for &from in DType::ALL.iter().skip(nth).step_by(of) {
        for &to in DType::ALL {
            let sorted = |mut codes: Vec<u128>| {
                codes.sort_unstable();
                codes.dedup();
                codes
            };
            let all = sorted(patterns::sources(from, to));
            // Where more than one option differs from its default, a sample, and the ends of the range of the target.
            let few = match oracle::width(from) {
                0..=8 => all.clone(),
                _ => sorted(all.iter().copied().step_by(11).chain(patterns::edges(from, to)).collect()),
            };
            for (i, options) in options::applicable(from, to).iter().enumerate() {
                let case = Case { from: from.into(), to: to.into(), options, tier: tiers()[0] };
                let codes = if options::changed(options) > 1 { &few } else { &all };
                check(&case, &elements(&case, codes, if i == 0 { 1000 } else { 150 }));
            }
        }
    }
}

#[test]
fn first_sources() {
    check_sources(0, 4);
}

#[test]
fn second_sources() {
    check_sources(1, 4);
}

#[test]
fn third_sources() {
    check_sources(2, 4);
}

#[test]
fn fourth_sources() {
    check_sources(3, 4);
}
