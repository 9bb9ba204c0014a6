//! Which version of an operator is in force, and what that version refuses.

use super::{
    element::ElementType,
    error::OnnxError,
    operator::{Operator, Port},
};

impl Operator {
    /// The version in force in an opset: the latest that is not newer than the opset. Unknown later opsets have the latest
    /// known version.
    ///
    /// ```
    /// use lanecast::onnx::Operator;
    /// assert_eq!(Operator::Cast.version_in(11), Ok(9));
    /// assert_eq!(Operator::CastLike.version_in(28), Ok(25));
    /// ```
    ///
    /// # Errors
    ///
    /// [`OnnxError::NoSuchOpset`] if the opset is older than the operator, or 0.
    pub fn version_in(self, opset: u32) -> Result<u32, OnnxError> {
        let versions = self.versions();
        let version = versions.iter().rev().find(|version| **version <= opset);
        version.copied().ok_or(OnnxError::NoSuchOpset { operator: self, opset })
    }

    /// The first version of the casts and of `QuantizeLinear` that has the attribute `saturate`.
    pub(super) const SATURATE: u32 = 19;
    /// The first version that has the attribute `round_mode`.
    pub(super) const ROUND_MODE: u32 = 24;

    /// Refuses a type that the version does not take.
    pub(super) fn check(self, version: u32, port: Port, element: ElementType) -> Result<(), OnnxError> {
        match self.since_on(port, element) {
            Some(since) if since <= version => Ok(()),
            since => Err(OnnxError::Type { operator: self, version, port, element, since }),
        }
    }
}
