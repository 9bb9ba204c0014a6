//! Operations on lanes of every width: what sources and targets need of a tier in addition to [`Blocks`].
//!
//! A register has no type of its own: each operation says how wide its lanes are. Operations without a letter treat lanes as bits or wrapping
//! integers; `u`, `i` and `f` mean unsigned integers, signed integers, and IEEE binary floats. Masks are lanes of all ones or all zeros. "In the
//! direction" means the rounding direction of the floating-point environment (`fpenv`): only operations named `_env` round in it. All other
//! operations are exact, or say how they round.
//!
//! The methods with bodies are compositions; a tier overrides them if it has a shorter sequence.

use super::{
    eight, two,
    unit::{Bytes, Doubles, Function, Halves, Kernel, Limits, Pace, Words},
};
use crate::{
    format::data::Data,
    vector::{Blocks, each},
};

/// The operations that the module describes.
pub(crate) trait LaneOps: Blocks {
    /// How kernels step through their elements.
    const PACE: Pace = Pace::Long;

    /// A kernel as a function: [`Vectorized`](super::Vectorized), unless the tier has a shorter one.
    type Function<K: Kernel<Self>>: Function;

    /// Runs a kernel inside a function that has the instructions of this token, on targets where not every function has them.
    ///
    /// # Safety
    ///
    /// As [`Kernel::run`].
    #[inline(always)]
    unsafe fn vectorize<K: Kernel<Self>>(self, src: *const u8, dst: *mut u8, n: usize, data: &Data) {
        // SAFETY: the caller grants the buffers.
        unsafe { K::run(self, src, dst, n, data) }
    }

    /// The token for a kernel with this data. A tier whose target has no rounding direction of its own keeps it in the token.
    #[inline(always)]
    fn under(self, _: &Data) -> Self {
        self
    }

    // Bits.

    /// `a & !b`
    fn and_not(self, a: Self::V, b: Self::V) -> Self::V;
    /// Every bit of `yes` where the bit of `mask` is set, of `no` elsewhere.
    fn select(self, mask: Self::V, yes: Self::V, no: Self::V) -> Self::V;
    /// Whether any bit is set.
    fn any(self, a: Self::V) -> bool;

    // Lanes of 8 bits.

    fn splat_8(self, x: u8) -> Self::V;
    fn add_8(self, a: Self::V, b: Self::V) -> Self::V;
    fn sub_8(self, a: Self::V, b: Self::V) -> Self::V;
    /// `c + a * b`
    fn mul_add_8(self, c: Self::V, a: Self::V, b: Self::V) -> Self::V;
    fn min_u8(self, a: Self::V, b: Self::V) -> Self::V;
    fn max_u8(self, a: Self::V, b: Self::V) -> Self::V;
    fn min_i8(self, a: Self::V, b: Self::V) -> Self::V;
    fn max_i8(self, a: Self::V, b: Self::V) -> Self::V;
    fn eq_8(self, a: Self::V, b: Self::V) -> Self::V;
    /// `a >= b`
    fn ge_u8(self, a: Self::V, b: Self::V) -> Self::V;
    /// The mask of lanes whose top bit is set.
    fn signs_8(self, a: Self::V) -> Self::V;
    fn shl_8<const BY: i32>(self, a: Self::V) -> Self::V;
    /// Shifts zeros in.
    fn shr_8<const BY: i32>(self, a: Self::V) -> Self::V;
    /// The low `BY` bits of `a` combined with `b << BY`.
    #[inline(always)]
    fn shl_insert_8<const BY: i32>(self, a: Self::V, b: Self::V) -> Self::V {
        self.or(self.and(a, self.splat_8((1 << BY) - 1)), self.shl_8::<BY>(b))
    }
    /// Interleaves the lanes of `a` and `b`: the first halves in one register, the second halves in the other.
    fn zip_8(self, a: Self::V, b: Self::V) -> [Self::V; 2];
    /// The even bytes of two registers.
    fn even_8(self, a: Self::V, b: Self::V) -> Self::V;
    /// The odd bytes of two registers.
    fn odd_8(self, a: Self::V, b: Self::V) -> Self::V;

    // Look-ups.

