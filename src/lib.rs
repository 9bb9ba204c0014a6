//! `lanecast` casts buffers of numbers from any dtype to any other, with one specified answer.
//!
//! * **Every pair** of bool, integers of 2 to 64 bits, float16, bfloat16, float32, float64, complex64, complex128, eight
//!   8-bit floats, two 6-bit floats and a 4-bit float ([`DType::ALL`]); the small ones packed or one per byte, the
//!   others in either byte order ([`Encoding`]).
//! * **One rounding.** A result is the exact source value rounded once to the target, for every pair. The specification,
//!   down to the bits of NaNs, is in [`semantics`].
//! * **The same bits everywhere**: on every architecture, at every length, offset and alignment, and on x86, 64-bit Arm,
//!   64-bit RISC-V and s390x whatever the state of the floating-point control register.
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
//! Single values ([`cast_one`]), and the small types as numbers:
//!
//! ```
//! use lanecast::{F8E5M2, U4, cast_one, half::f16};
//! assert_eq!(cast_one::<f64, f16>(0.1).to_bits(), 0x2E66);
//! const THIRD: F8E5M2 = F8E5M2::from_f64(1.0 / 3.0);
//! assert_eq!(f32::from(-THIRD), -0.3125);
//! assert_eq!("1e9".parse(), Ok(F8E5M2::MAX));
//! assert_eq!(U4::try_from(16_u8).unwrap_err().to_string(), "16 is out of the range of uint4, which is 0 to 15");
//! ```
//!
//! Bytes whose dtype is known at run time ([`cast_bytes`]), here two 4-bit floats to a byte:
//!
//! ```
//! use lanecast::{Encoding, DType, cast_bytes};
//! let packed = [0x52, 0x0F];
//! let mut floats = [0; 3 * 4];
//! let from = Encoding::packed("float4_e2m1fn".parse()?);
//! cast_bytes(&packed, from, &mut floats, DType::Float32, 3)?;
//! assert_eq!(floats[..4], 1.0_f32.to_ne_bytes());
//! # Ok::<(), lanecast::CastError>(())
//! ```
//!
//! A [`CastPlan`] is resolved once and run often; libraries should use it this way:
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
//! use lanecast::{half::f16, strided};
//! let rows = [1.0_f32, 2.0, 3.0, 4.0, 5.0, 6.0];
//! let columns = View::from_slice(&rows, &[2, 3])?.transposed();
//! let mut out = [f16::ZERO; 6];
//! strided::cast(&columns, &mut ViewMut::from_slice(&mut out, &[3, 2])?)?;
//! assert_eq!(out.map(f16::to_f32), [1.0, 4.0, 2.0, 5.0, 3.0, 6.0]);
//! # Ok::<(), lanecast::CastError>(())
//! ```
//!
//! # Vocabulary
//!
//! A *dtype* is the runtime tag of an element type, an *element* its Rust type, *storage* the way small elements share
//! bytes. A *kernel* is one loop over elements, and a *tier* is the instruction set that it is built for. A *plan* is the choice of
//! kernel for a pair, and its *route* is what it does, stage by stage ([`CastPlan::explain`]). *Decode* is exact, *encode* rounds,
//! and *cast* is both together.
//!
//! # The source
//!
//! `options` and `plan` choose what runs, `cast` runs it on slices and bytes, and `checked` refuses or counts losses
//! ([`CheckedPlan`], [`CountingPlan`]). `explain` says what a plan does and why. [`strided`] casts arrays of any layout, `nd`
//! arrays of the crate `ndarray`, and `structured` items of named fields; `bulk` spreads casts over threads. `tier` selects the
//! instruction set, and `dtype` has the limits of the dtypes. `promote` says which dtype an operation computes in, by tables that
//! `build.rs` checks, and [`names`] has the names of the dtypes in other systems. `text` parses and formats numbers, `onnx` has
//! the ONNX operators that cast and quantise, and `gguf` encodes and decodes quantised blocks. `scaled` casts blocks that share a scale,
//! and `stochastic` rounds by random bits. The list of dtypes, all kernels and all `unsafe` but that of
//! [`CastPlan::run_ptr`] are in the crate `lanecast-kernels`.
//!
//! # Features
//!
//! All but `ndarray`, `num-traits` and `serde` are on by default:
//!
//! * `std`: CPU detection and the environment variables of [`tier`];
//! * `rayon`: the module `bulk`, casts over several threads, with the crate `rayon` (and `std`);
//! * `text`: the module `text`, which parses and formats numbers, with the crates `itoa` and `zmij`;
//! * `structured`: the module `structured`, items of named fields;
//! * `onnx`: the module `onnx`, the operators of ONNX (with `text`);
//! * `gguf`: the module `gguf`, the quantised blocks of GGUF files;
//! * `promote`: the module `promote`, which dtype an operation computes in;
//! * `scaled`: the modules `scaled`, casts of blocks that share a scale, and `stochastic`, stochastic rounding;
//! * `avx512`, `avx2`, `neon`: the tiers of these names, together `tiers`; without one, casts use another tier or the scalar one;
//! * `int2`, `float6`, `fnuz`, `b11`, `e3m4`, `e4m3`: rarer dtypes ([`DType::feature`]), together `dtypes`;
//! * `ndarray`: the trait `AsType`, casts of the arrays of the crate of this name;
//! * `num-traits`: `Bounded`, `ToPrimitive`, `FromPrimitive`, `NumCast` and `AsPrimitive` for the small types. (`Zero`, `One` and
//!   `Num` need arithmetic, which casts do not have.)
//! * `serde`: `Serialize` and `Deserialize` for the small types, as a number in human-readable formats and as the code in others.
//!
//! Without `std` the crate is `no_std` with `alloc`; casts, plans, checked casts, [`strided`] and [`names`] need no feature.

