//! What every public error has, found in the source: room to grow, and the error inside it.
#![cfg(not(target_family = "wasm"))]

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
};

/// The text of every source file of the folders below which public errors are defined.
fn sources() -> BTreeMap<PathBuf, String> {
    fn walk(folder: &Path, found: &mut BTreeMap<PathBuf, String>) {
        for entry in fs::read_dir(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display())) {
            let path = entry.expect("an entry").path();
            if path.is_dir() {
                walk(&path, found);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                let text = fs::read_to_string(&path).expect("a source file");
                found.insert(path, text);
            }
        }
    }
    let mut found = BTreeMap::new();
    for folder in ["src", "kernels/src", "files/src"] {
        walk(&Path::new(env!("CARGO_MANIFEST_DIR")).join(folder), &mut found);
    }
    found
}

/// The lines from the one that begins with `begin` to the next line that is a closing brace or ends with `}` or `;` at the margin.
fn item<'a>(text: &'a str, begin: &str) -> Option<&'a str> {
    let start = if text.starts_with(begin) { 0 } else { text.find(&format!("\n{begin}"))? + 1 };
    let mut end = start;
    for line in text[start..].split_inclusive('\n') {
        end += line.len();
        let closed = line.trim_end().ends_with(['}', ';']);
        if closed && !line.starts_with(' ') {
            return Some(&text[start..end]);
        }
    }
    None
}

/// The attributes and comments directly above the line at `start`.
fn above(text: &str, start: usize) -> String {
    let lines = text[..start].lines().rev();
    lines.take_while(|line| line.starts_with("#[") || line.starts_with("///")).collect::<Vec<_>>().join("\n")
}

struct Error<'a> {
    name: &'a str,
    path: &'a Path,
    attributes: String,
    definition: &'a str,
    implementation: &'a str,
}

fn errors(sources: &BTreeMap<PathBuf, String>) -> Vec<Error<'_>> {
    let mut errors = Vec::new();
    for (path, text) in sources {
        for krate in ["core", "std"] {
            for (at, begin) in text.match_indices(&format!("\nimpl {krate}::error::Error for ")) {
                let name = text[at + begin.len()..].split([' ', '<']).next().expect("a word");
                let implementation = item(&text[at..], begin.trim_start()).expect("a whole impl");
                let (definition, attributes) = ["pub enum", "pub struct"]
                    .iter()
                    .flat_map(|kind| [' ', '(', ';'].map(|end| format!("{kind} {name}{end}")))
                    .find_map(|begin| {
                        let start = text.find(&format!("\n{begin}"))? + 1;
                        Some((item(&text[start..], &begin)?, above(text, start)))
                    })
                    .unwrap_or_else(|| panic!("{}: {name} is not defined beside its impl", path.display()));
                errors.push(Error { name, path, attributes, definition, implementation });
            }
        }
    }
    errors
}

/// Everything but what is said in comments.
fn code(text: &str) -> String {
    text.lines().filter(|line| !line.trim_start().starts_with("//")).collect::<Vec<_>>().join("\n")
}

#[test]
fn errors_may_grow_and_name_their_sources() {
    let sources = sources();
    let errors = errors(&sources);
    assert!(errors.len() > 10, "only {} errors", errors.len());
    let mut faults = Vec::new();
    for error in &errors {
        let place = format!("{} in {}", error.name, error.path.display());
        let definition = code(error.definition);
        // A struct of private fields grows without breaking anyone.
        let is_open = definition.starts_with("pub enum") || definition[10..].contains("pub ");
        if is_open && !error.attributes.contains("#[non_exhaustive]") {
            faults.push(format!("{place} is not #[non_exhaustive]"));
        }
        let holds = |name: &str| {
            let ends = ["(", " ", "<"].iter().any(|before| {
                [")", ",", ">", "\n"]
                    .iter()
                    .any(|after| definition.contains(&format!("{before}{name}{after}")))
            });
            ends && name != error.name
        };
        let inner = errors.iter().map(|other| other.name).chain(["io::Error"]).find(|name| holds(name));
        if let (Some(inner), false) = (inner, error.implementation.contains("fn source(")) {
            faults.push(format!("{place} holds a {inner} and has no source()"));
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}
