//! The traits of `num-traits` and `serde` for the small types.

use crate::small::{Float, Small, all, each};
use crate::support;
use lanecast::num_complex::Complex;
use lanecast::{
    DType, F4E2M1FN, F6E2M3FN, F6E3M2FN, F8E3M4, F8E4M3, F8E4M3B11FNUZ, F8E4M3FN, F8E4M3FNUZ, F8E5M2,
    F8E5M2FNUZ, F8E8M0FNU, Flavor, I2, I4, U2, U4, cast_one, half,
};
use num_traits::{AsPrimitive, Bounded, FromPrimitive, NumCast, ToPrimitive};
use serde::{Serialize, de::DeserializeOwned};

fn bounds<T: Small + Bounded>() {
    assert_eq!((T::min_value(), T::max_value()), (T::BOTTOM, T::TOP));
}

/// What is in range is cast; nothing else is.
fn from_numbers<T: Float + FromPrimitive + NumCast + ToPrimitive>() {
    let limits = T::limits();
    let in_range = |x: f64| {
        let has = match T::spec().flavor {
            _ if x.is_nan() => T::spec().nan().is_some(),
            _ if x.is_infinite() => T::spec().infinity().is_some(),
            Flavor::Exponent => (limits.min..=limits.max).contains(&x),
            _ => {
                let gap = limits.max - T::from_bits(T::TOP.to_bits() - 1).to_f64();
                // A tie goes to the even code.
                let half = limits.max + gap / 2.0;
                x.abs() < half || (x.abs() == half && T::TOP.to_bits() & 1 == 0)
            }
        };
        has.then_some(x)
    };
    for bits in support::patterns::sources(DType::Float64, T::DTYPE) {
        let x = f64::from_bits(bits as u64);
        let want = in_range(x)
            .map(|x| if x.is_infinite() { x } else { Float::to_f64(cast_one::<f64, T>(x)) }.to_bits());
        let value = |x: T| x.to_f64().to_bits();
        assert_eq!(<T as FromPrimitive>::from_f64(x).map(value), want, "{x:e} to {}", T::DTYPE);
        assert_eq!(<T as NumCast>::from(x).map(value), want, "{x:e} to {}", T::DTYPE);
        let narrow = x as f32;
        let want = <T as FromPrimitive>::from_f64(narrow.into()).map(value);
        assert_eq!(<T as FromPrimitive>::from_f32(narrow).map(value), want, "{narrow:e} to {}", T::DTYPE);
    }
    for bits in support::patterns::sources(DType::Int64, T::DTYPE) {
        let x = bits as i64;
        let want = in_range(x as f64).map(|_| cast_one::<i64, T>(x).to_bits());
        assert_eq!(T::from_i64(x).map(T::to_bits), want, "{x} to {}", T::DTYPE);
        assert_eq!(T::from_i128(x.into()).map(T::to_bits), want, "{x} to {}", T::DTYPE);
        let x = bits as u64;
        let want = in_range(x as f64).map(|_| cast_one::<u64, T>(x).to_bits());
        assert_eq!(T::from_u64(x).map(T::to_bits), want, "{x} to {}", T::DTYPE);
    }
    for x in all::<T>() {
        let wide = x.to_f64();
        assert_eq!(ToPrimitive::to_i64(&x), wide.to_i64(), "{x:?}");
        assert_eq!(ToPrimitive::to_u64(&x), wide.to_u64(), "{x:?}");
        assert_eq!(ToPrimitive::to_u128(&x), wide.to_u128(), "{x:?}");
        assert_eq!(ToPrimitive::to_f32(&x).map(f32::to_bits), Some(x.to_f32().to_bits()), "{x:?}");
    }
}

/// The default cast, to and from.
fn as_casts<T>()
where
    T: Small
        + AsPrimitive<f32>
        + AsPrimitive<u8>
        + AsPrimitive<i64>
        + AsPrimitive<I2>
        + AsPrimitive<F8E4M3FNUZ>,
    f32: AsPrimitive<T>,
    i32: AsPrimitive<T>,
    u64: AsPrimitive<T>,
    half::f16: AsPrimitive<T>,
    F8E5M2: AsPrimitive<T>,
    U4: AsPrimitive<T>,
{
    fn same<S: Small + AsPrimitive<D>, D: Small>(x: S) {
        assert_eq!(x.as_().to_bits(), cast_one::<S, D>(x).to_bits(), "{x:?} to {}", D::DTYPE);
    }
    for x in all::<T>() {
        let (float, byte, wide): (f32, u8, i64) = (x.as_(), x.as_(), x.as_());
        assert_eq!(
            (float.to_bits(), byte, wide),
            (cast_one::<_, f32>(x).to_bits(), cast_one(x), cast_one(x)),
            "{x:?}"
        );
        same::<T, I2>(x);
        same::<T, F8E4M3FNUZ>(x);
    }
    all().for_each(same::<F8E5M2, T>);
    all().for_each(same::<U4, T>);
    for bits in support::patterns::sample(DType::Float32, T::DTYPE, 1000, 5) {
        let (x, int, wide, half) =
            (f32::from_bits(bits as u32), bits as i32, bits as u64, half::f16::from_bits(bits as u16));
        let got: [T; 4] = [x.as_(), int.as_(), wide.as_(), half.as_()];
        let want: [T; 4] = [cast_one(x), cast_one(int), cast_one(wide), cast_one(half)];
        assert_eq!(got.map(T::to_bits), want.map(T::to_bits), "{bits:#x} to {}", T::DTYPE);
    }
}

