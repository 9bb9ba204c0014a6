//! Memory that checkpoints of large tensors take, which are read in ranges, and headers of 91 MB, which name more than anybody has, and the
//! largest that are read. A `.safetensors` header is read up to the limit of its format and takes a multiple of its length; all others take less
//! than a fixed amount.
//!
//! A program of its own with one test, as the system says only how much the largest of all programs took that this process started.
//! What it needs itself counts, too, so files are written piece by piece.
#![cfg(target_os = "linux")]

mod common;

use std::{
    fs::File,
    io::{BufWriter, Write},
    process::{Command, Stdio},
};

use common::{Folder, stderr};
use nix::sys::resource::{UsageWho, getrusage};

const MIB: u64 = 64;
const HEADER: u64 = 91_000_000;
/// For a `.safetensors` header of [`READ`] bytes, which is read: twenty bytes for each of its bytes.
const MIB_OF_TENSORS: u64 = 400;
const READ: u64 = 20_000_000;

/// Writes `head`, then what `item` says of 0, 1 and so on up to `bytes` bytes in all or `count` items, then `tail`.
fn repeat(
    file: &mut impl Write,
    head: &str,
    tail: &str,
    bytes: u64,
    count: u64,
    item: impl Fn(u64) -> Vec<u8>,
) {
    file.write_all(head.as_bytes()).unwrap();
    let mut written = head.len() as u64 + tail.len() as u64;
    for i in 0..count {
        let mut next = item(i);
        if i > 0 && head.contains('{') {
            next.insert(0, b',');
        }
        if written + next.len() as u64 > bytes {
            break;
        }
        file.write_all(&next).unwrap();
        written += next.len() as u64;
    }
    file.write_all(tail.as_bytes()).unwrap();
    while written < bytes && count == u64::MAX {
        file.write_all(b" ").unwrap();
        written += 1;
    }
}

fn create(folder: &Folder, name: &str) -> BufWriter<File> {
    BufWriter::new(File::create(folder.at(name)).unwrap())
}

/// A `.safetensors` file whose header has `bytes` bytes.
fn safetensors(folder: &Folder, bytes: u64, head: &str, tail: &str, item: impl Fn(u64) -> Vec<u8>) {
    let mut file = create(folder, "in.safetensors");
    file.write_all(&bytes.to_le_bytes()).unwrap();
    repeat(&mut file, head, tail, bytes, u64::MAX, item);
    file.flush().unwrap();
}

fn tensor(i: u64) -> String {
    format!("\"{i:x}\":{{\"dtype\":\"F32\",\"shape\":[0],\"data_offsets\":[0,0]}}")
}

/// MiB that the largest of the programs took so far.
fn peak() -> u64 {
    let kib = getrusage(UsageWho::RUSAGE_CHILDREN).unwrap().max_rss();
    u64::try_from(kib).expect("a size") >> 10
}

/// A checkpoint of one matrix of 160 MiB, of which a disk holds only the header.
fn checkpoint(folder: &Folder) {
    let header =
        r#"{"m.0.up_proj.weight":{"dtype":"F32","shape":[10240,4096],"data_offsets":[0,167772160]}}"#;
    std::fs::create_dir(folder.at("src")).unwrap();
    let mut file = create(folder, "src/model.safetensors");
    file.write_all(&(header.len() as u64).to_le_bytes()).unwrap();
    file.write_all(header.as_bytes()).unwrap();
    file.flush().unwrap();
    file.get_ref().set_len(8 + header.len() as u64 + 167_772_160).unwrap();
    folder.write("src/config.json", b"{}");
}

/// A field of protobuf of `bytes`.
fn field(number: u8, bytes: &[u8]) -> Vec<u8> {
    [&[number << 3 | 2, bytes.len() as u8][..], bytes].concat()
}

