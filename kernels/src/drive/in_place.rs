//! Casts in place: the elements at the start of a buffer are replaced by their results at its start.
//!
//! Kernels never get a source and a destination that overlap, since some write their last vector twice. So a cast is split into
//! pieces whose results go where no unread element is:
//!
//! * *forward*, if the target is narrower: after `k` elements, `k` times the difference of the widths is free before the next
//!   element, and as many results as fit there are one piece. The pieces grow by a constant factor;
//! * *backward*, if the target is wider: the results of the elements after `n * from / to` lie after the source of all `n`, so these results are
//!   one piece, and the rest is a shorter cast of the same kind. The pieces shrink by a constant factor;
//! * *blocks* of 512 elements through the stack, which are read completely before they are written: the elements at the start of the
//!   buffer, where no piece fits; and, in blocks of 8 KiB, everything if the widths are equal.
//!
//! Pieces are multiples of a block, so they begin on whole bytes of every packed width.

use crate::{
    drive::blocks::Stack,
    dtype::{DType, Element, Encoding},
    exact::one::assert_size,
    route::Kernel,
    vector::machine::BLOCK_ELEMENTS,
};
use core::{mem::MaybeUninit, slice};

/// Stack bytes for the results of a block of the widest elements, or of as many blocks of other elements as fit.
const STACK: usize = BLOCK_ELEMENTS * 16;

