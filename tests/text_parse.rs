//! Texts to elements, against exact arithmetic with big integers (`tests/oracle/decimal.rs`).
#![cfg(feature = "text")]

#[path = "oracle/decimal.rs"]
mod decimal;
#[path = "text_parse/errors.rs"]
mod errors;

use crate::oracle::{format::Class, value::Dyadic};
use crate::support::{load, options::applicable, rng::Rng, storages};
use crate::{oracle, support};
use lanecast::text::{BadText, ParsePlan, TextError, TextOptions};
use lanecast::{CastOptions, DType, IntRound, Kind};
use proptest::prelude::*;
use std::time::{Duration, Instant};

/// The elements of the texts, one each, or why there is none.
fn parse(to: DType, options: &CastOptions, texts: &[String]) -> Vec<Result<u128, BadText>> {
    let plan = ParsePlan::new(to, &TextOptions::DEFAULT, options).expect("a tier");
    let mut bytes = vec![0; texts.len() * to.size()];
    match plan.run(texts, &mut bytes) {
        Ok(n) => load(to.into(), &bytes, n).into_iter().map(Ok).collect(),
        // One by one.
        Err(_) => texts
            .iter()
            .map(|text| match plan.run([text], &mut bytes) {
                Ok(_) => Ok(load(to.into(), &bytes, 1)[0]),
                Err(TextError::Text { reason, .. }) => Err(reason),
                Err(other) => panic!("{other}"),
            })
            .collect(),
    }
}

/// All texts, with all options that apply, are parsed as the oracle does.
fn check(to: DType, texts: &[String]) {
    let all = match to.kind() {
        Kind::SignedInt | Kind::UnsignedInt => {
            let rounds = [
                IntRound::TowardZero,
                IntRound::NearestEven,
                IntRound::NearestAway,
                IntRound::Floor,
                IntRound::Ceil,
            ];
            rounds.map(|round| CastOptions::RUST.with_int_round(round)).to_vec()
        }
        _ if to == DType::Float64 => {
            support::options::FLOAT_ROUND.map(|round| CastOptions::RUST.with_float_round(round)).to_vec()
        }
        _ => applicable(DType::Float64, to),
    };
    for options in all {
        let got = parse(to, &options, texts);
        for (text, got) in texts.iter().zip(got) {
            let expected = decimal::parse(to, &options, text.as_bytes());
            assert_eq!(got, expected, "{text:?} to {to},{}", support::options::describe(&options));
        }
    }
}

fn is_real_float(dtype: DType) -> bool {
    dtype.kind() == Kind::Float
}

/// `0 < digits * 10^exponent` as a text, positional if that is not too long.
fn write(digits: &str, exponent: i32, rng: &mut Rng) -> String {
    let len = digits.len() as i32;
    match rng.below(3) {
        0 if (-40..=0).contains(&exponent) => {
            let point = len + exponent;
            if point > 0 {
                format!("{}.{}", &digits[..point as usize], &digits[point as usize..])
            } else {
                format!("0.{}{digits}", "0".repeat(-point as usize))
            }
        }
        1 => format!("{}.{}e{}", &digits[..1], &digits[1..], exponent + len - 1),
        _ => format!("{digits}e{exponent}"),
    }
}

/// The number, the next decimals beside it at 50 digits more, and the negative of all.
fn around(number: Dyadic, rng: &mut Rng, texts: &mut Vec<String>) {
    if number.is_zero() {
        return;
    }
    let (digits, exponent) = decimal::digits(number);
    let below = {
        let less = digits.parse::<num_bigint::BigUint>().expect("digits") - 1_u8;
        format!("{less}{}", "9".repeat(50))
    };
    let below = below.trim_start_matches('0');
    let above = format!("{digits}{}1", "0".repeat(49));
    let new = [(&digits[..], exponent), (below, exponent - 50), (&above, exponent - 50)];
    for (digits, exponent) in new {
        let text = write(digits, exponent, rng);
        texts.extend([format!("-{text}"), text]);
    }
}

