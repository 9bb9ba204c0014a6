//! [`Axes`]: one number for each axis of a layout.

use alloc::{boxed::Box, vec};
use core::ops::{Deref, DerefMut};

/// The most axes of a layout, as in NumPy and PyTorch.
pub const MAX_AXES: usize = 64;

/// The number of axes that take no allocation. Layouts are moved more often than they are made, so they are small.
const FEW: usize = 8;

/// One number, or one loop, for each axis.
pub(super) enum Axes<T> {
    Few { len: u8, items: [T; FEW] },
    Many(Box<[T]>),
}

impl<T: Copy> Clone for Axes<T> {
    /// Not inlined, because much code clones layouts.
    #[inline(never)]
    fn clone(&self) -> Self {
        match self {
            Axes::Few { len, items } => Axes::Few { len: *len, items: *items },
            Axes::Many(items) => Axes::Many(items.clone()),
        }
    }
}

impl<T: Copy> Axes<T> {
    /// The same item for each of `len` axes.
    #[inline]
    pub(super) fn all(item: T, len: usize) -> Self {
        if len > FEW {
            return Axes::many(item, len);
        }
        Axes::Few { len: len as u8, items: [item; FEW] }
    }

    #[cold]
    #[inline(never)]
    fn many(item: T, len: usize) -> Self {
        Axes::Many(vec![item; len].into())
    }
}

impl<T: Copy + Default> Axes<T> {
    pub(super) fn new(of: &[T]) -> Self {
        let mut axes = Axes::all(T::default(), of.len());
        axes.copy_from_slice(of);
        axes
    }
}

impl<T> Deref for Axes<T> {
    type Target = [T];

    #[inline]
    fn deref(&self) -> &[T] {
        match self {
            Axes::Few { len, items } => &items[..usize::from(*len)],
            Axes::Many(items) => items,
        }
    }
}

impl<T> DerefMut for Axes<T> {
    #[inline]
    fn deref_mut(&mut self) -> &mut [T] {
        match self {
            Axes::Few { len, items } => &mut items[..usize::from(*len)],
            Axes::Many(items) => items,
        }
    }
}
