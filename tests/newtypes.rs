//! The types of the dtypes that Rust has no types for: constants, conversions, order.

use crate::small::{Float, all, each};
use crate::{oracle, support};
use lanecast::{
    CastOptions, DType, Element, F4E2M1FN, F6E2M3FN, F6E3M2FN, F8E3M4, F8E4M3, F8E4M3B11FNUZ, F8E4M3FN,
    F8E4M3FNUZ, F8E5M2, F8E5M2FNUZ, F8E8M0FNU, Flavor, I2, I4, IntRangeError, U2, U4, cast, cast_one, half,
};
use std::num::FpCategory;
use std::ops::Neg;

fn constants<T: Float>() {
    let limits = T::limits();
    assert_eq!(T::ONE.to_f64(), 1.0, "{}", T::DTYPE);
    assert_eq!(T::TOP.to_f64(), limits.max, "{}", T::DTYPE);
    assert_eq!(T::BOTTOM.to_f64(), limits.min, "{}", T::DTYPE);
    assert_eq!(T::EPSILON.to_f64(), limits.eps, "{}", T::DTYPE);
    assert_eq!(T::MIN_POSITIVE.to_f64(), limits.smallest_normal, "{}", T::DTYPE);
    assert_eq!(T::MANTISSA_DIGITS, limits.mantissa_bits + 1, "{}", T::DTYPE);
}

#[test]
fn constants_are_the_limits() {
    each!(floats constants);
    macro_rules! signed {
        ($($type:ident)*) => {$(
            assert_eq!(($type::ZERO.to_f32(), $type::ZERO.to_bits()), (0.0, 0));
            assert_eq!($type::NEG_ONE.to_f32(), -1.0);
            let least = $type::DTYPE.finfo().expect("a float").smallest_subnormal;
            assert_eq!($type::MIN_POSITIVE_SUBNORMAL.to_f64(), least);
        )*};
    }
    signed! { F8E4M3FN F8E4M3FNUZ F8E5M2 F8E5M2FNUZ F8E3M4 F8E4M3 F8E4M3B11FNUZ F6E2M3FN F6E3M2FN F4E2M1FN }
    macro_rules! with_nan {
        ($($type:ident)*) => {$(
            assert!($type::NAN.is_nan());
            assert_eq!($type::NAN.to_bits(), $type::from_f32(f32::NAN).to_bits());
        )*};
    }
    with_nan! { F8E4M3FN F8E4M3FNUZ F8E5M2 F8E5M2FNUZ F8E8M0FNU F8E3M4 F8E4M3 F8E4M3B11FNUZ }
    macro_rules! with_negative_zero {
        ($($type:ident)*) => {$(
            assert_eq!($type::NEG_ZERO.to_f32().to_bits(), (-0.0_f32).to_bits());
        )*};
    }
    with_negative_zero! { F8E4M3FN F8E5M2 F8E3M4 F8E4M3 F6E2M3FN F6E3M2FN F4E2M1FN }
    macro_rules! with_infinity {
        ($($type:ident)*) => {$(
            assert_eq!($type::INFINITY.to_f32(), f32::INFINITY);
            assert_eq!($type::NEG_INFINITY.to_f32(), f32::NEG_INFINITY);
        )*};
    }
    with_infinity! { F8E5M2 F8E3M4 F8E4M3 }
    const IN_A_CONSTANT: F8E4M3FN = F8E4M3FN::from_f64(0.3);
    assert_eq!(IN_A_CONSTANT.to_f32(), 0.3125);
}

fn classes<T: Float>() {
    let smallest_normal = T::limits().smallest_normal;
    for x in all::<T>() {
        let (wide, what) = (x.to_f64(), format!("{x:?}, {:#x}", x.to_bits()));
        assert_eq!(x.to_f32().to_bits(), Into::<f32>::into(x).to_bits(), "{what}");
        assert_eq!(wide.to_bits(), Into::<f64>::into(x).to_bits(), "{what}");
        assert_eq!(wide.to_bits(), cast_one::<T, f64>(x).to_bits(), "{what}");
        assert_eq!(Into::<half::bf16>::into(x).to_bits(), cast_one::<T, half::bf16>(x).to_bits(), "{what}");
        assert_eq!(x.is_nan(), wide.is_nan(), "{what}");
        assert_eq!(x.is_infinite(), wide.is_infinite(), "{what}");
        assert_eq!(x.is_finite(), wide.is_finite(), "{what}");
        assert_eq!(x.is_sign_negative(), wide.is_sign_negative(), "{what}");
        assert_eq!(x.is_sign_positive(), wide.is_sign_positive(), "{what}");
        let subnormal = wide != 0.0 && wide.abs() < smallest_normal;
        let class = if subnormal { FpCategory::Subnormal } else { wide.classify() };
        assert_eq!(x.classify(), class, "{what}");
        assert_eq!(x.is_normal(), class == FpCategory::Normal, "{what}");
        for y in all::<T>() {
            assert_eq!(x == y, wide == y.to_f64(), "{what} and {y:?}");
            assert_eq!(x.partial_cmp(&y), wide.partial_cmp(&y.to_f64()), "{what} and {y:?}");
            let order = x.total_cmp(&y);
            assert_eq!(order, y.total_cmp(&x).reverse(), "{what} and {y:?}");
            assert_eq!(order.is_eq(), x.to_bits() == y.to_bits(), "{what} and {y:?}");
            if !(x.is_nan() && y.is_nan()) {
                assert_eq!(order, wide.total_cmp(&y.to_f64()), "{what} and {y:?}");
            }
        }
    }
}

