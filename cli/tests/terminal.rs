//! What differs on a terminal: colours, progress, binary output. The terminal is a pseudo-terminal.

#![cfg(unix)]

use std::{
    fs::{File, OpenOptions},
    io::Read,
    os::fd::OwnedFd,
    process::{Command, Stdio},
};

use crate::common::{Folder, bad, f32s, good, npy, program, safetensors};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};

/// A terminal: the end of those who look at it, and that of the program.
fn terminal() -> (File, File) {
    let master: OwnedFd = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).expect("a pseudo-terminal");
    grantpt(&master).and_then(|()| unlockpt(&master)).expect("it is ours");
    let name = ptsname(&master, Vec::new()).expect("it has a name").into_string().expect("UTF-8");
    let other = OpenOptions::new().read(true).write(true).open(name).expect("it opens");
    (master.into(), other)
}

struct Seen {
    code: Option<i32>,
    terminal: String,
    pipe: String,
}

/// Which stream of the program is the terminal. The other one is a pipe.
#[derive(Clone, Copy, PartialEq)]
enum Is {
    Stdout,
    Stderr,
}

fn look(folder: &Folder, args: &[&str], which: Is, variables: &[(&str, &str)]) -> Seen {
    let (mut ours, theirs) = terminal();
    let mut command = program();
    command.args(args).current_dir(folder.path()).stdin(Stdio::null()).env("TERM", "xterm-256color");
    plain_environment(&mut command).envs(variables.iter().copied());
    match which {
        Is::Stdout => command.stdout(theirs).stderr(Stdio::piped()),
        Is::Stderr => command.stdout(Stdio::piped()).stderr(theirs),
    };
    let child = command.spawn().expect("the program starts");
    // It holds the other end of the terminal, too.
    drop(command);
    let reader = std::thread::spawn(move || {
        // The end of a terminal is an error on Linux.
        let mut seen = Vec::new();
        let _ = ours.read_to_end(&mut seen);
        String::from_utf8_lossy(&seen).into_owned()
    });
    let output = child.wait_with_output().expect("the program ends");
    let pipe = [output.stdout, output.stderr].concat();
    let pipe = String::from_utf8_lossy(&pipe).into_owned();
    Seen { code: output.status.code(), terminal: reader.join().expect("the reader ends"), pipe }
}

fn plain_environment(command: &mut Command) -> &mut Command {
    for name in ["NO_COLOR", "CLICOLOR", "CLICOLOR_FORCE", "CI", "LANECAST_TIER"] {
        command.env_remove(name);
    }
    command
}

/// Runs the program with pipes.
fn piped(folder: &Folder, args: &[&str]) -> std::process::Output {
    plain_environment(program().args(args).current_dir(folder.path())).output().expect("the program runs")
}

const ESCAPE: char = '\u{1b}';

#[test]
fn colours_are_for_terminals_unless_the_user_says_otherwise() {
    let folder = Folder::new();
    folder.write("a.npy", &npy("<f4", "(1,)", &f32s(&[1.0])));
    // Help, tables, errors of the command line and of the work.
    for (args, which) in [
        (&["--help"][..], Is::Stdout),
        (&["help", "cast"], Is::Stdout),
        (&["raw", "-h"], Is::Stdout),
        (&["dtypes"], Is::Stdout),
        (&["table", "cast"], Is::Stdout),
        (&["inspect", "a.npy"], Is::Stdout),
        (&["inspekt"], Is::Stderr),
        (&[], Is::Stderr),
        (&["explain", "f32", "fp8"], Is::Stderr),
        (&["inspect", "missing.npy"], Is::Stderr),
    ] {
        let coloured = |more: &[&str], variables: &[(&str, &str)]| {
            look(&folder, &[more, args].concat(), which, variables).terminal.contains(ESCAPE)
        };
        assert!(coloured(&[], &[]), "{args:?} on a terminal");
        assert!(coloured(&["--color", "auto"], &[]) || args.is_empty(), "{args:?} on a terminal");
        assert!(!coloured(&[], &[("NO_COLOR", "1")]), "{args:?} with NO_COLOR");
        assert!(!coloured(&[], &[("TERM", "dumb")]), "{args:?} on a dumb terminal");
        assert!(!coloured(&["--color=never"], &[]), "{args:?} with never");
        assert!(coloured(&["--color=always"], &[("NO_COLOR", "1")]), "{args:?} with always");
        let in_pipe = |more: &[&str]| {
            let output = piped(&folder, &[more, args].concat());
            String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).contains(ESCAPE)
        };
        assert!(!in_pipe(&[]), "{args:?} in a pipe");
        assert!(in_pipe(&["--color", "always"]), "{args:?} in a pipe with always");
    }
    // What programs read is never coloured.
    for args in
        [&["dtypes", "--json"][..], &["table", "cast", "--format", "csv"], &["completions", "bash"], &["man"]]
    {
        let seen = look(&folder, &[args, &["--color=always"]].concat(), Is::Stdout, &[]);
        assert!(seen.code == Some(0) && !seen.terminal.contains(ESCAPE), "{args:?}");
    }
    let line = bad(&piped(&folder, &["cpu", "--color", "sometimes"]), &[2]);
    assert!(line.contains("auto, always, never"), "{line}");
}

