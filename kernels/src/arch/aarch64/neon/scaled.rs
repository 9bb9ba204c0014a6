//! Scaled casts ([`crate::vector::scaled`]): the operations on words, and loads of codes of at most a byte as blocks of float32.

use super::{
    super::packing::{nibbles, store_nibbles},
    simd::{Neon, neon_fn, operations},
};
use crate::{
    dtype::{DType, Encoding},
    format::{data::Data, lut::Saturating, *},
    vector::{
        self, Simd,
        lanes::{
            LaneOps, Lanes,
            int::Ints8,
            lookup::{Direct, Lookup, Magnitude},
            table::To16,
            two, upper_halves,
        },
        scaled::{self, Decoding, Factors, Fused, Fusing, List, Source, Stage, Step, Words},
    },
};
use bytemuck::must_cast as cast;
use core::{arch::aarch64::*, marker::PhantomData};

impl Words for Neon {
    operations! { n:
        upper_halves(a, b) = n.vtrn2q_u16(cast(a), cast(b));
        add_16(a, b) = n.vaddq_u16(cast(a), cast(b));
        sub_16(a, b) = n.vqsubq_u16(cast(a), cast(b));
        min_bytes(a, b) = n.vminq_s8(cast(a), cast(b));
        <const BY: i32> shr_16(a) = n.vshrq_n_u16::<BY>(cast(a));
    }
    #[inline(always)]
    fn splat_8(self, x: u8) -> uint32x4_t {
        LaneOps::splat_8(self, x)
    }
    #[inline(always)]
    fn splat_16(self, x: u16) -> uint32x4_t {
        LaneOps::splat_16(self, x)
    }
    #[inline(always)]
    fn less_one(self, a: uint32x4_t, index: uint32x4_t, list: &List) -> uint32x4_t {
        // The upper bytes of a lane find the number 0, which no list contains.
        let index = self.and(index, self.splat(15));
        self.sub(a, self.look_up_16(self.table_16(&list.bytes), index))
    }
    #[inline(always)]
    fn look_up(self, items: &[u8; 32], x: uint32x4_t) -> uint32x4_t {
        let [low, high] = cast::<[u8; 32], [uint8x16_t; 2]>(*items);
        let index = self.min_u8(x, LaneOps::splat_8(self, 31));
        cast(self.neon.vqtbl2q_u8(uint8x16x2_t(low, high), cast(index)))
    }
    #[inline(always)]
    fn any_without(self, [a, b, c, d]: [uint32x4_t; 4], bits: u32) -> bool {
        let n = self.neon;
        let [a, b, c, d] = vector::each!([a, b, c, d], |x| n.vtstq_u32(x, n.vdupq_n_u32(bits)));
        n.vminvq_u32(n.vandq_u32(n.vandq_u32(a, b), n.vandq_u32(c, d))) == 0
    }
    #[inline(always)]
    fn any_equal_16(self, x: [uint32x4_t; 2], y: uint32x4_t) -> bool {
        let [a, b] = two!(x, |x| self.neon.vceqq_u16(cast(x), cast(y)));
        self.any(cast(self.neon.vorrq_u16(a, b)))
    }
    #[inline(always)]
    fn pack_16<const SIGNED: bool>(self, [a, b]: [uint32x4_t; 2]) -> uint32x4_t {
        self.narrow_16::<true, true, SIGNED>(a, b)
    }
    #[inline(always)]
    fn any_full(self, x: uint32x4_t) -> bool {
        self.neon.vmaxvq_u8(cast(x)) == 0xFF
    }
    #[inline(always)]
    fn renumber(self, x: uint32x4_t, first: u8, last: u8, by: u8) -> (uint32x4_t, bool) {
        let (n, x) = (self.neon, cast(x));
        let some = n.vtstq_u8(x, x);
        // Codes below the first one wrap around.
        let above = n.vsubq_u8(x, n.vdupq_n_u8(first));
        let beyond = n.vandq_u8(some, n.vcgtq_u8(above, n.vdupq_n_u8(last - first)));
        (cast(n.vandq_u8(some, n.vsubq_u8(x, n.vdupq_n_u8(by)))), !self.any(cast(beyond)))
    }
    #[inline(always)]
    unsafe fn store_codes<const APART: bool, const PACKED: bool>(self, dst: *mut u8, mut x: uint32x4_t) {
        /// The order that gathers the four elements of each of four registers; two of the registers alternate.
        const GATHER: [u8; 16] = [0, 2, 4, 6, 1, 3, 5, 7, 8, 10, 12, 14, 9, 11, 13, 15];
        if !APART {
            x = cast(self.neon.vqtbl1q_u8(cast(x), cast(GATHER)));
        }
        // SAFETY: the caller's block is a register, or half of one if it is packed.
        unsafe { if PACKED { store_nibbles(dst, cast(x)) } else { self.store(dst, x) } }
    }
}

