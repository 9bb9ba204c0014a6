//! The last two phases: files whose ranges are written get their names, and then the output does.

use std::{
    fs::{self, File},
    io::{self, Read, Seek, SeekFrom},
    path::Path,
};

use crc32fast::Hasher;
use lanecast_files::{Error, Result, StagedFolder};

use super::{
    divide::ByteRange,
    plan::{Phase, Task, check_output},
    run::check_none,
    work::{Done, DoneRange, Look, Work},
};
use crate::{
    error::{damaged, request},
    origin::{Fnv, NewFile},
    prepared::Prepared,
    write::{Callbacks, Notes, Step, make},
};

/// Bytes that are read at once.
const BLOCK: usize = 1 << 20;

/// Ends a file: all of its ranges are written, and it gets its name.
pub(super) fn file(work: &Work<'_>, task: &Task, callbacks: &mut Callbacks<'_>) -> Result<()> {
    let Some(file) = task.file else { return Ok(()) };
    let of = work.file(file);
    let (mut look, mut pending) = (Look::new(work), Vec::new());
    let mut done: Vec<(usize, DoneRange)> = Vec::new();
    for range in work.plan.of_phase(Phase::Range) {
        if !range.ranges.iter().any(|range| range.file == file) {
            continue;
        }
        match work.marker(range.id).filter(|_| look.is_done(range)) {
            Some(of) => {
                done.extend(of.ranges.into_iter().filter(|of| of.range.file == file).map(|of| (range.id, of)))
            }
            None => pending.push(range.id),
        }
    }
    check_none(&pending, Phase::Range)?;
    let (partial, complete) = (work.partial(file), work.complete(file));
    // An earlier run may have ended between the rename and its marker.
    let path = &work.place(file);
    check_head(work, file, path)?;
    if work.plan.record.verify {
        for (id, done) in &done {
            if read_again(work, path, done, callbacks)? != done.crc32 {
                work.unmark(*id)?;
                let ByteRange { from, to, .. } = done.range;
                let what =
                    format!("bytes {from} to {to} of the file are not those that range task {id} wrote");
                return Err(damaged(what, "run that task again, and check the disk").at_path(path));
            }
        }
    }
    let synced = File::options().write(true).open(path).and_then(|file| file.sync_all());
    synced.map_err(|e| Error::system("cannot flush to disk", &e).at_path(path))?;
    let (mut crc, mut notes) = (Hasher::new(), Notes::default());
    for (_, DoneRange { range, crc32, notes: more }) in done {
        crc.combine(&Hasher::new_with_initial_len(crc32, range.bytes()));
        notes.extend(more);
    }
    let range = ByteRange { file, from: of.head, to: of.bytes };
    // Its tensors are whole now.
    let ranges = vec![DoneRange { range, crc32: crc.finalize(), notes: notes.whole() }];
    work.mark(task.id, Done { ranges, ..Done::default() })?;
    if path == &partial {
        make(&work.files(), &of.name)?;
        fs::rename(&partial, &complete)
            .map_err(|e| Error::system("cannot rename the file", &e).at_path(&partial))?;
    }
    Ok(())
}

/// Fails unless the file has the size and the header of the plan. The marker of a header that is damaged goes.
fn check_head(work: &Work<'_>, file: usize, path: &Path) -> Result<()> {
    let of = work.file(file);
    let failed = |e: io::Error| Error::reading(&e).at_path(path);
    let mut opened = File::open(path).map_err(|e| Error::system("cannot open", &e).at_path(path))?;
    let mut head = Vec::new();
    opened.by_ref().take(of.head).read_to_end(&mut head).map_err(failed)?;
    let bytes = opened.metadata().map_err(failed)?.len();
    if bytes == of.bytes && Fnv::of(&head) == of.header {
        return Ok(());
    }
    let id = work.plan.of_file(file).0.id;
    work.unmark(id)?;
    let what = format!("the file has {bytes} bytes of {}, or a damaged header", of.bytes);
    Err(damaged(what, &format!("run prepare task {id} again, and then what is pending")).at_path(path))
}

