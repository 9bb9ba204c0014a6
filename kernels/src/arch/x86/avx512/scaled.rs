//! Quantization by way of words ([`crate::vector::scaled`]).
//!
//! Four registers of quotients are rounded as float32 or as fixed point; their upper halves are two registers of words, and those become one
//! of codes. Quotients are products with a reciprocal that is a little too small: those just below a midpoint between codes may belong
//! above it. A block that has one, or one that the words do not cover, is done again by way of exact quotients.

use super::simd::Avx512;
use crate::arch::native::intrinsics::*;
use crate::{
    data::Data,
    scaled::{Exact, Factors, RegisterStep, Times},
    vector::{
        each,
        scaled::{Elements, Runs, Source, Stage, Stored},
        small::{NAN_APART, NO_NAN},
        style::{DIRECTED, PLAIN},
        target::{Bytes, Float, Packed, Signed, Target},
    },
};
use core::marker::PhantomData;

type Registers = Avx512<true, false>;

/// bfloat16, even elements apart from odd ones.
pub(crate) struct Halves;

impl Source<Registers> for Halves {
    const BITS: usize = 16;
    const APART: bool = true;
    type Table = ();
    #[inline(always)]
    unsafe fn table(_: &Data) {}
    #[inline(always)]
    unsafe fn load((): &(), p: *const u8) -> [__m512i; 4] {
        // SAFETY: as the caller's.
        unsafe {
            let (a, b) = (_mm512_loadu_si512(p.cast()), _mm512_loadu_si512(p.add(64).cast()));
            let upper = _mm512_set1_epi32(!0xFFFF);
            [
                _mm512_slli_epi32::<16>(a),
                _mm512_and_si512(a, upper),
                _mm512_slli_epi32::<16>(b),
                _mm512_and_si512(b, upper),
            ]
        }
    }
}

/// A block of a source in order.
#[inline(always)]
unsafe fn block_in_order<S: Source<Registers>>(x: [__m512i; 4]) -> [__m512i; 4] {
    if !S::APART {
        return x;
    }
    // SAFETY: as of the methods of `Simd`.
    unsafe {
        let [a, b] = upper_halves(x);
        let words = [
            _mm512_castsi512_si256(a),
            _mm512_extracti64x4_epi64::<1>(a),
            _mm512_castsi512_si256(b),
            _mm512_extracti64x4_epi64::<1>(b),
        ];
        each!(words, |words| _mm512_slli_epi32::<16>(_mm512_cvtepu16_epi32(words)))
    }
}

/// A target of quotients in words.
pub(super) trait Codes {
    /// The target of the blocks that are done again.
    type Again: Target;
    /// What quotients are multiplied by: a power of two.
    const UNIT: f32 = 1.0;
    /// A quotient is just below a midpoint if its second form has none of these bits.
    const NEAR: u32;
    /// Two forms of a quotient: what has its code in the upper half if the quotient is not just below a midpoint, and what tells that.
    ///
    /// # Safety
    ///
    /// As of the methods of [`Simd`](crate::vector::Simd).
    unsafe fn beside(q: __m512) -> [__m512i; 2];
    /// The first form of an exact quotient, which is not multiplied by anything: ties to even.
    ///
    /// # Safety
    ///
    /// As of the methods of [`Simd`](crate::vector::Simd).
    unsafe fn even(q: __m512) -> __m512i;
    /// Stores codes of two registers of words, unless one of them is not covered: then it returns `false`.
    ///
    /// # Safety
    ///
    /// As of the methods of [`Simd`](crate::vector::Simd); the block is writable.
    unsafe fn store<const APART: bool>(words: [__m512i; 2], dst: *mut u8) -> bool;
}

/// How far the products may be below the exact quotients, in units of the last place: a power of two.
const WINDOW: u32 = 16;
/// 1 - 2^-21.
const SMALLER: f32 = f32::from_bits(0x3F7F_FFF8);

