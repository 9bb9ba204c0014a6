//! Chooses the kernel of each pair under the common rules: the source and the target of every pair, in byte storage or packed.

use super::{
    LaneOps,
    byte::{Exponents, ExponentsToBf16, Limited, Masked, PowersOfTwo},
    ends::{Ends16, EndsF32},
    lookup::{Direct, Fnuz, Lookup, Magnitude, Nonzero},
    run::{kernel, parts},
    source::{self, Either, Magnitudes, Source, Upper},
    table::{Found8, To8, To16, ToF32, ToInts},
    target::{self, AnyInt, BF16, Byte, C64, C128, Codes, Found, Found16, Int, Int16, Int32, Int64, Small},
};
use crate::{
    dtype::{DType, Flavor, Spec},
    format::{
        Format, linear,
        lut::{self, Saturating, Truncating, Wrapping},
    },
    vector::{kernel::KernelFn, pairs::has_overflow_rule},
};
use half::{bf16, f16};
use num_complex::Complex;

/// The tokens of a tier. Most kernels need only the [`Base`](Tokens::Base); kernels to 16-bit floats may use instructions that not every CPU of
/// the tier has.
pub(crate) trait Tokens: 'static {
    /// Whether integers of 2 and of 4 bits share kernels, which are not packed: their limits are data.
    const SHARES_NARROW: bool = false;
    /// Whether the kernels in the table of the tier round in the direction of the environment.
    const COMMON_OBEYS: bool = true;
    type Base: LaneOps;
    /// The token of kernels to float16.
    type F16: LaneOps;
    /// The token of kernels to bfloat16.
    type BF16: LaneOps;
}

/// A source for all tokens of a tier.
pub(crate) trait AnySource<K: Tokens>: Source<K::Base> + Source<K::F16> + Source<K::BF16> {}
impl<K: Tokens, S: Source<K::Base> + Source<K::F16> + Source<K::BF16>> AnySource<K> for S {}

/// The kernel to codes of a byte or less, of `bits` bits if they are packed.
const fn byte<M: LaneOps, S: Source<M>, C: Codes<M>, const PACKED: bool>(
    bits: u32,
    saturate: bool,
) -> KernelFn {
    match (bits, saturate) {
        (2, false) if PACKED => kernel::<M, S, Byte<C, 2>, false>(),
        (2, true) if PACKED => kernel::<M, S, Byte<C, 2>, true>(),
        (4, false) if PACKED => kernel::<M, S, Byte<C, 4>, false>(),
        (4, true) if PACKED => kernel::<M, S, Byte<C, 4>, true>(),
        (6, false) if PACKED => kernel::<M, S, Byte<C, 6>, false>(),
        (6, true) if PACKED => kernel::<M, S, Byte<C, 6>, true>(),
        (_, false) => kernel::<M, S, Byte<C, 8>, false>(),
        (_, true) => kernel::<M, S, Byte<C, 8>, true>(),
    }
}

