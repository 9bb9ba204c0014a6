//! Quantization in lanes of 16 bits.
//!
//! Four registers of quotients are rounded as float32 or as fixed point. Their upper halves are two registers of *words*, and these become one
//! register of codes. A quotient is the product with a reciprocal that is slightly too small, so a quotient just below a midpoint between two
//! codes may belong above it. A block with such a quotient is computed again with exact quotients, and the general stage computes a block again if
//! one of its quotients does not fit in a word.

use super::{Elements, Factors, Runs, Source, Stage, Stored};
use crate::{
    format::data::Data,
    vector::{
        Blocks,
        casts::target::{Bytes, Float, Packed, Signed, Target},
        each,
        scaled::{Exact, RegisterStep, Times},
        small::{FourBits, NanApart},
        style::{Common, Directed},
    },
};
use core::marker::PhantomData;

/// The operations on words.
///
/// # Safety
///
/// As for [`Simd`](crate::vector::Simd).
pub(crate) trait Words: Blocks {
    fn splat_8(self, x: u8) -> Self::V;
    fn splat_16(self, x: u16) -> Self::V;
    /// Subtracts 1 from the lanes of `a` where the low four bits of `index` are in the list.
    fn less_one(self, a: Self::V, index: Self::V, list: &List) -> Self::V;
    /// Whether any lane of the block has none of these bits.
    fn any_without(self, x: [Self::V; 4], bits: u32) -> bool;
    /// Words that are the upper halves of the lanes, alternately from `a` and `b`.
    fn upper_halves(self, a: Self::V, b: Self::V) -> Self::V;
    fn add_16(self, a: Self::V, b: Self::V) -> Self::V;
    /// The unsigned difference, saturated.
    fn sub_16(self, a: Self::V, b: Self::V) -> Self::V;
    fn shr_16<const BY: i32>(self, a: Self::V) -> Self::V;
    fn any_equal_16(self, x: [Self::V; 2], y: Self::V) -> bool;
    /// Packs signed words to bytes, saturated, signed or unsigned; the bytes stay in a special order until they are stored.
    fn pack_16<const SIGNED: bool>(self, x: [Self::V; 2]) -> Self::V;
    /// Whether any byte is 255.
    fn any_full(self, x: Self::V) -> bool;
    /// The minimum of signed bytes.
    fn min_bytes(self, a: Self::V, b: Self::V) -> Self::V;
    /// Subtracts `by` from the bytes that are not 0, and returns whether all of these were from `first` to `last`.
    fn renumber(self, x: Self::V, first: u8, last: u8, by: u8) -> (Self::V, bool);
    /// The items of a table at the indices in bytes; for indices beyond the table, the last item.
    fn look_up(self, table: &[u8; 32], x: Self::V) -> Self::V;
    /// Stores the bytes of [`pack_16`](Self::pack_16) in the order of the elements or, if `PACKED`, their low four bits; the high bits are 0.
    unsafe fn store_codes<const APART: bool, const PACKED: bool>(self, dst: *mut u8, x: Self::V);
}

/// A list of four-bit numbers other than 0: a table of bytes, and a table of lanes that are all ones for its numbers.
pub(crate) struct List {
    pub(crate) bytes: [u8; 16],
    pub(crate) lanes: [u32; 16],
}

impl List {
    const fn new(numbers: &[usize]) -> Self {
        let (mut bytes, mut lanes, mut i) = ([0; 16], [0; 16], 0);
        while i < numbers.len() {
            (bytes[numbers[i]], lanes[numbers[i]]) = (1, !0);
            i += 1;
        }
        Self { bytes, lanes }
    }
}

/// bfloat16, with even elements and odd elements in separate registers.
pub(crate) struct Halves;

impl<M: Blocks> Source<M> for Halves {
    const BITS: usize = 16;
    const APART: bool = true;
    type Table = ();
    #[inline(always)]
    unsafe fn table(_: M, _: &Data) {}
    #[inline(always)]
    unsafe fn load(m: M, (): &(), p: *const u8) -> [M::V; 4] {
        // SAFETY: the caller's promise is the same.
        unsafe {
            let ([a, b], upper) = (m.load_16::<false>(p, M::BLOCK), m.splat(!0xFFFF));
            [m.shl::<16>(a), m.and(a, upper), m.shl::<16>(b), m.and(b, upper)]
        }
    }
}

