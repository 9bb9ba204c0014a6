//! `docs/semantics.md` says what the program does: its tables are read, and every cell is compared with real casts.
//!
//! *Law.* A cell that is counted here cannot be wrong unnoticed: the last test changes every digit of every such cell,
//! one at a time, and each change has to be reported. The numbers of tables and cells stand in [`SECTIONS`], so that a
//! table which the reader no longer understands is a failure, not a silence.
//!
//! *Method.* Most cells are rendered from casts of what stands in their row, on every available tier, and compared as
//! text. Conditions such as `|x| >= 65520` are tried with the `float64`s on both sides of the bound, of both signs.
//! Where a column says which number a code is, the two are compared.
//!
//! *Not covered:* the tables of [`ELSEWHERE`]; in section 3 the targets of the options; in 4.2 the rules for NaNs of the
//! wide floats, from small floats, and for 4 and 6 bits (the table of codes there shows all three); in 5.3 the table in
//! words (the table of numbers shows what it says); in 6.5 what is rounded (the other tables); all running text.
#![cfg(feature = "text")]

mod oracle;
mod support;

use lanecast::DType::{Bool, Float8E5M2, Float8E8M0FNU, Float32, Float64, Int8};
use lanecast::text::{FormatPlan, ParsePlan, TextOptions};
use lanecast::*;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::{Add, Mul, Neg};

/// A section, the number of its cells that are checked, and for each table the first column to check and how.
const SECTIONS: &[(&str, usize, Checks)] = &[
    ("3", 10 * 2 + 6, &[(0, option_values), (1, profiles)]),
    (
        "4.1",
        3 * 3 + 17 * 3 + 9 * 3 + 8 * 5 + 14 * 7,
        &[(1, wide_bounds), (1, edges), (1, double_rounding), (1, edges), (1, edges)],
    ),
    ("4.2", 9 + 16 * 10, &[(1, nan_rules), (2, nan_codes)]),
    ("4.4", 7 * 5, &[(1, edges)]),
    ("5.1", 11 * 2, &[(3, int_to_int)]),
    ("5.2", 8 * 6 + 8 * 8, &[(1, int_to_float), (1, int_to_float)]),
    ("5.3", 12 * 6 + 9 * 5, &[(0, prose), (1, float_to_int), (1, int_round)]),
    ("6.1", 12 * 7, &[(0, eight_bits)]),
    ("6.2", 33 * 8, &[(1, edges)]),
    ("6.3", 14 + 16 * 7 + 12 * 7 + 7 * 7, &[(0, eight_bits), (1, edges), (1, edges)]),
    ("6.5", 15 + 19 * 4 + 19 * 5, &[(1, e8m0_range), (1, edges), (1, edges)]),
    ("6.6", 3 * 6 + 21 * 3 + 10 * 7, &[(1, tiny_bounds), (1, tiny_values), (1, edges)]),
    ("8.1", 20 * 9, &[(1, parsed)]),
    ("8.2", 26, &[(2, formatted)]),
    ("11", 26 * 2, &[(0, prose), (3, verdict)]),
];

/// Sections whose tables are not compared here, and how many they have: the formats and storages, the map of the rules,
/// other systems, ONNX (which `tests/onnx.rs` compares).
const ELSEWHERE: &[(&str, usize)] =
    &[("1", 2), ("2", 1), ("6.4", 1), ("8.3", 1), ("9", 2), ("9.1", 1), ("10", 1)];

const RUST: CastOptions = CastOptions::RUST;
const OFF: CastOptions = RUST.with_saturate(Saturate::Off);
const TOWARD_ZERO: CastOptions = RUST.with_float_round(FloatRound::TowardZero);
/// NaN and -NaN.
const NANS: [(DType, u64); 2] = [(Float32, 0x7FC0_0000), (Float32, 0xFFC0_0000)];

