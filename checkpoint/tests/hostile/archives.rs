//! Other files: archives of arrays, and GGUF.

use std::{
    fs,
    path::{Path, PathBuf},
};

use zip::CompressionMethod::{Deflated, Stored};

use super::Kind;
use crate::common::pickles::{archive, npy};

/// An archive with one array.
fn array(folder: &Path, member: &[u8]) -> PathBuf {
    archive(&folder.join("a.npz"), Stored, &[("w.npy", member)]);
    folder.join("a.npz")
}

/// A file with these bytes after the magic number of GGUF.
fn gguf(folder: &Path, parts: &[&[u8]]) -> PathBuf {
    fs::write(folder.join("a.gguf"), [&[&b"GGUF"[..]], parts].concat().concat()).expect("a file");
    folder.join("a.gguf")
}

/// One tensor of GGUF: its name, axes, type and place.
fn entry(axes: &[u64], kind: u32, start: u64) -> Vec<u8> {
    let axes_bytes: Vec<u8> = axes.iter().flat_map(|axis| axis.to_le_bytes()).collect();
    let (name, n) = ([&1_u64.to_le_bytes()[..], b"w"].concat(), (axes.len() as u32).to_le_bytes());
    [&name[..], &n, &axes_bytes, &kind.to_le_bytes(), &start.to_le_bytes()].concat()
}

const V3: [u8; 4] = 3_u32.to_le_bytes();
const NONE: [u8; 8] = [0; 8];
const ONE: [u8; 8] = 1_u64.to_le_bytes();

pub const KINDS: &[Kind] = &[
    Kind {
        name: "an archive of arrays without its end",
        make: |folder| {
            let path = array(folder, &npy("<f4", false, "(2,)", &[0; 8]));
            let bytes = fs::read(&path).expect("bytes");
            fs::write(&path, &bytes[..bytes.len() - 8]).expect("a file");
            path
        },
        says: &["a.npz"],
    },
    Kind {
        name: "an array with a wrong checksum",
        make: |folder| {
            let path = array(folder, &npy("<f4", false, "(2,)", &[7; 8]));
            let mut bytes = fs::read(&path).expect("bytes");
            let at = bytes.windows(8).position(|part| part == [7; 8]).expect("the data");
            bytes[at] = 8;
            fs::write(&path, bytes).expect("a file");
            path
        },
        says: &["a.npz", "\"w\""],
    },
    Kind {
        name: "an array that is shorter than its shape",
        make: |folder| array(folder, &npy("<f4", false, "(3,)", &[0; 8])),
        says: &["a.npz", "w.npy", "need 12 bytes"],
    },
    Kind {
        name: "an array of 2^120 elements",
        make: |folder| array(folder, &npy("<f4", false, "(1152921504606846976, 1152921504606846976)", &[])),
        says: &["a.npz", "w.npy"],
    },
    Kind {
        name: "an array of objects",
        make: |folder| array(folder, &npy("|O", false, "(1,)", b"\x80\x02N.")),
        says: &["a.npz", "w"],
    },
    Kind {
        name: "an array whose descriptor tells no dtype",
        make: |folder| array(folder, &npy("<V2", false, "(1,)", &[0; 2])),
        says: &["a.npz", "\"w\"", "<V2"],
    },
    Kind {
        name: "an array of structures",
        make: |folder| array(folder, &npy("[('a', '<f4'), ('b', '<i4')]", false, "(1,)", &[0; 8])),
        says: &["a.npz", "structured"],
    },
    Kind {
        name: "an array without a header",
        make: |folder| array(folder, b"not an array"),
        says: &["a.npz", "w.npy"],
    },
    Kind {
        name: "an array that does not decompress",
        make: |folder| {
            let path = folder.join("a.npz");
            archive(&path, Deflated, &[("w.npy", &npy("<f4", false, "(64,)", &[9; 256]))]);
            let mut bytes = fs::read(&path).expect("bytes");
            // Behind the local header of 30 bytes and the name.
            bytes[40..50].fill(0xFF);
            fs::write(&path, bytes).expect("a file");
            path
        },
        says: &["a.npz", "w"],
    },
    Kind {
        name: "GGUF of another version",
        make: |folder| gguf(folder, &[&9_u32.to_le_bytes(), &NONE, &NONE]),
        says: &["a.gguf", "version 9"],
    },
    Kind {
        name: "GGUF that ends in its header",
        make: |folder| gguf(folder, &[&V3, &ONE, &NONE]),
        says: &["a.gguf"],
    },
    Kind {
        name: "GGUF that promises 2^60 tensors",
        make: |folder| gguf(folder, &[&V3, &(1_u64 << 60).to_le_bytes(), &NONE]),
        says: &["a.gguf"],
    },
    Kind {
        name: "GGUF with a name of 2^60 bytes",
        make: |folder| gguf(folder, &[&V3, &ONE, &NONE, &(1_u64 << 60).to_le_bytes()]),
        says: &["a.gguf"],
    },
    Kind {
        name: "GGUF with a tensor beyond its end",
        make: |folder| gguf(folder, &[&V3, &ONE, &NONE, &entry(&[4], 0, 1 << 40)]),
        says: &["a.gguf", "\"w\"", "beyond the end"],
    },
    Kind {
        name: "GGUF with axes that overflow",
        make: |folder| gguf(folder, &[&V3, &ONE, &NONE, &entry(&[1 << 40, 1 << 40], 0, 0)]),
        says: &["a.gguf", "\"w\""],
    },
    Kind {
        name: "GGUF with rows of half a block",
        make: |folder| gguf(folder, &[&V3, &ONE, &NONE, &entry(&[16], 2, 0)]),
        says: &["a.gguf", "\"w\"", "[16]"],
    },
    Kind {
        name: "GGUF of a type that is not known",
        make: |folder| gguf(folder, &[&V3, &ONE, &NONE, &entry(&[1], 999, 0), &[0; 64]]),
        says: &["a.gguf", "\"w\"", "999"],
    },
    Kind {
        name: "GGUF with metadata nested 100 deep",
        make: |folder| {
            let key = [&1_u64.to_le_bytes()[..], b"k", &9_u32.to_le_bytes()].concat();
            let level = [&9_u32.to_le_bytes()[..], &ONE].concat();
            gguf(folder, &[&V3, &NONE, &ONE, &key, &level.repeat(100)])
        },
        says: &["a.gguf"],
    },
    Kind {
        name: "GGUF split into more files than there are",
        make: |folder| {
            let key = b"split.count";
            let pair =
                [&(key.len() as u64).to_le_bytes()[..], key, &4_u32.to_le_bytes(), &70_000_u32.to_le_bytes()];
            gguf(folder, &[&V3, &NONE, &ONE, &pair.concat()])
        },
        says: &["a.gguf", "70000"],
    },
    Kind {
        name: "a file of another kind",
        make: |folder| {
            fs::write(folder.join("a.h5"), b"\x89HDF\r\n\x1a\n\0\0\0\0").expect("a file");
            folder.join("a.h5")
        },
        says: &["a.h5", "HDF5"],
    },
];
