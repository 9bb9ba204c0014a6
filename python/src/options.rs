//! Profiles and options by name.

use lanecast::{
    CastOptions, E5M2Nan, E8M0Range, E8M0Round, FloatRound, FnuzInf, IntOverflow, IntRound, Level,
    NanToFinite, Saturate, names,
};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyInt, PyString};

type Choices<T> = &'static [(&'static str, T)];

const LEVELS: Choices<Level> =
    &[("range", Level::Range), ("underflow", Level::Underflow), ("exact", Level::Exact)];

/// The keys of `lanecast.CastOptions`.
const KEYS: &str = "profile, saturate, e8m0_round, e8m0_range, float_to_int, int_to_int, int_round, float_round, e5m2_nan, nan_to_finite, fnuz_inf";

/// All names, for an error.
fn listed<T>(choices: &[(&'static str, T)]) -> String {
    let names: Vec<_> = choices.iter().map(|(name, _)| format!("{name:?}")).collect();
    names.join(", ")
}

/// The choice with this name.
pub fn choose<T: Copy>(option: &str, choices: &[(&'static str, T)], name: &str) -> PyResult<T> {
    names::find(choices, name).ok_or_else(|| {
        PyValueError::new_err(format!("{option} must be one of {}, not {name:?}", listed(choices)))
    })
}

fn named<T: Copy>(option: &str, choices: Choices<T>, value: &Bound<'_, PyAny>) -> PyResult<T> {
    match value.cast::<PyString>() {
        Ok(name) => choose(option, choices, name.to_str()?),
        Err(_) => Err(PyTypeError::new_err(format!(
            "{option} must be a str, one of {}, not {}",
            listed(choices),
            value.get_type().name()?
        ))),
    }
}

/// The level of a checked cast.
pub fn level(name: &str) -> PyResult<Level> {
    choose("check", LEVELS, name)
}

/// The options of a call: the profile's, or else `base`, overridden by the other keyword arguments.
pub fn options(mut base: CastOptions, given: Option<&Bound<'_, PyDict>>) -> PyResult<CastOptions> {
    let Some(given) = given.filter(|given| !given.is_empty()) else { return Ok(base) };
    if let Some(profile) = given.get_item("profile")?.filter(|profile| !profile.is_none()) {
        base = named("profile", CastOptions::PROFILES, &profile)?;
    }
    for (key, value) in given.iter() {
        let key = key.cast::<PyString>()?;
        match key.to_str()? {
            "profile" => {}
            "saturate" => {
                base.saturate = match value.cast::<PyBool>() {
                    Ok(on) if on.is_true() => Saturate::On,
                    Ok(_) => Saturate::Off,
                    Err(_) => named("saturate", Saturate::NAMED, &value)?,
                }
            }
            "e8m0_round" => base.e8m0_round = named("e8m0_round", E8M0Round::NAMED, &value)?,
            "e8m0_range" => base.e8m0_range = named("e8m0_range", E8M0Range::NAMED, &value)?,
            "float_to_int" => base.float_to_int = named("float_to_int", IntOverflow::NAMED, &value)?,
            "int_to_int" => base.int_to_int = named("int_to_int", IntOverflow::NAMED, &value)?,
            "int_round" => base.int_round = named("int_round", IntRound::NAMED, &value)?,
            "float_round" => base.float_round = named("float_round", FloatRound::NAMED, &value)?,
            "e5m2_nan" => {
                base.e5m2_nan = match value.cast::<PyInt>() {
                    Ok(code) => choose("e5m2_nan", E5M2Nan::NAMED, &format!("{:x}", code.extract::<u8>()?))?,
                    Err(_) => named("e5m2_nan", E5M2Nan::NAMED, &value)?,
                }
            }
            "nan_to_finite" => base.nan_to_finite = named("nan_to_finite", NanToFinite::NAMED, &value)?,
            "fnuz_inf" => base.fnuz_inf = named("fnuz_inf", FnuzInf::NAMED, &value)?,
            other => {
                return Err(PyTypeError::new_err(format!(
                    "unexpected keyword argument {other:?}; the cast options are {KEYS}"
                )));
            }
        }
    }
    Ok(base)
}
