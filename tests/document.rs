//! `docs/semantics.md` says what the program does: the tables are read, and every cell is compared with casts.
//!
//! *Law.* A cell that this test counts is one that it would find wrong: the last test changes every digit of every such
//! cell, and each change has to be reported. The numbers of tables and of cells are written down in [`SECTIONS`], so
//! that a table the reader no longer understands is a failure and not a silence.
//!
//! *Method.* A column of codes is cast from the code (or the number) in the row to the dtype in the head, on every
//! available tier. A column of values is compared with the code it describes. Of a condition such as `|x| >= 65520` the
//! two `float64` on both sides of the bound are cast, with both signs.
//!
//! *Not covered:* the tables of the sections in [`ELSEWHERE`]; in section 3 the targets of the options, in 4.2 the rules
//! for wide floats and for 4 and 6 bits (the table of codes below them has both), in 5.3 the words on numbers in and out
//! of range (the table of numbers has them); all running text.

mod oracle;
mod support;

use lanecast::*;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::{Add, Mul, Neg};

const DOCUMENT: &str = include_str!("../docs/semantics.md");

/// Section, its tables, the cells that are checked, and how.
const SECTIONS: &[(&str, usize, usize, Check)] = &[
    ("3", 2, 9 + 6, |t, r| {
        option_values(&t[0], r);
        profiles(&t[1], r);
    }),
    ("4.1", 4, 3 * 3 + 17 * 3 + 9 * 3 + 8 * 5, |t, r| {
        wide_bounds(&t[0], r);
        edges(&t[1], r);
        double_rounding(&t[2], r);
        edges(&t[3], r);
    }),
    ("4.2", 2, 10 + 16 * 10, |t, r| {
        nan_rules(&t[0], r);
        nan_codes(&t[1], r);
    }),
    ("4.4", 1, 7 * 5, |t, r| edges(&t[0], r)),
    ("5.1", 1, 11 * 2, |t, r| int_to_int(&t[0], r)),
    ("5.2", 1, 6 + 8 * 6, |t, r| int_to_float(&t[0], r)),
    ("5.3", 3, 4 + (2 + 12 * 6) + 9 * 5, |t, r| {
        int_overflow(&t[0], r);
        float_to_int(&t[1], r);
        int_round(&t[2], r);
    }),
    ("6.1", 1, 12 * 7, |t, r| eight_bits(&t[0], CastOptions::RUST, r)),
    ("6.2", 1, 33 * 8, |t, r| edges(&t[0], r)),
    ("6.3", 1, 14 + 16 * 7, |t, r| {
        eight_bits(&t[0], CastOptions::RUST.with_float_round(FloatRound::TowardZero), r);
    }),
    ("6.5", 2, 5 * 2 + 19 * 4, |t, r| {
        e8m0_range(&t[0], r);
        edges(&t[1], r);
    }),
    ("6.6", 2, 3 * 6 + (2 + 21 * 3), |t, r| {
        tiny_bounds(&t[0], r);
        tiny_values(&t[1], r);
    }),
];

/// Sections with tables that other tests or nobody checks: the formats and the storages (`limits`, the oracle), the
/// map of the rules (`pairs`), and what other systems do.
const ELSEWHERE: &[(&str, usize)] = &[("1", 2), ("2", 1), ("6.4", 1), ("9", 2)];

type Check = fn(&[Table], &mut Report);
type Outcome<T = ()> = Result<T, String>;

// ---- The document -----------------------------------------------------------------------------------------------

#[derive(Clone)]
struct Table {
    section: &'static str,
    head: Vec<String>,
    rows: Vec<Row>,
}

#[derive(Clone)]
struct Row {
    line: usize,
    cells: Vec<String>,
}

/// What was checked (line, column), and what was found wrong.
#[derive(Default)]
struct Report {
    cells: Vec<(usize, usize)>,
    wrong: Vec<String>,
}

impl Report {
    fn cell(&mut self, row: &Row, column: usize, outcome: Outcome) {
        self.cells.push((row.line, column));
        if let Err(why) = outcome {
            self.wrong.push(format!("semantics.md:{}: {:?}: {why}", row.line, row.cells[column]));
        }
    }
}

