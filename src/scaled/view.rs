//! Sources of any layout, such as transposed weights: gathered panel by panel, never as a whole.

use super::{
    blocks::Blocks,
    error::ScaledError,
    plan::ScaledPlan,
    report::Report,
    split::{Alone, Elements},
};
use crate::{
    CastError, CastOptions, CastPlan, Side,
    strided::{Layout, View, ViewError, ViewMut},
};
use alloc::vec::Vec;
use core::ops::Range;

/// Elements of a panel, at least and at most: in the second cache, or in the third if rows are long.
const PANEL: Range<usize> = 1 << 16..1 << 21;

/// Rows of a panel, so that whole cache lines of a transposed source are used.
const ROWS: usize = 32;

/// A view whose elements are copied in C order as they are needed.
pub(super) struct Gathered<'a> {
    view: View<'a>,
    /// The copy, to the encoding of a plan.
    copy: CastPlan,
}

impl<'a> Gathered<'a> {
    pub(super) fn new(plan: &ScaledPlan, view: &View<'a>) -> Result<Self, ScaledError> {
        let dtype = view.encoding().dtype();
        if dtype != plan.from.dtype() {
            let wrong = CastError::WrongElement { which: Side::Source, plan: plan.from, slice: dtype };
            return Err(ScaledError::Cast(wrong));
        }
        // The shapes may differ, but not in a way that changes blocks.
        if Blocks::new(plan.scheme.granularity, view.layout().shape())? != plan.blocks {
            return Err(ScaledError::OtherShape);
        }
        Ok(Self { view: *view, copy: CastPlan::new(view.encoding(), plan.from, &CastOptions::RUST)? })
    }
}

fn refused(error: ViewError) -> ScaledError {
    ScaledError::Cast(CastError::View(error))
}

/// The elements of a view from one index of an axis to another.
fn between<'a>(view: View<'a>, axis: usize, range: Range<usize>) -> Result<View<'a>, ScaledError> {
    let (low, _) = view.split(axis, range.end).map_err(refused)?;
    Ok(low.split(axis, range.start).map_err(refused)?.1)
}

/// Copies a range of elements in C order. The axes before `axis` have one index each.
fn gather(
    copy: &CastPlan,
    view: View<'_>,
    axis: usize,
    range: Range<usize>,
    out: &mut [u8],
) -> Result<(), ScaledError> {
    let (shape, n) = (view.layout().shape(), view.layout().elements());
    if range.is_empty() {
        return Ok(());
    }
    if range == (0..n) {
        let layout = Layout::contiguous(copy.target(), shape).map_err(refused)?;
        return Ok(copy.run(&view, &mut ViewMut::new(out, layout).map_err(refused)?)?);
    }
    let (inner, size) = (n / shape[axis], copy.target().dtype().size());
    let (first, end) = (range.start.div_ceil(inner), range.end / inner);
    let part = |index: usize, inside: Range<usize>, out: &mut [u8]| {
        gather(copy, between(view, axis, index..index + 1)?, axis + 1, inside, out)
    };
    if first > end {
        return part(end, range.start - end * inner..range.end - end * inner, out);
    }
    // The rest of an index, whole ones, and the beginning of another.
    let (head, out) = out.split_at_mut((first * inner - range.start) * size);
    let (middle, tail) = out.split_at_mut((end - first) * inner * size);
    if !head.is_empty() {
        part(first - 1, range.start - (first - 1) * inner..inner, head)?;
    }
    if first < end {
        gather(copy, between(view, axis, first..end)?, axis, 0..(end - first) * inner, middle)?;
    }
    if !tail.is_empty() {
        part(end, 0..range.end - end * inner, tail)?;
    }
    Ok(())
}

impl Elements for Gathered<'_> {
    fn get<'m>(&'m self, range: Range<usize>, memory: &'m mut Vec<u8>) -> Result<&'m [u8], ScaledError> {
        memory.resize(range.len() * self.copy.target().dtype().size(), 0);
        gather(&self.copy, self.view, 0, range, memory)?;
        Ok(memory)
    }
}

impl ScaledPlan {
    /// Elements of a panel.
    pub(super) fn panel(&self) -> usize {
        ROWS.saturating_mul(self.blocks.shape[2]).clamp(PANEL.start, PANEL.end)
    }

    /// [`quantize_dynamic`](Self::quantize_dynamic) of elements in any layout: of a transposed tensor for one, without a copy of it. They
    /// may be in the other byte order.
    ///
    /// ```
    /// use lanecast::DType;
    /// use lanecast::scaled::{ScaledPlan, Scheme};
    /// use lanecast::strided::View;
    /// // Weights of the shape [in, out]; blocks are to run along `in`.
    /// let weights: Vec<f32> = (0..64 * 3).map(|i| i as f32).collect();
    /// let view = View::from_slice(&weights, &[64, 3]).unwrap().transposed();
    /// let plan = ScaledPlan::new(DType::Float32, &Scheme::MX, &[3, 64])?;
    /// let (mut codes, mut scales) = (vec![0; plan.data_len()], vec![0; plan.scales_len()]);
    /// plan.quantize_dynamic_view(&view, &mut codes, &mut scales)?;
    /// assert_eq!(scales.len(), 6);
    /// # Ok::<(), lanecast::scaled::ScaledError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// As [`quantize_dynamic`](Self::quantize_dynamic); [`ScaledError::OtherShape`] if the shape of the view is not that of the plan,
    /// [`ScaledError::Cast`] with [`CastError::WrongElement`] if its dtype is not.
    pub fn quantize_dynamic_view(
        &self,
        src: &View<'_>,
        data: &mut [u8],
        scales: &mut [u8],
    ) -> Result<Report, ScaledError> {
        self.quantize_split(&Gathered::new(self, src)?, &Alone, self.panel(), data, scales)
    }
}
