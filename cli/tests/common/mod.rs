//! What the tests of the program share: running it, and making files by hand.

#![allow(dead_code, reason = "every test binary uses its own part")]

pub mod models;
pub mod python;

use std::{
    fs,
    io::{Cursor, Write},
    path::{Path, PathBuf},
    process::{Command, Output, Stdio},
    time::{Duration, Instant},
};

use tempfile::TempDir;
use zip::{CompressionMethod, ZipWriter, write::SimpleFileOptions};

/// Whether the program has a tier; `None` if it is another one than the one built here, which may be of another architecture.
pub fn runs_in_program(tier: lanecast::Tier) -> Option<bool> {
    let foreign = std::env::var_os("LANECAST_TEST_PROGRAM").is_some();
    if foreign && tier != lanecast::Tier::Scalar { None } else { Some(tier.is_available()) }
}

/// The words that start the program: its path, or those of `LANECAST_TEST_PROGRAM`, such as an emulator and a program of
/// another architecture. (Tests that are emulated themselves must not start programs: a fork of several emulated threads
/// may hang.)
pub fn words() -> Vec<String> {
    let program = std::env::var("LANECAST_TEST_PROGRAM");
    let program = program.unwrap_or_else(|_| env!("CARGO_BIN_EXE_lanecast").into());
    program.split_whitespace().map(String::from).collect()
}

/// The program, without arguments.
pub fn program() -> Command {
    let words = words();
    let mut command = Command::new(&words[0]);
    command.args(&words[1..]);
    command
}

/// Runs the program in `folder` on `args` with `input` on standard input.
pub fn run_in(folder: &Path, args: &[&str], input: &[u8]) -> Output {
    feed(program().args(args).current_dir(folder), input)
}

/// Runs the program where no files are needed.
pub fn run(args: &[&str], input: &[u8]) -> Output {
    run_in(Path::new("."), args, input)
}

/// Runs `command` with `input` on standard input.
pub fn feed(command: &mut Command, input: &[u8]) -> Output {
    let mut child = command
        .env_remove("LANECAST_TIER")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program starts");
    let mut stdin = child.stdin.take().expect("a pipe");
    let input = input.to_vec();
    // A program that does not want its input closes it early.
    let feeder = std::thread::spawn(move || drop(stdin.write_all(&input)));
    let output = child.wait_with_output().expect("the program ends");
    feeder.join().expect("the feeder ends");
    output
}

/// The standard error of `output`.
pub fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// Expects success and silence on standard error; returns standard output.
#[track_caller]
pub fn good(output: Output) -> Vec<u8> {
    assert_eq!((output.status.code(), stderr(&output)), (Some(0), String::new()));
    output.stdout
}

/// Expects one of `codes` and exactly one line on standard error, which is returned. A command line that is not understood
/// may get clap's suggestions and usage behind it.
#[track_caller]
pub fn bad(output: &Output, codes: &[i32]) -> String {
    let all = stderr(output);
    let error = match all.split_once("\n\n") {
        Some((line, rest)) if rest.ends_with("\nFor more information, try '--help'.\n") || rest == HELP => {
            assert!(!rest.chars().any(|c| c.is_control() && c != '\n') && rest.len() < 2000, "{rest:?}");
            line.replace("\n  ", " ") + "\n"
        }
        _ => all,
    };
    let code = output.status.code();
    assert!(
        code.is_some_and(|code| codes.contains(&code)),
        "{:?}, expected {codes:?}: {error}",
        output.status
    );
    assert!(error.starts_with("lanecast: ") && error.ends_with('\n'), "{error:?}");
    assert_eq!(error.lines().count(), 1, "{error:?}");
    assert!(!error.trim_end().chars().any(char::is_control), "{error:?}");
    assert!(error.len() < 2000, "{} bytes of message", error.len());
    error
}

/// The end of what the program says of a command line that it does not understand.
const HELP: &str = "For more information, try '--help'.\n";

/// A folder of files.
pub struct Folder(TempDir);

impl Folder {
    pub fn new() -> Self {
        Self(TempDir::new().expect("a temporary folder"))
    }

    pub fn path(&self) -> &Path {
        self.0.path()
    }