/// A model whose graph repeats `item` up to `HEADER` bytes.
fn onnx(folder: &Folder, item: impl Fn(u64) -> Vec<u8>) {
    let mut file = create(folder, "in.onnx");
    file.write_all(b"\x08\x08\x42\x04\x0a\x00\x10\x13\x3a").unwrap();
    let (mut length, mut i) = (0, 0);
    while length + 64 < HEADER {
        length += item(i).len() as u64;
        i += 1;
    }
    let mut rest = length;
    while rest >= 128 {
        file.write_all(&[rest as u8 | 128]).unwrap();
        rest >>= 7;
    }
    file.write_all(&[rest as u8]).unwrap();
    (0..i).for_each(|i| file.write_all(&item(i)).unwrap());
    file.flush().unwrap();
}

/// An archive of so many empty members.
fn npz(folder: &Folder, members: u32) {
    let mut file = create(folder, "in.npz");
    let of = |i: u32| format!("{i:08x}.bin");
    let zeros = [0; 12];
    for i in 0..members {
        file.write_all(b"PK\x03\x04\x14\0\0\0\0\0\0\0\x21\0").unwrap();
        file.write_all(&[&zeros[..], &[12, 0, 0, 0], of(i).as_bytes()].concat()).unwrap();
    }
    for i in 0..members {
        file.write_all(b"PK\x01\x02\x14\0\x14\0\0\0\0\0\0\0\x21\0").unwrap();
        file.write_all(
            &[&zeros[..], &[12, 0], &zeros[..], &(i * 42).to_le_bytes(), of(i).as_bytes()].concat(),
        )
        .unwrap();
    }
    let (size, start) = (u64::from(members) * 58, u64::from(members) * 42);
    let count = u64::from(members).to_le_bytes();
    file.write_all(b"PK\x06\x06\x2c\0\0\0\0\0\0\0\x2d\0\x2d\0\0\0\0\0\0\0\0\0").unwrap();
    file.write_all(&[&count[..], &count, &size.to_le_bytes(), &start.to_le_bytes()].concat()).unwrap();
    file.write_all(&[&b"PK\x06\x07\0\0\0\0"[..], &(size + start).to_le_bytes(), &[1, 0, 0, 0]].concat())
        .unwrap();
    file.write_all(b"PK\x05\x06\0\0\0\0\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\0\0").unwrap();
    file.flush().unwrap();
}

