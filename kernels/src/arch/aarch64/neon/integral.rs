//! Floats on the way to integers, rounded to integral values first.

use super::{
    floats::{double, single},
    halves::Float16,
    sources::Source,
    *,
};
use core::marker::PhantomData;

/// Lanes that are rounded to integral values in the direction of the environment, or if `AWAY`, to the nearest with ties away
/// from zero.
pub(super) trait Integral: Lanes {
    /// # Safety
    ///
    /// As of the methods of [`Lanes`].
    unsafe fn integral<const AWAY: bool>(self) -> Self;
}

impl<const RANGE: u8> Integral for Singles<RANGE> {
    #[inline(always)]
    unsafe fn integral<const AWAY: bool>(self) -> Self {
        // SAFETY: the caller's promise.
        Self(unsafe {
            each!(self.0, |x| {
                if AWAY { vreinterpretq_u32_f32(vrndaq_f32(single(x))) } else { env::round_f32_env(x) }
            })
        })
    }
}

impl Integral for Doubles64 {
    #[inline(always)]
    unsafe fn integral<const AWAY: bool>(self) -> Self {
        // SAFETY: the caller's promise.
        Self(unsafe {
            eight!(self.0, |x| {
                if AWAY { vreinterpretq_u64_f64(vrndaq_f64(double(x))) } else { env::round_f64_env(x) }
            })
        })
    }
}

impl Integral for Float16 {
    #[inline(always)]
    unsafe fn integral<const AWAY: bool>(self) -> Self {
        // SAFETY: the caller's promise; the CPU has FEAT_FP16.
        Self(unsafe {
            each!([self.0[0], self.0[1]], |x| if AWAY { halves::round_away(x) } else { halves::round(x) })
        })
    }
}

/// The elements of a source, rounded to integral values.
pub(super) struct Rounding<S, const AWAY: bool>(PhantomData<S>);

impl<S: Source<Lanes: Integral>, const AWAY: bool> Source for Rounding<S, AWAY> {
    const BITS: usize = S::BITS;
    type Lanes = S::Lanes;
    type Tables = S::Tables;
    #[inline(always)]
    unsafe fn tables(data: &Data) -> S::Tables {
        // SAFETY: the caller's promise.
        unsafe { S::tables(data) }
    }
    #[inline(always)]
    unsafe fn load(tables: S::Tables, src: [*const u8; 2]) -> [S::Lanes; 2] {
        // SAFETY: the caller's promise.
        unsafe {
            let [a, b] = S::load(tables, src);
            [a.integral::<AWAY>(), b.integral::<AWAY>()]
        }
    }
}
