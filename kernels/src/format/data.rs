//! The data that a kernel reads besides its elements: the constants of a target under the rules of a cast.
//!
//! A kernel is one body per family of pairs. The formats of a family differ only in numbers, which are here. So do the rules (`exact::Rules`): an
//! option changes a number or, for the few roundings that no number can express, the [`Direction`] of the floating-point environment or the body.

use crate::{
    dtype::{COUNT, DType, Flavor, FloatSpec, Spec},
    exact::{PowerRange, Rounding, Rules, float_spec, round::Correction},
    format::{Encoder, Signs, kept::Kept, words::Words},
};

/// The rounding direction of the floating-point environment in which a kernel runs (`fpenv::call_in`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Direction {
    NearestEven,
    Down,
    Up,
    TowardZero,
}

/// The direction in which an instruction rounds floats to integers as `rounding` says, if there is one; `Data::sticky` handles ties away from
/// zero.
pub(crate) fn direction(rounding: Rounding) -> Option<Direction> {
    match rounding {
        Rounding::NearestEven | Rounding::NearestAway => Some(Direction::NearestEven),
        Rounding::TowardZero => Some(Direction::TowardZero),
        Rounding::Floor => Some(Direction::Down),
        Rounding::Ceil => Some(Direction::Up),
        Rounding::ToOdd => None,
    }
}

/// The constants for float32 to `float8_e8m0fnu` under rules, used as in [`Power::code`]. The float32 may be a longer value rounded to odd: it is
/// above a bound if and only if the longer value is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Power {
    /// The mask of the bits that are used: all bits, or all except the sign.
    pub(crate) magnitude: u32,
    /// The largest float32 that is in range; its code is FE.
    pub(crate) largest: u32,
    /// The smallest float32 whose code is 01. Smaller values have the code 00: zero and subnormals, whose exponent field differs.
    pub(crate) second: u32,
    /// The number to add to a float32 so that its exponent field is the code.
    pub(crate) addend: u32,
    /// The mask of the bits that decide which values become NaN.
    pub(crate) number: u32,
    /// The smallest masked value that does not become NaN.
    pub(crate) start: u32,
    /// The distance from `start` to the last value that does not become NaN. In wrapping arithmetic, all values that become NaN are further away.
    pub(crate) span: u32,
}

impl Power {
    const SIGN: u32 = 0x8000_0000;
    const INFINITY: u32 = 0x7F80_0000;
    /// The values of the codes 00 and FE.
    const SMALLEST: u32 = 0x0040_0000;
    const LARGEST: u32 = 0x7F00_0000;
    /// The largest float32 that results from a smaller float64, with 11 bits of its mantissa and a sticky bit for the others.
    const LONGEST: u32 = 0x7F7F_F800;
    /// The first place of a mantissa.
    const HALF: u32 = 0x0040_0000;
    const MANTISSA: u32 = 0x007F_FFFF;

    const fn new(rules: &Rules) -> Power {
        let exact = matches!(rules.power_range, PowerRange::Exact);
        // If the range applies to the rounded value, values whose mantissa exceeds the largest value's by `rest` are still in range.
        let (addend, second, rest) = match rules.rounding {
            Rounding::Ceil => (Self::MANTISSA, Self::SMALLEST + 1, 0),
            Rounding::NearestAway | Rounding::NearestEven => {
                let middle = Self::SMALLEST + Self::SMALLEST / 2;
                (Self::HALF, if exact { middle } else { Self::SMALLEST + 1 }, Self::HALF - 1)
            }
            Rounding::TowardZero | Rounding::Floor | Rounding::ToOdd => {
                (0, Self::MANTISSA + 1, Self::MANTISSA)
            }
        };
        let largest = if exact { Self::LARGEST } else { Self::LARGEST + rest };
        let magnitude = match rules.power_range {
            PowerRange::Exact | PowerRange::Rounded => u32::MAX,
            PowerRange::Magnitude => !Self::SIGN,
        };
        let (number, start, end) = if rules.saturate {
            (!Self::SIGN, 0, Self::INFINITY)
        } else {
            let start = match rules.power_range {
                PowerRange::Exact => Self::SMALLEST,
                PowerRange::Rounded => 1,
                PowerRange::Magnitude => 0,
            };
            (magnitude, start, largest)
        };
        Power { magnitude, largest, second, addend, number, start, span: end - start }
    }

