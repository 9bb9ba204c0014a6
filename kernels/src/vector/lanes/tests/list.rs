//! The operations, with their operands and how their results are compared.

use super::{Check, Lane, LaneOps, Memory, Operation, Rounds, Runs, Same, Tested};
use crate::vector::{each, lanes::Limits};
use crate::{
    dtype::DType,
    format::data::{Data, Direction},
    vector::{Blocks, Simd},
};
use alloc::{vec, vec::Vec};

/// Defines a function that checks operations.
macro_rules! operations {
    ($check:ident($m:ident: $bound:ident): $rounds:expr; $(
        ($($operand:ident: $lane:ident $([$count:literal])?),*) -> $result:ident = $body:expr;
    )*) => {
        fn $check<M: $bound + Tested, F: Fn(Direction) -> M, const BYTES: usize>(check: &mut Check<F, BYTES>) {$({
            struct This;
            impl Operation for This {
                const TEXT: &str = stringify!($body);
                const OPERANDS: &[(Lane, usize)] = &[$((Lane::$lane, operations!(@count $($count)?))),*];
                const RESULT: Same = Same::$result;
            }
            impl<M: $bound> Runs<M> for This {
                fn rounds() -> Rounds {
                    $rounds
                }
                #[inline(always)]
                fn run($m: M, operands: &mut impl Iterator<Item = M::V>) -> Vec<M::V> {
                    $(let $operand = operations!(@take operands $($count)?);)*
                    Vec::from($body)
                }
            }
            check.operation::<This>();
        })*}
    };
    (@count) => { 1 };
    (@count $count:literal) => { $count };
    (@take $operands:ident) => { $operands.next().unwrap() };
    (@take $operands:ident $count:literal) => {
        core::array::from_fn::<_, $count, _>(|_| $operands.next().unwrap())
    };
}

/// Checks the operations of tiers that use the kernels of the lanes.
pub(super) fn all<M: LaneOps, F: Fn(Direction) -> M, const BYTES: usize>(check: &mut Check<F, BYTES>) {
    blocks(check);
    bits(check);
    lanes(check);
    integers(check);
    floats(check);
    memory(check);
    directed(check);
    bfloat16(check);
}

/// Checks the operations of all tiers.
pub(super) fn blocks<M: Tested, F: Fn(Direction) -> M, const BYTES: usize>(check: &mut Check<F, BYTES>) {
    registers(check);
    block_memory(check);
    copies(check);
    directed_products(check);
    nearest(check);
}

/// Returns a truth value as a register.
fn truth<M: Blocks>(m: M, yes: bool) -> [M::V; 1] {
    [m.splat(yes as u32)]
}

