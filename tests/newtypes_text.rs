//! The small types parse text as the module `text` does for columns of it.

#![cfg(feature = "text")]

use crate::small::{Float, Small, all, each};
use crate::support::rng::Rng;
use lanecast::{
    F4E2M1FN, F6E2M3FN, F6E3M2FN, F8E3M4, F8E4M3, F8E4M3B11FNUZ, F8E4M3FN, F8E4M3FNUZ, F8E5M2, F8E5M2FNUZ,
    F8E8M0FNU, I2, I4, U2, U4, text,
};

/// The exact decimal of a `f64`.
fn exact(x: f64) -> String {
    format!("{x:.1074}").trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// Texts of a magnitude, a little less and a little more than it, in several forms.
fn around(x: f64) -> Vec<String> {
    let exact = exact(x);
    let mut texts = vec![exact.clone(), format!("-{exact}"), format!(" +{exact}\x0b"), format!("{x:e}")];
    let pointed = if exact.contains('.') { exact } else { format!("{exact}.") };
    let fill = 40_usize.saturating_sub(pointed.len());
    for zeros in [fill, 0, 160, 700] {
        texts.push(format!("{pointed}{}1", "0".repeat(zeros)));
    }
    // One less in the last digit, and nines behind it.
    let last = pointed.rfind(|c: char| c.is_ascii_digit() && c != '0');
    if let Some(last) = last {
        let digit = pointed.as_bytes()[last] - 1;
        let (head, tail) = (&pointed[..last], pointed[last + 1..].replace('0', "9"));
        for nines in [fill, 1, 160, 700] {
            let nines = "9".repeat(nines);
            let point = if tail.contains('.') || head.contains('.') { "" } else { "." };
            texts.push(format!("{head}{}{tail}{point}{nines}", char::from(digit)));
        }
    }
    // The point elsewhere.
    let (whole, fraction) = pointed.split_once('.').expect("a point");
    texts.push(format!("{whole}{fraction}e-{}", fraction.len()));
    texts.push(format!("0.{}{whole}{fraction}E{}", "0".repeat(30), whole.len() + 30));
    texts.push(format!("{whole}{fraction}000000e-0{}", fraction.len() + 6));
    texts
}

/// Numbers that are none, or hard.
fn strange() -> Vec<String> {
    let texts = [
        "",
        " ",
        "\t\n",
        ".",
        "-",
        "+",
        "+-1",
        "--1",
        "e5",
        ".e5",
        "1e",
        "1e+",
        "1e-",
        "1e5.",
        "1.5.2",
        "1_000",
        "0x10",
        "1f",
        "inf",
        "-inf",
        "+Infinity",
        " iNF ",
        "infinit",
        "infinityy",
        "nan",
        "-nan",
        "NaN",
        "nan(1)",
        "nanx",
        "1 2",
        "1,5",
        "١",
        "1.",
        ".5",
        "-.5",
        "+.5e1",
        "00000.0000",
        "-0",
        "0e999999999999999999999",
        "1e999999999999999999999",
        "1e-999999999999999999999",
        "-1e-400",
        "1e400",
        "-1e400",
        "1e49",
        "1e50",
        "1e51",
        "1e-49",
        "1e-50",
        "1e-51",
        "1e-52",
        "0.00000000000000000000000000000000000000000000000000000001e60",
        "12345678901234567890123456789",
        "1234567890123456789e-18",
        "9999999999999999999e-19",
        "99999999999999999999e-20",
        "7.99",
        "7.5",
        "8",
        "-8.99",
        "-9",
        "3.999",
        "4",
        "-2.9",
        "-3",
        "15.9",
        "16",
        "-0.9",
        "-1",
        "1e1",
        "10e-1",
        "1.0\0",
        "\u{a0}1",
        "1\u{85}",
    ];
    texts.into_iter().map(String::from).collect()
}

/// A text is parsed as by the module `text`.
fn same_as_text<T: Small>(string: &str) {
    let got = string.parse::<T>();
    match text::parse::<T>(&[string]) {
        Ok(expected) => {
            let got = got.map(T::to_bits);
            assert_eq!(got, Ok(expected[0].to_bits()), "{string:?} to {}", T::DTYPE);
        }
        Err(error) => {
            let (got, want) = (got.expect_err(string), error.to_string());
            assert_eq!(got.dtype(), T::DTYPE);
            let reason = |error: &str| error.rsplit_once("\" ").map(|(_, reason)| reason.to_owned());
            assert!(reason(&got.to_string()).is_some(), "{got}");
            assert_eq!(reason(&got.to_string()), reason(&want.replace("\", ", "\" ")), "{string:?}");
        }
    }
}

fn texts<T: Small>() {
    strange().iter().for_each(|string| same_as_text::<T>(string));
    let mut rng = Rng(T::DTYPE.code().into());
    for _ in 0..if cfg!(miri) { 20 } else { 3000 } {
        let len = 1 + rng.below(45) as usize;
        let digits: String = (0..len).map(|_| char::from(b'0' + rng.below(10) as u8)).collect();
        let at = rng.below(len as u64 + 1) as usize;
        let sign = if rng.below(4) == 0 { "-" } else { "" };
        let exponent = rng.below(90) as i64 - 45 - at as i64;
        same_as_text::<T>(&format!("{sign}{}.{}e{exponent}", &digits[..at], &digits[at..]));
        same_as_text::<T>(&format!("{sign}{}.{}", &digits[..at.min(3)], &digits[at.min(3)..]));
    }
}

/// Every value and every middle between two, and what lies beside them.
fn ties<T: Float>() {
    let mut values: Vec<f64> = all::<T>().map(T::to_f64).filter(|x| x.is_finite()).map(f64::abs).collect();
    values.sort_by(f64::total_cmp);
    values.dedup();
    let max = T::limits().max;
    let above = 2.0 * max - values[values.len() - 2];
    values.push(above);
    for pair in values.windows(if cfg!(miri) { 40 } else { 2 }) {
        for x in [pair[0], f64::midpoint(pair[0], pair[1]), pair[1]] {
            around(x).iter().for_each(|string| same_as_text::<T>(string));
        }
    }
}

#[test]
fn text_is_parsed_as_by_the_module() {
    each!(ints texts);
    each!(floats texts);
}

#[test]
fn text_at_ties_is_parsed_as_by_the_module() {
    each!(floats ties);
    assert_eq!("1.0625".parse(), Ok(F8E4M3FN::ONE));
    assert_eq!(format!("1.0625{}1", "0".repeat(36)).parse(), Ok(F8E4M3FN::from_f32(1.125)));
}

#[test]
fn errors_of_text_name_it() {
    let message = |text: &str| text.parse::<F8E4M3FN>().expect_err("no number").to_string();
    assert_eq!(message("1.5x"), r#""1.5x" is not a number that float8_e4m3fn can be read from"#);
    assert_eq!(message(""), r#""" is empty; float8_e4m3fn needs a number"#);
    let long = "ä".repeat(50);
    assert_eq!(
        message(&long),
        format!("\"{}...\" is not a number that float8_e4m3fn can be read from", "ä".repeat(40))
    );
    assert_eq!("16".parse::<U4>().expect_err("large").to_string(), r#""16" is out of the range of uint4"#);
    assert_eq!(
        "nan".parse::<I2>().expect_err("NaN").to_string(),
        r#""nan" is a NaN, which int2 does not have"#
    );
}
