//! Dtypes, encodings and options as text and as numbers.
#![cfg(feature = "serde")]

use lanecast::{
    ByteOrder, CastOptions, DType, E5M2Nan, E8M0Range, E8M0Round, Encoding, FloatRound, FnuzInf, IntOverflow,
    IntRound, Level, NanToFinite, Saturate, Storage, Streaming, Tier,
};
use serde::{Serialize, de::DeserializeOwned};
use std::fmt::Debug;

/// The value comes back from JSON, whose text this returns, and from CBOR with numbers.
fn comes_back<T: Serialize + DeserializeOwned + PartialEq + Debug>(value: T) -> String {
    let json = serde_json::to_string(&value).expect("text");
    assert_eq!(serde_json::from_str::<T>(&json).expect(&json), value);
    let mut bytes = Vec::new();
    ciborium::into_writer(&value, &mut bytes).expect("bytes");
    let back: T = ciborium::from_reader(&*bytes).expect("the bytes just written");
    assert_eq!(back, value);
    json
}

fn refused<T: DeserializeOwned + Debug>(json: &str) -> String {
    serde_json::from_str::<T>(json).expect_err(json).to_string()
}

#[test]
fn dtypes_and_encodings_come_back() {
    for &dtype in DType::EVERY {
        assert_eq!(comes_back(dtype), format!("{:?}", dtype.name()));
        for alias in dtype.names() {
            assert_eq!(serde_json::from_str::<DType>(&format!("{alias:?}")).expect(alias), dtype);
        }
        for order in [ByteOrder::Little, ByteOrder::Big] {
            for storage in [Storage::Byte, Storage::Packed] {
                let encoding = Encoding::with_storage(dtype, storage).with_order(order);
                let json = comes_back(encoding);
                assert!(json.starts_with(&format!("\"{}", dtype.name())), "{json}");
            }
        }
        let alone = format!("{:?}", dtype.name());
        assert_eq!(serde_json::from_str::<Encoding>(&alone).expect("an encoding"), Encoding::new(dtype));
    }
    assert_eq!(comes_back(Encoding::packed(DType::Int4)), "\"int4 (packed)\"");
    assert_eq!(comes_back(Encoding::new(DType::UInt8)), "\"uint8\"");
    let big = Encoding::new(DType::Complex64).with_order(ByteOrder::Big);
    assert_eq!(comes_back(big), "\"complex64 (big-endian)\"");
}

#[test]
fn values_come_back_by_their_names() {
    fn all<T: Serialize + DeserializeOwned + PartialEq + Debug + Copy>(values: &[(&str, T)]) {
        for (name, value) in values {
            assert_eq!(comes_back(*value), format!("{name:?}"));
        }
    }
    all(Saturate::NAMED);
    all(E8M0Round::NAMED);
    all(E8M0Range::NAMED);
    all(IntOverflow::NAMED);
    all(IntRound::NAMED);
    all(FloatRound::NAMED);
    all(E5M2Nan::NAMED);
    all(NanToFinite::NAMED);
    all(FnuzInf::NAMED);
    all(&[("range", Level::Range), ("underflow", Level::Underflow), ("exact", Level::Exact)]);
    all(&[("auto", Streaming::Auto), ("always", Streaming::Always), ("never", Streaming::Never)]);
    all(&[("little", ByteOrder::Little), ("big", ByteOrder::Big)]);
    all(&[("byte", Storage::Byte), ("packed", Storage::Packed)]);
    for &tier in Tier::ALL {
        assert_eq!(comes_back(tier), format!("{:?}", tier.name()));
    }
}

#[test]
fn options_come_back_and_have_defaults() {
    for (_, profile) in CastOptions::PROFILES {
        comes_back(*profile);
    }
    let json = comes_back(CastOptions::RUST);
    assert!(json.starts_with(r#"{"saturate":"on","e8m0_round":"up","#), "{json}");
    assert_eq!(serde_json::from_str::<CastOptions>("{}").expect("defaults"), CastOptions::default());
    let some = r#"{"float_to_int":"wrap","e5m2_nan":"7f"}"#;
    let expected = CastOptions::default().with_float_to_int(IntOverflow::Wrap).with_e5m2_nan(E5M2Nan::Code7F);
    assert_eq!(serde_json::from_str::<CastOptions>(some).expect(some), expected);
}

#[test]
fn what_is_unknown_is_named() {
    for (error, parts) in [
        (refused::<DType>(r#""float33""#), ["unknown dtype \"float33\"", "did you mean float32"]),
        (refused::<DType>("7"), ["integer `7`", "the name of a dtype, such as \"float32\""]),
        (
            refused::<Encoding>(r#""int4 (big-endian)""#),
            ["\"int4 (big-endian)\"", "(packed) or (one per byte)"],
        ),
        (refused::<Encoding>(r#""int9 (packed)""#), ["unknown dtype \"int9\"", "int8"]),
        (
            refused::<Tier>(r#""sse2""#),
            ["\"sse2\" is not the name of a tier", "\"scalar\", \"avx2\", \"avx512\""],
        ),
        (refused::<IntRound>(r#""nearest""#), ["\"nearest\" is not", "\"nearest_even\", \"nearest_away\""]),
        (
            refused::<CastOptions>(r#"{"int_rounding":"floor"}"#),
            ["unknown field `int_rounding`", "`int_round`"],
        ),
        (refused::<CastOptions>(r#"{"int_round":"flor"}"#), ["\"flor\" is not the name", "\"floor\""]),
        (refused::<CastOptions>(r#"{"saturate":"on","saturate":"on"}"#), ["duplicate field", "saturate"]),
    ] {
        assert!(parts.iter().all(|part| error.contains(part)), "{error}");
    }
    let mut bytes = Vec::new();
    ciborium::into_writer(&200_u8, &mut bytes).expect("bytes");
    let error = ciborium::from_reader::<Level, _>(&*bytes).expect_err("no level").to_string();
    assert!(error.contains("200 is not the number of a level of checks; the numbers are 0 to 2"), "{error}");
    let error = ciborium::from_reader::<DType, _>(&*bytes).expect_err("no dtype").to_string();
    assert!(error.contains("no dtype has the number 200"), "{error}");
}
