//! `.npy` through `lanecast cast` and `inspect`.

use crate::common;
use crate::common::{Folder, bad, f32s, f64s, good, npy, npy_of, split_npy};
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
        ("float8_e5m2", "|V1"),
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
        &npy_of("{'descr': [('a', '<M8[s]')], 'fortran_order': False, 'shape': (1,)}", &[0; 8]),
    );
    let line = bad(&folder.run(&["cast", "in.npy", "no.npy", "--to", "f32"]), &[5]);
    assert!(line.contains("structured") && line.contains("dates"), "{line}");
}

/// A structured array of two items: positions, a big-endian time, a number, a name.
fn structured() -> Vec<u8> {
    let mut data = Vec::new();
    for (position, time, id, name) in
        [([1.0, -2.5], 0.5_f64, 7_i16, b"one"), ([70000.0, 0.0], -4.0, -1, b"two")]
    {
        data.extend(f32s(&position));
        data.extend(time.to_be_bytes());
        data.extend(id.to_le_bytes());
        data.extend(name);
    }
    let descr = "[('pos', '<f4', (2,)), ('in', [('time', '>f8'), ('id', '<i2')]), ('name', '|S3')]";
    npy_of(&format!("{{'descr': {descr}, 'fortran_order': False, 'shape': (2,), }}\n"), &data)
}

const DESCR: &str = "{'descr': [('pos', POS), ('in', [('time', TIME), ('id', '<i2')]), ('name', '|S3')], \
                     'fortran_order': False, 'shape': (2,), }";

#[test]
fn the_floating_fields_of_structures_are_cast() {
    let folder = Folder::new();
    folder.write("in.npy", &structured());
    let (header, data) = cast(&folder, &["--to", "f16"]);
    assert_eq!(header, DESCR.replace("POS", "'<f2', (2,)").replace("TIME", "'<f2'"));
    let item = |pos: [u16; 2], time: u16, id: i16, name: &[u8]| {
        let mut bytes: Vec<u8> = [pos[0], pos[1], time].iter().flat_map(|x| x.to_le_bytes()).collect();
        bytes.extend(id.to_le_bytes());
        [&bytes, name].concat()
    };
    let first = item([0x3C00, 0xC100], 0x3800, 7, b"one");
    assert_eq!(data, [&first[..], &item([0x7C00, 0], 0xC400, -1, b"two")].concat());
    // By name, and by dtype; what is not cast keeps its byte order.
    for chosen in [&["--include", "in*"][..], &["--from", "f64"], &["--exclude", "p?s"]] {
        let (header, data) = cast(&folder, &[&["--to", "f32"], chosen].concat());
        assert_eq!(header, DESCR.replace("POS", "'<f4', (2,)").replace("TIME", "'<f4'"), "{chosen:?}");
        assert_eq!(data[..15], [&f32s(&[1.0, -2.5, 0.5])[..], &7_i16.to_le_bytes(), b"o"].concat());
    }
    let (header, data) = cast(&folder, &["--to", "u8", "--include", "pos"]);
    assert_eq!(header, DESCR.replace("POS", "'|u1', (2,)").replace("TIME", "'>f8'"));
    assert_eq!((&data[..2], &data[2..10]), (&[1, 0][..], &0.5_f64.to_be_bytes()[..]));
    // Integers when asked for.
    let (header, _) = cast(&folder, &["--to", "f32", "--from", "i16"]);
    assert!(header.contains("('time', '>f8'), ('id', '<f4')"), "{header}");
    for none in [&["--include", "nothing"][..], &["--from", "u8"]] {
        let args = [&["cast", "in.npy", "no.npy", "--to", "f32"], none].concat();
        assert!(bad(&folder.run(&args), &[2]).contains("no field"));
    }
    assert_eq!(folder.names(), ["in.npy", "out.npy"]);
}

