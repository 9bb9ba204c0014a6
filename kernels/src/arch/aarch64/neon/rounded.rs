//! Kernels for rules that are not the common ones.
//!
//! Where the one inexact instruction of a kernel obeys the direction of the environment, the kernel of the common rules serves
//! every direction. The others are here: ties away from zero and to odd, integers rounded otherwise than toward zero, and the small
//! floats ([`small`](super::small)), whose formats and rules are data.

use super::{
    computed::Exponents,
    floats::{double, single},
    halves::Plain,
    integral::{Integral, Rounding as Integers},
    lookup::{Direct, Lookup, Quads, Sixteen},
    small::{self, AWAY, DIRECTED, ODD, Power, Signed, SignedOfHalf},
    tables::{Given, GivenInts, GivenSingles},
    targets::{self, f16_of_singles},
    *,
};
use crate::{
    data::Direction,
    dtype::Flavor,
    exact::{PowerRange, Rounding},
    hub::parts_fit,
    lut::{self, Codes, Lut, set},
    tabled::Made,
};

/// A float32 as float16, with bits that round it.
struct F16Rounded<const MODE: u8>;
/// Bfloat16 by an addition to the bits.
struct BF16Rounded<const MODE: u8>;
/// Float32 and float64 of what has more bits, alone and with a zero behind them.
struct F32Rounded<const MODE: u8>;
struct F64Rounded<const MODE: u8>;
struct C64Rounded<const MODE: u8>;
struct C128Rounded<const MODE: u8>;

targets::targets! {
    <const MODE: u8> F16Rounded<MODE>, 2, SATURATE, |x, dst, _data| {
        targets::put!(vreinterpretq_u8_u16, 2, f16::<MODE>(x.f32_odd::<false>()), dst)
    };
    <const MODE: u8> BF16Rounded<MODE>, 2, SATURATE, |x, dst, data| {
        targets::put!(vreinterpretq_u8_u16, 2, bf16::<MODE>(x.f32_odd::<true>(), data), dst)
    };
    <const MODE: u8> F32Rounded<MODE>, 4, SATURATE, |x, dst, _data| {
        targets::put!(vreinterpretq_u8_u32, 4, f32::<L, MODE>(x), dst)
    };
    <const MODE: u8> F64Rounded<MODE>, 8, SATURATE, |x, dst, _data| {
        targets::put!(vreinterpretq_u8_u64, 8, x.f64_rounded::<MODE>(), dst)
    };
    <const MODE: u8> C64Rounded<MODE>, 8, SATURATE, |x, dst, _data| {
        targets::put!(vreinterpretq_u8_u64, 8, widths::widen_32::<false>(f32::<L, MODE>(x)), dst)
    };
    <const MODE: u8> C128Rounded<MODE>, 16, SATURATE, |x, dst, _data| {
        targets::store_complex(x.f64_rounded::<MODE>(), dst)
    };
}

/// # Safety
///
/// As of the methods of [`Lanes`].
#[inline(always)]
unsafe fn f16<const MODE: u8>(x: Words) -> Halves {
    let infinity = f32::INFINITY;
    // SAFETY: the caller's promise.
    unsafe {
        if MODE == AWAY {
            // A last bit that moves ties, but would make infinity NaN.
            return f16_of_singles(each!(x, |x| {
                let infinite = vcageq_f32(single(x), vdupq_n_f32(infinity));
                vaddq_u32(vorrq_u32(x, vdupq_n_u32(1)), infinite)
            }));
        }
        let truncated = f16_of_singles(x);
        let back = sources::singles_of_f16(truncated);
        let pairs = [(x[0], back[0]), (x[1], back[1]), (x[2], back[2]), (x[3], back[3])];
        // False for NaN.
        let inexact = each!(pairs, |(x, back)| vreinterpretq_u16_u32(vcagtq_f32(single(x), single(back))));
        let inexact = [vuzp1q_u16(inexact[0], inexact[1]), vuzp1q_u16(inexact[2], inexact[3])];
        each!([0, 1], |k| vorrq_u16(truncated[k], vandq_u16(inexact[k], vdupq_n_u16(1))))
    }
}

