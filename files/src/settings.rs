//! How elements are cast: the options, the tier, and how losses are handled.

use lanecast::{ByteOrder, CastOptions, CastPlan, CastReport, DType, Encoding, Level, Tier};

use crate::error::{Error, Remedy, Result};

/// How values that the target cannot hold are handled.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum OnLoss {
    /// They are counted in the report.
    #[default]
    Count,
    /// The first one that this level rejects is an error, and no file is written. All others are counted.
    Refuse(Level),
}

impl OnLoss {
    /// The level at which losses have to be counted.
    pub(crate) fn counts(self) -> Level {
        match self {
            Self::Count => Level::Range,
            Self::Refuse(level) => level,
        }
    }

    /// The level that rejects some of the values counted in `report`, if it does.
    pub(crate) fn refuses(self, report: &CastReport) -> Option<Level> {
        let Self::Refuse(level) = self else { return None };
        let lost = match level {
            Level::Range => report.out_of_range() > 0,
            Level::Underflow => report.out_of_range() > 0 || report.underflowed_to_zero > 0,
            // `Level::Exact`, the strictest one.
            _ => !report.is_clean(),
        };
        lost.then_some(level)
    }
}

/// How to cast, decided once per run.
#[derive(Clone, Copy, Debug)]
pub struct Settings {
    /// The options.
    pub options: CastOptions,
    /// The tier.
    pub tier: Tier,
    /// How values that the target cannot hold are handled.
    pub on_loss: OnLoss,
    /// The fraction of the elements of a tensor that may become zero, from 0 to 1; a larger one is an error, and no file is written.
    /// `None` sets no limit.
    pub max_underflow: Option<f64>,
}

impl Default for Settings {
    /// The default options on the active tier; losses are counted.
    fn default() -> Self {
        Self {
            options: CastOptions::default(),
            tier: lanecast::tier::active(),
            on_loss: OnLoss::default(),
            max_underflow: None,
        }
    }
}

impl Settings {
    /// The plan for one pair.
    ///
    /// # Errors
    ///
    /// [`Error::Unsupported`](crate::Error::Unsupported) if the library refuses the pair or the tier.
    pub fn plan(&self, from: Encoding, to: Encoding) -> Result<CastPlan> {
        Ok(CastPlan::with_tier(from, to, &self.options, self.tier)?)
    }

    /// Fails if more values became zero in the cast of a whole tensor to `to` than [`max_underflow`](Self::max_underflow) allows.
    pub(crate) fn check_underflow(&self, report: &CastReport, to: DType) -> Result<()> {
        let CastReport { elements, underflowed_to_zero: zeros, .. } = *report;
        match self.max_underflow {
            Some(most) if zeros as f64 > most * elements as f64 => {
                let what = format!(
                    "{zeros} of {elements} values that are not zero become zero in {to}, more than {}%",
                    100.0 * most
                );
                Err(Error::loss(what).advise(Remedy::Scale))
            }
            _ => Ok(()),
        }
    }
}

/// The elements of a dtype in files that do not say otherwise: packed and little-endian.
pub fn in_files(dtype: DType) -> Encoding {
    Encoding::packed(dtype).with_order(ByteOrder::Little)
}
