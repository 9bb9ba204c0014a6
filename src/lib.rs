//! `lanecast` casts buffers of numbers from any dtype to any other, with one specified answer.
//!
//! * **Every pair** of bool, integers of 2 to 64 bits, float16, bfloat16, float32, float64, complex64, complex128, eight
//!   8-bit floats, two 6-bit floats and a 4-bit float ([`DType::ALL`]); the small ones packed or one per byte, the
//!   others in either byte order ([`BufferType`]).
//! * **One rounding.** A result is the exact source value rounded once to the target, for every pair. The specification,
//!   down to the bits of NaNs, is in [`semantics`].
//! * **The same bits everywhere**: on every architecture, at every length, offset and alignment, and on x86, 64-bit Arm,
//!   64-bit RISC-V and s390x whatever the program did to the floating-point control register.
//!
//! # Use
//!
//! Typed slices:
//!
//! ```
//! use lanecast::{F8E4M3FN, cast};
//! let weights = [1.0_f32, -0.3, 1000.0];
//! let mut small = [F8E4M3FN::default(); 3];
//! cast(&weights, &mut small)?;
//! assert_eq!(small.map(F8E4M3FN::to_f32), [1.0, -0.3125, 448.0]);
//! # Ok::<(), lanecast::CastError>(())
//! ```
//!
//! Bytes whose dtype is known at run time ([`cast_bytes`]), here two 4-bit floats to a byte:
//!
//! ```
//! use lanecast::{BufferType, CastOptions, DType, cast_bytes};
//! let packed = [0x52, 0x0F];
//! let mut floats = [0; 3 * 4];
//! let from = BufferType::packed("float4_e2m1fn".parse()?);
//! cast_bytes(&packed, from, &mut floats, DType::Float32, 3, &CastOptions::RUST)?;
//! assert_eq!(floats[..4], 1.0_f32.to_ne_bytes());
//! # Ok::<(), lanecast::CastError>(())
//! ```
//!
//! A [`CastPlan`] resolved once and run often, which is how a library links us:
//!
//! ```
//! use lanecast::{CastOptions, CastPlan, DType};
//! let plan = CastPlan::new(DType::Float32, DType::BFloat16, &CastOptions::RUST)?;
//! let (src, mut dst) = ([0x00, 0x00, 0x80, 0x3F], [0; 2]);
//! plan.run(&src, &mut dst, 1)?;
//! # if cfg!(target_endian = "little") {
//! assert_eq!(dst, [0x80, 0x3F]);
//! # }
//! # Ok::<(), lanecast::CastError>(())
//! ```
//!
//! Arrays of any layout, here a transposed one ([`strided`]):
//!
//! ```
//! use lanecast::strided::{View, ViewMut};
//! use lanecast::{CastOptions, half::f16, strided};
//! let rows = [1.0_f32, 2.0, 3.0, 4.0, 5.0, 6.0];
//! let columns = View::from_slice(&rows, &[2, 3])?.transposed();
//! let mut out = [f16::ZERO; 6];
//! strided::cast(&columns, &mut ViewMut::from_slice(&mut out, &[3, 2])?, &CastOptions::RUST)?;
//! assert_eq!(out.map(f16::to_f32), [1.0, 4.0, 2.0, 5.0, 3.0, 6.0]);
//! # Ok::<(), lanecast::CastError>(())
//! ```
//!
//! # Vocabulary
//!
//! A *dtype* is the runtime tag of an element type, an *element* its Rust type, *storage* the way small elements share
//! bytes. A *kernel* is one loop over elements, a *tier* the instruction set it is built for, a *plan* the choice of kernel
//! for a pair, its *route* what it does, stage by stage ([`CastPlan::explain`]). *Decode* is exact, *encode* rounds, *cast* is the public whole.
//!
//! # The source
//!
//! `options` and `plan` choose what runs, `cast` runs it on slices and bytes, `checked` refuses or counts what is
//! lost ([`CheckedPlan`], [`CountingPlan`]), `explain` says what a plan does and why, [`strided`] casts arrays of any layout, `ndarray` those of the crate
//! of this name (feature `ndarray`), [`structured`] items of named fields; `bulk` spreads casts over threads
//! (feature `rayon`). `tier` decides the instruction set, `dtype` holds the limits of the dtypes. [`mod@promote`]
//! says which dtype an operation computes in, by tables that `build.rs` checks, and [`names`] what other systems
//! call the dtypes; [`text`] parses and formats, [`onnx`] is the operators of ONNX that cast. The list of dtypes,
//! all kernels and all `unsafe` stand in the crate `lanecast-kernels`.
//!
//! # Features
//!
//! * `std` (default): CPU detection and the environment variable `LANECAST_TIER`;
//! * `ndarray`: arrays of the crate of this name, in the module of this name;
//! * `rayon` (default): `bulk`, casts over several threads.
//!
//! Without them the crate is `no_std` with `alloc`.

#![cfg_attr(not(feature = "std"), no_std)]
#![forbid(unsafe_code)]

extern crate alloc;

#[cfg(feature = "rayon")]
pub mod bulk;
mod cast;
mod checked;
mod dtype;
mod element;
mod error;
mod explain;
pub mod names;
#[cfg(feature = "ndarray")]
pub mod ndarray;
pub mod onnx;
mod options;
mod plan;
pub mod promote;
pub mod strided;
pub mod structured;
pub mod text;
pub mod tier;

pub use cast::{cast, cast_bytes, cast_in_place, cast_to_vec, cast_uninit, cast_with};
pub use checked::{
    CastReport, CheckedPlan, CountingPlan, Level, Reason, Rejection, Value, try_cast, try_cast_bytes,
    try_cast_masked, try_cast_to_vec, try_cast_with,
};
pub use dtype::{DTypeKind, FInfo, IInfo, finfo, iinfo, isdtype};
pub use element::*;
pub use error::{CastError, Side};
pub use explain::{ExplainedStage, Explanation};
pub use half;
pub use lanecast_kernels::{
    BufferType, ByteOrder, DType, Flavor, FloatSpec, Kind, Spec, Storage, Streaming, Tier, TierStatus,
    UnknownName, UnknownTier,
};
pub use num_complex;
pub use options::{
    CastOptions, E5M2Nan, E8M0Range, E8M0Round, FloatRound, FnuzInf, IntOverflow, IntRound, NanToFp4,
    Saturate,
};
pub use plan::CastPlan;
pub use promote::promote;

#[doc = include_str!("../docs/semantics.md")]
pub mod semantics {}

/// The examples of the README are compiled and run as tests.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
