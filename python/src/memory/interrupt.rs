//! Long casts, which Ctrl-C ends.
//!
//! Python runs the handlers of signals on its main thread only, between instructions or when a function calls them. So a cast of seconds
//! would delay a `KeyboardInterrupt` to its end. Such a cast is cut into blocks of some [`BLOCK_NANOSECONDS`], and the handlers run
//! between them. A shorter cast is a single block, and costs no more than before.

use super::{Array, Mode, is_joined, picoseconds};
use lanecast::strided::{Layout, View, ViewMut};
use lanecast::{CastError, CastPlan, CastReport, Encoding, Level, Storage};
use pyo3::prelude::*;
use std::time::{Duration, Instant};

/// The estimated time of a block on one thread. Estimates tend to be too low, by a factor of up to 10.
const BLOCK_NANOSECONDS: u64 = 5_000_000;

/// The least time of memory traffic, in picoseconds per byte.
const FAR: u64 = 20;

/// A block begins at a multiple of this many elements: on a whole byte of packed elements and of bitmaps, and on a cache line.
const GRAIN: usize = 512;

/// The least time between two calls of the handlers. Getting the GIL back may take 5 ms, if another thread of Python is busy.
const INTERVAL: Duration = Duration::from_millis(50);

/// Why a cast ended early.
pub enum Stopped {
    Failed(CastError),
    /// The handler of a signal raised this exception, such as KeyboardInterrupt.
    Raised(PyErr),
}

impl From<CastError> for Stopped {
    fn from(error: CastError) -> Stopped {
        Stopped::Failed(error)
    }
}

impl From<PyErr> for Stopped {
    fn from(error: PyErr) -> Stopped {
        Stopped::Raised(error)
    }
}

/// The signals that arrive while a thread works without the GIL.
pub struct Signals {
    checked: Instant,
}

impl Signals {
    pub fn new() -> Signals {
        Signals { checked: Instant::now() }
    }

    /// Runs the handlers of signals, unless it ran them a short time ago. Returns the exception that a handler raises.
    pub fn check(&mut self) -> PyResult<()> {
        if self.checked.elapsed() < INTERVAL {
            return Ok(());
        }
        Python::attach(|py| py.check_signals())?;
        self.checked = Instant::now();
        Ok(())
    }
}

/// The number of elements per block.
fn block(plan: &CastPlan, mode: &Mode<'_>) -> usize {
    let bits = u64::from(plan.source().bits_per_element() + plan.target().bits_per_element());
    let cost = picoseconds(plan).max(FAR * bits / 8).max(1);
    // Looking for losses takes longer than the cast.
    let cost = if matches!(mode, Mode::Plain) { cost } else { 4 * cost };
    ((BLOCK_NANOSECONDS * 1000 / cost) as usize).next_multiple_of(GRAIN)
}

/// [`run`](super::run) in blocks, without the GIL. After an exception, the blocks before some element of `dst` are cast, and the others
/// are as before.
///
/// # Safety
///
/// As for [`run`](super::run).
pub unsafe fn run(plan: &CastPlan, mut mode: Mode<'_>, src: &Array, dst: &Array) -> Result<(), Stopped> {
    let size = block(plan, &mode);
    let Some((src, dst)) = to_cut(&mode, src, dst, size)? else {
        // SAFETY: the caller's promise.
        return unsafe { super::run(plan, mode, src, dst) }.map_err(Stopped::from);
    };
    let mut signals = Signals::new();
    let whole_bytes = matches!(mode, Mode::Masked(..));
    each(&src, &dst, size, whole_bytes, 0, &mut |first, src, dst| {
        if first > 0 {
            signals.check()?;
        }
        // SAFETY: the caller's promise; each block is a part of both arrays.
        let done = unsafe { super::run(plan, mode.part(first, src.elements()), src, dst) };
        done.map_err(|error| match error {
            CastError::Rejected(found) => CastError::Rejected(found.after(first)),
            error => error,
        })?;
        Ok(())
    })
}

/// Counts the losses of an array in blocks, without the GIL if the cast takes long.
///
/// # Safety
///
/// `src` is readable. Until the call returns, nothing else writes to it.
pub unsafe fn count(plan: &CastPlan, src: &Array) -> Result<CastReport, Stopped> {
    // Rows of packed elements are not cut.
    let size = match src.encoding().storage() {
        Storage::Packed if src.shape().len() > 1 => usize::MAX,
        _ => block(plan, &Mode::Checked(Level::Range)),
    };
    let (mut signals, mut total) = (Signals::new(), CastReport::default());
    each(src, src, size, false, 0, &mut |first, part, _| {
        if first > 0 {
            signals.check()?;
        }
        // SAFETY: the caller's promise; each block is a part of the array.
        let view = unsafe { View::from_raw(part.data, part.layout.clone()) };
        total = total.and(&plan.count(&view)?);
        Ok(())
    })?;
    Ok(total)
}

