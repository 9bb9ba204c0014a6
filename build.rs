//! Turns the promotion tables of `src/promote` and the names in `src/names.tsv` into static arrays, so that a fault in one of them stops the build, with the
//! file, the row and the column, instead of being found by a user.

#[path = "build/grid.rs"]
mod grid;
#[path = "build/names.rs"]
mod names;
#[path = "build/tables.rs"]
mod tables;

use std::{env, fs, path::Path, process};

use grid::Faults;

/// The text of a file of the package, by its path in the package.
fn read(path: &str) -> Result<String, Faults> {
    println!("cargo::rerun-if-changed={path}");
    let root = env::var("CARGO_MANIFEST_DIR").expect("cargo sets it");
    fs::read_to_string(Path::new(&root).join(path)).map_err(|e| vec![format!("{path}: {e}")])
}

fn promotion() -> Result<String, Faults> {
    let (mut parsed, mut faults) = (Vec::new(), Vec::new());
    for standard in tables::STANDARDS {
        let path = format!("src/promote/{standard}.tsv");
        match read(&path).and_then(|text| tables::parse(&path, standard, &text)) {
            Ok(table) => parsed.push(table),
            Err(found) => faults.extend(found),
        }
    }
    let path = "src/promote/numpy_can_cast.tsv";
    let can_cast = read(path).and_then(|text| tables::can_cast(path, &text));
    match can_cast {
        Ok(can_cast) if faults.is_empty() => Ok(tables::render(&parsed) + &can_cast),
        Ok(_) => Err(faults),
        Err(found) => Err([faults, found].concat()),
    }
}

fn names() -> Result<String, Faults> {
    let path = "src/names.tsv";
    names::render(path, &read(path)?)
}

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed=build");
    let out = env::var("OUT_DIR").expect("cargo sets it");
    let mut failed = false;
    for (file, source) in [("promotion.rs", promotion()), ("names.rs", names())] {
        let written = source.and_then(|source| {
            fs::write(Path::new(&out).join(file), source).map_err(|e| vec![format!("{out}: {e}")])
        });
        for fault in written.err().unwrap_or_default() {
            println!("cargo::error={fault}");
            failed = true;
        }
    }
    if failed {
        process::exit(1);
    }
}
