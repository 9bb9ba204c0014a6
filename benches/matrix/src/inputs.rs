//! What the casts are fed.
//!
//! Every value is made in `float64` by a generator with a fixed seed and cast to the source dtype by the scalar tier, so that
//! all machines measure the same bytes. A source longer than [`PERIOD`] elements repeats them: then the right answer repeats
//! as well, and a destination of any length can be compared as a whole against one period from the scalar tier.

use lanecast::{BytesMut, CastOptions, CastPlan, DType, Encoding, Kind, Spec, Tier};
use serde::{Deserialize, Serialize};

/// Elements after which a source repeats: whole lines in every storage, and far more than a branch predictor remembers.
pub const PERIOD: usize = 1 << 16;

/// Kinds of source values.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize, clap::ValueEnum)]
#[serde(rename_all = "lowercase")]
pub enum Inputs {
    /// Values that the target holds, normal numbers in both formats where those have any that do.
    #[default]
    Normal,
    /// Float sources: nothing but subnormal numbers of the source.
    Subnormal,
    /// Float sources: one value in 16 is NaN.
    Nan,
    /// Values of which every second is outside the target's range.
    Saturating,
}

/// How far the values of a source go. Sources of the same dtype and range are the same bytes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Range {
    signed: bool,
    /// The smallest magnitude of floats, and the largest of all.
    min: f64,
    max: f64,
    inputs: Inputs,
}

impl Range {
    /// The range for a pair: the narrower dtype decides.
    pub fn new(from: DType, to: DType, inputs: Inputs) -> Range {
        let signed = [from, to].into_iter().all(|dtype| match dtype.spec() {
            Spec::Int { signed, .. } => signed,
            Spec::Float(f) => f.signed(),
            Spec::Bool | Spec::Complex(_) => true,
        });
        let narrow = [from, to].into_iter().any(|dtype| dtype.bits() == 2);
        let max = match inputs {
            Inputs::Saturating => 2.0 * largest(to),
            _ if narrow => 1.0,
            _ => 4.25,
        };
        let normal = [from, to].map(|dtype| dtype.finfo().map_or(0.0, |f| f.smallest_normal));
        Range { signed, min: normal[0].max(normal[1]).max(0.5), max, inputs }
    }

    /// One period of values.
    fn values(&self, from: DType, count: usize) -> Vec<f64> {
        let tiny = from.finfo().map_or(0.0, |f| f.smallest_normal);
        let mut state = 0x9E37_79B9_7F4A_7C15_u64;
        let mut random = || {
            // xorshift64*
            state ^= state >> 12;
            state ^= state << 25;
            state ^= state >> 27;
            state.wrapping_mul(0x2545_F491_4F6C_DD1D)
        };
        let value = |_| {
            let bits = random();
            // 53 random bits: every bit of a float64 mantissa takes part.
            let unit = (bits >> 11) as f64 / (1_u64 << 53) as f64;
            let sign = if self.signed && random() >> 63 == 1 { -1.0 } else { 1.0 };
            match self.inputs {
                Inputs::Normal | Inputs::Nan if from.float_spec().is_none() => {
                    // Integers and bool: zero is one of them.
                    sign * (unit * (self.max + 1.0)).floor()
                }
                Inputs::Nan if bits & 15 == 0 => f64::NAN,
                Inputs::Subnormal => sign * unit * tiny,
                Inputs::Normal | Inputs::Nan => sign * (self.min + unit * (self.max - self.min)),
                Inputs::Saturating => sign * unit * self.max,
            }
        };
        (0..count).map(value).collect()
    }
}

/// The largest finite value of a dtype, half that of `float64` at most.
fn largest(dtype: DType) -> f64 {
    match (dtype.finfo(), dtype.iinfo()) {
        (Some(float), _) => float.max.min(f64::MAX / 4.0),
        (_, Some(int)) => int.max as f64,
        _ => 1.0,
    }
}

/// Whether the kind of values means anything for a pair.
pub fn apply(inputs: Inputs, from: DType, to: DType) -> bool {
    let float = matches!(from.kind(), Kind::Float | Kind::Complex);
    match inputs {
        Inputs::Normal => true,
        Inputs::Subnormal => float && from != DType::Float8E8M0FNU,
        Inputs::Nan => from.float_spec().is_some_and(|f| f.nan().is_some()),
        Inputs::Saturating => from != to && to != DType::Bool && largest(from) > largest(to),
    }
}

/// One period of a source's bytes.
pub fn period(from: Encoding, range: Range) -> Vec<u8> {
    beginning(from, range, PERIOD)
}

/// The first elements of a period.
///
/// # Panics
///
/// Never: every machine has the scalar tier.
pub fn beginning(from: Encoding, range: Range, elements: usize) -> Vec<u8> {
    // Complex numbers are made part by part.
    let (made, count) = match from.dtype() {
        DType::Complex64 => (Encoding::new(DType::Float32), 2 * elements),
        DType::Complex128 => (Encoding::new(DType::Float64), 2 * elements),
        _ => (from, elements),
    };
    let values = range.values(from.dtype(), count);
    let mut out = vec![0; made.byte_len(count).unwrap_or_default()];
    let plan = CastPlan::with_tier(DType::Float64, made, &CastOptions::RUST, Tier::Scalar);
    plan.and_then(|plan| plan.run(&values, BytesMut::new(&mut out, count)))
        .expect("the scalar tier has every pair");
    out
}

/// Fills a buffer with repetitions of a period.
pub fn repeat(period: &[u8], out: &mut [u8]) {
    for chunk in out.chunks_mut(period.len()) {
        chunk.copy_from_slice(&period[..chunk.len()]);
    }
}

/// Whether a buffer is nothing but repetitions of a period.
pub fn repeats(period: &[u8], buffer: &[u8]) -> bool {
    buffer.chunks(period.len()).all(|chunk| *chunk == period[..chunk.len()])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn repetition() {
        let mut buffer = [0; 10];
        repeat(&[1, 2, 3], &mut buffer);
        assert_eq!(buffer, [1, 2, 3, 1, 2, 3, 1, 2, 3, 1]);
        assert!(repeats(&[1, 2, 3], &buffer));
        buffer[9] = 2;
        assert!(!repeats(&[1, 2, 3], &buffer));
    }

    #[test]
    fn kinds_are_what_they_say() {
        let floats = |inputs| -> Vec<f32> {
            let range = Range::new(DType::Float32, DType::Float16, inputs);
            let bytes = period(DType::Float32.into(), range);
            bytes.chunks(4).map(|b| f32::from_ne_bytes([b[0], b[1], b[2], b[3]])).collect()
        };
        assert!(floats(Inputs::Normal).iter().all(|x| (0.5..=4.25).contains(&x.abs())));
        let bytes =
            period(DType::BFloat16.into(), Range::new(DType::BFloat16, DType::Float4E2M1FN, Inputs::Normal));
        assert!(
            bytes.chunks(2).all(|b| u16::from_ne_bytes([b[0], b[1]]) & 0x7FFF >= 0x3F80),
            "a subnormal result"
        );
        assert!(floats(Inputs::Subnormal).iter().all(|x| x.abs() <= f32::MIN_POSITIVE));
        let nans = floats(Inputs::Nan).iter().filter(|x| x.is_nan()).count();
        assert!((PERIOD / 20..PERIOD / 12).contains(&nans));
        let large = floats(Inputs::Saturating).iter().filter(|x| x.abs() > 65504.0).count();
        assert!((PERIOD / 3..2 * PERIOD / 3).contains(&large));
    }
}
