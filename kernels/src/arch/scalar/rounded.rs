//! Casts under rules other than the common ones.
//!
//! Everything that rounds goes through float32 or stays in a wide float:
//!
//! * to floats of up to 16 bits: a block of sources becomes float32 rounded to odd, and one loop per target encodes the block
//!   (`docs/semantics.md`, sections 4 and 6); the rule is a [`Correction`] of the nearest code;
//! * to integers: a block of floats becomes integral values, which the kernel of the common rules then casts exactly;
//! * to float32 and float64: the nearest value is computed and corrected.
//!
//! Sources of one byte look results up, so their loops need no rules.

use super::{
    each::map_each,
    small,
    staged::{BLOCK, ByRules, Then, in_blocks, through_f32},
    table::{TABLE, looks_up},
};
use crate::{
    dtype::{DType, Encoding, Flavor, FloatSpec, Spec},
    exact::{
        Rounding, Rules, float_spec,
        hub::{F32, F64, Hub},
        round::Correction,
    },
    format::{
        Encoder, Format,
        data::{Data, Direction},
    },
    vector::{
        kernel::{KernelFn, Rounded},
        style::{Away, Directed, Mode, Odd, RoundingMode},
    },
};
use core::mem::MaybeUninit;
use half::{bf16, f16};
use num_complex::Complex;

const INFINITY: u32 = 0x7F80_0000;

/// The kernel of a pair in byte storage under any rules. It does not change the rounding direction.
pub(in crate::arch) fn rounded(from: Encoding, to: Encoding, rules: &Rules) -> Option<Rounded> {
    if from.is_packed() || to.is_packed() {
        return None;
    }
    Some(Rounded {
        run: kernel(from.dtype(), to.dtype(), rules),
        direction: Direction::NearestEven,
        second: None,
    })
}

fn kernel(from: DType, to: DType, rules: &Rules) -> KernelFn {
    let common = TABLE.get(from, to, rules.saturate).run;
    match to.spec() {
        // Results are looked up under all rules.
        _ if looks_up(from, to) => common,
        Spec::Bool => common,
        Spec::Int { .. } if is_truncating(rules) => common,
        Spec::Int { .. } => whole(from).unwrap_or(common),
        Spec::Float(f) if f.bits() <= 16 => match (from, from_f32_other(to, rules), f.flavor) {
            (_, None, _) => common,
            (DType::Float32, Some(kernel), _) => kernel,
            // Infinity must not become the largest float32 here.
            (DType::Float64, _, Flavor::Exponent) => small::to_power::<f64>,
            _ => staged(from).unwrap_or(common),
        },
        _ if matches!(rules.rounding, Rounding::NearestEven) => common,
        Spec::Float(_) | Spec::Complex(_) => directed(from, to, rules.rounding).unwrap_or(common),
    }
}

const fn is_truncating(rules: &Rules) -> bool {
    matches!(rules.rounding, Rounding::TowardZero)
}

impl Then for ByRules {
    fn from_f32(data: &Data) -> KernelFn {
        from_f32_other(data.to, &data.rules)
            .unwrap_or_else(|| TABLE.get(DType::Float32, data.to, data.rules.saturate).run)
    }
}

/// The same if the rules differ from the common ones.
fn from_f32_other(to: DType, rules: &Rules) -> Option<KernelFn> {
    let nearest = matches!(rules.rounding, Rounding::NearestEven);
    match to.spec() {
        Spec::Int { .. } => (!is_truncating(rules)).then_some(to_whole::<f32>),
        Spec::Float(FloatSpec { flavor: Flavor::Exponent, .. }) => {
            (*rules != Rules::common(to, rules.saturate)).then_some(small::to_power::<f32>)
        }
        Spec::Float(f) if f.bits() <= 8 => {
            let special = match f.flavor {
                Flavor::Finite => rules.finite_nan_max,
                Flavor::Fnuz => rules.fnuz_inf_nan,
                _ => false,
            };
            (!nearest || special).then_some(to_small)
        }
        Spec::Float(f) if f.bits() == 16 && !nearest => {
            Some(if f.exponent_bits == 8 { to_bf16 } else { to_f16 })
        }
        _ => None,
    }
}

