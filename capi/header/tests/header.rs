//! The headers in `capi/include` are what the code says. `LANECAST_BLESS=1 cargo test -p lanecast-header` writes them anew.
#![cfg(any(target_arch = "x86_64", target_os = "macos", windows))]

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

/// A header from the source file `of`.
fn render(mut config: cbindgen::Config, of: &str) -> String {
    let source = root().join(of);
    // The paragraphs of a header that follow the includes.
    config.after_includes = config.after_includes.map(|text| format!("\n{text}"));
    let mut header = Vec::new();
    let builder = cbindgen::Builder::new().with_config(config).with_src(source);
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

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the folder capi")
}

fn config() -> cbindgen::Config {
    cbindgen::Config::from_file(root().join("cbindgen.toml")).expect("cbindgen.toml")
}

/// The types of DLPack, which its own header has.
const DLPACK: [&str; 3] = ["DLDevice", "DLDataType", "DLTensor"];

fn compare(name: &str, want: &str) {
    let path = root().join("include").join(name);
    if env::var_os("LANECAST_BLESS").is_some() {
        fs::write(&path, want).expect("written");
    }
    let have = fs::read_to_string(&path).unwrap_or_default();
    if let Some((i, (have, want))) = have.lines().zip(want.lines()).enumerate().find(|(_, (a, b))| a != b) {
        panic!("{name}, line {}: {have:?} should be {want:?}; LANECAST_BLESS=1 writes it anew", i + 1);
    }
    assert_eq!(have.len(), want.len(), "{name}: LANECAST_BLESS=1 writes it anew");
}

#[test]
fn the_header_is_that_of_the_code() {
    let mut config = config();
    config.after_includes = Some(config.after_includes.unwrap_or_default() + &dtypes());
    config.export.exclude.extend(DLPACK.map(String::from));
    config.export.exclude.push("lanecast_run_dlpack".to_string());
    let header = render(config, "src/lib.rs");
    assert!(!header.contains("DLTensor"), "lanecast.h needs no dlpack.h");
    compare("lanecast.h", &header);
}

#[test]
fn the_header_for_dlpack_is_that_of_the_code() {
    let mut config = config();
    config.header = Some(
        "/* lanecast: casts of DLPack tensors. Made from the code of the library; do not edit. */"
            .to_string(),
    );
    config.include_guard = Some("LANECAST_DLPACK_H".to_string());
    config.sys_includes = vec!["dlpack/dlpack.h".to_string()];
    config.includes = vec!["lanecast.h".to_string()];
    config.after_includes = None;
    // Those of `dlpack.h` have no names but their typedefs.
    config.style = cbindgen::Style::Type;
    config.export.exclude.extend(DLPACK.map(String::from));
    compare("lanecast_dlpack.h", &render(config, "src/dlpack.rs"));
}
