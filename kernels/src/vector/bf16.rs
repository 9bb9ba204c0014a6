//! A block of float32 as bfloat16.

use super::{
    Simd,
    style::{DIRECTED, PLAIN, TIES},
};
use crate::data::Data;

/// bfloat16 with the canonical NaN, rounded in integers: a carry goes up.
///
/// # Safety
///
/// As of the methods of [`Simd`].
#[inline(always)]
pub(crate) unsafe fn bf16<M: Simd, const STYLE: u8>(x: [M::V; 4], data: &Data) -> [M::V; 2] {
    // SAFETY: as the caller's.
    unsafe {
        let mut r = match STYLE {
            // Just under half a unit, and the last kept bit: a carry exactly when nearest even goes up.
            PLAIN => each!(x, |x| {
                let last = M::and(M::shr::<16>(x), M::splat(1));
                M::add(M::add(x, M::splat(0x7FFF)), last)
            }),
            // Half a unit, or nothing.
            TIES => each!(x, |x| M::add(x, M::splat(data.sticky << 15))),
            // Just under a unit where the direction leads away from zero.
            DIRECTED => each!(x, |x| {
                let negative = M::sub(M::splat(0), M::shr::<31>(x));
                M::add(x, M::and(M::xor(negative, M::splat(data.up)), M::splat(0xFFFF)))
            }),
            // What is dropped makes the last kept bit odd.
            _ => each!(x, |x| {
                let dropped = M::add(M::and(x, M::splat(0xFFFF)), M::splat(0xFFFF));
                M::or(x, M::and(dropped, M::splat(0x1_0000)))
            }),
        };
        if M::any_nan(x) {
            // Rare: one test per block is cheaper than a selection per register.
            let nan = each!(x, |x| M::or(M::and(x, M::splat(1 << 31)), M::splat(0x7FC0_0000)));
            for k in 0..4 {
                r[k] = M::select_nan(x[k], nan[k], r[k]);
            }
        }
        [M::pack_high_halves(r[0], r[1]), M::pack_high_halves(r[2], r[3])]
    }
}
