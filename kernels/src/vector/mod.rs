//! Kernels through float32, written once over the registers of a tier.
//!
//! A kernel goes block by block: four registers of 32-bit lanes. [`load`] brings the elements of a source into the block as
//! float32 (values that float32 cannot hold are rounded to odd, as in `hub`), a [`target`] rounds once, packs the four
//! registers into as many as the target needs, and stores those. With four registers the packing costs least, and there is
//! enough independent work in flight.
//!
//! The algorithms here know nothing of an instruction set; [`Simd`] is what they ask of one. A tier with masked loads and
//! stores does the last, incomplete block with masks. Another one does the last whole block again, overlapping the one
//! before; if there is no whole block, or the target is packed, one on the stack ([`padded`]).

/// An expression of every register of a block. (A closure might stay a function, and one without the tier's features.)
macro_rules! each {
    ([$($element:expr),*], |$x:pat_param| $result:expr) => {
        [$({
            let $x = $element;
            $result
        }),*]
    };
    ($block:expr, |$x:pat_param| $result:expr) => {{
        let [a, b, c, d] = $block;
        each!([a, b, c, d], |$x| $result)
    }};
}
pub(crate) use each;

mod bf16;
mod families;
#[cfg(any(lane_tiers, all(test, target_endian = "little")))]
#[cfg_attr(
    x86_tiers,
    allow(dead_code, reason = "sources of a byte and small floats have kernels of their own there")
)]
pub(crate) mod lanes;
mod load;
#[cfg(all(test, target_endian = "little"))]
pub(crate) mod portable;
pub(crate) mod scaled;
pub(crate) mod short;
pub(crate) mod small;
pub(crate) mod style;
pub(crate) mod target;
pub(crate) mod words;

pub(crate) use bf16::bf16;
pub(crate) use families::{define_families, define_integers, define_styles};
pub(crate) use short::padded_bits;

use crate::{
    data::Data,
    dtype::{DType, Spec},
    exact::{Rounding, Rules},
    format::Format,
    storage::Encoding,
    table::{KernelFn, Rounded, Steps, Table},
};
use target::Target;

/// The registers of a tier, and the operations that encoders are written in.
///
/// # Safety
///
/// Of every method: the CPU has the tier, and the floating-point environment is the default. What names the direction of the
/// environment, and what is exact, runs in every direction.
pub(crate) trait Simd: Copy + 'static {
    /// A register: 32-bit lanes, integers or bits of float32; or bytes after packing.
    type V: Copy;

    /// # Safety
    ///
    /// The CPU has what the token stands for.
    unsafe fn new_unchecked() -> Self;

    fn splat(self, x: u32) -> Self::V;
    fn and(self, a: Self::V, b: Self::V) -> Self::V;
    fn or(self, a: Self::V, b: Self::V) -> Self::V;
    fn xor(self, a: Self::V, b: Self::V) -> Self::V;
    fn add(self, a: Self::V, b: Self::V) -> Self::V;
    fn sub(self, a: Self::V, b: Self::V) -> Self::V;
    fn shr<const BY: u32>(self, a: Self::V) -> Self::V;
    /// Unsigned.
    fn min_u(self, a: Self::V, b: Self::V) -> Self::V;
    /// Unsigned.
    fn max_u(self, a: Self::V, b: Self::V) -> Self::V;
    /// Signed.
    fn min_i(self, a: Self::V, b: Self::V) -> Self::V;
    /// Signed.
    fn max_i(self, a: Self::V, b: Self::V) -> Self::V;
    /// `a * b + c`, rounded once: exact, or in the default environment.
    fn fma(self, a: Self::V, b: Self::V, c: Self::V) -> Self::V;
    /// `a * b`, rounded once.
    fn mul(self, a: Self::V, b: Self::V) -> Self::V;
    /// `a * b + c` where the product is exact, rounded once in the direction of the environment.
    fn fma_env(self, a: Self::V, b: Self::V, c: Self::V) -> Self::V;
    /// `a / b`, rounded once.
    fn div(self, a: Self::V, b: Self::V) -> Self::V;
    /// The integer `x` with 1 to 8 added where the float `excess` is negative, and subtracted where it is positive.
    fn nudge(self, x: Self::V, excess: Self::V) -> Self::V;
    /// Step `K` of bringing the largest lane of each of several registers together: called for pairs of them, then for pairs of
    /// the results, `log2` of the number of lanes times. All lanes of the last result are in the order of the first registers.
    fn max_across<const K: u32>(self, a: Self::V, b: Self::V) -> Self::V;
    /// `a < b ? a : b`, so `b` if either is NaN.
    fn min_f(self, a: Self::V, b: Self::V) -> Self::V;
    /// `x` is NaN `? yes : no`.
    fn select_nan(self, x: Self::V, yes: Self::V, no: Self::V) -> Self::V;
    /// `a == b ? yes : no`, integers.
    fn select_eq(self, a: Self::V, b: Self::V, yes: Self::V, no: Self::V) -> Self::V;
    /// Whether there is a NaN in the block.
    fn any_nan(self, x: [Self::V; 4]) -> bool;

    /// The low byte of every lane; in an order of its own until [`Simd::in_order`].
    fn pack_low<const APART: bool>(self, x: [Self::V; 4]) -> Self::V;
    /// The low bytes of `((lane >> 23) - field << mantissa) + (lane & 0xFFFF)`, in the order of [`Simd::pack_low`]. Of every
    /// lane only the bits from 23 to 30 and the lowest 6 are set, and the result is less than 256.
    fn pack_counts<const APART: bool>(self, x: [Self::V; 4], mantissa: u32, field: u32) -> Self::V;
    /// Whether [`Simd::pack_counts`] passes over the top bits of its lanes.
    const COUNTS_DROP_SIGN: bool = false;
    /// Bytes of which the top bit is the top bit of the lane; in the order of [`Simd::pack_low`].
    fn pack_sign<const APART: bool>(self, x: [Self::V; 4]) -> Self::V;
    /// Packed bytes in the order of the elements.
    fn in_order<const APART: bool>(self, x: Self::V) -> Self::V;
    /// The high halves of all lanes, in order.
    fn pack_high_halves(self, a: Self::V, b: Self::V) -> Self::V;
    /// `code | sign` in the bytes whose `code` is not zero.
    fn sign_nonzero(self, code: Self::V, sign: Self::V) -> Self::V;

    /// Copies `len` bytes to the stack and fills up to `whole` with zeros.
    #[inline(always)]
    unsafe fn copy_in(self, src: *const u8, len: usize, dst: *mut u8, whole: usize) {
        // SAFETY: as the caller's.
        unsafe {
            dst.write_bytes(0, whole);
            dst.copy_from_nonoverlapping(src, len);
        }
    }
    /// Copies `len` bytes from the stack, where a block of registers follows.
    #[inline(always)]
    unsafe fn copy_out(self, src: *const u8, len: usize, dst: *mut u8) {
        // SAFETY: as the caller's.
        unsafe { dst.copy_from_nonoverlapping(src, len) };
    }
}

