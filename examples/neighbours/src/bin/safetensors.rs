//! Casts a safetensors file to another dtype: each tensor as it is written, from the bytes of the file in place.
//!
//! The crate has no casts. Programs that use it cast slices of `half`, whose memory has to be aligned.

use bytemuck::Pod;
use half::slice::HalfFloatSliceExt;
use half::{bf16, f16};
use lanecast::names::Namespace;
use lanecast::{ByteOrder, Bytes, BytesMut, CastError, CastOptions, CastPlan, Encoding};
use lanecast_neighbours::{compare, head, numbers};
use safetensors::tensor::{Dtype, SafeTensors, TensorView, View, serialize};
use std::borrow::Cow;
use std::error::Error;

/// The encoding of a tensor of a file: packed elements, the lowest byte of each first.
fn encoding(of: Dtype) -> Result<Encoding, Box<dyn Error>> {
    let dtype = Namespace::Safetensors.parse(&of.to_string())?;
    Ok(Encoding::packed(dtype).with_order(ByteOrder::Little))
}

/// A tensor that becomes another dtype when it is written.
struct Cast<'a> {
    tensor: TensorView<'a>,
    to: Dtype,
    plan: CastPlan,
}

impl<'a> Cast<'a> {
    fn new(tensor: TensorView<'a>, to: Dtype) -> Result<Self, Box<dyn Error>> {
        let plan = CastPlan::new(encoding(tensor.dtype())?, encoding(to)?, &CastOptions::RUST)?;
        Ok(Cast { tensor, to, plan })
    }

    fn elements(&self) -> usize {
        self.tensor.shape().iter().product()
    }

    fn run(&self, result: &mut [u8]) -> Result<(), CastError> {
        let n = self.elements();
        self.plan.run(Bytes::new(self.tensor.data(), n), BytesMut::new(result, n))
    }
}

impl View for Cast<'_> {
    fn dtype(&self) -> Dtype {
        self.to
    }

    fn shape(&self) -> &[usize] {
        self.tensor.shape()
    }

    fn data(&self) -> Cow<'_, [u8]> {
        let mut result = vec![0; self.data_len()];
        self.run(&mut result).expect("both sides have as many bytes as their shapes say");
        Cow::Owned(result)
    }

    fn data_len(&self) -> usize {
        self.plan
            .target()
            .byte_len(self.elements())
            .expect("less than the source, which is there, or twice as much")
    }
}

/// A file with all float tensors cast, and the others as they are.
fn convert(file: &[u8], to: Dtype) -> Result<Vec<u8>, Box<dyn Error>> {
    let mut tensors = Vec::new();
    for (name, tensor) in SafeTensors::deserialize(file)?.iter() {
        let float = tensor.dtype().to_string().contains('F');
        let to = if float { to } else { tensor.dtype() };
        tensors.push((name.to_string(), Cast::new(tensor, to)?));
    }
    Ok(serialize(tensors, None)?)
}

/// The only tensor of a file.
fn only(file: &[u8]) -> Result<TensorView<'_>, Box<dyn Error>> {
    Ok(SafeTensors::deserialize(file)?.tensor("weights")?)
}

/// Compares a tensor cast by its plan with what `half` makes of the elements, and the times of both.
fn beside_half<S: Pod, D: Pod>(
    name: &str,
    file: &[u8],
    to: Dtype,
    half: impl Fn(&[S], &mut [D]),
) -> Result<(), Box<dyn Error>> {
    let cast = Cast::new(only(file)?, to)?;
    let elements: &[S] = bytemuck::try_cast_slice(cast.tensor.data()).map_err(|error| error.to_string())?;
    let mut theirs = vec![D::zeroed(); elements.len()];
    half(elements, &mut theirs);
    assert!(*cast.data() == *bytemuck::cast_slice::<D, u8>(&theirs), "{name}: half has another answer");
    let mut ours = vec![0; cast.data_len()];
    compare(name, || cast.run(&mut ours), || half(elements, &mut theirs));
    Ok(())
}

fn main() -> Result<(), Box<dyn Error>> {
    let n = 1 << 20;
    let weights: Vec<u8> = numbers(n).flat_map(|x| (x as f32).to_le_bytes()).collect();
    let steps = 17_i64.to_le_bytes();
    let views = [
        ("weights", TensorView::new(Dtype::F32, vec![1024, n / 1024], &weights)?),
        ("steps", TensorView::new(Dtype::I64, vec![], &steps)?),
    ];
    let single = serialize(views, None)?;

    // Whole files: tensors that are not floats stay as they are, and every result is read back.
    let small = convert(&single, Dtype::F8_E4M3)?;
    let tensors = SafeTensors::deserialize(&small)?;
    assert_eq!((only(&small)?.dtype(), only(&small)?.shape()), (Dtype::F8_E4M3, &[1024, n / 1024][..]));
    assert_eq!((tensors.tensor("steps")?.dtype(), tensors.tensor("steps")?.data()), (Dtype::I64, &steps[..]));
    let (brain, half) = (convert(&single, Dtype::BF16)?, convert(&single, Dtype::F16)?);
    let again = convert(&convert(&brain, Dtype::F64)?, Dtype::BF16)?;
    assert!(again == brain, "float64 has all numbers of bfloat16");

    head("half");
    beside_half("float32 to bfloat16", &single, Dtype::BF16, |src, dst: &mut [bf16]| {
        dst.convert_from_f32_slice(src)
    })?;
    beside_half("bfloat16 to float32", &brain, Dtype::F32, |src: &[bf16], dst| {
        src.convert_to_f32_slice(dst)
    })?;
    beside_half("float32 to float16", &single, Dtype::F16, |src, dst: &mut [f16]| {
        dst.convert_from_f32_slice(src)
    })?;
    beside_half("float16 to float32", &half, Dtype::F32, |src: &[f16], dst| src.convert_to_f32_slice(dst))?;
    Ok(())
}
