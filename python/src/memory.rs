//! Arrays in memory, and the casts between them.
//!
//! An [`Array`] is an address and a layout, as given by a Python library. Whoever creates one promises that the memory is valid while the
//! Python object lives. Only this module reads and writes the memory.
//!
//! As in NumPy, no lock guards the memory: another Python thread can write to it while a cast runs without the GIL, and any Python code
//! can write to it between two calls of Rust. So casts form no references to it: they pass addresses. Scaled casts form some, which end with
//! the call.

pub mod interrupt;
pub mod scaled;

use crate::runtime;
use interrupt::Stopped;
use lanecast::strided::{Layout, View, ViewMut};
use lanecast::{
    Bytes, BytesMut, CastError, CastPlan, CastReport, DType, Encoding, Level, Storage, Streaming, Threads,
};
use pyo3::exceptions::PyMemoryError;
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use std::ops::Range;
use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering};
use std::{ptr, slice};

/// One number per axis.
pub type Axes<T> = Vec<T>;

/// An array in memory.
#[derive(Clone)]
pub struct Array {
    /// The element whose indices are all 0.
    data: *mut u8,
    layout: Layout,
}

// SAFETY: an address and numbers. `Array::new` demands that using them is valid on any thread.
unsafe impl Send for Array {}
// SAFETY: as above.
unsafe impl Sync for Array {}

impl Array {
    /// # Safety
    ///
    /// All elements of the layout are readable at `data` while the array is in use, and writable if it is the destination of a cast.
    pub unsafe fn new(data: *mut u8, layout: Layout) -> Array {
        Array { data, layout }
    }

    pub fn layout(&self) -> &Layout {
        &self.layout
    }

    pub fn shape(&self) -> &[usize] {
        self.layout.shape()
    }

    pub fn encoding(&self) -> Encoding {
        self.layout.encoding()
    }

    pub fn elements(&self) -> usize {
        self.layout.elements()
    }

    /// Whether the elements are contiguous in C order.
    pub fn is_c_contiguous(&self) -> bool {
        self.layout.encoding().storage() == Storage::Packed && self.shape().len() == 1 || self.is_dense(true)
    }

    fn is_dense(&self, c_order: bool) -> bool {
        if self.elements() == 0 {
            // Whatever the strides are, which libraries choose differently.
            return true;
        }
        if self.layout.encoding().storage() == Storage::Packed {
            return false;
        }
        let mut step = self.layout.encoding().dtype().size();
        let mut follows = |(len, stride): (&usize, &isize)| {
            let fits = *len <= 1 || usize::try_from(*stride) == Ok(step);
            step = step.saturating_mul(*len);
            fits
        };
        let mut axes = self.shape().iter().zip(self.layout.strides());
        if c_order { axes.rev().all(&mut follows) } else { axes.all(&mut follows) }
    }

    /// The addresses from the first to the last byte; empty if there are no elements.
    pub fn span(&self) -> Range<usize> {
        let start = self.data.addr();
        if self.elements() == 0 {
            return start..start;
        }
        if self.layout.encoding().storage() == Storage::Packed {
            let bytes = self.layout.encoding().byte_len(self.elements()).unwrap_or(usize::MAX);
            return start..start.saturating_add(bytes);
        }
        let (mut low, mut high) = (start, start.wrapping_add(self.layout.encoding().dtype().size()));
        for (len, stride) in self.shape().iter().zip(self.layout.strides()) {
            let reach = (*len as isize - 1).wrapping_mul(*stride);
            if reach < 0 {
                low = low.wrapping_add_signed(reach);
            } else {
                high = high.wrapping_add_signed(reach);
            }
        }
        low..high
    }

    pub fn shares_memory(&self, other: &Array) -> bool {
        let (a, b) = (self.span(), other.span());
        a.start < b.end && b.start < a.end
    }

    /// The same elements as one axis, if they are contiguous in C order.
    pub fn flattened(&self) -> Option<Array> {
        let layout = Layout::contiguous(self.encoding(), &[self.elements()]).ok()?;
        self.is_c_contiguous().then_some(Array { layout, data: self.data })
    }
}

/// What a cast does besides casting.
pub enum Mode<'a> {
    Plain,
    /// Stops at the first element that does not fit.
    Checked(Level),
    /// Sets a bit for each element that fits.
    Masked(Level, &'a mut [u8]),
}

