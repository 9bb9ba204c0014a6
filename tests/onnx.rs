//! `lanecast::onnx` against ONNX itself: the schemas of every version, the node tests of the operators, tensors;
//! and the refusals.
#![cfg(feature = "onnx")]

#[path = "onnx/tensors.rs"]
mod tensors;

use crate::support::{data::rows, rng::Rng};
use lanecast::onnx::{
    AttributeValue, Attributes, Cast, CastOutput, ElementType, OnnxError, Operator, Payload, Port,
};
use lanecast::text::TextOptions;
use lanecast::*;
use lanecast::{Bytes, BytesMut};

const NONE: &Attributes = &Attributes::NONE;

fn element(name: &str) -> ElementType {
    ElementType::from_name(name).unwrap_or_else(|| panic!("{name}"))
}

fn operator(name: &str) -> Operator {
    *[Operator::Cast, Operator::CastLike].iter().find(|o| o.to_string() == name).expect("an operator")
}

/// Every type: those of ONNX and the dtypes that it does not have.
fn all_types() -> impl Iterator<Item = ElementType> {
    DType::ALL.iter().copied().map(ElementType::from).chain([ElementType::String])
}

fn make(
    operator: Operator,
    opset: u32,
    from: ElementType,
    to: ElementType,
    attributes: &Attributes,
) -> Result<Cast, OnnxError> {
    match operator {
        Operator::Cast => Cast::new(opset, from, to, attributes),
        Operator::CastLike => Cast::like(opset, from, to, attributes),
        other => panic!("{other} does not cast"),
    }
}

fn bytes(hex: &str) -> Vec<u8> {
    let digits = if hex == "-" { "" } else { hex };
    (0..digits.len())
        .step_by(2)
        .map(|i| u8::from_str_radix(&digits[i..i + 2], 16).unwrap_or_else(|e| panic!("{hex:?}: {e}")))
        .collect()
}

/// The rows of `onnx_types.tsv`: operator, version, attributes, types.
fn schemas() -> Vec<(Operator, u32, Vec<&'static str>, Vec<ElementType>)> {
    rows(data!("onnx_types.tsv"))[1..]
        .iter()
        .map(|row| {
            let words = |i: usize| row[i].split(' ').filter(|word| *word != "-");
            (
                operator(row[0]),
                row[1].parse().expect("a version"),
                words(2).collect(),
                words(3).map(element).collect(),
            )
        })
        .collect()
}

#[test]
fn versions_are_those_of_the_schemas() {
    let schemas = schemas();
    for operator in [Operator::Cast, Operator::CastLike] {
        let versions: Vec<u32> = schemas.iter().filter(|s| s.0 == operator).map(|s| s.1).collect();
        assert_eq!(operator.versions(), versions);
        for opset in 0..60 {
            let expected = versions.iter().copied().filter(|v| *v <= opset).max();
            assert_eq!(operator.version_in(opset).ok(), expected, "{operator} in opset {opset}");
            let made = make(operator, opset, DType::Float32.into(), DType::Int8.into(), NONE);
            match (expected, made) {
                (Some(version), Ok(cast)) => assert_eq!(cast.version(), version),
                (None, Err(error)) => assert_eq!(error, OnnxError::NoSuchOpset { operator, opset }),
                (_, made) => panic!("{operator} in opset {opset}: {made:?}"),
            }
        }
    }
    assert_eq!(Operator::Cast.version_in(u32::MAX), Ok(28));
}

