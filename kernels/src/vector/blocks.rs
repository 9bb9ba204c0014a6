//! The operations on blocks of four registers.

use super::{
    Simd, bf16,
    style::{self, RoundingMode},
};
use crate::format::data::Data;

/// Whole blocks of float32: what [`target`] and [`scaled`] need of a tier in addition to [`Simd`].
///
/// # Safety
///
/// As for [`Simd`]. The pointers of `load_*` and `store_*` are valid for a block of elements or, if `PART`, for the first `n`; nothing else is
/// touched.
pub(crate) trait Blocks: Simd {
    /// 32-bit lanes of a register.
    const LANES: usize;
    /// Number of elements in a block.
    const BLOCK: usize = 4 * Self::LANES;

    fn shl<const BY: u32>(self, a: Self::V) -> Self::V;
    /// Float32 to int32, rounded in the direction of the environment. Either NaN and values out of range become the least integer, or values out
    /// of range saturate and NaN becomes 0.
    fn round(self, x: Self::V) -> Self::V;
    /// int32 lanes clamped to the range of bytes (signed or not), in order.
    fn pack_saturated<const APART: bool, const SIGNED: bool>(self, x: [Self::V; 4]) -> Self::V;
    /// The maximum of signed bytes.
    fn max_bytes(self, a: Self::V, b: Self::V) -> Self::V;

    /// Whether the low half of any lane of the block equals the low half of `low`, whose high halves are zero.
    fn any_low_half(self, x: [Self::V; 4], low: Self::V) -> bool;

    unsafe fn load_32<const PART: bool>(self, p: *const u8, n: usize) -> [Self::V; 4];
    /// Loads elements of 16 bits.
    unsafe fn load_16<const PART: bool>(self, p: *const u8, n: usize) -> [Self::V; 2];
    /// Loads elements of 16 bits into the high halves of lanes, with zeros below, in order.
    unsafe fn load_high_16<const PART: bool>(self, p: *const u8, n: usize) -> [Self::V; 4];

    /// Stores bytes in order.
    unsafe fn store_8<const PART: bool>(self, p: *mut u8, x: Self::V, n: usize);
    /// Stores bytes in order as elements of `BITS` (2, 4 or 6) bits without gaps; the bytes have no bits above these.
    unsafe fn store_packed<const BITS: u32, const PART: bool>(self, p: *mut u8, x: Self::V, n: usize);
    /// Stores halves in order.
    unsafe fn store_16<const PART: bool>(self, p: *mut u8, x: [Self::V; 2], n: usize);
    unsafe fn store_32<const PART: bool>(self, p: *mut u8, x: [Self::V; 4], n: usize);

    /// Converts float32, which may be subnormal if `SUBNORMAL`, to bfloat16.
    #[inline(always)]
    fn to_bf16<const SUBNORMAL: bool>(self, x: [Self::V; 4], data: &Data) -> [Self::V; 2] {
        bf16::<Self, style::Common>(self, x, data)
    }
}

/// Casts that do not scale: what [`run`] needs of a tier in addition to [`Blocks`].
///
/// # Safety
///
/// As for [`Blocks`].
pub(crate) trait Casts: Blocks {
    /// Whether the tier has loads and stores of a part.
    const MASKED: bool;

    /// Float32 to int32, truncated; the least integer if the value is out of range or NaN.
    fn truncate(self, x: Self::V) -> Self::V;
    /// Bytes whose top bit is the top bit of the 16-bit lane, in the order in which [`Simd::pack_low`] packs lane-split registers.
    fn pack_sign_16(self, x: [Self::V; 2]) -> Self::V;
    /// Whether all registers have that order.
    const ONE_ORDER: bool;
    /// Bytes that are 0 or 1, for 16-bit lanes that are zero or not, ignoring their top bit; in the order of lane-split registers.
    fn nonzero_16(self, x: [Self::V; 2]) -> Self::V;

    /// 16-bit lanes in the high halves of 32-bit lanes, with zeros below: *lane-split*, which is as near to the order of the elements as one
    /// instruction comes. Packing restores the order.
    fn lane_split(self, x: [Self::V; 2]) -> [Self::V; 4];
    /// Loads int16 (or uint16) as float32.
    unsafe fn load_int16<const SIGNED: bool, const PART: bool>(self, p: *const u8, n: usize) -> [Self::V; 4];
    unsafe fn load_f16<const PART: bool>(self, p: *const u8, n: usize) -> [Self::V; 4];
    /// Loads int32 (or uint32) as float32, rounded to nearest or to odd.
    unsafe fn load_int32<const SIGNED: bool, const ODD: bool, const PART: bool>(
        self,
        p: *const u8,
        n: usize,
    ) -> [Self::V; 4];
    /// Loads float64, rounded to odd. If `CLAMPED`, only zero becomes zero, and only infinity becomes infinite.
    unsafe fn load_f64<const CLAMPED: bool, const PART: bool>(self, p: *const u8, n: usize) -> [Self::V; 4];
    /// Loads int64 (or uint64), rounded to odd; unless `ODD`, integers of up to 32 bits may be rounded to nearest.
    unsafe fn load_int64<const SIGNED: bool, const ODD: bool, const PART: bool>(
        self,
        p: *const u8,
        n: usize,
    ) -> [Self::V; 4];
    /// Loads the real parts of complex128, rounded to odd and clamped like float64.
    unsafe fn load_c128<const PART: bool>(self, p: *const u8, n: usize) -> [Self::V; 4];

    /// Stores float32 rounded to float16: to nearest even, in the direction of the environment, or to odd.
    unsafe fn store_f16<const PART: bool, const APART: bool, R: RoundingMode>(
        self,
        p: *mut u8,
        x: [Self::V; 4],
        n: usize,
    );
}
