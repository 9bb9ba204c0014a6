//! The 16 bits that represent the result of every code: the words from which tables are made.

use crate::{
    dtype::{DType, Flavor, Spec},
    exact::{Class, Exact, FLOAT32, Rules, decode, shift_right, to_bool, to_float, to_int},
    format::Format,
};
use core::marker::PhantomData;

/// The values of all codes of a source.
struct Values<S>(PhantomData<S>);

impl<S: Format> Values<S> {
    const ALL: &'static [Exact; 256] = &{
        let mut values = [Exact::ZERO; 256];
        let mut code = 0;
        while code < 256 {
            values[code] = decode(S::DTYPE, code as u128).0;
            code += 1;
        }
        values
    };
}

/// The 16 bits of the result of every code.
pub(crate) trait Words {
    /// The dtype of the source.
    const FROM: DType;
    /// The dtype whose codes the words are, or are the upper 16 bits of.
    const OF: DType;
    const ALL: &'static [u16; 256];
}

/// Words of a cast to an integer of up to 16 bits or to a float: the result or, for a wider float, its upper 16 bits; the others are zero.
pub(crate) struct Saturating<S, D>(PhantomData<(S, D)>);

/// The same without saturation.
pub(crate) struct Wrapping<S, D>(PhantomData<(S, D)>);

/// Words of a cast to signed integers of `BITS` bits, more than 16, and to unsigned ones if negative values become 0 afterwards. A word is the
/// upper half of the float32 whose truncation is the result: the value itself, but zero for NaN and for values that wrap to zero. A value out of
/// range stays out of range for the conversion.
pub(crate) struct Truncating<S, const BITS: u32, const SATURATE: bool>(PhantomData<S>);

impl<S: Format, D: Format> Words for Saturating<S, D> {
    const FROM: DType = S::DTYPE;
    const OF: DType = D::DTYPE;
    const ALL: &'static [u16; 256] = &results(S::DTYPE, D::DTYPE, true, Values::<S>::ALL, None);
}

impl<S: Format, D: Format> Words for Wrapping<S, D> {
    const FROM: DType = S::DTYPE;
    const OF: DType = D::DTYPE;
    const ALL: &'static [u16; 256] =
        &results(S::DTYPE, D::DTYPE, false, Values::<S>::ALL, Some(Saturating::<S, D>::ALL));
}

impl<S: Format, const BITS: u32, const SATURATE: bool> Words for Truncating<S, BITS, SATURATE> {
    const FROM: DType = S::DTYPE;
    const OF: DType = DType::Float32;
    const ALL: &'static [u16; 256] = &floats_for(BITS, SATURATE, Values::<S>::ALL, Saturating::<S, f32>::ALL);
}

/// The words of a pair under any rules: [`Saturating`] ones or, for integers of more than 16 bits, [`Truncating`] ones, rounded to integers.
pub(crate) fn words(from: DType, to: DType, rules: &Rules) -> [u16; 256] {
    let mut words = [0; 256];
    for (code, word) in words.iter_mut().enumerate() {
        let value = decode(from, code as u128).0;
        *word = match to.spec() {
            Spec::Int { bits: bits @ 32.., .. } => truncating(bits, value, rules),
            spec => result(spec, value, rules),
        };
    }
    words
}

/// The upper half of the float32 whose truncation is the integer.
fn truncating(bits: u32, value: Exact, rules: &Rules) -> u16 {
    const ONE: u16 = 0x3F80;
    let value = match value {
        Exact { class: Class::Finite, exponent: ..0, significand, negative, .. } => {
            let shift = value.exponent.unsigned_abs();
            let significand = shift_right(rules.rounding, negative, significand, shift);
            Exact { significand, exponent: 0, ..value }
        }
        _ => value,
    };
    let word = (to_float(FLOAT32, value, &Rules::common(DType::Float32, true)) >> 16) as u16;
    if word & 0x7FFF >= ONE && to_int(bits, true, value, rules) == 0 { word & 0x8000 } else { word }
}

/// `saturated` are the results under the other overflow rule, if known: compile time is spent here.
const fn results(
    from: DType,
    to: DType,
    saturate: bool,
    values: &[Exact; 256],
    saturated: Option<&[u16; 256]>,
) -> [u16; 256] {
    let (spec, rules) = (to.spec(), Rules::common(to, saturate));
    // The unused bits of a code do not change the result.
    let codes = if matches!(from, DType::Bool) { 2 } else { 1 << from.bits() };
    let mut words = [0; 256];
    let mut code = 0;
    while code < 256 {
        words[code] = if code >= codes {
            words[if matches!(from, DType::Bool) { 1 } else { code % codes }]
        } else {
            match saturated {
                Some(saturated) if !is_an_end(spec, saturated[code]) => saturated[code],
                _ => result(spec, values[code], &rules),
            }
        };
        code += 1;
    }
    words
}

const fn result(to: Spec, value: Exact, rules: &Rules) -> u16 {
    match to {
        Spec::Bool => to_bool(value) as u16,
        Spec::Int { bits, signed } => to_int(bits, signed, value, rules) as u16,
        Spec::Float(f) | Spec::Complex(f) => {
            let code = to_float(f, value, rules);
            let unused = if f.bits() > 16 { f.bits() - 16 } else { 0 };
            assert!(code & ((1 << unused) - 1) == 0, "the value is longer than 16 bits of the format hold");
            (code >> unused) as u16
        }
    }
}

/// Whether saturation may have produced this result.
const fn is_an_end(to: Spec, word: u16) -> bool {
    match to {
        Spec::Int { bits, signed } => {
            let max = 0xFFFF_u16 >> (16 - bits + signed as u32);
            word == 0 || word == max || word == max + signed as u16
        }
        Spec::Float(f) if f.bits() <= 8 => {
            let magnitude = word as u64 & f.magnitude_mask();
            magnitude == f.max_finite() || (magnitude == 0 && matches!(f.flavor, Flavor::Exponent))
        }
        _ => false,
    }
}

const fn floats_for(bits: u32, saturate: bool, values: &[Exact; 256], floats: &[u16; 256]) -> [u16; 256] {
    const ONE: u16 = 0x3F80;
    let rules = Rules::common(DType::Int64, saturate);
    let mut words = *floats;
    let mut code = 0;
    while code < 256 {
        if words[code] & 0x7FFF >= ONE && to_int(bits, true, values[code], &rules) == 0 {
            words[code] &= 0x8000;
        }
        code += 1;
    }
    words
}
