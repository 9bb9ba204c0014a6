//! `lanecast explain`: what it prints is what a plan says of itself.

use crate::common::{bad, good, run, runs_in_program};
use lanecast::{CastOptions, CastPlan, DType, Encoding, Tier};
use serde_json::Value;

fn text(args: &[&str]) -> String {
    String::from_utf8(good(run(&[&["explain"], args].concat(), &[]))).unwrap()
}

#[test]
fn the_words_of_the_plan() {
    let plan = |from: Encoding, to: Encoding| {
        CastPlan::with_tier(from, to, &CastOptions::RUST, Tier::Scalar).expect("there is always one")
    };
    let packed = plan(DType::Int64.into(), Encoding::packed(DType::Int4)).explain();
    assert_eq!(text(&["i64", "i4", "--tier", "scalar"]), format!("{packed}\n"));
    let bytes = plan(DType::Int64.into(), DType::Int4.into()).explain();
    assert_eq!(text(&["i64", "i4", "--tier", "scalar", "--to-storage", "byte"]), format!("{bytes}\n"));
    assert_ne!(packed, bytes);
}

#[test]
fn json() {
    let args = ["explain", "f32", "f16", "--from-order", "big", "--tier", "scalar", "--json"];
    let answer: Value = serde_json::from_slice(&good(run(&args, &[]))).unwrap();
    assert_eq!((&answer["from"], &answer["tier"]), (&"float32 (big-endian)".into(), &"scalar".into()));
    assert_eq!((&answer["to"], &answer["streams_above"]), (&"float16".into(), &Value::Null));
    let stages = answer["stages"].as_array().unwrap();
    let field = |name: &str| stages.iter().map(|stage| stage[name].clone()).collect::<Vec<_>>();
    assert_eq!(field("name"), ["swap", "cast"]);
    assert_eq!(field("kernel"), [Value::Null, "scalar".into()]);
    assert_eq!(field("from"), ["float32 (big-endian)", "float32"]);
    assert_eq!(field("to"), ["float32", "float16"]);
    assert!(stages.iter().all(|stage| stage["why"].as_str().is_some_and(|why| why.ends_with('.'))));
    assert_eq!(answer["block"], 512);
    assert!(answer["guarded"].is_boolean() && answer["picoseconds_per_element"].is_u64());
}

#[test]
fn options() {
    let common = text(&["f32", "f16"]);
    assert_ne!(text(&["f32", "f16", "--tier", "scalar"]), "");
    assert_eq!(text(&["f32", "f16", "--profile", "numpy", "--on-loss", "error"]), common);
    // Options that cannot matter to a pair change no route.
    assert_eq!(text(&["f32", "f16", "--int-round", "floor", "--e5m2-nan", "7f"]), common);
}

#[test]
fn wrong_command_lines() {
    for args in [
        &["explain"][..],
        &["explain", "f32"],
        &["explain", "f32", "f16", "i8"],
        &["explain", "f32", "f16", "--from-order", "middle"],
        &["explain", "f32", "f16", "--force"],
    ] {
        bad(&run(args, &[]), &[2]);
    }
    bad(&run(&["explain", "f32", "quaternion"], &[]), &[5]);
    let lacking = Tier::ALL.iter().find(|tier| runs_in_program(**tier) == Some(false));
    if let Some(tier) = lacking {
        bad(&run(&["explain", "f32", "f16", "--tier", tier.name()], &[]), &[5]);
    }
}
