//! [`dequantize`]: a checkpoint in, a plain checkpoint out.
//!
//! *Law.* The output has the weights decoded, all other tensors as they are, and a configuration without quantization. It appears complete
//! or not at all.
//!
//! *Method.* Everything is written to a folder of a temporary name beside the output: shards as streams, other files, `config.json`, the
//! index. Then it is renamed.

mod others;
mod shards;

use std::{
    fs,
    path::{Path, PathBuf},
};

use lanecast::DType;
use lanecast_files::{Error, Output, Result, StagedFolder};
use serde::Serialize;
use serde_json::Value;

use crate::{
    checkpoint::Checkpoint,
    config,
    error::request,
    source::{INDEX, SINGLE},
};
use shards::Shard;

/// What [`dequantize`] does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Options {
    /// The dtype of decoded weights: float16, bfloat16 or float32.
    pub to: DType,
    /// Whether scales, biases and tables may be NaN or infinite. Otherwise such numbers are an error.
    pub allow_nan: bool,
    /// Whether the output may exist. It is then replaced, with all files that are in it.
    pub replace: bool,
}

impl Options {
    /// Decodes to `to`, and refuses scales that are not finite and outputs that exist.
    pub fn to(to: DType) -> Self {
        Self { to, allow_nan: false, replace: false }
    }
}

/// How far the work has progressed.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Step<'a> {
    /// The file that is written, or read by [`compare`](crate::compare()).
    pub file: &'a str,
    /// The tensor that is written or read.
    pub tensor: &'a str,
    /// Bytes of tensors that are written or read.
    pub done: u64,
    /// Bytes of tensors that will be written or read.
    pub total: u64,
}

/// Callbacks, both optional. They are called on the thread that does the work, after each part of a tensor.
#[derive(Default)]
pub struct Callbacks<'a> {
    /// Is told of each part.
    pub progress: Option<&'a mut dyn FnMut(Step<'_>)>,
    /// Ends the work with [`Error::Cancelled`] once it returns true.
    pub cancelled: Option<&'a dyn Fn() -> bool>,
}

impl std::fmt::Debug for Callbacks<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let (progress, cancelled) = (self.progress.is_some(), self.cancelled.is_some());
        f.debug_struct("Callbacks").field("progress", &progress).field("cancelled", &cancelled).finish()
    }
}

/// What was done.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Report {
    /// The layout of the weights.
    pub layout: String,
    /// The dtype of decoded weights.
    pub to: String,
    /// Weights that were decoded.
    pub tensors_decoded: usize,
    /// Tensors that were copied.
    pub tensors_copied: usize,
    /// Tensors that the output does not have: scales and other companions of weights, and scales of activations.
    pub tensors_dropped: usize,
    /// Bytes of tensors that were read, with their scales.
    pub bytes_in: u64,
    /// Bytes of tensors that were written.
    pub bytes_out: u64,
    /// The files that were written, by their paths in the output.
    pub files: Vec<String>,
    /// What a reader should know about the checkpoint.
    pub warnings: Vec<String>,
}

/// Decodes all weights of the checkpoint `src`, and writes a plain checkpoint to the folder `dst`.
///
/// Weights get the dtype `to`, and so do 8-bit floats without scales. All other tensors keep theirs. Shards keep their names; companions of
/// the weights are dropped, and so is the description of the quantization in `config.json`, whose dtype becomes `to`. All files that are no
/// weights are copied. A single `.safetensors` file may become a file: `dst` then has this extension. The tensors of a GGUF file keep its
/// names, and its metadata goes to `gguf_metadata.json`: the folder is no model that transformers loads.
///
/// ```no_run
/// use lanecast::DType;
/// use lanecast_checkpoint::{Callbacks, Options, dequantize};
/// let options = Options::to(DType::BFloat16);
/// let report = dequantize("DeepSeek-V3".as_ref(), "DeepSeek-V3-bf16".as_ref(), &options, Callbacks::default())?;
/// println!("{} weights decoded", report.tensors_decoded);
/// # Ok::<(), lanecast_checkpoint::Error>(())
/// ```
///
/// # Errors
///
/// Those of [`Checkpoint::open`] and [`Checkpoint::read`]; [`Error::Request`] if `to` is another dtype, or one folder is in the other;
/// [`Error::Exists`] if `dst` exists, is not empty and may not be replaced; [`Error::Cancelled`]. Nothing is left of the output then.
pub fn dequantize(src: &Path, dst: &Path, options: &Options, mut callbacks: Callbacks<'_>) -> Result<Report> {
    if !matches!(options.to, DType::Float16 | DType::BFloat16 | DType::Float32) {
        return Err(request(format!(
            "weights decode to float16, bfloat16 or float32, not to {}",
            options.to
        )));
    }
    let opened = Checkpoint::open(src)?;
    let checkpoint = if options.allow_nan { opened.with_nan_allowed() } else { opened };
    let mut report = Report {
        layout: checkpoint.layout().to_owned(),
        to: options.to.name().to_owned(),
        tensors_dropped: checkpoint.source.tensors.len() - checkpoint.tensors().len(),
        warnings: checkpoint.warnings().to_vec(),
        ..Report::default()
    };
    if checkpoint.source.gguf.is_some() {
        let what = "the tensors keep the names and the order of rows that GGUF has, so transformers does not load the result";
        report.warnings.push(what.to_owned());
    }
    let mut shards = Shard::all(&checkpoint, options.to);
    if !shards.iter().any(Shard::decodes) {
        return Err(request("the checkpoint has no quantized weights").at_path(src));
    }
    let total = shards.iter().map(|shard| shard.bytes()).sum();
    let mut job = Job { checkpoint: &checkpoint, callbacks: &mut callbacks, report: &mut report, total };
    let names_file = dst.extension().is_some_and(|extension| extension == "safetensors");
    if names_file
        && let [shard] = &shards[..]
        && !checkpoint.source.is_folder
        && checkpoint.source.gguf.is_none()
    {
        let mut output = Output::create(dst, options.replace)?;
        shard.write(&mut job, output.writer(), dst)?;
        output.commit()?;
        return Ok(report);
    }
    if names_file {
        let what = "the output of this checkpoint is a folder, and its name must not end with .safetensors: only a .safetensors file becomes a file";
        return Err(request(what).at_path(dst));
    }
    check_apart(&checkpoint.source.folder, dst, checkpoint.source.is_folder)?;
    if let ([shard], true) = (&mut shards[..], checkpoint.source.is_folder) {
        SINGLE.clone_into(&mut shard.name);
    }
    let staged = StagedFolder::create(dst, options.replace)?;
    for shard in &shards {
        let path = make(staged.path(), &shard.name)?;
        let mut file = file(&path)?;
        shard.write(&mut job, &mut file, &path)?;
        let file = file.into_inner().map_err(|e| Error::writing(e.error()).at_path(&path))?;
        file.sync_all().map_err(|e| Error::system("cannot flush to disk", &e).at_path(&path))?;
        job.report.files.push(shard.name.clone());
    }
    if checkpoint.source.is_folder {
        others::copy(&mut job, staged.path())?;
        job.text("config.json", staged.path(), || {
            let config = checkpoint.source.config.as_ref()?;
            Some(config::plain(&config.text, options.to.name()))
        })?;
    }
    job.text("gguf_metadata.json", staged.path(), || pretty(&checkpoint.source.gguf.clone()?.into()))?;
    if shards.len() > 1 {
        job.text(INDEX, staged.path(), || pretty(&index(&checkpoint, &shards, total)))?;
    }
    job.check()?;
    staged.commit()?;
    Ok(report)
}

