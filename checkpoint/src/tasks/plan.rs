//! [`TaskPlan`]: what is done, from what, to what, and in which tasks. Its file is JSON with a task in each line.

use std::{
    fmt,
    fs::File,
    io::{BufReader, Write},
    path::{Path, PathBuf},
    str::FromStr,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicUsize, Ordering},
    },
};

use lanecast_files::{Detail, Error, Output, Remedy, Result, StagedFolder};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{
    divide::{Body, ByteRange, divide},
    work::Work,
};
use crate::{
    convert::{Conversion, ConvertOptions},
    dequantize::{Decoding, Options},
    error::{damaged, refused, request, unsupported},
    origin::{Fnv, NewFile, Origin, differs, origins},
    prepared::{Extent, Prepared},
    quantize::{Quantization, QuantizeOptions},
    source::parent,
    write::Shard,
};

/// The number of the format of the file.
const FORMAT: u32 = 1;
/// Files of the source that a task looks at, once the process has seen all. Thousands of files are too many for a metadata server that
/// thousands of tasks ask.
const LOOKED_AT: usize = 16;

/// What is done to a checkpoint, with its options.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum Operation {
    /// [`convert`](crate::convert()). Tasks always go on with what is unfinished, so `resume` and `mark_every` say nothing;
    /// [`PlanOptions::verify`] is instead of `verify`.
    Convert(ConvertOptions),
    /// [`dequantize`](crate::dequantize()).
    Dequantize(Options),
    /// [`quantize`](crate::quantize()).
    Quantize(QuantizeOptions),
    /// [`requantize`](crate::requantize).
    Requantize(QuantizeOptions),
}

impl Operation {
    /// Its name, which is the subcommand of the program.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Convert(_) => "convert",
            Self::Dequantize(_) => "dequantize",
            Self::Quantize(_) => "quantize",
            Self::Requantize(_) => "requantize",
        }
    }

    fn open(&self, src: &Path, dst: &Path) -> Result<Arc<dyn Prepared>> {
        Ok(match self {
            Self::Convert(options) => Arc::new(Conversion::open(src, dst, options)?),
            Self::Dequantize(options) => Arc::new(Decoding::open(src, dst, options)?),
            Self::Quantize(options) => Arc::new(Quantization::open(src, dst, options)?),
            Self::Requantize(options) => Arc::new(Quantization::open_again(src, dst, options)?),
        })
    }
}

/// How the work is divided, and checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PlanOptions {
    /// Bytes of the output that a task writes, about. A task writes more if a tensor cannot be divided so.
    pub range_size: u64,
    /// Whether files are read again before they get their names, and compared with the checksums of what was written.
    pub verify: bool,
}

impl Default for PlanOptions {
    /// Tasks of 1 GiB, and no second look.
    fn default() -> Self {
        Self { range_size: 1 << 30, verify: false }
    }
}

/// The phases of a plan, in their order. All tasks of a phase can run at the same time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum Phase {
    /// Measures weights that have a scale for the tensor. Few schemes need it.
    Amax,
    /// Makes the file that ranges are written to; without a file, merges what was measured.
    Prepare,
    /// Reads, casts and writes ranges of bytes.
    Range,
    /// Gives a file whose ranges are written its name.
    Shard,
    /// Writes all other files, and gives the output its name.
    Finish,
}

impl Phase {
    /// All phases, in order.
    pub const ALL: [Self; 5] = [Self::Amax, Self::Prepare, Self::Range, Self::Shard, Self::Finish];

    /// The name, as files and the program spell it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Amax => "amax",
            Self::Prepare => "prepare",
            Self::Range => "range",
            Self::Shard => "shard",
            Self::Finish => "finish",
        }
    }
}

impl fmt::Display for Phase {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Phase {
    type Err = Error;

    /// The phase of this name.
    ///
    /// # Errors
    ///
    /// [`Error::Request`] with the names of all phases.
    fn from_str(name: &str) -> Result<Self> {
        Self::ALL.into_iter().find(|phase| phase.name() == name).ok_or_else(|| {
            let names = Self::ALL.map(Self::name).join(", ");
            request(format!("there is no phase \"{name}\", but {names}"))
        })
    }
}

/// A part of the work that one process does alone.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Task {
    /// Its number, which is its place in the plan.
    pub id: usize,
    /// The phase.
    pub phase: Phase,
    /// The index of the file that a `prepare` makes and a `shard` ends.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file: Option<usize>,
    /// What a `range` writes. The ranges of an `amax` count through the bytes of all measured weights as if these were one file.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub ranges: Vec<ByteRange>,
}