operations! { registers(m: Blocks): Rounds::Never;
    (a: U64, b: U64) -> Bits64 = [m.and(a, b), m.or(a, b), m.xor(a, b)];
    (a: U32) -> Bits32 = [m.splat(0), m.splat(u32::MAX), m.splat(0x1234_5678), a];
    (a: U32, b: U32) -> Bits32 = [m.add(a, b), m.sub(a, b)];
    (a: U32) -> Bits32 = [m.shr::<0>(a), m.shr::<1>(a), m.shr::<16>(a), m.shr::<31>(a)];
    (a: U32) -> Bits32 = [m.shl::<0>(a), m.shl::<1>(a), m.shl::<16>(a), m.shl::<31>(a)];
    (a: U32, b: U32) -> Bits32 = [m.min_u(a, b), m.max_u(a, b)];
    (a: U32, b: U32) -> Bits32 = [m.min_i(a, b), m.max_i(a, b)];
    (x: U32, excess: F32) -> Bits32 = {
        // It must move by 1 to 8 in the right direction.
        let nudged = m.sub(m.nudge(x, excess), x);
        let [most, least] = [m.splat(1), m.splat(-1_i32 as u32)];
        let within = m.max_i(m.min_i(nudged, m.splat(8)), m.splat(-8_i32 as u32));
        [m.max_i(m.min_i(nudged, most), least), m.sub(nudged, within)]
    };
    (x: U32[16]) -> Bits32 = [across(m, &x[..M::LANES])];
    (a: F32, b: F32) -> Zero32 = {
        let least = m.min_f(a, b);
        // Either operand may be NaN: then the result is `b` or NaN.
        [m.select_nan(least, b, least)]
    };
    (x: F32, yes: U32, no: U32) -> Bits32 = [m.select_nan(x, yes, no)];
    (a: U8, b: U8, yes: U32, no: U32) -> Bits32 = {
        let [a, b] = each!([a, b], |x| m.and(x, m.splat(0x0101_0301)));
        [m.select_eq(a, b, yes, no)]
    };
    (x: F32[4]) -> Bits32 = truth(m, m.any_nan(x));
    (x: U32[4]) -> Bits8 = [m.in_order::<false>(m.pack_low::<false>(x))];
    (x: U32[4]) -> Bits8 = {
        let x = each!(x, |x| m.add(m.and(x, m.splat(0x0380_003F)), m.splat(100 << 23)));
        let counts = each!([1, 2, 3, 4], |mantissa| m.pack_counts::<false>(x, mantissa, 100));
        each!(counts, |x| m.in_order::<false>(x))
    };
    (x: U32[4]) -> Bits8 = {
        let signs = m.in_order::<false>(m.pack_sign::<false>(x));
        [m.and(signs, m.splat(0x8080_8080))]
    };
    (a: U32, b: U32) -> Bits16 = [m.pack_high_halves(a, b)];
    (code: U8, sign: U8) -> Bits8 = [m.sign_nonzero(code, sign)];
    (x: U32[4]) -> Bits8 = [m.pack_saturated::<false, true>(x), m.pack_saturated::<false, false>(x)];
    (a: U8, b: U8) -> Bits8 = [m.max_bytes(a, b)];
    (x: U32[4], low: U32) -> Bits32 = {
        let x = each!(x, |x| m.and(x, m.splat(0xFFFF_800F)));
        truth(m, m.any_low_half(x, m.and(low, m.splat(0xF))))
    };
}

/// Finds the largest lane of each of as many registers as a register has lanes.
fn across<M: Blocks>(m: M, x: &[M::V]) -> M::V {
    let mut x = x.to_vec();
    let mut step = 0;
    while x.len() > 1 {
        let pair = |x: &[M::V]| match step {
            0 => m.max_across::<0>(x[0], x[1]),
            1 => m.max_across::<1>(x[0], x[1]),
            2 => m.max_across::<2>(x[0], x[1]),
            _ => m.max_across::<3>(x[0], x[1]),
        };
        x = x.chunks_exact(2).map(pair).collect();
        step += 1;
    }
    x[0]
}

operations! { bits(m: LaneOps): Rounds::Never;
    (a: U64, b: U64) -> Bits64 = [m.and_not(a, b)];
    (mask: U64, yes: U64, no: U64) -> Bits64 = [m.select(mask, yes, no)];
    (a: U8, b: U8, c: U8) -> Bits32 = truth(m, m.any(m.and(m.eq_8(a, b), c)));
}