/// The most that products may be below the exact quotients, in units of the last place: a power of two.
const WINDOW: u32 = 16;
/// 1 - 2^-21.
const SMALLER: f32 = f32::from_bits(0x3F7F_FFF8);

/// A target whose codes are made from words of quotients.
pub(crate) trait Codes {
    /// The target for blocks with quotients that do not fit in words.
    type General;
    /// The power of two that quotients are multiplied by.
    const UNIT: f32 = 1.0;
    /// A quotient is just below a midpoint if its second form has none of these bits.
    const NEAR: u32;
    /// Two forms of a quotient. The upper half of the first form is its word, unless the quotient is just below a midpoint. The second form shows
    /// whether it is.
    fn forms<M: Words>(m: M, q: M::V) -> [M::V; 2];
    /// The first form of an exact quotient, which is not multiplied by the unit; ties go to even.
    fn exact<M: Words>(m: M, q: M::V) -> M::V;
    /// Stores the codes of words; returns `false` if a quotient did not fit in its word.
    ///
    /// # Safety
    ///
    /// As for the methods of [`Words`]; the block is writable.
    unsafe fn store<M: Words, const APART: bool>(m: M, words: [M::V; 2], dst: *mut u8) -> bool;
}

/// The magnitudes of words, doubled, minus `first`; 0 if that is negative. The high byte has the exponent field.
#[inline(always)]
fn magnitudes<M: Words>(m: M, words: M::V, first: u16) -> M::V {
    m.sub_16(m.add_16(words, words), m.splat_16(first))
}

/// 8-bit floats: the bits of the mantissa, the code of the largest magnitude, and the exponent field of float32 that becomes exponent 0.
pub(crate) struct Small<const MANTISSA: u32, const MAX: u8, const ZERO: u16>;

impl<const MANTISSA: u32, const MAX: u8, const ZERO: u16> Small<MANTISSA, MAX, ZERO> {
    /// Quotients this number of exponents below `ZERO` are zero.
    const BELOW: u16 = MANTISSA as u16 + 1;
    /// The bits from the half unit upwards, for ties that round to the even code below them: these subtract a unit.
    const EVEN: List = List::new(&[1, 5, 9, 13]);
}

impl<const MANTISSA: u32, const MAX: u8, const ZERO: u16> Codes for Small<MANTISSA, MAX, ZERO> {
    type General = Bytes<Float<NanApart, Common>>;
    const NEAR: u32 = (1 << (23 - MANTISSA)) - WINDOW;
    #[inline(always)]
    fn forms<M: Words>(m: M, q: M::V) -> [M::V; 2] {
        [q, m.add(q, m.splat((1 << (22 - MANTISSA)) + WINDOW))]
    }
    #[inline(always)]
    fn exact<M: Words>(m: M, q: M::V) -> M::V {
        let bits = if MANTISSA == 3 { m.shr::<19>(q) } else { m.shr::<20>(q) };
        m.less_one(q, bits, const { &Self::EVEN })
    }
    #[inline(always)]
    unsafe fn store<M: Words, const APART: bool>(m: M, words: [M::V; 2], dst: *mut u8) -> bool {
        // SAFETY: the caller's promise is the same.
        unsafe {
            // The codes, raised by the number of codes in `BELOW` exponents; 0 is zero.
            let [a, b] = each!([words[0], words[1]], |words| {
                let x = magnitudes::<M>(m, words, const { ((ZERO - Self::BELOW) << 8) - (0x80 >> MANTISSA) });
                if MANTISSA == 3 { m.shr_16::<5>(x) } else { m.shr_16::<6>(x) }
            });
            let below = const { (Self::BELOW << MANTISSA) as u8 };
            // Subnormal codes round differently and are handled elsewhere.
            let first = const { (Self::BELOW << MANTISSA) as u8 + (1 << MANTISSA) };
            let (codes, covered) = m.renumber(m.pack_16::<false>([a, b]), first, below + MAX, below);
            let signs = m.and(m.pack_16::<true>(words), m.splat_8(0x80));
            m.store_codes::<APART, false>(dst, m.or(codes, signs));
            covered
        }
    }
}

/// `float4_e2m1fn`, packed.
pub(crate) struct E2M1;

