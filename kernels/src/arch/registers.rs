//! A loop over a buffer, a register at a time.

/// Calls `register` with the place of every `BYTES` bytes of `bytes`, at least `BYTES`, four at a time while there are as many.
/// The last one begins where it ends with the buffer, so some bytes may be seen twice.
///
/// It has to become a part of its caller, whose instruction set `register` needs.
#[inline(always)]
pub(super) fn registers<const BYTES: usize>(bytes: usize, register: impl Fn(usize)) {
    let mut i = 0;
    while bytes - i >= 4 * BYTES {
        register(i);
        register(i + BYTES);
        register(i + 2 * BYTES);
        register(i + 3 * BYTES);
        i += 4 * BYTES;
    }
    while bytes - i >= BYTES {
        register(i);
        i += BYTES;
    }
    if i < bytes {
        register(bytes - BYTES);
    }
}
