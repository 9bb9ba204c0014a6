//! Kinds of files: recognised by content, named by `--format`, listed in the help.

use crate::common::{Folder, bad, f32s, good, npy, npz, run, safetensors, stderr};
use lanecast_files::FORMATS;
use zip::CompressionMethod;

fn model() -> Vec<u8> {
    safetensors(r#"{"w":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}}"#, &f32s(&[1.0, 2.0]))
}

#[test]
fn files_without_an_extension_are_inspected_and_cast() {
    let folder = Folder::new();
    let array = npy("<f4", "(2,)", &f32s(&[1.0, 2.0]));
    let archive = npz(&[("w.npy", &array)], CompressionMethod::Deflated);
    for (extension, bytes) in [("safetensors", model()), ("st", model()), ("npy", array), ("npz", archive)] {
        folder.write("1d2c3b4a", &bytes);
        let text = String::from_utf8(good(folder.run(&["inspect", "1d2c3b4a"]))).unwrap();
        assert!(text.contains("float32"), "{text}");
        let out = format!("out.{extension}");
        good(folder.run(&["cast", "1d2c3b4a", &out, "--to", "f16"]));
        // The same as of a file that says what it is.
        let named = format!("in.{extension}");
        folder.write(&named, &bytes);
        good(folder.run(&["cast", &named, "named", "--to", "f16", "--format", &kind(extension)]));
        assert_eq!(folder.read(&out), folder.read("named"));
        folder.remove("named");
    }
}

/// The name of the format that has this extension.
fn kind(extension: &str) -> String {
    let of = FORMATS.iter().find(|format| format.extensions().contains(&extension));
    of.expect("a known extension").name().to_owned()
}

#[test]
fn a_given_format_overrides_name_and_content() {
    let folder = Folder::new();
    folder.write("model.npy", &model());
    good(folder.run(&["inspect", "model.npy"]));
    good(folder.run(&["inspect", "model.npy", "--format", "safetensors"]));
    let line = bad(&folder.run(&["inspect", "model.npy", "--format", "npy"]), &[4]);
    assert!(line.contains("magic number is missing: model.npy"), "{line}");
    let line = bad(&folder.run(&["inspect", "model.npy", "--format", "hdf5"]), &[2]);
    assert!(line.contains("safetensors, npy, npz, onnx"), "{line}");
    let line = bad(&folder.run(&["cast", "model.npy", "out.npy", "--to", "f16"]), &[2]);
    assert!(line.contains("which is safetensors: out.npy"), "{line}");
    good(folder.run(&["cast", "model.npy", "out", "--to", "f16", "--format", "safetensors"]));
    assert!(folder.read("out")[8..].starts_with(b"{\"w\""));
}

#[test]
fn unknown_kinds_get_one_line_that_names_the_known_ones() {
    let folder = Folder::new();
    folder.write("notes.txt", b"nothing to cast");
    for args in [&["inspect", "notes.txt"][..], &["cast", "notes.txt", "--to", "f16", "--dry-run"]] {
        let line = bad(&folder.run(args), &[5]);
        for format in FORMATS {
            assert!(line.contains(format.extensions()[0]), "{line}");
        }
        assert!(line.contains("notes.txt: name a") && line.contains("--format"), "{line}");
    }
    // What is not there has no kind.
    bad(&folder.run(&["inspect", "nothing.txt"]), &[3]);
}

#[test]
fn the_help_has_a_section_for_each_format() {
    let output = run(&["cast", "--help"], &[]);
    let help = String::from_utf8(output.stdout.clone()).unwrap();
    for format in FORMATS {
        assert!(help.contains(format.help()), "{}", format.name());
        assert!(help.contains(&format!("{} (.{}", format.name(), format.extensions()[0])));
    }
    assert_eq!(stderr(&output), "");
}
