//! The cast kernels of [`lanecast`](https://docs.rs/lanecast), which is the crate to use: it adds the safe typed interface,
//! options, plans and errors. This crate holds all vector code and all `unsafe`.
//!
//! # The law
//!
//! Every cast is `encode::<To>(decode::<From>(x))`. *Decode* is exact: it converts a code to a hub that holds every value of its
//! format. *Encode* rounds once. So N decoders and N encoders give N x N correct casts, and anything faster is an override
//! that gives the same bits.
//!
//! # The map
//!
//! Eight rooms are stacked as floors. A file imports from its own floor or a lower one, and no files import each other in a circle
//! (`tests/rooms.rs` of the root crate). From the ground up:
//!
//! 1. `dtype`: [THE list of dtypes](DType), how elements are stored, and the [types](Element) of elements;
//! 2. `exact`: the law. `law` decodes and encodes in integer arithmetic for every format and every rule. `one` casts [a single element](cast_one).
//!    `rules` determines which rules affect a pair, and `steps` which pairs are cast in two steps. `hub` has the types between decoders and
//!    encoders, with the proofs that these types are exact;
//! 3. `format`: the compile-time types of the dtypes, their decoders and encoders; the constants of kernels (`data`, `words`) and their
//!    look-up tables (`lut`, `linear`);
//! 4. `vector`: the algorithms, over the operations of a token: `lanes` and `casts`, `scaled`, `moves`, and the tests for losses (`loss`). It also
//!    defines what a tier provides: `kernel`, the `table` of all pairs, `non_temporal` stores. [`machine`] has the sizes of caches and lines;
//! 5. `arch`: the [tiers](Tier), how they are detected, and their kernels; loops of other crates, compiled for the vectors of a tier;
//! 6. `table`: which kernel a tier uses for a pair: `tabled` results, [`cost`], the `active` tier of typed casts;
//! 7. `route`: everything that a cast will do, resolved once, and held by a [`Kernel`], the entry point for plans;
//! 8. `drive`: runs routes: `blocks`, the loop that runs the stages; `stream`, non-temporal stores; `in_place`, casts inside one buffer;
//!    `strided`, casts between arrays of any layout; `loss`, casts that [report their losses](LossDetector); [`scaled`], casts whose elements
//!    share scales; `operand`, the sources and targets of casts as values; `pair`, typed casts, whose kernels are chosen at compile time; `fpenv`,
//!    the floating-point control register, which belongs to the host.

#![no_std]
#![cfg_attr(docsrs, feature(doc_cfg))]
// The parts that vector tiers share are compiled on every target, including targets that have few of these tiers or none and need fewer tables.
#![cfg_attr(
    not(all(x86_tiers, feature = "avx512")),
    allow(dead_code, unused_imports, unused_macros, reason = "only the tiers of x86 use it all")
)]

extern crate alloc;
#[cfg(any(feature = "std", test, miri))]
extern crate std;

mod arch;
mod drive;
mod dtype;
mod exact;
mod format;
mod route;
mod table;
mod vector;

#[doc(hidden)]
pub use arch::run_work;
pub use arch::{Tier, TierStatus};
pub use drive::{
    Bytes, BytesMut, InPlace, Layout, LossDetector, Lost, MAX_AXES, PtrError, Source, Target, Uninit, View,
    ViewError, ViewMut, shares_memory,
};
#[doc(hidden)]
pub use drive::{
    Flat, InPlaceBytes, Memory, OneSource, OneTarget, OperandError, Operands, ViewTarget, Written, append,
    filled, in_default_environment, scaled,
};
pub use dtype::{
    ByteOrder, DType, DTypeKind, Element, Encoding, FInfo, Flavor, FloatSpec, IInfo, Kind, Spec, Storage,
    UnknownName,
};
pub use exact::{PowerRange, Rounding, Rules, cast_one};
pub use format::newtypes::*;
pub use route::{Family, Kernel, Stage, Streaming};
#[doc(hidden)]
pub use table::cost;
pub use vector::loss::{Loss, Losses, loss};
#[doc(hidden)]
pub use vector::{Work, machine};

/// Casts of typed slices under the common rules.
#[doc(hidden)]
pub mod typed {
    pub use crate::arch::TierToken;
    pub use crate::drive::pair::{assert_built, cast_slices, cast_to_vec, cast_uninit, saturates_by_default};
}

/// Values with names, for the traits of `serde`.
#[cfg(feature = "serde")]
#[doc(hidden)]
pub mod named {
    pub use crate::drive::serde::{Named, deserialize, serialize};
}

/// Only the element types that Rust lacks, for crates that re-export them.
#[doc(hidden)]
pub mod newtypes {
    pub use crate::format::newtypes::*;
}
