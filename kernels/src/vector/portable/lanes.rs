//! The operations on lanes of every width.

use super::{
    super::lanes::{Bytes, Doubles, Halves, Kernel, LaneOps, Pace, Vectorized},
    *,
};
use core::cmp::Ordering;

/// A lane shifted by the low byte of `by`, as a signed number.
fn shifted(x: u64, by: u64) -> u64 {
    let (x, by) = (x as u128, by as i8);
    let places = by.unsigned_abs() as u32;
    if by < 0 { x.checked_shr(places) } else { x.checked_shl(places) }.unwrap_or(0) as u64
}

/// The low half of an integer of `bits` bits, or the nearest integer of half as many bits.
fn narrowed<const SATURATE: bool, const FROM: bool, const TO: bool>(bits: u32, x: u64) -> u64 {
    if SATURATE { fit((bits, FROM), (bits / 2, TO), x) } else { x }
}

/// The float32 of two that comes first in an order where -0 is less than +0. NaN comes before all others.
fn first(a: u32, b: u32, order: Ordering) -> u32 {
    let [x, y] = [a, b].map(f32::from_bits);
    match (x.is_nan(), y.is_nan()) {
        (true, _) => a | QUIET_32,
        (_, true) => b | QUIET_32,
        _ => {
            if x.total_cmp(&y) == order {
                a
            } else {
                b
            }
        }
    }
}

/// The lanes of two registers interleaved.
fn zipped<T: Pod, const N: usize>(a: Register<N>, b: Register<N>) -> [Register<N>; 2] {
    registers(|i| lane::<T, N>(&[[a, b][i % 2]], i / 2))
}

/// Every second lane of two registers.
fn second<T: Pod, const N: usize>(a: Register<N>, b: Register<N>, from: usize) -> Register<N> {
    register(|i| lane::<T, N>(&[a, b], 2 * i + from))
}

impl<const N: usize, const FULL: bool> LaneOps for Portable<N, FULL> {
    type Function<K: Kernel<Self>> = Vectorized<Self, K>;
    type Table64 = [u8; 64];
    const PACE: Pace = if FULL { Pace::PartsAndFew } else { Pace::Long };
    const NAN_KEEPS_SIGN: bool = FULL;
    const ENDS: bool = !FULL;
    const BF16_IN_DIRECTION: bool = FULL;

