//! The operations on blocks of four registers.

use super::{Simd, bf16, style};
use crate::format::data::Data;

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
