//! Float16 in lanes of its own width: half the registers of float32, for CPUs with FEAT_FP16.
//!
//! Arithmetic on float16 is assembly because its intrinsics are younger than the oldest Rust that this crate supports, and because some of it
//! rounds in the direction of the environment ([`env`](super::env)).

use super::{super::fine, env::instructions, simd::Neon};
use crate::{
    dtype::{DType, Flavor, FloatSpec, Spec},
    exact::{Rounding, Rules, float_spec},
    format::{Encoder, Format, data::Data},
    vector::{
        Simd,
        kernel::KernelFn,
        lanes::{
            Halves, LaneOps, Lanes,
            int::Ints16,
            integral::{Integers, Integral},
            part::{From, halves},
            rounded::{self, by_mode},
            run::kernel,
            small::{place, signed},
            source::Source,
            target::{Byte, Codes, Int, Int16, Target},
            truths, two,
        },
        small::{self, Family},
        style::{Away, Directed, Mode, Odd, RoundingMode},
    },
};
use core::{
    arch::{aarch64::*, asm},
    marker::PhantomData,
};

/// The token of the kernels in this module.
pub(super) type Half = Neon<false, true>;
type V = uint32x4_t;

/// Functions of registers of eight lanes that change `c` and round once.
macro_rules! fused {
    ($($(#[$doc:meta])* $name:ident = $text:literal;)*) => {$(
        $(#[$doc])*
        #[inline(always)]
        fn $name(self, mut c: V, a: V, b: V) -> V {
            // SAFETY: the token proves the instruction; it touches registers only.
            unsafe {
                asm!($text, c = inout(vreg) c, a = in(vreg) a, b = in(vreg) b,
                    options(pure, nomem, nostack, preserves_flags));
            }
            c
        }
    )*};
}

impl Half {
    instructions! {
        /// Converts to int16: truncates and saturates; NaN becomes 0.
        int16_of_f16(a) = "fcvtzs {x:v}.8h, {a:v}.8h";
        /// Converts to uint16: truncates and saturates; NaN becomes 0.
        uint16_of_f16(a) = "fcvtzu {x:v}.8h, {a:v}.8h";
        /// The minimum; NaN if either operand is NaN.
        min_f16(a, b) = "fmin {x:v}.8h, {a:v}.8h, {b:v}.8h";
        /// The maximum; NaN if either operand is NaN.
        max_f16(a, b) = "fmax {x:v}.8h, {a:v}.8h, {b:v}.8h";
        /// `|a| <= |b|`
        abs_le_f16(a, b) = "facge {x:v}.8h, {b:v}.8h, {a:v}.8h";
        /// Rounds to an integral value in the direction of the environment.
        round_f16(a) = "frinti {x:v}.8h, {a:v}.8h";
        /// To the nearest integral value, ties away from zero.
        round_away_f16(a) = "frinta {x:v}.8h, {a:v}.8h";
    }
    fused! {
        /// `c + a * b`, rounded in the direction of the environment.
        mul_add_f16 = "fmla {c:v}.8h, {a:v}.8h, {b:v}.8h";
        /// `c - a * b`, rounded in the direction of the environment.
        mul_sub_f16 = "fmls {c:v}.8h, {a:v}.8h, {b:v}.8h";
    }
}

/// A unit of float16 lanes.
#[derive(Clone, Copy)]
pub(super) struct F16(Halves<Half>);

/// A source of float16, loaded unchanged.
pub(super) struct Plain;

impl Source<Half> for Plain {
    const BITS: usize = 16;
    type Lanes = F16;
    type Tables = ();
    #[inline(always)]
    unsafe fn tables(_: Half, _: &Data) {}
    #[inline(always)]
    unsafe fn load(m: Half, (): (), src: [*const u8; 2]) -> [F16; 2] {
        // SAFETY: the caller grants the units.
        two!(src, |p| F16(unsafe { halves(m, From::<4>::new(p, 0)) }))
    }
}

/// Integers that saturate.
impl Lanes<Half> for F16 {
    #[inline(always)]
    fn int8<const SATURATE: bool, const TO: bool>(self, m: Half) -> V {
        Ints16::<Half, TO>(self.int16::<SATURATE, TO>(m)).int8::<true, TO>(m)
    }
    #[inline(always)]
    fn int16<const SATURATE: bool, const TO: bool>(self, m: Half) -> Halves<Half> {
        const { assert!(SATURATE) };
        two!(self.0, |x| if TO { m.int16_of_f16(x) } else { m.uint16_of_f16(x) })
    }
    #[inline(always)]
    fn halves(self, _: Half) -> Halves<Half> {
        self.0
    }
}

impl Integral<Half> for F16 {
    #[inline(always)]
    fn integral<const AWAY: bool>(self, m: Half) -> Self {
        Self(two!(self.0, |x| if AWAY { m.round_away_f16(x) } else { m.round_f16(x) }))
    }
}

/// Whether float16 becomes the format in lanes of its own width: the largest number plus the power of two that rounds it is finite in float16.
const fn takes(to: DType) -> bool {
    match to.spec() {
        Spec::Float(f) => f.bits() <= 8 && f.exponent_bits <= 4 && !matches!(f.flavor, Flavor::Exponent),
        _ => false,
    }
}

/// The bits of a float16, from the bits of the float32 of the same value, which is normal.
const fn half(x: u32) -> u16 {
    if x == 0 {
        return 0;
    }
    let field = (x >> 23) as u16;
    assert!(x & 0x1FFF == 0 && field > 112 && field < 143);
    (field - 112) << 10 | (x >> 13 & 0x3FF) as u16
}

/// Small floats whose exponents float16 also has: the algorithm of `vector::small` in lanes of half the width.
pub(super) struct Small<D>(PhantomData<D>);

impl<D: Format> Codes<Half> for Small<D> {
    #[inline(always)]
    fn codes<L: Lanes<Half>, const SATURATE: bool>(m: Half, x: L, _: &Data) -> V {
        let f: FloatSpec = const { float_spec(D::DTYPE) };
        let e = const { Encoder::new(float_spec(D::DTYPE), SATURATE) };
        let family = const {
            let f = float_spec(D::DTYPE);
            Family::new(f, &Encoder::new(f, SATURATE))
        };
        let (limit, nan) = (half(e.limit), half(e.nan));
        let (min_field, shift) = (e.min_field - 112, e.shift - 13);
        let x = x.halves(m);
        let all = |x: u16| m.splat_16(x);
        let magnitudes = two!(x, |x| m.and(x, all(0x7FFF)));
        let unordered = two!(magnitudes, |x| m.gt_u16(x, all(0x7C00)));
        let counts = two!([0, 1], |k| {
            let magnitude = magnitudes[k];
            let limited = if f.nan().is_none() {
                // NaN is zero.
                m.and_not(m.min_u16(magnitude, all(limit)), unordered[k])
            } else if limit == nan {
                m.min_u16(magnitude, all(nan))
            } else {
                m.min_u16(m.min_f16(magnitude, all(limit)), all(nan))
            };
            let power = m.max_i16(m.and(limited, all(0x7C00)), all((min_field as u16) << 10));
            let sum = m.mul_add_f16(limited, power, all((15 + shift as u16) << 10));
            m.add_exponent_16(sum, f.mantissa_bits)
        });
        let excess = m.splat_8(((min_field + shift) << f.mantissa_bits) as u8);
        let codes = m.sub_8(m.even_8(counts[0], counts[1]), excess);
        let mut sign = m.odd_8(x[0], x[1]);
        if f.nan().is_none() {
            // NaN becomes the zero of the opposite sign.
            sign = m.xor(sign, m.even_8(unordered[0], unordered[1]));
        }
        small::signed(m, codes, sign, family)
    }
}

impl Half {
    /// `x + (x >> (10 - mantissa))`: one instruction shifts the exponent to its place and adds it to the count.
    #[inline(always)]
    fn add_exponent_16(self, x: V, mantissa: u32) -> V {
        let (n, x) = (self.neon, bytemuck::must_cast(x));
        bytemuck::must_cast(match mantissa {
            1 => n.vsraq_n_u16::<9>(x, x),
            2 => n.vsraq_n_u16::<8>(x, x),
            3 => n.vsraq_n_u16::<7>(x, x),
            _ => n.vsraq_n_u16::<6>(x, x),
        })
    }
}

/// The same small floats under any rules: `lanes::small::Signed` in lanes of half the width.
struct Signed<R: RoundingMode>(PhantomData<R>);

impl<R: RoundingMode> Codes<Half> for Signed<R> {
    #[inline(always)]
    fn codes<L: Lanes<Half>, const SATURATE: bool>(m: Half, x: L, data: &Data) -> V {
        let x = x.halves(m);
        let e = &data.float.encoder;
        let all = |x: u16| m.splat_16(x);
        let limit = (e.limit >> 13).wrapping_sub(112 << 10) as u16;
        let unit = all(((15 + e.shift - 13) << 10) as u16);
        let limited = two!(x, |x| {
            let x = m.max_f16(m.min_f16(x, all(limit)), all(limit | 0x8000));
            if R::MODE == Mode::Away { m.or(x, all(1)) } else { x }
        });
        let powers = two!(limited, |x| {
            let power = m.max_i16(m.and(x, all(0x7C00)), all(((e.min_field - 112) << 10) as u16));
            m.select(all(0x7FFF), power, x)
        });
        let sums = two!([0, 1], |k| m.mul_add_f16(limited[k], powers[k], unit));
        let high = m.odd_8(sums[0], sums[1]);
        let exponents = m.shr_8::<3>(m.add_8(high, high));
        let mut codes = place(m, m.even_8(sums[0], sums[1]), exponents, data, 112 + 13);
        if R::MODE == Mode::Odd {
            let exact = two!([0, 1], |k| m.abs_le_f16(limited[k], m.mul_sub_f16(sums[k], powers[k], unit)));
            let inexact = m.xor(m.even_8(exact[0], exact[1]), m.splat_8(0xFF));
            codes = m.or(codes, truths(m, inexact));
        }
        let largest = all(if data.float.code.largest == 0x7F80_0000 { 0x7C00 } else { 0x7BFF });
        let numbers = two!(x, |x| m.abs_le_f16(x, largest));
        signed(m, codes, Some(high), Some(m.even_8(numbers[0], numbers[1])), data)
    }
}

/// The kernel from float16 under the common rules, if there is one.
pub(super) const fn kernel<D: Format, const PACKED: bool>(saturate: bool) -> Option<KernelFn> {
    const fn byte<C: Codes<Half>, const PACKED: bool, const BITS: usize>() -> KernelFn {
        if PACKED {
            kernel::<Half, Plain, Byte<C, BITS>, true>()
        } else {
            kernel::<Half, Plain, Byte<C, 8>, true>()
        }
    }
    Some(match D::DTYPE {
        DType::Float6E2M3FN | DType::Float6E3M2FN => byte::<Small<D>, PACKED, 6>(),
        DType::Float4E2M1FN => byte::<Small<D>, PACKED, 4>(),
        to if takes(to) && saturate => kernel::<Half, Plain, Byte<Small<D>, 8>, true>(),
        to if takes(to) => kernel::<Half, Plain, Byte<Small<D>, 8>, false>(),
        _ if !saturate => return None,
        DType::Int2 => byte::<Int<2, true>, PACKED, 2>(),
        DType::UInt2 => byte::<Int<2, false>, PACKED, 2>(),
        DType::Int4 => byte::<Int<4, true>, PACKED, 4>(),
        DType::UInt4 => byte::<Int<4, false>, PACKED, 4>(),
        DType::Int8 => byte::<Int<8, true>, PACKED, 8>(),
        DType::UInt8 => byte::<Int<8, false>, PACKED, 8>(),
        DType::Int16 => kernel::<Half, Plain, Int16<true>, true>(),
        DType::UInt16 => kernel::<Half, Plain, Int16<false>, true>(),
        _ => return None,
    })
}

/// The kernel from float16 under rules that are not the common ones, if there is one.
pub(super) fn rounded(to: DType, rules: &Rules) -> Option<KernelFn> {
    let (mode, _) = rounded::mode(rules);
    if matches!(to.spec(), Spec::Int { .. }) {
        let chosen = rules.saturate && mode != Mode::Odd && rules.rounding != Rounding::TowardZero;
        return chosen.then(|| ints(to, mode == Mode::Away)).flatten();
    }
    (takes(to) && !rounded::truncates(to, rules)).then(|| {
        by_mode(
            mode,
            [
                kernel::<Half, Plain, Byte<Signed<Directed>, 8>, true>(),
                kernel::<Half, Plain, Byte<Signed<Away>, 8>, true>(),
                kernel::<Half, Plain, Byte<Signed<Odd>, 8>, true>(),
            ],
        )
    })
}

/// Integers of at most 16 bits that saturate.
fn ints(to: DType, away: bool) -> Option<KernelFn> {
    fn of<T: Target<Half>>(away: bool) -> KernelFn {
        if away {
            kernel::<Half, Integers<Plain, true>, T, true>()
        } else {
            kernel::<Half, Integers<Plain, false>, T, true>()
        }
    }
    Some(match to {
        DType::Int2 => of::<Byte<Int<2, true>, 8>>(away),
        DType::UInt2 => of::<Byte<Int<2, false>, 8>>(away),
        DType::Int4 => of::<Byte<Int<4, true>, 8>>(away),
        DType::UInt4 => of::<Byte<Int<4, false>, 8>>(away),
        DType::Int8 => of::<Byte<Int<8, true>, 8>>(away),
        DType::UInt8 => of::<Byte<Int<8, false>, 8>>(away),
        DType::Int16 => of::<Int16<true>>(away),
        DType::UInt16 => of::<Int16<false>>(away),
        _ => return None,
    })
}
