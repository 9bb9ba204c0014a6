//! What the kernels and those who share work between threads assume about a machine.

/// Bytes of a cache line.
pub const CACHE_LINE: usize = 64;

/// Bytes of the second cache of a core, as in large cores. Smaller ones lose little by it: what misses them is found in the third.
pub const SECOND_CACHE: usize = 2 << 20;

/// Elements in a row that are worth a call of the kernel where they are; fewer are first copied to a block with others.
pub const RUN: usize = 64;