#[test]
fn traits_of_num_traits() {
    each!(ints as_casts);
    each!(floats as_casts);
    each!(ints bounds);
    each!(floats bounds);
    each!(floats from_numbers);
    assert_eq!(F8E8M0FNU::from_u128((1 << 100) + 1), Some(F8E8M0FNU::from_f64(2_f64.powi(101))));
    assert_eq!(
        (U4::from_i64(16), U4::from_f64(15.9), I4::from_f64(-8.5)),
        (None, Some(U4::MAX), Some(I4::MIN))
    );
    assert_eq!(
        (<I4 as NumCast>::from(7.9), <I4 as NumCast>::from(u64::MAX), U4::from_u64(3)),
        (Some(I4::MAX), None, U4::new(3))
    );
    assert_eq!((I4::MIN.to_i64(), I4::MIN.to_u64(), U4::MAX.to_f32()), (Some(-8), None, Some(15.0)));
    // The default cast.
    let saturated: F8E4M3FN = 1e9_f32.as_();
    assert_eq!(saturated, F8E4M3FN::MAX);
    let wrapped: U4 = 300_i32.as_();
    assert_eq!(wrapped.get(), 12);
    let half: half::f16 = F8E5M2::MAX.as_();
    let nibble: I4 = half.as_();
    let (truth, complex): (bool, Complex<f32>) = (nibble.as_(), saturated.as_());
    assert_eq!((nibble, truth, complex), (I4::MAX, true, Complex::new(448.0, 0.0)));
    let back: F8E4M3FN = complex.as_();
    assert_eq!(back, saturated);
}

fn round_trip<T: Small + Serialize + DeserializeOwned>() {
    for x in all::<T>() {
        let json = serde_json::to_string(&x).expect("a number");
        let back: T = serde_json::from_str(&json).expect("a number");
        let nan = x.partial_cmp(&x).is_none();
        assert!(nan || back.to_bits() == x.to_bits(), "{x:?}: {json}");
        assert_eq!(nan, json == "\"nan\"", "{x:?}: {json}");

        let mut bytes = Vec::new();
        ciborium::into_writer(&x, &mut bytes).expect("a vector");
        let code: u8 = ciborium::from_reader(&bytes[..]).expect("a code");
        assert_eq!(code, x.to_bits());
        let back: T = ciborium::from_reader(&bytes[..]).expect("an element");
        assert_eq!(back.to_bits(), x.to_bits());
    }
}

#[test]
fn traits_of_serde() {
    each!(ints round_trip);
    each!(floats round_trip);
    let json = serde_json::to_string(&(F8E4M3FN::MAX, I4::MIN, F8E5M2::NEG_INFINITY, F4E2M1FN::NEG_ZERO));
    assert_eq!(json.expect("numbers"), r#"[448.0,-8,"-inf",-0.0]"#);
    assert_eq!(serde_json::from_str::<F8E4M3FN>("19").expect("in range").to_f32(), 20.0);
    assert_eq!(serde_json::from_str::<F8E4M3FN>("-0.3").expect("in range").to_f32(), -0.3125);
    assert_eq!(serde_json::from_str::<F8E8M0FNU>("2.1").expect("in range").to_f32(), 2.0);
    assert_eq!(serde_json::from_str::<F8E4M3FN>("464.0").expect("rounds into the range"), F8E4M3FN::MAX);

    fn error<T: Small + DeserializeOwned>(json: &str) -> String {
        let error = serde_json::from_str::<T>(json).expect_err(json).to_string();
        error.split(" at line").next().unwrap_or_default().to_owned()
    }
    assert_eq!(
        error::<F8E4M3FN>("465.0"),
        "invalid value: floating point `465.0`, expected a number from -448.0 to 448.0 (float8_e4m3fn), \"nan\""
    );
    assert_eq!(
        error::<F8E5M2>("\"infinite\""),
        "invalid value: string \"infinite\", expected a number from -57344.0 to 57344.0 (float8_e5m2), \"inf\", \"-inf\", \"nan\""
    );
    assert_eq!(
        error::<F4E2M1FN>("7"),
        "invalid value: integer `7`, expected a number from -6.0 to 6.0 (float4_e2m1fn)"
    );
    assert_eq!(
        error::<F8E8M0FNU>("0"),
        "invalid value: integer `0`, expected a number from 5.877472e-39 to 1.7014118e38 (float8_e8m0fnu), \"nan\""
    );
    for none in ["\"nan\"", "\"inf\"", "null", "true", "-6.5e9", "[]"] {
        assert!(serde_json::from_str::<F4E2M1FN>(none).is_err(), "{none}");
    }
    assert_eq!(error::<U4>("16"), "invalid value: integer `16`, expected an integer from 0 to 15 (uint4)");
    assert_eq!(error::<I2>("-3"), "invalid value: integer `-3`, expected an integer from -2 to 1 (int2)");
    assert!(
        serde_json::from_str::<U4>("1.5").is_err()
            && serde_json::from_str::<U4>(&u64::MAX.to_string()).is_err()
    );

    let mut bytes = Vec::new();
    ciborium::into_writer(&0x10_u8, &mut bytes).expect("a vector");
    let error = ciborium::from_reader::<F4E2M1FN, _>(&bytes[..]).expect_err("five bits").to_string();
    assert!(error.contains("integer `16`, expected a code of float4_e2m1fn from 0 to 15"), "{error}");
}
