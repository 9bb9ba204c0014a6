//! Options as bytes.

use crate::error::{
    Failure, LANECAST_BAD_NAME, LANECAST_BAD_OPTION, guarded, lanecast_error, lanecast_status,
};
use crate::types::{put, text};
use lanecast::{
    CastOptions, E5M2Nan, E8M0Range, E8M0Round, FloatRound, FnuzInf, IntOverflow, IntRound, NanToFinite,
    Saturate, Streaming, Tier,
};
use std::ffi::c_char;

/// What a cast returns where there is a choice. All zero is the default, which answers as Rust's `as`; a NULL pointer means the same.
/// An option is ignored for targets that it does not name.
#[repr(C)]
#[derive(Clone, Copy, Default)]
pub struct lanecast_options {
    /// Overflow of 8-bit floats: 0 the largest finite value, 1 infinity or NaN, 2 as 0 for float8_e4m3fn and as 1 for all others.
    pub saturate: u8,
    /// Rounding of float8_e8m0fnu: 0 up, 1 down, 2 nearest.
    pub e8m0_round: u8,
    /// Range of float8_e8m0fnu: 0 exact (ONNX), 1 rounded (ml_dtypes), 2 magnitude (PyTorch).
    pub e8m0_range: u8,
    /// Floats out of range of an integer: 0 saturate, 1 wrap.
    pub float_to_int: u8,
    /// Integers out of range of an integer: 0 wrap, 1 saturate.
    pub int_to_int: u8,
    /// Fractions in integers: 0 toward zero, 1 nearest even, 2 nearest away, 3 floor, 4 ceil.
    pub int_round: u8,
    /// Rounding of floats: 0 nearest even, 1 nearest away, 2 toward zero, 3 up, 4 down, 5 to odd.
    pub float_round: u8,
    /// NaN of float8_e5m2: 0 is 0x7E, 1 is 0x7F.
    pub e5m2_nan: u8,
    /// NaN in floats of 4 and 6 bits: 0 zero, 1 the largest value.
    pub nan_to_finite: u8,
    /// Infinity in FNUZ floats that saturate: 0 the largest value, 1 NaN.
    pub fnuz_inf: u8,
    /// Non-temporal stores: 0 if the buffers are larger than the last-level cache or 32 MiB, 1 always, 2 never.
    pub streaming: u8,
    /// 0 the active tier, 1 scalar, 2 avx2, 3 avx512, 4 neon.
    pub tier: u8,
    /// Zero.
    pub reserved: [u8; 20],
}

/// The value of a byte among those that it may have.
pub(crate) fn pick<T: Copy>(name: &'static str, byte: u8, values: &[T]) -> Result<T, Failure> {
    let unknown = Failure::Number(LANECAST_BAD_OPTION, name, i64::from(byte));
    values.get(usize::from(byte)).copied().ok_or(unknown)
}

const SATURATE: &[Saturate] = &[Saturate::On, Saturate::Off, Saturate::FnOnly];
const E8M0_ROUND: &[E8M0Round] = &[E8M0Round::Up, E8M0Round::Down, E8M0Round::Nearest];
const E8M0_RANGE: &[E8M0Range] = &[E8M0Range::Exact, E8M0Range::Rounded, E8M0Range::Magnitude];
const FLOAT_TO_INT: &[IntOverflow] = &[IntOverflow::Saturate, IntOverflow::Wrap];
const INT_TO_INT: &[IntOverflow] = &[IntOverflow::Wrap, IntOverflow::Saturate];
const INT_ROUND: &[IntRound] =
    &[IntRound::TowardZero, IntRound::NearestEven, IntRound::NearestAway, IntRound::Floor, IntRound::Ceil];
const FLOAT_ROUND: &[FloatRound] = &[
    FloatRound::NearestEven,
    FloatRound::NearestAway,
    FloatRound::TowardZero,
    FloatRound::Up,
    FloatRound::Down,
    FloatRound::ToOdd,
];
const E5M2_NAN: &[E5M2Nan] = &[E5M2Nan::Code7E, E5M2Nan::Code7F];
const NAN_TO_FINITE: &[NanToFinite] = &[NanToFinite::Zero, NanToFinite::Max];
const FNUZ_INF: &[FnuzInf] = &[FnuzInf::Max, FnuzInf::Nan];
const STREAMING: &[Streaming] = &[Streaming::Auto, Streaming::Always, Streaming::Never];
const TIERS: &[Option<Tier>] =
    &[None, Some(Tier::Scalar), Some(Tier::Avx2), Some(Tier::Avx512), Some(Tier::Neon)];