operations! { lanes(m: LaneOps): Rounds::Never;
    (a: U8) -> Bits8 = [m.splat_8(0), m.splat_8(0x81), a];
    (a: U8, b: U8) -> Bits8 = [m.add_8(a, b), m.sub_8(a, b)];
    (c: U8, a: U8, b: U8) -> Bits8 = [m.mul_add_8(c, a, b)];
    (a: U8, b: U8) -> Bits8 = [m.min_u8(a, b), m.max_u8(a, b)];
    (a: U8, b: U8) -> Bits8 = [m.min_i8(a, b), m.max_i8(a, b)];
    (a: U8, b: U8) -> Bits8 = [m.eq_8(a, b), m.ge_u8(a, b)];
    (a: U8) -> Bits8 = [m.signs_8(a)];
    (a: U8) -> Bits8 = [m.shl_8::<1>(a), m.shl_8::<4>(a), m.shl_8::<7>(a)];
    (a: U8, b: U8) -> Bits8 = [m.shl_insert_8::<1>(a, b), m.shl_insert_8::<4>(a, b), m.shl_insert_8::<7>(a, b)];
    (a: U8) -> Bits8 = [m.shr_8::<1>(a), m.shr_8::<4>(a), m.shr_8::<7>(a)];
    (a: U8, b: U8) -> Bits8 = m.zip_8(a, b);
    (a: U8, b: U8) -> Bits8 = [m.even_8(a, b), m.odd_8(a, b)];
    (index: U8) -> Bits8 = [m.look_up_16(m.table_16(TABLE.first_chunk().unwrap()), m.and(index, m.splat_8(15)))];
    (index: U8) -> Bits8 = [m.look_up_64(m.table_64(&TABLE), index)];
    (found: U8, index: U8) -> Bits8 = [m.look_up_64_or(found, m.table_64(&TABLE), index)];

    (a: U16) -> Bits16 = [m.splat_16(0), m.splat_16(0x8123), a];
    (a: U16, b: U16) -> Bits16 = [m.add_16(a, b)];
    (a: U16, b: U16) -> Bits16 = [m.min_u16(a, b), m.max_i16(a, b)];
    (a: U16, b: U16) -> Bits16 = [m.gt_u16(a, b)];
    (a: U16) -> Bits16 = [m.nonzero_16(a), m.signs_16(a)];
    (a: U16) -> Bits16 = [m.shl_16::<1>(a), m.shl_16::<8>(a), m.shl_16::<15>(a)];
    (a: U16) -> Bits16 = [m.shr_16::<1>(a), m.shr_16::<8>(a), m.shr_16::<15>(a)];
    (a: U16, by: U16) -> Bits16 = [m.shift_16(a, by)];

    (a: U32, b: U32) -> Bits32 = [m.gt_u32(a, b)];
    (a: U32) -> Bits32 = [m.nonzero_32(a), m.signs_32(a)];
    (a: U32, by: U32) -> Bits32 = [m.shift_32(a, by)];
    (a: U32, b: U32) -> Bits32 = [m.even_32(a, b), m.odd_32(a, b)];

    (a: U64) -> Bits64 = [m.splat_64(0), m.splat_64(0x8123_4567_89AB_CDEF), a];
    (a: U64, b: U64) -> Bits64 = [m.add_64(a, b), m.sub_64(a, b)];
    (a: U64) -> Bits64 = [m.nonzero_64(a), m.signs_64(a)];
    (a: U64, by: U64) -> Bits64 = [m.shift_64(a, by)];
    (a: U64, b: U64) -> Bits64 = [m.even_64(a, b), m.odd_64(a, b)];
    (a: U64, b: U64) -> Bits64 = m.zip_64(a, b);
}

/// Entries that depend on their index.
const TABLE: [u8; 64] = {
    let mut table = [0; 64];
    let mut i = 0;
    while i < 64 {
        table[i] = 0xC7_u8.wrapping_mul(i as u8 + 1);
        i += 1;
    }
    table
};

/// Integers as codes, by an operation of their width.
macro_rules! codes {
    ($m:ident.$codes:ident($x:ident)) => {
        [
            $m.$codes::<true, false, true, true>($x, Limits::of(2, true)),
            $m.$codes::<true, false, false, false>($x, Limits::of(4, false)),
            $m.$codes::<false, false, true, false>($x, Limits::of(8, false)),
            $m.$codes::<true, true, false, false>($x, Limits::of(2, false)),
            $m.$codes::<true, true, true, true>($x, Limits::of(2, true)),
            $m.$codes::<true, true, false, true>($x, Limits::of(4, true)),
            $m.$codes::<true, true, true, false>($x, Limits::of(4, false)),
            $m.$codes::<false, true, false, false>($x, Limits::of(8, false)),
            $m.$codes::<false, true, false, true>($x, Limits::of(8, true)),
            $m.$codes::<false, true, true, false>($x, Limits::of(8, false)),
            $m.$codes::<false, true, true, true>($x, Limits::of(8, true)),
        ]
    };
}

