//! The second look at an output: every tensor is read again and compared with a second cast of the source.
//!
//! The second cast has little in common with the first: the scalar tier, other blocks, no counts of losses.

use std::path::PathBuf;

use lanecast::{Bytes, BytesMut, CastOptions, CastPlan, DType, Tier};
use lanecast_files::{Detail, Error, Remedy, Result};

use crate::{
    checkpoint::little,
    error::At,
    faults::Faults,
    parallel::{Stop, count, in_order},
    source::{Source, Stored},
    write::{Callbacks, Plan, Step},
};

/// Elements that are compared at once, another number than the first cast has. They fill whole bytes in every dtype.
const PART: usize = 3 << 16;

/// Elements of a tensor of the source and of the output.
struct Part<'a> {
    old: &'a Stored,
    new: &'a Stored,
    to: DType,
    first: usize,
    count: usize,
}

/// Compares the files of the output, which are at these paths, with the source, whose tensors become these dtypes. Returns the number of
/// tensors.
pub(super) fn compare(
    source: &Source,
    plan: &Plan<'_>,
    dtypes: &[DType],
    path_of: impl Fn(&str) -> PathBuf,
    callbacks: &mut Callbacks<'_>,
) -> Result<usize> {
    let (mut done, total) = (0, plan.bytes());
    for shard in &plan.shards {
        let written = Source::open(&path_of(&shard.name), &mut Faults::fatal())?;
        let mut pairs = Vec::new();
        for tensor in &shard.tensors {
            let name = &tensor.declared.name;
            let old = source.names.get(name).map(|id| (&source.tensors[*id], dtypes[*id]));
            let new = written.names.get(name).map(|id| &written.tensors[*id]);
            let (Some((old, dtype)), Some(new)) = (old, new) else {
                return Err(
                    wrong(format!("the output has no tensor \"{name}\"")).at_path(&path_of(&shard.name))
                );
            };
            if new.dtype() != Some(dtype) || new.shape != old.shape {
                let what = format!("the tensor of the output is {}", new.described());
                return Err(wrong(what).tensor(&written, new));
            }
            pairs.push((old, new, dtype));
        }
        let parts = pairs.iter().flat_map(|(old, new, to)| {
            let part = |first| Part { old, new, to: *to, first, count: PART.min(old.len() - first) };
            (0..old.len()).step_by(PART).map(move |first| (part(first), 0))
        });
        let (mut file_done, file_total) = (0, shard.bytes());
        let compare = |part, _: &Stop| {
            let bytes = compare_values(source, &written, &part)?;
            Ok((part, bytes))
        };
        in_order(count(plan.threads), parts, compare, |compared| {
            let Some((part, bytes)) = compared else { return callbacks.check() };
            (done, file_done) = (done + bytes, file_done + bytes);
            if let Some(progress) = &mut callbacks.progress {
                let (file, tensor) = (&*shard.name, &*part.old.name);
                let is_check = true;
                progress(Step { file_done, file_total, is_check, ..Step::of_all(file, tensor, done, total) });
            }
            callbacks.check()
        })?;
    }
    Ok(plan.shards.iter().map(|shard| shard.tensors.len()).sum())
}

/// Compares elements, and returns the bytes of the elements of the output.
fn compare_values(source: &Source, written: &Source, part: &Part<'_>) -> Result<u64> {
    let Part { old, new, to, first, count } = *part;
    let from = old.dtype().unwrap_or(to);
    let read = |of: &Source, tensor: &Stored, dtype: DType| {
        let len = |n| little(dtype).byte_len(n).unwrap_or(0);
        let mut bytes = vec![0; len(count)];
        of.read(tensor, len(first), &mut bytes)?;
        Ok::<_, Error>(bytes)
    };
    let (mut want, have) = (read(source, old, from)?, read(written, new, to)?);
    // A copy keeps all bits; a cast to the same dtype may not.
    if from != to {
        let plan = CastPlan::with_tier(little(from), little(to), &CastOptions::RUST, Tier::Scalar)?;
        let mut cast = vec![0; have.len()];
        plan.run(Bytes::new(&want, count), BytesMut::new(&mut cast, count))?;
        want = cast;
    }
    if want != have {
        let at = want.iter().zip(&have).position(|(want, have)| want != have).unwrap_or(0);
        let element = first + at * 8 / to.bits() as usize;
        let what = format!("element {element} of the output is not that of the source");
        return Err(wrong(what).tensor(written, new));
    }
    Ok(have.len() as u64)
}

/// The output is not what was to be written.
fn wrong(what: String) -> Error {
    let remedy = "start again, and check the disk and the memory of this machine";
    Error::Format(Detail { what, remedy: Remedy::Text(remedy.to_owned()), ..Detail::default() })
}
