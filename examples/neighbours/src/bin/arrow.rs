//! `arrow_cast::cast` between numbers, by lanecast: nulls stay nulls, and values that an integer target cannot hold become null.

use arrow_array::types::*;
use arrow_array::{Array, ArrayRef, ArrowPrimitiveType, PrimitiveArray, cast::AsArray};
use arrow_buffer::{BooleanBuffer, NullBuffer};
use arrow_schema::DataType;
use lanecast::{CastError, CastOptions, CastPlan, Element, Kind, Level};
use lanecast_neighbours::{compare, head, numbers};
use std::error::Error;
use std::sync::Arc;

/// Casts an array to another type of numbers.
fn cast_array<S, D>(array: &PrimitiveArray<S>) -> Result<PrimitiveArray<D>, CastError>
where
    S: ArrowPrimitiveType<Native: Element>,
    D: ArrowPrimitiveType<Native: Element>,
{
    let to = D::Native::DTYPE;
    let plan = CastPlan::of::<S::Native, D::Native>(&CastOptions::RUST);
    let (values, nulls) = (array.values(), array.nulls().cloned());
    if !matches!(to.kind(), Kind::SignedInt | Kind::UnsignedInt) {
        return Ok(PrimitiveArray::new(plan.run_to_vec(&**values)?.into(), nulls));
    }
    let mut result = vec![D::default_value(); values.len()];
    let mut fits = vec![0; values.len().div_ceil(8)];
    let rejected = plan.checked(Level::Range).run_masked(&**values, &mut result, &mut fits)?;
    if rejected == 0 {
        return Ok(PrimitiveArray::new(result.into(), nulls));
    }
    let fits = NullBuffer::new(BooleanBuffer::new(fits.into(), 0, values.len()));
    Ok(PrimitiveArray::new(result.into(), NullBuffer::union(nulls.as_ref(), Some(&fits))))
}

/// Evaluates an expression in which `$name` is the Arrow type of a numeric `DataType`.
macro_rules! with_type {
    ($of:expr, $name:ident => $result:expr, $($variant:ident $type:ident),*) => {
        match $of {
            $(DataType::$variant => { type $name = $type; $result })*
            other => return Err(format!("{other} is not a type of numbers").into()),
        }
    };
    ($of:expr, $name:ident => $result:expr) => {
        with_type! { $of, $name => $result, Int8 Int8Type, Int16 Int16Type, Int32 Int32Type, Int64 Int64Type, UInt8 UInt8Type,
            UInt16 UInt16Type, UInt32 UInt32Type, UInt64 UInt64Type, Float16 Float16Type, Float32 Float32Type, Float64 Float64Type }
    };
}

/// Casts an array of any type of numbers to any other.
fn cast(array: &dyn Array, to: &DataType) -> Result<ArrayRef, Box<dyn Error>> {
    with_type!(array.data_type(), S => with_type!(to, D => Ok(Arc::new(cast_array::<S, D>(array.as_primitive())?))))
}

/// An array with a null in every tenth place. It is a slice, so it does not begin where its memory does.
fn array<T: ArrowPrimitiveType>(n: usize, value: impl Fn(f64) -> T::Native) -> ArrayRef {
    let all = numbers(n + 3).enumerate().map(|(i, number)| (i % 10 != 7).then(|| value(number)));
    Arc::new(all.collect::<PrimitiveArray<T>>().slice(3, n))
}

fn main() -> Result<(), Box<dyn Error>> {
    let n = 1 << 20;
    let floats = array::<Float32Type>(n, |x| x as f32);
    let halves = cast(&floats, &DataType::Float16)?;
    // A tenth of these is out of the range of int32 and of uint8; NaN is, too.
    let wide = array::<Float64Type>(n, |x| if x.abs() < 1e-3 { f64::NAN } else { x * 2_386_092_942.0 });
    let whole = array::<Int64Type>(n, |x| (x * 2_386_092_942.0) as i64);
    let small = array::<Float32Type>(n, |x| (x.abs() * 283.0) as f32);
    head("arrow-cast");
    for (name, array, to) in [
        ("float32 to float16", &floats, DataType::Float16),
        ("float16 to float32", &halves, DataType::Float32),
        ("float32 to float64", &floats, DataType::Float64),
        ("float64 to float32", &wide, DataType::Float32),
        ("float64 to int32", &wide, DataType::Int32),
        ("float32 to uint8", &small, DataType::UInt8),
        ("int64 to int32", &whole, DataType::Int32),
        ("int64 to float64", &whole, DataType::Float64),
    ] {
        for part in [array.clone(), array.slice(5, 1003), array.slice(0, 0)] {
            let (ours, theirs) = (cast(&part, &to)?, arrow_cast::cast(&part, &to)?);
            assert_eq!(&ours, &theirs, "{name}: arrow has another answer");
            assert_eq!(ours.null_count(), theirs.null_count());
        }
        compare(name, || cast(array, &to).expect("it was cast before"), || arrow_cast::cast(array, &to));
    }
    let rejected = cast(&wide, &DataType::Int32)?.null_count() - wide.null_count();
    assert!(rejected > n / 20, "values out of range become nulls");
    Ok(())
}