    /// Whether most 8-bit floats become wider floats by a table of 16 entries and arithmetic ([`super::ends`]) rather than by a table of 128.
    const ENDS: bool = false;
    /// A table of 64 entries of a byte.
    type Table64: Copy;
    fn table_16(self, entries: &[u8; 16]) -> Self::V;
    fn table_64(self, entries: &[u8; 64]) -> Self::Table64;
    /// The entries at `index`, which is less than 16.
    fn look_up_16(self, table: Self::V, index: Self::V) -> Self::V;
    /// The entries at `index`; 0 where the index is 64 or more.
    fn look_up_64(self, table: Self::Table64, index: Self::V) -> Self::V;
    /// The entries at `index`; `found` where the index is 64 or more.
    fn look_up_64_or(self, found: Self::V, table: Self::Table64, index: Self::V) -> Self::V;

    // Lanes of 16 bits.

    fn splat_16(self, x: u16) -> Self::V;
    fn add_16(self, a: Self::V, b: Self::V) -> Self::V;
    fn min_u16(self, a: Self::V, b: Self::V) -> Self::V;
    fn max_i16(self, a: Self::V, b: Self::V) -> Self::V;
    /// `a > b`
    fn gt_u16(self, a: Self::V, b: Self::V) -> Self::V;
    /// The mask of lanes that are not zero.
    fn nonzero_16(self, a: Self::V) -> Self::V;
    fn shl_16<const BY: i32>(self, a: Self::V) -> Self::V;
    /// Shifts zeros in.
    fn shr_16<const BY: i32>(self, a: Self::V) -> Self::V;
    /// The mask of lanes whose top bit is set.
    fn signs_16(self, a: Self::V) -> Self::V;
    /// Shifts `a` left by the low byte of `by`, or right if that signed byte is negative; zero if all bits are shifted out.
    fn shift_16(self, a: Self::V, by: Self::V) -> Self::V;

    // Lanes of 32 bits. `Simd` and `Blocks` have the integer operations.

    /// `a > b`
    fn gt_u32(self, a: Self::V, b: Self::V) -> Self::V;
    /// The mask of lanes that are not zero.
    fn nonzero_32(self, a: Self::V) -> Self::V;
    /// The mask of lanes whose top bit is set.
    fn signs_32(self, a: Self::V) -> Self::V;
    /// As [`shift_16`](Self::shift_16): only the low byte of a lane of `by` counts.
    fn shift_32(self, a: Self::V, by: Self::V) -> Self::V;
    /// The even lanes of two registers.
    fn even_32(self, a: Self::V, b: Self::V) -> Self::V;
    /// The odd lanes of two registers.
    fn odd_32(self, a: Self::V, b: Self::V) -> Self::V;

    // Lanes of 64 bits.

    fn splat_64(self, x: u64) -> Self::V;
    fn add_64(self, a: Self::V, b: Self::V) -> Self::V;
    fn sub_64(self, a: Self::V, b: Self::V) -> Self::V;
    /// The mask of lanes that are not zero.
    fn nonzero_64(self, a: Self::V) -> Self::V;
    /// The mask of lanes whose top bit is set.
    fn signs_64(self, a: Self::V) -> Self::V;
    /// As [`shift_16`](Self::shift_16): only the low byte of a lane of `by` counts.
    fn shift_64(self, a: Self::V, by: Self::V) -> Self::V;
    /// The even lanes of two registers.
    fn even_64(self, a: Self::V, b: Self::V) -> Self::V;
    /// The odd lanes of two registers.
    fn odd_64(self, a: Self::V, b: Self::V) -> Self::V;
    /// Interleaves the lanes of `a` and `b`: the first halves in one register, the second halves in the other.
    fn zip_64(self, a: Self::V, b: Self::V) -> [Self::V; 2];

    // From one width of integers to another, in order.

