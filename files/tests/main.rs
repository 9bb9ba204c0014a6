//! The tests of the crate, one module per subject, in one program.

mod common;

mod cast;
mod read_write;
mod recognition;
