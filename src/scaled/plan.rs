//! [`ScaledPlan`]: a scheme for a tensor of one shape, resolved once.

use super::{
    elements::{Elements, Values},
    error::ScaledError,
    quantize::amax::Amax,
    quantized::{Buffer, BufferMut, Quantized},
    report::Report,
    resolved::{INFINITY, MAGNITUDE, Resolved, TensorScale},
    scheme::{Scheme, check::is_positive},
    team::Team,
};
use crate::stochastic::{Random, Stochastic};
#[cfg(feature = "rayon")]
use crate::threads::Threads;
use lanecast_kernels::{Encoding, Source, Storage, Target};

/// A scaled cast between tensors of one dtype and shape, and codes with their scales.
///
/// | | reads | writes | |
/// |---|---|---|---|
/// | [`quantize`](Self::quantize) | a [`Source`] | a [`Quantized`] | finds the scales |
/// | [`quantize_given`](Self::quantize_given) | a [`Source`] | the codes of a [`Quantized`] | takes the scales that are there |
/// | [`requantize`](Self::requantize) | a [`Quantized`] of another plan | a [`Quantized`] | rounds once |
/// | [`dequantize`](Self::dequantize) | a [`Quantized`] | a [`Target`] | rounds once |
///
/// A source is a slice, [`Bytes`](crate::Bytes) or a [view](crate::strided::View); a target is one of these or memory that need not be
/// initialised. Slices and bytes have the elements in C order, and so has a view of one axis; another view has the shape of the plan, and any
/// layout and byte order. Codes of less than 8 bits are packed unless [`with_storage`](Self::with_storage) says otherwise. Every cast runs on
/// the threads of the plan: the calling one, unless `with_threads` names others.
///
/// ```
/// use lanecast::DType;
/// use lanecast::scaled::{ScaledPlan, Scheme};
/// let weights: Vec<f32> = (0..64).map(|i| i as f32 / 7.0).collect();
/// let plan = ScaledPlan::new(DType::Float32, &Scheme::MX, &[2, 32])?;
/// let mut q = plan.alloc();
/// plan.quantize(&weights, &mut q)?;
/// let mut back = vec![0.0_f32; 64];
/// plan.dequantize(&q, &mut back)?;
/// assert!(weights.iter().zip(&back).all(|(x, y)| (x - y).abs() <= x / 16.0));
/// # Ok::<(), lanecast::scaled::ScaledError>(())
/// ```
#[derive(Clone, Debug)]
#[must_use]
pub struct ScaledPlan {
    pub(super) resolved: Resolved,
    #[cfg(feature = "rayon")]
    threads: Threads,
}

impl ScaledPlan {
    /// Resolves a scheme for tensors of a shape.
    ///
    /// # Errors
    ///
    /// [`ScaledError::Source`] if the source is not float16, bfloat16 or float32; [`ScaledError::Element`], [`ScaledError::Scheme`],
    /// [`ScaledError::Number`], [`ScaledError::Axis`], [`ScaledError::EmptyBlock`] or [`ScaledError::Shape`] if the scheme does not fit
    /// itself or the shape; [`ScaledError::Cast`] if a dtype is not built.
    pub fn new(
        source: impl Into<Encoding>,
        scheme: &Scheme,
        shape: &[usize],
    ) -> Result<ScaledPlan, ScaledError> {
        Ok(ScaledPlan {
            resolved: Resolved::new(source.into(), scheme, shape)?,
            #[cfg(feature = "rayon")]
            threads: Threads::Serial,
        })
    }

    /// The plan with a change, resolved again.
    fn with(&self, change: impl FnOnce(&mut Resolved)) -> ScaledPlan {
        let mut plan = self.clone();
        change(&mut plan.resolved);
        plan.resolved = plan.resolved.fused();
        plan
    }

    /// The same cast over several threads: the same codes, scales, values and report.
    #[cfg(feature = "rayon")]
    pub fn with_threads(&self, threads: Threads) -> ScaledPlan {
        ScaledPlan { threads, ..self.clone() }
    }

