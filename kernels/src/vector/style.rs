//! The roundings of the kernels through float32, and the body and the direction that each rule needs.
//!
//! One body rounds both to nearest even and toward zero: it is the same addition in another direction of the environment. The other bodies round
//! in ways that no direction provides.

use crate::{
    dtype::{DType, Flavor, Spec},
    exact::{Rounding, Rules},
    format::{data::Direction, typed},
};

/// How a kernel rounds: one list for all kernels of all tiers. A kernel whose body serves several of these modes takes the mode as a
/// [`RoundingMode`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mode {
    /// As the common rules require: floats to nearest with ties to even, integers toward zero. One addition rounds the small floats; if the
    /// environment rounds toward zero, it truncates.
    Common,
    /// In the direction of the environment, whatever it is.
    Directed,
    /// To nearest with ties away from zero.
    Away,
    /// To odd. The environment rounds toward zero.
    Odd,
}

impl Mode {
    /// Selects the item for this mode; the items are in the order of the modes.
    pub(crate) const fn pick<T: Copy>(self, [common, directed, away, odd]: [T; 4]) -> T {
        match self {
            Mode::Common => common,
            Mode::Directed => directed,
            Mode::Away => away,
            Mode::Odd => odd,
        }
    }
}

typed! {
    /// A [`Mode`] as a parameter of a kernel.
    trait RoundingMode { MODE: Mode }
    /// [`Mode::Common`].
    Common = Mode::Common;
    /// [`Mode::Directed`].
    Directed = Mode::Directed;
    /// [`Mode::Away`].
    Away = Mode::Away;
    /// [`Mode::Odd`].
    Odd = Mode::Odd;
}

/// The mode and the direction of the environment for a target of the kernels through float32 under rules. [`Mode::Away`] also serves rounding
/// toward zero if the increment is data, and infinities that become NaN.
pub(crate) fn mode(to: DType, rules: &Rules) -> (Mode, Direction) {
    use Direction::{Down, NearestEven, TowardZero, Up};
    let (flavor, bits, exponent_bits) = match to.spec() {
        Spec::Float(f) => (f.flavor, f.bits(), f.exponent_bits),
        _ => return (Mode::Common, NearestEven),
    };
    if matches!(flavor, Flavor::Exponent) {
        return (Mode::Away, NearestEven);
    }
    if exponent_bits == 8 {
        // The addition is an integer one, so the direction does not matter.
        let mode = match rules.rounding {
            Rounding::NearestEven => Mode::Common,
            Rounding::NearestAway | Rounding::TowardZero => Mode::Away,
            Rounding::Floor | Rounding::Ceil => Mode::Directed,
            Rounding::ToOdd => Mode::Odd,
        };
        return (mode, NearestEven);
    }
    // The conversion to float16 has a form that obeys the direction.
    let half = bits == 16;
    let special = matches!(flavor, Flavor::Fnuz) && rules.fnuz_inf_nan;
    match rules.rounding {
        Rounding::NearestEven => (if special { Mode::Away } else { Mode::Common }, NearestEven),
        Rounding::NearestAway => (Mode::Away, NearestEven),
        Rounding::TowardZero if half => (Mode::Directed, TowardZero),
        Rounding::TowardZero => (if special { Mode::Away } else { Mode::Common }, TowardZero),
        Rounding::Floor => (Mode::Directed, Down),
        Rounding::Ceil => (Mode::Directed, Up),
        Rounding::ToOdd => (Mode::Odd, TowardZero),
    }
}
