//! The operations of a tier in plain Rust, lane by lane: the reference for the operations of all other tiers, and a tier on which every host, Miri
//! included, runs the families of `vector`.
//!
//! Operations that round go through [`exact`], the law. So operations that obey the floating-point environment obey the [`Direction`] in the token
//! instead, and the environment itself is always the default. If an operand is NaN, the result is that NaN, made quiet.

mod lanes;
mod tests;

use super::{Blocks, Simd};
use crate::{
    dtype::{DType, FloatSpec},
    exact::{self, Exact, FLOAT32, Rounding, Rules, float_spec, round::Correction},
    format::{data::Direction, packed::SCALAR},
};
use bytemuck::{Pod, Zeroable};
use core::{array, cell::Cell};

/// The tier, with registers of `BYTES` bytes. If `FULL`, kernels go in parts of a unit, NaN keeps its sign in arithmetic, and bfloat16 is rounded
/// in the direction; other tiers have none or some of these properties.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Portable<const BYTES: usize = 16, const FULL: bool = true> {
    /// The direction in which operations round that obey the environment.
    pub(crate) direction: Direction,
}

/// A register: its bytes as in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(transparent)]
pub(crate) struct Register<const BYTES: usize>([u8; BYTES]);

/// Reads lane `i` of consecutive registers.
fn lane<T: Pod, const N: usize>(x: &[Register<N>], i: usize) -> T {
    let at = i * size_of::<T>();
    bytemuck::pod_read_unaligned(&x[at / N].0[at % N..][..size_of::<T>()])
}

/// Fills consecutive registers, lane by lane.
fn registers<T: Pod, const N: usize, const K: usize>(lane: impl Fn(usize) -> T) -> [Register<N>; K] {
    let lanes = N / size_of::<T>();
    array::from_fn(|k| {
        let mut bytes = [0; N];
        for (i, place) in bytes.chunks_exact_mut(size_of::<T>()).enumerate() {
            place.copy_from_slice(bytemuck::bytes_of(&lane(k * lanes + i)));
        }
        Register(bytes)
    })
}

/// Fills a register, lane by lane.
fn register<T: Pod, const N: usize>(lane: impl Fn(usize) -> T) -> Register<N> {
    registers::<T, N, 1>(lane)[0]
}

/// Applies a function to every lane of a register.
fn map<A: Pod, B: Pod, const N: usize>(x: Register<N>, result: impl Fn(A) -> B) -> Register<N> {
    register(|i| result(lane(&[x], i)))
}

/// Applies a function to every pair of lanes of two registers.
fn zip<A: Pod, B: Pod, const N: usize>(a: Register<N>, b: Register<N>, f: impl Fn(A, A) -> B) -> Register<N> {
    register(|i| f(lane(&[a], i), lane(&[b], i)))
}

/// Whether the condition holds for any lane of the registers.
fn any<T: Pod, const N: usize>(x: &[Register<N>], is: impl Fn(T) -> bool) -> bool {
    (0..x.len() * N / size_of::<T>()).any(|i| is(lane(x, i)))
}

/// A lane of all ones or all zeros.
fn mask<T: Zeroable + Pod>(yes: bool) -> T {
    let mut lane = T::zeroed();
    bytemuck::bytes_of_mut(&mut lane).fill(if yes { 0xFF } else { 0 });
    lane
}

/// Methods of traits that do not use the token. They stay functions, because inlining them into all kernels would take minutes to compile.
macro_rules! operations {
    ($($name:ident $(<$(const $generic:ident: $kind:ty),*>)? ($($arg:ident $(: $type:ty)?),*) $(-> $result:ty)? = $body:expr;)*) => {$(
        #[inline(never)]
        fn $name $(<$(const $generic: $kind),*>)? (self, $($arg: operations!(@ $($type)?)),*) -> operations!(@ $($result)?) {
            $body
        }
    )*};
    (@) => { Self::V };
    (@ $type:ty) => { $type };
}
use operations;

