//! What the library allocates, with a `malloc` that counts and fails; and arguments by chance.

use crate::build::{Linked, Program, has, say, tried};
use crate::standards::SANITIZED;
use lanecast_capi::LANECAST_ERR_NO_MEMORY;

/// A run on the calling thread allocates nothing, and a batch without memory is refused.
#[test]
fn without_memory() {
    if !tried() || !has("gcc") {
        return;
    }
    if !cfg!(target_env = "gnu") {
        say("SKIPPED: a failing malloc: the program replaces that of glibc");
        return;
    }
    for linked in [Linked::Shared, Linked::Static] {
        let program = Program { source: "malloc.c", compiler: "gcc", standard: "c11", linked, flags: &[] };
        assert!(program.check(&[]).contains(&LANECAST_ERR_NO_MEMORY));
    }
}

/// Arguments by chance, in memory whose ends are guarded; the program is watched by the sanitizers, the library by the guards.
#[test]
fn arguments_by_chance() {
    if !tried() {
        return;
    }
    for compiler in ["gcc", "clang"].into_iter().filter(|compiler| has(compiler)) {
        let linked = Linked::Shared;
        Program { source: "fuzz.c", compiler, standard: "c99", linked, flags: SANITIZED }.check(&["20000"]);
    }
}
