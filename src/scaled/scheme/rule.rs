//! How a scale follows from the elements of its block.

/// How a scale follows from `amax`, the largest magnitude of its block.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ScaleRule {
    /// The caller gives the scales.
    Given,
    /// `amax / over`, rounded once to the dtype of the scales. If the tensor has a scale, that is `amax / (448 over)` of the tensor, and
    /// the scales of blocks are divided by it before they are rounded.
    Amax {
        /// What the largest element becomes.
        over: f32,
    },
    /// The same, but `amax / over` is rounded to `float32` before it is divided by the scale of the tensor.
    AmaxTwice {
        /// What the largest element becomes.
        over: f32,
    },
    /// The same, but `amax / over` is rounded to `float32` and multiplied by `range / amax` of the tensor. The scale of the tensor is the
    /// reciprocal of that factor, or with [`Global::Divisor`](super::Global::Divisor) the factor itself.
    AmaxTimesInverse {
        /// What the largest element of a block becomes.
        over: f32,
        /// What the largest element of the tensor would become without the scales of the blocks.
        range: f32,
    },
    /// The same in the dtype of the source. `amax / over`, the reciprocal of `amax` of the tensor, and the product of this reciprocal and
    /// `range` are each rounded to `float32` and then to that dtype. The scale is the product of the first and the last, rounded to `float32`
    /// and then to its dtype. A factor that overflows, because the elements of the tensor are tiny, is 1.
    AmaxTimesInverseSource {
        /// What the largest element of a block becomes.
        over: f32,
        /// What the largest element of the tensor would become without the scales of the blocks.
        range: f32,
    },
    /// As [`Amax`](Self::Amax), but `amax` is divided by the product of `over` and the scale of the tensor: the product and the quotient are
    /// rounded to `float32` before the scale is.
    AmaxOverProduct {
        /// What the largest element becomes.
        over: f32,
    },
    /// A power of two, by integer arithmetic.
    Pow2(Pow2),
    /// Integers with a zero point: the range from the smallest element to the largest one, widened to contain 0, becomes the range of the
    /// integers. A code stands for `(code - zero point) * scale`.
    MinMax,
}

/// How the largest magnitude becomes a power of two. `max` is the largest value of the codes and `emax` its exponent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Pow2 {
    /// `2^(floor(log2 amax) - emax)`: values from `max` up are clipped.
    Floor,
    /// The same after `amax` is rounded to the mantissa bits of the codes.
    Even,
    /// The smallest power of two that is not below `amax / max`.
    RoundUp,
    /// `2^(ceil(log2 amax) - emax)`.
    Ceil,
}