/// What a cell should say: the cell itself if it is right.
type Check = fn(&Cell) -> Found;
type Checks = &'static [(usize, Check)];
/// Something read or cast, or what is wrong with the document.
type Found<T = String> = Result<T, String>;
/// The error for cells that are not checked.
const PROSE: &str = "prose";

// ---- The document ---------------------------------------------------------------------------------------------------

#[derive(Clone)]
struct Table {
    section: &'static str,
    /// The line of the first row.
    line: usize,
    head: Vec<String>,
    rows: Vec<Vec<String>>,
}

/// A cell in its table.
struct Cell<'a> {
    table: &'a Table,
    row: usize,
    column: usize,
}

impl<'a> Cell<'a> {
    fn text(&self) -> &'a str {
        self.at(self.column)
    }
    /// Another cell of the row.
    fn at(&self, column: usize) -> &'a str {
        &self.table.rows[self.row][column]
    }
    fn head(&self) -> &'a str {
        &self.table.head[self.column]
    }
}

fn tables() -> Vec<Table> {
    let (mut tables, mut section, mut inside): (Vec<Table>, _, _) = (Vec::new(), "", false);
    for (line, text) in (1..).zip(include_str!("../docs/semantics.md").lines()) {
        let title = text.trim_start_matches('#').trim_start();
        if text.starts_with('#') && title.starts_with(|c: char| c.is_ascii_digit()) {
            section = title.split(' ').next().unwrap_or_default().trim_end_matches('.');
        }
        if let Some(cells) = text.strip_prefix('|').and_then(|cells| cells.strip_suffix('|')) {
            // A bar inside a cell is escaped.
            let cells = cells.replace("\\|", "\0");
            let cells: Vec<_> = cells.split('|').map(|cell| cell.trim().replace('\0', "|")).collect();
            match tables.last_mut().filter(|_| inside) {
                None => tables.push(Table { section, line: line + 2, head: cells, rows: Vec::new() }),
                Some(_) if text.starts_with("|---") => {}
                Some(table) if cells.len() == table.head.len() => table.rows.push(cells),
                Some(_) => panic!("line {line} has not as many cells as the head of its table"),
            }
        }
        inside = text.starts_with('|');
    }
    tables
}

// ---- Numbers and codes ----------------------------------------------------------------------------------------------

/// `a + b * 2^c - d` in the arithmetic of `T`.
fn sum<T>(text: &str, number: fn(&str) -> Found<T>) -> Found<T>
where
    T: Add<Output = T> + Mul<Output = T> + Neg<Output = T>,
{
    let product = |text: &str| {
        let magnitude = text.strip_prefix('-').unwrap_or(text);
        let all =
            magnitude.split(" * ").map(number).reduce(|a, b| Ok(a? * b?)).expect("a number at least")?;
        Ok(if magnitude == text { all } else { -all })
    };
    let text = text.replace('`', "").replace(" - ", " + -");
    text.split(" + ").map(product).reduce(|a, b| Ok(a? + b?)).expect("a product at least")
}

/// The exponent of a power of two.
fn power(text: &str) -> Option<i32> {
    text.strip_prefix("2^")?.parse().ok()
}

fn integer(text: &str) -> Found<i128> {
    sum(text, |text| match power(text) {
        Some(exponent @ 0..=126) => Ok(1 << exponent),
        _ => text.parse().map_err(|e| format!("{text:?}: {e}")),
    })
}

/// A number as a `float64`. Decimals are exact, or the shortest that mean their `float32`.
fn real(text: &str) -> Found<f64> {
    sum(text, |text| match (text, power(text)) {
        ("NaN", _) => Ok(f64::from_bits(0x7FF8 << 48)),
        ("largest f32", _) => Ok(f32::MAX.into()),
        ("largest subnormal f32", _) => real("2^-126 - 2^-149"),
        ("smallest subnormal f32", _) => real("2^-149"),
        ("tie of largest subnormal and smallest normal f16", _) => real("2^-14 - 2^-25"),
        (_, Some(exponent @ -1022..=1023)) => Ok(f64::from_bits(((exponent + 1023) as u64) << 52)),
        _ => {
            let exact: f64 = text.parse().map_err(|e| format!("{text:?}: {e}"))?;
            let near = exact as f32;
            let shortest = text == near.to_string() || text == format!("{near:e}");
            let fits = shortest || f64::from(near) == exact;
            if fits { Ok(near.into()) } else { Err(format!("{text} is neither {near} nor exact")) }
        }
    })
}

