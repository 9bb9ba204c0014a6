//! The memory that everything is measured in.
//!
//! What fits into the second cache lies in one piece of memory of its own: the source at its beginning, the destination right
//! behind it. Two far apart buffers may, by the accident of their addresses, exclude each other from the first cache of some
//! CPUs (their way predictors hash address bits), and scattered 4 KiB pages do the same to the second; then a run would measure
//! that accident. Sizes above the last-level cache have two large buffers.

use std::alloc::{self, Layout};

/// Zeroed memory at a multiple of 2 MiB, in large pages where the system grants them.
pub struct Pool {
    start: *mut u8,
    layout: Layout,
}

/// What both buffers of a cast are aligned to.
pub const PAGE: usize = 4096;
/// The size of a large page.
const LARGE: usize = 2 << 20;

impl Pool {
    /// At least this many bytes, all of them touched, so that no page is missing when the clock runs.
    pub fn new(bytes: usize) -> Pool {
        let size = bytes.max(1).next_multiple_of(LARGE);
        let layout = Layout::from_size_align(size, LARGE).expect("sizes of benchmarks are no overflow");
        // SAFETY: the size is not zero.
        let start = unsafe { alloc::alloc(layout) };
        if start.is_null() {
            alloc::handle_alloc_error(layout);
        }
        #[cfg(target_os = "linux")]
        // SAFETY: the range is that of the allocation; the advice changes nothing that a program can see but its speed.
        unsafe {
            libc::madvise(start.cast(), size, libc::MADV_HUGEPAGE);
        }
        // SAFETY: the memory is the allocation's.
        unsafe { start.write_bytes(0, size) };
        Pool { start, layout }
    }

    /// Room for [`buffers`](Self::buffers) of these lengths.
    pub fn for_buffers(lens: &[usize]) -> Pool {
        Pool::new(lens.iter().map(|len| len.next_multiple_of(PAGE)).sum())
    }

    /// Buffers of these lengths, each at the start of a page.
    pub fn buffers<const N: usize>(&mut self, lens: [usize; N]) -> [&mut [u8]; N] {
        let mut memory = self.bytes();
        lens.map(|len| {
            let (buffer, rest) = std::mem::take(&mut memory).split_at_mut(len.next_multiple_of(PAGE));
            memory = rest;
            &mut buffer[..len]
        })
    }

    /// The bytes.
    pub fn bytes(&mut self) -> &mut [u8] {
        // SAFETY: the allocation is initialised and borrowed as a whole by `self`.
        unsafe { std::slice::from_raw_parts_mut(self.start, self.layout.size()) }
    }
}

impl Drop for Pool {
    fn drop(&mut self) {
        // SAFETY: allocated with this layout, and nothing borrows it any more.
        unsafe { alloc::dealloc(self.start, self.layout) }
    }
}