/// Codes of `BITS` bits, looked up as float32 in the tables of the kernel to float32.
struct Codes<S, Q, const E: usize, const BITS: usize>(PhantomData<(S, Q)>);

/// 8-bit floats with a sign.
type Eight<S> = Codes<S, Magnitude, 128, 8>;
/// Packed codes of 4 bits.
type Four<S> = Codes<S, Direct<4>, 16, 4>;

impl<S: Format, Q: Lookup<Neon, E>, const E: usize, const BITS: usize> Source<Neon> for Codes<S, Q, E, BITS> {
    const BITS: usize = BITS;
    type Table = [Q::Entries; 2];
    #[inline(always)]
    unsafe fn table(m: Neon, _: &Data) -> Self::Table {
        To16::<Saturating<S, f32>, Q, E, BITS>::entries(m)
    }
    #[inline(always)]
    unsafe fn load(m: Neon, tables: &Self::Table, p: *const u8) -> [uint32x4_t; 4] {
        // SAFETY: the caller's block is a register, or half of one if it is packed; the token proves NEON.
        let codes = unsafe {
            if BITS == 4 {
                let [codes, _] = nibbles(vcombine_u8(vld1_u8(p), vdup_n_u8(0)));
                cast(codes)
            } else {
                m.load(p)
            }
        };
        upper_halves(m, To16::<Saturating<S, f32>, Q, E, BITS>::found(m, *tables, codes))
    }
}

/// int8.
struct Integers;

impl Source<Neon> for Integers {
    const BITS: usize = 8;
    type Table = ();
    #[inline(always)]
    unsafe fn table(_: Neon, _: &Data) {}
    #[inline(always)]
    unsafe fn load(m: Neon, (): &(), p: *const u8) -> [uint32x4_t; 4] {
        // SAFETY: the caller's block is a register.
        Ints8::<Neon, true>(unsafe { m.load(p) }).f32(m)
    }
}

crate::vector::scaled::define_scaled!(neon_fn, Neon);

impl Fusing for Neon {
    neon_fn! {
        unsafe fn scale_blocks<S: Source<Self>, W: Stage<Self>>(
            src: *const u8,
            dst: *mut u8,
            n: usize,
            run: usize,
            factors: &Factors<'_>,
            data: [&Data; 2],
        ) {
            // SAFETY: the caller's CPU has the tier, and the blocks are the caller's.
            unsafe { scaled::run::<Self, S, W>(Self::new_unchecked(), src, dst, n, run, factors, data) }
        }
    }
}

/// See [`scaled::fused`].
pub(in crate::arch) fn fused(from: DType, to: Encoding, step: Step) -> Option<Fused> {
    scaled::fused::<Neon>(from, to, step)
}

/// The sources whose codes this module loads.
struct Sources;

impl Decoding<Neon> for Sources {
    type E4M3 = Eight<F8E4M3FN>;
    type E5M2 = Eight<F8E5M2>;
    type E2M1 = Four<F4E2M1FN>;
    type Int4 = Four<I4>;
    type Int8 = Integers;
}

/// See [`scaled::decoder`].
pub(in crate::arch) fn decoder(from: Encoding, to: DType, step: Step) -> Option<Fused> {
    scaled::decoder::<Neon, Sources>(from, to, step)
}
