//! `lanecast promote` and `lanecast table`.

use crate::common::{bad, good, run};
use lanecast::{DType, promote, promote::Standard};
use serde_json::Value;

fn text(args: &[&str]) -> String {
    String::from_utf8(good(run(args, &[]))).expect("UTF-8")
}

#[test]
fn promote_asks_one_standard_or_all() {
    let all = text(&["promote", "int8", "uint8", "--standard", "all"]);
    let results: Vec<Vec<&str>> = all.lines().map(|line| line.split_whitespace().take(2).collect()).collect();
    assert_eq!(results.len(), Standard::ALL.len());
    for (row, standard) in results.iter().zip(Standard::ALL) {
        let expected = promote(*standard, DType::Int8, DType::UInt8).map_or("-", DType::name);
        assert_eq!(row, &[standard.id(), expected]);
    }
    assert!(all.contains("cast int8 to int16, uint8 to int16"), "{all}");
    assert!(all.contains("no common dtype for int8 and uint8 under MegEngineCore rules"), "{all}");
    assert_eq!(all, text(&["promote", "i8", "u8"]));

    assert_eq!(
        text(&["promote", "f16", "f32", "--standard", "NumPy"]),
        "numpy  float32  cast float16 to float32\n"
    );
    assert_eq!(text(&["promote", "f32", "f32", "--standard", "onnx"]), "onnx  float32  no casts\n");
    let weak = text(&["promote", "u64", "i8", "--standard", "jax"]);
    assert!(weak.starts_with("jax  float64*  "), "{weak}");
    let rows: Value = serde_json::from_str(&text(&["promote", "i8", "u32", "--json"])).expect("JSON");
    assert_eq!((&rows[0]["standard"], &rows[0]["result"]), (&"mindspore".into(), &Value::Null));

    let refused = bad(&run(&["promote", "int8", "uint32", "--standard", "mindspore"], &[]), &[5]);
    assert!(refused.contains("(uint16, uint32 and uint64 do not promote)"), "{refused}");
    let unknown = bad(&run(&["promote", "int8", "uint32", "--standard", "fortran"], &[]), &[2]);
    assert!(unknown.contains("mindspore"), "{unknown}");
}

#[test]
fn tables_hold_every_pair() {
    for standard in Standard::ALL {
        let csv = text(&["table", "promote", "--standard", standard.id(), "--format", "csv"]);
        let mut lines = csv.lines().map(|line| line.split(',').collect::<Vec<_>>());
        let head = lines.next().expect("a head");
        assert_eq!(head[0], "standard");
        let mut rows = 0;
        for (row, name) in lines.zip(&head[1..]) {
            assert_eq!((row.len(), row[0]), (head.len(), *name));
            for (column, cell) in head[1..].iter().zip(&row[1..]) {
                let [a, b] = [name, column].map(|name| name.parse().expect("a dtype"));
                let expected = promote(*standard, a, b).map_or("-", DType::name);
                assert_eq!(cell.trim_end_matches('*'), expected, "{standard}: {name}, {column}");
            }
            rows += 1;
        }
        assert_eq!(rows, standard.dtypes().count());
    }
    let csv = text(&["table", "promote", "--standard", "jax", "--format", "csv"]);
    assert_eq!(csv.matches("float64*").count(), 8, "uint64 with four signed integers, in both orders");
}

#[test]
fn tables_are_printed_for_people_and_programs() {
    let md = text(&["table", "promote", "--standard", "megengine", "--format", "md"]);
    assert!(md.starts_with("| standard | bool | int8 | "), "{md}");
    assert!(md.lines().nth(1).is_some_and(|rule| rule.starts_with("|---|---|")), "{md}");
    let json: Value =
        serde_json::from_str(&text(&["table", "promote", "--standard", "torch", "--format", "json"]))
            .expect("JSON");
    assert_eq!((&json["standard"], &json["cells"][0][0]), (&"torch".into(), &"bool".into()));
    assert!(text(&["table", "promote", "--standard", "torch"]).starts_with("standard  "));

    let cast = text(&["table", "cast", "--format", "csv"]);
    let row = cast.lines().find(|line| line.starts_with("float8_e4m3fn,")).expect("a row");
    let column = cast.lines().next().and_then(|head| head.split(',').position(|name| name == "float16"));
    assert_eq!(column.and_then(|column| row.split(',').nth(column)), Some("1"));
    bad(&run(&["table", "promote"], &[]), &[2]);
    assert_eq!(run(&["table"], &[]).status.code(), Some(2));
}
