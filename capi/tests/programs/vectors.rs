//! Golden vectors of every pair: `tests/vectors.tsv`, which the oracle of the library's tests makes from the definitions of the formats
//! (`LANECAST_BLESS=1` regenerates it), cast by a program in C.

use crate::build::{Linked, Program, has, root, tried};
use crate::oracle;
use lanecast::{CastOptions, DType};
use std::fmt::Write as _;
use std::{env, fs};

/// Values that are special for some dtype: ends of ranges, middles between results, and what is beside them.
const VALUES: [f64; 24] = [
    0.0,
    -0.0,
    1.0,
    -1.5,
    2.5,
    -0.3,
    7.75,
    127.5,
    -128.5,
    255.5,
    448.0,
    -480.5,
    61440.0,
    65520.0,
    -2147483648.5,
    4294967295.5,
    9.3e18,
    -1e30,
    3.4028235677973366e38,
    1e-3,
    -6e-8,
    1e-42,
    f64::NEG_INFINITY,
    f64::NAN,
];

/// Codes of a dtype: all of a small one; else the codes of the values and the ends of the codes.
fn codes(dtype: DType) -> Vec<u128> {
    let width = oracle::width(dtype);
    if width <= 4 {
        return (0..1 << width).collect();
    }
    if dtype == DType::Bool {
        return vec![0, 1];
    }
    let cast = |value: &f64| oracle::cast(DType::Float64, dtype, &CastOptions::RUST, value.to_bits().into());
    let mask = oracle::mask(dtype);
    let mut codes: Vec<u128> = Vec::new();
    for code in
        VALUES.iter().map(cast).chain([mask, mask >> 1, 1, (mask >> 1) + 1, 0x5A5A_5A5A_5A5A_5A5A & mask])
    {
        if !codes.contains(&code) {
            codes.push(code);
        }
    }
    if let DType::Complex64 | DType::Complex128 = dtype {
        // Imaginary parts that are not zero: the real part of another element.
        let half = width / 2;
        let parts: Vec<u128> = codes.iter().map(|code| code & (mask >> half)).collect();
        for (code, part) in codes.iter_mut().zip(parts.iter().rev()) {
            *code |= part << half;
        }
    }
    codes
}

fn render() -> String {
    let mut out = String::from(
        "# A dtype and codes of its elements in hexadecimal; behind each `>` a target and the codes of the results.\n",
    );
    let line = |out: &mut String, name: &str, codes: &mut dyn Iterator<Item = u128>| {
        let codes: Vec<String> = codes.map(|code| format!("{code:x}")).collect();
        writeln!(out, "{name}\t{}", codes.join(" ")).expect("memory");
    };
    for from in DType::ALL {
        let source = codes(*from);
        line(&mut out, from.name(), &mut source.iter().copied());
        for to in DType::ALL {
            let mut results = source.iter().map(|code| oracle::cast(*from, *to, &CastOptions::RUST, *code));
            line(&mut out, &format!(">{}", to.name()), &mut results);
        }
    }
    out
}

#[test]
fn vectors_are_those_of_the_oracle() {
    let (path, want) = (root().join("tests/vectors.tsv"), render());
    if env::var_os("LANECAST_BLESS").is_some() {
        fs::write(&path, &want).expect("written");
    }
    let have = fs::read_to_string(&path).unwrap_or_default();
    assert!(have == want, "tests/vectors.tsv differs; LANECAST_BLESS=1 regenerates it");
}

#[test]
fn every_pair() {
    if !tried() {
        return;
    }
    let file = root().join("tests/vectors.tsv");
    let file = file.to_str().expect("a path in UTF-8");
    let pairs = format!("-DPAIRS={}", DType::ALL.len() * DType::ALL.len());
    for compiler in ["gcc", "clang"].into_iter().filter(|compiler| has(compiler)) {
        let program = Program {
            source: "vectors.c",
            compiler,
            standard: "c99",
            linked: Linked::Opened,
            flags: &[&pairs, "-DOPENED"],
        };
        program.check(&[file]);
        let program = Program { linked: Linked::Static, flags: &[&pairs], ..program };
        program.check(&[file]);
    }
}
