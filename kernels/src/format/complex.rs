//! Complex numbers: two floats, the real part first. `docs/semantics.md`, section 7.

use super::Format;
use crate::exact::hub::{F32, F64, Hub, Pair};
use num_complex::Complex;

macro_rules! complex {
    ($($float:ident $code:ident $hub:ident $round:ident;)*) => {$(
        impl Format for Complex<$float> {
            type Code = [$code; 2];
            type Hub = Pair<$hub>;
            type Wrapping = Self;
            #[inline(always)]
            fn decode([re, im]: [$code; 2]) -> Pair<$hub> {
                Pair($hub(re), $hub(im))
            }
            #[inline(always)]
            fn encode<const SATURATE: bool>(hub: impl Hub) -> [$code; 2] {
                [hub.re().$round(), if is_complex(hub) { hub.im().$round() } else { 0 }]
            }
        }
    )*};
}

#[inline(always)]
const fn is_complex<H: Hub>(_: H) -> bool {
    H::COMPLEX
}

complex! {
    f32 u32 F32 f32;
    f64 u64 F64 f64;
}
