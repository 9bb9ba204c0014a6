//! Files that are truncated, corrupt or made to harm: each is refused with one line and the right exit
//! code, at once and in little memory, and nothing is left behind. [`Folder::refuses`] says what is checked
//! for each.

use crate::common;
use crate::common::{Folder, bad, f32s, npy, npy_of, npz, safetensors, stderr};
use zip::CompressionMethod::{Deflated, Stored};

/// Exit codes.
const BAD: &[i32] = &[4];
const UNSUPPORTED: &[i32] = &[5];

fn each(extension: &str, codes: &[i32], cases: &[(&str, Vec<u8>)]) {
    let folder = Folder::new();
    let file = format!("in.{extension}");
    for (name, bytes) in cases {
        folder.write(&file, bytes);
        eprintln!("{name}: {}", folder.refuses(&file, codes).trim_end());
    }
}

fn small_safetensors() -> Vec<u8> {
    let header = concat!(
        r#"{"__metadata__":{"k":"v"},"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]},"#,
        r#""b":{"dtype":"F16","shape":[2],"data_offsets":[4,8]}}"#
    );
    safetensors(header, &[0; 8])
}

fn small_npy() -> Vec<u8> {
    npy("<f4", "(2, 1)", &f32s(&[1.0, 2.0]))
}

fn small_npz() -> Vec<u8> {
    npz(&[("a.npy", &small_npy()), ("b.npy", &npy("<f2", "(1,)", &[0, 0]))], Deflated)
}

#[test]
fn truncated_at_every_byte() {
    for (file, bytes) in
        [("in.safetensors", small_safetensors()), ("in.npy", small_npy()), ("in.npz", small_npz())]
    {
        let folder = Folder::new();
        for length in 0..bytes.len() {
            folder.write(file, &bytes[..length]);
            folder.refuses(file, BAD);
        }
        // Too long is as wrong, where the readers of the format say so.
        if file == "in.safetensors" {
            folder.write(file, &[&bytes[..], &[0]].concat());
            folder.refuses(file, BAD);
        }
    }
}

#[test]
fn every_byte_changed() {
    for (file, bytes) in
        [("in.safetensors", small_safetensors()), ("in.npy", small_npy()), ("in.npz", small_npz())]
    {
        let folder = Folder::new();
        let out = file.replace("in", "out");
        for (i, flip) in (0..bytes.len()).flat_map(|i| [(i, 0xFF), (i, 0x01), (i, 0x20)]) {
            let mut changed = bytes.clone();
            changed[i] ^= flip;
            folder.write(file, &changed);
            let output = folder.run(&["cast", file, &out, "--to", "f64"]);
            match output.status.code() {
                // A changed value or name is as good as the old one.
                Some(0) => assert_eq!(stderr(&output), "", "byte {i} of {file}"),
                _ => drop(bad(&output, &[2, 4, 5])),
            }
            if folder.at(&out).exists() {
                folder.remove(&out);
            }
            assert_eq!(folder.names(), [file], "byte {i} of {file}");
        }
    }
}