    fn widen_8<const SIGNED: bool>(self, x: Self::V) -> [Self::V; 2];
    fn widen_16<const SIGNED: bool>(self, x: Self::V) -> [Self::V; 2];
    fn widen_32<const SIGNED: bool>(self, x: Self::V) -> [Self::V; 2];
    /// The low halves of the lanes or, if `SATURATE`, the nearest integers of half the width; these are signed if `TO`, and the lanes are signed
    /// if `FROM`.
    fn narrow_16<const SATURATE: bool, const FROM: bool, const TO: bool>(
        self,
        a: Self::V,
        b: Self::V,
    ) -> Self::V;
    fn narrow_32<const SATURATE: bool, const FROM: bool, const TO: bool>(
        self,
        a: Self::V,
        b: Self::V,
    ) -> Self::V;
    fn narrow_64<const SATURATE: bool, const FROM: bool, const TO: bool>(
        self,
        a: Self::V,
        b: Self::V,
    ) -> Self::V;
    /// The nearest integers of the same width; these are signed if `TO`, and the lanes are signed if `FROM`.
    #[inline(always)]
    fn fit_8<const FROM: bool, const TO: bool>(self, x: Self::V) -> Self::V {
        match (FROM, TO) {
            (true, false) => self.max_i8(x, self.splat_8(0)),
            (false, true) => self.min_u8(x, self.splat_8(0x7F)),
            _ => x,
        }
    }
    #[inline(always)]
    fn fit_16<const FROM: bool, const TO: bool>(self, x: Self::V) -> Self::V {
        match (FROM, TO) {
            (true, false) => self.max_i16(x, self.splat_16(0)),
            (false, true) => self.min_u16(x, self.splat_16(0x7FFF)),
            _ => x,
        }
    }
    #[inline(always)]
    fn fit_32<const FROM: bool, const TO: bool>(self, x: Self::V) -> Self::V {
        match (FROM, TO) {
            (true, false) => self.max_i(x, self.splat(0)),
            (false, true) => self.min_u(x, self.splat(0x7FFF_FFFF)),
            _ => x,
        }
    }
    #[inline(always)]
    fn fit_64<const FROM: bool, const TO: bool>(self, x: Self::V) -> Self::V {
        let signs = self.signs_64(x);
        match (FROM, TO) {
            (true, false) => self.and_not(x, signs),
            (false, true) => self.and(self.or(x, signs), self.splat_64(u64::MAX >> 1)),
            _ => x,
        }
    }

    /// Limits bytes to codes of fewer bits if `NARROW`: to the low bits of integers (signed if `FROM`) or, if `SATURATE`, to the nearest integers
    /// (signed if `TO`). If the bytes saturated, they are signed if both are.
    #[inline(always)]
    fn codes_of_8<const NARROW: bool, const SATURATE: bool, const FROM: bool, const TO: bool>(
        self,
        x: Bytes<Self>,
        limits: Limits,
    ) -> Bytes<Self> {
        let (ones, highest) = (self.splat_8(limits.ones), self.splat_8(limits.highest));
        match (SATURATE, FROM && TO) {
            _ if !NARROW => x,
            (false, _) => self.and(x, ones),
            (true, false) => self.min_u8(x, highest),
            (true, true) => self.and(self.max_i8(self.min_i8(x, highest), self.splat_8(limits.lowest)), ones),
        }
    }
    /// The same from lanes of 16 bits.
    #[inline(always)]
    fn codes_of_16<const NARROW: bool, const SATURATE: bool, const FROM: bool, const TO: bool>(
        self,
        [a, b]: Halves<Self>,
        limits: Limits,
    ) -> Bytes<Self> {
        let bytes = if NARROW && !FROM {
            self.narrow_16::<SATURATE, false, false>(a, b)
        } else {
            self.narrow_16::<SATURATE, FROM, TO>(a, b)
        };
        self.codes_of_8::<NARROW, SATURATE, FROM, TO>(bytes, limits)
    }
    /// The same from lanes of 32 bits.
    #[inline(always)]
    fn codes_of_32<const NARROW: bool, const SATURATE: bool, const FROM: bool, const TO: bool>(
        self,
        x: Words<Self>,
        limits: Limits,
    ) -> Bytes<Self> {
        if SATURATE && !FROM {
            return self.low_bytes_32(each!(x, |x| self.min_u(x, self.splat(limits.highest.into()))));
        }
        let bytes = if SATURATE {
            let [a, b, c, d] = x;
            let halves = [self.narrow_32::<true, true, true>(a, b), self.narrow_32::<true, true, true>(c, d)];
            self.narrow_16::<true, true, TO>(halves[0], halves[1])
        } else {
            self.low_bytes_32(x)
        };
        self.codes_of_8::<NARROW, SATURATE, FROM, TO>(bytes, limits)
    }
    /// The same from lanes of 64 bits.
    #[inline(always)]
    fn codes_of_64<const NARROW: bool, const SATURATE: bool, const FROM: bool, const TO: bool>(
        self,
        x: Doubles<Self>,
        limits: Limits,
    ) -> Bytes<Self> {
        if SATURATE {
            let words = each!([0, 2, 4, 6], |k| self.narrow_64::<true, FROM, FROM>(x[k], x[k + 1]));
            self.codes_of_32::<NARROW, true, FROM, TO>(words, limits)
        } else {
            self.codes_of_8::<NARROW, false, FROM, TO>(self.low_bytes_64(x), limits)
        }
    }
    /// The low 16 bits of lanes of 64 or, if `SATURATE`, the nearest integers (signed if `TO`).
    #[inline(always)]
    fn halves_of_64<const SATURATE: bool, const FROM: bool, const TO: bool>(
        self,
        x: Doubles<Self>,
    ) -> Halves<Self> {
        if SATURATE {
            let [a, b, c, d] = each!([0, 2, 4, 6], |k| self.narrow_64::<true, FROM, FROM>(x[k], x[k + 1]));
            [self.narrow_32::<true, FROM, TO>(a, b), self.narrow_32::<true, FROM, TO>(c, d)]
        } else {
            self.low_halves_64(x)
        }
    }
    /// 1 for lanes that are not zero.
    #[inline(always)]
    fn truths_32(self, x: Words<Self>) -> Bytes<Self> {
        self.and(self.low_bytes_32(each!(x, |x| self.nonzero_32(x))), self.splat_8(1))
    }
    #[inline(always)]
    fn truths_64(self, x: Doubles<Self>) -> Bytes<Self> {
        self.and(self.low_bytes_64(eight!(x, |x| self.nonzero_64(x))), self.splat_8(1))
    }

