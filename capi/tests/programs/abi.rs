//! The layout of structs and the signatures of functions stay as `tests/lanecast.abi` has them, by
//! `abidiff`. `LANECAST_BLESS=1` records them, which an incompatible change of the version allows.
//!
//! The record is of a stub: C functions with the signatures of the headers and empty bodies. With it the built library is compared, too, if
//! that has full debug information; without, `abidiff` sees no difference between any two libraries. `.ci/run capi` builds it so and sets
//! `LANECAST_ABI_LIBRARY=1`, with which a library without that information is a failure.

use crate::build::{has, root, run, say, shared, temporary, tried};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

/// A folder with the headers, changed by `change`, and the shared library whose functions do nothing.
fn stub(name: &str, change: impl Fn(&str) -> String) -> PathBuf {
    let folder = temporary().join(format!("abi-{name}"));
    fs::create_dir_all(&folder).expect("a folder");
    let mut code = String::from("#include \"lanecast_dlpack.h\"\n");
    for header in ["lanecast.h", "lanecast_dlpack.h"] {
        let text = change(&fs::read_to_string(root().join("include").join(header)).expect("a header"));
        fs::write(folder.join(header), &text).expect("written");
        // Each declaration becomes a definition.
        let mut lines = text.lines().skip_while(|line| !line.starts_with("extern \"C\"")).peekable();
        while let Some(line) = lines.next() {
            if !line.starts_with("LANECAST_API") {
                continue;
            }
            let mut function = line.to_string();
            while !function.ends_with(';') {
                let more = lines.next().expect("a semicolon");
                write!(function, " {}", more.trim()).expect("memory");
            }
            let function = function.trim_end_matches(';').replace("LANECAST_NOEXCEPT", "");
            writeln!(code, "{function} {{ return 0; }}").expect("memory");
        }
    }
    let library = folder.join("liblanecast.so");
    fs::write(folder.join("stub.c"), code).expect("written");
    let mut gcc = Command::new("gcc");
    gcc.args(["-std=c11", "-g", "-shared", "-fPIC", "-Wl,-soname,liblanecast.so.0.1", "-I"]).arg(&folder);
    run(gcc.arg("-I").arg(root().join("tests/c")).arg("-o").arg(&library).arg("stub.c").current_dir(&folder));
    library
}

/// Whether the interfaces of two libraries or records are the same, and what `abidiff` says.
fn same(a: &Path, b: &Path) -> (bool, String) {
    let output = Command::new("abidiff").arg(a).arg(b).output().expect("it starts");
    let said =
        String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
    // 1 and 2 are failures of its own; 4 is a change, 12 one that is incompatible.
    let code = output.status.code().expect("no signal");
    assert!(matches!(code, 0 | 4 | 12), "{code}: {said}");
    (code == 0, said)
}

#[test]
fn the_interface_is_the_recorded_one() {
    if !tried() || !has("gcc") || !has("abidiff") {
        return;
    }
    if !cfg!(all(target_arch = "x86_64", target_pointer_width = "64")) {
        say("SKIPPED: the interface is recorded for x86-64");
        return;
    }
    let record = root().join("tests/lanecast.abi");
    let ours = stub("ours", str::to_string);
    if env::var_os("LANECAST_BLESS").is_some() {
        let mut abidw = Command::new("abidw");
        run(abidw
            .args(["--no-corpus-path", "--no-comp-dir-path", "--no-show-locs", "--out-file"])
            .arg(&record)
            .arg(&ours));
    }
    let (equal, said) = same(&record, &ours);
    assert!(equal, "the headers differ from tests/lanecast.abi; LANECAST_BLESS=1 records them:\n{said}");

    // The control: changes that have to be reported.
    let field = stub("field", |text| {
        text.replace("    uint64_t inexact;", "    uint64_t inexact;\n    uint64_t more;")
    });
    let argument = stub("argument", |text| text.replace("lanecast_level level,", "uint64_t level,"));
    for changed in [&field, &argument] {
        let (equal, said) = same(&record, changed);
        assert!(!equal, "{} should differ: {said}", changed.display());
    }

    // The built library has the interface of the headers.
    if same(&shared(), &field).0 {
        assert!(env::var_os("LANECAST_ABI_LIBRARY").is_none(), "the library has no full debug information");
        say("SKIPPED: the library itself: it has no full debug information");
        return;
    }
    let (equal, said) = same(&shared(), &ours);
    assert!(equal, "the library differs from its headers:\n{said}");
}