    /// The same cast with stochastic rounding: of quotients that lie between two codes, each becomes the farther one from zero with the
    /// probability of its distance from the nearer one. Scales are the same. `first` of a part is the index of its first element in the
    /// tensor; parts then have the codes of the whole. See [`stochastic`](crate::stochastic).
    pub fn with_stochastic(&self, stochastic: Stochastic) -> ScaledPlan {
        self.with(|plan| plan.random = Random::new(plan.scheme.element, stochastic))
    }

    /// The same cast, whose reports have the exact sum of squared errors. It reads the elements and the codes once more, and takes several
    /// times as long.
    pub fn with_squared_error(&self) -> ScaledPlan {
        self.with(|plan| plan.errors = true)
    }

    /// The same cast, whose reports count the elements that are clipped or underflow ([`Report`]). That takes a few percent more time in the
    /// caches.
    pub fn with_counts(&self) -> ScaledPlan {
        self.with(|plan| plan.counts = true)
    }

    /// The same cast with another storage of the codes.
    pub fn with_storage(&self, storage: Storage) -> ScaledPlan {
        self.with(|plan| plan.data = Encoding::with_storage(plan.scheme.element, storage))
    }

    /// The same cast, whose [`dequantize`](Self::dequantize) writes elements of this encoding if its target is bytes; otherwise they are of
    /// the encoding of the source. Slices and views have their own.
    pub fn with_output(&self, output: impl Into<Encoding>) -> ScaledPlan {
        let mut plan = self.clone();
        plan.resolved.output = output.into();
        plan
    }

    /// The same cast with a scale of the tensor that is known beforehand, such as one from calibration, or one that several tensors share:
    /// [`quantize`](Self::quantize) makes the scales of the blocks only, and reads the source once. Scales that would be too large become the
    /// largest one, and the elements of their blocks saturate. [`quantize_given`](Self::quantize_given) takes it if
    /// [`Quantized::global`] is `None`.
    ///
    /// ```
    /// use lanecast::DType;
    /// use lanecast::scaled::{ScaledPlan, Scheme};
    /// // Activations of up to 8, by calibration.
    /// let plan = ScaledPlan::new(DType::Float32, &Scheme::NVFP4, &[16])?.with_global(8.0 / (448.0 * 6.0))?;
    /// let mut q = plan.alloc();
    /// plan.quantize(&[0.25_f32; 16], &mut q)?;
    /// assert_eq!(q.global, Some(8.0 / (448.0 * 6.0)));
    /// # Ok::<(), lanecast::scaled::ScaledError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`ScaledError::Scheme`] if the scheme has no scale of the tensor; [`ScaledError::Global`] if `global` is not positive and finite.
    pub fn with_global(&self, global: f32) -> Result<ScaledPlan, ScaledError> {
        if !self.resolved.has_global() {
            let why = "the scheme has no scale of the tensor, so none can be fixed";
            return Err(ScaledError::Scheme { why });
        }
        if !is_positive(global) {
            return Err(ScaledError::Global { given: Some(global) });
        }
        Ok(self.with(|plan| plan.tensor = TensorScale::Known(global)))
    }

    /// The same cast for a part of a larger tensor, or for one of several tensors that share a scale: `amax` is the largest finite magnitude of
    /// all of them ([`Amax::finite`]). Schemes without a scale of the tensor ignore it.
    ///
    /// # Errors
    ///
    /// [`ScaledError::Amax`] if `amax` is not finite, [`ScaledError::TwoScales`] after [`with_global`](Self::with_global).
    pub fn with_amax(&self, amax: f32) -> Result<ScaledPlan, ScaledError> {
        if matches!(self.resolved.tensor, TensorScale::Known(_)) {
            return Err(ScaledError::TwoScales);
        }
        match amax.to_bits() & MAGNITUDE {
            INFINITY.. => Err(ScaledError::Amax { given: amax }),
            bits => Ok(self.with(|plan| plan.tensor = TensorScale::Amax(bits))),
        }
    }

    /// The scheme. [`ScaleType::Source`](super::ScaleType::Source) is replaced by the dtype of the source.
    pub fn scheme(&self) -> &Scheme {
        &self.resolved.scheme
    }

    /// The encoding of the source.
    pub fn source(&self) -> Encoding {
        self.resolved.source
    }

    /// The encoding of the codes.
    pub fn data_encoding(&self) -> Encoding {
        self.resolved.data
    }

