//! Casts of a checkpoint whose files are still arriving.
//!
//! *Law.* A file is cast early only if the files that are missing cannot change its bytes. What turns out otherwise is cast again, because the key
//! of its marker is then another one.
//!
//! *Method.* Each round opens the files that are complete, and writes their shards that are not in the output. Between rounds it waits
//! for a change of the folder. Once no file is missing, the usual work is left, and finds almost all of it done.

use std::{
    fs,
    path::Path,
    thread,
    time::{Duration, Instant, UNIX_EPOCH},
};

use lanecast_files::{Detail, Error, Remedy, Result, TensorFile};

use super::{Conversion, ConvertOptions, Job, Partial, check_plain, partial};
use crate::{
    arrivals::{Arrivals, check_control},
    checkpoint::Checkpoint,
    faults::Faults,
    folder::json,
    origin::Fnv,
    prepared::Prepared,
    source::{INDEX, SINGLE, Source, parent},
    write::Callbacks,
};

/// The longest time between two looks at the folder.
const POLL: Duration = Duration::from_millis(200);
/// The longest time without a change after which no more files are expected once all weights are there.
const SETTLED: Duration = Duration::from_secs(2);
/// Where programs of Hugging Face keep the parts of downloads to a folder.
const DOWNLOADS: &str = ".cache/huggingface/download";
/// What may describe the tensors beside the index.
const DESCRIPTIONS: &[&str] = &["config.json", "hf_quant_config.json", "quantize_config.json"];
/// The most names of files in an error.
const NAMED: usize = 5;

/// What was written before all files were there.
#[derive(Default)]
pub(super) struct Early {
    pub(super) output: Option<Partial>,
    /// Bytes of tensors.
    pub(super) bytes: u64,
}

/// Waits until all files of the source are complete. Casts files that are, meanwhile.
pub(super) fn wait(
    src: &Path,
    dst: &Path,
    options: &ConvertOptions,
    callbacks: &mut Callbacks<'_>,
    limit: Duration,
) -> Result<Early> {
    let mut patience = Patience { src, limit, since: Instant::now(), seen: None };
    let (mut early, mut failed) = (Early::default(), false);
    loop {
        callbacks.check()?;
        let opened = ready(src).map(|()| early.open(src, dst, options));
        let missing = match opened {
            Err(missing) => vec![missing],
            // A file may have changed since it was ready. If it has not, the second error is the same.
            Ok(Err(_)) if !failed => {
                failed = true;
                continue;
            }
            Ok(Err(error)) => return Err(error),
            Ok(Ok(mut source)) => {
                failed = false;
                let missing = std::mem::take(&mut source.missing);
                if missing.is_empty() {
                    patience.settle(callbacks)?;
                    match ready(src) {
                        Ok(()) => return Ok(early),
                        Err(_) => continue,
                    }
                }
                source.missing = missing.iter().map(|(name, _)| (name.clone(), Error::Cancelled)).collect();
                early.round(source, dst, options, callbacks)?;
                missing
            }
        };
        patience.wait(&missing, callbacks)?;
    }
}

/// Whether the files of the checkpoint are known; if not, what is missing.
fn ready(src: &Path) -> std::result::Result<(), (String, Error)> {
    let complete = |path: &Path, name: &str| {
        let opened = check_control(path).and_then(|()| TensorFile::open(path));
        opened.map(drop).map_err(|e| (name.to_owned(), e))
    };
    // Descriptions that are written in place are no JSON before they are complete.
    for name in DESCRIPTIONS {
        let folder = if src.is_dir() { src.to_owned() } else { parent(src) };
        let read = check_control(&folder.join(name)).and_then(|()| json(&folder, name));
        read.map_err(|error| ((*name).to_owned(), error))?;
    }
    match src.extension().is_some_and(|extension| extension == "safetensors") {
        true => complete(src, &crate::source::file_name(src)),
        false => match json(src, INDEX) {
            Ok(Some(_)) => Ok(()),
            Ok(None) => complete(&src.join(SINGLE), &format!("{INDEX} or {SINGLE}")),
            Err(error) => Err((INDEX.to_owned(), error)),
        },
    }
}

impl Early {
    /// Opens what is there.
    fn open(&self, src: &Path, dst: &Path, options: &ConvertOptions) -> Result<Source> {
        let described = match options.resume || self.output.is_some() {
            true => partial::described(dst)?,
            false => Default::default(),
        };
        Source::open_with(src, &Arrivals { described, waits: true }, &mut Faults::fatal())
    }