/// Whole blocks of float32: what [`target`] and [`scaled`] need of a tier beyond [`Simd`].
///
/// # Safety
///
/// As of [`Simd`]. The pointers of `load_*` and `store_*` are good for a block of elements, or if `PART`, for the first `n`;
/// nothing else is touched.
pub(crate) trait Blocks: Simd {
    /// 32-bit lanes of a register.
    const LANES: usize;
    /// Elements of a block.
    const BLOCK: usize = 4 * Self::LANES;

    fn shl<const BY: u32>(self, a: Self::V) -> Self::V;
    /// Float32 to int32, rounded in the direction of the environment. NaN and what is out of range become the least integer; or they are
    /// saturated, and NaN becomes 0.
    fn round(self, x: Self::V) -> Self::V;
    /// int32 lanes brought into the range of bytes (signed or not), in order.
    fn pack_saturated<const APART: bool, const SIGNED: bool>(self, x: [Self::V; 4]) -> Self::V;
    /// Signed.
    fn max_bytes(self, a: Self::V, b: Self::V) -> Self::V;

    /// Whether the low half of a lane of the block is that of `low`, whose high halves are zero.
    fn any_low_half(self, x: [Self::V; 4], low: Self::V) -> bool;

    unsafe fn load_32<const PART: bool>(self, p: *const u8, n: usize) -> [Self::V; 4];
    /// Elements of 16 bits.
    unsafe fn load_16<const PART: bool>(self, p: *const u8, n: usize) -> [Self::V; 2];
    /// Elements of 16 bits in the high halves of the lanes, zeros below, in order.
    unsafe fn load_high_16<const PART: bool>(self, p: *const u8, n: usize) -> [Self::V; 4];

    /// Bytes in order.
    unsafe fn store_8<const PART: bool>(self, p: *mut u8, x: Self::V, n: usize);
    /// Bytes in order, of which the lowest `BITS` (2, 4 or 6) are set at most, without gaps between those.
    unsafe fn store_packed<const BITS: u32, const PART: bool>(self, p: *mut u8, x: Self::V, n: usize);
    /// Halves in order.
    unsafe fn store_16<const PART: bool>(self, p: *mut u8, x: [Self::V; 2], n: usize);
    unsafe fn store_32<const PART: bool>(self, p: *mut u8, x: [Self::V; 4], n: usize);

