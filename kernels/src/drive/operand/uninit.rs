//! Memory that a cast initialises.

use core::{fmt, mem::MaybeUninit, slice};

/// Memory that need not be initialised, as the target of a cast; afterwards it hands out what the cast has written.
///
/// Elements are cast into [`&mut Uninit<T>`](super::Target), bytes into [`BytesMut::uninit`](super::BytesMut::uninit).
///
/// ```
/// # use lanecast_kernels as lanecast;
/// use lanecast::Uninit;
/// let mut memory: Vec<f32> = Vec::with_capacity(3);
/// let out = Uninit::new(&mut memory.spare_capacity_mut()[..3]);
/// // `plan.run(&src, &mut out)?` would write three elements.
/// assert_eq!(out.written(), []);
/// ```
pub struct Uninit<'a, T> {
    memory: &'a mut [MaybeUninit<T>],
    /// The elements at the start that a cast has written.
    pub(super) written: usize,
}

impl<'a, T> Uninit<'a, T> {
    /// All elements of a slice.
    #[inline]
    pub const fn new(memory: &'a mut [MaybeUninit<T>]) -> Self {
        Uninit { memory, written: 0 }
    }

    /// What the last cast has written: all elements if it succeeded, otherwise none.
    #[inline]
    pub fn written(self) -> &'a mut [T] {
        let start = self.memory.as_mut_ptr().cast();
        // SAFETY: a cast counts what it has written, which is at most the memory that it was given, and what it writes is valid for `T`.
        unsafe { slice::from_raw_parts_mut(start, self.written) }
    }

    /// The memory for a new cast, and the counter of what the cast has written: nothing so far.
    #[inline]
    pub(super) fn parts(&mut self) -> (&mut [MaybeUninit<T>], &mut usize) {
        self.written = 0;
        (self.memory, &mut self.written)
    }
}

impl<T> fmt::Debug for Uninit<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Uninit({} of {} elements are written)", self.written, self.memory.len())
    }
}