/// # Safety
///
/// As of the methods of [`Lanes`].
#[inline(always)]
unsafe fn bf16<const MODE: u8>(x: Words, data: &Data) -> Halves {
    let [positive, negative] = data.increments;
    // SAFETY: the caller's promise.
    unsafe {
        let all = |x: u32| vdupq_n_u32(x);
        each!([(x[0], x[1]), (x[2], x[3])], |(a, b)| {
            let [high, low] = [
                vuzp2q_u16(vreinterpretq_u16_u32(a), vreinterpretq_u16_u32(b)),
                vuzp1q_u16(vreinterpretq_u16_u32(a), vreinterpretq_u16_u32(b)),
            ];
            let rounded = if MODE == ODD {
                vorrq_u16(high, vandq_u16(vtstq_u16(low, low), vdupq_n_u16(1)))
            } else {
                let [up_a, up_b] = each!([a, b], |x| {
                    let sign = vreinterpretq_u32_s32(vshrq_n_s32::<31>(vreinterpretq_s32_u32(x)));
                    veorq_u32(vandq_u32(sign, all(positive ^ negative)), all(positive))
                });
                vaddhn_high_u32(vaddhn_u32(a, up_a), b, up_b)
            };
            let ordered = |x| vreinterpretq_u16_u32(vceqq_f32(single(x), single(x)));
            let nan = vorrq_u16(vandq_u16(high, vdupq_n_u16(0x8000)), vdupq_n_u16(0x7FC0));
            vbslq_u16(vuzp1q_u16(ordered(a), ordered(b)), rounded, nan)
        })
    }
}

/// # Safety
///
/// As of the methods of [`Lanes`].
#[inline(always)]
unsafe fn f32<L: Lanes, const MODE: u8>(x: L) -> Words {
    // SAFETY: the caller's promise.
    unsafe {
        if MODE == ODD {
            return x.f32_odd::<true>();
        }
        // A last bit that moves ties, but would make infinity NaN.
        let moved = eight!(x.f64_odd(), |x| {
            let moved = vorrq_u64(x, vdupq_n_u64(1));
            if L::INTEGERS {
                moved
            } else {
                vaddq_u64(moved, vcageq_f64(double(x), vdupq_n_f64(f64::INFINITY)))
            }
        });
        Doubles64(moved).f32()
    }
}

/// The kernel of a mode.
macro_rules! by_mode {
    ($mode:expr, $run:ident, $source:ty, Byte<$($codes:ident)::+>) => {
        match $mode {
            AWAY => $run::<$source, Byte<$($codes)::+<AWAY>, 8>, true>,
            ODD => $run::<$source, Byte<$($codes)::+<ODD>, 8>, true>,
            _ => $run::<$source, Byte<$($codes)::+<DIRECTED>, 8>, true>,
        }
    };
    ($mode:expr, $run:ident, $source:ty, $target:ident) => {
        match $mode {
            AWAY => $run::<$source, $target<AWAY>, true>,
            ODD => $run::<$source, $target<ODD>, true>,
            _ => $run::<$source, $target<DIRECTED>, true>,
        }
    };
}

/// Floats of at most 8 bits with a sign.
fn signed<S: Source>(mode: u8) -> KernelFn {
    by_mode!(mode, run, S, Byte<Signed>)
}

/// Floats of 16 bits.
fn halves<S: Source>(to: DType, mode: u8) -> KernelFn {
    match to {
        DType::Float16 => by_mode!(mode, run, S, F16Rounded),
        _ => by_mode!(mode, run, S, BF16Rounded),
    }
}

/// `float8_e8m0fnu`.
fn power<S: Source>() -> KernelFn {
    run::<S, Byte<Power<false>, 8>, true>
}

/// Whether for `float8_e8m0fnu` it matters that what float64 has beyond the range of float32, to odd, is the largest float32.
fn beyond(rules: &Rules) -> bool {
    let down = !matches!(rules.rounding, Rounding::Ceil | Rounding::NearestAway | Rounding::NearestEven);
    down && !rules.saturate && rules.power_range != PowerRange::Exact
}

