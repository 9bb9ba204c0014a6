//! Which kernel takes a pair.

use super::{
    super::copy::avx2 as copy,
    bytes,
    families::{plain, styled},
    wide, words,
};
use crate::{
    arch::scalar,
    dtype::{COUNT, DType, Encoding},
    exact::Rules,
    format::{data::Data, *},
    vector::{
        self,
        kernel::{Entry, KernelFn, Rounded},
        pairs::{has_overflow_rule, is_copy, same_bits, same_truth},
        table::{Bytes, PackedTo, Table, WIDE, define_packed_to, define_table},
    },
};

avx2_fn! {
    /// # Safety
    ///
    /// As [`KernelFn`].
    unsafe fn cast<S: Format, D: Format, const SATURATE: bool>(src: *const u8, dst: *mut u8, n: usize, _: &Data) {
        // SAFETY: as the caller's.
        unsafe { scalar::cast_each::<S, D, SATURATE>(src, dst, n) }
    }
}

const fn direct<S: Format, D: Format, const FINE: u8>(saturate: bool) -> Option<KernelFn> {
    if matches!((S::DTYPE, D::DTYPE), (DType::Float16, DType::BFloat16)) {
        return Some(wide::float16_to_bfloat16);
    }
    if let Some(kernel) = words::kernel(S::DTYPE, D::DTYPE, false, saturate) {
        return Some(kernel);
    }
    if vector::covers(S::DTYPE, D::DTYPE) {
        return plain::<S>(D::DTYPE, saturate, false);
    }
    wide::kernel::<S, D>(saturate)
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
pub(in crate::arch::x86) const fn of_byte<S: Format, D: Format, const FINE: u8>(saturate: bool) -> Entry {
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
pub(in crate::arch::x86) static TABLE: Table = whole();
static PACKED: [PackedTo; WIDE] = packed_to::<0>();

pub(in crate::arch::x86) const fn whole() -> Table {
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
pub(in crate::arch::x86) fn rounded(from: Encoding, to: Encoding, rules: &Rules) -> Option<Rounded> {
    let (s, d) = (from.dtype(), to.dtype());
    if !vector::rounds(s, d) {
        return if from.is_packed() || to.is_packed() { None } else { wide::rounded(s, d, rules) };
    }
    vector::rounded(from, to, rules, &TABLE, words::rounded, styled)
}

crate::vector::loss::define_loops!(may_lose, avx2_fn);
