//! Assumptions about the machine, for the kernels and for the scheduling of threads.

/// Bytes of a cache line.
pub const CACHE_LINE: usize = 64;

/// Bytes of the second-level cache of a large core. Smaller cores lose little by this value, because their misses hit the third level.
pub const SECOND_CACHE: usize = 2 << 20;

/// The shortest contiguous run that is cast directly; shorter runs are first copied to a block together with others.
pub const RUN: usize = 64;

/// Bytes of a block on the stack between two stages of a cast. Two of them are a small part of the first-level cache.
pub const BLOCK_BYTES: usize = 4096;

/// Elements per block where all element sizes use the same number; it fills whole bytes in every packed width.
pub const BLOCK_ELEMENTS: usize = 512;