impl lanecast_options {
    /// The options of the library, when to stream, and the tier if it is not the active one.
    pub(crate) fn read(&self) -> Result<(CastOptions, Streaming, Option<Tier>), Failure> {
        if self.reserved != [0; 20] {
            let text = "lanecast_options.reserved is not zero; the header is newer than the library";
            return Err(Failure::Argument(LANECAST_BAD_OPTION, text));
        }
        let options = CastOptions::RUST
            .with_saturate(pick("lanecast_options.saturate", self.saturate, SATURATE)?)
            .with_e8m0_round(pick("lanecast_options.e8m0_round", self.e8m0_round, E8M0_ROUND)?)
            .with_e8m0_range(pick("lanecast_options.e8m0_range", self.e8m0_range, E8M0_RANGE)?)
            .with_float_to_int(pick("lanecast_options.float_to_int", self.float_to_int, FLOAT_TO_INT)?)
            .with_int_to_int(pick("lanecast_options.int_to_int", self.int_to_int, INT_TO_INT)?)
            .with_int_round(pick("lanecast_options.int_round", self.int_round, INT_ROUND)?)
            .with_float_round(pick("lanecast_options.float_round", self.float_round, FLOAT_ROUND)?)
            .with_e5m2_nan(pick("lanecast_options.e5m2_nan", self.e5m2_nan, E5M2_NAN)?)
            .with_nan_to_finite(pick("lanecast_options.nan_to_finite", self.nan_to_finite, NAN_TO_FINITE)?)
            .with_fnuz_inf(pick("lanecast_options.fnuz_inf", self.fnuz_inf, FNUZ_INF)?);
        let streaming = pick("lanecast_options.streaming", self.streaming, STREAMING)?;
        Ok((options, streaming, pick("lanecast_options.tier", self.tier, TIERS)?))
    }

    fn of(options: &CastOptions) -> lanecast_options {
        fn at<T: PartialEq>(value: T, values: &[T]) -> u8 {
            values.iter().position(|other| *other == value).unwrap_or(0) as u8
        }
        lanecast_options {
            saturate: at(options.saturate, SATURATE),
            e8m0_round: at(options.e8m0_round, E8M0_ROUND),
            e8m0_range: at(options.e8m0_range, E8M0_RANGE),
            float_to_int: at(options.float_to_int, FLOAT_TO_INT),
            int_to_int: at(options.int_to_int, INT_TO_INT),
            int_round: at(options.int_round, INT_ROUND),
            float_round: at(options.float_round, FLOAT_ROUND),
            e5m2_nan: at(options.e5m2_nan, E5M2_NAN),
            nan_to_finite: at(options.nan_to_finite, NAN_TO_FINITE),
            fnuz_inf: at(options.fnuz_inf, FNUZ_INF),
            ..lanecast_options::default()
        }
    }
}

/// The options under which another system casts: "rust", "onnx", "numpy", "jax", "torch" or "cuda".
///
/// # Safety
///
/// `profile` is NULL or a string that ends with 0; `out` and `error` are NULL or can be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lanecast_options_profile(
    profile: *const c_char,
    out: *mut lanecast_options,
    error: *mut lanecast_error,
) -> lanecast_status {
    // SAFETY: the pointers are as the caller promises.
    unsafe {
        guarded(error, || {
            let name = text(profile)?;
            let found = CastOptions::from_name(name);
            let unknown = || {
                let names: Vec<_> = CastOptions::PROFILES.iter().map(|(name, _)| *name).collect();
                let names = names.join(", ");
                Failure::Text(LANECAST_BAD_NAME, format!("no profile is called {name:?}; there are {names}"))
            };
            put(out, lanecast_options::of(&found.ok_or_else(unknown)?))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn profiles_come_back() {
        for (name, profile) in CastOptions::PROFILES {
            let read = lanecast_options::of(profile).read();
            assert!(read.is_ok_and(|(options, ..)| options == *profile), "{name}");
        }
        assert!(lanecast_options::default().read().is_ok_and(|(options, ..)| options == CastOptions::RUST));
    }
}
