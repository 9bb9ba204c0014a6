//! The tier `avx2`.
//!
//! `direct` names the kernels that are written for it, which are those of almost all pairs: those of `vector` through float32 and in
//! lanes of 16 bits ([`words`]), those of [`vector::lanes`] for integers and 64-bit numbers ([`by_lanes`]), and those of sources of a
//! byte ([`bytes`]). The few others are the plain loop of the scalar tier, compiled anew for the tier's instructions: its bodies have
//! no branches, and the compiler makes vector code of them.

pub(in crate::arch) mod backend;
mod bytes;
mod convert;
mod floats;
mod halves;
mod ops;
mod packs;
mod scaled;
mod simd;
#[cfg(test)]
mod tests;
mod words;

use super::copy::avx2 as copy;
use crate::{
    arch::scalar,
    data::Data,
    dtype::{COUNT, DType, Flavor, Spec},
    exact::Rules,
    format::*,
    storage::Encoding,
    table::{
        Bytes, Entry, KernelFn, PackedTo, Rounded, Steps, Table, WIDE, define_packed_to, define_table,
        has_overflow_rule, is_copy, same_bits, same_truth,
    },
    vector::{
        self, Simd,
        lanes::{
            rounded,
            select::{self, Tokens},
        },
        target::Target,
    },
};
pub(in crate::arch) use bytes::scaled::decoder;
use simd::Avx2;

avx2_fn! {
    /// # Safety
    ///
    /// As [`KernelFn`].
    unsafe fn cast<S: Format, D: Format, const SATURATE: bool>(src: *const u8, dst: *mut u8, n: usize, _: &Data) {
        // SAFETY: as the caller's.
        unsafe { scalar::cast_each::<S, D, SATURATE>(src, dst, n) }
    }
}

avx2_fn! {
    /// # Safety
    ///
    /// As [`KernelFn`].
    unsafe fn vector<S: Format, T: Target<Avx2>>(src: *const u8, dst: *mut u8, n: usize, data: &Data) {
        // SAFETY: as the caller's.
        unsafe { vector::run::<Avx2, S, T>(Avx2::new_unchecked(), src, dst, n, data, vector::<S, T>) }
    }
}

vector::define_families!(vector, plain);
vector::define_styles!(vector, vector, styled);

const fn direct<S: Format, D: Format, const FINE: u8>(saturate: bool) -> Option<KernelFn> {
    if matches!((S::DTYPE, D::DTYPE), (DType::Float16, DType::BFloat16)) {
        return Some(halves::to_bf16);
    }
    if let Some(kernel) = words::kernel(S::DTYPE, D::DTYPE, false, saturate) {
        return Some(kernel);
    }
    if vector::covers(S::DTYPE, D::DTYPE) {
        return plain::<S>(D::DTYPE, saturate, false);
    }
    if by_lanes(S::DTYPE, D::DTYPE) {
        return Some(select::pair::<Common, S, D, 8, false>(saturate));
    }
    None
}

/// The tokens of the kernels under the common rules.
struct Common;
impl Tokens for Common {
    const COMMON_OBEYS: bool = false;
    type Base = Avx2;
    type F16 = Avx2;
    type BF16 = Avx2;
}

/// Whether the kernel of a pair is one of the lanes: there is an integer or a 64-bit number on one side, which the plain loops of
/// the compiler do badly.
const fn by_lanes(from: DType, to: DType) -> bool {
    let narrowing = matches!(to.spec(), Spec::Int { .. }) && to.size() < from.size();
    let to_float = matches!(to, DType::Float32 | DType::Float64 | DType::Complex64 | DType::Complex128);
    match from {
        // The compiler widens integers well.
        DType::Int16 | DType::UInt16 | DType::Int32 | DType::UInt32 => narrowing,
        DType::Int64 | DType::UInt64 => narrowing || to_float || matches!(to, DType::Bool),
        // Up to 8 bits are made by the kernels through float32, which have the same loads.
        DType::Float16 | DType::BFloat16 | DType::Float32 => to.size() > 1,
        DType::Float64 => true,
        DType::Complex64 => matches!(to, DType::Bool | DType::Float32 | DType::Complex128),
        DType::Complex128 => matches!(to, DType::Bool | DType::Float64 | DType::Complex64),
        _ => false,
    }
}

/// The kernels that pack what they have made.
const fn packed<S: Format, D: Format, const FINE: u8>(saturate: bool) -> Option<KernelFn> {
    if let Some(kernel) = words::kernel(S::DTYPE, D::DTYPE, true, saturate) {
        return Some(kernel);
    }
    if !vector::covers(S::DTYPE, D::DTYPE) {
        return None;
    }
    plain::<S>(D::DTYPE, saturate, true)
}

/// The kernel from a dtype of a byte.
pub(super) const fn of_byte<S: Format, D: Format, const FINE: u8>(saturate: bool) -> Entry {
    let (from, to) = (S::DTYPE, D::DTYPE);
    if is_copy(from, to, saturate) {
        return Entry::new(copy_bytes(if same_truth(from, to) { DType::Bool } else { from }));
    }
    bytes::kernel::<S, D>(saturate)
}

/// Sources of a byte are resolved by `bytes`.
const APART: bool = true;
crate::dtype::for_each_dtype!(define_table);
crate::dtype::for_each_dtype!(define_packed_to);
pub(super) static TABLE: Table = whole();
static PACKED: [PackedTo; WIDE] = packed_to::<0>();

pub(super) const fn whole() -> Table {
    Table {
        packed_to: Some(&PACKED),
        bytes: Some(Bytes { find: bytes::find, copy: copy_bytes }),
        tabled: Some(bytes::tabled),
        ..table::<0>()
    }
}

/// The kernel of a dtype of a byte to itself: dtypes of as many bits share it.
const fn copy_bytes(dtype: DType) -> KernelFn {
    match (dtype, dtype.bits()) {
        (DType::Bool, _) => copy::<bool>,
        (_, 2) => copy::<U2>,
        (_, 4) => copy::<U4>,
        (_, 6) => copy::<F6E2M3FN>,
        _ => copy::<u8>,
    }
}

/// The kernel of a pair under rules that are not the common ones.
pub(super) fn rounded(from: Encoding, to: Encoding, rules: &Rules) -> Option<Rounded> {
    let (s, d) = (from.dtype(), to.dtype());
    if !vector::rounds(s, d) {
        if from.is_packed() || to.is_packed() {
            return None;
        }
        let (run, direction) = match d.spec() {
            Spec::Int { .. } => (rounded::to_ints::<Avx2<true>>(s, d, rules)?, rounded::mode(rules).1),
            _ => rounded::to_wide::<Avx2<true>>(s, d, rules)?,
        };
        return Some(Rounded { run, direction, second: None });
    }
    vector::rounded(from, to, rules, &TABLE, words::rounded, styled)
}

crate::loss::define_loops!(may_lose, avx2_fn);
crate::scaled::define_scaled!(avx2_fn, Avx2);
vector::scaled::define_fused!(avx2_fn, Avx2);
