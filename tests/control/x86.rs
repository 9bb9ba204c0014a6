//! MXCSR: bits 0 to 5 are sticky flags, 6 is DAZ, 7 to 12 mask the exceptions, 13 and 14 round, 15 is FTZ.
//!
//! On 32-bit x86 the control word of the x87 as well: bits 0 to 5 mask the exceptions, 8 and 9 say how many bits of a result
//! are kept, 10 and 11 round.

use std::{arch::asm, fmt};

/// Without the flags.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Control {
    mxcsr: u32,
    #[cfg(target_arch = "x86")]
    x87: u16,
}

impl fmt::Debug for Control {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "MXCSR {:#06x}", self.mxcsr)?;
        #[cfg(target_arch = "x86")]
        write!(f, ", x87 {:#06x}", self.x87)?;
        Ok(())
    }
}

pub fn read() -> Control {
    let mut mxcsr = 0_u32;
    // SAFETY: `stmxcsr` writes the four bytes of `mxcsr` and nothing else.
    unsafe { asm!("stmxcsr [{}]", in(reg) &raw mut mxcsr, options(nostack, preserves_flags)) };
    #[cfg(target_arch = "x86")]
    let mut x87 = 0_u16;
    #[cfg(target_arch = "x86")]
    // SAFETY: `fnstcw` writes the two bytes of `x87` and nothing else.
    unsafe {
        asm!("fnstcw word ptr [{}]", in(reg) &raw mut x87, options(nostack, preserves_flags));
    }
    Control {
        mxcsr: mxcsr & 0xFFC0,
        #[cfg(target_arch = "x86")]
        x87: x87 & 0x0F3F,
    }
}

/// # Safety
///
/// The caller sets the old value again before code runs that counts on it.
pub unsafe fn write(control: Control) {
    // SAFETY: `ldmxcsr` reads the four bytes, whose reserved bits are zero; the rest is the caller's promise.
    unsafe { asm!("ldmxcsr [{}]", in(reg) &raw const control.mxcsr, options(nostack, preserves_flags)) };
    #[cfg(target_arch = "x86")]
    // SAFETY: clears the flags of the x87, so that an unmasked exception does not strike at once, and reads the two bytes of
    // the control word; the rest is the caller's promise.
    unsafe {
        asm!("fnclex", "fldcw word ptr [{}]", in(reg) &raw const control.x87, options(nostack, preserves_flags));
    }
}

/// Every rounding mode with and without FTZ, DAZ and masks; the x87 rounds alike, with each of its three precisions.
pub fn states(masked: bool) -> Vec<Control> {
    let masks = if masked { 0x1F80 } else { 0 };
    let state = |k: u32| Control {
        mxcsr: masks | (k & 3) << 13 | (k >> 2 & 1) << 15 | (k >> 3) << 6,
        #[cfg(target_arch = "x86")]
        x87: (k as u16 & 3) << 10 | [3, 2, 0][k as usize % 3] << 8 | if masked { 0x3F } else { 0 },
    };
    (0..16).map(state).collect()
}

/// Whether a positive sum between two floats becomes the greater one.
pub fn rounds_up(state: Control) -> bool {
    state.mxcsr >> 13 & 3 == 2
}

/// Whether subnormal numbers become zeros.
pub fn flushes(state: Control) -> bool {
    state.mxcsr & 0x8040 != 0
}
