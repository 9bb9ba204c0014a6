//! The README, the table of dtypes and the lists of Cargo features say what the code does.
//! `LANECAST_BLESS=1 cargo test --test library readme::` regenerates the table.

use crate::support::pages::{read, rendered};
use lanecast::{num_complex::Complex, *};
use std::fmt::Write;

macro_rules! rust_types {
    ($($name:literal $type:ty,)*) => {
        [$((<$type as Element>::DTYPE, $name)),*]
    };
}

fn rust_type(dtype: DType) -> &'static str {
    let types = rust_types! {
        "bool" bool, "I2" I2, "I4" I4, "i8" i8, "i16" i16, "i32" i32, "i64" i64,
        "U2" U2, "U4" U4, "u8" u8, "u16" u16, "u32" u32, "u64" u64,
        "half::f16" half::f16, "half::bf16" half::bf16, "f32" f32, "f64" f64,
        "Complex<f32>" Complex<f32>, "Complex<f64>" Complex<f64>,
        "F8E4M3FN" F8E4M3FN, "F8E4M3FNUZ" F8E4M3FNUZ, "F8E5M2" F8E5M2, "F8E5M2FNUZ" F8E5M2FNUZ,
        "F8E8M0FNU" F8E8M0FNU, "F8E3M4" F8E3M4, "F8E4M3" F8E4M3, "F8E4M3B11FNUZ" F8E4M3B11FNUZ,
        "F6E2M3FN" F6E2M3FN, "F6E3M2FN" F6E3M2FN, "F4E2M1FN" F4E2M1FN,
    };
    let found = types.iter().find(|(d, _)| *d == dtype);
    found.unwrap_or_else(|| panic!("{dtype} has no Rust type here")).1
}

fn range(dtype: DType) -> String {
    let short = |x: f64| if x.abs() < 1e6 { format!("{x}") } else { format!("{x:.2e}") };
    match (dtype.iinfo(), dtype.finfo()) {
        (Some(i), _) => format!("{} to {}", i.min, i.max),
        (_, Some(f)) => format!("{:.2e} to {}", f.smallest_subnormal, short(f.max)),
        _ => "false, true".into(),
    }
}

fn special(dtype: DType) -> &'static str {
    match dtype.spec() {
        Spec::Float(f) | Spec::Complex(f) => match f.flavor {
            Flavor::Ieee => "infinity, NaN",
            Flavor::Fn => "NaN",
            Flavor::Fnuz => "NaN, no -0",
            Flavor::Finite => "neither",
            Flavor::Exponent => "NaN, no zero, no sign",
        },
        _ => "",
    }
}

fn table() -> String {
    let mut table = String::from(
        "| dtype | short | bits | Rust type | range (of magnitudes, for floats) | infinity, NaN |\n|---|---|---|---|---|---|\n",
    );
    for &dtype in DType::ALL {
        let short = dtype.aliases().first().map(|name| format!("`{name}`")).unwrap_or_default();
        let (bits, rust) = (dtype.bits(), rust_type(dtype));
        let row =
            format!("| `{dtype}` | {short} | {bits} | `{rust}` | {} | {} |", range(dtype), special(dtype));
        writeln!(table, "{row}").expect("writing to a string");
    }
    table
}

#[test]
fn dtypes() {
    rendered("docs/reference/dtypes.md", "dtypes", "tests/readme.rs", &table());
}

/// The README is short, its commands are marked for `.ci/run`, and its badges are true.
#[test]
fn the_readme() {
    let readme = read("README.md");
    assert!(readme.lines().count() <= 150, "the README has {} lines", readme.lines().count());
    for command in ["main job", "tests", "long tests"] {
        assert!(
            readme.contains(&format!("<!-- {command} -->\n```sh\ncargo ")),
            "the README lacks {command:?}"
        );
    }
    let manifest = read("Cargo.toml");
    let (_, rest) = manifest.split_once("rust-version = \"").expect("the smallest Rust version");
    let (version, _) = rest.split_once('"').expect("its end");
    for text in [
        format!("badge/rust-{version}%2B-"),
        format!("| smallest Rust version | {version} |"),
        format!("Rust {version} or newer"),
    ] {
        assert!(readme.contains(&text), "the README lacks {text:?}");
    }
    assert!(
        manifest.contains("license = \"MIT OR Apache-2.0\"")
            && readme.contains("badge/licence-MIT%20or%20Apache--2.0")
    );
}

/// The lists of features in the book and in the documentation of the crate name every feature of `Cargo.toml`.
#[test]
fn features() {
    let section = |text: &'static str, begin: &str, end: &str| -> &'static str {
        let (_, rest) = text.split_once(begin).unwrap_or_else(|| panic!("no {begin:?}"));
        rest.split_once(end).unwrap_or_else(|| panic!("no {end:?} behind {begin:?}")).0
    };
    let manifest = section(include_str!("../Cargo.toml"), "[features]\n", "\n[");
    let features: Vec<&str> = manifest
        .lines()
        .filter_map(|line| line.split_once(" = ["))
        .map(|(name, _)| name)
        .filter(|name| *name != "default")
        .collect();
    assert!(features.len() > 10, "{features:?}");
    let lists = [
        (
            "docs/reference/features.md",
            section(include_str!("../docs/reference/features.md"), "| feature | default |", "\n\n"),
        ),
        ("src/lib.rs", section(include_str!("../src/lib.rs"), "On by default:", "#![cfg_attr")),
    ];
    for (file, list) in lists {
        for name in &features {
            assert!(list.contains(&format!("`{name}`")), "{file} does not list the feature `{name}`");
        }
    }
}
