//! Compares the arithmetic with the law, and the methods with bodies with their documentation.

use super::{
    super::lanes::{LaneOps, Limits},
    *,
};

const ROUNDINGS: [Rounding; 5] =
    [Rounding::NearestEven, Rounding::Floor, Rounding::Ceil, Rounding::TowardZero, Rounding::ToOdd];

/// Signed numbers of at most `bits` bits, most of them with fewer.
fn numbers(bits: u32, seed: u64) -> impl FnMut() -> i64 {
    let mut state = seed;
    move || {
        state = state.wrapping_mul(0x5851_F42D_4C95_7F2D).wrapping_add(0x1405_7B7E_F767_814F);
        let x = state as i64 >> (64 - bits - 1);
        (x >> ((state >> 8) % bits as u64)) << ((state >> 16) % 3)
    }
}

/// The code of an integer times a power of two.
fn law(to: FloatSpec, x: i128, exponent: i32, rounding: Rounding) -> u64 {
    let significand = x.unsigned_abs().try_into().unwrap();
    float(to, Exact { negative: x < 0, ..Exact::finite(significand, exponent) }, rounding)
}

const CASES: usize = if cfg!(miri) { 50 } else { 100_000 };

#[test]
fn sums_of_float64() {
    let mut next = numbers(50, 1);
    for exponent in [-1074, -1040, -7, 0, 900, 971] {
        for _ in 0..CASES {
            let (a, b) = (next(), next());
            let far = if exponent < 971 { next().rem_euclid(10) as u32 } else { 0 };
            let (a, b) = ((a as i128) << 1, (b as i128) << far);
            let [x, y] = [a, b].map(|x| f64::from_bits(law(FLOAT64, x, exponent, Rounding::TowardZero)));
            if a + b == 0 {
                continue;
            }
            for rounding in ROUNDINGS {
                let want = law(FLOAT64, a + b, exponent, rounding);
                assert_eq!(sum(x, y, rounding).to_bits(), want, "{x} + {y} {rounding:?}");
            }
        }
    }
}

#[test]
fn fused_products_of_float32() {
    let (mut next, mut other) = (numbers(21, 2), numbers(21, 3));
    for exponent in [-149, -120, -20, 0, 60, 104] {
        for _ in 0..CASES {
            // All three are exact; the product has the exponent of the sum.
            let (a, b, c) = (next(), other(), next());
            let far = other().rem_euclid(38) as u32;
            let exact = a as i128 * b as i128 + ((c as i128) << far);
            let place = exponent + far as i32;
            let [x, y] = [(a, exponent / 2), (b, exponent - exponent / 2)];
            let [x, y, z] =
                [x, y, (c, place)].map(|(x, e)| law(FLOAT32, x as i128, e, Rounding::TowardZero) as u32);
            if exact == 0 || place > 104 || exact.unsigned_abs() >> 64 != 0 {
                continue;
            }
            for rounding in ROUNDINGS[..4].iter().copied() {
                let want = law(FLOAT32, exact, exponent, rounding) as u32;
                assert_eq!(fused([x, y, z], rounding), want, "{x:X} * {y:X} + {z:X} {rounding:?}");
            }
        }
    }
}

#[test]
fn special_sums() {
    let max = f64::MAX;
    for (rounding, overflow, cancelled) in [
        (Rounding::NearestEven, [f64::INFINITY, f64::NEG_INFINITY], 0.0),
        (Rounding::Floor, [max, f64::NEG_INFINITY], -0.0),
        (Rounding::Ceil, [f64::INFINITY, -max], 0.0),
        (Rounding::TowardZero, [max, -max], 0.0),
    ] {
        for (a, b, want) in [
            (max, max, overflow[0]),
            (-max, -max, overflow[1]),
            (1.5, -1.5, cancelled),
            (-0.0, 0.0, cancelled),
            (0.0, 0.0, 0.0),
            (-0.0, -0.0, -0.0),
            (f64::INFINITY, max, f64::INFINITY),
            (-1.0, f64::NEG_INFINITY, f64::NEG_INFINITY),
        ] {
            assert_eq!(sum(a, b, rounding).to_bits(), want.to_bits(), "{a} + {b} {rounding:?}");
            assert_eq!(sum(b, a, rounding).to_bits(), want.to_bits(), "{b} + {a} {rounding:?}");
            let single = |x: f64| if x.abs() == max { f32::MAX.copysign(x as f32) } else { x as f32 };
            let [a, b, want] = [a, b, want].map(single);
            let found = fused([a.to_bits(), 1_f32.to_bits(), b.to_bits()], rounding);
            assert_eq!(found, want.to_bits(), "{a} + {b} {rounding:?}");
        }
        assert!(sum(f64::INFINITY, f64::NEG_INFINITY, rounding).is_nan());
        let [infinity, zero] = [f32::INFINITY, 0.0].map(f32::to_bits);
        assert_eq!(fused([infinity, zero, zero], rounding), 0x7FC0_0000);
        assert_eq!(fused([infinity, zero, 0xFF80_0001], rounding), 0xFFC0_0001);
    }
}

/// A register whose bytes all differ.
fn bytes(first: u8) -> Register<16> {
    register(|i| (i as u8).wrapping_mul(0x3B).wrapping_add(first))
}