    /// Casts what can be cast of the files that are there.
    fn round(
        &mut self,
        source: Source,
        dst: &Path,
        options: &ConvertOptions,
        callbacks: &mut Callbacks<'_>,
    ) -> Result<()> {
        let source = match options.allow_quantized {
            true => source,
            false => match Checkpoint::of(source, &mut Faults::fatal()) {
                Ok(checkpoint) => {
                    check_plain(&checkpoint)?;
                    checkpoint.source
                }
                // A scale and its codes may be in two files. All of them together decide.
                Err(_) => return Ok(()),
            },
        };
        let conversion = Conversion::of(source, Vec::new(), dst, options)?;
        let mut plan = conversion.plan(dst)?;
        if options.max_shard_size.is_some() || plan.is_file {
            return Ok(());
        }
        let job = Job::new(&conversion.source, options, &plan)?;
        let names = &conversion.source.names;
        plan.shards.retain(|shard| {
            let mut ids = shard.tensors.iter().filter_map(|tensor| names.get(&tensor.declared.name));
            ids.all(|id| !conversion.is_open[*id])
        });
        if plan.shards.is_empty() {
            return Ok(());
        }
        let output = match &mut self.output {
            Some(output) => {
                output.take_job(job)?;
                output
            }
            None => self.output.insert(Partial::open(dst, false, job, options)?),
        };
        let written = plan.write_shards(output, callbacks)?;
        self.bytes += written.bytes_out - written.resumed;
        Ok(())
    }
}

/// How long to wait.
struct Patience<'a> {
    src: &'a Path,
    limit: Duration,
    /// The last change that was seen.
    since: Instant,
    seen: Option<String>,
}

impl Patience<'_> {
    /// Waits until the folder has changed since the last call, and fails if it has not for too long.
    fn wait(&mut self, missing: &[(String, Error)], callbacks: &Callbacks<'_>) -> Result<()> {
        loop {
            callbacks.check()?;
            let seen = Some(look(self.src));
            if seen != self.seen {
                (self.seen, self.since) = (seen, Instant::now());
                return Ok(());
            }
            if self.since.elapsed() >= self.limit {
                return Err(late(self.src, missing, self.limit));
            }
            self.pause();
        }
    }

    /// Waits for the files that are no weights, which nothing lists: until nothing has changed for a while, if it had to wait before.
    fn settle(&mut self, callbacks: &Callbacks<'_>) -> Result<()> {
        while self.seen.is_some() {
            callbacks.check()?;
            let seen = Some(look(self.src));
            if seen != self.seen {
                (self.seen, self.since) = (seen, Instant::now());
            }
            if self.since.elapsed() >= SETTLED.min(self.limit / 10) {
                break;
            }
            self.pause();
        }
        Ok(())
    }

    fn pause(&self) {
        thread::sleep((self.limit / 100).clamp(Duration::from_millis(2), POLL));
    }
}

/// A hash of the names, sizes and times of files in the folder of the source, and of downloads to it.
fn look(src: &Path) -> String {
    let folder = if src.is_dir() { src.to_owned() } else { parent(src) };
    let mut files = Vec::new();
    for folder in [folder.join(DOWNLOADS), folder] {
        for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
            let Ok(metadata) = fs::metadata(entry.path()) else { continue };
            let time = metadata.modified().ok().and_then(|time| time.duration_since(UNIX_EPOCH).ok());
            files.push(format!("{:?}\0{}\0{time:?}\0", entry.path(), metadata.len()));
        }
    }
    files.sort();
    Fnv::of(files.concat().as_bytes())
}

/// The error about files that did not arrive.
fn late(src: &Path, missing: &[(String, Error)], limit: Duration) -> Error {
    let reason = |error: &Error| error.detail().map_or_else(String::new, |detail| detail.what.clone());
    let named = missing.iter().take(NAMED).map(|(name, error)| format!("\"{name}\" ({})", reason(error)));
    let more = match missing.len().saturating_sub(NAMED) {
        0 => String::new(),
        more => format!(", and {more} others"),
    };
    let files =
        if missing.len() == 1 { "a file is".to_owned() } else { format!("{} files are", missing.len()) };
    let what = format!(
        "{files} not complete, and nothing has changed for {} s: {}{more}",
        limit.as_secs_f64(),
        named.collect::<Vec<_>>().join(", ")
    );
    let remedy = "go on with the download, then with wait and resume (--wait, --resume)";
    let detail = Detail { what, remedy: Remedy::Text(remedy.to_owned()), ..Detail::default() };
    Error::Io(detail, std::io::ErrorKind::TimedOut).at_path(src)
}