fn tables(document: &'static str) -> Vec<Table> {
    let (mut tables, mut section, mut inside): (Vec<Table>, _, _) = (Vec::new(), "", false);
    for (line, text) in (1..).zip(document.lines()) {
        if let Some(title) = text.strip_prefix("## ").or(text.strip_prefix("### "))
            && title.starts_with(|c: char| c.is_ascii_digit())
        {
            section = title.split(' ').next().unwrap_or_default().trim_end_matches('.');
        }
        if let Some(cells) = text.strip_prefix('|') {
            // A bar inside a cell is escaped.
            let cells = cells.strip_suffix('|').unwrap_or_else(|| panic!("line {line}: no bar at the end"));
            let cells = cells.replace("\\|", "\0");
            let cells: Vec<_> = cells.split('|').map(|cell| cell.trim().replace('\0', "|")).collect();
            match tables.last_mut().filter(|_| inside) {
                None => tables.push(Table { section, head: cells, rows: Vec::new() }),
                Some(_) if text.starts_with("|---") => {}
                Some(table) => {
                    assert_eq!(cells.len(), table.head.len(), "line {line}: as many cells as the head has");
                    table.rows.push(Row { line, cells });
                }
            }
        }
        inside = text.starts_with('|');
    }
    tables
}

/// What stands between backticks.
fn codes(cell: &str) -> Vec<&str> {
    cell.split('`').skip(1).step_by(2).collect()
}

// ---- Numbers and codes ------------------------------------------------------------------------------------------

/// `a + b * 2^c - d`, in the arithmetic of `T`.
fn sum<T>(text: &str, number: fn(&str) -> Outcome<T>) -> Outcome<T>
where
    T: Add<Output = T> + Mul<Output = T> + Neg<Output = T>,
{
    let product = |text: &str| {
        let magnitude = text.strip_prefix('-').unwrap_or(text);
        let all = magnitude.split(" * ").map(number).reduce(|a, b| Ok(a? * b?)).expect("one number at least")?;
        Ok(if magnitude == text { all } else { -all })
    };
    let text = text.replace(" - ", " + -");
    text.split(" + ").map(product).reduce(|a, b| Ok(a? + b?)).expect("one product at least")
}

fn integer(text: &str) -> Outcome<i128> {
    sum(text, |text| match text.strip_prefix("2^") {
        Some(power) => power.parse().ok().and_then(|p| 2_i128.checked_pow(p)).ok_or(format!("{text:?}?")),
        None => text.parse().map_err(|e| format!("{text:?}: {e}")),
    })
}

/// A number as a `float64`. Decimals are exact, or the shortest that mean their `float32`.
fn real(text: &str) -> Outcome<f64> {
    sum(text, |text| {
        let exact = match (text, text.strip_prefix("2^").map(str::parse)) {
            ("NaN", _) => f64::from_bits(0x7FF8 << 48),
            ("largest f32", _) => f32::MAX.into(),
            ("largest subnormal f32", _) => f32::from_bits(0x007F_FFFF).into(),
            ("smallest subnormal f32", _) => f32::from_bits(1).into(),
            ("tie of largest subnormal and smallest normal f16", _) => real("2^-14 - 2^-25")?,
            (_, Some(Ok(power @ -1022..1024))) => f64::from_bits(((power + 1023) as u64) << 52),
            _ => text.parse::<f64>().map_err(|e| format!("{text:?}: {e}"))?,
        };
        let near = exact as f32;
        let shortest = || text == near.to_string() || text == format!("{near:e}");
        if exact.is_nan() || text.starts_with("2^") || f64::from(near) == exact {
            Ok(exact)
        } else if shortest() {
            Ok(near.into())
        } else {
            Err(format!("{text} is neither exact nor the shortest form of {near}"))
        }
    })
}

fn dtype(name: &str) -> Outcome<DType> {
    DType::from_name(name).ok_or_else(|| format!("no dtype is called {name:?}"))
}

/// The least and the greatest element of an integer dtype.
fn range(dtype: DType) -> Option<(i128, i128)> {
    match dtype.spec() {
        Spec::Int { bits, signed: false } => Some((0, (1 << bits) - 1)),
        Spec::Int { bits, signed: true } => Some((-(1 << (bits - 1)), (1 << (bits - 1)) - 1)),
        _ => None,
    }
}

fn integers() -> impl Iterator<Item = DType> {
    DType::ALL.iter().copied().filter(|d| range(*d).is_some())
}

/// A code, written with all its digits.
fn hex(dtype: DType, digits: &str) -> Outcome<u64> {
    let code = u64::from_str_radix(digits, 16).map_err(|e| format!("{digits:?}: {e}"))?;
    let complete = digits.len() as u32 == dtype.bits().div_ceil(4) && u128::from(code) >> dtype.bits() == 0;
    if complete { Ok(code) } else { Err(format!("{digits:?} is no code of {dtype}")) }
}

