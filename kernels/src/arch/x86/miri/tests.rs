//! Compares both on a CPU: with every combination of lanes at the edges, and with many random lanes.

use super::*;
#[cfg(target_arch = "x86")]
use core::arch::x86 as cpu;
#[cfg(target_arch = "x86_64")]
use core::arch::x86_64 as cpu;
use std::println;

/// Pseudorandom numbers.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        self.0 ^ self.0 >> 29
    }
    /// A register in which all lanes are near a power of two, integer or float, or have other patterns of bits.
    fn register<V: Copy>(&mut self) -> V {
        let kind = self.next() % 6;
        let lane = |random: u64, near: u64| -> u64 {
            let near = near % 5;
            let sign = random >> 63;
            match kind {
                0 => random,
                1 => (1_u64 << (random % 64)).wrapping_add(near).wrapping_sub(2),
                2 => f64_of(random % 140, near) | sign << 63,
                3 => f32_of(random % 280, near) | f32_of(random >> 20 & 0xFF, near) << 32 | sign << 63,
                4 => random & 0x8040_C020_FF7F_0180,
                _ => (random >> 32) << 32 | near,
            }
        };
        let lanes: [u64; 8] = array::from_fn(|_| lane(self.next(), self.next() >> 40));
        const { assert!(size_of::<V>() <= 64) };
        // SAFETY: the lanes are at least as large, and every bit pattern is valid.
        unsafe { mem::transmute_copy(&lanes) }
    }
}

/// The bits of floats around a power of two. The exponent starts near the ends of the ranges of integers and float16.
fn f64_of(exponent: u64, near: u64) -> u64 {
    ((953 + exponent) << 52).wrapping_add(near << (exponent % 53)).wrapping_sub(2 << (exponent % 53))
}
fn f32_of(exponent: u64, near: u64) -> u64 {
    u64::from(
        (((exponent as u32) & 0xFF) << 23).wrapping_add((near as u32) << (exponent % 24)).wrapping_sub(2),
    )
}

fn bytes<V>(x: &V) -> &[u8] {
    // SAFETY: registers and masks have no padding.
    unsafe { core::slice::from_raw_parts((&raw const *x).cast(), size_of::<V>()) }
}

macro_rules! same {
    ($($name:ident($($arg:expr),*);)*) => {$(
        let (cpu, rust) = (cpu::$name($($arg),*), $name($($arg),*));
        assert_eq!(bytes(&cpu), bytes(&rust), "{} of {:?}", stringify!($name), ($($arg),*));
    )*};
}
macro_rules! same_for {
    ([$($parameter:literal)*] $rest:tt) => {$(same_for!(@ $parameter $rest);)*};
    (@ $parameter:literal {$($name:ident$(::<_, $second:literal>)?($($arg:expr),*);)*}) => {$(
        let cpu = cpu::$name::<$parameter $(, $second)?>($($arg),*);
        let rust = $name::<$parameter $(, $second)?>($($arg),*);
        assert_eq!(
            bytes(&cpu), bytes(&rust), "{}::<{}> of {:?}", stringify!($name), $parameter, ($($arg),*)
        );
    )*};
}

