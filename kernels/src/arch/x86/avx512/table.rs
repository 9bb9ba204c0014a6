//! Chooses the kernel of each pair.

use super::{
    super::{avx2, copy::avx512 as copy, fine},
    bytes,
    families::{Converting, Permuting, Plain, through_float32},
    halves, wide, words,
};
use crate::{
    arch::{features::each_combination, scalar},
    dtype::{DType, Encoding},
    exact::Rules,
    format::{data::Data, *},
    vector::{
        self, casts,
        kernel::{Entry, KernelFn, Rounded},
        pairs::{is_copy, same_truth},
        table::{self, Bytes, PackedTo, PairKernels, Row, Table, TierKernels, WIDE},
    },
};
use core::marker::PhantomData;

avx512_fn! {
    /// # Safety
    ///
    /// As [`KernelFn`].
    unsafe fn cast<S: Format, D: Format, const SATURATE: bool>(src: *const u8, dst: *mut u8, n: usize, _: &Data) {
        // SAFETY: the caller's promise is the same.
        unsafe { scalar::cast_each::<S, D, SATURATE>(src, dst, n) }
    }
}

/// The kernel of a pair that needs no optional feature, if `vector` covers the pair but this kernel is faster.
const fn preferred(from: DType, to: DType, saturate: bool) -> Option<KernelFn> {
    if let Some(kernel) = halves::kernel(from, to, saturate) {
        return Some(kernel);
    }
    if let Some(kernel) = wide::preferred(from, to) {
        return Some(kernel);
    }
    casts::words::kernel::<words::Tier>(from, to, false, saturate)
}

/// Whether a pair uses the kernel of AVX2 on CPUs without permutations of bytes (VBMI): here it would differ only by its permutations, which
/// such a CPU does not have.
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
        // VBMI packs only bytes.
        return match to.size() {
            1 => vector::common::<Permuting>(from, to, saturate, false),
            _ => vector::common::<Plain>(from, to, saturate, false),
        };
    }
    wide::kernel::<S, D>(saturate)
}

/// The kernel of a pair that is faster with the conversion of BF16.
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
    if let Some(kernel) = casts::words::kernel::<words::Tier>(S::DTYPE, D::DTYPE, true, saturate) {
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

/// The kernels of the tier, for a combination of CPU features.
struct Kernels<const VBMI: bool, const BF16: bool>;

impl<const VBMI: bool, const BF16: bool> TierKernels for Kernels<VBMI, BF16> {
    /// `bytes` resolves the sources of a byte.
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
pub(super) const fn entry<S: Format, D: Format, const VBMI: bool, const BF16: bool>(saturate: bool) -> Entry {
    table::entry::<Kernels<VBMI, BF16>, S, D>(saturate)
}

/// The tables for the combinations of optional features: the table for CPUs with VBMI alone, and the differences from it.
pub(in crate::arch::x86) static TABLES: [Table; fine::COMBINATIONS] =
    each_combination!(|VBMI, BF16| whole::<VBMI, BF16>());
static PACKED: [PackedTo; WIDE] = table::packed_to::<Kernels<true, false>>();

/// The kernel that copies a dtype of a byte; all dtypes with the same number of bits share one.
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
        casts::words::rounded_kernel::<words::Tier>,
        through_float32,
    )
}

crate::vector::loss::define_loops!(may_lose, avx512_fn);
