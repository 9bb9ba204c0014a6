//! Packed storage with AVX2: vectors handle whole groups of elements, and `format::packed` handles the rest.
//!
//! Unpacking copies a group of bytes to every byte that receives one of its elements, shifts each to its place, and masks. Packing multiplies
//! neighbours by powers of two and adds them, with single instructions.

use crate::arch::x86::intrinsics::*;
use crate::format::packed::{Nibbles, Packing, SCALAR};

/// The packing of both tiers.
pub(super) static PACKING: Packing = Packing {
    unpack: [unpack_2, unpack_4, unpack_6],
    pack: [pack_2, pack_4, pack_6],
    map: [map_to_bytes::<2>, map_to_bytes::<4>, map_nibbles],
};

/// Unpacks 32 elements of 6 bits (24 bytes), of 4 (16 bytes) or of 2 (8 bytes), one per byte.
///
/// # Safety
///
/// The bytes are readable, and the CPU has AVX2.
#[inline]
#[target_feature(enable = "avx2")]
pub(super) unsafe fn spread<const WIDTH: u32>(packed: *const u8) -> __m256i {
    // SAFETY: the caller's promise.
    unsafe {
        if WIDTH == 6 {
            // Every lane gets three bytes: the lower half of the register the first twelve, the upper half the last twelve.
            #[rustfmt::skip]
            let spread = _mm256_setr_epi8(
                0, 1, 2, -1, 3, 4, 5, -1, 6, 7, 8, -1, 9, 10, 11, -1,
                4, 5, 6, -1, 7, 8, 9, -1, 10, 11, 12, -1, 13, 14, 15, -1,
            );
            // Two loads of 16 bytes overlap.
            let x = _mm256_set_m128i(_mm_loadu_si128(packed.add(8).cast()), _mm_loadu_si128(packed.cast()));
            let x = _mm256_shuffle_epi8(x, spread);
            // Even elements and odd elements are each in one half of the lane, and move together.
            let low = _mm256_blend_epi16::<0b1010_1010>(x, _mm256_slli_epi32::<4>(x));
            let high =
                _mm256_blend_epi16::<0b1010_1010>(_mm256_slli_epi32::<2>(x), _mm256_slli_epi32::<6>(x));
            let (even, odd) = (_mm256_set1_epi32(0x003F_003F), _mm256_set1_epi32(0x3F00_3F00));
            _mm256_or_si256(_mm256_and_si256(low, even), _mm256_and_si256(high, odd))
        } else if WIDTH == 4 {
            let x = _mm256_cvtepu8_epi16(_mm_loadu_si128(packed.cast()));
            _mm256_and_si256(_mm256_or_si256(x, _mm256_slli_epi16::<4>(x)), _mm256_set1_epi8(0x0F))
        } else {
            let x = _mm256_cvtepu8_epi32(_mm_loadl_epi64(packed.cast()));
            let x = _mm256_or_si256(x, _mm256_slli_epi32::<6>(x));
            let x = _mm256_or_si256(x, _mm256_slli_epi32::<12>(x));
            _mm256_and_si256(x, _mm256_set1_epi8(0x03))
        }
    }
}

/// # Safety
///
/// As for `Packing::unpack`, and the CPU has AVX2.
#[target_feature(enable = "avx2")]
unsafe fn unpack_4(packed: *const u8, codes: *mut u8, n: usize) {
    let whole = n - n % 32;
    for i in (0..whole).step_by(32) {
        // SAFETY: 32 of the caller's elements, which are 16 bytes.
        unsafe { _mm256_storeu_si256(codes.add(i).cast(), spread::<4>(packed.add(i / 2))) };
    }
    // SAFETY: the rest of the caller's elements.
    unsafe { (SCALAR.unpack[1])(packed.add(whole / 2), codes.add(whole), n - whole) }
}

