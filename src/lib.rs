//! `lanecast` casts buffers of numbers from any dtype to any other, with one specified answer.
//!
//! * **Every pair** of bool, integers of 2 to 64 bits, float16, bfloat16, float32, float64, complex64, complex128, eight
//!   8-bit floats, two 6-bit floats and a 4-bit float ([`DType::ALL`]); sub-byte elements are packed or one per byte,
//!   multi-byte elements use either byte order ([`Encoding`]).
//! * **One rounding.** A result is the exact source value rounded once to the target, for every pair. The specification,
//!   down to the bits of NaNs, is in [`semantics`].
//! * **The same bits everywhere**: on every architecture, at every length, offset and alignment, and on x86, 64-bit Arm,
//!   64-bit RISC-V and s390x whatever the state of the floating-point control register.
//!
//! [The book](https://github.com/lanecast/lanecast/blob/main/docs/index.md) has guides, how-to pages, comparisons with other libraries and a
//! glossary.
//!
//! # Use
//!
//! Typed slices, in one call:
//!
//! ```
//! use lanecast::{F8E4M3FN, cast};
//! let mut small = [F8E4M3FN::default(); 3];
//! cast(&[1.0_f32, -0.3, 1000.0], &mut small)?;
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
//! Everything else is a [`CastPlan`]: two encodings and [`CastOptions`], resolved once and run often. Its operands are slices, [`Bytes`],
//! [views](strided) of any layout or [uninitialised memory](Uninit). Checks, threads and stochastic rounding are modes of the plan.
//!
//! ```
//! use lanecast::strided::View;
//! use lanecast::{Bytes, CastOptions, CastPlan, DType, Encoding};
//! // A dtype that is known at run time, here 4-bit floats packed two to a byte.
//! let from = Encoding::packed("float4_e2m1fn".parse()?);
//! let plan = CastPlan::new(from, DType::Float32, &CastOptions::RUST)?;
//! let floats = plan.run_to_vec::<f32>(Bytes::new(&[0x52, 0x0F], 3))?;
//! assert_eq!(floats, [1.0, 3.0, -6.0]);
//!
//! // A transposed array, by NumPy's rules.
//! let plan = CastPlan::of::<f32, u8>(&CastOptions::NUMPY);
//! let columns = View::from_slice(&[1.9_f32, -1.0, 300.0, 4.0], &[2, 2])?.transposed();
//! assert_eq!(plan.run_to_vec::<u8>(&columns)?, [1, 44, 255, 4]);
//! # Ok::<(), lanecast::CastError>(())
//! ```
//!
//! # Vocabulary
//!
//! * A *dtype* is the runtime tag of an element type, an *element* its Rust type, and *storage* the way small elements share bytes. Dtype,
//!   storage and byte order together are an *encoding* ([`Encoding`]).
//! * An *operand* is what a cast reads ([`Source`]) or where its results go ([`Target`]): memory, and the elements in it.
//! * A *plan* is a cast between two encodings under fixed options ([`CastPlan`]). Its *route* is what it does, stage by stage
//!   ([`CastPlan::explain`]).
//! * A *kernel* is one loop over elements, and a *tier* is the instruction set that it is built for ([`Tier`]).
//! * *Decode* is exact, *encode* rounds, and *cast* is both together.
//!
//! # The source
//!
//! `options` and `plan` choose what runs and run it; `loss` describes what checked casts refuse, mark and count, `threads` shares casts
//! between threads, and [`stochastic`] rounds by random bits. `cast` has the casts of typed slices in one call. [`strided`] has arrays of
//! any layout, `array` has arrays of the crate `ndarray`, and `structured` items of named fields. [`tier`] selects the instruction set.
//! `promote` returns the dtype that an operation computes in, by tables that `build.rs` checks, and [`names`] has the names of the dtypes
//! in other systems. `text` parses and formats numbers, `onnx` has the ONNX operators that cast and
//! quantize, `gguf` encodes and decodes quantized blocks, and `scaled` casts blocks that share a scale. The list of dtypes, all kernels,
//! the operands and all `unsafe` but that of [`CastPlan::run_ptr`] are in the crate `lanecast-kernels`.
//!
//! # Features
//!
//! On by default:
//!
//! * `std`: CPU detection and the environment variables of [`tier`];
//! * `tiers`, which is `avx512`, `avx2`, `neon` and `wasm128`: the kernels of the tiers of these names. Without one, casts use another tier or the
//!   scalar one;
//! * `dtypes`, which is `int2`, `float6`, `fnuz`, `b11`, `e3m4` and `e4m3`: rarer dtypes ([`DType::feature`]).
//!
//! `full` turns on these and all others:
//!
//! * `rayon`: casts over several threads, with the crate `rayon` (needs `std`);
//! * `text`: the module `text`, which parses and formats numbers, with the crates `itoa` and `zmij`;
//! * `structured`: the module `structured`, items of named fields;
//! * `promote`: the module `promote`, the dtype that an operation computes in;
//! * `onnx`: the module `onnx`, the operators of ONNX (needs `text`);
//! * `gguf`: the module `gguf`, the quantized blocks of GGUF files;
//! * `scaled`: the module `scaled`, casts of blocks that share a scale;
//! * `ndarray`: the trait `AsType`, casts of the arrays of the crate of this name;
//! * `num-traits`: `Bounded`, `ToPrimitive`, `FromPrimitive`, `NumCast` and `AsPrimitive` for the small types. (`Zero`, `One` and
//!   `Num` need arithmetic, which casts do not have.)
//! * `serde`: `Serialize` and `Deserialize` for [`DType`], [`Encoding`], [`CastOptions`] and its values, [`Level`], [`Streaming`] and [`Tier`],
//!   by name in human-readable formats and by number in others; and for the small types, as a number or as the code.
//!
//! Without `std` the crate is `no_std` with `alloc`. Casts, plans, checks, [`strided`] and [`names`] need no feature.

