//! Every function, by every compiler, in every standard; and every status.

use crate::build::{INSTALLED_DLPACK, Linked, Program, has, say, tried};
use std::collections::BTreeSet;
use std::ffi::CStr;

const COMPILERS: [([&str; 2], &[&str]); 2] =
    [(["gcc", "clang"], &["c99", "c11"]), (["g++", "clang++"], &["c++11", "c++17", "c++20"])];
/// What the program itself does is watched, and what the library does in the functions of the C library that these replace.
pub const SANITIZED: &[&str] = &["-g", "-fsanitize=address,undefined", "-fno-sanitize-recover=all"];

/// The source in every standard with the shared library, in some with the static one and under sanitizers; the statuses seen.
fn every_standard(source: &str) -> BTreeSet<i32> {
    let mut seen = BTreeSet::new();
    for (compilers, standards) in COMPILERS {
        for compiler in compilers.into_iter().filter(|compiler| has(compiler)) {
            let program =
                |standard, linked, flags| Program { source, compiler, standard, linked, flags }.check(&[]);
            for standard in standards {
                seen.extend(program(standard, Linked::Shared, &[]));
            }
            seen.extend(program(standards[0], Linked::Static, &[]));
            seen.extend(program(standards[1], Linked::Shared, SANITIZED));
        }
    }
    seen
}

/// Each status is one that some program has met.
#[test]
fn every_status() {
    if !tried() {
        return;
    }
    let mut seen = every_standard("calls.c");
    seen.extend(every_standard("dlpack.c"));
    seen.extend(every_standard("scaled.c"));
    seen.extend(every_standard("scaled_schemes.c"));
    seen.extend(every_standard("scaled_sources.c"));
    if seen.is_empty() {
        say("SKIPPED: no compiler");
        return;
    }
    let named = (0..64).filter(|status| !lanecast_capi::lanecast_status_name(*status).is_null());
    for status in named {
        // SAFETY: it is not null, and ends with 0.
        let name = unsafe { CStr::from_ptr(lanecast_capi::lanecast_status_name(status)) };
        let elsewhere = match status {
            // Only a defect gives it: a unit test of `error` panics.
            lanecast_capi::LANECAST_ERR_BUG => true,
            // `memory.rs` demands it of `malloc.c`.
            lanecast_capi::LANECAST_ERR_NO_MEMORY => true,
            _ => false,
        };
        assert_ne!(seen.contains(&status), elsewhere, "{status} ({name:?}) was seen: {}", !elsewhere);
    }
}

/// The header for DLPack fits the header that others install, too.
#[test]
fn installed_dlpack() {
    if !tried() || !has("gcc") {
        return;
    }
    let folder = std::env::var("LANECAST_DLPACK_INCLUDE").unwrap_or_else(|_| "/usr/include".to_string());
    if !std::path::Path::new(&folder).join("dlpack/dlpack.h").exists() {
        say(&format!("SKIPPED: no dlpack/dlpack.h in {folder}, the folder LANECAST_DLPACK_INCLUDE"));
        return;
    }
    let folder = format!("-I{folder}");
    Program {
        source: "dlpack.c",
        compiler: "gcc",
        standard: "c11",
        linked: Linked::Shared,
        flags: &[&folder, INSTALLED_DLPACK],
    }
    .check(&[]);
}
