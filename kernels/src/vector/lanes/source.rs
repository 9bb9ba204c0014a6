//! Sources of more than a byte, and integers of a byte.

use super::{
    Doubles, Halves, LaneOps, Lanes, Words,
    float::{Any, F32, F64, ShortOrInfinite},
    int::{Ints8, Ints16, Ints32, Ints64},
    upper_halves,
};
use super::{eight, two};
use crate::format::data::Data;
use crate::vector::each;
use half::{bf16, f16};
use num_complex::Complex;

/// An element type on the source's side.
pub(crate) trait Source<M: LaneOps> {
    /// Bits of an element in its storage.
    const BITS: usize;
    type Lanes: Lanes<M>;
    /// The tables that stay in registers.
    type Tables: Copy;
    /// # Safety
    ///
    /// `data` belongs to a kernel of this source, so the table that it points to can be read.
    unsafe fn tables(m: M, data: &Data) -> Self::Tables;
    /// Loads two units that begin at these places; packed units both begin at the first.
    ///
    /// # Safety
    ///
    /// The units can be read.
    unsafe fn load(m: M, tables: Self::Tables, src: [*const u8; 2]) -> [Self::Lanes; 2];
    /// One unit, of elements that are not packed.
    ///
    /// # Safety
    ///
    /// The unit can be read.
    #[inline(always)]
    unsafe fn load_unit(m: M, tables: Self::Tables, src: *const u8) -> Self::Lanes {
        // SAFETY: the same unit twice, of which one is left.
        let [x, _] = unsafe { Self::load(m, tables, [src, src]) };
        x
    }
}

/// Complex numbers, tested for a real or imaginary part that is not zero.
pub(crate) struct Either<T>(T);
/// bool.
pub(crate) struct Truth;
/// Float16 or bfloat16 without the sign, for comparison with zero.
pub(crate) struct Magnitudes;
/// Bfloat16 that will become small floats.
pub(crate) struct Upper;
/// Float16, loaded unchanged into lanes of 16 bits.
pub(crate) struct Plain;

/// # Safety
///
/// Two registers can be read.
#[inline(always)]
pub(crate) unsafe fn halves<M: LaneOps>(m: M, p: *const u8) -> Halves<M> {
    // SAFETY: the second register begins where the first one ends.
    unsafe { [m.load(p), m.load(p.add(size_of::<M::V>()))] }
}

/// # Safety
///
/// Four registers can be read.
#[inline(always)]
pub(crate) unsafe fn words<M: LaneOps>(m: M, p: *const u8) -> Words<M> {
    // SAFETY: register `k` ends where the next one begins.
    each!([0, 1, 2, 3], |k| unsafe { m.load(p.add(k * size_of::<M::V>())) })
}

/// # Safety
///
/// Eight registers can be read.
#[inline(always)]
pub(crate) unsafe fn doubles<M: LaneOps>(m: M, p: *const u8) -> Doubles<M> {
    // SAFETY: register `k` ends where the next one begins.
    eight!([0, 1, 2, 3, 4, 5, 6, 7], |k| unsafe { m.load(p.add(k * size_of::<M::V>())) })
}

/// Loads the real parts and the imaginary parts of a unit of complex64.
///
/// # Safety
///
/// Eight registers can be read.
#[inline(always)]
unsafe fn parts_32<M: LaneOps>(m: M, p: *const u8) -> [Words<M>; 2] {
    // SAFETY: the caller's eight registers.
    let x = unsafe { doubles(m, p) };
    [each!([0, 2, 4, 6], |k| m.even_32(x[k], x[k + 1])), each!([0, 2, 4, 6], |k| m.odd_32(x[k], x[k + 1]))]
}

/// Loads the real parts and the imaginary parts of a unit of complex128.
///
/// # Safety
///
/// Sixteen registers can be read.
#[inline(always)]
unsafe fn parts_64<M: LaneOps>(m: M, p: *const u8) -> [Doubles<M>; 2] {
    // SAFETY: the second eight registers begin where the first ones end.
    let (x, y) = unsafe { (doubles(m, p), doubles(m, p.add(8 * size_of::<M::V>()))) };
    let pairs = [
        [x[0], x[1]],
        [x[2], x[3]],
        [x[4], x[5]],
        [x[6], x[7]],
        [y[0], y[1]],
        [y[2], y[3]],
        [y[4], y[5]],
        [y[6], y[7]],
    ];
    [eight!(pairs, |[a, b]| m.even_64(a, b)), eight!(pairs, |[a, b]| m.odd_64(a, b))]
}