#[test]
fn types_are_those_of_the_schemas() {
    let mut cells = 0;
    for (operator, version, _, types) in schemas() {
        for from in all_types() {
            for to in all_types() {
                let takes = |element| types.contains(&element);
                let made = make(operator, version, from, to, NONE);
                let refused = if takes(from) { (Port::Output, to) } else { (Port::Input, from) };
                match made {
                    Ok(cast) => {
                        assert!(takes(from) && takes(to), "{operator}-{version} {from} {to}");
                        assert_eq!((cast.source(), cast.target(), cast.operator()), (from, to, operator));
                    }
                    Err(OnnxError::Type { operator: o, version: v, port, element, since }) => {
                        assert!(!(takes(from) && takes(to)), "{operator}-{version} {from} {to}");
                        assert_eq!((o, v, (port, element)), (operator, version, refused));
                        let first =
                            schemas().iter().find(|s| s.0 == operator && s.3.contains(&element)).map(|s| s.1);
                        assert_eq!(since, first, "{operator}-{version} {from} {to}");
                    }
                    Err(error) => panic!("{operator}-{version} {from} {to}: {error}"),
                }
                cells += 1;
            }
        }
    }
    assert_eq!(cells, 16 * 31 * 31);
}

/// The table of section 10 in `docs/semantics.md`.
#[test]
fn the_document_says_the_same() {
    let document = include_str!("../docs/semantics.md");
    let (_, section) = document.split_once("\n## 10. ").expect("the section");
    let section = section.split("\n## ").next().expect("its text");
    let table: Vec<Vec<&str>> = section
        .lines()
        .filter(|line| line.starts_with("| ") && !line.starts_with("| Cast"))
        .map(|line| line.trim_matches('|').split('|').map(str::trim).collect())
        .collect();
    let casts: Vec<_> = schemas().into_iter().filter(|schema| schema.0 == Operator::Cast).collect();
    assert_eq!(table.len(), casts.len());
    let mut types = Vec::new();
    for (row, (_, version, _, expected)) in table.iter().zip(casts) {
        assert_eq!(row[0], version.to_string());
        types.extend(row[1].split(", ").filter(|name| !name.is_empty()).map(|name| {
            match name.trim_matches('`') {
                "string" => ElementType::String,
                name => ElementType::Number(name.parse().expect(name)),
            }
        }));
        assert_eq!(types.len(), expected.len(), "version {version}");
        assert!(types.iter().all(|element| expected.contains(element)), "version {version}");
        let attribute = [(19, "`saturate`"), (24, "`round_mode`"), (1, "`to`"), (6, "`to`")];
        let attribute = attribute.iter().find(|(since, _)| *since == version).map_or("", |(_, name)| name);
        assert!(
            row[2].starts_with(attribute) && row[2].is_empty() == attribute.is_empty(),
            "version {version}"
        );
    }
}

