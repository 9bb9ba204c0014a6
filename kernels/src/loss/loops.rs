//! Asks the codes of a block whether they are lost, in plain loops that compilers make vector code of.
//!
//! A *lane* is a code, or a part of one, as an unsigned integer. Whether it is in a range is a mask, a subtraction and a
//! comparison; whether it is rounded in range is what the other [`Question`]s say. There are two loops, and a block goes as far
//! as it has to:
//!
//! * [`suspect`] asks whether any lane may be lost: the least of all differences stands for the comparisons, so it takes few
//!   instructions. It may be wrong about a block that has lost nothing, not about one that has.
//! * [`test`] says which lanes a range has, or which are rounded, as one bit each. [`Loops::answers`] asks for one range after
//!   the other, so the same few loops serve all pairs; counts are numbers of bits.
//!
//! Each tier compiles them for its own instructions ([`define_loops!`]); the scalar one has [`suspect_all`] for the first.

use super::{
    exactness::{Question, Rounds, Test, Trace, Within},
    lane::Lane,
    questions::{Answers, BITS, BOUNDS, ENDS, InRange, MOST_LANES, OVER, Questions, Shape},
    ranges::MOST,
};
use crate::fpenv;

/// The loops of a shape.
#[derive(Clone, Copy)]
pub(crate) struct Loops {
    pub(crate) suspect: SuspectFn,
    /// Which lanes are in a range.
    pub(crate) within: TestFn,
    /// Which lanes are rounded, if they are in no range.
    pub(crate) rounded: TestFn,
    /// Whether any of them has instructions that obey the floating-point environment.
    pub(crate) obeys_environment: bool,
}

/// Whether any lane may be lost.
///
/// # Safety
///
/// As [`TestFn`].
pub(crate) type SuspectFn = unsafe fn(questions: &Questions, src: &[u8], back: &[u8]) -> bool;

/// Tests the lanes of `src` and, for [`Rounds::Differs`], as many of `back`: the first 64 become the first of `bits`, the first
/// of them its lowest bit, and so on. Bits behind the last lane are zero.
///
/// # Safety
///
/// The CPU has the tier of the function. If the loops obey the floating-point environment, it is the default.
pub(crate) type TestFn = unsafe fn(numbers: [u64; 4], src: &[u8], back: &[u8], bits: &mut [u64]);

