//! Floor 8: runs casts: blocks, streaming, casts in place, the floating-point environment, views, losses, scaled casts, typed pairs.

pub(crate) mod blocks;
mod filled;
pub(crate) mod fpenv;
mod in_place;
pub(crate) mod kernel;
pub(crate) mod loss;
mod operand;
pub(crate) mod pair;
mod ptr;
pub mod scaled;
#[cfg(feature = "serde")]
pub(crate) mod serde;
pub(crate) mod stream;
mod strided;

pub use filled::filled;
pub use fpenv::in_default_environment;
pub use in_place::shares_memory;
pub use loss::{LossDetector, Lost};
pub use operand::{
    Bytes, BytesMut, Flat, InPlace, InPlaceBytes, Memory, OneSource, OneTarget, OperandError, Operands,
    Source, Target, Uninit, ViewTarget, Written, append,
};
pub use ptr::PtrError;
pub use strided::{Layout, MAX_AXES, View, ViewError, ViewMut};