    /// The code of a float32: what kernels compute, in their own instructions.
    #[inline(always)]
    pub(crate) const fn code(self, bits: u32) -> u8 {
        let x = (bits & self.magnitude) as i32;
        // Negative floats compare as negative integers.
        let x = if x < 0 { 0 } else { x as u32 };
        let x = if x > self.largest { self.largest } else { x };
        let code = if x < self.second { 0 } else { (x + self.addend) >> 23 };
        let is_nan = (bits & self.number).wrapping_sub(self.start) > self.span;
        if is_nan { 0xFF } else { code as u8 }
    }
}

/// The constants that turn the magnitude of a small float into a code.
#[derive(Clone, Copy)]
#[allow(dead_code, reason = "read where signs are put in by tables of their own: on 64-bit Arm")]
pub(crate) struct Code {
    /// The bit of the sign.
    pub(crate) sign: u8,
    /// The least magnitude that has a sign: 1 if there is no negative zero.
    pub(crate) signed_from: u8,
    /// The code of NaN, without the sign.
    pub(crate) nan: u8,
    /// The bit that negative NaN has in addition, if any.
    pub(crate) nan_sign: u8,
    /// Float32 bits of the largest magnitude that does not become NaN: infinity, or the largest number.
    pub(crate) largest: u32,
}

impl Code {
    /// The value for targets that are not small floats.
    const NONE: Code = Code { sign: 0, signed_from: 0, nan: 0, nan_sign: 0, largest: 0 };

    const fn new(to: DType, f: FloatSpec, rules: &Rules) -> Code {
        let sign = f.sign_mask() as u8;
        let fnuz = matches!(f.flavor, Flavor::Fnuz);
        let (nan, nan_sign) = match f.nan() {
            // NaN is a zero of the opposite sign.
            None if rules.finite_nan_max => (f.max_finite() as u8, 0),
            None => (sign, sign),
            Some(nan) if fnuz => (nan as u8, 0),
            Some(_) if matches!(to, DType::Float8E5M2) && rules.e5m2_nan_7f => (0x7F, sign),
            Some(nan) => (nan as u8, sign),
        };
        let largest = if fnuz && rules.fnuz_inf_nan { 0x7F7F_FFFF } else { 0x7F80_0000 };
        Code { sign, signed_from: fnuz as u8, nan, nan_sign, largest }
    }
}

/// The constants of a float of up to 16 bits except `bfloat16` and `float8_e8m0fnu`.
#[derive(Clone, Copy)]
pub(crate) struct SmallFloat {
    pub(crate) encoder: Encoder,
    /// The codes of signs and of NaN, for kernels that insert them among bytes. Only for floats of up to 8 bits.
    pub(crate) code: Code,
    /// The same as masks of float32, which need fewer instructions in the plain loops.
    pub(crate) signs: Signs,
    /// All ones if NaN becomes the largest positive value of a target without NaN, otherwise 0: the same as in `code`, but as a mask, which blocks
    /// with NaN need.
    pub(crate) nan_is_max: u32,
    /// The constants of kernels in lanes of 16 bits, from bfloat16 and from float16, to floats of up to 8 bits.
    pub(crate) words: [Words; 2],
}

impl SmallFloat {
    /// The value for other targets.
    const NONE: SmallFloat = SmallFloat {
        encoder: Encoder::NONE,
        code: Code::NONE,
        signs: Signs::NONE,
        nan_is_max: 0,
        words: [Words::NONE; 2],
    };

