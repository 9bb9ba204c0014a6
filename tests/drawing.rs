//! The drawing of `ARCHITECTURE.md`: the crates and the rooms of the kernels, with an arc for each import between two of them.
//!
//! The arcs are read from `Cargo.toml` files and from the imports of `kernels/src`, so the drawing shows what is there. The test fails if the
//! file differs; `LANECAST_BLESS=1 cargo test --test library -- drawing::` writes it.

use std::{collections::BTreeSet, fmt::Write, fs, path::Path};

use crate::rooms::{ROOMS, room, sources_of_kernels};

const ROOT: &str = env!("CARGO_MANIFEST_DIR");

/// A crate: its name, its folder and what it is for. Each is above the crates that it uses.
const CRATES: [(&str, &str, &str); 7] = [
    ("lanecast-python", "python", "the Python package"),
    ("lanecast-cli", "cli", "the program"),
    ("lanecast-capi", "capi", "the C and C++ interface"),
    ("lanecast-checkpoint", "checkpoint", "model directories"),
    ("lanecast-files", "files", "files of tensors"),
    ("lanecast", "src", "options, plans, checks, threads, scaled casts"),
    ("lanecast-kernels", "kernels", "one kernel for each pair and tier"),
];

/// What the rooms are for, the lowest first.
const PURPOSES: [&str; ROOMS.len()] = [
    "the list of dtypes, and how elements are stored",
    "the law: one element, decoded exactly, rounded once",
    "constants and look-up tables of the formats",
    "the algorithms, over operations of a token",
    "tiers: registers, and measured overrides",
    "which kernel takes a pair on a tier",
    "a cast, resolved once to stages",
    "runs a route on blocks, views and threads",
];

const ROW: usize = 34;
const WIDTH: usize = 860;
/// Where the arcs begin.
const EDGE: usize = 680;

/// The dependencies of a crate that are crates of this project.
fn uses(folder: &str) -> Vec<&'static str> {
    let folder = if folder == "src" { "" } else { folder };
    let path = Path::new(ROOT).join(folder).join("Cargo.toml");
    let text = fs::read_to_string(&path).expect("a manifest");
    let section = text.split("\n[dependencies]\n").nth(1).expect("dependencies");
    let section = section.split("\n[").next().unwrap_or_default();
    let named = |line: &str, name: &str| {
        line.strip_prefix(name).is_some_and(|rest| rest.starts_with(['.', ' ', '=']))
    };
    let crates = CRATES.iter().map(|(name, ..)| *name);
    crates.filter(|name| section.lines().any(|line| named(line, name))).collect()
}

/// The rows of the drawing from above: name, folder, purpose, and the rows that each uses.
fn rows() -> Vec<(String, String, String, BTreeSet<usize>)> {
    let place = |name: &str| CRATES.iter().position(|(other, ..)| *other == name).expect("a crate");
    let crates = CRATES.iter().map(|(name, folder, purpose)| {
        let below = uses(folder).into_iter().map(place).collect();
        ((*name).to_owned(), format!("{folder}/"), (*purpose).to_owned(), below)
    });
    let of = |room: usize| CRATES.len() + ROOMS.len() - 1 - room;
    let arrows = sources_of_kernels().arrows_of_rooms();
    let rooms = (0..ROOMS.len()).rev().map(|i| {
        let below = arrows.iter().filter(|(from, _)| *from == i).map(|(_, to)| of(*to)).collect();
        (ROOMS[i].to_owned(), format!("kernels/src/{}/", ROOMS[i]), PURPOSES[i].to_owned(), below)
    });
    crates.chain(rooms).collect()
}

fn draw() -> String {
    let rows = rows();
    let top = |i: usize| 10 + i * ROW + if i < CRATES.len() { 0 } else { 40 };
    let height = top(rows.len() - 1) + ROW + 10;
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {height}\" role=\"img\" \
         aria-label=\"The crates and the rooms of the kernels, and what each uses\">\n<style>\n\
         text {{ font: 13px system-ui, sans-serif; fill: #24292f }}\n\
         .name {{ font-weight: 600 }}\n.folder, .head {{ fill: #57606a; font-size: 12px }}\n\
         rect {{ fill: #ddf4ff; stroke: #0969da; stroke-opacity: .4 }}\nrect.room {{ fill: #fff8c5; stroke: #9a6700 }}\n\
         path {{ fill: none; stroke: #0969da; stroke-opacity: .55; stroke-width: 1.5 }}\npath.room {{ stroke: #9a6700 }}\n\
         @media (prefers-color-scheme: dark) {{\n  text {{ fill: #e6edf3 }}\n  .folder, .head {{ fill: #8b949e }}\n  \
         rect {{ fill: #0c2d6b; stroke: #58a6ff }}\n  rect.room {{ fill: #3b2e00; stroke: #d29922 }}\n  \
         path {{ stroke: #58a6ff }}\n  path.room {{ stroke: #d29922 }}\n}}\n</style>\n"
    );
    let head = top(CRATES.len()) - 12;
    let said = "inside lanecast-kernels: a room imports from itself and the rooms below";
    writeln!(out, "<text class=\"head\" x=\"10\" y=\"{head}\">{said}</text>").expect("a string");
    for (i, (name, folder, purpose, below)) in rows.iter().enumerate() {
        let (y, class) = (top(i), if i < CRATES.len() { "crate" } else { "room" });
        let text = y + 19;
        writeln!(
            out,
            "<rect class=\"{class}\" x=\"10\" y=\"{y}\" width=\"{}\" height=\"{}\" rx=\"5\"/>\n\
             <text class=\"name\" x=\"20\" y=\"{text}\">{name}</text>\n\
             <text class=\"folder\" x=\"180\" y=\"{text}\">{folder}</text>\n\
             <text x=\"320\" y=\"{text}\">{purpose}</text>",
            EDGE - 10,
            ROW - 6
        )
        .expect("a string");
        for to in below {
            // An arc from the right edge of a row to that of a row below, the wider the farther.
            let (from, to) = (y + 10, top(*to) + 18);
            let out_to = EDGE + 20 + (to - from) / 2;
            writeln!(
                out,
                "<path class=\"{class}\" d=\"M{EDGE} {from} C{out_to} {from} {out_to} {to} {EDGE} {to}\"/>"
            )
            .expect("a string");
        }
    }
    out + "</svg>\n"
}

#[test]
fn shows_the_crates_and_rooms_that_are_there() {
    let rows = rows();
    assert!(
        rows.iter().enumerate().all(|(i, (.., below))| below.iter().all(|to| *to > i)),
        "arrows lead down"
    );
    let arcs: usize = rows.iter().map(|(.., below)| below.len()).sum();
    assert!(arcs > 25, "only {arcs} arcs were found");
    assert!(ROOMS.iter().all(|name| room(name).is_some()));
    let (path, drawn) = (Path::new(ROOT).join("docs/images/architecture.svg"), draw());
    if std::env::var_os("LANECAST_BLESS").is_some() {
        fs::write(&path, &drawn).expect("docs/images is writable");
    }
    let kept = fs::read_to_string(&path).expect("the drawing").replace("\r\n", "\n");
    assert!(
        kept == drawn,
        "docs/images/architecture.svg is not what the code has; LANECAST_BLESS=1 writes it"
    );
}