operations! { integers(m: LaneOps): Rounds::Never;
    (x: U8) -> Bits16 = m.widen_8::<false>(x);
    (x: U8) -> Bits16 = m.widen_8::<true>(x);
    (x: U16) -> Bits32 = m.widen_16::<false>(x);
    (x: U16) -> Bits32 = m.widen_16::<true>(x);
    (x: U32) -> Bits64 = m.widen_32::<false>(x);
    (x: U32) -> Bits64 = m.widen_32::<true>(x);
    (a: U16, b: U16) -> Bits8 = [m.narrow_16::<false, false, false>(a, b), m.narrow_16::<false, true, true>(a, b)];
    (a: U16, b: U16) -> Bits8 = [m.narrow_16::<true, false, false>(a, b), m.narrow_16::<true, false, true>(a, b)];
    (a: U16, b: U16) -> Bits8 = [m.narrow_16::<true, true, false>(a, b), m.narrow_16::<true, true, true>(a, b)];
    (a: U32, b: U32) -> Bits16 = [m.narrow_32::<false, false, false>(a, b), m.narrow_32::<false, true, true>(a, b)];
    (a: U32, b: U32) -> Bits16 = [m.narrow_32::<true, false, false>(a, b), m.narrow_32::<true, false, true>(a, b)];
    (a: U32, b: U32) -> Bits16 = [m.narrow_32::<true, true, false>(a, b), m.narrow_32::<true, true, true>(a, b)];
    (a: U64, b: U64) -> Bits32 = [m.narrow_64::<false, false, false>(a, b), m.narrow_64::<false, true, true>(a, b)];
    (a: U64, b: U64) -> Bits32 = [m.narrow_64::<true, false, false>(a, b), m.narrow_64::<true, false, true>(a, b)];
    (a: U64, b: U64) -> Bits32 = [m.narrow_64::<true, true, false>(a, b), m.narrow_64::<true, true, true>(a, b)];
    (x: U8) -> Bits8 = [m.fit_8::<false, true>(x), m.fit_8::<true, false>(x), m.fit_8::<true, true>(x)];
    (x: U16) -> Bits16 = [m.fit_16::<false, true>(x), m.fit_16::<true, false>(x), m.fit_16::<true, true>(x)];
    (x: U32) -> Bits32 = [m.fit_32::<false, true>(x), m.fit_32::<true, false>(x), m.fit_32::<true, true>(x)];
    (x: U64) -> Bits64 = [m.fit_64::<false, true>(x), m.fit_64::<true, false>(x), m.fit_64::<true, true>(x)];
    (x: U8) -> Bits8 = codes!(m.codes_of_8(x));
    (x: U16[2]) -> Bits8 = codes!(m.codes_of_16(x));
    (x: U32[4]) -> Bits8 = codes!(m.codes_of_32(x));
    (x: U64[8]) -> Bits8 = codes!(m.codes_of_64(x));
    (x: U64[8]) -> Bits16 = m.halves_of_64::<false, true, true>(x);
    (x: U64[8]) -> Bits16 = m.halves_of_64::<true, false, false>(x);
    (x: U64[8]) -> Bits16 = m.halves_of_64::<true, false, true>(x);
    (x: U64[8]) -> Bits16 = m.halves_of_64::<true, true, false>(x);
    (x: U64[8]) -> Bits16 = m.halves_of_64::<true, true, true>(x);
    (x: U32[4]) -> Bits8 = [m.truths_32(x)];
    (x: U64[8]) -> Bits8 = [m.truths_64(x)];
    (a: U16, b: U16) -> Bits8 = [m.shr_narrow_16::<1>(a, b), m.shr_narrow_16::<7>(a, b), m.shr_narrow_16::<8>(a, b)];
    (x: U32[4]) -> Bits8 = [m.low_bytes_32(x)];
    (x: U64[8]) -> Bits8 = [m.low_bytes_64(x)];
    (x: U64[8]) -> Bits16 = m.low_halves_64(x);
    (x: U8) -> Bits32 = m.bytes_in_words::<0>(x);
    (x: U8) -> Bits32 = m.bytes_in_words::<3>(x);
    (x: U8) -> Bits64 = m.bytes_in_doubles::<0>(x);
    (x: U8) -> Bits64 = m.bytes_in_doubles::<7>(x);
    (x: U16[2]) -> Bits64 = m.halves_in_doubles::<0>(x);
    (x: U16[2]) -> Bits64 = m.halves_in_doubles::<6>(x);
    (a: U32[2], x: U32[2]) -> Bits16 = [m.add_upper_halves(a, x)];
    (x: U16) -> Bits32 = m.in_upper_halves(x);
}

