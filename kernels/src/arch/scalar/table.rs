//! Which pair has what.

use super::{
    bytes,
    each::{cast, copy},
    small,
    staged::{self, ByRules, Then},
};
use crate::{
    dtype::{COUNT, DType, Flavor, Spec},
    format::{data::Data, *},
    vector::{
        kernel::{Entry, KernelFn},
        pairs::{has_overflow_rule, is_copy, same_bits, same_truth},
        table::{Table, define_table},
    },
};
use core::marker::PhantomData;

/// The flavor of a float of up to 8 bits.
const fn small_flavor(dtype: DType) -> Option<Flavor> {
    match dtype.spec() {
        Spec::Float(f) if f.bits() <= 8 => Some(f.flavor),
        _ => None,
    }
}

/// Floats of up to 16 bits, except bfloat16, which takes few instructions.
const fn is_narrow_float(dtype: DType) -> bool {
    matches!(dtype.spec(), Spec::Float(f) if f.bits() <= 16) && !matches!(dtype, DType::BFloat16)
}

/// Whether results are looked up: all those of floats of a byte, and the floats that integers of a few bits become.
pub(super) const fn looks_up(from: DType, to: DType) -> bool {
    small_flavor(from).is_some() || from.is_sub_byte() && is_narrow_float(to)
}

/// Whether blocks of float32 are between source and target. A single loop would have as few elements in its vectors as the source has
/// in one.
const fn is_staged(from: DType, to: DType) -> bool {
    from.alignment() >= 4 && !matches!(from, DType::Float32) && is_narrow_float(to)
}

/// The kernels that are shared between targets.
const fn direct<S: Format, D: Format, const FINE: u8>(_: bool) -> Option<KernelFn> {
    let (from, to) = (S::DTYPE, D::DTYPE);
    // Powers of two are all true.
    let constant = matches!((small_flavor(from), to), (Some(Flavor::Exponent), DType::Bool));
    match small_flavor(to) {
        _ if constant => None,
        _ if looks_up(from, to) => Some(bytes::look_up::<S, ByRules>),
        _ if is_staged(from, to) => Some(staged::through_f32::<S, ByRules>),
        Some(Flavor::Ieee | Flavor::Fn) => Some(small::cast::<S, { small::SIGNED }>),
        Some(Flavor::Fnuz) => Some(small::cast::<S, { small::FNUZ }>),
        Some(Flavor::Finite) => Some(small::cast::<S, { small::FINITE }>),
        Some(Flavor::Exponent) | None => None,
    }
}

/// No source is apart.
const fn of_byte<S: Format, D: Format, const FINE: u8>(_: bool) -> Entry {
    panic!("every source has a row")
}

/// One target under its common rules: the loops name no other kernels.
struct To<D, const SATURATE: bool>(PhantomData<D>);

impl<D: Format, const SATURATE: bool> Then for To<D, SATURATE> {
    #[inline(always)]
    fn from_f32(_: &Data) -> KernelFn {
        const { entry::<f32, D, 0>(SATURATE).run }
    }
}

/// [`entry`] for a program that has this pair only: a kernel that names no other pairs.
pub(super) const fn typed<S: Format, D: Format>(saturate: bool) -> Entry {
    let (from, to) = (S::DTYPE, D::DTYPE);
    if direct::<S, D, 0>(saturate).is_some()
        && from.is_built()
        && to.is_built()
        && !is_copy(from, to, saturate)
    {
        if looks_up(from, to) {
            return Entry::new(if saturate {
                bytes::look_up::<S, To<D, true>>
            } else {
                bytes::look_up::<S, To<D, false>>
            });
        }
        if is_staged(from, to) {
            return Entry::new(if saturate {
                staged::through_f32::<S, To<D, true>>
            } else {
                staged::through_f32::<S, To<D, false>>
            });
        }
    }
    entry::<S, D, 0>(saturate)
}

/// Every source has a row.
const APART: bool = false;
crate::dtype::for_each_dtype!(define_table);
pub(crate) static TABLE: Table = table::<0>();

/// A function for no features in particular.
macro_rules! scalar_fn {
    ($($item:tt)*) => { $($item)* };
}
crate::vector::loss::define_loops!(always_may_lose, scalar_fn);
