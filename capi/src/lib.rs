//! The C interface of `lanecast`. `include/lanecast.h` and `include/lanecast_dlpack.h` are generated from this crate and
//! document it for C programmers.
//!
//! # Laws
//!
//! * The caller owns all memory but the plans of scaled casts; a run keeps no pointer and allocates nothing on the calling thread. The
//!   exceptions: a batch has a list of its items, the threads of a host are counted (`Arc`), the first runs of some pairs make a table
//!   that is kept, and a scaled cast frees what it allocates.
//! * Every function that can fail returns a status and fills the caller's `lanecast_error`, if there is one. There is no thread-local state,
//!   and no global state but the forced tier.
//! * A failed call writes nothing, except for `LANECAST_ERR_REJECTED` and `LANECAST_ERR_BUG`.
//! * No panic escapes: it is caught and becomes `LANECAST_ERR_BUG` (`error::guarded`).
//!
//! # The map
//!
//! `types`: dtypes as numbers; `options` and their values; `array`: operands; `plan`: a plan in the caller's memory; `run`: casts by a plan;
//! `batch`; `dlpack`: casts of DLPack tensors; `scaled`: of blocks that share a scale; `memory`: buffers as slices; `threads`: whose threads share a cast; `promote`; `tier`; `error`: statuses and messages.

#![allow(non_camel_case_types, reason = "the names are those of the header")]

// The order of the header; rustfmt sorts modules that no empty line separates.
mod types;

mod error;

mod options;

mod plan;

mod array;

mod run;

mod threads;

mod batch;

mod promote;

mod tier;

mod scaled;

mod dlpack;

mod memory;

pub use array::lanecast_array;
pub use batch::*;
pub use dlpack::{DLDataType, DLDevice, DLTensor, lanecast_run_dlpack};
pub use error::*;
pub use options::*;
pub use plan::{lanecast_cast, lanecast_explain, lanecast_plan, lanecast_plan_init};
pub use promote::*;
pub use run::{
    LANECAST_LEVEL_EXACT, LANECAST_LEVEL_RANGE, LANECAST_LEVEL_UNDERFLOW, lanecast_level, lanecast_report,
    lanecast_run, lanecast_run_array, lanecast_run_checked, lanecast_run_counted, lanecast_run_masked,
};
pub use scaled::*;
pub use threads::{lanecast_pool, lanecast_task, lanecast_threads};
pub use tier::*;
pub use types::{
    LANECAST_TYPE_BIG, LANECAST_TYPE_LITTLE, LANECAST_TYPE_PACKED, lanecast_type, lanecast_type_bytes,
    lanecast_type_from_dlpack, lanecast_type_name, lanecast_type_parse, lanecast_type_to_dlpack,
};

/// The version of the library: major << 16 | minor << 8 | patch.
#[unsafe(no_mangle)]
pub extern "C" fn lanecast_version() -> u32 {
    const fn number(text: &str) -> u32 {
        let (digits, mut value, mut i) = (text.as_bytes(), 0, 0);
        while i < digits.len() {
            value = 10 * value + (digits[i] - b'0') as u32;
            i += 1;
        }
        value
    }
    const {
        number(env!("CARGO_PKG_VERSION_MAJOR")) << 16
            | number(env!("CARGO_PKG_VERSION_MINOR")) << 8
            | number(env!("CARGO_PKG_VERSION_PATCH"))
    }
}
