//! Counts what casts lose, with the instructions of the tier.

use crate::loss::{Answers, Exactness, Lane, Questions, count, define_count};

/// # Safety
///
/// As [`CountFn`](crate::loss::CountFn).
#[target_feature(enable = "avx,avx2,fma,f16c,bmi1,bmi2,lzcnt,popcnt")]
unsafe fn counted<L: Lane, E: Exactness<L>, const N: usize, const PAIRS: bool>(
    questions: &Questions,
    src: &[u8],
    back: &[u8],
    answers: &mut Answers,
) {
    count::<L, E, N, PAIRS>(questions, src, back, answers);
}

define_count!();