/// The kernel from lanes to any target.
pub(crate) const fn to<K: Tokens, S: AnySource<K>, D: Format, const PACKED: bool>(
    saturate: bool,
) -> KernelFn {
    /// The kernel to integers. Integers that wrap have the same bits whatever their sign.
    const fn int<M: LaneOps, S: Source<M>, T: target::Target<M>, W: target::Target<M>>(
        saturate: bool,
    ) -> KernelFn {
        if saturate { kernel::<M, S, T, true>() } else { kernel::<M, S, W, false>() }
    }
    let saturate = saturate || !has_overflow_rule(D::DTYPE);
    match D::DTYPE {
        DType::Bool => byte::<K::Base, S, target::Truth, PACKED>(8, true),
        DType::Int2 | DType::Int4 if K::SHARES_NARROW && saturate => {
            byte::<K::Base, S, AnyInt<true>, false>(8, true)
        }
        DType::Int2 | DType::Int4 | DType::UInt2 | DType::UInt4 if K::SHARES_NARROW => {
            byte::<K::Base, S, AnyInt<false>, false>(8, saturate)
        }
        DType::Int2 if saturate => byte::<K::Base, S, Int<2, true>, PACKED>(2, true),
        DType::Int4 if saturate => byte::<K::Base, S, Int<4, true>, PACKED>(4, true),
        DType::Int8 if saturate => byte::<K::Base, S, Int<8, true>, PACKED>(8, true),
        DType::Int2 | DType::UInt2 => byte::<K::Base, S, Int<2, false>, PACKED>(2, saturate),
        DType::Int4 | DType::UInt4 => byte::<K::Base, S, Int<4, false>, PACKED>(4, saturate),
        DType::Int8 | DType::UInt8 => byte::<K::Base, S, Int<8, false>, PACKED>(8, saturate),
        DType::Int16 => int::<K::Base, S, Int16<true>, Int16<false>>(saturate),
        DType::UInt16 => int::<K::Base, S, Int16<false>, Int16<false>>(saturate),
        DType::Int32 => int::<K::Base, S, Int32<true>, Int32<false>>(saturate),
        DType::UInt32 => int::<K::Base, S, Int32<false>, Int32<false>>(saturate),
        DType::Int64 => int::<K::Base, S, Int64<true>, Int64<false>>(saturate),
        DType::UInt64 => int::<K::Base, S, Int64<false>, Int64<false>>(saturate),
        DType::Float16 => kernel::<K::F16, S, target::F16, true>(),
        DType::BFloat16 => kernel::<K::BF16, S, BF16, true>(),
        DType::Float32 => kernel::<K::Base, S, target::F32, true>(),
        DType::Float64 => kernel::<K::Base, S, target::F64, true>(),
        DType::Complex64 => kernel::<K::Base, S, C64, true>(),
        DType::Complex128 => kernel::<K::Base, S, C128, true>(),
        _ => byte::<K::Base, S, Small<D>, PACKED>(D::DTYPE.bits(), saturate),
    }
}

const fn is_small_float(dtype: DType) -> bool {
    matches!(dtype.spec(), Spec::Float(f) if f.bits() <= 8)
}

/// The kernel of a pair whose source stores `BITS` bits per element, if that is less than a byte. `PACKED` describes the target.
pub(crate) const fn pair<K: Tokens, S: Format, D: Format, const BITS: usize, const PACKED: bool>(
    saturate: bool,
) -> KernelFn {
    match S::DTYPE {
        DType::Int16 => to::<K, i16, D, PACKED>(saturate),
        DType::UInt16 => to::<K, u16, D, PACKED>(saturate),
        DType::Int32 => to::<K, i32, D, PACKED>(saturate),
        DType::UInt32 => to::<K, u32, D, PACKED>(saturate),
        DType::Int64 => to::<K, i64, D, PACKED>(saturate),
        DType::UInt64 => to::<K, u64, D, PACKED>(saturate),
        DType::Float16 | DType::BFloat16 if matches!(D::DTYPE, DType::Bool) => {
            to::<K, Magnitudes, D, PACKED>(saturate)
        }
        DType::Float16 if matches!(D::DTYPE, DType::Float8E5M2) => {
            byte::<K::Base, source::Plain, target::E5m2, false>(8, saturate)
        }
        DType::Float16 => to::<K, f16, D, PACKED>(saturate),
        DType::BFloat16 if is_small_float(D::DTYPE) => to::<K, Upper, D, PACKED>(saturate),
        DType::BFloat16 => to::<K, bf16, D, PACKED>(saturate),
        DType::Float32 => to::<K, f32, D, PACKED>(saturate),
        DType::Float64 => to::<K, f64, D, PACKED>(saturate),
        DType::Complex64 if matches!(D::DTYPE, DType::Complex128) => parts::<K::Base, f32, target::F64>,
        DType::Complex128 if matches!(D::DTYPE, DType::Complex64) => parts::<K::Base, f64, target::F32>,
        DType::Complex64 if matches!(D::DTYPE, DType::Bool) => to::<K, Either<f32>, D, PACKED>(saturate),
        DType::Complex128 if matches!(D::DTYPE, DType::Bool) => to::<K, Either<f64>, D, PACKED>(saturate),
        DType::Complex64 if matches!(D::DTYPE, DType::Float32) => {
            kernel::<K::Base, Complex<f32>, target::F32, true>()
        }
        DType::Complex128 if matches!(D::DTYPE, DType::Float64) => {
            kernel::<K::Base, Complex<f64>, target::F64, true>()
        }
        _ => of_byte::<K, S, D, BITS, PACKED>(saturate),
    }
}

