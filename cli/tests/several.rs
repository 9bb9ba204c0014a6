//! Several inputs at once, and standard input and output.

use crate::common;
use std::{fs::File, process::Stdio};

use crate::common::{Folder, bad, f32s, good, npy, npz, program, run_in, safetensors};
use serde_json::Value;
use zip::CompressionMethod::Stored;

fn folder() -> Folder {
    let folder = Folder::new();
    folder.write("a.npy", &npy("<f4", "(2,)", &f32s(&[1.0, 2.0])));
    let header = r#"{"w":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}}"#;
    folder.write("b.safetensors", &safetensors(header, &f32s(&[3.0])));
    folder.write("c.npz", &npz(&[("x.npy", &npy("<f4", "(1,)", &f32s(&[4.0])))], Stored));
    std::fs::create_dir(folder.at("sub")).unwrap();
    folder.write("sub/a.npy", &npy("<f4", "(1,)", &f32s(&[5.0])));
    folder
}

/// The names of the files in `out`.
fn outputs(folder: &Folder) -> Vec<String> {
    let mut names: Vec<String> = match std::fs::read_dir(folder.at("out")) {
        Ok(entries) => entries.map(|e| e.unwrap().file_name().into_string().unwrap()).collect(),
        Err(_) => Vec::new(),
    };
    names.sort();
    names
}

#[test]
fn each_input_has_its_output() {
    let folder = folder();
    let inputs = ["a.npy", "b.safetensors", "c.npz"];
    let cast = [&["cast"], &inputs[..], &["--to", "f16", "--out-dir", "out"]].concat();
    let text = String::from_utf8(good(folder.run(&[&cast[..], &["--dry-run"]].concat()))).unwrap();
    assert!(inputs.iter().all(|name| text.contains(&format!("out/{name}:\n"))), "{text}");
    assert!(outputs(&folder).is_empty() && !folder.at("out").exists());
    let text = String::from_utf8(good(folder.run(&cast))).unwrap();
    assert!(inputs.iter().all(|name| text.contains(&format!("out/{name}:\ncast 1 of 1"))), "{text}");
    assert_eq!(outputs(&folder), inputs);
    for name in inputs {
        good(folder.run(&["cast", name, &format!("alone-{name}"), "--to", "f16"]));
        assert_eq!(folder.read(&format!("alone-{name}")), folder.read(&format!("out/{name}")));
    }
    let lines = good(folder.run(&[&cast[..], &["--force", "--json"]].concat()));
    let lines: Vec<Value> = lines
        .split(|c| *c == b'\n')
        .filter(|l| !l.is_empty())
        .map(|l| serde_json::from_slice(l).unwrap())
        .collect();
    assert_eq!(lines.len(), 3);
    assert_eq!((&lines[1]["input"], &lines[1]["output"]), (&inputs[1].into(), &"out/b.safetensors".into()));
    assert_eq!(lines[1]["tensors_cast"], 1);
    // One input is enough.
    good(folder.run(&["cast", "sub/a.npy", "--to", "f16", "--out-dir", "out", "--force"]));
}

#[test]
fn nothing_is_written_before_all_is_known() {
    let folder = folder();
    let cast =
        |inputs: &[&str]| folder.run(&[&["cast"], inputs, &["--to", "f16", "--out-dir", "out"]].concat());
    let line = bad(&cast(&["a.npy", "c.npz", "sub/a.npy"]), &[2]);
    assert!(line.contains("same name in --out-dir: a.npy and sub/a.npy"), "{line}");
    folder.write("bad.npz", b"no archive");
    let line = bad(&cast(&["a.npy", "bad.npz"]), &[4]);
    assert!(line.contains("bad.npz"), "{line}");
    let line = bad(&cast(&["a.npy", "missing.npy"]), &[3]);
    assert!(line.contains("missing.npy"), "{line}");
    bad(&cast(&["a.npy", "-"]), &[2]);
    bad(&cast(&["a.npy", "sub/.."]), &[2]);
    assert!(!folder.at("out").exists());
    std::fs::create_dir(folder.at("out")).unwrap();
    folder.write("out/c.npz", b"precious");
    let line = bad(&cast(&["a.npy", "c.npz"]), &[3]);
    assert!(line.contains("exists: out/c.npz: give --force"), "{line}");
    assert_eq!(outputs(&folder), ["c.npz"]);
    let line = bad(&folder.run(&["cast", "a.npy", "b.npy", "c.npz", "--to", "f16"]), &[2]);
    assert!(line.contains("--out-dir"), "{line}");
}

#[test]
fn warnings_name_the_file() {
    let folder = folder();
    folder.write("a.npy", &npy("<f4", "(2,)", &f32s(&[1e30, 2.0])));
    let args =
        ["cast", "a.npy", "b.safetensors", "--to", "i8", "--out-dir", "out", "--on-loss", "warn", "-q"];
    good(folder.run(&args));
    let output = folder.run(&[&args[..9], &["--force"]].concat());
    assert!(
        common::stderr(&output).starts_with("lanecast: warning: a.npy: 1 value does not fit"),
        "{output:?}"
    );
}

#[test]
fn standard_input_and_output() {
    let folder = folder();
    for file in ["a.npy", "b.safetensors"] {
        let out = format!("named-{file}");
        good(folder.run(&["cast", file, &out, "--to", "f16"]));
        let (bytes, expected) = (folder.read(file), folder.read(&out));
        // From a pipe, and from a file, which needs no copy.
        let cast = ["cast", "-", "-", "--to", "f16"];
        assert_eq!(good(run_in(folder.path(), &cast, &bytes)), expected);
        let stdin = File::open(folder.at(file)).unwrap();
        let output = program().args(cast).stdin(stdin).stdout(Stdio::piped()).stderr(Stdio::piped()).output();
        assert_eq!(good(output.unwrap()), expected);
        // One of them.
        assert_eq!(good(folder.run(&["cast", file, "-", "--to", "f16"])), expected);
        folder.remove(&out);
        good(run_in(folder.path(), &["cast", "-", &out, "--to", "f16"], &bytes));
        assert_eq!(folder.read(&out), expected);
        // The summary is not in the way.
        let output = run_in(folder.path(), &["cast", "-", "-", "--to", "f16", "--json"], &bytes);
        assert_eq!(output.stdout, expected);
        let report: Value = serde_json::from_slice(&output.stderr).unwrap();
        assert_eq!(report["tensors_cast"], 1);
    }
    let archive = folder.read("c.npz");
    good(run_in(folder.path(), &["cast", "-", "piped.npz", "--to", "f16"], &archive));
    let line = bad(&folder.run(&["cast", "c.npz", "-", "--to", "f16"]), &[5]);
    assert!(line.contains("npz is not written as a stream: standard output: name a file"), "{line}");
    let line = bad(&run_in(folder.path(), &["cast", "-", "-", "--to", "f16"], b"what?"), &[5]);
    assert!(line.contains("standard input"), "{line}");
    let line = bad(
        &run_in(folder.path(), &["cast", "-", "x.npy", "--to", "f16"], &folder.read("a.npy")[..50]),
        &[4],
    );
    assert!(line.contains("standard input"), "{line}");
}