/// The `float32`s in a cell. They may have several notations: `1e20 (60AD78EC)`, `65536.0 = 2^16`.
fn floats(cell: &str) -> Found<Vec<(DType, u64)>> {
    let encode = |number: &str| match real(number)? {
        x if x.is_nan() => Ok(NANS[usize::from(x.is_sign_negative())].1),
        x if f64::from(x as f32) == x => Ok((x as f32).to_bits().into()),
        x => Err(format!("{x:e} is no float32")),
    };
    let float = |text: &str| {
        let (numbers, digits) = text.split_once(" (").unwrap_or((text, ""));
        let codes = (!digits.is_empty()).then(|| code(digits));
        Ok((Float32, one(numbers.split(" = ").map(encode).chain(codes))?))
    };
    cell.split(", ").map(float).collect()
}

/// The first code in a cell.
fn code(cell: &str) -> Found<u64> {
    let digits = cell.split('`').find(|part| !part.is_empty()).unwrap_or_default();
    u64::from_str_radix(digits, 16).map_err(|e| format!("{digits:?}: {e}"))
}

/// The only thing there is, if all agree.
fn one<T: Ord>(all: impl IntoIterator<Item = Found<T>>) -> Found<T> {
    let mut all = all.into_iter().collect::<Found<BTreeSet<_>>>()?;
    let first = all.pop_first().ok_or("something")?;
    if all.is_empty() { Ok(first) } else { Err("the same in all cases, and is not".into()) }
}

/// The text if it is right, or else what is.
fn right_if(right: bool, text: &str, otherwise: impl ToString) -> Found {
    if right { Ok(text.into()) } else { Err(otherwise.to_string()) }
}

/// Both texts, or one if they are the same.
fn either([a, b]: [String; 2], between: &str) -> String {
    if a == b { a } else { a + between + &b }
}

// ---- Casts ----------------------------------------------------------------------------------------------------------

/// The element that every available tier makes of this one, wherever in a buffer it stands.
fn cast((from, code): (DType, u64), to: DType, options: CastOptions) -> u64 {
    const N: usize = 35;
    let (src, mut results) = (support::store(from.into(), &[code.into(); N]), BTreeSet::new());
    for &tier in support::tiers::tiers() {
        let plan = CastPlan::with_tier(from, to, &options, tier).expect("the tier is available");
        let mut dst = vec![0; N * to.size()];
        plan.run(&src, &mut dst, N).expect("the buffers fit");
        results.extend(support::load(to.into(), &dst, N));
    }
    assert_eq!(results.len(), 1, "{from} {code:X} -> {to}: the tiers and places agree");
    results.into_iter().sum::<u128>() as u64
}

fn value(from: (DType, u64)) -> f64 {
    f64::from_bits(cast(from, Float64, RUST))
}

/// The code that results.
fn coded(from: (DType, u64), to: DType, options: CastOptions) -> String {
    format!("`{:0width$X}`", cast(from, to, options), width = to.bits().div_ceil(4) as usize)
}

/// The codes with saturate on and off.
fn on_off(from: (DType, u64), to: DType, options: CastOptions) -> String {
    let all = [Saturate::On, Saturate::Off].map(|saturate| coded(from, to, options.with_saturate(saturate)));
    either(all, "/").replace("`/`", "/")
}

/// The integer that results.
fn int(from: (DType, u64), to: DType, options: CastOptions) -> i128 {
    let code = i128::from(cast(from, to, options));
    let beyond = iinfo(to).is_some_and(|info| code > info.max);
    code - if beyond { 1 << to.bits() } else { 0 }
}

