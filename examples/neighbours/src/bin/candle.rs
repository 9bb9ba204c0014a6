//! `Tensor::to_dtype` of candle on the CPU, by lanecast: an operation that reads the tensor where it is, whatever its strides.

use bytemuck::Pod;
use candle_core::{CpuStorage, CustomOp1, DType, Device, Layout, Shape, Tensor};
use lanecast::strided::{self, View};
use lanecast::{BytesMut, CastOptions, CastPlan};
use lanecast_neighbours::{compare, head, numbers};

/// A cast to a dtype.
struct Cast(DType);

/// What lanecast calls a dtype.
fn dtype(of: DType) -> candle_core::Result<lanecast::DType> {
    Ok(match of {
        DType::U8 => lanecast::DType::UInt8,
        DType::U32 => lanecast::DType::UInt32,
        DType::I16 => lanecast::DType::Int16,
        DType::I32 => lanecast::DType::Int32,
        DType::I64 => lanecast::DType::Int64,
        DType::BF16 => lanecast::DType::BFloat16,
        DType::F16 => lanecast::DType::Float16,
        DType::F32 => lanecast::DType::Float32,
        DType::F64 => lanecast::DType::Float64,
        DType::F8E4M3 => lanecast::DType::Float8E4M3FN,
        other => candle_core::bail!("no cast of {other:?}"),
    })
}

/// The elements of a storage as bytes.
fn bytes(storage: &CpuStorage) -> candle_core::Result<&[u8]> {
    Ok(match storage {
        CpuStorage::U8(elements) => elements,
        CpuStorage::U32(elements) => bytemuck::cast_slice(elements),
        CpuStorage::I16(elements) => bytemuck::cast_slice(elements),
        CpuStorage::I32(elements) => bytemuck::cast_slice(elements),
        CpuStorage::I64(elements) => bytemuck::cast_slice(elements),
        CpuStorage::BF16(elements) => bytemuck::cast_slice(elements),
        CpuStorage::F16(elements) => bytemuck::cast_slice(elements),
        CpuStorage::F32(elements) => bytemuck::cast_slice(elements),
        CpuStorage::F64(elements) => bytemuck::cast_slice(elements),
        CpuStorage::F8E4M3(elements) => bytemuck::cast_slice(elements),
        other => candle_core::bail!("no cast of {other:?}"),
    })
}

/// The elements of a layout, cast into a vector in C order.
fn cast<T: Pod>(
    storage: &CpuStorage,
    layout: &Layout,
    from: DType,
    to: DType,
) -> candle_core::Result<Vec<T>> {
    let (from, to) = (dtype(from)?, dtype(to)?);
    let plan = CastPlan::new(from, to, &CastOptions::RUST).map_err(candle_core::Error::wrap)?;
    let n = layout.shape().elem_count();
    let strides: Vec<isize> = layout.stride().iter().map(|stride| (stride * from.size()) as isize).collect();
    let place = strided::Layout::new(from, layout.dims(), &strides).map_err(candle_core::Error::wrap)?;
    let place = place.with_offset(layout.start_offset() * from.size());
    let src = View::new(bytes(storage)?, place).map_err(candle_core::Error::wrap)?;
    // For large vectors the system has memory that is zeroed already.
    let mut result = bytemuck::zeroed_vec::<T>(n);
    let dst = BytesMut::new(bytemuck::cast_slice_mut(&mut result), n);
    plan.run(&src, dst).map_err(candle_core::Error::wrap)?;
    Ok(result)
}

impl CustomOp1 for Cast {
    fn name(&self) -> &'static str {
        "lanecast"
    }

    fn cpu_fwd(&self, storage: &CpuStorage, layout: &Layout) -> candle_core::Result<(CpuStorage, Shape)> {
        use candle_core::backend::BackendStorage;
        let from = storage.dtype();
        macro_rules! to {
            ($($dtype:ident)*) => {
                match self.0 {
                    $(DType::$dtype => CpuStorage::$dtype(cast(storage, layout, from, self.0)?),)*
                    other => candle_core::bail!("no cast to {other:?}"),
                }
            };
        }
        let result = to! { U8 U32 I16 I32 I64 BF16 F16 F32 F64 F8E4M3 };
        Ok((result, layout.shape().clone()))
    }
}

/// The bits of the elements in C order.
fn bits(tensor: &Tensor) -> candle_core::Result<Vec<u8>> {
    let (storage, layout) = tensor.storage_and_layout();
    match &*storage {
        candle_core::Storage::Cpu(storage) if layout.is_contiguous() => Ok(bytes(storage)?.to_vec()),
        _ => candle_core::bail!("a result is contiguous and of the CPU"),
    }
}

fn main() -> candle_core::Result<()> {
    let n = 1 << 20;
    let weights: Vec<f32> = numbers(n).map(|x| x as f32).collect();
    let weights = Tensor::from_vec(weights, (1024, 1024), &Device::Cpu)?;
    let doubles = Tensor::from_vec(numbers(n).collect(), (1024, 1024), &Device::Cpu)?;
    let bytes =
        Tensor::from_vec(numbers(n).map(|x| (x * 128.0) as u8).collect(), (1024, 1024), &Device::Cpu)?;
    let (bf16, f16) = (weights.to_dtype(DType::BF16)?, weights.to_dtype(DType::F16)?);
    let f8 = weights.to_dtype(DType::F8E4M3)?;
    let (transposed, column) = (weights.t()?, weights.narrow(1, 3, 1)?.broadcast_as((1024, 1024))?);
    head("candle");
    for (name, tensor, to) in [
        ("float32 to bfloat16", &weights, DType::BF16),
        ("bfloat16 to float32", &bf16, DType::F32),
        ("float32 to float16", &weights, DType::F16),
        ("float16 to float32", &f16, DType::F32),
        ("float32 to float8_e4m3fn", &weights, DType::F8E4M3),
        ("float8_e4m3fn to float32", &f8, DType::F32),
        ("float64 to float32", &doubles, DType::F32),
        ("uint8 to float32", &bytes, DType::F32),
        ("float32 to bfloat16, transposed", &transposed, DType::BF16),
        ("float32 to bfloat16, a column repeated", &column, DType::BF16),
    ] {
        let ours = || tensor.apply_op1_no_bwd(&Cast(to)).expect("a cast");
        for part in [tensor.clone(), tensor.narrow(0, 1, 7)?, tensor.narrow(1, 5, 9)?] {
            let (ours, theirs) = (part.apply_op1_no_bwd(&Cast(to))?, part.to_dtype(to)?);
            assert_eq!((ours.dtype(), ours.dims()), (theirs.dtype(), theirs.dims()));
            assert!(bits(&ours)? == bits(&theirs)?, "{name}: candle has another answer");
        }
        compare(name, ours, || tensor.to_dtype(to));
    }
    Ok(())
}
