//! What a kernel reads beside its elements: the constants of a target under the rules of a cast.
//!
//! A kernel is one body per family of pairs; the formats of the family differ in numbers only, and those are here. So are the
//! rules (`exact::Rules`): an option changes a number and, for the few roundings that no number expresses, the
//! [`Direction`] of the floating-point environment or the body.

use crate::{
    dtype::{COUNT, DType, Flavor, Spec},
    exact::{Rounding, Rules, float_spec},
    format::Encoder,
    vector::words::Words,
};

/// The rounding direction of the floating-point environment in which a kernel runs. The guard (`fpenv`) sets it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Direction {
    NearestEven,
    Down,
    Up,
    TowardZero,
}

/// The constants of a target under rules. Kernels read the fields that concern their family.
#[derive(Clone, Copy)]
pub(crate) struct Data {
    /// Floats of up to 16 bits but `bfloat16` and `float8_e8m0fnu`.
    pub(crate) encoder: Encoder,
    /// 1 if ties go away from zero, else 0: or-ed into the bits of a float32 that has at least two mantissa bits more than the
    /// target, it moves a tie past the middle, and nothing else, before a rounding to nearest even.
    pub(crate) sticky: u32,
    /// Float32 bits of 0.5 if integers are rounded to nearest with ties away from zero, else 0: added with the sign of the
    /// value and rounded toward zero, before the value is rounded to an integer toward zero.
    pub(crate) half: u32,
    /// All ones if an infinity becomes the NaN of the target, else 0.
    pub(crate) infinity_is_nan: u32,
    /// All ones if NaN becomes the largest positive value of a target without NaN, else 0.
    pub(crate) nan_is_max: u32,
    /// The constants for bfloat16 and for float16 as a source, if the target is a float of up to 8 bits with a mantissa.
    pub(crate) words: [Words; 2],
    /// The table of a source of a byte, for kernels that look results up.
    pub(crate) table: *const u8,
}

// SAFETY: tables are read only.
unsafe impl Send for Data {}
// SAFETY: as above.
unsafe impl Sync for Data {}

impl Data {
    /// The constants of `to` under `rules`.
    pub(crate) const fn new(to: DType, rules: &Rules) -> Data {
        let nearest_away = matches!(rules.rounding, Rounding::NearestAway);
        let (encoder, fnuz) = match to.spec() {
            Spec::Float(f) if f.exponent_bits <= 5 => {
                let mut encoder = Encoder::new(f, rules.saturate);
                if rules.e5m2_nan_7f && matches!(to, DType::Float8E5M2) {
                    encoder.nan = crate::exact::extended_to_f32(f, 0x7F);
                }
                if matches!(f.flavor, Flavor::Finite) && rules.finite_nan_max {
                    encoder.nan = crate::exact::extended_to_f32(f, f.max_finite());
                }
                (encoder, matches!(f.flavor, Flavor::Fnuz))
            }
            _ => (Encoder::NONE, false),
        };
        Data {
            encoder,
            sticky: nearest_away as u32,
            half: if nearest_away { 0x3F00_0000 } else { 0 },
            infinity_is_nan: if fnuz && rules.fnuz_inf_nan { u32::MAX } else { 0 },
            nan_is_max: if rules.finite_nan_max { u32::MAX } else { 0 },
            words: match to.spec() {
                Spec::Float(f) if f.bits() <= 8 && f.mantissa_bits > 0 => {
                    let nan = match f.nan() {
                        Some(_) if rules.e5m2_nan_7f && matches!(to, DType::Float8E5M2) => Some(0x7F),
                        nan => nan,
                    };
                    [
                        Words::new(float_spec(DType::BFloat16), f, rules.saturate, nan),
                        Words::new(float_spec(DType::Float16), f, rules.saturate, nan),
                    ]
                }
                _ => [Words::NONE; 2],
            },
            table: core::ptr::null(),
        }
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
        let to = DType::ALL[i];
        data[i] = Data::new(to, &Rules::common(to, saturate));
        i += 1;
    }
    data
}
