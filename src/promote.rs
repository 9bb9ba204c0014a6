//! Which dtype a binary operation computes in, by the rules of the array systems, and the casts that its operands need.
//!
//! The rules of a [`Standard`] are data: one table of all pairs of dtypes and one of dtypes with Python numbers, in
//! `src/promote/*.tsv`, checked when the library is built. The rules that are not tables are documented here: numbers, 0-d arrays,
//! more than two operands ([`Promotion::promote_all`]), default dtypes ([`Promotion`]).
//!
//! ```
//! use lanecast::{DType, promote, promote::Standard};
//! assert_eq!(promote(Standard::NumPy, DType::Int8, DType::UInt8), Ok(DType::Int16));
//! assert_eq!(promote(Standard::MegEngineCore, DType::Bool, DType::Int8), Ok(DType::Float32));
//! let refused = promote(Standard::MindSpore, DType::Int8, DType::UInt32).unwrap_err();
//! assert_eq!(
//!     refused.to_string(),
//!     "no common dtype for int8 and uint32 under MindSpore rules (uint16, uint32 and uint64 do not promote); \
//!      cast one operand first"
//! );
//! ```
//!
//! Rules that hold for all standards: the caller names the standard; the order of two operands does not matter; a dtype
//! promotes with itself to itself; byte order is not part of a dtype; the casts of a plan are ordinary ones (bool to 0 or 1,
//! integers to floats rounded to nearest even, reals to complex numbers with the imaginary part +0).
//!
//! Dtypes that lanecast does not have (`longdouble`, `complex32`, `int1`, `hifloat8`, `float4_e2m1fn_x2`) have no row in any table. Two
//! of them can still be results; see [`Refusal::ResultNotHere`].

mod casting;
mod combine;
mod defaults;
mod error;
mod operand;
mod plan;
mod standard;
mod table;

pub use casting::{Casting, can_cast, is_lossless};
pub use combine::{promote, promote_all};
pub use defaults::Promotion;
pub use error::{PromotionError, Refusal};
pub use operand::{NumberKind, Operand, Resolved};
pub use plan::{Plan, plan};
pub use standard::Standard;
