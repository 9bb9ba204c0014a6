//! Matches operands with the encodings of a cast.

use super::bytes::{Bytes, BytesMut, Reads, Source, Target, Writes};
use crate::{
    drive::strided::{Layout, View, ViewError, ViewMut},
    dtype::{DType, Encoding, bytes_of},
    route::Kernel,
};
use core::{marker::PhantomData, mem::MaybeUninit, ops::Range, slice};

/// The bytes of exactly `n` elements on both sides.
#[derive(Debug)]
pub struct Flat<'a> {
    /// The elements of the source.
    pub src: &'a [u8],
    /// The memory of the results.
    pub dst: &'a mut [MaybeUninit<u8>],
    /// The number of elements.
    pub n: usize,
}

impl<'a> Flat<'a> {
    /// Buffers that may be longer, as kernels cut them.
    #[cfg(test)]
    pub(crate) fn new(src: &'a [u8], dst: &'a mut [u8], n: usize) -> Flat<'a> {
        // SAFETY: the same memory; casts write only initialised bytes.
        Flat { src, dst: unsafe { slice::from_raw_parts_mut(dst.as_mut_ptr().cast(), dst.len()) }, n }
    }

    /// The first `at` elements, a multiple of 8, and the others; both sides are `bits` wide.
    pub fn split(self, at: usize, bits: (u32, u32)) -> (Flat<'a>, Flat<'a>) {
        let [read, written] = [bits.0, bits.1].map(|bits| at / 8 * bits as usize);
        let (src, src_rest) = self.src.split_at(read);
        let (dst, dst_rest) = self.dst.split_at_mut(written);
        (Flat { src, dst, n: at }, Flat { src: src_rest, dst: dst_rest, n: self.n - at })
    }
}

/// `n` elements at the start of a buffer that has room for the results of all of them.
#[derive(Debug)]
pub struct InPlaceBytes<'a> {
    start: *mut u8,
    len: usize,
    n: usize,
    memory: PhantomData<&'a mut [u8]>,
}

// SAFETY: it is the only borrow of the bytes, which any thread may write.
unsafe impl Send for InPlaceBytes<'_> {}

impl InPlaceBytes<'_> {
    /// The number of elements.
    pub const fn elements(&self) -> usize {
        self.n
    }

    /// Casts all elements. `None`, with nothing written, if the kernel's elements are wider than the resolved ones.
    pub fn run(&mut self, kernel: &Kernel) -> Option<()> {
        for side in [kernel.source(), kernel.target()] {
            side.byte_len(self.n).filter(|len| *len <= self.len)?;
        }
        // SAFETY: the bytes have room for `n` elements of either side. The source's bytes are initialised: all bytes are (`BytesMut::new`), or the
        // caller of `BytesMut::from_raw` promised it.
        unsafe { kernel.run_in_place_at(self.start, self.start, self.n) };
        Some(())
    }

    /// The bytes of the `count` elements from index `first` on, a multiple of 8, before the cast.
    pub fn read(&self, of: Encoding, first: usize, count: usize) -> Option<&[u8]> {
        let span = self.span(of, first, count)?;
        if span.is_empty() {
            // Without elements, the address may be null.
            return Some(&[]);
        }
        // SAFETY: they are initialised, as above, and borrowed with `self`.
        Some(unsafe { slice::from_raw_parts(self.start.add(span.start), span.len()) })
    }

    /// The memory of the `count` results from index `first` on, a multiple of 8.
    pub fn write(&mut self, of: Encoding, first: usize, count: usize) -> Option<&mut [MaybeUninit<u8>]> {
        let span = self.span(of, first, count)?;
        if span.is_empty() {
            return Some(&mut []);
        }
        // SAFETY: these bytes belong to the operand, which is borrowed as long.
        Some(unsafe { slice::from_raw_parts_mut(self.start.add(span.start).cast(), span.len()) })
    }

    fn span(&self, of: Encoding, first: usize, count: usize) -> Option<Range<usize>> {
        let fits = first.checked_add(count)? <= self.n && of.byte_len(self.n)? <= self.len;
        (fits && first.is_multiple_of(8)).then(|| of.span(first, count))
    }
}

/// What a cast does with its operands.
#[derive(Debug)]
#[expect(clippy::large_enum_variant, reason = "views lie on the stack: nothing is allocated")]
pub enum Operands<'a> {
    /// It casts bytes to bytes.
    Flat(Flat<'a>),
    /// It casts a view to a view.
    Views(View<'a>, ViewMut<'a>),
    /// It casts a buffer in place.
    InPlace(InPlaceBytes<'a>),
}

/// Records, for the owner of uninitialised memory, how much a successful cast has written.
#[derive(Debug)]
#[must_use]
pub struct Written<'a>(Option<(&'a mut usize, usize)>);

