//! The arguments of `diff`.

use std::{path::PathBuf, str::FromStr};

use clap::Args;
use lanecast_checkpoint::Difference;

use crate::help;

/// The arguments of `diff`.
#[derive(Debug, Args)]
#[command(after_help = help::examples(help::DIFF))]
#[command(after_long_help = help::long(help::DIFF, help::DIFF_NOTES))]
pub struct Diff {
    /// The checkpoint to measure: a folder, a .safetensors file or a .gguf file
    #[arg(value_name = "A")]
    pub a: PathBuf,
    /// The reference
    #[arg(value_name = "B")]
    pub b: PathBuf,
    /// Fail if a tensor has a larger error: max, mean, rel or ulps above LIMIT, or sqnr or cosine below it
    #[arg(long, value_name = "METRIC=LIMIT", value_delimiter = ',')]
    pub fail_above: Vec<Limit>,
    /// Also write a page with a map of the layers
    #[arg(long, value_name = "FILE")]
    pub html: Option<PathBuf>,
    /// Replace FILE if it exists
    #[arg(long, requires = "html")]
    pub force: bool,
    /// Decode the codes of a scale that is NaN or infinite, instead of failing
    #[arg(long)]
    pub allow_nan: bool,
    /// Print one JSON object
    #[arg(long)]
    pub json: bool,
}

/// A measure of errors.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Metric {
    /// The largest error.
    Max,
    /// The mean error.
    Mean,
    /// The root of the sum of squared errors over the root of the sum of squares of the reference.
    Rel,
    /// The largest distance in representable values.
    Ulps,
    /// The ratio of signal and noise in decibels, which falls with the error.
    Sqnr,
    /// The cosine of the angle, which falls with the error.
    Cosine,
}

impl Metric {
    const ALL: [(&'static str, Self); 6] = [
        ("max", Self::Max),
        ("mean", Self::Mean),
        ("rel", Self::Rel),
        ("ulps", Self::Ulps),
        ("sqnr", Self::Sqnr),
        ("cosine", Self::Cosine),
    ];

    /// Its name on the command line.
    pub fn name(self) -> &'static str {
        Self::ALL.iter().find(|(_, metric)| *metric == self).map_or("", |(name, _)| name)
    }

    /// Its value for a tensor, if the tensor has one.
    pub fn of(self, tensor: &Difference) -> Option<f64> {
        match self {
            Self::Max => Some(tensor.largest),
            Self::Mean => Some(tensor.mean),
            Self::Rel => Some(tensor.relative),
            Self::Ulps => tensor.ulps.as_ref().map(|ulps| ulps.largest as f64),
            Self::Sqnr => Some(tensor.sqnr),
            Self::Cosine => tensor.cosine,
        }
    }
}

/// A metric, and the value that it must not pass.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Limit {
    /// What is limited.
    pub metric: Metric,
    /// The largest value, or the smallest one of a metric that falls with the error.
    pub value: f64,
}

impl Limit {
    /// Whether a tensor passes the limit. A value that is not a number does, and so does a tensor with NaN or infinity on one side only.
    pub fn is_passed_by(&self, tensor: &Difference) -> bool {
        let within = |value: f64| match self.metric {
            Metric::Sqnr | Metric::Cosine => value >= self.value,
            _ => value <= self.value,
        };
        tensor.not_finite > 0 || !self.metric.of(tensor).is_none_or(within)
    }
}

impl FromStr for Limit {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (name, value) = text.split_once('=').ok_or("not METRIC=LIMIT, such as rel=1e-2")?;
        let known = Metric::ALL.iter().find(|(known, _)| *known == name);
        let (_, metric) = known.ok_or_else(|| {
            let names: Vec<&str> = Metric::ALL.iter().map(|(name, _)| *name).collect();
            format!("no such metric; there are {}", names.join(", "))
        })?;
        let value: Option<f64> = value.parse().ok().filter(|value: &f64| !value.is_nan());
        Ok(Self { metric: *metric, value: value.ok_or("the limit is not a number")? })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_have_a_metric_and_a_number() {
        let limit = |metric, value| Ok(Limit { metric, value });
        assert_eq!("rel=1e-2".parse(), limit(Metric::Rel, 0.01));
        assert_eq!("sqnr=30".parse(), limit(Metric::Sqnr, 30.0));
        assert!(Metric::ALL.iter().all(|(name, metric)| metric.name() == *name));
        let wrong = ["rel", "=1", "rel=", "rel=nan", "error=1", "rel=1%"];
        assert!(wrong.iter().all(|text| text.parse::<Limit>().is_err()));
    }
}
