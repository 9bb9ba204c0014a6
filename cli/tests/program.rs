//! The rest of the program: what it lists, and how it answers a wrong command line.

use crate::common::{bad, good, run, runs_in_program};
use lanecast::{DType, Tier};
use serde_json::Value;

#[test]
fn dtypes_lists_all() {
    let text = String::from_utf8(good(run(&["dtypes"], &[]))).unwrap();
    let rows: Value = serde_json::from_slice(&good(run(&["dtypes", "--json"], &[]))).unwrap();
    assert_eq!(rows.as_array().map(Vec::len), Some(DType::ALL.len()));
    for (row, dtype) in rows.as_array().unwrap().iter().zip(DType::ALL) {
        assert_eq!((&row["name"], &row["bits"]), (&dtype.name().into(), &dtype.bits().into()));
        assert!(text.lines().any(|line| line.starts_with(&format!("{dtype} "))), "{dtype}");
    }
}

#[test]
fn cpu_says_which_tier_and_why() {
    let json: Value = serde_json::from_slice(&good(run(&["cpu", "--json"], &[]))).unwrap();
    let tiers = json["tiers"].as_array().unwrap();
    assert_eq!(tiers.len(), Tier::ALL.len());
    for (row, &tier) in tiers.iter().zip(Tier::ALL) {
        assert_eq!(row["name"], tier.name());
        assert!(runs_in_program(tier).is_none_or(|runs| row["available"] == runs), "{tier}");
    }
    let text = String::from_utf8(good(run(&["cpu"], &[]))).unwrap();
    assert!(text.contains(json["reason"].as_str().unwrap()), "{text}");
}

#[test]
fn a_wrong_command_line_gets_one_line() {
    let near = bad(&run(&["raw", "--from", "f32", "--to", "float8_e4m3fm"], &[]), &[5]);
    assert!(near.contains("did you mean float8_e4m3fn"), "{near}");
    for args in [
        &["convert"][..],
        &["cast"],
        &["cast", "a.npy", "b.npy"],
        &["cast", "a.npy", "b.npy", "--to", "f32", "--profile", "fortran"],
        &["cast", "a.npy", "b.npy", "--to", "f32", "--int-round", "up"],
        &["cast", "a.npy", "b.npy", "c.npy", "--to", "f32"],
        &["raw", "--to", "f32"],
        &["raw", "--from", "f32", "--to", "f32", "--from-storage", "loose"],
        &["raw", "--from", "f32", "--to", "f32", "-n", "x\ny"],
        &["inspect"],
        &["cpu", "--quietly"],
    ] {
        let line = bad(&run(args, &[]), &[2]);
        assert!(!line.contains("error:"), "{line}");
    }
}

#[test]
fn help_and_version_are_no_failures() {
    for args in
        [&["--help"][..], &["-h"], &["--version"], &["help", "cast"], &["raw", "--help"], &["cast", "-h"]]
    {
        assert!(!good(run(args, &[])).is_empty());
    }
    let help = String::from_utf8(good(run(&["cast", "--help"], &[]))).unwrap();
    assert!(help.contains("<V2") && help.contains("ml_dtypes"), "the output descriptors are documented");
}
