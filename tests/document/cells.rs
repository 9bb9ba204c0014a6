//! The cells of the document, the numbers and codes in them, and the casts that they are compared with.

use crate::support;
use lanecast::DType::{Float8E8M0FNU, Float32, Float64};
use lanecast::*;
use lanecast::{Bytes, BytesMut};
use std::collections::BTreeSet;
use std::ops::{Add, Mul, Neg};

pub const RUST: CastOptions = CastOptions::RUST;
pub const OFF: CastOptions = RUST.with_saturate(Saturate::Off);
pub const TOWARD_ZERO: CastOptions = RUST.with_float_round(FloatRound::TowardZero);
/// NaN and -NaN.
pub const NANS: [(DType, u64); 2] = [(Float32, 0x7FC0_0000), (Float32, 0xFFC0_0000)];

/// Something read or cast, or what is wrong with the document.
pub type Found<T = String> = Result<T, String>;
/// The error for cells that are not checked.
pub const PROSE: &str = "prose";

// ---- The document ---------------------------------------------------------------------------------------------------

#[derive(Clone)]
pub struct Table {
    pub section: &'static str,
    /// The line of the first row.
    pub line: usize,
    pub head: Vec<String>,
    pub rows: Vec<Vec<String>>,
}

/// A cell in its table.
pub struct Cell<'a> {
    pub table: &'a Table,
    pub row: usize,
    pub column: usize,
}

impl<'a> Cell<'a> {
    pub fn text(&self) -> &'a str {
        self.at(self.column)
    }
    /// Another cell of the row.
    pub fn at(&self, column: usize) -> &'a str {
        &self.table.rows[self.row][column]
    }
    pub fn head(&self) -> &'a str {
        &self.table.head[self.column]
    }
}

pub fn tables() -> Vec<Table> {
    let (mut tables, mut section, mut inside): (Vec<Table>, _, _) = (Vec::new(), "", false);
    for (line, text) in (1..).zip(include_str!("../../docs/semantics.md").lines()) {
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
pub fn sum<T>(text: &str, number: fn(&str) -> Found<T>) -> Found<T>
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
pub fn power(text: &str) -> Option<i32> {
    text.strip_prefix("2^")?.parse().ok()
}

pub fn integer(text: &str) -> Found<i128> {
    sum(text, |text| match power(text) {
        Some(exponent @ 0..=126) => Ok(1 << exponent),
        _ => text.parse().map_err(|e| format!("{text:?}: {e}")),
    })
}

/// A number as a `float64`. Decimals are exact, or the shortest that mean their `float32`.
pub fn real(text: &str) -> Found<f64> {
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
pub fn floats(cell: &str) -> Found<Vec<(DType, u64)>> {
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
pub fn code(cell: &str) -> Found<u64> {
    let digits = cell.split('`').find(|part| !part.is_empty()).unwrap_or_default();
    u64::from_str_radix(digits, 16).map_err(|e| format!("{digits:?}: {e}"))
}

/// The only thing there is, if all agree.
pub fn one<T: Ord>(all: impl IntoIterator<Item = Found<T>>) -> Found<T> {
    let mut all = all.into_iter().collect::<Found<BTreeSet<_>>>()?;
    let first = all.pop_first().ok_or("something")?;
    if all.is_empty() { Ok(first) } else { Err("the same in all cases, and is not".into()) }
}

/// The text if it is right, or else what is.
pub fn right_if(right: bool, text: &str, otherwise: impl ToString) -> Found {
    if right { Ok(text.into()) } else { Err(otherwise.to_string()) }
}

/// Both texts, or one if they are the same.
pub fn either([a, b]: [String; 2], between: &str) -> String {
    if a == b { a } else { a + between + &b }
}

// ---- Casts ----------------------------------------------------------------------------------------------------------

/// The element that every available tier makes of this one, wherever in a buffer it stands.
pub fn cast((from, code): (DType, u64), to: DType, options: CastOptions) -> u64 {
    const N: usize = 35;
    let (src, mut results) = (support::store(from.into(), &[code.into(); N]), BTreeSet::new());
    for &tier in support::tiers::tiers() {
        let plan = CastPlan::with_tier(from, to, &options, tier).expect("the tier is available");
        let mut dst = vec![0; N * to.size()];
        plan.run(Bytes::new(&src, N), BytesMut::new(&mut dst, N)).expect("the buffers fit");
        results.extend(support::load(to.into(), &dst, N));
    }
    assert_eq!(results.len(), 1, "{from} {code:X} -> {to}: the tiers and places agree");
    results.into_iter().sum::<u128>() as u64
}

pub fn value(from: (DType, u64)) -> f64 {
    f64::from_bits(cast(from, Float64, RUST))
}

/// The code that results.
pub fn coded(from: (DType, u64), to: DType, options: CastOptions) -> String {
    format!("`{:0width$X}`", cast(from, to, options), width = to.bits().div_ceil(4) as usize)
}

/// The codes with saturate on and off.
pub fn on_off(from: (DType, u64), to: DType, options: CastOptions) -> String {
    let all = [Saturate::On, Saturate::Off].map(|saturate| coded(from, to, options.with_saturate(saturate)));
    either(all, "/").replace("`/`", "/")
}

/// The integer that results.
pub fn int(from: (DType, u64), to: DType, options: CastOptions) -> i128 {
    let code = i128::from(cast(from, to, options));
    let beyond = to.iinfo().is_some_and(|info| code > info.max);
    code - if beyond { 1 << to.bits() } else { 0 }
}

/// A condition on `|x|`, if `holds` says the same of the results just inside and just outside the bound.
pub fn bound(text: &str, to: DType, options: CastOptions, holds: impl Fn(f64) -> bool) -> Found {
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
pub fn dtype(name: &str) -> DType {
    let long = || format!("float8_{name}").parse::<DType>().ok();
    name.parse::<DType>().ok().or_else(long).unwrap_or_else(|| panic!("no dtype is called {name:?}"))
}

/// Dtype and options in the head of a column or the target of a row.
pub fn target(text: &str) -> (DType, CastOptions) {
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

pub fn with(name: &str, value: &str) -> CastOptions {
    set(RUST, name, value.trim_matches('`')).unwrap_or_else(|| panic!("no {name} is {value}"))
}

macro_rules! options {
    ($($field:ident $setter:ident $type:ident: $($value:ident)*;)*) => {
        pub const OPTIONS: &[(&str, &[&str])] = &[$((stringify!($field), &[$(stringify!($value)),*])),*];

        pub fn set(options: CastOptions, name: &str, value: &str) -> Option<CastOptions> {
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
    nan_to_finite with_nan_to_finite NanToFinite: Zero Max;
    fnuz_inf with_fnuz_inf FnuzInf: Max Nan;
}
