//! Texts that are no elements: what is written in front of them and for them, and what the messages say.

use crate::support::storages;
use lanecast::text::{BadText, OnBadText, ParsePlan, TextError, TextOptions};
use lanecast::{CastOptions, DType};

/// An error leaves the elements in front of it, and nothing else.
#[test]
fn errors_leave_what_came_before() {
    for to in [DType::Int16, DType::UInt4, DType::Float6E3M2FN] {
        for buffer in storages(to) {
            let plan = ParsePlan::new(buffer, &TextOptions::DEFAULT, &CastOptions::RUST).expect("a tier");
            for at in [0, 1, 2, 3, 255, 256, 257, 600] {
                let mut texts = vec!["1"; 700];
                texts[at] = "x1";
                let mut bytes = vec![0xA5; 1400];
                let error = plan.run(&texts, &mut bytes).expect_err("no number");
                let expected =
                    TextError::Text { index: at, text: "x1".into(), reason: BadText::NotANumber, to };
                assert_eq!(error, expected);
                let len = buffer.byte_len(at).expect("small");
                let mut good = vec![0; len];
                plan.run(&texts[..at], &mut good).expect("numbers");
                assert_eq!(bytes[..len], good);
                assert!(bytes[len..].iter().all(|byte| *byte == 0xA5));
            }
            // A buffer that is too small for the texts.
            for room in [0, 1, 2, 3, 100, 299, 300, 301] {
                let mut bytes = vec![0xA5; room];
                let (fits, bits) = (room * 8 / buffer.bits_per_element() as usize, buffer.bits_per_element());
                match plan.run(vec!["1"; 700], &mut bytes) {
                    Err(TextError::BufferTooSmall { elements, need, have, to }) => {
                        assert_eq!((elements, have, to), (fits, room, buffer), "{bits} bits");
                        assert_eq!(Some(need), buffer.byte_len(fits + 1));
                    }
                    other => panic!("{buffer}: {other:?}"),
                }
                let len = buffer.byte_len(fits).expect("small");
                let mut good = vec![0; len];
                plan.run(vec!["1"; fits], &mut good).expect("numbers");
                assert_eq!(bytes[..len], good);
            }
        }
    }
}

#[test]
fn bad_texts_as_asked() {
    let texts = ["1", "one", "-3.7", "", "300", "nan"];
    let with = |on_error| TextOptions::DEFAULT.with_on_error(on_error);
    // 8 bits: the element for bad texts, for 300 and for NaN.
    let cases = [
        (DType::Int8, OnBadText::Zero, [1, 0, 0xFD, 0, 0, 0]),
        (DType::Int8, OnBadText::Nan, [1, 0, 0xFD, 0, 0, 0]),
        (DType::Float8E4M3FN, OnBadText::Zero, [0x38, 0, 0xC7, 0, 0x79, 0x7F]),
        (DType::Float8E4M3FN, OnBadText::Nan, [0x38, 0x7F, 0xC7, 0x7F, 0x79, 0x7F]),
        (DType::Float8E4M3FNUZ, OnBadText::Nan, [0x40, 0x80, 0xCF, 0x80, 0x7F, 0x80]),
        (DType::Float8E8M0FNU, OnBadText::Zero, [0x7F, 0, 0, 0, 0x88, 0xFF]),
        (DType::Float8E8M0FNU, OnBadText::Nan, [0x7F, 0xFF, 0, 0xFF, 0x88, 0xFF]),
        (DType::Float4E2M1FN, OnBadText::Nan, [2, 8, 0xE, 8, 7, 8]),
        (DType::Bool, OnBadText::Zero, [1, 0, 1, 0, 1, 1]),
        (DType::Bool, OnBadText::Nan, [1, 1, 1, 1, 1, 1]),
    ];
    for (to, on_error, expected) in cases {
        let plan = ParsePlan::new(to, &with(on_error), &CastOptions::RUST).expect("a tier");
        let mut out = [0xA5; 6];
        assert_eq!(plan.run(texts, &mut out), Ok(6));
        assert_eq!(out, expected, "{to}, {on_error:?}");
        // With a bitmap, the same elements.
        let (mut masked, mut validity) = ([0xA5; 6], [0xFF; 2]);
        let is_int = to == DType::Int8;
        let nulls = if is_int { 4 } else { 2 };
        assert_eq!(plan.run_masked(texts.map(Some), &mut masked, &mut validity), Ok((6, nulls)));
        assert_eq!(masked, expected);
        assert_eq!(validity, [if is_int { 0b000101 } else { 0b110101 }, 0xFF], "{to}");
    }
    let null = ParsePlan::new(DType::Int8, &with(OnBadText::Null), &CastOptions::RUST).expect("a tier");
    assert_eq!(null.run(texts, &mut [0; 6]), Err(TextError::NoMask));
    assert_eq!(null.run_to_vec::<_, i8>(texts), Err(TextError::NoMask));
}