#[test]
fn methods_with_bodies() {
    let m = Portable::<16, true>::new(Direction::NearestEven);
    let x: [_; 8] = array::from_fn(|k| bytes(0x1D * k as u8));
    let (words, halves) = ([x[0], x[1], x[2], x[3]], [x[0], x[1]]);
    let at = |i| lane::<u8, 16>(&x, i);
    assert_eq!(m.low_bytes_32(words), register(|i| lane::<u32, 16>(&x, i) as u8));
    assert_eq!(m.low_bytes_64(x), register(|i| lane::<u64, 16>(&x, i) as u8));
    assert_eq!(m.low_halves_64(x), registers(|i| lane::<u64, 16>(&x, i) as u16));
    assert_eq!(m.bytes_in_words::<0>(x[0]), registers(|i| at(i) as u32));
    assert_eq!(m.bytes_in_words::<3>(x[0]), registers(|i| (at(i) as u32) << 24));
    assert_eq!(m.f32_of_bytes::<false>(x[0]), registers(|i| at(i) as f32));
    assert_eq!(m.f32_of_bytes::<true>(x[0]), registers(|i| at(i) as i8 as f32));
    assert_eq!(m.in_upper_halves(x[0]), registers(|i| (lane::<u16, 16>(&x, i) as u32) << 16));
    let sum = |i| lane::<u32, 16>(&x, i).wrapping_add(lane(&x[2..], i)) >> 16;
    assert_eq!(m.add_upper_halves(halves, [x[2], x[3]]), register(|i| sum(i) as u16));
    for m in [Direction::Down, Direction::Up].map(Portable::<16, true>::new) {
        let f16 = |signed, x: u16| float(FLOAT16, Exact::from_int(16, signed, x as u64), m.rounding()) as u16;
        assert_eq!(m.f16_of_int16_env::<false>(x[0]), map(x[0], |x| f16(false, x)));
        assert_eq!(m.f16_of_int16_env::<true>(x[0]), map(x[0], |x| f16(true, x)));
    }
    let int = |i| lane::<i64, 16>(&x, i);
    assert_eq!(
        m.codes_of_8::<true, true, true, true>(x[0], Limits::of(4, true)),
        register(|i| (at(i) as i8).clamp(-8, 7) as u8 & 15)
    );
    assert_eq!(
        m.codes_of_64::<true, false, true, true>(x, Limits::of(4, true)),
        register(|i| int(i) as u8 & 15)
    );
    assert_eq!(
        m.codes_of_64::<true, true, true, true>(x, Limits::of(4, true)),
        register(|i| int(i).clamp(-8, 7) as u8 & 15)
    );
    assert_eq!(
        m.codes_of_32::<true, true, false, false>(words, Limits::of(4, false)),
        register(|i| lane::<u32, 16>(&x, i).min(15) as u8)
    );
    assert_eq!(
        m.codes_of_16::<true, true, false, true>(halves, Limits::of(2, true)),
        register(|i| lane::<u16, 16>(&x, i).min(1) as u8)
    );
    assert_eq!(m.halves_of_64::<true, true, false>(x), registers(|i| int(i).clamp(0, 0xFFFF) as u16));
    assert_eq!(m.truths_32([x[0], m.splat(0), x[1], m.splat(1)]), register(|i| (i / 4 != 1) as u8));
    assert_eq!(m.truths_64([m.splat(0); 8]), register(|_| 0_u8));
    let singles = m.f32_of_bytes::<true>(x[0]);
    let doubles = m.f64_of_bytes::<true>(x[0]);
    assert_eq!(m.int64s_of_f32::<false, true>(singles), registers(|i| at(i) as i8 as i64));
    assert_eq!(m.int64s_of_f64::<true, false>(doubles), registers(|i| (at(i) as i8).max(0) as u64));
    assert_eq!(m.int32s_of_f64::<32, true, true>(doubles), registers(|i| at(i) as i8 as i32));
    assert_eq!(m.low_16_of_f32(singles[0]), register(|i| at(i) as i8 as i32));
    assert_eq!(m.odd_f64_of_int64::<true>(m.int64s_of_f64::<false, true>(doubles)), doubles);
    macro_rules! fits {
        ($($fit:ident: $bits:ident, $int:ident, $x:expr;)*) => {$(
            assert_eq!(m.$fit::<true, false>($x), map($x, |x: $int| x.max(0)));
            assert_eq!(m.$fit::<false, true>($x), map($x, |x: $bits| x.min($int::MAX as $bits)));
            assert_eq!(m.$fit::<true, true>($x), $x);
        )*};
    }
    fits! {
        fit_8: u8, i8, x[0];
        fit_16: u16, i16, x[1];
        fit_32: u32, i32, x[2];
        fit_64: u64, i64, x[3];
    }
}

#[test]
fn lanes_are_those_of_memory() {
    let m = Portable::<16, true>::new(Direction::NearestEven);
    let numbers: [u16; 8] = [1, 2, 3, 4, 0x8005, 6, 7, 0xFFFF];
    // SAFETY: a register.
    let x = unsafe { m.load(numbers.as_ptr().cast()) };
    let mut sums = [0_u16; 8];
    // SAFETY: a register.
    unsafe { m.store(sums.as_mut_ptr().cast(), LaneOps::add_16(m, x, m.widen_8::<false>(m.splat_8(2))[0])) };
    assert_eq!(sums, numbers.map(|x| x.wrapping_add(2)));
    assert_eq!(m.widen_16::<true>(x), registers(|i| numbers[i] as i16 as u32));
}
