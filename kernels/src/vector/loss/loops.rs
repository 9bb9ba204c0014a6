//! Tests the codes of a block for losses, in plain loops that compilers vectorise.
//!
//! A *lane* is a code, or a part of one, as an unsigned integer. A mask, a subtraction and a comparison test whether it is in a range; the other
//! [`LossTest`]s decide whether a lane in range is rounded. There are two loops, and the second runs only if the first finds something:
//!
//! * [`may_lose`] tests whether any lane may be lost: the least of all differences replaces the comparisons, so it takes few
//!   instructions. It can have false positives, but no false negatives.
//! * [`test`] determines which lanes are in a range, or rounded, and counts them. [`Loops::counts`] tests one range after the
//!   other, so the same few loops serve all pairs.
//!
//! Each tier compiles both for its own instructions ([`define_loops!`]); the scalar tier replaces the first by [`always_may_lose`].

use super::{
    exactness::{LossTest, Residue, Rounds, Test, Within},
    lane::Lane,
};
use crate::vector::{
    loss::shape::{Form, InRange, LossCounts, LossTests, MOST, Shape, Tested},
    machine::BLOCK_BYTES,
    opaque::opaque,
};

/// The loops of a shape.
#[derive(Clone, Copy)]
pub(crate) struct Loops {
    pub(crate) may_lose: MayLoseFn,
    /// A loop for one range and no rounding, for the ranges after those that `may_lose` tests.
    pub(crate) more: MayLoseFn,
    /// The number of ranges that `may_lose` tests at once.
    pub(crate) at_once: usize,
    /// Finds the lanes in a range.
    pub(crate) within: TestFn,
    /// Finds the lanes that are rounded, among the lanes in no range.
    pub(crate) rounded: TestFn,
    /// Whether any of the loops contains instructions that obey the floating-point environment.
    pub(crate) obeys_environment: bool,
}

/// Whether any lane may be lost: tests the candidate ranges of `tests` from number `first` on, as many as the loop tests at once.
///
/// # Safety
///
/// As [`TestFn`].
pub(crate) type MayLoseFn = unsafe fn(tests: &LossTests, first: usize, src: &[u8], back: &[u8]) -> bool;

/// Tests the lanes of `src` and, for [`Rounds::Differs`], the corresponding lanes of `back`. `lost` has the same number of lanes: each lane that
/// equals `kind` and for which the test holds becomes `kind | LOST`. Returns the number of such lanes.
///
/// # Safety
///
/// The CPU has the tier of the function. If the loops obey the floating-point environment, it is the default.
pub(crate) type TestFn =
    unsafe fn(numbers: [u64; 4], src: &[u8], back: &[u8], kind: u64, lost: &mut [u8]) -> u64;

crate::vector::opaque::functions!(MayLoseFn, TestFn);

/// The value of lanes that are cast and not known to be lost.
const CAST: u64 = 0;
/// The bit that marks lost lanes.
const LOST: u64 = 1;
/// The value of imaginary parts, which have to be zero.
const IMAGINARY: u64 = 2;

