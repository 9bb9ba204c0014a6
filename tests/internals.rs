//! `docs/internals.md` lists the places that a new tier touches and names other files: both are compared with the sources.

use std::{
    collections::BTreeSet,
    fs,
    path::{Path, PathBuf},
};

const ROOT: &str = env!("CARGO_MANIFEST_DIR");

fn page() -> String {
    fs::read_to_string(Path::new(ROOT).join("docs/internals.md")).expect("docs/internals.md is readable")
}

/// The words between backticks that look like paths.
fn paths(text: &str) -> impl Iterator<Item = &str> {
    text.split('`').skip(1).step_by(2).filter(|word| word.contains('/') && !word.contains(['*', ' ', ':']))
}

/// Calls `see` with every Rust source and manifest below a folder.
fn walk(folder: &Path, see: &mut impl FnMut(&Path)) {
    let mut entries: Vec<PathBuf> =
        fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry").path()).collect();
    entries.sort();
    for path in entries {
        if path.is_dir() {
            walk(&path, see);
        } else if path.extension().is_some_and(|extension| extension == "rs" || extension == "toml") {
            see(&path);
        }
    }
}

#[test]
fn names_files_that_exist() {
    let page = page();
    let missing: Vec<&str> = paths(&page)
        .filter(|path| path.contains('.') || path.starts_with("kernels") || path.starts_with("src"))
        .filter(|path| !Path::new(ROOT).join(path).exists())
        .collect();
    assert!(missing.is_empty(), "docs/internals.md names {missing:?}, which do not exist");
}

#[test]
fn lists_the_places_of_a_tier() {
    let page = page();
    let (_, rest) = page.split_once("<!-- tier -->").expect("the list of places begins");
    let (list, _) = rest.split_once("<!-- end of tier -->").expect("the list of places ends");
    let listed: BTreeSet<String> = paths(list).map(str::to_owned).chain(["Cargo.toml".to_owned()]).collect();
    // One tier stands for all: a file that names it would have to name a new one.
    let names = |text: &str| {
        text.lines().filter(|line| !line.trim_start().starts_with("//")).any(|line| {
            ["Tier::Neon", "\"neon\"", "neon =", "arm_tiers"].iter().any(|name| line.contains(name))
        })
    };
    let mut found = BTreeSet::new();
    for folder in ["kernels", "src", "cli/src", "capi/src", "python/src"] {
        walk(&Path::new(ROOT).join(folder), &mut |path| {
            let name = path.strip_prefix(ROOT).expect("below the root").to_string_lossy().replace('\\', "/");
            let own = name.starts_with("kernels/src/arch/aarch64/");
            let tests = name.contains("/tests") || name.ends_with("tests.rs") || name.contains("/benches/");
            if !own && !tests && names(&fs::read_to_string(path).expect("a source is readable")) {
                found.insert(name);
            }
        });
    }
    found.insert("Cargo.toml".to_owned());
    assert_eq!(
        found, listed,
        "files that name a tier (left), and those that docs/internals.md lists (right)"
    );
}
