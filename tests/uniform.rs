//! Buffers of one value.
//!
//! Some kernels look at a block of elements together and go a quicker way if all are small, say. Among mixed values that way
//! is hardly ever gone, so here every element is the same: every pair of a source of more than 16 bits, with both answers
//! to overflow, on every tier, against the oracle.

use crate::oracle;
use crate::support::check::all_tiers;
use lanecast::{CastOptions, DType, IntOverflow, Saturate};

/// More than a block of every tier, with a rest.
const N: usize = 71;

/// Both ends, everything around powers of two, and what stands next to it.
fn values(from: DType) -> Vec<u128> {
    let width = oracle::width(from) / if from.bits() > 64 || from == DType::Complex64 { 2 } else { 1 };
    let mask = u128::MAX >> (128 - width);
    let mut values: Vec<u128> = (0..width)
        .flat_map(|bit| {
            let one = 1_u128 << bit;
            [one, one - 1, one + 1, !one, !(one - 1), one | one >> 1]
        })
        .chain([0, mask, mask >> 1])
        .map(|code| code & mask)
        .collect();
    // Whole numbers of every size, if it is a float.
    if let DType::Float32 | DType::Complex64 = from {
        let powers = (0..70)
            .flat_map(|e| [f32::from_bits((127 + e) << 23), f32::from_bits((127 + e) << 23 | 0x40_0001)]);
        values.extend(powers.flat_map(|x| [x.to_bits() as u128, (-x).to_bits() as u128]));
    }
    if let DType::Float64 | DType::Complex128 = from {
        let powers = (0..70_u64)
            .flat_map(|e| [f64::from_bits((1023 + e) << 52), f64::from_bits((1023 + e) << 52 | 1 << 51 | 1)]);
        values.extend(powers.flat_map(|x| [x.to_bits() as u128, (-x).to_bits() as u128]));
    }
    values.sort_unstable();
    values.dedup();
    values
}

fn check(from: DType) {
    let values = values(from);
    for &to in DType::ALL {
        for (saturate, overflow) in
            [(Saturate::On, IntOverflow::Saturate), (Saturate::Off, IntOverflow::Wrap)]
        {
            let options = CastOptions::RUST
                .with_saturate(saturate)
                .with_float_to_int(overflow)
                .with_int_to_int(overflow);
            for &value in &values {
                let expected = oracle::cast(from, to, &options, value);
                all_tiers(from, to, &options, &[value; N], &[expected; N]);
            }
        }
    }
}

macro_rules! sources {
    ($($name:ident $dtype:ident)*) => {$(
        #[test]
        fn $name() {
            check(DType::$dtype);
        }
    )*};
}

sources! {
    int32 Int32
    int64 Int64
    uint32 UInt32
    uint64 UInt64
    float32 Float32
    float64 Float64
    complex64 Complex64
    complex128 Complex128
}