/// The code of a number in an integer dtype, `float32` or `float64`.
fn encode(dtype: DType, text: &str) -> Outcome<u64> {
    let missing = || format!("{dtype} has no {text}");
    if let Some((min, max)) = range(dtype) {
        let value = integer(text)?;
        let code = value as u64 & u64::MAX >> (64 - dtype.bits());
        return (min..=max).contains(&value).then_some(code).ok_or_else(missing);
    }
    let value = real(text)?;
    let sign = u32::from(value.is_sign_negative()) << 31;
    match dtype {
        DType::Float64 => Ok(value.to_bits()),
        DType::Float32 if value.is_nan() => Ok((0x7FC0_0000 | sign).into()),
        DType::Float32 if f64::from(value as f32) == value => Ok((value as f32).to_bits().into()),
        _ => Err(missing()),
    }
}

/// The code in a cell that may write it several ways: `1e20 (60AD78EC)`, `65536 = 2^16`.
fn written(dtype: DType, cell: &str) -> Outcome<u64> {
    let (numbers, code) = cell.split_once(" (`").unwrap_or((cell, ""));
    let numbers = numbers.split(" = ").map(|number| encode(dtype, number.trim_matches('`')));
    let code = code.strip_suffix("`)").map(|digits| hex(dtype, digits));
    let all = numbers.chain(code).collect::<Outcome<BTreeSet<_>>>()?;
    if all.len() == 1 { Ok(all.into_iter().sum()) } else { Err("the notations differ".into()) }
}

// ---- Casts ------------------------------------------------------------------------------------------------------

/// The element that every available tier makes of this one, wherever in a buffer it stands.
fn cast(from: DType, to: DType, options: CastOptions, code: u64) -> u64 {
    const N: usize = 35;
    let src = support::store(from.into(), &[code.into(); N]);
    let mut results = BTreeSet::new();
    for &tier in support::tiers::tiers() {
        let plan = CastPlan::with_tier(from, to, &options, tier).expect("the tier is available");
        let mut dst = vec![0; N * to.size()];
        plan.run(&src, &mut dst, N).expect("the buffers fit");
        results.extend(support::load(to.into(), &dst, N));
    }
    assert_eq!(results.len(), 1, "{from} {code:X} -> {to}: all tiers and all places agree");
    results.into_iter().sum::<u128>() as u64
}

fn value(dtype: DType, code: u64) -> f64 {
    f64::from_bits(cast(dtype, DType::Float64, CastOptions::RUST, code))
}

fn expect(from: DType, code: u64, to: DType, options: CastOptions, expected: u64) -> Outcome {
    let got = cast(from, to, options, code);
    let text = || format!("{from} {code:X} -> {to} is {got:X}, not {expected:X}, with {options:?}");
    if got == expected { Ok(()) } else { Err(text()) }
}

/// A cell with one code, or one with saturate on and one with saturate off.
fn expect_cell(from: DType, code: u64, to: DType, options: CastOptions, cell: &str) -> Outcome {
    let digits = cell.trim_matches('`');
    let (on, off) = digits.split_once('/').unwrap_or((digits, digits));
    expect(from, code, to, options.with_saturate(Saturate::On), hex(to, on)?)?;
    expect(from, code, to, options.with_saturate(Saturate::Off), hex(to, off)?)
}

/// Of `|x| >= bound`: what `x` becomes is as `holds` says exactly when the condition is true.
fn bound(to: DType, options: CastOptions, cell: &str, holds: impl Fn(f64) -> bool) -> Outcome {
    let condition = cell.trim_matches('`').strip_prefix("|x| ").and_then(|text| text.split_once(' '));
    let (relation, number) = condition.ok_or("no condition")?;
    let edge = real(number)?;
    let (inside, outside) = match relation {
        ">=" => (edge, edge.next_down()),
        ">" => (edge.next_up(), edge),
        "<=" => (edge, edge.next_up()),
        "<" => (edge.next_down(), edge),
        _ => return Err(format!("{relation:?}?")),
    };
    for (x, expected) in [(inside, true), (-inside, true), (outside, false), (-outside, false)] {
        let result = value(to, cast(DType::Float64, to, options, x.to_bits()));
        if holds(result) != expected {
            return Err(format!("{x:e} becomes {result:e}"));
        }
    }
    Ok(())
}

