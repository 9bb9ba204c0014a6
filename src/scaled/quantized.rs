//! [`Quantized`]: codes with their scales.

use super::{
    error::{ScaledError, check_len},
    resolved::Resolved,
};
use alloc::{vec, vec::Vec};
use lanecast_kernels::{DType, Element, Encoding, OneSource, OneTarget, Source, Target, Uninit};

/// A tensor as a [`ScaledPlan`](super::ScaledPlan) stores it: codes, scales, and what the scheme has beside them.
///
/// [`ScaledPlan::alloc`](super::ScaledPlan::alloc) makes one that owns its bytes; [`new`](Self::new) takes buffers of the caller, which are
/// read as a [`Buffer`] and written as a [`BufferMut`]: typed slices, bytes, or uninitialised memory.
///
/// ```
/// use lanecast::scaled::{Quantized, ScaledPlan, Scheme};
/// use lanecast::{DType, F8E4M3FN};
/// let plan = ScaledPlan::new(DType::Float32, &Scheme::FP8_ROW, &[2, 3])?;
/// let (mut codes, mut scales) = ([F8E4M3FN::default(); 6], [0.0_f32; 2]);
/// plan.quantize(&[1.0_f32, 2.0, -448.0, 0.5, 0.25, 0.125], &mut Quantized::new(&mut codes, &mut scales))?;
/// assert_eq!((codes[2].to_f32(), scales), (-448.0, [1.0, 0.5 / 448.0]));
/// # Ok::<(), lanecast::scaled::ScaledError>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Quantized<D = Vec<u8>, S = D> {
    /// The codes, in the [encoding](super::ScaledPlan::data_encoding) of the plan.
    pub data: D,
    /// The scales, one for each block in C order, in [their encoding](super::ScaledPlan::scale_encoding).
    pub scales: S,
    /// The zero points, one for each scale and stored as the codes are, if the scheme [has them](super::Scheme::has_zero_points).
    pub zero_points: Option<D>,
    /// The scale of the tensor, if the scheme has one.
    pub global: Option<f32>,
}

impl<D, S> Quantized<D, S> {
    /// Codes and scales, without zero points and a scale of the tensor.
    pub const fn new(data: D, scales: S) -> Self {
        Self { data, scales, zero_points: None, global: None }
    }

    /// The same with zero points.
    #[must_use]
    pub fn with_zero_points(self, zero_points: D) -> Self {
        Self { zero_points: Some(zero_points), ..self }
    }

    /// The same with the scale of the tensor.
    #[must_use]
    pub fn with_global(self, global: f32) -> Self {
        Self { global: Some(global), ..self }
    }
}

/// Memory that holds codes, zero points or scales: elements of their dtype if that has whole bytes, or `u8`, which is bytes.
pub trait Buffer {
    /// The memory as an operand.
    fn source(&self) -> Source<'_>;
}

/// A [`Buffer`] that is written. [`Uninit`] memory is filled with zeros first.
pub trait BufferMut {
    /// The memory as an operand.
    fn target(&mut self) -> Target<'_>;
}

macro_rules! buffers {
    ($([$($generic:tt)*] $memory:ty),*) => {$(
        impl<$($generic)*> Buffer for $memory {
            fn source(&self) -> Source<'_> {
                self.into()
            }
        }

        impl<$($generic)*> BufferMut for $memory {
            fn target(&mut self) -> Target<'_> {
                self.into()
            }
        }
    )*};
}
buffers!([T: Element] [T], [T: Element, const N: usize] [T; N], [T: Element] Vec<T>);

impl<T: Element> BufferMut for Uninit<'_, T> {
    fn target(&mut self) -> Target<'_> {
        self.into()
    }
}

impl<B: Buffer + ?Sized> Buffer for &B {
    fn source(&self) -> Source<'_> {
        (**self).source()
    }
}

impl<B: Buffer + ?Sized> Buffer for &mut B {
    fn source(&self) -> Source<'_> {
        (**self).source()
    }
}

impl<B: BufferMut + ?Sized> BufferMut for &mut B {
    fn target(&mut self) -> Target<'_> {
        (**self).target()
    }
}

/// The bytes of a quantized tensor.
#[derive(Clone, Copy)]
pub(super) struct Parts<'a> {
    pub(super) data: &'a [u8],
    pub(super) scales: &'a [u8],
    /// Empty if the scheme has none.
    pub(super) zeros: &'a [u8],
    /// 1 if the scheme has none.
    pub(super) global: f32,
}