#[test]
fn quiet_leaves_only_errors() {
    let folder = Folder::new();
    let large = vec![0x7F; 8 << 20];
    folder.write("in.npy", &npy("<f4", "(2097152,)", &large));
    folder.write("in.bin", &large);
    for args in [
        &["cast", "in.npy", "out.npy", "--to", "f16", "--on-loss", "warn", "--force"][..],
        &["raw", "--from", "f32", "--to", "f16", "--on-loss", "warn", "--force", "in.bin", "out.bin"],
    ] {
        let loud = look(&folder, args, Is::Stderr, &[]);
        assert_eq!(loud.code, Some(0));
        assert!(loud.terminal.contains("lanecast: warning:"), "{}", loud.terminal);
        assert_eq!(loud.pipe.contains("cast 1 of 1"), args[0] == "cast", "{}", loud.pipe);
        for quiet in ["-q", "--quiet"] {
            let seen = look(&folder, &[args, &[quiet]].concat(), Is::Stderr, &[]);
            assert_eq!((seen.code, &*seen.terminal, &*seen.pipe), (Some(0), "", ""), "{args:?}");
        }
    }
    // JSON and answers are what was asked for, and errors are errors.
    let json = good(piped(&folder, &["-q", "cast", "in.npy", "out.npy", "--to", "f16", "--force", "--json"]));
    assert!(json.starts_with(b"{\"to\":\"float16\""));
    assert!(!good(piped(&folder, &["dtypes", "--quiet"])).is_empty());
    assert!(!good(piped(&folder, &["-q", "cast", "in.npy", "--dry-run", "--to", "f16"])).is_empty());
    bad(&piped(&folder, &["-q", "cast", "in.npy", "out.npy", "--to", "f16"]), &[3]);
    bad(
        &piped(&folder, &["-q", "cast", "in.npy", "out.npy", "--to", "f16", "--force", "--on-loss", "error"]),
        &[6],
    );
}

#[test]
fn bare_elements_are_not_written_to_a_terminal() {
    let folder = Folder::new();
    folder.write("in.bin", &f32s(&[1.0, 2.0]));
    let raw = ["raw", "--from", "f32", "--to", "f16", "in.bin"];
    let onnx = ["onnx-cast", "--opset", "13", "--from", "float32", "--to", "float16", "in.bin"];
    for args in [&raw[..], &onnx] {
        for more in [&[][..], &["-"]] {
            let seen = look(&folder, &[args, more].concat(), Is::Stdout, &[]);
            assert_eq!((seen.code, &*seen.terminal), (Some(2), ""), "{args:?}");
            assert!(
                seen.pipe.contains("not written to a terminal: standard output: name a file OUT"),
                "{}",
                seen.pipe
            );
        }
        assert_eq!(good(piped(&folder, args)), [0x00, 0x3C, 0x00, 0x40]);
        // The file of a terminal.
        let (mut ours, theirs) = terminal();
        let name = format!("/proc/self/fd/{}", std::os::fd::AsRawFd::as_raw_fd(&theirs));
        if let Ok(tty) = std::fs::read_link(name) {
            let output = piped(&folder, &[args, &[tty.to_str().expect("UTF-8"), "--force"]].concat());
            let line = bad(&output, &[2]);
            assert!(line.contains("not written to a terminal: /dev/pts/"), "{line}");
        }
        drop(theirs);
        let mut seen = Vec::new();
        let _ = ours.read_to_end(&mut seen);
        assert!(seen.is_empty());
    }
    // Lines are text.
    let lines = ["onnx-cast", "--opset", "13", "--from", "float32", "--to", "string", "in.bin"];
    let seen = look(&folder, &lines, Is::Stdout, &[]);
    assert_eq!((seen.code, &*seen.terminal), (Some(0), "1.0\r\n2.0\r\n"), "{}", seen.pipe);
}

