//! Chooses the kernel of each pair: a kernel of [`vector::lanes`](crate::vector::lanes), except for pairs that take less time one element after
//! the other.

use super::{
    scaled::{Eight, Four, Integers},
    simd::Wasm128,
};
use crate::{
    arch::scalar,
    dtype::{COUNT, DType, Encoding, Spec},
    exact::Rules,
    format::{data::Data, *},
    vector::scaled::{Fused, Step},
    vector::{
        self, Simd,
        kernel::{Entry, KernelFn, Rounded},
        lanes::{
            byte::{Limited, Masked},
            rounded,
            run::run,
            select::{self, Tokens},
            target::{Byte, Found, Int},
        },
        scaled::{Factors, Fusing, Source, Stage},
        table::{self, PackedTable, PairKernels, Row, Table, TierKernels},
    },
};
use core::marker::PhantomData;

/// Elements of a block.
const BLOCK: usize = 32;

/// The tokens of kernels that round to nearest, and of kernels that round in the direction of their rules.
struct Rounds<const DIRECTED: bool>;

impl<const DIRECTED: bool> Tokens for Rounds<DIRECTED> {
    const COMMON_OBEYS: bool = false;
    type Base = Wasm128<DIRECTED>;
    type F16 = Wasm128<DIRECTED>;
    type BF16 = Wasm128<DIRECTED>;
}

/// Whether a pair takes less time one element after the other: no instruction converts integers of 64 bits, none shifts lanes by different
/// numbers, and conversions of float64 to integers are slow.
const fn is_scalar(from: DType, to: DType, saturate: bool) -> bool {
    const fn long(dtype: DType) -> bool {
        matches!(dtype, DType::Int64 | DType::UInt64)
    }
    let int = matches!(to.spec(), Spec::Int { .. });
    let float = !matches!(from.spec(), Spec::Bool | Spec::Int { .. });
    match from {
        DType::Int64 | DType::UInt64 => match to.spec() {
            Spec::Float(f) | Spec::Complex(f) => f.exponent_bits >= 8,
            _ => false,
        },
        DType::Float64 | DType::Complex128 => int,
        DType::Float8E8M0FNU if int && to.size() > 1 && !saturate => true,
        // Floats of fewer bits are looked up.
        _ => float && !from.is_sub_byte() && long(to),
    }
}

/// # Safety
///
/// As [`KernelFn`].
unsafe fn cast<S: Format, D: Format, const SATURATE: bool>(src: *const u8, dst: *mut u8, n: usize, _: &Data) {
    // SAFETY: the caller grants the buffers.
    unsafe { scalar::cast_each::<S, D, SATURATE>(src, dst, n) }
}

/// Copies a dtype to itself and clears unused bits.
///
/// # Safety
///
/// As [`KernelFn`].
unsafe fn copy<S: Format>(src: *const u8, dst: *mut u8, n: usize, data: &Data) {
    type M = Wasm128<false>;
    // SAFETY: the caller grants the buffers; `n` elements are as many times their bytes.
    unsafe {
        if n * size_of::<S>() < BLOCK {
            return scalar::copy::<S>(src, dst, n, data);
        }
        match const { (<S as Element>::DTYPE, <S as Element>::DTYPE.bits()) } {
            (DType::Bool, _) => {
                run::<M, Limited<bool, bool, true, 8>, Byte<Found, 8>, true>(src, dst, n, data)
            }
            (_, 2) => run::<M, Masked<0x03, 8>, Byte<Int<8, false>, 8>, false>(src, dst, n, data),
            (_, 4) => run::<M, Masked<0x0F, 8>, Byte<Int<8, false>, 8>, false>(src, dst, n, data),
            (_, 6) => run::<M, Masked<0x3F, 8>, Byte<Int<8, false>, 8>, false>(src, dst, n, data),
            _ => core::ptr::copy_nonoverlapping(src, dst, n * size_of::<S>()),
        }
    }
}

const fn direct<S: Format, D: Format>(saturate: bool) -> KernelFn {
    if is_scalar(S::DTYPE, D::DTYPE, saturate) {
        scalar::entry::<S, D>(saturate).run
    } else {
        select::pair::<Rounds<false>, S, D, 8, false>(saturate)
    }
}

/// The kernel to a packed target.
const fn to_packed<S: Format, D: Format>(saturate: bool) -> Option<KernelFn> {
    if is_scalar(S::DTYPE, D::DTYPE, saturate) {
        return None;
    }
    Some(select::pair::<Rounds<false>, S, D, 8, true>(saturate))
}