const FLOAT16: FloatSpec = float_spec(DType::Float16);
const BFLOAT16: FloatSpec = float_spec(DType::BFloat16);
const FLOAT64: FloatSpec = float_spec(DType::Float64);
const QUIET_32: u32 = 1 << 22;
const SIGN_32: u32 = 1 << 31;

std::thread_local! {
    /// The direction of the tokens that kernels make: it is this tier's floating-point environment.
    static ENVIRONMENT: Cell<Direction> = const { Cell::new(Direction::NearestEven) };
}

/// Calls kernels of this tier in a direction.
pub(crate) fn call_in(direction: Direction, call: impl FnOnce()) {
    ENVIRONMENT.set(direction);
    call();
    ENVIRONMENT.set(Direction::NearestEven);
}

impl<const N: usize, const FULL: bool> Portable<N, FULL> {
    pub(crate) const fn new(direction: Direction) -> Self {
        Self { direction }
    }

    fn rounding(self) -> Rounding {
        match self.direction {
            Direction::NearestEven => Rounding::NearestEven,
            Direction::Down => Rounding::Floor,
            Direction::Up => Rounding::Ceil,
            Direction::TowardZero => Rounding::TowardZero,
        }
    }
}

const fn rules(rounding: Rounding, saturate: bool) -> Rules {
    Rules { rounding, ..Rules::common(DType::Float32, saturate) }
}

/// The code of a number in a format.
fn float(to: FloatSpec, x: Exact, rounding: Rounding) -> u64 {
    exact::to_float(to, x, &rules(rounding, false))
}

/// Converts a float to another format. NaN becomes quiet with its sign and upper bits.
fn convert(from: FloatSpec, to: FloatSpec, code: u64, rounding: Rounding) -> u64 {
    float(to, Exact::from_float(from, code), rounding)
}

/// Converts an integer to the range of another type; both are given by their bits and whether they are signed.
fn fit(from: (u32, bool), to: (u32, bool), code: u64) -> u64 {
    exact::to_int(to.0, to.1, Exact::from_int(from.0, from.1, code), &rules(Rounding::TowardZero, true))
}

/// Converts a float to an integer by truncation: the low bits, or the nearest integer.
fn integer(from: FloatSpec, (bits, signed): (u32, bool), code: u64, saturate: bool) -> u64 {
    exact::to_int(bits, signed, Exact::from_float(from, code), &rules(Rounding::TowardZero, saturate))
}

/// `a + b`
fn sum(a: f64, b: f64, rounding: Rounding) -> f64 {
    let (large, small) = if a.abs() < b.abs() { (b, a) } else { (a, b) };
    let sum = large + small;
    // Fast2Sum: exactly what the sum lacks, because `large` is not the smaller magnitude. If the sum overflowed, the rest is infinity with the
    // other sign; if an operand is infinite, the rest is NaN.
    let rest = small - (sum - large);
    if sum.is_nan() {
        return sum;
    }
    if sum == 0.0 {
        // The sum is exact. If the direction is down, zeros of different signs and sums that cancel make a negative zero.
        let negative = a.is_sign_negative() || b.is_sign_negative();
        return if matches!(rounding, Rounding::Floor) && negative { -0.0 } else { sum };
    }
    let inexact = rest.abs() > 0.0;
    let rounded_up = inexact && rest.is_sign_negative() != sum.is_sign_negative();
    let negative = sum.is_sign_negative();
    let magnitude = Correction::new(rounding).code64(
        sum.abs().to_bits(),
        mask(rounded_up),
        mask(inexact),
        mask(negative),
    );
    f64::from_bits(magnitude | (negative as u64) << 63)
}