/// Float32 to floats of up to 8 bits with a sign.
///
/// # Safety
///
/// As [`KernelFn`].
unsafe fn to_small(src: *const u8, dst: *mut u8, n: usize, data: &Data) {
    let (encoder, signs, correction) = (data.float.encoder, data.float.signs, data.rounding.correction);
    // NaN is above infinity.
    let last_number = data.float.code.largest;
    let encode = |x: u32| {
        let magnitude = x & 0x7FFF_FFFF;
        let value = if magnitude > last_number { encoder.nan } else { encoder.limited(magnitude) };
        let code = encoder.corrected(value, (x as i32 >> 31) as u32, correction);
        signs.put(x, code) as u8
    };
    // SAFETY: the caller's promise is the same.
    unsafe { map_each(src, dst, n, encode) };
}

/// Float32 to float16.
///
/// # Safety
///
/// As [`KernelFn`].
unsafe fn to_f16(src: *const u8, dst: *mut u8, n: usize, data: &Data) {
    let encoder = const { Encoder::new(float_spec(DType::Float16), false) };
    let correction = data.rounding.correction;
    let encode = |x: u32| {
        let magnitude = x & 0x7FFF_FFFF;
        // A finite value stays below the encoder's infinity, so that the rule decides whether it becomes infinite.
        let value = Encoder { limit: encoder.limit - 1, ..encoder }.limited(magnitude);
        let finite = encoder.corrected(value, (x as i32 >> 31) as u32, correction);
        let quiet = if magnitude > INFINITY { 0x200 } else { 0 };
        let special = 0x7C00 | quiet | magnitude >> 13 & 0x1FF;
        (x >> 16 & 0x8000 | if magnitude < INFINITY { finite } else { special }) as u16
    };
    // SAFETY: the caller's promise is the same.
    unsafe { map_each(src, dst, n, encode) };
}

/// Float32 to bfloat16.
///
/// # Safety
///
/// As [`KernelFn`].
unsafe fn to_bf16(src: *const u8, dst: *mut u8, n: usize, data: &Data) {
    let correction = data.rounding.correction;
    let encode = |x: u32| {
        let bias = correction.bias(x >> 16 & 1, (x as i32 >> 31) as u32, 0xFFFF);
        let rounded = x.wrapping_add(bias) >> 16;
        let nan = x >> 16 & 0x8000 | 0x7FC0;
        (if x & 0x7FFF_FFFF > INFINITY { nan } else { rounded }) as u16
    };
    // SAFETY: the caller's promise is the same.
    unsafe { map_each(src, dst, n, encode) };
}

fn staged(from: DType) -> Option<KernelFn> {
    Some(match from {
        DType::Bool => through_f32::<bool, ByRules>,
        DType::Int8 => through_f32::<i8, ByRules>,
        DType::UInt8 => through_f32::<u8, ByRules>,
        DType::Int16 => through_f32::<i16, ByRules>,
        DType::UInt16 => through_f32::<u16, ByRules>,
        DType::Int32 => through_f32::<i32, ByRules>,
        DType::UInt32 => through_f32::<u32, ByRules>,
        DType::Int64 => through_f32::<i64, ByRules>,
        DType::UInt64 => through_f32::<u64, ByRules>,
        DType::Float16 => through_f32::<f16, ByRules>,
        DType::BFloat16 => through_f32::<bf16, ByRules>,
        DType::Float64 => through_f32::<f64, ByRules>,
        _ => return None,
    })
}

/// The floats that are rounded to integral values of their own format.
trait Real: Hub {
    const DTYPE: DType;
    type Bits;
    fn whole(self, data: &Data) -> Self::Bits;
}

impl Real for F32 {
    const DTYPE: DType = DType::Float32;
    type Bits = u32;
    #[inline(always)]
    fn whole(self, data: &Data) -> u32 {
        data.rounding.correction.whole32(self.0)
    }
}

impl Real for F64 {
    const DTYPE: DType = DType::Float64;
    type Bits = u64;
    #[inline(always)]
    fn whole(self, data: &Data) -> u64 {
        data.rounding.correction.whole64(self.0)
    }
}

