//! Gives an array type of one's own all casts: any dtype, any layout, one thread or many.
//!
//! `cargo run --release --example own_array`
//!
//! The array is like those of array libraries: shared bytes, and the encoding, shape, strides in bytes and offset of its elements.
//! Slicing and transposing only change shape, strides and offset. lanecast learns all of them from the two lines of `view`.

use lanecast::strided::{Layout, View};
use lanecast::{
    ByteOrder, BytesMut, CastError, CastOptions, CastPlan, DType, Element, Encoding, Source, Threads,
};
use std::error::Error;
use std::sync::Arc;

#[derive(Clone)]
struct Array {
    bytes: Arc<[u8]>,
    encoding: Encoding,
    shape: Vec<usize>,
    /// Bytes from an element to the next along each axis.
    strides: Vec<isize>,
    /// Bytes before the first element.
    offset: usize,
}

impl Array {
    /// A new array in C order with the results of a plan.
    fn new<'a>(plan: &CastPlan, src: impl Into<Source<'a>>, shape: &[usize]) -> Result<Array, CastError> {
        let (encoding, layout) = (plan.target(), Layout::contiguous(plan.target(), shape)?);
        let elements = layout.elements();
        let mut bytes =
            vec![0; encoding.byte_len(elements).ok_or(CastError::TooLarge { elements, encoding })?];
        plan.run(src, BytesMut::new(&mut bytes, elements))?;
        let (shape, strides) = (shape.into(), layout.strides().into());
        Ok(Array { bytes: bytes.into(), encoding, shape, strides, offset: 0 })
    }

    fn from_slice<T: Element>(elements: &[T], shape: &[usize]) -> Result<Array, CastError> {
        // A cast from a dtype to itself copies the bits.
        Array::new(&CastPlan::of::<T, T>(&CastOptions::RUST), elements, shape)
    }

    /// The array as an operand: the errors of a wrong shape, stride or offset are returned here.
    fn view(&self) -> Result<View<'_>, CastError> {
        let layout = Layout::new(self.encoding, &self.shape, &self.strides)?.with_offset(self.offset);
        Ok(View::new(&self.bytes, layout)?)
    }

    fn transposed(&self) -> Array {
        let mut to = self.clone();
        to.shape.reverse();
        to.strides.reverse();
        to
    }

    /// Every `step`th element of an axis, from the element `first` on; a negative step goes backwards.
    fn every(&self, axis: usize, first: usize, step: isize) -> Array {
        let mut to = self.clone();
        let left = if step < 0 { first + 1 } else { self.shape[axis] - first };
        to.shape[axis] = left.div_ceil(step.unsigned_abs());
        to.strides[axis] *= step;
        to.offset = to.offset.wrapping_add_signed(first as isize * self.strides[axis]);
        to
    }

    /// A new array of the same shape with other elements: of another dtype, in other storage or in the other byte order.
    fn astype(&self, to: impl Into<Encoding>, threads: Threads) -> Result<Array, CastError> {
        // A library would keep the plan of a pair, about a hundred bytes, and run it whenever the pair comes again.
        let plan = CastPlan::new(self.encoding, to, &CastOptions::NUMPY)?.with_threads(threads);
        Array::new(&plan, &self.view()?, &self.shape)
    }

    /// The elements in C order.
    fn to_vec<T: Element>(&self) -> Result<Vec<T>, CastError> {
        CastPlan::new(self.encoding, T::DTYPE, &CastOptions::NUMPY)?.run_to_vec(&self.view()?)
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let table = Array::from_slice(&[0.5_f32, 1.5, 2.5, 3.5, 4.5, 500.5], &[2, 3])?;

    // The columns, the last one first.
    let columns = table.transposed().every(0, 2, -1);
    let halves = columns.astype(DType::Float16, Threads::Serial)?;
    let values: Vec<f64> = halves.to_vec()?;
    println!("{} {:?}: {values:?}", halves.encoding, halves.shape);
    assert_eq!((&halves.shape[..], &values[..]), (&[3, 2][..], &[2.5, 500.5, 1.5, 4.5, 0.5, 3.5][..]));

    // Every other column as 4-bit floats, packed two to a byte: values that are too large become the largest one.
    let packed = table.every(1, 0, 2).astype(Encoding::packed(DType::Float4E2M1FN), Threads::Serial)?;
    let values: Vec<f32> = packed.to_vec()?;
    println!("{} {:?}: {values:?} in {} bytes", packed.encoding, packed.shape, packed.bytes.len());
    assert_eq!((&packed.bytes[..], &values[..]), (&[0x41, 0x76][..], &[0.5, 2.0, 4.0, 6.0][..]));

    // Big-endian, for instance for a file.
    let big = table.astype(Encoding::from(DType::Int16).with_order(ByteOrder::Big), Threads::Serial)?;
    println!("{} {:?}: {:?}", big.encoding, big.shape, big.bytes);
    assert_eq!(big.bytes[..], [0, 0, 0, 1, 0, 2, 0, 3, 0, 4, 1, 0xF4]);

    // A large array, transposed by all threads: the bytes are the same as on one thread.
    let (rows, width) = (3000, 1000);
    let weights: Vec<f32> = (0..rows * width).map(|i| (i % 997) as f32 / 500.0 - 1.0).collect();
    let transposed = Array::from_slice(&weights, &[rows, width])?.transposed();
    let many = transposed.astype(DType::BFloat16, Threads::Rayon)?;
    assert_eq!(many.bytes, transposed.astype(DType::BFloat16, Threads::Serial)?.bytes);
    println!("{} {:?}: the same on one thread and on all", many.encoding, many.shape);

    // An array outside its memory is an error, never a panic or a stray read.
    let astray = Array { offset: 8, ..table };
    let error = astray.astype(DType::Float64, Threads::Rayon).err().ok_or("an array out of its bytes")?;
    println!("{error}");
    assert_eq!(error.to_string(), "the elements lie in the bytes 8..32 of a buffer of 24 bytes");
    Ok(())
}
