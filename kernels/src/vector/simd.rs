//! The operations that encoders are written with.

/// Evaluates an expression for every register of a block. (A closure might stay a function, without the tier's features.)
macro_rules! each {
    ([$($element:expr),*], |$x:pat_param| $result:expr) => {
        [$({
            let $x = $element;
            $result
        }),*]
    };
    ($block:expr, |$x:pat_param| $result:expr) => {{
        let [a, b, c, d] = $block;
        $crate::vector::each!([a, b, c, d], |$x| $result)
    }};
}
pub(crate) use each;

/// The registers of a tier, and the operations that encoders are written with.
///
/// # Safety
///
/// For every method: the CPU has the tier, and the floating-point environment is the default. Methods that name the direction of the environment,
/// and exact methods, run in every direction.
pub(crate) trait Simd: Copy + 'static {
    /// A register: 32-bit lanes, which are integers or the bits of float32; or bytes after packing.
    type V: Copy;

    /// # Safety
    ///
    /// The CPU has the features of the token.
    unsafe fn new_unchecked() -> Self;

    fn splat(self, x: u32) -> Self::V;
    fn and(self, a: Self::V, b: Self::V) -> Self::V;
    fn or(self, a: Self::V, b: Self::V) -> Self::V;
    fn xor(self, a: Self::V, b: Self::V) -> Self::V;
    fn add(self, a: Self::V, b: Self::V) -> Self::V;
    fn sub(self, a: Self::V, b: Self::V) -> Self::V;
    fn shr<const BY: u32>(self, a: Self::V) -> Self::V;
    /// The unsigned minimum.
    fn min_u(self, a: Self::V, b: Self::V) -> Self::V;
    /// The unsigned maximum.
    fn max_u(self, a: Self::V, b: Self::V) -> Self::V;
    /// The signed minimum.
    fn min_i(self, a: Self::V, b: Self::V) -> Self::V;
    /// The signed maximum.
    fn max_i(self, a: Self::V, b: Self::V) -> Self::V;
    /// `a * b + c`, rounded once: exact, or in the default environment.
    fn fma(self, a: Self::V, b: Self::V, c: Self::V) -> Self::V;
    /// `a * b`, rounded once.
    fn mul(self, a: Self::V, b: Self::V) -> Self::V;
    /// `a * b + c` where the product is exact, rounded once in the direction of the environment.
    fn fma_env(self, a: Self::V, b: Self::V, c: Self::V) -> Self::V;
    /// `a / b`, rounded once.
    fn div(self, a: Self::V, b: Self::V) -> Self::V;
    /// Adds 1 to 8 to the integer `x` where the float `excess` is negative, and subtracts 1 to 8 where it is positive.
    fn nudge(self, x: Self::V, excess: Self::V) -> Self::V;
    /// Step `K` of finding the largest lane of each of several registers: called for pairs of registers, then for pairs of the results, `log2` of
    /// the number of lanes times. The lanes of the last result are in the order of the first registers.
    fn max_across<const K: u32>(self, a: Self::V, b: Self::V) -> Self::V;
    /// `a < b ? a : b`, so `b` if either is NaN.
    fn min_f(self, a: Self::V, b: Self::V) -> Self::V;
    /// `yes` in lanes where `x` is NaN, else `no`.
    fn select_nan(self, x: Self::V, yes: Self::V, no: Self::V) -> Self::V;
    /// `a == b ? yes : no` for integers.
    fn select_eq(self, a: Self::V, b: Self::V, yes: Self::V, no: Self::V) -> Self::V;
    /// Whether the block contains a NaN.
    fn any_nan(self, x: [Self::V; 4]) -> bool;

    /// Packs the low byte of every lane; the bytes stay in a special order until [`Simd::in_order`].
    fn pack_low<const APART: bool>(self, x: [Self::V; 4]) -> Self::V;
    /// Packs the low bytes of `((lane >> 23) - field << mantissa) + (lane & 0xFFFF)`, in the order of [`Simd::pack_low`]. In every lane only bits
    /// 23 to 30 and the lowest 6 are set, and the result is less than 256.
    fn pack_counts<const APART: bool>(self, x: [Self::V; 4], mantissa: u32, field: u32) -> Self::V;
    /// Whether [`Simd::pack_counts`] ignores the top bits of its lanes.
    const COUNTS_DROP_SIGN: bool = false;
    /// Bytes whose top bit is the top bit of the lane, in the order of [`Simd::pack_low`].
    fn pack_sign<const APART: bool>(self, x: [Self::V; 4]) -> Self::V;
    /// Restores the order of the elements in packed bytes.
    fn in_order<const APART: bool>(self, x: Self::V) -> Self::V;
    /// Packs the high halves of all lanes, in order.
    fn pack_high_halves(self, a: Self::V, b: Self::V) -> Self::V;
    /// `code | sign` in bytes whose `code` is not zero; 0 in all others.
    fn sign_nonzero(self, code: Self::V, sign: Self::V) -> Self::V;

    /// Copies `len` bytes to the stack, and fills with zeros up to `whole` bytes.
    #[inline(always)]
    unsafe fn copy_in(self, src: *const u8, len: usize, dst: *mut u8, whole: usize) {
        // SAFETY: the caller's promise is the same.
        unsafe {
            dst.write_bytes(0, whole);
            dst.copy_from_nonoverlapping(src, len);
        }
    }
    /// Copies `len` bytes from the stack, which holds a whole block of registers there.
    #[inline(always)]
    unsafe fn copy_out(self, src: *const u8, len: usize, dst: *mut u8) {
        // SAFETY: the caller's promise is the same.
        unsafe { dst.copy_from_nonoverlapping(src, len) };
    }
}