/// The upper halves of the lanes of four registers. Those of two alternate.
#[inline(always)]
unsafe fn upper_halves(t: [__m512i; 4]) -> [__m512i; 2] {
    // SAFETY: as of the methods of `Simd`.
    unsafe {
        let words = |a, b| _mm512_mask_blend_epi16(0xAAAA_AAAA, _mm512_srli_epi32::<16>(a), b);
        [words(t[0], t[1]), words(t[2], t[3])]
    }
}

/// The places of bytes in order after two registers of words were packed, each with the elements of two registers alternating, or those
/// of two that were `apart`. If `even_first`, those of even elements come first.
const fn order(apart: bool, even_first: bool) -> [u8; 64] {
    let mut index = [0; 64];
    let mut i = 0;
    while i < 64 {
        let of = if even_first { i % 32 * 2 + i / 32 } else { i };
        let word = if apart { of % 32 } else { of % 16 * 2 + of / 16 % 2 };
        // In each 128 bits, packing puts words of the second register behind those of the first.
        index[i] = (word / 8 * 16 + of / 32 * 8 + word % 8) as u8;
        i += 1;
    }
    index
}

#[inline(always)]
unsafe fn constant(x: &[u8; 64]) -> __m512i {
    // SAFETY: the caller has the features; a register is read.
    unsafe { _mm512_loadu_si512(x.as_ptr().cast()) }
}

#[inline(always)]
unsafe fn in_order<const APART: bool>(codes: __m512i) -> __m512i {
    // SAFETY: as of the methods of `Simd`.
    unsafe { _mm512_permutexvar_epi8(constant(const { &order(APART, false) }), codes) }
}

/// Stores codes of four bits, whose upper bits are zero.
#[inline(always)]
unsafe fn store_packed<const APART: bool>(codes: __m512i, dst: *mut u8) {
    // SAFETY: as of the methods of `Simd`; 32 bytes are writable.
    unsafe {
        let codes = _mm512_permutexvar_epi8(constant(const { &order(APART, true) }), codes);
        let odd = _mm256_slli_epi16::<4>(_mm512_extracti64x4_epi64::<1>(codes));
        _mm256_storeu_si256(dst.cast(), _mm256_or_si256(_mm512_castsi512_si256(codes), odd));
    }
}

/// Codes with the signs of bytes.
#[inline(always)]
unsafe fn with_signs<const SIGN: i8>(codes: __m512i, signs: __m512i) -> __m512i {
    // SAFETY: as of the methods of `Simd`.
    unsafe { _mm512_ternarylogic_epi32::<0xF8>(codes, signs, _mm512_set1_epi8(SIGN)) }
}

/// Words without their signs, which have the exponent field in their high byte, from a first one on; 0 below it.
#[inline(always)]
unsafe fn from(words: __m512i, first: u16) -> __m512i {
    // SAFETY: as of the methods of `Simd`.
    unsafe { _mm512_subs_epu16(_mm512_add_epi16(words, words), _mm512_set1_epi16(first as i16)) }
}

/// 8-bit floats: bits of the mantissa, the code of the largest magnitude, the exponent field of float32 that has exponent 0.
pub(super) struct Small<const MANTISSA: u32, const MAX: u8, const ZERO: u16>;
/// `float8_e4m3fn`
pub(super) type E4M3 = Small<3, 0x7E, 120>;
/// `float8_e5m2`
pub(super) type E5M2 = Small<2, 0x7B, 112>;

impl<const MANTISSA: u32, const MAX: u8, const ZERO: u16> Small<MANTISSA, MAX, ZERO> {
    /// So many exponents below `ZERO`, quotients are zero.
    const BELOW: u16 = MANTISSA as u16 + 1;
    /// By the bits from that of a half on: halves that round to the even code below them lose a unit. Zero does not.
    const EVEN: [u32; 16] = {
        let mut add = [0; 16];
        let mut i = 1;
        while i < 16 {
            add[i] = !0;
            i += 4;
        }
        add
    };

