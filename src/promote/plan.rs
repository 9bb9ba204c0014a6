//! The casts that bring two operands to their common dtype.

use super::{
    defaults::Promotion,
    error::{PromotionError, Refusal},
    operand::Operand,
    standard::Standard,
};
use crate::{
    error::{CastError, Side},
    plan::CastPlan,
};
use alloc::{borrow::Cow, vec};
use lanecast_kernels::{Bytes, BytesMut, DType};

/// The dtype that two operands compute in and the casts that bring them there, resolved to kernels.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct Plan {
    /// The dtype to compute in, and of the result.
    pub result: DType,
    /// Whether the result is weakly typed (JAX).
    pub weak: bool,
    /// The cast of the left operand; `None` if it has the dtype already or is a number.
    pub left: Option<CastPlan>,
    /// The cast of the right operand; `None` if it has the dtype already or is a number.
    pub right: Option<CastPlan>,
}

/// Plans an operation on two operands under a standard with its own default dtypes. The kernels are looked up here, once.
///
/// ```
/// use lanecast::{DType, promote::{Standard, plan}};
/// let plan = plan(Standard::ArrayApi, DType::Int8, DType::UInt8)?;
/// assert_eq!(plan.result, DType::Int16);
/// let (left, right) = plan.apply(&[0xFF], &[0xFF]).expect("whole elements");
/// assert_eq!((left.as_ref(), right.as_ref()), (&(-1_i16).to_ne_bytes()[..], &255_i16.to_ne_bytes()[..]));
/// # Ok::<(), lanecast::promote::PromotionError>(())
/// ```
///
/// # Errors
///
/// As [`Promotion::plan`].
pub fn plan(
    standard: Standard,
    a: impl Into<Operand>,
    b: impl Into<Operand>,
) -> Result<Plan, PromotionError> {
    Promotion::new(standard).plan(a, b)
}

impl Promotion {
    /// Plans an operation on two operands, with casts under these [options](Self::with_options).
    ///
    /// # Errors
    ///
    /// [`PromotionError`] if the standard gives the operands no common dtype; with [`Refusal::NoKernel`] if it does but a cast cannot
    /// run here.
    pub fn plan(&self, a: impl Into<Operand>, b: impl Into<Operand>) -> Result<Plan, PromotionError> {
        let (a, b) = (a.into(), b.into());
        let resolved = self.promote_all(&[a, b])?;
        let to = resolved.dtype;
        let cast = |operand: Operand| match operand.dtype() {
            Some(from) if from != to => CastPlan::new(from, to, &self.options).map(Some).map_err(|_| {
                PromotionError::of_one(self.standard(), operand, Refusal::NoKernel { from, to })
            }),
            _ => Ok(None),
        };
        Ok(Plan { result: to, weak: resolved.weak, left: cast(a)?, right: cast(b)? })
    }
}

impl Plan {
    /// Casts the bytes of both operands to the dtype of the result; bytes that need no cast are borrowed.
    ///
    /// Each buffer holds whole elements of its operand, one per byte for dtypes of fewer than 8 bits. The two may differ in
    /// length, and the buffer of a number is returned unchanged. To cast into your own memory, run [`left`](Self::left) and
    /// [`right`](Self::right).
    ///
    /// # Errors
    ///
    /// [`CastError::BufferTooSmall`] if a buffer that has to be cast ends within an element.
    #[expect(clippy::type_complexity, reason = "two of one kind, spelled where they are returned")]
    pub fn apply<'a>(
        &self,
        left: &'a [u8],
        right: &'a [u8],
    ) -> Result<(Cow<'a, [u8]>, Cow<'a, [u8]>), CastError> {
        Ok((apply(self.left.as_ref(), left)?, apply(self.right.as_ref(), right)?))
    }
}

fn apply<'a>(cast: Option<&CastPlan>, bytes: &'a [u8]) -> Result<Cow<'a, [u8]>, CastError> {
    let Some(cast) = cast else { return Ok(Cow::Borrowed(bytes)) };
    let size = cast.source().dtype().size();
    let n = bytes.len() / size;
    if !bytes.len().is_multiple_of(size) {
        return Err(CastError::BufferTooSmall {
            which: Side::Source,
            need: (n + 1).saturating_mul(size),
            have: bytes.len(),
        });
    }
    let Some(len) = cast.target().byte_len(n) else {
        return Err(CastError::TooLarge { elements: n, encoding: cast.target() });
    };
    let mut out = vec![0; len];
    cast.run(Bytes::new(bytes, n), BytesMut::new(&mut out, n))?;
    Ok(Cow::Owned(out))
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::string::ToString;

    /// A test in its own process cannot simulate a machine that lacks the requested tier.
    #[test]
    fn a_missing_kernel_is_no_refusal_of_the_standard() {
        let reason = Refusal::NoKernel { from: DType::Int4, to: DType::Float16 };
        let text = PromotionError::new(Standard::NumPy, reason).to_string();
        let start = "int4 promotes to float16 under NumPy rules, but ";
        assert!(text.starts_with(start), "{text}");
    }
}
