//! The tier `avx512`.
//!
//! `direct` names the kernels that are written for it, which are those of almost all pairs. The few others are the plain loop of the
//! scalar tier, compiled anew for the tier's instructions: its bodies have no branches, and the compiler makes vector code of
//! them.

pub(in crate::arch) mod backend;
mod bytes;
mod convert;
mod halves;
mod packed;
mod scaled;
mod simd;
#[cfg(test)]
mod tests;
mod wide;
mod words;

use super::{avx2, copy::avx512 as copy, fine};
use crate::{
    arch::{features::each_combination, scalar},
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
        style::Mode,
        target::Target,
    },
};
pub(in crate::arch) use bytes::scaled::{decoder, products};
use core::marker::PhantomData;
use simd::Avx512;

avx512_fn! {
    /// # Safety
    ///
    /// As [`KernelFn`].
    unsafe fn cast<S: Format, D: Format, const SATURATE: bool>(src: *const u8, dst: *mut u8, n: usize, _: &Data) {
        // SAFETY: as the caller's.
        unsafe { scalar::cast_each::<S, D, SATURATE>(src, dst, n) }
    }
}

/// The registers of the tier, with permutations of bytes, and with the conversion to bfloat16.
type Plain = Avx512<false, false>;
type Permuting = Avx512<true, false>;
type Converting = Avx512<false, true>;

impl Families for Avx512<false, false> {
    avx512_fn! {
        unsafe fn run<S: Loaded, T: Target<Self>>(src: *const u8, dst: *mut u8, n: usize, data: &Data) {
            // SAFETY: as the caller's.
            unsafe { vector::run::<Self, S, T>(Self::new_unchecked(), src, dst, n, data, Self::run::<S, T>) }
        }
    }
}
impl Families for Avx512<true, false> {
    vbmi_fn! {
        unsafe fn run<S: Loaded, T: Target<Self>>(src: *const u8, dst: *mut u8, n: usize, data: &Data) {
            // SAFETY: as the caller's.
            unsafe { vector::run::<Self, S, T>(Self::new_unchecked(), src, dst, n, data, Self::run::<S, T>) }
        }
    }
}
impl Families for Avx512<false, true> {
    bf16_fn! {
        unsafe fn run<S: Loaded, T: Target<Self>>(src: *const u8, dst: *mut u8, n: usize, data: &Data) {
            // SAFETY: as the caller's.
            unsafe { vector::run::<Self, S, T>(Self::new_unchecked(), src, dst, n, data, Self::run::<S, T>) }
        }
    }
}

/// The kernel of a pair that needs no feature beyond the tier's, if `vector` covers the pair and this one is faster.
const fn preferred(from: DType, to: DType, saturate: bool) -> Option<KernelFn> {
    if let Some(kernel) = halves::kernel(from, to, saturate) {
        return Some(kernel);
    }
    if let Some(kernel) = wide::preferred(from, to) {
        return Some(kernel);
    }
    vector::words::kernel::<words::Tier>(from, to, false, saturate)
}

/// Whether the kernel of a pair is that of AVX2 on CPUs without permutations of bytes (VBMI): here it would differ by its
/// permutations alone, which such a CPU does not have.
const fn permutes_bytes(from: DType, to: DType, saturate: bool) -> bool {
    let permutes = preferred(from, to, saturate).is_none() || words::permutes(from, to);
    to.size() == 1 && vector::covers(from, to) && permutes
}

const fn direct<S: Format, D: Format, const VBMI: bool, const BF16: bool>(
    saturate: bool,
) -> Option<KernelFn> {
    let (from, to) = (S::DTYPE, D::DTYPE);
    if !VBMI && permutes_bytes(from, to, saturate) {
        return Some(avx2::entry::<S, D>(saturate).run);
    }
    if BF16 && let Some(kernel) = converted(from, to) {
        return Some(kernel);
    }
    if let Some(kernel) = preferred(from, to, saturate) {
        return Some(kernel);
    }
    if vector::covers(from, to) {
        // Bytes are all that VBMI packs.
        return match to.size() {
            1 => vector::common::<Permuting>(from, to, saturate, false),
            _ => vector::common::<Plain>(from, to, saturate, false),
        };
    }
    wide::kernel::<S, D>(saturate)
}

/// The kernel of a pair that gains by the conversion of BF16.
const fn converted(from: DType, to: DType) -> Option<KernelFn> {
    match (from, to) {
        // Constants: a program links these two kernels and no others of the family.
        (DType::Float32, DType::BFloat16) => {
            const { vector::common::<Converting>(DType::Float32, DType::BFloat16, true, false) }
        }
        (DType::Float16, DType::BFloat16) => {
            const { vector::common::<Converting>(DType::Float16, DType::BFloat16, true, false) }
        }
        _ => None,
    }
}