    const fn new(to: DType, rules: &Rules) -> SmallFloat {
        let f = match to.spec() {
            Spec::Float(f) if f.exponent_bits <= 5 => f,
            _ => return Self::NONE,
        };
        let other_nan = rules.e5m2_nan_7f && matches!(to, DType::Float8E5M2);
        let mut encoder = Encoder::new(f, rules.saturate);
        if other_nan {
            encoder.nan = crate::exact::extended_to_f32(f, 0x7F);
        }
        if matches!(f.flavor, Flavor::Finite) && rules.finite_nan_max {
            encoder.nan = crate::exact::extended_to_f32(f, f.max_finite());
        }
        let nan = match f.nan() {
            Some(_) if other_nan => Some(0x7F),
            nan => nan,
        };
        SmallFloat {
            encoder,
            code: Code::new(to, f, rules),
            signs: Signs::new(f, rules.finite_nan_max),
            nan_is_max: if rules.finite_nan_max { u32::MAX } else { 0 },
            words: if f.bits() <= 8 {
                [
                    Words::new(float_spec(DType::BFloat16), f, rules, nan),
                    Words::new(float_spec(DType::Float16), f, rules, nan),
                ]
            } else {
                [Words::NONE; 2]
            },
        }
    }
}

/// A rounding rule as numbers.
#[derive(Clone, Copy)]
pub(crate) struct Increments {
    /// The numbers to add to the bits of positive and of negative floats so that dropping 16 bits rounds. For nearest even, the last bit that is
    /// kept is added as well.
    #[allow(dead_code, reason = "read by the tiers with vectors")]
    pub(crate) dropping_16: [u32; 2],
    /// Float32 bits of 0.5 if integers are rounded to nearest with ties away from zero, otherwise 0. The number is added with the sign of the
    /// value, rounding toward zero, before the value is rounded to an integer toward zero.
    #[allow(dead_code, reason = "read by the tiers with vectors")]
    pub(crate) half: u32,
    /// For kernels that correct the nearest value.
    pub(crate) correction: Correction,
}

impl Increments {
    const fn new(rounding: Rounding) -> Increments {
        Increments {
            dropping_16: match rounding {
                Rounding::NearestEven => [0x7FFF, 0x7FFF],
                Rounding::TowardZero | Rounding::ToOdd => [0, 0],
                Rounding::NearestAway => [0x8000, 0x8000],
                Rounding::Floor => [0, 0xFFFF],
                Rounding::Ceil => [0xFFFF, 0],
            },
            half: if matches!(rounding, Rounding::NearestAway) { 0x3F00_0000 } else { 0 },
            correction: Correction::new(rounding),
        }
    }
}

/// The range of an integer of up to 8 bits.
#[derive(Clone, Copy)]
#[allow(dead_code, reason = "read by the tiers with vectors")]
pub(crate) struct Int {
    /// The highest value.
    pub(crate) highest: u8,
    /// Float32 bits of the highest value: converted once rather than in every call.
    pub(crate) high: u32,
    /// The lowest value in every byte.
    pub(crate) low: u32,
    /// The bits of the code in every byte.
    pub(crate) mask: u32,
}

impl Int {
    const fn new(to: DType) -> Int {
        match to.spec() {
            Spec::Int { bits: bits @ ..=8, signed } => {
                let codes = 1_u32 << bits;
                let highest = if signed { codes / 2 - 1 } else { codes - 1 };
                let low = if signed { 0x100 - codes / 2 } else { 0 };
                Int {
                    highest: highest as u8,
                    high: (highest as f32).to_bits(),
                    low: 0x0101_0101 * low,
                    mask: 0x0101_0101 * (codes - 1),
                }
            }
            _ => Int { highest: 0, high: 0, low: 0, mask: 0 },
        }
    }

    /// The lowest value.
    #[inline(always)]
    #[allow(dead_code, reason = "as of the fields")]
    pub(crate) const fn lowest(&self) -> i8 {
        self.low as i8
    }

    /// The bits of the code.
    #[inline(always)]
    #[allow(dead_code, reason = "as of the fields")]
    pub(crate) const fn ones(&self) -> u8 {
        self.mask as u8
    }
}

/// The constants of a target under rules. Each kernel reads the constants of its family.
#[derive(Clone, Copy)]
pub(crate) struct Data {
    pub(crate) float: SmallFloat,
    pub(crate) rounding: Increments,
    pub(crate) int: Int,
    /// For `float8_e8m0fnu`.
    pub(crate) power: Power,
    /// The table of a source of a byte, for kernels that look up results.
    pub(crate) table: *const u8,
    /// The target.
    pub(crate) to: DType,
    /// The rules.
    pub(crate) rules: Rules,
}

