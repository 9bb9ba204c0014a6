//! `frm`, the rounding mode. There is nothing else: no flushing, no traps. With the numbers 5 to 7, which are no mode, every
//! instruction that rounds is an illegal one.

use std::{arch::asm, fmt};

#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Control(u64);

impl fmt::Debug for Control {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "frm {}", self.0)
    }
}

pub fn read() -> Control {
    let frm: u64;
    // SAFETY: reads a register.
    unsafe { asm!("frrm {}", out(reg) frm, options(nomem, nostack, preserves_flags)) };
    Control(frm)
}

/// # Safety
///
/// The caller sets the old value again before code runs that counts on it.
pub unsafe fn write(control: Control) {
    // SAFETY: user code may write the register; the rest is the caller's promise.
    unsafe { asm!("fsrm {}", in(reg) control.0, options(nostack, preserves_flags)) };
}

/// Every rounding mode; in place of unmasked exceptions, the numbers that are no mode.
pub fn states(masked: bool) -> Vec<Control> {
    (if masked { 0..5 } else { 5..8 }).map(Control).collect()
}

/// Whether a positive sum between two floats becomes the greater one.
pub fn rounds_up(state: Control) -> bool {
    state.0 == 3
}

/// Whether subnormal numbers become zeros.
pub fn flushes(_: Control) -> bool {
    false
}
