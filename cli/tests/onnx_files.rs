//! `lanecast cast` on `.onnx` models whose elements stand in other files, and on damaged and hostile ones.

use crate::common::models::{onnx::*, *};
use crate::common::{Folder, bad, f32s, good, stderr};
use prost::Message;

#[test]
fn elements_in_other_files() {
    let folder = Folder::new();
    let values: Vec<f32> = (0..3000).map(|i| i as f32 * 0.37).collect();
    folder.write("w.bin", &[&[9; 8], &f32s(&values)[..], &[1, 2, 3]].concat());
    std::fs::create_dir(folder.at("sub")).expect("a folder");
    folder.write("sub/i.bin", &[5, 0, 0, 0, 0, 0, 0, 0]);
    let ints = TensorProto { data_type: Some(7), ..external("I", &[1], &[("location", "sub/i.bin")]) };
    let tensors = vec![
        external("W", &[3000], &[("location", "w.bin"), ("offset", "8"), ("length", "12000")]),
        raw("B", &[4], &W),
        ints,
        external("V", &[2], &[("location", "./w.bin"), ("offset", "12")]),
    ];
    let old = model(8, 13, graph("g", Vec::new(), tensors));
    let new = folder.cast(&old, &["--to", "float16"]).graph.expect("a graph");
    let data = folder.read("out.onnx.data");
    assert_eq!(data[..6000], halves(&values));
    assert_eq!(data[6000..8192], [0; 2192]);
    assert_eq!(data[8192..8200], [5, 0, 0, 0, 0, 0, 0, 0]);
    assert_eq!(data[12288..], halves(&values[1..3]));
    let place = |name: &str, offset: &str, length: &str, dims: &[i64], code| TensorProto {
        data_type: Some(code),
        ..external(name, dims, &[("location", "out.onnx.data"), ("offset", offset), ("length", length)])
    };
    let expected = [
        place("W__float16", "0", "6000", &[3000], 10),
        halved("B__float16", &[4], &W),
        place("I", "8192", "8", &[1], 7),
        place("V__float16", "12288", "4", &[2], 10),
    ];
    assert_eq!(new.initializer, expected);
    // The second file is not replaced without --force either.
    folder.remove("out.onnx");
    bad(&folder.run(&["cast", "in.onnx", "out.onnx", "--to", "float16"]), &[3]);
    assert_eq!(folder.names(), ["in.onnx", "out.onnx.data", "sub", "w.bin"]);
    // Nothing is cast, but the model may go to another folder.
    good(folder.run(&["cast", "in.onnx", "sub/copy.onnx", "--to", "float16", "--exclude", "*"]));
    assert_eq!(folder.read("sub/copy.onnx.data")[..12000], f32s(&values));
    good(folder.run(&["inspect", "in.onnx"]));
}

#[test]
fn elements_in_files_that_are_none_of_the_models() {
    let outside = Folder::new();
    outside.write("secret.bin", &[1; 64]);
    let secret = outside.at("secret.bin").to_string_lossy().into_owned();
    let folder = Folder::new();
    std::fs::create_dir(folder.at("sub")).expect("a folder");
    folder.write("w.bin", &[0; 16]);
    let name = outside.path().file_name().expect("a name").to_string_lossy().into_owned();
    let up = format!("../{name}/secret.bin");
    #[cfg(unix)]
    std::os::unix::fs::symlink(&secret, folder.at("link.bin")).expect("a link");
    let locations = [&secret, &up, "sub/../w.bin", "..", "", "link.bin", "sub\\w.bin"];
    for location in locations {
        let old = model(8, 13, graph("g", Vec::new(), vec![external("W", &[4], &[("location", location)])]));
        for arguments in [&["--to", "float16"][..], &["--to", "float16", "--exclude", "*"]] {
            let line = folder.refused(&old, arguments, &[3, 4]);
            assert!(cfg!(not(unix)) || line.contains("not inside the model's folder"), "{line}");
        }
    }
    for (keys, code) in [
        (&[("location", "missing.bin")][..], 3),
        (&[("location", "sub")], 3),
        (&[("offset", "0")], 4),
        (&[("location", "w.bin"), ("offset", "1")], 4),
        (&[("location", "w.bin"), ("offset", "18446744073709551615")], 4),
        (&[("location", "w.bin"), ("offset", "-1")], 4),
        (&[("location", "w.bin"), ("length", "15")], 4),
        (&[("location", "w.bin"), ("length", "99999999999999999999")], 4),
    ] {
        let old = model(8, 13, graph("g", Vec::new(), vec![external("W", &[4], keys)]));
        folder.refused(&old, &["--to", "float16"], &[code]);
    }
    let both = TensorProto { raw_data: Some(f32s(&W)), ..external("W", &[4], &[("location", "w.bin")]) };
    folder.refused(&model(8, 13, graph("g", Vec::new(), vec![both])), &["--to", "float16"], BAD);
    // The elements of a function's constant are not moved, so the model cannot be either.
    let mut old = small(8, 13);
    old.functions = vec![FunctionProto {
        name: text("f"),
        node: vec![constant("c", external("C", &[4], &[("location", "w.bin")]))],
        ..Default::default()
    }];
    folder.cast(&old, &["--to", "float16"]);
    bad(&folder.run(&["cast", "in.onnx", "sub/out.onnx", "--to", "float16"]), &[5]);
}

