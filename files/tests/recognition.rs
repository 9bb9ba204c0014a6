//! Formats are recognised by the content of a file, whatever it is called.

use std::fs::File;

use crate::common::{Folder, field, floats, model, number, sample};
use lanecast_files::{
    Error, FORMATS, TensorFile,
    formats::{Input, Probe, by_extension, by_name},
};

#[test]
fn each_format_is_recognised_without_its_extension() {
    let folder = Folder::new();
    for format in FORMATS {
        let bytes = sample(format.name(), 20);
        for name in ["blob", "blob.bin", "weights.of.2024"] {
            let file = TensorFile::open(&folder.write(name, &bytes)).unwrap();
            assert_eq!(file.format().name(), format.name(), "{name}");
            assert!(!file.tensors().is_empty());
        }
    }
}

#[test]
fn the_content_counts_more_than_the_extension() {
    let folder = Folder::new();
    for format in FORMATS {
        for other in FORMATS {
            let name = format!("wrong.{}", other.extensions()[0]);
            let file = TensorFile::open(&folder.write(&name, &sample(format.name(), 20))).unwrap();
            assert_eq!(file.format().name(), format.name(), "{name}");
        }
    }
}

#[test]
fn no_file_is_recognised_as_two_formats() {
    let folder = Folder::new();
    for format in FORMATS {
        let bytes = sample(format.name(), 20);
        let path = folder.write("blob", &bytes);
        let found = FORMATS.iter().filter(|other| {
            let mut file = File::open(&path).unwrap();
            let head = &bytes[..bytes.len().min(256)];
            other.recognizes(&mut Probe { head, length: bytes.len() as u64, file: &mut file })
        });
        assert_eq!(found.map(|other| other.name()).collect::<Vec<_>>(), [format.name()]);
    }
}

#[test]
fn what_is_no_tensor_file_is_none() {
    let folder = Folder::new();
    let zip_of_pytorch = {
        let mut bytes = sample("npz", 20);
        let at = bytes.windows(5).position(|w| w == b"w.npy" || w == b"b.npy").unwrap();
        bytes[at..at + 5].copy_from_slice(b"x.pkl");
        bytes
    };
    for (what, bytes) in [
        ("empty", Vec::new()),
        ("text", b"hello, this is no tensor".to_vec()),
        ("zeros", vec![0; 1000]),
        ("an archive of other things", zip_of_pytorch),
        ("a header beyond the file", [&1000_u64.to_le_bytes()[..], b"{}"].concat()),
        ("a message without a graph", number(1, 10)),
        ("a message with a graph and without a version", field(7, b"")),
        ("a torn model", model(20, &field(9, &floats(20)))[..60].to_vec()),
    ] {
        let path = folder.write("blob", &bytes);
        let error = Input::open(&path).unwrap().recognize().unwrap_err();
        assert!(
            matches!(&error, Error::Unsupported(detail) if detail.place.ends_with("blob")),
            "{what}: {error}"
        );
    }
    // Its extension says what a damaged file was to be, and the format what is wrong with it.
    let torn = folder.write("torn.npy", b"\x93NUM");
    assert!(matches!(TensorFile::open(&torn), Err(Error::Format(_))));
}

#[test]
fn names_and_extensions_name_one_format_each() {
    for format in FORMATS {
        assert_eq!(by_name(format.name()).unwrap().name(), format.name());
        for extension in format.extensions() {
            for name in [format!("a.{extension}"), format!("a.b.{}", extension.to_uppercase())] {
                assert_eq!(by_extension(name.as_ref()).unwrap().name(), format.name());
            }
        }
        assert!(format.help().lines().all(|line| line.starts_with("  ") && line.len() <= 80), "{format:?}");
    }
    assert!(by_extension("a.txt".as_ref()).is_err() && by_name("txt").is_none());
    assert_eq!(by_extension("a.st".as_ref()).unwrap().name(), "safetensors");
}

#[test]
fn a_format_that_is_given_is_believed() {
    let folder = Folder::new();
    let path = folder.write("model.npy", &sample("safetensors", 20));
    assert!(TensorFile::open_as(&path, by_name("safetensors").unwrap()).is_ok());
    let error = TensorFile::open_as(&path, by_name("npy").unwrap()).unwrap_err();
    assert!(matches!(error, Error::Format(_)), "{error}");
}
