//! Inputs and outputs: files, pipes, devices, standard input and output.

use std::{
    fs::{self, File, Permissions},
    io::{self, IsTerminal, Read, Write},
    path::{Path, PathBuf},
};

use lanecast_files::{Error, Input, Output, leftovers, pump::Stopped, remove_leftovers};

use crate::{
    args::Writing,
    error::{Failure, Result},
    output, signals, terminal,
};

/// The name of standard input in messages.
pub const STDIN: &str = "standard input";
/// The name of standard output in messages.
const STDOUT: &str = "standard output";

/// Whether an argument stands for standard input or output.
pub fn is_standard(path: &Path) -> bool {
    path.as_os_str() == "-"
}

/// The path of an argument that is neither missing nor `-`.
pub fn named(argument: &Option<PathBuf>) -> Option<&Path> {
    argument.as_deref().filter(|path| !is_standard(path))
}

/// Opens a file of tensors, `-` for standard input. A pipe is copied to a temporary file, because headers may follow the data.
pub fn tensor_file(path: &Path) -> Result<Input> {
    Ok(if is_standard(path) {
        Input::stdin(Path::new(STDIN), &go_on)
    } else if is_pipe(path) {
        Input::copied(&mut stream_of(path)?, path, &go_on)
    } else {
        Input::open(path)
    }?)
}

/// Fails if the program is to end.
pub fn go_on() -> lanecast_files::Result<()> {
    if signals::ended() { Err(Error::Cancelled) } else { Ok(()) }
}

/// Opens a stream.
pub fn stream_of(path: &Path) -> Result<File> {
    File::open(path).map_err(|e| Failure::system("cannot open", &e).at_path(path))
}

/// Whether `path` is a named pipe, or one that a shell made for `<(...)`.
#[cfg(unix)]
pub fn is_pipe(path: &Path) -> bool {
    use std::os::unix::fs::FileTypeExt;
    fs::metadata(path).is_ok_and(|metadata| metadata.file_type().is_fifo())
}

#[cfg(not(unix))]
pub fn is_pipe(_: &Path) -> bool {
    false
}

/// An input of bare elements or lines.
pub struct Source {
    pub reader: Box<dyn Read>,
    /// Its length in bytes; 0 if unknown.
    pub length: u64,
    pub place: String,
    pub permissions: Option<Permissions>,
}

impl Source {
    /// Opens an input of any kind; `None` is standard input.
    pub fn open(path: Option<&Path>) -> Result<Self> {
        let Some(path) = path else {
            let reader = Box::new(io::stdin().lock());
            return Ok(Self { reader, length: 0, place: STDIN.into(), permissions: None });
        };
        let failed = |e: io::Error| Failure::system("cannot open", &e).at_path(path);
        let file = File::open(path).map_err(failed)?;
        let metadata = file.metadata().map_err(failed)?;
        if metadata.is_dir() {
            return Err(Failure::io("the path is a folder").at_path(path).advise("name a file"));
        }
        let permissions = metadata.is_file().then(|| metadata.permissions());
        Ok(Self {
            reader: Box::new(file),
            length: metadata.len(),
            place: path.display().to_string(),
            permissions,
        })
    }
}

/// What is written to an output.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Content {
    /// A file of tensors.
    Tensors,
    /// Bare elements.
    Elements,
    /// Text, the only content that is safe to print on a terminal.
    Lines,
}

/// Starts the output `path`, or standard output if it is `None`. A regular file appears when it is complete; other outputs receive
/// bytes as they are written.
pub fn start(
    path: Option<&Path>,
    writing: &Writing,
    content: Content,
    like: Option<Permissions>,
) -> Result<Output> {
    if let Some(path) = path.filter(|path| !is_stream(path, content)) {
        look_for_leftovers(path, writing.clean)?;
    }
    open(path, writing, content, like)
}

/// Whether a path names a device or a pipe, which a rename would replace with a file.
fn is_stream(path: &Path, content: Content) -> bool {
    let special = |metadata: fs::Metadata| !metadata.is_file() && !metadata.is_dir();
    content != Content::Tensors && fs::metadata(path).is_ok_and(special)
}

/// As [`start`], for one of several outputs: does not look for what killed runs left.
pub fn open(
    path: Option<&Path>,
    writing: &Writing,
    content: Content,
    like: Option<Permissions>,
) -> Result<Output> {
    let Some(path) = path else {
        let failed = |e: io::Error| Failure::system("cannot open", &e).at(STDOUT);
        return stream(stdout().map_err(failed)?, Path::new(STDOUT), content);
    };
    if !is_stream(path, content) {
        return Ok(Output::create_like(path, writing.force, like)?);
    }
    let failed = |e: io::Error| Failure::system("cannot open", &e).at_path(path);
    stream(fs::OpenOptions::new().write(true).open(path).map_err(failed)?, path, content)
}

fn stream(file: File, shown: &Path, content: Content) -> Result<Output> {
    let what = match content {
        Content::Tensors => "a file of tensors is not written to a terminal",
        Content::Elements => "bare elements are not written to a terminal",
        Content::Lines => return Ok(Output::stream(file, shown)),
    };
    if file.is_terminal() {
        return Err(Failure::usage(what)
            .at_path(shown)
            .advise("name a file OUT, or pipe them: `... | od -A d -t x1`"));
    }
    Ok(Output::stream(file, shown))
}

#[cfg(unix)]
fn stdout() -> io::Result<File> {
    use std::os::fd::AsFd;
    io::stdout().as_fd().try_clone_to_owned().map(File::from)
}

#[cfg(windows)]
fn stdout() -> io::Result<File> {
    use std::os::windows::io::AsHandle;
    io::stdout().as_handle().try_clone_to_owned().map(File::from)
}

/// Reports the temporary files that killed runs left beside `path`, or removes them.
fn look_for_leftovers(path: &Path, clean: bool) -> Result<()> {
    let folder = match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    };
    if clean {
        for path in remove_leftovers(folder)? {
            note(&format!("lanecast: removed the leftover of a killed run: {}\n", path.display()));
        }
        return Ok(());
    }
    if let [first, more @ ..] = &leftovers(folder)[..] {
        let more = if more.is_empty() { String::new() } else { format!(" and {} more", more.len()) };
        note(&format!(
            "lanecast: warning: a killed run left a temporary file: {}{more}: give --clean to remove it\n",
            first.display()
        ));
    }
    Ok(())
}

fn note(line: &str) {
    if !terminal::quiet() {
        // Standard error may be closed.
        let _ = terminal::warning(line);
    }
}

/// Prints the JSON of a report: on standard output, or on standard error if the result is on standard output.
pub fn print_json(line: &str, to_stream: bool) -> Result<()> {
    if !to_stream {
        return output::report(line);
    }
    match io::stderr().write_all(line.as_bytes()) {
        Err(e) if e.kind() != io::ErrorKind::BrokenPipe => Err(Failure::writing(&e).at("standard error")),
        _ => Ok(()),
    }
}

/// Converts the end of a stopped stream to a failure.
pub fn stop(stopped: Stopped, count: Option<u64>, place: &str, output: &Output) -> Failure {
    match stopped {
        Stopped::Short(have) => {
            let want = count.unwrap_or_default();
            Failure::format(format!("the input has {have} elements, -n asks for {want}"))
                .at(place)
                .advise("give a smaller -n, or leave it out")
        }
        Stopped::Partial(missing) => Failure::format(format!("the last element lacks {missing} bytes"))
            .at(place)
            .advise("check --from"),
        other => other.fail(|e| e.at(place), |e| e.at_path(output.path())).into(),
    }
}