    /// The low bytes of lanes of 16 bits, shifted right.
    #[inline(always)]
    fn shr_narrow_16<const BY: i32>(self, a: Self::V, b: Self::V) -> Self::V {
        self.narrow_16::<false, false, false>(self.shr_16::<BY>(a), self.shr_16::<BY>(b))
    }
    /// The low byte of every lane of 32 bits.
    #[inline(always)]
    fn low_bytes_32(self, [a, b, c, d]: Words<Self>) -> Bytes<Self> {
        let low = self.narrow_32::<false, false, false>(a, b);
        self.narrow_16::<false, false, false>(low, self.narrow_32::<false, false, false>(c, d))
    }
    /// The low byte of every lane of 64 bits.
    #[inline(always)]
    fn low_bytes_64(self, x: Doubles<Self>) -> Bytes<Self> {
        self.low_bytes_32(each!([0, 2, 4, 6], |k| self.even_32(x[k], x[k + 1])))
    }
    /// The lowest 16 bits of every lane of 64 bits.
    #[inline(always)]
    fn low_halves_64(self, x: Doubles<Self>) -> Halves<Self> {
        let [a, b, c, d] = each!([0, 2, 4, 6], |k| self.even_32(x[k], x[k + 1]));
        [self.narrow_32::<false, false, false>(a, b), self.narrow_32::<false, false, false>(c, d)]
    }
    /// Bytes in byte `AT` (0 or 3) of lanes of 32 bits, zeros elsewhere.
    #[inline(always)]
    fn bytes_in_words<const AT: usize>(self, x: Bytes<Self>) -> Words<Self> {
        let [low, high] = two!(self.widen_8::<false>(x), |x| self.widen_16::<false>(x));
        let words = [low[0], low[1], high[0], high[1]];
        if AT == 0 { words } else { each!(words, |x| self.shl::<24>(x)) }
    }
    /// Bytes in byte `AT` of lanes of 64 bits: in the lowest byte with zeros above, or in the top byte with zeros below.
    fn bytes_in_doubles<const AT: usize>(self, x: Bytes<Self>) -> Doubles<Self>;
    /// Lanes of 16 bits within lanes of 64 bits: at the bottom or at the top, with zeros elsewhere; `AT` is the byte where they begin.
    fn halves_in_doubles<const AT: usize>(self, x: Halves<Self>) -> Doubles<Self>;

    // Float32.

