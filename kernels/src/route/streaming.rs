//! When a cast uses non-temporal stores.

/// When a cast uses non-temporal stores.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Streaming {
    /// If source and destination together are larger than the last-level cache, or than 32 MiB: a larger cache is shared with other cores.
    #[default]
    Auto,
    /// At every size: the destination will not be read soon, or other data needs the caches more.
    Always,
    /// Never: the destination will be read again while it may still be in a cache.
    Never,
}
