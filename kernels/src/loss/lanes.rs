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

use core::{marker::PhantomData, ops};

/// What one block is asked. Numbers are in the low bits, as wide as a lane.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Questions {
    /// A lane `x` is in the range if `(x & mask) - first < span`.
    pub(super) ranges: [InRange; super::ranges::MOST],
    /// The same codes in as few ranges as can be, or the numbers of [`ENDS`] and [`BOUNDS`], each as `first`.
    pub(super) suspects: [InRange; super::ranges::MOST],
    /// All bits but the sign of a part: whether an imaginary part is zero.
    pub(super) magnitude: u64,
    /// What `Fraction`, `Digits` or `Differs` has to know.
    pub(super) exactness: [u64; 4],
}

#[derive(Clone, Copy, Debug, Default)]
pub(super) struct InRange {
    pub(super) mask: u64,
    pub(super) first: u64,
    pub(super) span: u64,
}

impl InRange {
    pub(super) fn new(range: &super::ranges::Range) -> Self {
        let span = range.last.wrapping_sub(range.first).wrapping_add(1);
        Self { mask: range.mask, first: range.first, span }
    }
}

/// The answers.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Answers {
    /// Lanes in each of the ranges.
    pub(super) ranges: [u64; super::ranges::MOST],
    /// Imaginary parts other than zero.
    pub(super) imaginary: u64,
    /// Lanes in no range that are rounded.
    pub(super) inexact: u64,
}

/// Which loop a pair needs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Shape {
    /// Bytes of a lane.
    pub(crate) width: usize,
    /// Lanes alternate between a part that is cast and one that has to be zero.
    pub(crate) pairs: bool,
    /// How [`suspect`] looks for the ranges: as many of them, [`ENDS`] or [`BOUNDS`].
    pub(crate) ranges: usize,
    pub(crate) exactness: Rounds,
}

/// Two ranges: from a code to the largest without a sign, and from another to the largest with one. Maxima find them.
pub(crate) const ENDS: usize = 5;
/// All signed numbers but those from one to another (or more ranges with nothing but NaNs between them).
pub(crate) const BOUNDS: usize = 6;

/// All integers but those from one to another, a power of two of them: `first` is the first of these and `span` their number.
pub(crate) const BITS: usize = 7;
/// One range that is all magnitudes from a code to infinity (NaNs, which may belong to it or not, are suspected as well).
pub(crate) const OVER: usize = 8;

/// How rounding in range is seen.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Rounds {
    Never,
    /// As `Fraction`, but whatever is below the normal numbers of the target is suspected, and the low bits of all others tell.
    Low,
    Fraction,
    Digits,
    Differs,
}

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

/// A code or a part of one.
pub(crate) trait Lane:
    Copy
    + PartialEq
    + PartialOrd
    + From<bool>
    + ops::BitAnd<Output = Self>
    + Ord
    + ops::BitOr<Output = Self>
    + ops::BitXor<Output = Self>
    + ops::Not<Output = Self>
{
    const BYTES: usize;
    const ZERO: Self;
    /// Lanes that may be counted in one lane.
    const AT_ONCE: usize;
    fn from_word(word: u64) -> Self;
    fn word(self) -> u64;
    /// Of the bytes of one lane.
    fn read(bytes: &[u8]) -> Self;
    fn plus(self, other: Self) -> Self;
    fn minus(self, other: Self) -> Self;
    /// The larger and the smaller as two's complement.
    fn signed_max(self, other: Self) -> Self;
    fn signed_min(self, other: Self) -> Self;
    fn signed_less(self, other: Self) -> bool;
    /// The magnitude of a two's complement lane.
    fn magnitude(self) -> Self;
    fn shift_right(self, by: u32) -> Self;
}