/// A condition on `|x|`, if `holds` says the same of the results just inside and just outside the bound.
fn bound(text: &str, to: DType, options: CastOptions, holds: impl Fn(f64) -> bool) -> Found {
    let condition = text.trim_matches('`').strip_prefix("|x| ").and_then(|text| text.split_once(' '));
    let (relation, number) = condition.ok_or("a condition on |x|")?;
    let edge = real(number)?;
    let (inside, outside) = match relation {
        ">=" => (edge, edge.next_down()),
        ">" => (edge.next_up(), edge),
        "<=" => (edge, edge.next_up()),
        _ => (edge.next_down(), edge),
    };
    let fits = |x: f64| holds(value((to, cast((Float64, x.to_bits()), to, options))));
    let right = fits(inside) && fits(-inside) && !fits(outside) && !fits(-outside);
    right_if(right, text, format!("another bound than {edge:e}"))
}

/// The dtype of a short name; those of the 8-bit floats leave out `float8_`.
fn dtype(name: &str) -> DType {
    let long = || DType::from_name(&format!("float8_{name}"));
    DType::from_name(name).or_else(long).unwrap_or_else(|| panic!("no dtype is called {name:?}"))
}

/// Dtype and options in the head of a column or the target of a row.
fn target(text: &str) -> (DType, CastOptions) {
    match text.split_once(", ").unwrap_or((text, "")) {
        (round, "") if round.starts_with('`') => (Float8E8M0FNU, with("e8m0_round", round)),
        (round, range) if round.starts_with('`') => {
            let options = set(with("e8m0_round", round), "e8m0_range", range.trim_matches('`'));
            (Float8E8M0FNU, options.unwrap_or_else(|| panic!("no range is {range}")))
        }
        (name, "") => (dtype(name), RUST),
        (name, "saturate off") => (dtype(name), OFF),
        (name, round) => (dtype(name), with("float_round", round)),
    }
}

fn with(name: &str, value: &str) -> CastOptions {
    set(RUST, name, value.trim_matches('`')).unwrap_or_else(|| panic!("no {name} is {value}"))
}

macro_rules! options {
    ($($field:ident $setter:ident $type:ident: $($value:ident)*;)*) => {
        const OPTIONS: &[(&str, &[&str])] = &[$((stringify!($field), &[$(stringify!($value)),*])),*];

        fn set(options: CastOptions, name: &str, value: &str) -> Option<CastOptions> {
            match (name, value) {
                $($((stringify!($field), stringify!($value)) => Some(options.$setter($type::$value)),)*)*
                _ => None,
            }
        }
    };
}
options! {
    saturate with_saturate Saturate: On Off FnOnly;
    e8m0_round with_e8m0_round E8M0Round: Up Down Nearest;
    e8m0_range with_e8m0_range E8M0Range: Exact Rounded Magnitude;
    float_to_int with_float_to_int IntOverflow: Saturate Wrap;
    int_to_int with_int_to_int IntOverflow: Wrap Saturate;
    int_round with_int_round IntRound: TowardZero NearestEven NearestAway Floor Ceil;
    float_round with_float_round FloatRound: NearestEven NearestAway TowardZero Up Down ToOdd;
    e5m2_nan with_e5m2_nan E5M2Nan: Code7E Code7F;
    nan_to_fp4 with_nan_to_fp4 NanToFp4: Zero Max;
    fnuz_inf with_fnuz_inf FnuzInf: Max Nan;
}

// ---- Tables ---------------------------------------------------------------------------------------------------------

fn prose(_: &Cell) -> Found {
    Err(PROSE.into())
}

/// 3: the options and their values, the default first.
fn option_values(cell: &Cell) -> Found {
    let (name, values) = OPTIONS[cell.row];
    match cell.column {
        0 => Ok(format!("`{name}`")),
        1 => Ok(format!("`{}`", values.join("`, `"))),
        _ => prose(cell),
    }
}

