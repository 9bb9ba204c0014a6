//! What the kernels and those who share work between threads assume about a machine.

/// Bytes of a cache line.
pub const CACHE_LINE: usize = 64;

/// Bytes of the second cache of a core, as in large cores. Smaller ones lose little by it: what misses them is found in the third.
pub const SECOND_CACHE: usize = 2 << 20;

/// Elements in a row that are worth a call of the kernel where they are; fewer are first copied to a block with others.
pub const RUN: usize = 64;

/// Bytes of a block on the stack between two stages of a cast. Two of them are a small part of the first cache.
pub const BLOCK_BYTES: usize = 4096;

/// Elements of a block where elements of any size have the same block: whole bytes of every packed width.
pub const BLOCK_ELEMENTS: usize = 512;
