//! Options as bytes.

mod values;

use crate::error::{
    Failure, LANECAST_ERR_BAD_NAME, LANECAST_ERR_BAD_OPTION, guarded, lanecast_error, lanecast_status,
};
use crate::types::{put, text};
use lanecast::{CastOptions, Streaming, Tier};
use std::ffi::c_char;

pub use values::*;

/// What a cast returns where there is a choice. All zero is the default, which answers as Rust's `as`; a NULL pointer means the same.
/// An option is ignored for targets that it does not name.
#[repr(C)]
#[derive(Clone, Copy, Default)]
pub struct lanecast_options {
    /// Finite values beyond the range of an 8-bit float.
    pub saturate: lanecast_saturate,
    /// The rounding to float8_e8m0fnu.
    pub e8m0_round: lanecast_e8m0_round,
    /// Which values are in the range of float8_e8m0fnu.
    pub e8m0_range: lanecast_e8m0_range,
    /// Floats out of range of an integer; they saturate by default.
    pub float_to_int: lanecast_int_overflow,
    /// Integers out of range of an integer; they wrap by default.
    pub int_to_int: lanecast_int_overflow,
    /// The rounding of fractions to integers.
    pub int_round: lanecast_int_round,
    /// The rounding to floats other than float8_e8m0fnu.
    pub float_round: lanecast_float_round,
    /// The code of NaN in float8_e5m2.
    pub e5m2_nan: lanecast_e5m2_nan,
    /// NaN in floats of 4 and 6 bits, which have none.
    pub nan_to_finite: lanecast_nan_to_finite,
    /// Infinity in FNUZ floats that saturate.
    pub fnuz_inf: lanecast_fnuz_inf,
    /// Whether stores bypass the caches.
    pub streaming: lanecast_streaming,
    /// The instructions to use.
    pub tier: lanecast_tier,
    /// Zero.
    pub reserved: [u8; 20],
}

/// The value of a byte among those that it may have.
pub(crate) fn pick<T: Copy>(name: &'static str, byte: u8, values: &[T]) -> Result<T, Failure> {
    let unknown = Failure::Number(LANECAST_ERR_BAD_OPTION, name, i64::from(byte));
    values.get(usize::from(byte)).copied().ok_or(unknown)
}

/// The value that the number of an option stands for; 0 leaves it as it is.
fn set<T: Copy>(field: &mut T, name: &'static str, number: u8, values: &[(u8, T)]) -> Result<(), Failure> {
    if number == 0 {
        return Ok(());
    }
    let found = values.iter().find(|(of, _)| *of == number);
    *field = found.ok_or(Failure::Number(LANECAST_ERR_BAD_OPTION, name, i64::from(number)))?.1;
    Ok(())
}

/// The options that have the values of `CastOptions`, with the numbers of these values.
macro_rules! options {
    ($each:ident) => {
        $each! {
            saturate: SATURATE, e8m0_round: E8M0_ROUND, e8m0_range: E8M0_RANGE, float_to_int: INT_OVERFLOW,
            int_to_int: INT_OVERFLOW, int_round: INT_ROUND, float_round: FLOAT_ROUND, e5m2_nan: E5M2_NAN,
            nan_to_finite: NAN_TO_FINITE, fnuz_inf: FNUZ_INF,
        }
    };
}

/// What an option is called in messages about its value.
macro_rules! unknown {
    ($field:ident) => {
        concat!("the library does not know this value of lanecast_options.", stringify!($field))
    };
}

impl lanecast_options {
    /// The options of the library, when to stream, and the tier if it is not the active one.
    pub(crate) fn read(&self) -> Result<(CastOptions, Streaming, Option<Tier>), Failure> {
        if self.reserved != [0; 20] {
            let text = "lanecast_options.reserved is not zero; the header is newer than the library";
            return Err(Failure::Argument(LANECAST_ERR_BAD_OPTION, text));
        }
        let (mut options, mut streaming, mut tier) = (CastOptions::RUST, Streaming::Auto, Tier::Scalar);
        macro_rules! read {
            ($($field:ident: $values:ident),*,) => {
                $(set(&mut options.$field, unknown!($field), self.$field, $values)?;)*
            };
        }
        options!(read);
        set(&mut streaming, unknown!(streaming), self.streaming, STREAMING)?;
        set(&mut tier, unknown!(tier), self.tier, TIERS)?;
        Ok((options, streaming, (self.tier != LANECAST_TIER_DEFAULT).then_some(tier)))
    }

    /// The numbers of options. No number is 0.
    fn of(options: &CastOptions) -> lanecast_options {
        fn number<T: PartialEq>(value: T, values: &[(u8, T)]) -> u8 {
            values.iter().find(|(_, other)| *other == value).map_or(0, |(number, _)| *number)
        }
        let mut of = lanecast_options::default();
        macro_rules! write {
            ($($field:ident: $values:ident),*,) => {
                $(of.$field = number(options.$field, $values);)*
            };
        }
        options!(write);
        of
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
                Failure::Text(
                    LANECAST_ERR_BAD_NAME,
                    format!("no profile is called {name:?}; there are {names}"),
                )
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
            let of = lanecast_options::of(profile);
            macro_rules! known {
                ($($field:ident: $values:ident),*,) => { $(assert_ne!(of.$field, 0, "{name}");)* };
            }
            options!(known);
            let read = lanecast_options::of(profile).read();
            assert!(read.is_ok_and(|(options, ..)| options == *profile), "{name}");
        }
        assert!(lanecast_options::default().read().is_ok_and(|(options, ..)| options == CastOptions::RUST));
    }

    /// Zero is the default, and the name of a default says which value that is.
    #[test]
    fn defaults_are_those_of_rust() {
        let rust = lanecast_options::of(&CastOptions::RUST);
        assert_eq!((rust.saturate, rust.e8m0_round), (LANECAST_SATURATE_ON, LANECAST_E8M0_ROUND_UP));
        assert_eq!(rust.e8m0_range, LANECAST_E8M0_RANGE_EXACT);
        assert_eq!(rust.float_to_int, LANECAST_INT_OVERFLOW_SATURATE);
        assert_eq!(rust.int_to_int, LANECAST_INT_OVERFLOW_WRAP);
        assert_eq!(rust.int_round, LANECAST_INT_ROUND_TOWARD_ZERO);
        assert_eq!(rust.float_round, LANECAST_FLOAT_ROUND_NEAREST_EVEN);
        assert_eq!((rust.e5m2_nan, rust.fnuz_inf), (LANECAST_E5M2_NAN_CODE_7E, LANECAST_FNUZ_INF_MAX));
        assert_eq!(rust.nan_to_finite, LANECAST_NAN_TO_FINITE_ZERO);
    }
}
