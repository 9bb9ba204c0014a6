//! Loads codes of at most a byte as blocks of float32, for scaled casts ([`crate::vector::scaled`]).

use super::{
    super::simd::Avx2,
    blocks::load,
    shapes::{F32, Shape as _, dwords},
    sources::{self, Last, Shifted, Table},
};
use crate::vector::Simd;
use crate::vector::scaled::Factors;
use crate::vector::scaled::Fusing;
use crate::vector::scaled::Stage;
use crate::{
    arch::x86::intrinsics::*,
    dtype::{DType, Encoding},
    format::data::Data,
    vector::scaled::{self, Decoding, Fused, Source, Step},
};
use core::marker::PhantomData;

/// Codes of `FROM` bits whose words are made as in the kernel to float32.
struct Found<Q, const FROM: u32>(PhantomData<Q>);

/// 8-bit floats with few codes of infinity and NaN.
type Small = Found<Shifted<Last, true>, 8>;
/// Packed codes of 4 bits.
type Four = Found<Table<16>, 4>;

impl<Q: sources::Source, const FROM: u32> Source<Avx2> for Found<Q, FROM>
where
    Q::Data: Copy,
{
    const BITS: usize = FROM as usize;
    type Table = Q::Data;
    #[inline(always)]
    unsafe fn table(_: Avx2, data: &Data) -> Q::Data {
        // SAFETY: the table of the kernel is of this kind.
        unsafe { data.table.cast::<Q::Data>().read() }
    }
    #[inline(always)]
    unsafe fn load(_: Avx2, table: &Q::Data, p: *const u8) -> [__m256i; 4] {
        // SAFETY: the caller's promise.
        unsafe { dwords(Q::words(table, F32::order(load::<FROM>(p)))) }
    }
}

/// int8.
struct Ints;

impl Source<Avx2> for Ints {
    const BITS: usize = 8;
    type Table = ();
    #[inline(always)]
    unsafe fn table(_: Avx2, _: &Data) {}
    #[inline(always)]
    unsafe fn load(_: Avx2, (): &(), p: *const u8) -> [__m256i; 4] {
        // SAFETY: the caller's promise.
        unsafe {
            crate::vector::each!([0, 1, 2, 3], |k| {
                let bytes = _mm_loadl_epi64(p.add(8 * k).cast());
                _mm256_castps_si256(_mm256_cvtepi32_ps(_mm256_cvtepi8_epi32(bytes)))
            })
        }
    }
}

impl Fusing for Avx2 {
    avx2_fn! {
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
    scaled::fused::<Avx2>(from, to, step)
}

/// The sources whose codes this module loads.
struct Sources;

impl Decoding<Avx2> for Sources {
    type E4M3 = Small;
    type E5M2 = Small;
    type E2M1 = Four;
    type Int4 = Four;
    type Int8 = Ints;
}

/// See [`scaled::decoder`].
pub(in crate::arch) fn decoder(from: Encoding, to: DType, step: Step) -> Option<Fused> {
    scaled::decoder::<Avx2, Sources>(from, to, step)
}
