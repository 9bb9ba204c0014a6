//! The typed forms of a cast for every pair of element types: `cargo test --test typed_pairs`.
//!
//! A typed cast compiles the kernels of its pair into the program that calls it, so this program takes longer to build than all other
//! tests together. `cargo test` leaves it out; `typed.rs` has one type of each kind.

#[macro_use]
mod support;

mod oracle;
#[macro_use]
#[path = "typed/forms.rs"]
mod forms;

use forms::{check, check_one};
use lanecast::num_complex::Complex;
use lanecast::*;

types! {
    bool, I2, I4, i8, i16, i32, i64, U2, U4, u8, u16, u32, u64, half::f16, half::bf16, f32, f64,
    Complex<f32>, Complex<f64>, F8E4M3FN, F8E4M3FNUZ, F8E5M2, F8E5M2FNUZ, F8E8M0FNU, F8E3M4, F8E4M3, F8E4M3B11FNUZ,
    F6E2M3FN, F6E3M2FN, F4E2M1FN
}

#[test]
fn all_dtypes() {
    assert_eq!(all(), DType::ALL, "a type for every dtype");
}
