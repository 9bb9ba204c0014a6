//! Floats to integers under rules that do not truncate.

use super::{
    LaneOps, Lanes, eight,
    float::{F32, F64, Limited},
    part::From,
    run::kernel,
    source::Source,
    target::{AnyInt, Byte, Int16, Int32, Int64, Target},
    two,
};
use crate::{
    dtype::{DType, Spec},
    exact::{Rounding, Rules},
    format::data::{self, Data, Direction},
    vector::{each, kernel::KernelFn},
};
use core::marker::PhantomData;
use half::{bf16, f16};

/// Lanes that are rounded to integral values: in the direction of the environment or, if `AWAY`, to nearest with ties away from zero.
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
    const PARTS: bool = S::PARTS;
    type Lanes = S::Lanes;
    type Tables = S::Tables;
    #[inline(always)]
    unsafe fn tables(m: M, data: &Data) -> S::Tables {
        // SAFETY: the caller's data belong to a kernel of `S`.
        unsafe { S::tables(m, data) }
    }
    #[inline(always)]
    unsafe fn load(m: M, tables: S::Tables, src: [*const u8; 2]) -> [S::Lanes; 2] {
        // SAFETY: the caller grants units of `S`.
        two!(unsafe { S::load(m, tables, src) }, |x| x.integral::<AWAY>(m))
    }
    #[inline(always)]
    unsafe fn load_part<const QUARTERS: usize>(m: M, tables: S::Tables, src: From<QUARTERS>) -> S::Lanes {
        // SAFETY: the caller grants a part of `S`.
        unsafe { S::load_part(m, tables, src) }.integral::<AWAY>(m)
    }
}

/// The elements of a source, rounded to integral values in the direction of the environment after a half is added, with the sign of the element.
/// The half is zero for directions. Its sum is rounded, too, so ties go away from zero if the environment rounds toward zero.
struct Moved<S>(PhantomData<S>);

/// Lanes that are moved away from zero before they are rounded.
trait Move<M: LaneOps>: Lanes<M> {
    fn half(m: M, data: &Data) -> M::V;
    fn moved(self, m: M, half: M::V) -> Self;
}

impl<M: LaneOps, G: Limited> Move<M> for F32<M, G> {
    #[inline(always)]
    fn half(m: M, data: &Data) -> M::V {
        m.splat(data.rounding.half)
    }
    #[inline(always)]
    fn moved(self, m: M, half: M::V) -> Self {
        let (one, sign) = (m.splat(1_f32.to_bits()), m.splat(1 << 31));
        Self::new(each!(self.0, |x| m.round_env_f32(m.fma_env(x, one, m.or(half, m.and(x, sign))))))
    }
}

impl<M: LaneOps> Move<M> for F64<M> {
    #[inline(always)]
    fn half(m: M, data: &Data) -> M::V {
        m.splat_64(f64::from(f32::from_bits(data.rounding.half)).to_bits())
    }
    #[inline(always)]
    fn moved(self, m: M, half: M::V) -> Self {
        let sign = m.splat_64(1 << 63);
        Self(eight!(self.0, |x| m.round_env_f64(m.add_env_f64(x, m.or(half, m.and(x, sign))))))
    }
}

impl<M: LaneOps, S: Source<M, Lanes: Move<M>, Tables = ()>> Source<M> for Moved<S> {
    const BITS: usize = S::BITS;
    const PARTS: bool = S::PARTS;
    type Lanes = S::Lanes;
    type Tables = M::V;
    #[inline(always)]
    unsafe fn tables(m: M, data: &Data) -> M::V {
        S::Lanes::half(m, data)
    }
    #[inline(always)]
    unsafe fn load(m: M, half: M::V, src: [*const u8; 2]) -> [S::Lanes; 2] {
        // SAFETY: the caller grants units of `S`.
        two!(unsafe { S::load(m, (), src) }, |x| x.moved(m, half))
    }
    #[inline(always)]
    unsafe fn load_part<const QUARTERS: usize>(m: M, half: M::V, src: From<QUARTERS>) -> S::Lanes {
        // SAFETY: the caller grants a part of `S`.
        unsafe { S::load_part(m, (), src) }.moved(m, half)
    }
}

/// The kernel from a source of integral values to integers.
fn of_integral<M: LaneOps, S: Source<M>>(dtype: DType, saturate: bool) -> Option<KernelFn> {
    fn limited<M: LaneOps, S: Source<M>, Signed: Target<M>, Unsigned: Target<M>>(
        signed: bool,
        saturate: bool,
    ) -> KernelFn {
        match (saturate, signed) {
            (false, _) => kernel::<M, S, Unsigned, false>(),
            (true, false) => kernel::<M, S, Unsigned, true>(),
            (true, true) => kernel::<M, S, Signed, true>(),
        }
    }
    let Spec::Int { bits, signed } = dtype.spec() else { return None };
    Some(match bits {
        ..=8 => limited::<M, S, Byte<AnyInt<true>, 8>, Byte<AnyInt<false>, 8>>(signed, saturate),
        16 => limited::<M, S, Int16<true>, Int16<false>>(signed, saturate),
        32 => limited::<M, S, Int32<true>, Int32<false>>(signed, saturate),
        _ => limited::<M, S, Int64<true>, Int64<false>>(signed, saturate),
    })
}

/// The kernel from a source to integers.
pub(super) fn ints<M: LaneOps, S: Source<M, Lanes: Integral<M>>>(
    dtype: DType,
    away: bool,
    saturate: bool,
) -> Option<KernelFn> {
    if away {
        of_integral::<M, Integers<S, true>>(dtype, saturate)
    } else {
        of_integral::<M, Integers<S, false>>(dtype, saturate)
    }
}

/// The kernel from a float of more than a byte to integers, and the direction that it needs. One kernel serves directions and ties away, at the
/// cost of an addition.
pub(crate) fn moved<M: LaneOps>(from: DType, to: DType, rules: &Rules) -> Option<(KernelFn, Direction)> {
    let run = match from {
        _ if rules.rounding == Rounding::ToOdd => return None,
        DType::Float16 => of_integral::<M, Moved<f16>>(to, rules.saturate),
        DType::BFloat16 => of_integral::<M, Moved<bf16>>(to, rules.saturate),
        DType::Float32 => of_integral::<M, Moved<f32>>(to, rules.saturate),
        DType::Float64 => of_integral::<M, Moved<f64>>(to, rules.saturate),
        _ => return None,
    };
    Some((run?, data::direction(rules.rounding)?))
}
