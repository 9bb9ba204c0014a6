//! The pages of the book: every link leads somewhere, every page is in the summary, and what the code defines is what they show.

use crate::support::pages::{ROOT, files, read, rendered};
use lanecast::*;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::path::Path;

/// Pages outside `docs/`.
const OTHERS: &[&str] = &[
    "README.md",
    "ARCHITECTURE.md",
    "CHANGELOG.md",
    "CONTRIBUTING.md",
    "SECURITY.md",
    "benches/README.md",
    "capi/README.md",
    "checkpoint/README.md",
    "checkpoint/tests/data/README.md",
    "cli/README.md",
    "examples/data/README.md",
    "examples/neighbours/README.md",
    "files/README.md",
    "kernels/README.md",
    "python/README.md",
    "python/docs/benchmarks.md",
    "python/docs/recipes.md",
    "tests/data/README.md",
];

/// Files in `docs/` that are not pages: the summary itself, and a text that the program copies into `performance.md`.
const NO_PAGES: &[&str] = &["docs/SUMMARY.md", "docs/performance/notes.md"];

/// The lines of a page that are outside of blocks of code, without code spans.
fn prose(text: &str) -> impl Iterator<Item = String> {
    let mut code = false;
    text.lines().filter_map(move |line| {
        let fence = line.trim_start().starts_with("```");
        code ^= fence;
        (!code && !fence).then(|| line.split('`').step_by(2).collect())
    })
}

/// The targets of the links of a page.
fn links(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    for line in prose(text) {
        let inline = line.split("](").skip(1).filter_map(|rest| rest.split_once(')'));
        found.extend(inline.map(|(target, _)| target.to_owned()));
        let defined = line.starts_with('[').then(|| line.split_once("]: ")).flatten();
        found.extend(defined.map(|(_, target)| target.trim().to_owned()));
    }
    found
}

/// The anchors of a page: those of its headings, as GitHub and mdBook form them.
fn anchors(text: &str) -> BTreeSet<String> {
    let mut count = BTreeMap::new();
    let mut code = false;
    let mut found = BTreeSet::new();
    for line in text.lines() {
        code ^= line.trim_start().starts_with("```");
        let title = line.trim_start_matches('#');
        if code || title == line || !title.starts_with(' ') {
            continue;
        }
        let kept = title.trim().chars().filter(|c| c.is_alphanumeric() || [' ', '-', '_'].contains(c));
        let slug: String =
            kept.map(|c| if c == ' ' { '-' } else { c }).flat_map(char::to_lowercase).collect();
        let before = count.entry(slug.clone()).or_insert(0);
        found.insert(if *before == 0 { slug } else { format!("{slug}-{before}") });
        *before += 1;
    }
    found
}

/// What is wrong with a link of a page.
fn wrong(page: &str, link: &str) -> Option<String> {
    if link.starts_with("https://") || link.starts_with("mailto:") {
        return None;
    }
    let (path, anchor) = link.split_once('#').unwrap_or((link, ""));
    let folder = Path::new(page).parent().expect("a page is in a folder");
    let target = if path.is_empty() { Path::new(page).to_path_buf() } else { folder.join(path) };
    let file = Path::new(ROOT).join(&target);
    if !file.exists() {
        return Some(format!("{page}: {link} leads to no file"));
    }
    let known = |anchor| anchors(&std::fs::read_to_string(&file).expect("a text")).contains(anchor);
    (!anchor.is_empty() && !known(anchor)).then(|| format!("{page}: {link} leads to no heading"))
}

