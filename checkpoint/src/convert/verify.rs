//! The second look at an output: every tensor is read again and compared with a second cast of the source.
//!
//! The second cast has little in common with the first: the scalar tier, other blocks, no counts of losses.

use std::{io::Read, path::PathBuf};

use lanecast::{Bytes, BytesMut, CastOptions, CastPlan, DType, Tier};
use lanecast_files::{Detail, Error, Remedy, Result};

use crate::{
    checkpoint::little,
    error::At,
    faults::Faults,
    source::{Source, Stored},
    write::{Callbacks, Plan, Step},
};

/// Elements that are compared at once, another number than the first cast has. Those of every dtype fill whole bytes.
const PART: usize = 3 << 16;

/// Compares the files of the output, which are at these paths, with the source, whose tensors become these dtypes. Returns the number of
/// tensors.
pub(super) fn compare(
    source: &Source,
    plan: &Plan<'_>,
    dtypes: &[DType],
    path_of: impl Fn(&str) -> PathBuf,
    callbacks: &mut Callbacks<'_>,
) -> Result<usize> {
    let (mut done, mut count, total) = (0, 0, plan.bytes());
    for shard in &plan.shards {
        let written = Source::open(&path_of(&shard.name), &mut Faults::fatal())?;
        let (mut file_done, file_total) = (0, shard.bytes());
        for tensor in &shard.tensors {
            callbacks.check()?;
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
            compare_values(source, old, &written, new, dtype, &mut |bytes| {
                (done, file_done) = (done + bytes, file_done + bytes);
                if let Some(progress) = &mut callbacks.progress {
                    let (file, tensor) = (&*shard.name, &**name);
                    progress(Step { file, tensor, done, total, file_done, file_total, is_check: true });
                }
                callbacks.check()
            })?;
            count += 1;
        }
    }
    Ok(count)
}

/// Compares the elements of a tensor; `go_on` is told the bytes of each part.
fn compare_values(
    source: &Source,
    old: &Stored,
    written: &Source,
    new: &Stored,
    to: DType,
    go_on: &mut dyn FnMut(u64) -> Result<()>,
) -> Result<()> {
    let from = old.dtype().unwrap_or(to);
    let plan = CastPlan::with_tier(little(from), little(to), &CastOptions::RUST, Tier::Scalar)?;
    let (mut before, mut after) = (source.reader(old, 0)?, written.reader(new, 0)?);
    let (n, mut bytes, mut want, mut have) = (old.len(), Vec::new(), Vec::new(), Vec::new());
    for first in (0..n).step_by(PART) {
        let count = PART.min(n - first);
        bytes.resize(little(from).byte_len(count).unwrap_or(0), 0);
        want.resize(little(to).byte_len(count).unwrap_or(0), 0);
        have.resize(want.len(), 0);
        before.read_exact(&mut bytes).map_err(|e| Error::reading(&e).tensor(source, old))?;
        after.read_exact(&mut have).map_err(|e| Error::reading(&e).tensor(written, new))?;
        // A copy keeps all bits; a cast to the same dtype may not.
        if from == to {
            want.clone_from(&bytes);
        } else {
            plan.run(Bytes::new(&bytes, count), BytesMut::new(&mut want, count))?;
        }
        if let Some(at) = want.iter().zip(&have).position(|(want, have)| want != have) {
            let element = first + at * 8 / to.bits() as usize;
            let what = format!("element {element} of the output is not that of the source");
            return Err(wrong(what).tensor(written, new));
        }
        go_on(have.len() as u64)?;
    }
    Ok(())
}

/// The output is not what was to be written.
fn wrong(what: String) -> Error {
    let remedy = "start again, and check the disk and the memory of this machine";
    Error::Format(Detail { what, remedy: Remedy::Text(remedy.to_owned()), ..Detail::default() })
}
