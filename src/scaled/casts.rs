//! The plain casts that a scaled one is made of, and the loops between them.

use super::{error::ScaledError, scheme::Scheme};
use crate::{CastOptions, CastPlan, DType, Encoding, IntOverflow, IntRound, Saturate, Storage, tier};
use core::fmt;
use lanecast_kernels::scaled::{ScaledCast, ScaledLoops, Step};

/// The plain casts of a plan.
#[derive(Clone)]
pub(super) struct Casts {
    /// The loops of the tier; `None` on one without vectors, which divides in double precision.
    pub(super) loops: Option<ScaledLoops>,
    /// The source as float32, exact.
    pub(super) load: CastPlan,
    /// Quotients of float64 to codes of a byte or wider.
    pub(super) encode_wide: CastPlan,
    /// Quotients of float32 to codes of a byte or wider, and to packed ones.
    pub(super) encode: CastPlan,
    encode_packed: CastPlan,
    /// Codes of a byte or wider to float32, and packed ones.
    pub(super) decode: CastPlan,
    decode_packed: CastPlan,
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
        f.debug_struct("Casts").field("load", &self.load).field("encode", &self.encode).finish()
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
    pub(super) fn new(from: Encoding, scheme: &Scheme) -> Result<Self, ScaledError> {
        let (element, scale) = (scheme.element, scheme.scale.dtype(from.dtype()));
        let exact = |from: Encoding, to: DType| CastPlan::new(from, to, &CastOptions::RUST);
        let (bytes, packed) = (Encoding::new(element), Encoding::packed(element));
        Ok(Self {
            loops: ScaledLoops::new(tier::active()),
            load: exact(from, DType::Float32)?,
            encode_wide: CastPlan::new(DType::Float64, bytes, &saturating())?,
            encode: CastPlan::new(DType::Float32, bytes, &saturating())?,
            encode_packed: CastPlan::new(DType::Float32, packed, &saturating())?,
            decode: exact(bytes, DType::Float32)?,
            decode_packed: exact(packed, DType::Float32)?,
            load_scales: exact(scale.into(), DType::Float32)?,
            store_scales: exact(DType::Float32.into(), scale)?,
            fused: None,
            native: from == Encoding::new(from.dtype()),
        })
    }

    /// Quotients of float32 to codes as `data` stores them.
    pub(super) fn encode_stored(&self, data: Encoding) -> &CastPlan {
        match data.storage() {
            Storage::Byte => &self.encode,
            Storage::Packed => &self.encode_packed,
        }
    }

    /// Codes as `data` stores them to float32.
    pub(super) fn decode_stored(&self, data: Encoding) -> &CastPlan {
        match data.storage() {
            Storage::Byte => &self.decode,
            Storage::Packed => &self.decode_packed,
        }
    }

    /// Finds the cast to `data` that scales by a step in registers, if there is one.
    pub(super) fn fuse(self, step: Option<Step>, data: Encoding) -> Self {
        let (from, kernel) = (self.load.source().dtype(), self.encode_stored(data).kernel());
        let fused = step.filter(|_| self.native).and_then(|step| ScaledCast::new(kernel, from, step));
        Self { fused, ..self }
    }
}