/// Whether a lane of `src` may be in one of the ranges, or rounded.
#[inline(always)]
pub(crate) fn may_lose<L: Lane, E: Residue<L>, F: Tested, const PAIRS: bool>(
    tests: &LossTests,
    first: usize,
    src: &[u8],
    back: &[u8],
) -> bool {
    let candidates =
        [first, first + 1, first + 2].map(|i| tests.candidates.get(i).copied().unwrap_or_default().numbers());
    let candidates = candidates.map(Within::<L>::new);
    let exactness = E::new(tests.exactness);
    let magnitude = L::from_word(tests.magnitude);
    let step = L::BYTES << PAIRS as u32;
    // If results are not used, the source takes their place.
    let back = if E::LOOKS_BACK { back } else { src };
    let mut residues = L::ZERO;
    // The least difference of each range; or the extremes, which begin with a value inside.
    let mut least = match F::FORM {
        Form::Ends | Form::Bits | Form::Over => [L::ZERO; 3],
        Form::EndsAndOne => [L::ZERO, L::ZERO, L::from_word(u64::MAX)],
        Form::Bounds => candidates.map(|range| range.first),
        Form::Ranges(_) => [L::from_word(u64::MAX); 3],
    };
    for (x, back) in src.chunks_exact(step).zip(back.chunks_exact(step)) {
        if PAIRS {
            residues = residues | L::read(&x[L::BYTES..]) & magnitude;
        }
        let (x, back) = (L::read(&x[..L::BYTES]), L::read(&back[..L::BYTES]));
        match F::FORM {
            Form::Ends | Form::EndsAndOne => {
                least[0] = least[0].signed_max(x);
                least[1] = least[1].max(x);
                if matches!(F::FORM, Form::EndsAndOne) {
                    least[2] = least[2].min(candidates[2].above_first(x));
                }
            }
            Form::Bounds => {
                least[0] = least[0].signed_min(x);
                least[1] = least[1].signed_max(x);
            }
            // Lanes in range leave all bits above the number of integers in range zero.
            Form::Bits => least[0] = least[0] | x.minus(candidates[0].first),
            // Magnitudes have no sign, so the sign of the difference compares them.
            Form::Over => least[0] = least[0] | candidates[0].first.minus(x & candidates[0].mask),
            Form::Ranges(count) => {
                for i in 0..count {
                    least[i] = least[i].min(candidates[i].above_first(x));
                }
            }
        }
        residues = residues | exactness.residue(x, back);
    }
    let within = |i: usize| least[i] < candidates[i].span;
    let found = match F::FORM {
        Form::Ends | Form::EndsAndOne => {
            let ends = !least[0].signed_less(candidates[0].first) | (least[1] >= candidates[1].first);
            ends | (matches!(F::FORM, Form::EndsAndOne) && within(2))
        }
        Form::Bounds => least[0].signed_less(candidates[0].first) | candidates[1].first.signed_less(least[1]),
        Form::Bits => least[0] >= candidates[0].span,
        Form::Over => least[0].signed_less(L::ZERO),
        Form::Ranges(count) => (0..count).fold(false, |any, i| any | within(i)),
    };
    found | (residues != L::ZERO)
}

/// The scalar replacement assumes that every block may lose something: the scalar counts are exact.
#[inline(always)]
pub(crate) fn always_may_lose<L: Lane, E: Residue<L>, F: Tested, const PAIRS: bool>(
    _: &LossTests,
    _: usize,
    _: &[u8],
    _: &[u8],
) -> bool {
    true
}

/// Tests lanes, as [`TestFn`] says.
#[inline(always)]
pub(crate) fn test<L: Lane, T: Test<L>>(
    numbers: [u64; 4],
    src: &[u8],
    back: &[u8],
    kind: u64,
    lost: &mut [u8],
) -> u64 {
    let test = T::new(numbers);
    let kind = L::from_word(kind);
    let chunk = L::AT_ONCE * L::BYTES;
    // If results are not used, the source takes their place.
    let back = if T::LOOKS_BACK { back } else { src };
    let mut sum = 0;
    for ((src, back), lost) in src.chunks(chunk).zip(back.chunks(chunk)).zip(lost.chunks_mut(chunk)) {
        let mut count = L::ZERO;
        let lanes = src.chunks_exact(L::BYTES).zip(back.chunks_exact(L::BYTES));
        for ((x, back), lost) in lanes.zip(lost.chunks_exact_mut(L::BYTES)) {
            let was = L::read(lost);
            let new = L::from(test.holds(L::read(x), L::read(back)) & (was == kind));
            (was | new).write(lost);
            count = count.plus(new);
        }
        sum += count.word();
    }
    sum
}

impl Loops {
    /// Whether any lane of a block may be lost.
    ///
    /// # Safety
    ///
    /// As [`TestFn`].
    #[inline]
    pub(crate) unsafe fn candidates(
        &self,
        shape: Shape,
        tests: &LossTests,
        (src, back): (&[u8], &[u8]),
    ) -> bool {
        // SAFETY: the caller's promise.
        unsafe {
            opaque(self.may_lose)(tests, 0, src, back)
                || (self.at_once..shape.form.count()).any(|i| (self.more)(tests, i, src, back))
        }
    }

