//! Programs in C and C++ against the library, shared, static and opened: in every standard of the languages that users have, without a
//! warning.
#![cfg(unix)]

mod abi;
mod build;
mod exports;
mod memory;
#[path = "../../../tests/oracle/mod.rs"]
mod oracle;
mod readme;
mod scaled;
mod standards;
mod threads;
mod vectors;
