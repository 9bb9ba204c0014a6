//! Runs a resolved cast on buffers, slices and new vectors.

use crate::route::Kernel;
use crate::{
    arch::Tier,
    drive::{
        fpenv,
        stream::{head, stream},
    },
    dtype::{Element, Encoding, Kind},
    exact::one::assert_size,
    vector::machine::CACHE_LINE,
};
use alloc::vec::Vec;
use core::{mem::MaybeUninit, slice};

/// Whether stores of whole registers may cross cache lines in large allocations, which begin 16 bytes after a line. Stores that cross lines take
/// up to 1.6 times as long.
const LINES_MATTER: bool = cfg!(any(target_arch = "x86", target_arch = "x86_64"));

/// The bytes of a destination from which a second call pays off, so that stores begin at a cache line: casts of 4 KiB then take 0.6 to 0.9 times
/// as long.
const LONG: usize = 4096;

/// The same limit for a source that is longer than its destination: a source of this size fills most first-level caches. In shorter sources the
/// loads that cross lines cost more.
const LONGER: usize = 32 << 10;

/// A number of elements that every kernel casts in its main loop alone.
const WHOLE: usize = 64;

impl Kernel {
    /// Sets the default floating-point environment if a kernel obeys it; dropping the result restores the host's.
    #[inline(always)]
    pub(crate) fn guard(&self) -> Option<fpenv::Guard> {
        self.guarded.then(fpenv::guard)
    }

    /// Casts `n` elements and returns the bytes of the destination that were written; `None`, with nothing written, if either buffer is shorter
    /// than `n` elements. Bytes after the `n` elements are not touched.
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
        let src = src.get(..self.source().byte_len(n)?)?;
        let dst = dst.get_mut(..self.target().byte_len(n)?)?;
        let _guard = self.guard();
        // SAFETY: both were just cut to the bytes of `n` elements; the guard lives to the end of the function.
        Some(unsafe { self.run_cut(src, dst, n) })
    }

    /// Casts between buffers that were already checked, with non-temporal stores if they are large. In long casts, stores do not cross cache lines
    /// or, where loads that cross lines cost more, loads do not.
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
            // SAFETY: the caller's promise is the same.
            return unsafe { self.run_streaming(src, dst, n) };
        }
        let addresses = if dst.len() >= src.len() {
            if dst.len() < LONG { 0 } else { dst.as_ptr().addr() }
        } else if src.len() < LONGER {
            0
        } else {
            src.as_ptr().addr() | dst.as_ptr().addr()
        };
        if LINES_MATTER && !addresses.is_multiple_of(CACHE_LINE) {
            // SAFETY: the caller's promise is the same.
            return unsafe { self.run_lines(src, dst, n) };
        }
        // SAFETY: the caller's promise is the same.
        unsafe { self.run_unguarded(src, dst, n) }
    }

    /// Whether the loads rather than the stores should not cross cache lines. Accesses of 64 bytes cross lines either all or never.
    fn loads_matter_more(&self, read: usize, written: usize) -> bool {
        let pairs = self.source().dtype().kind() == Kind::Complex && read > written;
        self.tier() == Tier::Avx512 && (pairs || read / 4 >= written)
    }

    /// Casts in two calls. The first casts the elements before the first cache line of one side and some elements after it, which avoids the slow
    /// steps for single elements. The second casts all elements after that line.
    ///
    /// # Safety
    ///
    /// As [`run_unguarded`](Self::run_unguarded).
    #[inline(never)]
    unsafe fn run_lines<'a>(&self, src: &[u8], dst: &'a mut [MaybeUninit<u8>], n: usize) -> &'a mut [u8] {
        let bits = [self.source(), self.target()].map(|of| of.bits_per_element() as usize);
        let first = match self.loads_matter_more(src.len(), dst.len()) {
            true => head(src.as_ptr().addr(), bits[0], bits[1]),
            false => head(dst.as_ptr().addr(), bits[1], bits[0]),
        };
        let first = first.filter(|first| *first < n).unwrap_or_default();
        if first > 0 {
            let whole = n.min(first.next_multiple_of(WHOLE));
            let (src, dst) = (&src[..whole * bits[0] / 8], &mut dst[..whole * bits[1] / 8]);
            // SAFETY: these are the bytes of `whole` elements.
            unsafe { self.run_unguarded(src, dst, whole) };
        }
        let (src, rest) = (&src[first * bits[0] / 8..], &mut dst[first * bits[1] / 8..]);
        // SAFETY: these are the bytes of the other elements.
        unsafe { self.run_unguarded(src, rest, n - first) };
        // SAFETY: both casts have written all their bytes.
        unsafe { slice::from_raw_parts_mut(dst.as_mut_ptr().cast(), dst.len()) }
    }

    /// # Safety
    ///
    /// As [`run_unguarded`](Self::run_unguarded).
    #[cold]
    unsafe fn run_streaming<'a>(&self, src: &[u8], dst: &'a mut [MaybeUninit<u8>], n: usize) -> &'a mut [u8] {
        let Some(tools) = self.token().non_temporal() else {
            // SAFETY: the caller's promise is the same.
            return unsafe { self.run_unguarded(src, dst, n) };
        };
        let bits = (self.source().bits_per_element(), self.target().bits_per_element());
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

    /// Casts between buffers that were already checked.
    ///
    /// # Safety
    ///
    /// The slices are exactly the bytes of `n` elements, and the caller holds the [guard](Self::guard).
    #[inline(always)]
    pub(crate) unsafe fn run_unguarded<'a>(
        &self,
        src: &[u8],
        dst: &'a mut [MaybeUninit<u8>],
        n: usize,
    ) -> &'a mut [u8] {
        // SAFETY: the caller's promise is the same.
        unsafe { self.route.run(src, dst, n) }
    }

    /// Casts at addresses, if the route is only its kernel; otherwise returns false and writes nothing.
    ///
    /// # Safety
    ///
    /// The bytes of `n` elements may be read and written, and do not overlap; the caller holds the [guard](Self::guard).
    #[inline(always)]
    pub(crate) unsafe fn run_alone(&self, src: *const u8, dst: *mut u8, n: usize) -> bool {
        // SAFETY: the caller's promise is the same.
        unsafe { self.route.run_alone(src, dst, n) }
    }

    /// [`run`](Self::run) between slices of the kernel's element types, from the first to the last element of both.
    ///
    /// `None`, with nothing written, if the kernel does not cast between these types in byte storage and the order of the host, or if the lengths
    /// differ.
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
        let typed = self.source() == Encoding::new(S::DTYPE) && self.target() == Encoding::new(D::DTYPE);
        if !typed || src.len() != dst.len() {
            return None;
        }
        let n = src.len();
        // SAFETY: elements have no padding (`Element`), so all their bytes are initialised.
        let bytes = unsafe { slice::from_raw_parts(src.as_ptr().cast::<u8>(), size_of_val(src)) };
        // SAFETY: the same memory; none of it is assumed to be initialised.
        let out = unsafe { slice::from_raw_parts_mut(dst.as_mut_ptr().cast(), size_of_val(dst)) };
        let _guard = self.guard();
        // SAFETY: the slices are the bytes of `n` elements of the kernel's two sides, which have the types' sizes (`assert_size`); the
        // guard lives to the end of the function.
        unsafe { self.run_cut(bytes, out, n) };
        // SAFETY: the cast wrote all `n` elements, and what a cast to `D::DTYPE` writes is valid for `D` (`Element`).
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
}

#[cfg(test)]
pub(crate) mod tests;
