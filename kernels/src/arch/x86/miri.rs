//! The instructions that Miri does not know, in plain Rust under their own names.
//!
//! Under Miri, these replace the instructions (`intrinsics`); the tests in this module run both on a CPU. They assume the default environment.

#[cfg(target_arch = "x86")]
use core::arch::x86::*;
#[cfg(target_arch = "x86_64")]
use core::arch::x86_64::*;
use core::{array, mem};

/// The lanes of a register.
fn lanes<T: Copy, const N: usize, V: Copy>(x: V) -> [T; N] {
    const { assert!(size_of::<V>() == size_of::<[T; N]>()) };
    // SAFETY: both have the same size and are plain numbers, so every bit pattern is valid.
    unsafe { mem::transmute_copy(&x) }
}

/// A register of lanes.
fn register<T: Copy, const N: usize, V: Copy>(x: [T; N]) -> V {
    const { assert!(size_of::<V>() == size_of::<[T; N]>()) };
    // SAFETY: as in `lanes`.
    unsafe { mem::transmute_copy(&x) }
}

/// Applies a function to every lane.
fn each<A: Copy, B: Copy, const N: usize, V: Copy, W: Copy>(x: V, result: impl Fn(A) -> B) -> W {
    register(lanes::<A, N, V>(x).map(result))
}

/// The same for lanes whose bit is set; other lanes become zero.
fn each_of<A: Copy, B: Copy + Default, const N: usize, V: Copy, W: Copy>(
    bits: u64,
    x: V,
    result: impl Fn(A) -> B,
) -> W {
    let x = lanes::<A, N, V>(x);
    register::<B, N, W>(array::from_fn(|i| if bits >> i & 1 != 0 { result(x[i]) } else { B::default() }))
}

/// Applies a function to every pair of lanes of two registers.
fn each_pair<A: Copy, B: Copy, const N: usize, V: Copy, W: Copy>(
    a: V,
    b: V,
    result: impl Fn(A, A) -> B,
) -> W {
    let (a, b) = (lanes::<A, N, V>(a), lanes::<A, N, V>(b));
    register::<B, N, W>(array::from_fn(|i| result(a[i], b[i])))
}

/// Selects lanes of several registers, numbered one register after the other, by `index`.
fn permuted<T: Copy, const N: usize, V: Copy>(parts: &[[T; N]], index: [usize; N]) -> V {
    register(index.map(|i| parts[i / N % parts.len()][i % N]))
}

/// One bit for each pair of lanes of two registers.
fn mask<T: Copy, const N: usize, V: Copy>(a: V, b: V, test: impl Fn(T, T) -> bool) -> u16 {
    let (a, b) = (lanes::<T, N, V>(a), lanes::<T, N, V>(b));
    (0..N).fold(0, |bits, i| bits | u16::from(test(a[i], b[i])) << i)
}

/// Whether an embedded rounding, as kernels name it, is toward zero.
fn is_toward_zero(rounding: i32) -> bool {
    match rounding & !_MM_FROUND_NO_EXC {
        _MM_FROUND_TO_ZERO => true,
        _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_CUR_DIRECTION => false,
        _ => panic!("no kernel rounds so"),
    }
}

/// The float nearest to a number, or the next float toward zero if `beyond` says that the nearest is larger in magnitude.
macro_rules! nearest_unless {
    ($near:expr, $beyond:expr) => {{
        let near = $near;
        match $beyond {
            false => near,
            true if near > 0.0 => near.next_down(),
            true => near.next_up(),
        }
    }};
}

fn f64_to_f32(x: f64, toward_zero: bool) -> f32 {
    if x.is_nan() {
        let bits = x.to_bits();
        return f32::from_bits((bits >> 32) as u32 & 1 << 31 | 0x7FC0_0000 | (bits >> 29) as u32 & 0x3F_FFFF);
    }
    let near = x as f32;
    nearest_unless!(near, toward_zero && f64::from(near).abs() > x.abs())
}

