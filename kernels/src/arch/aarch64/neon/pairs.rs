//! Which kernel takes a pair.

use super::{
    super::fine,
    halves,
    simd::{Neon, neon_fn},
};
use crate::{
    arch::scalar,
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
        pairs::{has_overflow_rule, same_bits, same_truth},
        table::{PACKED_FROM, PACKED_TO, PackedTable, Table, define_packed_table, define_table},
    },
};

/// Elements of a block.
const BLOCK: usize = 32;

/// The tokens of a combination of finer features.
struct Features<const FINE: u8>;

macro_rules! tokens {
    ($($fine:expr => $f16:expr, $bf16:expr;)*) => {$(
        impl Tokens for Features<{ $fine }> {
            type Base = Neon<0>;
            type F16 = Neon<{ $f16 }>;
            type BF16 = Neon<{ $bf16 }>;
        }
    )*};
}
tokens! {
    0 => 0, 0;
    fine::BF16 => 0, fine::BF16;
    fine::FP16 => fine::FP16, 0;
    fine::BF16 | fine::FP16 => fine::FP16, fine::BF16;
}

/// `$body` with the tokens of a combination as `$tokens`.
macro_rules! with_tokens {
    ($fine:expr, $tokens:ident, $body:expr) => {{
        const BF16: u8 = fine::BF16;
        const FP16: u8 = fine::FP16;
        const BOTH: u8 = fine::BF16 | fine::FP16;
        match $fine {
            BF16 => {
                type $tokens = Features<BF16>;
                $body
            }
            FP16 => {
                type $tokens = Features<FP16>;
                $body
            }
            BOTH => {
                type $tokens = Features<BOTH>;
                $body
            }
            _ => {
                type $tokens = Features<0>;
                $body
            }
        }
    }};
}

/// # Safety
///
/// As [`KernelFn`].
#[target_feature(enable = "neon")]
unsafe fn cast<S: Format, D: Format, const SATURATE: bool>(src: *const u8, dst: *mut u8, n: usize, _: &Data) {
    // SAFETY: the caller's buffers.
    unsafe { scalar::cast_each::<S, D, SATURATE>(src, dst, n) }
}

/// A dtype to itself: the bits, unused ones cleared.
///
/// # Safety
///
/// As [`KernelFn`].
#[target_feature(enable = "neon")]
unsafe fn copy<S: Format>(src: *const u8, dst: *mut u8, n: usize, data: &Data) {
    // SAFETY: the caller's buffers; `n` elements are as many times their bytes.
    unsafe {
        if n * size_of::<S>() < BLOCK {
            return scalar::copy::<S>(src, dst, n, data);
        }
        match const { (<S as Element>::DTYPE, <S as Element>::DTYPE.bits()) } {
            (DType::Bool, _) => {
                run::<Neon<0>, Limited<bool, bool, true, 8>, Byte<Found, 8>, true>(src, dst, n, data)
            }
            (_, 2) => run::<Neon<0>, Masked<0x03, 8>, Byte<Int<8, false>, 8>, false>(src, dst, n, data),
            (_, 4) => run::<Neon<0>, Masked<0x0F, 8>, Byte<Int<8, false>, 8>, false>(src, dst, n, data),
            (_, 6) => run::<Neon<0>, Masked<0x3F, 8>, Byte<Int<8, false>, 8>, false>(src, dst, n, data),
            _ => {
                let bytes = n * size_of::<S>();
                run::<Neon<0>, Masked<0xFF, 8>, Byte<Int<8, false>, 8>, false>(src, dst, bytes, data)
            }
        }
    }
}

/// The kernel of a pair whose source has `BITS` bits in its storage, if that is less than a byte.
const fn pair<S: Format, D: Format, const FINE: u8, const BITS: usize, const PACKED: bool>(
    saturate: bool,
) -> KernelFn {
    if matches!(S::DTYPE, DType::Float16)
        && FINE & fine::FP16 != 0
        && let Some(kernel) = halves::kernel::<D, PACKED>(saturate)
    {
        return kernel;
    }
    with_tokens!(FINE, K, select::pair::<K, S, D, BITS, PACKED>(saturate))
}

const fn direct<S: Format, D: Format, const FINE: u8>(saturate: bool) -> Option<KernelFn> {
    Some(pair::<S, D, FINE, 8, false>(saturate))
}

/// The kernels of packed storage.
const fn packed<S: Format, D: Format, const FINE: u8, const SIDES: u8>(saturate: bool) -> Option<KernelFn> {
    const fn from<S: Format, D: Format, const FINE: u8, const PACKED: bool>(
        bits: u32,
        saturate: bool,
    ) -> KernelFn {
        match bits {
            2 => pair::<S, D, FINE, 2, PACKED>(saturate),
            4 => pair::<S, D, FINE, 4, PACKED>(saturate),
            6 => pair::<S, D, FINE, 6, PACKED>(saturate),
            _ => pair::<S, D, FINE, 8, PACKED>(saturate),
        }
    }
    let bits = if SIDES & PACKED_FROM != 0 { S::DTYPE.bits() } else { 8 };
    Some(if SIDES & PACKED_TO != 0 {
        from::<S, D, FINE, true>(bits, saturate)
    } else {
        from::<S, D, FINE, false>(bits, saturate)
    })
}

/// No source is apart.
const fn of_byte<S: Format, D: Format, const FINE: u8>(_: bool) -> Entry {
    panic!("every source has a row")
}

/// Every source has a row.
const APART: bool = false;
crate::dtype::for_each_dtype!(define_table);
crate::dtype::for_each_dtype!(define_packed_table);
/// The tables of the combinations of finer features, by their bits (`fine`).
pub(super) static TABLES: [Table; fine::COMBINATIONS] = fine::by_features!(|FINE| with_packed::<FINE>());
/// Those of packed storage: only FEAT_FP16 matters to them.
static PACKED: [PackedTable; 2] = [packed_table::<0>(), packed_table::<{ fine::FP16 }>()];

const fn with_packed<const FINE: u8>() -> Table {
    Table {
        packed: Some(&PACKED[(FINE & fine::FP16 != 0) as usize]),
        tabled: Some(rounded::tabled::<Features<0>>),
        ..table::<FINE>()
    }
}

/// The kernel of a pair under rules that are not the common ones, in byte storage.
pub(super) fn rounded(from: Encoding, to: Encoding, rules: &Rules) -> Option<Rounded> {
    let found = fine::found();
    let table = &TABLES[found as usize];
    let half = found & fine::FP16 != 0 && from.dtype() == DType::Float16;
    if half
        && !from.is_packed()
        && !to.is_packed()
        && let Some(run) = halves::rounded(to.dtype(), rules)
    {
        let (_, direction) = rounded::mode(rules);
        return Some(Rounded { run, direction, second: None });
    }
    with_tokens!(found, K, rounded::rounded::<K>(from, to, rules, table))
}

crate::vector::loss::define_loops!(may_lose, neon_fn);
