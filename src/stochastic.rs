//! Stochastic rounding: a value between two codes becomes the farther one from zero with a probability that grows with its distance from
//! the nearer one, so that the mean of many casts is the value.
//!
//! *Law.* Element `i` of the logical tensor takes word `i % 4` of Philox4x32-10 with the counter `(i / 4, stream)` and the key `seed`. `R` is
//! the integer of the word's uppermost `b` bits. The element rounds away from zero if and only if `floor(f * 2^b) + R >= 2^b`, where `f` is
//! the exact distance to the neighbour toward zero, in units of the distance between the two neighbours. So an answer depends on nothing
//! but the element, its index, the seed and the stream: neither on chunks, nor on threads, nor on the CPU. Codes are exact already if
//! `f` is 0.
//!
//! [`CastPlan::with_stochastic`](crate::CastPlan::with_stochastic) casts floats so to integers and to floats of at most 16 bits. Scaled casts
//! round so after
//! [`ScaledPlan::with_stochastic`](crate::scaled::ScaledPlan::with_stochastic).

mod philox;
mod round;

pub use philox::philox4x32_10;
pub(crate) use round::{Random, truncated_quotient};

/// How many random bits an element takes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum RandomBits {
    /// 8 bits: a probability is a multiple of 1/256, rounded down.
    Eight,
    /// 16 bits.
    Sixteen,
    /// 32 bits.
    #[default]
    ThirtyTwo,
}

impl RandomBits {
    /// The number.
    pub const fn count(self) -> u32 {
        match self {
            RandomBits::Eight => 8,
            RandomBits::Sixteen => 16,
            RandomBits::ThirtyTwo => 32,
        }
    }
}

/// The random numbers of a cast.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Stochastic {
    /// The key of the generator.
    pub seed: u64,
    /// The upper half of its counter: another stream for another tensor or step.
    pub stream: u64,
    /// The random bits of an element.
    pub bits: RandomBits,
    /// The index of the first element, if a cast is a part of a larger tensor's.
    pub first: u64,
}
