//! The extensions of the files of each format, in lower case and without the dot, the usual one first.

pub const SAFETENSORS: &[&str] = &["safetensors", "st"];
pub const NPY: &[&str] = &["npy"];
pub const NPZ: &[&str] = &["npz"];
pub const ONNX: &[&str] = &["onnx"];

/// The usual extensions, with `last` before the last one: `.npy, .npz, .safetensors or .onnx`.
pub fn extensions(last: &str) -> String {
    let names = [SAFETENSORS, NPY, NPZ, ONNX].map(|extensions| format!(".{}", extensions[0]));
    match names.split_last() {
        Some((end, [])) => end.clone(),
        Some((end, rest)) => format!("{} {last} {end}", rest.join(", ")),
        None => String::new(),
    }
}
