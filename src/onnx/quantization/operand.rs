//! Tensors, decoded in chunks to the floats that are divided and multiplied.

use super::layout::Layout;
use crate::{
    error::CastError,
    onnx::{
        cast::known,
        error::OnnxError,
        operator::{Operator, Port},
    },
    options::CastOptions,
    plan::CastPlan,
    tier,
};
use core::{marker::PhantomData, ops::Range};
use lanecast_kernels::{ByteOrder, Bytes, BytesMut, DType, Element, Encoding, Work, run_work};

/// Elements that are decoded at once. A multiple of 8, so that packed elements begin at a byte.
pub(super) const CHUNK: usize = 512;

/// A tensor: its shape, and its elements as in `TensorProto.raw_data`.
///
/// They are little-endian on every host, in C order; elements of less than a byte are packed, the first one in the lowest bits.
#[derive(Clone, Copy, Debug)]
pub struct Tensor<'a> {
    /// The length of every axis; none for a scalar.
    pub shape: &'a [usize],
    /// The elements, at any alignment.
    pub data: &'a [u8],
}

impl<'a> Tensor<'a> {
    /// A tensor of this shape.
    pub const fn new(shape: &'a [usize], data: &'a [u8]) -> Self {
        Self { shape, data }
    }

    /// A tensor of one element and no axes.
    pub const fn scalar(data: &'a [u8]) -> Self {
        Self { shape: &[], data }
    }
}

/// The form of a dtype in `TensorProto.raw_data`.
pub(super) const fn raw(dtype: DType) -> Encoding {
    Encoding::packed(dtype).with_order(ByteOrder::Little)
}

/// The dtype with a number of `TensorProto.DataType`, which a node has on this port.
pub(super) fn dtype_of(operator: Operator, version: u32, port: Port, code: i32) -> Result<DType, OnnxError> {
    let element = known(code)?;
    element.dtype().ok_or(OnnxError::Type { operator, version, port, element, since: None })
}

/// Checks that a buffer has exactly the bytes of `n` elements.
pub(super) fn check_len(which: &'static str, of: Encoding, n: usize, have: usize) -> Result<(), OnnxError> {
    let need = of.byte_len(n).ok_or(CastError::TooLarge { elements: n, encoding: of })?;
    if need == have { Ok(()) } else { Err(OnnxError::Length { which, need, have }) }
}

/// Checks the zero points of a tensor whose scales have the shape `scale`, before anything is written.
pub(super) fn check_zero_point(
    zero_point: Option<Tensor<'_>>,
    load: Option<&Load>,
    scale: &[usize],
    layout: &Layout,
) -> Result<(), OnnxError> {
    let (tensor, load) = match (zero_point, load) {
        (Some(tensor), Some(load)) => (tensor, load),
        (None, None) => return Ok(()),
        (_, load) => return Err(OnnxError::ZeroPoint { expected: load.is_some() }),
    };
    let single = |shape: &[usize]| shape.iter().all(|len| *len == 1);
    if tensor.shape != scale && !(layout.is_one() && single(tensor.shape)) {
        let rule = "that of the scale";
        return Err(OnnxError::Shape {
            which: "zero point",
            have: tensor.shape.into(),
            want: scale.into(),
            rule,
        });
    }
    check_len("zero point", load.source(), layout.scales, tensor.data.len())
}

/// The floats of a chunk, at an address where no vector lies in two lines of the cache.
#[repr(align(64))]
pub(super) struct Floats<R>(pub(super) [R; CHUNK]);

/// The floats that are calculated with.
pub(super) trait Real: Element {
    const ZERO: Self;

    /// Divides. A NaN of `x` stays what it is, and any other is positive, as hardware differs here.
    fn divide(x: &mut [Self], scales: &[Self]);
    /// Multiplies, with NaNs as in `divide`.
    fn multiply(x: &mut [Self], scales: &[Self]);
    /// Rounds to the nearest integers, ties to even, NaN to 0, and adds the zero points. What is far out of the range of 16 bits
    /// stays out of it.
    fn round_and_add(x: &mut [Self], zero_points: &[Self]);
    /// [`divide`](Self::divide) and [`round_and_add`](Self::round_and_add) in one loop.
    fn divide_round_add(x: &mut [Self], scales: &[Self], zero_points: &[Self]);
    /// Adds. A NaN of `x` stays what it is.
    fn add(x: &mut [Self], zero_points: &[Self]);
    /// Subtracts from numbers.
    fn subtract(x: &mut [Self], zero_points: &[Self]);
    fn first_not_zero(x: &[Self]) -> Option<usize>;
}

