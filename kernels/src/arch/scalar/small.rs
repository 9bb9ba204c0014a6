//! To floats of up to 8 bits: one loop per source and flavor. The target is in the data.

use super::each::map_each;
use crate::{
    dtype::Flavor,
    exact::hub::Hub,
    format::{Format, data::Data, typed},
};

typed! {
    /// The flavors of floats with a sign.
    trait Signed { FLAVOR: Flavor }
    /// [`Flavor::Ieee`] and [`Flavor::Fn`], which have the same signs.
    Ieee = Flavor::Ieee;
    /// [`Flavor::Fnuz`].
    Fnuz = Flavor::Fnuz;
    /// [`Flavor::Finite`].
    Finite = Flavor::Finite;
}

/// To floats with a sign.
///
/// # Safety
///
/// As [`KernelFn`](crate::vector::kernel::KernelFn).
pub(super) unsafe fn cast<S: Format, F: Signed>(src: *const u8, dst: *mut u8, n: usize, data: &Data) {
    // By value: otherwise the compiler must assume that the loop overwrites the data.
    let (encoder, signs) = (data.float.encoder, data.float.signs);
    let encode = |code| {
        let x = S::decode(code).f32_odd();
        signs.put_common(F::FLAVOR, x, encoder.magnitude(x))
    };
    // SAFETY: the caller's promise is the same.
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
        // Only float64 has values that become zero in float32; here they count as nonzero.
        let tiny = const { S::DTYPE.alignment() == 8 } && x << 1 == 0 && hub.nonzero();
        power.code(x | tiny as u32)
    };
    // SAFETY: the caller's promise is the same.
    unsafe { map_each::<S::Code, u8>(src, dst, n, encode) };
}
