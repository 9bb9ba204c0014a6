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
    vector::{self, Simd, style::Mode, target::Target},
};
pub(in crate::arch) use bytes::scaled::{decoder, products};
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

/// The kernels of `vector`, for one combination of finer features.
macro_rules! vector_kernels {
    ($name:ident, $plain:ident, $function:ident, $simd:ty) => {
        $function! {
            /// # Safety
            ///
            /// As [`KernelFn`], and the CPU has the finer features too.
            unsafe fn $name<S: Format, T: Target<$simd>>(src: *const u8, dst: *mut u8, n: usize, data: &Data) {
                // SAFETY: as the caller's.
                unsafe { vector::run::<$simd, S, T>(<$simd>::new_unchecked(), src, dst, n, data, $name::<S, T>) }
            }
        }

        vector::define_families!($name, $plain);
    };
}
vector_kernels!(vector, plain, avx512_fn, Avx512<false, false>);
vector_kernels!(vector_vbmi, plain_vbmi, vbmi_fn, Avx512<true, false>);
vector_kernels!(vector_bf16, plain_bf16, bf16_fn, Avx512<false, true>);

vector::define_integers!(vector, to_bytes);
vector::define_styles!(vector, vector_vbmi, styled);

/// The kernel of a pair that needs no feature beyond the tier's, if `vector` covers the pair and this one is faster.
const fn preferred(from: DType, to: DType, saturate: bool) -> Option<KernelFn> {
    if let Some(kernel) = halves::kernel(from, to, saturate) {
        return Some(kernel);
    }
    if let Some(kernel) = wide::preferred(from, to) {
        return Some(kernel);
    }
    words::kernel(from, to, false, saturate)
}

/// Whether the kernel of a pair is that of AVX2 on CPUs without permutations of bytes (VBMI): here it would differ by its
/// permutations alone, which such a CPU does not have.
const fn permutes_bytes(from: DType, to: DType, saturate: bool) -> bool {
    let permutes = preferred(from, to, saturate).is_none() || words::permutes(from, to);
    to.size() == 1 && vector::covers(from, to) && permutes
}

const fn direct<S: Format, D: Format, const FINE: u8>(saturate: bool) -> Option<KernelFn> {
    let (from, to) = (S::DTYPE, D::DTYPE);
    if FINE & fine::VBMI == 0 && permutes_bytes(from, to, saturate) {
        return Some(avx2::entry::<S, D, 0>(saturate).run);
    }
    if FINE & fine::BF16 != 0
        && let Some(kernel) = converted(from, to)
    {
        return Some(kernel);
    }
    if let Some(kernel) = preferred(from, to, saturate) {
        return Some(kernel);
    }
    if vector::covers(from, to) {
        // Bytes are all that VBMI packs.
        return match to.size() {
            1 => plain_vbmi::<S>(to, saturate, false),
            _ => plain::<S>(to, saturate, false),
        };
    }
    wide::kernel::<S, D>(saturate)
}

/// The kernel of a pair that gains by the conversion of BF16.
const fn converted(from: DType, to: DType) -> Option<KernelFn> {
    match (from, to) {
        (DType::Float32, DType::BFloat16) => plain_bf16::<f32>(to, true, false),
        (DType::Float16, DType::BFloat16) => plain_bf16::<half::f16>(to, true, false),
        _ => None,
    }
}

/// The kernels of packed storage, with VBMI.
const fn packed<S: Format, D: Format, const FINE: u8>(saturate: bool) -> Option<KernelFn> {
    if let Some(kernel) = words::kernel(S::DTYPE, D::DTYPE, true, saturate) {
        return Some(kernel);
    }
    if !vector::covers(S::DTYPE, D::DTYPE) {
        return None;
    }
    plain_vbmi::<S>(D::DTYPE, saturate, true)
}

/// The kernel from a dtype of a byte.
const fn of_byte<S: Format, D: Format, const FINE: u8>(saturate: bool) -> Entry {
    let (from, to) = (S::DTYPE, D::DTYPE);
    if FINE & fine::VBMI == 0 {
        return avx2::of_byte::<S, D, 0>(saturate);
    }
    if is_copy(from, to, saturate) {
        return Entry::new(copy_bytes(if same_truth(from, to) { DType::Bool } else { from }));
    }
    bytes::kernel::<S, D>(saturate)
}

/// Sources of a byte are resolved by `bytes`.
const APART: bool = true;
crate::dtype::for_each_dtype!(define_table);
crate::dtype::for_each_dtype!(define_packed_to);
/// The tables of the combinations of finer features, by their bits (`fine`): that of CPUs with VBMI alone, and what differs from it.
pub(super) static TABLES: [Table; fine::COMBINATIONS] = fine::by_features!(|FINE| whole::<FINE>());
static PACKED: [PackedTo; WIDE] = packed_to::<{ fine::VBMI }>();

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

const fn whole<const FINE: u8>() -> Table {
    let own = Table { instead: Some(instead::<FINE>), ..table::<{ fine::VBMI }>() };
    if FINE & fine::VBMI == 0 {
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
fn instead<const FINE: u8>(from: DType, to: DType, saturate: bool) -> Option<KernelFn> {
    match (from, to) {
        _ if FINE & fine::VBMI == 0 && permutes_bytes(from, to, saturate) => {
            Some(avx2::TABLE.get(from, to, saturate).run)
        }
        _ if FINE & fine::BF16 != 0 => converted(from, to),
        _ => None,
    }
}

/// The kernel of a pair under rules that are not the common ones.
pub(super) fn rounded(from: Encoding, to: Encoding, rules: &Rules) -> Option<Rounded> {
    let (s, d) = (from.dtype(), to.dtype());
    if !vector::rounds(s, d) {
        return if from.is_packed() || to.is_packed() { None } else { wide::rounded(s, d, rules) };
    }
    vector::rounded(from, to, rules, &TABLES[fine::found() as usize], words::rounded, through_float32)
}

/// See [`styled`]; the kernel is one that this CPU has.
fn through_float32(from: DType, to: DType, mode: Mode) -> Option<Steps> {
    if to.size() == 1 && fine::found() & fine::VBMI == 0 {
        avx2::styled(from, to, mode)
    } else {
        styled(from, to, mode)
    }
}

crate::loss::define_loops!(may_lose, avx512_fn);
crate::scaled::define_scaled!(avx512_fn, Avx512<false, false>);
vector::scaled::define_fused!(vbmi_fn, Avx512<true, false>);