/// 3: the profiles, as their differences from the default.
fn profiles(cell: &Cell) -> Found {
    let (name, profile) = CastOptions::PROFILES[cell.row];
    assert_eq!(cell.at(0), format!("`{}`", name.to_uppercase()), "the profile of the row");
    let mut settings = cell.text().split('`').filter_map(|code| code.split_once(" = "));
    let options = settings.try_fold(RUST, |all, (name, value)| set(all, name, value));
    right_if(options == Some(profile), cell.text(), format!("{profile:?}"))
}

/// A text that says which number the code of the row is.
fn described(cell: &Cell, from: DType, text: &str) -> Found {
    let row = |row: usize| Ok::<_, String>(value((from, code(&cell.table.rows[row][0])?)));
    let step = |x: f64, up: bool| match (from, up) {
        (Float64, true) => x.next_up(),
        (Float64, false) => x.next_down(),
        (_, true) => (x as f32).next_up().into(),
        (_, false) => (x as f32).next_down().into(),
    };
    let number = text.split(", tie").next().unwrap_or_default().replace('`', "");
    let expected = match (number.strip_prefix("just above "), number.strip_prefix("just below ")) {
        (Some("it"), _) => step(row(cell.row - 1)?, true),
        (_, Some("the next")) => step(row(cell.row + 1)?, false),
        (Some(other), _) => step(real(other)?, true),
        (_, Some(other)) => step(real(other)?, false),
        _ if number == "its negative" => -row(cell.row - 1)?,
        _ => real(&number)?,
    };
    let is = row(cell.row)?;
    right_if(is.to_bits() == expected.to_bits(), cell.text(), format!("{is:e}"))
}

/// Codes, the numbers they are, and what they become in the dtypes of the head.
fn edges(cell: &Cell) -> Found {
    let from = dtype(cell.table.head[0].trim_end_matches(" code"));
    if cell.head() == "value" {
        return described(cell, from, cell.text());
    }
    let (to, options) = target(cell.head());
    Ok(on_off((from, code(cell.at(0))?), to, options))
}

/// 4.1: from where on the wide floats are infinite, and zero.
fn wide_bounds(cell: &Cell) -> Found {
    let (to, edge) = (dtype(cell.at(0)), cell.at(1).replace("|x| >= ", ""));
    match (cell.column, to) {
        (1, _) => bound(cell.text(), to, RUST, f64::is_infinite),
        (3, _) => bound(cell.text(), to, RUST, |y| y == 0.0),
        (_, Float32) => Ok(format!("f64 `{:016X}`", real(&edge)?.to_bits())),
        _ => Ok(format!("f32 `{:08X}`", floats(&edge)?[0].1)),
    }
}

/// 4.1: casts from `float64`, and the wrong ones through `float32`.
fn double_rounding(cell: &Cell) -> Found {
    let (from, (to, options)) = ((Float64, code(cell.at(0))?), target(cell.at(2)));
    match cell.column {
        1 => described(cell, Float64, cell.text()),
        2 => prose(cell),
        3 => Ok(coded(from, to, options)),
        _ if cell.at(3) == cell.at(4) => Err("another code than the right one".into()),
        _ => Ok(coded((Float32, cast(from, Float32, RUST)), to, options)),
    }
}

/// 4.2: the NaNs of both signs.
fn nan_rules(cell: &Cell) -> Found {
    let pair = |to, options| either(NANS.map(|nan| coded(nan, to, options)), ", ");
    let named = |name| match pair(dtype(name), RUST) {
        pair if pair.contains(", ") => Ok(pair + " by sign"),
        pair => Ok(pair),
    };
    let code7f = || pair(Float8E5M2, RUST.with_e5m2_nan(E5M2Nan::Code7F));
    let integers = || DType::ALL.iter().copied().filter(|to| iinfo(*to).is_some());
    match cell.at(0) {
        name if name.contains(" from ") || name == "4 and 6 bits" => prose(cell),
        "e5m2" => Ok(named("e5m2")? + "; with `e5m2_nan = Code7F`: " + &code7f()),
        "bf16" => {
            Ok(coded(NANS[0], dtype("bf16"), RUST) + " with the sign of the source; no payload is kept")
        }
        "integers" => one(integers().map(|to| Ok(format!("{} (5.3)", int(NANS[0], to, RUST))))),
        "bool" => Ok((cast(NANS[0], Bool, RUST) == 1).to_string()),
        names => one(names.split(", ").map(named)),
    }
}

