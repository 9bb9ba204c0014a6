//! The headers in `capi/include` are what the code says. `LANECAST_BLESS=1 cargo test -p lanecast-header` regenerates them.
#![cfg(any(target_arch = "x86_64", target_os = "macos", windows))]

use lanecast::DType;
use std::path::Path;
use std::{env, fs};

/// A constant: its name, its value, and what is said about it.
struct Constant {
    name: String,
    value: String,
    about: Vec<String>,
}

impl Constant {
    /// The name of its type: `LANECAST_SATURATE_OFF` is a `lanecast_saturate`.
    fn is_of(&self, of: &str) -> bool {
        match of {
            "lanecast_status" => self.name == "LANECAST_OK" || self.name.starts_with("LANECAST_ERR_"),
            _ => self.name.starts_with(&format!("{}_", of.to_uppercase())),
        }
    }

    /// Its definition; what fits is said behind it, in a column.
    fn define(&self, width: usize) -> String {
        let Constant { name, value, about } = self;
        let line = format!("#define {name:<width$} {value}");
        match about.as_slice() {
            [] => line + "\n",
            [about] if line.len() + about.len() < 140 => {
                format!("{line:<w$} /**< {about} */\n", w = width + 13)
            }
            about => format!("/**\n * {}\n */\n{line}\n", about.join("\n * ")),
        }
    }
}

/// The dtypes as constants, which are made from the list of the library.
fn dtypes() -> Vec<Constant> {
    let constant = |dtype: &DType| Constant {
        name: format!("LANECAST_{}", dtype.name().to_uppercase()),
        value: format!("{}u", dtype.code()),
        about: Vec::new(),
    };
    DType::ALL.iter().map(constant).collect()
}

/// Takes the constants out of a header, each with the comment before it.
fn take_constants(header: &str) -> (Vec<String>, Vec<Constant>) {
    let (mut lines, mut constants): (Vec<String>, Vec<Constant>) = (Vec::new(), Vec::new());
    for line in header.lines() {
        let defined = line.strip_prefix("#define LANECAST_").and_then(|rest| rest.split_once(' '));
        let documented = lines.last().is_some_and(|line| line == " */");
        let Some((name, value)) = defined.filter(|_| documented) else {
            lines.push(line.to_string());
            continue;
        };
        let start = lines.iter().rposition(|line| line == "/**").expect("the start of a comment");
        let about = lines[start + 1..lines.len() - 1].iter();
        let about = about.map(|line| line.trim_start_matches(" *").trim().to_string()).collect();
        lines.truncate(start);
        // The empty line before the comment.
        lines.pop();
        constants.push(Constant { name: format!("LANECAST_{name}"), value: value.to_string(), about });
    }
    (lines, constants)
}

/// The header with the constants of each type behind the type, by their names; a constant without a type is a failure.
fn with_constants(header: &str) -> String {
    let (lines, mut constants) = take_constants(header);
    let types: Vec<&str> = lines.iter().filter_map(|line| integer(line)).collect();
    // `lanecast_scale_rule`, not a type `lanecast_scale`.
    let type_of = |constant: &Constant| {
        let types = types.iter().filter(|of| constant.is_of(of));
        types.max_by_key(|of| of.len()).map(|of| (*of).to_string())
    };
    let mut out = String::new();
    for line in &lines {
        out.extend([line, "\n"]);
        let Some(of) = integer(line) else { continue };
        let is_of = |constant: &mut Constant| type_of(constant).as_deref() == Some(of);
        let mut group: Vec<Constant> = constants.extract_if(.., is_of).collect();
        if of == "lanecast_type" {
            group.splice(..0, dtypes());
        }
        let width = group.iter().map(|constant| constant.name.len()).max().unwrap_or(0);
        group.iter().for_each(|constant| out += &constant.define(width));
    }
    let without: Vec<&str> = constants.iter().map(|constant| constant.name.as_str()).collect();
    assert!(without.is_empty(), "these constants do not begin with the name of their type: {without:?}");
    out
}

/// The integer type that a line of a header names.
fn integer(line: &str) -> Option<&str> {
    let rest = ["typedef uint8_t ", "typedef uint32_t ", "typedef int32_t "].iter();
    rest.filter_map(|start| line.strip_prefix(start)).find_map(|rest| rest.strip_suffix(';'))
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
    // What Rust calls safety is what C calls preconditions.
    short_comments(&with_constants(&header)).replace(" * # Safety\n", " * Preconditions:\n")
}

/// The header with each comment of one line on one line.
fn short_comments(header: &str) -> String {
    let lines: Vec<&str> = header.lines().map(str::trim_end).collect();
    let (mut out, mut i) = (String::new(), 0);
    while i < lines.len() {
        let start = lines[i].strip_suffix("/**").filter(|indent| indent.trim().is_empty());
        let about = lines.get(i + 1).and_then(|line| line.trim_start().strip_prefix("* "));
        match (start, about, lines.get(i + 2).map(|line| line.trim())) {
            (Some(indent), Some(about), Some("*/")) => {
                out += &format!("{indent}/** {about} */\n");
                i += 3;
            }
            _ => {
                out.extend([lines[i], "\n"]);
                i += 1;
            }
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
        panic!("{name}, line {}: {have:?} should be {want:?}; LANECAST_BLESS=1 regenerates it", i + 1);
    }
    assert_eq!(have.len(), want.len(), "{name}: LANECAST_BLESS=1 regenerates it");
}

#[test]
fn the_header_is_that_of_the_code() {
    let mut config = config();
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
