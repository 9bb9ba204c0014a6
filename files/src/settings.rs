//! How elements are cast: the options, the tier, and how losses are handled.

use lanecast::{BufferType, ByteOrder, CastOptions, CastPlan, DType, Tier};

use crate::error::Result;

/// How values outside the range of the target are handled.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum OnLoss {
    /// They are counted in the report.
    #[default]
    Count,
    /// The first one is an error, and no file is written.
    Refuse,
}

/// How to cast, decided once per run.
#[derive(Clone, Copy, Debug)]
pub struct Settings {
    /// The options.
    pub options: CastOptions,
    /// The tier.
    pub tier: Tier,
    /// How values outside the range of the target are handled.
    pub on_loss: OnLoss,
}

impl Default for Settings {
    /// The default options on the active tier; losses are counted.
    fn default() -> Self {
        Self { options: CastOptions::default(), tier: lanecast::tier::active(), on_loss: OnLoss::default() }
    }
}

impl Settings {
    /// The plan for one pair.
    ///
    /// # Errors
    ///
    /// [`Error::Unsupported`](crate::Error::Unsupported) if the library refuses the pair or the tier.
    pub fn plan(&self, from: BufferType, to: BufferType) -> Result<CastPlan> {
        Ok(CastPlan::with_tier(from, to, &self.options, self.tier)?)
    }
}

/// The elements of a dtype in files that do not say otherwise: packed and little-endian.
pub fn in_files(dtype: DType) -> BufferType {
    BufferType::packed(dtype).with_order(ByteOrder::Little)
}
