//! Arrays at addresses, and the casts between them.
//!
//! An [`Array`] is an address and a layout that a library of Python vouches for. Whoever makes one promises that the memory is there
//! and stays there while the object lives that it was read from; [`run`] is the one place where it is read and written.

use lanecast::bulk::Threads;
use lanecast::strided::{Layout, View, ViewMut};
use lanecast::{BufferType, CastError, CastPlan, CastReport, DType, Level, Storage, Streaming};
use pyo3::exceptions::PyMemoryError;
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use std::ops::Range;
use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering};
use std::{ptr, slice};

/// Numbers, one for each axis.
pub type Axes<T> = Vec<T>;

/// An array in memory.
#[derive(Clone, Copy)]
pub struct Array {
    /// The first element: the one whose indices are all 0.
    data: *mut u8,
    layout: Layout,
}

// SAFETY: an address and numbers; what is done with them on a thread is the promise of `Array::new`.
unsafe impl Send for Array {}
// SAFETY: as above.
unsafe impl Sync for Array {}

impl Array {
    /// # Safety
    ///
    /// All elements of the layout are readable at `data`, and writable if the array becomes the destination of a cast, for as long as
    /// the array is used.
    pub unsafe fn new(data: *mut u8, layout: Layout) -> Array {
        Array { data, layout }
    }

    pub fn layout(&self) -> &Layout {
        &self.layout
    }

    pub fn shape(&self) -> &[usize] {
        self.layout.shape()
    }

    pub fn buffer(&self) -> BufferType {
        self.layout.buffer()
    }

    pub fn elements(&self) -> usize {
        self.layout.elements()
    }

    /// Whether the elements follow each other in C order.
    pub fn is_c_contiguous(&self) -> bool {
        self.layout.buffer().storage() == Storage::Packed && self.shape().len() == 1 || self.is_dense(true)
    }

    fn is_dense(&self, c_order: bool) -> bool {
        if self.layout.buffer().storage() == Storage::Packed {
            return false;
        }
        let mut step = self.layout.buffer().dtype().size();
        let mut follows = |(len, stride): (&usize, &isize)| {
            let fits = *len <= 1 || usize::try_from(*stride) == Ok(step);
            step = step.saturating_mul(*len);
            fits
        };
        let mut axes = self.shape().iter().zip(self.layout.strides());
        if c_order { axes.rev().all(&mut follows) } else { axes.all(&mut follows) }
    }

