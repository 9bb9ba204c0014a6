//! Asks the codes of a block whether they are lost, in plain loops that compilers make vector code of.
//!
//! A *lane* is a code, or a part of one, as an unsigned integer. Whether it is in a range is a mask, a subtraction and a
//! comparison; whether it is rounded in range is what [`Exactness`] says. There are three loops, and a block goes as far as it
//! has to:
//!
//! * [`suspect`] asks whether any lane may be lost: the least of all differences stands for the comparisons, so it takes few
//!   instructions. It may be wrong about a block that has lost nothing, not about one that has.
//! * [`count`] says exactly how many are.
//! * [`flags`] says which.
//!
//! Each tier compiles the first two for its own instructions ([`define_loops!`]); the scalar one has [`suspect_all`] for the first.

use super::{
    exactness::{Differs, Digits, Exactness, Fraction, Never, Rounds},
    lane::Lane,
    questions::{Answers, BITS, BOUNDS, ENDS, InRange, OVER, Questions, Shape},
};

/// The loops of a shape.
#[derive(Clone, Copy)]
pub(crate) struct Loops {
    pub(crate) suspect: SuspectFn,
    pub(crate) count: CountFn,
}

/// Whether any lane may be lost.
///
/// # Safety
///
/// As [`CountFn`].
pub(crate) type SuspectFn = unsafe fn(questions: &Questions, src: &[u8], back: &[u8]) -> bool;

/// Counts the lanes that are lost: reads `src` and, for [`Rounds::Differs`], as many bytes of `back`.
///
/// # Safety
///
/// The CPU has the tier of the function. For [`Rounds::Fraction`] and [`Rounds::Low`] the floating-point environment is the default.
pub(crate) type CountFn = unsafe fn(questions: &Questions, src: &[u8], back: &[u8], answers: &mut Answers);

/// A range with the numbers of a lane.
#[derive(Clone, Copy)]
struct Within<L> {
    mask: L,
    first: L,
    span: L,
}

impl<L: Lane> Within<L> {
    #[inline(always)]
    fn new(range: InRange) -> Self {
        Self {
            mask: L::from_word(range.mask),
            first: L::from_word(range.first),
            span: L::from_word(range.span),
        }
    }
    #[inline(always)]
    fn above_first(self, x: L) -> L {
        (x & self.mask).minus(self.first)
    }
    #[inline(always)]
    fn has(self, x: L) -> bool {
        self.above_first(x) < self.span
    }
}

/// Whether a lane of `src` may be in one of the ranges, or rounded.
#[inline(always)]
pub(crate) fn suspect<L: Lane, E: Exactness<L>, const RANGES: usize, const PAIRS: bool>(
    questions: &Questions,
    src: &[u8],
    back: &[u8],
) -> bool {
    let suspects = questions.suspects.map(Within::<L>::new);
    let exactness = E::new(questions.exactness);
    let magnitude = L::from_word(questions.magnitude);
    let step = L::BYTES << PAIRS as u32;
    // Without results to look at, the source stands in for them.
    let back = if E::LOOKS_BACK { back } else { src };
    let mut traces = L::ZERO;
    // The least difference of each range; or the extremes, which begin with what is inside.
    let mut least = match RANGES {
        ENDS => [L::ZERO; super::ranges::MOST],
        BOUNDS => suspects.map(|range| range.first),
        BITS | OVER => [L::ZERO; super::ranges::MOST],
        _ => [L::from_word(u64::MAX); super::ranges::MOST],
    };
    for (x, back) in src.chunks_exact(step).zip(back.chunks_exact(step)) {
        if PAIRS {
            traces = traces | L::read(&x[L::BYTES..]) & magnitude;
        }
        let (x, back) = (L::read(&x[..L::BYTES]), L::read(&back[..L::BYTES]));
        match RANGES {
            ENDS => {
                least[0] = least[0].signed_max(x);
                least[1] = least[1].max(x);
            }
            BOUNDS => {
                least[0] = least[0].signed_min(x);
                least[1] = least[1].signed_max(x);
            }
            // Those inside leave all bits above the number of them zero.
            BITS => least[0] = least[0] | x.minus(suspects[0].first),
            // Magnitudes have no sign, so that of the difference compares.
            OVER => least[0] = least[0] | suspects[0].first.minus(x & suspects[0].mask),
            _ => {
                for i in 0..RANGES {
                    least[i] = least[i].min(suspects[i].above_first(x));
                }
            }
        }
        traces = traces | exactness.trace(x, back);
    }
    let found = match RANGES {
        ENDS => !least[0].signed_less(suspects[0].first) | (least[1] >= suspects[1].first),
        BOUNDS => least[0].signed_less(suspects[0].first) | suspects[1].first.signed_less(least[1]),
        BITS => least[0] >= suspects[0].span,
        OVER => least[0].signed_less(L::ZERO),
        _ => suspects
            .iter()
            .zip(least)
            .take(RANGES)
            .fold(false, |any, (range, least)| any | (least < range.span)),
    };
    found | (traces != L::ZERO)
}