/// The bytes of a quantized tensor, to be written.
pub(super) struct PartsMut<'a> {
    pub(super) data: &'a mut [u8],
    pub(super) scales: &'a mut [u8],
    /// Empty if the scheme has none.
    pub(super) zeros: &'a mut [u8],
}

/// What a buffer is read or written as: `u8` is bytes, whatever they are.
fn held(slice: Option<Encoding>, of: Encoding) -> Encoding {
    let bytes = Encoding::new(DType::UInt8);
    if slice == Some(bytes) { bytes } else { of }
}

fn read<'a>(
    which: &'static str,
    from: Source<'a>,
    of: Encoding,
    len: usize,
) -> Result<&'a [u8], ScaledError> {
    match from.one(held(from.encoding(), of))? {
        OneSource::Bytes(bytes) => check_len(which, len, bytes.len()).map(|()| bytes),
        OneSource::View(_) => Err(ScaledError::Strided { which }),
    }
}

fn written<'a>(
    which: &'static str,
    to: Target<'a>,
    of: Encoding,
    len: usize,
) -> Result<&'a mut [u8], ScaledError> {
    let held = held(to.encoding(), of);
    match to.one(held)? {
        OneTarget::Bytes(memory) => check_len(which, len, memory.len()).map(|()| memory.bytes()),
        OneTarget::View(_) => Err(ScaledError::Strided { which }),
    }
}

impl Resolved {
    /// New memory for all parts.
    pub(super) fn alloc(&self) -> Quantized {
        let zeros = self.scheme.has_zero_points().then(|| vec![0; self.codes_in(self.scales())]);
        let (data, scales) = (vec![0; self.codes_in(self.elements())], vec![0; self.scales_len()]);
        Quantized { data, scales, zero_points: zeros, global: None }
    }

    /// The bytes of the zero points of a tensor, if the scheme has them and they are there.
    fn zeros<D>(&self, given: Option<D>) -> Result<Option<D>, ScaledError> {
        let why = match (self.scheme.has_zero_points(), given) {
            (true, Some(zeros)) => return Ok(Some(zeros)),
            (false, None) => return Ok(None),
            (true, None) => "the scheme has zero points: give `Quantized::zero_points` memory",
            (false, Some(_)) => "the scheme has no zero points: leave `Quantized::zero_points` None",
        };
        Err(ScaledError::Scheme { why })
    }

    /// The parts of a tensor, to be read.
    pub(super) fn parts<'a, D: Buffer, S: Buffer>(
        &self,
        of: &'a Quantized<D, S>,
    ) -> Result<Parts<'a>, ScaledError> {
        let zeros = match self.zeros(of.zero_points.as_ref())? {
            Some(zeros) => read("zero points", zeros.source(), self.data, self.codes_in(self.scales()))?,
            None => &[],
        };
        Ok(Parts {
            data: read("data", of.data.source(), self.data, self.codes_in(self.elements()))?,
            scales: read("scales", of.scales.source(), self.scale_encoding(), self.scales_len())?,
            zeros,
            global: self.global(of.global)?,
        })
    }

    /// The parts of a tensor, to be written.
    pub(super) fn parts_mut<'a, D: BufferMut, S: BufferMut>(
        &self,
        of: &'a mut Quantized<D, S>,
    ) -> Result<PartsMut<'a>, ScaledError> {
        let zeros = match self.zeros(of.zero_points.as_mut())? {
            Some(zeros) => written("zero points", zeros.target(), self.data, self.codes_in(self.scales()))?,
            None => &mut [],
        };
        Ok(PartsMut {
            data: written("data", of.data.target(), self.data, self.codes_in(self.elements()))?,
            scales: written("scales", of.scales.target(), self.scale_encoding(), self.scales_len())?,
            zeros,
        })
    }

    /// The codes of a tensor, to be written, and its scales, to be read.
    pub(super) fn given<'a, D: BufferMut, S: Buffer>(
        &self,
        of: &'a mut Quantized<D, S>,
    ) -> Result<(&'a mut [u8], Parts<'a>), ScaledError> {
        let zeros = match self.zeros(of.zero_points.as_mut())? {
            Some(zeros) => &*written("zero points", zeros.target(), self.data, self.codes_in(self.scales()))?,
            None => &[],
        };
        let scales = read("scales", of.scales.source(), self.scale_encoding(), self.scales_len())?;
        let global = self.given_global(of.global)?;
        let data = written("data", of.data.target(), self.data, self.codes_in(self.elements()))?;
        Ok((data, Parts { data: &[], scales, zeros, global }))
    }
}
