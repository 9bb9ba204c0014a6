//! Which casts there are: pairs of encodings and what happens on overflow.

use lanecast::{CastOptions, DType, Encoding, IntOverflow, Kind, Saturate, Spec, Storage};
use serde::{Deserialize, Serialize};
use std::fmt;

include!("../../common/pairs.rs");

/// What the cast does with a value that the target cannot hold, where there is a choice.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Mode {
    /// The pair has no choice.
    Only,
    /// The nearest value that the target holds.
    Saturate,
    /// The low bits of the integer.
    Wrap,
    /// Infinity or NaN (8-bit floats).
    Overflow,
}

impl Mode {
    /// The options that ask for it.
    pub const fn options(self) -> CastOptions {
        let saturate = CastOptions::RUST.with_int_to_int(IntOverflow::Saturate);
        match self {
            Mode::Only => CastOptions::RUST,
            Mode::Saturate => saturate,
            Mode::Wrap => CastOptions::ONNX,
            Mode::Overflow => CastOptions::RUST.with_saturate(Saturate::Off),
        }
    }

    /// Its name in results and on the command line.
    pub const fn name(self) -> &'static str {
        match self {
            Mode::Only => "only",
            Mode::Saturate => "saturate",
            Mode::Wrap => "wrap",
            Mode::Overflow => "overflow",
        }
    }

    /// The modes of a pair, the default of the library first.
    pub fn of(from: DType, to: DType) -> &'static [Mode] {
        let float_source = matches!(from.kind(), Kind::Float | Kind::Complex);
        match to.spec() {
            _ if from == to || from == DType::Bool => &[Mode::Only],
            Spec::Int { .. } if float_source => &[Mode::Saturate, Mode::Wrap],
            Spec::Int { .. } if int_fits(from, to) => &[Mode::Only],
            Spec::Int { .. } => &[Mode::Wrap, Mode::Saturate],
            Spec::Float(_) if to.bits() == 8 => &[Mode::Saturate, Mode::Overflow],
            _ => &[Mode::Only],
        }
    }
}

impl fmt::Display for Mode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// Whether every value of the integer dtype `from` is one of the integer dtype `to`.
fn int_fits(from: DType, to: DType) -> bool {
    match (from.iinfo(), to.iinfo()) {
        (Some(from), Some(to)) => to.min <= from.min && from.max <= to.max,
        _ => false,
    }
}

/// A cast: what is cast to what, and the mode.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Cast {
    /// What the source holds.
    pub from: Encoding,
    /// What the destination holds.
    pub to: Encoding,
    /// What happens on overflow.
    pub mode: Mode,
}

impl fmt::Display for Cast {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} -> {} ({})", label(self.from), label(self.to), self.mode)
    }
}

/// The name of an encoding: the dtype's, with `/packed` behind it if elements share bytes.
pub fn label(buffer: Encoding) -> String {
    let packed = if buffer.storage() == Storage::Packed { "/packed" } else { "" };
    format!("{}{packed}", buffer.dtype())
}

/// The name of a cast: `int4/packed -> int8 wrap`. The only mode of a pair is not named.
pub fn pair_label(from: &str, to: &str, mode: Mode) -> String {
    let mode = if mode == Mode::Only { String::new() } else { format!(" {mode}") };
    format!("{from} -> {to}{mode}")
}

/// Every encoding: each dtype in bytes of its own, those below 8 bits also packed.
pub fn buffer_types() -> Vec<Encoding> {
    let bytes = DType::ALL.iter().map(|&dtype| Encoding::new(dtype));
    let packed = DType::ALL.iter().filter(|dtype| dtype.is_sub_byte()).map(|&dtype| Encoding::packed(dtype));
    bytes.chain(packed).collect()
}

/// Every cast: all pairs of encodings in all their modes.
pub fn every() -> Vec<Cast> {
    let types = buffer_types();
    let pairs = types.iter().flat_map(|&from| types.iter().map(move |&to| (from, to)));
    let modes = |(from, to): (Encoding, Encoding)| {
        Mode::of(from.dtype(), to.dtype()).iter().map(move |&mode| Cast { from, to, mode })
    };
    pairs.flat_map(modes).collect()
}

/// Every cast that is timed: all pairs in byte storage; and packed storage of the small dtypes from and to the natural
/// storage of all others and to each other. A packed dtype beside a small one in byte storage is left out, but for the
/// same dtype: packing and unpacking.
pub fn all() -> Vec<Cast> {
    let timed = |Cast { from, to, .. }: &Cast| {
        from.storage() == to.storage()
            || from.dtype() == to.dtype()
            || !(from.dtype().is_sub_byte() && to.dtype().is_sub_byte())
    };
    every().into_iter().filter(timed).collect()
}

/// The smallest number of elements whose source and destination are both whole 64-byte lines.
pub fn step(from: Encoding, to: Encoding) -> usize {
    let elements = |buffer: Encoding| {
        let bits = buffer.bits_per_element();
        // A line has 512 bits; an odd factor of the width needs as many more lines.
        512 >> bits.trailing_zeros()
    };
    elements(from).max(elements(to))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_numeric_pair_is_there_once() {
        let casts = all();
        for &from in DType::ALL {
            for &to in DType::ALL {
                let bytes = casts
                    .iter()
                    .filter(|cast| (cast.from, cast.to) == (Encoding::new(from), Encoding::new(to)));
                assert_eq!(bytes.count(), Mode::of(from, to).len(), "{from} -> {to}");
            }
        }
        let mut seen = std::collections::HashSet::new();
        assert!(casts.iter().all(|cast| seen.insert(*cast)), "a cast is listed twice");
    }

    #[test]
    fn steps_are_whole_lines() {
        for cast in all() {
            let step = step(cast.from, cast.to);
            for buffer in [cast.from, cast.to] {
                assert_eq!(step as u32 * buffer.bits_per_element() % 512, 0, "{cast}");
            }
        }
    }

    #[test]
    fn modes_of_a_pair() {
        use Mode::{Only, Overflow, Saturate, Wrap};
        assert_eq!(Mode::of(DType::Float32, DType::Int8), [Saturate, Wrap]);
        assert_eq!(Mode::of(DType::Int32, DType::Int8), [Wrap, Saturate]);
        assert_eq!(Mode::of(DType::UInt8, DType::Int16), [Only]);
        assert_eq!(Mode::of(DType::Int8, DType::UInt16), [Wrap, Saturate]);
        assert_eq!(Mode::of(DType::Float32, DType::Float8E5M2), [Saturate, Overflow]);
        assert_eq!(Mode::of(DType::Float32, DType::Float4E2M1FN), [Only]);
        assert_eq!(Mode::of(DType::Float32, DType::BFloat16), [Only]);
    }
}