/// The bar is on one line: a line that a narrower window wraps would stay behind.
#[test]
fn bars_are_narrow_and_shown_for_statistics_too() {
    let folder = Folder::new();
    let large = vec![0x3F; 64 << 20];
    folder.write("in.npy", &npy("<f4", "(16777216,)", &large));
    for args in [&["inspect", "in.npy", "--stats"][..], &["cast", "in.npy", "out.npy", "--to", "f64"]] {
        let seen = look(&folder, args, Is::Stderr, &[]);
        assert_eq!(seen.code, Some(0), "{}", seen.terminal);
        let lines: Vec<String> = seen.terminal.split('\r').map(without_escapes).collect();
        assert!(lines.iter().any(|line| line.contains("64.00 MiB")), "{args:?}: {:?}", seen.terminal);
        for line in lines {
            assert!(line.trim().chars().count() <= 40, "{args:?}: {line:?}");
        }
    }
}

#[test]
fn the_bar_of_a_checkpoint_names_the_file_and_the_rate() {
    let folder = Folder::new();
    let header = r#"{"a.weight":{"dtype":"F32","shape":[16777216],"data_offsets":[0,67108864]}}"#;
    folder.write("in.safetensors", &safetensors(header, &vec![0x3F; 64 << 20]));
    let args = ["convert", "in.safetensors", "out", "--to", "bfloat16", "--verify"];
    let seen = look(&folder, &args, Is::Stderr, &[]);
    assert_eq!(seen.code, Some(0), "{}", seen.terminal);
    let lines: Vec<String> = seen.terminal.split('\r').map(without_escapes).collect();
    let shown = |parts: &[&str]| lines.iter().any(|line| parts.iter().all(|part| line.contains(part)));
    assert!(shown(&["32.00 MiB", "/s", "in.safetensors"]), "{:?}", seen.terminal);
    assert!(shown(&["verify in.safetensors"]), "{:?}", seen.terminal);
    assert!(lines.iter().all(|line| line.trim().chars().count() <= 80), "{:?}", seen.terminal);
}

/// One bar for all tasks of a run, and one for the files that are verified.
#[test]
fn the_bar_of_tasks_counts_all_of_them() {
    let folder = Folder::new();
    std::fs::create_dir(folder.at("in")).expect("a folder");
    let header = r#"{"a.weight":{"dtype":"F32","shape":[4096,4096],"data_offsets":[0,67108864]}}"#;
    folder.write("in/model.safetensors", &safetensors(header, &vec![0x3F; 64 << 20]));
    folder.write("in/config.json", b"{}");
    let plan =
        ["convert", "in", "out", "--to", "bfloat16", "--plan", "p", "--range-size", "8MiB", "--verify"];
    good(folder.run(&[&plan[..], &["--quiet"]].concat()));
    let run = ["tasks", "run", "0/1", "--of", "p"];
    let seen = look(&folder, &run, Is::Stderr, &[]);
    assert_eq!(seen.code, Some(0), "{}", seen.terminal);
    let lines: Vec<String> = seen.terminal.split('\r').map(without_escapes).collect();
    let shown = |parts: &[&str]| lines.iter().any(|line| parts.iter().all(|part| line.contains(part)));
    assert!(shown(&["% of 32.00 MiB", "/s", "model.safetensors"]), "{:?}", seen.terminal);
    assert!(shown(&["verify model.safetensors"]), "{:?}", seen.terminal);
    // The bar never goes back while ranges are written.
    let written = lines.iter().filter(|line| line.contains('%') && !line.contains("verify"));
    let percents: Vec<u32> = written
        .filter_map(|line| line.split('%').next()?.split_whitespace().next_back()?.parse().ok())
        .collect();
    assert!(percents.is_sorted() && percents.last() > Some(&50), "{percents:?}");

    // The first pass of a scheme has no file.
    let plan =
        ["quantize", "in", "q", "--scheme", "nvfp4", "--layout", "compressed-tensors", "--plan", "q.json"];
    good(folder.run(&[&plan[..], &["--quiet"]].concat()));
    let amax = ["tasks", "run", "0/1", "--of", "q.json", "--phase", "amax", "--json"];
    let seen = look(&folder, &amax, Is::Stderr, &[]);
    assert_eq!(seen.code, Some(0), "{}", seen.terminal);
    assert!(without_escapes(&seen.terminal).contains("measure 100%"), "{:?}", seen.terminal);
    assert_eq!(seen.pipe.lines().count(), 1);
}

/// What is seen of text with escape sequences.
fn without_escapes(text: &str) -> String {
    let mut seen = String::new();
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        if c == ESCAPE {
            chars.find(char::is_ascii_alphabetic);
        } else {
            seen.push(c);
        }
    }
    seen
}