#[test]
fn attributes_are_those_of_the_schemas() {
    let (from, to) = (ElementType::from(DType::Float32), ElementType::from(DType::Int8));
    let f32_code = from.code().expect("FLOAT");
    for (operator, version, names, _) in schemas() {
        let saturate = make(operator, version, from, to, &NONE.with_saturate(false));
        let rounds = make(operator, version, from, to, &NONE.with_round_mode(E8M0Round::Down));
        for (name, made, since) in [("saturate", saturate, 19), ("round_mode", rounds, 24)] {
            match made {
                Ok(_) => assert!(names.contains(&name), "{operator}-{version}"),
                Err(error) => {
                    assert!(!names.contains(&name), "{operator}-{version}");
                    let since = Some(since);
                    assert_eq!(error, OnnxError::NoAttribute { operator, version, name: name.into(), since });
                }
            }
        }
        // As they stand in a node.
        let number = AttributeValue::Int(3);
        let target = if version == 1 { AttributeValue::String(b"INT8") } else { number };
        let other = if version == 1 { number } else { AttributeValue::String(b"INT8") };
        let node = |attributes: &[(&str, AttributeValue<'_>)]| match operator {
            Operator::Cast => {
                Cast::from_attributes(version, f32_code, &[&[("to", target)], attributes].concat())
            }
            Operator::CastLike => Cast::like_from_attributes(version, f32_code, 3, attributes),
            other => panic!("{other} does not cast"),
        };
        let plain = node(&[]).unwrap_or_else(|e| panic!("{operator}-{version}: {e}"));
        assert_eq!((plain.source(), plain.target()), (from, to));
        assert_eq!(*plain.options(), CastOptions::ONNX);
        let off = node(&[("saturate", AttributeValue::Int(0))]);
        assert_eq!(
            off.map(|cast| cast.options().saturate).ok(),
            names.contains(&"saturate").then_some(Saturate::Off)
        );
        let on = node(&[("saturate", AttributeValue::Int(1))]);
        assert_eq!(
            on.map(|cast| cast.options().saturate).ok(),
            names.contains(&"saturate").then_some(Saturate::On)
        );
        for (text, mode) in
            [("up", E8M0Round::Up), ("down", E8M0Round::Down), ("nearest", E8M0Round::Nearest)]
        {
            let made = node(&[("round_mode", AttributeValue::String(text.as_bytes()))]);
            assert_eq!(
                made.map(|cast| cast.options().e8m0_round).ok(),
                names.contains(&"round_mode").then_some(mode)
            );
        }
        assert!(matches!(node(&[("axis", number)]), Err(OnnxError::NoAttribute { since: None, .. })));
        if operator == Operator::CastLike {
            assert!(matches!(node(&[("to", number)]), Err(OnnxError::NoAttribute { since: None, .. })));
            continue;
        }
        assert_eq!(node(&[("to", target)]).map(|_| ()), Err(OnnxError::Twice("to")));
        let wrong = Cast::from_attributes(version, f32_code, &[("to", other)]);
        assert!(matches!(wrong, Err(OnnxError::AttributeValue { name: "to", .. })), "{version}");
        assert_eq!(Cast::from_attributes(version, f32_code, &[]).map(|_| ()), Err(OnnxError::MissingTo));
    }
    let node = |attributes: &[(&str, AttributeValue<'_>)]| {
        let to = ("to", AttributeValue::Int(17));
        Cast::from_attributes(28, 1, &[&[to], attributes].concat()).map(|_| ())
    };
    let bad = [
        ("saturate", AttributeValue::Int(2)),
        ("saturate", AttributeValue::String(b"1")),
        ("round_mode", AttributeValue::String(b"UP")),
        ("round_mode", AttributeValue::Int(1)),
        ("round_mode", AttributeValue::Other),
    ];
    for (name, value) in bad {
        assert!(
            matches!(node(&[(name, value)]), Err(OnnxError::AttributeValue { name: n, .. }) if n == name)
        );
    }
    let twice = [("saturate", AttributeValue::Int(1)), ("saturate", AttributeValue::Int(1))];
    assert_eq!(node(&twice), Err(OnnxError::Twice("saturate")));
    for code in [0, 29, -1, 1 << 40] {
        let made = Cast::from_attributes(28, 1, &[("to", AttributeValue::Int(code))]);
        assert_eq!(made.map(|_| ()), Err(OnnxError::UnknownCode(code)));
    }
    let made = Cast::from_attributes(28, 0, &[("to", AttributeValue::Int(1))]);
    assert_eq!(made.map(|_| ()), Err(OnnxError::UnknownCode(0)));
    let made = Cast::from_attributes(1, 1, &[("to", AttributeValue::String(b"float\xFF"))]);
    assert_eq!(made.map(|_| ()), Err(OnnxError::UnknownName("float\u{FFFD}".into())));
}

#[test]
fn errors_say_what_to_do() {
    let message = |opset, from, to| match Cast::new(opset, from, to, NONE) {
        Ok(_) => panic!("{opset} {from} {to}"),
        Err(error) => error.to_string(),
    };
    assert_eq!(
        message(11, DType::BFloat16, DType::Float32),
        "Cast-9 does not take bfloat16; opset 13 is the first that does"
    );
    assert_eq!(
        message(28, DType::Float32, DType::Complex64),
        "Cast-28 does not give complex64; no version of Cast does"
    );
    assert_eq!(message(0, DType::Float32, DType::Int8), "opset 0 does not exist; Cast begins with opset 1");
    let like = Cast::like(14, DType::Float32, DType::Int8, NONE).map(|_| ()).map_err(|e| e.to_string());
    assert_eq!(like, Err("opset 14 has no CastLike, which begins with opset 15".into()));
    let attributes = NONE.with_saturate(true);
    let cast = Cast::new(18, DType::Float32, DType::Int8, &attributes).map(|_| ()).map_err(|e| e.to_string());
    assert_eq!(cast, Err("Cast-13 has no attribute \"saturate\"; opset 19 is the first that has it".into()));
}

/// Attributes as a test file writes them: `saturate=0 round_mode=up`.
fn attributes(text: &str) -> Attributes {
    text.split(' ').filter(|word| *word != "-").fold(Attributes::NONE, |all, word| {
        match word.split_once('=').expect("a value") {
            ("saturate", value) => all.with_saturate(value == "1"),
            ("round_mode", "up") => all.with_round_mode(E8M0Round::Up),
            _ => panic!("{word}"),
        }
    })
}

#[test]
fn node_tests_of_onnx() {
    let mut tested = 0;
    for row in &rows(data!("onnx_nodes.tsv"))[1..] {
        let [name, op, opset, words, n, from, input, to, output] = row[..] else { panic!("{row:?}") };
        let (from, to) = (element(from), element(to));
        let cast = make(operator(op), opset.parse().expect("an opset"), from, to, &attributes(words));
        let cast = cast.unwrap_or_else(|e| panic!("{name}: {e}"));
        let n = n.parse().expect("a number");
        tested += 1;
        if from == ElementType::String {
            let expected = bytes(output);
            let mut out = vec![0xAA; expected.len()];
            assert_eq!(cast.parse(input.split('|'), &mut out), Ok(n));
            assert_eq!(out, expected, "{name}");
            continue;
        }
        if to == ElementType::String {
            let texts = cast.format(Bytes::new(&bytes(input), n)).expect("room");
            let texts: Vec<_> = (0..n).map(|i| &texts[i]).collect();
            assert_eq!(texts, output.split('|').collect::<Vec<_>>(), "{name}");
            continue;
        }
        let expected = bytes(output);
        let mut out = vec![0xAA; expected.len()];
        cast.run(Bytes::new(&bytes(input), n), BytesMut::new(&mut out, n)).expect("room");
        assert_eq!(out, expected, "{name}");
    }
    assert_eq!(tested, 64);
}

#[test]
fn every_pair_is_the_plan_of_the_profile() {
    let codes = (1..=28).filter_map(ElementType::from_code);
    let dtypes: Vec<DType> =
        codes.filter_map(ElementType::dtype).filter(|d| d.kind() != Kind::Complex).collect();
    assert_eq!(dtypes.len(), 25);
    let mut rng = Rng(28);
    // More than a block of a big-endian host, and no whole byte of any packed width.
    let n = 133;
    for &from in &dtypes {
        for &to in &dtypes {
            let (source, target) = (Encoding::packed(from), Encoding::packed(to));
            let mut raw = vec![0; source.byte_len(n).expect("small")];
            raw.iter_mut().for_each(|byte| *byte = rng.bits() as u8);
            for (attributes, options) in [
                (*NONE, CastOptions::ONNX),
                (NONE.with_saturate(false), CastOptions::ONNX.with_saturate(Saturate::Off)),
                (
                    NONE.with_round_mode(E8M0Round::Nearest),
                    CastOptions::ONNX.with_e8m0_round(E8M0Round::Nearest),
                ),
            ] {
                let cast = Cast::new(28, from, to, &attributes).expect("a cast");
                let mut out = vec![0xAA; target.byte_len(n).expect("small") + 1];
                cast.run(Bytes::new(&raw, n), BytesMut::new(&mut out, n)).expect("room");
                let mut native = raw.clone();
                swap(&mut native, from);
                let mut expected = vec![0xAA; out.len()];
                let plan = CastPlan::new(source, target, &options).expect("a plan");
                plan.run(Bytes::new(&native, n), BytesMut::new(&mut expected, n)).expect("room");
                let end = expected.len() - 1;
                swap(&mut expected[..end], to);
                assert_eq!(out, expected, "{from} {to}");
                let held = cast.plan().expect("numbers");
                // The bytes of ONNX are little-endian on every host.
                let [source, target] = [source, target].map(|buffer| buffer.with_order(ByteOrder::Little));
                assert_eq!((held.source(), held.target(), *cast.options()), (source, target, options));
            }
        }
    }
}

/// Between little-endian bytes and those of the host.
fn swap(bytes: &mut [u8], dtype: DType) {
    if cfg!(target_endian = "big") && dtype.size() > 1 {
        bytes.chunks_exact_mut(dtype.size()).for_each(<[u8]>::reverse);
    }
}

#[test]
fn options_are_laid_under_the_attributes() {
    let cast =
        Cast::new(19, DType::Float32, DType::Float8E4M3FNUZ, &NONE.with_saturate(false)).expect("a cast");
    let cast = cast.with_options(&CastOptions::RUST.with_e5m2_nan(E5M2Nan::Code7F)).expect("a tier");
    assert_eq!(cast.options().saturate, Saturate::Off);
    assert_eq!(cast.options().float_to_int, IntOverflow::Saturate);
    assert_eq!(cast.options().e5m2_nan, E5M2Nan::Code7F);
    let (mut out, infinity) = ([0], f32::INFINITY.to_le_bytes());
    cast.run(Bytes::new(&infinity, 1), BytesMut::new(&mut out, 1)).expect("room");
    assert_eq!(out, [0x80]);
    // ONNX has no attribute for directions: they are those of the options, of text as well.
    let up = CastOptions::ONNX.with_float_round(FloatRound::Up);
    let cast = Cast::new(13, DType::Float32, DType::Float16, NONE).expect("a cast");
    let mut half = [0; 2];
    cast.with_options(&up)
        .expect("a tier")
        .run(Bytes::new(&65505.0_f32.to_le_bytes(), 1), BytesMut::new(&mut half, 1))
        .expect("room");
    assert_eq!(u16::from_le_bytes(half), 0x7C00);
    let cast = Cast::new(13, ElementType::String, DType::Float64, NONE).expect("a cast");
    let cast = cast.with_options(&up.with_float_round(FloatRound::Down)).expect("a tier");
    let mut double = [0; 8];
    cast.parse(["0.1"], &mut double).expect("room");
    assert_eq!(f64::from_le_bytes(double), 0.1_f64.next_down());
    // A profile without saturation does not take the default of the attribute away.
    let cast = Cast::new(24, DType::Float32, DType::Float8E5M2, NONE).expect("a cast");
    let cast = cast.with_options(&CastOptions::NUMPY).expect("a tier");
    assert_eq!(cast.options().saturate, Saturate::On);
}

#[test]
fn text() {
    let f32s = |values: &[f32]| -> Vec<u8> { values.iter().flat_map(|x| x.to_le_bytes()).collect() };
    let strings = |cast: &Cast, raw: &[u8], n| -> Vec<String> {
        let texts = cast.format(Bytes::new(raw, n)).expect("room");
        texts.iter().map(Into::into).collect()
    };
    let cast = Cast::new(9, DType::Float32, ElementType::String, NONE).expect("a cast");
    let raw = f32s(&[0.1, -0.0, 1e16, f32::NAN, f32::NEG_INFINITY]);
    assert_eq!(strings(&cast, &raw, 5), ["0.1", "-0.0", "1e+16", "NaN", "-INF"]);
    let lower = cast.with_text(&TextOptions::DEFAULT).expect("a tier");
    assert_eq!(strings(&lower, &raw, 5)[3..], ["nan", "-inf"]);
    let cast = Cast::new(25, DType::Int2, ElementType::String, NONE).expect("a cast");
    assert_eq!(strings(&cast, &[0b11_10_01_00], 4), ["0", "1", "-2", "-1"]);
    let cast = Cast::new(9, DType::Bool, ElementType::String, NONE).expect("a cast");
    assert_eq!(strings(&cast, &[0, 2], 2), ["False", "True"]);
    assert!(matches!(cast.run(&[0_u8], &mut [0_u8]), Err(OnnxError::OtherKind { .. })));

    // The attributes hold for text, too.
    let nosat = NONE.with_saturate(false);
    let cast = Cast::like(19, ElementType::String, DType::Float8E5M2, &nosat).expect("a cast");
    let mut out = [0xAA; 3];
    assert_eq!(cast.parse(["1e9", "-1e-30", "NaN"], &mut out), Ok(3));
    assert_eq!(out, [0x7C, 0x80, 0x7E]);
    let cast = Cast::new(9, ElementType::String, DType::Int16, NONE).expect("a cast");
    let mut out = [0xAA; 5];
    assert_eq!(cast.parse(["1e3", " -2.9 "], &mut out), Ok(2));
    assert_eq!(out, [0xE8, 0x03, 0xFE, 0xFF, 0xAA]);
    let refused = cast.parse(["1", "0x10"], &mut out).expect_err("no number");
    assert_eq!(refused.to_string(), "text 1, \"0x10\", is not a number that int16 can be read from");
    assert!(matches!(cast.parse(["1", "2", "3"], &mut out), Err(OnnxError::Text(_))));

    // Whatever a tensor holds.
    let texts = ["7", "-3"];
    let payload = Payload { string_data: &texts, ..Payload::new(8, 2) };
    let contents = payload.read().expect("a tensor");
    assert_eq!(cast.apply(&contents, 2), Ok(CastOutput::Numbers(vec![7, 0, 0xFD, 0xFF])));
    assert!(matches!(cast.apply(&contents, 3), Err(OnnxError::OtherKind { .. })));
    let copy = Cast::new(9, ElementType::String, ElementType::String, NONE).expect("a cast");
    assert_eq!(copy.apply(&contents, 2), Ok(CastOutput::Strings(texts.iter().collect())));
    assert!(copy.parse(texts, &mut out).is_err() && copy.format(&[0_u8; 0]).is_err());
    let raw = f32s(&[2.5]);
    let numbers = Payload::<Vec<u8>> { raw_data: Some(&raw), ..Payload::new(1, 1) };
    let numbers = numbers.read().expect("a tensor");
    assert!(matches!(cast.apply(&numbers, 1), Err(OnnxError::OtherKind { .. })));
    let cast = Cast::new(9, DType::Float32, ElementType::String, NONE).expect("a cast");
    assert_eq!(cast.apply(&numbers, 1), Ok(CastOutput::Strings(["2.5"].iter().collect())));
    let cast = Cast::new(9, DType::Float32, DType::Int8, NONE).expect("a cast");
    assert_eq!(cast.apply(&numbers, 1), Ok(CastOutput::Numbers(vec![2])));
    assert!(cast.apply(&numbers, 2).is_err());
}

#[test]
fn buffers_that_are_too_small() {
    let cast = Cast::new(28, DType::Float32, DType::Int4, NONE).expect("a cast");
    let mut out = [0xAA; 1];
    let short = cast.run(Bytes::new(&[0; 11], 3), BytesMut::new(&mut out, 3));
    assert_eq!(
        short,
        Err(OnnxError::Cast(CastError::BufferTooSmall { which: lanecast::Side::Source, need: 12, have: 11 }))
    );
    let short = cast.run(Bytes::new(&[0; 12], 3), BytesMut::new(&mut out, 3));
    assert_eq!(
        short,
        Err(OnnxError::Cast(CastError::BufferTooSmall {
            which: lanecast::Side::Destination,
            need: 2,
            have: 1
        }))
    );
    assert!(matches!(
        cast.run(Bytes::new(&[], usize::MAX), BytesMut::new(&mut [], usize::MAX)),
        Err(OnnxError::Cast(CastError::TooLarge { .. }))
    ));
    assert_eq!(out, [0xAA]);
}
