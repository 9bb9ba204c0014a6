//! Tests the law of directions on the source text: which float operations the compiler sees in kernels that may run in a direction.

use std::{collections::BTreeMap, fs, path::Path, println, string::String, vec::Vec};

/// The intrinsics, other than the functions of `env`, that round in the direction of the environment: the folder in `src`, the name, the number of
/// occurrences in that folder, and the reason why they are allowed.
///
/// * *exact*: for these operands nothing is rounded;
/// * *beyond*: rounded values are out of the target's range, and stay out of it in every direction;
/// * *corrected*: the next operations map the results of all directions to the same value;
/// * *default*: these kernels run only in the default environment;
/// * *immediate*: the direction is a constant of the instruction.
const ALLOWED: &[(&str, &str, usize, &str)] = &[
    ("arch/x86/avx2", "_mm256_add_pd", 7, "exact; default: int64 to float64"),
    ("arch/x86/avx2", "_mm256_add_ps", 3, "exact or beyond; default: uint32 to float32"),
    ("arch/x86/avx2", "_mm256_cvtepi32_ps", 11, "exact or beyond"),
    (
        "arch/x86/avx2",
        "_mm256_cvtpd_ps",
        4,
        "exact or beyond; corrected: to odd; default: float64 to float32",
    ),
    ("arch/x86/avx2", "_mm256_div_ps", 1, "default: scaled casts"),
    ("arch/x86/avx2", "_mm256_fmadd_ps", 1, "exact; default: scaled casts"),
    ("arch/x86/avx2", "_mm256_fnmadd_pd", 2, "exact: remainders"),
    ("arch/x86/avx2", "_mm256_fnmadd_ps", 2, "exact: remainders"),
    ("arch/x86/avx2", "_mm256_mul_pd", 2, "exact: powers of two"),
    ("arch/x86/avx2", "_mm256_mul_ps", 3, "exact: powers of two; default: scaled casts"),
    ("arch/x86/avx2", "_mm256_round_pd", 7, "immediate"),
    ("arch/x86/avx2", "_mm256_round_ps", 2, "immediate"),
    ("arch/x86/avx2", "_mm256_sub_pd", 6, "exact"),
    ("arch/x86/avx2", "_mm256_sub_ps", 2, "exact"),
    ("arch/x86/avx512", "_mm256_fnmadd_ps", 1, "exact: remainders"),
    ("arch/x86/avx512", "_mm256_mul_ps", 1, "exact: powers of two"),
    ("arch/x86/avx512", "_mm512_cvtepi32_ps", 5, "exact or beyond"),
    ("arch/x86/avx512", "_mm512_cvtepi64_pd", 1, "exact: what a conversion dropped"),
    ("arch/x86/avx512", "_mm512_cvtepu32_ps", 1, "exact or beyond"),
    ("arch/x86/avx512", "_mm512_cvtpd_ps", 2, "default: float64 to float32"),
    ("arch/x86/avx512", "_mm512_div_ps", 1, "default: scaled casts"),
    ("arch/x86/avx512", "_mm512_fmadd_ps", 1, "exact; default: scaled casts"),
    ("arch/x86/avx512", "_mm512_fnmadd_pd", 1, "exact: remainders"),
    ("arch/x86/avx512", "_mm512_fnmadd_ps", 1, "exact: remainders"),
    ("arch/x86/avx512", "_mm512_mul_pd", 1, "exact: powers of two"),
    ("arch/x86/avx512", "_mm512_mul_ps", 2, "exact: powers of two; default: scaled casts"),
    ("arch/x86/avx512", "_mm512_sub_pd", 1, "exact"),
    ("arch/aarch64/neon", "vcvtq_f32_s32", 1, "exact: integers that float32 holds"),
    ("arch/aarch64/neon", "vcvtq_f64_s64", 1, "exact: integers of 32 bits"),
    ("arch/aarch64/neon", "vcvtq_f64_u64", 1, "exact: integers of 32 bits"),
    ("arch/aarch64/neon", "vdivq_f32", 1, "default: scaled casts"),
    ("arch/aarch64/neon", "vfmaq_f32", 1, "exact; default: scaled casts"),
    ("arch/aarch64/neon", "vfmsq_f32", 2, "exact: remainders"),
    ("arch/aarch64/neon", "vfmsq_f64", 1, "exact: remainders"),
    ("arch/aarch64/neon", "vmulq_f32", 2, "exact: powers of two; default: scaled casts"),
    ("arch/aarch64/neon", "vmulq_f64", 1, "exact: powers of two"),
];