    /// `a == b`; zeros if either is NaN.
    fn eq_f32(self, a: Self::V, b: Self::V) -> Self::V;
    /// `|a| >= |b|`, false if either is NaN.
    fn abs_ge_f32(self, a: Self::V, b: Self::V) -> Self::V;
    /// `|a| > |b|`, false if either is NaN.
    fn abs_gt_f32(self, a: Self::V, b: Self::V) -> Self::V;
    /// Whether arithmetic turns NaN into a NaN with the same sign.
    const NAN_KEEPS_SIGN: bool = true;
    /// The lesser of the two; `a` if it is NaN. `b` is a number.
    fn min_nan_f32(self, a: Self::V, b: Self::V) -> Self::V;
    /// The greater of the two; `a` if it is NaN. `b` is a number.
    fn max_nan_f32(self, a: Self::V, b: Self::V) -> Self::V;
    /// `c - a * b`, where the result is exact.
    fn mul_sub_f32(self, c: Self::V, a: Self::V, b: Self::V) -> Self::V;
    /// Rounds to an integral value, in the direction.
    fn round_env_f32(self, x: Self::V) -> Self::V;
    /// Rounds to the nearest integral value, ties away from zero.
    fn round_away_f32(self, x: Self::V) -> Self::V;
    /// Truncates to int32 (or uint32) and saturates; NaN becomes 0.
    fn int32_of_f32<const SIGNED: bool>(self, x: Self::V) -> Self::V;
    /// The low 32 bits of the truncated value; infinity and NaN become 0.
    fn low_32_of_f32(self, x: Self::V) -> Self::V;
    /// The truncated int32, or 0 if it has more bits: `x` is in the range of int32, or 0 modulo 256, infinite or NaN.
    fn int32_or_0_of_f32(self, x: Self::V) -> Self::V;
    /// Truncates to int8 (or uint8) and saturates; NaN becomes 0.
    #[inline(always)]
    fn int8_of_f32<const SIGNED: bool>(self, x: Words<Self>) -> Bytes<Self> {
        self.codes_of_32::<false, true, SIGNED, SIGNED>(
            each!(x, |x| self.int32_of_f32::<SIGNED>(x)),
            Limits::byte(SIGNED),
        )
    }
    /// Truncates to int16 (or uint16) and saturates; NaN becomes 0.
    #[inline(always)]
    fn int16_of_f32<const SIGNED: bool>(self, x: Words<Self>) -> Halves<Self> {
        let [a, b, c, d] = each!(x, |x| self.int32_of_f32::<SIGNED>(x));
        [self.narrow_32::<true, SIGNED, SIGNED>(a, b), self.narrow_32::<true, SIGNED, SIGNED>(c, d)]
    }
    /// The low 16 bits of the truncated value; infinity and NaN become 0. The upper halves of lanes may have any bits.
    #[inline(always)]
    fn low_16_of_f32(self, x: Self::V) -> Self::V {
        self.low_32_of_f32(x)
    }
    /// Truncates to 64 bits: keeps the low bits or, if `SATURATE`, saturates to int64 (if `TO`) or uint64. NaN becomes 0; if `SATURATE` is
    /// false, infinity does, too.
    #[inline(always)]
    fn int64s_of_f32<const SATURATE: bool, const TO: bool>(self, x: Words<Self>) -> Doubles<Self> {
        let [[a, b], [c, d], [e, f], [g, h]] = each!(x, |x| self.f64_of_f32(x));
        self.int64s_of_f64::<SATURATE, TO>([a, b, c, d, e, f, g, h])
    }
    /// Converts int32 that float32 holds, exactly.
    #[inline(always)]
    fn f32_of_short_int32(self, x: Self::V) -> Self::V {
        self.f32_of_int32_env::<true>(x)
    }
    /// Converts int32 (or uint32), rounded in the direction.
    fn f32_of_int32_env<const SIGNED: bool>(self, x: Self::V) -> Self::V;
    /// Converts bytes (signed or unsigned), exactly.
    #[inline(always)]
    fn f32_of_bytes<const SIGNED: bool>(self, x: Bytes<Self>) -> Words<Self> {
        let [low, high] = two!(self.widen_8::<SIGNED>(x), |x| self.widen_16::<SIGNED>(x));
        each!([low[0], low[1], high[0], high[1]], |x| self.f32_of_short_int32(x))
    }

    // Float16 and bfloat16.