/// Dtype and options in the head of a column or the target of a row.
fn target(text: &str) -> Outcome<(DType, CastOptions)> {
    let rust = CastOptions::RUST;
    Ok(match text.split_once(", ").unwrap_or((text, "")) {
        ("`Up`", _) => (DType::Float8E8M0FNU, rust.with_e8m0_round(E8M0Round::Up)),
        ("`Nearest`", _) => (DType::Float8E8M0FNU, rust.with_e8m0_round(E8M0Round::Nearest)),
        ("`Down`", _) => (DType::Float8E8M0FNU, rust.with_e8m0_round(E8M0Round::Down)),
        (name, "`TowardZero`") => (dtype(name)?, rust.with_float_round(FloatRound::TowardZero)),
        (name, "saturate off") => (dtype(name)?, rust.with_saturate(Saturate::Off)),
        (name, "") => (dtype(name)?, rust),
        _ => return Err(format!("{text:?} is no target")),
    })
}

// ---- Kinds of tables --------------------------------------------------------------------------------------------

/// Checks the cells from column `first` on.
fn each(t: &Table, first: usize, r: &mut Report, check: impl Fn(&Row, usize) -> Outcome) {
    for row in &t.rows {
        (first..t.head.len()).for_each(|column| r.cell(row, column, check(row, column)));
    }
}

/// The code in the first cell of row `i`.
fn source(t: &Table, from: DType, i: usize) -> Outcome<u64> {
    let cell = t.rows.get(i).map_or("", |row| &row.cells[0]);
    hex(from, codes(cell).first().unwrap_or(&cell))
}

/// The code in row `i` is the number that the text describes.
fn described(t: &Table, from: DType, i: usize, text: &str) -> Outcome {
    let row = |i: usize| Ok::<_, String>(value(from, source(t, from, i)?));
    let step = |x: f64, up: bool| match (from, up) {
        (DType::Float64, true) => x.next_up(),
        (DType::Float64, false) => x.next_down(),
        (_, true) => (x as f32).next_up().into(),
        (_, false) => (x as f32).next_down().into(),
    };
    let text = text.split(", tie").next().unwrap_or_default().replace('`', "");
    let expected = match (text.strip_prefix("just above "), text.strip_prefix("just below ")) {
        (Some("it"), _) => step(row(i - 1)?, true),
        (_, Some("the next")) => step(row(i + 1)?, false),
        (Some(other), _) => step(real(other)?, true),
        (_, Some(other)) => step(real(other)?, false),
        _ if text == "its negative" => -row(i - 1)?,
        _ => real(&text)?,
    };
    let (got, same) = (row(i)?, row(i)?.to_bits() == expected.to_bits());
    if same { Ok(()) } else { Err(format!("the code is {got:e}, the text says {expected:e}")) }
}

/// Codes, the values they stand for, and what they become in the dtypes of the head.
fn edges(t: &Table, r: &mut Report) {
    each(t, 1, r, |row, column| {
        let (i, cell) = (row.line - t.rows[0].line, &row.cells[column]);
        let from = dtype(t.head[0].trim_end_matches(" code"))?;
        if t.head[column] == "value" {
            return described(t, from, i, cell);
        }
        let (to, options) = target(&t.head[column])?;
        expect_cell(from, source(t, from, i)?, to, options, cell)
    });
}

macro_rules! options {
    ($($field:ident $setter:ident $type:ident: $($value:ident)*;)*) => {
        const OPTIONS: &[(&str, &[&str])] = &[$((stringify!($field), &[$(stringify!($value)),*])),*];

        fn set(options: CastOptions, name: &str, value: &str) -> Outcome<CastOptions> {
            // A value that is missing here does not compile.
            $(match options.$field { $($type::$value => {})* })*
            match (name, value) {
                $($((stringify!($field), stringify!($value)) => Ok(options.$setter($type::$value)),)*)*
                _ => Err(format!("there is no {name} = {value}")),
            }
        }
    };
}
options! {
    saturate with_saturate Saturate: On Off FnOnly;
    e8m0_round with_e8m0_round E8M0Round: Up Down Nearest;
    float_to_int with_float_to_int IntOverflow: Saturate Wrap;
    int_to_int with_int_to_int IntOverflow: Wrap Saturate;
    int_round with_int_round IntRound: TowardZero NearestEven NearestAway Floor Ceil;
    float_round with_float_round FloatRound: NearestEven TowardZero;
    e5m2_nan with_e5m2_nan E5M2Nan: Code7E Code7F;
    nan_to_fp4 with_nan_to_fp4 NanToFp4: Zero Max;
    fnuz_inf with_fnuz_inf FnuzInf: Max Nan;
}

/// 3: the values of the options, the default first.
fn option_values(t: &Table, r: &mut Report) {
    for (i, row) in t.rows.iter().enumerate() {
        let (name, values) = (row.cells[0].trim_matches('`'), codes(&row.cells[1]));
        let default = values.first().is_some_and(|v| set(CastOptions::RUST, name, v) == Ok(CastOptions::RUST));
        let same = OPTIONS.get(i) == Some(&(name, &values[..])) && default;
        r.cell(row, 1, if same { Ok(()) } else { Err(format!("{:?}", OPTIONS.get(i))) });
    }
}

