//! Kernels for rules that are not the common ones.
//!
//! If the one inexact instruction of a kernel obeys the direction of the environment, the kernel of the common rules serves every direction. This
//! module has the other kernels: for ties away from zero and to odd, for integers rounded otherwise than toward zero, and for the small floats
//! ([`small`](super::small)), whose formats and rules are data.

use super::{
    Doubles, Halves, LaneOps, Lanes, Words,
    byte::Exponents,
    eight, f16_of_words,
    float::F64,
    high_halves,
    integral::ints,
    lookup::{Direct, Lookup},
    low_halves,
    part::{store_2, store_4, store_8, store_complex_32, store_complex_64},
    run::{kernel, parts},
    select::Tokens,
    small::{self, Power, Signed},
    source::{self, Source},
    table::{Given, GivenF32, GivenInts, Tabled, reading, with_table},
    target::{self, Byte, Found, Int16, Int32, Int64},
    two,
};
use crate::{
    dtype::{DType, Encoding, Flavor, Spec},
    exact::{PowerRange, Rounding, Rules, hub::parts_fit},
    format::{
        data::{Data, Direction},
        lut::{self, Codes, Lut, Set},
    },
    vector::{
        each,
        kernel::{KernelFn, Made, Rounded, TableFn},
        style::{Away, Directed, Mode, Odd, RoundingMode},
        table::Table,
    },
};
use core::marker::PhantomData;
use half::{bf16, f16};

/// Float16 from float32 whose bits were adjusted so that the conversion rounds as required.
struct F16Rounded<R: RoundingMode>(PhantomData<R>);
/// Bfloat16, rounded by an addition to the bits of float32.
struct BF16Rounded<R: RoundingMode>(PhantomData<R>);
/// Float32 and float64 from sources with more bits; alone, or as complex numbers with an imaginary part of zero.
struct F32Rounded<R: RoundingMode>(PhantomData<R>);
struct F64Rounded<R: RoundingMode>(PhantomData<R>);
struct C64Rounded<R: RoundingMode>(PhantomData<R>);
struct C128Rounded<R: RoundingMode>(PhantomData<R>);

target::targets! {
    <; R: RoundingMode> F16Rounded<R>, 2, SATURATE, |m, x, dst, _data| {
        store_2(m, f16::<M, R>(m, x.f32_odd::<false>(m)), dst)
    };
    <; R: RoundingMode> BF16Rounded<R>, 2, SATURATE, |m, x, dst, data| {
        store_2(m, bf16::<M, R>(m, x.f32_odd::<true>(m), data), dst)
    };
    <; R: RoundingMode> F32Rounded<R>, 4, SATURATE, |m, x, dst, _data| store_4(m, f32::<M, L, R>(m, x), dst);
    <; R: RoundingMode> F64Rounded<R>, 8, SATURATE, |m, x, dst, _data| store_8(m, f64::<M, L, R>(m, x), dst);
    <; R: RoundingMode> C64Rounded<R>, 8, SATURATE, |m, x, dst, _data| {
        store_complex_32(m, f32::<M, L, R>(m, x), dst)
    };
    <; R: RoundingMode> C128Rounded<R>, 16, SATURATE, |m, x, dst, _data| {
        store_complex_64(m, f64::<M, L, R>(m, x), dst)
    };
}

#[inline(always)]
fn f16<M: LaneOps, R: RoundingMode>(m: M, x: Words<M>) -> Halves<M> {
    if R::MODE == Mode::Away {
        // Sets the last bit, which moves ties past the middle, but would turn infinity into NaN.
        let infinity = m.splat(f32::INFINITY.to_bits());
        return f16_of_words(m, each!(x, |x| m.add(m.or(x, m.splat(1)), m.abs_ge_f32(x, infinity))));
    }
    if R::MODE == Mode::Directed {
        return f16_of_words(m, x);
    }
    let truncated = f16_of_words(m, x);
    let [[a, b], [c, d]] = two!(truncated, |x| m.f32_of_f16(x));
    // False for NaN.
    let inexact =
        low_halves(m, each!([(x[0], a), (x[1], b), (x[2], c), (x[3], d)], |(x, back)| m.abs_gt_f32(x, back)));
    two!([0, 1], |k| m.or(truncated[k], m.and(inexact[k], m.splat_16(1))))
}

