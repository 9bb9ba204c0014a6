//! Programs in C and C++ against the library, shared and static: in every standard of the languages that users have, without a warning.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

const WARNINGS: &[&str] = &["-Wall", "-Wextra", "-pedantic", "-Wconversion", "-Werror"];
/// What a program needs beside the static library, as `rustc --print native-static-libs` says.
const LIBRARIES: &[&str] = &["-lpthread", "-ldl", "-lm"];

/// The folder of the built library: this test's own, where cargo puts all that it links to.
fn built() -> PathBuf {
    let test = env::current_exe().expect("this test");
    let folder = test.parent().expect("target/debug/deps").to_path_buf();
    assert!(folder.join("liblanecast_capi.a").exists(), "{}: no library was built", folder.display());
    folder
}

fn has(compiler: &str) -> bool {
    Command::new(compiler).arg("--version").output().is_ok_and(|output| output.status.success())
}

/// Runs a command and returns what it printed; its errors are this test's.
fn run(command: &mut Command) -> String {
    let output = command.output().expect("it starts");
    let (out, err) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{command:?}: {}\n{out}{err}", output.status);
    out.into_owned()
}

/// `linked`: `static`, `shared`, or `sanitized`: shared, and what the program itself does is watched.
fn compile_and_run(compiler: &str, standard: &str, linked: &str) {
    let (root, built) = (Path::new(env!("CARGO_MANIFEST_DIR")), built());
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR"));
    fs::create_dir_all(folder).expect("a folder");
    let program = folder.join(format!("calls-{compiler}-{standard}-{linked}"));
    let mut command = Command::new(compiler);
    command.arg(format!("-std={standard}")).args(WARNINGS).arg("-I").arg(root.join("include"));
    if standard.contains("++") {
        command.args(["-x", "c++"]);
    }
    command.arg(root.join("tests/c/calls.c")).args(["-x", "none", "-o"]).arg(&program);
    if linked == "sanitized" {
        command.args(["-g", "-fsanitize=address,undefined", "-fno-sanitize-recover=all"]);
    }
    match linked {
        "static" => command.arg(built.join("liblanecast_capi.a")).args(LIBRARIES),
        _ => command.arg(built.join("liblanecast_capi.so")),
    };
    run(&mut command);
    // The library is asked for by the name that it has when it is installed.
    let names = folder.join("names");
    fs::create_dir_all(&names).expect("a folder");
    let soname = names.join("liblanecast.so.0.1");
    let temporary = names.join(format!("{compiler}-{standard}-{linked}"));
    fs::copy(built.join("liblanecast_capi.so"), &temporary).expect("copied");
    fs::rename(&temporary, &soname).expect("renamed");
    let printed = run(Command::new(&program).env("LD_LIBRARY_PATH", &names));
    assert_eq!(printed, "0 failures\n", "{compiler} -std={standard}, {linked}");
}

#[test]
fn every_standard() {
    if !cfg!(target_os = "linux") || cfg!(miri) {
        println!("SKIPPED: programs in C are tried on Linux");
        return;
    }
    for (compilers, standards) in
        [(["gcc", "clang"], &["c99", "c11"][..]), (["g++", "clang++"], &["c++11", "c++17", "c++20"][..])]
    {
        for compiler in compilers {
            if !has(compiler) {
                println!("SKIPPED: no {compiler}");
                continue;
            }
            for standard in standards {
                compile_and_run(compiler, standard, "shared");
            }
            compile_and_run(compiler, standards[0], "static");
            compile_and_run(compiler, standards[1], "sanitized");
        }
    }
}

/// What the shared library exports is what the header declares.
#[test]
fn exports() {
    if !cfg!(target_os = "linux") || !has("nm") {
        println!("SKIPPED: no nm");
        return;
    }
    let symbols =
        run(Command::new("nm").args(["-D", "--defined-only"]).arg(built().join("liblanecast_capi.so")));
    let mut exported: Vec<&str> = symbols.lines().filter_map(|line| line.split(' ').nth(2)).collect();
    exported.sort_unstable();
    let header =
        fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("include/lanecast.h")).expect("read");
    let code: String = header.lines().filter(|line| !line.trim_start().starts_with(['*', '/'])).collect();
    let mut declared: Vec<&str> = code
        .match_indices("lanecast_")
        .filter_map(|(at, _)| {
            let name = code[at..].split(|c: char| !c.is_ascii_alphanumeric() && c != '_').next()?;
            let before = code[..at].chars().last()?;
            (code[at + name.len()..].starts_with('(') && matches!(before, ' ' | '*')).then_some(name)
        })
        .collect();
    declared.sort_unstable();
    assert!(declared.len() >= 24, "{declared:?}");
    assert_eq!(exported, declared);
}