/// Values of the target, the middles between them, where its range ends, and 1e-50 parts beside them all.
#[test]
fn boundaries() {
    let mut rng = Rng(8);
    for &to in DType::ALL.iter().filter(|d| is_real_float(**d)) {
        let mut texts = Vec::new();
        match oracle::format::class(to) {
            Class::Float(format) => {
                let largest = format.largest;
                let number = |code: u64| {
                    let (sig, exp) = format.magnitude(code);
                    Dyadic { sig, exp }
                };
                let smallest_normal = 1 << format.mantissa;
                let mut codes: Vec<u64> = [0, 1, 2, smallest_normal - 1, smallest_normal].into();
                codes.extend([largest - 1, largest, largest + 1]);
                let one = (format.bias as u64) << format.mantissa;
                codes.extend([one - 1, one, one + 1]);
                match format.width {
                    ..=8 => codes.extend(0..largest),
                    _ => codes.extend((0..40).map(|_| rng.below(largest))),
                }
                for code in codes {
                    around(number(code), &mut rng, &mut texts);
                    around(number(code).midpoint(number(code + 1)), &mut rng, &mut texts);
                }
            }
            _ => {
                for exp in (-130_i32..=130).filter(|exp| exp % 16 == 0 || exp.abs() >= 125 || exp.abs() < 3) {
                    around(Dyadic::power(exp), &mut rng, &mut texts);
                    around(Dyadic { sig: 3, exp: exp - 1 }, &mut rng, &mut texts);
                }
            }
        }
        check(to, &texts);
    }
}

/// Digits and exponents of all lengths, around the range of the target.
#[test]
fn random_decimals() {
    let mut rng = Rng(9);
    for &to in DType::ALL.iter().filter(|d| !matches!(d.kind(), Kind::Complex)) {
        let reach = match to.finfo() {
            Some(info) => info.max.log10() as u64 + 20,
            None => 25,
        };
        let texts: Vec<String> = (0..250)
            .map(|_| {
                let count = 1 + rng.below(26) as usize;
                let digits: String = (0..count).map(|_| char::from(b'0' + rng.below(10) as u8)).collect();
                let exponent = rng.below(2 * reach) as i32 - reach as i32 - count as i32 / 2;
                let sign = ["", "-", "+"][rng.below(3) as usize];
                let space = ["", " ", "\t\r\n"][rng.below(3) as usize];
                format!("{space}{sign}{}{space}", write(&digits, exponent, &mut rng))
            })
            .collect();
        check(to, &texts);
    }
}

/// The ends of the ranges, halves, and parts of 1e-50 beside them.
#[test]
fn integers() {
    let mut rng = Rng(10);
    for &to in DType::ALL.iter().filter(|d| matches!(d.kind(), Kind::SignedInt | Kind::UnsignedInt)) {
        let info = to.iinfo().expect("an integer");
        let mut texts = Vec::new();
        let inner = (0..6).map(|_| info.min + (rng.bits() as i128).rem_euclid(info.max - info.min + 1));
        for n in [info.min, 0, 1, info.max].into_iter().chain(inner.collect::<Vec<_>>()) {
            for n in [n - 1, n, n + 1] {
                let sign = if n < 0 { "-" } else { "" };
                let n = n.unsigned_abs();
                texts.extend([
                    format!("{sign}{n}"),
                    format!("{sign}00000000000000000000{n}.000"),
                    format!("{sign}{n}e0"),
                ]);
                for tail in [
                    "5",
                    "49999999999999999999999",
                    "50000000000000000000000000001",
                    "0000000000000000000000000000001",
                ] {
                    texts.push(format!("{sign}{n}.{tail}"));
                    texts.push(format!("{sign}{n}{tail}e-{}", tail.len()));
                }
                let digits = n.to_string();
                texts.push(format!("{sign}0.00{digits}e{}", digits.len() + 2));
                texts.push(format!("{sign}{n}000000000000000000000000000e-27"));
            }
        }
        texts.extend(
            ["0.5", "-0.5", "1.5", "-0", "1e2", "1e-400", "-1e-400", "1e400", "0e999999999", "0.0e-99"]
                .map(String::from),
        );
        texts.extend(["inf", "-infinity", "nan", "-NaN", "", " "].map(String::from));
        check(to, &texts);
    }
}

/// What is far outside any range obeys the rules of overflow and underflow of each target.
#[test]
fn extremes() {
    let texts = [
        "1e400", "-1e400", "1e-400", "-1e-400", "1e308", "1e-323", "2e-324", "3e-324", "0", "-0", "-0.0e5",
        "1e39",
    ];
    let words = ["inf", "-inf", "+Infinity", "nan", "-nan", "+NAN", " iNf ", "-INFINITY\n"];
    let texts: Vec<String> = texts.into_iter().chain(words).map(String::from).collect();
    for &to in DType::ALL.iter().filter(|d| is_real_float(**d) || d.kind() == Kind::Bool) {
        check(to, &texts);
    }
}