#[test]
fn layouts_of_structures_are_kept() {
    let folder = Folder::new();
    let write = |descr: &str, data: &[u8]| {
        let header = format!("{{'descr': {descr}, 'fortran_order': True, 'shape': (1,), }}");
        folder.write("in.npy", &npy_of(&header, data));
    };
    // As C lays out, with padding; which is written as zeros.
    write("[('a', '|u1'), ('', '|V3'), ('b', '<f4')]", &[9, 5, 5, 5, 0, 0, 0x80, 0x3F]);
    let (header, data) = cast(&folder, &["--to", "f64"]);
    assert!(
        header.starts_with("{'descr': [('a', '|u1'), ('', '|V7'), ('b', '<f8')], 'fortran_order': True"),
        "{header}"
    );
    assert_eq!(data, [&[9, 0, 0, 0, 0, 0, 0, 0][..], &1_f64.to_le_bytes()].concat());
    // Any other gaps.
    write("[('', '|V1'), ('b', '<f4'), ('', '|V2')]", &[9, 0, 0, 0x80, 0x3F, 9, 9]);
    let (header, data) = cast(&folder, &["--to", "bf16"]);
    assert!(header.contains("[('', '|V1'), ('b', '<V2'), ('', '|V2')]"), "{header}");
    assert_eq!(data, [0, 0x80, 0x3F, 0, 0]);
    // Bytes that hold what --from says.
    folder.write("in.npy", &folder.read("out.npy"));
    assert!(bad(&folder.run(&["cast", "in.npy", "no.npy", "--to", "f32"]), &[2]).contains("no field"));
    let (header, data) = cast(&folder, &["--to", "f32", "--from", "bf16"]);
    assert!(header.contains("[('', '|V1'), ('b', '<f4'), ('', '|V2')]"), "{header}");
    assert_eq!(data, [0, 0, 0, 0x80, 0x3F, 0, 0]);
    write("[('q', '|u1'), ('w', '|u1')]", &[0x38, 0x38]);
    let (_, data) = cast(&folder, &["--to", "f16", "--from", "e4m3fn", "--include", "w"]);
    assert_eq!(data, [0x38, 0x00, 0x3C]);
    // Names that are not Latin-1 make a header of version 3.
    let utf8 = "{'descr': [('größe', '<f4'), ('名', '<f4')], 'fortran_order': False, 'shape': (1,), }";
    let mut file = npy_of(utf8, &f32s(&[1.0, 2.0]));
    file[6] = 3;
    file.splice(10..10, [0, 0]);
    folder.write("in.npy", &file);
    good(folder.run(&["cast", "in.npy", "out.npy", "--to", "f16", "--force"]));
    let out = folder.read("out.npy");
    assert_eq!((out[6], out.len() % 64), (3, 4));
    assert!(
        String::from_utf8(out[12..out.len() - 4].to_vec())
            .unwrap()
            .contains("[('größe', '<f2'), ('名', '<f2')]")
    );
    // And Latin-1 is read.
    let latin: Vec<u8> = "{'descr': [('ü', '<f4')], 'fortran_order': False, 'shape': (1,), }"
        .chars()
        .map(|c| c as u8)
        .collect();
    let mut file = npy_of("", &[]);
    file[8] = latin.len() as u8;
    folder.write("in.npy", &[file, latin, f32s(&[1.0])].concat());
    good(folder.run(&["cast", "in.npy", "out.npy", "--to", "f16", "--force"]));
    assert!(folder.read("out.npy")[10..].starts_with(b"{'descr': [('\xFC', '<f2')]"));
}

#[test]
fn fields_stand_in_reports() {
    let folder = Folder::new();
    folder.write("in.npy", &structured());
    let report = good(folder.run(&["cast", "in.npy", "out.npy", "--to", "f16", "--json"]));
    let json: Value = serde_json::from_slice(&report).unwrap();
    let entry = &json["entries"][0];
    assert_eq!((&entry["name"], &entry["to"]), (&"pos".into(), &"float16".into()));
    assert_eq!(entry["shape"], serde_json::json!([2, 2]));
    assert_eq!((&entry["elements"], &entry["counts"]["overflowed_to_infinity"]), (&4.into(), &1.into()));
    assert_eq!(json["entries"][1]["name"], "in.time");
    assert_eq!(json["entries"][2]["to"], Value::Null);
    assert_eq!(
        (&json["tensors_cast"], &json["tensors"], &json["elements"]),
        (&2.into(), &4.into(), &6.into())
    );
    assert_eq!((&json["bytes_in"], &json["bytes_out"]), (&42.into(), &22.into()));
    let warned = folder.run(&["cast", "in.npy", "out.npy", "--to", "f16", "--force", "--on-loss", "warn"]);
    assert!(common::stderr(&warned).contains("pos: 1 value does not fit in float16"));
    let line = bad(&folder.run(&["cast", "in.npy", "no.npy", "--to", "f16", "--on-loss", "error"]), &[6]);
    assert!(line.contains("field \"pos\" of item 1") && line.contains("70000"), "{line}");
    let fine = ["cast", "in.npy", "fine.npy", "--to", "f32", "--on-loss", "error"];
    good(folder.run(&fine));
    let json: Value = serde_json::from_slice(&good(folder.run(&["inspect", "in.npy", "--json"]))).unwrap();
    let shown: Vec<_> =
        json["tensors"].as_array().unwrap().iter().map(|t| (&t["name"], &t["dtype"])).collect();
    let value = |text: &str| Value::from(text);
    assert_eq!(
        shown,
        [("pos", "float32"), ("in.time", "float64"), ("in.id", "int16"), ("name", "|S3")]
            .map(|(a, b)| (value(a), value(b)))
            .iter()
            .map(|(a, b)| (a, b))
            .collect::<Vec<_>>()
    );
    // Cut off inside the data.
    folder.write("in.npy", &structured()[..structured().len() - 1]);
    bad(&folder.run(&["cast", "in.npy", "no.npy", "--to", "f16"]), &[4]);
}

#[test]
fn inspect_shows() {
    let folder = Folder::new();
    folder.write("in.npy", &npy("<V2", "(2, 1)", &[0; 4]));
    let json: Value = serde_json::from_slice(&good(folder.run(&["inspect", "in.npy", "--json"]))).unwrap();
    let expected = serde_json::json!({
        "name": "", "dtype": "<V2", "shape": [2, 1], "elements": 2, "bytes": 4, "byte_order": null, "memory_order": "C"
    });
    assert_eq!(json["tensors"][0], expected);
    let text = String::from_utf8(good(folder.run(&["inspect", "in.npy"]))).unwrap();
    assert!(text.contains("-     <V2    (2, 1)  4"), "{text}");
}