impl Kernel {
    /// Casts the `n` elements at the start of `buffer` into `n` elements of the target at its start, and returns their
    /// bytes; `None`, with nothing written, if the buffer is shorter than the `n` elements of either side. Bytes after
    /// both sides are not touched; bytes of the source after the result are unspecified.
    pub fn run_in_place<'a>(&self, buffer: &'a mut [u8], n: usize) -> Option<&'a mut [u8]> {
        // SAFETY: the same memory, which is initialised and stays so: a cast writes only initialised bytes.
        unsafe {
            let buffer = slice::from_raw_parts_mut(buffer.as_mut_ptr().cast(), buffer.len());
            self.run_in_place_uninit(buffer, n)
        }
    }

    /// [`run_in_place`](Self::run_in_place) in a buffer that need not be initialised after the elements of the source.
    ///
    /// # Safety
    ///
    /// The bytes of the `n` elements of the source at the start of the buffer are initialised.
    pub unsafe fn run_in_place_uninit<'a>(
        &self,
        buffer: &'a mut [MaybeUninit<u8>],
        n: usize,
    ) -> Option<&'a mut [u8]> {
        let (read, written) = (self.source().byte_len(n)?, self.target().byte_len(n)?);
        let start = buffer.get_mut(..read.max(written))?.as_mut_ptr().cast::<u8>();
        // SAFETY: the buffer has the bytes of `n` elements of either side, and the bytes of the source's elements are initialised.
        unsafe {
            self.run_in_place_at(start, start, n);
            // These are the results of all `n` elements, which have been written.
            Some(slice::from_raw_parts_mut(start, written))
        }
    }

    /// Casts the `n` elements at `src` to `n` elements at `dst`, the same address. Only elements of the source are read through `src`, and only
    /// results are written through `dst`: one pointer may be derived from fewer bytes than the other.
    ///
    /// # Safety
    ///
    /// `src` is readable for the bytes of `n` elements of the source, which are initialised, and `dst` is writable for the bytes of `n` elements
    /// of the target; nothing else accesses these bytes meanwhile.
    pub(crate) unsafe fn run_in_place_at(&self, src: *const u8, dst: *mut u8, n: usize) {
        let (from, to) = (self.source().bits_per_element(), self.target().bits_per_element());
        let _guard = self.guard();
        if self.is_identity() {
            // Every byte already is its own result.
        } else if from < to {
            // SAFETY: the caller's memory; the guard is held; the target is wider.
            unsafe { self.backward(src, dst, n) };
        } else {
            // SAFETY: as above, except that the target is not wider.
            unsafe { self.forward(src, dst, n) };
        }
    }

    /// Whether the bytes of the result always equal the bytes of the source.
    fn is_identity(&self) -> bool {
        let dtype = self.source().dtype();
        self.source() == self.target() && !dtype.is_sub_byte() && dtype != DType::Bool
    }

    /// # Safety
    ///
    /// As [`run_in_place_at`](Self::run_in_place_at); the target is not wider than the source. The caller holds the guard of the
    /// floating-point environment.
    unsafe fn forward(&self, src: *const u8, dst: *mut u8, n: usize) {
        let from = self.source().bits_per_element() as usize;
        let to = self.target().bits_per_element() as usize;
        // If the first block only has to make room for pieces, it is short.
        let block =
            if from == to { STACK / (BLOCK_ELEMENTS / 8 * to) * BLOCK_ELEMENTS } else { BLOCK_ELEMENTS };
        let mut done = 0;
        while done < n {
            let free = done / BLOCK_ELEMENTS * (from - to) / to * BLOCK_ELEMENTS;
            let count = (n - done).min(if free > 0 { free } else { block });
            // SAFETY: elements of the caller's, which have not been read. If there is room for their results before the first of them,
            // `(done + count) * to <= done * from`, the results overlap no element that has not been read.
            unsafe {
                if free > 0 {
                    self.piece(src, dst, done, count);
                } else {
                    self.through_stack(src, dst, done, count);
                }
            }
            done += count;
        }
    }

    /// # Safety
    ///
    /// As [`forward`](Self::forward), except that the target is wider.
    unsafe fn backward(&self, src: *const u8, dst: *mut u8, n: usize) {
        let from = self.source().bits_per_element() as usize;
        let to = self.target().bits_per_element() as usize;
        let mut rest = n;
        while rest > 0 {
            let first = (rest.div_ceil(BLOCK_ELEMENTS) * from).div_ceil(to) * BLOCK_ELEMENTS;
            if first < rest {
                // SAFETY: elements of the caller's. Their results begin after the last element, since `first * to >= rest * from`.
                unsafe { self.piece(src, dst, first, rest - first) };
                rest = first;
            } else {
                let first = (rest - 1) / BLOCK_ELEMENTS * BLOCK_ELEMENTS;
                // SAFETY: elements of the caller's; the results overlap no element before them.
                unsafe { self.through_stack(src, dst, first, rest - first) };
                rest = first;
            }
        }
    }

    /// Casts the `count` elements from index `first` on.
    ///
    /// # Safety
    ///
    /// As [`run_in_place_at`](Self::run_in_place_at), for these elements, which share no bytes with their results. The caller holds the guard of
    /// the floating-point environment.
    unsafe fn piece(&self, src: *const u8, dst: *mut u8, first: usize, count: usize) {
        let (read, written) = (self.source().span(first, count), self.target().span(first, count));
        // SAFETY: the bytes of `count` elements of either side. The source's bytes are initialised and do not overlap the destination's.
        unsafe {
            let src = slice::from_raw_parts(src.add(read.start), read.len());
            let dst = slice::from_raw_parts_mut(dst.add(written.start).cast(), written.len());
            self.run_unguarded(src, dst, count);
        }
    }

    /// Casts the `count` elements from index `first` on, which fit on the stack: all are read before their results are written.
    ///
    /// # Safety
    ///
    /// As [`piece`](Self::piece), except that elements may share bytes with their results.
    unsafe fn through_stack(&self, src: *const u8, dst: *mut u8, first: usize, count: usize) {
        let mut stack = Stack::<STACK>::new();
        let (read, written) = (self.source().span(first, count), self.target().span(first, count));
        let results = &mut stack.bytes()[..written.len()];
        // SAFETY: the bytes of `count` elements of either side. The first call reads the source, and the second one writes what
        // the first has written on the stack.
        unsafe {
            self.run_unguarded(slice::from_raw_parts(src.add(read.start), read.len()), results, count);
            let results = results.as_ptr().cast::<u8>();
            results.copy_to_nonoverlapping(dst.add(written.start), written.len());
        }
    }

    /// [`run_in_place`](Self::run_in_place) on a whole slice, whose elements become elements of `D`.
    ///
    /// `None`, with nothing written, if the kernel does not cast between these types in byte storage and the order of the host, or if the memory
    /// cannot hold both ([`shares_memory`]).
    #[inline]
    pub fn run_elements_in_place<'a, S: Element, D: Element>(
        &self,
        elements: &'a mut [S],
    ) -> Option<&'a mut [D]> {
        const { assert_size::<S>() };
        const { assert_size::<D>() };
        let typed = self.source() == Encoding::new(S::DTYPE) && self.target() == Encoding::new(D::DTYPE);
        if !typed || !shares_memory::<S, D>() {
            return None;
        }
        let (n, len, start) = (elements.len(), size_of_val(elements), elements.as_mut_ptr());
        // SAFETY: the elements' own memory, borrowed for `'a`. They have no padding, so all their bytes are initialised, and
        // they may be left as any bytes: only bool does not accept every bit pattern (`Element`), and a slice of bool is only
        // cast to bool, whose encoder writes 0 and 1.
        let bytes = unsafe { slice::from_raw_parts_mut(start.cast::<u8>(), len) };
        self.run_in_place(bytes, n)?;
        // SAFETY: the same memory, aligned for `D` and long enough for `n` of them (`shares_memory`). The cast wrote all of them, and what it
        // writes is valid for `D`. The bytes that the caller then writes there are valid for `S`, which accepts any bytes or is also bool.
        Some(unsafe { slice::from_raw_parts_mut(start.cast::<D>(), n) })
    }
}

