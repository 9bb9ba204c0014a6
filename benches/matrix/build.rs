//! Remembers the compiler and the commit: a result without them cannot be compared with another.

use std::process::Command;

/// The commit, with `-dirty` behind it if files differ from it.
const DESCRIBE: &[&str] = &["describe", "--always", "--dirty", "--abbrev=12", "--exclude=*"];

fn main() {
    let rustc = std::env::var("RUSTC").unwrap_or_else(|_| "rustc".into());
    println!("cargo::rustc-env=LANECAST_BENCH_RUSTC={}", output(&rustc, &["--version"]));
    println!("cargo::rustc-env=LANECAST_BENCH_COMMIT={}", output("git", DESCRIBE));
    println!("cargo::rustc-env=LANECAST_BENCH_TARGET={}", std::env::var("TARGET").unwrap_or_default());
    // A linker that works around the erratum 843419 of an old core puts two branches where an `adrp` comes to stand at the end of a
    // page: then counts of instructions would depend on where code happens to lie.
    let target = |name: &str| std::env::var(format!("CARGO_CFG_TARGET_{name}")).unwrap_or_default();
    if (&*target("ARCH"), &*target("OS"), &*target("ENV")) == ("aarch64", "linux", "gnu") {
        println!("cargo::rustc-link-arg-bins=-mno-fix-cortex-a53-843419");
    }
    for path in ["build.rs", "src", "../../src", "../../kernels/src"] {
        println!("cargo::rerun-if-changed={path}");
    }
    // The log of HEAD grows with every commit and every switch of branches.
    let log = output("git", &["rev-parse", "--git-path", "logs/HEAD"]);
    if log != "unknown" {
        println!("cargo::rerun-if-changed={log}");
    }
}

/// The first line that a command prints, `"unknown"` if it cannot be had.
fn output(program: &str, arguments: &[&str]) -> String {
    let output = Command::new(program).args(arguments).output().ok().filter(|out| out.status.success());
    let text = output.map(|out| String::from_utf8_lossy(&out.stdout).into_owned()).unwrap_or_default();
    text.lines().next().filter(|line| !line.is_empty()).unwrap_or("unknown").to_owned()
}
