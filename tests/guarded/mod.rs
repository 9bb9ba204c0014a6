//! Memory between two pages that nothing may touch: one byte too far, read or written, ends the test program.
//!
//! The program then says which cast it was, from the signal handler, before it dies of the signal.

#![allow(dead_code, reason = "every test binary uses another part of it")]

use std::cell::{Cell, RefCell};
use std::sync::Once;

/// Whole pages of zeros with an inaccessible page before and behind them.
pub struct Guarded {
    map: *mut u8,
    page: usize,
    len: usize,
}

impl Guarded {
    /// At least `len` bytes.
    pub fn new(len: usize) -> Self {
        static HANDLER: Once = Once::new();
        HANDLER.call_once(install_handler);
        // SAFETY: asks for a number.
        let page = unsafe { libc::sysconf(libc::_SC_PAGESIZE) };
        let page = usize::try_from(page).expect("pages have a size");
        let len = len.next_multiple_of(page).max(page);
        let (none, flags) = (libc::PROT_NONE, libc::MAP_PRIVATE | libc::MAP_ANON);
        // SAFETY: a new mapping at a place of the system's choice; nothing else is affected.
        let map = unsafe { libc::mmap(std::ptr::null_mut(), len + 2 * page, none, flags, -1, 0) };
        assert!(map != libc::MAP_FAILED, "no memory: {}", std::io::Error::last_os_error());
        let map = map.cast::<u8>();
        // SAFETY: all pages but the first and the last of the mapping, which nobody refers to yet.
        let opened = unsafe { libc::mprotect(map.add(page).cast(), len, libc::PROT_READ | libc::PROT_WRITE) };
        assert!(opened == 0, "no access: {}", std::io::Error::last_os_error());
        Guarded { map, page, len }
    }

    /// Everything between the two pages.
    pub fn bytes(&mut self) -> &mut [u8] {
        // SAFETY: `len` bytes from the second page on are readable, writable and zero from the start; they live as long as
        // `self`, which is borrowed exclusively.
        unsafe { std::slice::from_raw_parts_mut(self.map.add(self.page), self.len) }
    }

    /// The first `len` bytes, right behind the first inaccessible page, or the last, right before the other.
    pub fn edge(&mut self, at_end: bool, len: usize) -> &mut [u8] {
        let start = if at_end { self.len - len } else { 0 };
        &mut self.bytes()[start..][..len]
    }
}

impl Drop for Guarded {
    fn drop(&mut self) {
        // SAFETY: the mapping of `new`, to which no reference is left.
        unsafe { libc::munmap(self.map.cast(), self.len + 2 * self.page) };
    }
}

thread_local! {
    /// What this thread casts.
    static CASE: RefCell<String> = const { RefCell::new(String::new()) };
    /// At which of the case's places, in numbers whose meaning the test tells in the case.
    static PLACE: Cell<[usize; 3]> = const { Cell::new([0; 3]) };
}

/// Says what this thread casts from now on, in case it is its last.
pub fn set_case(case: &str) {
    CASE.with_borrow_mut(|text| case.clone_into(text));
}

/// Says where.
pub fn set_place(place: [usize; 3]) {
    PLACE.set(place);
}

fn install_handler() {
    // SAFETY: a zeroed `sigaction` is a valid one: no flags, no signals blocked.
    let mut action: libc::sigaction = unsafe { std::mem::zeroed() };
    action.sa_sigaction = handler as *const () as usize;
    // The handler runs once; the instruction then fails again and the program dies of the signal.
    action.sa_flags = libc::SA_RESETHAND | libc::SA_ONSTACK;
    for signal in [libc::SIGSEGV, libc::SIGBUS] {
        // SAFETY: the handler below, in place of that of the standard library, which only names stack overflows.
        unsafe { libc::sigaction(signal, &raw const action, std::ptr::null_mut()) };
    }
}

extern "C" fn handler(_: libc::c_int) {
    let write = |text: &[u8]| {
        // SAFETY: `write` may be called in a signal handler; the text is `len` bytes long.
        unsafe { libc::write(2, text.as_ptr().cast(), text.len()) };
    };
    let number = |mut n: usize| {
        let (mut digits, mut at) = ([b' '; 21], 21);
        loop {
            at -= 1;
            digits[at] = b'0' + (n % 10) as u8;
            n /= 10;
            if n == 0 {
                break;
            }
        }
        write(&digits[at - 1..]);
    };
    write(b"\ntouched what is not its own: ");
    CASE.with(|case| {
        if let Ok(case) = case.try_borrow() {
            write(case.as_bytes());
        }
    });
    PLACE.get().into_iter().for_each(number);
    write(b"\n");
}
