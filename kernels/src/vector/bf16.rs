//! Encodes a block of float32 as bfloat16.

use super::{
    Simd,
    style::{Mode, RoundingMode},
};
use crate::format::data::Data;
use crate::vector::each;

/// bfloat16 with the canonical NaN, rounded by integer additions whose carry rounds up.
#[inline(always)]
pub(crate) fn bf16<M: Simd, R: RoundingMode>(m: M, x: [M::V; 4], data: &Data) -> [M::V; 2] {
    let mut r = match R::MODE {
        // The last kept bit plus just under half a unit carries exactly when nearest even rounds up.
        Mode::Common => each!(x, |x| {
            let last = m.and(m.shr::<16>(x), m.splat(1));
            m.add(m.add(x, m.splat(0x7FFF)), last)
        }),
        // Adds half a unit, or nothing.
        Mode::Away => each!(x, |x| m.add(x, m.splat(data.rounding.dropping_16[0]))),
        // Adds just under a unit if the direction leads away from zero.
        Mode::Directed => each!(x, |x| {
            let negative = m.sub(m.splat(0), m.shr::<31>(x));
            m.add(x, m.xor(m.and(negative, m.splat(0xFFFF)), m.splat(data.rounding.dropping_16[0])))
        }),
        // Dropped bits that are not zero make the last kept bit odd.
        _ => each!(x, |x| {
            let dropped = m.add(m.and(x, m.splat(0xFFFF)), m.splat(0xFFFF));
            m.or(x, m.and(dropped, m.splat(0x1_0000)))
        }),
    };
    if m.any_nan(x) {
        // NaN is rare: one test per block is cheaper than a selection per register.
        let nan = each!(x, |x| m.or(m.and(x, m.splat(1 << 31)), m.splat(0x7FC0_0000)));
        for k in 0..4 {
            r[k] = m.select_nan(x[k], nan[k], r[k]);
        }
    }
    [m.pack_high_halves(r[0], r[1]), m.pack_high_halves(r[2], r[3])]
}
