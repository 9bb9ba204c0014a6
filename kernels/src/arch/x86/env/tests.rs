//! Tests what the compiler makes of constants in kernels that run in a rounding direction.

use super::super::{
    env,
    intrinsics::{self, *},
};
use crate::{
    arch::Tier,
    drive::fpenv,
    dtype::DType,
    format::data::{Data, Direction},
    vector::kernel::KernelFn,
};
use core::ptr;
use std::println;

/// An operation whose exact result lies 3/4 of a unit above a whole number of units, and the same with the negative result.
struct Case {
    name: &'static str,
    assembly: KernelFn,
    intrinsic: KernelFn,
    /// The number in the first lane.
    lane: fn(&[u8]) -> f64,
    /// The floats next to each of the two results.
    neighbours: [[f64; 2]; 2],
}

/// Kernels that store the results of operations on constants, `f` with `positive` or `negative` arguments.
macro_rules! cases {
    ($function:ident: $($name:ident $(::<$how:literal>)? ($($positive:expr),*) ($($negative:expr),*): $lane:ty, $neighbours:expr;)*) => {
        [$(Case {
            name: stringify!($name),
            assembly: cases!(@ $function env $name $(::<$how>)? ($($positive),*) ($($negative),*)),
            intrinsic: cases!(@ $function intrinsics $name $(::<$how>)? ($($positive),*) ($($negative),*)),
            lane: |bytes| <$lane>::from_ne_bytes(*bytes.first_chunk().expect("a register")) as f64,
            neighbours: $neighbours,
        }),*]
    };
    (@ $function:ident $module:ident $name:ident $(::<$how:literal>)? ($($positive:expr),*) ($($negative:expr),*)) => {{
        $function! {
            unsafe fn results(_: *const u8, dst: *mut u8, _: usize, _: &Data) {
                let positive = $module::$name$(::<$how>)?($($positive),*);
                let negative = $module::$name$(::<$how>)?($($negative),*);
                // SAFETY: the caller grants two registers of 64 bytes.
                unsafe {
                    ptr::write_unaligned(dst.cast(), positive);
                    ptr::write_unaligned(dst.add(64).cast(), negative);
                }
            }
        }
        results
    }};
}

/// The floats next to a whole number of units plus 3/4 of a unit, and next to the negative of that.
const fn both(low: f64, unit: f64) -> [[f64; 2]; 2] {
    [[low, low + unit], [-low - unit, -low]]
}

/// The neighbours if both results are the same.
const fn twice(low: f64, unit: f64) -> [[f64; 2]; 2] {
    [[low, low + unit]; 2]
}

/// The units in the last place of numbers from 1 to 2.
const PS: f32 = f32::EPSILON;
const PD: f64 = f64::EPSILON;
const PH: f32 = 1.0 / 1024.0;
/// 1, one unit, and 3/4 of another unit.
const LONG_PS: f64 = 1.0 + 1.75 * PS as f64;
const LONG_PH: f32 = 1.0 + 1.75 * PH;

/// Whether the intrinsic gives the result of the direction.
fn check(case: &Case, direction: Direction) -> bool {
    let [assembly, intrinsic] = [case.assembly, case.intrinsic].map(|kernel| {
        let mut registers = [0_u8; 128];
        let data = Data::common(DType::Float32, true);
        // SAFETY: the CPU has the features, by the caller; the kernel reads nothing and has room for two registers.
        unsafe { fpenv::call_in(direction, kernel, registers.as_ptr(), registers.as_mut_ptr(), 0, data) };
        [(case.lane)(&registers), (case.lane)(&registers[64..])]
    });
    let want = case.neighbours.map(|[below, above]| match direction {
        Direction::Down => below,
        Direction::Up => above,
        Direction::TowardZero if below > 0.0 => below,
        Direction::TowardZero => above,
        Direction::NearestEven if below > 0.0 => above,
        Direction::NearestEven => below,
    });
    assert_eq!(assembly, want, "{}, {direction:?}", case.name);
    intrinsic == want
}

