//! `arrow-cast`: the cast of an array into a new one, null where the value does not fit (its default).
//!
//! Arrow's arrays are immutable, so every cast allocates; its answer is copied to the destination only where it is compared.

use crate::PeerCast;
use arrow_array::{Array, make_array};
use arrow_buffer::Buffer;
use arrow_data::ArrayData;
use arrow_schema::DataType;
use lanecast::DType;
use std::hint::black_box;

/// The types that arrow and we lay out alike; its booleans are single bits.
fn data_type(dtype: DType) -> Option<DataType> {
    Some(match dtype {
        DType::Int8 => DataType::Int8,
        DType::Int16 => DataType::Int16,
        DType::Int32 => DataType::Int32,
        DType::Int64 => DataType::Int64,
        DType::UInt8 => DataType::UInt8,
        DType::UInt16 => DataType::UInt16,
        DType::UInt32 => DataType::UInt32,
        DType::UInt64 => DataType::UInt64,
        DType::Float16 => DataType::Float16,
        DType::Float32 => DataType::Float32,
        DType::Float64 => DataType::Float64,
        _ => return None,
    })
}

/// The cast of a pair. The source is copied once: arrow has to own it.
pub fn cast(from: DType, to: DType, src: &[u8]) -> Option<PeerCast<'_>> {
    let (from_type, to_type) = (data_type(from)?, data_type(to)?);
    let data = arrow_data(from_type, src.len() / from.size(), Buffer::from(src))?;
    let array = make_array(data);
    let mut first = true;
    Some(Box::new(move |dst, _| {
        let out = arrow_cast::cast(black_box(&*array), &to_type).expect("arrow casts numbers");
        if first {
            let bytes = out.to_data().buffers()[0].as_slice()[..dst.len()].to_vec();
            dst.copy_from_slice(&bytes);
            first = false;
        }
        black_box(out);
    }))
}

fn arrow_data(data_type: DataType, len: usize, buffer: Buffer) -> Option<ArrayData> {
    ArrayData::builder(data_type).len(len).add_buffer(buffer).build().ok()
}