    /// Determines which lanes of (a part of) a block are lost, and counts each kind of loss.
    ///
    /// # Safety
    ///
    /// As [`TestFn`].
    #[inline(never)]
    pub(crate) unsafe fn counts(
        &self,
        shape: Shape,
        tests: &LossTests,
        (src, back): (&[u8], &[u8]),
    ) -> LossCounts {
        let mut counts = LossCounts { ranges: [0; MOST], imaginary: 0, inexact: 0, lost: [0; BLOCK_BYTES] };
        if shape.pairs {
            // Elements have 8 bytes or 16.
            let mut kinds = [0; 16];
            for lane in kinds.chunks_exact_mut(shape.width).skip(1).step_by(2) {
                lane[if cfg!(target_endian = "little") { 0 } else { shape.width - 1 }] = IMAGINARY as u8;
            }
            counts.lost.as_chunks_mut().0.fill(kinds);
        }
        let lost = &mut counts.lost[..src.len()];
        for (range, n) in tests.ranges.iter().zip(&mut counts.ranges).filter(|(range, _)| range.span != 0) {
            // SAFETY: the caller's promise.
            *n = unsafe { opaque(self.within)(range.numbers(), src, back, CAST, lost) };
        }
        if shape.exactness != Rounds::Never {
            // SAFETY: the caller's promise.
            counts.inexact = unsafe { opaque(self.rounded)(tests.exactness, src, back, CAST, lost) };
        }
        if shape.pairs {
            let any = InRange { mask: tests.magnitude, first: 1, span: tests.magnitude };
            // SAFETY: the caller's promise.
            counts.imaginary = unsafe { opaque(self.within)(any.numbers(), src, back, IMAGINARY, lost) };
        }
        counts
    }
}

impl LossCounts {
    /// Whether any lane is lost.
    pub(crate) fn any(&self) -> bool {
        self.ranges.iter().sum::<u64>() + self.imaginary + self.inexact != 0
    }

    /// Whether each of the 64 lanes from the number `64 * i` on is lost, the first lowest.
    #[inline(never)]
    pub(crate) fn flags(&self, width: usize, i: usize) -> u64 {
        match width {
            1 => self.flags_of::<u8>(i),
            2 => self.flags_of::<u16>(i),
            4 => self.flags_of::<u32>(i),
            _ => self.flags_of::<u64>(i),
        }
    }

    fn flags_of<L: Lane>(&self, i: usize) -> u64 {
        let line = self.lost.chunks_exact(64 * L::BYTES).nth(i);
        let Some(line) = line else { return 0 };
        let mut flags = [0_u8; 64];
        for (flag, lane) in flags.iter_mut().zip(line.chunks_exact(L::BYTES)) {
            *flag = (L::read(lane).word() & LOST) as u8;
        }
        // One multiplication moves eight flags to eight bits, each at its place in the highest byte.
        flags.as_chunks::<8>().0.iter().rev().fold(0, |bits, flags| {
            bits << 8 | u64::from_le_bytes(*flags).wrapping_mul(0x0102_0408_1020_4080) >> 56
        })
    }
}

/// The loops of `$may_lose` and `$test` for lanes and pairs, with a separate search for each [`Form`] of `$forms`; all other forms test their
/// ranges one by one.
macro_rules! pick_loops {
    ($shape:ident, $lane:ty, $may_lose:ty, $test:ty, $pairs:literal, [$($form:ident),*]) => {
        $crate::vector::loss::Loops {
            may_lose: match $shape.form {
                $(form if form == $form::FORM => may_lose_for::<$lane, $may_lose, $form, $pairs>,)*
                _ => may_lose_for::<$lane, $may_lose, One, $pairs>,
            },
            more: may_lose_for::<$lane, Never, One, $pairs>,
            at_once: match $shape.form {
                $(form if form == $form::FORM => form.count(),)*
                _ => 1,
            },
            within: tested::<$lane, Within<$lane>>,
            rounded: tested::<$lane, $test>,
            obeys_environment: <Within<$lane> as LossTest<$lane>>::OBEYS_ENVIRONMENT
                | <$may_lose as LossTest<$lane>>::OBEYS_ENVIRONMENT
                | <$test as LossTest<$lane>>::OBEYS_ENVIRONMENT,
        }
    };
}
pub(crate) use pick_loops;

