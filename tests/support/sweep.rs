//! All 2^32 codes of a source of 32 bits, compared at the speed of memory.
//!
//! The oracle is far too slow to be asked four thousand million times, but it need not be: within a *segment* of
//! codes (one sign and one binade of a float, one sign of an integer) a rounding cast is monotone by definition, so
//! the places where its answer changes are found by bisection and the expected output is a list of runs. Casts that
//! wrap are not monotone; for them the rule of the specification is evaluated for every code by a function that is
//! short enough to be read, and compared with the oracle at random places, as the runs are.

use super::check::Case;
use super::{THREADS, rng::Rng, say, size, store, tiers::tiers};
use crate::oracle;
use lanecast::{Bytes, BytesMut};
use lanecast::{CastOptions, CastPlan, DType, IntRound};
use std::sync::atomic::{AtomicUsize, Ordering};

/// Codes of one call of a plan.
const BLOCK: usize = 1 << 14;
/// Blocks of all codes.
const BLOCKS: usize = ((1_u64 << 32) / BLOCK as u64) as usize;

/// One target with its options and what is expected of it.
pub struct Rule {
    to: DType,
    options: CastOptions,
    expected: Expected,
    plans: Vec<CastPlan>,
}

enum Expected {
    /// First code and answer of each run.
    Runs(Vec<(u32, u16)>),
    /// The low bits of the answer to each code.
    Direct(Direct),
}

/// The low bits of an integer answer.
pub type Direct = fn(u32, IntRound) -> u16;

impl Rule {
    /// The answer changes monotonically in each of the segments (first and last code), which cover all codes in
    /// order.
    pub fn monotone(from: DType, to: DType, options: CastOptions, segments: &[(u32, u32)]) -> Rule {
        let answer = |code: u32| oracle::cast(from, to, &options, code.into()) as u16;
        let mut runs: Vec<(u32, u16)> = Vec::new();
        for &(first, last) in segments {
            bisect((first, answer(first)), (last, answer(last)), &answer, &mut runs);
        }
        runs.dedup_by_key(|(_, answer)| *answer);
        Rule::new(from, to, options, Expected::Runs(runs))
    }

    /// The answer is given by a function.
    pub fn direct(from: DType, to: DType, options: CastOptions, direct: Direct) -> Rule {
        Rule::new(from, to, options, Expected::Direct(direct))
    }

    fn new(from: DType, to: DType, options: CastOptions, expected: Expected) -> Rule {
        let plan = |tier| CastPlan::with_tier(from, to, &options, tier).expect("a plan");
        let rule = Rule { to, options, expected, plans: tiers().iter().map(|tier| plan(*tier)).collect() };
        let mut rng = Rng(u64::from(to.code()));
        for _ in 0..20_000 {
            // Half of them near a seam or in an extreme binade.
            let code = rng.bits() as u32 & if rng.below(2) == 0 { !0 } else { 0xFF80_0001 };
            let expected = oracle::cast(from, to, &options, code.into());
            assert_eq!(
                u128::from(rule.at(code)),
                expected,
                "{from} {code:#010x} -> {to}: the shortcut is wrong"
            );
        }
        rule
    }

    fn mask(&self) -> u16 {
        oracle::mask(self.to) as u16
    }

    /// What is expected of one code.
    fn at(&self, code: u32) -> u16 {
        match &self.expected {
            Expected::Runs(runs) => runs[runs.partition_point(|(first, _)| *first <= code) - 1].1,
            Expected::Direct(direct) => direct(code, self.options.int_round) & self.mask(),
        }
    }

