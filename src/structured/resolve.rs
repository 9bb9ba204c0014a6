//! Matches two structs to a list of leaves, which say what is cast or copied, from where to where.

use super::{
    error::{StructError, Trouble},
    leaf::{Axis, Leaf, Op},
    types::{Field, FieldType, StructType, join},
};
use crate::{options::CastOptions, plan::CastPlan};
use alloc::{boxed::Box, collections::BTreeMap, string::String, vec::Vec};
use lanecast_kernels::Tier;

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

/// The state of matching: the current structs and the leaves found so far.
pub(super) struct Resolver<'a> {
    matching: Match,
    options: &'a CastOptions,
    tier: Tier,
    /// The axes of the sub-arrays that contain the current fields.
    axes: Vec<Axis>,
    leaves: Vec<Leaf>,
}

/// The offsets of a field in both items.
#[derive(Clone, Copy)]
struct Place {
    src: usize,
    dst: usize,
}

impl<'a> Resolver<'a> {
    /// All leaves of a cast.
    pub fn leaves(
        from: &StructType,
        to: &StructType,
        matching: Match,
        options: &'a CastOptions,
        tier: Tier,
    ) -> Result<Vec<Leaf>, StructError> {
        if let Some((first, second)) = to.overlap() {
            return Err(StructError::Overlap { first: first.into(), second: second.into() });
        }
        let mut resolver = Resolver { matching, options, tier, axes: Vec::new(), leaves: Vec::new() };
        resolver.structs(from, to, Place { src: 0, dst: 0 }, "")?;
        Ok(resolver.leaves)
    }

    fn structs(
        &mut self,
        from: &StructType,
        to: &StructType,
        at: Place,
        path: &str,
    ) -> Result<(), StructError> {
        if self.matching == Match::Position {
            let (src, dst) = (from.fields().len(), to.fields().len());
            if src != dst {
                return Err(StructError::FieldCount { field: path.into(), src, dst });
            }
            let mut pairs = from.fields().iter().zip(to.fields());
            return pairs.try_for_each(|(src, dst)| self.fields(src, dst, at, path));
        }
        // One by one: `collect` would link a sort.
        let mut by_name: BTreeMap<&str, &Field> = BTreeMap::new();
        for field in from.fields() {
            by_name.insert(field.name(), field);
        }
        for dst in to.fields() {
            match by_name.get(dst.name()) {
                Some(src) => self.fields(src, dst, at, path)?,
                None if self.matching == Match::NameOrZero => {
                    let dst_at = Place { src: 0, dst: at.dst + dst.offset() };
                    self.leaf(dst_at, join(path, dst.name()), Op::Zero(dst.size()))?;
                }
                None => {}
            }
        }
        Ok(())
    }

    fn fields(&mut self, src: &Field, dst: &Field, at: Place, path: &str) -> Result<(), StructError> {
        let at = Place { src: at.src + src.offset(), dst: at.dst + dst.offset() };
        self.arrays((src.shape(), src.kind()), (dst.shape(), dst.kind()), at, join(path, dst.name()))
    }

    /// Matches a sub-array to another, with broadcasting.
    fn arrays(
        &mut self,
        (src_shape, src): (&[usize], &FieldType),
        (dst_shape, dst): (&[usize], &FieldType),
        at: Place,
        path: String,
    ) -> Result<(), StructError> {
        let refused = || StructError::Field {
            field: path.clone(),
            trouble: Trouble::Shape { src: src_shape.into(), dst: dst_shape.into() },
        };
        let (surplus, shared) = src_shape.split_at(src_shape.len().saturating_sub(dst_shape.len()));
        if surplus.iter().any(|&dim| dim != 1) {
            return Err(refused());
        }
        let outer = self.axes.len();
        let (mut src_step, mut dst_step) = (src.size(), dst.size());
        let mut dims = shared.iter().rev();
        for &len in dst_shape.iter().rev() {
            let have = dims.next().copied().unwrap_or(1);
            let step = match have {
                _ if have == len => src_step,
                1 => 0,
                _ => return Err(refused()),
            };
            self.axes.push(Axis { len, src: step, dst: dst_step });
            // Fields are smaller than any buffer, except those with an axis of length 0.
            src_step = src_step.saturating_mul(have);
            dst_step = dst_step.saturating_mul(len);
        }
        self.axes[outer..].reverse();
        let done = self.kinds(src, dst, at, path);
        self.axes.truncate(outer);
        done
    }

    fn kinds(
        &mut self,
        src: &FieldType,
        dst: &FieldType,
        at: Place,
        path: String,
    ) -> Result<(), StructError> {
        let op = match (src, dst) {
            (FieldType::Struct(src), FieldType::Struct(dst)) => return self.structs(src, dst, at, &path),
            (FieldType::Struct(of), dst) if of.fields().len() == 1 => {
                let only = &of.fields()[0];
                let at = Place { src: at.src + only.offset(), ..at };
                return self.arrays((only.shape(), only.kind()), (&[], dst), at, path);
            }
            (src, FieldType::Struct(of)) if self.matching == Match::Position && !is_struct(src) => {
                for field in of.fields() {
                    let at = Place { dst: at.dst + field.offset(), ..at };
                    self.arrays((&[], src), (field.shape(), field.kind()), at, join(&path, field.name()))?;
                }
                return Ok(());
            }
            (FieldType::Element(from), FieldType::Element(to)) => {
                let plan = CastPlan::with_tier(*from, *to, self.options, self.tier)?;
                Op::Cast { plan, from: *from, to: *to }
            }
            (FieldType::Bytes(src), FieldType::Bytes(dst)) | (FieldType::Void(src), FieldType::Void(dst)) => {
                Op::Bytes { src: *src, dst: *dst }
            }
            (FieldType::Ucs4 { chars: src, order: from }, FieldType::Ucs4 { chars: dst, order: to }) => {
                match from == to {
                    true => Op::Bytes { src: 4 * src, dst: 4 * dst },
                    false => Op::Swapped { src: *src, dst: *dst },
                }
            }
            (src, dst) => {
                let trouble = Trouble::Kinds { src: Box::new(src.clone()), dst: Box::new(dst.clone()) };
                return Err(StructError::Field { field: path, trouble });
            }
        };
        self.leaf(at, path, op)
    }

    fn leaf(&mut self, at: Place, field: String, op: Op) -> Result<(), StructError> {
        self.leaves.push(Leaf { field, src: at.src, dst: at.dst, axes: self.axes.clone(), op });
        Ok(())
    }
}

fn is_struct(kind: &FieldType) -> bool {
    matches!(kind, FieldType::Struct(_))
}
