//! Integers of 2 to 64 bits. `docs/semantics.md`, sections 5.1 and 5.3.

use super::{Format, I2, I4, U2, U4};
use crate::exact::hub::{Hub, Medium, Small, Unsigned, Wide};

macro_rules! whole {
    ($($int:ident $code:ident $hub:ident$(<$own:ident>)? $signed:literal;)*) => {$(
        impl Format for $int {
            type Code = $code;
            type Hub = $hub$(<$own>)?;
            type Wrapping = $code;
            #[inline(always)]
            fn decode(code: $code) -> Self::Hub {
                $hub((code as $int).into())
            }
            #[inline(always)]
            fn encode<const SATURATE: bool>(hub: impl Hub) -> $code {
                hub.int::<SATURATE>($int::BITS, $signed) as $code
            }
        }
    )*};
}

whole! {
    i8 u8 Small true;
    i16 u16 Small true;
    i32 u32 Medium<i32> true;
    i64 u64 Wide true;
    u8 u8 Small false;
    u16 u16 Small false;
    u32 u32 Medium<u32> false;
    u64 u64 Unsigned false;
}

macro_rules! part_of_a_byte {
    ($($int:ident $bits:literal $extend:ty, $signed:literal, $unsigned:ident;)*) => {$(
        impl Format for $int {
            type Code = u8;
            type Hub = Small;
            type Wrapping = $unsigned;
            #[inline(always)]
            fn decode(code: u8) -> Small {
                Small(((code << (8 - $bits)) as $extend >> (8 - $bits)) as i32)
            }
            #[inline(always)]
            fn encode<const SATURATE: bool>(hub: impl Hub) -> u8 {
                Self::clean(hub.int::<SATURATE>($bits, $signed) as u8)
            }
            #[inline(always)]
            fn clean(code: u8) -> u8 {
                code & (0xFF >> (8 - $bits))
            }
        }
    )*};
}

part_of_a_byte! {
    I2 2 i8, true, U2;
    I4 4 i8, true, U4;
    U2 2 u8, false, U2;
    U4 4 u8, false, U4;
}