/// A snapshot in the cache of the Hugging Face hub holds links to blobs.
#[test]
#[cfg(unix)]
fn elements_in_the_blobs_of_a_cache() {
    use std::os::unix::fs::symlink;
    let folder = Folder::new();
    let onnx = "models--org--name/snapshots/0123abcd/onnx";
    for made in ["models--org--name/blobs", "models--other/blobs", onnx] {
        std::fs::create_dir_all(folder.at(made)).expect("a folder");
    }
    let old =
        |location| model(8, 13, graph("g", Vec::new(), vec![external("W", &[4], &[("location", location)])]));
    folder.write("models--org--name/blobs/aaaa", &old("model.onnx_data").encode_to_vec());
    folder.write("models--org--name/blobs/bbbb", &f32s(&W));
    folder.write("models--other/blobs/cccc", &f32s(&W));
    folder.write("models--org--name/secret", &f32s(&W));
    let link = |to: &str, name: &str| symlink(to, folder.at(&format!("{onnx}/{name}"))).expect("a link");
    link("../../../blobs/aaaa", "model.onnx");
    link("../../../blobs/bbbb", "model.onnx_data");
    link("../../../../models--other/blobs/cccc", "other_data");
    link("../../../secret", "secret_data");
    let input = format!("{onnx}/model.onnx");
    good(folder.run(&["cast", &input, "out.onnx", "--to", "float16", "--include", "W"]));
    assert!(folder.names().contains(&"out.onnx.data".to_owned()));
    good(folder.run(&["inspect", &input, "--stats"]));
    // Links to anything else lead out of the folder, and so do paths.
    for location in ["other_data", "secret_data", "../../../blobs/bbbb"] {
        folder.write(&format!("{onnx}/bad.onnx"), &old(location).encode_to_vec());
        let bad_input = format!("{onnx}/bad.onnx");
        let args = ["cast", &bad_input, "bad.onnx", "--to", "float16", "--include", "W"];
        let line = bad(&folder.run(&args), &[4]);
        assert!(line.contains("not inside the model's folder"), "{line}");
    }
}