    /// Codes of words and as many more as `BELOW` exponents have; 0 is zero.
    #[inline(always)]
    unsafe fn numbered(words: __m512i) -> __m512i {
        // SAFETY: as of the methods of `Simd`.
        unsafe {
            let x = from(words, const { ((ZERO - Self::BELOW) << 8) - (0x80 >> MANTISSA) });
            match MANTISSA {
                3 => _mm512_srli_epi16::<5>(x),
                _ => _mm512_srli_epi16::<6>(x),
            }
        }
    }
}

impl<const MANTISSA: u32, const MAX: u8, const ZERO: u16> Codes for Small<MANTISSA, MAX, ZERO> {
    type Again = Bytes<Float<8, false, NAN_APART, PLAIN>>;
    const NEAR: u32 = (1 << (23 - MANTISSA)) - WINDOW;
    #[inline(always)]
    unsafe fn beside(q: __m512) -> [__m512i; 2] {
        // SAFETY: as the caller's.
        unsafe {
            let q = _mm512_castps_si512(q);
            [q, _mm512_add_epi32(q, _mm512_set1_epi32(const { (1 << (22 - MANTISSA)) + WINDOW as i32 }))]
        }
    }
    #[inline(always)]
    unsafe fn even(q: __m512) -> __m512i {
        // SAFETY: as the caller's.
        unsafe {
            let q = _mm512_castps_si512(q);
            let bits = match MANTISSA {
                3 => _mm512_srli_epi32::<19>(q),
                _ => _mm512_srli_epi32::<20>(q),
            };
            let add = _mm512_loadu_si512(const { &Self::EVEN }.as_ptr().cast());
            _mm512_add_epi32(q, _mm512_permutexvar_epi32(bits, add))
        }
    }
    #[inline(always)]
    unsafe fn store<const APART: bool>([a, b]: [__m512i; 2], dst: *mut u8) -> bool {
        // SAFETY: as the caller's.
        unsafe {
            let codes = _mm512_packus_epi16(Self::numbered(a), Self::numbered(b));
            let some = _mm512_test_epi8_mask(codes, codes);
            let below = const { Self::BELOW << MANTISSA };
            // Subnormal codes are above, having wrapped around.
            let normal = _mm512_sub_epi8(codes, _mm512_set1_epi8((below + (1 << MANTISSA)) as i8));
            let most = _mm512_set1_epi8((MAX - (1 << MANTISSA)) as i8);
            let beyond = _mm512_mask_cmpgt_epu8_mask(some, normal, most);
            let codes = _mm512_maskz_sub_epi8(some, codes, _mm512_set1_epi8(below as i8));
            let codes = with_signs::<{ i8::MIN }>(codes, _mm512_packs_epi16(a, b));
            _mm512_storeu_si512(dst.cast(), in_order::<APART>(codes));
            beyond == 0
        }
    }
}

/// `float4_e2m1fn`, packed.
pub(super) struct E2M1;

impl E2M1 {
    /// The codes by the exponent from 1/8 on, two bits of the mantissa, and the sign.
    const FOUND: [u8; 64] = {
        let mut codes = [0; 64];
        let mut i = 0;
        while i < 64 {
            codes[i] = match i % 32 {
                0..4 => 0,
                // From 1/4, 3/4, 5/4 and so on.
                4..10 => 1,
                10..13 => 2,
                13..15 => 3,
                15..17 => 4,
                17..19 => 5,
                19..21 => 6,
                _ => 7,
            } | (i / 32 * 8) as u8;
            i += 1;
        }
        codes
    };
    /// 1/4, 5/4, 5/2 and 5, which become the code below them, lose a unit. Zero does not.
    const EVEN: [u32; 16] = {
        let mut add = [0; 16];
        (add[0b0100], add[0b1101], add[0b0001], add[0b0101]) = (!0, !0, !0, !0);
        add
    };
}