/// Float32 and the complex numbers of its parts, of what has more bits, by ties away and to odd.
fn singles<S: Source>(to: DType, mode: u8) -> KernelFn {
    match to {
        DType::Float32 => by_mode!(mode, run, S, F32Rounded),
        _ => by_mode!(mode, run, S, C64Rounded),
    }
}

/// The same of float64.
fn doubles<S: Source>(to: DType, mode: u8) -> KernelFn {
    match to {
        DType::Float64 => by_mode!(mode, run, S, F64Rounded),
        _ => by_mode!(mode, run, S, C128Rounded),
    }
}

/// Integers.
fn ints<S: Source<Lanes: Integral>>(to: DType, away: bool, saturate: bool) -> Option<KernelFn> {
    macro_rules! kernel {
        ($format:ty) => {
            match (away, saturate) {
                (false, false) => const { super::to::<Integers<S, false>, $format, 0, false>(false) },
                (false, true) => const { super::to::<Integers<S, false>, $format, 0, false>(true) },
                (true, false) => const { super::to::<Integers<S, true>, $format, 0, false>(false) },
                (true, true) => const { super::to::<Integers<S, true>, $format, 0, false>(true) },
            }
        };
    }
    Some(match to {
        DType::Int2 => kernel!(I2),
        DType::UInt2 => kernel!(U2),
        DType::Int4 => kernel!(I4),
        DType::UInt4 => kernel!(U4),
        DType::Int8 => kernel!(i8),
        DType::UInt8 => kernel!(u8),
        DType::Int16 => kernel!(i16),
        DType::UInt16 => kernel!(u16),
        DType::Int32 => kernel!(i32),
        DType::UInt32 => kernel!(u32),
        DType::Int64 => kernel!(i64),
        DType::UInt64 => kernel!(u64),
        _ => return None,
    })
}

/// Integers of at most 16 bits that saturate, of float16 in lanes of its own width.
fn ints_of_half(to: DType, away: bool) -> Option<KernelFn> {
    use targets::{Int, Int16};
    macro_rules! kernel {
        ($target:ty) => {
            if away {
                run_fp16::<Integers<Plain, true>, $target, true>
            } else {
                run_fp16::<Integers<Plain, false>, $target, true>
            }
        };
    }
    Some(match to {
        DType::Int2 => kernel!(Byte<Int<2, true>, 8>),
        DType::UInt2 => kernel!(Byte<Int<2, false>, 8>),
        DType::Int4 => kernel!(Byte<Int<4, true>, 8>),
        DType::UInt4 => kernel!(Byte<Int<4, false>, 8>),
        DType::Int8 => kernel!(Byte<Int<8, true>, 8>),
        DType::UInt8 => kernel!(Byte<Int<8, false>, 8>),
        DType::Int16 => kernel!(Int16<true>),
        DType::UInt16 => kernel!(Int16<false>),
        _ => return None,
    })
}

/// The function for the source of a dtype that has one.
macro_rules! of_source {
    ($from:expr, [$($variant:ident: $source:ty),*], $function:ident $args:tt) => {
        match $from {
            $(DType::$variant => of_source!(@ $function, $source, $args),)*
            _ => return None,
        }
    };
    (@ $function:ident, $source:ty, ($($arg:expr),*)) => { $function::<$source>($($arg),*) };
    ($from:expr, all, $function:ident $args:tt) => {
        of_source!($from, [
            Int16: i16, UInt16: u16, Int32: i32, UInt32: u32, Int64: i64, UInt64: u64, Float16: f16, BFloat16: bf16,
            Float32: f32, Float64: f64, Float8E8M0FNU: Exponents
        ], $function $args)
    };
}

