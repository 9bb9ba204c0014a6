//! The elements of a source as `float32`.

use super::super::{error::ScaledError, packing::CHUNK, resolved::Resolved};
use core::ops::Range;
use lanecast_kernels::scaled::Word;

/// Elements in memory of the stack.
#[repr(align(64))]
pub(super) struct Buffer(pub(super) [Word; CHUNK]);

impl Resolved {
    /// The elements of a range as `float32`. A `float32` source is used without a copy.
    pub(super) fn load<'x>(
        &self,
        src: &'x [u8],
        range: Range<usize>,
        x: &'x mut Buffer,
    ) -> Result<&'x [Word], ScaledError> {
        let size = self.source.dtype().size();
        let bytes = &src[range.start * size..range.end * size];
        if self.kernels.native && size == 4 {
            return Ok(bytemuck::cast_slice(bytes));
        }
        let x = &mut x.0[..range.len()];
        self.kernels.load.run(bytes, x.as_flattened_mut(), range.len())?;
        Ok(x)
    }
}