#[test]
fn links_lead_somewhere() {
    let pages = files("docs", "md");
    let pages = pages.iter().map(String::as_str).chain(OTHERS.iter().copied());
    let (mut count, mut faults) = (0, Vec::new());
    for page in pages {
        // A page of the program `lanecast-bench`, whose links are those of the page that it goes into.
        let shown = if page == "docs/performance/notes.md" { "docs/performance.md" } else { page };
        for link in links(&read(page)) {
            count += 1;
            faults.extend(wrong(shown, &link));
        }
    }
    assert!(count > 150, "only {count} links were found");
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

#[test]
fn wrong_links_are_found() {
    let page = "docs/index.md";
    for link in ["none.md", "semantics.md#none", "#none", "../none"] {
        assert!(wrong(page, link).is_some(), "{link}");
    }
    for link in ["semantics.md#42-nan", "guide/rust.md", "../README.md", "https://example.org"] {
        assert_eq!(wrong(page, link), None);
    }
    let text = "# A `b` c\n```\n# no [x](y)\n```\n## A b c\n[d](e.md#f) `[g](h)`\n[i]: j\n";
    assert_eq!(anchors(text).into_iter().collect::<Vec<_>>(), ["a-b-c", "a-b-c-1"]);
    assert_eq!(links(text), ["e.md#f", "j"]);
}

#[test]
fn every_page_is_in_the_summary() {
    let listed: Vec<String> =
        links(&read("docs/SUMMARY.md")).iter().map(|link| format!("docs/{link}")).collect();
    let unique: BTreeSet<&String> = listed.iter().collect();
    assert_eq!(unique.len(), listed.len(), "a page is in the summary twice");
    let pages = files("docs", "md");
    let pages: BTreeSet<&String> = pages.iter().filter(|page| !NO_PAGES.contains(&page.as_str())).collect();
    assert_eq!(unique, pages, "the pages of the summary (left), and those in docs/ (right)");
}

/// Every page with Rust code is in the list of doctests.
#[test]
fn every_rust_block_is_a_doctest() {
    let library = read("src/lib.rs");
    for page in files("docs", "md").iter().chain([&"README.md".to_owned()]) {
        if read(page).contains("\n```rust\n") {
            assert!(
                library.contains(&format!("\"../{page}\"")),
                "src/lib.rs does not test the code of {page}"
            );
        }
    }
}

/// The environment variables that the code reads are those of the page.
#[test]
fn environment_variables() {
    let mut sources = vec![".ci/run".to_owned(), ".ci/numpy_abi".to_owned()];
    for folder in ["src", "kernels/src", "files", "cli", "capi", "python/src", "tests"] {
        sources.extend(files(folder, "rs"));
    }
    for folder in ["python/lanecast", "python/tests"] {
        sources.extend(files(folder, "py"));
    }
    let mut read_by_code = BTreeSet::new();
    for source in sources.iter().filter(|source| !source.contains("/target/")) {
        let text = read(source);
        for (at, _) in text.match_indices("LANECAST_") {
            let before = &text[..at];
            if ["var(\"", "var_os(\"", "get(\"", "${"].iter().any(|call| before.ends_with(call)) {
                let name: String =
                    text[at..].chars().take_while(|c| c.is_ascii_uppercase() || *c == '_').collect();
                read_by_code.insert(name);
            }
        }
    }
    let page = read("docs/reference/environment.md");
    let rows = page.lines().filter_map(|line| line.strip_prefix("| `LANECAST_"));
    let listed: BTreeSet<String> =
        rows.filter_map(|row| row.split_once('`')).map(|(name, _)| format!("LANECAST_{name}")).collect();
    assert_eq!(read_by_code, listed, "the variables of the code (left), and those of the page (right)");
}

#[test]
fn errors() {
    let source = read("src/error.rs");
    let (_, variants) = source.split_once("pub enum CastError {\n").expect("the enum");
    let (variants, _) = variants.split_once("\n}\n").expect("its end");
    let page = read("docs/reference/errors.md");
    let mut count = 0;
    for line in variants.lines().filter_map(|line| line.strip_prefix("    ")) {
        let name: String = line.chars().take_while(|c| c.is_ascii_alphanumeric()).collect();
        if name.starts_with(|c: char| c.is_ascii_uppercase()) {
            count += 1;
            assert!(page.contains(&format!("\n| `{name}` |")), "the page lacks `{name}`");
        }
    }
    assert!(count > 10, "{count} variants");
}

#[test]
fn profiles() {
    let mut table = String::from(
        "| profile | 300.0 to `int8` | 500.0 to `float8_e4m3fn` | 1e6 to `float8_e5m2` | NaN to `float8_e5m2` | NaN to `float4_e2m1fn` | \
         1.3 to `float8_e8m0fnu` | -1.0 to `float8_e8m0fnu` |\n|---|---|---|---|---|---|---|---|\n",
    );
    for (name, options) in CastOptions::PROFILES {
        let power = |x: f32| options.cast_one::<f32, F8E8M0FNU>(x).to_f64();
        let row = format!(
            "| `{name}` | {} | {} | {} | `{:02X}` | {:?} | {} | {} |",
            options.cast_one::<f32, i8>(300.0),
            options.cast_one::<f32, F8E4M3FN>(500.0).to_f32(),
            options.cast_one::<f32, F8E5M2>(1e6).to_f32(),
            options.cast_one::<f32, F8E5M2>(f32::NAN).to_bits(),
            options.cast_one::<f32, F4E2M1FN>(f32::NAN).to_f32(),
            power(1.3),
            if power(-1.0) == 2.0_f64.powi(-127) { "2^-127".into() } else { power(-1.0).to_string() },
        );
        writeln!(table, "{row}").expect("writing to a string");
    }
    rendered("docs/which-profile.md", "profiles", "tests/book.rs", &table);
}

#[cfg(all(feature = "promote", feature = "dtypes"))]
#[test]
fn promotion() {
    use lanecast::promote::Standard;
    let pairs = [
        ["bool", "int8"],
        ["int4", "int8"],
        ["int8", "uint8"],
        ["int32", "uint32"],
        ["int64", "uint64"],
        ["int32", "float16"],
        ["int32", "float32"],
        ["int64", "float32"],
        ["float16", "bfloat16"],
        ["float64", "complex64"],
        ["float8_e4m3fn", "float32"],
        ["float8_e4m3fn", "float8_e5m2"],
    ];
    let names: Vec<&str> = Standard::ALL.iter().map(|standard| standard.name()).collect();
    let mut table = format!("| operands | {} |\n|---|{}\n", names.join(" | "), "---|".repeat(names.len()));
    for pair in pairs {
        let [a, b] = pair.map(|name| name.parse::<DType>().expect(name));
        let result = |&standard| promote(standard, a, b).map_or("-".to_owned(), |dtype| format!("`{dtype}`"));
        let row: Vec<String> = Standard::ALL.iter().map(result).collect();
        writeln!(table, "| `{a}`, `{b}` | {} |", row.join(" | ")).expect("writing to a string");
    }
    rendered("docs/reference/promotion.md", "promotion", "tests/book.rs", &table);
}
