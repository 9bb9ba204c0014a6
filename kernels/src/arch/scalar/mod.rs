//! The scalar tier: the law as plain loops, for every pair and every rule.
//!
//! The bodies have no branches, so that compilers may vectorise them with the instructions that the target always has. They round only by the
//! default of the floating-point environment, because some targets have no other.
//!
//! * `each`: the loop over `load, decode, encode, store`; `table`: which kernel takes a pair;
//! * `bytes`: sources with few codes look results up in a table that each call makes for itself;
//! * `staged`: blocks of float32 between source and target;
//! * `small`: targets of small floats, one loop per source; the target is data;
//! * `rounded`: the rules that are not the common ones.

pub(in crate::arch) mod backend;
mod bytes;
mod each;
mod rounded;
mod small;
mod staged;
mod table;
#[cfg(test)]
mod tests;

pub(in crate::arch) use each::{cast_each, copy};
pub(in crate::arch) use rounded::rounded;
pub(crate) use table::TABLE;
#[allow(unused_imports, reason = "for WebAssembly")]
pub(in crate::arch) use table::entry;
pub(in crate::arch) use table::loops;
use table::typed;