/// Checks that every operation obeys every direction, though its operands are constants. Prints which intrinsics do not obey.
fn check_all(cases: &[Case]) {
    const DIRECTIONS: [Direction; 4] =
        [Direction::NearestEven, Direction::Down, Direction::Up, Direction::TowardZero];
    for case in cases {
        if DIRECTIONS.iter().filter(|direction| !check(case, **direction)).count() > 0 {
            println!("{}: the compiler folds the intrinsic to the nearest result", case.name);
        }
    }
}

#[test]
fn operations_of_avx2_obey_every_direction() {
    if !Tier::Avx2.is_available() {
        return println!("skipped: tier avx2");
    }
    check_all(&cases! { avx2_fn:
        _mm256_add_ps(_mm256_set1_ps(1.0 + PS), _mm256_set1_ps(0.75 * PS))
            (_mm256_set1_ps(-1.0 - PS), _mm256_set1_ps(-0.75 * PS)): f32, both(1.0 + PS as f64, PS as f64);
        _mm256_add_pd(_mm256_set1_pd(1.0 + PD), _mm256_set1_pd(0.75 * PD))
            (_mm256_set1_pd(-1.0 - PD), _mm256_set1_pd(-0.75 * PD)): f64, both(1.0 + PD, PD);
        _mm256_fmadd_ps(_mm256_set1_ps(0.25 * PS), _mm256_set1_ps(3.0), _mm256_set1_ps(1.0 + PS))
            (_mm256_set1_ps(-0.25 * PS), _mm256_set1_ps(3.0), _mm256_set1_ps(-1.0 - PS)): f32, both(1.0 + PS as f64, PS as f64);
        _mm256_round_ps::<12>(_mm256_set1_ps(1.75)) (_mm256_set1_ps(-1.75)): f32, both(1.0, 1.0);
        _mm256_round_pd::<12>(_mm256_set1_pd(1.75)) (_mm256_set1_pd(-1.75)): f64, both(1.0, 1.0);
        _mm256_cvtps_epi32(_mm256_set1_ps(1.75)) (_mm256_set1_ps(-1.75)): i32, both(1.0, 1.0);
        _mm256_cvtpd_ps(_mm256_set1_pd(LONG_PS)) (_mm256_set1_pd(-LONG_PS)): f32, both(1.0 + PS as f64, PS as f64);
        _mm256_cvtepi32_ps(_mm256_set1_epi32((1 << 25) + 7)) (_mm256_set1_epi32((-1 << 25) - 7)): f32,
            both(33_554_436.0, 4.0);
        _mm256_cvtps_ph::<4>(_mm256_set1_ps(LONG_PH)) (_mm256_set1_ps(LONG_PH)): u16, twice(15361.0, 1.0);
    });
}

