//! The tests of checkpoints, one module per subject.

mod common;

mod golden;
