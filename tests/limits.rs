//! `finfo` and `iinfo` against the tables of limits, and against the codes of the formats.

use crate::oracle;
use crate::oracle::format::{Class, class, floats};
use crate::oracle::value::{Dyadic, Value};
use crate::support::data::{dtype, rows};
use lanecast::DType;

#[test]
fn ints() {
    let rows = rows(data!("limits_int.tsv"));
    for row in &rows[1..] {
        let info = dtype(row[0]).iinfo().unwrap_or_else(|| panic!("{} is an integer", row[0]));
        let got = [i128::from(info.bits), info.min, info.max].map(|n| n.to_string());
        assert_eq!(got, row[1..], "{}", row[0]);
    }
    let ints = DType::ALL.iter().filter(|d| d.iinfo().is_some());
    assert_eq!(ints.count(), rows.len() - 1, "the others have none");
    assert_eq!(DType::Bool.iinfo(), None);
}

#[test]
fn floats_by_the_table() {
    let rows = rows(data!("limits_float.tsv"));
    for row in &rows[1..] {
        let info = dtype(row[0]).finfo().unwrap_or_else(|| panic!("{} is a float", row[0]));
        let cell = |name: &str| row[rows[0].iter().position(|head| *head == name).expect("a column")];
        let integers = [
            ("bits", i64::from(info.bits)),
            ("exponent bits", info.exponent_bits.into()),
            ("mantissa bits", info.mantissa_bits.into()),
            ("bias", info.bias.into()),
        ];
        for (name, got) in integers {
            assert_eq!(got.to_string(), cell(name), "{name} of {}", row[0]);
        }
        let numbers = [
            ("eps", info.eps),
            ("max", info.max),
            ("min", info.min),
            ("smallest_normal", info.smallest_normal),
            ("smallest_subnormal", info.smallest_subnormal),
            ("epsneg", info.epsneg),
        ];
        for (name, got) in numbers {
            let expected: f64 = cell(name).parse().expect("a number");
            assert_eq!(got.to_bits(), expected.to_bits(), "{name} of {}: {got:e}, not {expected:e}", row[0]);
        }
    }
    let all = DType::ALL.iter().filter(|d| d.finfo().is_some() && !matches!(class(**d), Class::Complex(_)));
    assert_eq!(all.count(), rows.len() - 1, "the others have none");
}

/// Complex dtypes have the limits of their parts.
#[test]
fn complex() {
    assert_eq!(DType::Complex64.finfo(), DType::Float32.finfo());
    assert_eq!(DType::Complex128.finfo(), DType::Float64.finfo());
}

/// The table of limits and the oracle's formats mean the same: the neighbours of 1, the ends, the special codes.
#[test]
fn formats_of_the_oracle() {
    let rows = rows(data!("limits_float.tsv"));
    for format in floats() {
        let row = rows.iter().find(|row| row[0].parse() == Ok(format.dtype)).expect("a row");
        let cell = |name: &str| row[rows[0].iter().position(|head| *head == name).expect("a column")];
        let number = |name: &str| exact(cell(name).parse().expect("a number"));
        let code = |code: u64| format.magnitude(code);
        let one = (format.bias as u64) << format.mantissa;
        assert!(exact_eq(code(one), Dyadic::power(0)));
        assert_eq!(difference(code(one), code(one + 1)), number("eps"), "{}", row[0]);
        assert_eq!(difference(code(one - 1), code(one)), number("epsneg"), "{}", row[0]);
        assert!(exact_eq(code(format.largest), number("max")));
        assert!(exact_eq(code(1), number("smallest_subnormal")));
        assert!(exact_eq(code(1 << format.mantissa), number("smallest_normal")));
        if format.width <= 16 {
            let all = || (0..1 << format.width).map(|c| format.decode(c));
            let count = |test: fn(&Value) -> bool| all().filter(test).count().to_string();
            assert_eq!(count(|v| matches!(v, Value::Nan(_))), cell("encodings of nan"), "{}", row[0]);
            assert_eq!(
                count(|v| matches!(v, Value::Infinite { .. })),
                cell("encodings of inf"),
                "{}",
                row[0]
            );
            let negative_zero = all().any(|v| v == Value::finite(true, 0, 0));
            assert_eq!(u8::from(negative_zero).to_string(), cell("has -0"), "{}", row[0]);
        }
    }
}

/// A positive f64 as it is.
fn exact(x: f64) -> Dyadic {
    match oracle::value(DType::Float64, x.to_bits().into()) {
        Value::Finite { magnitude, .. } => magnitude,
        other => panic!("{other:?} is not finite"),
    }
}

fn exact_eq((sig, exp): (u64, i32), other: Dyadic) -> bool {
    Dyadic { sig, exp } == other
}

/// The distance of two neighbours.
fn difference((low, low_exp): (u64, i32), (high, high_exp): (u64, i32)) -> Dyadic {
    Dyadic { sig: (high << (high_exp - low_exp)) - low, exp: low_exp }
}