impl Task {
    /// Bytes that the task writes, or reads if it is an `amax`.
    pub fn bytes(&self) -> u64 {
        self.ranges.iter().map(ByteRange::bytes).sum()
    }

    /// The task for a message: `range task 7`.
    pub(super) fn named(&self) -> String {
        format!("{} task {}", self.phase, self.id)
    }
}

/// What the file of a plan has before its tasks.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Record {
    format: u32,
    /// The version of this crate.
    version: String,
    pub(super) operation: Operation,
    pub(super) source: PathBuf,
    pub(super) output: PathBuf,
    /// Whether the output is one file, not a folder.
    pub(super) is_file: bool,
    range_size: u64,
    pub(super) verify: bool,
    /// The files of the source.
    sources: Vec<Origin>,
    /// The files of tensors of the output.
    pub(super) files: Vec<NewFile>,
    pub(super) tasks: Vec<Task>,
}

/// Only the beginning of a [`Record`], which every format has.
#[derive(Deserialize)]
struct Format {
    format: u32,
    version: String,
}

/// A plan of tasks that processes on any number of machines run, if all of them see the folders of the source and of the output.
///
/// A plan depends on the source and the options only: planning again gives the same plan, which goes on with what is done already. The first
/// task that a plan runs opens the checkpoint, and later ones use it again.
pub struct TaskPlan {
    pub(super) record: Record,
    /// The hash of all that the plan says.
    pub(super) hash: String,
    opened: Mutex<Option<Arc<dyn Prepared>>>,
    /// The file of the source that the next task looks at first.
    next: AtomicUsize,
}

impl fmt::Debug for TaskPlan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TaskPlan")
            .field("hash", &self.hash)
            .field("record", &self.record)
            .finish_non_exhaustive()
    }
}

impl TaskPlan {
    /// Plans an operation from the checkpoint `src` to `dst`. Headers are read, and nothing is written.
    ///
    /// # Errors
    ///
    /// The errors of the operation, as far as headers show them; [`Error::Exists`] if `dst` exists and may not be replaced.
    pub fn new(src: &Path, dst: &Path, operation: Operation, options: PlanOptions) -> Result<Self> {
        if options.range_size == 0 {
            return Err(request("a task cannot write 0 bytes").at("range_size"));
        }
        let whole = |path: &Path| {
            std::path::absolute(path).map_err(|e| Error::system("cannot find the folder", &e).at_path(path))
        };
        let prepared = operation.open(src, dst)?;
        let plan = prepared.plan(dst)?;
        check_output(dst, plan.is_file, prepared.replaces())?;
        let files = plan.shards.iter().map(NewFile::of).collect::<Result<Vec<_>>>()?;
        let bodies = plan.shards.iter().zip(&files).map(|(shard, file)| body(shard, file.head));
        let bodies = bodies.collect::<Result<Vec<_>>>()?;
        let record = Record {
            format: FORMAT,
            version: env!("CARGO_PKG_VERSION").to_owned(),
            source: whole(src)?,
            output: whole(dst)?,
            is_file: plan.is_file,
            range_size: options.range_size,
            verify: options.verify,
            sources: origins(prepared.source())?,
            tasks: tasks(prepared.unmeasured(), bodies, options.range_size),
            files,
            operation,
        };
        drop(plan);
        Self::of(record, Some(prepared))
    }

    fn of(record: Record, opened: Option<Arc<dyn Prepared>>) -> Result<Self> {
        let hash = Fnv::of(record.text()?.as_bytes());
        Ok(Self { record, hash, opened: Mutex::new(opened), next: AtomicUsize::new(0) })
    }

    /// Reads the file of a plan.
    ///
    /// # Errors
    ///
    /// [`Error::Io`] if it cannot be read, [`Error::Format`] if it is no plan, [`Error::Unsupported`] if another version wrote it.
    pub fn load(path: &Path) -> Result<Self> {
        let failed = |e: std::io::Error| Error::system("cannot open", &e).at_path(path);
        let text = std::io::read_to_string(BufReader::new(File::open(path).map_err(failed)?));
        let text = text.map_err(|e| Error::reading(&e).at_path(path))?;
        let bad = |what: String| damaged(what, "make the plan again").at_path(path);
        let no_plan = |e: serde_json::Error| bad(format!("the file is no plan of tasks, {e}"));
        let of: Format = serde_json::from_str(&text).map_err(no_plan)?;
        let own = (FORMAT, env!("CARGO_PKG_VERSION"));
        if (of.format, &*of.version) != own {
            let what = format!(
                "the plan was made by version {} (format {}), and this is {} (format {FORMAT})",
                of.version, of.format, own.1
            );
            return Err(
                refused(what, "run its tasks with that version, or make the plan again").at_path(path)
            );
        }
        let record: Record = serde_json::from_str(&text).map_err(no_plan)?;
        if let Some(what) = record.fault() {
            return Err(bad(what));
        }
        Self::of(record, None)
    }

