//! The reference readers of Python, where there are any: NumPy and safetensors in a virtual environment.

use std::{
    path::{Path, PathBuf},
    process::Command,
    sync::OnceLock,
};

/// A Python that has NumPy: that of `LANECAST_SYSTEMS_VENV`, or one that is made once below `target`. Says so if there is none.
pub fn numpy(test: &str) -> Option<PathBuf> {
    static FOUND: OnceLock<Option<PathBuf>> = OnceLock::new();
    let found = FOUND.get_or_init(|| given().or_else(made));
    if found.is_none() {
        println!("SKIPPED: {test}: there is no python3 with numpy, and none can be installed");
    }
    found.clone()
}

fn given() -> Option<PathBuf> {
    let folder = std::env::var_os("LANECAST_SYSTEMS_VENV")?;
    Some(Path::new(&folder).join("bin/python")).filter(|python| has_numpy(python))
}

fn made() -> Option<PathBuf> {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("numpy-venv");
    let python = folder.join("bin/python");
    if !has_numpy(&python) {
        succeeds(Command::new("python3").args(["-m", "venv"]).arg(&folder))?;
        let install = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "numpy>=2,<3"];
        succeeds(Command::new(&python).args(install))?;
    }
    Some(python).filter(|python| has_numpy(python))
}

fn has_numpy(python: &Path) -> bool {
    succeeds(Command::new(python).args(["-c", "import numpy"])).is_some()
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
