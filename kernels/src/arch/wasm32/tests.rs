//! Compares the operations with their reference.

use super::simd::Wasm128;
use crate::{
    format::data::Direction,
    vector::lanes::tests::{DIRECTIONS, check},
};

#[test]
fn operations() {
    check::<_, 16>(&[Direction::NearestEven], |direction| Wasm128::<false> { direction });
}

#[test]
fn operations_in_every_direction() {
    check::<_, 16>(DIRECTIONS, |direction| Wasm128::<true> { direction });
}
