//! A loop over a buffer, a register at a time.

/// Calls `register` with the place of each block of `BYTES` bytes among `bytes`, which is at least `BYTES`; it unrolls four calls. The last
/// block ends where the buffer ends, so `register` may handle some bytes twice.
///
/// The function must be inlined into its caller, whose instruction set `register` needs.
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
