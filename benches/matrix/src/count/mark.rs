//! How a program under emulation says where counting begins and ends.

/// The number of a system call that no Linux has; the plugin in `benches/counter` looks for it.
#[cfg(target_os = "linux")]
pub(super) const MARK: libc::c_long = 0x1A4E;

/// Sets a mark. Without the plugin it has no effect.
#[cfg(target_os = "linux")]
#[inline(always)]
fn mark() {
    // SAFETY: there is no such system call: all that happens is that an error comes back.
    unsafe {
        libc::syscall(MARK);
    }
}

#[cfg(not(target_os = "linux"))]
fn mark() {}

/// Calls a function between two marks. What stands between them beside the function is the same for all functions, so it is
/// counted with one that is empty.
#[inline(never)]
pub fn between_marks(counted: &mut dyn FnMut()) {
    mark();
    counted();
    mark();
}
