//! Loads, packs and stores whole blocks of elements.

use super::*;

impl<const VBMI: bool, const BF16: bool> Blocks for Avx512<VBMI, BF16> {
    const LANES: usize = 16;

    operations! {
        max_bytes(a, b) = _mm512_max_epi8(a, b);
        round(x) = env::_mm512_cvtps_epi32(_mm512_castsi512_ps(x));
    }

    #[inline(always)]
    fn pack_saturated<const APART: bool, const SIGNED: bool>(self, x: [__m512i; 4]) -> __m512i {
        // SAFETY: the token proves the instructions.
        unsafe {
            let [low, high] = [_mm512_packs_epi32(x[0], x[1]), _mm512_packs_epi32(x[2], x[3])];
            let x = if SIGNED { _mm512_packs_epi16(low, high) } else { _mm512_packus_epi16(low, high) };
            unpacked::<APART>(x)
        }
    }

    #[inline(always)]
    fn any_low_half(self, x: [__m512i; 4], low: __m512i) -> bool {
        // SAFETY: the token proves the instructions.
        unsafe {
            let equal = each!(x, |x| _mm512_cmpeq_epi16_mask(x, low));
            (equal[0] | equal[1] | equal[2] | equal[3]) & 0x5555_5555 != 0
        }
    }
    #[inline(always)]
    fn shl<const BY: u32>(self, a: __m512i) -> __m512i {
        // SAFETY: the token proves the instructions.
        unsafe { _mm512_slli_epi32::<BY>(a) }
    }

    #[inline(always)]
    unsafe fn load_32<const PART: bool>(self, p: *const u8, n: usize) -> [__m512i; 4] {
        // SAFETY: the token proves the instructions.
        unsafe { each!([0, 1, 2, 3], |k| load::<PART>(p, n, k)) }
    }
    #[inline(always)]
    unsafe fn load_16<const PART: bool>(self, p: *const u8, n: usize) -> [__m512i; 2] {
        // SAFETY: the token proves the instructions.
        unsafe {
            each!([0, 1], |k| {
                let p = p.wrapping_add(64 * k);
                if PART {
                    _mm512_maskz_loadu_epi16(mask(n, 32 * k) as u32, p.cast())
                } else {
                    _mm512_loadu_si512(p.cast())
                }
            })
        }
    }
    #[inline(always)]
    unsafe fn load_high_16<const PART: bool>(self, p: *const u8, n: usize) -> [__m512i; 4] {
        // SAFETY: the token proves the instructions.
        unsafe {
            each!([0, 1, 2, 3], |k| {
                _mm512_slli_epi32::<16>(_mm512_cvtepu16_epi32(load_16_of_16::<PART>(p, n, k)))
            })
        }
    }

    #[inline(always)]
    unsafe fn store_8<const PART: bool>(self, p: *mut u8, x: __m512i, n: usize) {
        // SAFETY: the token proves the instructions.
        unsafe { store::<PART>(p, x, n, 0) }
    }
    #[inline(always)]
    unsafe fn store_packed<const BITS: u32, const PART: bool>(self, p: *mut u8, x: __m512i, n: usize) {
        // SAFETY: the token proves the instructions.
        unsafe {
            let x = packed::join::<BITS>(x);
            if PART {
                packed::store_part::<BITS>(p, x, n);
            } else {
                packed::store::<BITS>(p, x);
            }
        }
    }
    #[inline(always)]
    unsafe fn store_16<const PART: bool>(self, p: *mut u8, x: [__m512i; 2], n: usize) {
        // SAFETY: the token proves the instructions.
        unsafe { each!([0, 1], |k| store::<PART>(p, x[k], 2 * n, k)) };
    }
    #[inline(always)]
    unsafe fn store_32<const PART: bool>(self, p: *mut u8, x: [__m512i; 4], n: usize) {
        // SAFETY: the token proves the instructions.
        unsafe { each!([0, 1, 2, 3], |k| store::<PART>(p, x[k], 4 * n, k)) };
    }