operations! { floats(m: LaneOps): Rounds::Never;
    (a: F32, b: F32) -> Bits32 = [m.eq_f32(a, b)];
    (a: F32, b: F32) -> Bits32 = [m.abs_ge_f32(a, b), m.abs_gt_f32(a, b)];
    (a: F32, b: F32) -> Nan32 = {
        // The second operand is a number.
        let b = m.select_nan(b, m.splat(0), b);
        [m.min_nan_f32(a, b), m.max_nan_f32(a, b)]
    };
    (c: Short, a: Short, b: Short) -> Zero32 = [m.mul_sub_f32(c, a, b)];
    (x: F32) -> Nan32 = [m.round_away_f32(x)];
    (x: F32) -> Bits32 = [m.int32_of_f32::<false>(x), m.int32_of_f32::<true>(x)];
    (x: F32[4]) -> Bits8 = [m.int8_of_f32::<false>(x), m.int8_of_f32::<true>(x)];
    (x: F32[4]) -> Bits16 = m.int16_of_f32::<false>(x);
    (x: F32[4]) -> Bits16 = m.int16_of_f32::<true>(x);
    (x: F32) -> Bits32 = [m.low_32_of_f32(x)];
    (x: F32) -> Bits32 = [m.int32_or_0_of_f32(x)];
    (x: F32) -> Bits32 = [m.and(m.low_16_of_f32(x), m.splat(0xFFFF))];
    (x: F32[4]) -> Bits64 = m.int64s_of_f32::<false, true>(x);
    (x: F32[4]) -> Bits64 = m.int64s_of_f32::<true, false>(x);
    (x: F32[4]) -> Bits64 = m.int64s_of_f32::<true, true>(x);
    (x: U32) -> Bits32 = {
        let short = m.and(x, m.splat(0xFF_FFFF));
        [m.f32_of_short_int32(short), m.f32_of_short_int32(m.sub(m.splat(0), short))]
    };
    (x: U8) -> Bits32 = m.f32_of_bytes::<false>(x);
    (x: U8) -> Bits32 = m.f32_of_bytes::<true>(x);
    (x: F16) -> Bits32 = m.f32_of_f16(x);
    (a: F64, b: F64) -> Bits64 = [m.abs_ge_f64(a, b)];
    (x: F64) -> Nan64 = [m.round_away_f64(x)];
    (x: F64) -> Bits64 = [m.int64_of_f64::<false>(x), m.int64_of_f64::<true>(x)];
    (x: F64) -> Bits64 = [m.low_64_of_f64(x)];
    (x: F64) -> Bits64 = [m.int64_or_0_of_f64(x)];
    (x: F64[8]) -> Bits64 = m.int64s_of_f64::<false, true>(x);
    (x: F64[8]) -> Bits64 = m.int64s_of_f64::<true, false>(x);
    (x: F64[8]) -> Bits64 = m.int64s_of_f64::<true, true>(x);
    (x: F64[8]) -> Bits32 = each!(m.int32s_of_f64::<8, false, true>(x), |x| m.and(x, m.splat(0xFF)));
    (x: F64[8]) -> Bits32 = m.int32s_of_f64::<8, true, true>(x);
    (x: F64[8]) -> Bits32 = each!(m.int32s_of_f64::<16, false, true>(x), |x| m.and(x, m.splat(0xFFFF)));
    (x: F64[8]) -> Bits32 = m.int32s_of_f64::<32, false, true>(x);
    (x: F64[8]) -> Bits32 = m.int32s_of_f64::<32, true, false>(x);
    (x: F64[8]) -> Bits32 = m.int32s_of_f64::<16, true, true>(x);
    (x: U32) -> Bits64 = m.f64_of_int32::<false>(x);
    (x: U32) -> Bits64 = m.f64_of_int32::<true>(x);
    (x: U8) -> Bits64 = m.f64_of_bytes::<false>(x);
    (x: U8) -> Bits64 = m.f64_of_bytes::<true>(x);
    (x: U16[2]) -> Bits64 = m.f64_of_halves::<false>(x);
    (x: U16[2]) -> Bits64 = m.f64_of_halves::<true>(x);
    (x: F32) -> Bits64 = m.f64_of_f32(x);
    (a: F64, b: F64) -> Bits32 = [m.f32_of_f64_odd(a, b)];
}

/// The number of bytes of a register.
const fn register<M: Simd>() -> usize {
    size_of::<M::V>()
}

