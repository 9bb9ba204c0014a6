//! Texts and codes from tables that another program made with exact fractions (`tests/data/README.md`).
#![cfg(feature = "text")]

use crate::support::{
    data::{code, dtype, rows, target},
    load, storages, store,
};
use lanecast::text::{BadText, FormatPlan, ParsePlan, TextError, TextOptions};
use lanecast::{Bytes, CastOptions, DType, Kind};

const TEXT: TextOptions = TextOptions::DEFAULT;

/// The text of a JSON string, as far as the table has them.
fn unquote(json: &str) -> String {
    let inner = json.strip_prefix('"').and_then(|t| t.strip_suffix('"')).expect("quotes");
    let (mut text, mut chars) = (String::new(), inner.chars());
    while let Some(char) = chars.next() {
        text.push(match char {
            '\\' => match chars.next() {
                Some('t') => '\t',
                Some('n') => '\n',
                Some('u') => {
                    let digits: String = chars.by_ref().take(4).collect();
                    u32::from_str_radix(&digits, 16).ok().and_then(char::from_u32).expect("a character")
                }
                other => panic!("\\{other:?} is not read here"),
            },
            char => char,
        });
    }
    text
}

/// The one element that a text is parsed to.
fn parse(to: DType, options: &CastOptions, text: &str) -> Result<u128, BadText> {
    let mut found = Vec::new();
    for buffer in storages(to) {
        let plan = ParsePlan::new(buffer, &TEXT, options).expect("a tier");
        let mut bytes = [0xA5; 16];
        found.push(match plan.run([text], &mut bytes) {
            Ok(n) => {
                assert_eq!(n, 1);
                Ok(load(buffer, &bytes, 1)[0])
            }
            Err(TextError::Text { index: 0, reason, .. }) => Err(reason),
            Err(other) => panic!("{text:?} to {buffer}: {other}"),
        });
    }
    assert!(found.iter().all(|other| *other == found[0]), "{text:?}: the storages of {to} differ");
    found[0]
}

#[test]
fn parsed() {
    let rows = rows(data!("text_parse.tsv"));
    let ints = DType::ALL.iter().copied().filter(|d| matches!(d.kind(), Kind::SignedInt | Kind::UnsignedInt));
    let ints: Vec<DType> = ints.collect();
    assert_eq!(rows.len(), 1 + 308);
    for row in &rows[1..] {
        let text = unquote(row[0]);
        let columns = &rows[0][1..];
        if row[1] == "ERR" {
            for &to in DType::ALL {
                // Other rules than those of the table: the words of bool, Python's complex numbers.
                let other = match to.kind() {
                    Kind::Bool => matches!(text.as_str(), "True" | "false"),
                    Kind::Complex => text == "1+2j",
                    _ => false,
                };
                let reason = if text.trim().is_empty() { BadText::Empty } else { BadText::NotANumber };
                if !other {
                    assert_eq!(parse(to, &CastOptions::RUST, &text), Err(reason), "{text:?} to {to}");
                }
            }
            continue;
        }
        for (column, cell) in columns.iter().zip(&row[1..]) {
            if *column == "int" {
                check_ints(&text, cell, &ints);
                continue;
            }
            let (to, options) = target(column);
            let got = parse(to, &options, &text);
            match *cell {
                // The table has no signs of NaN.
                "nan" => {
                    let negative = u128::from(text.starts_with('-'));
                    let quiet = [(DType::Float64, 0x7FF8 << 48), (DType::Float32, 0x7FC0_0000)];
                    let quiet =
                        quiet.into_iter().chain([(DType::Float16, 0x7E00), (DType::BFloat16, 0x7FC0)]);
                    let (_, nan) = quiet.into_iter().find(|(d, _)| *d == to).expect("a wide float");
                    assert_eq!(got, Ok(nan | negative << (to.bits() - 1)), "{text:?} to {to}");
                }
                // `-nan` of the small floats is among the rows too, without its sign.
                _ if text.to_lowercase().contains("nan") && text.starts_with('-') => {}
                cell => assert_eq!(got, Ok(code(to, cell)), "{text:?} to {column}"),
            }
        }
    }
}

/// `cell` is the integer that the text is truncated to, or `OOR`.
fn check_ints(text: &str, cell: &str, ints: &[DType]) {
    let number: Option<i128> = cell.parse().ok();
    assert!(number.is_some() || cell == "OOR" || cell.len() > 38, "{cell}");
    for &to in ints {
        let limits = to.iinfo().expect("an integer");
        let fits = number.filter(|n| (limits.min..=limits.max).contains(n));
        let bits = u128::MAX >> (128 - to.bits());
        let nan = text.to_lowercase().contains("nan");
        let expected = match fits {
            Some(number) => Ok(number as u128 & bits),
            None if nan => Err(BadText::Nan),
            None => Err(BadText::OutOfRange),
        };
        assert_eq!(parse(to, &CastOptions::RUST, text), expected, "{text:?} to {to}");
    }
}

#[test]
fn formatted() {
    let rows = rows(data!("text_format.tsv"));
    assert_eq!(rows.len(), 1 + 2096);
    for row in &rows[1..] {
        let from = dtype(row[0]);
        let bits = code(from, row[1]);
        for buffer in storages(from) {
            let plan = FormatPlan::new(buffer, &TEXT).expect("a tier");
            let texts = plan.run(Bytes::new(&store(buffer, &[bits]), 1)).expect("one element");
            assert_eq!(texts.get(0), Some(row[2]), "{buffer} {}", row[1]);
        }
    }
}
