//! Results do not depend on the host's floating-point control register, and it is left as it was.
//!
//! Some programs set flush-to-zero, denormals-are-zero or another rounding mode for a thread, by loading a library
//! built with `-ffast-math` for one; some unmask exceptions, so that an operation that overflows or is inexact raises
//! a signal. Rust code may not run under such settings by the letter, but a library is called under them all the
//! same. Here the register is set by inline assembly around the call of a plan that was made before, for every pair,
//! option and tier, on values that are hard to cast; nothing else runs in between. A signal would end the whole test
//! program: run it with `LANECAST_TEST_TRACE=1` and `--test-threads=1` to see which cast was the last.

#![cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
#![cfg(not(miri))]
#![allow(unsafe_code, reason = "the control register is reached by assembly only")]

mod oracle;
mod support;

use lanecast::DType;
use std::hint::black_box;
use support::check::Case;
use support::{byte_len, options, patterns, storages, store, tiers::tiers};

/// Elements per cast: some vectors and a tail.
const N: usize = 333;

#[cfg(target_arch = "x86_64")]
mod control {
    //! MXCSR. Bits 0 to 5 are sticky flags, 6 is DAZ, 7 to 12 mask the exceptions, 13 and 14 round, 15 is FTZ.
    use std::arch::asm;

    pub type Control = u32;
    /// The bits that are no flags.
    pub const CONTROL_BITS: Control = 0xFFC0;

    pub fn read() -> Control {
        let mut control: Control = 0;
        // SAFETY: `stmxcsr` writes the four bytes of `control` and nothing else.
        unsafe { asm!("stmxcsr [{}]", in(reg) &raw mut control, options(nostack, preserves_flags)) };
        control
    }

    /// # Safety
    ///
    /// The caller sets the old value again before code runs that counts on it.
    pub unsafe fn write(control: Control) {
        // SAFETY: `ldmxcsr` reads the four bytes of `control`, whose reserved bits are zero; the rest is the caller's
        // promise.
        unsafe { asm!("ldmxcsr [{}]", in(reg) &raw const control, options(nostack, preserves_flags)) };
    }

    /// Every rounding mode with and without FTZ, DAZ and masks, the flags clear.
    pub fn states(masked: bool) -> Vec<Control> {
        let masks = if masked { 0x1F80 } else { 0 };
        (0..16).map(|k| masks | (k & 3) << 13 | (k >> 2 & 1) << 15 | (k >> 3) << 6).collect()
    }
}

#[cfg(target_arch = "aarch64")]
mod control {
    //! FPCR. Bits 8 to 12 and 15 unmask exceptions (where the CPU can), 19 is FZ16, 22 and 23 round, 24 is FZ, 25 DN,
    //! 26 AHP.
    use std::arch::asm;

    pub type Control = u64;
    /// The bits of the states below.
    pub const CONTROL_BITS: Control = 0x07C8_9F00;

    pub fn read() -> Control {
        let control: Control;
        // SAFETY: FPCR is readable at every exception level.
        unsafe { asm!("mrs {}, fpcr", out(reg) control, options(nomem, nostack, preserves_flags)) };
        control
    }

    /// # Safety
    ///
    /// The caller sets the old value again before code runs that counts on it.
    pub unsafe fn write(control: Control) {
        // SAFETY: FPCR is writable at every exception level; the rest is the caller's promise.
        unsafe { asm!("msr fpcr, {}", in(reg) control, options(nostack, preserves_flags)) };
    }

    /// Every rounding mode with and without FZ (and FZ16), DN and AHP. Without masks the trap bits are set; a CPU
    /// that has no traps reads them back as zero.
    pub fn states(masked: bool) -> Vec<Control> {
        let traps = if masked { 0 } else { 0x9F00 };
        let state =
            |k: u64| (k & 3) << 22 | (k >> 2 & 1) * (1 << 24 | 1 << 19) | (k >> 3 & 1) << 25 | (k >> 4) << 26;
        (0..32).map(|k| traps | state(k)).collect()
    }
}

/// Runs `f` with the register set to `state`; returns what the register took and what `f` left in it.
#[inline(never)]
fn under(state: control::Control, f: &mut dyn FnMut()) -> (control::Control, control::Control) {
    let old = control::read();
    // SAFETY: the old value is set again below, and `f` does nothing but run a cast.
    unsafe { control::write(state) };
    let before = control::read();
    black_box(f)();
    let after = control::read();
    // SAFETY: it is the value that was there.
    unsafe { control::write(old) };
    (before & control::CONTROL_BITS, after & control::CONTROL_BITS)
}

fn check_pair(from: DType, to: DType, masked: bool) {
    let trace = std::env::var_os("LANECAST_TEST_TRACE").is_some();
    let source = patterns::sample(from, to, N, 11);
    for options in options::applicable(from, to) {
        let expected: Vec<u128> = source.iter().map(|&bits| oracle::cast(from, to, &options, bits)).collect();
        // Packed storage wraps the same arithmetic; one of the two is enough here.
        let (from, to) = (*storages(from).last().expect("one"), storages(to)[0]);
        let (src, want) = (store(from, &source), store(to, &expected));
        for &tier in tiers() {
            let case = Case { from, to, options: &options, tier };
            if trace {
                support::say(&case.to_string());
            }
            let plan = case.plan();
            for state in control::states(masked) {
                let mut dst = vec![0xA5; byte_len(to, N)];
                let mut result = Ok(());
                let (before, after) = under(state, &mut || result = plan.run(&src, &mut dst, N));
                assert_eq!(result, Ok(()));
                assert_eq!(
                    after, before,
                    "{case}: the control register {state:#x} is another one after the cast"
                );
                assert!(
                    dst == want,
                    "control register {state:#x}: {}",
                    case.complaint(&source, &dst, &expected)
                );
            }
        }
    }
}

/// Every `nth` dtype as a source, so that the tests share the work of the cores.
fn check(masked: bool, nth: usize, of: usize) {
    for &from in DType::ALL.iter().skip(nth).step_by(of) {
        for &to in DType::ALL {
            check_pair(from, to, masked);
        }
    }
}

#[test]
fn masked_even_sources() {
    check(true, 0, 2);
}

#[test]
fn masked_odd_sources() {
    check(true, 1, 2);
}

#[test]
fn unmasked_even_sources() {
    check(false, 0, 2);
}

#[test]
fn unmasked_odd_sources() {
    check(false, 1, 2);
}

/// The assembly does what it says: the register takes the states, and arithmetic feels them.
#[test]
fn the_register_is_really_set() {
    let mut sum = 0.0;
    let tiny = f32::from_bits(1);
    let default = control::read() & control::CONTROL_BITS;
    for state in control::states(true) {
        let (before, after) = under(state, &mut || sum = black_box(tiny) + black_box(0.0));
        // Other CPUs may lack some of the bits.
        let taken = if cfg!(target_arch = "x86_64") { state } else { before };
        assert_eq!((before, after), (taken, taken));
        #[cfg(target_arch = "x86_64")]
        assert_eq!(sum == 0.0, state & 0x8040 != 0, "{state:#x}: FTZ and DAZ flush a subnormal");
    }
    assert_eq!(control::read() & control::CONTROL_BITS, default);
}