/// Work in progress.
struct Job<'j, 'c> {
    checkpoint: &'j Checkpoint,
    callbacks: &'j mut Callbacks<'c>,
    report: &'j mut Report,
    total: u64,
}

impl Job<'_, '_> {
    /// Fails if the work was cancelled.
    fn check(&self) -> Result<()> {
        match self.callbacks.cancelled.is_some_and(|cancelled| cancelled()) {
            true => Err(Error::Cancelled),
            false => Ok(()),
        }
    }

    /// Writes a text to a file of the folder, if there is one.
    fn text(&mut self, name: &str, folder: &Path, text: impl FnOnce() -> Option<String>) -> Result<()> {
        if let Some(text) = text() {
            let path = folder.join(name);
            fs::write(&path, text).map_err(|e| Error::writing(&e).at_path(&path))?;
            self.report.files.push(name.to_owned());
        }
        Ok(())
    }
}

fn pretty(value: &Value) -> Option<String> {
    serde_json::to_string_pretty(value).ok().map(|text| text + "\n")
}

/// The index of the new shards: other members of the old one stay.
fn index(checkpoint: &Checkpoint, shards: &[Shard], total: u64) -> Value {
    let old = checkpoint.source.index.as_ref().map(|index| &index.value);
    let mut index = old.and_then(Value::as_object).cloned().unwrap_or_default();
    let mut metadata = index.get("metadata").and_then(Value::as_object).cloned().unwrap_or_default();
    metadata.insert("total_size".to_owned(), total.into());
    index.insert("metadata".to_owned(), metadata.into());
    let names = |shard: &Shard| -> Vec<(String, Value)> {
        shard.tensors().map(|name| (name.to_owned(), shard.name.clone().into())).collect()
    };
    let map: serde_json::Map<String, Value> = shards.iter().flat_map(names).collect();
    index.insert("weight_map".to_owned(), map.into());
    index.into()
}

/// Fails if one folder is in the other.
fn check_apart(src: &Path, dst: &Path, is_folder: bool) -> Result<()> {
    let real = |path: &Path| -> PathBuf {
        // The output need not exist; its folders may.
        let missing = path.ancestors().take_while(|path| !path.exists()).count();
        let known = path.ancestors().nth(missing).filter(|path| !path.as_os_str().is_empty());
        let known = known.unwrap_or(Path::new("."));
        let rest = path.strip_prefix(known).unwrap_or(path);
        fs::canonicalize(known).unwrap_or_else(|_| known.to_owned()).join(rest)
    };
    let (src, dst) = (real(src), real(dst));
    // A file in a folder may be decoded to a folder beside it.
    if src.starts_with(&dst) || is_folder && dst.starts_with(&src) {
        return Err(request(format!(
            "\"{}\" is the checkpoint, or one is in the other; name another output",
            dst.display()
        )));
    }
    Ok(())
}

/// The path of a file in the folder, whose folders are made.
fn make(folder: &Path, name: &str) -> Result<PathBuf> {
    let path = folder.join(name);
    let parent = crate::source::parent(&path);
    fs::create_dir_all(&parent).map_err(|e| Error::writing(&e).at_path(&parent))?;
    Ok(path)
}

/// A new file.
fn file(path: &Path) -> Result<std::io::BufWriter<fs::File>> {
    let file = fs::File::create_new(path).map_err(|e| Error::writing(&e).at_path(path))?;
    Ok(std::io::BufWriter::with_capacity(1 << 18, file))
}
