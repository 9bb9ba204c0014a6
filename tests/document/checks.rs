//! What the cells of each table should say.

use super::cells::*;
use crate::support;
use lanecast::DType::{Bool, Float8E5M2, Float8E8M0FNU, Float32, Float64, Int8};
use lanecast::text::{FormatPlan, ParsePlan, TextOptions};
use lanecast::{
    Bytes, BytesMut, CastError, CastOptions, CastPlan, DType, E5M2Nan, IntOverflow, Level, NanToFinite,
    Saturate,
};

pub fn prose(_: &Cell) -> Found {
    Err(PROSE.into())
}

/// 3: the options and their values, the default first.
pub fn option_values(cell: &Cell) -> Found {
    let (name, values) = OPTIONS[cell.row];
    match cell.column {
        0 => Ok(format!("`{name}`")),
        1 => Ok(format!("`{}`", values.join("`, `"))),
        _ => prose(cell),
    }
}

/// 3: the profiles, as their differences from the default.
pub fn profiles(cell: &Cell) -> Found {
    let (name, profile) = CastOptions::PROFILES[cell.row];
    assert_eq!(cell.at(0), format!("`{}`", name.to_uppercase()), "the profile of the row");
    let mut settings = cell.text().split('`').filter_map(|code| code.split_once(" = "));
    let options = settings.try_fold(RUST, |all, (name, value)| set(all, name, value));
    right_if(options == Some(profile), cell.text(), format!("{profile:?}"))
}

