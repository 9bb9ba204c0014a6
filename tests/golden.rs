//! Every golden table, to the bit: against the oracle, and against the plans of every tier.
//!
//! The tables (`tests/data`) were made by another program in another language, with big integers and fractions,
//! straight from the definitions of the formats. That they and the oracle agree is what the oracle's word is worth.

use crate::oracle::value::Value;
use crate::support::data::{code, ditto_rows, dtype, rows, runs, target};
use crate::{oracle, support};
use lanecast::{CastOptions, DType, FloatRound, IntOverflow, Kind, Saturate};
use std::{
    collections::BTreeSet,
    io::Write,
    process::{Command, Stdio},
};

/// Casts of one pair with the same options.
struct Table {
    from: DType,
    to: DType,
    options: CastOptions,
    source: Vec<u128>,
    expected: Vec<u128>,
}

impl Table {
    fn new(from: DType, (to, options): (DType, CastOptions)) -> Table {
        Table { from, to, options, source: Vec::new(), expected: Vec::new() }
    }

    fn push(&mut self, source: u128, expected: u128) {
        self.source.push(source);
        self.expected.push(expected);
    }

    /// As [`push`](Self::push) from the text of a cell. `nan` leaves the bits to `nan_rules.tsv`: any NaN.
    fn push_cell(&mut self, source: u128, cell: &str) {
        let expected = if cell == "nan" {
            let got = oracle::cast(self.from, self.to, &self.options, source);
            assert!(matches!(oracle::value(self.to, got), Value::Nan(_)), "{source:#x} is a NaN");
            got
        } else {
            code(self.to, cell)
        };
        self.push(source, expected);
    }

    /// The oracle and every plan give what the table says.
    fn check(&self) {
        let Table { from, to, options, source, expected } = self;
        assert!(!source.is_empty(), "{from} -> {to}: the table is empty");
        for (bits, expected) in source.iter().zip(expected) {
            let got = oracle::cast(*from, *to, options, *bits);
            assert_eq!(
                got, *expected,
                "the oracle casts {from} {bits:#x} to {to} {got:#x}, not {expected:#x}"
            );
        }
        support::check::all_tiers(*from, *to, options, source, expected);
        if let Some(path) = PROGRAM {
            self.check_program(path);
        }
    }

    /// The program, on raw elements, gives what the table says.
    fn check_program(&self, path: &str) {
        let elements = |dtype: DType, codes: &[u128]| -> Vec<u8> {
            codes.iter().flat_map(|code| code.to_le_bytes().into_iter().take(dtype.size())).collect()
        };
        let word = |saturate: bool| if saturate { "saturate" } else { "wrap" };
        let options = &self.options;
        let round = format!("{:?}", options.e8m0_round).to_lowercase();
        // An emulator and a program of another architecture, perhaps.
        let program = std::env::var("LANECAST_TEST_PROGRAM").unwrap_or_else(|_| path.into());
        let words: Vec<&str> = program.split_whitespace().collect();
        let mut command = Command::new(words[0]);
        command.args(&words[1..]).args(["raw", "--from", self.from.name(), "--from-storage", "byte"]);
        command.args(["--to", self.to.name(), "--to-storage", "byte", "--e8m0-round", &round]);
        command.arg(if options.saturate == Saturate::On { "--saturate" } else { "--no-saturate" });
        command.args(["--float-to-int", word(options.float_to_int == IntOverflow::Saturate)]);
        command.args(["--float-round", float_round(options.float_round)]);
        let mut child =
            command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("the program starts");
        let (mut stdin, input) = (child.stdin.take().expect("a pipe"), elements(self.from, &self.source));
        let writer = std::thread::spawn(move || stdin.write_all(&input));
        let output = child.wait_with_output().expect("the program ends");
        writer.join().expect("the writer ends").expect("the program reads all");
        assert!(output.status.success(), "{command:?}");
        assert!(output.stdout == elements(self.to, &self.expected), "{command:?} differs from the table");
    }
}

/// The direction as the program calls it.
fn float_round(round: FloatRound) -> &'static str {
    match round {
        FloatRound::NearestEven => "nearest-even",
        FloatRound::NearestAway => "nearest-away",
        FloatRound::TowardZero => "toward-zero",
        FloatRound::Up => "up",
        FloatRound::Down => "down",
        FloatRound::ToOdd => "to-odd",
        other => unreachable!("{other:?} is new, and has no rule here"),
    }
}

/// The program, where these tests are built as tests of it (`cli/Cargo.toml`).
const PROGRAM: Option<&str> = option_env!("CARGO_BIN_EXE_lanecast");