/// The reference suspects every block: what it counts is exact.
#[inline(always)]
pub(crate) fn suspect_all<L: Lane, E: Exactness<L>, const RANGES: usize, const PAIRS: bool>(
    _: &Questions,
    _: &[u8],
    _: &[u8],
) -> bool {
    true
}

/// Counts the lanes of `src` in each of the ranges, and the rounded ones in none.
#[inline(always)]
pub(crate) fn count<L: Lane, E: Exactness<L>, const PAIRS: bool>(
    questions: &Questions,
    src: &[u8],
    back: &[u8],
    answers: &mut Answers,
) {
    let ranges = questions.ranges.map(Within::<L>::new);
    let exactness = E::new(questions.exactness);
    let magnitude = L::from_word(questions.magnitude);
    let step = L::BYTES << PAIRS as u32;
    let chunk = L::AT_ONCE * L::BYTES;
    let back = if E::LOOKS_BACK { back } else { src };
    for (src, back) in src.chunks(chunk).zip(back.chunks(chunk)) {
        let (mut counts, mut imaginary, mut inexact) = ([L::ZERO; super::ranges::MOST], L::ZERO, L::ZERO);
        for (x, back) in src.chunks_exact(step).zip(back.chunks_exact(step)) {
            if PAIRS {
                imaginary = imaginary.plus(L::from(L::read(&x[L::BYTES..]) & magnitude != L::ZERO));
            }
            let (x, back) = (L::read(&x[..L::BYTES]), L::read(&back[..L::BYTES]));
            let mut hit = false;
            for (range, count) in ranges.iter().zip(&mut counts) {
                let has = range.has(x);
                *count = count.plus(L::from(has));
                hit |= has;
            }
            inexact = inexact.plus(L::from(exactness.inexact(x, back) & !hit));
        }
        for (sum, count) in answers.ranges.iter_mut().zip(counts) {
            *sum += count.word();
        }
        answers.imaginary += imaginary.word();
        answers.inexact += inexact.word();
    }
}

/// For each of up to 64 elements, the first lowest, whether it is lost: for blocks that are known to have such.
#[inline(never)]
pub(super) fn flags(shape: Shape, questions: &Questions, src: &[u8], back: &[u8]) -> u64 {
    match (shape.width, shape.exactness) {
        (1, Rounds::Digits) => flags_of::<u8, Digits<u8>>(shape, questions, src, back),
        (2, Rounds::Digits) => flags_of::<u16, Digits<u16>>(shape, questions, src, back),
        (4, Rounds::Digits) => flags_of::<u32, Digits<u32>>(shape, questions, src, back),
        (_, Rounds::Digits) => flags_of::<u64, Digits<u64>>(shape, questions, src, back),
        (1, Rounds::Differs) => flags_of::<u8, Differs<u8>>(shape, questions, src, back),
        (2, Rounds::Differs) => flags_of::<u16, Differs<u16>>(shape, questions, src, back),
        (4, Rounds::Differs) => flags_of::<u32, Differs<u32>>(shape, questions, src, back),
        (_, Rounds::Differs) => flags_of::<u64, Differs<u64>>(shape, questions, src, back),
        (4, Rounds::Fraction | Rounds::Low) => flags_of::<u32, Fraction<u32>>(shape, questions, src, back),
        (8, Rounds::Fraction | Rounds::Low) => flags_of::<u64, Fraction<u64>>(shape, questions, src, back),
        (1, _) => flags_of::<u8, Never>(shape, questions, src, back),
        (2, _) => flags_of::<u16, Never>(shape, questions, src, back),
        (4, _) => flags_of::<u32, Never>(shape, questions, src, back),
        (_, _) => flags_of::<u64, Never>(shape, questions, src, back),
    }
}

