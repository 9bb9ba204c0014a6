//! Casts that append to vectors.

use super::{Target, Uninit};
use crate::dtype::Element;
use alloc::vec::Vec;

/// Appends `n` elements that `cast` writes into its target. The vector is unchanged if the cast fails or writes fewer.
///
/// # Errors
///
/// The errors of `cast`.
#[inline]
pub fn append<T: Element, E>(
    vec: &mut Vec<T>,
    n: usize,
    cast: impl FnOnce(Target<'_>) -> Result<(), E>,
) -> Result<(), E> {
    vec.reserve(n);
    let len = vec.len();
    let mut spare = Uninit::new(&mut vec.spare_capacity_mut()[..n]);
    // The cast gets the target by value, so it cannot reach the count of written elements.
    cast(Target::from(&mut spare))?;
    if spare.written == n {
        // SAFETY: the capacity is at least this, and the cast has written the `n` elements after the first `len`.
        unsafe { vec.set_len(len + n) };
    }
    Ok(())
}