macro_rules! lane {
    ($($lane:ident $signed:ident $at_once:literal),*) => {$(
        impl Lane for $lane {
            const BYTES: usize = size_of::<$lane>();
            const ZERO: Self = 0;
            const AT_ONCE: usize = $at_once;
            #[inline(always)]
            fn from_word(word: u64) -> Self {
                word as $lane
            }
            #[inline(always)]
            fn word(self) -> u64 {
                self as u64
            }
            #[inline(always)]
            fn read(bytes: &[u8]) -> Self {
                let mut lane = [0; size_of::<$lane>()];
                lane.copy_from_slice(bytes);
                $lane::from_ne_bytes(lane)
            }
            #[inline(always)]
            fn plus(self, other: Self) -> Self {
                self.wrapping_add(other)
            }
            #[inline(always)]
            fn minus(self, other: Self) -> Self {
                self.wrapping_sub(other)
            }
            #[inline(always)]
            fn signed_max(self, other: Self) -> Self {
                (self as $signed).max(other as $signed) as $lane
            }
            #[inline(always)]
            fn signed_min(self, other: Self) -> Self {
                (self as $signed).min(other as $signed) as $lane
            }
            #[inline(always)]
            fn signed_less(self, other: Self) -> bool {
                (self as $signed) < other as $signed
            }
            #[inline(always)]
            fn magnitude(self) -> Self {
                (self as $signed).unsigned_abs()
            }
            #[inline(always)]
            fn shift_right(self, by: u32) -> Self {
                // Always in range.
                self >> (by & ($lane::BITS - 1))
            }
        }
    )*};
}
// A byte counts to 255. The others hold what a block has.
lane!(u8 i8 192, u16 i16 16384, u32 i32 16384, u64 i64 16384);

/// Whether a lane is rounded, as long as it is in range.
pub(crate) trait Exactness<L: Lane>: Copy {
    /// Whether the lanes of the result, cast back, are looked at.
    const LOOKS_BACK: bool = false;
    fn new(numbers: [u64; 4]) -> Self;
    fn inexact(self, x: L, back: L) -> bool;
    /// Bits of which one is set if the lane may be rounded.
    fn trace(self, x: L, back: L) -> L;
}

/// Nothing is rounded.
#[derive(Clone, Copy)]
pub(crate) struct Never;

impl<L: Lane> Exactness<L> for Never {
    fn new(_: [u64; 4]) -> Self {
        Self
    }
    #[inline(always)]
    fn inexact(self, _: L, _: L) -> bool {
        false
    }
    #[inline(always)]
    fn trace(self, _: L, _: L) -> L {
        L::ZERO
    }
}

/// A float that becomes a narrower one, or an integer: the bits behind the last that the target keeps are not zero. Where the
/// target is subnormal (or an integer) it keeps whole multiples of one step: adding the float whose last bit is that step and
/// subtracting it again rounds to them.
#[derive(Clone, Copy)]
pub(crate) struct Fraction<L> {
    magnitude: L,
    infinity: L,
    low: L,
    step: L,
}

macro_rules! fraction {
    ($($lane:ident $float:ident),*) => {$(
        impl Exactness<$lane> for Fraction<$lane> {
            fn new([magnitude, infinity, low, step]: [u64; 4]) -> Self {
                Self {
                    magnitude: magnitude as $lane,
                    infinity: infinity as $lane,
                    low: low as $lane,
                    step: step as $lane,
                }
            }
            #[inline(always)]
            fn inexact(self, x: $lane, _: $lane) -> bool {
                let x = x & self.magnitude;
                let (value, step) = ($float::from_bits(x), $float::from_bits(self.step));
                let whole = (value + step) - step;
                let between = (x < self.step) & (whole.to_bits() != x);
                (x < self.infinity) & ((x & self.low != 0) | between)
            }
            #[inline(always)]
            fn trace(self, x: $lane, _: $lane) -> $lane {
                let step = $float::from_bits(self.step);
                let value = $float::from_bits(x & self.magnitude);
                // NaN, too, becomes the step, which is a multiple of itself.
                let value = if value < step { value } else { step };
                // NaN has low bits as well: those who count find that it is none.
                ((value + step) - step).to_bits() ^ value.to_bits() | x & self.low
            }
        }
    )*};
}
fraction!(u32 f32, u64 f64);

