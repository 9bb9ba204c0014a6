//! The cast kernels of [`lanecast`](https://docs.rs/lanecast), which is the crate to use: it adds the safe typed interface,
//! options, plans and errors. This crate holds all vector code and all `unsafe`.
//!
//! # The law
//!
//! Every cast is `encode::<To>(decode::<From>(x))`. *Decode* is exact: it brings a code to a hub that holds every value of its
//! format. *Encode* rounds once. So N decoders and N encoders give N x N correct casts, and anything quicker is an override
//! that gives the same bits.
//!
//! # The map
//!
//! * [`dtype`](DType): THE list of dtypes;
//! * `exact`: decode and encode in integer arithmetic for every format and every rule, the plainest form of the law;
//! * `format`: the compile-time types of the formats, their decoders and encoders;
//! * `hub`: what a decoder returns and an encoder takes, with the proofs that it is exact;
//! * `arch`: the tiers, how they are found, and their kernels;
//! * `table`: the cross product of all pairs, per tier;
//! * [`Kernel`]: one resolved cast, where plans enter; `in_place`: inside one buffer; `stream`: past the caches; `strided`: between
//!   arrays of any layout; `order`: the other byte order;
//! * [`Watch`]: a cast that says what it loses, by the law of `loss`;
//! * [`cost`]: what a cast costs, a measured class for every pair;
//! * [`cast_one`]: a single element, through `exact`;
//! * [`machine`]: sizes of caches and lines that several modules need;
//! * `fpenv`: the floating-point control register belongs to the host.

#![no_std]
// What the vector tiers are made of is compiled everywhere: also where there are none of them, or only that of Arm, which needs
// fewer tables.
#![cfg_attr(
    not(all(any(target_arch = "x86_64", target_arch = "x86"), target_feature = "sse2")),
    allow(dead_code, unused_imports, unused_macros, reason = "only the tiers of x86 use it all")
)]

extern crate alloc;
#[cfg(any(feature = "std", test, miri))]
extern crate std;

mod arch;
mod buffer;
#[doc(hidden)]
pub mod cost;
mod data;
mod dtype;
mod exact;
mod format;
mod fpenv;
mod hub;
mod in_place;
mod kept;
mod kernel;
mod linear;
mod loss;
mod lut;
#[doc(hidden)]
pub mod machine;
mod narrowed;
mod one;
mod order;
mod parts;
mod round;
mod rules;
mod storage;
mod stream;
mod strided;
mod table;
mod tabled;
mod vector;

pub use arch::{Tier, TierStatus, UnknownTier};
pub use dtype::{DType, Flavor, FloatSpec, Kind, Spec, UnknownName};
pub use exact::{PowerRange, Rounding, Rules};
pub use format::{Element, newtypes::*};
pub use in_place::shares_memory;
pub use kernel::Kernel;
pub use loss::{Block, Loss, Losses, Watch, loss};
pub use one::cast_one;
pub use parts::Part;
pub use storage::{BufferType, ByteOrder, Storage};
pub use stream::Streaming;
pub use strided::{Layout, MAX_AXES, View, ViewError, ViewMut};

/// The element types that Rust does not have, and nothing else, for crates that export them.
#[doc(hidden)]
pub mod newtypes {
    pub use crate::format::newtypes::*;
}
