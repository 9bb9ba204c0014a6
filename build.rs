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

fn promotion(dtypes: &[&str]) -> Result<String, Faults> {
    let (mut parsed, mut faults) = (Vec::new(), Vec::new());
    for standard in tables::STANDARDS {
        let path = format!("src/promote/{standard}.tsv");
        match read(&path).and_then(|text| tables::parse(dtypes, &path, standard, &text)) {
            Ok(table) => parsed.push(table),
            Err(found) => faults.extend(found),
        }
    }
    let path = "src/promote/numpy_can_cast.tsv";
    let can_cast = read(path).and_then(|text| tables::can_cast(dtypes, path, &text));
    match can_cast {
        Ok(can_cast) if faults.is_empty() => Ok(tables::render(dtypes, &parsed) + &can_cast),
        Ok(_) => Err(faults),
        Err(found) => Err([faults, found].concat()),
    }
}

/// The sources to be written, each with its file.
fn sources() -> Result<Vec<(&'static str, String)>, Faults> {
    let path = "src/names.tsv";
    let text = read(path)?;
    let mut sources = vec![("names.rs", names::render(path, &text)?)];
    if env::var_os("CARGO_FEATURE_PROMOTE").is_some() {
        sources.push(("promotion.rs", promotion(&names::dtypes(path, &text)?)?));
    }
    Ok(sources)
}

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed=build");
    let out = env::var("OUT_DIR").expect("cargo sets it");
    let written = sources().and_then(|sources| {
        for (file, source) in sources {
            fs::write(Path::new(&out).join(file), source).map_err(|e| vec![format!("{out}/{file}: {e}")])?;
        }
        Ok(())
    });
    if let Err(faults) = written {
        for fault in faults {
            println!("cargo::error={fault}");
        }
        process::exit(1);
    }
}
