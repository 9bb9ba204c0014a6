//! Conversions between the small integers: total ones, and ones that reject values out of range.

use super::{I2, I4, IntRangeError, U2, U4};

macro_rules! between {
    ($($from:ident => [$($wider:ident)*] [$($narrower:ident)*];)*) => {$(
        $(impl From<$from> for $wider {
            /// The same value.
            fn from(x: $from) -> $wider {
                // The code of the wider integer has the sign of the narrower one, or zeros, in the added bits.
                $wider::from_bits(x.get() as u8)
            }
        })*
        $(impl TryFrom<$from> for $narrower {
            type Error = IntRangeError;

            fn try_from(x: $from) -> Result<$narrower, IntRangeError> {
                x.get().try_into()
            }
        })*
    )*};
}

between! {
    I2 => [I4] [U2 U4];
    I4 => [] [I2 U2 U4];
    U2 => [U4 I4] [I2];
    U4 => [] [I2 I4 U2];
}