impl E2M1 {
    /// The codes, indexed by the exponent from 1/8 on and two bits of the mantissa.
    const FOUND: [u8; 32] = {
        let mut codes = [0; 32];
        let mut i = 0;
        while i < 32 {
            codes[i] = match i {
                0..4 => 0,
                // The codes begin at 1/4, 3/4, 5/4 and so on.
                4..10 => 1,
                10..13 => 2,
                13..15 => 3,
                15..17 => 4,
                17..19 => 5,
                19..21 => 6,
                _ => 7,
            };
            i += 1;
        }
        codes
    };
    /// The last two exponent bits and two mantissa bits of 1/4, 5/4, 5/2 and 5: these ties become the code below them, so they subtract a unit.
    const EVEN: List = List::new(&[0b0100, 0b1101, 0b0001, 0b0101]);
}

impl Codes for E2M1 {
    type General = Packed<Float<FourBits, Common>, 4>;
    const NEAR: u32 = (1 << 21) - WINDOW;
    #[inline(always)]
    fn forms<M: Words>(m: M, q: M::V) -> [M::V; 2] {
        [q, m.add(q, m.splat(WINDOW))]
    }
    #[inline(always)]
    fn exact<M: Words>(m: M, q: M::V) -> M::V {
        m.less_one(q, m.shr::<21>(q), const { &Self::EVEN })
    }
    #[inline(always)]
    unsafe fn store<M: Words, const APART: bool>(m: M, words: [M::V; 2], dst: *mut u8) -> bool {
        // SAFETY: the caller's promise is the same.
        unsafe {
            let places =
                each!([words[0], words[1]], |words| m.shr_16::<6>(magnitudes::<M>(m, words, 124 << 8)));
            let places = m.pack_16::<false>(places);
            let codes = m.look_up(const { &Self::FOUND }, places);
            let signs = m.and(m.shr_16::<4>(m.pack_16::<true>(words)), m.splat_8(8));
            m.store_codes::<APART, true>(dst, m.or(codes, signs));
            !m.any_full(places)
        }
    }
}

/// `int8`, and packed `int4`.
pub(crate) struct Int<const PACKED: bool, G>(PhantomData<G>);

impl<const PACKED: bool, G> Codes for Int<PACKED, G> {
    type General = G;
    const UNIT: f32 = 65536.0;
    const NEAR: u32 = 0x1_0000 - WINDOW;
    #[inline(always)]
    fn forms<M: Words>(m: M, q: M::V) -> [M::V; 2] {
        [m.add(m.round(q), m.splat(0x8000 + WINDOW / 2)); 2]
    }
    #[inline(always)]
    fn exact<M: Words>(m: M, q: M::V) -> M::V {
        m.shl::<16>(m.round(q))
    }
    #[inline(always)]
    unsafe fn store<M: Words, const APART: bool>(m: M, words: [M::V; 2], dst: *mut u8) -> bool {
        // SAFETY: the caller's promise is the same.
        unsafe {
            let mut codes = m.pack_16::<true>(words);
            if PACKED {
                codes = m.min_bytes(m.max_bytes(codes, m.splat_8(-8_i8 as u8)), m.splat_8(7));
                codes = m.and(codes, m.splat_8(15));
            }
            m.store_codes::<APART, PACKED>(dst, codes);
            // A value that does not fit in 32 bits became the least number, or the greatest one, which the addition carries to the least. NaN
            // became the least number or 0, its code.
            !m.any_equal_16(words, m.splat_16(0x8000))
        }
    }
}

#[inline(always)]
fn words<M: Words>(m: M, [a, b, c, d]: [M::V; 4]) -> [M::V; 2] {
    [m.upper_halves(a, b), m.upper_halves(c, d)]
}

/// [`Codes::store`] of a block.
#[inline(always)]
unsafe fn store<M: Words, S: Source<M>, T: Codes>(m: M, x: [M::V; 4], dst: *mut u8) -> bool {
    // SAFETY: the caller's promise.
    unsafe {
        let words = words::<M>(m, x);
        if S::APART { T::store::<M, true>(m, words, dst) } else { T::store::<M, false>(m, words, dst) }
    }
}

/// Stores a block by the general stage, which handles all quotients.
#[cold]
#[inline(always)]
unsafe fn store_general<M: Words, S: Source<M>, W: Stage<M>>(
    m: M,
    x: [M::V; 4],
    held: &[W::Held; 4],
    runs: Runs<'_>,
    dst: *mut u8,
    data: &Data,
) {
    // SAFETY: the caller's promise; the words of lane-split registers are the elements in order, and as many as a block has.
    unsafe {
        let x = if S::APART {
            let words = words::<M>(m, x);
            m.load_high_16::<false>((&raw const words).cast(), M::BLOCK)
        } else {
            x
        };
        W::store::<Elements<f32>>(m, x, held, runs, dst, data);
    }
}

