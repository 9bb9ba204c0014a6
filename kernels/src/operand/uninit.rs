//! Memory that a cast initialises.

use super::Target;
use crate::format::Element;
use alloc::vec::Vec;
use core::{fmt, mem::MaybeUninit, slice};

/// Memory that need not be initialised, as the target of a cast; afterwards it hands out what the cast has written.
///
/// Elements are cast into [`&mut Uninit<T>`](Target), bytes into [`BytesMut::uninit`](super::BytesMut::uninit).
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
    written: usize,
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

    /// The memory for a new cast and where it counts what it has written: nothing so far.
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

/// Appends `n` elements that `cast` writes into the target that it is given. The vector is unchanged if the cast fails or writes fewer.
///
/// # Errors
///
/// Those of `cast`.
#[inline]
pub fn append<T: Element, E>(
    vec: &mut Vec<T>,
    n: usize,
    cast: impl FnOnce(Target<'_>) -> Result<(), E>,
) -> Result<(), E> {
    vec.reserve(n);
    let len = vec.len();
    let mut spare = Uninit::new(&mut vec.spare_capacity_mut()[..n]);
    // The cast gets the target by value: what counts the written elements is out of its reach.
    cast(Target::from(&mut spare))?;
    if spare.written == n {
        // SAFETY: the capacity is at least this, and the cast has written the `n` elements behind the first `len`.
        unsafe { vec.set_len(len + n) };
    }
    Ok(())
}
