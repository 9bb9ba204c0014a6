//! Loads codes of at most a byte as blocks of float32, for scaled casts ([`crate::vector::scaled`]).

use super::{
    super::simd::Avx512,
    loads::{Bytes, Load, Packed},
    lookup::{T64, T128},
    planes::{Direct, Planes, Signed},
    run,
    shapes::{F32, W16, upper_halves},
};
use crate::vector::Simd;
use crate::vector::scaled::Factors;
use crate::vector::scaled::Fusing;
use crate::vector::scaled::Stage;
use crate::{
    arch::x86::intrinsics::*,
    dtype::{DType, Encoding},
    format::{data::Data, lut::Lut},
    vector::{
        kernel::TableFn,
        scaled::{self, Decoding, Fused, Source, Step},
    },
};
use core::marker::PhantomData;

/// Codes that are looked up in the table of the kernel to float32.
struct Found<L, Q, const E: usize>(PhantomData<(L, Q)>);

type Token = Avx512<true, false>;

/// 8-bit floats with a sign.
type Small = Found<Bytes, Signed<T128, 2>, 128>;
/// Packed codes of 4 bits.
type Four = Found<Packed<4>, Direct<T64, 2>, 64>;

impl<L: Load, Q: Planes<E, 2>, const E: usize> Source<Token> for Found<L, Q, E> {
    const BITS: usize = L::BITS as usize;
    type Table = Q;
    #[inline(always)]
    unsafe fn table(_: Token, data: &Data) -> Q {
        // SAFETY: the table of the kernel is of this kind.
        unsafe { Q::load(&*data.table.cast::<Lut<E, 2>>()) }
    }
    #[inline(always)]
    unsafe fn load(_: Token, table: &Q, p: *const u8) -> [__m512i; 4] {
        // SAFETY: the caller's promise.
        unsafe { upper_halves(table.of(L::codes::<F32, 2>(L::load(p)))) }
    }
}

/// int8.
struct Ints;

impl Source<Token> for Ints {
    const BITS: usize = 8;
    type Table = ();
    #[inline(always)]
    unsafe fn table(_: Token, _: &Data) {}
    #[inline(always)]
    unsafe fn load(_: Token, (): &(), p: *const u8) -> [__m512i; 4] {
        // SAFETY: the caller's promise.
        unsafe {
            crate::vector::each!([0, 1, 2, 3], |k| {
                let bytes = _mm_loadu_si128(p.add(16 * k).cast());
                _mm512_castps_si512(_mm512_cvtepi32_ps(_mm512_cvtepi8_epi32(bytes)))
            })
        }
    }
}

/// The kernel of 8-bit floats to bfloat16 that looks all words up in a table of magnitudes.
pub(in crate::arch) fn products(from: Encoding, to: Encoding) -> Option<TableFn<Lut<128, 2>>> {
    let covered = matches!(from.dtype(), DType::Float8E4M3FN | DType::Float8E5M2);
    (covered && to == Encoding::new(DType::BFloat16)).then_some(run::<Bytes, Signed<T128, 2>, W16, 128, 2>)
}

impl Fusing for Token {
    vbmi_fn! {
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
    scaled::fused::<Token>(from, to, step)
}

/// The sources whose codes this module loads.
struct Sources;

impl Decoding<Token> for Sources {
    type E4M3 = Small;
    type E5M2 = Small;
    type E2M1 = Four;
    type Int4 = Four;
    type Int8 = Ints;
}

/// See [`scaled::decoder`].
pub(in crate::arch) fn decoder(from: Encoding, to: DType, step: Step) -> Option<Fused> {
    scaled::decoder::<Token, Sources>(from, to, step)
}
