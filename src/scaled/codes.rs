//! The values of codes.

use super::{
    error::ScaledError,
    scheme::{ScaleRule, Scheme, largest},
};
use lanecast_kernels::{DType, Kind};

/// The code format of the values that a scaled cast rounds to: microscaled `int8` has six bits behind the point.
#[derive(Clone, Copy, Debug)]
pub(super) struct Codes {
    /// The largest value.
    pub(super) max: f64,
    pub(super) exponent: i32,
    pub(super) mantissa_bits: u32,
    /// The factor of values before they become integers.
    pub(super) unit: f64,
}

impl Codes {
    pub(super) fn of(scheme: &Scheme) -> Result<Self, ScaledError> {
        let refused = ScaledError::Element { dtype: scheme.element };
        let max = largest(scheme.element).ok_or(refused.clone())?;
        let kind = scheme.element.kind();
        if matches!(kind, Kind::Complex | Kind::Bool)
            || scheme.element == DType::Float8E8M0FNU
            || max > 65536.0
        {
            return Err(refused);
        }
        let float = scheme.element.finfo();
        let unit = match (scheme.rule, float) {
            (ScaleRule::Pow2(_), None) => (max as u64).div_ceil(2) as f64,
            _ => 1.0,
        };
        let max = max / unit;
        let exponent = (max.to_bits() >> 52) as i32 - 1023;
        // The unit of integers is a power of two.
        let mantissa_bits = float.map_or((unit.to_bits() >> 52) as u32 - 1023, |float| float.mantissa_bits);
        Ok(Self { max, exponent, mantissa_bits, unit })
    }
}