/// A loop over elements and as many operands, compiled for the tiers.
macro_rules! work {
    ($name:ident: $real:ident, |$x:ident, $operand:ident| $result:expr) => {
        struct $name;

        impl Work for $name {
            type Source = [$real];
            type Destination = [$real];
            type Output = ();

            #[inline(always)]
            fn run(operands: &[$real], elements: &mut [$real]) {
                for (element, operand) in elements.iter_mut().zip(operands) {
                    let ($x, $operand) = (*element, *operand);
                    *element = $result;
                }
            }
        }
    };
}

macro_rules! real {
    ($real:ident) => {
        const _: () = {
            /// The nearest integer, but not farther from 0 than zero points of 16 bits can make up for; 0 for NaN.
            #[inline(always)]
            fn nearest(x: $real) -> $real {
                const FAR: $real = (1 << 20) as $real;
                // Where the unit in the last place is 1, an addition rounds to integers.
                const UNIT: $real = 1.5 / $real::EPSILON;
                let number = if x.is_nan() { 0.0 } else { x.clamp(-FAR, FAR) };
                number + UNIT - UNIT
            }

            work!(Divide: $real, |x, scale| {
                let quotient = x / scale;
                let result = if quotient.is_nan() { $real::NAN } else { quotient };
                if x.is_nan() { x } else { result }
            });
            work!(Multiply: $real, |x, scale| {
                let product = x * scale;
                let result = if product.is_nan() { $real::NAN } else { product };
                if x.is_nan() { x } else { result }
            });
    work!(RoundAndAdd: $real, |x, zero_point| nearest(x) + zero_point);
    work!(Add: $real, |x, zero_point| if x.is_nan() { x } else { x + zero_point });
    work!(Subtract: $real, |x, zero_point| x - zero_point);

            /// The element and its scale and zero point.
            struct DivideRoundAdd<'a>(PhantomData<&'a $real>);

            impl<'a> Work for DivideRoundAdd<'a> {
                type Source = (&'a [$real], &'a [$real]);
                type Destination = [$real];
                type Output = ();

                #[inline(always)]
                fn run((scales, zero_points): &Self::Source, x: &mut [$real]) {
                    for ((x, scale), zero_point) in x.iter_mut().zip(*scales).zip(*zero_points) {
                        *x = nearest(*x / *scale) + *zero_point;
                    }
                }
            }

            impl Real for $real {
                const ZERO: Self = 0.0;

                fn divide(x: &mut [Self], scales: &[Self]) {
                    run_work::<Divide>(tier::token(), scales, x);
                }

                fn multiply(x: &mut [Self], scales: &[Self]) {
                    run_work::<Multiply>(tier::token(), scales, x);
                }

                fn round_and_add(x: &mut [Self], zero_points: &[Self]) {
                    run_work::<RoundAndAdd>(tier::token(), zero_points, x);
                }

                fn divide_round_add(x: &mut [Self], scales: &[Self], zero_points: &[Self]) {
                    run_work::<DivideRoundAdd>(tier::token(), &(scales, zero_points), x);
                }

                fn add(x: &mut [Self], zero_points: &[Self]) {
                    run_work::<Add>(tier::token(), zero_points, x);
                }

                fn subtract(x: &mut [Self], zero_points: &[Self]) {
                    run_work::<Subtract>(tier::token(), zero_points, x);
                }

                fn first_not_zero(x: &[Self]) -> Option<usize> {
                    x.iter().position(|x| *x != 0.0)
                }
            }
        };
    };
}
real!(f32);
real!(f64);

