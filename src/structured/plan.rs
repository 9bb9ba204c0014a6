//! [`StructPlan`]: two structs and their options, resolved once and run often.

use super::{
    StructError, StructType,
    gather::{Stage, cast, copy, swap, zero},
    resolve::Resolver,
};
use crate::{
    CastError, CastOptions, CastPlan, DType, Encoding, Side, Tier,
    strided::{Layout, MAX_AXES, View, ViewMut},
    tier,
};
use alloc::{string::String, vec::Vec};
use lanecast_kernels::{Bytes, BytesMut};

/// How fields of the source are matched with fields of the destination.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Match {
    /// By position, whatever their names, as in NumPy's `astype` and assignment.
    Position,
    /// By name. Fields of the destination without a partner are not written.
    Name,
    /// By name. Fields of the destination without a partner become zero, including the padding within them.
    NameOrZero,
}

/// One axis of a run: its length, and its strides in bytes. A stride of 0 in the source repeats an element.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Axis {
    pub len: usize,
    pub src: usize,
    pub dst: usize,
}

/// What is done to one element.
#[derive(Clone, Debug)]
pub(super) enum Op {
    /// It is cast. The plan is for elements in native byte order; the encodings have the actual order.
    Cast { plan: CastPlan, from: Encoding, to: Encoding },
    /// `src` bytes are copied to `dst` bytes, truncated or padded with 0.
    Bytes { src: usize, dst: usize },
    /// The same for four-byte characters whose byte order changes.
    Swapped { src: usize, dst: usize },
    /// This many bytes of the destination become 0.
    Zero(usize),
}

impl Op {
    /// Bytes of an element on both sides.
    pub fn sizes(&self) -> (usize, usize) {
        match self {
            Op::Cast { from, to, .. } => (from.dtype().size(), to.dtype().size()),
            Op::Bytes { src, dst } => (*src, *dst),
            Op::Swapped { src, dst } => (4 * src, 4 * dst),
            Op::Zero(size) => (0, *size),
        }
    }

    /// Whether both do the same. (All casts of a plan have the same options and the same tier.)
    fn is(&self, other: &Op) -> bool {
        match (self, other) {
            (Op::Cast { from: a, to: b, .. }, Op::Cast { from: c, to: d, .. }) => (a, b) == (c, d),
            (Op::Bytes { .. }, Op::Bytes { .. })
            | (Op::Swapped { .. }, Op::Swapped { .. })
            | (Op::Zero(_), Op::Zero(_)) => self.sizes() == other.sizes(),
            _ => false,
        }
    }

    /// A cast that changes nothing is a copy.
    pub fn simplified(self) -> Op {
        match self {
            Op::Cast { from, to, .. }
                if from == to && from.dtype() != DType::Bool && !from.dtype().is_sub_byte() =>
            {
                let size = from.dtype().size();
                Op::Bytes { src: size, dst: size }
            }
            op => op,
        }
    }
}

/// A field of the destination that is not a struct, and how it is written.
#[derive(Clone, Debug)]
pub(super) struct Leaf {
    /// Its name, qualified by the structs that contain it.
    pub field: String,
    /// Its offset in the items.
    pub src: usize,
    pub dst: usize,
    /// The axes of its sub-array and of the sub-arrays that contain it, the outermost first.
    pub axes: Vec<Axis>,
    pub op: Op,
}

impl Leaf {
    /// Elements in an item.
    pub fn count(&self) -> usize {
        self.axes.iter().fold(1, |n, axis| n.saturating_mul(axis.len))
    }

    /// Whether it writes nothing.
    pub fn is_empty(&self) -> bool {
        self.op.sizes().1 == 0 || self.axes.iter().any(|axis| axis.len == 0)
    }

    /// Reduces the leaf to its simplest form; `None` if it does nothing.
    fn simplified(mut self) -> Option<Leaf> {
        if self.is_empty() {
            return None;
        }
        self.op = self.op.simplified();
        self.merge();
        Some(self)
    }

