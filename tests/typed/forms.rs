//! The typed forms of a cast between two element types, against the oracle.

use crate::support::{every_tier::on_tiers, tiers::tiers};
use crate::{oracle, support};
use lanecast::num_complex::Complex;
use lanecast::*;

/// An element as its code.
pub trait Coded: Element {
    fn from_code(code: u128) -> Self;
    fn code(self) -> u128;
}

macro_rules! coded {
    ($($type:ty, $from:expr, $to:expr;)*) => {
        $(impl Coded for $type {
            fn from_code(code: u128) -> Self {
                #[allow(clippy::redundant_closure_call, reason = "one form for all")]
                ($from)(code)
            }
            fn code(self) -> u128 {
                #[allow(clippy::redundant_closure_call, reason = "one form for all")]
                ($to)(self)
            }
        })*
    };
    (ints $($type:ident)*) => {
        coded! { $($type, |code: u128| code as $type, |x: $type| x as u128 & oracle::mask($type::DTYPE);)* }
    };
    (small $($type:ident)*) => {
        coded! { $($type, |code: u128| $type::from_bits(code as u8), |x: $type| x.to_bits().into();)* }
    };
}

coded! { ints i8 i16 i32 i64 u8 u16 u32 u64 }
coded! {
    small I2 I4 U2 U4 F8E4M3FN F8E4M3FNUZ F8E5M2 F8E5M2FNUZ F8E8M0FNU F8E3M4 F8E4M3 F8E4M3B11FNUZ F6E2M3FN F6E3M2FN
    F4E2M1FN
}
coded! {
    bool, |code: u128| code != 0, u128::from;
    half::f16, |code: u128| half::f16::from_bits(code as u16), |x: half::f16| x.to_bits().into();
    half::bf16, |code: u128| half::bf16::from_bits(code as u16), |x: half::bf16| x.to_bits().into();
    f32, |code: u128| f32::from_bits(code as u32), |x: f32| x.to_bits().into();
    f64, |code: u128| f64::from_bits(code as u64), |x: f64| x.to_bits().into();
    Complex<f32>,
        |code: u128| Complex::new(f32::from_code(code), f32::from_code(code >> 32)),
        |x: Complex<f32>| x.re.code() | x.im.code() << 32;
    Complex<f64>,
        |code: u128| Complex::new(f64::from_code(code), f64::from_code(code >> 64)),
        |x: Complex<f64>| x.re.code() | x.im.code() << 64;
}

#[inline(never)]
fn elements<S: Coded>(codes: Vec<u128>) -> Vec<S> {
    codes.iter().map(|code| S::from_code(code & oracle::mask(S::DTYPE))).collect()
}

/// Elements of a type, and what a cast to `to` should make of them.
#[inline(never)]
fn source<S: Coded>(to: DType, options: &CastOptions, n: usize) -> (Vec<S>, Vec<u128>) {
    let src = elements::<S>(support::patterns::sample(S::DTYPE, to, n, 3));
    let expected = src.iter().map(|x| oracle::cast(S::DTYPE, to, options, x.code())).collect();
    (src, expected)
}

#[inline(never)]
fn assert_codes<D: Coded>(got: &[D], expected: &[u128], from: DType, form: &str) {
    let got: Vec<u128> = got.iter().map(|x| x.code()).collect();
    assert_eq!(got, expected, "{form}: {from} -> {}", D::DTYPE);
}

#[inline(never)]
fn zeros<D: Coded>(n: usize) -> Vec<D> {
    vec![D::from_code(0); n]
}

#[inline(never)]
pub fn done<T>(result: Result<T, CastError>) -> T {
    result.expect("a tier, and equal lengths")
}

/// The typed forms of a cast. Only this function and `check_one` are compiled for every pair; what depends on one type is elsewhere.
#[inline(never)] // nor into one function of 900
pub fn check<S: Coded, D: Coded>(options: &CastOptions, n: usize) {
    let (src, expected) = source::<S>(D::DTYPE, options, n);
    let mut dst = zeros::<D>(n);
    done(options.cast(&src, &mut dst));
    assert_codes(&dst, &expected, S::DTYPE, "CastOptions::cast");
    assert_codes::<D>(&options.cast_to_vec(&src), &expected, S::DTYPE, "cast_to_vec");
    let mut memory = zeros::<D>(n);
    memory.clear();
    let mut uninit = Uninit::new(&mut memory.spare_capacity_mut()[..n]);
    done(CastPlan::of::<S, D>(options).run(&src, &mut uninit));
    assert_codes(uninit.written(), &expected, S::DTYPE, "uninitialised");
    if *options == CastOptions::RUST {
        // Their kernels are named when this is compiled, for every tier.
        on_tiers(tiers().iter().copied(), |_| {
            let mut dst = zeros::<D>(n);
            done(cast(&src, &mut dst));
            assert_codes(&dst, &expected, S::DTYPE, "cast");
        });
        assert!(n == 0 || cast(&src, &mut zeros::<D>(n - 1)).is_err());
    }
}

/// Elements one by one: with the default options every code of up to 16 bits and many of more, with all other options a few.
#[inline(never)]
pub fn check_one<S: Coded, D: Coded>() {
    let codes = match S::DTYPE.bits() {
        ..=16 => support::patterns::sources(S::DTYPE, D::DTYPE),
        _ => support::patterns::sample(S::DTYPE, D::DTYPE, 5000, 4),
    };
    let src = elements::<S>(codes);
    let expected: Vec<u128> = cast_to_vec::<S, D>(&src).iter().map(|x| x.code()).collect();
    let got: Vec<D> = src.iter().map(|&x| cast_one(x)).collect();
    assert_codes(&got, &expected, S::DTYPE, "cast_one");
    for options in support::options::applicable(S::DTYPE, D::DTYPE) {
        let (src, expected) = source::<S>(D::DTYPE, &options, 40);
        let got: Vec<D> = src.iter().map(|&x| options.cast_one(x)).collect();
        assert_codes(&got, &expected, S::DTYPE, &support::options::describe(&options));
    }
}

/// Every pair of these types, and the list of their dtypes.
macro_rules! types {
    ($($type:ty),*) => {
        types!(@each [$($type),*] [$($type),*]);

        fn all() -> Vec<DType> {
            vec![$(<$type>::DTYPE),*]
        }

        #[test]
        fn every_form() {
            for options in [CastOptions::RUST, CastOptions::TORCH] {
                [0, 1, 7, 200].into_iter().for_each(|n| each_pair(&options, n));
            }
        }

        #[test]
        fn one_by_one() {
            one_of_each_pair();
        }
    };
    (@each [$($from:ty),*] $all:tt) => {
        fn each_pair(options: &CastOptions, n: usize) {
            $(types!(@pairs $from, $all, check(options, n));)*
        }

        fn one_of_each_pair() {
            $(types!(@pairs $from, $all, check_one());)*
        }
    };
    (@pairs $from:ty, [$($to:ty),*], $check:ident $arguments:tt) => {
        $($check::<$from, $to>$arguments;)*
    };
}