fn flags_of<L: Lane, E: Exactness<L>>(shape: Shape, questions: &Questions, src: &[u8], back: &[u8]) -> u64 {
    // Parts of complex numbers have four bytes or eight.
    if shape.pairs && L::BYTES >= 4 {
        flags_in::<L, E, true>(questions, src, back)
    } else {
        flags_in::<L, E, false>(questions, src, back)
    }
}

/// Lanes are brought to their places first: loops over a fixed number of them become vector code on every target.
fn flags_in<L: Lane, E: Exactness<L>, const PAIRS: bool>(
    questions: &Questions,
    src: &[u8],
    back: &[u8],
) -> u64 {
    let exactness = E::new(questions.exactness);
    let magnitude = L::from_word(questions.magnitude);
    let step = L::BYTES << PAIRS as u32;
    let (mut lanes, mut imaginary, mut returned) = ([L::ZERO; 64], [L::ZERO; 64], [L::ZERO; 64]);
    let n = (src.len() / step).min(64);
    for ((lane, imaginary), x) in lanes.iter_mut().zip(&mut imaginary).zip(src.chunks_exact(step)) {
        *lane = L::read(&x[..L::BYTES]);
        if PAIRS {
            *imaginary = L::read(&x[L::BYTES..]);
        }
    }
    if E::LOOKS_BACK {
        for (lane, x) in returned.iter_mut().zip(back.chunks_exact(step)) {
            *lane = L::read(&x[..L::BYTES]);
        }
    }
    let mut flags = [0_u8; 64];
    for i in 0..64 {
        flags[i] = exactness.inexact(lanes[i], returned[i]) as u8;
    }
    if PAIRS {
        for i in 0..64 {
            flags[i] |= (imaginary[i] & magnitude != L::ZERO) as u8;
        }
    }
    for range in questions.ranges.iter().filter(|range| range.span != 0) {
        let range = Within::<L>::new(*range);
        for i in 0..64 {
            flags[i] |= range.has(lanes[i]) as u8;
        }
    }
    // Lanes behind the last are none.
    flags[n..].fill(0);
    // Eight flags become eight bits by one multiplication, which brings each to its place in the highest byte.
    flags.as_chunks::<8>().0.iter().rev().fold(0, |bits, flags| {
        bits << 8 | u64::from_le_bytes(*flags).wrapping_mul(0x0102_0408_1020_4080) >> 56
    })
}

/// The loops of `$suspect` and `$count` for lanes and pairs, with a search of its own for each of `$ranges`; the others share that of the most.
macro_rules! pick_loops {
    ($shape:ident, $lane:ty, $suspect:ty, $count:ty, $pairs:literal, [$($ranges:expr),*]) => {
        $crate::loss::Loops {
            suspect: match $shape.ranges {
                $(ranges if ranges == $ranges => suspected::<$lane, $suspect, { $ranges }, $pairs>,)*
                _ => suspected::<$lane, $suspect, 4, $pairs>,
            },
            count: counted::<$lane, $count, $pairs>,
        }
    };
}
pub(crate) use pick_loops;

