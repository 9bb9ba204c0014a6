//! The tier `avx2`.
//!
//! `direct` names the kernels that are written for it, which are those of almost all pairs. The few others are the plain loop of the
//! scalar tier, compiled anew for the tier's instructions: its bodies have no branches, and the compiler makes vector code of
//! them.

pub(in crate::arch) mod backend;
mod bytes;
mod convert;
mod scaled;
mod simd;
#[cfg(test)]
mod tests;
mod wide;
mod words;

use super::copy::avx2 as copy;
use crate::{
    arch::scalar,
    data::Data,
    dtype::DType,
    exact::Rules,
    format::*,
    scaled::{Factors, Fused, Step},
    storage::Encoding,
    table::{
        self, Bytes, Entry, KernelFn, PackedTo, PairKernels, Rounded, Row, Steps, Table, TierKernels, WIDE,
        is_copy, same_truth,
    },
    vector::{
        self, Families, Loaded, Simd,
        scaled::{Fusing, Source, Stage},
        small::FloatFamily,
        style::Mode,
        target::Target,
    },
};
pub(in crate::arch) use bytes::scaled::decoder;
use core::marker::PhantomData;
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

impl Families for Avx2 {
    avx2_fn! {
        unsafe fn run<S: Loaded, T: Target<Self>>(src: *const u8, dst: *mut u8, n: usize, data: &Data) {
            // SAFETY: as the caller's.
            unsafe { vector::run::<Self, S, T>(Self::new_unchecked(), src, dst, n, data, Self::run::<S, T>) }
        }
    }
}

const fn direct<S: Format, D: Format>(saturate: bool) -> Option<KernelFn> {
    if matches!((S::DTYPE, D::DTYPE), (DType::Float16, DType::BFloat16)) {
        return Some(wide::float16_to_bfloat16);
    }
    if let Some(kernel) = vector::words::kernel::<words::Tier>(S::DTYPE, D::DTYPE, false, saturate) {
        return Some(kernel);
    }
    if vector::covers(S::DTYPE, D::DTYPE) {
        return vector::common::<Avx2>(S::DTYPE, D::DTYPE, saturate, false);
    }
    wide::kernel::<S, D>(saturate)
}

/// The kernels that pack what they have made.
const fn packed<S: Format, D: Format>(saturate: bool) -> Option<KernelFn> {
    if let Some(kernel) = vector::words::kernel::<words::Tier>(S::DTYPE, D::DTYPE, true, saturate) {
        return Some(kernel);
    }
    if !vector::covers(S::DTYPE, D::DTYPE) {
        return None;
    }
    vector::common::<Avx2>(S::DTYPE, D::DTYPE, saturate, true)
}

/// The kernel from a dtype of a byte.
pub(super) const fn of_byte<S: Format, D: Format>(saturate: bool) -> Entry {
    let (from, to) = (S::DTYPE, D::DTYPE);
    if is_copy(from, to, saturate) {
        return Entry::new(copy_bytes(if same_truth(from, to) { DType::Bool } else { from }));
    }
    bytes::kernel::<S, D>(saturate)
}

/// The kernels of the tier.
pub(super) struct Kernels;

impl TierKernels for Kernels {
    /// Sources of a byte are resolved by `bytes`.
    const BYTES_APART: bool = true;
    type Pair<S: Format, D: Format, const SATURATE: bool> = Pair<S, D, SATURATE>;
}

/// The kernels of a pair.
pub(super) struct Pair<S, D, const SATURATE: bool>(PhantomData<(S, D)>);

impl<S: Format, D: Format, const SATURATE: bool> PairKernels for Pair<S, D, SATURATE> {
    const COPY: KernelFn = copy::<S>;
    const DIRECT: Option<KernelFn> = direct::<S, D>(SATURATE);
    const CAST: KernelFn = cast::<S, D, SATURATE>;
    const OF_BYTE: Option<Entry> = Some(of_byte::<S, D>(SATURATE));
    const TO_PACKED: Option<KernelFn> = packed::<S, D>(SATURATE);
}

/// The kernel of a pair of byte storage under the common rules.
pub(super) const fn entry<S: Format, D: Format>(saturate: bool) -> Entry {
    table::entry::<Kernels, S, D>(saturate)
}

pub(super) static TABLE: Table = whole();
static PACKED: [PackedTo; WIDE] = table::packed_to::<Kernels>();

static ROWS: [Row; WIDE] = table::rows::<Kernels, WIDE>();

pub(super) const fn whole() -> Table {
    Table {
        packed_to: Some(&PACKED),
        bytes: Some(Bytes { find: bytes::find, copy: copy_bytes }),
        tabled: Some(bytes::tabled),
        ..Table::new(&ROWS)
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
        return if from.is_packed() || to.is_packed() { None } else { wide::rounded(s, d, rules) };
    }
    vector::rounded(from, to, rules, &TABLE, vector::words::rounded_kernel::<words::Tier>, through_float32)
}

/// See [`vector::small_in_mode`].
pub(super) fn small_in_mode<S: Loaded, F: FloatFamily>(mode: Mode) -> KernelFn {
    vector::small_in_mode::<Avx2, S, F>(mode)
}

/// See [`vector::in_mode`].
pub(super) fn through_float32(from: DType, to: DType, mode: Mode) -> Option<Steps> {
    vector::in_mode::<Avx2, Avx2>(from, to, mode)
}

crate::loss::define_loops!(may_lose, avx2_fn);
crate::scaled::define_scaled!(avx2_fn, Avx2);

impl Fusing for Avx2 {
    avx2_fn! {
        unsafe fn scale_blocks<S: Source<Self>, W: Stage<Self>>(
            src: *const u8,
            dst: *mut u8,
            n: usize,
            run: usize,
            factors: &Factors<'_>,
            data: [&Data; 2],
        ) {
            // SAFETY: the CPU has the tier, by the caller, whose blocks these are.
            unsafe { vector::scaled::run::<Self, S, W>(Self::new_unchecked(), src, dst, n, run, factors, data) }
        }
    }
}

/// See [`vector::scaled::fused`].
pub(in crate::arch) fn fused(from: DType, to: Encoding, step: Step) -> Option<Fused> {
    vector::scaled::fused::<Avx2>(from, to, step)
}