impl Written<'_> {
    /// Records that all results are written.
    ///
    /// # Safety
    ///
    /// They are written: the cast of the operands that came with this value has succeeded.
    pub unsafe fn all(self) {
        if let Some((written, all)) = self.0 {
            *written = all;
        }
    }
}

/// Why operands do not fit a cast, or each other.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum OperandError {
    /// They have different numbers of elements.
    Lengths {
        /// Number of elements of the source.
        src: usize,
        /// Number of elements of the target.
        dst: usize,
    },
    /// There are fewer bytes than the elements take.
    Bytes {
        /// Whether it is the target.
        target: bool,
        /// Bytes of the elements.
        need: usize,
        /// Bytes that the operand has.
        have: usize,
    },
    /// The elements take more bytes than memory can hold.
    TooLarge {
        /// The number of elements.
        elements: usize,
        /// Their encoding.
        encoding: Encoding,
    },
    /// A slice has elements of another dtype.
    Element {
        /// Whether it is the target.
        target: bool,
        /// The encoding of the cast.
        plan: Encoding,
        /// The dtype of the slice.
        slice: DType,
    },
    /// The target of a cast in place is not initialised bytes.
    NotBytes,
    /// A view does not fit.
    View(ViewError),
}

impl From<ViewError> for OperandError {
    fn from(error: ViewError) -> Self {
        Self::View(error)
    }
}

/// The number of bytes of `n` elements, if the operand has that many and a slice has the dtype of `plan`.
fn check(
    target: bool,
    plan: Encoding,
    slice: Option<DType>,
    n: usize,
    have: usize,
) -> Result<usize, OperandError> {
    if let Some(slice) = slice.filter(|dtype| Encoding::new(*dtype) != plan) {
        return Err(OperandError::Element { target, plan, slice });
    }
    match plan.byte_len(n) {
        None => Err(OperandError::TooLarge { elements: n, encoding: plan }),
        Some(need) if need > have => Err(OperandError::Bytes { target, need, have }),
        Some(need) => Ok(need),
    }
}

impl<'a> Bytes<'a> {
    /// The bytes of the elements.
    pub(super) fn cut(&self, plan: Encoding) -> Result<&'a [u8], OperandError> {
        let len = check(false, plan, self.dtype, self.n, self.len)?;
        if len == 0 {
            return Ok(&[]);
        }
        // SAFETY: the operand borrows `self.len` initialised bytes, and these are no more.
        Ok(unsafe { slice::from_raw_parts(self.start, len) })
    }

    /// The elements as a view of a shape.
    fn view(&self, plan: Encoding, shape: &[usize]) -> Result<View<'a>, OperandError> {
        self.cut(plan)?;
        let layout = Layout::contiguous(plan, shape)?;
        // SAFETY: the caller compares the number of elements with the shape, and `cut` found their bytes.
        Ok(unsafe { View::from_raw(self.start, layout) })
    }
}

impl<'a> BytesMut<'a> {
    pub(super) fn cut(
        self,
        plan: Encoding,
    ) -> Result<(&'a mut [MaybeUninit<u8>], Written<'a>), OperandError> {
        let len = check(true, plan, self.dtype, self.n, self.len)?;
        let all = if self.dtype.is_some() { self.n } else { len };
        let written = Written(self.written.map(|written| (written, all)));
        if len == 0 {
            return Ok((&mut [], written));
        }
        // SAFETY: the operand is the only borrow of `self.len` bytes, and these are no more.
        Ok((unsafe { slice::from_raw_parts_mut(self.start.cast(), len) }, written))
    }

    fn view(self, plan: Encoding, shape: &[usize]) -> Result<(ViewMut<'a>, Written<'a>), OperandError> {
        let layout = Layout::contiguous(plan, shape)?;
        let start = self.start;
        let (_, written) = self.cut(plan)?;
        // SAFETY: the caller compares the number of elements with the shape, and `cut` found their bytes.
        Ok((unsafe { ViewMut::from_raw(start, layout)? }, written))
    }
}

fn same(src: usize, dst: usize) -> Result<(), OperandError> {
    if src == dst { Ok(()) } else { Err(OperandError::Lengths { src, dst }) }
}

