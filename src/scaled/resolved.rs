//! [`Resolved`]: a scheme for a tensor of one shape, with the kernels of its casts.

use super::{
    blocks::Blocks,
    codes::Codes,
    error::ScaledError,
    kernels::Kernels,
    parts::{Cut, Part},
    scheme::{Quotient, ScaleRule, ScaleType, Scheme, check},
};
use crate::stochastic::Random;
use lanecast_kernels::{DType, Encoding, in_default_environment, scaled::Step};

/// The bits of a `float32` without its sign.
pub(super) const MAGNITUDE: u32 = 0x7FFF_FFFF;

/// The bits of infinity as `float32`.
pub(super) const INFINITY: u32 = 0x7F80_0000;

/// Calls a function in the default floating-point environment.
pub(super) fn guarded<R, W: FnMut() -> R>(mut work: W) -> R {
    in_default_environment(|(): &(), work: &mut W| work(), &(), &mut work)
}

/// Where the scale of the tensor comes from, if the scheme has one.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum TensorScale {
    /// From the largest magnitude of the source.
    Elements,
    /// From this largest magnitude, as bits. It may be the magnitude of a larger tensor.
    Amax(u32),
    /// It is known.
    Known(f32),
}

/// What a plan does, without its threads.
#[derive(Clone, Copy, Debug)]
pub(super) struct Resolved {
    pub(super) scheme: Scheme,
    pub(super) source: Encoding,
    pub(super) data: Encoding,
    /// What bytes are that codes are decoded to.
    pub(super) output: Encoding,
    pub(super) blocks: Blocks,
    pub(super) codes: Codes,
    /// Whether clipped and underflowed elements are counted.
    pub(super) counts: bool,
    /// Whether reports have the squared error.
    pub(super) errors: bool,
    pub(super) kernels: Kernels,
    /// What rounds quotients to values of the codes, if not `kernels`.
    pub(super) random: Option<Random>,
    pub(super) tensor: TensorScale,
}

impl Resolved {
    pub(super) fn new(source: Encoding, scheme: &Scheme, shape: &[usize]) -> Result<Resolved, ScaledError> {
        if !matches!(source.dtype(), DType::Float16 | DType::BFloat16 | DType::Float32) {
            return Err(ScaledError::Source { dtype: source.dtype() });
        }
        let scheme = &scheme.of_source(source.dtype());
        check::arithmetic(scheme)?;
        // Before the numbers of the scheme: that of an element that no scheme can have may be infinite.
        let codes = Codes::of(scheme)?;
        check::numbers(scheme)?;
        check::zero_points(scheme)?;
        let plan = Resolved {
            scheme: *scheme,
            source,
            data: Encoding::packed(scheme.element),
            output: source,
            blocks: Blocks::new(scheme.granularity, shape)?,
            codes,
            counts: false,
            errors: false,
            kernels: Kernels::new(source, scheme)?,
            random: None,
            tensor: TensorScale::Elements,
        };
        Ok(plan.fused())
    }

    /// The plan with the loop that scales in registers, if its scheme has one and nothing is counted.
    pub(super) fn fused(self) -> Resolved {
        let step = self.step().filter(|_| !self.counts && self.codes.unit == 1.0 && !self.drops_signs());
        Resolved { kernels: self.kernels.fuse(step, self.data), ..self }
    }

    /// What the loops of a tier do with the elements of this scheme, if they can.
    pub(super) fn step(&self) -> Option<Step> {
        // Stochastic rounding needs more of the quotient.
        if self.random.is_some() {
            return None;
        }
        // Float16 and int16 have midpoints below those that the loops are exact for.
        if self.kernels.loops.is_none() || self.scheme.element.bits() > 8 {
            return None;
        }
        // Negative quotients become zero where there is no sign, and are counted by their codes.
        if self.counts && self.scheme.element.iinfo().is_some_and(|int| int.min == 0) {
            return None;
        }
        let step = match (self.scheme.quotient, self.scheme.scale) {
            (Quotient::Exact, ScaleType::E8M0) => Step::Times,
            (Quotient::Exact, ScaleType::E4M3(_)) => Step::Quotient { block: true },
            (Quotient::Exact, _) => Step::Quotient { block: false },
            (Quotient::Divide | Quotient::DivideUnsigned, _) => Step::Divide,
            (Quotient::DivideSource, _) => return None,
            _ => Step::Times,
        };
        // Units of integers are in the factors of powers of two only.
        let unit = self.codes.unit == 1.0 || (step == Step::Times && self.scheme.quotient == Quotient::Exact);
        unit.then_some(step)
    }

