//! Scaled casts: the [steps](steps), and their loops over [registers] and over memory.

mod define;
mod define_loops;
mod plain;
mod registers;
mod run;
mod source;
mod stages;
mod steps;
pub(crate) mod words;

pub(crate) use define::{define_decoders, define_fused};
pub(crate) use define_loops::define_scaled;
pub(crate) use plain::{amax, counts, powers};
pub(crate) use registers::{
    Divide, Exact, Product, RegisterStep, Times, amax_of_halves, amax_of_runs, by_runs,
};
pub(crate) use run::run;
pub(crate) use source::{Elements, Source};
pub(crate) use stages::{High, Runs, Stage, Stored};
pub use steps::{Factors, PowerRule, Step, Word};
pub(crate) use steps::{Fused, FusedFn, Loops, StepFn, fits};
pub(crate) use words::{List, Words};
