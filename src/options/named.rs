//! The names of the values of options, spelled the same in Rust, Python and on command lines.

use super::{
    CastOptions, E5M2Nan, E8M0Range, E8M0Round, FloatRound, FnuzInf, IntOverflow, IntRound, NanToFinite,
    Saturate,
};
use crate::names;

macro_rules! named {
    ($($option:ident { $($value:ident $name:literal),* $(,)? })*) => {
        $(
            impl $option {
                /// All values with their names. Words of a name are joined by underscores.
                pub const NAMED: &'static [(&'static str, Self)] = &[$(($name, Self::$value)),*];

                /// The name of this value.
                pub const fn name(self) -> &'static str {
                    match self {
                        $(Self::$value => $name,)*
                    }
                }

                /// The value with this name, in any letter case, with hyphens or underscores.
                pub fn from_name(name: &str) -> Option<Self> {
                    names::find(Self::NAMED, name)
                }
            }
        )*
    };
}

named! {
    Saturate { On "on", Off "off", FnOnly "fn_only" }
    E8M0Round { Up "up", Down "down", Nearest "nearest" }
    E8M0Range { Exact "exact", Rounded "rounded", Magnitude "magnitude" }
    IntOverflow { Saturate "saturate", Wrap "wrap" }
    IntRound {
        TowardZero "toward_zero",
        NearestEven "nearest_even",
        NearestAway "nearest_away",
        Floor "floor",
        Ceil "ceil",
    }
    FloatRound {
        NearestEven "nearest_even",
        NearestAway "nearest_away",
        TowardZero "toward_zero",
        Up "up",
        Down "down",
        ToOdd "to_odd",
    }
    E5M2Nan { Code7E "7e", Code7F "7f" }
    NanToFinite { Zero "zero", Max "max" }
    FnuzInf { Max "max", Nan "nan" }
}

impl CastOptions {
    /// The profile with this name (see [`PROFILES`](Self::PROFILES)), in any letter case.
    pub fn from_name(name: &str) -> Option<Self> {
        names::find(Self::PROFILES, name)
    }
}
