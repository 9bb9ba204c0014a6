//! The options of a cast as command line flags: a profile, and flags that override parts of it.

use std::ffi::OsStr;

use clap::{
    Arg, Args, Command, ValueEnum,
    builder::{PossibleValue, PossibleValuesParser, TypedValueParser},
};
use lanecast::{
    CastOptions, E5M2Nan, E8M0Range, E8M0Round, FloatRound, FnuzInf, IntOverflow, IntRound, Level,
    NanToFinite, Saturate, Tier, names,
};

use lanecast_files::{FORMATS, FileFormat, Settings, formats::by_name};

use crate::{
    args::values::fraction,
    error::{self, Failure},
};

/// Named values of one option.
type Choices<T> = &'static [(&'static str, T)];

/// A parser for one of `choices` that lists them in help and errors.
pub fn one_of<T: Copy + Send + Sync + 'static>(choices: Choices<T>) -> impl TypedValueParser<Value = T> {
    OneOf(choices)
}

/// Reads names as [`names::find`] does, so that hyphens may stand for underscores.
#[derive(Clone)]
struct OneOf<T: 'static>(Choices<T>);

impl<T: Copy + Send + Sync> OneOf<T> {
    fn listed(&self) -> PossibleValuesParser {
        PossibleValuesParser::new(self.0.iter().map(|(name, _)| *name))
    }
}

impl<T: Copy + Send + Sync> TypedValueParser for OneOf<T> {
    type Value = T;

    fn parse_ref(&self, command: &Command, arg: Option<&Arg>, value: &OsStr) -> Result<T, clap::Error> {
        if let Some(found) = value.to_str().and_then(|name| names::find(self.0, name)) {
            return Ok(found);
        }
        let refused = self.listed().try_map(|_| Err::<T, _>("not one of the choices"));
        refused.parse_ref(command, arg, value)
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        Some(Box::new(self.0.iter().map(|(name, _)| PossibleValue::new(*name))))
    }
}

/// `help` with the name of the `default` among `choices`.
fn with_default<T: PartialEq>(help: &str, choices: Choices<T>, default: T) -> String {
    let found = choices.iter().find(|(_, value)| *value == default);
    format!("{help} [default: {}]", found.map_or("none", |(name, _)| name))
}

/// The options that hold if neither a flag nor a profile says otherwise.
const DEFAULT: CastOptions = CastOptions::RUST;

/// A parser for the attribute `saturate` of ONNX.
pub fn flag() -> impl TypedValueParser<Value = bool> {
    one_of(&[("0", false), ("1", true)])
}

/// A parser for the attribute `round_mode` of ONNX.
pub fn round_mode() -> impl TypedValueParser<Value = E8M0Round> {
    one_of(E8M0Round::NAMED)
}

/// A parser for what infinity becomes in FNUZ targets.
pub fn fnuz_inf() -> impl TypedValueParser<Value = FnuzInf> {
    one_of(FnuzInf::NAMED)
}

/// A parser for a tier.
pub fn tier() -> impl TypedValueParser<Value = Tier> {
    PossibleValuesParser::new(Tier::ALL.iter().map(|tier| tier.name()))
        .try_map(|name| Tier::ALL.iter().copied().find(|tier| tier.name() == name).ok_or("no such tier"))
}

/// A parser for the name of a file format.
pub fn format() -> impl TypedValueParser<Value = &'static dyn FileFormat> {
    PossibleValuesParser::new(FORMATS.iter().map(|format| format.name()))
        .try_map(|name| by_name(&name).ok_or("no such format"))
}

