//! The elements of operands in C order: bytes as they are; views are gathered or scattered panel by panel, never as a whole.

use super::{
    blocks::Blocks,
    error::{ScaledError, check_len},
    kernels::Plain,
    parts::next,
    resolved::Resolved,
};
use crate::{
    error::{CastError, Side},
    options::CastOptions,
};
use alloc::vec::Vec;
use core::ops::Range;
use lanecast_kernels::{
    DType, Encoding, Layout, OneSource, OneTarget, Source, Target, View, ViewError, ViewMut, ViewTarget,
};

/// Elements of a panel, at least and at most: in the second cache, or in the third if rows are long.
const PANEL: Range<usize> = 1 << 16..1 << 21;

/// Rows of a panel, so that whole cache lines of a transposed view are used.
const ROWS: usize = 32;

impl Resolved {
    /// Elements of a panel.
    pub(super) fn panel(&self) -> usize {
        ROWS.saturating_mul(self.blocks.shape[2]).clamp(PANEL.start, PANEL.end)
    }

    /// Refuses a view whose elements have other blocks than the plan's. One axis is the elements in C order.
    fn check_shape(&self, layout: &Layout) -> Result<(), ScaledError> {
        let shape = layout.shape();
        let flat = shape.len() == 1 && shape[0] == self.elements();
        // The shapes may differ, but not in a way that changes blocks.
        match flat || Blocks::new(self.scheme.granularity, shape)? == self.blocks {
            true => Ok(()),
            false => Err(ScaledError::OtherShape),
        }
    }
}

/// The elements of a source.
pub(super) enum Elements<'a> {
    /// Bytes in C order, and the bytes of an element.
    InOrder(&'a [u8], usize),
    /// A view, and the copy of its elements to the encoding of the plan.
    View(&'a View<'a>, Plain),
}

impl<'a> Elements<'a> {
    pub(super) fn new(plan: &Resolved, src: Source<'a>) -> Result<Self, ScaledError> {
        let size = plan.source.dtype().size();
        match src.one(plan.source)? {
            OneSource::Bytes(bytes) => {
                check_len("source", plan.elements() * size, bytes.len())?;
                Ok(Self::InOrder(bytes, size))
            }
            OneSource::View(view) => {
                let dtype = view.encoding().dtype();
                if dtype != plan.source.dtype() {
                    return Err(wrong_element(Side::Source, plan.source, dtype));
                }
                plan.check_shape(view.layout())?;
                match view.bytes_in_order().filter(|_| view.encoding() == plan.source) {
                    Some(bytes) => Ok(Self::InOrder(bytes, size)),
                    None => {
                        Ok(Self::View(view, Plain::new(view.encoding(), plan.source, &CastOptions::RUST)?))
                    }
                }
            }
        }
    }

    /// The bytes of all elements, if they are in C order.
    pub(super) fn in_order(&self) -> Option<&'a [u8]> {
        match self {
            Self::InOrder(bytes, _) => Some(bytes),
            Self::View(..) => None,
        }
    }

    /// The bytes of a range, which may be copied to `memory`.
    pub(super) fn get<'m>(
        &'m self,
        range: Range<usize>,
        memory: &'m mut Vec<u8>,
    ) -> Result<&'m [u8], ScaledError> {
        match self {
            Self::InOrder(bytes, size) => Ok(&bytes[range.start * size..range.end * size]),
            Self::View(view, copy) => {
                memory.resize(range.len() * copy.target().dtype().size(), 0);
                gather(copy, (*view).clone(), range, memory)?;
                Ok(memory)
            }
        }
    }
}

