//! Threads of the host under the thread sanitizer, and processes that fork.

use crate::build::{Linked, Program, has, say, tried};

#[test]
fn casts_after_a_fork() {
    if !tried() || !has("gcc") {
        return;
    }
    Program { source: "fork.c", compiler: "gcc", standard: "c99", linked: Linked::Shared, flags: &[] }
        .check(&[]);
}

/// `check.h` counts statuses without a lock: what this program calls on several threads it calls as it is.
const FLAGS: &[&str] = &["-g", "-O1", "-fsanitize=thread", "-DLANECAST_TESTS_PLAIN", "-pthread"];

#[test]
fn a_pool_of_the_host() {
    if !tried() {
        return;
    }
    for compiler in ["g++", "clang++"].into_iter().filter(|compiler| has(compiler)) {
        let program =
            Program { source: "pool.cpp", compiler, standard: "c++17", linked: Linked::Shared, flags: FLAGS };
        // Compilers older than the system's kernel do not know where it puts memory.
        let output = program.compile().output().expect("it starts");
        if String::from_utf8_lossy(&output.stderr).contains("unexpected memory mapping") {
            say(&format!("SKIPPED: the thread sanitizer of {compiler} does not run on this system"));
            continue;
        }
        program.check(&[]);
        let racing: Vec<&str> = FLAGS.iter().copied().chain(["-DRACE"]).collect();
        let mut racing = Program { flags: &racing, ..program }.compile();
        let output = racing.output().expect("it starts");
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(
            !output.status.success() && said.contains("data race"),
            "{compiler}: no race was seen: {said}"
        );
    }
}