impl Codes for E2M1 {
    type Again = Packed<Float<4, false, NO_NAN, PLAIN>, 4>;
    const NEAR: u32 = (1 << 21) - WINDOW;
    #[inline(always)]
    unsafe fn beside(q: __m512) -> [__m512i; 2] {
        // SAFETY: as the caller's.
        unsafe {
            let q = _mm512_castps_si512(q);
            [q, _mm512_add_epi32(q, _mm512_set1_epi32(WINDOW as i32))]
        }
    }
    #[inline(always)]
    unsafe fn store<const APART: bool>([a, b]: [__m512i; 2], dst: *mut u8) -> bool {
        // SAFETY: as the caller's.
        unsafe {
            let [low, high] = each!([a, b], |x| _mm512_srli_epi16::<6>(from(x, 124 << 8)));
            let index = _mm512_packus_epi16(low, high);
            let beyond = _mm512_cmpeq_epi8_mask(index, _mm512_set1_epi8(-1));
            let index = _mm512_min_epu8(index, _mm512_set1_epi8(31));
            let index = with_signs::<0x20>(index, _mm512_srli_epi16::<2>(_mm512_packs_epi16(a, b)));
            store_packed::<APART>(_mm512_permutexvar_epi8(index, constant(&Self::FOUND)), dst);
            beyond == 0
        }
    }
    #[inline(always)]
    unsafe fn even(q: __m512) -> __m512i {
        // SAFETY: as the caller's.
        unsafe {
            let q = _mm512_castps_si512(q);
            let add = _mm512_loadu_si512(Self::EVEN.as_ptr().cast());
            _mm512_add_epi32(q, _mm512_permutexvar_epi32(_mm512_srli_epi32::<21>(q), add))
        }
    }
}

/// `int8`, and packed `int4`.
pub(super) struct Int<const PACKED: bool, A>(PhantomData<A>);
pub(super) type Int8 = Int<false, Bytes<Signed<true, DIRECTED>>>;
pub(super) type Int4 = Int<true, Packed<Signed<false, DIRECTED>, 4>>;

impl<const PACKED: bool, A: Target> Codes for Int<PACKED, A> {
    type Again = A;
    const UNIT: f32 = 65536.0;
    const NEAR: u32 = 0x1_0000 - WINDOW;
    #[inline(always)]
    unsafe fn beside(q: __m512) -> [__m512i; 2] {
        // SAFETY: as the caller's.
        unsafe {
            let half = _mm512_set1_epi32((0x8000 + WINDOW / 2) as i32);
            [_mm512_add_epi32(_mm512_cvtps_epi32(q), half); 2]
        }
    }
    #[inline(always)]
    unsafe fn even(q: __m512) -> __m512i {
        // SAFETY: as the caller's.
        unsafe { _mm512_slli_epi32::<16>(_mm512_cvtps_epi32(q)) }
    }
    #[inline(always)]
    unsafe fn store<const APART: bool>([a, b]: [__m512i; 2], dst: *mut u8) -> bool {
        // SAFETY: as the caller's.
        unsafe {
            // What 32 bits do not hold became their least number.
            let beyond = each!([a, b], |x| _mm512_cmpeq_epi16_mask(x, _mm512_set1_epi16(i16::MIN)));
            let codes = _mm512_packs_epi16(a, b);
            if PACKED {
                let codes = _mm512_max_epi8(codes, _mm512_set1_epi8(-8));
                let codes = _mm512_min_epi8(codes, _mm512_set1_epi8(7));
                store_packed::<APART>(_mm512_and_si512(codes, _mm512_set1_epi8(15)), dst);
            } else {
                _mm512_storeu_si512(dst.cast(), in_order::<APART>(codes));
            }
            beyond[0] | beyond[1] == 0
        }
    }
}

/// [`Codes::store`] of a block.
#[inline(always)]
unsafe fn store_words<S: Source<Registers>, T: Codes>(t: [__m512i; 4], dst: *mut u8) -> bool {
    // SAFETY: the caller's promise.
    unsafe {
        let words = upper_halves(t);
        if S::APART { T::store::<true>(words, dst) } else { T::store::<false>(words, dst) }
    }
}

/// Stores a block by the stage of all quotients.
#[cold]
#[inline(always)]
unsafe fn again<S: Source<Registers>, W: Stage<Registers>>(
    x: [__m512i; 4],
    held: &[W::Held; 4],
    runs: Runs<'_>,
    dst: *mut u8,
    data: &Data,
) {
    // SAFETY: the caller's promise.
    unsafe { W::store::<Elements<f32>>(block_in_order::<S>(x), held, runs, dst, data) }
}