/// Makes `loops`, which finds those of a shape, with the features of a tier: [`count`], and [`suspect`] or what stands for it.
/// What is rarely asked shares the loops of more ranges.
macro_rules! define_loops {
    ($suspect:ident $(, #[$features:meta])?) => {
        /// # Safety
        ///
        /// As [`SuspectFn`](crate::loss::SuspectFn).
        $(#[$features])?
        unsafe fn suspected<
            L: crate::loss::Lane,
            E: crate::loss::Exactness<L>,
            const RANGES: usize,
            const PAIRS: bool,
        >(
            questions: &crate::loss::Questions,
            src: &[u8],
            back: &[u8],
        ) -> bool {
            crate::loss::$suspect::<L, E, RANGES, PAIRS>(questions, src, back)
        }

        /// # Safety
        ///
        /// As [`CountFn`](crate::loss::CountFn).
        $(#[$features])?
        unsafe fn counted<
            L: crate::loss::Lane,
            E: crate::loss::Exactness<L>,
            const PAIRS: bool,
        >(
            questions: &crate::loss::Questions,
            src: &[u8],
            back: &[u8],
            answers: &mut crate::loss::Answers,
        ) {
            crate::loss::count::<L, E, PAIRS>(questions, src, back, answers);
        }

        #[inline]
        pub(crate) fn loops(shape: crate::loss::Shape) -> crate::loss::Loops {
            use crate::loss::{
                BITS, BOUNDS, Differs, Digits, ENDS, Fraction, Low, Never, OVER, Rounds, pick_loops as pick,
            };
            match (shape.width, shape.exactness, shape.pairs) {
                (1, Rounds::Never, _) => pick!(shape, u8, Never, Never, false, [1, 2, BITS]),
                (2, Rounds::Never, _) => pick!(shape, u16, Never, Never, false, [1, 2, ENDS, BOUNDS, BITS]),
                (4, Rounds::Never, false) => pick!(shape, u32, Never, Never, false, [1, 2, ENDS, BOUNDS, BITS]),
                (_, Rounds::Never, false) => {
                    pick!(shape, u64, Never, Never, false, [1, 2, ENDS, BOUNDS, BITS, OVER])
                }
                (4, Rounds::Never, true) => pick!(shape, u32, Never, Never, true, [ENDS]),
                (_, Rounds::Never, true) => pick!(shape, u64, Never, Never, true, [ENDS]),
                (4, Rounds::Low, false) => pick!(shape, u32, Low<u32>, Fraction<u32>, false, [1]),
                (_, Rounds::Low, false) => pick!(shape, u64, Low<u64>, Fraction<u64>, false, [1]),
                (4, Rounds::Fraction, false) => {
                    pick!(shape, u32, Fraction<u32>, Fraction<u32>, false, [1, ENDS])
                }
                (_, Rounds::Fraction, false) => {
                    pick!(shape, u64, Fraction<u64>, Fraction<u64>, false, [ENDS, OVER])
                }
                (4, Rounds::Low | Rounds::Fraction, true) => {
                    pick!(shape, u32, Fraction<u32>, Fraction<u32>, true, [ENDS])
                }
                (_, Rounds::Low | Rounds::Fraction, true) => {
                    pick!(shape, u64, Fraction<u64>, Fraction<u64>, true, [ENDS])
                }
                (1, Rounds::Digits, _) => pick!(shape, u8, Digits<u8>, Digits<u8>, false, []),
                (2, Rounds::Digits, _) => pick!(shape, u16, Digits<u16>, Digits<u16>, false, []),
                (4, Rounds::Digits, _) => pick!(shape, u32, Digits<u32>, Digits<u32>, false, []),
                (_, Rounds::Digits, _) => pick!(shape, u64, Digits<u64>, Digits<u64>, false, []),
                (1, Rounds::Differs, _) => pick!(shape, u8, Differs<u8>, Differs<u8>, false, []),
                (2, Rounds::Differs, _) => pick!(shape, u16, Differs<u16>, Differs<u16>, false, [ENDS]),
                (4, Rounds::Differs, false) => pick!(shape, u32, Differs<u32>, Differs<u32>, false, [BOUNDS]),
                (4, Rounds::Differs, true) => pick!(shape, u32, Differs<u32>, Differs<u32>, true, []),
                (_, Rounds::Differs, false) => pick!(shape, u64, Differs<u64>, Differs<u64>, false, [BOUNDS]),
                (_, Rounds::Differs, true) => pick!(shape, u64, Differs<u64>, Differs<u64>, true, []),
            }
        }
    };
}
pub(crate) use define_loops;
