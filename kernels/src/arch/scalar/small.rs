//! To floats of up to 8 bits: one loop per source and flavor. The target is in the data.

use super::each::map_each;
use crate::{
    dtype::Flavor,
    exact::hub::Hub,
    format::{Format, data::Data},
};

/// Flavors as arguments of types: [`Flavor::Ieee`] and [`Flavor::Fn`], which have the same signs.
pub(super) const SIGNED: u8 = 0;
/// [`Flavor::Fnuz`].
pub(super) const FNUZ: u8 = 1;
/// [`Flavor::Finite`].
pub(super) const FINITE: u8 = 2;

/// To floats with a sign.
///
/// # Safety
///
/// As [`KernelFn`](crate::vector::kernel::KernelFn).
pub(super) unsafe fn cast<S: Format, const FLAVOR: u8>(src: *const u8, dst: *mut u8, n: usize, data: &Data) {
    let flavor = match FLAVOR {
        FNUZ => Flavor::Fnuz,
        FINITE => Flavor::Finite,
        _ => Flavor::Ieee,
    };
    // By value: what the loop writes might be the data.
    let (encoder, signs) = (data.encoder, data.signs);
    let encode = |code| {
        let x = S::decode(code).f32_odd();
        signs.put_common(flavor, x, encoder.magnitude(x))
    };
    // SAFETY: as the caller's.
    unsafe { map_each::<S::Code, u8>(src, dst, n, encode) };
}

/// To `float8_e8m0fnu` under rules that are not the common ones.
///
/// # Safety
///
/// As [`KernelFn`](crate::vector::kernel::KernelFn).
pub(super) unsafe fn to_power<S: Format>(src: *const u8, dst: *mut u8, n: usize, data: &Data) {
    let power = data.power;
    let encode = |code| {
        let hub = S::decode(code);
        let x = hub.f32_odd();
        // Only float64 has values that are nothing in float32; here they count.
        let tiny = const { S::DTYPE.alignment() == 8 } && x << 1 == 0 && hub.nonzero();
        power.code(x | tiny as u32)
    };
    // SAFETY: as the caller's.
    unsafe { map_each::<S::Code, u8>(src, dst, n, encode) };
}
