//! `.npy` through `lanecast cast` and `inspect`.

mod common;

use common::{Folder, bad, f32s, f64s, good, npy, npy_of, split_npy};
use serde_json::Value;

fn cast(folder: &Folder, more: &[&str]) -> (String, Vec<u8>) {
    let args = [&["cast", "in.npy", "out.npy", "--force"], more].concat();
    good(folder.run(&args));
    let file = folder.read("out.npy");
    assert_eq!((file.len() - split_npy(&file).1.len()) % 64, 0, "the data is aligned");
    let (header, data) = split_npy(&file);
    (header.trim_end().to_owned(), data.to_vec())
}

#[test]
fn the_header_is_numpys() {
    let folder = Folder::new();
    folder.write("in.npy", &npy("<f4", "(1, 3)", &f32s(&[1.0, -2.0, 0.5])));
    let (header, data) = cast(&folder, &["--to", "f64"]);
    assert_eq!(header, "{'descr': '<f8', 'fortran_order': False, 'shape': (1, 3), }");
    assert_eq!(data, f64s(&[1.0, -2.0, 0.5]));
    let expected = [
        ("bool", "|b1"),
        ("int8", "|i1"),
        ("uint8", "|u1"),
        ("int64", "<i8"),
        ("float16", "<f2"),
        ("complex64", "<c8"),
        ("complex128", "<c16"),
        ("bfloat16", "<V2"),
        ("float8_e5m2", "<f1"),
        ("float8_e4m3fn", "<V1"),
        ("float4_e2m1fn", "<V1"),
        ("int4", "<V1"),
    ];
    for (name, descr) in expected {
        let (header, _) = cast(&folder, &["--to", name]);
        assert!(header.contains(&format!("'descr': '{descr}'")), "{name}: {header}");
    }
}

#[test]
fn every_version_order_and_byte_order_is_read() {
    let folder = Folder::new();
    let header = "{'descr': '>f4', 'fortran_order': True, 'shape': (2, 1), }";
    let data: Vec<u8> = [1.5_f32, -3.0].iter().flat_map(|x| x.to_be_bytes()).collect();
    let v1 = npy_of(header, &data);
    let long = |version: u8| {
        let mut file = b"\x93NUMPY".to_vec();
        file.extend_from_slice(&[version, 0]);
        file.extend_from_slice(&(header.len() as u32).to_le_bytes());
        file.extend_from_slice(&v1[10..]);
        file
    };
    for file in [v1.clone(), long(2), long(3)] {
        folder.write("in.npy", &file);
        let (header, data) = cast(&folder, &["--to", "f64"]);
        assert_eq!(header, "{'descr': '<f8', 'fortran_order': True, 'shape': (2, 1), }");
        assert_eq!(data, f64s(&[1.5, -3.0]));
    }
    // Complex numbers swap by component; a copy to the same dtype swaps too.
    let data: Vec<u8> = [1.5_f32, -3.0].iter().flat_map(|x| x.to_be_bytes()).collect();
    folder.write("in.npy", &npy(">c8", "(1,)", &data));
    assert_eq!(cast(&folder, &["--to", "c64"]).1, f32s(&[1.5, -3.0]));
    folder.write("in.npy", &npy("<i2", "()", &[0x34, 0x12]));
    assert_eq!(
        cast(&folder, &["--to", "u16"]),
        ("{'descr': '<u2', 'fortran_order': False, 'shape': (), }".to_owned(), vec![0x34, 0x12])
    );
    folder.write("in.npy", &npy("<f4", "(0, 3)", &[]));
    assert!(cast(&folder, &["--to", "f16"]).1.is_empty());
}

#[test]
fn from_names_what_a_descriptor_does_not_say() {
    let folder = Folder::new();
    folder.write("in.npy", &npy("<V2", "(2,)", &[0x80, 0x3F, 0x00, 0xC0]));
    assert_eq!(cast(&folder, &["--to", "f32", "--from", "bf16"]).1, f32s(&[1.0, -2.0]));
    assert!(bad(&folder.run(&["cast", "in.npy", "no.npy", "--to", "f32"]), &[2]).contains("--from"));
    let line = bad(&folder.run(&["cast", "in.npy", "no.npy", "--to", "f32", "--from", "int4"]), &[2]);
    assert!(line.contains("<V2") && line.contains("int4"), "{line}");
    for (descr, from) in [("<V1", "float8_e4m3fn"), ("|V1", "e4m3fn"), ("<f1", "e4m3fn"), ("|u1", "e4m3fn")] {
        folder.write("in.npy", &npy(descr, "(2,)", &[0x38, 0xC0]));
        assert_eq!(cast(&folder, &["--to", "f32", "--from", from]).1, f32s(&[1.0, -2.0]), "{descr}");
    }
    folder.write("in.npy", &npy("<u2", "(2,)", &[0x80, 0x3F, 0x00, 0xC0]));
    assert_eq!(cast(&folder, &["--to", "f32", "--from", "bf16"]).1, f32s(&[1.0, -2.0]));
    // float16 has a descriptor of its own: a uint16 array is none.
    bad(&folder.run(&["cast", "in.npy", "no.npy", "--to", "f32", "--from", "f16"]), &[2]);
    bad(&folder.run(&["cast", "in.npy", "no.npy", "--to", "f32", "--include", "*"]), &[2]);
    // Narrow elements stand one per byte; the unused bits do not count.
    folder.write("in.npy", &npy("<V1", "(3,)", &[0x07, 0xF8, 0x0F]));
    assert_eq!(cast(&folder, &["--to", "i8", "--from", "int4"]).1, [7, 0xF8, 0xFF]);
    assert_eq!(folder.names(), ["in.npy", "out.npy"]);
}

#[test]
fn what_is_no_array_of_numbers_is_not_supported() {
    let folder = Folder::new();
    for descr in ["|O", "<U7", "|S3", "<M8[ns]", "<m8", "|V16", "<f16", "<c32", "<W4"] {
        folder.write("in.npy", &npy(descr, "(1,)", &[0; 32]));
        let line = bad(&folder.run(&["cast", "in.npy", "no.npy", "--to", "f32"]), &[5]);
        assert!(line.contains("cannot be cast"), "{line}");
    }
    folder.write(
        "in.npy",
        &npy_of("{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (1,)}", &[0; 4]),
    );
    assert!(bad(&folder.run(&["cast", "in.npy", "no.npy", "--to", "f32"]), &[5]).contains("structured"));
}

#[test]
fn inspect_shows() {
    let folder = Folder::new();
    folder.write("in.npy", &npy("<V2", "(2, 1)", &[0; 4]));
    let json: Value = serde_json::from_slice(&good(folder.run(&["inspect", "in.npy", "--json"]))).unwrap();
    let expected =
        serde_json::json!({"name": "", "dtype": "<V2", "shape": [2, 1], "elements": 2, "bytes": 4});
    assert_eq!(json["tensors"][0], expected);
    let text = String::from_utf8(good(folder.run(&["inspect", "in.npy"]))).unwrap();
    assert!(text.contains("-     <V2    (2, 1)  4"), "{text}");
}