/// Codes to one table per column from `first` on.
fn columns(from: DType, head: &[&str], first: usize) -> Vec<Table> {
    let names = head[first..].iter().take_while(|name| !name.starts_with("wrong_if"));
    names.map(|name| Table::new(from, target(name))).collect()
}

#[test]
fn decode() {
    let rows = rows(data!("decode.tsv"));
    for from in rows[1..].iter().map(|row| row[0]).collect::<BTreeSet<_>>() {
        let source = dtype(from);
        let mut tables = columns(source, &rows[0], 3);
        let mine = rows.iter().filter(|row| row[0] == from);
        assert_eq!(mine.clone().count(), 1 << oracle::width(source), "{from}: every code");
        for row in mine {
            let bits = code(source, row[1]);
            assert_value(source, bits, row[2]);
            for (table, digits) in tables.iter_mut().zip(&row[3..]) {
                table.push_cell(bits, digits);
            }
        }
        tables.iter().for_each(Table::check);
    }
}

/// The oracle reads the code as the value `text`: `-3*2^-4`, `0`, `-inf`, `nan`.
fn assert_value(dtype: DType, bits: u128, text: &str) {
    let (negative, magnitude) = text.strip_prefix('-').map_or((false, text), |rest| (true, rest));
    match (magnitude, oracle::value(dtype, bits)) {
        ("nan", Value::Nan(nan)) => assert_eq!(nan.negative, negative),
        ("inf", got) => assert_eq!(got, Value::Infinite { negative }),
        (number, got) => {
            let (sig, exp) = number.split_once("*2^").unwrap_or((number, "0"));
            let expected =
                Value::finite(negative, sig.parse().expect("digits"), exp.parse().expect("digits"));
            assert_eq!(got, expected, "{dtype} {bits:#x}");
        }
    }
}

#[test]
fn tables() {
    for row in rows(data!("tables.tsv")) {
        let mut table = Table::new(dtype(row[0]), target(row[1]));
        table.expected = runs(row[2]);
        table.source = (0..table.expected.len() as u128).collect();
        assert_eq!(table.source.len(), 1 << oracle::width(table.from), "every code");
        table.check();
    }
}

#[test]
fn tricky_f32() {
    tricky_float(DType::Float32, data!("tricky_f32.tsv"));
}

#[test]
fn tricky_f64() {
    tricky_float(DType::Float64, data!("tricky_f64.tsv"));
}

fn tricky_float(from: DType, text: &str) {
    let rows = ditto_rows(text);
    let mut tables = columns(from, &rows[0], 1);
    for row in &rows[1..] {
        let bits = code(from, row[0]);
        for (table, digits) in tables.iter_mut().zip(&row[1..]) {
            table.push_cell(bits, digits);
        }
        assert_traps(from, DType::Float32, bits, &tables, &rows[0], row);
    }
    tables.iter().for_each(Table::check);
}

/// Each value as an element of every integer dtype that holds it.
#[test]
fn tricky_int() {
    let rows = ditto_rows(data!("tricky_int.tsv"));
    let ints = DType::ALL.iter().filter(|d| matches!(d.kind(), Kind::SignedInt | Kind::UnsignedInt));
    for &from in ints {
        let mut tables = columns(from, &rows[0], 1);
        for row in &rows[1..] {
            let Some(bits) = int_code(from, row[0].parse().expect("an integer")) else { continue };
            for (table, digits) in tables.iter_mut().zip(&row[1..]) {
                table.push_cell(bits, digits);
            }
            for via in [DType::Float32, DType::Float64] {
                assert_traps(from, via, bits, &tables, &rows[0], row);
            }
        }
        tables.iter().for_each(Table::check);
    }
}

/// The element of an integer dtype with this value.
fn int_code(dtype: DType, value: i128) -> Option<u128> {
    let width = oracle::width(dtype);
    let range = match dtype.kind() {
        Kind::SignedInt => -(1_i128 << (width - 1))..1 << (width - 1),
        _ => 0..1 << width,
    };
    range.contains(&value).then(|| value as u128 & oracle::mask(dtype))
}

