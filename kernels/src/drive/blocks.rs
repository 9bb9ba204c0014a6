//! Runs routes that are more than one call of a kernel.
//!
//! *Law.* Whatever the route, every byte of the destination is written once, with the result of the stages, and no other memory is
//! touched.
//!
//! *Method.* One loop over blocks runs all stages. The data between stages is in two alternating blocks on the stack: a stage reads
//! one and writes the other. The first stage reads the source and the last one writes the destination, so memory is traversed once.
//! Both blocks together are a small part of the first-level cache.

use crate::vector::opaque::opaque;
use crate::{
    arch::TierToken,
    drive::fpenv,
    dtype::Encoding,
    format::data::{Data, Direction},
    route::{Route, Side, Way},
    vector::{kernel::KernelFn, machine::BLOCK_BYTES},
};
use core::{mem::MaybeUninit, slice};

/// Memory on the stack, aligned to cache lines.
#[repr(align(64))]
pub(crate) struct Stack<const BYTES: usize>([MaybeUninit<u8>; BYTES]);

impl<const BYTES: usize> Stack<BYTES> {
    #[inline(always)]
    pub(crate) const fn new() -> Self {
        Self([MaybeUninit::uninit(); BYTES])
    }

    /// The address of the first byte.
    #[inline(always)]
    pub(crate) fn start(&mut self) -> *mut u8 {
        self.0.as_mut_ptr().cast()
    }

    /// All bytes.
    #[inline(always)]
    pub(crate) fn bytes(&mut self) -> &mut [MaybeUninit<u8>; BYTES] {
        &mut self.0
    }
}

/// Calls a kernel.
///
/// # Safety
///
/// As [`KernelFn`].
#[inline(always)]
unsafe fn call(kernel: KernelFn, src: *const u8, dst: *mut u8, n: usize, data: &Data) {
    // SAFETY: it is the same kernel, and the caller keeps its promise.
    unsafe { opaque(kernel)(src, dst, n, data) }
}

/// Converts `n` elements of `buffer` from its storage to byte storage in the order of the host.
///
/// # Safety
///
/// `side` is not plain, and is how `buffer` is stored. The CPU has the tier. `src` is readable for the bytes of `n` elements of `buffer`, `dst` is
/// writable for the bytes of `n` elements of its dtype in byte storage, and the two do not overlap.
#[inline(always)]
unsafe fn load(tier: TierToken, side: Side, buffer: Encoding, src: *const u8, dst: *mut u8, n: usize) {
    if side == Side::Packed {
        // SAFETY: these are the bytes of `n` packed elements, and one for each of them; the CPU has the tier.
        unsafe {
            let packed = slice::from_raw_parts(src, buffer.span(0, n).len());
            let codes = slice::from_raw_parts_mut(dst.cast(), n);
            tier.packing().unpack(buffer.bits_per_element(), packed, codes);
        }
    } else {
        // SAFETY: both have `n` elements of the dtype whose swap this is, and the CPU has the tier. A swap reads no constants and obeys
        // no floating-point environment.
        unsafe { tier.swap(buffer.dtype())(src, dst, n, Data::common(buffer.dtype(), true)) }
    }
}

/// Converts `n` elements from byte storage in the order of the host to the storage of `buffer`.
///
/// # Safety
///
/// As [`load`], with the sides exchanged.
#[inline(always)]
unsafe fn store(tier: TierToken, side: Side, buffer: Encoding, src: *const u8, dst: *mut u8, n: usize) {
    if side == Side::Packed {
        // SAFETY: these are a byte for each of `n` elements, and the bytes of as many packed ones; the CPU has the tier.
        unsafe {
            let codes = slice::from_raw_parts(src, n);
            let packed = slice::from_raw_parts_mut(dst.cast(), buffer.span(0, n).len());
            tier.packing().pack(buffer.bits_per_element(), codes, packed);
        }
    } else {
        // SAFETY: a swap is its own inverse, so what `load` says holds here.
        unsafe { load(tier, side, buffer, src, dst, n) }
    }
}