#[test]
fn safetensors_headers() {
    let of = |header: &str| safetensors(header, &[0; 8]);
    let one = |entry: &str| of(&format!("{{\"a\":{entry}}}"));
    let with_length = |length: u64| [&length.to_le_bytes()[..], &small_safetensors()[8..]].concat();
    let f32_at = |begin: u64, end: u64, shape: &str| {
        one(&format!("{{\"dtype\":\"F32\",\"shape\":{shape},\"data_offsets\":[{begin},{end}]}}"))
    };
    let two = |a: (u64, u64), b: (u64, u64)| {
        let entry = |(begin, end): (u64, u64)| {
            format!("{{\"dtype\":\"U8\",\"shape\":[{}],\"data_offsets\":[{begin},{end}]}}", end - begin)
        };
        of(&format!("{{\"a\":{},\"b\":{}}}", entry(a), entry(b)))
    };
    let sound = r#"{"dtype":"F32","shape":[2],"data_offsets":[0,8]}"#;
    let deep = |open: &str, close: &str| open.repeat(200_000) + &close.repeat(200_000);
    let cases = vec![
        ("empty", vec![]),
        ("length of u64::MAX", with_length(u64::MAX)),
        ("length of i64::MAX", with_length(i64::MAX as u64)),
        ("length of the whole file", with_length(small_safetensors().len() as u64)),
        ("length above the limit", with_length(100_000_001)),
        ("length of 0", with_length(0)),
        ("no JSON", of("hello")),
        ("not UTF-8", [&9_u64.to_le_bytes()[..], b"{\"\xFF\xFE\":1}", &[0; 8]].concat()),
        ("a list", of("[]")),
        ("leading space", of(&format!(" {{\"a\":{sound}}}"))),
        ("trailing text", of(&format!("{{\"a\":{sound}}}x"))),
        ("trailing zeros", of(&format!("{{\"a\":{sound}}}\0\0"))),
        ("no tensors, but data", of("{}")),
        ("tensor is a number", one("1")),
        ("tensor is null", one("null")),
        ("no dtype", one(r#"{"shape":[2],"data_offsets":[0,8]}"#)),
        ("no shape", one(r#"{"dtype":"F32","data_offsets":[0,8]}"#)),
        ("no offsets", one(r#"{"dtype":"F32","shape":[2]}"#)),
        ("field twice", one(r#"{"dtype":"F32","dtype":"F32","shape":[2],"data_offsets":[0,8]}"#)),
        ("negative dimension", f32_at(0, 8, "[-2]")),
        ("fractional dimension", f32_at(0, 8, "[2.0]")),
        ("dimension above u64", f32_at(0, 8, "[18446744073709551616]")),
        ("one offset", one(r#"{"dtype":"F32","shape":[2],"data_offsets":[8]}"#)),
        ("three offsets", one(r#"{"dtype":"F32","shape":[2],"data_offsets":[0,4,8]}"#)),
        ("negative offset", one(r#"{"dtype":"F32","shape":[2],"data_offsets":[-8,0]}"#)),
        ("offsets reversed", f32_at(8, 0, "[2]")),
        ("beyond the file", f32_at(0, 16, "[4]")),
        ("offset of u64::MAX", f32_at(u64::MAX - 8, u64::MAX, "[2]")),
        ("size of u64::MAX", f32_at(0, u64::MAX, "[2]")),
        ("shape overflows", f32_at(0, 8, "[4294967296,4294967296,2]")),
        ("shape overflows into zero", f32_at(0, 8, "[9223372036854775808,2,1]")),
        ("bytes overflow", f32_at(0, 8, "[9223372036854775807]")),
        ("shape too large", f32_at(0, 8, "[3]")),
        ("shape too small", f32_at(0, 8, "[1]")),
        ("hole at the start", f32_at(4, 8, "[1]")),
        ("hole at the end", f32_at(0, 4, "[1]")),
        ("hole in the middle", two((0, 2), (4, 8))),
        ("overlap", two((0, 5), (4, 8))),
        ("same bytes", two((0, 8), (0, 8))),
        ("torn byte", one(r#"{"dtype":"F4","shape":[15],"data_offsets":[0,8]}"#)),
        ("name twice", of(&format!("{{\"a\":{sound},\"a\":{sound}}}"))),
        ("name twice, once escaped", of(&format!("{{\"a\":{sound},\"\\u0061\":{sound}}}"))),
        ("metadata twice", of(&format!("{{\"__metadata__\":{{}},\"a\":{sound},\"__metadata__\":{{}}}}"))),
        (
            "metadata key twice",
            of(&format!("{{\"__metadata__\":{{\"k\":\"1\",\"k\":\"2\"}},\"a\":{sound}}}")),
        ),
        ("metadata of numbers", of(&format!("{{\"__metadata__\":{{\"k\":1}},\"a\":{sound}}}"))),
        ("deep lists", of(&deep("[", "]"))),
        ("deep maps", of(&format!("{{\"a\":{}}}", deep("{\"a\":", "}")))),
        ("deep shape", f32_at(0, 8, &deep("[", "]"))),
        ("deep metadata", of(&format!("{{\"__metadata__\":{}}}", deep("[", "]")))),
        ("long dtype", one(&format!("{{\"dtype\":\"{}\"}}", "F".repeat(1 << 20)))),
        ("long name", of(&format!("{{\"{}\":{{\"dtype\":\"\\u0000\"}}}}", "a\\n".repeat(1 << 18)))),
        ("many axes", f32_at(0, 8, &format!("[{}2]", "2,".repeat(100_000)))),
    ];
    each("safetensors", BAD, &cases);
    let unknown = vec![
        ("dtype in lower case", one(r#"{"dtype":"f32","shape":[2],"data_offsets":[0,8]}"#)),
        ("unknown dtype", one(r#"{"dtype":"F128","shape":[2],"data_offsets":[0,8]}"#)),
        (
            "name of control characters",
            of(r#"{"a\n\u001b[2J\u202e":{"dtype":"X","shape":[],"data_offsets":[0,8]}}"#),
        ),
    ];
    each("safetensors", UNSUPPORTED, &unknown);
}

#[test]
fn npy_headers() {
    let of = |literal: &str| npy_of(literal, &[0; 8]);
    let shaped = |shape: &str| npy("<f4", shape, &[0; 8]);
    let magic = |bytes: &[u8]| [bytes, &small_npy()[bytes.len()..]].concat();
    let long = |version: u8, length: u32| {
        let rest = &small_npy()[10..];
        [b"\x93NUMPY", &[version, 0][..], &length.to_le_bytes(), rest].concat()
    };
    let cases = vec![
        ("empty", vec![]),
        ("no magic", magic(b"\x94NUMPY")),
        ("text", b"hello, this is no array at all, not even remotely".to_vec()),
        ("version 0", magic(b"\x93NUMPY\x00\x00")),
        ("version 4", magic(b"\x93NUMPY\x04\x00")),
        ("version 1.1", magic(b"\x93NUMPY\x01\x01")),
        ("header of 65535 bytes", magic(b"\x93NUMPY\x01\x00\xFF\xFF")),
        ("header of u32::MAX bytes", long(2, u32::MAX)),
        ("header of i32::MAX bytes", long(3, i32::MAX as u32)),
        ("header of 0 bytes", long(2, 0)),
        ("garbage", of("\u{0}\u{1}\u{2} {{{ ]]] \"\"\" '''")),
        ("a list", of("[]")),
        ("a call", of("__import__('os').system('true')")),
        ("no keys", of("{}")),
        ("no shape", of("{'descr': '<f4', 'fortran_order': False}")),
        ("unknown key", of("{'descr': '<f4', 'fortran_order': False, 'shape': (2,), 'x': 1}")),
        ("key twice", of("{'descr': '<f4', 'fortran_order': False, 'shape': (2,), 'shape': (2,)}")),
        ("string without an end", of("{'descr': '<f4")),
        ("escape", of("{'descr': '\\x3cf4', 'fortran_order': False, 'shape': (2,)}")),
        ("trailing text", of("{'descr': '<f4', 'fortran_order': False, 'shape': (2,)} + 1")),
        ("order is a number", of("{'descr': '<f4', 'fortran_order': 1, 'shape': (2,)}")),
        ("shape is a number", shaped("2")),
        ("shape is a group", shaped("(2)")),
        ("negative dimension", shaped("(-2,)")),
        ("negative dimensions whose product is right", shaped("(-2, -1)")),
        ("float dimension", shaped("(2.0,)")),
        ("true dimension", shaped("(True, 2)")),
        ("hexadecimal dimension", shaped("(0x2,)")),
        ("dimension above u64", shaped("(18446744073709551616,)")),
        ("dimension of 60000 digits", shaped(&format!("({},)", "9".repeat(60_000)))),
        ("shape overflows", shaped("(4294967296, 4294967296, 2)")),
        ("bytes overflow", shaped("(9223372036854775807,)")),
        ("absurd shape", shaped("(1000000000000, 1000)")),
        ("too large", shaped("(3,)")),
        ("10000 axes", shaped(&format!("({}2)", "1, ".repeat(10_000)))),
        ("deep", of(&format!("{{'shape': {}", "(".repeat(60_000)))),
        (
            "structure that is too large",
            of("{'descr': [('a', '<f8')], 'fortran_order': False, 'shape': (2,), }"),
        ),
        ("string of bytes", of("{'descr': b'<f4', 'fortran_order': False, 'shape': (2,)}")),
        ("structure without a shape", of("{'descr': [('a', '<f4')], 'fortran_order': False}")),
        (
            "structure whose bytes overflow",
            of("{'descr': [('a', '|V2000000000')], 'fortran_order': False, 'shape': (10000000000,)}"),
        ),
        (
            "fields whose elements overflow",
            of(
                "{'descr': [('a', '|V0', (2000000000,)), ('b', '<f4')], 'fortran_order': False, 'shape': (4000000000,)}",
            ),
        ),
        ("unknown descriptor", npy("<q4", "(2,)", &[0; 8])),
        ("empty descriptor", npy("", "(2,)", &[0; 8])),
        ("order alone", npy("<", "(2,)", &[0; 8])),
        ("float of 3 bytes", npy("<f3", "(2,)", &[0; 8])),
        ("float of no bytes", npy("<f", "(2,)", &[0; 8])),
        ("float of many bytes", npy("<f99999999999999999999", "(2,)", &[0; 8])),
        ("descriptor of control characters", npy("\u{1b}[2J", "(2,)", &[0; 8])),
    ];
    each("npy", BAD, &cases);
    let cases = vec![
        ("objects", npy("|O", "(1,)", b"cos\nsystem\n(S'true'\ntR.")),
        ("structure", of("{'descr': [('a', '|O')], 'fortran_order': False, 'shape': (2,), }")),
        ("deep structure", of(&format!("{{'descr': {}", "[(".repeat(30_000)))),
        ("subarray", of("{'descr': ('<f4', (2,)), 'fortran_order': False, 'shape': (), }")),
    ];
    each("npy", UNSUPPORTED, &cases);
}

/// The archive with `bytes` written at `offset` behind each place where `signature` stands.
fn patched(archive: &[u8], signature: &[u8; 4], offset: usize, bytes: &[u8]) -> Vec<u8> {
    let mut archive = archive.to_vec();
    let places: Vec<usize> =
        (0..archive.len() - 3).filter(|i| archive[*i..].starts_with(signature)).collect();
    for place in places {
        archive[place + offset..place + offset + bytes.len()].copy_from_slice(bytes);
    }
    archive
}

const LOCAL: &[u8; 4] = b"PK\x03\x04";
const CENTRAL: &[u8; 4] = b"PK\x01\x02";
const END: &[u8; 4] = b"PK\x05\x06";

#[test]
fn archives() {
    let stored = npz(&[("a.npy", &small_npy())], Stored);
    let deflated = small_npz();
    // Fields of both headers of every member.
    let both = |archive: &[u8], local: usize, central: usize, bytes: &[u8]| {
        patched(&patched(archive, LOCAL, local, bytes), CENTRAL, central, bytes)
    };
    let huge = npy("<f4", "(1000000000000,)", &[0; 8]);
    let member = |bytes: &[u8]| npz(&[("a.npy", bytes)], Deflated);
    let mut damaged = deflated.clone();
    damaged[60] ^= 0x55;
    let bomb = npy("<f4", "(2,)", &vec![0; 64 << 20]);
    let cases = vec![
        ("empty", vec![]),
        ("text", b"this is no archive".to_vec()),
        ("checksum", both(&stored, 14, 16, &[1, 2, 3, 4])),
        ("damaged stream", damaged),
        ("stored size too small", both(&both(&stored, 18, 20, &[9, 0, 0, 0]), 22, 24, &[9, 0, 0, 0])),
        ("stored size too large", both(&both(&stored, 18, 20, &[0, 0, 0, 64]), 22, 24, &[0, 0, 0, 64])),
        ("size too small", both(&deflated, 22, 24, &[9, 0, 0, 0])),
        ("size too large", both(&deflated, 22, 24, &[0xFE, 0xFF, 0xFF, 0xFF])),
        ("sizes that disagree", patched(&deflated, LOCAL, 22, &[9, 0, 0, 0])),
        ("compressed size too large", both(&deflated, 18, 20, &[0xFE, 0xFF, 0xFF, 0xFF])),
        ("names that disagree", patched(&deflated, LOCAL, 30, b"z")),
        ("the same name twice", patched(&patched(&deflated, LOCAL, 30, b"a"), CENTRAL, 46, b"a")),
        ("members at the same place", patched(&deflated, CENTRAL, 42, &[0, 0, 0, 0])),
        ("members beyond the file", patched(&deflated, CENTRAL, 42, &[0, 0, 0, 0x70])),
        ("65534 members", patched(&deflated, END, 8, &[0xFE, 0xFF, 0xFE, 0xFF])),
        ("directory beyond the file", patched(&deflated, END, 16, &[0, 0, 0, 0x7F])),
        ("array of an absurd shape", member(&huge)),
        ("array of garbage", member(b"not an array, although its name says so")),
        ("array that ends early", member(&small_npy()[..20])),
        ("empty array", member(b"")),
    ];
    each("npz", BAD, &cases);
    // The directory says the right size, the stream has more.
    let goes_on = both(&member(&bomb), 22, 24, &(bomb.len() as u32 - (64 << 20) + 8).to_le_bytes());
    each("npz", BAD, &[("stream that goes on", goes_on)]);
    let cases = [
        ("encrypted", both(&deflated, 6, 8, &[1, 0])),
        ("unknown compression", both(&deflated, 8, 10, &[97, 0])),
        ("several disks", patched(&deflated, END, 4, &[1, 0])),
    ];
    each("npz", UNSUPPORTED, &cases[..2]);
    each("npz", &[4, 5], &cases[2..]);
    // What is not cast is not looked into.
    let folder = Folder::new();
    folder.write("in.npz", &cases[1].1);
    common::good(folder.run(&["cast", "in.npz", "out.npz", "--to", "f64", "--exclude", "*"]));
}

#[test]
fn names_of_members_are_only_names() {
    let folder = Folder::new();
    let long = format!("{}.npy", "long".repeat(16_000));
    let names = [
        "../../escape.npy",
        "/etc/absolute.npy",
        "C:\\x.npy",
        "a\nb\u{1b}[2J.npy",
        "ä\u{202e}.npy",
        &long,
        ".npy",
    ];
    let array = small_npy();
    let members: Vec<(&str, &[u8])> = names.iter().map(|name| (*name, &array[..])).collect();
    folder.write("in.npz", &npz(&members, Stored));
    common::good(folder.run(&["cast", "in.npz", "out.npz", "--to", "f64"]));
    let text = String::from_utf8(common::good(folder.run(&["inspect", "out.npz"]))).unwrap();
    assert_eq!(text.lines().count(), 2 + names.len());
    assert!(!text.chars().any(|c| c != '\n' && c.is_control()));
    assert_eq!(folder.names(), ["in.npz", "out.npz"]);
    // A refusal names the member on one line.
    folder.write("in.npz", &npz(&[("a\nb\u{1b}[2J.npy", b"bad")], Stored));
    assert!(folder.refuses("in.npz", BAD).contains("a\\nb\\u{1b}[2J.npy"));
}

/// An archive of a few kilobytes whose thousand members are all the same bytes, which a copy would write a
/// thousand times.
#[test]
fn overlapping_members_do_not_multiply() {
    let payload = vec![7; 1 << 20];
    let single = npz(&[("payload.bin", &payload)], Stored);
    let directory = single.len() - 22 - 46 - "payload.bin".len();
    let mut archive = single[..directory].to_vec();
    let start = archive.len() as u32;
    for i in 0..1000 {
        let mut entry = single[directory..single.len() - 22].to_vec();
        entry[46..57].copy_from_slice(format!("p{i:010}").as_bytes());
        archive.extend_from_slice(&entry);
    }
    let size = archive.len() as u32 - start;
    let mut end = single[single.len() - 22..].to_vec();
    end[8..12].copy_from_slice(&[0xE8, 0x03, 0xE8, 0x03]);
    end[12..16].copy_from_slice(&size.to_le_bytes());
    end[16..20].copy_from_slice(&start.to_le_bytes());
    archive.extend_from_slice(&end);
    let folder = Folder::new();
    folder.write("in.npz", &archive);
    eprintln!("{}", folder.refuses("in.npz", BAD));
}