fn f32_to_f64(x: f32) -> f64 {
    if x.is_nan() {
        let bits = u64::from(x.to_bits());
        return f64::from_bits(bits >> 31 << 63 | 0x7FF8_0000_0000_0000 | (bits & 0x3F_FFFF) << 29);
    }
    f64::from(x)
}

/// Converts float32 to the bits of float16, rounded to nearest.
fn f32_to_f16(x: f32) -> u16 {
    let bits = x.to_bits();
    let (sign, magnitude) = ((bits >> 16) as u16 & 0x8000, bits & 0x7FFF_FFFF);
    if magnitude > 0x7F80_0000 {
        return sign | 0x7E00 | (magnitude >> 13) as u16 & 0x1FF;
    }
    // The result is a multiple of the last place, which the exponent determines; above the largest number the code is limited to infinity.
    let exponent = ((magnitude >> 23) as i32 - 127).clamp(-14, 16);
    let ulp = f64::from_bits(((exponent - 10 + 1023) as u64) << 52);
    let ulps = (f64::from(f32::from_bits(magnitude)) / ulp).round_ties_even();
    sign | (((exponent + 14) << 10) as f64 + ulps).min(f64::from(0x7C00)) as u16
}

fn f16_to_f32(x: u16) -> f32 {
    let (sign, magnitude) = (u32::from(x & 0x8000) << 16, u32::from(x & 0x7FFF));
    f32::from_bits(
        sign | match magnitude {
            0x7C01.. => 0x7FC0_0000 | magnitude << 13,
            0x7C00 => 0x7F80_0000,
            _ if magnitude < 0x400 => (magnitude as f32 / 16_777_216.0).to_bits(),
            _ => (magnitude << 13) + (112 << 23),
        },
    )
}

/// Converts float32 to the bits of bfloat16, rounded to nearest, with subnormal numbers as zero.
fn f32_to_bf16(x: f32) -> u16 {
    let bits = x.to_bits();
    match bits & 0x7FFF_FFFF {
        0x7F80_0001.. => (bits >> 16) as u16 | 0x40,
        0..0x0080_0000 => (bits >> 16) as u16 & 0x8000,
        _ => ((bits + 0x7FFF + (bits >> 16 & 1)) >> 16) as u16,
    }
}

/// Truncates; `outside` if the value is out of range.
macro_rules! truncated {
    ($($name:ident: $from:ty => $to:ty, $outside:expr;)*) => {$(
        fn $name(x: $from) -> $to {
            let int = x.trunc();
            // The limits are powers of two, which the floats represent exactly.
            let above = 2.0 * (<$to>::MAX / 2 + 1) as $from;
            if int >= <$to>::MIN as $from && int < above { int as $to } else { $outside }
        }
    )*};
}

truncated! {
    f32_to_i32: f32 => i32, i32::MIN;
    f32_to_u32: f32 => u32, u32::MAX;
    f32_to_i64: f32 => i64, i64::MIN;
    f32_to_u64: f32 => u64, u64::MAX;
    f64_to_i32: f64 => i32, i32::MIN;
    f64_to_u32: f64 => u32, u32::MAX;
    f64_to_i64: f64 => i64, i64::MIN;
    f64_to_u64: f64 => u64, u64::MAX;
}

/// Rounds to an integral number.
macro_rules! integral {
    ($x:ident: $float:ty, $rounding:expr, $quiet:literal) => {
        match $rounding & 7 {
            _ if $x.is_nan() => <$float>::from_bits($x.to_bits() | 1 << $quiet),
            _MM_FROUND_TO_NEG_INF => $x.floor(),
            _MM_FROUND_TO_POS_INF => $x.ceil(),
            _MM_FROUND_TO_ZERO => $x.trunc(),
            _ => $x.round_ties_even(),
        }
    };
}