#[target_feature(enable = "avx2,f16c,avx512f,avx512bw,avx512vl,avx512dq,avx512vbmi,avx512bf16")]
fn compare(random: &mut Random) {
    let (a, b, index): (__m512i, __m512i, __m512i) =
        (random.register(), random.register(), random.register());
    let (s, t) = (_mm512_castsi512_ps(a), _mm512_castsi512_ps(b));
    let (d, e) = (_mm512_castsi512_pd(a), _mm512_castsi512_pd(b));
    let (low, half, half_b) =
        (_mm512_castsi512_si256(a), _mm512_castps512_ps256(s), _mm512_castps512_ps256(t));
    let by = _mm_cvtsi32_si128((random.next() % 20) as i32);
    let k = random.next();
    same! {
        _mm512_cvtph_ps(low); _mm512_cvtps_pd(half); _mm512_cvtpd_ps(d); _mm512_cvtne2ps_pbh(s, t);
        _mm512_cvttps_epi32(s); _mm512_cvttps_epu32(s); _mm512_cvttps_epi64(half); _mm512_cvttps_epu64(half);
        _mm512_cvttpd_epu32(d); _mm512_cvttpd_epi64(d); _mm512_cvttpd_epu64(d);
        _mm512_maskz_cvttps_epi32(k as u16, s); _mm512_maskz_cvttps_epi64(k as u8, half);
        _mm512_maskz_cvttpd_epi32(k as u8, d); _mm512_maskz_cvttpd_epi64(k as u8, d);
        _mm512_max_ps(s, t); _mm512_min_ps(s, t); _mm512_max_pd(d, e); _mm512_min_pd(d, e);
        _mm512_max_ps(s, s); _mm512_min_pd(d, d);
        _mm512_cvtsepi32_epi16(a); _mm512_cvtsepi32_epi8(a); _mm512_cvtsepi64_epi8(a);
        _mm512_cvtusepi32_epi16(a); _mm512_cvtusepi32_epi8(a); _mm512_cvtusepi64_epi8(a);
        _mm512_cvtepi64_epi8(a); _mm512_cvtsepi64_epi16(a); _mm512_cvtsepi64_epi32(a);
        _mm512_cvtusepi64_epi16(a); _mm512_cvtusepi64_epi32(a);
        _mm512_srl_epi16(a, by); _mm512_multishift_epi64_epi8(a, b);
        _mm512_permutexvar_epi8(index, a); _mm512_permutexvar_epi16(index, a);
        _mm512_permutex2var_epi16(a, index, b); _mm512_permutex2var_epi32(a, index, b);
        _mm512_permutex2var_pd(d, index, e);
        _mm512_maskz_permutex2var_epi16(k as u32, a, index, b); _mm512_mulhrs_epi16(a, b);
        _mm512_srlv_epi16(a, _mm512_srli_epi16::<11>(b)); _mm512_srlv_epi16(a, b);
        _mm512_maskz_srlv_epi16(k as u32, a, _mm512_srli_epi16::<11>(b));
    }
    same_for! { [0 4] { _mm256_cvtps_ph(half); } }
    same_for! { [0 8] { _mm512_cvtps_ph(s); _mm512_cvt_roundps_ph(s); } }
    same_for! { [8] {
        _mm512_cvt_roundph_ps(low); _mm512_cvtt_roundps_epi32(s); _mm512_min_round_ps(s, t);
    } }
    same_for! { [8 11] {
        _mm512_cvt_roundpd_ps(d); _mm512_cvt_roundepi32_ps(a); _mm512_cvt_roundepu32_ps(a);
        _mm512_cvt_roundepi64_ps(a); _mm512_cvt_roundepu64_ps(a); _mm512_cvt_roundepi64_pd(a);
        _mm512_cvt_roundepu64_pd(a);
    } }
    same_for! { [0 1 2 3 4 8 9 10 11 12] {
        _mm256_roundscale_ps(half); _mm512_roundscale_ps(s); _mm512_roundscale_pd(d);
    } }
    same_for! { [0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30 31] {
        _mm256_cmp_ps_mask(half, half_b); _mm512_cmp_ps_mask(s, t); _mm512_cmp_pd_mask(d, e);
        _mm512_cmp_ps_mask(s, s); _mm512_cmp_round_ps_mask::<_, 8>(s, t);
    } }
    same_for! { [1 2 4 8 16 32 64 128 255 0x99 0xDF] { _mm512_fpclass_ps_mask(s); } }
}

#[test]
fn the_same_as_the_instructions() {
    use super::super::{Avx2, Avx512, Bf16, Vbmi};
    let tier = Avx2::try_new().is_some() && Avx512::try_new().is_some();
    if !(tier && Vbmi::try_new().is_some() && Bf16::try_new().is_some()) {
        println!("SKIPPED: this CPU lacks some of the instructions that Miri is told of");
        return;
    }
    let mut random = Random(1);
    for _ in 0..100_000 {
        // SAFETY: the CPU has the features.
        unsafe { compare(&mut random) };
    }
}