#[inline(always)]
fn bf16<M: LaneOps, R: RoundingMode>(m: M, x: Words<M>, data: &Data) -> Halves<M> {
    let [positive, negative] = data.rounding.dropping_16;
    let all = |x: u32| m.splat(x);
    let (high, low) = (high_halves(m, x), low_halves(m, x));
    let numbers = low_halves(m, each!(x, |x| m.eq_f32(x, x)));
    two!([0, 1], |k| {
        let rounded = if R::MODE == Mode::Odd {
            m.or(high[k], m.and(m.nonzero_16(low[k]), m.splat_16(1)))
        } else {
            let pair = [x[2 * k], x[2 * k + 1]];
            let increments =
                two!(pair, |x| m.xor(m.and(m.signs_32(x), all(positive ^ negative)), all(positive)));
            m.add_upper_halves(pair, increments)
        };
        let nan = m.or(m.and(high[k], m.splat_16(0x8000)), m.splat_16(0x7FC0));
        m.select(numbers[k], rounded, nan)
    })
}

#[inline(always)]
fn f32<M: LaneOps, L: Lanes<M>, R: RoundingMode>(m: M, x: L) -> Words<M> {
    if R::MODE == Mode::Odd {
        return x.f32_odd::<true>(m);
    }
    if R::MODE == Mode::Directed {
        return x.f32(m);
    }
    // Sets the last bit, which moves ties past the middle, but would turn infinity into NaN.
    let infinity = m.splat_64(f64::INFINITY.to_bits());
    let moved = eight!(x.f64_odd(m), |x| {
        let moved = m.or(x, m.splat_64(1));
        if L::INTEGERS { moved } else { m.add_64(moved, m.abs_ge_f64(x, infinity)) }
    });
    F64(moved).f32(m)
}

#[inline(always)]
fn f64<M: LaneOps, L: Lanes<M>, R: RoundingMode>(m: M, x: L) -> Doubles<M> {
    if R::MODE == Mode::Directed { x.f64(m) } else { x.f64_rounded::<R>(m) }
}

/// The kernel of a mode: in the direction of the environment, with ties away from zero, or to odd.
pub(crate) fn by_mode(mode: Mode, [directed, away, odd]: [KernelFn; 3]) -> KernelFn {
    mode.pick([directed, directed, away, odd])
}

/// The kernels to floats of at most 8 bits with a sign.
fn signed<M: LaneOps, S: Source<M>>(mode: Mode) -> KernelFn {
    by_mode(
        mode,
        [
            kernel::<M, S, Byte<Signed<Directed>, 8>, true>(),
            kernel::<M, S, Byte<Signed<Away>, 8>, true>(),
            kernel::<M, S, Byte<Signed<Odd>, 8>, true>(),
        ],
    )
}

/// The kernels to floats of 16 bits.
fn halves<M: LaneOps, S: Source<M>>(to: DType, mode: Mode) -> KernelFn {
    match to {
        DType::Float16 => by_mode(
            mode,
            [
                kernel::<M, S, F16Rounded<Directed>, true>(),
                kernel::<M, S, F16Rounded<Away>, true>(),
                kernel::<M, S, F16Rounded<Odd>, true>(),
            ],
        ),
        _ => by_mode(
            mode,
            [
                kernel::<M, S, BF16Rounded<Directed>, true>(),
                kernel::<M, S, BF16Rounded<Away>, true>(),
                kernel::<M, S, BF16Rounded<Odd>, true>(),
            ],
        ),
    }
}

/// The kernel to `float8_e8m0fnu`.
fn power<M: LaneOps, S: Source<M>>() -> KernelFn {
    kernel::<M, S, Byte<Power<false>, 8>, true>()
}

/// Whether `float8_e8m0fnu` must distinguish the largest float32 from float64 out of range of float32, which rounding to odd makes equal.
fn beyond(rules: &Rules) -> bool {
    let down = !matches!(rules.rounding, Rounding::Ceil | Rounding::NearestAway | Rounding::NearestEven);
    down && !rules.saturate && rules.power_range != PowerRange::Exact
}