#[test]
fn bad_tensors() {
    let folder = Folder::new();
    let base = || raw("W", &[2, 2], &W);
    let cases = [
        TensorProto { dims: vec![2, 3], ..base() },
        TensorProto { dims: vec![-1, 4], ..base() },
        TensorProto { dims: vec![i64::MAX, i64::MAX], ..base() },
        TensorProto { dims: vec![1; 65], ..base() },
        TensorProto { float_data: W.to_vec(), ..base() },
        TensorProto { raw_data: None, float_data: W[1..].to_vec(), ..base() },
        TensorProto { raw_data: None, ..base() },
        TensorProto { raw_data: None, double_data: vec![0.0; 4], ..base() },
        TensorProto { raw_data: None, data_type: Some(10), int32_data: vec![0, 0, 0, 65536], ..base() },
        TensorProto { name: None, ..base() },
    ];
    for tensor in cases {
        folder.refused(&model(8, 13, graph("g", Vec::new(), vec![tensor])), &["--to", "bfloat16"], BAD);
    }
    let segment = onnx::tensor_proto::Segment { begin: Some(0), end: Some(4) };
    let segment = TensorProto { segment: Some(segment), ..base() };
    folder.refused(&model(8, 13, graph("g", Vec::new(), vec![segment])), &["--to", "float16"], &[5]);
    folder.refused(&model(8, 13, graph("g", Vec::new(), vec![base(), base()])), &["--to", "float16"], BAD);
    // A type that nobody knows yet is copied.
    let later = TensorProto { data_type: Some(99), raw_data: Some(vec![1, 2, 3]), ..base() };
    let old = model(8, 13, graph("g", Vec::new(), vec![later, raw("V", &[1], &[0.5])]));
    let new = folder.cast(&old, &["--to", "float16"]).graph.expect("a graph");
    assert_eq!(new.initializer[0], old.graph.expect("a graph").initializer[0]);
    let listed = String::from_utf8(good(folder.run(&["inspect", "in.onnx"]))).expect("text");
    assert!(listed.contains("type 99"), "{listed}");
}

#[test]
fn files_that_are_no_models() {
    let folder = Folder::new();
    let varint = |value: u64| {
        let mut bytes = Vec::new();
        prost::encoding::encode_varint(value, &mut bytes);
        bytes
    };
    // Graphs in attributes in nodes in graphs.
    let mut deep = Vec::new();
    for level in 0..201 {
        let number = [6_u8, 5, 1][level % 3];
        deep = [&[number << 3 | 2][..], &varint(deep.len() as u64), &deep].concat();
    }
    let deep = [&[0x08, 7, 0x3A][..], &varint(deep.len() as u64), &deep].concat();
    let cases = [
        ("empty", Vec::new()),
        ("text", b"not a model at all".to_vec()),
        ("only zeros", vec![0; 100]),
        ("a group", vec![0x08, 7, 0x3B, 0x3C]),
        ("a length beyond the file", vec![0x08, 7, 0x3A, 0xFF, 0xFF, 0xFF, 0xFF, 0x07]),
        ("a length of 2^64 - 1", [&[0x08, 7, 0x3A][..], &varint(u64::MAX)].concat()),
        ("a number without an end", [&[0x08][..], &[0xFF; 40]].concat()),
        ("a graph that is a number", vec![0x08, 7, 0x38, 1]),
        ("two graphs", vec![0x08, 7, 0x3A, 0, 0x3A, 0]),
        ("no IR version", vec![0x3A, 0]),
        ("field 0", vec![0x08, 7, 0x02, 0]),
        ("deep", deep),
        ("a name that is not UTF-8", vec![0x08, 7, 0x3A, 5, 0x2A, 3, 0x42, 1, 0xFF]),
    ];
    for (name, bytes) in cases {
        folder.write("in.onnx", &bytes);
        eprintln!("{name}: {}", folder.refuses("in.onnx", BAD).trim_end());
    }
}

#[test]
fn truncated_or_changed_at_every_byte() {
    let folder = Folder::new();
    let constant = model(8, 13, graph("g", vec![constant("W", raw("", &[4], &W))], Vec::new()));
    let mut variants = Vec::new();
    for file in [small(8, 13).encode_to_vec(), constant.encode_to_vec()] {
        variants.extend((0..file.len()).map(|length| file[..length].to_vec()));
        variants.extend((0..file.len()).flat_map(|i| [0xFF, 0x01].map(|flip| (i, flip))).map(|(i, flip)| {
            let mut changed = file.clone();
            changed[i] ^= flip;
            changed
        }));
    }
    for bytes in variants {
        folder.write("in.onnx", &bytes);
        let output = folder.run(&["cast", "in.onnx", "out.onnx", "--to", "float16", "--include", "*"]);
        match output.status.code() {
            Some(0) => {
                assert_eq!(stderr(&output), "");
                folder.remove("out.onnx");
            }
            _ => drop(bad(&output, &[2, 4, 5])),
        }
        assert_eq!(folder.names(), ["in.onnx"]);
    }
}
