//! Files of PyTorch: pickles that would run something, that never end, that lie about their storages.

use std::{
    fs,
    path::{Path, PathBuf},
};

use zip::CompressionMethod::{Deflated, Stored};

use super::Kind;
use crate::common::pickles::{
    archive, call, dict, global, int, ints, long, pickle, storage, tensor, text, torch_file, tuple,
};

/// A file with this value and a storage of four floats.
fn file(folder: &Path, value: &[u8]) -> PathBuf {
    let path = folder.join("a.bin");
    torch_file(&path, value, &[("0", &[0; 16])]);
    path
}

/// A dictionary with one tensor, of these elements of the storage.
fn view(folder: &Path, offset: i64, shape: &[i64], strides: &[i64]) -> PathBuf {
    file(folder, &dict(&[("w", tensor(storage("FloatStorage", "0", 4), offset, shape, strides))]))
}

/// A file of these members.
fn members(folder: &Path, members: &[(&str, &[u8])]) -> PathBuf {
    archive(&folder.join("a.bin"), Stored, members);
    folder.join("a.bin")
}

/// The pickle of a dictionary with one tensor.
fn good() -> Vec<u8> {
    pickle(&dict(&[("w", tensor(storage("FloatStorage", "0", 4), 0, &[4], &[1]))]))
}

/// An older file: five pickles, and what follows them.
fn older(folder: &Path, value: &[u8], keys: &[u8], data: &[u8]) -> PathBuf {
    let magic = b"\x80\x02\x8a\x0al\xfc\x9cF\xf9 j\xa8P\x19.";
    let system = dict(&[("little_endian", b"\x88".to_vec())]);
    let parts = [&magic[..], &pickle(&int(1001)), &pickle(&system), &pickle(value), &pickle(keys), data];
    fs::write(folder.join("a.pt"), parts.concat()).expect("a file");
    folder.join("a.pt")
}

/// The value of `good`, with the storage that older files name.
fn older_value() -> Vec<u8> {
    let id =
        [text("storage"), global("torch", "FloatStorage"), text("7"), text("cpu"), long(4), b"N".to_vec()];
    dict(&[("w", tensor([tuple(&id), b"Q".to_vec()].concat(), 0, &[4], &[1]))])
}

fn keys(names: &[&str]) -> Vec<u8> {
    let names: Vec<u8> = names.iter().flat_map(|name| text(name)).collect();
    [&b"]("[..], &names, b"e"].concat()
}

