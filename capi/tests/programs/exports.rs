//! What the shared library exports is what the headers declare.

use crate::build::{has, root, run, shared, tried};
use std::fs;
use std::process::Command;

/// The functions that a header declares.
pub fn declared(header: &str) -> Vec<String> {
    let header = fs::read_to_string(root().join("include").join(header)).expect("a header");
    let code: String = header.lines().filter(|line| !line.trim_start().starts_with(['*', '/'])).collect();
    let names = code.match_indices("lanecast_").filter_map(|(at, _)| {
        let name = code[at..].split(|c: char| !c.is_ascii_alphanumeric() && c != '_').next()?;
        let before = code[..at].chars().last()?;
        (code[at + name.len()..].starts_with('(') && matches!(before, ' ' | '*')).then(|| name.to_string())
    });
    names.collect()
}

#[test]
fn exports() {
    if !tried() || !has("nm") {
        return;
    }
    let symbols = run(Command::new("nm").args(["-D", "--defined-only"]).arg(shared()));
    let mut exported: Vec<&str> = symbols.lines().filter_map(|line| line.split(' ').nth(2)).collect();
    exported.sort_unstable();
    let mut both = declared("lanecast.h");
    assert!(both.len() >= 24, "{both:?}");
    let dlpack = declared("lanecast_dlpack.h");
    assert_eq!(dlpack, ["lanecast_run_dlpack"]);
    both.extend(dlpack);
    both.sort_unstable();
    assert_eq!(exported, both);
}