/// 3: every profile, as its differences from the default.
fn profiles(t: &Table, r: &mut Report) {
    assert_eq!(t.rows.len(), CastOptions::PROFILES.len(), "one row for each profile");
    each(t, 1, r, |row, _| {
        let name = row.cells[0].trim_matches('`').to_lowercase();
        let profile = CastOptions::PROFILES.iter().find(|p| p.0 == name).ok_or("no such profile")?;
        let settings = codes(&row.cells[1]).into_iter().filter_map(|code| code.split_once(" = "));
        let options = settings.fold(Ok(CastOptions::RUST), |all, (name, value)| set(all?, name, value))?;
        if options == profile.1 { Ok(()) } else { Err(format!("the profile is {:?}", profile.1)) }
    });
}

/// 4.1: from where on the wide floats are infinite, and zero.
fn wide_bounds(t: &Table, r: &mut Report) {
    each(t, 1, r, |row, column| {
        let ((to, options), cell) = (target(&row.cells[0])?, &row.cells[column]);
        match column {
            1 => bound(to, options, cell, f64::is_infinite),
            2 => {
                let (from, code) = cell.split_once(' ').ok_or("a dtype and a code")?;
                let (from, edge) = (dtype(from)?, row.cells[1].trim_matches('`').trim_start_matches("|x| >= "));
                let same = hex(from, code.trim_matches('`'))? == encode(from, edge)?;
                if same { Ok(()) } else { Err(format!("{edge} has another code")) }
            }
            _ => bound(to, options, cell, |y| y == 0.0),
        }
    });
}

/// 4.1: a cast from `float64`, and the wrong one through `float32`.
fn double_rounding(t: &Table, r: &mut Report) {
    for (i, row) in t.rows.iter().enumerate() {
        r.cell(row, 1, described(t, DType::Float64, i, &row.cells[1]));
    }
    each(t, 3, r, |row, column| {
        let (mut from, (to, options)) = (DType::Float64, target(&row.cells[2])?);
        let mut code = source(t, from, row.line - t.rows[0].line)?;
        if column == 4 {
            code = cast(from, DType::Float32, options, code);
            from = DType::Float32;
        }
        let wrong = row.cells[3] == row.cells[4];
        let expected = hex(to, row.cells[column].trim_matches('`'))?;
        if wrong { Err("both are the same".into()) } else { expect(from, code, to, options, expected) }
    });
}

/// 4.2: the codes of both signs of NaN, where the rule gives them.
fn nan_rules(t: &Table, r: &mut Report) {
    let check = |targets: &str, rule: &str| -> Outcome {
        let small = targets.strip_suffix(" from a small float");
        let (from, nans) = match small {
            Some(_) => (DType::Float8E4M3FN, [0x7F, 0xFF]),
            None => (DType::Float32, [0x7FC0_0000, 0xFFC0_0000]),
        };
        let targets: Vec<_> = match targets {
            "integers" => integers().collect(),
            _ => small.unwrap_or(targets).split(", ").map(dtype).collect::<Outcome<_>>()?,
        };
        let (rule, other) = rule.split_once("; with ").unwrap_or((rule, ""));
        for (clause, options) in [(rule, CastOptions::RUST), (other, with(other)?)] {
            let all = codes(clause.rsplit("`: ").next().unwrap_or_default());
            for (i, &to) in targets.iter().enumerate().filter(|_| !clause.is_empty()) {
                for (nan, negative) in nans.into_iter().zip([false, true]) {
                    let by_sign = all.len() == 2;
                    let digits = all.get(if by_sign { negative.into() } else { i.min(all.len() - 1) });
                    let sign = if negative && clause.contains("sign") && !by_sign { 1 << (to.bits() - 1) } else { 0 };
                    let expected = match (clause, digits) {
                        ("0 (5.3)", _) => 0,
                        ("true", _) => 1,
                        (_, digits) => hex(to, digits.ok_or("no code")?)? | sign,
                    };
                    expect(from, nan, to, options, expected)?;
                }
            }
        }
        Ok(())
    };
    for row in &t.rows {
        if !["f32 from bf16", "f16, f32, f64 from a wide float otherwise", "4 and 6 bits"].contains(&&*row.cells[0]) {
            r.cell(row, 1, check(&row.cells[0], &row.cells[1]));
        }
    }
}
