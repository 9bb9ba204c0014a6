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
//! * [`dtype`](DType): THE list of dtypes;
//! * `exact`: decode and encode in integer arithmetic for every format and every rule, the plainest form of the law;
//! * `format`: the compile-time types of the formats, their decoders and encoders;
//! * `hub`: the types between decoders and encoders, with the proofs that they are exact;
//! * `arch`: the tiers, how they are found, and their kernels;
//! * `table`: the cross product of all pairs, per tier;
//! * `order`: the other byte order; `steps`: pairs that are cast in two steps;
//! * `route`: everything that a cast will do, resolved once; `drive`: the loop over blocks that runs its stages;
//! * [`Kernel`]: one resolved cast, the entry point for plans; `in_place`: casts inside one buffer; `stream`: casts with non-temporal
//!   stores; `strided`: casts between arrays of any layout;
//! * `operand`: what a cast reads and writes, as values;
//! * [`LossDetector`]: a cast that reports its losses, by the law of `loss`;
//! * [`scaled`]: the loops of casts whose elements share scales in blocks;
//! * [`cost`]: the cost of a cast, a measured class for every pair;
//! * `work`: loops of other crates, compiled for the vectors of a tier;
//! * `pair`: the kernels of a typed cast, chosen at compile time; `active`: the tier that typed casts use;
//! * [`cast_one`]: a single element, through `exact`;
//! * [`machine`]: sizes of caches and lines that several modules need;
//! * `fpenv`: the floating-point control register, which belongs to the host.

#![no_std]
#![cfg_attr(docsrs, feature(doc_cfg))]
// The parts that vector tiers share are compiled everywhere, even for targets with few of these tiers or none, which need fewer
// tables.
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

/// Only the element types that Rust does not have, for crates that export them.
#[doc(hidden)]
pub mod newtypes {
    pub use crate::format::newtypes::*;
}