#[test]
fn floats_are_classed_and_compared_as_their_values() {
    each!(floats classes);
}

fn negation<T: Float + Neg<Output = T> + Into<half::f16>>() {
    for x in all::<T>() {
        let negative = -x;
        assert_eq!((-negative).to_bits(), x.to_bits(), "{x:?}");
        assert_eq!(Into::<half::f16>::into(x).to_bits(), cast_one::<T, half::f16>(x).to_bits(), "{x:?}");
        if x.is_nan() {
            assert!(negative.is_nan(), "{x:?}");
        } else {
            assert_eq!(negative.to_f32(), -x.to_f32(), "{x:?}");
        }
        if T::spec().flavor == Flavor::Fnuz {
            assert_eq!(negative.to_bits() == x.to_bits(), x.is_nan() || x.to_f32() == 0.0, "{x:?}");
        } else {
            assert_ne!(negative.is_sign_negative(), x.is_sign_negative(), "{x:?}");
        }
    }
}

#[test]
fn negation_changes_the_sign() {
    each!(signed negation);
}

macro_rules! ints {
    ($($type:ident $repr:ident [$($wider:ident)*] [$($narrower:ident)*];)*) => {$({
        let limits = $type::DTYPE.iinfo().expect("an integer");
        assert_eq!((i128::from($type::MIN.get()), i128::from($type::MAX.get())), (limits.min, limits.max));
        assert_eq!($type::BITS, limits.bits);
        for value in $repr::MIN..=$repr::MAX {
            let fits = (limits.min..=limits.max).contains(&i128::from(value));
            assert_eq!($type::new(value).map($type::get), fits.then_some(value));
        }
        for x in all::<$type>() {
            let value = x.get();
            assert_eq!($type::new(value), Some(x));
            assert_eq!(value, cast_one::<_, $repr>(x));
            assert_eq!((x.to_string(), format!("{x:#x} {x:04b}")), (value.to_string(), format!("{:#x} {0:04b}", x.to_bits())));
            $(assert_eq!(i128::from(<$wider>::from(x)), i128::from(value));)*
            assert_eq!((f32::from(x), f64::from(x)), (value.into(), value.into()));
            assert_eq!(f64::from(half::f16::from(x)), f64::from(value));
            assert_eq!(f64::from(half::bf16::from(x)), f64::from(value));
            $(assert_eq!(<$narrower>::try_from(x).ok(), <$narrower>::try_from(value).ok());)*
        }
        // Values around the ends, from every integer type that has them.
        for value in limits.min - 300..=limits.max + 300 {
            let expected = (limits.min..=limits.max).contains(&value).then_some(value);
            assert_eq!($type::try_from(value).ok().map(|x| i128::from(x.get())), expected);
            ints! { @ try $type value expected; i8 i16 i32 i64 isize u8 u16 u32 u64 u128 usize }
        }
        assert!($type::try_from(u128::MAX).is_err() && $type::try_from(i128::MIN).is_err());
    })*};
    (@ try $type:ident $value:ident $expected:ident; $($from:ident)*) => {$(
        if let Ok(x) = $from::try_from($value) {
            let got: Result<$type, IntRangeError> = x.try_into();
            assert_eq!(got.ok().map(|x| i128::from(x.get())), $expected);
        }
    )*};
}

#[test]
fn integers_are_converted_in_range() {
    ints! {
        I2 i8 [i8 i16 i32 i64 i128 I4] [u8 u16 u32 u64 u128 usize U2 U4];
        I4 i8 [i8 i16 i32 i64 i128] [u8 u16 u32 u64 u128 usize I2 U2 U4];
        U2 u8 [u8 u16 u32 u64 i8 i16 i32 i64 i128 U4 I4] [I2];
        U4 u8 [u8 u16 u32 u64 i8 i16 i32 i64 i128] [I2 I4 U2];
    }
    assert_eq!(isize::from(I4::MIN) + isize::from(U4::MAX), 7);
    assert_eq!(usize::from(U2::MAX) as u128, u128::from(U2::MAX));
    let message = |error: IntRangeError| error.to_string();
    assert_eq!(
        U4::try_from(-1).map_err(message),
        Err("-1 is out of the range of uint4, which is 0 to 15".into())
    );
    assert_eq!(
        I2::try_from(u128::MAX).map_err(message),
        Err(format!("{} is out of the range of int2, which is -2 to 1", u128::MAX))
    );
    const IN_A_CONSTANT: Option<I4> = I4::new(-8);
    assert_eq!(IN_A_CONSTANT, Some(I4::MIN));
    let hash = |x: I4| {
        use std::hash::{BuildHasher, BuildHasherDefault, DefaultHasher};
        BuildHasherDefault::<DefaultHasher>::default().hash_one(x)
    };
    assert_eq!(hash(I4::from_bits(0xF8)), hash(I4::MIN));
}

/// Of slices, values and newtypes the answers are the same.
#[test]
fn conversions_are_casts() {
    fn check<T: Float>() {
        for bits in support::patterns::sources(DType::Float32, T::DTYPE) {
            let x = f32::from_bits(bits as u32);
            let mut out = [T::default()];
            cast(&[x], &mut out).expect("a tier");
            assert_eq!(T::from_f32(x).to_bits(), out[0].to_bits(), "{x:e} to {}", T::DTYPE);
            let expected = oracle::cast(DType::Float32, T::DTYPE, &CastOptions::RUST, bits);
            assert_eq!(u128::from(out[0].to_bits()), expected);
            assert_eq!(T::from_f64(x.into()).to_bits(), out[0].to_bits(), "{x:e} to {}", T::DTYPE);
        }
    }
    each!(floats check);
}
