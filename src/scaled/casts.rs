//! The plain casts that a scaled one is made of, and the loops between them.

use super::{error::ScaledError, scheme::Scheme};
use crate::{BufferType, CastOptions, CastPlan, DType, IntOverflow, IntRound, Saturate, Storage, tier};
use core::fmt;
use lanecast_kernels::scaled::{ScaledCast, ScaledLoops, Step};

/// The plain casts of a plan.
#[derive(Clone, Copy)]
pub(super) struct Casts {
    /// The loops of the tier; `None` on one without vectors, which divides in double precision.
    pub(super) loops: Option<ScaledLoops>,
    /// The source as float32, exact.
    pub(super) load: CastPlan,
    /// Quotients to codes of a byte or wider: of float64, and of float32.
    pub(super) encode_wide: CastPlan,
    pub(super) encode: CastPlan,
    /// Quotients of float32 to codes as they are stored.
    pub(super) encode_stored: CastPlan,
    /// Codes to float32, of a byte or wider, and as they are stored.
    pub(super) decode: CastPlan,
    pub(super) decode_stored: CastPlan,
    /// Scales to float32, exact, and magnitudes to scales.
    pub(super) load_scales: CastPlan,
    pub(super) store_scales: CastPlan,
    /// Sources to codes as they are stored, for pairs that are scaled in registers.
    pub(super) fused: Option<ScaledCast>,
    /// Whether the source has the byte order of the host.
    pub(super) native: bool,
}

impl fmt::Debug for Casts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Casts").field("load", &self.load).field("encode", &self.encode_stored).finish()
    }
}

/// Rounded to the nearest, ties to even, and saturated.
fn saturating() -> CastOptions {
    let mut options = CastOptions::RUST;
    options.saturate = Saturate::On;
    options.float_to_int = IntOverflow::Saturate;
    options.int_round = IntRound::NearestEven;
    options
}

impl Casts {
    pub(super) fn new(from: BufferType, scheme: &Scheme, data: BufferType) -> Result<Self, ScaledError> {
        let (element, scale) = (scheme.element, scheme.scale.dtype());
        let exact = |from: BufferType, to: DType| CastPlan::new(from, to, &CastOptions::RUST);
        let bytes = BufferType::with_storage(element, Storage::Byte);
        Ok(Self {
            loops: ScaledLoops::new(tier::active()),
            load: exact(from, DType::Float32)?,
            encode_wide: CastPlan::new(DType::Float64, bytes, &saturating())?,
            encode: CastPlan::new(DType::Float32, bytes, &saturating())?,
            encode_stored: CastPlan::new(DType::Float32, data, &saturating())?,
            decode: exact(bytes, DType::Float32)?,
            decode_stored: exact(data, DType::Float32)?,
            load_scales: exact(scale.into(), DType::Float32)?,
            store_scales: exact(DType::Float32.into(), scale)?,
            fused: None,
            native: from == BufferType::new(from.dtype()),
        })
    }

    /// Finds the cast that scales by a step in registers, if there is one.
    pub(super) fn fuse(self, step: Option<Step>) -> Self {
        let from = self.load.from().dtype();
        let fused = step.filter(|_| self.native);
        Self {
            fused: fused.and_then(|step| ScaledCast::new(self.encode_stored.kernel(), from, step)),
            ..self
        }
    }

    /// The same for codes in another storage.
    pub(super) fn with_storage(self, data: BufferType) -> Self {
        let casts = CastPlan::new(DType::Float32, data, &saturating())
            .ok()
            .zip(CastPlan::new(data, DType::Float32, &CastOptions::RUST).ok());
        match casts {
            Some((encode_stored, decode_stored)) => Self { encode_stored, decode_stored, ..self },
            // The dtype was built before, and is now.
            None => self,
        }
    }
}
