//! Floats to integers under rules that do not truncate.

use super::{
    LaneOps, Lanes, eight,
    float::{F32, F64, Limited},
    run::run,
    source::Source,
    target::{Byte, Codes, Int16, Int32, Int64, Target},
    two,
};
use crate::{
    dtype::{DType, Spec},
    format::data::Data,
    vector::{each, kernel::KernelFn},
};
use core::marker::PhantomData;

/// Lanes that are rounded to integral values in the direction of the environment, or if `AWAY`, to the nearest with ties away
/// from zero.
pub(crate) trait Integral<M: LaneOps>: Lanes<M> {
    fn integral<const AWAY: bool>(self, m: M) -> Self;
}

impl<M: LaneOps, G: Limited> Integral<M> for F32<M, G> {
    #[inline(always)]
    fn integral<const AWAY: bool>(self, m: M) -> Self {
        Self::new(each!(self.0, |x| if AWAY { m.round_away_f32(x) } else { m.round_env_f32(x) }))
    }
}

impl<M: LaneOps> Integral<M> for F64<M> {
    #[inline(always)]
    fn integral<const AWAY: bool>(self, m: M) -> Self {
        Self(eight!(self.0, |x| if AWAY { m.round_away_f64(x) } else { m.round_env_f64(x) }))
    }
}

/// The elements of a source, rounded to integral values.
pub(crate) struct Integers<S, const AWAY: bool>(PhantomData<S>);

impl<M: LaneOps, S: Source<M, Lanes: Integral<M>>, const AWAY: bool> Source<M> for Integers<S, AWAY> {
    const BITS: usize = S::BITS;
    type Lanes = S::Lanes;
    type Tables = S::Tables;
    #[inline(always)]
    unsafe fn tables(m: M, data: &Data) -> S::Tables {
        // SAFETY: the caller's data are those of `S`.
        unsafe { S::tables(m, data) }
    }
    #[inline(always)]
    unsafe fn load(m: M, tables: S::Tables, src: [*const u8; 2]) -> [S::Lanes; 2] {
        // SAFETY: the caller's units are those of `S`.
        two!(unsafe { S::load(m, tables, src) }, |x| x.integral::<AWAY>(m))
    }
}

/// Integers of up to 8 bits: the data say which.
struct AnyInt<const SIGNED: bool>;

impl<M: LaneOps, const SIGNED: bool> Codes<M> for AnyInt<SIGNED> {
    #[inline(always)]
    fn codes<L: Lanes<M>, const SATURATE: bool>(m: M, x: L, data: &Data) -> M::V {
        let x = x.int8::<SATURATE, SIGNED>(m);
        let (ones, highest) = (m.splat_8(data.int.ones()), m.splat_8(data.int.highest));
        match (SATURATE, SIGNED) {
            (false, _) => m.and(x, ones),
            (true, false) => m.min_u8(x, highest),
            (true, true) => m.and(m.max_i8(m.min_i8(x, highest), m.splat_8(data.int.lowest() as u8)), ones),
        }
    }
}

/// The kernel from a source to integers.
pub(super) fn ints<M: LaneOps, S: Source<M, Lanes: Integral<M>>>(
    dtype: DType,
    away: bool,
    saturate: bool,
) -> Option<KernelFn> {
    fn kernel<M: LaneOps, S: Source<M, Lanes: Integral<M>>, Signed: Target<M>, Unsigned: Target<M>>(
        signed: bool,
        away: bool,
        saturate: bool,
    ) -> KernelFn {
        match (away, saturate, signed) {
            (false, false, _) => run::<M, Integers<S, false>, Unsigned, false>,
            (false, true, false) => run::<M, Integers<S, false>, Unsigned, true>,
            (false, true, true) => run::<M, Integers<S, false>, Signed, true>,
            (true, false, _) => run::<M, Integers<S, true>, Unsigned, false>,
            (true, true, false) => run::<M, Integers<S, true>, Unsigned, true>,
            (true, true, true) => run::<M, Integers<S, true>, Signed, true>,
        }
    }
    let Spec::Int { bits, signed } = dtype.spec() else { return None };
    Some(match bits {
        ..=8 => kernel::<M, S, Byte<AnyInt<true>, 8>, Byte<AnyInt<false>, 8>>(signed, away, saturate),
        16 => kernel::<M, S, Int16<true>, Int16<false>>(signed, away, saturate),
        32 => kernel::<M, S, Int32<true>, Int32<false>>(signed, away, saturate),
        _ => kernel::<M, S, Int64<true>, Int64<false>>(signed, away, saturate),
    })
}
