//! The names of the dtypes in other systems: they come back, they do not leak from one system to another. The names of options.

#[path = "../build/names.rs"]
mod table;

use lanecast::names::Namespace;
use lanecast::{
    ByteOrder, CastOptions, DType, DTypeKind, E5M2Nan, E8M0Range, E8M0Round, Encoding, FloatRound, FnuzInf,
    IntOverflow, IntRound, NanToFinite, Saturate,
};

#[test]
fn every_name_comes_back() {
    for &namespace in Namespace::ALL {
        let mut count = 0;
        for &dtype in DType::ALL {
            for name in namespace.names(dtype) {
                assert_eq!(namespace.parse(name), Ok(dtype), "{}: {name}", namespace.id());
                count += 1;
            }
            assert_eq!(namespace.name(dtype), namespace.names(dtype).first().copied());
        }
        assert!(count >= 9, "{}", namespace.id());
    }
    for &dtype in DType::ALL {
        assert!(dtype.onnx().is_none_or(|number| DType::from_onnx(number) == Some(dtype)));
        assert_eq!(dtype.onnx().is_some(), Namespace::Onnx.name(dtype).is_some(), "{dtype}");
        let (code, bits) = dtype.dlpack().expect("DLPack has all");
        assert_eq!((DType::from_dlpack(code, bits), u32::from(bits)), (Some(dtype), dtype.bits()));
        assert_eq!(Encoding::from_dlpack(code, bits, 1, true), Some(Encoding::new(dtype)));
        assert_eq!(Encoding::from_dlpack(code, bits, 1, false), Some(Encoding::packed(dtype)));
        let pairs = (dtype == DType::Float4E2M1FN).then_some(Encoding::packed(dtype));
        assert_eq!(Encoding::from_dlpack(code, bits, 2, false), pairs);
        assert_eq!(Encoding::from_dlpack(code, bits, 2, true), None);
    }
    assert_eq!([DType::from_onnx(8), DType::from_onnx(0), DType::from_dlpack(0, 1)], [None; 3]);
}

/// One name, another dtype in every system, or none.
#[test]
fn names_do_not_leak() {
    use Namespace::*;
    let all = |name: &str| Namespace::ALL.iter().map(|space| space.parse(name).ok()).collect::<Vec<_>>();
    let only = |expected: &[(Namespace, DType)]| {
        let of = |space: &Namespace| expected.iter().find(|(s, _)| s == space).map(|(_, dtype)| *dtype);
        Namespace::ALL.iter().map(of).collect::<Vec<_>>()
    };
    let (f32, f64) = (DType::Float32, DType::Float64);
    assert_eq!(all("float"), only(&[(NumPy, f64), (Torch, f32), (MindSpore, f32), (Arrow, f32)]));
    let (i32, i64) = (DType::Int32, DType::Int64);
    assert_eq!(all("int"), only(&[(NumPy, i64), (Torch, i32), (MindSpore, i32)]));
    assert_eq!(all("long"), only(&[(NumPy, i64), (Torch, i64), (MindSpore, i64)]));
    assert_eq!(all("f8"), only(&[(NumPy, f64)]));
    assert_eq!(all("i4"), only(&[(NumPy, i32), (Jax, DType::Int4)]));
    assert_eq!(all("i8"), only(&[(NumPy, i64), (Jax, DType::Int8)]));
    let e4m3 = DType::Float8E4M3;
    assert_eq!(all("float8_e4m3"), only(&[(NumPy, e4m3), (Jax, e4m3), (MlDtypes, e4m3)]));
    assert_eq!(all("F8_E4M3"), only(&[(Safetensors, DType::Float8E4M3FN)]));
    assert_eq!(all("b"), only(&[(NumPy, DType::Int8), (Arrow, DType::Bool)]));
    assert_eq!(all("FLOAT"), only(&[(Onnx, f32)]));
    assert_eq!(all("double"), only(&[(NumPy, f64), (Torch, f64), (MindSpore, f64), (Arrow, f64)]));
    assert_eq!(all(""), only(&[]));
    // Letters of ml_dtypes are reused: names only.
    assert_eq!(all("E"), only(&[]));
    let unknown = ArrayApi.parse("float16").expect_err("not there").to_string();
    assert!(
        unknown.starts_with("unknown array_api dtype \"float16\"; the names are bool, int8, "),
        "{unknown}"
    );
}

