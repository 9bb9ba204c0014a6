//! Folders: indices that lie, paths and links that leave, files that are missing or damaged.

use std::{
    fs,
    path::{Path, PathBuf},
};

use super::{DEEPSEEK, Kind, codes, fill, scales};
use crate::common::write;

const INDEX: &str = "model.safetensors.index.json";

/// The index of the folders that `sharded` makes.
const MAP: &str = r#"{"weight_map":{"m.up.weight":"a.safetensors","m.up.weight_scale_inv":"b.safetensors"}}"#;

/// A folder with two shards and an index.
fn sharded(folder: &Path, index: &str) -> PathBuf {
    fs::write(folder.join("config.json"), DEEPSEEK).expect("a file");
    write(&folder.join("a.safetensors"), &[codes()]);
    write(&folder.join("b.safetensors"), &[scales(1.0)]);
    fs::write(folder.join(INDEX), index).expect("a file");
    folder.to_owned()
}

/// A snapshot of a hub cache with an index, the first shard, and a blob `b` that the second shard has to be a link to.
#[cfg(unix)]
pub fn hub(folder: &Path) -> PathBuf {
    let hub = folder.join("models--a--b");
    let snapshot = hub.join("snapshots/1");
    fs::create_dir_all(&snapshot).expect("a folder");
    fs::create_dir_all(hub.join("blobs")).expect("a folder");
    sharded(&snapshot, MAP);
    fs::rename(snapshot.join("b.safetensors"), hub.join("blobs/b")).expect("a file");
    snapshot
}

/// A folder whose second shard is a link to `target`, in a folder of its own.
#[cfg(unix)]
fn linked(folder: &Path, target: &str) -> PathBuf {
    use std::os::unix::fs::symlink;
    let snapshot = hub(folder);
    symlink("b", folder.join("models--a--b/blobs/c")).expect("a link");
    fs::rename(folder.join("models--a--b/blobs/b"), folder.join("outside")).expect("a file");
    fs::copy(folder.join("outside"), folder.join("models--a--b/blobs/b")).expect("a file");
    symlink(target, snapshot.join("b.safetensors")).expect("a link");
    snapshot
}

/// The first shard with other bytes.
fn damaged(folder: &Path, bytes: impl Fn(Vec<u8>) -> Vec<u8>) -> PathBuf {
    sharded(folder, MAP);
    let shard = folder.join("a.safetensors");
    fs::write(&shard, bytes(fs::read(&shard).expect("bytes"))).expect("a file");
    folder.to_owned()
}

