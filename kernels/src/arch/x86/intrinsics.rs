//! The instructions of both tiers under the names of the standard library, which are Intel's names.
//!
//! Two kinds do not always come from the standard library: packs, if the compiler would make several instructions of one (`pack`), and under
//! Miri the instructions that Miri does not know (`miri`).

#[cfg(target_arch = "x86")]
pub(super) use core::arch::x86::*;
#[cfg(target_arch = "x86_64")]
pub(super) use core::arch::x86_64::*;

#[cfg(miri)]
pub(super) use super::miri::{
    _mm256_cmp_ps_mask, _mm256_cvtps_ph, _mm256_roundscale_ps, _mm512_cmp_pd_mask, _mm512_cmp_ps_mask,
    _mm512_cmp_round_ps_mask, _mm512_cvt_roundepi32_ps, _mm512_cvt_roundepi64_pd, _mm512_cvt_roundepi64_ps,
    _mm512_cvt_roundepu32_ps, _mm512_cvt_roundepu64_pd, _mm512_cvt_roundepu64_ps, _mm512_cvt_roundpd_ps,
    _mm512_cvt_roundph_ps, _mm512_cvt_roundps_ph, _mm512_cvtepi64_epi8, _mm512_cvtne2ps_pbh, _mm512_cvtpd_ps,
    _mm512_cvtph_ps, _mm512_cvtps_pd, _mm512_cvtps_ph, _mm512_cvtsepi32_epi8, _mm512_cvtsepi32_epi16,
    _mm512_cvtsepi64_epi8, _mm512_cvtsepi64_epi16, _mm512_cvtsepi64_epi32, _mm512_cvtt_roundps_epi32,
    _mm512_cvttpd_epi64, _mm512_cvttpd_epu32, _mm512_cvttpd_epu64, _mm512_cvttps_epi32, _mm512_cvttps_epi64,
    _mm512_cvttps_epu32, _mm512_cvttps_epu64, _mm512_cvtusepi32_epi8, _mm512_cvtusepi32_epi16,
    _mm512_cvtusepi64_epi8, _mm512_cvtusepi64_epi16, _mm512_cvtusepi64_epi32, _mm512_fpclass_ps_mask,
    _mm512_maskz_cvttpd_epi32, _mm512_maskz_cvttpd_epi64, _mm512_maskz_cvttps_epi32,
    _mm512_maskz_cvttps_epi64, _mm512_maskz_permutex2var_epi16, _mm512_maskz_srlv_epi16, _mm512_max_pd,
    _mm512_max_ps, _mm512_min_pd, _mm512_min_ps, _mm512_min_round_ps, _mm512_mulhrs_epi16,
    _mm512_multishift_epi64_epi8, _mm512_permutex2var_epi16, _mm512_permutex2var_epi32,
    _mm512_permutex2var_pd, _mm512_permutexvar_epi8, _mm512_permutexvar_epi16, _mm512_roundscale_pd,
    _mm512_roundscale_ps, _mm512_srl_epi16, _mm512_srlv_epi16,
};
#[cfg(all(packs_by_clamps, not(miri)))]
pub(super) use super::pack::{
    _mm256_packs_epi16, _mm256_packs_epi32, _mm256_packus_epi16, _mm256_packus_epi32, _mm512_packs_epi16,
    _mm512_packs_epi32, _mm512_packus_epi16, _mm512_packus_epi32,
};