/// Exponents and lengths that fit into nothing.
#[test]
fn hostile() {
    let long = 1 << 20;
    let (ones, zeros, nines) = ("1".repeat(long), "0".repeat(long), "9".repeat(long));
    let texts: [(String, f64); 14] = [
        (ones.clone(), f64::INFINITY),
        (format!("{ones}e-{long}"), 0.1111111111111111),
        (format!("0.{zeros}1"), 0.0),
        (format!("0.{zeros}1e{}", long + 1), 1.0),
        (format!("-1{zeros}e-{long}"), -1.0),
        (format!("0.{nines}"), 1.0),
        (format!("1.5{zeros}"), 1.5),
        // The middle between two neighbours, and then something.
        (format!("9007199254740993{zeros}e-{long}"), 9007199254740992.0),
        (format!("9007199254740993{zeros}1e-{}", long + 1), 9007199254740994.0),
        ("1e999999999999999999999999999999".into(), f64::INFINITY),
        ("-1e-999999999999999999999999999999".into(), -0.0),
        ("0e999999999999999999999999999999".into(), 0.0),
        (format!("1e{zeros}3"), 1000.0),
        (format!("{zeros}{zeros}.{zeros}"), 0.0),
    ];
    let start = Instant::now();
    for (text, expected) in &texts {
        let got: Vec<f64> = lanecast::text::parse(&[text]).expect("a number");
        assert_eq!(got[0].to_bits(), expected.to_bits(), "{}...", &text[..20]);
        let bits = to_bits(text, DType::Float32);
        assert_eq!(bits, (*expected as f32).to_bits().into(), "{}...", &text[..20]);
    }
    for (text, expected) in
        [(&format!("{zeros}7.{nines}"), 7), (&format!("12{zeros}e-{long}"), 12), (&format!("0.{zeros}9"), 0)]
    {
        assert_eq!(to_bits(text, DType::UInt8), expected);
    }
    let bad = lanecast::text::parse::<u64>(&[&ones]).expect_err("too large");
    assert_eq!(bad.to_string(), format!("text 0, \"{}...\", is out of the range of uint64", "1".repeat(40)));
    let bad = lanecast::text::parse::<f64>(&[format!("{ones}x")]).expect_err("no number");
    assert!(matches!(bad, TextError::Text { reason: BadText::NotANumber, .. }));
    // Hours if it were quadratic; some milliseconds on this machine.
    assert!(start.elapsed() < Duration::from_secs(60));
}

fn to_bits(text: &str, to: DType) -> u128 {
    parse(to, &CastOptions::RUST, &[text.into()])[0].expect("a number")
}

