//! `.npz` through `lanecast cast` and `inspect`.

use crate::common;
use std::io::{Cursor, Read};

use crate::common::{Folder, f32s, f64s, good, npy, npz, split_npy};
use serde_json::Value;
use zip::{CompressionMethod, ZipArchive};

fn sample(method: CompressionMethod) -> Vec<u8> {
    npz(
        &[
            ("w.npy", &npy("<f4", "(2,)", &f32s(&[1.0, -2.0]))),
            ("i.npy", &npy("<u2", "(1,)", &[0x80, 0x3F])),
            ("b.npy", &npy("<V2", "(1,)", &[0x00, 0x40])),
            ("o.npy", &npy("|O", "(1,)", b"pickle")),
            ("notes.txt", b"free text"),
        ],
        method,
    )
}

fn member(archive: &[u8], name: &str) -> Vec<u8> {
    let mut archive = ZipArchive::new(Cursor::new(archive)).expect("an archive");
    let mut bytes = Vec::new();
    archive.by_name(name).expect(name).read_to_end(&mut bytes).expect("the checksum holds");
    bytes
}

#[test]
fn members_keep_compression_order_and_what_is_not_cast() {
    for method in [CompressionMethod::Stored, CompressionMethod::Deflated] {
        let folder = Folder::new();
        let source = sample(method);
        folder.write("in.npz", &source);
        good(folder.run(&["cast", "in.npz", "out.npz", "--to", "f64", "-q"]));
        let result = folder.read("out.npz");
        let w = member(&result, "w.npy");
        assert!(split_npy(&w).0.starts_with("{'descr': '<f8', 'fortran_order': False, 'shape': (2,), }"));
        assert_eq!(split_npy(&w).1, f64s(&[1.0, -2.0]));
        for name in ["i.npy", "b.npy", "o.npy", "notes.txt"] {
            assert_eq!(member(&result, name), member(&source, name), "{name}");
        }
        let (mut before, mut after) =
            (ZipArchive::new(Cursor::new(source)).unwrap(), ZipArchive::new(Cursor::new(result)).unwrap());
        for i in 0..before.len() {
            let (before, after) = (before.by_index(i).unwrap(), after.by_index(i).unwrap());
            assert_eq!(before.name().unwrap(), after.name().unwrap());
            assert_eq!((after.compression(), after.unix_mode()), (method, before.unix_mode()));
        }
    }
}

#[test]
fn from_chooses_and_names() {
    let folder = Folder::new();
    folder.write("in.npz", &sample(CompressionMethod::Deflated));
    let dtypes = |more: &[&str]| -> Vec<String> {
        let args = [&["cast", "in.npz", "out.npz", "--to", "f32", "--force", "--json", "-q"], more].concat();
        let report: Value = serde_json::from_slice(&good(folder.run(&args))).expect("one JSON object");
        let entries = report["entries"].as_array().expect("a list").iter();
        entries
            .filter(|e| !e["to"].is_null())
            .map(|e| e["name"].as_str().unwrap_or_default().into())
            .collect()
    };
    assert_eq!(dtypes(&[]), ["w"]);
    assert_eq!(dtypes(&["--from", "u16"]), ["i"]);
    assert_eq!(dtypes(&["--from", "bf16"]), ["b"]);
    assert_eq!(split_npy(&member(&folder.read("out.npz"), "b.npy")).1, f32s(&[2.0]));
    // An unsigned array is something else only if it is named.
    assert_eq!(dtypes(&["--from", "bf16", "--include", "[bi]"]), ["i", "b"]);
    assert_eq!(split_npy(&member(&folder.read("out.npz"), "i.npy")).1, f32s(&[1.0]));
    assert_eq!(dtypes(&["--exclude", "[wb]"]), [""; 0]);
}

#[test]
fn inspect_lists() {
    let folder = Folder::new();
    folder.write("in.npz", &sample(CompressionMethod::Stored));
    let text = String::from_utf8(good(folder.run(&["inspect", "in.npz"]))).unwrap();
    assert!(text.contains("w          float32       (2,)   8"), "{text}");
    assert!(text.contains("notes.txt  not an array  -      9"), "{text}");
    folder.write("empty.npz", &npz(&[], CompressionMethod::Stored));
    good(folder.run(&["inspect", "empty.npz"]));
    good(folder.run(&["cast", "empty.npz", "out.npz", "--to", "f16"]));
}

#[test]
fn fields_of_members_have_the_name_of_both() {
    let folder = Folder::new();
    let header = "{'descr': [('x', '<f4'), ('n', '<i4')], 'fortran_order': False, 'shape': (1,), }";
    let item = [&1.5_f32.to_le_bytes()[..], &7_i32.to_le_bytes()].concat();
    let points = common::npy_of(header, &item);
    let members =
        [("points.npy", &points[..]), ("w.npy", &npy("<f4", "(1,)", &f32s(&[1.0]))), ("bad.npy", b"bad")];
    folder.write("in.npz", &npz(&members, CompressionMethod::Deflated));
    let halved = [&[0x00, 0x3E][..], &7_i32.to_le_bytes()].concat();
    for (chosen, w_is_cast) in [
        (&["--include", "points"][..], false),
        (&["--include", "points.x"], false),
        (&["--exclude", "bad"], true),
        (&["--exclude", "bad", "--exclude", "w"], false),
    ] {
        let args = [&["cast", "in.npz", "out.npz", "--to", "f16", "--force"], chosen].concat();
        good(folder.run(&args));
        let out = folder.read("out.npz");
        assert_eq!(split_npy(&member(&out, "points.npy")).1, halved, "{chosen:?}");
        assert_eq!(split_npy(&member(&out, "w.npy")).1.len() == 2, w_is_cast, "{chosen:?}");
    }
    for not in [&["--include", "w"][..], &["--exclude", "points*", "--exclude", "bad"]] {
        let args = [&["cast", "in.npz", "out.npz", "--to", "f16", "--force"], not].concat();
        good(folder.run(&args));
        let out = folder.read("out.npz");
        assert_eq!(member(&out, "points.npy"), points, "{not:?}");
    }
}
