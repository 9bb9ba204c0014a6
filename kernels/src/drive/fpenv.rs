//! The floating-point control register belongs to the host program.
//!
//! Hardware conversions and additions obey it: flush-to-zero, the rounding mode and unmasked exceptions would change or stop a cast. The guard
//! reads the register. Only if it does not have its default value, the guard sets the default and restores the host's value at the end. So control
//! bits are always unchanged. A cast may set status flags; if the guard changed a register that contains them (MXCSR, FPC), it restores them too.
//! It clears the status flags of the x87.
//!
//! The guard is inline assembly because the intrinsics for the register are documented to be undefined behaviour when it stays
//! changed. A kernel's arithmetic stays between the two writes because the kernel is called through a pointer that is opaque to
//! the compiler ([`opaque`]): such a call is not moved over volatile assembly.
//!
//! Rust assumes the default environment, which the guard establishes. Only a kernel that rounds in another direction runs in another environment,
//! and there the compiler knows of no operation that could obey it:
//!
//! * [`call_in`] sets the direction for one call of one kernel. The caller of the kernel is itself behind an opaque pointer, so no float operation
//!   of the driver, or of a program that inlines the driver, can be moved between the writes.
//! * Inside the kernel, the operations that obey the direction are assembly (`env`, a module of each architecture), which cannot be folded.
//!
//! There are guards for x86, 64-bit Arm, 64-bit RISC-V (with an operating system) and s390x; `tests/fpenv.rs` of the root crate
//! tests changed states on all of them. WebAssembly has no such register. On other targets the host must keep the default
//! (nearest even, no flushing, no traps).

use crate::vector::opaque::opaque;
use crate::{
    format::data::{Data, Direction},
    vector::kernel::KernelFn,
};

crate::vector::opaque::functions!(CallFn);

/// [`call`].
type CallFn = unsafe fn(Direction, KernelFn, *const u8, *mut u8, usize, &Data);

/// Calls `function` in the default floating-point environment. For arithmetic of other crates that must give the same bits under every setting of
/// the host.
#[doc(hidden)]
#[inline]
pub fn in_default_environment<A: ?Sized, B: ?Sized, R>(function: fn(&A, &mut B) -> R, a: &A, b: &mut B) -> R {
    let _guard = guard();
    opaque(function)(a, b)
}

/// Restores the host's register on drop.
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

/// Calls a kernel in the default environment, except for the rounding direction, which is not to nearest.
///
/// Only kernels of tiers whose architecture has such a register use such a direction.
///
/// # Safety
///
/// As [`KernelFn`]; the caller holds the guard of the default environment.
#[inline(always)]
pub(crate) unsafe fn call_in(
    direction: Direction,
    kernel: KernelFn,
    src: *const u8,
    dst: *mut u8,
    n: usize,
    data: &Data,
) {
    // SAFETY: the caller's promise is the same.
    unsafe { opaque(call as CallFn)(direction, kernel, src, dst, n, data) }
}

