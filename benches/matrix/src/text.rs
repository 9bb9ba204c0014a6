//! Numbers and text: elements per second of parsing and formatting, beside the standard library.
//!
//! Every answer is checked first: a text has to be parsed to the bits of the standard library, and a formatted text has to
//! mean its element to the standard library, in as few digits as the standard library needs. `float16` has no such judge: its
//! values are exact `float32`s, and the texts are read back as that and compared in the sixteen bits by the cast of the library.
//!
//! All contenders of a row take turns ([`measure`](crate::measure)), on one thread, with texts that lie one behind another as in
//! Arrow.

use crate::measure::{Contender, Effort, measure};
use lanecast::{
    Bytes, BytesMut, CastOptions, DType, cast_to_vec,
    half::f16,
    text::{FormatPlan, ParsePlan, Strings, TextOptions},
};
use std::{cell::RefCell, fmt::Write, hint::black_box, time::Duration};

/// Elements of a row.
const N: usize = 100_000;

/// What is measured: the dtype, what the values are like, and the values as `float64`.
type Row = (DType, &'static str, fn(&mut dyn FnMut() -> f64) -> f64);

const ROWS: &[Row] = &[
    (DType::Float64, "normal, 17 digits", |uniform| normal(uniform)),
    (DType::Float64, "eighths, as 0.125", |uniform| ((uniform() - 0.5) * 1e4).round() / 8.0),
    (DType::Float64, "4 decimals, as 3.1416", |uniform| (uniform() * 1e5).round() / 1e4),
    (DType::Float64, "whole, as 72.0", |uniform| (uniform() * 1e6).floor()),
    (DType::Float64, "any exponent", |uniform| {
        normal(uniform) * 10_f64.powi((uniform() * 600.0) as i32 - 300)
    }),
    (DType::Float32, "normal, 9 digits", |uniform| normal(uniform)),
    (DType::Float32, "4 decimals, as 3.1416", |uniform| (uniform() * 1e5).round() / 1e4),
    (DType::Float16, "normal", |uniform| normal(uniform)),
    (DType::Float16, "4 decimals, as 3.1416", |uniform| (uniform() * 1e5).round() / 1e4),
    (DType::BFloat16, "normal", |uniform| normal(uniform)),
    (DType::Float8E4M3FN, "normal", |uniform| normal(uniform)),
    (DType::Int64, "up to 19 digits", |uniform| normal(uniform) * 10_f64.powi((uniform() * 18.0) as i32)),
    (DType::Int32, "up to 5 digits", |uniform| (normal(uniform) * 2e4).clamp(-99_999.0, 99_999.0)),
    (DType::Bool, "True, False", |uniform| (uniform() < 0.5).into()),
];

/// A normal deviate (Box and Muller).
fn normal(uniform: &mut dyn FnMut() -> f64) -> f64 {
    let radius = (-2.0 * (1.0 - uniform()).ln()).sqrt();
    radius * (std::f64::consts::TAU * uniform()).cos()
}

/// A table of millions of elements per second. The last columns are the standard library's.
pub fn text(only: Option<DType>, budget: Duration) -> Result<String, String> {
    let effort = Effort { budget, min_rounds: 5, max_rounds: 1000, turn: Duration::from_millis(1) };
    let mut table = format!(
        "{:16}{:24}{:>10}{:>10}{:>12}{:>12}   M elements/s, one thread, medians of rounds in turn\n",
        "dtype", "values", "parse", "format", "std parse", "std format"
    );
    for (dtype, what, value) in ROWS.iter().filter(|(dtype, ..)| only.is_none_or(|only| only == *dtype)) {
        let mut state = 1_u64;
        let mut uniform = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 11) as f64 / (1_u64 << 53) as f64
        };
        let values: Vec<f64> = (0..N).map(|_| value(&mut uniform)).collect();
        let mut bytes = vec![0; N * dtype.size()];
        let plan =
            lanecast::CastPlan::new(DType::Float64, *dtype, &CastOptions::RUST).map_err(|e| e.to_string())?;
        plan.run(&values, BytesMut::new(&mut bytes, N)).map_err(|e| e.to_string())?;
        let rates = row(*dtype, &bytes, &effort).map_err(|e| format!("{dtype}, {what}: {e}"))?;
        table += &format!("{:16}{what:24}", dtype.name());
        for (rate, width) in rates.into_iter().zip([10, 10, 12, 12]) {
            match rate {
                Some(rate) => table += &format!("{rate:width$.1}"),
                None => table += &format!("{:>width$}", "-"),
            }
        }
        table.push('\n');
    }
    Ok(table)
}

