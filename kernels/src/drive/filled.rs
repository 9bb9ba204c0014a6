//! Fills memory that need not be initialised, and returns it as bytes.

use core::mem::MaybeUninit;

/// Fills memory with zeros, for casts that store codes of less than a byte one after the other.
pub fn filled(memory: &mut [MaybeUninit<u8>]) -> &mut [u8] {
    memory.fill(MaybeUninit::new(0));
    // SAFETY: every byte was just written, and a `MaybeUninit<u8>` is laid out as a `u8`.
    unsafe { &mut *(core::ptr::from_mut(memory) as *mut [u8]) }
}
