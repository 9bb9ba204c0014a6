//! Memory of the casts between marks.
//!
//! What an allocator executes depends on all that was given back to it before, so counts with it would not be those of the cast. While
//! something is counted, memory comes from one piece instead, in order, and is not given back.

use std::{
    alloc::{GlobalAlloc, Layout, System},
    cell::UnsafeCell,
    sync::atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed},
};

/// Many times what all casts take.
const SIZE: usize = 32 << 20;

/// A cache line, so that addresses look alike.
const LINE: usize = 64;

#[repr(align(4096))]
struct Piece(UnsafeCell<[u8; SIZE]>);

// SAFETY: every byte is given to one owner at most.
unsafe impl Sync for Piece {}

static PIECE: Piece = Piece(UnsafeCell::new([0; SIZE]));
static TAKEN: AtomicUsize = AtomicUsize::new(0);
static COUNTING: AtomicBool = AtomicBool::new(false);

/// Calls a function whose memory comes from the piece.
pub fn from_one_piece<R>(work: impl FnOnce() -> R) -> R {
    COUNTING.store(true, Relaxed);
    let result = work();
    COUNTING.store(false, Relaxed);
    result
}

/// The allocator of the system, but while something is counted.
struct Allocator;

#[global_allocator]
static ALLOCATOR: Allocator = Allocator;

impl Piece {
    fn start(&self) -> *mut u8 {
        self.0.get().cast()
    }

    fn has(&self, memory: *mut u8) -> bool {
        (memory as usize).wrapping_sub(self.start() as usize) < SIZE
    }

    /// Memory that nobody had; `None` if there is none left.
    fn take(&self, layout: Layout) -> Option<*mut u8> {
        let size = layout.size().next_multiple_of(LINE);
        if layout.align() > LINE || size > SIZE {
            return None;
        }
        let start = TAKEN.fetch_add(size, Relaxed);
        // SAFETY: that is within the piece.
        (start <= SIZE - size).then(|| unsafe { self.start().add(start) })
    }
}

// SAFETY: memory of the piece is given away once and never taken back; the rest is that of the system's allocator.
unsafe impl GlobalAlloc for Allocator {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let counted = if COUNTING.load(Relaxed) { PIECE.take(layout) } else { None };
        // SAFETY: the caller's promise.
        counted.unwrap_or_else(|| unsafe { System.alloc(layout) })
    }

    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        if !PIECE.has(memory) {
            // SAFETY: the caller's promise.
            unsafe { System.dealloc(memory, layout) }
        }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // The piece is zero where nobody had it.
        let counted = if COUNTING.load(Relaxed) { PIECE.take(layout) } else { None };
        // SAFETY: the caller's promise.
        counted.unwrap_or_else(|| unsafe { System.alloc_zeroed(layout) })
    }

    unsafe fn realloc(&self, memory: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        if !COUNTING.load(Relaxed) && !PIECE.has(memory) {
            // SAFETY: the caller's promise.
            return unsafe { System.realloc(memory, layout, size) };
        }
        // SAFETY: the caller promises that the size is no overflow; both have the smaller one of the sizes.
        unsafe {
            let new = self.alloc(Layout::from_size_align_unchecked(size, layout.align()));
            if !new.is_null() {
                new.copy_from_nonoverlapping(memory, size.min(layout.size()));
                self.dealloc(memory, layout);
            }
            new
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_may_stay_longer_than_the_call() {
        let mut kept = from_one_piece(|| vec![1_u64; 9]);
        assert!(PIECE.has(kept.as_mut_ptr().cast()));
        kept.extend([2; 100]);
        assert!(!PIECE.has(kept.as_mut_ptr().cast()));
        assert_eq!((kept[8], kept[9], kept.len()), (1, 2, 109));
    }
}
