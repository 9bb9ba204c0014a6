//! Kernels for all pairs, written once over the operations of a tier ([`LaneOps`]): for every pair a [`Source`] brings elements into [`Lanes`],
//! and a [`Target`] stores them from there.
//!
//! A kernel runs in blocks of two units, or of a part of a unit ([`run`]). A unit has as many elements as a register has bytes, so it fills one register with
//! elements of one byte, and eight registers with elements of 64 bits. Sources of a byte or less are looked up ([`table`], [`ends`]) or need no
//! table ([`byte`]); all other sources are loaded unchanged ([`source`]). [`int`] and [`float`] are the kinds of lanes: they become integers of
//! any width, floats, and truth values. [`target`] stores these under the common rules, [`rounded`], [`integral`] and [`small`] under all other
//! rules. [`select`] chooses the kernel of each pair.

pub(crate) mod byte;
mod each;
pub(crate) mod ends;
pub(crate) mod float;
pub(crate) mod int;
pub(crate) mod integral;
mod kinds;
pub(crate) mod lookup;
pub(crate) mod ops;
pub(crate) mod part;
pub(crate) mod rounded;
pub(crate) mod run;
pub(crate) mod select;
pub(crate) mod small;
pub(crate) mod source;
pub(crate) mod table;
pub(crate) mod target;
#[cfg(test)]
pub(crate) mod tests;
mod unit;

#[allow(unused_imports, reason = "for the operations of tiers")]
pub(crate) use each::{eight, two};
pub(crate) use kinds::{Lanes, f16_of_words, high_halves, low_halves, truths, upper_halves};
use kinds::{f32_odd_of_doubles, f32_of_doubles, widen_32};
pub(crate) use ops::LaneOps;
#[allow(unused_imports, reason = "for the operations of tiers")]
pub(crate) use unit::Vectorized;
pub(crate) use unit::{Bytes, Doubles, Function, Halves, Kernel, Limits, Pace, Words};