#![cfg_attr(not(feature = "std"), no_std)]
#![cfg_attr(docsrs, feature(doc_cfg))]
#![deny(unsafe_code)]

extern crate alloc;

#[cfg(feature = "ndarray")]
mod array;
mod cast;
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
#[cfg(feature = "serde")]
mod serde;
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
pub use element::*;
pub use error::{CastError, Side};
pub use half;
pub use lanecast_kernels::{
    ByteOrder, Bytes, BytesMut, DType, DTypeKind, Encoding, FInfo, Flavor, FloatSpec, IInfo, InPlace, Kind,
    Source, Spec, Storage, Streaming, Target, Tier, TierStatus, Uninit, UnknownName,
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

/// The examples of the README and of the book are compiled and run as tests.
#[cfg(all(
    doctest,
    feature = "std",
    feature = "rayon",
    feature = "text",
    feature = "structured",
    feature = "promote",
    feature = "onnx",
    feature = "gguf",
    feature = "scaled"
))]
mod pages {
    macro_rules! pages {
        ($($name:ident $page:literal)*) => {
            $(#[doc = include_str!($page)] struct $name;)*
        };
    }
    pages! {
        Readme "../README.md"
        ComingFromArrowCast "../docs/coming-from/arrow-cast.md"
        ComingFromHalf "../docs/coming-from/half.md"
        ComingFromNumkong "../docs/coming-from/numkong.md"
        ExplanationOneRounding "../docs/explanation/one-rounding.md"
        GuideRust "../docs/guide/rust.md"
        HowtoArrays "../docs/howto/arrays.md"
        HowtoChecked "../docs/howto/checked.md"
        HowtoGguf "../docs/howto/gguf.md"
        HowtoOnnx "../docs/howto/onnx.md"
        HowtoPromotion "../docs/howto/promotion.md"
        HowtoScaled "../docs/howto/scaled.md"
        HowtoStructured "../docs/howto/structured.md"
        HowtoText "../docs/howto/text.md"
        ReferenceErrors "../docs/reference/errors.md"
        WhichProfile "../docs/which-profile.md"
    }
}