/// The result of an operation that loads the first bytes of registers.
macro_rules! loaded {
    ($m:ident.$load:ident $(::<$how:literal>)? ($($n:expr),*), $x:expr, $bytes:expr) => {{
        let mut memory = Memory::of::<M>(&$x).bytes;
        memory.truncate($bytes);
        let memory = memory.into_boxed_slice();
        // SAFETY: these are the bytes that the operation reads.
        unsafe { $m.$load $(::<$how>)? (memory.as_ptr() $(, $n)*) }
    }};
}

/// The bytes that an operation stores, followed by other bytes, as registers.
macro_rules! stored {
    ($m:ident.$store:ident $(::<$($how:literal),*>)? ($x:expr $(, $n:expr)?), $bytes:expr) => {{
        let register = register::<M>();
        let mut bytes = vec![0xA5; $bytes.next_multiple_of(register)];
        // SAFETY: there are at least the bytes that the operation writes.
        unsafe { $m.$store $(::<$($how),*>)? (bytes.as_mut_ptr(), $x $(, $n)?) };
        Memory { bytes, register }.registers::<M>().collect::<Vec<_>>()
    }};
}

operations! { block_memory(m: Blocks): Rounds::Never;
    (x: U8[4]) -> Bits32 = loaded!(m.load_32::<false>(M::BLOCK), x, 4 * register::<M>());
    (x: U8[2]) -> Bits32 = loaded!(m.load_16::<false>(M::BLOCK), x, 2 * register::<M>());
    (x: U8[2]) -> Bits32 = loaded!(m.load_high_16::<false>(M::BLOCK), x, 2 * register::<M>());
    (x: U8) -> Bits8 = stored!(m.store_8::<false>(x, M::BLOCK), register::<M>());
    (x: U8[2]) -> Bits8 = stored!(m.store_16::<false>(x, M::BLOCK), (2 * register::<M>()));
    (x: U8[4]) -> Bits8 = stored!(m.store_32::<false>(x, M::BLOCK), (4 * register::<M>()));
    (x: U8) -> Bits8 = {
        let x = m.and(x, m.splat(0x0F0F_0F0F));
        stored!(m.store_packed::<4, false>(x, M::BLOCK), (register::<M>() / 2))
    };
}

operations! { memory(m: LaneOps): Rounds::Never;
    (x: U8) -> Bits8 = [loaded!(m.load(), [x], register::<M>())];
    (x: U8) -> Bits8 = [loaded!(m.load_half(), [x], register::<M>() / 2)];
    (x: U8[2]) -> Bits8 = {
        let [n, few] = [register::<M>() / 4 - 1, 1];
        each!([0, 1], |k| loaded!(m.load_few::<8>(n, k), x, 8 * n)).into_iter()
            .chain([loaded!(m.load_few::<4>(few, 0), x, 4 * few)])
            .chain((0..=n).flat_map(|n| {
                let low = loaded!(m.load_few::<2>(n, 0), x, 2 * n);
                stored!(m.store_low::<2>(low), (register::<M>() / 2))
            }))
            .collect::<Vec<_>>()
    };
    (x: U8) -> Bits8 = stored!(m.store_low::<1>(x), (register::<M>() / 4));
    (x: U8[2]) -> Bits8 = loaded!(m.unpack::<2>(), x, register::<M>() / 2);
    (x: U8[2]) -> Bits8 = loaded!(m.unpack::<4>(), x, register::<M>());
    (x: U8[2]) -> Bits8 = loaded!(m.unpack::<6>(), x, register::<M>() * 3 / 2);
    (x: U8) -> Bits8 = stored!(m.store(x), register::<M>());
    (x: U8[2]) -> Bits8 = stored!(m.pack::<2>(x.map(|x| m.and(x, m.splat_8(3)))), (register::<M>() / 2));
    (x: U8[2]) -> Bits8 = stored!(m.pack::<4>(x.map(|x| m.and(x, m.splat_8(15)))), register::<M>());
    (x: U8[2]) -> Bits8 = stored!(m.pack::<6>(x.map(|x| m.and(x, m.splat_8(63)))), (register::<M>() * 3 / 2));
}

/// An upper limit for the number of bytes that a loop has left.
const LEFT: usize = 23;

