//! Several processes of this program, one after the other: the units of intervals.
//!
//! The result of each process stays in a folder until all are done, so a stop loses one process at most: `store` takes the files that are
//! there.

use crate::{
    dimensions::{Dimension, Results},
    json,
};
use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
    time::Instant,
};

/// What each process measures.
#[derive(Clone, Debug)]
pub struct Effort {
    /// How many processes.
    pub processes: usize,
    /// The dimensions.
    pub dimensions: Vec<Dimension>,
    /// The short form.
    pub short: bool,
    /// Where the results of the processes go: `1.json`, `2.json` and so on.
    pub directory: PathBuf,
}

/// Runs `program` once for each process and returns their results.
///
/// # Errors
///
/// If the program cannot be run or fails.
pub fn measure(program: &Path, effort: &Effort) -> Result<Vec<Results>, String> {
    let directory = &effort.directory;
    fs::create_dir_all(directory).map_err(|error| format!("{}: {error}", directory.display()))?;
    let names: Vec<&str> = effort.dimensions.iter().map(|dimension| dimension.name()).collect();
    let started = Instant::now();
    let mut results = Vec::new();
    for k in 1..=effort.processes {
        eprintln!("process {k} of {}, after {:.0} s", effort.processes, started.elapsed().as_secs_f64());
        let output = directory.join(format!("{k}.json"));
        let mut command = Command::new(program);
        command.args(["run", "--dimension", &names.join(",")]).arg("-o").arg(&output);
        if effort.short {
            command.arg("--short");
        }
        match command.status() {
            Ok(status) if status.success() => results.push(json::read(&output)?),
            Ok(status) => return Err(format!("{}: {status}", program.display())),
            Err(error) => return Err(format!("{}: {error}", program.display())),
        }
    }
    eprintln!("{:.0} s", started.elapsed().as_secs_f64());
    Ok(results)
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt as _;

    #[test]
    fn every_process_is_told_what_to_measure() {
        let directory = std::env::temp_dir().join(format!("lanecast-processes-{}", std::process::id()));
        fs::create_dir_all(&directory).expect("a writable directory");
        // A program that writes down how it was called and gives a result.
        let result = directory.join("result");
        json::write(&result, &crate::speed::dimensions::tests::process(1.5)).expect("it can be written");
        let (program, log) = (directory.join("program"), directory.join("log"));
        let script =
            format!("#!/bin/sh\necho $1 $2 $3 $6 >> {}\ncp {} \"$5\"\n", log.display(), result.display());
        fs::write(&program, script).expect("it can be written");
        fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).expect("it is ours");
        let effort = Effort {
            processes: 2,
            dimensions: vec![Dimension::Options, Dimension::Calls],
            short: true,
            directory: directory.join("runs"),
        };
        let results = measure(&program, &effort).expect("both succeed");
        assert_eq!((results.len(), &results[1].dimensions), (2, &results[0].dimensions));
        let log = fs::read_to_string(log).expect("the program wrote it");
        assert_eq!(log, "run --dimension options,calls --short\n".repeat(2));
        assert!(directory.join("runs/2.json").exists());
        fs::write(&program, "#!/bin/sh\nexit 3\n").expect("it can be written");
        assert!(measure(&program, &effort).expect_err("it fails").contains('3'));
        fs::remove_dir_all(directory).expect("it is ours");
    }
}