#[test]
fn codes_of_numpy() {
    let (little, big, native) = (ByteOrder::Little, ByteOrder::Big, ByteOrder::NATIVE);
    for (code, expected) in [
        ("<f4", (DType::Float32, little)),
        (">i2", (DType::Int16, big)),
        ("?", (DType::Bool, native)),
        ("|b1", (DType::Bool, native)),
        ("|u1", (DType::UInt8, native)),
        ("=f8", (DType::Float64, native)),
        (">c16", (DType::Complex128, big)),
        ("<e", (DType::Float16, little)),
        ("q", (DType::Int64, native)),
        ("bfloat16", (DType::BFloat16, native)),
    ] {
        let (dtype, order) = expected;
        let expected = Encoding::new(dtype).with_order(order);
        assert_eq!(Namespace::NumPy.encoding(code), Ok(expected), "{code}");
        assert_eq!(Namespace::NumPy.parse(code), Ok(dtype), "{code}");
    }
    for code in [
        "<",
        "",
        "<float32",
        ">bfloat16",
        "<V2",
        "<f16",
        "f16",
        "float128",
        "float_",
        "i3",
        "<<f4",
        "é",
        "<é",
        "F4",
    ] {
        let error = Namespace::NumPy.encoding(code).expect_err(code);
        assert_eq!((error.name.as_str(), &*error.of), (code, "numpy dtype"));
    }
    for &dtype in DType::ALL {
        for order in [little, big] {
            let encoding = Encoding::new(dtype).with_order(order);
            match Namespace::NumPy.code(encoding) {
                Some(code) => assert_eq!(Namespace::NumPy.encoding(&code), Ok(encoding), "{code}"),
                None => assert!(Namespace::MlDtypes.name(dtype).is_some(), "{dtype}"),
            }
        }
    }
}

#[test]
fn only_numpy_has_codes_with_a_byte_order() {
    for &namespace in Namespace::ALL.iter().filter(|namespace| **namespace != Namespace::NumPy) {
        assert!(namespace.encoding("<f4").is_err() && namespace.code(DType::Float32).is_none());
        for &dtype in DType::ALL {
            for name in namespace.names(dtype) {
                assert_eq!(namespace.encoding(name), Ok(dtype.into()), "{}: {name}", namespace.id());
            }
        }
    }
}

#[test]
fn kinds_of_the_array_api() {
    for kind in DTypeKind::ALL {
        assert_eq!(kind.name().parse(), Ok(kind));
        assert!(DType::ALL.iter().any(|dtype| dtype.is(kind)));
    }
    let unknown = "float".parse::<DTypeKind>().expect_err("not there").to_string();
    assert!(
        unknown.starts_with("unknown kind of dtypes \"float\"; the names are bool, signed integer, "),
        "{unknown}"
    );
}

#[test]
fn faults_in_the_table_are_named() {
    let file = "src/names.tsv";
    let text =
        std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/src/names.tsv")).expect("the table");
    let planted = |from: &str, to: &str| {
        assert!(text.contains(from), "{from}");
        table::render(file, &text.replacen(from, to, 1)).expect_err("a fault")
    };
    assert!(table::render(file, &text).is_ok());
    let names = DType::ALL.iter().map(|dtype| dtype.name()).collect();
    assert_eq!(table::dtypes(file, &text), Ok(names));
    assert_eq!(
        planted("uint64 u64\t", "uint64 u32\t"),
        [format!("{file}, row uint64, column jax: u32 is also a name of uint32")]
    );
    assert_eq!(planted("\nint2\t", "\nint4\t"), [format!("{file}: row 3 is a second int4")]);
    assert!(planted("\tmegengine\t", "\tmegaengine\t")[0].starts_with(&format!("{file}: the columns are ")));
}

#[test]
fn values_of_options_have_names_of_their_own() {
    fn check<T: Copy + PartialEq + std::fmt::Debug>(named: &[(&str, T)], name_of: fn(T) -> &'static str) {
        for (i, &(name, value)) in named.iter().enumerate() {
            assert_eq!(name_of(value), name);
            assert!(
                name.bytes().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == b'_'),
                "{name}"
            );
            assert!(named[..i].iter().all(|(other, same)| *other != name && *same != value), "{name}");
        }
        assert!(named.len() > 1, "{named:?}");
    }
    check(Saturate::NAMED, Saturate::name);
    check(E8M0Round::NAMED, E8M0Round::name);
    check(E8M0Range::NAMED, E8M0Range::name);
    check(IntOverflow::NAMED, IntOverflow::name);
    check(IntRound::NAMED, IntRound::name);
    check(FloatRound::NAMED, FloatRound::name);
    check(E5M2Nan::NAMED, E5M2Nan::name);
    check(NanToFinite::NAMED, NanToFinite::name);
    check(FnuzInf::NAMED, FnuzInf::name);
    assert_eq!(IntRound::NAMED[1], ("nearest_even", IntRound::NearestEven));
    for spelled in ["nearest_even", "nearest-even", "NEAREST_EVEN", "NearestEven", "nearest even"] {
        assert_eq!(IntRound::from_name(spelled), Some(IntRound::NearestEven), "{spelled}");
    }
    assert_eq!(FloatRound::from_name("nearest"), None);
    assert_eq!(CastOptions::from_name("NumPy"), Some(CastOptions::NUMPY));
    assert_eq!(CastOptions::from_name("pandas"), None);
}
