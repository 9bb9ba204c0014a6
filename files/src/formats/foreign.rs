//! Files of tensors that are not read here: what they are, and what to do with them.

use std::path::Path;

use crate::{
    error::{Error, Remedy},
    path::extension,
};

/// A kind of file.
struct Foreign {
    /// What such a file is called, with its article.
    name: &'static str,
    /// Its extensions, in lower case and without the dot.
    extensions: &'static [&'static str],
    /// Whether a file that begins with these bytes is one.
    recognizes: fn(&[u8]) -> bool,
    /// How to make a file that is read here from one.
    remedy: &'static str,
}

const SAVE_FILE: &str =
    "convert it with `lanecast convert`, or save its tensors with `safetensors.torch.save_file`";

const FOREIGN: &[Foreign] = &[
    Foreign {
        name: "a PyTorch file",
        extensions: &["pt", "pth", "ckpt", "pkl"],
        recognizes: |head| {
            is_zip_of_pickle(head) || head.starts_with(b"\x80\x02\x8a\x0a\x6c\xfc\x9c\x46\xf9")
        },
        remedy: SAVE_FILE,
    },
    Foreign {
        name: "a GGUF file",
        extensions: &["gguf"],
        recognizes: |head| head.starts_with(b"GGUF"),
        remedy: "cast the .safetensors checkpoint that it was made from, or read its blocks with `lanecast::gguf`",
    },
    Foreign {
        name: "an HDF5 file",
        extensions: &["h5", "hdf5", "keras"],
        recognizes: |head| head.starts_with(b"\x89HDF\r\n\x1a\n"),
        remedy: "read its arrays with h5py, save them with `numpy.savez`, and cast the .npz file",
    },
    Foreign {
        name: "a TensorFlow Lite model",
        extensions: &["tflite"],
        recognizes: |head| head.get(4..8) == Some(b"TFL3"),
        remedy: "convert it with tf2onnx, and cast the .onnx file",
    },
    Foreign {
        name: "a TensorFlow graph",
        extensions: &["pb"],
        recognizes: |_| false,
        remedy: "convert it with tf2onnx, and cast the .onnx file",
    },
    Foreign {
        name: "a file of Flax",
        extensions: &["msgpack"],
        recognizes: |_| false,
        remedy: "save its arrays with `safetensors.flax.save_file`, and cast the .safetensors file",
    },
];

/// Whether this is an archive whose first member is the pickle of a PyTorch file, `NAME/data.pkl`.
fn is_zip_of_pickle(head: &[u8]) -> bool {
    let Some(&[low, high]) = head.get(26..28) else { return false };
    let name = head.get(30..).and_then(|rest| rest.get(..usize::from(u16::from_le_bytes([low, high]))));
    head.starts_with(b"PK\x03\x04") && name.is_some_and(|name| name.ends_with(b"data.pkl"))
}

/// The error for a file of no known format that begins with `head`.
pub(super) fn unknown(path: &Path, head: &[u8]) -> Error {
    let extension = extension(path);
    let found = FOREIGN
        .iter()
        .find(|foreign| (foreign.recognizes)(head))
        .or_else(|| FOREIGN.iter().find(|foreign| foreign.extensions.contains(&extension.as_str())));
    match found {
        Some(Foreign { name, remedy, .. }) => {
            Error::unsupported(format!("{name} is neither read nor written")).advise(*remedy)
        }
        None => Error::unsupported("not a known file format").advise(Remedy::NameFormat),
    }
    .at_path(path)
}