/// Where the values of codes go.
pub(super) enum Values<'a> {
    /// Bytes in C order.
    InOrder(&'a mut [u8]),
    /// A view of another layout.
    View(ViewTarget<'a>),
}

impl<'a> Values<'a> {
    /// Whether the values are bytes in C order.
    pub(super) fn in_order(&self) -> bool {
        matches!(self, Self::InOrder(_))
    }

    /// The place of the values, and their encoding.
    pub(super) fn new(plan: &Resolved, dst: Target<'a>) -> Result<(Self, Encoding), ScaledError> {
        let to = dst.encoding().unwrap_or(plan.output);
        if !matches!(to.dtype(), DType::Float16 | DType::BFloat16 | DType::Float32 | DType::Float64) {
            return Err(ScaledError::Target { dtype: to.dtype() });
        }
        let values = match dst.one(to)? {
            OneTarget::Bytes(memory) => {
                check_len("destination", plan.elements() * to.dtype().size(), memory.len())?;
                Self::InOrder(memory.bytes())
            }
            OneTarget::View(view) => {
                plan.check_shape(view.get().layout())?;
                Self::View(view)
            }
        };
        Ok((values, to))
    }
}

fn wrong_element(which: Side, plan: Encoding, slice: DType) -> ScaledError {
    ScaledError::Cast(CastError::WrongElement { which, plan, slice })
}

fn refused(error: ViewError) -> ScaledError {
    ScaledError::Cast(CastError::View(error))
}

/// A view that can be cut along an axis.
trait Cut: Sized {
    fn layout(&self) -> &Layout;
    fn cut(self, axis: usize, at: usize) -> Result<(Self, Self), ViewError>;
}

macro_rules! cut {
    ($($view:ident),*) => {$(
        impl Cut for $view<'_> {
            fn layout(&self) -> &Layout {
                self.layout()
            }

            fn cut(self, axis: usize, at: usize) -> Result<(Self, Self), ViewError> {
                self.split(axis, at)
            }
        }
    )*};
}
cut!(View, ViewMut);

/// Calls `each` with views of the elements of a range in C order, one view after the other. The axes before `axis` have one index each.
fn boxes<V: Cut>(
    view: V,
    axis: usize,
    range: Range<usize>,
    each: &mut impl FnMut(V) -> Result<(), ViewError>,
) -> Result<(), ViewError> {
    let n = view.layout().elements();
    if range.is_empty() {
        return Ok(());
    }
    if range == (0..n) {
        return each(view);
    }
    let inner = n / view.layout().shape()[axis];
    let (first, end) = (range.start / inner, range.end.div_ceil(inner));
    let view = view.cut(axis, end)?.0.cut(axis, first)?.1;
    let (start, stop) = (range.start - first * inner, range.end - first * inner);
    if end - first == 1 && (start, stop) != (0, inner) {
        return boxes(view, axis + 1, start..stop, each);
    }
    // The rest of an index, whole ones, and the beginning of another.
    let (head, view) = view.cut(axis, usize::from(start > 0))?;
    let whole = (stop - start.next_multiple_of(inner)) / inner;
    let (middle, tail) = view.cut(axis, whole)?;
    if start > 0 {
        boxes(head, axis + 1, start..inner, each)?;
    }
    if whole > 0 {
        each(middle)?;
    }
    if !stop.is_multiple_of(inner) {
        boxes(tail, axis + 1, 0..stop % inner, each)?;
    }
    Ok(())
}

/// Copies a range of elements to bytes in C order.
fn gather(copy: &Plain, view: View<'_>, range: Range<usize>, mut out: &mut [u8]) -> Result<(), ScaledError> {
    let (to, size) = (copy.target(), copy.target().dtype().size());
    let copied = boxes(view, 0, range, &mut |view| {
        let bytes = next(&mut out, view.layout().elements() * size);
        let layout = Layout::contiguous(to, view.layout().shape())?;
        copy.run_strided(&view, &mut ViewMut::new(bytes, layout)?)
    });
    copied.map_err(refused)
}

/// Copies bytes in C order, which have the encoding of the view, to a range of its elements.
pub(super) fn scatter(
    copy: &Plain,
    view: ViewMut<'_>,
    range: Range<usize>,
    mut values: &[u8],
) -> Result<(), ScaledError> {
    let (from, size) = (copy.source(), copy.source().dtype().size());
    let copied = boxes(view, 0, range, &mut |mut view| {
        let (bytes, rest) = values.split_at(view.layout().elements() * size);
        values = rest;
        let layout = Layout::contiguous(from, view.layout().shape())?;
        copy.run_strided(&View::new(bytes, layout)?, &mut view)
    });
    copied.map_err(refused)
}