    /// Merges axes that continue each other, and copies of neighbours.
    fn merge(&mut self) {
        merge(&mut self.axes);
        while let Some(&Axis { len, src, dst }) = self.axes.last() {
            self.op = match self.op {
                Op::Bytes { src: from, dst: to } if from == to && (src, dst) == (from, to) => {
                    Op::Bytes { src: from * len, dst: to * len }
                }
                Op::Zero(size) if size == dst => Op::Zero(size * len),
                _ => break,
            };
            self.axes.pop();
        }
    }

    /// The run itself or, if it has few elements, one run per element, in which the items are the long axis.
    fn columns(self, src_size: usize, dst_size: usize) -> Vec<Leaf> {
        let mut whole = alloc::vec![Axis { len: 2, src: src_size, dst: dst_size }];
        whole.extend_from_slice(&self.axes);
        merge(&mut whole);
        if whole.len() == 1 || self.count() > FEW {
            return alloc::vec![self];
        }
        let mut columns = alloc::vec![Leaf { axes: Vec::new(), ..self.clone() }];
        for axis in &self.axes {
            let along = columns.iter().flat_map(|from| {
                (0..axis.len).map(|i| Leaf {
                    src: from.src + i * axis.src,
                    dst: from.dst + i * axis.dst,
                    ..from.clone()
                })
            });
            columns = along.collect();
        }
        columns
    }

    /// The number of elements, if they are contiguous on both sides.
    fn contiguous(&self) -> Option<usize> {
        match self.axes[..] {
            [] => Some(1),
            [Axis { len, src, dst }] if (src, dst) == self.op.sizes() => Some(len),
            _ => None,
        }
    }

    /// Merges `next` into this leaf, if it begins where this one ends.
    fn join(&mut self, next: &Leaf) -> bool {
        let (Some(here), Some(there)) = (self.contiguous(), next.contiguous()) else {
            return false;
        };
        let (src, dst) = self.op.sizes();
        let follows = next.src == self.src + here * src && next.dst == self.dst + here * dst;
        match (&mut self.op, &next.op) {
            (Op::Bytes { src: a, dst: b }, Op::Bytes { src: c, dst: d })
                if follows && a == b && c == d && here == 1 && there == 1 =>
            {
                *a += c;
                *b += d;
                true
            }
            (Op::Zero(size), Op::Zero(more)) if next.dst == self.dst + *size && here == 1 && there == 1 => {
                *size += more;
                true
            }
            (op @ Op::Cast { .. }, next) if follows && op.is(next) => {
                self.axes = alloc::vec![Axis { len: here + there, src, dst }];
                true
            }
            _ => false,
        }
    }
}

/// Merges neighbouring axes if the outer one continues where the inner one ends, and drops axes of length 1.
pub(super) fn merge(axes: &mut Vec<Axis>) {
    axes.retain(|axis| axis.len != 1);
    let mut i = 1;
    while i < axes.len() {
        let (outer, inner) = (axes[i - 1], axes[i]);
        if Some(outer.src) == inner.len.checked_mul(inner.src)
            && Some(outer.dst) == inner.len.checked_mul(inner.dst)
        {
            axes[i - 1] = Axis { len: outer.len * inner.len, ..inner };
            axes.remove(i);
        } else {
            i += 1;
        }
    }
}

/// The leaves, merged where several can run as one.
fn runs(leaves: &[Leaf], src_size: usize, dst_size: usize) -> Vec<Leaf> {
    let mut joined: Vec<Leaf> = Vec::new();
    for leaf in leaves.iter().cloned().filter_map(Leaf::simplified) {
        if !joined.last_mut().is_some_and(|last| last.join(&leaf)) {
            joined.push(leaf);
        }
    }
    joined.into_iter().flat_map(|run| run.columns(src_size, dst_size)).collect()
}

/// A cast from items of one struct to items of another, resolved to the casts of its fields.
///
/// ```
/// use lanecast::structured::{Match, StructPlan, StructType};
/// use lanecast::CastOptions;
/// let from = StructType::from_descr("[('x', '<i4'), ('y', '<i4')]")?;
/// let to = StructType::from_descr("[('y', '|i1'), ('z', '|i1')]")?;
/// let src = [1, 0, 0, 0, 2, 0, 0, 0];
/// let cast = |matching| {
///     let mut dst = [9; 2];
///     StructPlan::new(&from, &to, matching, &CastOptions::RUST)?.run(&src, &mut dst, 1)?;
///     Ok::<_, lanecast::structured::StructError>(dst)
/// };
/// assert_eq!(cast(Match::Position)?, [1, 2]);
/// assert_eq!(cast(Match::Name)?, [2, 9]);
/// assert_eq!(cast(Match::NameOrZero)?, [2, 0]);
/// # Ok::<(), lanecast::structured::StructError>(())
/// ```
#[derive(Clone, Debug)]
pub struct StructPlan {
    pub(super) leaves: Vec<Leaf>,
    runs: Vec<Leaf>,
    src_size: usize,
    dst_size: usize,
}