operations! { copies(m: Blocks): Rounds::Never;
    (x: U8[4]) -> Bits8 = {
        let (x, whole) = (Memory::of::<M>(&x).bytes, 4 * register::<M>());
        let mut copied = Memory { bytes: vec![0xA5; whole], register: register::<M>() };
        // SAFETY: the first bytes are copied, and zeros complete a whole block.
        unsafe { m.copy_in(x.as_ptr(), LEFT, copied.bytes.as_mut_ptr(), whole) };
        copied.registers::<M>().collect::<Vec<_>>()
    };
    (x: U8[4]) -> Bits8 = {
        let (x, whole) = (Memory::of::<M>(&x).bytes, 4 * register::<M>());
        let mut copied = Memory { bytes: vec![0xA5; whole], register: register::<M>() };
        // SAFETY: the first bytes are copied, from a whole block of registers.
        unsafe { m.copy_out(x.as_ptr(), LEFT, copied.bytes.as_mut_ptr()) };
        copied.registers::<M>().collect::<Vec<_>>()
    };
}

operations! { directed_products(m: Blocks): Rounds::InDirection;
    // The product is exact, and no sum has more bits than float64.
    (a: Short, b: Short, c: F32) -> Nan32 = {
        let c = m.max_u(m.min_u(m.and(c, m.splat(0x7FFF_FFFF)), m.splat(2_f32.powi(24).to_bits())), m.splat(2_f32.powi(-7).to_bits()));
        [m.fma_env(a, b, c), m.fma_env(a, b, m.xor(c, m.splat(1 << 31)))]
    };
}

operations! { directed(m: LaneOps): Rounds::InDirection;
    (x: F32) -> Bits32 = {
        // The sign of a number and of NaN survives a limit and a sum: the small floats take it from there.
        let limited = m.max_nan_f32(m.min_nan_f32(x, m.splat(448_f32.to_bits())), m.splat((-448_f32).to_bits()));
        let signs = m.signs_32(m.fma_env(m.splat(1_f32.to_bits()), m.splat(0), limited));
        [if M::NAN_KEEPS_SIGN { signs } else { m.select_nan(x, m.signs_32(x), signs) }]
    };
    (x: F32) -> Nan32 = [m.round_env_f32(x)];
    (x: U32) -> Bits32 = [m.f32_of_int32_env::<false>(x), m.f32_of_int32_env::<true>(x)];
    (a: F32, b: F32) -> Bits16 = [m.f16_of_f32_env(a, b)];
    (x: U16) -> Bits16 = [m.f16_of_int16_env::<false>(x), m.f16_of_int16_env::<true>(x)];
    (a: F64, b: F64) -> Nan64 = [m.add_env_f64(a, b)];
    (x: F64) -> Nan64 = [m.round_env_f64(x)];
    (x: U64) -> Bits64 = [m.f64_of_int64_env::<false>(x), m.f64_of_int64_env::<true>(x)];
    (x: U64[8]) -> Bits64 = m.odd_f64_of_int64::<false>(x);
    (x: U64[8]) -> Bits64 = m.odd_f64_of_int64::<true>(x);
    (a: F64, b: F64) -> Bits32 = [m.f32_of_f64_env(a, b)];
}

operations! { nearest(m: Blocks): Rounds::ToNearest;
    (x: F32[4]) -> Bits16 = m.to_bf16::<true>(x, Data::common(DType::BFloat16, true));
    (a: F32, b: F32) -> Nan32 = [m.mul(a, b), m.div(a, b)];
    (a: F32, b: F32, c: F32) -> Nan32 = [m.fma(a, b, c)];
    (x: F32) -> Bits32 = {
        // The least or the nearest integer; for NaN, the least integer or 0.
        let (round, least) = (m.round(x), m.splat(1 << 31));
        // The bits of positive numbers have the same order as the numbers.
        let beyond = m.max_i(x, m.splat(2_f32.powi(31).to_bits()));
        [m.select_nan(x, m.and(round, m.splat(!(1 << 31))), m.select_eq(x, beyond, least, round))]
    };
}

operations! { bfloat16(m: LaneOps): if M::BF16_IN_DIRECTION { Rounds::InDirection } else { Rounds::Never };
    (a: F32, b: F32) -> Bits16 = [m.bf16_of_f32(a, b)];
}