pub const KINDS: &[Kind] = &[
    Kind {
        name: "a pickle that calls the shell",
        make: |folder| file(folder, &call("os", "system", &[text("touch pwned")])),
        says: &["a.bin", "data.pkl", "\"os.system\"", "nothing was run"],
    },
    Kind {
        name: "a pickle that evaluates a text",
        make: |folder| file(folder, &[text("builtins"), text("eval"), b"\x93".to_vec()].concat()),
        says: &["a.bin", "\"builtins.eval\"", "nothing was run"],
    },
    Kind {
        name: "a pickle of a name with control characters",
        make: |folder| file(folder, &[text("a\u{1b}[2J"), text("b\nc"), b"\x93".to_vec()].concat()),
        says: &["a.bin", "\\u{1b}", "nothing was run"],
    },
    Kind {
        name: "a pickle that makes an object",
        make: |folder| file(folder, &[global("torch", "Tensor"), tuple(&[]), b"\x81".to_vec()].concat()),
        says: &["a.bin", "an object of a class", "0x81"],
    },
    Kind {
        name: "a pickle of a program of TorchScript",
        make: |folder| file(folder, &global("__torch__", "Model")),
        says: &["a.bin", "\"__torch__.Model\""],
    },
    Kind {
        name: "a pickle that calls a text",
        make: |folder| file(folder, &[text("eval"), tuple(&[]), b"R".to_vec()].concat()),
        says: &["a.bin", "calls a text"],
    },
    Kind {
        name: "a pickle that sets attributes of a global",
        make: |folder| file(folder, &[global("torch", "Size"), dict(&[]), b"b".to_vec()].concat()),
        says: &["a.bin", "sets attributes of a global"],
    },
    Kind {
        name: "a pickle that does not end",
        make: |folder| members(folder, &[("m/data.pkl", b"\x80\x02}")]),
        says: &["a.bin", "data.pkl", "ends early"],
    },
    Kind {
        name: "a pickle with a text of 2^60 bytes",
        make: |folder| file(folder, &[&b"\x8d"[..], &(1_u64 << 60).to_le_bytes()].concat()),
        says: &["a.bin", "more than"],
    },
    Kind {
        name: "a pickle with a text of 32 MiB that is not there",
        make: |folder| file(folder, &[&b"X"[..], &(1_u32 << 25).to_le_bytes()].concat()),
        says: &["a.bin", "ends early"],
    },
    Kind {
        name: "a pickle of a new protocol",
        make: |folder| members(folder, &[("m/data.pkl", b"\x80\x09}.")]),
        says: &["a.bin", "protocol 9"],
    },
    Kind {
        name: "a pickle with an opcode that is not known",
        make: |folder| file(folder, b"\xfe"),
        says: &["a.bin", "0xfe"],
    },
    Kind {
        name: "a pickle that takes what is not there",
        make: |folder| file(folder, b"(0"),
        says: &["a.bin", "has not pushed"],
    },
    Kind {
        name: "a pickle that remembers nothing",
        make: |folder| file(folder, b"h\x07"),
        says: &["a.bin", "remembers nothing at 7"],
    },
    Kind {
        name: "a pickle of more values than memory should hold",
        make: |folder| {
            let value = pickle(&vec![b'N'; 5 << 20]);
            archive(&folder.join("a.bin"), Deflated, &[("m/data.pkl", &value)]);
            folder.join("a.bin")
        },
        says: &["a.bin", "more than 4194304 values"],
    },
    Kind {
        name: "a pickle that decompresses to 80 MiB",
        make: |folder| {
            archive(&folder.join("a.bin"), Deflated, &[("m/data.pkl", &vec![0; 80 << 20])]);
            folder.join("a.bin")
        },
        says: &["a.bin", "m/data.pkl", "more than 67108864 bytes"],
    },
    Kind {
        name: "a dictionary in itself",
        make: |folder| file(folder, &[&b"}q\x00"[..], &text("d"), b"h\x00s"].concat()),
        says: &["a.bin", "\"d\"", "in two places"],
    },
    Kind {
        name: "a dictionary that doubles at each of 60 levels",
        make: |folder| {
            let mut value = b"}q\x00".to_vec();
            for level in 1..=60_u8 {
                let (a, b) = (text("a"), text("b"));
                value = [
                    &value[..],
                    b"0}",
                    &a,
                    &[b'h', level - 1, b's'],
                    &b,
                    &[b'h', level - 1, b's', b'q', level],
                ]
                .concat();
            }
            file(folder, &value)
        },
        says: &["a.bin", "dictionar"],
    },
    Kind {
        name: "dictionaries 20 deep",
        make: |folder| {
            let value = (0..20).fold(dict(&[]), |inner, _| dict(&[("d", inner)]));
            file(folder, &value)
        },
        says: &["a.bin", "nested more than 16 deep", "d.d.d"],
    },
    Kind {
        name: "a file without tensors",
        make: |folder| file(folder, &dict(&[("epoch", int(3))])),
        says: &["a.bin", "no tensors"],
    },
    Kind {
        name: "a list instead of a dictionary",
        make: |folder| file(folder, b"]"),
        says: &["a.bin", "a list, not a dictionary"],
    },
    Kind {
        name: "a list of tensors",
        make: |folder| {
            let one = tensor(storage("FloatStorage", "0", 4), 0, &[4], &[1]);
            file(folder, &dict(&[("all", [&b"]"[..], &one, b"a"].concat())]))
        },
        says: &["a.bin", "\"all\"", "a list of tensors"],
    },
    Kind {
        name: "a key that is no text",
        make: |folder| file(folder, &[&b"}"[..], &tuple(&[]), b"Ns"].concat()),
        says: &["a.bin", "a key is a tuple"],
    },
    Kind {
        name: "two dictionaries of weights",
        make: |folder| file(folder, &dict(&[("model", dict(&[])), ("state_dict", dict(&[]))])),
        says: &["a.bin", "\"model\"", "\"state_dict\""],
    },
    Kind {
        name: "a name twice in a pickle",
        make: |folder| {
            let one = tensor(storage("FloatStorage", "0", 4), 0, &[4], &[1]);
            file(folder, &dict(&[("w", one.clone()), ("w", one)]))
        },
        says: &["a.bin", "\"w\"", "same name"],
    },
    Kind {
        name: "a tensor larger than its storage",
        make: |folder| view(folder, 1, &[4], &[1]),
        says: &["a.bin", "[4]", "larger than its storage of 4", "storage \"0\""],
    },
    Kind {
        name: "a tensor with strides beyond its storage",
        make: |folder| view(folder, 0, &[2, 2], &[3, 1]),
        says: &["a.bin", "[3, 1]", "larger than its storage"],
    },
    Kind {
        name: "a tensor of a negative size",
        make: |folder| view(folder, 0, &[-1], &[1]),
        says: &["a.bin", "the size -1"],
    },
    Kind {
        name: "a tensor with a negative stride",
        make: |folder| view(folder, 3, &[4], &[-1]),
        says: &["a.bin", "the size -1"],
    },
    Kind {
        name: "a tensor of 2^80 elements",
        make: |folder| view(folder, 0, &[1 << 40, 1 << 40], &[0, 0]),
        says: &["a.bin", "repeats elements"],
    },
    Kind {
        name: "a tensor of 65 axes",
        make: |folder| view(folder, 0, &[1; 65], &[1; 65]),
        says: &["a.bin", "65 axes"],
    },
    Kind {
        name: "a tensor with fewer strides than axes",
        make: |folder| view(folder, 0, &[2, 2], &[1]),
        says: &["a.bin", "2 axes and 1 strides"],
    },
    Kind {
        name: "a storage that is missing",
        make: |folder| file(folder, &dict(&[("w", tensor(storage("FloatStorage", "5", 4), 0, &[4], &[1]))])),
        says: &["a.bin", "\"w\"", "no member \"m/data/5\""],
    },
    Kind {
        name: "a storage whose name climbs",
        make: |folder| {
            file(folder, &dict(&[("w", tensor(storage("FloatStorage", "../../passwd", 4), 0, &[4], &[1]))]))
        },
        says: &["a.bin", "no member \"m/data/../../passwd\""],
    },
    Kind {
        name: "a storage that is smaller than it says",
        make: |folder| file(folder, &dict(&[("w", tensor(storage("FloatStorage", "0", 9), 0, &[9], &[1]))])),
        says: &["a.bin", "\"w\"", "m/data/0", "has 16 bytes", "36"],
    },
    Kind {
        name: "a storage of 2^62 elements",
        make: |folder| {
            file(folder, &dict(&[("w", tensor(storage("FloatStorage", "0", 1 << 62), 0, &[4], &[1]))]))
        },
        says: &["a.bin", "storage \"0\"", "memory"],
    },
    Kind {
        name: "a storage of two sizes",
        make: |folder| {
            let (one, two) = (storage("FloatStorage", "0", 4), storage("FloatStorage", "0", 3));
            file(folder, &dict(&[("a", tensor(one, 0, &[4], &[1])), ("b", tensor(two, 0, &[3], &[1]))]))
        },
        says: &["a.bin", "\"0\" has two sizes"],
    },
    Kind {
        name: "a storage of quantized integers",
        make: |folder| file(folder, &dict(&[("w", tensor(storage("QInt8Storage", "0", 4), 0, &[4], &[1]))])),
        says: &["a.bin", "torch.QInt8Storage"],
    },
    Kind {
        name: "a storage that is no storage",
        make: |folder| file(folder, &[ints(&[1, 2]), b"Q".to_vec()].concat()),
        says: &["a.bin", "persistent id"],
    },
    Kind {
        name: "a storage without values",
        make: |folder| {
            let id = [text("storage"), global("torch", "FloatStorage"), text("0"), text("meta"), long(4)];
            file(folder, &[tuple(&id), b"Q".to_vec()].concat())
        },
        says: &["a.bin", "storage \"0\"", "meta"],
    },
    Kind {
        name: "a storage that is compressed",
        make: |folder| {
            archive(&folder.join("a.bin"), Deflated, &[("m/data.pkl", &good()), ("m/data/0", &[0; 16])]);
            folder.join("a.bin")
        },
        says: &["a.bin", "\"w\"", "m/data/0", "compressed"],
    },
    Kind {
        name: "big-endian storages",
        make: |folder| {
            members(folder, &[("m/data.pkl", &good()), ("m/byteorder", b"big"), ("m/data/0", &[0; 16])])
        },
        says: &["a.bin", "\"big\""],
    },
    Kind {
        name: "two pickles in an archive",
        make: |folder| members(folder, &[("m/data.pkl", &good()), ("n/data.pkl", &good())]),
        says: &["a.bin", "NAME/data.pkl"],
    },
    Kind {
        name: "an archive without its directory",
        make: |folder| {
            let path = file(folder, &dict(&[]));
            let bytes = fs::read(&path).expect("bytes");
            fs::write(&path, &bytes[..bytes.len() - 30]).expect("a file");
            path
        },
        says: &["a.bin"],
    },
    Kind {
        name: "a pickle that torch.save did not write",
        make: |folder| {
            fs::write(folder.join("a.pt"), good()).expect("a file");
            folder.join("a.pt")
        },
        says: &["a.pt", "torch.save"],
    },
    Kind {
        name: "an older file that ends early",
        make: |folder| older(folder, &older_value(), &keys(&["7"]), &[4, 0, 0, 0, 0, 0, 0, 0, 1]),
        says: &["a.pt", "storage \"7\"", "end of the file"],
    },
    Kind {
        name: "an older file that lies about a storage",
        make: |folder| older(folder, &older_value(), &keys(&["7"]), &[3; 24]),
        says: &["a.pt", "storage \"7\"", "its tensors say 4"],
    },
    Kind {
        name: "an older file without a storage",
        make: |folder| older(folder, &older_value(), &keys(&[]), &[]),
        says: &["a.pt", "\"w\"", "does not have the storage"],
    },
    Kind {
        name: "an older file with a storage of no tensor",
        make: |folder| older(folder, &older_value(), &keys(&["8"]), &[0; 24]),
        says: &["a.pt", "storage \"8\"", "size is not known"],
    },
    Kind {
        name: "an older file that runs something",
        make: |folder| older(folder, &call("posix", "system", &[text("id")]), &keys(&[]), &[]),
        says: &["a.pt", "\"posix.system\"", "nothing was run"],
    },
];