#![cfg_attr(not(feature = "std"), no_std)]
#![deny(unsafe_code)]

extern crate alloc;

#[cfg(feature = "ndarray")]
mod array;
mod cast;
mod dtype;
mod element;
mod error;
#[cfg(feature = "gguf")]
pub mod gguf;
mod loss;
pub mod names;
#[cfg(feature = "onnx")]
pub mod onnx;
mod options;
mod plan;
#[cfg(feature = "promote")]
pub mod promote;
#[cfg(feature = "scaled")]
pub mod scaled;
pub mod stochastic;
pub mod strided;
#[cfg(feature = "structured")]
pub mod structured;
#[cfg(feature = "text")]
pub mod text;
#[cfg(feature = "rayon")]
mod threads;
pub mod tier;

#[cfg(feature = "ndarray")]
pub use array::AsType;
pub use cast::{CastSlice, cast, cast_in_place, cast_one, cast_to_vec};
pub use dtype::{DTypeKind, FInfo, IInfo, finfo, iinfo, isdtype};
pub use element::*;
pub use error::{CastError, Side};
pub use half;
pub use lanecast_kernels::{
    ByteOrder, Bytes, BytesMut, DType, Encoding, Flavor, FloatSpec, InPlace, Kind, Source, Spec, Storage,
    Streaming, Target, Tier, TierStatus, Uninit, UnknownName, UnknownTier,
};
pub use loss::{CastReport, Level, RejectedValue, Rejection, RejectionReason};
pub use num_complex;
pub use options::{
    CastOptions, E5M2Nan, E8M0Range, E8M0Round, FloatRound, FnuzInf, IntOverflow, IntRound, NanToFinite,
    Saturate,
};
#[cfg(feature = "rayon")]
pub use plan::{BatchError, BatchItem, cast_batch};
pub use plan::{CastPlan, ExplainedStage, Explanation};
#[cfg(feature = "promote")]
pub use promote::promote;
pub use stochastic::Stochastic;
#[cfg(feature = "rayon")]
pub use threads::{ParallelFor, Threads};

#[doc = include_str!("../docs/semantics.md")]
pub mod semantics {}

/// The examples of the README are compiled and run as tests.
#[cfg(all(
    doctest,
    feature = "std",
    feature = "text",
    feature = "structured",
    feature = "onnx",
    feature = "gguf",
    feature = "promote"
))]
#[doc = include_str!("../README.md")]
struct Readme;