    /// What is expected of the block that starts at `first`.
    fn fill(&self, first: u32, low: &mut LowBits, out: &mut Vec<u8>) {
        out.clear();
        match &self.expected {
            Expected::Runs(runs) => {
                let mut k = runs.partition_point(|(start, _)| *start <= first) - 1;
                let mut done = 0;
                while done < BLOCK {
                    let end =
                        runs.get(k + 1).map_or(BLOCK, |(start, _)| ((start - first) as usize).min(BLOCK));
                    let answer = runs[k].1;
                    match size(self.to) {
                        1 => out.resize(end, answer as u8),
                        _ => out.extend(std::iter::repeat_n(answer.to_ne_bytes(), end - done).flatten()),
                    }
                    (done, k) = (end, k + 1);
                }
            }
            Expected::Direct(direct) => {
                let (mask, low) = (self.mask(), low.of(first, *direct, self.options.int_round));
                match size(self.to) {
                    1 => out.extend(low.iter().map(|bits| (bits & mask) as u8)),
                    _ => out.extend(low.iter().flat_map(|bits| bits.to_ne_bytes())),
                }
            }
        }
    }
}

/// Runs from `low` on to `high`; equal ends have nothing else between them.
fn bisect(low: (u32, u16), high: (u32, u16), answer: &impl Fn(u32) -> u16, runs: &mut Vec<(u32, u16)>) {
    if low.1 == high.1 {
        runs.push(low);
    } else if high.0 - low.0 == 1 {
        runs.extend([low, high]);
    } else {
        let middle = low.0 + (high.0 - low.0) / 2;
        let middle = (middle, answer(middle));
        bisect(low, middle, answer, runs);
        bisect(middle, high, answer, runs);
    }
}

/// The low bits of the wrapped answers of a block, which all integer targets of one rounding share.
#[derive(Default)]
struct LowBits {
    first: u32,
    of: Vec<(IntRound, Vec<u16>)>,
}

impl LowBits {
    fn of(&mut self, first: u32, direct: Direct, round: IntRound) -> &[u16] {
        if self.first != first {
            (self.first, self.of) = (first, Vec::new());
        }
        let known = self.of.iter().position(|(of, _)| *of == round);
        let place = known.unwrap_or_else(|| {
            self.of.push((round, (0..BLOCK as u32).map(|k| direct(first + k, round)).collect()));
            self.of.len() - 1
        });
        &self.of[place].1
    }
}

/// Compares every `nth` block of codes of `from`, on all tiers and over all cores.
pub fn run(from: DType, rules: &[Rule], nth: usize) {
    let next = AtomicUsize::new(0);
    let start = std::time::Instant::now();
    let sweep = || {
        let mut low = LowBits::default();
        let (mut want, mut got, mut src) = (Vec::new(), vec![0; 2 * BLOCK], vec![0; 4 * BLOCK]);
        loop {
            let block = next.fetch_add(1, Ordering::Relaxed) * nth;
            if block >= BLOCKS {
                break;
            }
            if nth == 1 && block.is_multiple_of(BLOCKS / 16) {
                say(&format!("{from}: {}/16 after {:?}", block / (BLOCKS / 16), start.elapsed()));
            }
            let first = (block * BLOCK) as u32;
            for (k, bytes) in src.chunks_exact_mut(4).enumerate() {
                bytes.copy_from_slice(&(first + k as u32).to_ne_bytes());
            }
            for rule in rules {
                rule.fill(first, &mut low, &mut want);
                for plan in &rule.plans {
                    let got = &mut got[..want.len()];
                    plan.run(Bytes::new(&src, BLOCK), BytesMut::new(got, BLOCK)).expect("the buffers fit");
                    if got != want {
                        fail(rule, plan, first, got);
                    }
                }
            }
        }
    };
    if !THREADS {
        return sweep();
    }
    let threads = std::thread::available_parallelism().map_or(1, |n| n.get());
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(sweep);
        }
    });
}

/// Panics with the wrong elements of a block.
fn fail(rule: &Rule, plan: &CastPlan, first: u32, got: &[u8]) -> ! {
    let case = Case { from: plan.source(), to: plan.target(), options: &rule.options, tier: plan.tier() };
    let source: Vec<u128> = (0..BLOCK as u32).map(|k| (first + k).into()).collect();
    let expected: Vec<u128> = (0..BLOCK as u32).map(|k| rule.at(first + k).into()).collect();
    debug_assert_eq!(store(rule.to.into(), &expected).len(), got.len());
    panic!("{}", case.complaint(&source, got, &expected))
}