/// Whether a lane of `src` may be in one of the ranges, or rounded.
#[inline(always)]
pub(crate) fn suspect<L: Lane, E: Trace<L>, const RANGES: usize, const PAIRS: bool>(
    questions: &Questions,
    src: &[u8],
    back: &[u8],
) -> bool {
    let suspects = questions.suspects.map(|range| Within::<L>::new(range.numbers()));
    let exactness = E::new(questions.exactness);
    let magnitude = L::from_word(questions.magnitude);
    let step = L::BYTES << PAIRS as u32;
    // Without results to look at, the source stands in for them.
    let back = if E::LOOKS_BACK { back } else { src };
    let mut traces = L::ZERO;
    // The least difference of each range; or the extremes, which begin with what is inside.
    let mut least = match RANGES {
        ENDS => [L::ZERO; MOST],
        BOUNDS => suspects.map(|range| range.first),
        BITS | OVER => [L::ZERO; MOST],
        _ => [L::from_word(u64::MAX); MOST],
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
pub(crate) fn suspect_all<L: Lane, E: Trace<L>, const RANGES: usize, const PAIRS: bool>(
    _: &Questions,
    _: &[u8],
    _: &[u8],
) -> bool {
    true
}

/// Tests lanes, as [`TestFn`] says.
#[inline(always)]
pub(crate) fn test<L: Lane, T: Test<L>>(numbers: [u64; 4], src: &[u8], back: &[u8], bits: &mut [u64]) {
    let test = T::new(numbers);
    let line = 64 * L::BYTES;
    // Without results to look at, the source stands in for them.
    let back = if T::LOOKS_BACK { back } else { src };
    for ((x, back), bits) in src.chunks(line).zip(back.chunks(line)).zip(bits) {
        let len = x.len();
        let padded: [[u8; 64 * size_of::<u64>()]; 2];
        let (x, back) = if len == line {
            (x, back)
        } else {
            padded = [x, back].map(|bytes| {
                let mut padded = [0; 64 * size_of::<u64>()];
                padded[..len].copy_from_slice(&bytes[..len]);
                padded
            });
            (&padded[0][..line], &padded[1][..line])
        };
        // Loops over a fixed number of lanes become vector code on every target.
        let mut flags = [0_u8; 64];
        for i in 0..64 {
            let [x, back] = [x, back].map(|bytes| L::read(&bytes[i * L::BYTES..][..L::BYTES]));
            flags[i] = test.holds(x, back) as u8;
        }
        // Eight flags become eight bits by one multiplication, which brings each to its place in the highest byte.
        let all = flags.as_chunks::<8>().0.iter().rev().fold(0, |bits, flags| {
            bits << 8 | u64::from_le_bytes(*flags).wrapping_mul(0x0102_0408_1020_4080) >> 56
        });
        *bits = all & u64::MAX >> (64 - len / L::BYTES);
    }
}

impl Loops {
    /// Which lanes of a block are lost and, if they are `counted`, how many in which way.
    ///
    /// # Safety
    ///
    /// As [`TestFn`].
    #[inline(never)]
    pub(super) unsafe fn answers(
        &self,
        shape: Shape,
        questions: &Questions,
        (src, back): (&[u8], &[u8]),
        counted: bool,
    ) -> Answers {
        let mut answers =
            Answers { ranges: [0; MOST], imaginary: 0, inexact: 0, flags: [0; MOST_LANES / 64] };
        let words = (src.len() / shape.width).div_ceil(64).min(MOST_LANES / 64);
        let lost = &mut answers.flags[..words];
        let mut bits = [0; MOST_LANES / 64];
        let bits = &mut bits[..words];
        // The lanes that are cast.
        let cast = if shape.pairs { u64::MAX / 3 } else { u64::MAX };
        let mut add = |lanes: u64, bits: &[u64]| {
            let mut n = 0;
            for (lost, bits) in lost.iter_mut().zip(bits) {
                let new = bits & lanes & !*lost;
                if counted {
                    n += u64::from(new.count_ones());
                }
                *lost |= new;
            }
            n
        };
        for (range, n) in
            questions.ranges.iter().zip(&mut answers.ranges).filter(|(range, _)| range.span != 0)
        {
            // SAFETY: the caller's promise.
            unsafe { fpenv::opaque(self.within)(range.numbers(), src, back, bits) };
            *n = add(cast, bits);
        }
        if shape.exactness != Rounds::Never {
            // SAFETY: the caller's promise.
            unsafe { fpenv::opaque(self.rounded)(questions.exactness, src, back, bits) };
            answers.inexact = add(cast, bits);
        }
        if shape.pairs {
            let any = InRange { mask: questions.magnitude, first: 1, span: questions.magnitude };
            // SAFETY: the caller's promise.
            unsafe { fpenv::opaque(self.within)(any.numbers(), src, back, bits) };
            answers.imaginary = add(!cast, bits);
        }
        answers
    }
}

/// The loops of `$suspect` and `$test` for lanes and pairs, with a search of its own for each of `$ranges`; the others share that of the most.
macro_rules! pick_loops {
    ($shape:ident, $lane:ty, $suspect:ty, $test:ty, $pairs:literal, [$($ranges:expr),*]) => {
        $crate::loss::Loops {
            suspect: match $shape.ranges {
                $(ranges if ranges == $ranges => suspected::<$lane, $suspect, { $ranges }, $pairs>,)*
                _ => suspected::<$lane, $suspect, 4, $pairs>,
            },
            within: tested::<$lane, Within<$lane>>,
            rounded: tested::<$lane, $test>,
            obeys_environment: <Within<$lane> as Question<$lane>>::OBEYS_ENVIRONMENT
                | <$suspect as Question<$lane>>::OBEYS_ENVIRONMENT
                | <$test as Question<$lane>>::OBEYS_ENVIRONMENT,
        }
    };
}
pub(crate) use pick_loops;

/// Makes `loops`, which finds those of a shape, with the features of a tier: [`test`], and [`suspect`] or what stands for it.
/// What is rarely asked shares the loops of more ranges.
macro_rules! define_loops {
    ($suspect:ident $(, #[$features:meta])?) => {
        /// # Safety
        ///
        /// As [`SuspectFn`](crate::loss::SuspectFn).
        $(#[$features])?
        unsafe fn suspected<
            L: crate::loss::Lane,
            E: crate::loss::Trace<L>,
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
        /// As [`TestFn`](crate::loss::TestFn).
        $(#[$features])?
        unsafe fn tested<L: crate::loss::Lane, T: crate::loss::Test<L>>(
            numbers: [u64; 4],
            src: &[u8],
            back: &[u8],
            bits: &mut [u64],
        ) {
            crate::loss::test::<L, T>(numbers, src, back, bits);
        }

        #[inline]
        pub(crate) fn loops(shape: crate::loss::Shape) -> crate::loss::Loops {
            use crate::loss::{
                BITS, BOUNDS, Differs, Digits, ENDS, Fraction, Low, Never, OVER, Question, Rounds, Within, pick_loops as pick,
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
