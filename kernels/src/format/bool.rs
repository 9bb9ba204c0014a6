//! bool: any nonzero byte is true, 1 is written. `docs/semantics.md`, sections 1 and 4.3.

use super::Format;
use crate::exact::hub::{Hub, Small};

impl Format for bool {
    type Code = u8;
    type Hub = Small;
    type Wrapping = Self;
    #[inline(always)]
    fn decode(code: u8) -> Small {
        // The minimum of the byte and 1: a comparison would become slow mask code in vectors.
        Small(code.min(1) as i32)
    }
    #[inline(always)]
    fn encode<const SATURATE: bool>(hub: impl Hub) -> u8 {
        hub.nonzero() as u8
    }
    #[inline(always)]
    fn clean(code: u8) -> u8 {
        (code != 0) as u8
    }
}
