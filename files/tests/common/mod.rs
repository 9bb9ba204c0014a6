//! What the tests share: a folder, and one small file of each format.

#![allow(dead_code, reason = "every test binary uses its own part")]

use std::{fs, path::PathBuf};

use lanecast::DType;
use lanecast_files::{NewTensor, save};
use tempfile::TempDir;

/// A folder of files.
pub struct Folder(TempDir);

impl Folder {
    pub fn new() -> Self {
        Self(TempDir::new().expect("a temporary folder"))
    }

    pub fn at(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    pub fn write(&self, name: &str, bytes: &[u8]) -> PathBuf {
        fs::write(self.at(name), bytes).expect("a file is written");
        self.at(name)
    }

    pub fn read(&self, name: &str) -> Vec<u8> {
        fs::read(self.at(name)).unwrap_or_else(|e| panic!("{name}: {e}"))
    }

    /// The names of all files, hidden ones too.
    pub fn names(&self) -> Vec<String> {
        let entries = fs::read_dir(self.0.path()).expect("the folder is read");
        let mut names: Vec<String> = entries
            .map(|entry| entry.expect("an entry").file_name().to_string_lossy().into_owned())
            .collect();
        names.sort();
        names
    }
}

/// The little-endian bytes of `n` floats.
pub fn floats(n: usize) -> Vec<u8> {
    (0..n).flat_map(|i| (i as f32 * 0.5).to_le_bytes()).collect()
}

/// A file of the format `name` with `n` floats called `w`, and two bytes called `b` if the format holds several tensors.
pub fn sample(name: &str, n: usize) -> Vec<u8> {
    let data = floats(n);
    let shape = [n as u64];
    let tensors = [
        NewTensor { name: "w", dtype: DType::Float32, shape: &shape, data: &data },
        NewTensor { name: "b", dtype: DType::UInt8, shape: &[2], data: &[7, 8] },
    ];
    if name == "onnx" {
        return model(n, &field(9, &data));
    }
    let tensors = if name == "npy" { &tensors[..1] } else { &tensors[..] };
    let folder = Folder::new();
    let file = format!("sample.{name}");
    save(&folder.at(&file), tensors, &[], false).expect("the sample is written");
    folder.read(&file)
}

/// A model of one initializer of `n` floats, whose elements are what these fields of the tensor say.
pub fn model(n: usize, elements: &[u8]) -> Vec<u8> {
    let tensor = [&number(1, n as u64)[..], &number(2, 1), &field(8, b"w"), elements].concat();
    let graph = [field(2, b"graph"), field(5, &tensor)].concat();
    let opset = number(2, 21);
    [number(1, 10), field(7, &graph), field(8, &opset)].concat()
}

/// A field of bytes, text or a message.
pub fn field(number: u64, bytes: &[u8]) -> Vec<u8> {
    [&varint(number << 3 | 2)[..], &varint(bytes.len() as u64), bytes].concat()
}

/// A field that is a number.
pub fn number(number: u64, value: u64) -> Vec<u8> {
    [varint(number << 3), varint(value)].concat()
}

fn varint(mut value: u64) -> Vec<u8> {
    let mut bytes = Vec::new();
    while value >= 0x80 {
        bytes.push(value as u8 | 0x80);
        value >>= 7;
    }
    bytes.push(value as u8);
    bytes
}