    /// The encoding of the scales, which are in the byte order of the host.
    pub fn scale_encoding(&self) -> Encoding {
        self.resolved.scale_encoding()
    }

    /// Elements of the tensor.
    pub fn elements(&self) -> usize {
        self.resolved.elements()
    }

    /// The number of scales: one for each block, in C order.
    pub fn scales(&self) -> usize {
        self.resolved.scales()
    }

    /// Bytes of the codes.
    pub fn data_len(&self) -> usize {
        self.resolved.codes_in(self.elements())
    }

    /// Bytes of the scales.
    pub fn scales_len(&self) -> usize {
        self.resolved.scales_len()
    }

    /// Bytes of the zero points, one for each scale and stored as the codes are; 0 if the scheme has none.
    pub fn zero_points_len(&self) -> usize {
        match self.scheme().has_zero_points() {
            true => self.resolved.codes_in(self.scales()),
            false => 0,
        }
    }

    /// Memory for a quantized tensor, all zeros.
    pub fn alloc(&self) -> Quantized {
        self.resolved.alloc()
    }

    /// Scales and casts a tensor: writes codes, scales, and zero points if the scheme has them, and sets [`Quantized::global`]. If the scheme
    /// has a scale of the tensor, the source is read twice unless the plan [has it](Self::with_global) or
    /// [what it follows from](Self::with_amax).
    ///
    /// With zero points, a code stands for `(code - zero point) * scale`:
    ///
    /// ```
    /// use lanecast::DType;
    /// use lanecast::scaled::{Quantized, ScaledPlan, Scheme};
    /// let plan = ScaledPlan::new(DType::Float32, &Scheme::UINT8_ROW, &[1, 3])?;
    /// let (mut codes, mut scales, mut zeros) = ([0_u8; 3], [0.0_f32; 1], [0_u8; 1]);
    /// let mut q = Quantized::new(&mut codes[..], &mut scales).with_zero_points(&mut zeros);
    /// plan.quantize(&[-1.0_f32, 0.0, 4.1], &mut q)?;
    /// assert_eq!((codes, scales, zeros), ([0, 50, 255], [0.02], [50]));
    /// # Ok::<(), lanecast::scaled::ScaledError>(())
    /// ```
    ///
    /// A view is cast without a copy of it:
    ///
    /// ```
    /// use lanecast::DType;
    /// use lanecast::scaled::{ScaledPlan, Scheme};
    /// use lanecast::strided::View;
    /// // Weights of the shape [in, out]; blocks are to run along `in`.
    /// let weights: Vec<f32> = (0..64 * 3).map(|i| i as f32).collect();
    /// let view = View::from_slice(&weights, &[64, 3]).unwrap().transposed();
    /// let plan = ScaledPlan::new(DType::Float32, &Scheme::MX, &[3, 64])?;
    /// let mut q = plan.alloc();
    /// plan.quantize(&view, &mut q)?;
    /// assert_eq!(q.scales.len(), 6);
    /// # Ok::<(), lanecast::scaled::ScaledError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`ScaledError::Length`], [`ScaledError::OtherShape`], [`ScaledError::Strided`] or [`ScaledError::Cast`] if an operand does not fit the
    /// plan, and [`ScaledError::Scheme`] if the scheme has zero points and `q` has none, if it is the other way round, or if the scales of the
    /// scheme have to be given; then nothing is written. [`ScaledError::NonFinite`] if the scheme refuses a value.
    pub fn quantize<'s, D: BufferMut, S: BufferMut>(
        &self,
        src: impl Into<Source<'s>>,
        q: &mut Quantized<D, S>,
    ) -> Result<Report, ScaledError> {
        let from = Elements::new(&self.resolved, src.into())?;
        let report = self.resolved.quantize(&from, &self.team(&from), self.resolved.parts_mut(q)?)?;
        q.global = report.global;
        Ok(report)
    }

    /// Casts a tensor with the scales and zero points that are in `q`, and writes the codes. If the scheme has a scale of the tensor, that is
    /// [`Quantized::global`], or the one that the plan [has](Self::with_global).
    ///
    /// The scales stay as they are: unless the scheme refuses NaN and infinities, it casts them as with
    /// [`NonFinite::Saturate`](super::NonFinite::Saturate).
    ///
    /// # Errors
    ///
    /// As [`quantize`](Self::quantize); [`ScaledError::Global`] if the scale of the tensor is missing, or not positive and finite.
    pub fn quantize_given<'s, D: BufferMut, S: Buffer>(
        &self,
        src: impl Into<Source<'s>>,
        q: &mut Quantized<D, S>,
    ) -> Result<Report, ScaledError> {
        let from = Elements::new(&self.resolved, src.into())?;
        self.resolved.quantize_given(&from, &self.team(&from), self.resolved.given(q)?)
    }

    /// Casts codes of another plan to codes of this one: every value is decoded exactly, scales are made of the exact magnitudes, and every
    /// code is rounded once. Both plans are for as many elements; their granularities may differ. The calling thread does it.
    ///
    /// ```
    /// use lanecast::DType;
    /// use lanecast::scaled::{ScaledPlan, Scheme};
    /// let weights: Vec<f32> = (0..64).map(|i| i as f32 / 7.0).collect();
    /// let fp8 = ScaledPlan::new(DType::Float32, &Scheme::FP8_ROW, &[2, 32])?;
    /// let mut q = fp8.alloc();
    /// fp8.quantize(&weights, &mut q)?;
    /// let mx = ScaledPlan::new(DType::Float32, &Scheme::MX.with_element(DType::Float4E2M1FN), &[2, 32])?;
    /// mx.requantize(&fp8, &q, &mut mx.alloc())?;
    /// # Ok::<(), lanecast::scaled::ScaledError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`ScaledError::OtherShape`] if the numbers of elements differ; [`ScaledError::Scheme`] if this scheme is not one of exact quotients and of
    /// one rounding for each scale, or if the other one has zero points; otherwise as [`quantize`](Self::quantize) and
    /// [`dequantize`](Self::dequantize).
    pub fn requantize<E: Buffer, T: Buffer, D: BufferMut, S: BufferMut>(
        &self,
        from: &ScaledPlan,
        src: &Quantized<E, T>,
        q: &mut Quantized<D, S>,
    ) -> Result<Report, ScaledError> {
        self.resolved.check_requantize(&from.resolved)?;
        let src = from.resolved.parts(src).map_err(ScaledError::of_source)?;
        let to = self.resolved.parts_mut(q)?;
        let report = self.resolved.requantize(&from.resolved, src, to)?;
        q.global = report.global;
        Ok(report)
    }

    /// The values that codes and scales stand for: the exact product, rounded once to the dtype of the target. That is a real float of at least
    /// 16 bits; bytes are of the encoding of the source, or [another one](Self::with_output).
    ///
    /// # Errors
    ///
    /// As [`quantize_given`](Self::quantize_given), for the target in place of the source; [`ScaledError::Target`] if it has another dtype.
    pub fn dequantize<'d, D: Buffer, S: Buffer>(
        &self,
        q: &Quantized<D, S>,
        dst: impl Into<Target<'d>>,
    ) -> Result<(), ScaledError> {
        let of = self.resolved.parts(q)?;
        let (values, to) = Values::new(&self.resolved, dst.into())?;
        let part = if values.in_order() { self.elements() } else { self.resolved.panel() };
        self.resolved.dequantize(of, &self.team_of(part), to, values)
    }

    /// The largest magnitude of a tensor. The magnitudes of several parts [merge](Amax::merge).
    ///
    /// # Errors
    ///
    /// As [`quantize`](Self::quantize), for the source.
    pub fn amax<'s>(&self, src: impl Into<Source<'s>>) -> Result<Amax, ScaledError> {
        let from = Elements::new(&self.resolved, src.into())?;
        self.resolved.amax(&from, &self.team(&from))
    }

    /// Who casts a source.
    fn team(&self, from: &Elements<'_>) -> Team<'_> {
        self.team_of(if from.in_order().is_some() { self.elements() } else { self.resolved.panel() })
    }

    /// The threads that cast. One thread alone casts in parts of `part` elements.
    fn team_of(&self, part: usize) -> Team<'_> {
        #[cfg(feature = "rayon")]
        return Team::new(self.elements(), part, &self.threads);
        #[cfg(not(feature = "rayon"))]
        Team::alone(part)
    }
}