    operations! {
        and_not(a, b) = zip(a, b, |a: u8, b: u8| a & !b);
        select(mask, yes, no) = {
            let chosen = zip(mask, yes, |mask: u8, yes| mask & yes);
            zip(chosen, zip(no, mask, |no: u8, mask: u8| no & !mask), |a: u8, b| a | b)
        };
        any(a) -> bool = any(&[a], |x: u8| x != 0);

        splat_8(x: u8) = register(|_| x);
        add_8(a, b) = zip(a, b, u8::wrapping_add);
        sub_8(a, b) = zip(a, b, u8::wrapping_sub);
        mul_add_8(c, a, b) = zip(c, zip(a, b, u8::wrapping_mul), u8::wrapping_add);
        min_u8(a, b) = zip(a, b, u8::min);
        max_u8(a, b) = zip(a, b, u8::max);
        min_i8(a, b) = zip(a, b, i8::min);
        max_i8(a, b) = zip(a, b, i8::max);
        eq_8(a, b) = zip(a, b, |a: u8, b| mask::<u8>(a == b));
        ge_u8(a, b) = zip(a, b, |a: u8, b| mask::<u8>(a >= b));
        signs_8(a) = map(a, |a: i8| mask::<u8>(a < 0));
        shl_8<const BY: i32>(a) = map(a, |a: u8| ((a as u32) << BY) as u8);
        shr_8<const BY: i32>(a) = map(a, |a: u8| (a as u32 >> BY) as u8);
        zip_8(a, b) -> [Self::V; 2] = zipped::<u8, N>(a, b);
        even_8(a, b) = second::<u8, N>(a, b, 0);
        odd_8(a, b) = second::<u8, N>(a, b, 1);

        table_16(entries: &[u8; 16]) = register(|i| entries[i % 16]);
        table_64(entries: &[u8; 64]) -> [u8; 64] = *entries;
        look_up_16(table, index) = map(index, |i: u8| table.0[i as usize]);
        look_up_64(table: [u8; 64], index) = map(index, |i: u8| table.get(i as usize).copied().unwrap_or(0));
        look_up_64_or(found, table: [u8; 64], index) = {
            zip(found, index, |found: u8, i| table.get(i as usize).copied().unwrap_or(found))
        };

        splat_16(x: u16) = register(|_| x);
        add_16(a, b) = zip(a, b, u16::wrapping_add);
        min_u16(a, b) = zip(a, b, u16::min);
        max_i16(a, b) = zip(a, b, i16::max);
        gt_u16(a, b) = zip(a, b, |a: u16, b| mask::<u16>(a > b));
        nonzero_16(a) = map(a, |a: u16| mask::<u16>(a != 0));
        shl_16<const BY: i32>(a) = map(a, |a: u16| ((a as u32) << BY) as u16);
        shr_16<const BY: i32>(a) = map(a, |a: u16| (a as u32 >> BY) as u16);
        signs_16(a) = map(a, |a: i16| mask::<u16>(a < 0));
        shift_16(a, by) = zip(a, by, |a: u16, by| shifted(a as u64, by as u64) as u16);

        gt_u32(a, b) = zip(a, b, |a: u32, b| mask::<u32>(a > b));
        nonzero_32(a) = map(a, |a: u32| mask::<u32>(a != 0));
        signs_32(a) = map(a, |a: i32| mask::<u32>(a < 0));
        shift_32(a, by) = zip(a, by, |a: u32, by| shifted(a as u64, by as u64) as u32);
        even_32(a, b) = second::<u32, N>(a, b, 0);
        odd_32(a, b) = second::<u32, N>(a, b, 1);

        splat_64(x: u64) = register(|_| x);
        add_64(a, b) = zip(a, b, u64::wrapping_add);
        sub_64(a, b) = zip(a, b, u64::wrapping_sub);
        nonzero_64(a) = map(a, |a: u64| mask::<u64>(a != 0));
        signs_64(a) = map(a, |a: i64| mask::<u64>(a < 0));
        shift_64(a, by) = zip(a, by, shifted);
        even_64(a, b) = second::<u64, N>(a, b, 0);
        odd_64(a, b) = second::<u64, N>(a, b, 1);
        zip_64(a, b) -> [Self::V; 2] = zipped::<u64, N>(a, b);

        widen_8<const SIGNED: bool>(x) -> [Self::V; 2] = {
            registers(|i| if SIGNED { lane::<i8, N>(&[x], i) as u16 } else { lane::<u8, N>(&[x], i) as u16 })
        };
        widen_16<const SIGNED: bool>(x) -> [Self::V; 2] = {
            registers(|i| if SIGNED { lane::<i16, N>(&[x], i) as u32 } else { lane::<u16, N>(&[x], i) as u32 })
        };
        widen_32<const SIGNED: bool>(x) -> [Self::V; 2] = {
            registers(|i| if SIGNED { lane::<i32, N>(&[x], i) as u64 } else { lane::<u32, N>(&[x], i) as u64 })
        };
        narrow_16<const SATURATE: bool, const FROM: bool, const TO: bool>(a, b) = {
            register(|i| narrowed::<SATURATE, FROM, TO>(16, lane::<u16, N>(&[a, b], i) as u64) as u8)
        };
        narrow_32<const SATURATE: bool, const FROM: bool, const TO: bool>(a, b) = {
            register(|i| narrowed::<SATURATE, FROM, TO>(32, lane::<u32, N>(&[a, b], i) as u64) as u16)
        };
        narrow_64<const SATURATE: bool, const FROM: bool, const TO: bool>(a, b) = {
            register(|i| narrowed::<SATURATE, FROM, TO>(64, lane::<u64, N>(&[a, b], i)) as u32)
        };
        bytes_in_doubles<const AT: usize>(x: Bytes<Self>) -> Doubles<Self> = {
            registers(|i| (lane::<u8, N>(&[x], i) as u64) << (8 * AT))
        };
        halves_in_doubles<const AT: usize>(x: Halves<Self>) -> Doubles<Self> = {
            registers(|i| (lane::<u16, N>(&x, i) as u64) << (8 * AT))
        };

        eq_f32(a, b) = zip(a, b, |a: f32, b| mask::<u32>(a == b));
        abs_ge_f32(a, b) = zip(a, b, |a: f32, b: f32| mask::<u32>(a.abs() >= b.abs()));
        abs_gt_f32(a, b) = zip(a, b, |a: f32, b: f32| mask::<u32>(a.abs() > b.abs()));
        min_nan_f32(a, b) = zip(a, b, |a, b| first(a, b, Ordering::Less));
        max_nan_f32(a, b) = zip(a, b, |a, b| first(a, b, Ordering::Greater));
        mul_sub_f32(c, a, b) = register(|i| {
            let minus = lane::<u32, N>(&[a], i) ^ SIGN_32;
            fused([minus, lane(&[b], i), lane(&[c], i)], Rounding::NearestEven)
        });
        round_away_f32(x) = map(x, |x| Correction::new(Rounding::NearestAway).whole32(x));
        int32_of_f32<const SIGNED: bool>(x) = {
            map(x, |x: u32| integer(FLOAT32, (32, SIGNED), x as u64, true) as u32)
        };
        low_32_of_f32(x) = map(x, |x: u32| integer(FLOAT32, (32, true), x as u64, false) as u32);
        int32_or_0_of_f32(x) = map(x, |x: f32| if x.abs() < 2_f32.powi(31) { x as i32 } else { 0 });

        f32_of_f16(x) -> [Self::V; 2] = {
            registers(|i| {
                let half: u16 = lane(&[x], i);
                convert(FLOAT16, FLOAT32, half as u64, Rounding::NearestEven) as u32
            })
        };

        abs_ge_f64(a, b) = zip(a, b, |a: f64, b: f64| mask::<u64>(a.abs() >= b.abs()));
        round_away_f64(x) = map(x, |x| Correction::new(Rounding::NearestAway).whole64(x));
        int64_of_f64<const SIGNED: bool>(x) = map(x, |x| integer(FLOAT64, (64, SIGNED), x, true));
        low_64_of_f64(x) = map(x, |x| integer(FLOAT64, (64, true), x, false));
        int64_or_0_of_f64(x) = map(x, |x: f64| if x.abs() < 2_f64.powi(63) { x as i64 } else { 0 });
        f64_of_int32<const SIGNED: bool>(x) -> [Self::V; 2] = {
            registers(|i| if SIGNED { lane::<i32, N>(&[x], i) as f64 } else { lane::<u32, N>(&[x], i) as f64 })
        };
        f64_of_bytes<const SIGNED: bool>(x: Bytes<Self>) -> Doubles<Self> = {
            registers(|i| if SIGNED { lane::<i8, N>(&[x], i) as f64 } else { lane::<u8, N>(&[x], i) as f64 })
        };
        f64_of_halves<const SIGNED: bool>(x: Halves<Self>) -> Doubles<Self> = {
            registers(|i| if SIGNED { lane::<i16, N>(&x, i) as f64 } else { lane::<u16, N>(&x, i) as f64 })
        };
        f64_of_f32(x) -> [Self::V; 2] = {
            registers(|i| convert(FLOAT32, FLOAT64, lane::<u32, N>(&[x], i) as u64, Rounding::NearestEven))
        };
        f32_of_f64_odd(a, b) = {
            register(|i| convert(FLOAT64, FLOAT32, lane(&[a, b], i), Rounding::ToOdd) as u32)
        };
    }

