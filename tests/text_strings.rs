//! The containers: Arrow's offsets and bytes, NumPy's `S` and `U`.
#![cfg(feature = "text")]

use lanecast::ByteOrder;
use lanecast::text::{FormatPlan, Offsets, ParsePlan, Strings, StringsRef, TextError, TextOptions, fixed};
use lanecast::{CastError, CastOptions, DType};

fn parse(texts: impl IntoIterator<Item = impl AsRef<[u8]>>) -> Result<Vec<i32>, TextError> {
    ParsePlan::new(DType::Int32, &TextOptions::DEFAULT, &CastOptions::RUST)?.run_to_vec(texts)
}

#[test]
fn arrow() {
    let mut texts = Strings::from_iter(["7", "", "-12"]);
    texts.push("345");
    assert_eq!((texts.len(), texts.offsets(), texts.bytes()), (4, &[0, 1, 1, 4, 7][..], &b"7-12345"[..]));
    assert_eq!(texts.offsets_i32(), Some(vec![0, 1, 1, 4, 7]));
    assert_eq!((texts.get(1), &texts[2], texts.get(4)), (Some(""), "-12", None));
    assert_eq!(texts.iter().len(), 4);
    let (offsets, bytes) = texts.clone().into_parts();
    assert_eq!(Strings::from_parts(&offsets, &bytes), Ok(texts.clone()));

    // A slice of an array: offsets that begin later and end earlier than the bytes.
    let short: Vec<i32> = offsets[2..].iter().map(|offset| *offset as i32).collect();
    let view = StringsRef::new(&short[..], &bytes).expect("good offsets");
    assert_eq!(parse(view), Ok(vec![-12, 345]));
    assert_eq!(view.to_strings(), Ok(Strings::from_iter(["-12", "345"])));
    assert_eq!(view.get(usize::MAX), None);
    let wide = StringsRef::new(Offsets::I64(&offsets), &bytes).expect("good offsets");
    assert!(matches!(parse(wide), Err(TextError::Text { index: 1, .. })));

    texts.clear();
    assert!(texts.is_empty() && texts == Strings::default() && texts.view().is_empty());
}

/// Texts that are owned are UTF-8, one by one; borrowed ones may be any bytes.
#[test]
fn bytes_that_are_no_text() {
    let latin = StringsRef::new(&[0_i32, 1, 3][..], b"7\xE9t").expect("good offsets");
    assert_eq!((latin.get_str(0), latin.get(1), latin.get_str(1)), (Some("7"), Some(&b"\xE9t"[..]), None));
    assert_eq!(latin.to_strings(), Err(TextError::NotUtf8 { index: 1 }));
    // UTF-8 as a whole, but cut within a character.
    let cut = Strings::from_parts(&[0, 1, 2], "\u{E9}".as_bytes());
    assert_eq!(cut, Err(TextError::NotUtf8 { index: 0 }));
    let error = Strings::from_parts(&[0, 9], b"7").expect_err("outside");
    assert!(matches!(error, TextError::Offsets { index: 1, .. }));
    let texts = Strings::from_iter(["1", "2"]);
    assert!(texts.iter().zip(&texts).all(|(a, b)| a == b) && texts.iter().len() == 2);
}

#[test]
fn offsets_are_checked() {
    let cases: &[(&[i64], Option<usize>)] = &[
        (&[], Some(0)),
        (&[0], None),
        (&[3], None),
        (&[4], Some(0)),
        (&[-1], Some(0)),
        (&[0, 3], None),
        (&[0, 2, 1], Some(2)),
        (&[0, 4], Some(1)),
        (&[1, 1, 1], None),
        (&[0, i64::MAX], Some(1)),
        (&[0, i64::MIN, 0], Some(1)),
        (&[0, 1 << 32], Some(1)),
    ];
    for (offsets, fault) in cases {
        let got = match StringsRef::new(*offsets, b"123") {
            Err(TextError::Offsets { index, .. }) => Some(index),
            got => got.err().map(|error| panic!("{error}")),
        };
        assert_eq!(got, *fault, "{offsets:?}");
        assert_eq!(Strings::from_parts(offsets, b"123").is_err(), fault.is_some());
        if let Ok(narrow) = offsets.iter().map(|offset| i32::try_from(*offset)).collect::<Result<Vec<_>, _>>()
        {
            assert_eq!(StringsRef::new(&narrow[..], b"123").is_err(), fault.is_some());
        }
    }
    let error = StringsRef::new(&[0_i32, 2, 1][..], b"123").expect_err("it decreases");
    assert_eq!(
        error.to_string(),
        "offset 2 is 1; it has to lie between 2 (the one before) and 3 (the bytes of text)"
    );
    let error = StringsRef::new(&[0_i32; 0][..], b"").expect_err("none");
    assert_eq!(error.to_string(), "there are no offsets; texts have one offset more than there are texts");
}

