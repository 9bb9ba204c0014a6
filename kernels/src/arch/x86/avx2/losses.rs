//! Looks for what casts lose, with the instructions of the tier.

use crate::loss::{Answers, Exactness, Lane, Questions, count, define_loops, suspect};

/// # Safety
///
/// As [`SuspectFn`](crate::loss::lanes::SuspectFn).
#[target_feature(enable = "avx,avx2,fma,f16c,bmi1,bmi2,lzcnt,popcnt")]
unsafe fn suspected<L: Lane, E: Exactness<L>, const RANGES: usize, const PAIRS: bool>(
    questions: &Questions,
    src: &[u8],
    back: &[u8],
) -> bool {
    suspect::<L, E, RANGES, PAIRS>(questions, src, back)
}

/// # Safety
///
/// As [`CountFn`](crate::loss::lanes::CountFn).
#[target_feature(enable = "avx,avx2,fma,f16c,bmi1,bmi2,lzcnt,popcnt")]
unsafe fn counted<L: Lane, E: Exactness<L>, const PAIRS: bool>(
    questions: &Questions,
    src: &[u8],
    back: &[u8],
    answers: &mut Answers,
) {
    count::<L, E, PAIRS>(questions, src, back, answers);
}

define_loops!();
