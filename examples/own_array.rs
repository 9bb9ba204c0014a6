//! Gives an array type of one's own all casts: any dtype, any layout, one thread or many.
//!
//! `cargo run --release --example own_array`
//!
//! The array is what array libraries have: shared bytes and, for its elements, what they are, a shape, strides in bytes and an
//! offset. Slicing and transposing change the latter only. What lanecast needs to know of it is the three lines of `view`.

use lanecast::bulk::Threads;
use lanecast::strided::{Layout, View, ViewMut};
use lanecast::{ByteOrder, CastError, CastOptions, CastPlan, DType, Element, Encoding};
use std::error::Error;
use std::sync::Arc;

#[derive(Clone)]
struct Array {
    bytes: Arc<[u8]>,
    of: Encoding,
    shape: Vec<usize>,
    /// Bytes from an element to the next along each axis.
    strides: Vec<isize>,
    /// Bytes before the first element.
    offset: usize,
}

impl Array {
    /// A new array in C order, written by `fill`.
    fn new(
        of: Encoding,
        shape: &[usize],
        fill: impl FnOnce(&mut ViewMut<'_>) -> Result<(), CastError>,
    ) -> Result<Array, CastError> {
        let layout = Layout::contiguous(of, shape)?;
        let elements = layout.elements();
        let len = of.byte_len(elements).ok_or(CastError::TooLarge { elements, encoding: of })?;
        let mut bytes = vec![0; len];
        fill(&mut ViewMut::new(&mut bytes, layout)?)?;
        Ok(Array {
            bytes: bytes.into(),
            of,
            shape: shape.into(),
            strides: layout.strides().into(),
            offset: 0,
        })
    }

    fn from_slice<T: Element>(elements: &[T], shape: &[usize]) -> Result<Array, CastError> {
        let src = View::from_slice(elements, shape)?;
        // A dtype to itself is a copy of the bits.
        let copy = CastPlan::new(T::DTYPE, T::DTYPE, &CastOptions::RUST)?;
        Array::new(T::DTYPE.into(), shape, |dst| copy.run(&src, dst))
    }

    /// What lanecast sees: whatever is wrong with the shape, strides and offset is found here.
    fn view(&self) -> Result<View<'_>, CastError> {
        let layout = Layout::new(self.of, &self.shape, &self.strides)?.with_offset(self.offset);
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
    fn astype(&self, to: impl Into<Encoding>, threads: Threads<'_>) -> Result<Array, CastError> {
        let to = to.into();
        // A library would keep the plan of a pair, a few words, and run it whenever the pair comes again.
        let plan = CastPlan::new(self.of, to, &CastOptions::NUMPY)?;
        let src = self.view()?;
        // On one thread this is `run_strided`, and so it is for arrays that are too small to be shared.
        Array::new(to, &self.shape, |dst| plan.with_threads(threads).run(&src, dst))
    }

    /// The elements in C order.
    fn to_vec<T: Element + Default>(&self) -> Result<Vec<T>, CastError> {
        let mut out = vec![T::default(); self.shape.iter().product()];
        let plan = CastPlan::new(self.of, T::DTYPE, &CastOptions::NUMPY)?;
        plan.run(&self.view()?, &mut ViewMut::from_slice(&mut out, &self.shape)?)?;
        Ok(out)
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let table = Array::from_slice(&[0.5_f32, 1.5, 2.5, 3.5, 4.5, 500.5], &[2, 3])?;

    // The columns, the last one first.
    let columns = table.transposed().every(0, 2, -1);
    let halves = columns.astype(DType::Float16, Threads::Serial)?;
    let values: Vec<f64> = halves.to_vec()?;
    println!("{} {:?}: {values:?}", halves.of, halves.shape);
    assert_eq!((&halves.shape[..], &values[..]), (&[3, 2][..], &[2.5, 500.5, 1.5, 4.5, 0.5, 3.5][..]));

    // Every other column, with 4-bit floats packed two to a byte: what fits no more becomes the largest value.
    let packed = table.every(1, 0, 2).astype(Encoding::packed(DType::Float4E2M1FN), Threads::Serial)?;
    let values: Vec<f32> = packed.to_vec()?;
    println!("{} {:?}: {values:?} in {} bytes", packed.of, packed.shape, packed.bytes.len());
    assert_eq!((&packed.bytes[..], &values[..]), (&[0x41, 0x76][..], &[0.5, 2.0, 4.0, 6.0][..]));

    // For a file of the other byte order.
    let big = table.astype(Encoding::from(DType::Int16).with_order(ByteOrder::Big), Threads::Serial)?;
    println!("{} {:?}: {:?}", big.of, big.shape, big.bytes);
    assert_eq!(big.bytes[..], [0, 0, 0, 1, 0, 2, 0, 3, 0, 4, 1, 0xF4]);

    // A large one, turned over all threads: the same bytes as on one.
    let (rows, width) = (3000, 1000);
    let weights: Vec<f32> = (0..rows * width).map(|i| (i % 997) as f32 / 500.0 - 1.0).collect();
    let turned = Array::from_slice(&weights, &[rows, width])?.transposed();
    let many = turned.astype(DType::BFloat16, Threads::Rayon)?;
    assert_eq!(many.bytes, turned.astype(DType::BFloat16, Threads::Serial)?.bytes);
    println!("{} {:?}: the same on one thread and on all", many.of, many.shape);

    // What makes no sense is an error, never a panic or a stray read.
    let astray = Array { offset: 8, ..table };
    let error = astray.astype(DType::Float64, Threads::Rayon).err().ok_or("an array out of its bytes")?;
    println!("{error}");
    assert_eq!(error.to_string(), "the elements lie in the bytes 8..32 of a buffer of 24 bytes");
    Ok(())
}
