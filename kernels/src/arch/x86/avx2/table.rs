//! Chooses the kernel of each pair.

use super::{super::copy::avx2 as copy, bytes, families::through_float32, halves, simd::Avx2, words};
use crate::{
    arch::scalar,
    dtype::{DType, Encoding, Spec},
    exact::Rules,
    format::{data::Data, *},
    vector::{
        self, Simd, casts,
        kernel::{Entry, KernelFn, Rounded},
        lanes::{
            LaneOps, eight,
            int::Ints64,
            integral,
            part::{From, doubles},
            rounded,
            run::kernel,
            select::{self, Tokens},
            source::Source,
            target::{Byte, Truth},
            two,
        },
        pairs::{is_copy, same_truth},
        table::{self, Bytes, PackedTo, PairKernels, Row, Table, TierKernels, WIDE},
    },
};
use core::marker::PhantomData;

avx2_fn! {
    /// # Safety
    ///
    /// As [`KernelFn`].
    unsafe fn cast<S: Format, D: Format, const SATURATE: bool>(src: *const u8, dst: *mut u8, n: usize, _: &Data) {
        // SAFETY: the caller's promise is the same.
        unsafe { scalar::cast_each::<S, D, SATURATE>(src, dst, n) }
    }
}

const fn direct<S: Format, D: Format>(saturate: bool) -> Option<KernelFn> {
    if matches!((S::DTYPE, D::DTYPE), (DType::Float16, DType::BFloat16)) {
        return Some(halves::to_bf16);
    }
    if let Some(kernel) = casts::words::kernel::<words::Tier>(S::DTYPE, D::DTYPE, false, saturate) {
        return Some(kernel);
    }
    if vector::covers(S::DTYPE, D::DTYPE) {
        return vector::common::<Avx2>(S::DTYPE, D::DTYPE, saturate, false);
    }
    if by_lanes(S::DTYPE, D::DTYPE) {
        return Some(match (S::DTYPE, D::DTYPE) {
            (DType::Complex64, DType::Bool) => kernel::<Avx2, Magnitudes, Byte<Truth, 8>, true>(),
            _ => select::pair::<Common, S, D, 8, false>(saturate),
        });
    }
    None
}

/// The tokens of the kernels of `vector::lanes` under the common rules.
struct Common;
impl Tokens for Common {
    const SHARES_NARROW: bool = true;
    const COMMON_OBEYS: bool = false;
    type Base = Avx2;
    type F16 = Avx2;
    type BF16 = Avx2;
}

/// Whether the kernel of a pair is one of `vector::lanes`: there is an integer or a 64-bit number on one side, which the plain loops of
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

/// Complex64 without the signs, for comparison with zero as integers of 64 bits: separating the parts takes more instructions (complex64 to
/// bool).
struct Magnitudes;

impl Source<Avx2> for Magnitudes {
    const BITS: usize = 64;
    const PARTS: bool = true;
    type Lanes = Ints64<Avx2, false>;
    type Tables = ();
    #[inline(always)]
    unsafe fn tables(_: Avx2, _: &Data) {}
    #[inline(always)]
    unsafe fn load(m: Avx2, (): (), src: [*const u8; 2]) -> [Self::Lanes; 2] {
        // SAFETY: a unit can be read at both places.
        two!(src, |p| unsafe { Self::load_part(m, (), From::<4>::new(p, 0)) })
    }
    #[inline(always)]
    unsafe fn load_part<const QUARTERS: usize>(m: Avx2, (): (), src: From<QUARTERS>) -> Self::Lanes {
        let magnitudes = m.splat_64(0x7FFF_FFFF_7FFF_FFFF);
        // SAFETY: the caller's part.
        Ints64(eight!(unsafe { doubles(m, src) }, |x| m.and(x, magnitudes)))
    }
}

/// The kernels that pack their results.
const fn packed<S: Format, D: Format>(saturate: bool) -> Option<KernelFn> {
    if let Some(kernel) = casts::words::kernel::<words::Tier>(S::DTYPE, D::DTYPE, true, saturate) {
        return Some(kernel);
    }
    if !vector::covers(S::DTYPE, D::DTYPE) {
        return None;
    }
    vector::common::<Avx2>(S::DTYPE, D::DTYPE, saturate, true)
}

/// The kernel from a dtype of a byte.
pub(in crate::arch::x86) const fn of_byte<S: Format, D: Format>(saturate: bool) -> Entry {
    let (from, to) = (S::DTYPE, D::DTYPE);
    if is_copy(from, to, saturate) {
        return Entry::new(copy_bytes(if same_truth(from, to) { DType::Bool } else { from }));
    }
    bytes::kernel::<S, D>(saturate)
}

/// The kernels of the tier.
struct Kernels;

impl TierKernels for Kernels {
    /// `bytes` resolves the sources of a byte.
    const BYTES_APART: bool = true;
    type Pair<S: Format, D: Format, const SATURATE: bool> = Pair<S, D, SATURATE>;
}

/// The kernels of a pair.
struct Pair<S, D, const SATURATE: bool>(PhantomData<(S, D)>);

impl<S: Format, D: Format, const SATURATE: bool> PairKernels for Pair<S, D, SATURATE> {
    const COPY: KernelFn = copy::<S>;
    const DIRECT: Option<KernelFn> = direct::<S, D>(SATURATE);
    const CAST: KernelFn = cast::<S, D, SATURATE>;
    const OF_BYTE: Option<Entry> = Some(of_byte::<S, D>(SATURATE));
    const TO_PACKED: Option<KernelFn> = packed::<S, D>(SATURATE);
}

/// The kernel of a pair of byte storage under the common rules.
pub(in crate::arch::x86) const fn entry<S: Format, D: Format>(saturate: bool) -> Entry {
    table::entry::<Kernels, S, D>(saturate)
}

pub(in crate::arch::x86) static TABLE: Table = whole();
static PACKED: [PackedTo; WIDE] = table::packed_to::<Kernels>();

static ROWS: [Row; WIDE] = table::rows::<Kernels, WIDE>();

pub(in crate::arch::x86) const fn whole() -> Table {
    Table {
        packed_to: Some(&PACKED),
        bytes: Some(Bytes { find: bytes::find, copy: copy_bytes }),
        tabled: Some(bytes::tabled),
        ..Table::new(&ROWS)
    }
}

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

/// The kernel of a pair under rules that are not the common ones.
pub(in crate::arch::x86) fn rounded(from: Encoding, to: Encoding, rules: &Rules) -> Option<Rounded> {
    let (s, d) = (from.dtype(), to.dtype());
    if !vector::rounds(s, d) {
        if from.is_packed() || to.is_packed() || s.size() == 1 {
            return None;
        }
        let (run, direction) = match d.spec() {
            Spec::Int { .. } => integral::moved::<Avx2<true>>(s, d, rules)?,
            _ => rounded::to_wide::<Avx2<true>>(s, d, rules)?,
        };
        return Some(Rounded { run, direction, second: None });
    }
    vector::rounded(from, to, rules, &TABLE, casts::words::rounded_kernel::<words::Tier>, through_float32)
}

crate::vector::loss::define_loops!(may_lose, avx2_fn);
