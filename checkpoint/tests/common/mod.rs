//! What the tests share: the golden checkpoints, and safetensors files made by hand.

pub mod models;
pub mod pickles;
pub mod weights;

use std::{
    fs,
    io::{Cursor, Read},
    path::{Path, PathBuf},
};

use lanecast::DType;
use lanecast_checkpoint::{Error, Kind, Severity, check};
use lanecast_files::{NewTensor, TensorFile, save};
use tempfile::TempDir;
use zip::ZipArchive;

/// The checkpoints that `tests/data/README.md` describes.
pub struct Goldens {
    folder: TempDir,
}

impl Goldens {
    pub fn unpack() -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let archive = include_bytes!("../data/checkpoints.zip");
        let mut archive = ZipArchive::new(Cursor::new(&archive[..])).expect("an archive");
        for i in 0..archive.len() {
            let mut file = archive.by_index(i).expect("a file");
            let path = folder.path().join(file.enclosed_name().expect("a name"));
            fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
            let mut bytes = Vec::new();
            file.read_to_end(&mut bytes).expect("bytes");
            fs::write(path, bytes).expect("a file");
        }
        Self { folder }
    }

    /// The checkpoint, which is a folder or a GGUF file.
    pub fn path(&self, name: &str) -> PathBuf {
        let folder = self.folder.path().join(name);
        let gguf = folder.join("model.gguf");
        if gguf.exists() { gguf } else { folder }
    }

    /// The names of all checkpoints.
    pub fn names(&self) -> Vec<String> {
        let entries =
            fs::read_dir(self.folder.path()).expect("a folder").map(|entry| entry.expect("an entry"));
        let mut names: Vec<String> = entries
            .map(|entry| entry.file_name().into_string().expect("text"))
            .filter(|name| name != "expected")
            .collect();
        names.sort();
        names
    }

    /// The dequantized tensors, where a library made them.
    pub fn expected(&self, name: &str) -> Option<TensorFile> {
        let path = self.folder.path().join("expected").join(format!("{name}.safetensors"));
        path.exists().then(|| TensorFile::open(&path).expect("a file"))
    }
}

/// Little-endian elements as float64.
pub fn floats(dtype: DType, bytes: &[u8]) -> Vec<f64> {
    use lanecast::{ByteOrder, Bytes, CastOptions, CastPlan, Encoding};
    let from = Encoding::packed(dtype).with_order(ByteOrder::Little);
    let plan = CastPlan::new(from, DType::Float64, &CastOptions::RUST).expect("a plan");
    let n = bytes.len() * 8 / dtype.bits() as usize;
    plan.run_to_vec(Bytes::new(bytes, n)).expect("values")
}

/// Expects that `check` reports the error with which opening or decoding the checkpoint fails.
#[track_caller]
pub fn is_reported(path: &Path, error: &Error) {
    let checked = match check(path, None) {
        Ok(checked) => checked,
        Err(other) => return assert_eq!(other.to_string(), error.to_string()),
    };
    let what = &error.detail().expect("a message").what;
    // Values of plain tensors are not read, so damage in an archive is not found.
    if what.starts_with("corrupt data") {
        return;
    }
    let mut errors = checked.findings.iter().filter(|finding| finding.severity == Severity::Error);
    // Findings count numbers that are not finite; the error is about the first one.
    let is = errors.any(|finding| finding.what == *what || finding.kind == Kind::NotFinite);
    assert!(is, "{what}: {:#?}", checked.findings);
}

/// Writes a safetensors file of tensors: name, dtype, shape and bytes.
pub fn write(path: &Path, tensors: &[(&str, DType, &[u64], Vec<u8>)]) {
    let tensors: Vec<NewTensor<'_>> = tensors
        .iter()
        .map(|(name, dtype, shape, data)| NewTensor { name, dtype: *dtype, shape, data })
        .collect();
    save(path, &tensors, &[], true).expect("a file");
}
