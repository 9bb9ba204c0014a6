//! Adds arrays of different dtypes as NumPy, PyTorch and JAX do: each says which dtype the sum has.
//!
//! `cargo run --release --example promoted_add`
//!
//! lanecast answers which dtype an operation computes in and casts the operands; the addition is the library's own. Here it is a
//! loop for each dtype that has one.

use lanecast::half::{bf16, f16};
use lanecast::promote::{Standard, plan};
use lanecast::text::{FormatPlan, TextOptions};
use lanecast::{Bytes, DType};
use std::error::Error;

/// Elements whose dtype is known at run time, in the byte order of the machine.
struct Array {
    dtype: DType,
    bytes: Vec<u8>,
}

/// Adds element by element. Integers wrap, as in all three systems.
fn add(dtype: DType, left: &[u8], right: &[u8]) -> Option<Vec<u8>> {
    macro_rules! by_dtype {
        ($($variant:ident $type:ident $add:expr;)*) => {
            match dtype {
                $(DType::$variant => {
                    let add: fn($type, $type) -> $type = $add;
                    let pairs = left.as_chunks().0.iter().zip(right.as_chunks().0);
                    let of = |element: &[u8; size_of::<$type>()]| $type::from_ne_bytes(*element);
                    Some(pairs.flat_map(|(a, b)| add(of(a), of(b)).to_ne_bytes()).collect())
                })*
                _ => None,
            }
        };
    }
    by_dtype! {
        Int16 i16 i16::wrapping_add;
        Int32 i32 i32::wrapping_add;
        Int64 i64 i64::wrapping_add;
        Float16 f16 |a, b| a + b;
        BFloat16 bf16 |a, b| a + b;
        Float32 f32 |a, b| a + b;
        Float64 f64 |a, b| a + b;
    }
}

/// The sum under a standard: its dtype and elements.
fn promoted_add(standard: Standard, left: &Array, right: &Array) -> Result<Array, Box<dyn Error>> {
    // The casts of both operands; an operand that has the dtype already is borrowed as it is.
    let plan = plan(standard, left.dtype, right.dtype)?;
    let (left, right) = plan.apply(&left.bytes, &right.bytes)?;
    let bytes = add(plan.result, &left, &right).ok_or("no addition of this dtype here")?;
    Ok(Array { dtype: plan.result, bytes })
}

fn show(array: &Array) -> Result<String, Box<dyn Error>> {
    let n = array.bytes.len() / array.dtype.size();
    let texts = FormatPlan::new(array.dtype, &TextOptions::DEFAULT)?.run(Bytes::new(&array.bytes, n))?;
    Ok(format!("{} [{}]", array.dtype, texts.iter().collect::<Vec<_>>().join(", ")))
}

macro_rules! array {
    ($dtype:ident $($element:expr),*) => {
        Array { dtype: DType::$dtype, bytes: [$($element.to_ne_bytes()),*].as_flattened().to_vec() }
    };
}

fn main() -> Result<(), Box<dyn Error>> {
    let half = |x: f32| f16::from_f32(x);
    let pairs = [
        // Exact in float64, which NumPy takes; too large for float16, which the others keep.
        (array!(Int32 1_i32, -2_i32, 1_000_001_i32), array!(Float16 half(0.5), half(0.25), half(1.0))),
        (array!(Int8 - 1_i8, 100_i8), array!(UInt8 255_u8, 100_u8)),
        (array!(BFloat16 bf16::ONE, bf16::MAX), array!(Float16 half(0.001), half(-2.0))),
    ];
    let expected = [
        ["float64 [1.5, -1.75, 1000002.0]", "float16 [1.5, -1.75, inf]", "float16 [1.5, -1.75, inf]"],
        ["int16 [254, 200]", "int16 [254, 200]", "int16 [254, 200]"],
        [
            "no common dtype for bfloat16 and float16 under NumPy rules (ml_dtypes defines none); cast one operand first",
            "float32 [1.0010004, 3.3895314e+38]",
            "float32 [1.0010004, 3.3895314e+38]",
        ],
    ];
    for ((left, right), expected) in pairs.iter().zip(expected) {
        println!("{} + {}", show(left)?, show(right)?);
        for (standard, expected) in
            [Standard::NumPy, Standard::Torch, Standard::Jax].into_iter().zip(expected)
        {
            let answer = match promoted_add(standard, left, right) {
                Ok(sum) => show(&sum)?,
                Err(refused) => refused.to_string(),
            };
            println!("  {standard:8} {answer}");
            assert_eq!(answer, expected);
        }
    }
    Ok(())
}