/// The kernels to float32 and complex64 from sources with more bits, for ties away from zero and to odd.
fn singles<M: LaneOps, S: Source<M>>(to: DType, mode: Mode) -> KernelFn {
    match to {
        DType::Float32 => by_mode(
            mode,
            [
                kernel::<M, S, F32Rounded<Directed>, true>(),
                kernel::<M, S, F32Rounded<Away>, true>(),
                kernel::<M, S, F32Rounded<Odd>, true>(),
            ],
        ),
        _ => by_mode(
            mode,
            [
                kernel::<M, S, C64Rounded<Directed>, true>(),
                kernel::<M, S, C64Rounded<Away>, true>(),
                kernel::<M, S, C64Rounded<Odd>, true>(),
            ],
        ),
    }
}

/// The same for float64 and complex128.
fn doubles<M: LaneOps, S: Source<M>>(to: DType, mode: Mode) -> KernelFn {
    match to {
        DType::Float64 => by_mode(
            mode,
            [
                kernel::<M, S, F64Rounded<Directed>, true>(),
                kernel::<M, S, F64Rounded<Away>, true>(),
                kernel::<M, S, F64Rounded<Odd>, true>(),
            ],
        ),
        _ => by_mode(
            mode,
            [
                kernel::<M, S, C128Rounded<Directed>, true>(),
                kernel::<M, S, C128Rounded<Away>, true>(),
                kernel::<M, S, C128Rounded<Odd>, true>(),
            ],
        ),
    }
}

/// The function for the source of a dtype, if it has one.
macro_rules! of_source {
    ($from:expr, [$($variant:ident: $source:ty),*], $function:ident::<$token:ty> $args:tt) => {
        match $from {
            $(DType::$variant => of_source!(@ $function, $token, $source, $args),)*
            _ => return None,
        }
    };
    (@ $function:ident, $token:ty, $source:ty, ($($arg:expr),*)) => { $function::<$token, $source>($($arg),*) };
    ($from:expr, all, $function:ident::<$token:ty> $args:tt) => {
        of_source!($from, [
            Int16: i16, UInt16: u16, Int32: i32, UInt32: u32, Int64: i64, UInt64: u64, Float16: f16, BFloat16: bf16,
            Float32: f32, Float64: f64, Float8E8M0FNU: Exponents
        ], $function::<$token> $args)
    };
}

/// The kernel from a float to integers under a rounding.
pub(crate) fn to_ints<M: LaneOps>(from: DType, to: DType, rules: &Rules) -> Option<KernelFn> {
    let away = match mode(rules).0 {
        Mode::Odd => return None,
        mode => mode == Mode::Away,
    };
    of_source!(from, [
        Float16: f16, BFloat16: bf16, Float32: f32, Float64: f64, Float8E8M0FNU: Exponents
    ], ints::<M>(to, away, rules.saturate))
}

/// The kernel to float32, float64 and the complex numbers of these from what has more bits, and the direction that it needs.
pub(crate) fn to_wide<M: LaneOps>(from: DType, to: DType, rules: &Rules) -> Option<(KernelFn, Direction)> {
    let (mode, direction) = mode(rules);
    let (Spec::Float(f) | Spec::Complex(f)) = to.spec() else { return None };
    if from == DType::Complex128 {
        let run = by_mode(
            mode,
            [
                parts::<M, f64, F32Rounded<Directed>>,
                parts::<M, f64, F32Rounded<Away>>,
                parts::<M, f64, F32Rounded<Odd>>,
            ],
        );
        return Some((run, direction));
    }
    if f.exponent_bits == 8 {
        let run = of_source!(from, [
            Int32: i32, UInt32: u32, Int64: i64, UInt64: u64, Float64: f64
        ], singles::<M>(to, mode));
        return Some((run, direction));
    }
    let direction = if mode == Mode::Directed { direction } else { Direction::TowardZero };
    Some((of_source!(from, [Int64: i64, UInt64: u64], doubles::<M>(to, mode)), direction))
}

