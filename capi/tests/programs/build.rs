//! Compiles programs against the library and runs them.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

const WARNINGS: &[&str] = &["-Wall", "-Wextra", "-pedantic", "-Wconversion", "-Werror"];
/// What a program needs beside the static library, as `rustc --print native-static-libs` says.
const LIBRARIES: &[&str] = &["-lpthread", "-ldl", "-lm"];

/// Makes a program use the installed header of DLPack instead of the tests' header.
pub const INSTALLED_DLPACK: &str = "-DINSTALLED_DLPACK";

pub fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// A folder for what tests make.
pub fn temporary() -> &'static Path {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR"));
    fs::create_dir_all(folder).expect("a folder");
    folder
}

/// The folder of the built library: this test's own, where cargo puts all that it links to.
pub fn built() -> PathBuf {
    let test = env::current_exe().expect("this test");
    let folder = test.parent().expect("target/debug/deps").to_path_buf();
    assert!(folder.join("liblanecast_capi.a").exists(), "{}: no library was built", folder.display());
    folder
}

/// The shared library.
pub fn shared() -> PathBuf {
    built().join("liblanecast_capi.so")
}

/// Writes a line to the terminal, also from a test that passes: the test harness holds back `println!` only.
pub fn say(line: &str) {
    // A closed terminal is no reason to fail.
    let _ = writeln!(std::io::stderr(), "{line}");
}

/// Whether there is such a program; says so if not.
pub fn has(program: &str) -> bool {
    let there = Command::new(program).arg("--version").output().is_ok_and(|output| output.status.success());
    if !there {
        say(&format!("SKIPPED: no {program}"));
    }
    there
}

/// Whether programs in C are tried here; says so if not.
pub fn tried() -> bool {
    // An emulated test starts no compiler.
    let tried = cfg!(target_os = "linux")
        && cfg!(any(target_arch = "x86_64", target_arch = "aarch64"))
        && !cfg!(miri);
    if !tried {
        say("SKIPPED: programs in C are tried on Linux, on x86-64 and 64-bit Arm");
    }
    tried
}

/// Runs a command and returns what it printed; its errors are this test's.
pub fn run(command: &mut Command) -> String {
    let output = command.output().unwrap_or_else(|error| panic!("{command:?}: {error}"));
    let (out, err) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{command:?}: {}\n{out}{err}", output.status);
    out.into_owned()
}

/// How a program is linked to the library.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Linked {
    Static,
    Shared,
    /// Not at all: it opens the library, whose path is its first argument.
    Opened,
}

/// A program of `tests/c`.
pub struct Program<'a> {
    pub source: &'a str,
    pub compiler: &'a str,
    pub standard: &'a str,
    pub linked: Linked,
    /// More words for the compiler.
    pub flags: &'a [&'a str],
}

impl Program<'_> {
    /// Compiles it without a warning; the program and the environment in which it finds the library.
    pub fn compile(&self) -> Command {
        let Program { source, compiler, standard, linked, flags } = self;
        let name: String =
            format!("{source}-{compiler}-{standard}-{linked:?}{}", flags.concat()).replace(['/', '='], "_");
        let program = temporary().join(name);
        let mut command = Command::new(compiler);
        command.arg(format!("-std={standard}")).args(WARNINGS).args(*flags);
        command.arg("-I").arg(root().join("include"));
        // With the tests' own header of DLPack, unless the program takes the installed one.
        if !flags.contains(&INSTALLED_DLPACK) {
            command.arg("-I").arg(root().join("tests/c"));
        }
        if standard.contains("++") {
            command.args(["-x", "c++"]);
        }
        command.arg(root().join("tests/c").join(source)).args(["-x", "none", "-o"]).arg(&program);
        match linked {
            Linked::Static => command.arg(built().join("liblanecast_capi.a")).args(LIBRARIES),
            Linked::Shared => command.arg(shared()).arg("-lpthread"),
            Linked::Opened => command.arg("-ldl"),
        };
        run(&mut command);
        let mut program = Command::new(program);
        match linked {
            Linked::Static => {}
            Linked::Shared => {
                // The library is asked for by the name that it has when it is installed.
                let names = temporary().join(format!("names-{}", std::process::id()));
                fs::create_dir_all(&names).expect("a folder");
                let soname = names.join("liblanecast.so.0.1");
                if !soname.exists() {
                    // Several tests may do this at a time; each finds the same.
                    let _ = std::os::unix::fs::symlink(shared(), &soname);
                }
                program.env("LD_LIBRARY_PATH", &names);
            }
            Linked::Opened => {
                program.arg(shared());
            }
        }
        program
    }

    /// Compiles and runs it; it has to print that nothing failed. Returns the statuses that it has seen.
    pub fn check(&self, arguments: &[&str]) -> Vec<i32> {
        let printed = run(self.compile().args(arguments));
        let (compiler, standard) = (self.compiler, self.standard);
        assert!(
            printed.ends_with("\n0 failures\n"),
            "{compiler} -std={standard}, {:?}:\n{printed}",
            self.linked
        );
        let statuses = printed.lines().find_map(|line| line.strip_prefix("statuses:")).unwrap_or_default();
        statuses.split_whitespace().map(|status| status.parse().expect("a number")).collect()
    }
}