/// 4.2: what becomes of certain NaNs.
fn nan_codes(cell: &Cell) -> Found {
    let (from, nan, to) = (dtype(cell.at(0)), code(cell.at(1))?, dtype(cell.head()));
    let copy = from == to && cast((from, nan), to, RUST) == nan;
    Ok(if copy { "copy".into() } else { on_off((from, nan), to, RUST) })
}

/// 5.1: decimal and code, modulo and saturated.
fn int_to_int(cell: &Cell) -> Found {
    let (from, to) = ((dtype(cell.at(0)), integer(cell.at(1))? as u64), dtype(cell.at(2)));
    let options = if cell.column == 3 { RUST } else { RUST.with_int_to_int(IntOverflow::Saturate) };
    Ok(format!("{} ({})", int(from, to, options), coded(from, to, options)))
}

/// 5.2: from every integer dtype that has the number.
fn int_to_float(cell: &Cell) -> Found {
    let (x, (to, options)) = (one(cell.at(0).split(" = ").map(integer))?, target(cell.head()));
    let has = |from: &&DType| iinfo(**from).is_some_and(|info| (info.min..=info.max).contains(&x));
    one(DType::ALL.iter().filter(has).map(|&from| Ok(coded((from, x as u64), to, options))))
}

/// 5.3: saturated and wrapped. Powers of two may be written as such.
fn float_to_int(cell: &Cell) -> Found {
    let (from, to) = (floats(cell.at(0))?[0], dtype(cell.head()));
    let all = [IntOverflow::Saturate, IntOverflow::Wrap]
        .map(|o| int(from, to, RUST.with_float_to_int(o)).to_string());
    let (right, numbers) = (either(all, " / "), cell.text().split(" / "));
    let numbers = numbers.map(|number| Ok(integer(number)?.to_string())).collect::<Found<Vec<_>>>()?;
    right_if(numbers.join(" / ") == right, cell.text(), right)
}

/// 5.3: the ways to round to `int8`.
fn int_round(cell: &Cell) -> Found {
    Ok(int(floats(cell.at(0))?[0], Int8, with("int_round", cell.head())).to_string())
}

/// 6.1 and, toward zero, the first of 6.3: rows for kinds of values, for bounds, and for codes.
fn eight_bits(cell: &Cell) -> Found {
    let on = if cell.table.section == "6.3" { TOWARD_ZERO } else { RUST };
    let off = on.with_saturate(Saturate::Off);
    let (label, saturate) = cell.at(0).split_once(": saturate ").unwrap_or((cell.at(0), ""));
    if cell.column == 0 {
        let text = label.split_once("` ").map(|(_, text)| text);
        return text.map_or(prose(cell), |text| described(cell, Float32, text));
    }
    let to = dtype(cell.head());
    let numbers = match label {
        "overflow iff" => return bound(cell.text(), to, off, |y| !y.is_finite()),
        "zero iff" | "rounds to zero iff" => return bound(cell.text(), to, on, |y| y == 0.0),
        "largest finite" => return Ok(value((to, cast(floats("infinity")?[0], to, on))).to_string()),
        label if label.starts_with('`') => return Ok(on_off((Float32, code(label)?), to, on)),
        "negative, rounds to zero" => "-2^-149, -2^-20",
        "overflow, infinity" => "2^17, largest f32, infinity",
        "negative overflow, -infinity" => "-2^17, -largest f32, -infinity",
        label => label,
    };
    one(floats(numbers)?.into_iter().map(|x| match saturate {
        "on" => Ok(coded(x, to, on)),
        "off" => Ok(coded(x, to, off)),
        _ => Ok(on_off(x, to, on)),
    }))
}