    #[inline(always)]
    fn to_bf16<const SUBNORMAL: bool>(self, x: [__m512i; 4], data: &Data) -> [__m512i; 2] {
        if !BF16 {
            return bf16::<Self, Common>(self, x, data);
        }
        // SAFETY: the token proves the instructions, including the optional feature's.
        unsafe {
            // The instruction takes subnormals for zeros, and keeps the payload of NaN.
            const SUBNORMAL_OR_NAN: i32 = 0x01 | 0x20 | 0x80;
            let others = if SUBNORMAL {
                let others = each!(x, |x| _mm512_fpclass_ps_mask::<SUBNORMAL_OR_NAN>(_mm512_castsi512_ps(x)));
                others[0] | others[1] | others[2] | others[3] != 0
            } else {
                self.any_nan(x)
            };
            let mut x = x;
            if others {
                const SUBNORMALS: i32 = 0x20;
                let subnormal = each!(x, |x| _mm512_fpclass_ps_mask::<SUBNORMALS>(_mm512_castsi512_ps(x)));
                if SUBNORMAL && subnormal[0] | subnormal[1] | subnormal[2] | subnormal[3] != 0 {
                    return bf16::<Self, Common>(self, x, data);
                }
                x = each!(x, |x| without_payload(x));
            }
            let [a, b, c, d] = each!(x, |x| _mm512_castsi512_ps(x));
            let [low, high] = each!([(a, b), (c, d)], |(low, high)| _mm512_cvtne2ps_pbh(high, low));
            [core::mem::transmute::<__m512bh, __m512i>(low), core::mem::transmute::<__m512bh, __m512i>(high)]
        }
    }
}

impl<const VBMI: bool, const BF16: bool> Casts for Avx512<VBMI, BF16> {
    const MASKED: bool = true;
    const ONE_ORDER: bool = VBMI;

    operations! {
        truncate(x) = _mm512_cvtt_roundps_epi32::<_MM_FROUND_NO_EXC>(_mm512_castsi512_ps(x));
        pack_sign_16(x: [__m512i; 2]) = if VBMI {
            _mm512_permutex2var_epi8(x[0], constant(&HIGH_BYTES), x[1])
        } else {
            _mm512_packs_epi16(x[0], x[1])
        };
        nonzero_16(x: [__m512i; 2]) = {
            let one = _mm512_set1_epi16(1);
            let [a, b] = each!([x[0], x[1]], |x| _mm512_min_epu16(_mm512_add_epi16(x, x), one));
            let codes = _mm512_packus_epi16(a, b);
            // This packing leaves elements lane-split with VBMI too.
            if VBMI { _mm512_permutexvar_epi64(constant(&HALVES_APART), codes) } else { codes }
        };
    }

    #[inline(always)]
    fn lane_split(self, x: [__m512i; 2]) -> [__m512i; 4] {
        // SAFETY: the token proves the instructions.
        unsafe {
            let zero = _mm512_setzero_si512();
            let [a, b] =
                each!([x[0], x[1]], |x| [_mm512_unpacklo_epi16(zero, x), _mm512_unpackhi_epi16(zero, x)]);
            [a[0], a[1], b[0], b[1]]
        }
    }

    #[inline(always)]
    unsafe fn load_int16<const SIGNED: bool, const PART: bool>(self, p: *const u8, n: usize) -> [__m512i; 4] {
        // SAFETY: the token proves the instructions.
        unsafe {
            each!([0, 1, 2, 3], |k| {
                let x = load_16_of_16::<PART>(p, n, k);
                let x = if SIGNED { _mm512_cvtepi16_epi32(x) } else { _mm512_cvtepu16_epi32(x) };
                _mm512_castps_si512(_mm512_cvtepi32_ps(x))
            })
        }
    }

    #[inline(always)]
    unsafe fn load_f16<const PART: bool>(self, p: *const u8, n: usize) -> [__m512i; 4] {
        // SAFETY: the token proves the instructions.
        unsafe {
            each!([0, 1, 2, 3], |k| {
                let x = load_16_of_16::<PART>(p, n, k);
                _mm512_castps_si512(_mm512_cvt_roundph_ps::<_MM_FROUND_NO_EXC>(x))
            })
        }
    }

