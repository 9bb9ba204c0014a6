//! The scale of a tensor beside those of its blocks.

use super::{
    error::ScaledError,
    plan::{ScaledPlan, is_positive},
    rule::Rule,
    scheme::ScaleType,
};

impl ScaledPlan {
    /// The same cast with a scale of the tensor that is known beforehand, such as one from calibration, or one that several tensors share:
    /// [`quantize_dynamic`](Self::quantize_dynamic) and its kin then make the scales of the blocks only, and read the source once. Scales
    /// that would be too large become the largest one, and the elements of their blocks saturate. Casts that are given a scale of the tensor
    /// take that one.
    ///
    /// ```
    /// use lanecast::DType;
    /// use lanecast::scaled::{ScaledPlan, Scheme};
    /// // Activations of up to 8, by calibration.
    /// let plan = ScaledPlan::new(DType::Float32, &Scheme::NVFP4, &[16])?.with_global(8.0 / (448.0 * 6.0))?;
    /// let activations: Vec<u8> = (0..16).flat_map(|i| (i as f32 / 4.0).to_ne_bytes()).collect();
    /// let (mut codes, mut scales) = ([0; 8], [0; 1]);
    /// let report = plan.quantize_dynamic(&activations, &mut codes, &mut scales)?;
    /// assert_eq!(report.global, 8.0 / (448.0 * 6.0));
    /// # Ok::<(), lanecast::scaled::ScaledError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`ScaledError::Scheme`] if the scheme has no scale of the tensor; [`ScaledError::Global`] if `global` is not positive and finite.
    pub fn with_global(self, global: f32) -> Result<ScaledPlan, ScaledError> {
        if !self.has_global() {
            return Err(ScaledError::Scheme {
                why: "the scheme has no scale of the tensor, so none can be fixed",
            });
        }
        Ok(ScaledPlan { static_global: Some(self.global(global)?), ..self })
    }

    /// Whether the scheme has a scale of the tensor.
    pub(super) fn has_global(&self) -> bool {
        matches!(self.scheme.scale, ScaleType::E4M3(_))
    }

    /// The scale of the tensor that was given, checked; 1 if the scheme has none.
    pub(super) fn global(&self, given: f32) -> Result<f32, ScaledError> {
        match self.has_global() {
            true if !is_positive(given) => Err(ScaledError::Global { given }),
            true => Ok(given),
            false => Ok(1.0),
        }
    }

    /// Whether the scale of the tensor follows from its largest magnitude.
    pub(super) fn needs_amax(&self) -> bool {
        self.has_global() && self.static_global.is_none()
    }

    /// The rule of the static scale, or the one that follows from the elements.
    pub(super) fn rule_or<'a>(&'a self, follows: impl FnOnce() -> Rule<'a>) -> Rule<'a> {
        match self.static_global {
            Some(global) => Rule::of_global(self, global),
            None => follows(),
        }
    }
}