    /// The addresses between the first and the last byte; empty without elements.
    pub fn span(&self) -> Range<usize> {
        let start = self.data.addr();
        if self.elements() == 0 {
            return start..start;
        }
        if self.layout.buffer().storage() == Storage::Packed {
            let bytes = self.layout.buffer().byte_len(self.elements()).unwrap_or(usize::MAX);
            return start..start.saturating_add(bytes);
        }
        let (mut low, mut high) = (start, start.wrapping_add(self.layout.buffer().dtype().size()));
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

    fn shares_memory(&self, other: &Array) -> bool {
        let (a, b) = (self.span(), other.span());
        a.start < b.end && b.start < a.end
    }

    /// The same elements as one axis, if they follow each other.
    pub fn flattened(&self) -> Option<Array> {
        let layout = Layout::contiguous(self.buffer(), &[self.elements()]).ok()?;
        self.is_c_contiguous().then_some(Array { layout, ..*self })
    }
}

/// What a cast does beside casting.
pub enum Mode<'a> {
    Plain,
    /// Stops at the first element that does not fit.
    Checked(Level),
    /// Marks those that fit, a bit each.
    Masked(Level, &'a mut [u8]),
    /// Counts what is lost.
    Counted(Level),
}

/// What a cast says afterwards.
#[derive(Default)]
pub struct Outcome {
    /// Of [`Mode::Counted`].
    pub report: CastReport,
}

/// Casts `src` to `dst`, arrays of the same shape.
///
/// # Safety
///
/// `src` is readable and `dst` is writable, and nobody else writes the first or accesses the second until the call returns.
pub unsafe fn run(
    plan: &CastPlan,
    mode: Mode<'_>,
    src: &Array,
    dst: &Array,
    threads: Threads<'_>,
) -> Result<Outcome, CastError> {
    let n = src.elements();
    let plain = matches!(mode, Mode::Plain);
    let joined = src.is_c_contiguous() && dst.is_c_contiguous()
        // Where the order of elements does not matter.
        || plain && src.is_dense(false) && dst.is_dense(false);
    let done = Outcome::default();
    if joined && !src.shares_memory(dst) {
        let too_large = |buffer| CastError::TooLarge { elements: n, buffer };
        let read = src.buffer().byte_len(n).ok_or(too_large(src.buffer()))?;
        let written = dst.buffer().byte_len(n).ok_or(too_large(dst.buffer()))?;
        if n == 0 {
            // Null pointers are no slices.
            return Ok(done);
        }
        // SAFETY: the elements follow each other and so fill these bytes, which do not overlap. What the destination holds comes from
        // an allocator beyond the language, so nothing says that it is not initialised.
        let (src, dst) =
            unsafe { (slice::from_raw_parts(src.data, read), slice::from_raw_parts_mut(dst.data, written)) };
        return match mode {
            Mode::Plain => plan.par_run(src, dst, n, threads).map(|()| done),
            Mode::Checked(level) => plan.checked(level).par_run(src, dst, n, threads).map(|()| done),
            Mode::Masked(level, bits) => {
                plan.checked(level).par_run_masked(src, dst, bits, n, threads).map(|_| done)
            }
            Mode::Counted(level) => {
                plan.counted(level).par_run(src, dst, n, threads).map(|report| Outcome { report })
            }
        };
    }
    // SAFETY: the caller's memory.
    let (from, mut to) =
        unsafe { (View::from_raw(src.data, src.layout), ViewMut::from_raw(dst.data, dst.layout)?) };
    match mode {
        Mode::Plain => plan.par_run_strided(&from, &mut to, threads).map(|()| done),
        Mode::Checked(level) => plan.checked(level).run_strided(&from, &mut to).map(|()| done),
        Mode::Masked(level, bits) => {
            plan.checked(level).run_strided_masked(&from, &mut to, bits).map(|_| done)
        }
        Mode::Counted(level) => {
            plan.counted(level).run_strided(&from, &mut to).map(|report| Outcome { report })
        }
    }
}

/// Casts `n` elements at `src` to fresh memory at `dst`.
///
/// # Safety
///
/// As of [`run`]; both are contiguous and do not overlap.
pub unsafe fn run_fresh(
    py: Python<'_>,
    plan: &CastPlan,
    src: *const u8,
    dst: *mut u8,
    n: usize,
    threads: Threads<'static>,
) -> Result<(), CastError> {
    if !takes_long(plan, n) {
        // SAFETY: the caller's promise.
        return unsafe { plan.run_ptr(src, dst, n) };
    }
    let (src, dst, plan) = (src.expose_provenance(), dst.expose_provenance(), for_new_memory(*plan, n));
    py.detach(move || {
        let too_large = |buffer| CastError::TooLarge { elements: n, buffer };
        let read = plan.from().byte_len(n).ok_or(too_large(plan.from()))?;
        let written = plan.to().byte_len(n).ok_or(too_large(plan.to()))?;
        // SAFETY: the caller's promise; that bytes are initialised is as in `run`. There are elements, so neither is null.
        let (src, dst) = unsafe {
            (
                slice::from_raw_parts(std::ptr::with_exposed_provenance(src), read),
                slice::from_raw_parts_mut(std::ptr::with_exposed_provenance_mut(dst), written),
            )
        };
        plan.par_run(src, dst, n, threads)
    })
}

/// [`run`] without the interpreter lock, if it takes long.
///
/// # Safety
///
/// As of [`run`].
pub unsafe fn run_detached(
    py: Python<'_>,
    plan: &CastPlan,
    mode: Mode<'_>,
    src: &Array,
    dst: &Array,
    threads: Threads<'static>,
) -> Result<Outcome, CastError> {
    // A cast with an eye on losses, or of elements far apart, takes about twice as long.
    if takes_long(plan, src.elements().saturating_mul(2)) {
        // SAFETY: the caller's promise; the caller keeps the objects alive.
        py.detach(|| unsafe { run(plan, mode, src, dst, threads) })
    } else {
        // SAFETY: as above.
        unsafe { run(plan, mode, src, dst, threads) }
    }
}

/// Above this estimate the interpreter lock is released. Getting it back beside a busy thread may take the 5 ms after which the
/// interpreter makes that thread let go.
const LONG_NANOSECONDS: u64 = 50_000;

/// Whether a cast is worth the release of the interpreter lock.
pub fn takes_long(plan: &CastPlan, n: usize) -> bool {
    // No kernel takes 50 ns for an element.
    n > 1000 && picoseconds(plan).saturating_mul(n as u64) / 1000 > LONG_NANOSECONDS
}

/// What an element costs in a cast, looked up once for each pair; options that matter to the cost are rare.
fn picoseconds(plan: &CastPlan) -> u64 {
    const DTYPES: usize = DType::EVERY.len();
    static COSTS: [[AtomicU32; DTYPES]; DTYPES] = [const { [const { AtomicU32::new(0) }; DTYPES] }; DTYPES];
    let cost = &COSTS[plan.from().dtype().code() as usize][plan.to().dtype().code() as usize];
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

/// How many threads a cast uses at most unless it is told; 0 means all of rayon's.
static THREADS: AtomicUsize = AtomicUsize::new(0);

pub fn set_threads(threads: usize) {
    THREADS.store(threads, Ordering::Relaxed);
}

pub fn default_threads() -> usize {
    THREADS.load(Ordering::Relaxed)
}

/// The threads of a call.
pub fn threads(asked: Option<usize>) -> Threads<'static> {
    match asked.unwrap_or_else(default_threads) {
        0 => Threads::Rayon,
        1 => Threads::Serial,
        count => Threads::AtMost(count),
    }
}

/// From how many bytes on allocators map memory anew for each array: the most that glibc's threshold grows to.
const MAPPED: usize = 32 << 20;

/// The plan of a cast of `n` elements to memory that was just allocated.
///
/// The system clears a new page when it is first written, so that it is in the cache, which non-temporal stores would pass by: with
/// them, a cast of 8 Mi float32 to float64 takes 7 % longer.
pub fn for_new_memory(plan: CastPlan, n: usize) -> CastPlan {
    match plan.to().byte_len(n) {
        Some(bytes) if bytes >= MAPPED => plan.with_streaming(Streaming::Never),
        _ => plan,
    }
}

/// From how many bytes on NumPy asks for huge pages, too.
#[cfg(target_os = "linux")]
const HUGE: usize = 4 << 20;

/// Asks the system for huge pages in new memory, if it is large. NumPy does so for its arrays; without them, page faults take most
/// of the time of a cast to new memory.
pub fn prefer_huge_pages(address: usize, bytes: usize) {
    #[cfg(target_os = "linux")]
    if bytes >= HUGE {
        // Whole pages inside of the memory.
        let start = address.next_multiple_of(4096);
        let end = (address + bytes) / 4096 * 4096;
        // SAFETY: advice changes nothing that a program can read. An error means that there are no such pages.
        unsafe { libc::madvise(std::ptr::without_provenance_mut(start), end - start, libc::MADV_HUGEPAGE) };
    }
    #[cfg(not(target_os = "linux"))]
    let _ = (address, bytes);
}

/// New bytes of Python and their address, not yet written.
pub fn new_bytes(py: Python<'_>, len: usize) -> PyResult<(Bound<'_, PyBytes>, *mut u8)> {
    let size = ffi::Py_ssize_t::try_from(len).map_err(|error| PyMemoryError::new_err(error.to_string()))?;
    // SAFETY: without an address, the function leaves so many bytes unwritten; the reference is new.
    let bytes =
        unsafe { Bound::from_owned_ptr_or_err(py, ffi::PyBytes_FromStringAndSize(ptr::null(), size))? };
    // SAFETY: the object is one of bytes.
    let address = unsafe { ffi::PyBytes_AsString(bytes.as_ptr()) }.cast::<u8>();
    prefer_huge_pages(address.addr(), len);
    Ok((bytes.cast_into::<PyBytes>()?, address))
}

/// Elements of a chunk whose results are thrown away.
const CHUNK: usize = 1 << 20;

/// Counts what a cast of `src` loses. Of the results there is never more than a chunk, unless the elements have gaps between them.
///
/// # Safety
///
/// `src` is readable, and nobody writes to it until the call returns.
pub unsafe fn count(
    py: Python<'_>,
    plan: &CastPlan,
    level: Level,
    src: &Array,
    threads: Threads<'static>,
) -> Result<CastReport, CastError> {
    let n = src.elements();
    let to = plan.to();
    let room = |n: usize| {
        let too_large = || CastError::TooLarge { elements: n, buffer: to };
        let bytes = to.byte_len(n).ok_or_else(too_large)?;
        let mut room = Vec::new();
        room.try_reserve_exact(bytes).map_err(|_| too_large())?;
        room.resize(bytes, 0_u8);
        Ok::<_, CastError>(room)
    };
    if n == 0 {
        return plan.counted(level).run(&[], &mut [], 0);
    }
    if !src.is_c_contiguous() {
        let mut out = room(n)?;
        let shape: Vec<usize> = src.shape().to_vec();
        // SAFETY: the memory was just allocated.
        let dst = unsafe { Array::new(out.as_mut_ptr(), Layout::contiguous(to, &shape)?) };
        // SAFETY: the caller's promise.
        let outcome = unsafe { run_detached(py, plan, Mode::Counted(level), src, &dst, threads)? };
        return Ok(outcome.report);
    }
    let from = src.buffer();
    let read = from.byte_len(n).ok_or(CastError::TooLarge { elements: n, buffer: from })?;
    // SAFETY: the elements follow each other, so they fill these bytes.
    let bytes = unsafe { slice::from_raw_parts(src.data, read) };
    let chunked = || {
        let counting = plan.counted(level);
        let mut out = room(n.min(CHUNK))?;
        let mut total = CastReport::default();
        for first in (0..n).step_by(CHUNK) {
            let len = (n - first).min(CHUNK);
            // Chunks begin at whole bytes.
            let start = from.byte_len(first).unwrap_or(read);
            total = total.and(&counting.par_run(&bytes[start..], &mut out, len, threads)?);
        }
        Ok(total)
    };
    if takes_long(plan, n.saturating_mul(2)) { py.detach(chunked) } else { chunked() }
}

/// The bytes of an array whose elements follow each other.
///
/// # Safety
///
/// The array is readable as long as the bytes are used, and nobody writes to it.
pub unsafe fn bytes<'a>(array: &Array) -> &'a [u8] {
    let len = byte_len(array);
    // SAFETY: the caller's promise. Null pointers, of arrays without elements, are no slices.
    if len == 0 { &[] } else { unsafe { slice::from_raw_parts(array.data, len) } }
}

/// [`bytes`], to write.
///
/// # Safety
///
/// The array is writable as long as the bytes are used, and nobody else reads or writes it.
pub unsafe fn bytes_mut<'a>(array: &Array) -> &'a mut [u8] {
    let len = byte_len(array);
    // SAFETY: as above.
    if len == 0 { &mut [] } else { unsafe { slice::from_raw_parts_mut(array.data, len) } }
}

fn byte_len(array: &Array) -> usize {
    array.buffer().byte_len(array.elements()).unwrap_or(0)
}

/// Writes a bit each to the elements of an array of bool.
///
/// # Safety
///
/// `to` is writable, contiguous, of elements of a byte and has no more than `bits` has bits.
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
