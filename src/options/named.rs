//! The names of the values of options, as command lines, Python and files spell them.

use super::{
    E5M2Nan, E8M0Range, E8M0Round, FloatRound, FnuzInf, IntOverflow, IntRound, NanToFinite, Saturate,
};

macro_rules! named {
    ($($option:ident { $($value:ident $name:literal),* $(,)? })*) => {
        $(
            impl $option {
                /// All values with their names. Words of a name are joined by hyphens.
                pub const NAMED: &'static [(&'static str, Self)] = &[$(($name, Self::$value)),*];

                /// The name of this value.
                pub const fn name(self) -> &'static str {
                    match self {
                        $(Self::$value => $name,)*
                    }
                }
            }
        )*
    };
}

named! {
    Saturate { On "on", Off "off", FnOnly "fn-only" }
    E8M0Round { Up "up", Down "down", Nearest "nearest" }
    E8M0Range { Exact "exact", Rounded "rounded", Magnitude "magnitude" }
    IntOverflow { Saturate "saturate", Wrap "wrap" }
    IntRound {
        TowardZero "toward-zero",
        NearestEven "nearest-even",
        NearestAway "nearest-away",
        Floor "floor",
        Ceil "ceil",
    }
    FloatRound {
        NearestEven "nearest-even",
        NearestAway "nearest-away",
        TowardZero "toward-zero",
        Up "up",
        Down "down",
        ToOdd "to-odd",
    }
    E5M2Nan { Code7E "7e", Code7F "7f" }
    NanToFinite { Zero "zero", Max "max" }
    FnuzInf { Max "max", Nan "nan" }
}