/// The cast of one field, as a plan does it.
#[derive(Clone, Debug)]
pub struct FieldCast<'a> {
    /// The name of the field of the destination, qualified by the structs that contain it: `outer.inner`.
    pub field: &'a str,
    /// The encoding in the source.
    pub from: Encoding,
    /// The encoding in the destination.
    pub to: Encoding,
    /// Elements in an item.
    pub count: usize,
}

/// The longest row that is slower than one pass over the items per element: a row of 3 costs as much as 7 or 8 such passes.
const FEW: usize = 8;

/// The approximate size of a block in bytes, of both sides, so that the next run finds it in the cache.
const BLOCK: usize = 96 << 10;

impl StructPlan {
    /// Resolves the cast for the tier in use ([`tier::active`]). The rules are [those of the module](crate::structured#matching).
    ///
    /// # Errors
    ///
    /// [`StructError::FieldCount`], [`StructError::Overlap`], [`StructError::Field`] with the field that cannot be cast, or
    /// [`StructError::Cast`] as [`CastPlan::new`].
    pub fn new(
        from: &StructType,
        to: &StructType,
        matching: Match,
        options: &CastOptions,
    ) -> Result<StructPlan, StructError> {
        Self::with_tier(from, to, matching, options, tier::active())
    }

    /// Resolves the cast for a given tier.
    ///
    /// # Errors
    ///
    /// As [`new`](Self::new).
    pub fn with_tier(
        from: &StructType,
        to: &StructType,
        matching: Match,
        options: &CastOptions,
        tier: Tier,
    ) -> Result<StructPlan, StructError> {
        let leaves = Resolver::leaves(from, to, matching, options, tier)?;
        let runs = runs(&leaves, from.item_size(), to.item_size());
        Ok(StructPlan { leaves, runs, src_size: from.item_size(), dst_size: to.item_size() })
    }

