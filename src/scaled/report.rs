//! What a scaled cast lost.

/// What a scaled cast lost, and the scale of the tensor.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Report {
    /// The scale of the tensor, if the scheme has one.
    pub global: Option<f32>,
    /// Elements that were cast.
    pub elements: u64,
    /// Blocks whose elements are all zero.
    pub empty: u64,
    /// Blocks whose scale is NaN since an element is NaN or infinite.
    pub poisoned: u64,
    /// Elements whose quotient is above the largest code, if the plan [counts](super::ScaledPlan::with_counts) them.
    pub clipped: Option<u64>,
    /// Elements other than zero whose code is zero, if the plan counts them.
    pub underflowed: Option<u64>,
    /// The sum of the squares of the differences between elements and what their codes stand for, wherever both are finite: the exact sum,
    /// rounded once. Only if the plan [sums](super::ScaledPlan::with_squared_error) them.
    pub squared_error: Option<f64>,
}