pub const KINDS: &[Kind] = &[
    Kind {
        name: "a folder without weights",
        make: |folder| {
            fs::write(folder.join("config.json"), "{}").expect("a file");
            folder.to_owned()
        },
        says: &["the folder has no .safetensors, PyTorch or .npz files"],
    },
    Kind { name: "a path that does not exist", make: |folder| folder.join("x"), says: &["cannot open", "x"] },
    Kind {
        name: "an index that is no JSON",
        make: |folder| sharded(folder, "{"),
        says: &[INDEX, "bad JSON"],
    },
    Kind {
        name: "an index without a map",
        make: |folder| sharded(folder, "{}"),
        says: &[INDEX, "weight_map"],
    },
    Kind {
        name: "an index with a number for a file",
        make: |folder| sharded(folder, &MAP.replace("\"b.safetensors\"", "7")),
        says: &[INDEX, "m.up.weight_scale_inv", "names no file"],
    },
    Kind {
        name: "an index that names the wrong shard",
        make: |folder| sharded(folder, &MAP.replace("b.", "a.")),
        says: &[INDEX, "m.up.weight_scale_inv", "a.safetensors", "has not"],
    },
    Kind {
        name: "an index that swaps shards",
        make: |folder| {
            sharded(folder, &MAP.replace("a.s", "x.s").replace("b.s", "a.s").replace("x.s", "b.s"))
        },
        says: &[INDEX, "m.up.weight", "but \"a.safetensors\" does"],
    },
    Kind {
        name: "an index that names a shard that is missing",
        make: |folder| sharded(folder, &MAP.replace("b.safetensors", "c.safetensors")),
        says: &[INDEX, "c.safetensors"],
    },
    Kind {
        name: "an index that names a tensor that is missing",
        make: |folder| sharded(folder, &MAP.replace("{\"m", "{\"m.norm\":\"a.safetensors\",\"m")),
        says: &[INDEX, "m.norm", "a.safetensors"],
    },
    Kind {
        name: "an index with a path that climbs",
        make: |folder| sharded(folder, &MAP.replace("b.s", "../b.s")),
        says: &[INDEX, "../b.safetensors", "out of the folder"],
    },
    Kind {
        name: "an index with an absolute path",
        make: |folder| sharded(folder, &MAP.replace("b.s", "/b.s")),
        says: &[INDEX, "/b.safetensors", "out of the folder"],
    },
    Kind {
        name: "an index with a file without a name",
        make: |folder| sharded(folder, &MAP.replace("b.safetensors", "")),
        says: &[INDEX, "out of the folder"],
    },
    Kind {
        name: "a shard that is a folder",
        make: |folder| {
            sharded(folder, MAP);
            fs::remove_file(folder.join("b.safetensors")).expect("a file");
            fs::create_dir(folder.join("b.safetensors")).expect("a folder");
            folder.to_owned()
        },
        says: &["b.safetensors", "not a regular file"],
    },
    Kind {
        name: "shards that overlap",
        make: |folder| {
            sharded(folder, MAP);
            write(&folder.join("b.safetensors"), &[codes(), scales(1.0)]);
            folder.to_owned()
        },
        says: &["b.safetensors", "m.up.weight", "a.safetensors", "same name"],
    },
    Kind {
        name: "a shard without its last byte",
        make: |folder| damaged(folder, |bytes| bytes[..bytes.len() - 1].to_vec()),
        says: &["a.safetensors", "m.up.weight"],
    },
    Kind {
        name: "a shard without a header",
        make: |folder| damaged(folder, |bytes| bytes[..5].to_vec()),
        says: &["a.safetensors"],
    },
    Kind {
        name: "a shard with a header of 2^63 bytes",
        make: |folder| damaged(folder, |bytes| [&(1_u64 << 63).to_le_bytes(), &bytes[8..]].concat()),
        says: &["a.safetensors"],
    },
    Kind {
        name: "a shard that is a text",
        make: |folder| damaged(folder, |_| b"version https://git-lfs.github.com/spec/v1\n".to_vec()),
        says: &["a.safetensors"],
    },
    Kind {
        name: "a numbered file without its partner",
        make: |folder| {
            write(&folder.join("model-00001-of-00002.safetensors"), &[codes()]);
            folder.to_owned()
        },
        says: &["model-00001-of-00002.safetensors", "not \"model-00002-of-00002.safetensors\""],
    },
    Kind {
        name: "a configuration that is a folder",
        make: |folder| {
            write(&folder.join("model.safetensors"), &[codes()]);
            fs::create_dir(folder.join("config.json")).expect("a folder");
            folder.to_owned()
        },
        says: &["config.json", "not a regular file"],
    },
    Kind {
        name: "a configuration that is no text",
        make: |folder| {
            fill(folder, "{}", &[codes()]);
            fs::write(folder.join("config.json"), [0xFF, 0xFE]).expect("a file");
            folder.to_owned()
        },
        says: &["config.json"],
    },
    #[cfg(unix)]
    Kind {
        name: "a link out of the folder",
        make: |folder| linked(folder, "../../../outside"),
        says: &[INDEX, "b.safetensors", "out of the folder"],
    },
    #[cfg(unix)]
    Kind {
        name: "a link to a link among the blobs",
        make: |folder| linked(folder, "../../blobs/c"),
        says: &["b.safetensors", "link to a link"],
    },
    #[cfg(unix)]
    Kind {
        name: "a link to itself",
        make: |folder| linked(folder, "b.safetensors"),
        says: &["b.safetensors", "cannot open"],
    },
    #[cfg(unix)]
    Kind {
        name: "a link to nothing",
        make: |folder| linked(folder, "../../blobs/d"),
        says: &["b.safetensors", "cannot open"],
    },
    #[cfg(unix)]
    Kind {
        name: "a configuration that is a link out of the folder",
        make: |folder| {
            let inner = folder.join("inner");
            fs::create_dir(&inner).expect("a folder");
            fill(&inner, "{}", &[codes()]);
            fs::rename(inner.join("config.json"), folder.join("config.json")).expect("a file");
            std::os::unix::fs::symlink("../config.json", inner.join("config.json")).expect("a link");
            inner
        },
        says: &["config.json", "out of the folder"],
    },
    #[cfg(unix)]
    Kind {
        name: "a shard that is a pipe",
        make: |folder| {
            sharded(folder, MAP);
            let shard = folder.join("b.safetensors");
            fs::remove_file(&shard).expect("a file");
            let made = std::process::Command::new("mkfifo").arg(&shard).status();
            // A system without the program: a folder is no regular file, too.
            if !made.is_ok_and(|status| status.success()) {
                fs::create_dir(&shard).expect("a folder");
            }
            folder.to_owned()
        },
        says: &["b.safetensors", "not a regular file"],
    },
];