/// Whether an intrinsic rounds in the direction of the environment.
fn obeys(name: &str) -> bool {
    if let Some(name) = name.strip_prefix("_mm") {
        let operation = name.trim_start_matches(|c: char| c.is_ascii_digit() || c == '_');
        let operation =
            ["maskz_", "mask_"].iter().find_map(|mask| operation.strip_prefix(mask)).unwrap_or(operation);
        let Some((verb, operands)) = operation.split_once('_') else { return false };
        return match verb {
            "add" | "sub" | "mul" | "div" | "sqrt" | "fmadd" | "fmsub" | "fnmadd" | "fnmsub" | "round" => {
                matches!(operands, "ps" | "pd" | "ph")
            }
            // Except conversions to wider floats and conversions that truncate (`cvtt`).
            "cvtps" | "cvtpd" => {
                operands == "ph" || operands.starts_with("ep") || (verb, operands) == ("cvtpd", "ps")
            }
            "cvtepi32" | "cvtepu32" => operands == "ps",
            "cvtepi64" | "cvtepu64" => matches!(operands, "ps" | "pd"),
            _ => false,
        };
    }
    let Some((verb, operands)) = name.split_once('_') else { return false };
    let float = |operand: &str| matches!(operand, "f16" | "f32" | "f64");
    match verb.strip_prefix('v').map(|verb| verb.trim_end_matches('q')) {
        Some("add" | "sub" | "mul" | "div" | "sqrt" | "fma" | "fms" | "mla" | "mls" | "rndi" | "rndx") => {
            operands.split('_').any(float)
        }
        Some("cvt") => {
            let operands: Vec<&str> = operands.trim_start_matches("high_").split('_').collect();
            matches!(operands[..], [to, from] if float(to) && to[1..] <= from[1..])
        }
        _ => false,
    }
}

/// Counts the intrinsics for which [`obeys`] holds in the files of a folder, except in `env`.
fn count(folder: &Path, counts: &mut BTreeMap<String, usize>) {
    for entry in fs::read_dir(folder).expect("a folder of the source") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            count(&path, counts);
        } else if path.extension().is_some_and(|e| e == "rs")
            && path.file_stem().is_none_or(|name| name != "env")
        {
            let text = fs::read_to_string(&path).expect("text");
            for line in text.lines().map(|line| line.split("//").next().unwrap_or_default()) {
                let words = line.split(|c: char| !(c.is_ascii_alphanumeric() || c == '_' || c == ':'));
                for name in words.map(|word| word.trim_end_matches(':')).filter(|word| obeys(word)) {
                    *counts.entry(name.into()).or_default() += 1;
                }
            }
        }
    }
}

#[test]
fn kernels_round_in_a_direction_by_assembly() {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut faults = 0;
    for folder in ["arch/x86/avx2", "arch/x86/avx512", "arch/aarch64/neon"] {
        let mut counts = BTreeMap::new();
        count(&source.join(folder), &mut counts);
        let mut allowed: BTreeMap<&str, usize> =
            ALLOWED.iter().filter(|row| row.0 == folder).map(|row| (row.1, row.2)).collect();
        for (name, &found) in &counts {
            let known = allowed.remove(name.as_str()).unwrap_or_default();
            if found != known {
                println!("{folder}: {name} occurs {found} times, and {known} are known to need no assembly");
                faults += 1;
            }
        }
        for (name, known) in allowed {
            println!("{folder}: {name} is in the list {known} times, but does not occur");
            faults += 1;
        }
    }
    assert_eq!(faults, 0);
}
