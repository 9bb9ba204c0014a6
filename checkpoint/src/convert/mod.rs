//! [`convert`]: a checkpoint in, the same checkpoint in other dtypes out.
//!
//! *Law.* Each value is cast once, as [`lanecast`] defines it. The bytes of the output depend on the source and the options only: not on how
//! often the work was ended and resumed. The output appears complete or not at all.
//!
//! *Method.* `choice` gives each tensor its dtype, and `cast` produces its bytes for the plan, which `write` writes to the folder of `partial`.
//! It is beside the output, and is renamed at the end. `job` says what a run that resumes must have in common with the first one; `verify` reads
//! the result again.

mod cast;
mod choice;
#[cfg(test)]
mod divisions;
mod job;
mod partial;
mod verify;
mod wait;

use std::{path::Path, time::Duration};

use lanecast::{DType, Kind};
use lanecast_files::{Error, Result, formats::Declared};
use serde::{Deserialize, Serialize};

use crate::{
    arrivals::Arrivals,
    checkpoint::{Checkpoint, Content},
    config,
    error::{refused, request},
    faults::Faults,
    gguf, named,
    prepared::{Outcome, Prepared},
    source::{Elements, Source, Stored},
    write::{
        Callbacks, Cut, GGUF_NAMES, Loss, NewTensor, Plan, Written, becomes_file, copied_files,
        gguf_metadata, name_shards, names_gguf,
    },
};
use choice::{Choice, Fate};
use job::Job;
use partial::Partial;
use wait::Early;

/// A warning names a tensor only if at least this number of its values became zero, or all of them.
const FEW_ZEROS: u64 = 10;

/// What [`convert`] does.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ConvertOptions {
    /// The dtype that floats are cast to.
    #[serde(with = "named")]
    pub to: DType,
    /// Globs and the dtypes of the tensors whose names they match, integers and bools too. The first glob that matches decides.
    #[serde(with = "named::patterns")]
    pub map: Vec<(String, DType)>,
    /// Globs of the tensors that are cast; all if there are none. The others are copied.
    pub include: Vec<String>,
    /// Globs of tensors that are copied.
    pub exclude: Vec<String>,
    /// Files get at most this number of bytes of tensors, unless one tensor has more. `None` keeps the files of the source.
    pub max_shard_size: Option<u64>,
    /// Whether to go on with what an earlier run left unfinished. It must have had the same source and options.
    #[serde(skip)]
    pub resume: bool,
    /// Whether to read the output again, and to compare every tensor with a second cast, before the output gets its name.
    #[serde(skip)]
    pub verify: bool,
    /// Whether codes and scales of a quantized checkpoint may be cast as they are, which destroys its weights.
    pub allow_quantized: bool,
    /// Whether the output may exist. It is then replaced, with all files that are in it. What an earlier run left unfinished is discarded,
    /// unless `resume` is set.
    pub replace: bool,
    /// Bytes of a file after which it is flushed to disk, so that a later run goes on from there. A whole number of tensors is.
    #[serde(skip)]
    pub mark_every: u64,
    /// The threads that read and compute, beside the one that writes. `None` takes as many as there are cores, and at most eight.
    #[serde(skip)]
    pub threads: Option<usize>,
    /// Waits for files of the source that are missing or not complete, until nothing has changed in its folder for so long. Files that are
    /// complete are cast meanwhile, in the order in which they arrive. The source is a folder with `model.safetensors.index.json` or
    /// `model.safetensors`, or a `.safetensors` file; they may arrive later, too.
    #[serde(skip)]
    pub wait: Option<Duration>,
}

impl ConvertOptions {
    /// Casts all floats to `to`, keeps the files of the source, and refuses outputs that exist.
    pub fn to(to: DType) -> Self {
        Self {
            to,
            map: Vec::new(),
            include: Vec::new(),
            exclude: Vec::new(),
            max_shard_size: None,
            resume: false,
            verify: false,
            allow_quantized: false,
            replace: false,
            mark_every: 256 << 20,
            threads: None,
            wait: None,
        }
    }
}

