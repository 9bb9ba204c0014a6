//! The losses of a cast: [the law](law), the ranges of codes that follow from it, and the loops that search for these codes.

pub(crate) mod exactness;
mod lane;
mod law;
pub(crate) mod loops;
pub(crate) mod ranges;
pub(crate) mod shape;

pub(crate) use exactness::{Differs, Digits, Fraction, LossTest, Low, Never, Residue, Rounds, Test, Within};
pub(crate) use lane::Lane;
pub use law::{Loss, Losses, loss};
pub(crate) use loops::{Loops, define_loops, pick_loops, test};
pub(crate) use shape::{Bits, Bounds, Ends, EndsAndOne, LossTests, One, Over, Shape, Tested, Three, Two};
