//! The floating-point control register belongs to the host program.
//!
//! Hardware conversions and additions obey it: flush-to-zero, the rounding mode and unmasked exceptions would change or stop a
//! cast. The guard reads the register, and only if it is not at its default sets the default and puts the host's value back
//! at the end, status flags included. With the register at its default a cast may set status flags and nothing else.
//!
//! It is inline assembly because the intrinsics for the register are documented to be undefined behaviour when it stays
//! changed. The assembly is a barrier for memory: a kernel computes only on values it loads after the register was set and
//! has stored before the register is put back. WebAssembly has no such register. On targets that are not named here the host
//! has to keep the default (nearest even, no flushing).

/// Restores the host's register when it goes.
pub(crate) struct Guard(Option<Saved>);

/// Runs the rest of the scope in the default floating-point environment.
#[inline(always)]
pub(crate) fn guard() -> Guard {
    let host = imp::read();
    if imp::is_default(host) {
        return Guard(None);
    }
    imp::write(imp::default_for(host));
    Guard(Some(host))
}

impl Drop for Guard {
    #[inline(always)]
    fn drop(&mut self) {
        if let Some(host) = self.0 {
            imp::write(host);
        }
    }
}

use imp::Saved;

#[cfg(all(any(target_arch = "x86_64", target_arch = "x86"), target_feature = "sse2", not(miri)))]
mod imp {
    use core::arch::asm;

    pub(super) type Saved = u32;
    /// All exceptions masked, nearest even, no flushing.
    const DEFAULT: u32 = 0x1F80;
    /// FTZ, rounding control, exception masks, DAZ; the rest are status flags.
    const CONTROL: u32 = 0xFFC0;

    #[inline(always)]
    pub(super) fn read() -> u32 {
        let mut mxcsr = 0_u32;
        // SAFETY: stores the register to the four bytes it is given.
        unsafe { asm!("stmxcsr [{}]", in(reg) &raw mut mxcsr, options(nostack, preserves_flags)) };
        mxcsr
    }
    #[inline(always)]
    pub(super) fn is_default(mxcsr: u32) -> bool {
        mxcsr & CONTROL == DEFAULT
    }
    pub(super) fn default_for(_: u32) -> u32 {
        DEFAULT
    }
    #[cold]
    pub(super) fn write(mxcsr: u32) {
        // SAFETY: the value is the default or one that the register held, so no reserved bit is set.
        unsafe { asm!("ldmxcsr [{}]", in(reg) &raw const mxcsr, options(nostack, preserves_flags)) };
    }
}

#[cfg(all(target_arch = "aarch64", not(miri)))]
mod imp {
    use core::arch::asm;

    pub(super) type Saved = u64;

    #[inline(always)]
    pub(super) fn read() -> u64 {
        let fpcr;
        // SAFETY: reads a register.
        unsafe { asm!("mrs {}, fpcr", out(reg) fpcr, options(nostack, preserves_flags)) };
        fpcr
    }
    #[inline(always)]
    pub(super) fn is_default(fpcr: u64) -> bool {
        fpcr == 0
    }
    pub(super) fn default_for(_: u64) -> u64 {
        0
    }
    #[cold]
    pub(super) fn write(fpcr: u64) {
        // SAFETY: the value is the default or one that the register held.
        unsafe { asm!("msr fpcr, {}", in(reg) fpcr, options(nostack, preserves_flags)) };
    }
}

#[cfg(all(target_arch = "riscv64", target_feature = "f", not(miri)))]
mod imp {
    use core::arch::asm;

    pub(super) type Saved = usize;

    /// The rounding mode; RISC-V neither flushes nor traps.
    #[inline(always)]
    pub(super) fn read() -> usize {
        let frm;
        // SAFETY: reads a register.
        unsafe { asm!("frrm {}", out(reg) frm, options(nostack)) };
        frm
    }
    #[inline(always)]
    pub(super) fn is_default(frm: usize) -> bool {
        frm == 0
    }
    pub(super) fn default_for(_: usize) -> usize {
        0
    }
    #[cold]
    pub(super) fn write(frm: usize) {
        // SAFETY: the value is the default or one that the register held.
        unsafe { asm!("fsrm {}", in(reg) frm, options(nostack)) };
    }
}

#[cfg(all(target_arch = "s390x", not(miri)))]
mod imp {
    use core::arch::asm;

    pub(super) type Saved = u32;
    /// The exception masks and the binary rounding mode; the rest are flags and the decimal rounding mode.
    const CONTROL: u32 = 0xF800_0007;

    #[inline(always)]
    pub(super) fn read() -> u32 {
        let fpc: u64;
        // SAFETY: reads a register.
        unsafe { asm!("efpc {}", out(reg) fpc, options(nostack)) };
        fpc as u32
    }
    #[inline(always)]
    pub(super) fn is_default(fpc: u32) -> bool {
        fpc & CONTROL == 0
    }
    pub(super) fn default_for(fpc: u32) -> u32 {
        fpc & !CONTROL
    }
    #[cold]
    pub(super) fn write(fpc: u32) {
        // SAFETY: the value is one that the register held, perhaps with control bits cleared.
        unsafe { asm!("sfpc {}", in(reg) fpc as u64, options(nostack)) };
    }
}

#[cfg(any(
    miri,
    not(any(
        all(any(target_arch = "x86_64", target_arch = "x86"), target_feature = "sse2"),
        target_arch = "aarch64",
        all(target_arch = "riscv64", target_feature = "f"),
        target_arch = "s390x",
    ))
))]
mod imp {
    pub(super) type Saved = ();
    #[inline(always)]
    pub(super) fn read() {}
    #[inline(always)]
    pub(super) fn is_default((): ()) -> bool {
        true
    }
    pub(super) fn default_for((): ()) {}
    pub(super) fn write((): ()) {}
}
