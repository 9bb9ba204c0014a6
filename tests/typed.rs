//! Typed slices: a cast between element types gives the bytes of the cast between their dtypes, for every pair of
//! types.

use crate::support::{every_tier::on_tiers, tiers::tiers};
use crate::{oracle, support};
use lanecast::num_complex::Complex;
use lanecast::{
    CastError, CastOptions, DType, Element, F4E2M1FN, F6E2M3FN, F6E3M2FN, F8E3M4, F8E4M3, F8E4M3B11FNUZ,
    F8E4M3FN, F8E4M3FNUZ, F8E5M2, F8E5M2FNUZ, F8E8M0FNU, I2, I4, Level, U2, U4, cast, cast_in_place,
    cast_one, cast_one_with, cast_to_vec, cast_to_vec_with, cast_uninit, cast_uninit_with, cast_with, half,
    strided, try_cast,
};

/// An element as its code.
trait Coded: Element {
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
fn done<T>(result: Result<T, CastError>) -> T {
    result.expect("a tier, and equal lengths")
}

/// The typed forms of a cast. This alone is compiled for every pair, so it leaves to others what needs one type only.
#[inline(never)] // nor into one function of 900
fn check<S: Coded, D: Coded>(options: &CastOptions, n: usize) {
    let (src, expected) = source::<S>(D::DTYPE, options, n);
    let mut dst = zeros::<D>(n);
    done(cast_with(&src, &mut dst, options));
    assert_codes(&dst, &expected, S::DTYPE, "cast_with");
    assert_codes::<D>(&cast_to_vec_with(&src, options), &expected, S::DTYPE, "cast_to_vec");
    let mut uninit = zeros::<D>(n);
    uninit.clear();
    let written = done(cast_uninit_with(&src, &mut uninit.spare_capacity_mut()[..n], options));
    assert_codes(written, &expected, S::DTYPE, "cast_uninit");
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

/// The forms without options are those with the default ones.
#[test]
fn default_options() {
    let src = [2.5_f32, -1.0, 300.0, f32::NAN];
    let expected = [2, 0, 255, 0];
    assert_eq!(cast_to_vec::<f32, u8>(&src), expected);
    let mut out = Vec::with_capacity(src.len());
    let written = cast_uninit::<f32, u8>(&src, &mut out.spare_capacity_mut()[..src.len()]);
    assert_eq!(written.as_deref(), Ok(&expected[..]));
    let mut memory = src;
    assert_eq!(lanecast::cast_in_place::<f32, u8>(&mut memory).as_deref(), Ok(&expected[..]));
    let bytes: Vec<u8> = src.iter().flat_map(|x| x.to_ne_bytes()).collect();
    let mut out = [0; 4];
    lanecast::cast_bytes(&bytes, DType::Float32, &mut out, DType::UInt8, 4).expect("large enough");
    assert_eq!(out, expected);
    let refused = lanecast::try_cast_bytes(&bytes, DType::Float32, &mut out, DType::UInt8, 4, Level::Exact);
    assert!(matches!(refused, Err(CastError::Rejected(found)) if found.index == 0));
    let refused = lanecast::try_cast_to_vec::<f32, u8>(&src, Level::Range);
    assert!(matches!(refused, Err(CastError::Rejected(found)) if found.index == 1));
}

/// Elements one by one: with the default options every code of up to 16 bits and many of more, with all other options a few.
#[inline(never)]
fn check_one<S: Coded, D: Coded>() {
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
        let got: Vec<D> = src.iter().map(|&x| cast_one_with(x, &options)).collect();
        assert_codes(&got, &expected, S::DTYPE, &support::options::describe(&options));
    }
}

/// Every pair of types, and the list of their dtypes, which has to be complete.
macro_rules! types {
    ($($type:ty),*) => {
        types!(@each [$($type),*] [$($type),*]);

        fn all() -> Vec<DType> {
            vec![$(<$type>::DTYPE),*]
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

types! {
    bool, I2, I4, i8, i16, i32, i64, U2, U4, u8, u16, u32, u64, half::f16, half::bf16, f32, f64,
    Complex<f32>, Complex<f64>, F8E4M3FN, F8E4M3FNUZ, F8E5M2, F8E5M2FNUZ, F8E8M0FNU, F8E3M4, F8E4M3, F8E4M3B11FNUZ,
    F6E2M3FN, F6E3M2FN, F4E2M1FN
}

#[test]
fn every_pair_of_types() {
    assert_eq!(all(), DType::ALL, "a type for every dtype");
    for options in [CastOptions::RUST, CastOptions::TORCH] {
        [0, 1, 7, 200].into_iter().for_each(|n| each_pair(&options, n));
    }
}

#[test]
fn every_pair_of_types_one_by_one() {
    one_of_each_pair();
}

/// `usize` and `isize` are the integers of their width.
#[test]
fn integers_of_a_pointer() {
    let wide = usize::BITS == 64;
    let (unsigned, signed) = if wide { (DType::UInt64, DType::Int64) } else { (DType::UInt32, DType::Int32) };
    assert_eq!((usize::DTYPE, isize::DTYPE), (unsigned, signed));
    let mut out = [0_isize; 3];
    done(cast(&[1.9_f32, -1e30, f32::INFINITY], &mut out));
    assert_eq!(out, [1, isize::MIN, isize::MAX]);
    let floats: Vec<f64> = cast_to_vec(&[usize::MAX, 7]);
    assert_eq!(floats, [usize::MAX as f64, 7.0]);
    let mut addresses = [3_usize, 1 << 20];
    assert_eq!(done(cast_in_place::<_, i16>(&mut addresses)), [3, 0]);
    #[cfg(feature = "text")]
    assert_eq!(lanecast::text::parse(&["12", "1e3"]), Ok(vec![12_usize, 1000]));
    #[cfg(feature = "text")]
    assert_eq!(
        lanecast::text::format(&out).map(|texts| texts.get(0).map(String::from)),
        Ok(Some("1".into()))
    );
    assert_eq!(cast_one::<usize, i8>(300), 44);
    assert!(try_cast(&[usize::MAX], &mut [0_u8], Level::Range).is_err());
}

/// A wrapper of the user's.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[repr(transparent)]
struct Metres<T>(T);

// SAFETY: `repr(transparent)` over an element, whose every value is valid.
unsafe impl<T: Element> Element for Metres<T> {
    const DTYPE: DType = T::DTYPE;
}

#[test]
fn wrappers_of_elements() {
    let mut out = [Metres(0_u8); 2];
    done(cast(&[Metres(1.5_f64), Metres(-3.0)], &mut out));
    assert_eq!(out, [Metres(1), Metres(0)]);
    let mut floats = [Metres(2.0_f32), Metres(0.0)];
    let bools: &mut [Metres<bool>] = done(cast_in_place(&mut floats));
    assert_eq!(bools, [Metres(true), Metres(false)]);
    assert_eq!(cast_one::<_, Metres<F8E4M3FN>>(Metres(Metres(1000_i32))), Metres(F8E4M3FN::MAX));
    let view = strided::View::from_slice(&out, &[2]).expect("a slice");
    let mut doubles = [Metres(0.0_f64); 2];
    let mut to = strided::ViewMut::from_slice(&mut doubles, &[2]).expect("a slice");
    strided::cast(&view, &mut to).expect("a tier");
    assert_eq!(doubles, [Metres(1.0), Metres(0.0)]);
}

/// The bits of the newtypes: unused ones are dropped, floats are read and written as casts do it.
#[test]
fn newtypes() {
    macro_rules! floats {
        ($($type:ident)*) => {$(
            for code in 0..=255 {
                let x = $type::from_bits(code);
                let bits = u128::from(code) & oracle::mask($type::DTYPE);
                assert_eq!(u128::from(x.to_bits()), bits);
                let wide = oracle::cast($type::DTYPE, DType::Float32, &CastOptions::RUST, bits);
                assert_eq!(u128::from(x.to_f32().to_bits()), wide, "{} {bits:#x}", stringify!($type));
            }
            for bits in support::patterns::sources(DType::Float32, $type::DTYPE) {
                let expected = oracle::cast(DType::Float32, $type::DTYPE, &CastOptions::RUST, bits);
                let got = $type::from_f32(f32::from_bits(bits as u32)).to_bits();
                assert_eq!(u128::from(got), expected, "{bits:#x} to {}", stringify!($type));
            }
            for bits in support::patterns::sources(DType::Float64, $type::DTYPE) {
                let expected = oracle::cast(DType::Float64, $type::DTYPE, &CastOptions::RUST, bits);
                let got = $type::from_f64(f64::from_bits(bits as u64)).to_bits();
                assert_eq!(u128::from(got), expected, "{bits:#x} to {}", stringify!($type));
            }
        )*};
    }
    floats! {
        F8E4M3FN F8E4M3FNUZ F8E5M2 F8E5M2FNUZ F8E8M0FNU F8E3M4 F8E4M3 F8E4M3B11FNUZ F6E2M3FN F6E3M2FN F4E2M1FN
    }
}