impl Route {
    /// Casts `n` elements and writes all of `dst`.
    ///
    /// # Safety
    ///
    /// The slices are exactly the bytes of `n` elements of the two sides. If a kernel of the route obeys the floating-point environment,
    /// that is the default: the caller holds the guard.
    #[inline(always)]
    pub(crate) unsafe fn run<'a>(
        &self,
        src: &[u8],
        dst: &'a mut [MaybeUninit<u8>],
        n: usize,
    ) -> &'a mut [u8] {
        debug_assert!(self.from.byte_len(n) == Some(src.len()) && self.to.byte_len(n) == Some(dst.len()));
        if self.way == Way::Direct {
            // SAFETY: `Route::new` found the kernel for elements of this pair as both sides store them, and that the CPU has its
            // tier; the slices are the bytes of `n` elements, and a shared and an exclusive slice do not overlap. The environment is
            // the caller's promise; the constants came with the kernel.
            unsafe { call(self.run, src.as_ptr(), dst.as_mut_ptr().cast(), n, self.data) }
        } else {
            // SAFETY: the caller's promise is the same.
            unsafe { self.run_indirect(src, dst, n) }
        }
        // SAFETY: a kernel writes all `n` elements, which are all bytes of `dst`; so does `run_indirect`.
        unsafe { slice::from_raw_parts_mut(dst.as_mut_ptr().cast(), dst.len()) }
    }

    /// Runs at addresses, as [`run`](Self::run), if the route is only its kernel. Otherwise returns false and writes nothing. For short runs even
    /// measuring the buffers would take too long.
    ///
    /// # Safety
    ///
    /// As [`KernelFn`], and as [`run`](Self::run).
    #[inline(always)]
    pub(crate) unsafe fn run_alone(&self, src: *const u8, dst: *mut u8, n: usize) -> bool {
        let direct = self.way == Way::Direct;
        if direct {
            // SAFETY: as in `run`.
            unsafe { call(self.run, src, dst, n, self.data) }
        }
        direct
    }

    /// Calls the kernel, or the second of two kernels, in the direction of the route. The first of two kernels rounds in no direction.
    ///
    /// # Safety
    ///
    /// As [`KernelFn`]; the caller holds the guard of the default environment.
    #[inline(always)]
    unsafe fn round(&self, src: *const u8, dst: *mut u8, n: usize) {
        // SAFETY: the caller's promise is the same, and the direction is the one that the kernel was chosen for.
        unsafe {
            if self.direction == Direction::NearestEven {
                call(self.run, src, dst, n, self.data);
            } else {
                fpenv::call_in(self.direction, self.run, src, dst, n, self.data);
            }
        }
    }

    /// [`run`](Self::run) for all routes that are not direct.
    ///
    /// # Safety
    ///
    /// As [`run`](Self::run).
    #[inline(never)]
    unsafe fn run_indirect(&self, src: &[u8], dst: &mut [MaybeUninit<u8>], n: usize) {
        let (from, to) = (src.as_ptr(), dst.as_mut_ptr().cast());
        match self.way {
            // SAFETY: as in `run`.
            Way::Direct | Way::Directed => unsafe { self.round(from, to, n) },
            // SAFETY: the two encodings are the same, so the slices have the same length; the kernel copies as many bytes. Then the
            // last byte has been written.
            Way::Bytes => unsafe {
                call(self.run, from, to, dst.len(), self.data);
                self.clear_unused(dst, n);
            },
            // SAFETY: the caller's promise is the same.
            Way::Nibbles => unsafe { self.look_up(src, dst, n) },
            Way::Blocks => match (self.before, self.first, self.after) {
                // SAFETY: the caller's promise is the same.
                (Side::Plain, Some(first), Side::Plain) => unsafe {
                    self.run_two_kernels(first, src, dst, n)
                },
                // SAFETY: the caller's promise is the same.
                (Side::Plain, None, Side::Packed) => unsafe { self.run_and_pack(src, dst, n) },
                // SAFETY: the caller's promise is the same.
                _ => unsafe { self.run_all_stages(src, dst, n) },
            },
        }
    }

    /// [`run_in_blocks`](Self::run_in_blocks) for a route of two kernels, as a separate function so that a short cast avoids the choice
    /// of stages.
    ///
    /// # Safety
    ///
    /// As [`run`](Self::run); `first` is the first kernel of the route, and there is no stage but it and the second one.
    #[inline(never)]
    unsafe fn run_two_kernels(&self, first: KernelFn, src: &[u8], dst: &mut [MaybeUninit<u8>], n: usize) {
        // SAFETY: the caller's promise is the same.
        unsafe { self.run_in_blocks(Side::Plain, Some(first), Side::Plain, src, dst, n) }
    }

    /// [`run_in_blocks`](Self::run_in_blocks) for a route of one kernel whose results are packed, separate for the same reason.
    ///
    /// # Safety
    ///
    /// As [`run`](Self::run), of such a route.
    #[inline(never)]
    unsafe fn run_and_pack(&self, src: &[u8], dst: &mut [MaybeUninit<u8>], n: usize) {
        // SAFETY: the caller's promise is the same.
        unsafe { self.run_in_blocks(Side::Plain, None, Side::Packed, src, dst, n) }
    }

    /// [`run_in_blocks`](Self::run_in_blocks) for any other route, as a separate function so that the two above avoid its stack blocks.
    ///
    /// # Safety
    ///
    /// As [`run`](Self::run).
    #[inline(never)]
    unsafe fn run_all_stages(&self, src: &[u8], dst: &mut [MaybeUninit<u8>], n: usize) {
        // SAFETY: the caller's promise is the same; these are the stages of the route.
        unsafe { self.run_in_blocks(self.before, self.first, self.after, src, dst, n) }
    }

    /// Runs all stages, block by block.
    ///
    /// # Safety
    ///
    /// As [`run`](Self::run); `before`, `first` and `after` are the stages of the route.
    #[inline(always)]
    unsafe fn run_in_blocks(
        &self,
        before: Side,
        first: Option<KernelFn>,
        after: Side,
        src: &[u8],
        dst: &mut [MaybeUninit<u8>],
        n: usize,
    ) {
        let [mut a, mut b] = [const { Stack::<BLOCK_BYTES>::new() }; 2];
        let (a, b) = (a.start(), b.start());
        let (tier, block) = (self.tier, usize::from(self.block));
        // Blocks are whole bytes.
        let [read, written] = [self.from, self.to].map(|side| block / 8 * side.bits_per_element() as usize);
        let (mut src, mut dst, mut left) = (src.as_ptr(), dst.as_mut_ptr().cast::<u8>(), n);
        while left > 0 {
            let count = block.min(left);
            let (mut at, mut free, mut next) = (src, a, b);
            // SAFETY: `src` and `dst` are the bytes of `left` elements of the two sides. A block on the stack has room for `count` elements of
            // every dtype that stages hand over: the source's before the kernels, the intermediate one between two kernels, and the target's after
            // them, in byte storage (`Route::in_blocks`). Each stage writes all that the next one reads: `count` elements of the dtype that the
            // route hands over. A stage reads `at` and writes `free` or `dst`, and no two of these overlap: `free` is the block that `at` is not
            // in. `Route::new` found the kernels for these dtypes, and that the CPU has the tier; the caller holds the guard of the environment.
            unsafe {
                if before != Side::Plain {
                    load(tier, before, self.from, at, free, count);
                    at = free;
                    core::mem::swap(&mut free, &mut next);
                }
                if let Some(first) = first {
                    call(first, at, free, count, self.first_data());
                    at = free;
                    core::mem::swap(&mut free, &mut next);
                }
                if after == Side::Plain {
                    self.round(at, dst, count);
                } else {
                    self.round(at, free, count);
                    store(tier, after, self.to, free, dst, count);
                }
            }
            left -= count;
            if left > 0 {
                // SAFETY: elements are left, so this block was whole, and its bytes are inside the caller's slices.
                unsafe { (src, dst) = (src.add(read), dst.add(written)) };
            }
        }
    }

    /// Looks up half-bytes.
    ///
    /// # Safety
    ///
    /// As [`run`](Self::run); the way is [`Way::Nibbles`].
    unsafe fn look_up(&self, src: &[u8], dst: &mut [MaybeUninit<u8>], n: usize) {
        let Some(table) = self.nibbles else { unreachable!("this way has a table") };
        let map = &self.tier.packing().map;
        let (from, to) = (src.as_ptr(), dst.as_mut_ptr().cast());
        if self.to.is_packed() {
            // SAFETY: the target has as many bits as the source, so as many bytes, and all are written. `Route::new` found that
            // the CPU has the tier.
            unsafe {
                map[2](from, to, dst.len(), table);
                self.clear_unused(dst, n);
            }
        } else {
            // SAFETY: the source is packed, with elements of 2 or 4 bits, and the target has a byte per element: the slices have room for
            // `n` of them. `Route::new` found that the CPU has the tier.
            unsafe { map[self.from.bits_per_element() as usize / 2 - 1](from, to, n, table) };
        }
    }

    /// Clears the bits after the last of `n` packed elements.
    ///
    /// # Safety
    ///
    /// The last byte of `dst`, if it has one, has been written.
    unsafe fn clear_unused(&self, dst: &mut [MaybeUninit<u8>], n: usize) {
        // This cannot overflow, because the bits of the whole bytes before do not matter.
        let used = (n % 8) * self.to.bits_per_element() as usize % 8;
        if let (Some(last), true) = (dst.last_mut(), used != 0) {
            // SAFETY: the caller has written it.
            let byte = unsafe { last.assume_init() };
            last.write(byte & !(0xFF << used));
        }
    }
}
