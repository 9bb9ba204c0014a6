//! `--on-loss`: values outside the range of the target are counted, warned of or refused.

use crate::common::{Folder, bad, f32s, good, run, safetensors, stderr};
use serde_json::Value;

/// Two tensors, of which the second has one value that no integer of 8 bits holds, behind more than a block of others.
fn folder(values: usize) -> Folder {
    let mut data = f32s(&[1.0, -2.5]);
    let mut second = vec![3.0; values];
    second[values - 2] = -1e9;
    data.extend(f32s(&second));
    let header = format!(
        concat!(
            r#"{{"a":{{"dtype":"F32","shape":[2],"data_offsets":[0,8]}},"#,
            r#""b.weight":{{"dtype":"F32","shape":[{}],"data_offsets":[8,{}]}}}}"#
        ),
        values,
        8 + 4 * values
    );
    let folder = Folder::new();
    folder.write("in.safetensors", &safetensors(&header, &data));
    folder
}

const CAST: [&str; 5] = ["cast", "in.safetensors", "out.safetensors", "--to", "int8"];

#[test]
fn ignored_values_are_counted() {
    let folder = folder(100);
    let text = good(folder.run(&[&CAST[..], &["--json"]].concat()));
    let report: Value = serde_json::from_slice(&text).expect("one JSON object");
    assert_eq!((&report["saturated"], &report["wrapped"]), (&1.into(), &0.into()));
    assert_eq!(report["entries"][1]["counts"]["saturated"], 1);
    assert!(report.get("inexact").is_none(), "rounding is not counted");
    let text = good(folder.run(&[&CAST[..], &["--json", "--force", "--profile", "onnx"]].concat()));
    let report: Value = serde_json::from_slice(&text).expect("one JSON object");
    assert_eq!((&report["saturated"], &report["wrapped"]), (&0.into(), &1.into()));
}

#[test]
fn warnings_name_the_tensor() {
    let folder = folder(100);
    let output = folder.run(&[&CAST[..], &["--on-loss", "warn"]].concat());
    assert_eq!(output.status.code(), Some(0));
    assert_eq!(stderr(&output), "lanecast: warning: b.weight: 1 value does not fit in int8: 1 saturated\n");
    assert_eq!(folder.names(), ["in.safetensors", "out.safetensors"]);
    let output =
        folder.run(&["cast", "in.safetensors", "wide.safetensors", "--to", "float64", "--on-loss", "warn"]);
    good(output);
}

#[test]
fn the_first_value_is_refused_and_nothing_written() {
    // More than one block of the stream.
    let values = (1 << 20) + 1000;
    let folder = folder(values);
    let error = bad(&folder.run(&[&CAST[..], &["--on-loss", "error"]].concat()), &[6]);
    let place = format!(
        "element {}, the float32 -1000000000.0, does not fit in int8: it is out of range",
        values - 2
    );
    assert!(error.contains(&place) && error.contains("b.weight"), "{error}");
    assert_eq!(folder.names(), ["in.safetensors"]);
    good(folder.run(&[
        "cast",
        "in.safetensors",
        "out.safetensors",
        "--to",
        "bfloat16",
        "--on-loss",
        "error",
    ]));
}

#[test]
fn streams_are_refused_too() {
    let args = ["raw", "--from", "float32", "--to", "float16", "--on-loss", "error"];
    let error = bad(&run(&args, &f32s(&[1.0, 70000.0])), &[6]);
    assert!(error.contains("element 1, the float32 70000.0, does not fit in float16"), "{error}");
    let output =
        run(&["raw", "--from", "float32", "--to", "float16", "--on-loss", "warn"], &f32s(&[1.0, 70000.0]));
    assert_eq!(
        (output.stdout, String::from_utf8_lossy(&output.stderr).as_ref()),
        (
            vec![0x00, 0x3C, 0x00, 0x7C],
            "lanecast: warning: 1 value does not fit in float16: 1 overflowed to infinity\n"
        )
    );
}