/// What [`convert`] did.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ConvertReport {
    /// The dtype that floats are cast to.
    pub to: String,
    /// Tensors that were cast.
    pub tensors_cast: usize,
    /// Tensors that were copied.
    pub tensors_copied: usize,
    /// Tensors among the copied ones that keep float32 beside weights of another dtype.
    pub float32_kept: usize,
    /// Tensors that were read again and compared; `None` if none was.
    pub tensors_verified: Option<usize>,
    /// Bytes of tensors of the source.
    pub bytes_in: u64,
    /// Bytes of tensors of the output.
    pub bytes_out: u64,
    /// Bytes of tensors of the output that an earlier run wrote.
    pub bytes_resumed: u64,
    /// The files that were written, by their paths in the output.
    pub files: Vec<String>,
    /// Tensors with values that their new dtype does not hold.
    pub losses: Vec<Loss>,
    /// What a reader should know about the result.
    pub warnings: Vec<String>,
}

/// Casts the tensors of the checkpoint `src`, and writes the checkpoint `dst`.
///
/// Floats become `to`. Integers, bools and complex numbers keep their dtype unless `map` names them. Float32 tensors of a checkpoint whose
/// weights mostly have another dtype keep theirs, too: routers and the like. So do `A_log`, routers and their biases in every checkpoint.
/// `config.json` gets the new dtype; all files that are no weights are copied. A `.safetensors` file may become a file: `dst` then has this
/// extension. A GGUF model may become a `.gguf` file with the same names and metadata; in it, tensors of one axis, norms, routers and what else
/// `llama-quantize` does not quantize keep their types unless `map` names them.
///
/// The work is done in the folder `dst` + `.lanecast-partial`, which is renamed at the end. If the process ends early, the folder stays, and
/// a run with `resume` goes on from the last tensors that are on the disk. One process at a time may work on an output.
///
/// A file of the source may be removed once all files of the output that have its tensors are on the disk:
/// [`Step::is_saved`](crate::Step::is_saved) says so. Shards of an output without `max_shard_size` have the tensors of one file of the source, so that a source that arrives with `wait` need never be whole.
///
/// ```no_run
/// use lanecast::DType;
/// use lanecast_checkpoint::{Callbacks, ConvertOptions, convert};
/// let options = ConvertOptions {
///     map: vec![("lm_head.*".into(), DType::Float32)],
///     resume: true,
///     ..ConvertOptions::to(DType::BFloat16)
/// };
/// let report = convert("model".as_ref(), "model-bf16".as_ref(), &options, Callbacks::default())?;
/// println!("{} tensors cast", report.tensors_cast);
/// # Ok::<(), lanecast_checkpoint::Error>(())
/// ```
///
/// # Errors
///
/// The errors of [`Checkpoint::open`]; [`Error::Unsupported`] if the checkpoint is quantized, or the output cannot hold a dtype;
/// [`Error::Request`] if a glob is malformed or matches nothing, one folder is in the other, another process works on the output, the run that
/// is resumed had another source or other options, or files of the source are gone and `verify` is set; [`Error::Io`] if files do not arrive;
/// [`Error::Exists`] if `dst` or an unfinished run is in the way; [`Error::Cancelled`].
pub fn convert(
    src: &Path,
    dst: &Path,
    options: &ConvertOptions,
    mut callbacks: Callbacks<'_>,
) -> Result<ConvertReport> {
    let early = match options.wait {
        Some(limit) => wait::wait(src, dst, options, &mut callbacks, limit)?,
        None => Early::default(),
    };
    let mut arrivals = Arrivals::default();
    if options.resume || early.output.is_some() {
        arrivals.described = partial::described(dst)?;
    }
    let conversion = Conversion::open_with(src, dst, options, &arrivals)?;
    conversion.check_verifiable(options)?;
    let plan = conversion.plan(dst)?;
    let job = Job::new(&conversion.source, options, &plan)?;
    let mut partial = match early.output {
        Some(mut output) => {
            output.take_job(job)?;
            output
        }
        None => Partial::open(dst, plan.is_file, job, options)?,
    };
    let mut written = plan.write_shards(&mut partial, &mut callbacks)?;
    written.resumed = written.resumed.saturating_sub(early.bytes);
    let mut verified = None;
    if !plan.is_file {
        written.files = plan.names();
        if !partial.is_renamed() {
            plan.write_rest(partial.root(), &callbacks)?;
        }
    }
    if options.verify {
        let path_of = |name: &str| partial.path_of(name);
        verified =
            match verify::compare(&conversion.source, &plan, &conversion.dtypes, path_of, &mut callbacks) {
                Ok(count) => Some(count),
                Err(error) => {
                    // No run goes on from wrong bytes. Those of one that was cancelled are not known to be wrong.
                    if !matches!(error, Error::Cancelled) {
                        partial.discard();
                    }
                    return Err(error);
                }
            };
    }
    callbacks.check()?;
    partial.commit()?;
    Ok(ConvertReport { tensors_verified: verified, ..conversion.report(written) })
}