/// The mode of a rule and the direction of the environment that it needs.
pub(crate) fn mode(rules: &Rules) -> (Mode, Direction) {
    match rules.rounding {
        Rounding::NearestEven => (Mode::Directed, Direction::NearestEven),
        Rounding::NearestAway => (Mode::Away, Direction::NearestEven),
        Rounding::TowardZero => (Mode::Directed, Direction::TowardZero),
        Rounding::Floor => (Mode::Directed, Direction::Down),
        Rounding::Ceil => (Mode::Directed, Direction::Up),
        Rounding::ToOdd => (Mode::Odd, Direction::TowardZero),
    }
}

/// Whether the common kernel of a small float truncates under these rules: a float addition does toward zero, an addition of bits does not.
pub(crate) fn truncates(to: DType, rules: &Rules) -> bool {
    *rules == Rules { rounding: Rounding::TowardZero, ..Rules::common(to, rules.saturate) }
}

/// The kernel of a pair under other rules than the common ones, in byte storage. `table` holds the kernels under the common rules.
pub(crate) fn rounded<K: Tokens>(
    from: Encoding,
    to: Encoding,
    rules: &Rules,
    table: &Table,
) -> Option<Rounded> {
    let (s, d) = (from.dtype(), to.dtype());
    if from.is_packed() || to.is_packed() {
        return None;
    }
    let (mode, mut direction) = mode(rules);
    let common = || table.get(s, d, rules.saturate).run;
    let float = s.float_spec().is_some();
    let run: KernelFn = match d.spec() {
        _ if s == d || parts_fit(s, d) => common(),
        Spec::Bool => common(),
        Spec::Int { .. } if !float || rules.rounding == Rounding::TowardZero => common(),
        // Byte-to-byte casts are looked up.
        _ if s.size() == 1 && d.size() == 1 => return None,
        Spec::Int { .. } => to_ints::<K::Base>(s, d, rules)?,
        Spec::Float(f) if f.flavor == Flavor::Exponent => match s {
            DType::Float64 if beyond(rules) => kernel::<K::Base, f64, Byte<Power<true>, 8>, true>(),
            _ => of_source!(s, all, power::<K::Base>()),
        },
        Spec::Float(f) if f.bits() <= 8 => match (s, d) {
            (DType::Float16, DType::Float8E5M2) => by_mode(
                mode,
                [
                    kernel::<K::Base, source::Plain, Byte<small::E5m2<Directed>, 8>, true>(),
                    kernel::<K::Base, source::Plain, Byte<small::E5m2<Away>, 8>, true>(),
                    kernel::<K::Base, source::Plain, Byte<small::E5m2<Odd>, 8>, true>(),
                ],
            ),
            _ if K::COMMON_OBEYS && truncates(d, rules) => common(),
            _ => of_source!(s, all, signed::<K::Base>(mode)),
        },
        Spec::Float(f) if f.bits() == 16 => {
            let obeys = match d {
                DType::Float16 => K::COMMON_OBEYS,
                _ => K::BF16::BF16_IN_DIRECTION,
            };
            if mode == Mode::Directed && (obeys || direction == Direction::NearestEven) {
                common()
            } else {
                of_source!(s, all, halves::<K::Base>(d, mode))
            }
        }
        Spec::Float(_) | Spec::Complex(_)
            if mode == Mode::Directed && (K::COMMON_OBEYS || direction == Direction::NearestEven) =>
        {
            common()
        }
        Spec::Float(_) | Spec::Complex(_) => {
            let run;
            (run, direction) = to_wide::<K::Base>(s, d, rules)?;
            run
        }
    };
    Some(Rounded { run, direction, second: None })
}

/// The kernel that looks up results of a byte in a table that comes with the cast.
fn given<M: LaneOps, Q: Lookup<M, E>, const E: usize, const BITS: usize>(to_bits: u32) -> TableFn<Lut<E, 1>> {
    match to_bits {
        2 => with_table::<M, Given<Q, E, BITS>, Byte<Found, 2>, true>(),
        4 => with_table::<M, Given<Q, E, BITS>, Byte<Found, 4>, true>(),
        6 => with_table::<M, Given<Q, E, BITS>, Byte<Found, 6>, true>(),
        _ => with_table::<M, Given<Q, E, BITS>, Byte<Found, 8>, true>(),
    }
}