    #[inline(never)]
    fn round_env_f32(self, x: Self::V) -> Self::V {
        map(x, |x| Correction::new(self.rounding()).whole32(x))
    }
    #[inline(never)]
    fn f32_of_int32_env<const SIGNED: bool>(self, x: Self::V) -> Self::V {
        map(x, |x: u32| float(FLOAT32, Exact::from_int(32, SIGNED, x as u64), self.rounding()) as u32)
    }
    #[inline(never)]
    fn f16_of_f32_env(self, a: Self::V, b: Self::V) -> Self::V {
        register(|i| convert(FLOAT32, FLOAT16, lane::<u32, N>(&[a, b], i) as u64, self.rounding()) as u16)
    }
    #[inline(never)]
    fn bf16_of_f32(self, a: Self::V, b: Self::V) -> Self::V {
        let rounding = if FULL { self.rounding() } else { Rounding::NearestEven };
        register(|i| convert(FLOAT32, BFLOAT16, lane::<u32, N>(&[a, b], i) as u64, rounding) as u16)
    }
    #[inline(never)]
    fn add_env_f64(self, a: Self::V, b: Self::V) -> Self::V {
        zip(a, b, |a, b| sum(a, b, self.rounding()))
    }
    #[inline(never)]
    fn round_env_f64(self, x: Self::V) -> Self::V {
        map(x, |x| Correction::new(self.rounding()).whole64(x))
    }
    #[inline(never)]
    fn f64_of_int64_env<const SIGNED: bool>(self, x: Self::V) -> Self::V {
        map(x, |x| float(FLOAT64, Exact::from_int(64, SIGNED, x), self.rounding()))
    }
    #[inline(never)]
    fn f32_of_f64_env(self, a: Self::V, b: Self::V) -> Self::V {
        register(|i| convert(FLOAT64, FLOAT32, lane(&[a, b], i), self.rounding()) as u32)
    }

    #[inline(never)]
    unsafe fn load(self, p: *const u8) -> Self::V {
        // SAFETY: the caller's promise.
        let [x] = unsafe { read(p, N) };
        x
    }
    #[inline(never)]
    unsafe fn store(self, p: *mut u8, x: Self::V) {
        // SAFETY: the caller's promise.
        unsafe { write(p, &[x], N) }
    }
    #[inline(never)]
    unsafe fn unpack<const BITS: usize>(self, p: *const u8) -> [Self::V; 2] {
        let mut codes = [Register([0; N]); 2];
        // SAFETY: the caller's promise; the registers have a byte for every code.
        unsafe { (SCALAR.unpack[BITS / 2 - 1])(p, codes.as_mut_ptr().cast(), 2 * N) };
        codes
    }
    #[inline(never)]
    unsafe fn pack<const BITS: usize>(self, p: *mut u8, x: [Self::V; 2]) {
        // SAFETY: as above.
        unsafe { (SCALAR.pack[BITS / 2 - 1])(x.as_ptr().cast(), p, 2 * N) }
    }
}