macro_rules! sources {
    ($($type:ty, $bytes:literal => $lanes:ty, |$m:ident, $p:ident| $body:expr;)*) => {$(
        impl<M: LaneOps> Source<M> for $type {
            const BITS: usize = 8 * $bytes;
            type Lanes = $lanes;
            type Tables = ();
            #[inline(always)]
            unsafe fn tables(_: M, _: &Data) {}
            #[inline(always)]
            unsafe fn load($m: M, (): (), src: [*const u8; 2]) -> [$lanes; 2] {
                // SAFETY: a unit can be read at both places: as many registers as an element has bytes.
                two!(src, |$p| unsafe { $body })
            }
        }
    )*};
}

sources! {
    i8, 1 => Ints8<M, true>, |m, p| Ints8(m.load(p));
    u8, 1 => Ints8<M, false>, |m, p| Ints8(m.load(p));
    Truth, 1 => Ints8<M, false>, |m, p| Ints8(m.min_u8(m.load(p), m.splat_8(1)));
    i16, 2 => Ints16<M, true>, |m, p| Ints16(halves(m, p));
    u16, 2 => Ints16<M, false>, |m, p| Ints16(halves(m, p));
    i32, 4 => Ints32<M, true>, |m, p| Ints32(words(m, p));
    u32, 4 => Ints32<M, false>, |m, p| Ints32(words(m, p));
    i64, 8 => Ints64<M, true>, |m, p| Ints64(doubles(m, p));
    u64, 8 => Ints64<M, false>, |m, p| Ints64(doubles(m, p));
    f16, 2 => F32<M, ShortOrInfinite>, |m, p| {
        let [[a, b], [c, d]] = two!(halves(m, p), |x| m.f32_of_f16(x));
        F32::new([a, b, c, d])
    };
    bf16, 2 => F32<M, Any>, |m, p| F32::new(upper_halves(m, halves(m, p)));
    Magnitudes, 2 => Ints16<M, false>, |m, p| Ints16(two!(halves(m, p), |x| m.shl_16::<1>(x)));
    Upper, 2 => UpperHalves<M>, |m, p| UpperHalves(halves(m, p));
    Plain, 2 => F16<M>, |m, p| F16(halves(m, p));
    f32, 4 => F32<M, Any>, |m, p| F32::new(words(m, p));
    f64, 8 => F64<M>, |m, p| F64(doubles(m, p));
    Complex<f32>, 8 => F32<M, Any>, |m, p| {
        let [re, _] = parts_32(m, p);
        F32::new(re)
    };
    Complex<f64>, 16 => F64<M>, |m, p| {
        let [re, _] = parts_64(m, p);
        F64(re)
    };
    Either<f32>, 8 => F32<M, Any>, |m, p| {
        let [re, im] = parts_32(m, p);
        F32::new(each!([0, 1, 2, 3], |k| m.or(re[k], im[k])))
    };
    Either<f64>, 16 => F64<M>, |m, p| {
        let [re, im] = parts_64(m, p);
        F64(eight!([0, 1, 2, 3, 4, 5, 6, 7], |k| m.or(re[k], im[k])))
    };
}

/// A unit of bfloat16, as the upper halves of float32.
#[derive(Clone, Copy)]
pub(crate) struct UpperHalves<M: LaneOps>(Halves<M>);

impl<M: LaneOps> Lanes<M> for UpperHalves<M> {
    #[inline(always)]
    fn f32_odd<const ODD: bool>(self, m: M) -> Words<M> {
        upper_halves(m, self.0)
    }
    #[inline(always)]
    fn signs(self, m: M) -> Option<M::V> {
        Some(m.odd_8(self.0[0], self.0[1]))
    }
}

/// A unit of float16.
#[derive(Clone, Copy)]
pub(crate) struct F16<M: LaneOps>(pub(crate) Halves<M>);

impl<M: LaneOps> Lanes<M> for F16<M> {
    #[inline(always)]
    fn halves(self, _: M) -> Halves<M> {
        self.0
    }
}
