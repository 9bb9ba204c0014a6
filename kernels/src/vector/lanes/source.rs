//! Sources of more than a byte, and integers of a byte.

use super::{
    Halves, LaneOps, Lanes, Words,
    float::{Any, F32, F64, ShortOrInfinite},
    int::{Ints8, Ints16, Ints32, Ints64},
    part::{From, bytes, doubles, halves, parts_32, parts_64, words},
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
    /// Whether parts of a unit can be loaded. Elements have more than a byte then.
    const PARTS: bool = false;
    /// Whether the body of a kernel may be so short that the cost of the loop counts.
    const LIGHT: bool = <Self::Lanes as Lanes<M>>::INTEGERS;
    /// Loads a part of a unit, if [`PARTS`](Self::PARTS).
    ///
    /// # Safety
    ///
    /// The part can be read.
    #[inline(always)]
    unsafe fn load_part<const QUARTERS: usize>(_: M, _: Self::Tables, _: From<QUARTERS>) -> Self::Lanes {
        unreachable!("only sources of parts load them")
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

macro_rules! sources {
    ($($type:ty, $bytes:literal $($light:ident)? => $lanes:ty, |$m:ident, $p:ident| $body:expr;)*) => {$(
        impl<M: LaneOps> Source<M> for $type {
            const BITS: usize = 8 * $bytes;
            const PARTS: bool = $bytes > 1;
            $(const $light: bool = true;)?
            type Lanes = $lanes;
            type Tables = ();
            #[inline(always)]
            unsafe fn tables(_: M, _: &Data) {}
            #[inline(always)]
            unsafe fn load($m: M, (): (), src: [*const u8; 2]) -> [$lanes; 2] {
                // SAFETY: a unit can be read at both places.
                two!(src, |p| unsafe { Self::load_part($m, (), From::<4>::new(p, 0)) })
            }
            #[inline(always)]
            unsafe fn load_part<const QUARTERS: usize>($m: M, (): (), $p: From<QUARTERS>) -> $lanes {
                // SAFETY: the caller's part.
                unsafe { $body }
            }
        }
    )*};
}

sources! {
    i8, 1 => Ints8<M, true>, |m, p| Ints8(bytes(m, p));
    u8, 1 => Ints8<M, false>, |m, p| Ints8(bytes(m, p));
    Truth, 1 => Ints8<M, false>, |m, p| Ints8(m.min_u8(bytes(m, p), m.splat_8(1)));
    i16, 2 => Ints16<M, true>, |m, p| Ints16(halves(m, p));
    u16, 2 => Ints16<M, false>, |m, p| Ints16(halves(m, p));
    i32, 4 => Ints32<M, true>, |m, p| Ints32(words(m, p));
    u32, 4 => Ints32<M, false>, |m, p| Ints32(words(m, p));
    i64, 8 => Ints64<M, true>, |m, p| Ints64(doubles(m, p));
    u64, 8 => Ints64<M, false>, |m, p| Ints64(doubles(m, p));
    f16, 2 => F32<M, ShortOrInfinite>, |m, p| {
        let [[a, b], [c, d]] = two!(halves(m, p), |x| m.f32_of_f16(x));
        F32::new(p.widened([a, b, c, d]))
    };
    bf16, 2 => F32<M, Any>, |m, p| F32::new(p.widened(upper_halves(m, halves(m, p))));
    Magnitudes, 2 => Ints16<M, false>, |m, p| Ints16(two!(halves(m, p), |x| m.shl_16::<1>(x)));
    Upper, 2 => UpperHalves<M>, |m, p| UpperHalves(halves(m, p));
    Plain, 2 => F16<M>, |m, p| F16(halves(m, p));
    f32, 4 => F32<M, Any>, |m, p| F32::new(words(m, p));
    f64, 8 => F64<M>, |m, p| F64(doubles(m, p));
    Complex<f32>, 8 LIGHT => F32<M, Any>, |m, p| {
        let [re, _] = parts_32(m, p);
        F32::new(re)
    };
    Complex<f64>, 16 LIGHT => F64<M>, |m, p| {
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