/// The checksum of bytes of a file.
fn read_again(work: &Work<'_>, path: &Path, of: &DoneRange, callbacks: &mut Callbacks<'_>) -> Result<u32> {
    let failed = |e: io::Error| Error::reading(&e).at_path(path);
    let mut file = File::open(path).map_err(|e| Error::system("cannot open", &e).at_path(path))?;
    file.seek(SeekFrom::Start(of.range.from)).map_err(failed)?;
    let (mut hasher, mut block, mut left) = (Hasher::new(), vec![0; BLOCK], of.range.bytes());
    let NewFile { name, head, bytes, .. } = work.file(of.range.file);
    while left > 0 {
        callbacks.check()?;
        let n = usize::try_from(left).map_or(BLOCK, |left| left.min(BLOCK));
        file.read_exact(&mut block[..n]).map_err(failed)?;
        hasher.update(&block[..n]);
        left -= n as u64;
        if let Some(progress) = &mut callbacks.progress {
            let (done, total) = (of.range.to - left - head, bytes - head);
            progress(Step { is_check: true, ..Step::of_all(name, "", done, total) });
        }
    }
    Ok(hasher.finalize())
}

/// What was written to the files, which are complete.
fn files_done(work: &Work<'_>) -> Result<Vec<DoneRange>> {
    let (mut look, mut pending, mut ranges) = (Look::new(work), Vec::new(), Vec::new());
    for task in work.plan.of_phase(Phase::Shard) {
        match work.marker(task.id).filter(|_| look.is_done(task)) {
            Some(done) => ranges.extend(done.ranges),
            None => pending.push(task.id),
        }
    }
    check_none(&pending, Phase::Shard)?;
    Ok(ranges)
}

/// Writes all other files, and gives the output its name. What is left of the folder is the marker of this task, which has the report.
pub(super) fn all(work: &Work<'_>, prepared: &dyn Prepared, callbacks: &mut Callbacks<'_>) -> Result<()> {
    // Before there is a lock, and the folder for it.
    files_done(work)?;
    let _lock = work.lock(callbacks)?;
    if work.is_finished() {
        return Ok(());
    }
    let record = &work.plan.record;
    let plan = prepared.plan(&record.output)?;
    let mut written = plan.written();
    files_done(work)?.into_iter().for_each(|done| written.notes.extend(done.notes));
    let names = written.files.clone();
    let outcome = Some(prepared.outcome(written)?);
    let last = work.plan.last();
    let done = Done { outcome, ..Done::default() };
    check_output(&record.output, record.is_file, prepared.replaces())?;
    let renamed = |e: io::Error| Error::system("cannot rename the output", &e).at_path(&record.output);
    if record.is_file {
        work.mark(last, done)?;
        fs::rename(work.complete(0), &record.output).map_err(renamed)?;
    } else {
        let files = work.files();
        // Without locks, another process may do the same at this moment: each writes to a folder of its own, and renames.
        let failed = |e: io::Error| Error::system("cannot make a temporary folder", &e).at_path(&work.root);
        let rest = tempfile::Builder::new().prefix("rest-").tempdir_in(&work.root).map_err(failed)?;
        plan.write_rest(rest.path(), callbacks)?;
        for name in names.iter().skip(plan.shards.len()) {
            fs::rename(rest.path().join(name), make(&files, name)?).map_err(renamed)?;
        }
        let staged = StagedFolder::adopt(&files, &record.output, prepared.replaces())?;
        work.mark(last, done)?;
        // A process that has finished just now has taken them away.
        if (0..record.files.len()).any(|file| !work.complete(file).exists()) {
            return Err(request("the files of the output are no longer there").at_path(&files));
        }
        staged.commit()?;
    }
    // There is nothing to lose any more, and the output is there. Processes that were killed have left temporary files, too.
    work.clear();
    Ok(())
}