// SAFETY: tables are only read.
unsafe impl Send for Data {}
// SAFETY: as above.
unsafe impl Sync for Data {}

impl Data {
    /// The constants of `to` under `rules`.
    pub(crate) const fn new(to: DType, rules: &Rules) -> Data {
        Data {
            float: SmallFloat::new(to, rules),
            rounding: Increments::new(rules.rounding),
            int: Int::new(to),
            power: Power::new(rules),
            table: core::ptr::null(),
            to,
            rules: *rules,
        }
    }

    /// The same constants for the second of two steps, if the first step reads floats of 64 bits.
    fn behind_float64(self) -> Data {
        let mut power = self.power;
        // The first step maps only values that are too large to the largest float32, because all other values keep fewer bits.
        power.span -= power.largest.saturating_sub(Power::LONGEST) * (power.span != Power::INFINITY) as u32;
        power.largest = power.largest.min(Power::LONGEST);
        Data { power, ..self }
    }

    fn has_float64_parts(dtype: DType) -> bool {
        matches!(dtype, DType::Float64 | DType::Complex128)
    }

    /// The constants of a pair, kept for the rest of the program, if they differ from the target's under the common rules: under other rules, for
    /// the second of two steps, or with a table.
    pub(crate) fn kept(
        from: DType,
        to: DType,
        rules: &Rules,
        in_two_steps: bool,
        table: *const u8,
    ) -> &'static Data {
        /// The key of the constants of a target; the table is represented by its address.
        type Key = (Rules, bool, usize);
        static KEPT: [Kept<Key, Data>; COUNT] = [const { Kept::new() }; COUNT];
        let behind_float64 = in_two_steps && Self::has_float64_parts(from);
        KEPT[to as usize].get((*rules, behind_float64, table.addr()), || {
            let data = Data { table, ..Data::new(to, rules) };
            if behind_float64 { data.behind_float64() } else { data }
        })
    }

    /// The constants of `to` under the common rules.
    pub(crate) fn common(to: DType, saturate: bool) -> &'static Data {
        &COMMON[saturate as usize][to as usize]
    }
}

static COMMON: [[Data; COUNT]; 2] = [common(false), common(true)];

const fn common(saturate: bool) -> [Data; COUNT] {
    let mut data = [Data::new(DType::Bool, &Rules::common(DType::Bool, saturate)); COUNT];
    let mut i = 0;
    while i < COUNT {
        let to = DType::EVERY[i];
        data[i] = Data::new(to, &Rules::common(to, saturate));
        i += 1;
    }
    data
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::exact::{Exact, FLOAT32, to_float};

    /// All upper halves of a float32, with lower halves around the ends and between them.
    fn floats() -> impl Iterator<Item = u32> {
        let mut state = 1_u32;
        // Miri is slow.
        let step = if cfg!(miri) { 4093 } else { 1 };
        (0..=u16::MAX as u32).step_by(step).flat_map(move |high| {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            [0, 1, 0x7FFF, 0x8000, 0xFFFE, 0xFFFF, state >> 16].map(|low| high << 16 | low)
        })
    }

    #[test]
    fn power_codes_are_exact() {
        let f = crate::exact::float_spec(DType::Float8E8M0FNU);
        let common = Rules::common(DType::Float8E8M0FNU, true);
        for power_range in [PowerRange::Exact, PowerRange::Rounded, PowerRange::Magnitude] {
            for rounding in [Rounding::Ceil, Rounding::NearestAway, Rounding::TowardZero] {
                for saturate in [true, false] {
                    let rules = Rules { saturate, rounding, power_range, ..common };
                    let power = Power::new(&rules);
                    for bits in floats() {
                        let want = to_float(f, Exact::from_float(FLOAT32, bits as u64), &rules);
                        assert_eq!(power.code(bits) as u64, want, "{bits:08X} {rules:?}");
                    }
                }
            }
        }
    }
}