    /// Whether [`bf16_of_f32`](Self::bf16_of_f32) rounds in the direction.
    const BF16_IN_DIRECTION: bool = false;
    fn f32_of_f16(self, x: Self::V) -> [Self::V; 2];
    /// Rounds in the direction. NaN becomes quiet with its sign and upper bits.
    fn f16_of_f32_env(self, a: Self::V, b: Self::V) -> Self::V;
    /// Rounds to nearest even or, if [`BF16_IN_DIRECTION`](Self::BF16_IN_DIRECTION), in the direction. NaN becomes the canonical NaN with its
    /// sign.
    fn bf16_of_f32(self, a: Self::V, b: Self::V) -> Self::V;
    /// Converts int16 (or uint16), rounded in the direction.
    #[inline(always)]
    fn f16_of_int16_env<const SIGNED: bool>(self, x: Self::V) -> Self::V {
        let [a, b] = two!(self.widen_16::<SIGNED>(x), |x| self.f32_of_short_int32(x));
        self.f16_of_f32_env(a, b)
    }
    /// The upper halves of `a + x` and `b + y`, which are wrapping sums of 32-bit lanes.
    #[inline(always)]
    fn add_upper_halves(self, [a, b]: [Self::V; 2], [x, y]: [Self::V; 2]) -> Self::V {
        self.pack_high_halves(self.add(a, x), self.add(b, y))
    }
    /// Puts lanes of 16 bits into the upper halves of lanes of 32 bits, with zeros below.
    #[inline(always)]
    fn in_upper_halves(self, x: Self::V) -> [Self::V; 2] {
        two!(self.widen_16::<false>(x), |x| self.shl::<16>(x))
    }

    // Float64.

    /// `|a| >= |b|`, false if either is NaN.
    fn abs_ge_f64(self, a: Self::V, b: Self::V) -> Self::V;
    /// `a + b`, rounded in the direction.
    fn add_env_f64(self, a: Self::V, b: Self::V) -> Self::V;
    /// Rounds to an integral value, in the direction.
    fn round_env_f64(self, x: Self::V) -> Self::V;
    /// Rounds to the nearest integral value, ties away from zero.
    fn round_away_f64(self, x: Self::V) -> Self::V;
    /// Truncates to int64 (or uint64) and saturates; NaN becomes 0.
    fn int64_of_f64<const SIGNED: bool>(self, x: Self::V) -> Self::V;
    /// The low 64 bits of the truncated value; infinity and NaN become 0.
    fn low_64_of_f64(self, x: Self::V) -> Self::V;
    /// As [`int64s_of_f32`](Self::int64s_of_f32).
    #[inline(always)]
    fn int64s_of_f64<const SATURATE: bool, const TO: bool>(self, x: Doubles<Self>) -> Doubles<Self> {
        eight!(x, |x| if SATURATE { self.int64_of_f64::<TO>(x) } else { self.low_64_of_f64(x) })
    }
    /// Truncates to `BITS` (8, 16 or 32): keeps the low bits or, if `SATURATE`, saturates to int32 (if `TO`) or uint32. NaN becomes 0; if
    /// `SATURATE` is false, infinity does, too. The other bits of lanes may be anything.
    #[inline(always)]
    fn int32s_of_f64<const BITS: u32, const SATURATE: bool, const TO: bool>(
        self,
        x: Doubles<Self>,
    ) -> Words<Self> {
        let x = if BITS == 8 && !SATURATE {
            eight!(x, |x| self.int64_or_0_of_f64(x))
        } else {
            self.int64s_of_f64::<SATURATE, TO>(x)
        };
        each!([0, 2, 4, 6], |k| self.narrow_64::<SATURATE, TO, TO>(x[k], x[k + 1]))
    }
    /// The truncated int64, or 0 for values with more bits (a multiple of 2^11, or infinite) and for NaN.
    fn int64_or_0_of_f64(self, x: Self::V) -> Self::V;
    /// Converts int64 (or uint64), rounded in the direction.
    fn f64_of_int64_env<const SIGNED: bool>(self, x: Self::V) -> Self::V;
    /// Converts int64 (or uint64) to a float64 that every format of up to 51 significant bits rounds as it would round the integer itself.
    #[inline(always)]
    fn odd_f64_of_int64<const SIGNED: bool>(self, x: Doubles<Self>) -> Doubles<Self> {
        let exact = self.splat_64(((1_u64 << 53) as f64).to_bits());
        let nearest = eight!(x, |x| self.f64_of_int64_env::<SIGNED>(x));
        let long = eight!(nearest, |x| self.abs_ge_f64(x, exact));
        let [a, b, c, d] = each!([0, 2, 4, 6], |k| self.or(long[k], long[k + 1]));
        if !self.any(self.or(self.or(a, b), self.or(c, d))) {
            return nearest;
        }
        // Rare: if an integer has more than 53 bits, its lowest 11 are gathered into the bit above them; then float64 holds it.
        eight!(x, |x| {
            let low = self.splat_64(0x7FF);
            let gathered = self.and_not(self.or(x, self.add_64(self.and(x, low), low)), low);
            let long = self.abs_ge_f64(self.f64_of_int64_env::<SIGNED>(x), exact);
            self.f64_of_int64_env::<SIGNED>(self.select(long, gathered, x))
        })
    }
    /// Converts int32 (or uint32), exactly.
    fn f64_of_int32<const SIGNED: bool>(self, x: Self::V) -> [Self::V; 2];
    /// Converts bytes (signed or unsigned), exactly.
    fn f64_of_bytes<const SIGNED: bool>(self, x: Bytes<Self>) -> Doubles<Self>;
    /// Converts lanes of 16 bits (signed or unsigned), exactly.
    fn f64_of_halves<const SIGNED: bool>(self, x: Halves<Self>) -> Doubles<Self>;
    /// Converts exactly.
    fn f64_of_f32(self, x: Self::V) -> [Self::V; 2];
    /// Converts, rounded in the direction.
    fn f32_of_f64_env(self, a: Self::V, b: Self::V) -> Self::V;
    /// Converts, rounded to odd: values out of range of float32 become its largest magnitude.
    fn f32_of_f64_odd(self, a: Self::V, b: Self::V) -> Self::V;

