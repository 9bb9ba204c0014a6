//! The floating-point control register of the host, and states that a program may leave it in.
//!
//! One file per architecture, all with the same names: `Control`, the bits of it that control something; `read`; `write`;
//! `states`; and what arithmetic does in a state (`rounds_up`, `flushes`), by which the test knows that the register was
//! really set.

#![allow(unsafe_code, reason = "the control register is reached by assembly only")]

#[cfg_attr(any(target_arch = "x86_64", target_arch = "x86"), path = "x86.rs")]
#[cfg_attr(target_arch = "aarch64", path = "aarch64.rs")]
#[cfg_attr(target_arch = "riscv64", path = "riscv64.rs")]
#[cfg_attr(target_arch = "s390x", path = "s390x.rs")]
#[cfg_attr(
    not(any(
        target_arch = "x86_64",
        target_arch = "x86",
        target_arch = "aarch64",
        target_arch = "riscv64",
        target_arch = "s390x"
    )),
    path = "none.rs"
)]
mod native;

pub use native::{Control, flushes, read, rounds_up, states, write};

use std::hint::black_box;

/// Runs `f` with the register set to `state`; returns what the register took and what `f` left in it.
#[inline(never)]
pub fn under(state: Control, f: &mut dyn FnMut()) -> (Control, Control) {
    let old = read();
    // SAFETY: the old value is set again below, and `f` does nothing but run a cast.
    unsafe { write(state) };
    let before = read();
    black_box(f)();
    let after = read();
    // SAFETY: it is the value that was there.
    unsafe { write(old) };
    (before, after)
}
