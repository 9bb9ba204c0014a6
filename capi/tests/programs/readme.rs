//! The programs of the README and of the book's guide compile without a warning and print the text that follows each.

use crate::build::{Linked, Program, has, root, run, temporary, tried};
use crate::standards::SANITIZED;
use std::{fs, process};

/// The pages, from the root of this package.
const PAGES: [&str; 2] = ["README.md", "../docs/guide/c.md"];

/// The blocks of the pages that begin with this fence, each with the block of text behind it.
fn blocks(fence: &str) -> Vec<(String, String)> {
    let pages = PAGES.map(|page| fs::read_to_string(root().join(page)).expect(page)).concat();
    let block = |text: &str| text.split_once("\n```").map(|(block, _)| block.to_string());
    let with_text = |rest: &str| {
        let (_, text) = rest.split_once("\n```text\n").expect("what the program prints");
        (block(rest).expect("an end") + "\n", block(text).expect("an end"))
    };
    pages.split(fence).skip(1).map(with_text).collect()
}

/// Compiles and runs the programs in one language; how many there were.
fn programs(fence: &str, compiler: &str, standard: &str) -> usize {
    let blocks = blocks(fence);
    for (i, (code, prints)) in blocks.iter().enumerate() {
        let path = temporary().join(format!("readme-{}-{standard}-{i}.c", process::id()));
        fs::write(&path, code).expect("written");
        let source = path.to_str().expect("a path in UTF-8");
        let program = Program { source, compiler, standard, linked: Linked::Shared, flags: SANITIZED };
        assert_eq!(run(&mut program.compile()).trim_end(), prints, "program {i} behind {fence:?}");
        fs::remove_file(&path).expect("removed");
    }
    blocks.len()
}

#[test]
fn in_c() {
    if tried() && has("gcc") {
        assert_eq!(programs("```c\n", "gcc", "c99"), 5);
    }
}

#[test]
fn in_cpp() {
    if tried() && has("g++") {
        assert_eq!(programs("```cpp\n", "g++", "c++17"), 2);
    }
}
