//! Gives the shared library the name by which programs load it: `liblanecast.so.0.1`. While the first number of the version is 0,
//! the second one counts incompatible changes.

use std::env;

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    let part = |name: &str| env::var(format!("CARGO_PKG_VERSION_{name}")).unwrap_or_default();
    let (major, minor) = (part("MAJOR"), part("MINOR"));
    let abi = if major == "0" { format!("{major}.{minor}") } else { major };
    // cargo-c sets its own, which is the same.
    let by_cargo_c = env::var_os("CARGO_FEATURE_CAPI").is_some();
    if env::var("CARGO_CFG_TARGET_OS").is_ok_and(|os| os == "linux") && !by_cargo_c {
        println!("cargo:rustc-cdylib-link-arg=-Wl,-soname,liblanecast.so.{abi}");
    }
}
