//! Packed storage with NEON: vectors handle blocks of 32 elements, and `format::packed` handles the rest.

use crate::format::packed::{Nibbles, Packing, SCALAR};
use core::arch::aarch64::*;

/// Elements of a block.
const BLOCK: usize = 32;

pub(super) static PACKING: Packing = Packing {
    unpack: [unpack::<2>, unpack::<4>, unpack::<6>],
    pack: [pack::<2>, pack::<4>, pack::<6>],
    map: [map::<2>, map::<4>, map_nibbles],
};

/// The two registers of a block of bytes.
type Codes = [uint8x16_t; 2];

/// The halves of bytes, the lower one first.
#[inline(always)]
pub(super) unsafe fn nibbles(x: uint8x16_t) -> Codes {
    // SAFETY: the CPU has NEON, by the caller.
    unsafe {
        let (low, high) = (vandq_u8(x, vdupq_n_u8(0x0F)), vshrq_n_u8::<4>(x));
        [vzip1q_u8(low, high), vzip2q_u8(low, high)]
    }
}

/// A block of elements of `BITS` bits, one per byte.
///
/// # Safety
///
/// `4 * BITS` bytes are readable, and the CPU has NEON.
#[inline(always)]
pub(super) unsafe fn spread<const BITS: u32>(packed: *const u8) -> Codes {
    // SAFETY: the caller's promise.
    unsafe {
        match BITS {
            2 => {
                let [pairs, _] = nibbles(vcombine_u8(vld1_u8(packed), vdup_n_u8(0)));
                let (low, high) = (vandq_u8(pairs, vdupq_n_u8(3)), vshrq_n_u8::<2>(pairs));
                [vzip1q_u8(low, high), vzip2q_u8(low, high)]
            }
            4 => nibbles(vld1q_u8(packed)),
            _ => {
                // Three registers with one byte each of eight groups of four elements.
                let uint8x8x3_t(a, b, c) = vld3_u8(packed);
                let mask = vdup_n_u8(0x3F);
                let first = vand_u8(a, mask);
                let second = vand_u8(vsli_n_u8::<2>(vshr_n_u8::<6>(a), b), mask);
                let third = vand_u8(vsli_n_u8::<4>(vshr_n_u8::<4>(b), c), mask);
                let fourth = vshr_n_u8::<2>(c);
                let zip = |a, b| {
                    let zero = vdup_n_u8(0);
                    vreinterpretq_u16_u8(vzip1q_u8(vcombine_u8(a, zero), vcombine_u8(b, zero)))
                };
                let (low, high) = (zip(first, second), zip(third, fourth));
                [vreinterpretq_u8_u16(vzip1q_u16(low, high)), vreinterpretq_u8_u16(vzip2q_u16(low, high))]
            }
        }
    }
}

/// 16 codes without bits above the lowest four, packed.
///
/// # Safety
///
/// 8 bytes are writable, and the CPU has NEON.
#[inline(always)]
pub(super) unsafe fn store_nibbles(p: *mut u8, codes: uint8x16_t) {
    // SAFETY: the caller's bytes.
    unsafe {
        let pairs = vreinterpretq_u16_u8(codes);
        vst1_u8(p, vmovn_u16(vsraq_n_u16::<4>(pairs, pairs)));
    }
}

/// Packs a block of codes that have no bits above `BITS`.
///
/// # Safety
///
/// `4 * BITS` bytes are writable, and the CPU has NEON.
#[inline(always)]
pub(super) unsafe fn join<const BITS: u32>(packed: *mut u8, [a, b]: Codes) {
    // SAFETY: the caller's promise.
    unsafe {
        let (even, odd) = (vuzp1q_u8(a, b), vuzp2q_u8(a, b));
        match BITS {
            2 => {
                let pairs = vsliq_n_u8::<2>(even, odd);
                let (even, odd) = (vuzp1q_u8(pairs, pairs), vuzp2q_u8(pairs, pairs));
                vst1_u8(packed, vget_low_u8(vsliq_n_u8::<4>(even, odd)));
            }
            4 => vst1q_u8(packed, vsliq_n_u8::<4>(even, odd)),
            _ => {
                let half = |x| vget_low_u8(x);
                let (first, third) = (half(vuzp1q_u8(even, even)), half(vuzp2q_u8(even, even)));
                let (second, fourth) = (half(vuzp1q_u8(odd, odd)), half(vuzp2q_u8(odd, odd)));
                let bytes = uint8x8x3_t(
                    vsli_n_u8::<6>(first, second),
                    vsli_n_u8::<4>(vshr_n_u8::<2>(second), third),
                    vsli_n_u8::<2>(vshr_n_u8::<4>(third), fourth),
                );
                vst3_u8(packed, bytes);
            }
        }
    }
}