/// Whether a comparison holds.
fn holds<T: PartialOrd>(a: T, b: T, predicate: i32) -> bool {
    /// Less, equal, greater, unordered: one bit for each predicate in their order; the second 16 differ only in what they signal.
    const TRUE: [u8; 16] = [
        0b0010, 0b0001, 0b0011, 0b1000, 0b1101, 0b1110, 0b1100, 0b0111, //
        0b1010, 0b1001, 0b1011, 0b0000, 0b0101, 0b0110, 0b0100, 0b1111,
    ];
    let order = a.partial_cmp(&b).map_or(3, |order| order as i8 + 1);
    TRUE[predicate as usize % 16] >> order & 1 != 0
}

/// Functions with the signatures of the instructions.
macro_rules! shims {
    ($($(<$(const $parameter:ident: i32),+>)? $name:ident($($arg:ident: $type:ty),*) -> $result:ty = $body:expr;)*) => {
        $(
            #[target_feature(enable = "avx")]
            pub(super) fn $name$(<$(const $parameter: i32),+>)?($($arg: $type),*) -> $result {
                $body
            }
        )*
    };
}

shims! {
    <const R: i32> _mm256_cvtps_ph(x: __m256) -> __m128i = {
        assert!(!is_toward_zero(R));
        each::<_, _, 8, _, _>(x, f32_to_f16)
    };
    <const R: i32> _mm512_cvtps_ph(x: __m512) -> __m256i = {
        assert!(!is_toward_zero(R));
        each::<_, _, 16, _, _>(x, f32_to_f16)
    };
    <const R: i32> _mm512_cvt_roundps_ph(x: __m512) -> __m256i = {
        assert!(!is_toward_zero(R));
        each::<_, _, 16, _, _>(x, f32_to_f16)
    };
    _mm512_cvtph_ps(x: __m256i) -> __m512 = each::<_, _, 16, _, _>(x, f16_to_f32);
    <const SAE: i32> _mm512_cvt_roundph_ps(x: __m256i) -> __m512 = each::<_, _, 16, _, _>(x, f16_to_f32);
    _mm512_cvtps_pd(x: __m256) -> __m512d = each::<_, _, 8, _, _>(x, f32_to_f64);
    _mm512_cvtpd_ps(x: __m512d) -> __m256 = each::<_, _, 8, _, _>(x, |x| f64_to_f32(x, false));
    <const R: i32> _mm512_cvt_roundpd_ps(x: __m512d) -> __m256 = {
        each::<_, _, 8, _, _>(x, |x| f64_to_f32(x, is_toward_zero(R)))
    };
    _mm512_cvtne2ps_pbh(a: __m512, b: __m512) -> __m512bh = {
        let halves = [b, a].map(|x| lanes::<f32, 16, _>(x).map(f32_to_bf16));
        register::<[u16; 16], 2, _>(halves)
    };

    <const R: i32> _mm512_cvt_roundepi32_ps(x: __m512i) -> __m512 = each::<_, _, 16, _, _>(x, |x: i32| {
        nearest_unless!(x as f32, is_toward_zero(R) && (x as f32 as i64).abs() > i64::from(x).abs())
    });
    <const R: i32> _mm512_cvt_roundepu32_ps(x: __m512i) -> __m512 = each::<_, _, 16, _, _>(x, |x: u32| {
        nearest_unless!(x as f32, is_toward_zero(R) && x as f32 as i64 > i64::from(x))
    });
    <const R: i32> _mm512_cvt_roundepi64_ps(x: __m512i) -> __m256 = each::<_, _, 8, _, _>(x, |x: i64| {
        nearest_unless!(x as f32, is_toward_zero(R) && (x as f32 as i128).abs() > i128::from(x).abs())
    });
    <const R: i32> _mm512_cvt_roundepu64_ps(x: __m512i) -> __m256 = each::<_, _, 8, _, _>(x, |x: u64| {
        nearest_unless!(x as f32, is_toward_zero(R) && x as f32 as i128 > i128::from(x))
    });
    <const R: i32> _mm512_cvt_roundepi64_pd(x: __m512i) -> __m512d = each::<_, _, 8, _, _>(x, |x: i64| {
        nearest_unless!(x as f64, is_toward_zero(R) && (x as f64 as i128).abs() > i128::from(x).abs())
    });
    <const R: i32> _mm512_cvt_roundepu64_pd(x: __m512i) -> __m512d = each::<_, _, 8, _, _>(x, |x: u64| {
        nearest_unless!(x as f64, is_toward_zero(R) && x as f64 as i128 > i128::from(x))
    });

    _mm512_cvttps_epi32(x: __m512) -> __m512i = each::<_, _, 16, _, _>(x, f32_to_i32);
    <const SAE: i32> _mm512_cvtt_roundps_epi32(x: __m512) -> __m512i = each::<_, _, 16, _, _>(x, f32_to_i32);
    _mm512_cvttps_epu32(x: __m512) -> __m512i = each::<_, _, 16, _, _>(x, f32_to_u32);
    _mm512_cvttps_epi64(x: __m256) -> __m512i = each::<_, _, 8, _, _>(x, f32_to_i64);
    _mm512_cvttps_epu64(x: __m256) -> __m512i = each::<_, _, 8, _, _>(x, f32_to_u64);
    _mm512_cvttpd_epu32(x: __m512d) -> __m256i = each::<_, _, 8, _, _>(x, f64_to_u32);
    _mm512_cvttpd_epi64(x: __m512d) -> __m512i = each::<_, _, 8, _, _>(x, f64_to_i64);
    _mm512_cvttpd_epu64(x: __m512d) -> __m512i = each::<_, _, 8, _, _>(x, f64_to_u64);
    _mm512_maskz_cvttps_epi32(k: u16, x: __m512) -> __m512i = {
        each_of::<_, _, 16, _, _>(k.into(), x, f32_to_i32)
    };
    _mm512_maskz_cvttps_epi64(k: u8, x: __m256) -> __m512i = each_of::<_, _, 8, _, _>(k.into(), x, f32_to_i64);
    _mm512_maskz_cvttpd_epi32(k: u8, x: __m512d) -> __m256i = each_of::<_, _, 8, _, _>(k.into(), x, f64_to_i32);
    _mm512_maskz_cvttpd_epi64(k: u8, x: __m512d) -> __m512i = each_of::<_, _, 8, _, _>(k.into(), x, f64_to_i64);

    <const R: i32> _mm256_roundscale_ps(x: __m256) -> __m256 = {
        const { assert!(R >> 4 == 0, "no kernel asks for multiples of other powers of two") };
        each::<_, _, 8, _, _>(x, |x: f32| integral!(x: f32, R, 22))
    };
    <const R: i32> _mm512_roundscale_ps(x: __m512) -> __m512 = {
        const { assert!(R >> 4 == 0, "no kernel asks for multiples of other powers of two") };
        each::<_, _, 16, _, _>(x, |x: f32| integral!(x: f32, R, 22))
    };
    <const R: i32> _mm512_roundscale_pd(x: __m512d) -> __m512d = {
        const { assert!(R >> 4 == 0, "no kernel asks for multiples of other powers of two") };
        each::<_, _, 8, _, _>(x, |x: f64| integral!(x: f64, R, 51))
    };

    // The second operand if the two are unordered.
    _mm512_max_ps(a: __m512, b: __m512) -> __m512 = {
        each_pair::<f32, _, 16, _, _>(a, b, |a, b| if a > b { a } else { b })
    };
    _mm512_min_ps(a: __m512, b: __m512) -> __m512 = {
        each_pair::<f32, _, 16, _, _>(a, b, |a, b| if a < b { a } else { b })
    };
    <const SAE: i32> _mm512_min_round_ps(a: __m512, b: __m512) -> __m512 = {
        each_pair::<f32, _, 16, _, _>(a, b, |a, b| if a < b { a } else { b })
    };
    _mm512_max_pd(a: __m512d, b: __m512d) -> __m512d = {
        each_pair::<f64, _, 8, _, _>(a, b, |a, b| if a > b { a } else { b })
    };
    _mm512_min_pd(a: __m512d, b: __m512d) -> __m512d = {
        each_pair::<f64, _, 8, _, _>(a, b, |a, b| if a < b { a } else { b })
    };
    <const P: i32> _mm256_cmp_ps_mask(a: __m256, b: __m256) -> u8 = {
        mask::<f32, 8, _>(a, b, |a, b| holds(a, b, P)) as u8
    };
    <const P: i32> _mm512_cmp_ps_mask(a: __m512, b: __m512) -> u16 = {
        mask::<f32, 16, _>(a, b, |a, b| holds(a, b, P))
    };
    <const P: i32, const SAE: i32> _mm512_cmp_round_ps_mask(a: __m512, b: __m512) -> u16 = {
        mask::<f32, 16, _>(a, b, |a, b| holds(a, b, P))
    };
    <const P: i32> _mm512_cmp_pd_mask(a: __m512d, b: __m512d) -> u8 = {
        mask::<f64, 8, _>(a, b, |a, b| holds(a, b, P)) as u8
    };
    <const CLASSES: i32> _mm512_fpclass_ps_mask(x: __m512) -> u16 = mask::<u32, 16, _>(x, x, |x, _| {
        let (negative, magnitude) = (x >> 31, x & 0x7FFF_FFFF);
        let class = match magnitude {
            0 => 1 + negative,
            0x7F80_0000 => 3 + negative,
            0x7FC0_0000.. => 0,
            0x7F80_0001.. => 7,
            ..0x0080_0000 if CLASSES >> 5 & 1 != 0 => 5,
            _ if negative != 0 => 6,
            _ => return false,
        };
        CLASSES >> class & 1 != 0
    });

    _mm512_cvtsepi32_epi16(x: __m512i) -> __m256i = {
        each::<_, _, 16, _, _>(x, |x: i32| x.clamp(i16::MIN.into(), i16::MAX.into()) as i16)
    };
    _mm512_cvtsepi32_epi8(x: __m512i) -> __m128i = {
        each::<_, _, 16, _, _>(x, |x: i32| x.clamp(i8::MIN.into(), i8::MAX.into()) as i8)
    };
    _mm512_cvtsepi64_epi8(x: __m512i) -> __m128i = low_half({
        lanes::<i64, 8, _>(x).map(|x| x.clamp(i8::MIN.into(), i8::MAX.into()) as u8)
    });
    _mm512_cvtusepi32_epi16(x: __m512i) -> __m256i = {
        each::<_, _, 16, _, _>(x, |x: u32| x.min(u16::MAX.into()) as u16)
    };
    _mm512_cvtusepi32_epi8(x: __m512i) -> __m128i = {
        each::<_, _, 16, _, _>(x, |x: u32| x.min(u8::MAX.into()) as u8)
    };
    _mm512_cvtusepi64_epi8(x: __m512i) -> __m128i = low_half({
        lanes::<u64, 8, _>(x).map(|x| x.min(u8::MAX.into()) as u8)
    });

    _mm512_cvtepi64_epi8(x: __m512i) -> __m128i = low_half(lanes::<u64, 8, _>(x).map(|x| x as u8));
    _mm512_cvtsepi64_epi16(x: __m512i) -> __m128i = {
        each::<_, _, 8, _, _>(x, |x: i64| x.clamp(i16::MIN.into(), i16::MAX.into()) as i16)
    };
    _mm512_cvtsepi64_epi32(x: __m512i) -> __m256i = {
        each::<_, _, 8, _, _>(x, |x: i64| x.clamp(i32::MIN.into(), i32::MAX.into()) as i32)
    };
    _mm512_cvtusepi64_epi16(x: __m512i) -> __m128i = {
        each::<_, _, 8, _, _>(x, |x: u64| x.min(u16::MAX.into()) as u16)
    };
    _mm512_cvtusepi64_epi32(x: __m512i) -> __m256i = {
        each::<_, _, 8, _, _>(x, |x: u64| x.min(u32::MAX.into()) as u32)
    };

    _mm512_srl_epi16(x: __m512i, by: __m128i) -> __m512i = {
        let [by, _] = lanes::<u64, 2, _>(by);
        each::<_, _, 32, _, _>(x, |x: u16| if by < 16 { x >> by } else { 0 })
    };
    _mm512_multishift_epi64_epi8(by: __m512i, x: __m512i) -> __m512i = {
        let (by, x) = (lanes::<u8, 64, _>(by), lanes::<u64, 8, _>(x));
        register::<u8, 64, _>(array::from_fn(|i| x[i / 8].rotate_right(by[i].into()) as u8))
    };
    _mm512_permutexvar_epi8(index: __m512i, x: __m512i) -> __m512i = {
        permuted::<u8, 64, _>(&[lanes(x)], lanes::<u8, 64, _>(index).map(usize::from))
    };
    _mm512_permutexvar_epi16(index: __m512i, x: __m512i) -> __m512i = {
        permuted::<u16, 32, _>(&[lanes(x)], lanes::<u16, 32, _>(index).map(usize::from))
    };
    _mm512_permutex2var_epi16(a: __m512i, index: __m512i, b: __m512i) -> __m512i = {
        permuted::<u16, 32, _>(&[lanes(a), lanes(b)], lanes::<u16, 32, _>(index).map(usize::from))
    };
    _mm512_maskz_permutex2var_epi16(mask: u32, a: __m512i, index: __m512i, b: __m512i) -> __m512i = {
        let index = lanes::<u16, 32, _>(index).map(usize::from);
        let all: [u16; 32] = lanes(permuted::<u16, 32, __m512i>(&[lanes(a), lanes(b)], index));
        register::<u16, 32, _>(array::from_fn(|i| if mask >> i & 1 == 1 { all[i] } else { 0 }))
    };
    _mm512_mulhrs_epi16(a: __m512i, b: __m512i) -> __m512i = {
        let (a, b) = (lanes::<i16, 32, _>(a), lanes::<i16, 32, _>(b));
        register::<i16, 32, _>(array::from_fn(|i| {
            ((((i32::from(a[i]) * i32::from(b[i])) >> 14) + 1) >> 1) as i16
        }))
    };
    _mm512_srlv_epi16(x: __m512i, by: __m512i) -> __m512i = {
        let (x, by) = (lanes::<u16, 32, _>(x), lanes::<u16, 32, _>(by));
        register::<u16, 32, _>(array::from_fn(|i| if by[i] < 16 { x[i] >> by[i] } else { 0 }))
    };
    _mm512_maskz_srlv_epi16(mask: u32, x: __m512i, by: __m512i) -> __m512i = {
        let (x, by) = (lanes::<u16, 32, _>(x), lanes::<u16, 32, _>(by));
        let shifted = |i: usize| if by[i] < 16 { x[i] >> by[i] } else { 0 };
        register::<u16, 32, _>(array::from_fn(|i| if mask >> i & 1 == 1 { shifted(i) } else { 0 }))
    };
    _mm512_permutex2var_epi32(a: __m512i, index: __m512i, b: __m512i) -> __m512i = {
        permuted::<u32, 16, _>(&[lanes(a), lanes(b)], lanes::<u32, 16, _>(index).map(|i| i as usize))
    };
    _mm512_permutex2var_pd(a: __m512d, index: __m512i, b: __m512d) -> __m512d = {
        permuted::<u64, 8, _>(&[lanes(a), lanes(b)], lanes::<u64, 8, _>(index).map(|i| i as usize))
    };
}

/// Eight bytes, followed by zeros.
fn low_half(x: [u8; 8]) -> __m128i {
    register([u64::from_le_bytes(x), 0])
}

#[cfg(all(test, not(miri)))]
mod tests;