/// Products with a reciprocal.
pub(super) struct Beside<T, const BLOCK: bool>(PhantomData<T>);

impl<T: Codes, const BLOCK: bool> Stage<Registers> for Beside<T, BLOCK> {
    const BITS: usize = <T::Again as Target>::BITS;
    type Held = __m512;
    #[inline(always)]
    unsafe fn hold(factors: &Factors<'_>, i: usize) -> __m512 {
        // SAFETY: the caller's promise.
        unsafe { _mm512_set1_ps(factors.factor.get_unchecked(i) * const { SMALLER * T::UNIT }) }
    }
    #[inline(always)]
    unsafe fn store<S: Source<Registers>>(
        x: [__m512i; 4],
        held: &[__m512; 4],
        runs: Runs<'_>,
        dst: *mut u8,
        data: &Data,
    ) {
        // SAFETY: as the caller's.
        unsafe {
            let forms = each!([0, 1, 2, 3], |k| T::beside(_mm512_mul_ps(_mm512_castsi512_ps(x[k]), held[k])));
            let bits = _mm512_set1_epi32(T::NEAR as i32);
            let near = each!(forms, |[_, t]| _mm512_testn_epi32_mask(t, bits));
            let mut covered = store_words::<S, T>(each!(forms, |[t, _]| t), dst);
            if (near[0] | near[1]) | (near[2] | near[3]) != 0 {
                let factors = each!(runs.1, |i| Exact::<BLOCK>::factors::<Registers, false>(runs.0, i));
                let q = each!([0, 1, 2, 3], |k| Exact::<BLOCK>::step::<Registers>(x[k], &factors[k]));
                covered &= store_words::<S, T>(each!(q, |q| T::even(_mm512_castsi512_ps(q))), dst);
            }
            if !covered {
                let factors = each!(runs.1, |i| Exact::<BLOCK>::factors::<Registers, false>(runs.0, i));
                again::<S, Stored<Exact<BLOCK>, T::Again>>(x, &factors, runs, dst, data);
            }
        }
    }
}

/// Exact quotients: products with a power of two.
pub(super) struct Even<T>(PhantomData<T>);

impl<T: Codes> Stage<Registers> for Even<T> {
    const BITS: usize = <T::Again as Target>::BITS;
    type Held = [__m512i; 3];
    #[inline(always)]
    unsafe fn hold(factors: &Factors<'_>, i: usize) -> [__m512i; 3] {
        // SAFETY: the caller's promise.
        unsafe { Times::factors::<Registers, false>(factors, i) }
    }
    #[inline(always)]
    unsafe fn store<S: Source<Registers>>(
        x: [__m512i; 4],
        held: &[[__m512i; 3]; 4],
        runs: Runs<'_>,
        dst: *mut u8,
        data: &Data,
    ) {
        // SAFETY: as the caller's.
        unsafe {
            let t = each!([0, 1, 2, 3], |k| {
                T::even(_mm512_castsi512_ps(Times::step::<Registers>(x[k], &held[k])))
            });
            if !store_words::<S, T>(t, dst) {
                again::<S, Stored<Times, T::Again>>(x, held, runs, dst, data);
            }
        }
    }
}

/// The stages of the pairs that have loops.
pub(super) mod stages {
    pub(crate) use super::Halves;
    use super::*;
    pub(crate) type E4M3Times = Even<super::E4M3>;
    pub(crate) type E5M2Times = Even<super::E5M2>;
    pub(crate) type E4M3 = Beside<super::E4M3, false>;
    pub(crate) type E5M2 = Beside<super::E5M2, false>;
    pub(crate) type FourTimes = Even<E2M1>;
    pub(crate) type Four = Beside<E2M1, true>;
    pub(crate) type Int8 = Beside<super::Int8, false>;
    pub(crate) type Int4 = Beside<super::Int4, false>;
}