/// # Safety
///
/// As for `Packing::unpack`, and the CPU has NEON.
#[target_feature(enable = "neon")]
unsafe fn unpack<const BITS: u32>(packed: *const u8, codes: *mut u8, n: usize) {
    let whole = n - n % BLOCK;
    for i in (0..whole).step_by(BLOCK) {
        // SAFETY: a block of the caller's elements.
        unsafe {
            let [a, b] = spread::<BITS>(packed.add(i / 8 * BITS as usize));
            vst1q_u8(codes.add(i), a);
            vst1q_u8(codes.add(i + 16), b);
        }
    }
    let rest = SCALAR.unpack[BITS as usize / 2 - 1];
    // SAFETY: the rest of the caller's elements.
    unsafe { rest(packed.add(whole / 8 * BITS as usize), codes.add(whole), n - whole) }
}

/// # Safety
///
/// As for `Packing::pack`, and the CPU has NEON.
#[target_feature(enable = "neon")]
unsafe fn pack<const BITS: u32>(codes: *const u8, packed: *mut u8, n: usize) {
    let whole = n - n % BLOCK;
    for i in (0..whole).step_by(BLOCK) {
        // SAFETY: a block of the caller's elements.
        unsafe {
            let block = [vld1q_u8(codes.add(i)), vld1q_u8(codes.add(i + 16))];
            join::<BITS>(packed.add(i / 8 * BITS as usize), block);
        }
    }
    let rest = SCALAR.pack[BITS as usize / 2 - 1];
    // SAFETY: the rest of the caller's elements.
    unsafe { rest(codes.add(whole), packed.add(whole / 8 * BITS as usize), n - whole) }
}

/// Looks the elements up while they are unpacked.
///
/// # Safety
///
/// As for `Packing::map`, and the CPU has NEON.
#[target_feature(enable = "neon")]
unsafe fn map<const BITS: u32>(packed: *const u8, codes: *mut u8, n: usize, table: &Nibbles) {
    // SAFETY: the table has 16 bytes.
    let lut = unsafe { vld1q_u8(table.as_ptr()) };
    let whole = n - n % BLOCK;
    for i in (0..whole).step_by(BLOCK) {
        // SAFETY: a block of the caller's elements.
        unsafe {
            let [a, b] = spread::<BITS>(packed.add(i / 8 * BITS as usize));
            vst1q_u8(codes.add(i), vqtbl1q_u8(lut, a));
            vst1q_u8(codes.add(i + 16), vqtbl1q_u8(lut, b));
        }
    }
    let rest = SCALAR.map[BITS as usize / 2 - 1];
    // SAFETY: the rest of the caller's elements.
    unsafe { rest(packed.add(whole / 8 * BITS as usize), codes.add(whole), n - whole, table) }
}

/// Looks up both halves of each byte.
///
/// # Safety
///
/// As for `Packing::map`, and the CPU has NEON.
#[target_feature(enable = "neon")]
unsafe fn map_nibbles(src: *const u8, dst: *mut u8, bytes: usize, table: &Nibbles) {
    // SAFETY: the table has 16 bytes.
    let lut = unsafe { vld1q_u8(table.as_ptr()) };
    let whole = bytes - bytes % 16;
    for i in (0..whole).step_by(16) {
        // SAFETY: 16 of the caller's bytes.
        unsafe {
            let x = vld1q_u8(src.add(i));
            let low = vqtbl1q_u8(lut, vandq_u8(x, vdupq_n_u8(0x0F)));
            let high = vqtbl1q_u8(lut, vshrq_n_u8::<4>(x));
            vst1q_u8(dst.add(i), vsliq_n_u8::<4>(low, high));
        }
    }
    // SAFETY: the rest of the caller's bytes.
    unsafe { (SCALAR.map[2])(src.add(whole), dst.add(whole), bytes - whole, table) }
}
