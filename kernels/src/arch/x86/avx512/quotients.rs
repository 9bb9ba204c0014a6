//! Quantization of bfloat16 to 8-bit floats by a table ([`crate::scaled`]), with permutations of bytes.

use crate::arch::native::intrinsics::*;
use crate::scaled::SmallFloat;

/// The indices of the low or the high bytes of the words of two registers.
const fn bytes_of_words(high: bool) -> [u8; 64] {
    let mut index = [high as u8; 64];
    let mut i = 0;
    while i < 64 {
        index[i] += 2 * i as u8;
        i += 1;
    }
    index
}

#[inline(always)]
unsafe fn constant(x: &[u8; 64]) -> __m512i {
    // SAFETY: the caller has the features; a register is read.
    unsafe { _mm512_loadu_si512(x.as_ptr().cast()) }
}

vbmi_fn! {
    /// # Safety
    ///
    /// As [`TableFn`](crate::scaled::TableFn).
    #[expect(clippy::too_many_arguments, reason = "where, what, and the numbers of a scale")]
    pub(in crate::arch) unsafe fn quotients(
        src: *const u8,
        dst: *mut u8,
        start: usize,
        n: usize,
        run: usize,
        table: &[u8; 128],
        firsts: &[u8],
        float: SmallFloat,
    ) -> usize {
        // SAFETY: blocks that lie among the caller's `n` elements; a run has its exponent.
        unsafe {
            let all = |x: u8| _mm512_set1_epi8(x as i8);
            let low = _mm512_loadu_si512(table.as_ptr().cast());
            let high = _mm512_loadu_si512(table.as_ptr().add(64).cast());
            let low_bytes = constant(const { &bytes_of_words(false) });
            let high_bytes = constant(const { &bytes_of_words(true) });
            let (most, max, special) = (all(float.exponents), all(float.max), all(0xFF));
            // Quotients at least so many exponents below the first normal one become zero.
            let subnormal = all(float.mantissa_bits as u8 + 2);
            let sign = all(0x80);
            let (mut at, mut i) = (start, start / run);
            let mut end = (i + 1) * run;
            while at < n {
                if at >= end {
                    (i, end) = (i + 1, end + run);
                }
                let mut first = all(*firsts.get_unchecked(i));
                if run < 64 {
                    (i, end) = (i + 1, end + run);
                    first = _mm512_mask_set1_epi8(first, 0xFFFF_FFFF_0000_0000, *firsts.get_unchecked(i) as i8);
                }
                let p = src.add(2 * at);
                let (a, b) = (_mm512_loadu_si512(p.cast()), _mm512_loadu_si512(p.add(64).cast()));
                // Shifted by the sign, the high byte of a word is its exponent.
                let exponents = _mm512_permutex2var_epi8(_mm512_add_epi16(a, a), high_bytes, _mm512_add_epi16(b, b));
                // The top bit of an index does not matter.
                let mantissas = _mm512_permutex2var_epi8(a, low_bytes, b);
                let found = _mm512_permutex2var_epi8(low, mantissas, high);
                let below = _mm512_cmplt_epu8_mask(exponents, first);
                let normal_or_zero = _mm512_cmplt_epu8_mask(exponents, _mm512_sub_epi8(first, subnormal)) | !below;
                if normal_or_zero != u64::MAX || _mm512_cmpeq_epi8_mask(exponents, special) != 0 {
                    break;
                }
                let above = _mm512_min_epu8(_mm512_subs_epu8(exponents, first), most);
                // No bit leaves its byte.
                let above = match float.mantissa_bits {
                    3 => _mm512_slli_epi16::<3>(above),
                    _ => _mm512_slli_epi16::<2>(above),
                };
                let codes = _mm512_maskz_add_epi8(!below, found, above);
                let codes = _mm512_min_epu8(codes, max);
                let negative = u64::from(_mm512_movepi16_mask(a)) | u64::from(_mm512_movepi16_mask(b)) << 32;
                _mm512_storeu_si512(dst.add(at).cast(), _mm512_mask_add_epi8(codes, negative, codes, sign));
                at += 64;
            }
            at
        }
    }
}