#[cfg(feature = "avx512")]
#[test]
fn operations_of_avx512_obey_every_direction() {
    const TWO_42: f64 = (1_u64 << 42) as f64;
    const TWO_54: f64 = (1_u64 << 54) as f64;
    if !Tier::Avx512.is_available() {
        return println!("skipped: tier avx512");
    }
    check_all(&cases! { avx512_fn:
        _mm512_add_ps(_mm512_set1_ps(1.0 + PS), _mm512_set1_ps(0.75 * PS))
            (_mm512_set1_ps(-1.0 - PS), _mm512_set1_ps(-0.75 * PS)): f32, both(1.0 + PS as f64, PS as f64);
        _mm512_add_pd(_mm512_set1_pd(1.0 + PD), _mm512_set1_pd(0.75 * PD))
            (_mm512_set1_pd(-1.0 - PD), _mm512_set1_pd(-0.75 * PD)): f64, both(1.0 + PD, PD);
        _mm512_fmadd_ps(_mm512_set1_ps(0.25 * PS), _mm512_set1_ps(3.0), _mm512_set1_ps(1.0 + PS))
            (_mm512_set1_ps(-0.25 * PS), _mm512_set1_ps(3.0), _mm512_set1_ps(-1.0 - PS)): f32, both(1.0 + PS as f64, PS as f64);
        _mm512_fmadd_pd(_mm512_set1_pd(0.25 * PD), _mm512_set1_pd(3.0), _mm512_set1_pd(1.0 + PD))
            (_mm512_set1_pd(-0.25 * PD), _mm512_set1_pd(3.0), _mm512_set1_pd(-1.0 - PD)): f64, both(1.0 + PD, PD);
        _mm512_cvtps_epi32(_mm512_set1_ps(1.75)) (_mm512_set1_ps(-1.75)): i32, both(1.0, 1.0);
        _mm512_cvtps_epu32(_mm512_set1_ps(1.75)) (_mm512_set1_ps(1.75)): u32, twice(1.0, 1.0);
        _mm512_cvtps_epu64(_mm256_set1_ps(1.75)) (_mm256_set1_ps(1.75)): u64, twice(1.0, 1.0);
        _mm512_cvtpd_epu32(_mm512_set1_pd(1.75)) (_mm512_set1_pd(1.75)): u32, twice(1.0, 1.0);
        _mm512_cvtpd_epi64(_mm512_set1_pd(1.75)) (_mm512_set1_pd(-1.75)): i64, both(1.0, 1.0);
        _mm512_cvtpd_epu64(_mm512_set1_pd(1.75)) (_mm512_set1_pd(1.75)): u64, twice(1.0, 1.0);
        _mm512_maskz_cvtps_epi32(1, _mm512_set1_ps(1.75)) (1, _mm512_set1_ps(-1.75)): i32, both(1.0, 1.0);
        _mm512_maskz_cvtps_epi64(1, _mm256_set1_ps(1.75)) (1, _mm256_set1_ps(-1.75)): i64, both(1.0, 1.0);
        _mm512_maskz_cvtpd_epi32(1, _mm512_set1_pd(1.75)) (1, _mm512_set1_pd(-1.75)): i32, both(1.0, 1.0);
        _mm512_maskz_cvtpd_epi64(1, _mm512_set1_pd(1.75)) (1, _mm512_set1_pd(-1.75)): i64, both(1.0, 1.0);
        _mm512_cvtpd_ps(_mm512_set1_pd(LONG_PS)) (_mm512_set1_pd(-LONG_PS)): f32, both(1.0 + PS as f64, PS as f64);
        _mm512_cvtepi32_ps(_mm512_set1_epi32((1 << 25) + 7)) (_mm512_set1_epi32((-1 << 25) - 7)): f32,
            both(33_554_436.0, 4.0);
        _mm512_cvtepu32_ps(_mm512_set1_epi32((1 << 25) + 7)) (_mm512_set1_epi32((1 << 25) + 7)): f32,
            twice(33_554_436.0, 4.0);
        _mm512_cvtepi64_ps(_mm512_set1_epi64((1 << 42) + (7 << 17))) (_mm512_set1_epi64((-1 << 42) - (7 << 17))): f32,
            both(TWO_42 + 524_288.0, 524_288.0);
        _mm512_cvtepu64_ps(_mm512_set1_epi64((1 << 42) + (7 << 17))) (_mm512_set1_epi64((1 << 42) + (7 << 17))): f32,
            twice(TWO_42 + 524_288.0, 524_288.0);
        _mm512_cvtepi64_pd(_mm512_set1_epi64((1 << 54) + 7)) (_mm512_set1_epi64((-1 << 54) - 7)): f64,
            both(TWO_54 + 4.0, 4.0);
        _mm512_cvtepu64_pd(_mm512_set1_epi64((1 << 54) + 7)) (_mm512_set1_epi64((1 << 54) + 7)): f64,
            twice(TWO_54 + 4.0, 4.0);
        _mm512_cvtps_ph::<4>(_mm512_set1_ps(LONG_PH)) (_mm512_set1_ps(LONG_PH)): u16, twice(15361.0, 1.0);
    });
}