/// Defines `loops`, which finds the loops of a shape, compiled with the features of a tier: [`test`], and [`may_lose`] or its replacement.
macro_rules! define_loops {
    ($may_lose:ident, $function:ident) => {
        $function! {
            /// # Safety
            ///
            /// As [`MayLoseFn`](crate::vector::loss::MayLoseFn).
            unsafe fn may_lose_for<
                L: crate::vector::loss::Lane,
                E: crate::vector::loss::Residue<L>,
                F: crate::vector::loss::Tested,
                const PAIRS: bool,
            >(
                tests: &crate::vector::loss::LossTests,
                first: usize,
                src: &[u8],
                back: &[u8],
            ) -> bool {
                crate::vector::loss::loops::$may_lose::<L, E, F, PAIRS>(tests, first, src, back)
            }
        }

        $function! {
            /// # Safety
            ///
            /// As [`TestFn`](crate::vector::loss::TestFn).
            unsafe fn tested<L: crate::vector::loss::Lane, T: crate::vector::loss::Test<L>>(
                numbers: [u64; 4],
                src: &[u8],
                back: &[u8],
                kind: u64,
                lost: &mut [u8],
            ) -> u64 {
                crate::vector::loss::test::<L, T>(numbers, src, back, kind, lost)
            }
        }

        #[inline]
        pub(crate) fn loops(shape: crate::vector::loss::Shape) -> crate::vector::loss::Loops {
            use crate::vector::loss::{
                Bits, Bounds, Differs, Digits, Ends, EndsAndOne, Fraction, LossTest, Low, Never, One, Over,
                Rounds, Tested, Three, Two, Within, pick_loops as pick,
            };
            match (shape.width, shape.exactness, shape.pairs) {
                (1, Rounds::Never, _) => pick!(shape, u8, Never, Never, false, [Two, Three, Bits]),
                (2, Rounds::Never, _) => {
                    pick!(shape, u16, Never, Never, false, [Two, Ends, EndsAndOne, Bounds, Bits])
                }
                (4, Rounds::Never, false) => {
                    pick!(shape, u32, Never, Never, false, [Two, Ends, EndsAndOne, Bounds, Bits])
                }
                (_, Rounds::Never, false) => {
                    pick!(shape, u64, Never, Never, false, [Two, Ends, EndsAndOne, Bounds, Bits, Over])
                }
                (4, Rounds::Never, true) => pick!(shape, u32, Never, Never, true, [Ends]),
                (_, Rounds::Never, true) => pick!(shape, u64, Never, Never, true, [Ends]),
                (4, Rounds::Low, false) => pick!(shape, u32, Low<u32>, Fraction<u32>, false, []),
                (_, Rounds::Low, false) => pick!(shape, u64, Low<u64>, Fraction<u64>, false, []),
                (4, Rounds::Fraction, false) => {
                    pick!(shape, u32, Fraction<u32>, Fraction<u32>, false, [Ends])
                }
                (_, Rounds::Fraction, false) => {
                    pick!(shape, u64, Fraction<u64>, Fraction<u64>, false, [Ends, Over])
                }
                (4, Rounds::Low | Rounds::Fraction, true) => {
                    pick!(shape, u32, Fraction<u32>, Fraction<u32>, true, [Ends])
                }
                (_, Rounds::Low | Rounds::Fraction, true) => {
                    pick!(shape, u64, Fraction<u64>, Fraction<u64>, true, [Ends])
                }
                (1, Rounds::Digits, _) => pick!(shape, u8, Digits<u8>, Digits<u8>, false, []),
                (2, Rounds::Digits, _) => pick!(shape, u16, Digits<u16>, Digits<u16>, false, []),
                (4, Rounds::Digits, _) => pick!(shape, u32, Digits<u32>, Digits<u32>, false, []),
                (_, Rounds::Digits, _) => pick!(shape, u64, Digits<u64>, Digits<u64>, false, []),
                (1, Rounds::Differs, _) => pick!(shape, u8, Differs<u8>, Differs<u8>, false, []),
                (2, Rounds::Differs, _) => pick!(shape, u16, Differs<u16>, Differs<u16>, false, [Ends]),
                (4, Rounds::Differs, false) => pick!(shape, u32, Differs<u32>, Differs<u32>, false, [Bounds]),
                (4, Rounds::Differs, true) => pick!(shape, u32, Differs<u32>, Differs<u32>, true, []),
                (_, Rounds::Differs, false) => pick!(shape, u64, Differs<u64>, Differs<u64>, false, [Bounds]),
                (_, Rounds::Differs, true) => pick!(shape, u64, Differs<u64>, Differs<u64>, true, []),
            }
        }
    };
}
pub(crate) use define_loops;
