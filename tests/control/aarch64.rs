//! FPCR: bits 8 to 12 and 15 unmask exceptions (where the CPU can), 19 is FZ16, 22 and 23 round, 24 is FZ, 25 DN, 26 AHP.

use std::{arch::asm, fmt};

/// Without the bits that no state changes.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Control(u64);

impl fmt::Debug for Control {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "FPCR {:#010x}", self.0)
    }
}

pub fn read() -> Control {
    let fpcr: u64;
    // SAFETY: FPCR is readable at every exception level.
    unsafe { asm!("mrs {}, fpcr", out(reg) fpcr, options(nomem, nostack, preserves_flags)) };
    Control(fpcr & 0x07C8_9F00)
}

/// # Safety
///
/// The caller sets the old value again before code runs that counts on it.
pub unsafe fn write(control: Control) {
    // SAFETY: FPCR is writable at every exception level; the rest is the caller's promise.
    unsafe { asm!("msr fpcr, {}", in(reg) control.0, options(nostack, preserves_flags)) };
}

/// Every rounding mode with and without FZ (and FZ16), DN and AHP. Without masks the trap bits are set; a CPU that has no
/// traps reads them back as zero.
pub fn states(masked: bool) -> Vec<Control> {
    let traps = if masked { 0 } else { 0x9F00 };
    let state =
        |k: u64| (k & 3) << 22 | (k >> 2 & 1) * (1 << 24 | 1 << 19) | (k >> 3 & 1) << 25 | (k >> 4) << 26;
    (0..32).map(|k| Control(traps | state(k))).collect()
}

/// Whether a positive sum between two floats becomes the greater one.
pub fn rounds_up(state: Control) -> bool {
    state.0 >> 22 & 3 == 1
}

/// Whether subnormal numbers become zeros.
pub fn flushes(state: Control) -> bool {
    state.0 >> 24 & 1 != 0
}