/// # Safety
///
/// As for `Packing::unpack`, and the CPU has AVX2.
#[target_feature(enable = "avx2")]
unsafe fn unpack_2(packed: *const u8, codes: *mut u8, n: usize) {
    let whole = n - n % 32;
    for i in (0..whole).step_by(32) {
        // SAFETY: 32 of the caller's elements, which are 8 bytes.
        unsafe { _mm256_storeu_si256(codes.add(i).cast(), spread::<2>(packed.add(i / 4))) };
    }
    // SAFETY: the rest of the caller's elements.
    unsafe { (SCALAR.unpack[0])(packed.add(whole / 4), codes.add(whole), n - whole) }
}

/// Looks the elements up while they are unpacked.
///
/// # Safety
///
/// As for `Packing::map`, and the CPU has AVX2.
#[target_feature(enable = "avx2")]
unsafe fn map_to_bytes<const WIDTH: u32>(packed: *const u8, codes: *mut u8, n: usize, table: &Nibbles) {
    // SAFETY: the table has 16 bytes.
    let lut = unsafe { _mm256_broadcastsi128_si256(_mm_loadu_si128(table.as_ptr().cast())) };
    let whole = n - n % 32;
    for i in (0..whole).step_by(32) {
        // SAFETY: 32 of the caller's elements.
        unsafe {
            let x = spread::<WIDTH>(packed.add(i / 8 * WIDTH as usize));
            _mm256_storeu_si256(codes.add(i).cast(), _mm256_shuffle_epi8(lut, x));
        }
    }
    let last = if WIDTH == 4 { SCALAR.map[1] } else { SCALAR.map[0] };
    // SAFETY: the rest of the caller's elements.
    unsafe { last(packed.add(whole / 8 * WIDTH as usize), codes.add(whole), n - whole, table) }
}

/// Looks up both halves of each byte.
///
/// # Safety
///
/// As for `Packing::map`, and the CPU has AVX2.
#[target_feature(enable = "avx2")]
unsafe fn map_nibbles(src: *const u8, dst: *mut u8, bytes: usize, table: &Nibbles) {
    // SAFETY: the table has 16 bytes.
    let lut = unsafe { _mm256_broadcastsi128_si256(_mm_loadu_si128(table.as_ptr().cast())) };
    let mask = _mm256_set1_epi8(0x0F);
    let whole = bytes - bytes % 32;
    for i in (0..whole).step_by(32) {
        // SAFETY: 32 of the caller's bytes.
        unsafe {
            let x = _mm256_loadu_si256(src.add(i).cast());
            let low = _mm256_shuffle_epi8(lut, _mm256_and_si256(x, mask));
            let high = _mm256_shuffle_epi8(lut, _mm256_and_si256(_mm256_srli_epi16::<4>(x), mask));
            // The results have four bits.
            _mm256_storeu_si256(dst.add(i).cast(), _mm256_or_si256(low, _mm256_slli_epi16::<4>(high)));
        }
    }
    // SAFETY: the rest of the caller's bytes.
    unsafe { (SCALAR.map[2])(src.add(whole), dst.add(whole), bytes - whole, table) }
}

/// # Safety
///
/// As for `Packing::unpack`, and the CPU has AVX2.
#[target_feature(enable = "avx2")]
unsafe fn unpack_6(packed: *const u8, codes: *mut u8, n: usize) {
    let whole = n - n % 32;
    for i in (0..whole).step_by(32) {
        // SAFETY: 32 of the caller's elements, which are 24 bytes.
        unsafe { _mm256_storeu_si256(codes.add(i).cast(), spread::<6>(packed.add(i / 4 * 3))) };
    }
    // SAFETY: the rest of the caller's elements.
    unsafe { (SCALAR.unpack[2])(packed.add(whole / 4 * 3), codes.add(whole), n - whole) }
}