/// `a * b + c`
fn fused([a, b, c]: [u32; 3], rounding: Rounding) -> u32 {
    if let Some(nan) = [c, a, b].into_iter().find(|&x| f32::from_bits(x).is_nan()) {
        return nan | QUIET_32;
    }
    let [a, b, c] = [a, b, c].map(|x| f32::from_bits(x) as f64);
    // The product is exact. Rounding twice in one direction is rounding once; to nearest, the first rounding is to odd.
    let first = if rounding == Rounding::NearestEven { Rounding::ToOdd } else { rounding };
    let sum = sum(a * b, c, first);
    if sum.is_nan() {
        return f32::INFINITY.to_bits() | QUIET_32;
    }
    convert(FLOAT64, FLOAT32, sum.to_bits(), rounding) as u32
}

impl<const N: usize, const FULL: bool> Simd for Portable<N, FULL> {
    type V = Register<N>;
    unsafe fn new_unchecked() -> Self {
        Self::new(ENVIRONMENT.get())
    }
    operations! {
        splat(x: u32) = register(|_| x);
        and(a, b) = zip(a, b, |a: u8, b| a & b);
        or(a, b) = zip(a, b, |a: u8, b| a | b);
        xor(a, b) = zip(a, b, |a: u8, b| a ^ b);
        add(a, b) = zip(a, b, u32::wrapping_add);
        sub(a, b) = zip(a, b, u32::wrapping_sub);
        shr<const BY: u32>(a) = map(a, |a: u32| a >> BY);
        min_u(a, b) = zip(a, b, u32::min);
        max_u(a, b) = zip(a, b, u32::max);
        min_i(a, b) = zip(a, b, i32::min);
        max_i(a, b) = zip(a, b, i32::max);
        fma(a, b, c) = Self::new(Direction::NearestEven).fma_env(a, b, c);
        mul(a, b) = zip(a, b, |a: f32, b| a * b);
        div(a, b) = zip(a, b, |a: f32, b| a / b);
        nudge(x, excess) = register(|i| {
            let (x, excess): (u32, f32) = (lane(&[x], i), lane(&[excess], i));
            x.wrapping_add((excess < 0.0) as u32).wrapping_sub((excess > 0.0) as u32)
        });
        max_across<const K: u32>(a, b) = register(|i| u32::max(lane(&[a, b], 2 * i), lane(&[a, b], 2 * i + 1)));
        min_f(a, b) = register(|i| {
            let [a, b]: [f32; 2] = [lane(&[a], i), lane(&[b], i)];
            if a < b { a.to_bits() } else { b.to_bits() }
        });
        select_nan(x, yes, no) = register(|i| {
            let from = if lane::<f32, N>(&[x], i).is_nan() { yes } else { no };
            lane::<u32, N>(&[from], i)
        });
        select_eq(a, b, yes, no) = register(|i| {
            let from = if lane::<u32, N>(&[a], i) == lane(&[b], i) { yes } else { no };
            lane::<u32, N>(&[from], i)
        });
        any_nan(x: [Self::V; 4]) -> bool = any(&x, f32::is_nan);
        pack_low<const APART: bool>(x: [Self::V; 4]) = register(|i| lane::<u32, N>(&x, i) as u8);
        pack_counts<const APART: bool>(x: [Self::V; 4], mantissa: u32, field: u32) = register(|i| {
            let x: u32 = lane(&x, i);
            (((x >> 23).wrapping_sub(field) << mantissa).wrapping_add(x & 0xFFFF)) as u8
        });
        pack_sign<const APART: bool>(x: [Self::V; 4]) = register(|i| (lane::<u32, N>(&x, i) >> 24) as u8);
        in_order<const APART: bool>(x) = x;
        pack_high_halves(a, b) = register(|i| (lane::<u32, N>(&[a, b], i) >> 16) as u16);
        sign_nonzero(code, sign) = zip(code, sign, |code: u8, sign| if code == 0 { 0 } else { code | sign });
    }
    #[inline(never)]
    fn fma_env(self, a: Self::V, b: Self::V, c: Self::V) -> Self::V {
        register(|i| {
            let x = fused([lane(&[a], i), lane(&[b], i), lane(&[c], i)], self.rounding());
            if !FULL && f32::from_bits(x).is_nan() { x & !SIGN_32 } else { x }
        })
    }
}

