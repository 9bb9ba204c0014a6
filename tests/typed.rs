//! Typed slices: a cast between element types gives the bytes of the cast between their dtypes, here between one type of each kind.
//! `typed_pairs.rs` has every pair of types.

#[macro_use]
#[path = "typed/forms.rs"]
mod forms;

use crate::{oracle, support};
use forms::{check, check_one, done};
use lanecast::num_complex::Complex;
use lanecast::{
    CastOptions, CastPlan, CastSlice, DType, Element, F4E2M1FN, F6E2M3FN, F6E3M2FN, F8E3M4, F8E4M3,
    F8E4M3B11FNUZ, F8E4M3FN, F8E4M3FNUZ, F8E5M2, F8E5M2FNUZ, F8E8M0FNU, I4, Level, cast, cast_in_place,
    cast_one, cast_to_vec, half, strided,
};

types! { bool, I4, u8, i64, half::bf16, f32, f64, Complex<f32>, F8E4M3FN }

#[test]
fn every_kind_is_listed() {
    for dtype in DType::ALL {
        assert!(all().iter().any(|listed| listed.kind() == dtype.kind()), "{dtype}");
    }
}

/// The forms without options are those with the default ones.
#[test]
fn default_options() {
    let src = [2.5_f32, -1.0, 300.0, f32::NAN];
    let expected = [2, 0, 255, 0];
    assert_eq!(cast_to_vec::<f32, u8>(&src), expected);
    assert_eq!(src.cast_to::<u8>(), expected);
    let mut out = [0_u8; 4];
    done(src.cast_into(&mut out));
    assert_eq!(out, expected);
    assert!(src.cast_into(&mut out[1..]).is_err());
    let mut memory = src;
    assert_eq!(lanecast::cast_in_place::<f32, u8>(&mut memory).as_deref(), Ok(&expected[..]));
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
    let plan = CastPlan::of::<usize, u8>(&CastOptions::RUST).checked(Level::Range);
    assert!(plan.run(&[usize::MAX], &mut [0_u8]).is_err());
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
    CastPlan::of::<u8, f64>(&CastOptions::RUST).run(&view, &mut to).expect("one shape");
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