/// Whether a slice of `S` can become a slice of `D` in place: the memory must be large enough and aligned for both, and both types
/// must accept the bytes that the other leaves.
pub const fn shares_memory<S: Element, D: Element>() -> bool {
    let is_bool = matches!(S::DTYPE, DType::Bool);
    size_of::<D>() <= size_of::<S>()
        && align_of::<D>() <= align_of::<S>()
        && (!is_bool || matches!(D::DTYPE, DType::Bool))
}

/// Small enough for Miri; `tests/in_place.rs` of the root crate tests every pair.
#[cfg(test)]
mod tests {
    use super::*;
    use crate::{arch::Tier, exact::Rules};
    use alloc::{vec, vec::Vec};

    fn kernel(from: impl Into<Encoding>, to: impl Into<Encoding>) -> Kernel {
        let (from, to) = (from.into(), to.into());
        Kernel::new(Tier::Scalar, from, to, &Rules::common(to.dtype(), true)).expect("scalar")
    }

    #[test]
    fn the_same_as_between_buffers() {
        let packed = Encoding::packed(DType::UInt4);
        let six = Encoding::packed(DType::Float6E2M3FN);
        let pairs = [
            (DType::UInt16.into(), DType::Int8.into()),
            (DType::Int8.into(), DType::UInt16.into()),
            (DType::Float16.into(), DType::UInt16.into()),
            (DType::UInt8.into(), packed),
            (packed, DType::UInt8.into()),
            (packed, six),
            (six, packed),
            (packed, packed),
        ];
        let lengths: &[usize] =
            if cfg!(miri) { &[0, 3, 1100] } else { &[0, 1, 7, 8, 511, 512, 513, 1024, 1027, 2048, 5000] };
        for (from, to) in pairs {
            for &n in lengths {
                let kernel = kernel(from, to);
                let (read, written) = (from.byte_len(n).expect("small"), to.byte_len(n).expect("small"));
                let mut buffer: Vec<u8> = (0..read.max(written)).map(|i| (i * 7 + i / 256) as u8).collect();
                let mut want = vec![0; written];
                kernel.run(&buffer[..read], &mut want, n).expect("large enough");
                let got = kernel.run_in_place(&mut buffer, n).expect("large enough");
                assert!(*got == *want, "{kernel:?}, {n} elements");
                let short = buffer.len().saturating_sub(1);
                assert!(n == 0 || kernel.run_in_place(&mut buffer[..short], n).is_none());
            }
        }
    }

    #[test]
    fn slices() {
        let mut floats = [1.5_f32, -2.0, 1e9];
        let ints: &mut [i32] =
            kernel(DType::Float32, DType::Int32).run_elements_in_place(&mut floats).expect("equal widths");
        assert_eq!(ints, [1, -2, 1_000_000_000]);
        let bytes: &mut [u8] =
            kernel(DType::Int32, DType::UInt8).run_elements_in_place(ints).expect("narrower");
        assert_eq!(bytes, [1, 0, 255]);
        let truths: &mut [bool] =
            kernel(DType::UInt8, DType::Bool).run_elements_in_place(bytes).expect("bytes");
        assert_eq!(truths, [true, false, true]);
        assert!(kernel(DType::Bool, DType::Bool).run_elements_in_place::<bool, bool>(truths).is_some());
        assert!(kernel(DType::Bool, DType::UInt8).run_elements_in_place::<bool, u8>(truths).is_none());
        assert!(kernel(DType::UInt8, DType::Int8).run_elements_in_place::<i8, i8>(&mut [1]).is_none());
        assert!(!shares_memory::<u8, u16>() && !shares_memory::<bool, i8>());
        assert!(align_of::<f64>() <= align_of::<f32>() || !shares_memory::<num_complex::Complex<f32>, f64>());
    }
}