/// The rates of parsing, formatting, and both by the standard library.
fn row(dtype: DType, elements: &[u8], effort: &Effort) -> Result<[Option<f64>; 4], String> {
    let text = TextOptions::DEFAULT;
    let parse = ParsePlan::new(dtype, &text, &CastOptions::RUST).map_err(|e| e.to_string())?;
    let format = FormatPlan::new(dtype, &text).map_err(|e| e.to_string())?;
    let texts = format.run(Bytes::new(elements, N)).map_err(|e| e.to_string())?;
    let mut parsed = vec![0; elements.len()];
    parse.run(&texts, &mut parsed).map_err(|e| e.to_string())?;
    if parsed != elements {
        return Err("texts are not parsed to the elements they were made of".into());
    }
    let std = Std::of(dtype, elements);
    if let Some(std) = &std {
        std.check(&texts)?;
    }
    if dtype == DType::Float16 {
        check_halves(elements, &texts)?;
    }

    let out = RefCell::new((vec![0; elements.len()], Strings::new(), String::new()));
    let (texts, out) = (&texts, &out);
    let mut contenders: Vec<Contender<'_>> = vec![
        Box::new(move |calls| {
            for _ in 0..calls {
                let done = parse.run(black_box(texts), black_box(&mut out.borrow_mut().0));
                black_box(done.is_ok());
            }
        }),
        Box::new(move |calls| {
            for _ in 0..calls {
                let strings = &mut out.borrow_mut().1;
                strings.clear();
                black_box(format.run_into(Bytes::new(black_box(elements), N), strings).is_ok());
            }
        }),
    ];
    if let Some(std) = &std {
        contenders.push(Box::new(move |calls| (0..calls).for_each(|_| std.parse(black_box(texts)))));
        contenders.push(Box::new(move |calls| {
            (0..calls).for_each(|_| std.format(black_box(&mut out.borrow_mut().2)));
        }));
    }
    let rounds = measure(&mut contenders, effort);
    let rate = |k| (k < 2 || std.is_some()).then(|| N as f64 / rounds.time(k) * 1e3);
    Ok(std::array::from_fn(rate))
}

/// The elements that the standard library has as well.
enum Std {
    F64(Vec<f64>),
    F32(Vec<f32>),
    I64(Vec<i64>),
    I32(Vec<i32>),
}

/// The same expression for each of them.
macro_rules! each {
    ($std:expr, $values:ident => $body:expr) => {
        match $std {
            Std::F64($values) => $body,
            Std::F32($values) => $body,
            Std::I64($values) => $body,
            Std::I32($values) => $body,
        }
    };
}

impl Std {
    fn of(dtype: DType, bytes: &[u8]) -> Option<Std> {
        Some(match dtype {
            DType::Float64 => Std::F64(bytes.as_chunks().0.iter().map(|x| f64::from_ne_bytes(*x)).collect()),
            DType::Float32 => Std::F32(bytes.as_chunks().0.iter().map(|x| f32::from_ne_bytes(*x)).collect()),
            DType::Int64 => Std::I64(bytes.as_chunks().0.iter().map(|x| i64::from_ne_bytes(*x)).collect()),
            DType::Int32 => Std::I32(bytes.as_chunks().0.iter().map(|x| i32::from_ne_bytes(*x)).collect()),
            _ => return None,
        })
    }

    /// The texts mean the values, in as few digits as the standard library's.
    fn check(&self, texts: &Strings) -> Result<(), String> {
        fn digits(text: &str) -> usize {
            let mantissa = text.split(['e', 'E']).next().unwrap_or_default();
            let digits = mantissa.chars().filter(char::is_ascii_digit);
            digits.collect::<String>().trim_matches('0').len()
        }
        each!(self, values => {
            for (value, text) in values.iter().zip(texts) {
                let own = value.to_string();
                if text.parse().as_ref() != Ok(value) || digits(text) != digits(&own) {
                    return Err(format!("{text} is written for {own}"));
                }
            }
        });
        Ok(())
    }

    fn parse(&self, texts: &Strings) {
        fn all<T: std::str::FromStr + Copy>(_: &[T], texts: &Strings) {
            for text in texts {
                black_box(text.parse::<T>().ok());
            }
        }
        each!(self, values => all(values, texts));
    }

    fn format(&self, out: &mut String) {
        out.clear();
        each!(self, values => for value in values {
            let _ = write!(out, "{value}");
        });
    }
}

/// The texts of `float16`, read as `float32`, are nearest to the elements.
fn check_halves(elements: &[u8], texts: &Strings) -> Result<(), String> {
    let wide: Vec<f32> = texts.iter().map(|t| t.parse().unwrap_or(f32::NAN)).collect();
    let halves: Vec<f16> = cast_to_vec(&wide);
    let codes: Vec<u8> = halves.iter().flat_map(|half| half.to_bits().to_ne_bytes()).collect();
    if codes == elements { Ok(()) } else { Err("the texts are not nearest to the elements".into()) }
}