    #[inline(always)]
    unsafe fn load_int32<const SIGNED: bool, const ODD: bool, const PART: bool>(
        self,
        p: *const u8,
        n: usize,
    ) -> [__m512i; 4] {
        // SAFETY: the token proves the instructions.
        unsafe {
            each!([0, 1, 2, 3], |k| {
                let x = load::<PART>(p, n, k);
                int32_to_f32::<SIGNED, ODD>(x)
            })
        }
    }

    #[inline(always)]
    unsafe fn load_f64<const CLAMPED: bool, const PART: bool>(self, p: *const u8, n: usize) -> [__m512i; 4] {
        // SAFETY: the token proves the instructions.
        unsafe {
            each!([0, 1, 2, 3], |k| {
                let [low, high] =
                    each!([2 * k, 2 * k + 1], |k| f64_to_odd::<CLAMPED>(load_64::<PART>(p, n, k)));
                join(low, high)
            })
        }
    }

    #[inline(always)]
    unsafe fn load_int64<const SIGNED: bool, const ODD: bool, const PART: bool>(
        self,
        p: *const u8,
        n: usize,
    ) -> [__m512i; 4] {
        // SAFETY: the token proves the instructions.
        unsafe {
            // Integers that fit in 32 bits, as most do, are cast as int32.
            let low = each!([0, 1, 2, 3], |k| {
                let [a, b] = each!([2 * k, 2 * k + 1], |k| load_64::<PART>(p, n, k));
                _mm512_permutex2var_epi32(a, constant(&LOWER), b)
            });
            let long = each!([0, 1, 2, 3], |k| {
                let [a, b] = each!([2 * k, 2 * k + 1], |k| load_64::<PART>(p, n, k));
                let high = _mm512_permutex2var_epi32(a, constant(&UPPER), b);
                let extension = if SIGNED { _mm512_srai_epi32::<31>(low[k]) } else { _mm512_setzero_si512() };
                _mm512_cmpneq_epi32_mask(high, extension)
            });
            if long[0] | long[1] | long[2] | long[3] == 0 {
                return each!(low, |x| int32_to_f32::<SIGNED, ODD>(x));
            }
            each!([0, 1, 2, 3], |k| {
                let [low, high] = each!([2 * k, 2 * k + 1], |k| {
                    f64_to_odd::<false>(int64_to_odd::<SIGNED>(load_64::<PART>(p, n, k)))
                });
                join(low, high)
            })
        }
    }

    #[inline(always)]
    unsafe fn load_c128<const PART: bool>(self, p: *const u8, n: usize) -> [__m512i; 4] {
        // SAFETY: the token proves the instructions.
        unsafe {
            each!([0, 1, 2, 3], |k| {
                let [low, high] = each!([2 * k, 2 * k + 1], |k| {
                    let [a, b] = each!([2 * k, 2 * k + 1], |k| load_64::<PART>(p, 2 * n, k));
                    f64_to_odd::<true>(_mm512_permutex2var_epi64(a, constant(&EVEN_64), b))
                });
                join(low, high)
            })
        }
    }

    #[inline(always)]
    unsafe fn store_f16<const PART: bool, const APART: bool, R: RoundingMode>(
        self,
        p: *mut u8,
        x: [__m512i; 4],
        n: usize,
    ) {
        // SAFETY: the token proves the instructions.
        unsafe {
            let [a, b, c, d] = each!(x, |x| to_f16::<R>(_mm512_castsi512_ps(x)));
            // One store of a whole register: the instruction that converts into memory is slow.
            let [low, high] = each!([(a, b), (c, d)], |(a, b)| {
                let a = _mm512_castsi256_si512(a);
                if APART {
                    _mm512_permutex2var_epi64(a, constant(&ALTERNATING), _mm512_castsi256_si512(b))
                } else {
                    _mm512_inserti64x4::<1>(a, b)
                }
            });
            self.store_16::<PART>(p, [low, high], n);
        }
    }
}
