//! [`StructPlan`]: two structs and their options, resolved once and run often.

use super::{
    error::StructError,
    gather::{Stage, cast, copy, swap, zero},
    leaf::{Axis, Leaf, Op, merge, runs},
    resolve::{Match, Resolver},
    types::StructType,
};
use crate::{
    error::{CastError, Side},
    loss::Level,
    options::CastOptions,
    plan::CastPlan,
    tier,
};
use alloc::vec::Vec;
use lanecast_kernels::{Bytes, BytesMut, Encoding, Layout, MAX_AXES, Tier, View, ViewMut};

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
    pub(super) level: Option<Level>,
}

/// The cast of one field, as a plan does it.
#[derive(Clone, Copy, Debug)]
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

/// The approximate size of a block in bytes, of both sides, so that the next run finds it in the cache.
const BLOCK: usize = 96 << 10;

impl StructPlan {
    /// Resolves the cast for the tier in use ([`tier::active`]). The module lists [the rules](crate::structured#matching).
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
        Ok(StructPlan { leaves, runs, src_size: from.item_size(), dst_size: to.item_size(), level: None })
    }

    /// The same cast that refuses values that its fields cannot hold, or counts them, as [`CastPlan::checked`].
    #[must_use]
    pub fn checked(&self, level: Level) -> StructPlan {
        let mut checked = StructPlan { level: Some(level), ..self.clone() };
        for leaf in &mut checked.leaves {
            if let Op::Cast { plan, .. } = &mut leaf.op {
                *plan = plan.checked(level);
            }
        }
        checked
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
    /// [`StructError::BufferTooSmall`] or [`StructError::TooLarge`]; then nothing is written. If the plan is
    /// [checked](Self::checked), also [`StructError::Rejected`] with the first rejected element of the first field, in the order of the
    /// destination, that has one; then the fields of the destination are unspecified.
    pub fn run(&self, src: &[u8], dst: &mut [u8], n: usize) -> Result<(), StructError> {
        if self.level.is_some() {
            return self.run_checked(src, dst, n);
        }
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
