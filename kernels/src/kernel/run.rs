//! Runs a resolved cast: directly, or in stages through blocks on the stack.

use super::{Kernel, is_packed_copy};
use crate::{
    data::Direction, format::Element, fpenv, one::assert_size, storage::BufferType, stream::stream,
    table::KernelFn,
};
use alloc::vec::Vec;
use core::{mem::MaybeUninit, slice};

/// Elements of a stage: whole bytes of every packed width, small enough for the stack and the first cache.
pub(crate) const BLOCK: usize = 512;

impl Kernel {
    /// Sets the direction of rounding that the kernel needs, if that is not the default of the guard that the caller holds.
    #[inline(always)]
    fn directed(&self) -> Option<fpenv::Guard> {
        (self.direction != Direction::NearestEven).then(|| fpenv::guard_in(self.direction))
    }

    /// Calls a kernel of the pair.
    ///
    /// # Safety
    ///
    /// As [`KernelFn`].
    #[inline(always)]
    unsafe fn call(&self, kernel: KernelFn, src: *const u8, dst: *mut u8, n: usize) {
        // SAFETY: the caller's promise.
        unsafe { fpenv::opaque(kernel)(src, dst, n, self.data) }
    }

    /// Casts `n` elements and returns the bytes of the destination that were written; `None`, with nothing written, if
    /// either buffer is shorter than `n` elements. Longer buffers are left alone behind them.
    #[inline]
    pub fn run<'a>(&self, src: &[u8], dst: &'a mut [u8], n: usize) -> Option<&'a mut [u8]> {
        // SAFETY: the same memory; `run_uninit` writes only initialised bytes.
        let dst = unsafe { slice::from_raw_parts_mut(dst.as_mut_ptr().cast(), dst.len()) };
        self.run_uninit(src, dst, n)
    }

    /// [`run`](Self::run) into memory that need not be initialised.
    #[inline]
    pub fn run_uninit<'a>(
        &self,
        src: &[u8],
        dst: &'a mut [MaybeUninit<u8>],
        n: usize,
    ) -> Option<&'a mut [u8]> {
        let src = src.get(..self.from.byte_len(n)?)?;
        let dst = dst.get_mut(..self.to.byte_len(n)?)?;
        let _guard = self.guarded.then(fpenv::guard);
        // SAFETY: both were just cut to the bytes of `n` elements; the guard lives to the end of the function.
        Some(unsafe { self.run_cut(src, dst, n) })
    }

    /// One cast between buffers that were looked at, past the caches if they are large.
    ///
    /// # Safety
    ///
    /// As [`run_unguarded`](Self::run_unguarded).
    #[inline(always)]
    pub(crate) unsafe fn run_cut<'a>(
        &self,
        src: &[u8],
        dst: &'a mut [MaybeUninit<u8>],
        n: usize,
    ) -> &'a mut [u8] {
        if self.streams(src.len() + dst.len()) {
            // SAFETY: as the caller's.
            return unsafe { self.run_streaming(src, dst, n) };
        }
        // SAFETY: as the caller's.
        unsafe { self.run_unguarded(src, dst, n) }
    }

    /// # Safety
    ///
    /// As [`run_unguarded`](Self::run_unguarded).
    #[cold]
    unsafe fn run_streaming<'a>(&self, src: &[u8], dst: &'a mut [MaybeUninit<u8>], n: usize) -> &'a mut [u8] {
        let Some(tools) = self.tier.non_temporal() else {
            // SAFETY: as the caller's.
            return unsafe { self.run_unguarded(src, dst, n) };
        };
        let bits = (self.from.bits_per_element(), self.to.bits_per_element());
        // SAFETY: `new` checked the tier; the slices are the bytes of `n` elements.
        unsafe {
            stream(tools, src, dst, n, bits, |src, dst, count| {
                // SAFETY: the driver gives the bytes of `count` elements; the guard is the caller's.
                self.run_unguarded(src, dst, count);
            });
        }
        // SAFETY: the driver stored what the kernel wrote, which is every byte of the `n` elements.
        unsafe { slice::from_raw_parts_mut(dst.as_mut_ptr().cast(), dst.len()) }
    }

    /// One cast between buffers that were looked at.
    ///
    /// # Safety
    ///
    /// The slices are exactly the bytes of `n` elements, and the caller holds the guard of the floating-point environment.
    #[inline(always)]
    pub(crate) unsafe fn run_unguarded<'a>(
        &self,
        src: &[u8],
        dst: &'a mut [MaybeUninit<u8>],
        n: usize,
    ) -> &'a mut [u8] {
        debug_assert!(self.from.byte_len(n) == Some(src.len()) && self.to.byte_len(n) == Some(dst.len()));
        let _direction = self.directed();
        match self.direct {
            // SAFETY: by the caller, both slices have the bytes of `n` elements of the pair the kernel was looked up for,
            // and the guard is held; a shared and an exclusive slice do not overlap; `new` checked the tier.
            Some(kernel) => unsafe { self.call(kernel, src.as_ptr(), dst.as_mut_ptr().cast(), n) },
            // SAFETY: as the caller's.
            None => unsafe { self.run_in_blocks(src, dst, n) },
        }
        // SAFETY: the kernel, or the stages between them, wrote every byte of the `n` elements.
        unsafe { slice::from_raw_parts_mut(dst.as_mut_ptr().cast(), dst.len()) }
    }

    /// # Safety
    ///
    /// As [`run_unguarded`](Self::run_unguarded).
    #[inline(never)]
    unsafe fn run_in_blocks(&self, src: &[u8], dst: &mut [MaybeUninit<u8>], n: usize) {
        if self.from.is_swapped() || self.to.is_swapped() {
            // SAFETY: as the caller's.
            return unsafe { self.run_swapped(src, dst, n) };
        }
        // SAFETY: as the caller's.
        unsafe { self.run_staged(src, dst, n) };
    }

    /// One cast of elements of both dtypes in the byte order of the host, whatever the order of the sides; writes all of
    /// `dst`.
    ///
    /// # Safety
    ///
    /// As [`run_unguarded`](Self::run_unguarded).
    #[inline(always)]
    pub(crate) unsafe fn run_native(&self, src: &[u8], dst: &mut [MaybeUninit<u8>], n: usize) {
        let _direction = self.directed();
        match self.native {
            // SAFETY: as in `run_unguarded`.
            Some(kernel) => unsafe { self.call(kernel, src.as_ptr(), dst.as_mut_ptr().cast(), n) },
            // SAFETY: as the caller's.
            None => unsafe { self.run_staged(src, dst, n) },
        }
    }

    /// [`run`](Self::run) between slices of the kernel's element types, from the first to the last element of both.
    ///
    /// `None`, with nothing written, if the types are not those of the kernel in byte storage and the order of the host, or the
    /// lengths differ.
    #[inline]
    pub fn run_elements<'a, S: Element, D: Element>(
        &self,
        src: &[S],
        dst: &'a mut [D],
    ) -> Option<&'a mut [D]> {
        // SAFETY: the same memory; `run_elements_uninit` writes only initialised elements.
        let dst = unsafe { slice::from_raw_parts_mut(dst.as_mut_ptr().cast(), dst.len()) };
        self.run_elements_uninit(src, dst)
    }

    /// [`run_elements`](Self::run_elements) into memory that need not be initialised.
    #[inline]
    pub fn run_elements_uninit<'a, S: Element, D: Element>(
        &self,
        src: &[S],
        dst: &'a mut [MaybeUninit<D>],
    ) -> Option<&'a mut [D]> {
        const { assert_size::<S>() };
        const { assert_size::<D>() };
        let typed = self.from == BufferType::new(S::DTYPE) && self.to == BufferType::new(D::DTYPE);
        if !typed || src.len() != dst.len() {
            return None;
        }
        let n = src.len();
        // SAFETY: elements have no padding (`Element`), so all their bytes are initialised.
        let bytes = unsafe { slice::from_raw_parts(src.as_ptr().cast::<u8>(), size_of_val(src)) };
        // SAFETY: the same memory, of which nothing is claimed to be initialised.
        let out = unsafe { slice::from_raw_parts_mut(dst.as_mut_ptr().cast(), size_of_val(dst)) };
        self.run_uninit(bytes, out, n)?;
        // SAFETY: `run_uninit` wrote all `n` elements, and what a cast to `D::DTYPE` writes is valid for `D` (`Element`).
        Some(unsafe { slice::from_raw_parts_mut(dst.as_mut_ptr().cast::<D>(), n) })
    }

    /// [`run_elements`](Self::run_elements) into a new vector.
    #[inline]
    pub fn run_to_vec<S: Element, D: Element>(&self, src: &[S]) -> Option<Vec<D>> {
        let mut out = Vec::with_capacity(src.len());
        self.run_elements_uninit(src, &mut out.spare_capacity_mut()[..src.len()])?;
        // SAFETY: the capacity is at least this, and the run initialised as many elements.
        unsafe { out.set_len(src.len()) };
        Some(out)
    }

    /// Clears the bits behind the last of `n` packed elements.
    ///
    /// # Safety
    ///
    /// The last byte of `dst` has been written.
    unsafe fn clear_unused(&self, dst: &mut [MaybeUninit<u8>], n: usize) {
        // No overflow: the bits of all whole bytes before cannot matter.
        let used = (n % 8) * self.to.bits_per_element() as usize % 8;
        if let (Some(last), true) = (dst.last_mut(), used != 0) {
            // SAFETY: the caller's promise.
            let byte = unsafe { last.assume_init() };
            last.write(byte & !(0xFF << used));
        }
    }

    /// All of a cast that has no kernel for all of it. The byte order of the sides is passed over: elements are in that of
    /// the host. Writes all of `dst`.
    ///
    /// # Safety
    ///
    /// As [`run_unguarded`](Self::run_unguarded).
    #[inline(never)]
    unsafe fn run_staged(&self, src: &[u8], dst: &mut [MaybeUninit<u8>], n: usize) {
        if is_packed_copy(self.from, self.to) {
            let copy = self.body;
            // The bits as they are, but for those behind the last element.
            // SAFETY: `copy` copies bytes (`new`), and by the caller these are slices of as many; `&mut` does not overlap.
            // Then all of `dst` has been written.
            unsafe {
                self.call(copy, src.as_ptr(), dst.as_mut_ptr().cast(), dst.len());
                self.clear_unused(dst, n);
            }
            return;
        }
        let packing = self.tier.packing();
        if let Some(table) = self.nibbles {
            let width = self.from.bits_per_element();
            let (src, out) = (src.as_ptr(), dst.as_mut_ptr().cast());
            if !self.to.is_packed() {
                // SAFETY: `new` checked the tier, and that the source is packed and the target has a byte per element; the
                // caller, that the slices are those of `n` of them.
                unsafe { packing.map[width as usize / 2 - 1](src, out, n, table) };
                return;
            }
            // SAFETY: as above; the target has as many bits as the source, so as many bytes, all of which are written.
            unsafe {
                packing.map[2](src, out, dst.len(), table);
                self.clear_unused(dst, n);
            }
            return;
        }
        let mut unpacked = [MaybeUninit::<u8>::uninit(); BLOCK];
        let mut to_pack = [MaybeUninit::<u8>::uninit(); BLOCK];
        for first in (0..n).step_by(BLOCK) {
            let count = BLOCK.min(n - first);
            let src = &src[self.from.span(first, count)];
            let dst = &mut dst[self.to.span(first, count)];
            let src = if self.from.is_packed() {
                let codes = &mut unpacked[..count];
                // SAFETY: `new` checked the tier; `src` are the bytes of `count` elements, all of which are written.
                unsafe {
                    packing.unpack(self.from.bits_per_element(), src, codes);
                    slice::from_raw_parts(codes.as_ptr().cast(), count)
                }
            } else {
                src
            };
            let out = if self.to.is_packed() { &mut to_pack[..count] } else { &mut *dst };
            // SAFETY: `src` and `out` are `count` elements in byte storage, and by the caller the guard is held.
            unsafe {
                self.call(self.body, src.as_ptr(), out.as_mut_ptr().cast(), count);
            }
            // SAFETY: every byte of `out` was just written.
            let out = unsafe { slice::from_raw_parts_mut(out.as_mut_ptr().cast::<u8>(), out.len()) };
            if self.to.is_packed() {
                // SAFETY: as for unpacking.
                unsafe { packing.pack(self.to.bits_per_element(), out, dst) };
            }
        }
    }
}
