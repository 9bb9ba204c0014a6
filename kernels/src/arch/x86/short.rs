//! Copies a few bytes to and from the stack, for kernels that load and store whole registers there.
//!
//! A load waits for the cache if more than one recent store wrote its bytes. So `copy_in` combines the bytes in a register and stores them by
//! one instruction, and `copy_out` loads what a kernel stored in pieces that lie within single registers.

use crate::arch::x86::intrinsics::*;

/// Copies `len` bytes and fills with zeros up to `whole` bytes.
///
/// # Safety
///
/// The CPU has AVX2. `src` is readable for `len` bytes. `dst` is writable for `whole` bytes; `whole` is at least `len` and a multiple of 32. The
/// two do not overlap.
#[target_feature(enable = "avx2")]
pub(super) unsafe fn copy_in(src: *const u8, len: usize, dst: *mut u8, whole: usize) {
    debug_assert!(len <= whole && whole.is_multiple_of(32));
    let full = len - len % 32;
    // SAFETY: the caller's bytes, in registers of 32 bytes.
    unsafe {
        for i in (0..full).step_by(32) {
            _mm256_storeu_si256(dst.add(i).cast(), _mm256_loadu_si256(src.add(i).cast()));
        }
        if full < len {
            _mm256_storeu_si256(dst.add(full).cast(), few(src.add(full), len - full));
        }
        for i in (len.next_multiple_of(32)..whole).step_by(32) {
            _mm256_storeu_si256(dst.add(i).cast(), _mm256_setzero_si256());
        }
    }
}

/// Copies `len` bytes.
///
/// # Safety
///
/// The CPU has AVX2; `src` is readable up to the next multiple of 32 bytes, `dst` is writable for `len` bytes, and they do not overlap.
#[target_feature(enable = "avx2")]
pub(super) unsafe fn copy_out(src: *const u8, len: usize, dst: *mut u8) {
    let full = len - len % 32;
    // SAFETY: bytes of the caller's.
    unsafe {
        for i in (0..full).step_by(32) {
            _mm256_storeu_si256(dst.add(i).cast(), _mm256_loadu_si256(src.add(i).cast()));
        }
        let (mut dst, left) = (dst.add(full), len - full);
        if left == 0 {
            return;
        }
        let x = _mm256_loadu_si256(src.add(full).cast());
        let mut x16 = _mm256_castsi256_si128(x);
        if left & 16 != 0 {
            _mm_storeu_si128(dst.cast(), x16);
            (x16, dst) = (_mm256_extracti128_si256::<1>(x), dst.add(16));
        }
        if left & 8 != 0 {
            _mm_storel_epi64(dst.cast(), x16);
            (x16, dst) = (_mm_unpackhi_epi64(x16, x16), dst.add(8));
        }
        if left & 4 != 0 {
            _mm_storeu_si32(dst.cast(), x16);
            (x16, dst) = (_mm_srli_epi64::<32>(x16), dst.add(4));
        }
        let word = _mm_cvtsi128_si32(x16);
        if left & 2 != 0 {
            dst.cast::<u16>().write_unaligned(word as u16);
            dst = dst.add(2);
        }
        if left & 1 != 0 {
            dst.write(if left & 2 != 0 { (word >> 16) as u8 } else { word as u8 });
        }
    }
}

/// Loads `len` bytes, fewer than 32, and zeros after them.
///
/// # Safety
///
/// The CPU has AVX2, and the bytes are readable.
#[inline]
#[target_feature(enable = "avx2")]
unsafe fn few(p: *const u8, len: usize) -> __m256i {
    // SAFETY: the caller's promise is the same.
    unsafe {
        if len & 16 == 0 {
            _mm256_zextsi128_si256(half(p, len))
        } else {
            _mm256_set_m128i(half(p.add(16), len - 16), _mm_loadu_si128(p.cast()))
        }
    }
}

/// Loads `len` bytes, fewer than 16, and zeros after them.
///
/// # Safety
///
/// As for [`few`].
#[inline]
#[target_feature(enable = "avx2")]
unsafe fn half(p: *const u8, len: usize) -> __m128i {
    // SAFETY: the caller's promise is the same.
    unsafe {
        if len & 8 == 0 {
            words(quarter(p, len), 0)
        } else {
            words(p.cast::<u64>().read_unaligned(), quarter(p.add(8), len - 8))
        }
    }
}

#[inline]
#[target_feature(enable = "avx2")]
fn words(low: u64, high: u64) -> __m128i {
    _mm_set_epi64x(high as i64, low as i64)
}

/// Loads `len` bytes, fewer than 8, and zeros after them: two loads that may overlap are shifted to their places.
///
/// # Safety
///
/// The bytes are readable.
#[inline]
unsafe fn quarter(p: *const u8, len: usize) -> u64 {
    // SAFETY: the caller's promise is the same.
    unsafe {
        match len {
            0 => 0,
            1 => u64::from(p.read()),
            2..4 => {
                let ends = [p, p.add(len - 2)].map(|p| u64::from(p.cast::<u16>().read_unaligned()));
                ends[0] | ends[1] << (8 * (len - 2))
            }
            _ => {
                let ends = [p, p.add(len - 4)].map(|p| u64::from(p.cast::<u32>().read_unaligned()));
                ends[0] | ends[1] << (8 * (len - 4))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::vec;

    #[test]
    fn every_length() {
        if !crate::arch::Tier::Avx2.is_available() {
            return;
        }
        let src: vec::Vec<u8> = (1..=128).collect();
        for len in 0..=96 {
            let (mut block, mut dst) = (vec![0xA5_u8; 96], vec![0xA5_u8; 100]);
            // SAFETY: the CPU has AVX2; the buffers are long enough. The source ends where the vector ends.
            unsafe {
                copy_in(src[128 - len..].as_ptr(), len, block.as_mut_ptr(), 96);
                copy_out(block.as_ptr(), len, dst.as_mut_ptr());
            }
            assert_eq!(block[..len], src[128 - len..]);
            assert!(block[len..].iter().all(|byte| *byte == 0), "{len}");
            assert_eq!(dst[..len], src[128 - len..]);
            assert!(dst[len..].iter().all(|byte| *byte == 0xA5), "{len}");
        }
    }
}