/// Casts `src` to `dst`, arrays of the same shape.
///
/// # Safety
///
/// `src` is readable and `dst` is writable. Until the call returns, nothing else writes to `src` or accesses `dst`.
pub unsafe fn run(plan: &CastPlan, mode: Mode<'_>, src: &Array, dst: &Array) -> Result<(), CastError> {
    let n = src.elements();
    let checked;
    let plan = match mode {
        Mode::Plain => plan,
        Mode::Checked(level) | Mode::Masked(level, _) => {
            checked = plan.checked(level);
            &checked
        }
    };
    if is_joined(&mode, src, dst) && !src.shares_memory(dst) {
        // SAFETY: the caller's memory, of contiguous elements, for the call below only. It comes from a foreign allocator, so for the
        // language its bytes are initialised.
        let (from, to) = unsafe {
            (Bytes::from_raw(src.data, byte_len(src), n), BytesMut::from_raw(dst.data, byte_len(dst), n))
        };
        return match mode {
            Mode::Masked(_, bits) => plan.run_masked(from, to, bits).map(|_| ()),
            Mode::Plain | Mode::Checked(_) => plan.run(from, to),
        };
    }
    // SAFETY: the caller's memory.
    let (from, mut to) = unsafe {
        (View::from_raw(src.data, src.layout.clone()), ViewMut::from_raw(dst.data, dst.layout.clone())?)
    };
    match mode {
        Mode::Masked(_, bits) => plan.run_masked(&from, &mut to, bits).map(|_| ()),
        Mode::Plain | Mode::Checked(_) => plan.run(&from, &mut to),
    }
}

/// Whether the elements of both arrays are contiguous in the same order, which matters in some modes.
fn is_joined(mode: &Mode<'_>, src: &Array, dst: &Array) -> bool {
    src.is_c_contiguous() && dst.is_c_contiguous()
        || matches!(mode, Mode::Plain) && src.is_dense(false) && dst.is_dense(false)
}

/// Casts `n` elements at `src` to new memory at `dst`.
///
/// # Safety
///
/// As for [`run`]. Both are contiguous, and they do not overlap.
pub unsafe fn run_fresh(
    py: Python<'_>,
    plan: &CastPlan,
    src: *const u8,
    dst: *mut u8,
    n: usize,
    threads: Threads,
) -> Result<(), Stopped> {
    if !takes_long(plan, n) {
        // SAFETY: the caller's promise.
        return unsafe { plan.run_ptr(src, dst, n) }.map_err(Stopped::from);
    }
    let plan = for_new_memory(plan, n).with_threads(threads);
    let (from, to) = (Layout::contiguous(plan.source(), &[n]), Layout::contiguous(plan.target(), &[n]));
    let too_large = |_| CastError::TooLarge { elements: n, encoding: plan.target() };
    // SAFETY: the caller's promise.
    let (src, dst) = unsafe {
        (Array::new(src.cast_mut(), from.map_err(too_large)?), Array::new(dst, to.map_err(too_large)?))
    };
    // SAFETY: the caller's promise.
    py.detach(|| unsafe { interrupt::run(&plan, Mode::Plain, &src, &dst) }).map(|_| ())
}

/// [`run`], which releases the GIL if the cast takes long, and then lets signals end it.
///
/// # Safety
///
/// As for [`run`].
pub unsafe fn run_detached(
    py: Python<'_>,
    plan: &CastPlan,
    mode: Mode<'_>,
    src: &Array,
    dst: &Array,
    threads: Threads,
) -> Result<(), Stopped> {
    // A checked or strided cast takes about twice as long.
    if takes_long(plan, src.elements().saturating_mul(2)) {
        let plan = plan.with_threads(threads);
        // SAFETY: the caller's promise; the caller keeps the objects alive.
        py.detach(|| unsafe { interrupt::run(&plan, mode, src, dst) })
    } else {
        // SAFETY: as above.
        unsafe { run(plan, mode, src, dst) }.map_err(Stopped::from)
    }
}

/// A cast estimated to take longer releases the GIL. While another thread is busy, getting the GIL back may take 5 ms, the switch
/// interval of the interpreter.
const LONG_NANOSECONDS: u64 = 50_000;

/// Whether a cast takes long enough to release the GIL.
pub fn takes_long(plan: &CastPlan, n: usize) -> bool {
    // No kernel takes 50 ns per element.
    n > 1000 && picoseconds(plan).saturating_mul(n as u64) / 1000 > LONG_NANOSECONDS
}

/// The cost of an element, which is looked up once per pair: few options affect it.
fn picoseconds(plan: &CastPlan) -> u64 {
    const DTYPES: usize = DType::EVERY.len();
    static COSTS: [[AtomicU32; DTYPES]; DTYPES] = [const { [const { AtomicU32::new(0) }; DTYPES] }; DTYPES];
    let cost = &COSTS[plan.source().dtype().code() as usize][plan.target().dtype().code() as usize];
    let known = match cost.load(Ordering::Relaxed) {
        0 => {
            let found = plan.explain().picoseconds_per_element.max(1);
            cost.store(found, Ordering::Relaxed);
            found
        }
        known => known,
    };
    u64::from(known)
}

/// The default maximum number of threads per cast; 0 means all threads of rayon's pool.
static THREADS: AtomicUsize = AtomicUsize::new(0);

pub fn set_threads(threads: usize) {
    THREADS.store(threads, Ordering::Relaxed);
}

/// The number of threads of a call that names none.
pub fn default_threads() -> usize {
    runtime::scoped_threads().unwrap_or_else(|| THREADS.load(Ordering::Relaxed))
}

/// The threads that a call may use.
pub fn threads(asked: Option<usize>) -> Threads {
    match asked.unwrap_or_else(default_threads) {
        0 => Threads::Rayon,
        1 => Threads::Serial,
        count => Threads::AtMost(count),
    }
}

