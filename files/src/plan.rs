//! A cast of a file: planned, then run.

use std::{
    fmt,
    fs::Permissions,
    path::Path,
    time::{Duration, Instant},
};

use lanecast::DType;

use crate::{
    error::{Error, Result},
    formats::{
        format::{FileFormat, Job, Work},
        input::Input,
    },
    hooks::Hooks,
    output::Output,
    pump::Pump,
    quantized::Quantized,
    report::{Entry, ReadBack, Report},
};

/// A cast of a file, fully decided but not yet run.
pub struct Plan<'a> {
    job: &'a Job,
    format: &'static dyn FileFormat,
    work: Box<dyn Work + 'a>,
    permissions: Option<Permissions>,
}

impl<'a> Plan<'a> {
    /// Opens a file of any format, reads its headers, and decides what `job` does to each tensor.
    ///
    /// # Errors
    ///
    /// [`Error::Io`] if the file cannot be opened, [`Error::Format`] if it is damaged, [`Error::Request`] if the job does not fit
    /// it. [`Error::Unsupported`] if its format is unknown, if the format or the library cannot do the job, or if the job casts the codes or
    /// scales of a quantized checkpoint without [permission](Job::allow_quantized).
    pub fn new(input: &Path, job: &'a Job) -> Result<Self> {
        Self::of(Input::open(input)?, None, job)
    }

    /// As [`new`](Self::new), but reads the file as `format`, whatever its name and content say.
    ///
    /// # Errors
    ///
    /// As [`new`](Self::new).
    pub fn new_as(input: &Path, format: &'static dyn FileFormat, job: &'a Job) -> Result<Self> {
        Self::of(Input::open(input)?, Some(format), job)
    }

    /// As [`new`](Self::new), for a file that is open already, read as `format` if that is given.
    ///
    /// # Errors
    ///
    /// As [`new`](Self::new).
    pub fn of(mut input: Input, format: Option<&'static dyn FileFormat>, job: &'a Job) -> Result<Self> {
        let format = format.map_or_else(|| input.recognize(), Ok)?;
        let path = input.path.clone();
        let permissions = input.permissions.take();
        let mut work = format.plan(input, job).map_err(|e| e.in_path(&path))?;
        job.selection.explain(work.entries_mut());
        if format.holds_checkpoints() && !job.allow_quantized {
            let listed = work.entries().iter().map(|entry| (&*entry.name, entry.from.parse::<DType>().ok()));
            let quantized = Quantized::find(&path, listed.clone());
            for ((name, dtype), _) in listed.zip(work.entries()).filter(|(_, entry)| entry.to.is_some()) {
                quantized.check(name, dtype).map_err(|e| e.in_path(&path))?;
            }
        }
        Ok(Self { job, format, work, permissions })
    }

    /// The format of the file, which the output has, too.
    pub fn format(&self) -> &'static dyn FileFormat {
        self.format
    }

    /// The permissions of the input, which a new output inherits.
    pub fn permissions(&self) -> Option<&Permissions> {
        self.permissions.as_ref()
    }

    /// What will be done, one entry per tensor.
    pub fn entries(&self) -> &[Entry] {
        self.work.entries()
    }

    /// Bytes of all tensors.
    pub fn bytes(&self) -> u64 {
        self.entries().iter().map(|entry| entry.bytes_in).fold(0, u64::saturating_add)
    }

    /// Fails if the selection matches nothing in a file that has tensors: a pattern matches no tensor, or tensors are selected by
    /// dtype or name and none is cast.
    ///
    /// # Errors
    ///
    /// [`Error::Request`], which says why and suggests names similar to the pattern.
    pub fn check_selection(&self) -> Result<()> {
        if self.entries().is_empty() {
            return Ok(());
        }
        self.job.selection.check_patterns(self.names())?;
        self.job.selection.check_entries(self.entries())
    }

    /// The names that patterns may match: the names of the entries, of structured arrays and of their fields.
    pub fn names(&self) -> impl Iterator<Item = &str> + Clone {
        self.entries().iter().map(|entry| entry.name.as_str()).chain(self.work.groups())
    }

    /// The report of a run that did not happen.
    pub fn dry_run(&self) -> Report {
        report(self.job, self.format, self.entries().to_vec(), None)
    }

    /// Casts to the file `output`. With `overwrite` it may replace an existing file, even the input. A new file has the permission
    /// bits of the input, less the umask.
    ///
    /// # Errors
    ///
    /// Any [`Error`]; [`Error::Cancelled`] if a hook cancels. Then no output appears, an existing file stays as it is, and the
    /// temporary file is removed.
    pub fn run(self, output: &Path, overwrite: bool, hooks: Hooks<'_>) -> Result<Report> {
        let output = Output::create_like(output, overwrite, self.permissions.clone())?;
        self.run_into(output, hooks)
    }

    /// Casts into `output` and commits it.
    ///
    /// # Errors
    ///
    /// As [`run`](Self::run), and [`Error::Unsupported`] if the output is a stream and the format does not stream.
    pub fn run_into(self, mut output: Output, hooks: Hooks<'_>) -> Result<Report> {
        if output.is_stream() && !self.format.streams() {
            let what = format!("the format {} is not written as a stream", self.format.name());
            return Err(Error::unsupported(what).at_path(output.path()).advise("name a file"));
        }
        let started = Instant::now();
        let mut pump = Pump::new(hooks, Some(self.bytes()));
        let done = self.work.run(&mut pump, &mut output);
        // Checked here too: a format may have reported the interruption as another error, or had nothing left to read.
        pump.check()?;
        let entries = done?;
        output.commit()?;
        Ok(report(self.job, self.format, entries, Some(started.elapsed())))
    }
}

fn report(job: &Job, format: &dyn FileFormat, entries: Vec<Entry>, elapsed: Option<Duration>) -> Report {
    let (to, tier) = (job.to.name(), job.settings.tier.name());
    let report = Report::new(to, tier, entries, elapsed);
    let hidden = format.hidden(job.to).filter(|_| report.tensors_cast > 0);
    Report { read_back: hidden.map(|descriptor| ReadBack { descriptor, from: to }), ..report }
}

impl fmt::Debug for Plan<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Plan").field("format", &self.format).field("entries", &self.entries()).finish()
    }
}

impl Error {
    /// Whether the caller ended the work.
    pub fn is_cancelled(&self) -> bool {
        matches!(self, Self::Cancelled)
    }
}