/// # Safety
///
/// As for `Packing::pack`, and the CPU has AVX2.
#[target_feature(enable = "avx2")]
unsafe fn pack_4(codes: *const u8, packed: *mut u8, n: usize) {
    let whole = n - n % 64;
    let weights = _mm256_set1_epi16(0x1001);
    for i in (0..whole).step_by(64) {
        // SAFETY: 64 of the caller's elements, which are 32 bytes.
        unsafe {
            let a = _mm256_maddubs_epi16(_mm256_loadu_si256(codes.add(i).cast()), weights);
            let b = _mm256_maddubs_epi16(_mm256_loadu_si256(codes.add(i + 32).cast()), weights);
            let x = _mm256_permute4x64_epi64::<0b11_01_10_00>(_mm256_packus_epi16(a, b));
            _mm256_storeu_si256(packed.add(i / 2).cast(), x);
        }
    }
    // SAFETY: the rest of the caller's elements.
    unsafe { (SCALAR.pack[1])(codes.add(whole), packed.add(whole / 2), n - whole) }
}

/// # Safety
///
/// As for `Packing::pack`, and the CPU has AVX2.
#[target_feature(enable = "avx2")]
unsafe fn pack_2(codes: *const u8, packed: *mut u8, n: usize) {
    let whole = n - n % 128;
    let (pairs, fours) = (_mm256_set1_epi16(0x0401), _mm256_set1_epi32(0x0010_0001));
    for i in (0..whole).step_by(128) {
        // SAFETY: 128 of the caller's elements, which are 32 bytes.
        unsafe {
            let join = |k: usize| {
                let x = _mm256_loadu_si256(codes.add(i + 32 * k).cast());
                _mm256_madd_epi16(_mm256_maddubs_epi16(x, pairs), fours)
            };
            let (low, high) = (_mm256_packus_epi32(join(0), join(1)), _mm256_packus_epi32(join(2), join(3)));
            let order = _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7);
            let x = _mm256_permutevar8x32_epi32(_mm256_packus_epi16(low, high), order);
            _mm256_storeu_si256(packed.add(i / 4).cast(), x);
        }
    }
    // SAFETY: the rest of the caller's elements.
    unsafe { (SCALAR.pack[0])(codes.add(whole), packed.add(whole / 4), n - whole) }
}

/// # Safety
///
/// As for `Packing::pack`, and the CPU has AVX2.
#[target_feature(enable = "avx2")]
unsafe fn pack_6(codes: *const u8, packed: *mut u8, n: usize) {
    let whole = n - n % 32;
    let (pairs, fours) = (_mm256_set1_epi16(0x4001), _mm256_set1_epi32(0x1000_0001));
    // Keeps the lowest three bytes of every lane; in the upper half they follow four zeros.
    #[rustfmt::skip]
    let gather = _mm256_setr_epi8(
        0, 1, 2, 4, 5, 6, 8, 9, 10, 12, 13, 14, -1, -1, -1, -1,
        -1, -1, -1, -1, 0, 1, 2, 4, 5, 6, 8, 9, 10, 12, 13, 14,
    );
    for i in (0..whole).step_by(32) {
        // SAFETY: 32 of the caller's elements are 24 bytes. One store writes the last 16, and one the first 16, whose last four bytes belong to
        // the upper half.
        unsafe {
            let x = _mm256_loadu_si256(codes.add(i).cast());
            let x = _mm256_shuffle_epi8(_mm256_madd_epi16(_mm256_maddubs_epi16(x, pairs), fours), gather);
            let (low, high) = (_mm256_castsi256_si128(x), _mm256_extracti128_si256::<1>(x));
            let p = packed.add(i / 4 * 3);
            _mm_storeu_si128(p.add(8).cast(), high);
            // Bytes 12 to 15 of the group are bytes 4 to 7 of the upper half.
            let first = _mm_or_si128(low, _mm_slli_si128::<8>(high));
            _mm_storeu_si128(p.cast(), first);
        }
    }
    // SAFETY: the rest of the caller's elements.
    unsafe { (SCALAR.pack[2])(codes.add(whole), packed.add(whole / 4 * 3), n - whole) }
}