/// What [`call_in`] does, separate from the arithmetic of its callers.
///
/// # Safety
///
/// As [`call_in`].
unsafe fn call(direction: Direction, kernel: KernelFn, src: *const u8, dst: *mut u8, n: usize, data: &Data) {
    let host = imp::read();
    imp::write(imp::directed(host, direction));
    let _guard = Guard(Some(host));
    // SAFETY: the caller's promise is the same.
    unsafe { opaque(kernel)(src, dst, n, data) }
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
    use super::Direction;
    use core::{arch::asm, mem::MaybeUninit};

    /// MXCSR, and on 32-bit x86 the x87 control word: integers of 64 bits become floats there.
    #[derive(Clone, Copy)]
    pub(super) struct Saved {
        mxcsr: u32,
        #[cfg(target_arch = "x86")]
        x87: u16,
    }

    /// All exceptions are masked; rounding is to nearest even; nothing is flushed.
    const DEFAULT: Saved = Saved {
        mxcsr: 0x1F80,
        #[cfg(target_arch = "x86")]
        x87: 0x037F,
    };
    /// FTZ, rounding control, exception masks, DAZ; the rest are status flags.
    const CONTROL: u32 = 0xFFC0;
    /// Rounding control, precision control, exception masks.
    #[cfg(target_arch = "x86")]
    const X87_CONTROL: u16 = 0x0F3F;

    #[inline(always)]
    pub(super) fn read() -> Saved {
        let mut mxcsr = MaybeUninit::uninit();
        // SAFETY: stores the register to the four bytes it is given.
        let mxcsr = unsafe {
            asm!("stmxcsr [{}]", in(reg) mxcsr.as_mut_ptr(), options(nostack, preserves_flags));
            mxcsr.assume_init()
        };
        #[cfg(target_arch = "x86")]
        let mut x87 = 0_u16;
        #[cfg(target_arch = "x86")]
        // SAFETY: stores the control word to the two bytes it is given.
        unsafe {
            asm!("fnstcw word ptr [{}]", in(reg) &raw mut x87, options(nostack, preserves_flags));
        }
        Saved {
            mxcsr,
            #[cfg(target_arch = "x86")]
            x87,
        }
    }
    #[inline(always)]
    pub(super) fn is_default(saved: Saved) -> bool {
        #[cfg(target_arch = "x86")]
        if saved.x87 & X87_CONTROL != DEFAULT.x87 & X87_CONTROL {
            return false;
        }
        saved.mxcsr & CONTROL == DEFAULT.mxcsr
    }
    pub(super) fn default_for(_: Saved) -> Saved {
        DEFAULT
    }
    /// The x87 unit rounds no float in the kernels that have a direction.
    pub(super) fn directed(_: Saved, direction: Direction) -> Saved {
        let rounding = match direction {
            Direction::NearestEven => 0,
            Direction::Down => 1,
            Direction::Up => 2,
            Direction::TowardZero => 3,
        };
        let mut saved = DEFAULT;
        saved.mxcsr |= rounding << 13;
        saved
    }
    #[cold]
    pub(super) fn write(saved: Saved) {
        // SAFETY: the value is the default or one that the register held, so no reserved bit is set. The status flags in it
        // change, so they are not promised to be kept.
        unsafe { asm!("ldmxcsr [{}]", in(reg) &raw const saved.mxcsr, options(nostack)) };
        #[cfg(target_arch = "x86")]
        // Exceptions that a kernel flagged while they were masked would otherwise trap at the host's next x87 instruction.
        // SAFETY: as above; the register stack is not touched.
        unsafe {
            asm!("fnclex", "fldcw word ptr [{}]", in(reg) &raw const saved.x87, options(nostack));
        }
    }
}

#[cfg(all(target_arch = "aarch64", not(miri)))]
mod imp {
    use super::Direction;
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
    pub(super) fn directed(_: u64, direction: Direction) -> u64 {
        let rounding = match direction {
            Direction::NearestEven => 0,
            Direction::Up => 1,
            Direction::Down => 2,
            Direction::TowardZero => 3,
        };
        rounding << 22
    }
    #[cold]
    pub(super) fn write(fpcr: u64) {
        // SAFETY: the value is the default or one that the register held.
        unsafe { asm!("msr fpcr, {}", in(reg) fpcr, options(nostack, preserves_flags)) };
    }
}

// Stable compilers do not reveal whether the target has float registers (`target_feature = "f"`). Targets with an operating system have them; some
// of the others do not.
#[cfg(all(
    target_arch = "riscv64",
    any(target_feature = "f", not(any(target_os = "none", target_os = "nuttx"))),
    not(miri)
))]
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
    pub(super) fn directed(_: usize, _: super::Direction) -> usize {
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
    pub(super) fn directed(fpc: u32, _: super::Direction) -> u32 {
        default_for(fpc)
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
        all(
            target_arch = "riscv64",
            any(target_feature = "f", not(any(target_os = "none", target_os = "nuttx")))
        ),
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
    pub(super) fn directed((): (), _: super::Direction) {}
    pub(super) fn write((): ()) {}
}

#[cfg(all(test, not(any(miri, target_family = "wasm"))))]
mod tests;