/// The kernel that looks up integers of a byte in a table that comes with the cast, and widens them.
fn widened<M: LaneOps, Q: Lookup<M, E>, const E: usize, const BITS: usize>(
    to: DType,
    signed: bool,
) -> TableFn<Lut<E, 1>> {
    match (to.size(), signed) {
        (2, false) => with_table::<M, GivenInts<Q, false, E, BITS>, Int16<false>, false>(),
        (2, true) => with_table::<M, GivenInts<Q, true, E, BITS>, Int16<false>, false>(),
        (4, false) => with_table::<M, GivenInts<Q, false, E, BITS>, Int32<false>, false>(),
        (4, true) => with_table::<M, GivenInts<Q, true, E, BITS>, Int32<false>, false>(),
        (_, false) => with_table::<M, GivenInts<Q, false, E, BITS>, Int64<false>, false>(),
        (_, true) => with_table::<M, GivenInts<Q, true, E, BITS>, Int64<false>, false>(),
    }
}

/// The kernel of a source of a byte under other rules than the common ones, with the table that it reads.
pub(crate) fn tabled<K: Tokens>(
    from: Encoding,
    to: Encoding,
    rules: &Rules,
    words: &[u16; 256],
) -> Option<Made> {
    let (s, d) = (from.dtype(), to.dtype());
    let (bits, to_bits) = (from.bits_per_element(), to.bits_per_element());
    let set = Set::of(s);
    let all = Codes::All;
    if d.size() == 1 {
        return Some(match (set, bits) {
            (Some(Set::Four), 8) => {
                Made::new(given::<K::Base, Direct<4>, 16, 8>(to_bits), Lut::new(words, all))
            }
            (Some(Set::Four), 4) => {
                Made::new(given::<K::Base, Direct<4>, 16, 4>(to_bits), Lut::new(words, all))
            }
            (Some(Set::Six), 8) => {
                Made::new(given::<K::Base, Direct<6>, 64, 8>(to_bits), Lut::new(words, all))
            }
            (Some(Set::Six), 6) => {
                Made::new(given::<K::Base, Direct<6>, 64, 6>(to_bits), Lut::new(words, all))
            }
            (_, 8) => Made::new(given::<K::Base, Direct<8>, 256, 8>(to_bits), Lut::new(words, all)),
            _ => return None,
        });
    }
    let Spec::Int { signed, .. } = d.spec() else { return None };
    if matches!(set, Some(Set::Four | Set::Six)) {
        // The rounded values fit in a byte; the table already saturates negative values to 0.
        let signed = signed || !rules.saturate;
        let byte = if signed { DType::Int8 } else { DType::UInt8 };
        let words = &lut::words(s, byte, &Rules { saturate: true, ..*rules });
        return Some(match (set, bits) {
            (Some(Set::Four), 8) => {
                Made::new(widened::<K::Base, Direct<4>, 16, 8>(d, signed), Lut::new(words, all))
            }
            (Some(Set::Four), 4) => {
                Made::new(widened::<K::Base, Direct<4>, 16, 4>(d, signed), Lut::new(words, all))
            }
            (_, 8) => Made::new(widened::<K::Base, Direct<6>, 64, 8>(d, signed), Lut::new(words, all)),
            (_, 6) => Made::new(widened::<K::Base, Direct<6>, 64, 6>(d, signed), Lut::new(words, all)),
            _ => return None,
        });
    }
    if !matches!(set, Some(Set::Signed | Set::Fnuz)) || rules.rounding == Rounding::ToOdd {
        return None;
    }
    let run = ints::<K::Base, GivenF32>(d, rules.rounding == Rounding::NearestAway, rules.saturate)?;
    // SAFETY: as in `with_table`.
    let run = unsafe { reading::<<GivenF32 as Tabled>::Table>(run) };
    let words = lut::words(s, DType::Float32, &Rules::common(DType::Float32, true));
    let mut made = Made::new(run, Lut::new(&words, Codes::Patched));
    made.direction = crate::format::data::direction(rules.rounding)?;
    Some(made)
}
