//! The tests of the library, one module per subject, in one program: `cargo test --test library -- pairs::float32::` runs a part.
//!
//! One program builds the oracle, the library's generic functions and the test harness once. `fork.rs` stays a program of its own,
//! because a process with other threads must not fork, and so does `typed_pairs.rs`, which takes minutes to build.

#[macro_use]
mod support;

mod control;
#[path = "../build/grid.rs"]
mod grid;
#[cfg(all(unix, not(miri)))]
mod guarded;
mod oracle;
// Modules with typed casts of all dtypes compile only where all are built.
#[cfg(feature = "dtypes")]
mod small;

mod book;
mod bulk;
mod byte_order;
mod byte_rules;
mod checked;
mod checked_alone;
mod document;
mod drawing;
mod environment;
mod error_types;
mod errors;
mod exhaustive_f32;
mod exhaustive_int32;
mod explain;
mod fpenv;
mod gguf;
mod golden;
mod guard;
mod in_place;
mod internals;
mod laws;
mod limits;
mod lines;
mod lossless;
mod names;
mod ndarray;
mod ndarray_globs;
#[cfg(feature = "dtypes")]
mod newtypes;
#[cfg(feature = "dtypes")]
mod newtypes_text;
#[cfg(feature = "dtypes")]
mod newtypes_traits;
mod onnx;
mod onnx_linear;
mod operands;
mod pairs;
mod placement;
mod plans;
mod promotion;
mod promotion_rules;
mod promotion_tables;
mod ptr;
mod readme;
mod rooms;
mod rounding;
mod routes;
mod routes_page;
mod scaled;
mod scaled_exhaustive;
mod scaled_given;
mod scaled_golden;
mod scaled_guard;
mod scaled_midpoints;
mod scaled_min_max;
mod scaled_registers;
mod scaled_split;
mod scaled_tiers;
mod serde;
mod stochastic;
mod streaming;
mod strided;
mod structured;
mod text_format;
mod text_golden;
mod text_parse;
mod text_strings;
#[cfg(feature = "dtypes")]
mod tiers;
mod typed;
mod uniform;
mod view_memory;
mod words;

/// A file that no `main.rs` lists would never run.
#[test]
#[cfg(not(any(target_family = "wasm", miri)))]
fn every_file_is_a_module() {
    for (folder, programs) in [
        ("tests", &["main", "fork", "typed_pairs"][..]),
        ("cli/tests", &["main", "memory"]),
        ("files/tests", &["main"]),
    ] {
        let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join(folder);
        let Ok(listed) = std::fs::read_to_string(folder.join("main.rs")) else {
            support::say("SKIPPED: the lists of test files: the sources are not on this machine");
            return;
        };
        for file in folder.read_dir().expect("a readable folder") {
            let path = file.expect("a readable entry").path();
            let name = path.file_stem().and_then(|name| name.to_str()).expect("a UTF-8 name");
            if path.extension().is_some_and(|extension| extension == "rs") && !programs.contains(&name) {
                let line = format!("\nmod {name};\n");
                assert!(listed.contains(&line), "{}/main.rs does not list {name}.rs", folder.display());
            }
        }
    }
}