    /// Writes the plan to a file, which appears complete or not at all and replaces another one.
    ///
    /// # Errors
    ///
    /// [`Error::Io`] if it cannot be written; [`Error::Unsupported`] if a path is no UTF-8.
    pub fn save(&self, path: &Path) -> Result<()> {
        let text = self.record.text()?;
        let mut output = Output::create(path, true)?;
        output.writer().write_all(text.as_bytes()).map_err(|e| Error::writing(&e).at_path(path))?;
        output.commit()
    }

    /// The tasks. The number of a task is its place here.
    pub fn tasks(&self) -> &[Task] {
        &self.record.tasks
    }

    /// The checkpoint.
    pub fn source(&self) -> &Path {
        &self.record.source
    }

    /// Where the output will be.
    pub fn output(&self) -> &Path {
        &self.record.output
    }

    /// The folder beside the output that has the files in progress and the markers of tasks. Its name has a hash of the plan, so no other plan
    /// has this folder. Once the output is finished, only a small record is left in it.
    ///
    /// # Errors
    ///
    /// [`Error::Request`] if the output has no name.
    pub fn folder(&self) -> Result<PathBuf> {
        Ok(Work::new(self)?.root)
    }

    /// What is done.
    pub fn operation(&self) -> &Operation {
        &self.record.operation
    }

    /// The name of a file of the output, which [`ByteRange::file`] counts.
    pub fn file(&self, index: usize) -> Option<&str> {
        self.record.files.get(index).map(|file| file.name.as_str())
    }

    /// The tasks of a phase.
    pub(super) fn of_phase(&self, phase: Phase) -> &[Task] {
        let tasks = &self.record.tasks;
        &tasks[tasks.partition_point(|task| task.phase < phase)
            ..tasks.partition_point(|task| task.phase <= phase)]
    }

    /// The task that makes a file, and the one that ends it.
    pub(super) fn of_file(&self, file: usize) -> (&Task, &Task) {
        let (files, prepares) = (self.record.files.len(), self.of_phase(Phase::Prepare));
        // The merge of the first pass is before those of files.
        (&prepares[prepares.len() - files + file], &self.of_phase(Phase::Shard)[file])
    }

    /// The task that merges the first pass.
    pub(super) fn merge(&self) -> Option<&Task> {
        self.of_phase(Phase::Prepare).first().filter(|task| task.file.is_none())
    }

    /// The last task.
    pub(super) fn last(&self) -> usize {
        self.record.tasks.len() - 1
    }

    /// The checkpoint, opened. Fails if it is not what it was when the plan was made. The first task of a process and the last task of the plan
    /// look at all files of the source, and the others at some files in turn.
    pub(super) fn prepared(&self, is_last: bool) -> Result<Arc<dyn Prepared>> {
        let Record { source, output, sources, operation, .. } = &self.record;
        let folder = if source.is_dir() { source.clone() } else { parent(source) };
        let changed = |how: String| {
            let remedy = Remedy::Text("make the plan again".to_owned());
            let what = format!("the source is not the one that was planned: {how}");
            Error::Request(Detail { what, remedy, ..Detail::default() }).at_path(source)
        };
        let lock = || self.opened.lock().unwrap_or_else(PoisonError::into_inner);
        let looked_at =
            if is_last || lock().is_none() { sources.len() } else { LOOKED_AT.min(sources.len()) };
        let first = self.next.fetch_add(looked_at, Ordering::Relaxed) % sources.len().max(1);
        for origin in sources.iter().cycle().skip(first).take(looked_at) {
            if !origin.is_in(&folder)? {
                return Err(changed(format!("\"{}\" of the source has changed since", origin.name)));
            }
        }
        let mut opened = lock();
        if let Some(prepared) = &*opened {
            return Ok(Arc::clone(prepared));
        }
        let prepared = operation.open(source, output)?;
        if let Some(how) = differs(sources, &origins(prepared.source())?, true) {
            return Err(changed(how));
        }
        *opened = Some(Arc::clone(&prepared));
        Ok(prepared)
    }
}