#[test]
fn numpy_bytes() {
    let texts = Strings::from_iter(["1", "-22", "", "4444"]);
    assert_eq!(texts.view().max_bytes(), 4);
    let mut array = [0xA5; 17];
    texts.view().write_bytes(4, &mut array).expect("wide enough");
    assert_eq!(&array, b"1\x00\x00\x00-22\x00\x00\x00\x00\x004444\xA5");
    let back = fixed::PaddedBytes::new(&array, 4);
    assert_eq!(back.len(), 4);
    assert!(back.eq(texts.view()));
    assert_eq!(parse(fixed::PaddedBytes::new(&array[..8], 4)), Ok(vec![1, -22]));
    // Only NULs at the end are padding.
    assert!(fixed::PaddedBytes::new(b"\x001\0\0", 4).eq([b"\x001"]));
    assert_eq!(fixed::PaddedBytes::new(b"123", 0).count(), 0);
    assert_eq!(fixed::PaddedBytes::new(b"123", 2).count(), 1);

    let before = array;
    let error = texts.view().write_bytes(3, &mut array).expect_err("too narrow");
    assert_eq!(error.to_string(), r#"text 3, "4444", needs a width of 4 but elements have 3"#);
    let error = texts.view().write_bytes(4, &mut array[..15]).expect_err("too small");
    assert!(matches!(error, TextError::Cast(CastError::BufferTooSmall { need: 16, have: 15, .. })));
    assert_eq!(array, before);
    Strings::new().view().write_bytes(usize::MAX, &mut []).expect("nothing to write");
    Strings::from_iter([""; 3]).view().write_bytes(0, &mut []).expect("nothing to write");
    assert!(Strings::from_iter([""; 3]).view().write_bytes(usize::MAX, &mut []).is_err());
}

#[test]
fn numpy_unicode() {
    let texts = Strings::from_iter(["1", "-22", "", "\u{1F600}\u{E9}"]);
    assert_eq!(texts.view().max_chars(), 3);
    for order in [ByteOrder::Little, ByteOrder::Big] {
        let mut array = vec![0xA5; 4 * 3 * 4 + 1];
        texts.view().write_ucs4(3, order, &mut array).expect("wide enough");
        assert_eq!(array.pop(), Some(0xA5));
        let first = match order {
            ByteOrder::Little => [b'1', 0, 0, 0],
            ByteOrder::Big => [0, 0, 0, b'1'],
        };
        assert_eq!(array[..4], first);
        let back: Vec<fixed::Utf8> = fixed::Ucs4::new(&array, 3, order).collect();
        assert!(back.iter().map(AsRef::as_ref).eq(texts.view()));
        assert_eq!(parse(fixed::Ucs4::new(&array[..24], 3, order)), Ok(vec![1, -22]));
        let error = texts.view().write_ucs4(2, order, &mut array).expect_err("too narrow");
        assert!(matches!(error, TextError::Width { index: 1, need: Some(3), width: 2, .. }), "{error}");
        assert!(texts.view().write_ucs4(3, order, &mut array[..47]).is_err());
    }
    // Longer than what fits without memory, ASCII and other characters in turn.
    let long: String = "0123456789".repeat(9) + "\u{20AC}" + &"7".repeat(9);
    let texts = Strings::from_iter([&long]);
    let mut array = vec![0; 400];
    texts.view().write_ucs4(100, ByteOrder::NATIVE, &mut array).expect("wide enough");
    let back: Vec<fixed::Utf8> = fixed::Ucs4::new(&array, 100, ByteOrder::NATIVE).collect();
    assert_eq!(back[0].as_ref(), long.as_bytes());
    // No characters, and NUL inside.
    let odd: Vec<u8> =
        [0xD800_u32, 0x11_0000, 0, u32::from(b'1')].iter().flat_map(|c| c.to_be_bytes()).collect();
    let back: Vec<fixed::Utf8> = fixed::Ucs4::new(&odd, 4, ByteOrder::Big).collect();
    assert_eq!(back[0].as_ref(), "\u{FFFD}\u{FFFD}\0\u{31}".as_bytes());
    assert_eq!(fixed::Ucs4::new(&odd, usize::MAX, ByteOrder::Big).count(), 0);
    assert_eq!(fixed::Ucs4::new(&odd, 0, ByteOrder::Big).count(), 0);
    let bytes = StringsRef::new(&[0_i32, 2][..], b"\xFF\xFE").expect("good offsets");
    assert_eq!(bytes.max_chars(), 2);
    let error = bytes.write_ucs4(9, ByteOrder::Big, &mut [0; 36]).expect_err("not UTF-8");
    assert!(matches!(error, TextError::Width { index: 0, need: None, .. }));
    assert!(error.to_string().contains("is not UTF-8"));
}

/// From numbers to fixed width and back.
#[test]
fn there_and_back() {
    let numbers: Vec<f64> = (0..700).map(|i| f64::from(i) * 0.1 - 3.0).collect();
    let texts = FormatPlan::new(DType::Float64, &TextOptions::DEFAULT)
        .and_then(|plan| plan.run(&numbers))
        .expect("a tier");
    let plan = ParsePlan::new(DType::Float64, &TextOptions::DEFAULT, &CastOptions::RUST).expect("a tier");
    let width = texts.view().max_bytes();
    let mut array = vec![0; width * numbers.len()];
    texts.view().write_bytes(width, &mut array).expect("wide enough");
    assert_eq!(plan.run_to_vec(fixed::PaddedBytes::new(&array, width)), Ok(numbers.clone()));
    let mut array = vec![0; 4 * width * numbers.len()];
    texts.view().write_ucs4(width, ByteOrder::Big, &mut array).expect("wide enough");
    assert_eq!(plan.run_to_vec(fixed::Ucs4::new(&array, width, ByteOrder::Big)), Ok(numbers.clone()));
    assert_eq!(plan.run_to_vec(&texts.view().to_strings().expect("ASCII")), Ok(numbers));
}