/// Python's `complex`, without its underscores.
#[test]
fn complex() {
    let texts: &[(&str, Option<(f64, f64)>)] = &[
        ("1", Some((1.0, 0.0))),
        ("-0", Some((-0.0, 0.0))),
        ("2j", Some((0.0, 2.0))),
        ("-2.5e3J", Some((0.0, -2500.0))),
        ("j", Some((0.0, 1.0))),
        ("+j", Some((0.0, 1.0))),
        ("-J", Some((0.0, -1.0))),
        ("1+2j", Some((1.0, 2.0))),
        ("1.5e-3-.5e1j", Some((0.0015, -5.0))),
        ("1+j", Some((1.0, 1.0))),
        ("1-j", Some((1.0, -1.0))),
        (" ( 1+2j ) ", Some((1.0, 2.0))),
        ("(3)", Some((3.0, 0.0))),
        ("(-0-0j)", Some((-0.0, -0.0))),
        ("inf-infj", Some((f64::INFINITY, f64::NEG_INFINITY))),
        ("infinity+Infinityj", Some((f64::INFINITY, f64::INFINITY))),
        ("-inf+1j", Some((f64::NEG_INFINITY, 1.0))),
        ("1e400-1e-400j", Some((f64::INFINITY, -0.0))),
        ("", None),
        ("()", None),
        ("(1+2j", None),
        ("1+2j)", None),
        ("((1+2j))", None),
        ("1 + 2j", None),
        ("1+ 2j", None),
        ("1+2", None),
        ("1+2i", None),
        ("2j+1", None),
        ("1++2j", None),
        ("1+-2j", None),
        ("jj", None),
        ("1j2", None),
        ("1+2jj", None),
        ("+", None),
        ("1+2_0j", None),
        ("True", None),
    ];
    for to in [DType::Complex128, DType::Complex64] {
        for (text, expected) in texts {
            let expected = expected.map(|(re, im)| match to {
                DType::Complex64 => {
                    u128::from((re as f32).to_bits()) | u128::from((im as f32).to_bits()) << 32
                }
                _ => u128::from(re.to_bits()) | u128::from(im.to_bits()) << 64,
            });
            let got = parse(to, &CastOptions::RUST, &[(*text).into()]).remove(0);
            assert_eq!(got.ok(), expected, "{text:?} to {to}");
        }
        let nan = parse(to, &CastOptions::RUST, &["nan-nanj".into()])[0].expect("a number");
        let part = to.bits() / 2;
        let quiet = if part == 32 { 0x7FC0_0000 } else { 0x7FF8 << 48 };
        assert_eq!(nan, quiet | (quiet | 1 << (part - 1)) << part);
    }
    // Each part is rounded once.
    let text = "1.00000017881393432617187499-3.4028235677973366e38j".to_string();
    let parts = parse(DType::Complex64, &CastOptions::RUST, &[text])[0];
    assert_eq!(parts, Ok(0x3F80_0001 | 0xFF7F_FFFF << 32));
}

/// Every length around the blocks, both storages, nothing written behind.
#[test]
fn lengths() {
    for to in [DType::Float32, DType::Int4, DType::Float6E2M3FN, DType::UInt2, DType::Bool, DType::Complex64]
    {
        for buffer in storages(to) {
            let plan = ParsePlan::new(buffer, &TextOptions::DEFAULT, &CastOptions::RUST).expect("a tier");
            for n in (0..20).chain([255, 256, 257, 258, 511, 512, 513, 1000]) {
                let texts: Vec<String> = (0..n).map(|i| (i * 7 % 2).to_string()).collect();
                let need = buffer.byte_len(n).expect("small");
                let mut bytes = vec![0xA5; need + 9];
                assert_eq!(plan.run(&texts, &mut bytes), Ok(n));
                assert!(bytes[need..].iter().all(|byte| *byte == 0xA5), "{buffer}: wrote past the end");
                let one = parse(to, &CastOptions::RUST, &["1".into()])[0].expect("a number");
                let codes: Vec<u128> = (0..n).map(|i| one * (i as u128 * 7 % 2)).collect();
                assert_eq!(bytes[..need], support::store(buffer, &codes), "{buffer}, {n} texts");
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, failure_persistence: None, ..ProptestConfig::default() })]

    /// No text panics, and what is accepted is the grammar.
    #[test]
    fn grammar(text in "[-+0-9.eE \t_xainftyINFj]{0,12}|[ \t\n\r\u{b}\u{c}]?[-+]?[0-9]{0,22}[.]?[0-9]{0,22}([eE][-+]?[0-9]{0,3})?[ ]?|[-+]?(inf|infinity|nan|INF|true)[a-z ]?") {
        for to in [DType::Float64, DType::Float32, DType::Float16, DType::Float8E5M2, DType::Float8E8M0FNU, DType::Int32, DType::UInt64, DType::Bool] {
            let expected = decimal::parse(to, &CastOptions::RUST, text.as_bytes());
            prop_assert_eq!(parse(to, &CastOptions::RUST, std::slice::from_ref(&text)).remove(0), expected, "{:?} to {}", text, to);
        }
        let _ = parse(DType::Complex64, &CastOptions::RUST, &[text]);
    }

    /// Any bytes.
    #[test]
    fn bytes(text in proptest::collection::vec(any::<u8>(), 0..40)) {
        for to in [DType::Float64, DType::Int64, DType::Bool] {
            let plan = ParsePlan::new(to, &TextOptions::DEFAULT, &CastOptions::RUST).expect("a tier");
            let accepted = plan.run([&text], &mut [0; 8]).is_ok();
            prop_assert_eq!(accepted, decimal::parse(to, &CastOptions::RUST, &text).is_ok());
        }
    }
}