/// The kernels of packed storage, with VBMI.
const fn packed<S: Format, D: Format>(saturate: bool) -> Option<KernelFn> {
    if let Some(kernel) = vector::words::kernel::<words::Tier>(S::DTYPE, D::DTYPE, true, saturate) {
        return Some(kernel);
    }
    if !vector::covers(S::DTYPE, D::DTYPE) {
        return None;
    }
    vector::common::<Permuting>(S::DTYPE, D::DTYPE, saturate, true)
}

/// The kernel from a dtype of a byte.
const fn of_byte<S: Format, D: Format, const VBMI: bool>(saturate: bool) -> Entry {
    let (from, to) = (S::DTYPE, D::DTYPE);
    if !VBMI {
        return avx2::of_byte::<S, D>(saturate);
    }
    if is_copy(from, to, saturate) {
        return Entry::new(copy_bytes(if same_truth(from, to) { DType::Bool } else { from }));
    }
    bytes::kernel::<S, D>(saturate)
}

/// The kernels of the tier, with CPU features.
struct Kernels<const VBMI: bool, const BF16: bool>;

impl<const VBMI: bool, const BF16: bool> TierKernels for Kernels<VBMI, BF16> {
    /// Sources of a byte are resolved by `bytes`.
    const BYTES_APART: bool = true;
    type Pair<S: Format, D: Format, const SATURATE: bool> = Pair<S, D, SATURATE, VBMI, BF16>;
}

/// The kernels of a pair.
struct Pair<S, D, const SATURATE: bool, const VBMI: bool, const BF16: bool>(PhantomData<(S, D)>);

impl<S: Format, D: Format, const SATURATE: bool, const VBMI: bool, const BF16: bool> PairKernels
    for Pair<S, D, SATURATE, VBMI, BF16>
{
    const COPY: KernelFn = copy::<S>;
    const DIRECT: Option<KernelFn> = direct::<S, D, VBMI, BF16>(SATURATE);
    const CAST: KernelFn = cast::<S, D, SATURATE>;
    const OF_BYTE: Option<Entry> = Some(of_byte::<S, D, VBMI>(SATURATE));
    const TO_PACKED: Option<KernelFn> = packed::<S, D>(SATURATE);
}

/// The kernel of a pair of byte storage under the common rules.
const fn entry<S: Format, D: Format, const VBMI: bool, const BF16: bool>(saturate: bool) -> Entry {
    table::entry::<Kernels<VBMI, BF16>, S, D>(saturate)
}

/// The tables of the combinations of finer features, that of CPUs with VBMI alone, and what differs from it.
pub(super) static TABLES: [Table; fine::COMBINATIONS] = each_combination!(|VBMI, BF16| whole::<VBMI, BF16>());
static PACKED: [PackedTo; WIDE] = table::packed_to::<Kernels<true, false>>();

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

static ROWS: [Row; WIDE] = table::rows::<Kernels<true, false>, WIDE>();

const fn whole<const VBMI: bool, const BF16: bool>() -> Table {
    let own = Table { instead: Some(instead::<VBMI, BF16>), ..Table::new(&ROWS) };
    if !VBMI {
        return Table { kernels: own.kernels, instead: own.instead, ..avx2::whole() };
    }
    Table {
        packed_to: Some(&PACKED),
        bytes: Some(Bytes { find: bytes::find, copy: copy_bytes }),
        tabled: Some(|from, to, rules, words| Some(bytes::tabled(from, to, rules.saturate, words))),
        ..own
    }
}

/// See [`Table::instead`].
fn instead<const VBMI: bool, const BF16: bool>(from: DType, to: DType, saturate: bool) -> Option<KernelFn> {
    match (from, to) {
        _ if !VBMI && permutes_bytes(from, to, saturate) => Some(avx2::TABLE.get(from, to, saturate).run),
        _ if BF16 => converted(from, to),
        _ => None,
    }
}

/// The kernel of a pair under rules that are not the common ones.
pub(super) fn rounded(from: Encoding, to: Encoding, rules: &Rules) -> Option<Rounded> {
    let (s, d) = (from.dtype(), to.dtype());
    if !vector::rounds(s, d) {
        return if from.is_packed() || to.is_packed() { None } else { wide::rounded(s, d, rules) };
    }
    vector::rounded(
        from,
        to,
        rules,
        &TABLES[fine::combination() as usize],
        vector::words::rounded_kernel::<words::Tier>,
        through_float32,
    )
}

/// See [`vector::in_mode`]; the kernel is one that this CPU has.
fn through_float32(from: DType, to: DType, mode: Mode) -> Option<Steps> {
    if to.size() == 1 && !fine::found().vbmi {
        avx2::through_float32(from, to, mode)
    } else {
        vector::in_mode::<Plain, Permuting>(from, to, mode)
    }
}

crate::loss::define_loops!(may_lose, avx512_fn);
crate::scaled::define_scaled!(avx512_fn, Avx512<false, false>);

impl Fusing for Permuting {
    vbmi_fn! {
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
    vector::scaled::fused::<Permuting>(from, to, step)
}