#[test]
fn headers_and_tensors_take_bounded_memory() {
    if common::words().len() > 1 {
        eprintln!("skipped: the memory is that of an emulator");
        return;
    }
    let folder = Folder::new();
    checkpoint(&folder);
    for args in [
        "convert src cast --to bfloat16 --verify --threads 4",
        "quantize src codes --scheme mxfp4 --layout compressed-tensors --threads 4",
        "quantize src tiles --scheme fp8-block --layout deepseek --threads 4",
        "dequantize codes values --to bfloat16 --threads 4",
        "dequantize tiles more --to float32 --threads 4",
    ] {
        common::good(folder.run(&args.split(' ').collect::<Vec<_>>()));
        let peak = peak();
        eprintln!("{args}: at most {peak} MiB up to here");
        assert!(peak < MIB, "{args}: {peak} MiB");
    }
    // A few blocks for each thread.
    let cores = std::thread::available_parallelism().map_or(1, |n| n.get() as u64);
    for input in ["src", "src/model.safetensors", "-"] {
        let mut cat = Command::new("cat");
        let mut cat = cat.arg(folder.at("src/model.safetensors")).stdout(Stdio::piped()).spawn().unwrap();
        let mut command = common::program();
        command.args(["inspect", input, "--what-if", "nvfp4,fp8-block128,int8-row,bfloat16"]);
        command.current_dir(folder.path()).stdin(cat.stdout.take().unwrap());
        common::good(command.output().unwrap());
        // The pipe of a program that did not read it ends.
        drop(command);
        cat.wait().unwrap();
        let peak = peak();
        eprintln!("inspect {input}: at most {peak} MiB up to here");
        assert!(peak < MIB + 8 * cores, "{input}: {peak} MiB");
    }
    let check_below = |limit: u64, what: &str, file: &str, codes: &[i32]| {
        let out = file.replace("in.", "out.");
        for args in
            [&["inspect", file][..], &["cast", file, &out, "--to", "f16", "--force", "--include", "*"]]
        {
            let output = folder.run(args);
            assert!(
                output.status.code().is_some_and(|code| codes.contains(&code)),
                "{what}: {}",
                stderr(&output)
            );
            let peak = peak();
            eprintln!("{what}, {}: at most {peak} MiB up to here: {}", args[0], stderr(&output).trim_end());
            assert!(peak < limit, "{what}: {peak} MiB");
        }
        folder.remove(file);
    };
    let check = |what: &str, file: &str, codes: &[i32]| check_below(MIB, what, file, codes);
    let x = |_| vec![b'x'; 1 << 16];
    for (what, head, tail) in [
        ("long metadata", "[\"__metadata__\":{\"a\":\"", "\"}}"),
        ("long name", "[\"", "\":1}"),
        ("long dtype", "[\"a\":{\"dtype\":\"", "\"}}"),
        ("long key", "[\"a\":{\"", "\":1}}"),
    ] {
        // The helper puts commas only into what begins as a map.
        safetensors(&folder, HEADER, head, tail, x);
        let file = File::options().write(true).open(folder.at("in.safetensors")).unwrap();
        std::os::unix::fs::FileExt::write_all_at(&file, b"{", 8).unwrap();
        check(what, "in.safetensors", &[4, 5]);
    }
    let mut npy = b"\x93NUMPY\x02\x00".to_vec();
    npy.extend_from_slice(&(HEADER as u32).to_le_bytes());
    folder.write("in.npy", &npy);
    File::options().write(true).open(folder.at("in.npy")).unwrap().set_len(HEADER + 12).unwrap();
    check("array", "in.npy", &[4]);

    npz(&folder, 900_000);
    check("members", "in.npz", &[5]);
    npz(&folder, 16_000);
    // Nothing in it can be cast, which is said after all members were read.
    check("most members", "in.npz", &[0, 2]);

    onnx(&folder, |i| {
        field(5, &[&[8, 0, 16, 1, 0x4a, 0][..], &field(8, format!("{i:x}").as_bytes())].concat())
    });
    check("initializers", "in.onnx", &[5]);
    onnx(&folder, |i| field(11, &field(1, format!("{i:x}").as_bytes())));
    check("inputs", "in.onnx", &[5]);
    // Pairs of metadata behind the graph, of 1 MiB each.
    let mut file = create(&folder, "in.onnx");
    file.write_all(b"\x08\x08\x42\x04\x0a\x00\x10\x13\x3a\x00").unwrap();
    for _ in 0..90 {
        file.write_all(b"\x72\x84\x80\x40\x12\x80\x80\x40").unwrap();
        file.write_all(&[b'x'; 1 << 20]).unwrap();
    }
    file.flush().unwrap();
    check("metadata of a model", "in.onnx", &[5]);
    onnx(&folder, |_| field(1, &field(4, b"X")));
    check("nodes", "in.onnx", &[0, 5]);

    // The most memory comes last: the system says only how much the largest of all took.
    let check = |what: &str| check_below(MIB_OF_TENSORS, what, "in.safetensors", &[0]);
    let axes = "1,".repeat(63);
    safetensors(&folder, READ, "{", "}", |i| tensor(i).replace("[0]", &format!("[{axes}0]")).into_bytes());
    check("axes");
    safetensors(&folder, READ, "{\"__metadata__\":{", "}}", |i| format!("\"{i:x}\":\"\"").into_bytes());
    check("metadata");
    safetensors(&folder, READ, "{", "}", |i| tensor(i).into_bytes());
    check("tensors");
}