/// Fails if there is an output that may not be replaced.
pub(super) fn check_output(dst: &Path, is_file: bool, replace: bool) -> Result<()> {
    match is_file {
        true => Output::check(dst, replace),
        false => StagedFolder::check(dst, replace),
    }
}

/// The tensors of a file, in its order.
fn body(shard: &Shard<'_>, head: u64) -> Result<Body> {
    let (_, order) = shard.header()?;
    let extent = |place: usize| {
        let tensor = &shard.tensors[place];
        Extent { bytes: tensor.bytes(), part: tensor.part }
    };
    Ok(Body { first: head, extents: order.into_iter().map(extent).collect() })
}

/// The tasks of all phases.
fn tasks(unmeasured: Vec<Extent>, bodies: Vec<Body>, size: u64) -> Vec<Task> {
    let (measures, files) = (!unmeasured.is_empty(), bodies.len());
    let amax = divide([Body { first: 0, extents: unmeasured }], size).into_iter();
    let ranges = divide(bodies, size).into_iter();
    let of_file = |phase| (0..files).map(move |file| (phase, Some(file), Vec::new()));
    let rows = amax.map(|ranges| (Phase::Amax, None, ranges));
    let rows =
        rows.chain(measures.then_some((Phase::Prepare, None, Vec::new()))).chain(of_file(Phase::Prepare));
    let rows = rows.chain(ranges.map(|ranges| (Phase::Range, None, ranges))).chain(of_file(Phase::Shard));
    let rows = rows.chain([(Phase::Finish, None, Vec::new())]).enumerate();
    rows.map(|(id, (phase, file, ranges))| Task { id, phase, file, ranges }).collect()
}

impl Record {
    /// The file. Lists have a row in each line.
    fn text(&self) -> Result<String> {
        let value = serde_json::to_value(self);
        let value = value.map_err(|e| unsupported(format!("cannot write the plan as JSON, {e}")))?;
        let member = |(key, value): (&String, &Value)| match value {
            Value::Array(rows) => {
                let rows: Vec<String> = rows.iter().map(Value::to_string).collect();
                format!("\"{key}\": [\n{}\n]", rows.join(",\n"))
            }
            other => format!("\"{key}\": {other}"),
        };
        let members: Vec<String> = value.as_object().into_iter().flatten().map(member).collect();
        Ok(format!("{{\n{}\n}}\n", members.join(",\n")))
    }

    /// What is wrong with a plan that was changed by hand.
    fn fault(&self) -> Option<String> {
        let Self { files, tasks, .. } = self;
        let mut ends: Vec<u64> = files.iter().map(|file| file.head).collect();
        for (id, task) in tasks.iter().enumerate() {
            if task.id != id {
                return Some(format!("task {} is in the place of task {id}", task.id));
            }
            if task.file.is_some_and(|file| file >= files.len()) {
                return Some(format!("the file of the {} is not in the plan", task.named()));
            }
            for range in task.ranges.iter().filter(|_| task.phase == Phase::Range) {
                match ends.get_mut(range.file) {
                    Some(end) if *end == range.from && range.from < range.to => *end = range.to,
                    _ => {
                        return Some(format!(
                            "a range of the {} does not follow on the one before",
                            task.named()
                        ));
                    }
                }
            }
        }
        let short = files.iter().zip(&ends).find(|(file, end)| file.bytes != **end);
        if let Some((file, _)) = short {
            return Some(format!("no task writes the end of \"{}\"", file.name));
        }
        let of_phase = |phase: Phase| tasks.iter().filter(move |task| task.phase == phase);
        let of_files = |phase| of_phase(phase).filter_map(|task| task.file).eq(0..files.len());
        let merge = of_phase(Phase::Prepare).position(|task| task.file.is_none());
        let count = |phase| of_phase(phase).count();
        let merges = count(Phase::Prepare) - files.len().min(count(Phase::Prepare));
        let complete = tasks.is_sorted_by_key(|task| task.phase)
            && of_files(Phase::Prepare)
            && of_files(Phase::Shard)
            && count(Phase::Shard) == files.len()
            && merges == usize::from(count(Phase::Amax) > 0)
            && merge.is_none_or(|place| place == 0)
            && count(Phase::Finish) == 1;
        (!complete).then(|| "a task is missing, or in another place".to_owned())
    }
}