/// The first `bytes` bytes of consecutive registers, followed by zeros.
///
/// # Safety
///
/// They can be read.
unsafe fn read<const N: usize, const K: usize>(p: *const u8, bytes: usize) -> [Register<N>; K] {
    let mut x = [Register([0; N]); K];
    assert!(bytes <= size_of_val(&x));
    // SAFETY: the caller's promise; arrays of registers consist of their bytes.
    unsafe { x.as_mut_ptr().cast::<u8>().copy_from_nonoverlapping(p, bytes) };
    x
}

/// # Safety
///
/// `bytes` bytes can be written.
unsafe fn write<const N: usize>(p: *mut u8, x: &[Register<N>], bytes: usize) {
    assert!(bytes <= size_of_val(x));
    // SAFETY: the caller's promise; slices of registers consist of their bytes.
    unsafe { p.copy_from_nonoverlapping(x.as_ptr().cast(), bytes) };
}

impl<const N: usize, const FULL: bool> Blocks for Portable<N, FULL> {
    const LANES: usize = N / 4;
    operations! {
        shl<const BY: u32>(a) = map(a, |a: u32| a << BY);
        pack_saturated<const APART: bool, const SIGNED: bool>(x: [Self::V; 4]) = {
            register(|i| fit((32, true), (8, SIGNED), lane::<u32, N>(&x, i) as u64) as u8)
        };
        max_bytes(a, b) = zip(a, b, i8::max);
        any_low_half(x: [Self::V; 4], low) -> bool = {
            x.iter().any(|x| (0..N / 4).any(|i| lane::<u32, N>(&[*x], i) & 0xFFFF == lane(&[low], i)))
        };
    }
    #[inline(never)]
    fn round(self, x: Self::V) -> Self::V {
        let rules = rules(self.rounding(), true);
        map(x, |x: u32| exact::to_int(32, true, Exact::from_float(FLOAT32, x as u64), &rules) as u32)
    }
    #[inline(never)]
    unsafe fn load_32<const PART: bool>(self, p: *const u8, n: usize) -> [Self::V; 4] {
        // SAFETY: the caller's promise.
        unsafe { read(p, 4 * if PART { n } else { N }) }
    }
    #[inline(never)]
    unsafe fn load_16<const PART: bool>(self, p: *const u8, n: usize) -> [Self::V; 2] {
        // SAFETY: the caller's promise.
        unsafe { read(p, 2 * if PART { n } else { N }) }
    }
    #[inline(never)]
    unsafe fn load_high_16<const PART: bool>(self, p: *const u8, n: usize) -> [Self::V; 4] {
        // SAFETY: the caller's promise.
        let halves: [_; 2] = unsafe { self.load_16::<PART>(p, n) };
        registers(|i| (lane::<u16, N>(&halves, i) as u32) << 16)
    }
    #[inline(never)]
    unsafe fn store_8<const PART: bool>(self, p: *mut u8, x: Self::V, n: usize) {
        // SAFETY: the caller's promise.
        unsafe { write(p, &[x], if PART { n } else { N }) }
    }
    #[inline(never)]
    unsafe fn store_packed<const BITS: u32, const PART: bool>(self, p: *mut u8, x: Self::V, n: usize) {
        let pack = SCALAR.pack[BITS as usize / 2 - 1];
        // SAFETY: the caller's promise; the register has a byte for every code.
        unsafe { pack(x.0.as_ptr(), p, if PART { n } else { N }) }
    }
    #[inline(never)]
    unsafe fn store_16<const PART: bool>(self, p: *mut u8, x: [Self::V; 2], n: usize) {
        // SAFETY: the caller's promise.
        unsafe { write(p, &x, 2 * if PART { n } else { N }) }
    }
    #[inline(never)]
    unsafe fn store_32<const PART: bool>(self, p: *mut u8, x: [Self::V; 4], n: usize) {
        // SAFETY: the caller's promise.
        unsafe { write(p, &x, 4 * if PART { n } else { N }) }
    }
}