    /// Bfloat16 of float32, which may be subnormal if `SUBNORMAL`.
    #[inline(always)]
    fn to_bf16<const SUBNORMAL: bool>(self, x: [Self::V; 4], data: &Data) -> [Self::V; 2] {
        bf16::<Self, { style::PLAIN }>(self, x, data)
    }
}

/// Casts that do not scale: what [`run`] needs of a tier beyond [`Blocks`].
///
/// # Safety
///
/// As of [`Blocks`].
pub(crate) trait Casts: Blocks {
    /// Whether loads and stores of a part are there.
    const MASKED: bool;

    /// Float32 to int32, truncated; the least integer if that is out of range or NaN.
    fn truncate(self, x: Self::V) -> Self::V;
    /// Bytes of which the top bit is the top bit of the 16-bit lane; in the order of [`Simd::pack_low`] of registers apart.
    fn pack_sign_16(self, x: [Self::V; 2]) -> Self::V;
    /// Whether that is the order of any other registers too.
    const ONE_ORDER: bool;
    /// Bytes 0 or 1 for 16-bit lanes that are 0 or not, whatever their top bit; in the order of registers apart.
    fn nonzero_16(self, x: [Self::V; 2]) -> Self::V;

    /// 16-bit lanes in the high halves of 32-bit lanes, zeros below: registers *apart*, as near to the order of the elements
    /// as one instruction comes. Packing restores the order.
    fn lane_split(self, x: [Self::V; 2]) -> [Self::V; 4];
    /// int16 (or uint16) as float32.
    unsafe fn load_int16<const SIGNED: bool, const PART: bool>(self, p: *const u8, n: usize) -> [Self::V; 4];
    unsafe fn load_f16<const PART: bool>(self, p: *const u8, n: usize) -> [Self::V; 4];
    /// int32 (or uint32) as float32: nearest, or to odd.
    unsafe fn load_int32<const SIGNED: bool, const ODD: bool, const PART: bool>(
        self,
        p: *const u8,
        n: usize,
    ) -> [Self::V; 4];
    /// float64 to odd. If `CLAMPED`, none but zero becomes zero, and none but infinity infinity.
    unsafe fn load_f64<const CLAMPED: bool, const PART: bool>(self, p: *const u8, n: usize) -> [Self::V; 4];
    /// int64 (or uint64) to odd; if not `ODD`, those that have 32 bits may be nearest.
    unsafe fn load_int64<const SIGNED: bool, const ODD: bool, const PART: bool>(
        self,
        p: *const u8,
        n: usize,
    ) -> [Self::V; 4];
    /// The real parts of complex128, to odd, clamped as float64.
    unsafe fn load_c128<const PART: bool>(self, p: *const u8, n: usize) -> [Self::V; 4];

    /// Float32 rounded to float16: nearest even, or in the direction of the environment, or to odd.
    unsafe fn store_f16<const PART: bool, const APART: bool, const STYLE: u8>(
        self,
        p: *mut u8,
        x: [Self::V; 4],
        n: usize,
    );
}

/// Whether the kernel of a pair is one of these.
pub(crate) const fn covers(from: DType, to: DType) -> bool {
    let wide_float = matches!(from, DType::Float16 | DType::BFloat16 | DType::Float32);
    let loads =
        wide_float || matches!(from, DType::Float64) || matches!(from.spec(), Spec::Int { bits: 16.., .. });
    match to.spec() {
        Spec::Float(f) if f.bits() <= 8 => loads,
        Spec::Float(f) if f.bits() == 16 => loads,
        Spec::Float(f) => f.bits() == 32 && wide_float,
        Spec::Bool | Spec::Int { bits: ..=8, .. } => wide_float,
        _ => false,
    }
}

/// Whether these kernels round from a source of 16 bits and more to a target: floats of up to 16 bits.
pub(crate) fn rounds(from: DType, to: DType) -> bool {
    // Complex128 is loaded for the first of two steps only, to float32.
    let loads = covers(from, to) || matches!(from, DType::Complex128);
    from.size() > 1 && loads && matches!(to.spec(), Spec::Float(f) if f.bits() <= 16)
}

