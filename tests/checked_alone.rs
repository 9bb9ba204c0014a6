//! What a cast loses is seen where nothing else is lost.
//!
//! A block is looked at closely only if a quick search suspects it. `tests/checked.rs` casts blocks in which much is lost, so
//! they are suspected whatever the search overlooks. Here every code is a cast of its own, with every combination of the
//! options that apply to the pair.

mod oracle;
mod support;

use lanecast::{DType, Level};
use oracle::loss::{Loss, losses};
use support::{check::Case, options, patterns, store, tiers::tiers};

/// Codes of a pair that are tried with the default options, and with each of the others.
const MOST: [usize; 2] = if cfg!(miri) { [4, 1] } else { [1000, 150] };

/// How many values of an element a counting cast counts, and how many a checked cast rejects.
fn numbers(lost: [Option<Loss>; 2], level: Level) -> (u64, u64) {
    let number = |of: fn(Loss) -> bool| {
        let all = lost.iter().flatten();
        all.filter(|loss| level == Level::Exact || of(**loss)).count() as u64
    };
    (number(|loss| loss != Loss::Inexact), number(Loss::is_out_of_range))
}

fn check(case: &Case<'_>, codes: &[u128]) {
    let (from, to) = (case.from.dtype(), case.to.dtype());
    let elements: Vec<_> = codes
        .iter()
        .map(|&code| {
            let lost = losses(from, to, case.options, code & oracle::mask(from));
            (code, store(case.from, &[code]), lost)
        })
        .collect();
    for &tier in tiers() {
        let case = Case { tier, ..*case };
        let plan = case.plan();
        let mut out = [0; 16];
        for level in [Level::Range, Level::Exact] {
            let (counted, checked) = (plan.counted(level), plan.checked(level));
            for (code, element, lost) in &elements {
                let (count, rejected) = numbers(*lost, level);
                let report = counted.run(element, &mut out, 1).expect("it fits");
                let counts: u64 = report.counts().iter().map(|(_, n)| n).sum();
                assert_eq!(
                    counts, count,
                    "{case}, {level:?}: {code:#x} counts as {report}, expected {lost:?}"
                );
                let result = checked.run(element, &mut out, 1);
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
            let mut all = patterns::sources(from, to);
            all.sort_unstable();
            all.dedup();
            for (i, options) in options::applicable(from, to).iter().enumerate() {
                // All codes of a byte.
                let most = if oracle::width(from) <= 8 && !cfg!(miri) { 256 } else { MOST[(i > 0) as usize] };
                let step = all.len().div_ceil(most).max(1) | 1;
                let codes: Vec<u128> = all.iter().copied().skip(i % step).step_by(step).collect();
                let case = Case { from: from.into(), to: to.into(), options, tier: tiers()[0] };
                check(&case, &codes);
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
