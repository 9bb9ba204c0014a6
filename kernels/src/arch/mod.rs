//! Floor 5: the tiers, which are the instruction set levels that kernels are built for.
//!
//! All tiers are rows of one list, `for_each_tier!`, and each has a folder. A row says what is known of a tier on every target. The module that
//! it names has, in its file `backend.rs`,
//!
//! * `BACKENDS`, what the code above calls: a [`Backend`](backend::Backend) for each combination of optional CPU features ([`features`]);
//! * `entries`, the kernels of a pair whose types are known at compile time, one for each backend;
//! * `run_work`, which compiles a loop for the tier.
//!
//! A new tier is a row, a folder, a Cargo feature here and in the root crate, and a `cfg` in `build.rs`. Only the list and that script read
//! `target_arch`, and below them the code that the 32- and 64-bit forms of x86 do not share.

mod backend;
mod built;
mod environment;
#[cfg(any(x86_tiers, arm_tiers))]
mod features;
#[cfg(any(x86_tiers, arm_tiers, wasm_tiers))]
mod registers;
pub(crate) mod scalar;
mod tier;
mod token;
mod work;

#[cfg(arm_tiers)]
mod aarch64;
#[cfg(wasm_tiers)]
mod wasm32;
#[cfg(x86_tiers)]
mod x86;

pub(crate) use built::{VARIANTS, entries};
pub use tier::{Tier, TierStatus};
pub use token::TierToken;
pub use work::run_work;