/// To integers.
///
/// # Safety
///
/// As [`KernelFn`].
unsafe fn to_whole<S: Format<Hub: Real>>(src: *const u8, dst: *mut u8, n: usize, data: &Data) {
    let then = TABLE.get(<S::Hub as Real>::DTYPE, data.to, data.rules.saturate).run;
    // SAFETY: the caller's promise is the same.
    unsafe { in_blocks(src, dst, n, data, |code| S::decode(code).whole(data), then) };
}

fn whole(from: DType) -> Option<KernelFn> {
    Some(match from {
        DType::Float16 => to_whole::<f16>,
        DType::BFloat16 => to_whole::<bf16>,
        DType::Float32 => to_whole::<f32>,
        DType::Float64 => to_whole::<f64>,
        _ => return None,
    })
}

/// To float32, float64 and, from complex numbers, to complex ones. The mode is a parameter so that each loop has only the steps it needs.
///
/// # Safety
///
/// As [`KernelFn`].
unsafe fn to_parts<S: Format, D: Format, R: RoundingMode>(
    src: *const u8,
    dst: *mut u8,
    n: usize,
    data: &Data,
) {
    let correction = match R::MODE {
        Mode::Away => const { Correction::new(Rounding::NearestAway) },
        Mode::Odd => Correction::TO_ODD,
        _ => data.rounding.correction.as_direction(),
    };
    // SAFETY: the caller's promise is the same; all branches write the codes of the target.
    unsafe {
        match D::DTYPE {
            DType::Float32 => map_each(src, dst, n, |code| S::decode(code).f32_in(correction)),
            DType::Float64 => map_each(src, dst, n, |code| S::decode(code).f64_in(correction)),
            _ => map_each(src, dst, n, |code| {
                let x = S::decode(code);
                [x.f32_in(correction), x.im().f32_in(correction)]
            }),
        }
    }
}

/// From real numbers to complex ones: blocks of real parts, `P`, which the kernel of the common rules then casts exactly.
///
/// # Safety
///
/// As [`KernelFn`].
unsafe fn to_complex<S: Format, P: Format>(src: *const u8, dst: *mut u8, n: usize, data: &Data) {
    let first = by_rule::<S, P>(data.rules.rounding);
    let then = TABLE.get(P::DTYPE, data.to, data.rules.saturate).run;
    let mut block = [const { MaybeUninit::<u64>::uninit() }; BLOCK];
    for done in (0..n).step_by(BLOCK) {
        let count = BLOCK.min(n - done);
        // SAFETY: the caller grants `n` elements on both sides. The block has room for `count` elements, which are written before they are read.
        // The kernels of the parts read only the rule from the data.
        unsafe {
            first(src.add(done * size_of::<S>()), block.as_mut_ptr().cast(), count, data);
            then(block.as_ptr().cast(), dst.add(done * data.to.size()), count, data);
        }
    }
}

/// The kernel of [`to_parts`] for a rule.
fn by_rule<S: Format, D: Format>(rounding: Rounding) -> KernelFn {
    match rounding {
        Rounding::NearestAway => to_parts::<S, D, Away>,
        Rounding::ToOdd => to_parts::<S, D, Odd>,
        _ => to_parts::<S, D, Directed>,
    }
}

fn directed(from: DType, to: DType, rounding: Rounding) -> Option<KernelFn> {
    fn to_single<S: Format>(target: DType, rounding: Rounding) -> Option<KernelFn> {
        match target {
            DType::Float32 => Some(by_rule::<S, f32>(rounding)),
            DType::Complex64 => Some(to_complex::<S, f32>),
            _ => None,
        }
    }
    fn to_any<S: Format>(target: DType, rounding: Rounding) -> Option<KernelFn> {
        match target {
            DType::Float64 => Some(by_rule::<S, f64>(rounding)),
            DType::Complex128 => Some(to_complex::<S, f64>),
            _ => to_single::<S>(target, rounding),
        }
    }
    match from {
        DType::Int32 => to_single::<i32>(to, rounding),
        DType::UInt32 => to_single::<u32>(to, rounding),
        DType::Float64 => to_single::<f64>(to, rounding),
        DType::Complex128 => Some(by_rule::<Complex<f64>, Complex<f32>>(rounding)),
        DType::Int64 => to_any::<i64>(to, rounding),
        DType::UInt64 => to_any::<u64>(to, rounding),
        _ => None,
    }
}
