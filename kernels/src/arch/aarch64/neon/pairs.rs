//! Chooses the kernel of each pair.

use super::{
    super::fine,
    halves,
    simd::{Neon, neon_fn},
};
use crate::{
    arch::{features::each_combination, scalar},
    dtype::{COUNT, DType, Encoding},
    exact::Rules,
    format::{data::Data, *},
    vector::{
        self,
        kernel::{Entry, KernelFn, Rounded},
        lanes::{
            byte::{Limited, Masked},
            rounded,
            run::run,
            select::{self, Tokens},
            target::{Byte, Found, Int},
        },
        table::{self, PackedTable, PairKernels, Table, TierKernels},
    },
};
use core::marker::PhantomData;

/// Elements of a block.
const BLOCK: usize = 32;

/// The kernels of the tier, with CPU features.
struct Kernels<const BF16: bool, const FP16: bool>;

impl<const BF16: bool, const FP16: bool> Tokens for Kernels<BF16, FP16> {
    type Base = Neon;
    type F16 = Neon<false, FP16>;
    type BF16 = Neon<BF16, false>;
}

impl<const BF16: bool, const FP16: bool> TierKernels for Kernels<BF16, FP16> {
    type Pair<S: Format, D: Format, const SATURATE: bool> = Pair<S, D, SATURATE, BF16, FP16>;
}

/// The kernels of a pair.
struct Pair<S, D, const SATURATE: bool, const BF16: bool, const FP16: bool>(PhantomData<(S, D)>);

impl<S: Format, D: Format, const SATURATE: bool, const BF16: bool, const FP16: bool> PairKernels
    for Pair<S, D, SATURATE, BF16, FP16>
{
    const COPY: KernelFn = copy::<S>;
    const DIRECT: Option<KernelFn> = Some(pair::<S, D, BF16, FP16, 8, false>(SATURATE));
    const CAST: KernelFn = cast::<S, D, SATURATE>;
    const FROM_PACKED: Option<KernelFn> = Some(from_packed::<S, D, BF16, FP16, false>(SATURATE));
    const TO_PACKED: Option<KernelFn> = Some(pair::<S, D, BF16, FP16, 8, true>(SATURATE));
    const BOTH_PACKED: Option<KernelFn> = Some(from_packed::<S, D, BF16, FP16, true>(SATURATE));
}

/// The kernel of a pair of byte storage under the common rules.
pub(super) const fn entry<S: Format, D: Format, const BF16: bool, const FP16: bool>(saturate: bool) -> Entry {
    table::entry::<Kernels<BF16, FP16>, S, D>(saturate)
}

/// # Safety
///
/// As [`KernelFn`].
#[target_feature(enable = "neon")]
unsafe fn cast<S: Format, D: Format, const SATURATE: bool>(src: *const u8, dst: *mut u8, n: usize, _: &Data) {
    // SAFETY: the caller grants the buffers.
    unsafe { scalar::cast_each::<S, D, SATURATE>(src, dst, n) }
}

/// Copies a dtype to itself and clears unused bits.
///
/// # Safety
///
/// As [`KernelFn`].
#[target_feature(enable = "neon")]
unsafe fn copy<S: Format>(src: *const u8, dst: *mut u8, n: usize, data: &Data) {
    // SAFETY: the caller grants the buffers; `n` elements are as many times their bytes.
    unsafe {
        if n * size_of::<S>() < BLOCK {
            return scalar::copy::<S>(src, dst, n, data);
        }
        match const { (<S as Element>::DTYPE, <S as Element>::DTYPE.bits()) } {
            (DType::Bool, _) => {
                run::<Neon, Limited<bool, bool, true, 8>, Byte<Found, 8>, true>(src, dst, n, data)
            }
            (_, 2) => run::<Neon, Masked<0x03, 8>, Byte<Int<8, false>, 8>, false>(src, dst, n, data),
            (_, 4) => run::<Neon, Masked<0x0F, 8>, Byte<Int<8, false>, 8>, false>(src, dst, n, data),
            (_, 6) => run::<Neon, Masked<0x3F, 8>, Byte<Int<8, false>, 8>, false>(src, dst, n, data),
            _ => {
                let bytes = n * size_of::<S>();
                run::<Neon, Masked<0xFF, 8>, Byte<Int<8, false>, 8>, false>(src, dst, bytes, data)
            }
        }
    }
}

/// The kernel of a pair whose source stores `BITS` bits per element, fewer than eight.
const fn pair<
    S: Format,
    D: Format,
    const BF16: bool,
    const FP16: bool,
    const BITS: usize,
    const PACKED: bool,
>(
    saturate: bool,
) -> KernelFn {
    if matches!(S::DTYPE, DType::Float16)
        && FP16
        && let Some(kernel) = halves::kernel::<D, PACKED>(saturate)
    {
        return kernel;
    }
    select::pair::<Kernels<BF16, FP16>, S, D, BITS, PACKED>(saturate)
}

/// The kernel of a packed source.
const fn from_packed<S: Format, D: Format, const BF16: bool, const FP16: bool, const PACKED: bool>(
    saturate: bool,
) -> KernelFn {
    match S::DTYPE.bits() {
        2 => pair::<S, D, BF16, FP16, 2, PACKED>(saturate),
        4 => pair::<S, D, BF16, FP16, 4, PACKED>(saturate),
        6 => pair::<S, D, BF16, FP16, 6, PACKED>(saturate),
        _ => pair::<S, D, BF16, FP16, 8, PACKED>(saturate),
    }
}

/// The tables of kernels, one for each combination of CPU features.
pub(super) static TABLES: [Table; fine::COMBINATIONS] = each_combination!(|BF16, FP16| Table {
    packed: Some(&PACKED[FP16 as usize]),
    tabled: Some(rounded::tabled::<Kernels<false, false>>),
    ..Table::new(const { &table::rows::<Kernels<BF16, FP16>, COUNT>() })
});
/// The tables for packed storage: only FEAT_FP16 makes a difference to them.
static PACKED: [PackedTable; 2] =
    [table::packed_table::<Kernels<false, false>>(), table::packed_table::<Kernels<false, true>>()];

/// The kernel of a pair under rules that are not the common ones, in byte storage.
pub(super) fn rounded(from: Encoding, to: Encoding, rules: &Rules) -> Option<Rounded> {
    let found = fine::found();
    let table = &TABLES[fine::combination() as usize];
    if found.fp16
        && from.dtype() == DType::Float16
        && !from.is_packed()
        && !to.is_packed()
        && let Some(run) = halves::rounded(to.dtype(), rules)
    {
        let (_, direction) = rounded::mode(rules);
        return Some(Rounded { run, direction, second: None });
    }
    match (found.bf16, found.fp16) {
        (false, false) => rounded::rounded::<Kernels<false, false>>(from, to, rules, table),
        (false, true) => rounded::rounded::<Kernels<false, true>>(from, to, rules, table),
        (true, false) => rounded::rounded::<Kernels<true, false>>(from, to, rules, table),
        (true, true) => rounded::rounded::<Kernels<true, true>>(from, to, rules, table),
    }
}

crate::vector::loss::define_loops!(may_lose, neon_fn);
