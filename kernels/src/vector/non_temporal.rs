//! Non-temporal stores.

/// The instructions of a tier for non-temporal stores and prefetches.
pub(crate) struct NonTemporal {
    /// The bytes read and written above which a cast uses non-temporal stores: the size of the last-level cache, as far as one cast may use it.
    pub(crate) last_cache: fn() -> usize,
    /// Prefetches the lines of this many bytes from an address on into the first-level cache. Any address is allowed.
    pub(crate) prefetch: fn(*const u8, usize),
    /// Stores whole lines.
    ///
    /// # Safety
    ///
    /// The CPU has the tier. Both addresses and the number of bytes are multiples of [`CACHE_LINE`]. The first address is readable and the second
    /// writable for that number of bytes. `fence` is called before the written bytes are read.
    pub(crate) store: unsafe fn(src: *const u8, dst: *mut u8, len: usize),
    /// Orders all stores so far before everything that follows.
    pub(crate) fence: fn(),
}

#[cfg(test)]
std::thread_local! {
    /// How often this thread has called the fence of a tier.
    pub(crate) static FENCES: core::cell::Cell<usize> = const { core::cell::Cell::new(0) };
}