/// 6.5: samples of the kinds of values, in every rounding.
fn e8m0_range(cell: &Cell) -> Found {
    let numbers = match cell.at(0) {
        "NaN" => "NaN, -NaN",
        "+0, -0" => "+0, -0",
        "`0 < x < 2^-127`" => "2^-149, 2^-127 - 2^-149",
        "`2^127 < x < 2^128`" if cell.column == 1 => "2^127 + 2^104, largest f32",
        "`x >= 2^128`, +infinity" => "infinity",
        "negative, -infinity" if cell.column < 3 => "-2^-149, -1, -largest f32, -infinity",
        _ => return prose(cell),
    };
    let rounds = ["Up", "Down", "Nearest"].map(|round| with("e8m0_round", round));
    let range = |options| set(options, "e8m0_range", cell.head().trim_matches('`'));
    let options: Vec<_> = rounds.into_iter().filter_map(range).collect();
    let all = floats(numbers)?;
    one(all.iter().flat_map(|x| options.iter().map(|options| Ok(on_off(*x, Float8E8M0FNU, *options)))))
}

/// 6.6: the ends of the ranges, and NaN.
fn tiny_bounds(cell: &Cell) -> Found {
    let to = dtype(cell.at(0));
    let (ends, coded) = (floats("infinity, -infinity")?, |from| coded(from, to, RUST));
    let largest = value((to, cast(ends[0], to, RUST)));
    match cell.column {
        1 => Ok(format!("{largest} ({}, {})", coded(ends[0]), coded(ends[1]))),
        2 => bound(cell.text(), to, RUST, |y| y.abs() == largest),
        3 => bound(cell.text(), to, RUST, |y| y == 0.0),
        4 => Ok(format!("{} / {}", coded(NANS[0]), coded(NANS[1]))),
        5 => one(NANS.map(|nan| Ok(self::coded(nan, to, RUST.with_nan_to_fp4(NanToFp4::Max))))),
        _ => bound(cell.text(), to, TOWARD_ZERO, |y| y == 0.0),
    }
}

/// 6.6: to the nearest, and toward zero if that differs.
fn tiny_values(cell: &Cell) -> Found {
    let to = dtype(cell.head());
    one(floats(cell.at(0))?.into_iter().map(|x| {
        match [RUST, TOWARD_ZERO].map(|options| coded(x, to, options)) {
            [near, zero] if near == zero => Ok(near),
            [near, zero] => Ok(format!("{near} ({zero})")),
        }
    }))
}

/// 8.1: the text of the row in every dtype.
fn parsed(cell: &Cell) -> Found {
    let (text, to) = (cell.at(0).trim_matches('`'), dtype(cell.head().trim_matches('`')));
    let parsed = |saturate| {
        let plan = ParsePlan::new(to, &TextOptions::DEFAULT, &RUST.with_saturate(saturate)).expect("a tier");
        let mut bytes = [0; 16];
        match plan.run([text], &mut bytes) {
            Ok(_) if to == Int8 => (bytes[0] as i8).to_string(),
            Ok(_) if to == Bool => bytes[0].to_string(),
            Ok(_) => {
                let (code, width) = (support::load(to.into(), &bytes, 1)[0], to.bits().div_ceil(4) as usize);
                format!("`{code:0width$X}`")
            }
            Err(_) => "error".into(),
        }
    };
    Ok(either([Saturate::On, Saturate::Off].map(parsed), "/").replace("`/`", "/"))
}

/// 8.2: the text of the element in the row.
fn formatted(cell: &Cell) -> Found {
    let (from, code) = (dtype(cell.at(0).trim_matches('`')), code(cell.at(1))?);
    let plan = FormatPlan::new(from, &TextOptions::DEFAULT).expect("a tier");
    let texts = plan.run(&support::store(from.into(), &[code.into()]), 1).expect("one element");
    Ok(format!("`{}`", texts.get(0).expect("ASCII")))
}

