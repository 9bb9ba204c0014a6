//! Detects which compiler faults the kernels must avoid, and which architecture's tiers this build has.

use std::{env, process::Command};

/// The minor version of the compiler; `None` if it does not say.
fn minor() -> Option<u32> {
    let output = Command::new(env::var_os("RUSTC")?).arg("--version").output().ok()?;
    // `rustc 1.95.0 (59807616e 2026-04-14)`
    let version = String::from_utf8(output.stdout).ok()?;
    version.split_whitespace().nth(1)?.split('.').nth(1)?.parse().ok()
}

/// Which architecture's tiers are built: `x86_tiers`, `arm_tiers`, `wasm_tiers` or none.
fn tiers() -> Option<&'static str> {
    let is = |name: &str, value: &str| env::var(name).is_ok_and(|is| is == value);
    let has = |feature: &str| {
        env::var("CARGO_CFG_TARGET_FEATURE").is_ok_and(|features| features.split(',').any(|f| f == feature))
    };
    let built = |feature: &str| env::var_os(format!("CARGO_FEATURE_{feature}")).is_some();
    let x86 = ["x86_64", "x86"].iter().any(|arch| is("CARGO_CFG_TARGET_ARCH", arch));
    // A soft-float target, such as that for an operating system's kernel, has none of these registers.
    if x86 && has("sse2") && built("AVX2") {
        return Some("x86_tiers");
    }
    let arm = is("CARGO_CFG_TARGET_ARCH", "aarch64") && is("CARGO_CFG_TARGET_ENDIAN", "little");
    if arm && has("neon") && built("NEON") {
        return Some("arm_tiers");
    }
    (is("CARGO_CFG_TARGET_ARCH", "wasm32") && has("simd128") && built("WASM128")).then_some("wasm_tiers")
}

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rustc-check-cfg=cfg(packs_by_clamps, x86_tiers, arm_tiers, wasm_tiers, lane_tiers)");
    if let Some(tiers) = tiers() {
        println!("cargo::rustc-cfg={tiers}");
        println!("cargo::rustc-cfg=lane_tiers");
    }
    // https://github.com/rust-lang/rust/issues/159464
    if minor().is_some_and(|minor| (96..=98).contains(&minor)) {
        println!("cargo::rustc-cfg=packs_by_clamps");
    }
}