/// How the elements of a tensor become floats.
#[derive(Clone, Debug)]
pub(super) enum Load {
    Direct(CastPlan),
    /// Rounded to a narrow float on the way.
    Rounded(CastPlan, CastPlan),
}

impl Load {
    /// Elements of a dtype, rounded to `precision`, as floats of the dtype `real`, which has all values of `precision`.
    pub(super) fn new(dtype: DType, precision: DType, real: DType) -> Result<Self, CastError> {
        let options = &CastOptions::RUST;
        Ok(if precision == real || precision == dtype {
            Self::Direct(CastPlan::new(raw(dtype), real, options)?)
        } else {
            let rounded = CastPlan::new(raw(dtype), precision, options)?;
            Self::Rounded(rounded, CastPlan::new(precision, real, options)?)
        })
    }

    pub(super) fn source(&self) -> Encoding {
        match self {
            Self::Direct(plan) | Self::Rounded(plan, _) => plan.source(),
        }
    }

    /// Decodes a range of at most [`CHUNK`] elements that begins at a byte.
    pub(super) fn run<R: Real>(
        &self,
        data: &[u8],
        range: Range<usize>,
        out: &mut [R],
    ) -> Result<(), CastError> {
        let first = range.start * self.source().bits_per_element() as usize / 8;
        let (data, out) = (Bytes::new(&data[first..], range.len()), &mut out[..range.len()]);
        match self {
            Self::Direct(plan) => plan.run(data, out),
            Self::Rounded(to, from) => {
                let mut rounded = [0; 2 * CHUNK];
                to.run(data, BytesMut::new(&mut rounded, out.len()))?;
                from.run(Bytes::new(&rounded, out.len()), out)
            }
        }
    }

    /// The index of the first of `n` elements that is not zero.
    pub(super) fn first_not_zero<R: Real>(&self, data: &[u8], n: usize) -> Result<Option<usize>, CastError> {
        let mut out = [R::ZERO; CHUNK];
        for range in chunks(n) {
            self.run(data, range.clone(), &mut out)?;
            if let Some(index) = R::first_not_zero(&out[..range.len()]) {
                return Ok(Some(range.start + index));
            }
        }
        Ok(None)
    }
}

/// Ranges of [`CHUNK`] elements, and of fewer at the end.
pub(super) fn chunks(n: usize) -> impl Iterator<Item = Range<usize>> {
    (0..n).step_by(CHUNK).map(move |start| start..n.min(start.saturating_add(CHUNK)))
}

/// The scales or the zero points of a tensor. Some of them are decoded.
pub(super) struct Window<'a, R> {
    load: &'a Load,
    data: &'a [u8],
    total: usize,
    decoded: Range<usize>,
    values: [R; CHUNK],
}

impl<'a, R: Real> Window<'a, R> {
    pub(super) fn new(load: &'a Load, data: &'a [u8], total: usize) -> Self {
        Self { load, data, total, decoded: 0..0, values: [R::ZERO; CHUNK] }
    }

    /// The values from an index on, at least one and at most `len`.
    pub(super) fn at(&mut self, index: usize, len: usize) -> Result<&[R], CastError> {
        if !self.decoded.contains(&index) {
            // At a byte, whatever the width of the elements is.
            let start = index & !7;
            self.decoded = start..self.total.min(start.saturating_add(CHUNK));
            self.load.run(self.data, self.decoded.clone(), &mut self.values)?;
        }
        let end = self.decoded.end.min(index.saturating_add(len));
        Ok(&self.values[index - self.decoded.start..end - self.decoded.start])
    }

    /// Writes the value of each element of a range.
    pub(super) fn spread(
        &mut self,
        layout: &Layout,
        range: Range<usize>,
        out: &mut [R],
    ) -> Result<(), CastError> {
        let mut done = 0;
        for run in layout.runs(range) {
            let (mut scale, end) = (run.scale, done + run.len);
            if !run.each {
                out[done..end].fill(self.at(scale, 1)?[0]);
                done = end;
            }
            while done < end {
                let values = self.at(scale, end - done)?;
                out[done..done + values.len()].copy_from_slice(values);
                (scale, done) = (scale + values.len(), done + values.len());
            }
        }
        Ok(())
    }
}
