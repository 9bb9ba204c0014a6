//! The plain casts that a scaled one is made of, and the loops between them.

use super::{error::ScaledError, scheme::Scheme};
use crate::{
    options::{CastOptions, IntOverflow, IntRound, Saturate},
    plan::CastPlan,
    tier,
};
use core::{fmt, ops::Deref};
use lanecast_kernels::{
    DType, Encoding, Kernel, Storage,
    scaled::{ScaledCast, ScaledLoops, Step},
};

/// A plain cast between buffers.
#[derive(Clone, Copy, Debug)]
pub(super) struct Plain(Kernel);

impl Plain {
    pub(super) fn new(
        from: impl Into<Encoding>,
        to: impl Into<Encoding>,
        options: &CastOptions,
    ) -> Result<Plain, ScaledError> {
        Ok(Plain(*CastPlan::new(from, to, options)?.kernel()))
    }

    /// Casts the first `n` elements.
    ///
    /// # Errors
    ///
    /// [`ScaledError::Shape`] if a buffer is too short.
    pub(super) fn run(&self, src: &[u8], dst: &mut [u8], n: usize) -> Result<(), ScaledError> {
        self.0.run(src, dst, n).map(drop).ok_or(ScaledError::Shape)
    }
}

impl Deref for Plain {
    type Target = Kernel;

    fn deref(&self) -> &Kernel {
        &self.0
    }
}

/// The plain casts of a plan.
#[derive(Clone, Copy)]
pub(super) struct Kernels {
    /// The loops of the tier; `None` on one without vectors, which divides in double precision.
    pub(super) loops: Option<ScaledLoops>,
    /// The source as float32, exact.
    pub(super) load: Plain,
    /// Quotients of float64 to codes of a byte or wider.
    pub(super) encode_wide: Plain,
    /// Quotients of float32 to codes of a byte or wider, and to packed ones.
    pub(super) encode: Plain,
    encode_packed: Plain,
    /// Codes of a byte or wider to float32, and packed ones.
    pub(super) decode: Plain,
    decode_packed: Plain,
    /// Scales to float32, exact, and magnitudes to scales.
    pub(super) load_scales: Plain,
    pub(super) store_scales: Plain,
    /// Sources to codes as they are stored, for pairs that are scaled in registers.
    pub(super) fused: Option<ScaledCast>,
    /// Whether the source has the byte order of the host.
    pub(super) native: bool,
}

impl fmt::Debug for Kernels {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Kernels").field("load", &self.load).field("encode", &self.encode).finish()
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

impl Kernels {
    pub(super) fn new(from: Encoding, scheme: &Scheme) -> Result<Self, ScaledError> {
        let (element, scale) = (scheme.element, scheme.scale.dtype(from.dtype()));
        let exact = |from: Encoding, to: DType| Plain::new(from, to, &CastOptions::RUST);
        let (bytes, packed) = (Encoding::new(element), Encoding::packed(element));
        Ok(Self {
            loops: ScaledLoops::new(tier::active()),
            load: exact(from, DType::Float32)?,
            encode_wide: Plain::new(DType::Float64, bytes, &saturating())?,
            encode: Plain::new(DType::Float32, bytes, &saturating())?,
            encode_packed: Plain::new(DType::Float32, packed, &saturating())?,
            decode: exact(bytes, DType::Float32)?,
            decode_packed: exact(packed, DType::Float32)?,
            load_scales: exact(scale.into(), DType::Float32)?,
            store_scales: exact(DType::Float32.into(), scale)?,
            fused: None,
            native: from == Encoding::new(from.dtype()),
        })
    }

    /// Quotients of float32 to codes as `data` stores them.
    pub(super) fn encode_stored(&self, data: Encoding) -> &Plain {
        match data.storage() {
            Storage::Byte => &self.encode,
            Storage::Packed => &self.encode_packed,
        }
    }

    /// Codes as `data` stores them to float32.
    pub(super) fn decode_stored(&self, data: Encoding) -> &Plain {
        match data.storage() {
            Storage::Byte => &self.decode,
            Storage::Packed => &self.decode_packed,
        }
    }

    /// Finds the cast to `data` that scales by a step in registers, if there is one.
    pub(super) fn fuse(self, step: Option<Step>, data: Encoding) -> Self {
        let (from, kernel) = (self.load.source().dtype(), self.encode_stored(data));
        let fused = step.filter(|_| self.native).and_then(|step| ScaledCast::new(kernel, from, step));
        Self { fused, ..self }
    }
}