    // Memory.

    /// # Safety
    ///
    /// A register can be read.
    unsafe fn load(self, p: *const u8) -> Self::V;
    /// # Safety
    ///
    /// A register can be written.
    unsafe fn store(self, p: *mut u8, x: Self::V);
    /// Loads half a register, and repeats it.
    ///
    /// # Safety
    ///
    /// The half can be read.
    #[inline(always)]
    unsafe fn load_half(self, p: *const u8) -> Self::V {
        let half = const { size_of::<Self::V>() / 2 };
        let mut x = self.splat(0);
        let to = (&raw mut x).cast::<u8>();
        // SAFETY: the caller's half, and both halves of a register.
        unsafe {
            to.copy_from_nonoverlapping(p, half);
            to.add(half).copy_from_nonoverlapping(p, half);
        }
        x
    }
    /// Loads register `k` of the registers that hold `n` elements of `SIZE` bytes (2 or a multiple of 4), with zeros behind the elements. Only the
    /// first half of the register counts if `SIZE` is 2.
    ///
    /// # Safety
    ///
    /// The elements can be read.
    #[inline(always)]
    unsafe fn load_few<const SIZE: usize>(self, p: *const u8, n: usize, k: usize) -> Self::V {
        let mut x = self.splat(0);
        let register = const { size_of::<Self::V>() };
        let used = (n * SIZE).saturating_sub(k * register).min(register);
        // SAFETY: the bytes are among the caller's elements, and fit in a register.
        unsafe {
            (&raw mut x).cast::<u8>().copy_from_nonoverlapping(p.wrapping_add(k * register), used);
        }
        x
    }
    /// Stores the first `QUARTERS` (1 or 2) quarters of a register.
    ///
    /// # Safety
    ///
    /// The quarters can be written.
    #[inline(always)]
    unsafe fn store_low<const QUARTERS: usize>(self, p: *mut u8, x: Self::V) {
        let used = const { size_of::<Self::V>() / 4 * QUARTERS };
        // SAFETY: the caller's quarters, and those of a register.
        unsafe { p.copy_from_nonoverlapping((&raw const x).cast(), used) };
    }
    /// Loads two units of codes of `BITS` (2, 4 or 6) bits from packed storage, one per byte.
    ///
    /// # Safety
    ///
    /// The bytes of both units can be read: `2 * BITS` for each 8 bytes of a register.
    unsafe fn unpack<const BITS: usize>(self, p: *const u8) -> [Self::V; 2];
    /// Stores two units of codes of `BITS` (2, 4 or 6) bits, which have no bits above these, to packed storage.
    ///
    /// # Safety
    ///
    /// The bytes of both units can be written.
    unsafe fn pack<const BITS: usize>(self, p: *mut u8, x: [Self::V; 2]);
}
