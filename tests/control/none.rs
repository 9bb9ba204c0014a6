//! An architecture without such a register (WebAssembly), or with one that is not known here: no states.

pub type Control = ();

pub fn read() -> Control {}

/// # Safety
///
/// Does nothing.
pub unsafe fn write((): Control) {}

pub fn states(_: bool) -> Vec<Control> {
    Vec::new()
}

pub fn rounds_up((): Control) -> bool {
    false
}

pub fn flushes((): Control) -> bool {
    false
}