/// 11: what a checked cast says of the element in the row, in the level of the column.
fn verdict(cell: &Cell) -> Found {
    let (from, code) = (dtype(cell.at(0).trim_matches('`')), code(cell.at(1))?);
    let to = dtype(cell.at(2).trim_matches('`'));
    let level = if cell.column == 3 { Level::Range } else { Level::Exact };
    let mut out = [0; 16];
    Ok(
        match try_cast_bytes_with(
            &support::store(from.into(), &[code.into()]),
            from,
            &mut out,
            to,
            1,
            level,
            &RUST,
        ) {
            Ok(()) => "fits".into(),
            Err(CastError::Rejected(found)) => format!("{:?}", found.reason).to_lowercase(),
            Err(error) => error.to_string(),
        },
    )
}

// ---- Tests ----------------------------------------------------------------------------------------------------------

/// Calls `see` with the checked cells of a section, what checks them, and what they should say.
fn walk(section: &str, checks: Checks, mut see: impl FnMut(&Cell, Check, Found)) {
    for (table, (first, check)) in tables().iter().filter(|table| table.section == section).zip(checks) {
        for row in 0..table.rows.len() {
            for column in *first..table.head.len() {
                let cell = Cell { table, row, column };
                let right = check(&cell);
                if right != Err(PROSE.into()) {
                    see(&cell, *check, right);
                }
            }
        }
    }
}

#[test]
fn every_table_has_its_place() {
    let mut count = BTreeMap::new();
    tables().iter().for_each(|table| *count.entry(table.section).or_insert(0) += 1);
    let here = SECTIONS.iter().map(|(section, _, checks)| (*section, checks.len()));
    assert_eq!(count, here.chain(ELSEWHERE.iter().copied()).collect());
    // Section 3 has all options, their defaults first, and all profiles.
    let defaults: Vec<_> = OPTIONS.iter().map(|(name, values)| format!("{name}: {}", values[0])).collect();
    assert_eq!(format!("{RUST:?}"), format!("CastOptions {{ {} }}", defaults.join(", ")));
    assert_eq!([10, 6], [OPTIONS.len(), CastOptions::PROFILES.len()], "the rows of section 3");
}

#[test]
fn every_cell_is_what_casts_return() {
    let mut wrong = String::new();
    for (section, cells, checks) in SECTIONS {
        let mut checked = 0;
        walk(section, checks, |cell, _, right| {
            checked += 1;
            if right.as_deref() != Ok(cell.text()) {
                let (line, right) = (cell.table.line + cell.row, right.unwrap_or_else(|why| why));
                wrong += &format!("\nsemantics.md:{line}: {:?} should be {right}", cell.text());
            }
        });
        assert_eq!(checked, *cells, "section {section}: this many cells are checked");
    }
    assert!(wrong.is_empty(), "{wrong}");
}

#[test]
fn every_wrong_digit_is_found() {
    for (section, _, checks) in SECTIONS {
        walk(section, checks, |cell, check, _| {
            // What follows these words only explains.
            let end = [", tie", "nothing. "].into_iter().find_map(|words| cell.text().find(words));
            for (at, old) in cell.text()[..end.unwrap_or(cell.text().len())].char_indices() {
                let new = match old {
                    '0'..='8' | 'A'..='E' => char::from(old as u8 + 1),
                    '9' | 'F' => '0',
                    _ => continue,
                };
                let mut table = cell.table.clone();
                table.rows[cell.row][cell.column].replace_range(at..=at, &new.to_string());
                let changed = Cell { table: &table, ..*cell };
                let found = check(&changed).as_deref() != Ok(changed.text());
                assert!(found, "{section}: {:?} passes for {:?}", changed.text(), cell.text());
            }
        });
    }
}
