//! `include/lanecast.h` is what the code says. `LANECAST_BLESS=1 cargo test -p lanecast-capi --test header` writes it anew.

use lanecast::DType;
use std::fmt::Write as _;
use std::path::Path;
use std::{env, fs};

/// The dtypes as constants, which are made from the list of the library.
fn dtypes() -> String {
    let mut out = String::from("/* The dtypes. Their numbers never change. */\n");
    for dtype in DType::ALL {
        let name = format!("LANECAST_{}", dtype.name().to_uppercase());
        writeln!(out, "#define {name:<27} {}u", dtype.code()).expect("memory");
    }
    out
}

fn render() -> String {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut config = cbindgen::Config::from_file(root.join("cbindgen.toml")).expect("cbindgen.toml");
    config.after_includes = Some(format!("\n{}{}", config.after_includes.unwrap_or_default(), dtypes()));
    let builder = cbindgen::Builder::new().with_config(config).with_src(root.join("src/lib.rs"));
    let mut header = Vec::new();
    builder.generate().expect("a header").write(&mut header);
    let header = String::from_utf8(header).expect("text");
    // What Rust calls safety is what C calls the contract.
    let mut out = String::new();
    for line in header.lines() {
        match line.trim_end() {
            " * # Safety" => out.push_str(" * The caller sees to this:\n"),
            line => out.extend([line, "\n"]),
        }
    }
    out
}

#[test]
fn the_header_is_that_of_the_code() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("include/lanecast.h");
    let want = render();
    if env::var_os("LANECAST_BLESS").is_some() {
        fs::write(&path, &want).expect("written");
    }
    let have = fs::read_to_string(&path).unwrap_or_default();
    if let Some((i, (have, want))) = have.lines().zip(want.lines()).enumerate().find(|(_, (a, b))| a != b) {
        panic!("line {}: {have:?} should be {want:?}; LANECAST_BLESS=1 writes the header anew", i + 1);
    }
    assert_eq!(have.len(), want.len(), "LANECAST_BLESS=1 writes the header anew");
}