/// A cast of a checkpoint, decided but not begun.
pub(crate) struct Conversion {
    source: Source,
    warnings: Vec<String>,
    fates: Vec<Fate>,
    /// The dtypes of the tensors in the output.
    dtypes: Vec<DType>,
    /// Whether files that are missing may change the fate of a tensor.
    is_open: Vec<bool>,
    to: DType,
    cut: Cut,
    replace: bool,
    threads: Option<usize>,
}

impl Conversion {
    /// The output `dst` says by its name whether it is a GGUF file.
    pub(crate) fn open(src: &Path, dst: &Path, options: &ConvertOptions) -> Result<Self> {
        Self::open_with(src, dst, options, &Arrivals::default())
    }

    fn open_with(src: &Path, dst: &Path, options: &ConvertOptions, arrivals: &Arrivals) -> Result<Self> {
        let source = Source::open_with(src, arrivals, &mut Faults::fatal())?;
        if options.allow_quantized {
            let warnings = source.warnings.clone();
            return Self::of(source, warnings, dst, options);
        }
        let checkpoint = Checkpoint::of(source, &mut Faults::fatal())?;
        check_plain(&checkpoint)?;
        let warnings = checkpoint.warnings().to_vec();
        Self::of(checkpoint.source, warnings, dst, options)
    }

    fn of(source: Source, mut warnings: Vec<String>, dst: &Path, options: &ConvertOptions) -> Result<Self> {
        let to_gguf = names_gguf(dst);
        if source.gguf.is_some() && !to_gguf {
            warnings.push(GGUF_NAMES.to_owned());
        }
        let choice = Choice::new(&source, options, to_gguf)?;
        let cut = match options.max_shard_size {
            Some(0) => return Err(request("a file cannot have at most 0 bytes").at("max_shard_size")),
            Some(most) => Cut::Size(most),
            None => Cut::Keep,
        };
        let fates: Vec<Fate> = source.tensors.iter().map(|tensor| choice.fate(tensor)).collect();
        let dtypes =
            source.tensors.iter().zip(&fates).map(|(tensor, fate)| new_dtype(tensor, *fate)).collect();
        let is_open = source.tensors.iter().map(|tensor| choice.is_open(tensor)).collect();
        let ConvertOptions { to, replace, threads, .. } = *options;
        Ok(Self { source, warnings, fates, dtypes, is_open, to, cut, replace, threads })
    }

    /// Fails if the output is to be compared with files that are gone.
    fn check_verifiable(&self, options: &ConvertOptions) -> Result<()> {
        match self.source.files.iter().find(|file| file.described.is_some() && !file.path.exists()) {
            Some(file) if options.verify => {
                let what =
                    "the output cannot be compared with a file that is gone; leave out verify (--verify)";
                Err(request(what).at_path(&file.path))
            }
            _ => Ok(()),
        }
    }

    fn report(&self, written: Written) -> ConvertReport {
        let mut report = ConvertReport {
            to: self.to.name().to_owned(),
            tensors_cast: written.changed,
            tensors_copied: written.copied,
            float32_kept: self.fates.iter().filter(|fate| **fate == Fate::KeptFloat32).count(),
            tensors_verified: None,
            bytes_in: written.bytes_in,
            bytes_out: written.bytes_out,
            bytes_resumed: written.resumed,
            files: written.files,
            losses: written.notes.losses,
            warnings: [&self.warnings[..], &written.notes.warnings].concat(),
        };
        report.warn();
        report
    }
}

impl Prepared for Conversion {
    fn source(&self) -> &Source {
        &self.source
    }

    fn replaces(&self) -> bool {
        self.replace
    }

    fn plan(&self, dst: &Path) -> Result<Plan<'_>> {
        let source = &self.source;
        let new = tensors(source, &self.dtypes);
        let shards = if names_gguf(dst) {
            if self.cut != Cut::Keep {
                return Err(request("a GGUF model is written to one file").at("max_shard_size"));
            }
            let elements = |tensor: &NewTensor<'_>| Elements::Plain(tensor.declared.dtype);
            vec![gguf::shard(source, new, dst, &Elements::Plain(self.to), elements)?]
        } else {
            name_shards(source, new, self.cut, |file| source.files[file].metadata.clone())
        };
        let is_file = becomes_file(source, shards.len(), dst)?;
        Ok(Plan {
            shards,
            copied: if is_file { Vec::new() } else { copied_files(source, &["config.json"])? },
            texts: texts(source, self.to),
            index: source.index.as_ref().map(|index| &index.value),
            is_file,
            threads: self.threads,
        })
    }

    fn outcome(&self, written: Written) -> Result<Outcome> {
        Ok(Outcome::Convert(self.report(written)))
    }
}