/// The targets that a detour through `via` gets wrong are the ones that the row names: the traps are still traps.
fn assert_traps(from: DType, via: DType, bits: u128, tables: &[Table], head: &[&str], row: &[&str]) {
    let short = if via == DType::Float32 { "wrong_if_via_f32" } else { "wrong_if_via_f64" };
    let Some(column) = head.iter().position(|name| *name == short) else { return };
    let named: BTreeSet<DType> = row[column].split(',').filter(|name| !name.is_empty()).map(dtype).collect();
    // The names do not cover float8_e8m0fnu; a column of a wide target needs no detour through itself.
    let tested =
        tables.iter().filter(|t| !matches!(t.to, DType::Float8E8M0FNU | DType::Float64) && t.to != via);
    let wrong = tested.filter(|table| {
        let detour = oracle::cast(from, via, &table.options, bits);
        oracle::cast(via, table.to, &table.options, detour)
            != oracle::cast(from, table.to, &table.options, bits)
    });
    assert_eq!(wrong.map(|table| table.to).collect::<BTreeSet<_>>(), named, "{from} {bits:#x} through {via}");
}

/// The columns that the file leaves out are the low bits (wrap) and the nearest end of the range (sat) of those it
/// has.
#[test]
fn float_to_int() {
    let rows = rows(data!("float_to_int.tsv"));
    let widths = [2, 4, 8, 16, 32, 64];
    let names = widths.iter().flat_map(|w| ["i", "u"].map(|s| format!("{s}{w}")));
    let columns: Vec<String> =
        names.flat_map(|name| ["wrap", "sat"].map(|mode| format!("{name}_{mode}"))).collect();
    for from in [DType::Float16, DType::BFloat16, DType::Float32, DType::Float64] {
        let mut tables: Vec<Table> = columns.iter().map(|column| Table::new(from, target(column))).collect();
        for row in rows[1..].iter().filter(|row| dtype(row[0]) == from) {
            let hex = |digits: &str| u64::from_str_radix(digits, 16).expect("a hexadecimal number");
            let or_wrap = |k: usize| hex(row.get(k).filter(|cell| !cell.is_empty()).unwrap_or(&row[2]));
            let (wrap, signed, unsigned) = (hex(row[2]), or_wrap(3) as i64, or_wrap(4));
            for (table, column) in tables.iter_mut().zip(&columns) {
                let width = oracle::width(table.to);
                let answer = match (column.ends_with("wrap"), table.to.kind()) {
                    (true, _) => wrap,
                    (_, Kind::SignedInt) => {
                        signed.clamp(i64::MIN >> (64 - width), i64::MAX >> (64 - width)) as u64
                    }
                    _ => unsigned.min(u64::MAX >> (64 - width)),
                };
                table.push(code(from, row[1]), u128::from(answer) & oracle::mask(table.to));
            }
        }
        tables.iter().for_each(Table::check);
    }
}

/// Every direction of rounding, from `float64`, and from `float32` where that has the value.
#[test]
fn directions() {
    let rows = rows(data!("float_round.tsv"));
    let directions = [
        FloatRound::NearestEven,
        FloatRound::NearestAway,
        FloatRound::TowardZero,
        FloatRound::Up,
        FloatRound::Down,
        FloatRound::ToOdd,
    ];
    for name in rows[1..].iter().map(|row| row[0]).collect::<BTreeSet<_>>() {
        let to = dtype(name);
        let mine: Vec<_> = rows.iter().filter(|row| row[0] == name).collect();
        for (k, round) in directions.into_iter().enumerate() {
            for (half, saturate) in [Saturate::On, Saturate::Off].into_iter().enumerate() {
                let options = CastOptions::RUST.with_float_round(round).with_saturate(saturate);
                let mut wide = Table::new(DType::Float64, (to, options));
                let mut narrow = Table::new(DType::Float32, (to, options));
                for row in &mine {
                    let (bits, answers) = (code(DType::Float64, row[1]), row[2 + k]);
                    let expected = code(to, answers.split('/').nth(half).unwrap_or(answers));
                    wide.push(bits, expected);
                    let value = f64::from_bits(bits as u64);
                    if to != DType::Float32 && f64::from(value as f32).to_bits() == value.to_bits() {
                        narrow.push((value as f32).to_bits().into(), expected);
                    }
                }
                wide.check();
                if to != DType::Float32 {
                    narrow.check();
                }
            }
        }
    }
}

#[test]
fn nan_rules() {
    let rows = rows(data!("nan_rules.tsv"));
    for from in rows[1..].iter().map(|row| row[0]).collect::<BTreeSet<_>>() {
        let mut tables = columns(dtype(from), &rows[0], 2);
        for row in rows.iter().filter(|row| row[0] == from) {
            let bits = code(dtype(from), row[1]);
            for (table, digits) in tables.iter_mut().zip(&row[2..]).filter(|(_, digits)| !digits.is_empty()) {
                table.push_cell(bits, digits);
            }
        }
        tables.iter().filter(|table| table.to != dtype(from)).for_each(Table::check);
    }
}
