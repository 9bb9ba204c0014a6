//! FPC: bits 27 to 31 unmask the exceptions (numbered from the lowest), 4 to 6 are the rounding mode of decimal floats, 0 to 2
//! that of the binary ones; between them stand flags.

use std::{arch::asm, fmt};

/// Without the flags.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Control(u64);

impl fmt::Debug for Control {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "FPC {:#010x}", self.0)
    }
}

pub fn read() -> Control {
    let fpc: u64;
    // SAFETY: reads a register.
    unsafe { asm!("lghi {0}, 0", "efpc {0}", out(reg) fpc, options(nomem, nostack)) };
    Control(fpc & 0xF800_0077)
}

/// # Safety
///
/// The caller sets the old value again before code runs that counts on it.
pub unsafe fn write(control: Control) {
    // SAFETY: the states below have valid rounding modes; the rest is the caller's promise.
    unsafe { asm!("sfpc {}", in(reg) control.0, options(nostack, preserves_flags)) };
}

/// Every rounding mode of binary floats (7 prepares for a shorter precision), each with another one of decimal floats.
pub fn states(masked: bool) -> Vec<Control> {
    let traps = if masked { 0 } else { 0xF800_0000 };
    [0, 1, 2, 3, 7].iter().enumerate().map(|(k, mode)| Control(traps | (k as u64 + 1) << 4 | mode)).collect()
}

/// Whether a positive sum between two floats becomes the greater one.
pub fn rounds_up(state: Control) -> bool {
    // Preparing for a shorter precision makes what is inexact odd, as the float behind 1 is.
    matches!(state.0 & 7, 2 | 7)
}

/// Whether subnormal numbers become zeros.
pub fn flushes(_: Control) -> bool {
    false
}