/// What tells of [`Rounds::Low`] before it is looked at as [`Fraction`].
#[derive(Clone, Copy)]
pub(crate) struct Low<L>(L);

impl<L: Lane> Exactness<L> for Low<L> {
    fn new([_, _, low, _]: [u64; 4]) -> Self {
        Self(L::from_word(low))
    }
    #[inline(always)]
    fn inexact(self, x: L, _: L) -> bool {
        x & self.0 != L::ZERO
    }
    #[inline(always)]
    fn trace(self, x: L, _: L) -> L {
        x & self.0
    }
}

/// An integer that becomes a float: it has more significant bits than the target.
#[derive(Clone, Copy)]
pub(crate) struct Digits<L> {
    /// All ones for signed integers.
    signed: L,
    digits: u32,
    lane: PhantomData<L>,
}

impl<L: Lane> Exactness<L> for Digits<L> {
    fn new([signed, digits, ..]: [u64; 4]) -> Self {
        Self { signed: L::from_word(signed), digits: digits as u32, lane: PhantomData }
    }
    #[inline(always)]
    fn inexact(self, x: L, _: L) -> bool {
        // One is subtracted from the lowest bit that is set, so that zero, which has none, compares as well.
        let below_lowest = !x & x.minus(L::from(true));
        let signed = (self.signed & x.magnitude()).plus(!self.signed & x);
        signed.shift_right(self.digits) > below_lowest
    }
    #[inline(always)]
    fn trace(self, x: L, _: L) -> L {
        // More digits than the target has; the lowest may be zero.
        (self.signed & x.magnitude()).plus(!self.signed & x).shift_right(self.digits)
    }
}

/// Anything whose result, cast back, is something else. NaN and the sign of zero are not compared.
#[derive(Clone, Copy)]
pub(crate) struct Differs<L> {
    compared: L,
    nan: [L; 3],
}

impl<L: Lane> Exactness<L> for Differs<L> {
    const LOOKS_BACK: bool = true;
    fn new([compared, mask, first, span]: [u64; 4]) -> Self {
        Self { compared: L::from_word(compared), nan: [mask, first, span].map(L::from_word) }
    }
    #[inline(always)]
    fn inexact(self, x: L, back: L) -> bool {
        let [mask, first, span] = self.nan;
        let nan = (x & mask).minus(first) < span;
        !nan & ((x ^ back) & self.compared != L::ZERO)
    }
    #[inline(always)]
    fn trace(self, x: L, back: L) -> L {
        (x ^ back) & self.compared
    }
}

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
        /// As [`SuspectFn`](crate::loss::lanes::SuspectFn).
        $(#[$features])?
        unsafe fn suspected<
            L: crate::loss::lanes::Lane,
            E: crate::loss::lanes::Exactness<L>,
            const RANGES: usize,
            const PAIRS: bool,
        >(
            questions: &crate::loss::lanes::Questions,
            src: &[u8],
            back: &[u8],
        ) -> bool {
            crate::loss::lanes::$suspect::<L, E, RANGES, PAIRS>(questions, src, back)
        }

        /// # Safety
        ///
        /// As [`CountFn`](crate::loss::lanes::CountFn).
        $(#[$features])?
        unsafe fn counted<
            L: crate::loss::lanes::Lane,
            E: crate::loss::lanes::Exactness<L>,
            const PAIRS: bool,
        >(
            questions: &crate::loss::lanes::Questions,
            src: &[u8],
            back: &[u8],
            answers: &mut crate::loss::lanes::Answers,
        ) {
            crate::loss::lanes::count::<L, E, PAIRS>(questions, src, back, answers);
        }

        #[inline]
        pub(crate) fn loops(shape: crate::loss::Shape) -> crate::loss::Loops {
            use crate::loss::lanes::{
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
