//! [`ScaledPlan`]: a scheme for a tensor of one shape, resolved once.

use super::{
    blocks::Blocks,
    casts::Casts,
    error::ScaledError,
    report::Report,
    rule::{Codes, ScaleRule},
    scheme::{Global, Quotient, ScaleType, Scheme},
};
use crate::{
    DType, Encoding, Storage,
    stochastic::{Random, Stochastic},
};
use lanecast_kernels::in_default_environment;

/// The bits of a `float32` without its sign.
pub(super) const MAGNITUDE: u32 = 0x7FFF_FFFF;

/// The bits of infinity as `float32`.
pub(super) const INFINITY: u32 = 0x7F80_0000;

/// Whether a number is positive and finite, by its bits: callers may be in any floating-point environment.
pub(super) fn is_positive(x: f32) -> bool {
    (1..INFINITY).contains(&x.to_bits())
}

/// A scaled cast of tensors of one dtype and shape.
///
/// Buffers are bytes in the byte order of the host, in C order and without gaps. Codes of less than 8 bits are packed unless
/// [`with_storage`](Self::with_storage) says otherwise.
///
/// ```
/// use lanecast::scaled::{ScaledPlan, Scheme};
/// use lanecast::DType;
/// let weights: Vec<u8> = (0..64).flat_map(|i| (i as f32 / 7.0).to_ne_bytes()).collect();
/// let plan = ScaledPlan::new(DType::Float32, &Scheme::MX, &[2, 32])?;
/// let (mut codes, mut scales) = (vec![0; plan.data_len()], vec![0; plan.scales_len()]);
/// plan.quantize_dynamic(&weights, &mut codes, &mut scales)?;
/// let mut back = vec![0; weights.len()];
/// plan.dequantize(&codes, &scales, 1.0, DType::Float32, &mut back)?;
/// # Ok::<(), lanecast::scaled::ScaledError>(())
/// ```
#[derive(Clone, Debug)]
pub struct ScaledPlan {
    pub(super) scheme: Scheme,
    pub(super) from: Encoding,
    pub(super) data: Encoding,
    pub(super) blocks: Blocks,
    pub(super) codes: Codes,
    /// Whether clipped and underflowed elements are counted.
    pub(super) counts: bool,
    pub(super) casts: Casts,
    /// What rounds quotients to values of the codes, if not `casts`.
    pub(super) random: Option<Random>,
    /// The index of the first element in the logical tensor.
    pub(super) first: u64,
    /// Whether reports have the squared error.
    pub(super) errors: bool,
    /// The scale of the tensor, if it does not follow from the elements.
    pub(super) static_global: Option<f32>,
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
        from: impl Into<Encoding>,
        scheme: &Scheme,
        shape: &[usize],
    ) -> Result<ScaledPlan, ScaledError> {
        let from = from.into();
        if !matches!(from.dtype(), DType::Float16 | DType::BFloat16 | DType::Float32) {
            return Err(ScaledError::Source { dtype: from.dtype() });
        }
        let scheme = &scheme.of_source(from.dtype());
        if scheme.quotient == Quotient::Exact && scheme.scale == ScaleType::E4M3(Global::Divisor) {
            let why = "an exact quotient needs a scale of the tensor that multiplies; take Quotient::Divide";
            return Err(ScaledError::Scheme { why });
        }
        if matches!(scheme.rule, ScaleRule::Pow2(_)) && matches!(scheme.scale, ScaleType::E4M3(_)) {
            let why = "a rule that gives powers of two needs scales of float8_e8m0fnu or a wider float";
            return Err(ScaledError::Scheme { why });
        }
        if scheme.quotient == Quotient::TimesMultiplier && scheme.scale != ScaleType::Float32 {
            return Err(ScaledError::Scheme { why: "a multiplier needs scales of float32" });
        }
        if scheme.scale == ScaleType::E8M0 && !matches!(scheme.rule, ScaleRule::Pow2(_) | ScaleRule::Given) {
            let why = "scales of float8_e8m0fnu need a rule that gives powers of two";
            return Err(ScaledError::Scheme { why });
        }
        // Before the numbers of the scheme: that of an element that no scheme can have may be infinite.
        let codes = Codes::of(scheme)?;
        super::rule::check(scheme)?;
        super::min_max::check(scheme)?;
        let blocks = Blocks::new(scheme.granularity, shape)?;
        let data = Encoding::packed(scheme.element);
        let casts = Casts::new(from, scheme)?;
        let plan = ScaledPlan {
            scheme: *scheme,
            from,
            data,
            blocks,
            codes,
            counts: false,
            casts,
            random: None,
            first: 0,
            errors: false,
            static_global: None,
        };
        Ok(plan.fused())
    }

    /// The same cast with stochastic rounding: of quotients that lie between two codes, each becomes the farther one from zero with the
    /// probability of its distance from the nearer one. Scales are the same. See [`stochastic`](crate::stochastic).
    #[must_use]
    pub fn stochastic(self, stochastic: Stochastic) -> ScaledPlan {
        let random = Random::new(self.scheme.element, stochastic);
        ScaledPlan { random: random.map(|random| random.starting_at(self.first)), ..self }.fused()
    }

    /// The same cast for a part of a tensor, whose first element has this index in it: stochastic rounding then is that of the whole.
    #[must_use]
    pub fn starting_at(self, index: u64) -> ScaledPlan {
        ScaledPlan { random: self.random.map(|random| random.starting_at(index)), first: index, ..self }
    }

    /// The same cast, whose reports have the exact sum of squared errors. It reads the elements and the codes once more, and takes several
    /// times as long.
    #[must_use]
    pub fn with_squared_error(self) -> ScaledPlan {
        ScaledPlan { errors: true, ..self }
    }

    /// The same cast with another storage of the codes.
    #[must_use]
    pub fn with_storage(self, storage: Storage) -> ScaledPlan {
        let data = Encoding::with_storage(self.scheme.element, storage);
        ScaledPlan { data, ..self }.fused()
    }

    /// The same cast with the elements counted that are clipped or underflow ([`Report`]). That takes a few percent more time in the
    /// caches.
    #[must_use]
    pub fn with_counts(self) -> ScaledPlan {
        ScaledPlan { counts: true, ..self }.fused()
    }

    /// The plan with the loop that scales in registers, if its scheme has one and nothing is counted.
    fn fused(self) -> ScaledPlan {
        let step = self.step().filter(|_| !self.counts && self.codes.unit == 1.0 && !self.drops_signs());
        ScaledPlan { casts: self.casts.fuse(step, self.data), ..self }
    }

    /// Whether quotients of zero lose their sign.
    pub(super) fn drops_signs(&self) -> bool {
        self.scheme.quotient == Quotient::DivideUnsigned
    }

    /// The scheme. [`ScaleType::Source`] is replaced by the dtype of the source.
    pub fn scheme(&self) -> &Scheme {
        &self.scheme
    }

    /// The dtype and storage of the codes.
    pub fn data_type(&self) -> Encoding {
        self.data
    }

    /// The dtype of the scales, in the byte order of the host.
    pub fn scale_type(&self) -> Encoding {
        Encoding::new(self.scheme.scale.dtype(self.from.dtype()))
    }

    /// Elements of the tensor.
    pub fn elements(&self) -> usize {
        self.blocks.elements()
    }

    /// Bytes of the codes.
    pub fn data_len(&self) -> usize {
        self.data.byte_len(self.elements()).unwrap_or(usize::MAX)
    }

    /// The number of scales: one for each block, in C order.
    pub fn scales(&self) -> usize {
        self.blocks.scales()
    }

    /// Bytes of a scale.
    pub(super) fn scale_size(&self) -> usize {
        self.scale_type().dtype().size()
    }

    /// Bytes of the scales.
    pub fn scales_len(&self) -> usize {
        self.scales() * self.scale_size()
    }

    /// Scales and casts a tensor in one go. If the scheme has a scale for the tensor, that is in the report, and the source is read
    /// twice unless the plan [has it already](Self::with_global).
    ///
    /// # Errors
    ///
    /// [`ScaledError::Length`], with nothing written, if a buffer has not exactly the bytes of the shape, of [`data_len`](Self::data_len) and
    /// of [`scales_len`](Self::scales_len); [`ScaledError::NonFinite`] if the scheme refuses a value; [`ScaledError::Scheme`] if its scales have
    /// to be given.
    pub fn quantize_dynamic(
        &self,
        src: &[u8],
        data: &mut [u8],
        scales: &mut [u8],
    ) -> Result<Report, ScaledError> {
        self.quantize_guarded(src, None, data, scales)
    }

    /// [`quantize_dynamic`](Self::quantize_dynamic) of a part of a larger tensor, or of one of several that share a scale: `amax` is the
    /// [`amax`](Self::amax) of all of them.
    ///
    /// # Errors
    ///
    /// As [`quantize_dynamic`](Self::quantize_dynamic); [`ScaledError::Global`] if `amax` is not finite; [`ScaledError::Scheme`] if the plan
    /// [has the scale of the tensor already](Self::with_global).
    pub fn quantize_with_amax(
        &self,
        src: &[u8],
        amax: f32,
        data: &mut [u8],
        scales: &mut [u8],
    ) -> Result<Report, ScaledError> {
        if amax.to_bits() & MAGNITUDE >= INFINITY {
            return Err(ScaledError::Global { given: amax });
        }
        if self.static_global.is_some() {
            let why =
                "the plan has a scale of the tensor already, which does not follow from a largest magnitude";
            return Err(ScaledError::Scheme { why });
        }
        self.quantize_guarded(src, Some(amax.to_bits() & MAGNITUDE), data, scales)
    }

    fn quantize_guarded(
        &self,
        src: &[u8],
        amax: Option<u32>,
        data: &mut [u8],
        scales: &mut [u8],
    ) -> Result<Report, ScaledError> {
        let mut call = (src, amax, data, scales);
        in_default_environment(
            |plan: &ScaledPlan, call: &mut (&[u8], Option<u32>, &mut [u8], &mut [u8])| {
                plan.quantize_of_amax(call.0, call.1, call.2, call.3)
            },
            self,
            &mut call,
        )
    }

    /// Casts with given scales. `global` is the scale of the tensor, and ignored by schemes without one.
    ///
    /// The scales stay as they are: unless the scheme refuses NaN and infinities, it casts them as with
    /// [`NonFinite::Saturate`](super::NonFinite::Saturate).
    ///
    /// # Errors
    ///
    /// As [`quantize_dynamic`](Self::quantize_dynamic); [`ScaledError::Global`] if `global` is not positive and finite.
    pub fn quantize(
        &self,
        src: &[u8],
        scales: &[u8],
        global: f32,
        data: &mut [u8],
    ) -> Result<Report, ScaledError> {
        let mut call = (src, scales, global, data);
        in_default_environment(
            |plan: &ScaledPlan, call: &mut (&[u8], &[u8], f32, &mut [u8])| {
                plan.quantize_by(call.0, call.1, call.2, call.3)
            },
            self,
            &mut call,
        )
    }

    /// The largest magnitude of a tensor; NaN or infinity if it has one. That of several parts is the largest of theirs.
    ///
    /// # Errors
    ///
    /// [`ScaledError::Length`] if `src` has not exactly the bytes of the shape.
    pub fn amax(&self, src: &[u8]) -> Result<f32, ScaledError> {
        Ok(f32::from_bits(self.amax_bits(src, u32::MAX)?))
    }

    /// The values that codes and scales stand for: the exact product, rounded once.
    ///
    /// # Errors
    ///
    /// As [`quantize`](Self::quantize), for `dst` in place of the source; [`ScaledError::Source`] if `to` is not a real float of at least 16
    /// bits.
    pub fn dequantize(
        &self,
        data: &[u8],
        scales: &[u8],
        global: f32,
        to: impl Into<Encoding>,
        dst: &mut [u8],
    ) -> Result<(), ScaledError> {
        let mut call = (data, scales, global, to.into(), dst);
        in_default_environment(
            |plan: &ScaledPlan, call: &mut (&[u8], &[u8], f32, Encoding, &mut [u8])| {
                plan.decode(call.0, call.1, call.2, call.3, call.4)
            },
            self,
            &mut call,
        )
    }
}