    pub fn at(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    pub fn write(&self, name: &str, bytes: &[u8]) {
        fs::write(self.at(name), bytes).expect("a file is written");
    }

    pub fn read(&self, name: &str) -> Vec<u8> {
        fs::read(self.at(name)).unwrap_or_else(|e| panic!("{name}: {e}"))
    }

    pub fn remove(&self, name: &str) {
        fs::remove_file(self.at(name)).expect("a file is removed");
    }

    pub fn run(&self, args: &[&str]) -> Output {
        run_in(self.path(), args, &[])
    }

    /// The names of all files, hidden ones too.
    pub fn names(&self) -> Vec<String> {
        let entries = fs::read_dir(self.path()).expect("the folder is read");
        let mut names: Vec<String> = entries
            .map(|entry| entry.expect("an entry").file_name().to_string_lossy().into_owned())
            .collect();
        names.sort();
        names
    }

    /// Expects that `cast` refuses `file` with one of `codes`, at once, with one line, in little memory and
    /// without leaving anything behind. `inspect` must refuse it too or show it, in the same way.
    #[track_caller]
    pub fn refuses(&self, file: &str, codes: &[i32]) -> String {
        let before = self.names();
        let out = format!("out.{}", file.rsplit('.').next().unwrap_or_default());
        let started = Instant::now();
        let cast = frugal(self.path(), &["cast", file, &out, "--to", "f64"]);
        let line = bad(&cast, codes);
        let inspect = frugal(self.path(), &["inspect", file]);
        if inspect.status.code() != Some(0) {
            bad(&inspect, codes);
        }
        // Milliseconds; the rest is for a machine that is busy otherwise.
        assert!(started.elapsed() < Duration::from_secs(5), "{:?} for two runs", started.elapsed());
        assert_eq!(self.names(), before, "files are left behind");
        line
    }
}

/// Runs the program with an address space that has no room for a large allocation.
fn frugal(folder: &Path, args: &[&str]) -> Output {
    // An emulator needs more room than the program.
    if cfg!(target_os = "linux") && words().len() == 1 {
        let mut shell = Command::new("sh");
        shell
            .args(["-c", "ulimit -v 600000; exec \"$@\"", "sh"])
            .args(words())
            .args(args)
            .current_dir(folder);
        feed(&mut shell, &[])
    } else {
        run_in(folder, args, &[])
    }
}

/// A `.safetensors` file.
pub fn safetensors(header: &str, data: &[u8]) -> Vec<u8> {
    let mut file = (header.len() as u64).to_le_bytes().to_vec();
    file.extend_from_slice(header.as_bytes());
    file.extend_from_slice(data);
    file
}

/// The length of the header, the header without its padding, and the data of a `.safetensors` file.
pub fn split_safetensors(file: &[u8]) -> (usize, String, &[u8]) {
    let length = u64::from_le_bytes(file[..8].try_into().expect("8 bytes")) as usize;
    let header = String::from_utf8(file[8..8 + length].to_vec()).expect("the header is text");
    (length, header.trim_end_matches(' ').to_owned(), &file[8 + length..])
}

/// A `.npy` array with this header, of version 1.0.
pub fn npy_of(header: &str, data: &[u8]) -> Vec<u8> {
    let mut file = b"\x93NUMPY\x01\x00".to_vec();
    file.extend_from_slice(&(header.len() as u16).to_le_bytes());
    file.extend_from_slice(header.as_bytes());
    file.extend_from_slice(data);
    file
}

/// A `.npy` array of this descriptor and shape.
pub fn npy(descr: &str, shape: &str, data: &[u8]) -> Vec<u8> {
    npy_of(&format!("{{'descr': '{descr}', 'fortran_order': False, 'shape': {shape}, }}\n"), data)
}

/// The header and the data of a `.npy` array of version 1.0.
pub fn split_npy(file: &[u8]) -> (String, &[u8]) {
    let length = usize::from(u16::from_le_bytes([file[8], file[9]]));
    (String::from_utf8(file[10..10 + length].to_vec()).expect("the header is text"), &file[10 + length..])
}

/// A ZIP archive.
pub fn npz(members: &[(&str, &[u8])], method: CompressionMethod) -> Vec<u8> {
    let mut zip = ZipWriter::new(Cursor::new(Vec::new()));
    for (name, bytes) in members {
        let options = SimpleFileOptions::default().compression_method(method).unix_permissions(0o640);
        zip.start_file(*name, options).expect("a member begins");
        zip.write_all(bytes).expect("a member is written");
    }
    zip.finish().expect("the archive ends").into_inner()
}

/// The little-endian bytes of floats.
pub fn f32s(values: &[f32]) -> Vec<u8> {
    values.iter().flat_map(|x| x.to_le_bytes()).collect()
}

/// The little-endian bytes of floats.
pub fn f64s(values: &[f64]) -> Vec<u8> {
    values.iter().flat_map(|x| x.to_le_bytes()).collect()
}