    /// Whether quotients of zero lose their sign.
    pub(super) fn drops_signs(&self) -> bool {
        self.scheme.quotient == Quotient::DivideUnsigned
    }

    pub(super) fn elements(&self) -> usize {
        self.blocks.elements()
    }

    /// The number of scales: one for each block.
    pub(super) fn scales(&self) -> usize {
        self.blocks.scales()
    }

    /// The encoding of the scales.
    pub(super) fn scale_encoding(&self) -> Encoding {
        Encoding::new(self.scheme.scale.dtype(self.source.dtype()))
    }

    /// Bytes of a scale.
    pub(super) fn scale_size(&self) -> usize {
        self.scale_encoding().dtype().size()
    }

    /// The bytes of the codes of `elements` elements.
    pub(super) fn codes_in(&self, elements: usize) -> usize {
        self.data.byte_len(elements).unwrap_or(usize::MAX)
    }

    /// Bytes of the scales.
    pub(super) fn scales_len(&self) -> usize {
        self.scales() * self.scale_size()
    }

    /// The code of scale `i`.
    pub(super) fn scale(&self, scales: &[u8], i: usize) -> u32 {
        match self.scale_size() {
            1 => u32::from(scales[i]),
            2 => u32::from(u16::from_ne_bytes([scales[2 * i], scales[2 * i + 1]])),
            _ => u32::from_ne_bytes(core::array::from_fn(|k| scales[4 * i + k])),
        }
    }

    /// Stores the code of scale `i`.
    pub(super) fn put_scale(&self, scales: &mut [u8], i: usize, code: u32) {
        match self.scale_size() {
            1 => scales[i] = code as u8,
            2 => scales[2 * i..2 * i + 2].copy_from_slice(&(code as u16).to_ne_bytes()),
            _ => scales[4 * i..4 * i + 4].copy_from_slice(&code.to_ne_bytes()),
        }
    }

    /// Whether the scheme has a scale of the tensor.
    pub(super) fn has_global(&self) -> bool {
        matches!(self.scheme.scale, ScaleType::E4M3(_))
    }

    /// The scale of the tensor that is given with codes or scales, checked; 1 if the scheme has none.
    pub(super) fn global(&self, given: Option<f32>) -> Result<f32, ScaledError> {
        match given {
            _ if !self.has_global() => Ok(1.0),
            Some(global) if check::is_positive(global) => Ok(global),
            _ => Err(ScaledError::Global { given }),
        }
    }

    /// The scale of the tensor that casts with given scales use: the operand's, otherwise the plan's.
    pub(super) fn given_global(&self, given: Option<f32>) -> Result<f32, ScaledError> {
        match self.tensor {
            TensorScale::Known(global) => self.global(given.or(Some(global))),
            _ => self.global(given),
        }
    }

    /// Whether the scale of the tensor follows from the largest magnitude of the source.
    pub(super) fn needs_amax(&self) -> bool {
        self.has_global() && self.tensor == TensorScale::Elements
    }

    /// Refuses schemes whose scales have to be given.
    pub(super) fn makes_scales(&self) -> Result<(), ScaledError> {
        match self.scheme.rule {
            ScaleRule::Given => Err(ScaledError::Scheme {
                why: "the scales of this scheme have to be given: write them to the operand and call quantize_given",
            }),
            _ => Ok(()),
        }
    }

    /// The cast of a part.
    pub(super) fn of_part(&self, part: &Part) -> Resolved {
        let random = self.random.map(|random| random.after(part.elements.start));
        Resolved { blocks: part.blocks, random, ..*self }
    }

    /// The tensor, cut into parts of about `target` elements; within blocks if `within`.
    pub(super) fn cut(&self, target: usize, within: bool) -> Cut {
        Cut::new(self.blocks, target, within, self.data.bits_per_element() as usize)
    }
}