/// A text that says which number the code of the row is.
pub fn described(cell: &Cell, from: DType, text: &str) -> Found {
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
pub fn edges(cell: &Cell) -> Found {
    let from = dtype(cell.table.head[0].trim_end_matches(" code"));
    if cell.head() == "value" {
        return described(cell, from, cell.text());
    }
    let (to, options) = target(cell.head());
    Ok(on_off((from, code(cell.at(0))?), to, options))
}

/// 4.1: from where on the wide floats are infinite, and zero.
pub fn wide_bounds(cell: &Cell) -> Found {
    let (to, edge) = (dtype(cell.at(0)), cell.at(1).replace("|x| >= ", ""));
    match (cell.column, to) {
        (1, _) => bound(cell.text(), to, RUST, f64::is_infinite),
        (3, _) => bound(cell.text(), to, RUST, |y| y == 0.0),
        (_, Float32) => Ok(format!("f64 `{:016X}`", real(&edge)?.to_bits())),
        _ => Ok(format!("f32 `{:08X}`", floats(&edge)?[0].1)),
    }
}

/// 4.1: casts from `float64`, and the wrong ones through `float32`.
pub fn double_rounding(cell: &Cell) -> Found {
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
pub fn nan_rules(cell: &Cell) -> Found {
    let pair = |to, options| either(NANS.map(|nan| coded(nan, to, options)), ", ");
    let named = |name| match pair(dtype(name), RUST) {
        pair if pair.contains(", ") => Ok(pair + " by sign"),
        pair => Ok(pair),
    };
    let code7f = || pair(Float8E5M2, RUST.with_e5m2_nan(E5M2Nan::Code7F));
    let integers = || DType::ALL.iter().copied().filter(|to| to.iinfo().is_some());
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
pub fn nan_codes(cell: &Cell) -> Found {
    let (from, nan, to) = (dtype(cell.at(0)), code(cell.at(1))?, dtype(cell.head()));
    let copy = from == to && cast((from, nan), to, RUST) == nan;
    Ok(if copy { "copy".into() } else { on_off((from, nan), to, RUST) })
}

/// 5.1: decimal and code, modulo and saturated.
pub fn int_to_int(cell: &Cell) -> Found {
    let (from, to) = ((dtype(cell.at(0)), integer(cell.at(1))? as u64), dtype(cell.at(2)));
    let options = if cell.column == 3 { RUST } else { RUST.with_int_to_int(IntOverflow::Saturate) };
    Ok(format!("{} ({})", int(from, to, options), coded(from, to, options)))
}

/// 5.2: from every integer dtype that has the number.
pub fn int_to_float(cell: &Cell) -> Found {
    let (x, (to, options)) = (one(cell.at(0).split(" = ").map(integer))?, target(cell.head()));
    let has = |from: &&DType| from.iinfo().is_some_and(|info| (info.min..=info.max).contains(&x));
    one(DType::ALL.iter().filter(has).map(|&from| Ok(coded((from, x as u64), to, options))))
}

/// 5.3: saturated and wrapped. Powers of two may be written as such.
pub fn float_to_int(cell: &Cell) -> Found {
    let (from, to) = (floats(cell.at(0))?[0], dtype(cell.head()));
    let all = [IntOverflow::Saturate, IntOverflow::Wrap]
        .map(|o| int(from, to, RUST.with_float_to_int(o)).to_string());
    let (right, numbers) = (either(all, " / "), cell.text().split(" / "));
    let numbers = numbers.map(|number| Ok(integer(number)?.to_string())).collect::<Found<Vec<_>>>()?;
    right_if(numbers.join(" / ") == right, cell.text(), right)
}

/// 5.3: the ways to round to `int8`.
pub fn int_round(cell: &Cell) -> Found {
    Ok(int(floats(cell.at(0))?[0], Int8, with("int_round", cell.head())).to_string())
}

/// 6.1 and, toward zero, the first of 6.3: rows for kinds of values, for bounds, and for codes.
pub fn eight_bits(cell: &Cell) -> Found {
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
pub fn e8m0_range(cell: &Cell) -> Found {
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
pub fn tiny_bounds(cell: &Cell) -> Found {
    let to = dtype(cell.at(0));
    let (ends, coded) = (floats("infinity, -infinity")?, |from| coded(from, to, RUST));
    let largest = value((to, cast(ends[0], to, RUST)));
    match cell.column {
        1 => Ok(format!("{largest} ({}, {})", coded(ends[0]), coded(ends[1]))),
        2 => bound(cell.text(), to, RUST, |y| y.abs() == largest),
        3 => bound(cell.text(), to, RUST, |y| y == 0.0),
        4 => Ok(format!("{} / {}", coded(NANS[0]), coded(NANS[1]))),
        5 => one(NANS.map(|nan| Ok(self::coded(nan, to, RUST.with_nan_to_finite(NanToFinite::Max))))),
        _ => bound(cell.text(), to, TOWARD_ZERO, |y| y == 0.0),
    }
}

/// 6.6: to the nearest, and toward zero if that differs.
pub fn tiny_values(cell: &Cell) -> Found {
    let to = dtype(cell.head());
    one(floats(cell.at(0))?.into_iter().map(|x| {
        match [RUST, TOWARD_ZERO].map(|options| coded(x, to, options)) {
            [near, zero] if near == zero => Ok(near),
            [near, zero] => Ok(format!("{near} ({zero})")),
        }
    }))
}

/// 8.1: the text of the row in every dtype.
pub fn parsed(cell: &Cell) -> Found {
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
pub fn formatted(cell: &Cell) -> Found {
    let (from, code) = (dtype(cell.at(0).trim_matches('`')), code(cell.at(1))?);
    let plan = FormatPlan::new(from, &TextOptions::DEFAULT).expect("a tier");
    let texts =
        plan.run(lanecast::Bytes::new(&support::store(from.into(), &[code.into()]), 1)).expect("one element");
    Ok(format!("`{}`", texts.get(0).expect("ASCII")))
}

/// 11: what a checked cast says of the element in the row, in the level of the column.
pub fn verdict(cell: &Cell) -> Found {
    let (from, code) = (dtype(cell.at(0).trim_matches('`')), code(cell.at(1))?);
    let to = dtype(cell.at(2).trim_matches('`'));
    let level = if cell.column == 3 { Level::Range } else { Level::Exact };
    let mut out = [0; 16];
    Ok(
        match CastPlan::new(from, to, &RUST)
            .map_err(|error| error.to_string())?
            .checked(level)
            .run(Bytes::new(&support::store(from.into(), &[code.into()]), 1), BytesMut::new(&mut out, 1))
        {
            Ok(()) => "fits".into(),
            Err(CastError::Rejected(found)) => format!("{:?}", found.reason).to_lowercase(),
            Err(error) => error.to_string(),
        },
    )
}