/// The arrays to cut into blocks, with one axis if their elements are contiguous; `None` if the cast has to run as a whole.
fn to_cut(
    mode: &Mode<'_>,
    src: &Array,
    dst: &Array,
    size: usize,
) -> Result<Option<(Array, Array)>, CastError> {
    let n = src.elements();
    if n <= size {
        return Ok(None);
    }
    // Arrays that share memory are compared as a whole, unless each element is in the place of its own result.
    let in_place = src.data == dst.data
        && src.layout.strides() == dst.layout.strides()
        && src.encoding().bits_per_element() <= dst.encoding().bits_per_element();
    if src.shares_memory(dst) && !in_place {
        return Ok(None);
    }
    if is_joined(mode, src, dst) {
        let flat = |array: &Array| {
            let layout = Layout::contiguous(array.encoding(), &[n]).ok()?;
            Some(Array { layout, data: array.data })
        };
        return Ok(flat(src).zip(flat(dst)));
    }
    let is_packed = |array: &Array| array.encoding().storage() == Storage::Packed;
    if is_packed(src) || is_packed(dst) {
        return Ok(None);
    }
    // A block may lack the repeated elements for which the whole destination is refused.
    // SAFETY: the view is not used.
    unsafe { ViewMut::from_raw(dst.data, dst.layout.clone())? };
    Ok(Some((src.clone(), dst.clone())))
}

/// Calls `work` for blocks of about `size` elements, in C order, with the index of their first element. With `whole_bytes`, each block
/// begins on a whole byte of a bitmap.
fn each(
    src: &Array,
    dst: &Array,
    size: usize,
    whole_bytes: bool,
    first: usize,
    work: &mut impl FnMut(usize, &Array, &Array) -> Result<(), Stopped>,
) -> Result<(), Stopped> {
    let n = src.elements();
    let axis = src.shape().iter().position(|len| *len > 1);
    let Some(axis) = axis.filter(|_| n > size) else {
        return work(first, src, dst);
    };
    let len = src.shape()[axis];
    let across = n / len;
    // Single rows may begin inside a byte.
    if whole_bytes && across >= size && !across.is_multiple_of(8) {
        return work(first, src, dst);
    }
    // The rows of a block, or a single one that is cut along the axes after it.
    let (rows, size) = if across >= size { (1, size) } else { (size / across, usize::MAX) };
    let rows = if whole_bytes && !across.is_multiple_of(8) { rows.next_multiple_of(8) } else { rows };
    for at in (0..len).step_by(rows) {
        let count = rows.min(len - at);
        let (src, dst) = (src.part(axis, at, count)?, dst.part(axis, at, count)?);
        each(&src, &dst, size, whole_bytes, first + at * across, work)?;
    }
    Ok(())
}

impl Array {
    /// A part of the array along an axis. Packed elements have one axis, and the part begins on a whole byte.
    fn part(&self, axis: usize, at: usize, count: usize) -> Result<Array, CastError> {
        let buffer: Encoding = self.encoding();
        let mut shape = self.shape().to_vec();
        shape[axis] = count;
        if buffer.storage() == Storage::Packed {
            let start = buffer.byte_len(at).unwrap_or(0);
            return Ok(Array {
                data: self.data.wrapping_add(start),
                layout: Layout::contiguous(buffer, &shape)?,
            });
        }
        let strides = self.layout.strides();
        let start = strides[axis].wrapping_mul(at as isize);
        Ok(Array { data: self.data.wrapping_offset(start), layout: Layout::new(buffer, &shape, strides)? })
    }
}

impl Mode<'_> {
    /// The mode for `n` elements from `first` on. A mask begins on a whole byte there.
    fn part(&mut self, first: usize, n: usize) -> Mode<'_> {
        match self {
            Mode::Plain => Mode::Plain,
            Mode::Checked(level) => Mode::Checked(*level),
            Mode::Masked(level, bits) => Mode::Masked(*level, &mut bits[first / 8..(first + n).div_ceil(8)]),
        }
    }
}
