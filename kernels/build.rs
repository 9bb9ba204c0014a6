//! Tells the kernels which faults of the compiler they have to go around.

use std::{env, process::Command};

/// The minor version of the compiler; `None` if it does not say.
fn minor() -> Option<u32> {
    let output = Command::new(env::var_os("RUSTC")?).arg("--version").output().ok()?;
    // `rustc 1.95.0 (59807616e 2026-04-14)`
    let version = String::from_utf8(output.stdout).ok()?;
    version.split_whitespace().nth(1)?.split('.').nth(1)?.parse().ok()
}

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rustc-check-cfg=cfg(packs_by_clamps)");
    // https://github.com/rust-lang/rust/issues/159464
    if minor().is_some_and(|minor| (96..=98).contains(&minor)) {
        println!("cargo::rustc-cfg=packs_by_clamps");
    }
}
