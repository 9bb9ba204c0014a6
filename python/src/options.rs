//! Profiles and options by name.

use lanecast::{
    CastOptions, E5M2Nan, E8M0Range, E8M0Round, FloatRound, FnuzInf, IntOverflow, IntRound, Level, NanToFp4,
    Saturate,
};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyInt, PyString};

type Choices<T> = &'static [(&'static str, T)];

const SATURATE: Choices<Saturate> =
    &[("on", Saturate::On), ("off", Saturate::Off), ("fn_only", Saturate::FnOnly)];
const E8M0_ROUND: Choices<E8M0Round> =
    &[("up", E8M0Round::Up), ("down", E8M0Round::Down), ("nearest", E8M0Round::Nearest)];
const E8M0_RANGE: Choices<E8M0Range> =
    &[("exact", E8M0Range::Exact), ("rounded", E8M0Range::Rounded), ("magnitude", E8M0Range::Magnitude)];
const INT_OVERFLOW: Choices<IntOverflow> =
    &[("saturate", IntOverflow::Saturate), ("wrap", IntOverflow::Wrap)];
const INT_ROUND: Choices<IntRound> = &[
    ("toward_zero", IntRound::TowardZero),
    ("nearest_even", IntRound::NearestEven),
    ("nearest_away", IntRound::NearestAway),
    ("floor", IntRound::Floor),
    ("ceil", IntRound::Ceil),
];
const FLOAT_ROUND: Choices<FloatRound> = &[
    ("nearest_even", FloatRound::NearestEven),
    ("nearest_away", FloatRound::NearestAway),
    ("toward_zero", FloatRound::TowardZero),
    ("up", FloatRound::Up),
    ("down", FloatRound::Down),
    ("to_odd", FloatRound::ToOdd),
];
const E5M2_NAN: Choices<E5M2Nan> = &[("7e", E5M2Nan::Code7E), ("7f", E5M2Nan::Code7F)];
const NAN_TO_FP4: Choices<NanToFp4> = &[("zero", NanToFp4::Zero), ("max", NanToFp4::Max)];
const FNUZ_INF: Choices<FnuzInf> = &[("max", FnuzInf::Max), ("nan", FnuzInf::Nan)];
const LEVELS: Choices<Level> = &[("range", Level::Range), ("exact", Level::Exact)];

const NAMES: &str = "saturate, e8m0_round, e8m0_range, float_to_int, int_to_int, int_round, float_round, e5m2_nan, nan_to_fp4, fnuz_inf";

/// The choice with this name.
pub fn choose<T: Copy>(option: &str, choices: &[(&'static str, T)], name: &str) -> PyResult<T> {
    if let Some((_, value)) = choices.iter().find(|(n, _)| *n == name) {
        return Ok(*value);
    }
    let names: Vec<_> = choices.iter().map(|(name, _)| format!("{name:?}")).collect();
    Err(PyValueError::new_err(format!("{option} must be one of {}, not {name:?}", names.join(", "))))
}

fn named<T: Copy>(option: &str, choices: Choices<T>, value: &Bound<'_, PyAny>) -> PyResult<T> {
    match value.cast::<PyString>() {
        Ok(name) => choose(option, choices, name.to_str()?),
        Err(_) => Err(PyTypeError::new_err(format!(
            "{option} must be a str, one of {}, not {}",
            choices.iter().map(|(name, _)| format!("{name:?}")).collect::<Vec<_>>().join(", "),
            value.get_type().name()?
        ))),
    }
}

/// The options of a profile.
pub fn profile(name: &str) -> PyResult<CastOptions> {
    choose("profile", CastOptions::PROFILES, name)
}

/// The level of a checked cast.
pub fn level(name: &str) -> PyResult<Level> {
    choose("check", LEVELS, name)
}

/// The options of a call: those of the profile, overridden by keyword arguments.
pub fn options(mut base: CastOptions, given: Option<&Bound<'_, PyDict>>) -> PyResult<CastOptions> {
    let Some(given) = given else { return Ok(base) };
    for (key, value) in given.iter() {
        let key = key.cast::<PyString>()?;
        match key.to_str()? {
            "saturate" => {
                base.saturate = match value.cast::<PyBool>() {
                    Ok(on) if on.is_true() => Saturate::On,
                    Ok(_) => Saturate::Off,
                    Err(_) => named("saturate", SATURATE, &value)?,
                }
            }
            "e8m0_round" => base.e8m0_round = named("e8m0_round", E8M0_ROUND, &value)?,
            "e8m0_range" => base.e8m0_range = named("e8m0_range", E8M0_RANGE, &value)?,
            "float_to_int" => base.float_to_int = named("float_to_int", INT_OVERFLOW, &value)?,
            "int_to_int" => base.int_to_int = named("int_to_int", INT_OVERFLOW, &value)?,
            "int_round" => base.int_round = named("int_round", INT_ROUND, &value)?,
            "float_round" => base.float_round = named("float_round", FLOAT_ROUND, &value)?,
            "e5m2_nan" => {
                base.e5m2_nan = match value.cast::<PyInt>() {
                    Ok(code) => choose("e5m2_nan", E5M2_NAN, &format!("{:x}", code.extract::<u8>()?))?,
                    Err(_) => named("e5m2_nan", E5M2_NAN, &value)?,
                }
            }
            "nan_to_fp4" => base.nan_to_fp4 = named("nan_to_fp4", NAN_TO_FP4, &value)?,
            "fnuz_inf" => base.fnuz_inf = named("fnuz_inf", FNUZ_INF, &value)?,
            other => {
                return Err(PyTypeError::new_err(format!(
                    "unexpected keyword argument {other:?}; the cast options are {NAMES}"
                )));
            }
        }
    }
    Ok(base)
}
