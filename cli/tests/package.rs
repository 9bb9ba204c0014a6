//! What a registry and docs.rs get of each published crate.

use std::{path::Path, process::Command};

use serde_json::Value;

fn cargo(args: &[&str]) -> Option<String> {
    let cargo = std::env::var_os("CARGO")?;
    let output = Command::new(cargo)
        .args(args)
        .current_dir(Path::new(env!("CARGO_MANIFEST_DIR")).parent()?)
        .output()
        .ok()?;
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).ok()
}

#[test]
fn published_crates_have_what_they_need() {
    let Some(metadata) = cargo(&["metadata", "--no-deps", "--offline", "--format-version=1"]) else {
        println!("SKIPPED: packages: this test is not run by cargo");
        return;
    };
    let metadata: Value = serde_json::from_str(&metadata).expect("JSON");
    for name in ["lanecast", "lanecast-kernels", "lanecast-files", "lanecast-checkpoint", "lanecast-cli"] {
        let packages = metadata["packages"].as_array().expect("packages");
        let package = packages.iter().find(|package| package["name"] == name).expect(name);
        for field in
            ["description", "repository", "license", "rust_version", "readme", "keywords", "categories"]
        {
            assert!(
                !package[field].is_null() && package[field] != Value::Array(Vec::new()),
                "{name} has no {field}"
            );
        }
        if name != "lanecast-cli" {
            assert_eq!(package["metadata"]["docs"]["rs"]["all-features"], true, "{name} on docs.rs");
        }
        let files = cargo(&["package", "--list", "--allow-dirty", "--offline", "-p", name]).expect("a list");
        for file in ["README.md", "LICENSE-MIT", "LICENSE-APACHE"] {
            assert!(files.lines().any(|line| line == file), "{name} has no {file}");
        }
    }
}