/// Fails if a weight is stored as codes.
fn check_plain(checkpoint: &Checkpoint) -> Result<()> {
    let tensors = checkpoint.tensors().iter().zip(&checkpoint.contents);
    let mut coded =
        tensors.filter(|(_, content)| !matches!(content, Content::Plain(_))).map(|(tensor, _)| tensor);
    let Some(first) = coded.next() else { return Ok(()) };
    let what = format!(
        "the checkpoint is quantized: \"{}\"{} the layout {}, and a cast of codes and scales destroys the weights",
        first.name,
        match coded.count() {
            0 => " has".to_owned(),
            1 => " and another weight have".to_owned(),
            more => format!(" and {more} other weights have"),
        },
        first.layout
    );
    let remedy =
        "`lanecast dequantize` decodes it; allow_quantized (--allow-quantized) casts the codes all the same";
    let source = &checkpoint.source;
    let file = source.files.first().filter(|_| !source.is_folder);
    Err(refused(what, remedy).at_path(file.map_or(&source.folder, |file| &file.path)))
}

/// The tensors of the output.
fn tensors<'a>(source: &'a Source, dtypes: &[DType]) -> Vec<NewTensor<'a>> {
    let new = |(tensor, to): (&'a Stored, &DType)| {
        let (from, to) = (tensor.dtype(), *to);
        let shape = tensor.shape.iter().map(|axis| *axis as u64).collect();
        NewTensor {
            declared: Declared { name: tensor.name.clone(), dtype: to, shape },
            file: tensor.file,
            bytes_in: tensor.bytes as u64,
            is_changed: from != Some(to),
            part: cast::part(to),
            produce: Box::new(move |range, sink| cast::cast(source, tensor, to, range, sink)),
        }
    };
    source.tensors.iter().zip(dtypes).map(new).collect()
}

/// The dtype of a tensor in the output. Blocks have none: their cast fails.
fn new_dtype(tensor: &Stored, fate: Fate) -> DType {
    fate.dtype().or(tensor.dtype()).unwrap_or(DType::UInt8)
}

/// `config.json` with the new dtype, and the metadata of a GGUF file.
fn texts(source: &Source, to: DType) -> Vec<(&'static str, String)> {
    let config = source.config.as_ref().filter(|_| source.is_folder).map(|config| match to.kind() {
        Kind::Float => config::with_dtype(&config.text, to.name()),
        // A model computes in floats.
        _ => config.text.clone(),
    });
    config.map(|text| ("config.json", text)).into_iter().chain(gguf_metadata(source)).collect()
}

impl ConvertReport {
    /// Warns of tensors whose values are lost.
    fn warn(&mut self) {
        let named = |losses: &[&Loss]| {
            let Some(first) = losses.first() else { return String::new() };
            match losses.len() {
                1 => format!("\"{}\"", first.tensor),
                2 => format!("\"{}\" and another tensor", first.tensor),
                n => format!("\"{}\" and {} other tensors", first.tensor, n - 1),
            }
        };
        // The smallest values of a tensor may become zero without harm.
        let is_many = |loss: &&Loss| {
            loss.all_zero || loss.became_zero >= FEW_ZEROS && loss.became_zero >= loss.elements / 10
        };
        let zero: Vec<&Loss> = self.losses.iter().filter(is_many).collect();
        if let Some(first) = zero.first() {
            let sum = |of: fn(&Loss) -> u64| zero.iter().map(|loss| of(loss)).sum::<u64>();
            let values = match zero.iter().all(|loss| loss.all_zero) {
                true => "every value".to_owned(),
                false => format!("{} of {} values", sum(|loss| loss.became_zero), sum(|loss| loss.elements)),
            };
            self.warnings.push(format!(
                "{values} of {} became zero in {}, because the magnitudes are too small for it; `lanecast quantize` scales them",
                named(&zero),
                first.to
            ));
        }
        let out: Vec<&Loss> = self.losses.iter().filter(|loss| loss.out_of_range > 0).collect();
        if let Some(first) = out.first() {
            let n: u64 = out.iter().map(|loss| loss.out_of_range).sum();
            self.warnings.push(format!("{n} values of {} are out of the range of {}", named(&out), first.to));
        }
    }
}
