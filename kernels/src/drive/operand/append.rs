//! Casts that append to vectors.

use super::{Target, Uninit};
use crate::dtype::Element;
use alloc::vec::Vec;

/// Appends `n` elements that `cast` writes into the target that it is given. The vector is unchanged if the cast fails or writes fewer.
///
/// # Errors
///
/// Those of `cast`.
#[inline]
pub fn append<T: Element, E>(
    vec: &mut Vec<T>,
    n: usize,
    cast: impl FnOnce(Target<'_>) -> Result<(), E>,
) -> Result<(), E> {
    vec.reserve(n);
    let len = vec.len();
    let mut spare = Uninit::new(&mut vec.spare_capacity_mut()[..n]);
    // The cast gets the target by value: what counts the written elements is out of its reach.
    cast(Target::from(&mut spare))?;
    if spare.written == n {
        // SAFETY: the capacity is at least this, and the cast has written the `n` elements behind the first `len`.
        unsafe { vec.set_len(len + n) };
    }
    Ok(())
}
