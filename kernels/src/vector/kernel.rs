//! Kernels: the functions that cast, and the data that they need.

use crate::format::data::{Data, Direction};
use alloc::boxed::Box;
use core::marker::PhantomData;

/// One loop over elements in byte storage.
///
/// # Safety
///
/// For a kernel of the pair (S, D) and `n` elements: `src` is readable for `n * S::DTYPE.size()` bytes and `dst` is writable for
/// `n * D::DTYPE.size()` bytes, at any alignment; the two do not overlap; the CPU has the tier of the kernel; the floating-point environment is
/// the default, or differs from it only in the rounding direction that the kernel was chosen for; `data` has the constants of the target under the
/// rules of the cast.
pub(crate) type KernelFn = unsafe fn(src: *const u8, dst: *mut u8, n: usize, data: &Data);

/// The data of a kernel that reads a table of type `T`.
#[repr(transparent)]
pub(crate) struct WithTable<T: 'static>(Data, PhantomData<&'static T>);

/// A kernel that reads a table of type `T`. It becomes a [`KernelFn`] only together with such a table: [`Entry::with_table`], [`Made::new`].
pub(crate) type TableFn<T> = unsafe fn(src: *const u8, dst: *mut u8, n: usize, data: &WithTable<T>);

impl<T> WithTable<T> {
    /// The same constants with another table.
    ///
    /// # Safety
    ///
    /// The table outlives the result.
    pub(crate) unsafe fn new(data: &Data, table: &T) -> Self {
        WithTable(Data { table: core::ptr::from_ref(table).cast(), ..*data }, PhantomData)
    }

    #[inline(always)]
    pub(crate) fn table(&self) -> &T {
        // SAFETY: `new` or the caller of the kernel passed the table with which the kernel became a `KernelFn`; the table has this type.
        unsafe { &*self.0.table.cast() }
    }

    #[inline(always)]
    pub(crate) fn data(&self) -> &Data {
        &self.0
    }
}

/// Erases the type of the kernel's table.
///
/// # Safety
///
/// Calling the result has one more precondition than a [`KernelFn`]: `data.table` points to a `T`.
pub(crate) const unsafe fn erased<T>(run: TableFn<T>) -> KernelFn {
    // SAFETY: the two types differ only in the type behind one reference, and `WithTable` is `Data` in memory.
    unsafe { core::mem::transmute::<TableFn<T>, KernelFn>(run) }
}

/// A kernel for rules that are not common, and the rounding direction in which it, or the second of two, has to run.
#[derive(Clone, Copy)]
pub(crate) struct Rounded {
    pub(crate) run: KernelFn,
    pub(crate) direction: Direction,
    /// The second of two steps, from float32. In that case `run` is the first step, which rounds to odd.
    pub(crate) second: Option<KernelFn>,
}

/// The kernel of a pair, or the kernels of its two steps.
#[derive(Clone, Copy)]
pub(crate) struct Steps {
    pub(crate) first: KernelFn,
    pub(crate) second: Option<KernelFn>,
}

/// A kernel and the table that it reads through its [`Data`].
#[derive(Clone, Copy)]
pub(crate) struct Entry {
    pub(crate) run: KernelFn,
    pub(crate) table: *const u8,
}

impl Entry {
    /// A kernel without a table.
    pub(crate) const fn new(run: KernelFn) -> Self {
        Entry { run, table: core::ptr::null() }
    }

    /// A kernel and the table that it reads.
    pub(crate) const fn with_table<T: Sync>(run: TableFn<T>, table: &'static T) -> Self {
        // SAFETY: the table is stored in the same entry.
        Entry { run: unsafe { erased(run) }, table: core::ptr::from_ref(table).cast() }
    }
}

/// The kernel of a pair whose types are known at compile time.
#[derive(Clone, Copy)]
pub(crate) struct PairEntry {
    pub(crate) entry: Entry,
    /// Whether the floating-point environment may change its results.
    pub(crate) guarded: bool,
}

impl PairEntry {
    pub(crate) const fn new(entry: Entry, guarded: bool) -> Self {
        PairEntry { entry, guarded }
    }
}

/// A kernel with a table of its own.
pub(crate) struct Made {
    pub(crate) run: KernelFn,
    /// The direction in which the kernel runs, if it rounds itself.
    pub(crate) direction: Direction,
    pub(crate) table: *const u8,
    _owner: Option<Owner>,
}

/// Owns a table. It holds a pointer because moving a box would invalidate all other pointers to its contents.
struct Owner(*mut (dyn Send + Sync));

impl Drop for Owner {
    fn drop(&mut self) {
        // SAFETY: the pointer came from a box, and only this value owns it.
        drop(unsafe { Box::from_raw(self.0) });
    }
}

impl Made {
    pub(crate) fn new<T: Send + Sync + 'static>(run: TableFn<T>, table: T) -> Made {
        let table = Box::into_raw(Box::new(table));
        let direction = Direction::NearestEven;
        // SAFETY: the table is stored in the same value.
        let run = unsafe { erased(run) };
        Made { run, direction, table: table.cast_const().cast(), _owner: Some(Owner(table)) }
    }

    /// A kernel with a table of the common rules that runs in a rounding direction.
    pub(crate) fn directed(Entry { run, table }: Entry, direction: Direction) -> Made {
        Made { run, direction, table, _owner: None }
    }
}

// SAFETY: tables are only read.
unsafe impl Send for Made {}
// SAFETY: as above.
unsafe impl Sync for Made {}