/// The kernel of a pair under rules that are not the common ones, in byte storage.
pub(in super::super) fn rounded(from: Encoding, to: Encoding, rules: &Rules) -> Option<Rounded> {
    let (s, d) = (from.dtype(), to.dtype());
    if from.is_packed() || to.is_packed() {
        return None;
    }
    let found = fine::found();
    let half = matches!(s, DType::Float16);
    let fp16 = half && found & fine::FP16 != 0;
    let (mode, mut direction) = match rules.rounding {
        Rounding::NearestEven => (DIRECTED, Direction::NearestEven),
        Rounding::NearestAway => (AWAY, Direction::NearestEven),
        Rounding::TowardZero => (DIRECTED, Direction::TowardZero),
        Rounding::Floor => (DIRECTED, Direction::Down),
        Rounding::Ceil => (DIRECTED, Direction::Up),
        Rounding::ToOdd => (ODD, Direction::TowardZero),
    };
    // The kernel of the common rules.
    let common = || TABLES[found as usize].get(s, d, rules.saturate).run;
    let float = s.float_spec().is_some();
    let run = match d.spec() {
        _ if s == d || parts_fit(s, d) => common(),
        Spec::Bool => common(),
        Spec::Int { .. } if !float || rules.rounding == Rounding::TowardZero => common(),
        // Bytes of bytes are looked up.
        _ if s.size() == 1 && d.size() == 1 => return None,
        Spec::Int { .. } => {
            let away = mode == AWAY;
            match ints_of_half(d, away).filter(|_| fp16 && rules.saturate) {
                _ if mode == ODD => return None,
                Some(run) => run,
                None => of_source!(s, [
                    Float16: f16, BFloat16: bf16, Float32: f32, Float64: f64, Float8E8M0FNU: Exponents
                ], ints(d, away, rules.saturate))?,
            }
        }
        Spec::Float(f) if f.flavor == Flavor::Exponent => match s {
            DType::Float64 if beyond(rules) => run::<f64, Byte<Power<true>, 8>, true>,
            _ => of_source!(s, all, power()),
        },
        Spec::Float(f) if f.bits() <= 8 => {
            // The addition of the common kernel truncates, too, but that of bits.
            let truncating = Rules { rounding: Rounding::TowardZero, ..Rules::common(d, rules.saturate) };
            match d {
                _ if half && d == DType::Float8E5M2 => by_mode!(mode, run, Plain, Byte<small::E5m2>),
                _ if *rules == truncating => common(),
                _ if fp16 && super::halves::is_for(d) => by_mode!(mode, run_fp16, Plain, Byte<SignedOfHalf>),
                _ => of_source!(s, all, signed(mode)),
            }
        }
        Spec::Float(f) if f.bits() == 16 => {
            let obeys = match d {
                DType::Float16 => true,
                _ => direction == Direction::NearestEven || found & fine::BF16 != 0,
            };
            if mode == DIRECTED && obeys { common() } else { of_source!(s, all, halves(d, mode)) }
        }
        Spec::Float(_) | Spec::Complex(_) if mode == DIRECTED => common(),
        Spec::Complex(_) if matches!(s, DType::Complex128) => {
            if mode == ODD {
                parts::<f64, F32Rounded<ODD>>
            } else {
                parts::<f64, F32Rounded<AWAY>>
            }
        }
        Spec::Float(f) | Spec::Complex(f) if f.exponent_bits == 8 => of_source!(s, [
            Int32: i32, UInt32: u32, Int64: i64, UInt64: u64, Float64: f64
        ], singles(d, mode)),
        Spec::Float(_) | Spec::Complex(_) => {
            direction = Direction::TowardZero;
            of_source!(s, [Int64: i64, UInt64: u64], doubles(d, mode))
        }
    };
    Some(Rounded { run, direction, second: None })
}

/// Results of a byte that come with the cast.
fn given<Q: Lookup<E>, const E: usize, const BITS: usize>(to_bits: u32) -> KernelFn {
    use targets::Found;
    match to_bits {
        2 => run::<Given<Q, E, BITS>, Byte<Found, 2>, true>,
        4 => run::<Given<Q, E, BITS>, Byte<Found, 4>, true>,
        6 => run::<Given<Q, E, BITS>, Byte<Found, 6>, true>,
        _ => run::<Given<Q, E, BITS>, Byte<Found, 8>, true>,
    }
}