#[test]
fn bitmaps() {
    let null = TextOptions::DEFAULT.with_on_error(OnBadText::Null);
    for to in [DType::UInt16, DType::Int2, DType::Float64, DType::Complex128] {
        for buffer in storages(to) {
            let plan = ParsePlan::new(buffer, &null, &CastOptions::RUST).expect("a tier");
            for n in [0, 1, 7, 8, 9, 255, 256, 257, 700] {
                let texts: Vec<Option<&str>> =
                    (0..n).map(|i| [Some("1"), None, Some("?"), Some("0")][i * 5 % 11 % 4]).collect();
                let good: Vec<bool> = texts.iter().map(|text| matches!(text, Some("0" | "1"))).collect();
                let mut out = vec![0xA5; n * 16 + 1];
                let mut validity = vec![0xFF; n.div_ceil(8) + 1];
                let nulls = good.iter().filter(|good| !**good).count();
                assert_eq!(plan.run_masked(texts.iter().copied(), &mut out, &mut validity), Ok((n, nulls)));
                assert_eq!(validity.pop(), Some(0xFF));
                for i in 0..validity.len() * 8 {
                    assert_eq!(
                        validity[i / 8] >> (i % 8) & 1 == 1,
                        good.get(i) == Some(&true),
                        "bit {i} of {n}"
                    );
                }
                let plain =
                    ParsePlan::new(buffer, &TextOptions::DEFAULT, &CastOptions::RUST).expect("a tier");
                let mut expected = vec![0xA5; n * 16 + 1];
                plain
                    .run(texts.iter().map(|t| if *t == Some("1") { "1" } else { "0" }), &mut expected)
                    .expect("numbers");
                assert_eq!(out, expected, "{buffer}, {n}");
            }
            let few = plan.run_masked(vec![Some("1"); 300], &mut [0; 300 * 16], &mut [0; 33]);
            assert_eq!(few, Err(TextError::MaskTooSmall { index: 264, have: 33 }));
        }
    }
    // Missing texts are no errors.
    let strict = ParsePlan::new(DType::UInt8, &TextOptions::DEFAULT, &CastOptions::RUST).expect("a tier");
    let (mut out, mut validity) = ([9; 3], [0]);
    assert_eq!(strict.run_masked([Some("1"), None, Some("2")], &mut out, &mut validity), Ok((3, 1)));
    assert_eq!((out, validity), ([1, 0, 2], [0b101]));
    let error =
        strict.run_masked([Some("1"), None, Some("x")], &mut out, &mut validity).expect_err("no number");
    assert!(matches!(error, TextError::Text { index: 2, .. }));
}

#[test]
fn messages() {
    let of = |text: &str, to: DType| parse_error(text, to).to_string();
    assert_eq!(of("", DType::Float32), r#"text 0, "", is empty; float32 needs a number"#);
    assert_eq!(of("1_0", DType::Int4), r#"text 0, "1_0", is not a number that int4 can be read from"#);
    assert_eq!(of("8", DType::Int4), r#"text 0, "8", is out of the range of int4"#);
    assert_eq!(of("nan", DType::UInt64), r#"text 0, "nan", is a NaN, which uint64 does not have"#);
    // Cut between characters, however the bytes fall.
    for pad in 0..4 {
        let text = format!("{}{}", "a".repeat(pad), "\u{20AC}".repeat(40));
        match parse_error(&text, DType::Bool) {
            TextError::Text { text: shown, .. } => {
                let shown = shown.strip_suffix("...").expect("it is cut");
                assert!(text.starts_with(shown) && shown.len() > TextError::SHOWN - 3, "{shown}");
            }
            other => panic!("{other}"),
        }
    }
    let plan = ParsePlan::new(DType::UInt8, &TextOptions::DEFAULT, &CastOptions::RUST).expect("a tier");
    let bytes: [&[u8]; 1] = [b"\xFF1"];
    assert!(matches!(plan.run(bytes, &mut [0]), Err(TextError::Text { text, .. }) if text == "\u{FFFD}1"));
    let wrong = plan.run_to_vec::<&str, i8>([]).expect_err("another element");
    assert_eq!(wrong.to_string(), "the destination is a slice of int8 but the plan is for uint8");
}

fn parse_error(text: &str, to: DType) -> TextError {
    let plan = ParsePlan::new(to, &TextOptions::DEFAULT, &CastOptions::RUST).expect("a tier");
    plan.run([text], &mut [0; 16]).expect_err("not an element")
}