    /// The fields that are cast, in the order of the destination, without those that are copied (text and bytes) or set to zero.
    pub fn casts(&self) -> impl Iterator<Item = FieldCast<'_>> {
        self.leaves.iter().filter_map(|leaf| match leaf.op {
            Op::Cast { from, to, .. } => {
                Some(FieldCast { field: &leaf.field, from, to, count: leaf.count() })
            }
            _ => None,
        })
    }

    /// Casts the first `n` items of `src` to the first `n` of `dst`.
    ///
    /// The buffers may be longer than `n` items; the bytes after those are neither read nor written. Within the items, bytes of
    /// the destination outside the fields that are written stay as they are.
    ///
    /// # Errors
    ///
    /// [`StructError::BufferTooSmall`] or [`StructError::TooLarge`]; then nothing is written.
    pub fn run(&self, src: &[u8], dst: &mut [u8], n: usize) -> Result<(), StructError> {
        let mut stage = Stage::new();
        self.blocks(src, dst, n, |src, dst, items| {
            for run in &self.runs {
                if !self.views(run, src, dst, items) {
                    let plain = |plan: &CastPlan, src: &[u8], dst: &mut [u8], n, _| {
                        plan.run(Bytes::new(src, n), BytesMut::new(dst, n))
                    };
                    self.apply(run, src, dst, items, &mut stage, plain)?;
                }
            }
            Ok(())
        })
    }

    /// Calls `cast` for blocks of items that fit in the caches, with both sides and the number of items.
    pub(super) fn blocks(
        &self,
        src: &[u8],
        dst: &mut [u8],
        n: usize,
        mut cast: impl FnMut(&[u8], &mut [u8], usize) -> Result<(), CastError>,
    ) -> Result<(), StructError> {
        let (src, dst) = self.items(src, dst, n)?;
        if self.runs.is_empty() {
            return Ok(());
        }
        let block = (BLOCK / (self.src_size + self.dst_size).max(1)).max(1);
        let mut done = 0;
        while done < n {
            let items = block.min(n - done);
            cast(&src[done * self.src_size..], &mut dst[done * self.dst_size..], items)?;
            done += items;
        }
        Ok(())
    }

    /// The runs for `leaves`.
    pub(super) fn joined(&self, leaves: &[Leaf]) -> Vec<Leaf> {
        runs(leaves, self.src_size, self.dst_size)
    }

    /// The fastest runs for a leaf.
    pub(super) fn columns(&self, leaf: Leaf) -> Vec<Leaf> {
        leaf.columns(self.src_size, self.dst_size)
    }

    /// Does `run` for `items` items as a cast of views, if possible.
    fn views(&self, run: &Leaf, src: &[u8], dst: &mut [u8], items: usize) -> bool {
        let Op::Cast { plan, from, to } = &run.op else {
            return false;
        };
        let axes = self.with_items(run, items);
        let (mut shape, mut steps) = ([0; MAX_AXES], [[0; MAX_AXES]; 2]);
        if axes.len() > MAX_AXES {
            return false;
        }
        for (i, axis) in axes.iter().enumerate() {
            // The strides are smaller than the items.
            (shape[i], steps[0][i], steps[1][i]) = (axis.len, axis.src as isize, axis.dst as isize);
        }
        let layout = |of: &Encoding, side: usize, at: usize| {
            Layout::new(*of, &shape[..axes.len()], &steps[side][..axes.len()]).map(|of| of.with_offset(at))
        };
        let mut views = || {
            let src = View::new(src, layout(from, 0, run.src)?)?;
            let mut dst = ViewMut::new(dst, layout(to, 1, run.dst)?)?;
            plan.run(&src, &mut dst)
        };
        views().is_ok()
    }

    /// Does `run` for `items` items. `piece` casts contiguous elements, given the plan, both sides, the number of elements, and the
    /// number of elements before them.
    pub(super) fn apply<E: From<CastError>>(
        &self,
        run: &Leaf,
        src: &[u8],
        dst: &mut [u8],
        items: usize,
        stage: &mut Stage,
        mut piece: impl FnMut(&CastPlan, &[u8], &mut [u8], usize, usize) -> Result<(), E>,
    ) -> Result<(), E> {
        let axes = self.with_items(run, items);
        match &run.op {
            Op::Cast { plan, from, to } => {
                let types = (*from, *to);
                return cast(&axes, (src, run.src), (dst, run.dst), types, stage, |src, dst, n, done| {
                    piece(plan, src, dst, n, done)
                });
            }
            Op::Bytes { src: from, dst: to } => copy(&axes, (src, run.src), (dst, run.dst), (*from, *to)),
            Op::Swapped { src: from, dst: to } => swap(&axes, (src, run.src), (dst, run.dst), (*from, *to)),
            Op::Zero(size) => zero(&axes, dst, run.dst, *size),
        }
        Ok(())
    }

    /// The axes of a run over `items` items.
    fn with_items(&self, run: &Leaf, items: usize) -> Vec<Axis> {
        let mut axes = Vec::with_capacity(run.axes.len() + 1);
        axes.push(Axis { len: items, src: self.src_size, dst: self.dst_size });
        axes.extend_from_slice(&run.axes);
        merge(&mut axes);
        axes
    }

    /// The bytes of `n` items on both sides.
    pub(super) fn items<'a>(
        &self,
        src: &'a [u8],
        dst: &'a mut [u8],
        n: usize,
    ) -> Result<(&'a [u8], &'a mut [u8]), StructError> {
        let need = |which, item_size: usize, have: usize| match n.checked_mul(item_size) {
            Some(need) if need <= have => Ok(need),
            Some(need) if isize::try_from(need).is_ok() => {
                Err(StructError::BufferTooSmall { which, need, have })
            }
            _ => Err(StructError::TooLarge { items: n, item_size }),
        };
        let src_len = need(Side::Source, self.src_size, src.len())?;
        let dst_len = need(Side::Destination, self.dst_size, dst.len())?;
        Ok((&src[..src_len], &mut dst[..dst_len]))
    }
}
