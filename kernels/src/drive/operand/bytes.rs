//! Operands, as callers make them from bytes, slices and views.

use super::Uninit;
use crate::{
    drive::strided::{View, ViewMut},
    dtype::{DType, Element},
    exact::one::assert_size,
};
use core::{fmt, marker::PhantomData, mem::size_of_val, ptr::NonNull};

/// As a [`Source`]: the elements are at the start of the target's bytes, where their results replace them.
///
/// The target is [`BytesMut`] of initialised bytes with room for the elements of both sides. If the results are narrower, the bytes after
/// them are unspecified.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InPlace;

/// `n` elements in bytes at any alignment, for reading. The plan gives the encoding.
///
/// There may be more bytes than the elements take; bytes after the elements are not read.
#[derive(Clone, Copy)]
pub struct Bytes<'a> {
    pub(super) start: *const u8,
    pub(super) len: usize,
    pub(super) n: usize,
    /// The dtype of the elements, if they were a slice of elements.
    pub(super) dtype: Option<DType>,
    memory: PhantomData<&'a [u8]>,
}

/// `n` elements in bytes at any alignment, for writing. The plan gives the encoding.
///
/// There may be more bytes than the elements take; bytes after the elements are not written.
pub struct BytesMut<'a> {
    pub(super) start: *mut u8,
    pub(super) len: usize,
    pub(super) n: usize,
    /// The dtype of the elements, if they were a slice of elements.
    pub(super) dtype: Option<DType>,
    pub(super) initialised: bool,
    /// Whether the caller vouches for the memory ([`from_raw`](Self::from_raw)): a cast in place reads only initialised bytes.
    pub(super) raw: bool,
    /// Where a cast counts what it has written: in elements if there is a dtype, otherwise in bytes.
    pub(super) written: Option<&'a mut usize>,
    memory: PhantomData<&'a mut [u8]>,
}

// SAFETY: it is a shared borrow of bytes, which all threads may read.
unsafe impl Send for Bytes<'_> {}
// SAFETY: as above.
unsafe impl Sync for Bytes<'_> {}
// SAFETY: it is the only borrow of the bytes, which any thread may write.
unsafe impl Send for BytesMut<'_> {}
// SAFETY: a shared reference gives no access to the bytes.
unsafe impl Sync for BytesMut<'_> {}

impl<'a> Bytes<'a> {
    /// The first `n` elements of `bytes`.
    #[inline]
    pub const fn new(bytes: &'a [u8], n: usize) -> Bytes<'a> {
        Bytes { start: bytes.as_ptr(), len: bytes.len(), n, dtype: None, memory: PhantomData }
    }

    /// The first `n` elements of the `len` bytes at an address. If `n` is 0, the address may be null.
    ///
    /// # Safety
    ///
    /// For the lifetime `'a`, the bytes of the elements are initialised memory that may be read, and that nothing writes.
    #[inline]
    pub const unsafe fn from_raw(start: *const u8, len: usize, n: usize) -> Bytes<'a> {
        Bytes { start, len, n, dtype: None, memory: PhantomData }
    }

    #[inline]
    fn of<T: Element>(elements: &'a [T]) -> Bytes<'a> {
        const { assert_size::<T>() };
        let (start, len) = (elements.as_ptr().cast(), size_of_val(elements));
        // Elements have no padding (`Element`), so all bytes are initialised.
        Bytes { start, len, n: elements.len(), dtype: Some(T::DTYPE), memory: PhantomData }
    }
}

impl<'a> BytesMut<'a> {
    /// The first `n` elements of `bytes`.
    #[inline]
    pub const fn new(bytes: &'a mut [u8], n: usize) -> BytesMut<'a> {
        let (start, len) = (bytes.as_mut_ptr(), bytes.len());
        let (dtype, written, memory) = (None, None, PhantomData);
        BytesMut { start, len, n, dtype, initialised: true, raw: false, written, memory }
    }

    /// The first `n` elements of memory that need not be initialised. After a successful cast, [`Uninit::written`] returns their bytes.
    #[inline]
    pub fn uninit(bytes: &'a mut Uninit<'_, u8>, n: usize) -> BytesMut<'a> {
        let (memory, written) = bytes.parts();
        let (start, len) = (memory.as_mut_ptr().cast(), memory.len());
        BytesMut {
            start,
            len,
            n,
            dtype: None,
            initialised: false,
            raw: false,
            written: Some(written),
            memory: PhantomData,
        }
    }

    /// The first `n` elements of the `len` bytes at an address. If `n` is 0, the address may be null.
    ///
    /// # Safety
    ///
    /// For the lifetime `'a`, the bytes of the elements are memory that may be written, and that nothing else accesses. They need not be
    /// initialised, unless the source is [`InPlace`]: then the bytes of its elements are.
    #[inline]
    pub const unsafe fn from_raw(start: *mut u8, len: usize, n: usize) -> BytesMut<'a> {
        let (dtype, written, memory) = (None, None, PhantomData);
        BytesMut { start, len, n, dtype, initialised: true, raw: true, written, memory }
    }

    #[inline]
    fn of<T: Element>(elements: &'a mut [T]) -> BytesMut<'a> {
        const { assert_size::<T>() };
        let (n, len, start) = (elements.len(), size_of_val(elements), elements.as_mut_ptr().cast());
        // A cast writes only to a target of this dtype, and what it writes is valid for `T` (`Element`).
        let dtype = Some(T::DTYPE);
        let (initialised, written, memory) = (true, None, PhantomData);
        BytesMut { start, len, n, dtype, initialised, raw: false, written, memory }
    }
}

/// What a cast reads. It is made from
///
/// * `&[T]`, `&[T; N]` or `&Vec<T>`: elements of the plan's dtype;
/// * [`Bytes`]: elements of the plan's encoding, at any alignment;
/// * [`&View`](View): elements of any layout;
/// * [`InPlace`]: the bytes of the target.
#[derive(Clone, Copy)]
pub struct Source<'a>(pub(super) Reads<'a>);