/// Wider integers of integers of a byte that come with the cast.
fn widened<Q: Lookup<E>, const E: usize, const BITS: usize>(to: DType, signed: bool) -> KernelFn {
    use targets::{Int16, Int32, Int64};
    match (to.size(), signed) {
        (2, false) => run::<GivenInts<Q, false, E, BITS>, Int16<false>, false>,
        (2, true) => run::<GivenInts<Q, true, E, BITS>, Int16<false>, false>,
        (4, false) => run::<GivenInts<Q, false, E, BITS>, Int32<false>, false>,
        (4, true) => run::<GivenInts<Q, true, E, BITS>, Int32<false>, false>,
        (_, false) => run::<GivenInts<Q, false, E, BITS>, Int64<false>, false>,
        (_, true) => run::<GivenInts<Q, true, E, BITS>, Int64<false>, false>,
    }
}

/// The kernel of a source of a byte under rules that are not the common ones, with the table that it reads.
pub(in super::super) fn tabled(
    from: Encoding,
    to: Encoding,
    rules: &Rules,
    words: &[u16; 256],
) -> Option<Made> {
    let (s, d) = (from.dtype(), to.dtype());
    let (bits, to_bits) = (from.bits_per_element(), to.bits_per_element());
    let set = lut::set_of(s);
    if d.size() == 1 {
        return Some(match (set, bits) {
            (set::FOUR, 8) => {
                Made::new(given::<Direct<Sixteen>, 16, 8>(to_bits), Lut::<16, 1>::new(words, Codes::All))
            }
            (set::FOUR, 4) => {
                Made::new(given::<Direct<Sixteen>, 16, 4>(to_bits), Lut::<16, 1>::new(words, Codes::All))
            }
            (set::SIX, 8) => {
                Made::new(given::<Direct<Quads<1>>, 64, 8>(to_bits), Lut::<64, 1>::new(words, Codes::All))
            }
            (set::SIX, 6) => {
                Made::new(given::<Direct<Quads<1>>, 64, 6>(to_bits), Lut::<64, 1>::new(words, Codes::All))
            }
            (_, 8) => {
                Made::new(given::<Direct<Quads<4>>, 256, 8>(to_bits), Lut::<256, 1>::new(words, Codes::All))
            }
            _ => return None,
        });
    }
    let Spec::Int { signed, .. } = d.spec() else { return None };
    if set & set::SHORT != 0 {
        // Rounded, their values have a byte; what is negative saturates to 0 by the table.
        let signed = signed || !rules.saturate;
        let byte = if signed { DType::Int8 } else { DType::UInt8 };
        let words = &lut::words(s, byte, &Rules { saturate: true, ..*rules });
        return Some(match (set, bits) {
            (set::FOUR, 8) => {
                Made::new(widened::<Direct<Sixteen>, 16, 8>(d, signed), Lut::<16, 1>::new(words, Codes::All))
            }
            (set::FOUR, 4) => {
                Made::new(widened::<Direct<Sixteen>, 16, 4>(d, signed), Lut::<16, 1>::new(words, Codes::All))
            }
            (_, 8) => {
                Made::new(widened::<Direct<Quads<1>>, 64, 8>(d, signed), Lut::<64, 1>::new(words, Codes::All))
            }
            (_, 6) => {
                Made::new(widened::<Direct<Quads<1>>, 64, 6>(d, signed), Lut::<64, 1>::new(words, Codes::All))
            }
            _ => return None,
        });
    }
    if set & (set::SIGNED | set::FNUZ) == 0 || rules.rounding == Rounding::ToOdd {
        return None;
    }
    let run = ints::<GivenSingles>(d, rules.rounding == Rounding::NearestAway, rules.saturate)?;
    let words = lut::words(s, DType::Float32, &Rules::common(DType::Float32, true));
    let mut made = Made::new(run, Lut::<128, 2>::new(&words, Codes::Patched));
    made.direction = crate::tabled::direction(rules.rounding)?;
    Some(made)
}
