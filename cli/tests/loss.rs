//! `--on-loss`: values outside the range of the target are counted, warned of or refused.

use crate::common::{Folder, bad, f32s, good, npy, npy_of, run, safetensors, stderr};
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

/// The floats of a layer: 958 that become zero as int8, and 42 that do not.
fn small() -> Vec<f32> {
    (0..1000).map(|i| if i % 24 == 7 { 3.0 } else { 0.02 }).collect()
}

#[test]
fn zeros_are_counted_whatever_is_refused() {
    let folder = Folder::new();
    folder.write("in.npy", &npy("<f4", "(1000,)", &f32s(&small())));
    let tiny: Vec<f32> = (0..1000).map(|i| if i < 42 { 1e-9 } else { 1.0 }).collect();
    folder.write("tiny.npy", &npy("<f4", "(1000,)", &f32s(&tiny)));
    folder.write("all.npy", &npy("<f4", "(1000,)", &f32s(&[0.02; 1000])));
    for (file, to, zeros) in [
        ("in.npy", "int8", 958),
        ("in.npy", "uint4", 958),
        ("tiny.npy", "e4m3fn", 42),
        ("all.npy", "float4_e2m1fn", 1000),
    ] {
        for on_loss in ["ignore", "warn", "error"] {
            let args = ["cast", file, "out.npy", "--to", to, "--json", "--force", "--on-loss", on_loss];
            let output = folder.run(&args);
            assert_eq!(output.status.code(), Some(0), "{args:?}");
            let report: Value = serde_json::from_slice(&output.stdout).expect("one JSON object");
            assert_eq!(report["underflowed_to_zero"], zeros, "{args:?}");
            assert_eq!(report["entries"][0]["counts"]["underflowed_to_zero"], zeros, "{args:?}");
            let said = stderr(&output);
            let warned = format!("lanecast: warning: {zeros} of 1000 values became zero in ");
            assert_eq!(said.contains(&warned) && said.contains("`lanecast scale`"), zeros > 100, "{said}");
            let each = format!("lanecast: warning: {zeros} values become zero in ");
            assert_eq!(said.contains(&each), on_loss == "warn", "{said}");
        }
    }
    // A stream has the same counts.
    let args = ["raw", "--from", "f32", "--to", "i8", "--on-loss", "error"];
    let output = run(&[&args[..], &["--json"]].concat(), &f32s(&small()));
    let report: Value = serde_json::from_slice(&output.stderr).expect("one JSON object");
    assert_eq!(report["underflowed_to_zero"], 958);
    let said = stderr(&run(&args, &f32s(&small())));
    assert!(
        said.contains("warning: 958 of 1000 values became zero in int8") && said.contains("`lanecast scale`")
    );
}

#[test]
fn values_that_become_zero_or_are_rounded_can_be_refused() {
    let folder = Folder::new();
    let fields = "[('a', '<f4'), ('b', '<f4')]";
    for (name, values) in [("zero", [2.0, 0.0, 3.0, 0.25]), ("rounded", [2.0, 0.0, 3.0, 1.5])] {
        folder.write(&format!("{name}.npy"), &npy("<f4", "(4,)", &f32s(&values)));
        let header = format!("{{'descr': {fields}, 'fortran_order': False, 'shape': (2,), }}\n");
        folder.write(&format!("{name}s.npy"), &npy_of(&header, &f32s(&values)));
    }
    let refused = |file: &str, on_loss: &str| {
        let args = ["cast", file, "out.npy", "--to", "int8", "--on-loss", on_loss];
        let line = bad(&folder.run(&args), &[6]);
        assert!(!folder.names().contains(&"out.npy".to_owned()));
        line
    };
    let zero = refused("zero.npy", "underflow");
    assert!(
        zero.contains("element 3, the float32 0.25, does not fit in int8: it would become zero"),
        "{zero}"
    );
    let zero = refused("zeros.npy", "underflow");
    assert!(zero.contains("would become zero") && zero.contains("0.25"), "{zero}");
    for file in ["zero.npy", "zeros.npy"] {
        assert!(refused(file, "exact").contains("it would become zero"));
    }
    let rounded = refused("rounded.npy", "exact");
    assert!(
        rounded.contains("element 3, the float32 1.5, does not fit in int8: it would be rounded"),
        "{rounded}"
    );
    assert!(refused("roundeds.npy", "exact").contains("it would be rounded"));
    for file in ["rounded.npy", "roundeds.npy"] {
        good(folder.run(&["cast", file, "out.npy", "--to", "int8", "--on-loss", "underflow", "--force"]));
        good(folder.run(&["cast", file, "out.npy", "--to", "f16", "--on-loss", "exact", "--force"]));
    }
    let output = run(&["raw", "--from", "f32", "--to", "i8", "--on-loss", "underflow"], &f32s(&[1.0, -0.9]));
    assert!(bad(&output, &[6]).contains("element 1, the float32 -0.9"), "{}", stderr(&output));
}

#[test]
fn the_part_that_becomes_zero_has_a_limit() {
    let folder = Folder::new();
    let some: Vec<f32> = (0..1000).map(|i| if i < 20 { 0.02 } else { 1.0 }).collect();
    folder.write("in.npy", &npy("<f4", "(1000,)", &f32s(&some)));
    folder.write("in.bin", &f32s(&some));
    let cast = ["cast", "in.npy", "out.npy", "--to", "int8", "--max-underflow"];
    let raw = ["raw", "--from", "f32", "--to", "i8", "in.bin", "out.npy", "--max-underflow"];
    for args in [&cast[..], &raw] {
        for limit in ["1%", "0.0199", "0"] {
            let line = bad(&folder.run(&[args, &[limit]].concat()), &[6]);
            assert!(line.contains("20 of 1000 values") && line.contains("`lanecast scale`"), "{line}");
            assert!(!folder.names().contains(&"out.npy".to_owned()));
        }
        for limit in ["2%", "0.02", "1", "100%"] {
            good(folder.run(&[args, &[limit]].concat()));
            folder.remove("out.npy");
        }
        bad(&folder.run(&[args, &["101%"]].concat()), &[2]);
    }
    // Each tensor has its own limit, and a field is one.
    let header = "{'descr': [('a', '<f4'), ('b', '<f4')], 'fortran_order': False, 'shape': (4,), }\n";
    folder.write("s.npy", &npy_of(header, &f32s(&[1.0, 0.1, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0])));
    let line =
        bad(&folder.run(&["cast", "s.npy", "out.npy", "--to", "int8", "--max-underflow", "20%"]), &[6]);
    assert!(line.contains("1 of 4 values"), "{line}");
}