/// The kernel of a pair whose source has a byte per element, or `BITS` bits if packed.
const fn of_byte<K: Tokens, S: Format, D: Format, const BITS: usize, const PACKED: bool>(
    saturate: bool,
) -> KernelFn {
    /// The kernel from unsigned integers of `bits` bits; values that always fit are not limited.
    const fn masked<K: Tokens, S: AnySource<K>, D: Format, const PACKED: bool>(
        bits: u32,
        saturate: bool,
    ) -> KernelFn {
        let (to_bits, signed) = match D::DTYPE.spec() {
            Spec::Int { bits, signed } => (bits, signed as u32),
            _ => panic!("not an integer"),
        };
        to::<K, S, D, PACKED>(saturate && to_bits - signed < bits)
    }
    let int = matches!(D::DTYPE.spec(), Spec::Int { .. });
    match S::DTYPE {
        DType::UInt2 if int => masked::<K, Masked<3, BITS>, D, PACKED>(2, saturate),
        DType::UInt4 if int => masked::<K, Masked<15, BITS>, D, PACKED>(4, saturate),
        // The upper bits are cut off.
        DType::Int2 if int && !saturate && D::DTYPE.bits() == 2 => {
            masked::<K, Masked<3, BITS>, D, PACKED>(2, false)
        }
        DType::Int4 if int && !saturate && D::DTYPE.bits() <= 4 => {
            masked::<K, Masked<15, BITS>, D, PACKED>(4, false)
        }
        DType::Bool if D::DTYPE.size() > 1 && int => to::<K, source::Truth, D, false>(saturate),
        DType::Int8 if D::DTYPE.size() > 1 => to::<K, i8, D, false>(saturate),
        DType::UInt8 if D::DTYPE.size() > 1 => to::<K, u8, D, false>(saturate),
        DType::Float8E8M0FNU if matches!(D::DTYPE, DType::BFloat16) => {
            kernel::<K::Base, ExponentsToBf16, Found16, true>()
        }
        DType::Float8E8M0FNU if D::DTYPE.size() > 1 && int && !saturate => {
            to::<K, PowersOfTwo, D, false>(false)
        }
        DType::Float8E8M0FNU if D::DTYPE.size() > 1 => to::<K, Exponents, D, false>(saturate),
        _ if D::DTYPE.size() == 1 => to_byte::<K, S, D, BITS, PACKED>(saturate),
        DType::Bool => wider::<K, S, D, Nonzero, 16, 8>(saturate),
        _ if <K::Base as LaneOps>::ENDS
            && S::DTYPE.bits() == 8
            && linear::Entry::of(S::DTYPE).is_some()
            && (saturate || !int) =>
        {
            match D::DTYPE {
                DType::Float16 => kernel::<K::Base, Ends16<Saturating<S, D>>, Found16, true>(),
                DType::BFloat16 => kernel::<K::Base, Ends16<Saturating<S, f32>>, Found16, true>(),
                _ => to::<K, EndsF32<Saturating<S, f32>>, D, false>(saturate),
            }
        }
        _ => match (S::DTYPE.bits(), S::DTYPE.spec()) {
            (..=4, _) => short::<K, S, D, Direct<4>, 16, BITS>(saturate),
            (..=6, _) => short::<K, S, D, Direct<6>, 64, BITS>(saturate),
            (_, Spec::Float(f)) if matches!(f.flavor, Flavor::Fnuz) => {
                wider::<K, S, D, Fnuz, 128, BITS>(saturate)
            }
            _ => wider::<K, S, D, Magnitude, 128, BITS>(saturate),
        },
    }
}