/// The flags. Each overrides one option of the profile.
#[derive(Debug, Args)]
#[command(next_help_heading = "Options of the cast")]
pub struct CastArgs {
    /// Cast as this system does where dtypes leave a choice; it changes the defaults below [default: rust]
    #[arg(long, value_parser = one_of(CastOptions::PROFILES), ignore_case = true)]
    profile: Option<CastOptions>,
    /// 8-bit float targets clamp on overflow, the default
    #[arg(long, overrides_with = "no_saturate")]
    saturate: bool,
    /// 8-bit float targets overflow to infinity, or NaN if they have none
    #[arg(long, overrides_with = "saturate")]
    no_saturate: bool,
    #[arg(help = with_default("Rounding to float8_e8m0fnu", E8M0Round::NAMED, DEFAULT.e8m0_round))]
    #[arg(long, value_name = "ROUND", value_parser = one_of(E8M0Round::NAMED))]
    e8m0_round: Option<E8M0Round>,
    #[arg(help = with_default(E8M0_RANGE, E8M0Range::NAMED, DEFAULT.e8m0_range))]
    #[arg(long, value_name = "RANGE", value_parser = one_of(E8M0Range::NAMED))]
    e8m0_range: Option<E8M0Range>,
    #[arg(help = with_default("Out-of-range floats in integer targets", IntOverflow::NAMED, DEFAULT.float_to_int))]
    #[arg(long, value_name = "HOW", value_parser = one_of(IntOverflow::NAMED))]
    float_to_int: Option<IntOverflow>,
    #[arg(help = with_default("Out-of-range integers in integer targets", IntOverflow::NAMED, DEFAULT.int_to_int))]
    #[arg(long, value_name = "HOW", value_parser = one_of(IntOverflow::NAMED))]
    int_to_int: Option<IntOverflow>,
    #[arg(help = with_default("Fractions in integer targets", IntRound::NAMED, DEFAULT.int_round))]
    #[arg(long, value_name = "ROUND", value_parser = one_of(IntRound::NAMED))]
    int_round: Option<IntRound>,
    #[arg(help = with_default(FLOAT_ROUND, FloatRound::NAMED, DEFAULT.float_round))]
    #[arg(long, value_name = "ROUND", value_parser = one_of(FloatRound::NAMED))]
    float_round: Option<FloatRound>,
    #[arg(help = with_default("The code of NaN in float8_e5m2", E5M2Nan::NAMED, DEFAULT.e5m2_nan))]
    #[arg(long, value_name = "CODE", value_parser = one_of(E5M2Nan::NAMED), ignore_case = true)]
    e5m2_nan: Option<E5M2Nan>,
    #[arg(help = with_default("NaN in 4 and 6 bit float targets", NanToFinite::NAMED, DEFAULT.nan_to_finite))]
    #[arg(long, value_name = "WHAT", value_parser = one_of(NanToFinite::NAMED))]
    nan_to_finite: Option<NanToFinite>,
    #[arg(help = with_default("Infinity in FNUZ targets that saturate", FnuzInf::NAMED, DEFAULT.fnuz_inf))]
    #[arg(long, value_name = "WHAT", value_parser = one_of(FnuzInf::NAMED))]
    fnuz_inf: Option<FnuzInf>,
    /// Values that the target cannot hold: only count them (where there is a summary), warn about them, or fail at the first
    #[arg(long, value_name = "WHAT", value_enum, default_value_t = OnLoss::Ignore)]
    pub on_loss: OnLoss,
    /// Fail if more values of a tensor than this part of its elements become zero, such as 0.01 or 1% [default: no limit]
    #[arg(long, value_name = "PART", value_parser = fraction)]
    max_underflow: Option<f64>,
    /// Use this instruction set [default: the best one]
    #[arg(long, value_parser = tier())]
    tier: Option<Tier>,
}

const E8M0_RANGE: &str = "The values in range of float8_e8m0fnu: from 2^-127 to 2^127, those that round into it, or their magnitudes";
const FLOAT_ROUND: &str = "Rounding of float and complex targets, except float8_e8m0fnu";

/// How values that the target cannot hold are handled.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum OnLoss {
    /// Count them in the summary
    Ignore,
    /// Print a line on standard error for every tensor that has any
    Warn,
    /// Fail at the first one outside the range: no file is written, and a stream ends before the block that has it
    Error,
    /// As error, and at the first one that is not zero and becomes zero
    Underflow,
    /// As error, and at the first one that is rounded or becomes zero
    Exact,
}

impl CastArgs {
    /// The options that the flags describe.
    pub fn options(&self) -> CastOptions {
        let mut options = self.profile.unwrap_or_default();
        if self.saturate {
            options.saturate = Saturate::On;
        }
        if self.no_saturate {
            options.saturate = Saturate::Off;
        }
        options.e8m0_round = self.e8m0_round.unwrap_or(options.e8m0_round);
        options.e8m0_range = self.e8m0_range.unwrap_or(options.e8m0_range);
        options.float_to_int = self.float_to_int.unwrap_or(options.float_to_int);
        options.int_to_int = self.int_to_int.unwrap_or(options.int_to_int);
        options.int_round = self.int_round.unwrap_or(options.int_round);
        options.float_round = self.float_round.unwrap_or(options.float_round);
        options.e5m2_nan = self.e5m2_nan.unwrap_or(options.e5m2_nan);
        options.nan_to_finite = self.nan_to_finite.unwrap_or(options.nan_to_finite);
        options.fnuz_inf = self.fnuz_inf.unwrap_or(options.fnuz_inf);
        options
    }

    /// The tier that casts run on.
    pub fn tier(&self) -> error::Result<Tier> {
        chosen_tier(self.tier)
    }
}

/// The tier that casts run on if `tier` is requested; the active one if it is `None`.
pub fn chosen_tier(tier: Option<Tier>) -> error::Result<Tier> {
    let Some(tier) = tier else {
        return Ok(lanecast::tier::active());
    };
    if !tier.is_available() {
        return Err(Failure::unsupported(format!("tier {} cannot be used: {}", tier.name(), tier.status()))
            .advise("see `lanecast cpu`"));
    }
    Ok(tier)
}

/// The settings that the flags describe.
pub fn settings(args: &CastArgs) -> error::Result<Settings> {
    let on_loss = match args.on_loss {
        OnLoss::Ignore | OnLoss::Warn => lanecast_files::OnLoss::Count,
        OnLoss::Error => lanecast_files::OnLoss::Refuse(Level::Range),
        OnLoss::Underflow => lanecast_files::OnLoss::Refuse(Level::Underflow),
        OnLoss::Exact => lanecast_files::OnLoss::Refuse(Level::Exact),
    };
    Ok(Settings { options: args.options(), tier: args.tier()?, on_loss, max_underflow: args.max_underflow })
}