/// The kernel of a packed source.
const fn from_packed<S: Format, D: Format, const PACKED: bool>(saturate: bool) -> Option<KernelFn> {
    if is_scalar(S::DTYPE, D::DTYPE, saturate) {
        return None;
    }
    Some(match S::DTYPE.bits() {
        2 => select::pair::<Rounds<false>, S, D, 2, PACKED>(saturate),
        4 => select::pair::<Rounds<false>, S, D, 4, PACKED>(saturate),
        6 => select::pair::<Rounds<false>, S, D, 6, PACKED>(saturate),
        _ => select::pair::<Rounds<false>, S, D, 8, PACKED>(saturate),
    })
}

/// The kernels of the tier.
struct Kernels;

impl TierKernels for Kernels {
    type Pair<S: Format, D: Format, const SATURATE: bool> = Pair<S, D, SATURATE>;
}

/// The kernels of a pair.
struct Pair<S, D, const SATURATE: bool>(PhantomData<(S, D)>);

impl<S: Format, D: Format, const SATURATE: bool> PairKernels for Pair<S, D, SATURATE> {
    const COPY: KernelFn = copy::<S>;
    const DIRECT: Option<KernelFn> = Some(direct::<S, D>(SATURATE));
    const CAST: KernelFn = cast::<S, D, SATURATE>;
    const FROM_PACKED: Option<KernelFn> = from_packed::<S, D, false>(SATURATE);
    const TO_PACKED: Option<KernelFn> = to_packed::<S, D>(SATURATE);
    const BOTH_PACKED: Option<KernelFn> = from_packed::<S, D, true>(SATURATE);
}

static ROWS: [Row; COUNT] = table::rows::<Kernels, COUNT>();
static PACKED: PackedTable = table::packed_table::<Kernels>();
pub(super) static TABLE: Table =
    Table { packed: Some(&PACKED), tabled: Some(rounded::tabled::<Rounds<true>>), ..Table::new(&ROWS) };

/// The kernel of a pair of byte storage under the common rules.
pub(super) const fn entry<S: Format, D: Format>(saturate: bool) -> Entry {
    table::entry::<Kernels, S, D>(saturate)
}

/// The kernel of a pair under rules that are not the common ones, in byte storage.
pub(super) fn rounded(from: Encoding, to: Encoding, rules: &Rules) -> Option<Rounded> {
    let (s, d) = (from.dtype(), to.dtype());
    if from.is_packed() || to.is_packed() || is_scalar(s, d, rules.saturate) {
        return scalar::rounded(from, to, rules);
    }
    rounded::rounded::<Rounds<true>>(from, to, rules, &TABLE)
}

/// A function without attributes: all code has the features of the tier.
macro_rules! wasm_fn {
    ($($item:tt)*) => { $($item)* };
}
crate::vector::loss::define_loops!(may_lose, wasm_fn);
crate::vector::scaled::define_scaled!(wasm_fn, Wasm128<false>);

impl Fusing for Wasm128<false> {
    wasm_fn! {
        unsafe fn scale_blocks<S: Source<Self>, W: Stage<Self>>(
            src: *const u8,
            dst: *mut u8,
            n: usize,
            run: usize,
            factors: &Factors<'_>,
            data: [&Data; 2],
        ) {
            // SAFETY: the caller's CPU has the tier, and the blocks are the caller's.
            unsafe { vector::scaled::run::<Self, S, W>(Self::new_unchecked(), src, dst, n, run, factors, data) }
        }
    }
}

/// See [`vector::scaled::fused`].
pub(super) fn fused(from: DType, to: Encoding, step: Step) -> Option<Fused> {
    vector::scaled::fused::<Wasm128<false>>(from, to, step)
}

/// The sources whose codes this module loads.
struct Sources;

impl vector::scaled::Decoding<Wasm128<false>> for Sources {
    type E4M3 = Eight<F8E4M3FN>;
    type E5M2 = Eight<F8E5M2>;
    type E2M1 = Four<F4E2M1FN>;
    type Int4 = Four<I4>;
    type Int8 = Integers;
}

/// See [`vector::scaled::decoder`].
pub(super) fn decoder(from: Encoding, to: DType, step: Step) -> Option<Fused> {
    vector::scaled::decoder::<Wasm128<false>, Sources>(from, to, step)
}