/// Quotients computed by a reciprocal.
pub(crate) struct Reciprocal<T, const BLOCK: bool>(PhantomData<T>);

impl<M: Words, T: Codes<General: Target<M>>, const BLOCK: bool> Stage<M> for Reciprocal<T, BLOCK> {
    const BITS: usize = T::General::BITS;
    type Held = M::V;
    #[inline(always)]
    unsafe fn hold(m: M, factors: &Factors<'_>, i: usize) -> M::V {
        // SAFETY: the caller's run has its factor.
        let factor = unsafe { factors.factor.get_unchecked(i) };
        m.splat((factor * const { SMALLER * T::UNIT }).to_bits())
    }
    #[inline(always)]
    unsafe fn store<S: Source<M>>(
        m: M,
        x: [M::V; 4],
        held: &[M::V; 4],
        runs: Runs<'_>,
        dst: *mut u8,
        data: &Data,
    ) {
        // SAFETY: the caller's promise is the same.
        unsafe {
            let forms = each!([0, 1, 2, 3], |k| T::forms::<M>(m, m.mul(x[k], held[k])));
            let near = m.any_without(each!(forms, |[_, second]| second), T::NEAR);
            let mut covered = store::<M, S, T>(m, each!(forms, |[first, _]| first), dst);
            if near {
                let factors = each!(runs.1, |i| Exact::<BLOCK>::factors::<M, false>(m, runs.0, i));
                let q = each!([0, 1, 2, 3], |k| Exact::<BLOCK>::step::<M>(m, x[k], &factors[k]));
                covered &= store::<M, S, T>(m, each!(q, |q| T::exact::<M>(m, q)), dst);
            }
            if !covered {
                let factors = each!(runs.1, |i| Exact::<BLOCK>::factors::<M, false>(m, runs.0, i));
                store_general::<M, S, Stored<Exact<BLOCK>, T::General>>(m, x, &factors, runs, dst, data);
            }
        }
    }
}

/// Quotients by a power of two, which are exact.
pub(crate) struct PowerOfTwo<T>(PhantomData<T>);

impl<M: Words, T: Codes<General: Target<M>>> Stage<M> for PowerOfTwo<T> {
    const BITS: usize = T::General::BITS;
    type Held = [M::V; 3];
    #[inline(always)]
    unsafe fn hold(m: M, factors: &Factors<'_>, i: usize) -> [M::V; 3] {
        // SAFETY: the caller's promise.
        unsafe { Times::factors::<M, false>(m, factors, i) }
    }
    #[inline(always)]
    unsafe fn store<S: Source<M>>(
        m: M,
        x: [M::V; 4],
        held: &[[M::V; 3]; 4],
        runs: Runs<'_>,
        dst: *mut u8,
        data: &Data,
    ) {
        // SAFETY: the caller's promise is the same.
        unsafe {
            let q = each!([0, 1, 2, 3], |k| T::exact::<M>(m, Times::step::<M>(m, x[k], &held[k])));
            if !store::<M, S, T>(m, q, dst) {
                store_general::<M, S, Stored<Times, T::General>>(m, x, held, runs, dst, data);
            }
        }
    }
}

/// The stages of the pairs that have their own loops.
pub(crate) mod stages {
    pub(crate) use super::Halves;
    use super::*;
    type EightE4M3 = Small<3, 0x7E, 120>;
    type EightE5M2 = Small<2, 0x7B, 112>;
    pub(crate) type E4M3Times = PowerOfTwo<EightE4M3>;
    pub(crate) type E5M2Times = PowerOfTwo<EightE5M2>;
    pub(crate) type E4M3 = Reciprocal<EightE4M3, false>;
    pub(crate) type E5M2 = Reciprocal<EightE5M2, false>;
    pub(crate) type FourTimes = PowerOfTwo<E2M1>;
    pub(crate) type Four = Reciprocal<E2M1, true>;
    pub(crate) type Int8 = Reciprocal<Int<false, Bytes<Signed<true, Directed>>>, false>;
    pub(crate) type Int4 = Reciprocal<Int<true, Packed<Signed<false, Directed>, 4>>, false>;
}
