//! Codes of a byte or less as blocks of float32, for scaled casts ([`crate::vector::scaled`]).

use super::{
    super::{scale_blocks, simd::Avx2},
    shapes::dwords,
    *,
};
use crate::vector::scaled::Source;
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

crate::vector::scaled::define_decoders!(Avx2, Small, Small, Four, Four, Ints);