/// The kernel of a pair for which [`rounds`] holds, under rules that are not the common ones; `None` for a packed side that has to be
/// packed around byte storage. `table` holds the tier's kernels under the common rules; `words` finds those in lanes of 16 bits, and
/// `styled` those of a style.
pub(crate) fn rounded(
    from: Encoding,
    to: Encoding,
    rules: &Rules,
    table: &Table,
    words: fn(DType, DType) -> Option<KernelFn>,
    styled: impl Fn(DType, DType, u8) -> Option<Steps>,
) -> Option<Rounded> {
    let (s, d) = (from.dtype(), to.dtype());
    let (style, direction) = style::style(d, rules);
    // Lanes of 16 bits round to nearest, whatever the direction. They make any NaN, but not one that loses its sign.
    let common = match words::shape(s, d, rules.saturate) {
        Some(_) if rules.finite_nan_max => false,
        Some(shape) => match rules.rounding {
            Rounding::NearestEven => true,
            Rounding::NearestAway => !shape.same_exponent || shape.fnuz,
            _ => false,
        },
        None => style == style::PLAIN && (s.alignment() > 2 || s.float_spec().is_none()),
    };
    if common {
        let run = if from.is_packed() || to.is_packed() {
            table.get_packed(from, to, rules.saturate)?.run
        } else {
            table.get(s, d, rules.saturate).run
        };
        return Some(Rounded { run, direction, second: None });
    }
    if from.is_packed() || to.is_packed() {
        return None;
    }
    if rules.rounding != Rounding::NearestEven
        && let Some(run) = words(s, d)
    {
        return Some(Rounded { run, direction, second: None });
    }
    let Steps { first, second } = styled(s, d, style)?;
    Some(Rounded { run: first, direction, second })
}

/// The kernel from a source to a family of targets. `whole` is the function that this one is inlined into.
///
/// # Safety
///
/// As [`KernelFn`].
#[inline(always)]
pub(crate) unsafe fn run<M: Casts, S: Format, T: Target<M>>(
    m: M,
    src: *const u8,
    dst: *mut u8,
    n: usize,
    data: &Data,
    whole: KernelFn,
) {
    let s = const { S::DTYPE.size() };
    // A block has whole bytes of every packed width.
    let bits = T::BITS;
    let packed = const { T::BITS < 8 };
    // A copy stays in registers.
    let constants = *data;
    let mut i = 0;
    // SAFETY: every block begins at an element and ends at the last one or before, or is a part that ends there; `whole`
    // is a kernel of the same pair.
    unsafe {
        while n - i >= M::BLOCK {
            block::<M, S, T, false>(m, src.add(i * s), dst.add(bytes(i, bits)), M::BLOCK, &constants);
            i += M::BLOCK;
        }
        if i == n {
        } else if M::MASKED {
            block::<M, S, T, true>(m, src.add(i * s), dst.add(bytes(i, bits)), n - i, &constants);
        } else if i > 0 && !packed {
            i = n - M::BLOCK;
            block::<M, S, T, false>(m, src.add(i * s), dst.add(bytes(i, bits)), M::BLOCK, &constants);
        } else {
            let (src, dst) = (src.add(i * s), dst.add(bytes(i, bits)));
            padded_bits::<M>(m, whole, M::BLOCK, 8 * s, bits, src, dst, n - i, data);
        }
    }
}

/// The bytes of `n` elements, which fill whole ones.
#[inline(always)]
pub(crate) const fn bytes(n: usize, bits: usize) -> usize {
    if bits.is_multiple_of(8) { n * (bits / 8) } else { n / 8 * bits }
}

/// # Safety
///
/// As of the methods of [`Simd`].
#[inline(always)]
unsafe fn block<M: Casts, S: Format, T: Target<M>, const PART: bool>(
    m: M,
    src: *const u8,
    dst: *mut u8,
    n: usize,
    data: &Data,
) {
    let float16 = matches!(S::DTYPE, DType::Float16 | DType::BFloat16);
    // SAFETY: as the caller's.
    unsafe {
        if T::TRUTH && float16 {
            let codes = m.nonzero_16(m.load_16::<PART>(src, n));
            m.store_8::<PART>(dst, m.in_order::<true>(codes), n);
        } else if matches!(S::DTYPE, DType::BFloat16) && !T::FLOAT32 {
            let words = m.load_16::<PART>(src, n);
            let sign = m.pack_sign_16(words);
            T::store::<S, PART, true>(m, dst, m.lane_split(words), Some(sign), n, data);
        } else {
            let x = load::load::<M, S, T, PART>(m, src, n);
            // Two registers have fewer signs to pack than four, and unsigned integers have none.
            let sign = if matches!(S::DTYPE.spec(), Spec::Int { signed: false, .. }) {
                Some(m.splat(0))
            } else if float16 && M::ONE_ORDER {
                Some(m.pack_sign_16(m.load_16::<PART>(src, n)))
            } else {
                None
            };
            T::store::<S, PART, false>(m, dst, x, sign, n, data);
        }
    }
}
