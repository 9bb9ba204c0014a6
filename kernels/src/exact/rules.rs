//! Determines which rules affect a pair.

use crate::{
    dtype::{DType, Flavor, Kind, Spec},
    exact::{Rules, hub::parts_fit},
};

impl Rules {
    /// These rules with every field that cannot affect the pair set as in [`Rules::common`].
    ///
    /// Rules that give the same results for the pair are equal afterwards, as far as the two dtypes determine that. A kernel for common
    /// rules is chosen by equality with them, so a rule that this function misses costs speed, but never changes a result.
    pub const fn canonical(&self, from: DType, to: DType) -> Rules {
        let from_float = matches!(from.kind(), Kind::Float | Kind::Complex);
        let mut rules = Rules::common(to, true);
        if from as u8 == to as u8 {
            return rules;
        }
        match to.spec() {
            Spec::Bool => {}
            Spec::Int { .. } => {
                rules.saturate = self.saturate;
                // An integer has no fraction.
                if from_float {
                    rules.rounding = self.rounding;
                }
            }
            Spec::Complex(_) => {
                if !parts_fit(from, to) {
                    rules.rounding = self.rounding;
                }
            }
            Spec::Float(f) => {
                if !parts_fit(from, to) {
                    rules.rounding = self.rounding;
                }
                if f.bits() == 8 {
                    rules.saturate = self.saturate;
                }
                match f.flavor {
                    Flavor::Exponent => rules.power_range = self.power_range,
                    Flavor::Fnuz if from_float && self.saturate => rules.fnuz_inf_nan = self.fnuz_inf_nan,
                    Flavor::Finite if from.has_nan() => rules.finite_nan_max = self.finite_nan_max,
                    _ => {}
                }
                if matches!(to, DType::Float8E5M2) && from.has_nan() {
                    rules.e5m2_nan_7f = self.e5m2_nan_7f;
                }
            }
        }
        rules
    }

    /// Whether two rules are the same; `==` in constants.
    pub(crate) const fn is(&self, other: &Rules) -> bool {
        self.saturate == other.saturate
            && self.rounding as u8 == other.rounding as u8
            && self.e5m2_nan_7f == other.e5m2_nan_7f
            && self.finite_nan_max == other.finite_nan_max
            && self.fnuz_inf_nan == other.fnuz_inf_nan
            && self.power_range as u8 == other.power_range as u8
    }
}