/// Allocators map new pages for arrays of at least this many bytes. It is the upper limit of glibc's dynamic threshold.
const MAPPED: usize = 32 << 20;

/// The plan for a cast of `n` elements to newly allocated memory.
///
/// The kernel zeroes a new page on the first write, which brings the page into the cache. Non-temporal stores would bypass the cache: they
/// make a cast of 8 Mi float32 to float64 7 % slower.
pub fn for_new_memory(plan: &CastPlan, n: usize) -> CastPlan {
    match plan.target().byte_len(n) {
        Some(bytes) if bytes >= MAPPED => plan.with_streaming(Streaming::Never),
        _ => plan.clone(),
    }
}

/// The size in bytes from which on huge pages are requested, as in NumPy.
#[cfg(target_os = "linux")]
const HUGE: usize = 4 << 20;

/// Requests huge pages for new memory if it is large. NumPy does so for its arrays. Without huge pages, a cast to new memory spends most of
/// its time in page faults.
pub fn prefer_huge_pages(address: usize, bytes: usize) {
    #[cfg(target_os = "linux")]
    if bytes >= HUGE {
        // The whole pages inside the memory.
        let start = address.next_multiple_of(4096);
        let end = (address + bytes) / 4096 * 4096;
        // SAFETY: the advice does not change the contents of the memory. On error, pages keep their usual size.
        unsafe { libc::madvise(std::ptr::without_provenance_mut(start), end - start, libc::MADV_HUGEPAGE) };
    }
    #[cfg(not(target_os = "linux"))]
    let _ = (address, bytes);
}

/// A new, uninitialized `bytes` object and its address.
pub fn new_bytes(py: Python<'_>, len: usize) -> PyResult<(Bound<'_, PyBytes>, *mut u8)> {
    let size = ffi::Py_ssize_t::try_from(len).map_err(|error| PyMemoryError::new_err(error.to_string()))?;
    // SAFETY: given NULL, the function allocates the bytes without initializing them. It returns a new reference.
    let bytes =
        unsafe { Bound::from_owned_ptr_or_err(py, ffi::PyBytes_FromStringAndSize(ptr::null(), size))? };
    // SAFETY: the object is a `bytes` object.
    let address = unsafe { ffi::PyBytes_AsString(bytes.as_ptr()) }.cast::<u8>();
    prefer_huge_pages(address.addr(), len);
    Ok((bytes.cast_into::<PyBytes>()?, address))
}

/// Counts what a cast of `src` loses, without memory for its results.
///
/// # Safety
///
/// `src` is readable, and nothing writes to it until the call returns.
pub unsafe fn count(
    py: Python<'_>,
    plan: &CastPlan,
    level: Level,
    src: &Array,
    threads: Threads,
) -> Result<CastReport, Stopped> {
    let plan = plan.checked(level).with_threads(threads);
    let src = src.flattened().unwrap_or_else(|| src.clone());
    // SAFETY: the caller's promise.
    let count = || unsafe { interrupt::count(&plan, &src) };
    if takes_long(&plan, src.elements().saturating_mul(2)) { py.detach(count) } else { count() }
}

/// The bytes of a contiguous array.
///
/// # Safety
///
/// While the bytes are in use, the array is readable, and nothing writes to it.
pub unsafe fn bytes<'a>(array: &Array) -> &'a [u8] {
    let len = byte_len(array);
    // SAFETY: the caller's promise. An empty array may have a null pointer, which is not allowed in slices.
    if len == 0 { &[] } else { unsafe { slice::from_raw_parts(array.data, len) } }
}

/// The bytes of a contiguous array, for writing.
///
/// # Safety
///
/// While the bytes are in use, the array is writable, and nothing else accesses it.
pub unsafe fn bytes_mut<'a>(array: &Array) -> &'a mut [u8] {
    let len = byte_len(array);
    // SAFETY: as above.
    if len == 0 { &mut [] } else { unsafe { slice::from_raw_parts_mut(array.data, len) } }
}

fn byte_len(array: &Array) -> usize {
    array.encoding().byte_len(array.elements()).unwrap_or(0)
}

/// Copies the bytes of a contiguous array to another one, which is as large.
///
/// # Safety
///
/// As for [`run`]. The arrays do not overlap.
pub unsafe fn copy(src: &Array, dst: &Array) {
    debug_assert_eq!(byte_len(src), byte_len(dst));
    // SAFETY: the caller's promise.
    unsafe { ptr::copy_nonoverlapping(src.data, dst.data, byte_len(dst)) };
}

/// Expands bits to the elements of a bool array.
///
/// # Safety
///
/// `to` is writable and contiguous. Its elements are bytes, and there are at most as many as there are bits.
pub unsafe fn expand_bits(bits: &[u8], to: &Array) {
    let n = to.elements();
    if n == 0 {
        return;
    }
    // SAFETY: the caller's promise.
    let out = unsafe { slice::from_raw_parts_mut(to.data, n) };
    for (byte, eight) in bits.iter().zip(out.chunks_mut(8)) {
        for (bit, element) in eight.iter_mut().enumerate() {
            *element = byte >> bit & 1;
        }
    }
}
