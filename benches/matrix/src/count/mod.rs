//! Instructions instead of times, where no clock can be trusted: under emulation.
//!
//! The law: a count is exact. The same program executes the same instructions in every run, so two runs agree to the last one,
//! and a change of a count is a change of the program. What it costs is another question: an instruction is not a cycle. The
//! figure of a cast is the difference of two lengths divided by the difference of their counts' elements, so that calls,
//! heads and tails cancel out; a call of few elements is counted as a whole, beside it.
//!
//! * `mark`: how a program under emulation says where counting begins and ends;
//! * `guest`: the program under emulation, which runs the casts;
//! * `scaled`: its scaled casts;
//! * `memory`: what they allocate;
//! * `host`: builds it and the plugin that counts (`benches/counter`), starts QEMU, and joins what both left behind;
//! * `steps`: what the host does for a tier that no emulator has;
//! * `baseline`: the counts on record;
//! * `gate`: has a count grown?
//! * `ab`: the counts of two versions as a comment on a pull request.

pub mod ab;
pub mod baseline;
pub mod gate;
pub mod guest;
pub mod host;
pub mod mark;
mod memory;
pub mod scaled;
mod steps;

use crate::cells::{self, Mode};
use lanecast::Tier;
use serde::{Deserialize, Serialize};
use std::fmt;

/// The lengths whose difference gives the instructions per element. Both, and the difference, are whole blocks of all kernels
/// and of all packed widths.
pub const LENGTHS: [usize; 2] = [1024, 5120];
/// The lengths of plain casts that are counted step by step, where an instruction takes microseconds.
pub const SHORTER: [usize; 2] = [512, 1024];
/// The elements of a small call.
pub const CALL: usize = 64;
/// The lengths of the calls that are counted, each between a pair of marks.
const fn counted(lengths: [usize; 2]) -> [usize; 3] {
    [CALL, lengths[0], lengths[1]]
}

/// How instructions were counted.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Counting {
    /// The emulator and its CPU.
    pub emulator: String,
    /// The C library, whose `memcpy` some casts call.
    pub c_library: String,
    /// The lengths whose difference was counted.
    pub elements: [usize; 2],
    /// The elements of a small call.
    pub call: usize,
}

/// The instructions of a cast.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Count {
    /// What the source holds, with `/packed` behind it if elements share bytes; the scheme if it is scaled.
    pub from: String,
    /// What the destination holds.
    pub to: String,
    /// What happens on overflow.
    pub mode: Mode,
    /// The tier.
    pub tier: String,
    /// The class of the pair.
    pub class: String,
    /// Instructions per element of a long cast.
    pub instructions_per_element: f64,
    /// Instructions of a call of [`CALL`] elements with the plan resolved.
    pub instructions_of_call: u64,
}

/// What makes two counts of different runs the same count.
pub type Key<'a> = (&'a str, &'a str, Mode, &'a str);

impl Count {
    /// Which count it is.
    pub fn key(&self) -> Key<'_> {
        (&self.from, &self.to, self.mode, &self.tier)
    }

    /// Its tier; `None` for one that this version does not know.
    pub fn known_tier(&self) -> Option<Tier> {
        self.tier.parse().ok()
    }

    /// The cast without the tier: `int4/packed -> int8 wrap`.
    pub fn pair(&self) -> String {
        cells::pair_label(&self.from, &self.to, self.mode)
    }
}

impl fmt::Display for Count {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}, {}", self.pair(), self.tier)
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// A count; a call takes 64 elements' instructions.
    pub(crate) fn count(from: &str, to: &str, tier: Tier, per_element: f64) -> Count {
        Count {
            from: from.into(),
            to: to.into(),
            mode: Mode::Only,
            tier: tier.name().into(),
            class: "narrow".into(),
            instructions_per_element: per_element,
            instructions_of_call: (64.0 * per_element) as u64,
        }
    }

    #[test]
    fn lengths_are_whole_blocks() {
        for [short, long] in [LENGTHS, SHORTER] {
            assert!(short % 512 == 0 && long % 512 == 0 && short < long && long <= crate::inputs::PERIOD);
        }
    }
}
