//! The reference readers of Python, where there are any: NumPy and gguf in virtual environments.

use std::{
    path::{Path, PathBuf},
    process::Command,
    sync::OnceLock,
};

/// A Python that has NumPy: that of `LANECAST_SYSTEMS_VENV`, or one that is made once below `target`. Says so if there is none.
pub fn numpy(test: &str) -> Option<PathBuf> {
    static FOUND: OnceLock<Option<PathBuf>> = OnceLock::new();
    with(&FOUND, "numpy", "numpy>=2,<3", test)
}

/// A Python that has the package `gguf`, as [`numpy`].
pub fn gguf(test: &str) -> Option<PathBuf> {
    static FOUND: OnceLock<Option<PathBuf>> = OnceLock::new();
    with(&FOUND, "gguf", "gguf==0.19.0", test)
}

fn with(found: &OnceLock<Option<PathBuf>>, package: &str, requirement: &str, test: &str) -> Option<PathBuf> {
    let found = found.get_or_init(|| given(package).or_else(|| made(package, requirement)));
    if found.is_none() {
        println!("SKIPPED: {test}: there is no python3 with {package}, and none can be installed");
    }
    found.clone()
}

fn given(package: &str) -> Option<PathBuf> {
    let folder = std::env::var_os("LANECAST_SYSTEMS_VENV")?;
    Some(Path::new(&folder).join("bin/python")).filter(|python| has(python, package))
}

fn made(package: &str, requirement: &str) -> Option<PathBuf> {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{package}-venv"));
    let python = folder.join("bin/python");
    if !has(&python, package) {
        succeeds(Command::new("python3").args(["-m", "venv"]).arg(&folder))?;
        let install = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check", requirement];
        succeeds(Command::new(&python).args(install))?;
    }
    Some(python).filter(|python| has(python, package))
}

fn has(python: &Path, package: &str) -> bool {
    succeeds(Command::new(python).arg("-c").arg(format!("import {package}"))).is_some()
}

fn succeeds(command: &mut Command) -> Option<()> {
    command.output().ok().filter(|output| output.status.success()).map(drop)
}

/// Runs `script` in `folder`, and returns what it prints.
#[track_caller]
pub fn run(python: &Path, folder: &Path, script: &str) -> String {
    let output = Command::new(python).args(["-W", "ignore", "-c", script]).current_dir(folder).output();
    let output = output.expect("Python runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).expect("UTF-8")
}