#[derive(Clone, Copy)]
pub(super) enum Reads<'a> {
    Bytes(Bytes<'a>),
    View(&'a View<'a>),
    InPlace,
}

/// Where the results of a cast go. It is made from
///
/// * `&mut [T]`, `&mut [T; N]` or `&mut Vec<T>`: elements of the plan's dtype, as many as the source has;
/// * [`BytesMut`]: elements of the plan's encoding, at any alignment;
/// * [`&mut ViewMut`](ViewMut): elements of any layout;
/// * [`&mut Uninit`](Uninit): elements in memory that need not be initialised.
pub struct Target<'a>(pub(super) Writes<'a>);

pub(super) enum Writes<'a> {
    Bytes(BytesMut<'a>),
    View(ViewTarget<'a>),
}

/// A reference to a view, whose memory may be borrowed for longer than the reference.
#[derive(Debug)]
pub struct ViewTarget<'a> {
    view: NonNull<ViewMut<'static>>,
    reference: PhantomData<&'a mut ()>,
}

// SAFETY: it is an exclusive reference to a view, which any thread may use.
unsafe impl Send for ViewTarget<'_> {}

impl<'a> ViewTarget<'a> {
    /// The view.
    pub fn get(&self) -> &ViewMut<'_> {
        // SAFETY: the view is borrowed for `'a`, and through `self` nothing else can be done meanwhile.
        unsafe { self.view.as_ref() }
    }

    /// The elements of the view, borrowed for as long as it is.
    pub fn reborrow(mut self) -> ViewMut<'a> {
        // SAFETY: the view is borrowed exclusively for `'a`, and its memory for longer. Nothing is stored in the view itself.
        unsafe { self.view.as_mut() }.reborrow()
    }
}

impl<'a> From<Bytes<'a>> for Source<'a> {
    #[inline]
    fn from(bytes: Bytes<'a>) -> Self {
        Source(Reads::Bytes(bytes))
    }
}

impl<'a, T: Element> From<&'a [T]> for Source<'a> {
    #[inline]
    fn from(elements: &'a [T]) -> Self {
        Source(Reads::Bytes(Bytes::of(elements)))
    }
}

impl<'a, T: Element, const N: usize> From<&'a [T; N]> for Source<'a> {
    #[inline]
    fn from(elements: &'a [T; N]) -> Self {
        Self::from(elements.as_slice())
    }
}

impl<'a, T: Element> From<&'a alloc::vec::Vec<T>> for Source<'a> {
    #[inline]
    fn from(elements: &'a alloc::vec::Vec<T>) -> Self {
        Self::from(elements.as_slice())
    }
}

impl<'a> From<&'a View<'_>> for Source<'a> {
    #[inline]
    fn from(view: &'a View<'_>) -> Self {
        Source(Reads::View(view))
    }
}

impl From<InPlace> for Source<'_> {
    #[inline]
    fn from(_: InPlace) -> Self {
        Source(Reads::InPlace)
    }
}

impl<'a> From<BytesMut<'a>> for Target<'a> {
    #[inline]
    fn from(bytes: BytesMut<'a>) -> Self {
        Target(Writes::Bytes(bytes))
    }
}

impl<'a, T: Element> From<&'a mut [T]> for Target<'a> {
    #[inline]
    fn from(elements: &'a mut [T]) -> Self {
        Target(Writes::Bytes(BytesMut::of(elements)))
    }
}

impl<'a, T: Element, const N: usize> From<&'a mut [T; N]> for Target<'a> {
    #[inline]
    fn from(elements: &'a mut [T; N]) -> Self {
        Self::from(elements.as_mut_slice())
    }
}

impl<'a, T: Element> From<&'a mut alloc::vec::Vec<T>> for Target<'a> {
    #[inline]
    fn from(elements: &'a mut alloc::vec::Vec<T>) -> Self {
        Self::from(elements.as_mut_slice())
    }
}

impl<'a, T: Element> From<&'a mut Uninit<'_, T>> for Target<'a> {
    #[inline]
    fn from(elements: &'a mut Uninit<'_, T>) -> Self {
        const { assert_size::<T>() };
        let (memory, written) = elements.parts();
        let (n, len, start) = (memory.len(), size_of_val(memory), memory.as_mut_ptr().cast());
        let (dtype, written) = (Some(T::DTYPE), Some(written));
        Target(Writes::Bytes(BytesMut {
            start,
            len,
            n,
            dtype,
            initialised: false,
            raw: false,
            written,
            memory: PhantomData,
        }))
    }
}

impl<'a> From<&'a mut ViewMut<'_>> for Target<'a> {
    #[inline]
    fn from(view: &'a mut ViewMut<'_>) -> Self {
        Target(Writes::View(ViewTarget { view: NonNull::from(view).cast(), reference: PhantomData }))
    }
}

impl fmt::Debug for Bytes<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Bytes({} elements in {} bytes)", self.n, self.len)
    }
}

impl fmt::Debug for BytesMut<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "BytesMut({} elements in {} bytes)", self.n, self.len)
    }
}

impl fmt::Debug for Source<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Reads::Bytes(bytes) => bytes.fmt(f),
            Reads::View(view) => view.fmt(f),
            Reads::InPlace => InPlace.fmt(f),
        }
    }
}

impl fmt::Debug for Target<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Writes::Bytes(bytes) => bytes.fmt(f),
            Writes::View(view) => view.get().fmt(f),
        }
    }
}