/// The kernels to targets of a byte or less.
const fn to_byte<K: Tokens, S: Format, D: Format, const BITS: usize, const PACKED: bool>(
    saturate: bool,
) -> KernelFn {
    const fn stored<M: LaneOps, Q: Source<M, Lanes = Found8<M>>, const PACKED: bool>(bits: u32) -> KernelFn {
        byte::<M, Q, Found, PACKED>(bits, true)
    }
    const fn looked_up<
        M: LaneOps,
        S: Format,
        D: Format,
        Q: Lookup<M, E>,
        const E: usize,
        const BITS: usize,
        const PACKED: bool,
    >(
        saturate: bool,
    ) -> KernelFn {
        if saturate || !has_overflow_rule(D::DTYPE) {
            stored::<M, To8<Saturating<S, D>, Q, E, BITS>, PACKED>(D::DTYPE.bits())
        } else {
            stored::<M, To8<Wrapping<S, D>, Q, E, BITS>, PACKED>(D::DTYPE.bits())
        }
    }
    if lut::limits(S::DTYPE, D::DTYPE, saturate).is_some() {
        return if saturate {
            stored::<K::Base, Limited<S, D, true, BITS>, PACKED>(D::DTYPE.bits())
        } else {
            stored::<K::Base, Limited<S, D, false, BITS>, PACKED>(D::DTYPE.bits())
        };
    }
    match (S::DTYPE, S::DTYPE.bits()) {
        (DType::Bool, _) => looked_up::<K::Base, S, D, Nonzero, 16, BITS, PACKED>(saturate),
        (_, ..=4) => looked_up::<K::Base, S, D, Direct<4>, 16, BITS, PACKED>(saturate),
        (_, ..=6) => looked_up::<K::Base, S, D, Direct<6>, 64, BITS, PACKED>(saturate),
        _ => looked_up::<K::Base, S, D, Direct<8>, 256, BITS, PACKED>(saturate),
    }
}

/// A look-up for all tokens of a tier.
trait AnyLookup<K: Tokens, const E: usize>: Lookup<K::Base, E> + Lookup<K::F16, E> + Lookup<K::BF16, E> {}
impl<K: Tokens, const E: usize, Q: Lookup<K::Base, E> + Lookup<K::F16, E> + Lookup<K::BF16, E>>
    AnyLookup<K, E> for Q
{
}

/// The kernels to wider targets from sources of up to 6 bits, whose truncated values fit in a byte.
const fn short<K: Tokens, S: Format, D: Format, Q: AnyLookup<K, E>, const E: usize, const BITS: usize>(
    saturate: bool,
) -> KernelFn {
    match D::DTYPE.spec() {
        // The table already saturates negative values to 0.
        Spec::Int { signed: false, .. } if saturate => {
            to::<K, ToInts<Saturating<S, u8>, Q, false, E, BITS>, D, false>(false)
        }
        Spec::Int { .. } => to::<K, ToInts<Saturating<S, i8>, Q, true, E, BITS>, D, false>(false),
        _ => wider::<K, S, D, Q, E, BITS>(saturate),
    }
}

/// The kernels to wider targets. Many need the same words.
const fn wider<K: Tokens, S: Format, D: Format, Q: AnyLookup<K, E>, const E: usize, const BITS: usize>(
    saturate: bool,
) -> KernelFn {
    match D::DTYPE {
        DType::Float16 => kernel::<K::Base, To16<Saturating<S, D>, Q, E, BITS>, Found16, true>(),
        DType::BFloat16 => kernel::<K::Base, To16<Saturating<S, f32>, Q, E, BITS>, Found16, true>(),
        _ if matches!(D::DTYPE.spec(), Spec::Int { .. }) && !saturate => {
            to::<K, ToF32<Truncating<S, 32, false>, Q, E, BITS>, D, false>(false)
        }
        _ => to::<K, ToF32<Saturating<S, f32>, Q, E, BITS>, D, false>(saturate),
    }
}