impl Source<'_> {
    /// The number of elements; an in-place source has none of its own.
    pub fn elements(&self) -> Option<usize> {
        match &self.0 {
            Reads::Bytes(bytes) => Some(bytes.n),
            Reads::View(view) => Some(view.layout().elements()),
            Reads::InPlace => None,
        }
    }

    /// The elements as a view; bytes are one axis.
    ///
    /// # Errors
    ///
    /// [`OperandError`] if they are not of this encoding.
    pub fn view(&self, plan: Encoding) -> Result<View<'_>, OperandError> {
        match &self.0 {
            Reads::Bytes(bytes) => bytes.view(plan, &[bytes.n]),
            Reads::View(view) => Ok((*view).clone()),
            Reads::InPlace => Err(OperandError::NotBytes),
        }
    }
}

impl Kernel {
    /// Matches operands with the encodings of the kernel.
    ///
    /// # Errors
    ///
    /// [`OperandError`]; two views are compared later, when they are cast.
    pub fn operands<'a>(
        &self,
        src: Source<'a>,
        dst: Target<'a>,
    ) -> Result<(Operands<'a>, Written<'a>), OperandError> {
        let (from, to) = (self.source(), self.target());
        Ok(match (src.0, dst.0) {
            (Reads::Bytes(src), Writes::Bytes(dst)) => {
                // An error in one operand explains why the lengths differ.
                let (n, other) = (src.n, dst.n);
                let src = src.cut(from)?;
                let (dst, written) = dst.cut(to)?;
                same(n, other)?;
                (Operands::Flat(Flat { src, dst, n }), written)
            }
            (Reads::View(src), Writes::View(dst)) => {
                (Operands::Views(src.clone(), dst.reborrow()), Written(None))
            }
            (Reads::Bytes(src), Writes::View(dst)) => {
                same(src.n, dst.get().layout().elements())?;
                let src = src.view(from, dst.get().layout().shape())?;
                (Operands::Views(src, dst.reborrow()), Written(None))
            }
            (Reads::View(src), Writes::Bytes(dst)) => {
                same(src.layout().elements(), dst.n)?;
                let (dst, written) = dst.view(to, src.layout().shape())?;
                (Operands::Views(src.clone(), dst), written)
            }
            (Reads::InPlace, Writes::Bytes(dst)) if dst.initialised && dst.dtype.is_none() => {
                let (start, len, n) = (dst.start, dst.len, dst.n);
                check(false, from, None, n, len)?;
                check(true, to, None, n, len)?;
                (Operands::InPlace(InPlaceBytes { start, len, n, memory: PhantomData }), Written(None))
            }
            (Reads::InPlace, _) => return Err(OperandError::NotBytes),
        })
    }

    /// Casts bytes or slices if both operands are such and fit; otherwise writes nothing.
    ///
    /// The checks are inlined: for slices, whose bytes match their elements by construction, almost nothing remains of them, and no arguments go
    /// through memory.
    #[inline(always)]
    pub fn run_direct(&self, src: &Source<'_>, dst: &mut Target<'_>) -> bool {
        let (Reads::Bytes(src), Writes::Bytes(dst)) = (&src.0, &mut dst.0) else { return false };
        let n = src.n;
        let fits = |dtype: Option<DType>, plan: Encoding, bits: u8, len: usize| match dtype {
            Some(dtype) => (Encoding::new(dtype) == plan).then_some(len),
            None => bytes_of(n, bits.into()).filter(|need| *need <= len),
        };
        let bits = self.bits();
        let (Some(read), Some(written)) = (
            fits(src.dtype, self.source(), bits[0], src.len),
            fits(dst.dtype, self.target(), bits[1], dst.len),
        ) else {
            return false;
        };
        // Without elements, addresses may be null.
        if n == 0 || n != dst.n {
            return false;
        }
        // SAFETY: the operands borrow initialised bytes to read and bytes to write; both have at least the bytes of `n` elements.
        unsafe {
            let bytes = slice::from_raw_parts(src.start, read);
            self.run_guarded(bytes, slice::from_raw_parts_mut(dst.start.cast(), written), n);
        }
        if let Some(count) = &mut dst.written {
            **count = if dst.dtype.is_some() { n } else { written };
        }
        true
    }

    /// Casts `n` elements.
    ///
    /// # Safety
    ///
    /// The slices are the bytes of `n` elements.
    #[inline]
    unsafe fn run_guarded(&self, src: &[u8], dst: &mut [MaybeUninit<u8>], n: usize) {
        let _guard = self.guard();
        // SAFETY: the caller's promise is the same. The guard lives to the end of the function.
        unsafe { self.run_cut(src, dst, n) };
    }
}
