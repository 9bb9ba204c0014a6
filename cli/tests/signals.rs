//! Signals, limits and closed pipes: how the program ends, and what is left of an output.
#![cfg(unix)]

use crate::common;
use std::{
    fs::{self, File},
    io::{Read, Write},
    os::unix::process::ExitStatusExt,
    process::{Child, Command, Stdio},
    thread,
    time::{Duration, Instant},
};

use crate::common::{Folder, bad, f32s, feed, good, npy, program, safetensors};
use rustix::process::{Pid, Signal, kill_process};

const SIGNALS: [(Signal, i32, &str); 3] =
    [(Signal::HUP, 129, "SIGHUP"), (Signal::INT, 130, "SIGINT"), (Signal::TERM, 143, "SIGTERM")];

fn send(child: &Child, signal: Signal) {
    // It may have ended before.
    let _ = kill_process(Pid::from_child(child), signal);
}

/// Starts the program in `folder`.
fn start(folder: &Folder, args: &[&str]) -> Child {
    program()
        .args(args)
        .current_dir(folder.path())
        .env_remove("LANECAST_TIER")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program starts")
}

/// Whether the program would inherit that a signal is ignored, as in the background of a shell or under `nohup`; says so.
pub fn signals_are_ignored() -> bool {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let mask = mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or(0);
    let ignored = SIGNALS.iter().any(|(signal, ..)| mask >> (signal.as_raw() - 1) & 1 == 1);
    if ignored {
        println!("SKIPPED: signals: this process ignores one of them, and so would the program");
    }
    ignored
}

/// Waits until the program works on an output: until then a signal ends it as any other program.
fn wait_for_temporary(folder: &Folder) {
    let started = Instant::now();
    while !folder.names().iter().any(|name| name.starts_with(".lanecast-")) {
        assert!(started.elapsed() < Duration::from_secs(20), "no temporary file: {:?}", folder.names());
        thread::sleep(Duration::from_millis(1));
    }
}

/// An array of `mib` MiB, most of them in no block of the disk.
fn large(folder: &Folder, mib: u64) {
    folder.write("in.npy", &npy("<f4", &format!("({},)", mib << 18), &[]));
    let file = File::options().write(true).open(folder.at("in.npy")).unwrap();
    file.set_len(file.metadata().unwrap().len() + (mib << 20)).unwrap();
}

/// Sends signals at `moments` moments of a cast of `mib` MiB; says how many came in time.
fn at_random_moments(mib: u64, moments: u32) -> u32 {
    let folder = Folder::new();
    large(&folder, mib);
    let args = ["cast", "in.npy", "out.npy", "--to", "f16"];
    let started = Instant::now();
    good(folder.run(&args));
    let mut whole = started.elapsed();
    let complete = folder.read("out.npy").len();
    let (mut random, mut ended) = (0x9E37_79B9_7F4A_7C15_u64, 0);
    for i in 0..moments {
        let _ = fs::remove_file(folder.at("out.npy"));
        random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let (signal, code, name) = SIGNALS[i as usize % 3];
        let child = start(&folder, &args);
        thread::sleep(whole.mul_f64((random >> 40) as f64 / (1 << 24) as f64));
        send(&child, signal);
        let output = child.wait_with_output().unwrap();
        let out = fs::metadata(folder.at("out.npy")).map(|m| m.len() as usize).ok();
        match (output.status.code(), output.status.signal()) {
            // Disks take their time as they like: the moments follow them.
            (Some(0), _) => {
                assert_eq!(out, Some(complete), "moment {i}");
                whole = whole.mul_f64(0.8);
            }
            // Before the program knew of signals, or had anything to lose by one.
            (None, Some(number)) => {
                assert_eq!((number + 128, out), (code, None), "moment {i}");
                whole = whole.mul_f64(1.2);
            }
            _ => {
                assert_eq!(bad(&output, &[code]), format!("lanecast: ended by {name}\n"), "moment {i}");
                assert!(out.is_none_or(|length| length == complete), "moment {i}");
                ended += 1;
            }
        }
        let expected: &[&str] = if out.is_some() { &["in.npy", "out.npy"] } else { &["in.npy"] };
        assert_eq!(folder.names(), expected, "moment {i}");
    }
    ended
}

#[test]
fn at_any_moment() {
    if signals_are_ignored() {
        return;
    }
    let ended = at_random_moments(64, 30);
    assert!(ended >= 5, "{ended} of 30 signals ended the cast");
}

#[test]
#[ignore = "takes minutes, and 2 GiB of the disk: `cargo test --test program -- signals:: --ignored`"]
fn at_a_hundred_moments_of_a_gibibyte() {
    if signals_are_ignored() {
        return;
    }
    let ended = at_random_moments(1024, 100);
    println!("{ended} of 100 signals ended the cast");
    assert!(ended >= 30);
}

/// Input that does not come, and output that nobody takes.
#[test]
fn while_it_waits_for_a_pipe() {
    if signals_are_ignored() {
        return;
    }
    for (signal, code, name) in SIGNALS {
        let line = format!("lanecast: ended by {name}\n");
        for args in [
            &["raw", "--from", "f32", "--to", "f16", "-", "out.bin"][..],
            &["onnx-cast", "--opset", "19", "--from", "f32", "--to", "f16", "-", "out.bin"],
            &["onnx-cast", "--opset", "19", "--from", "string", "--to", "f16", "-", "out.bin"],
        ] {
            let folder = Folder::new();
            let mut child = start(&folder, args);
            let stdin = child.stdin.take();
            wait_for_temporary(&folder);
            send(&child, signal);
            let output = child.wait_with_output().unwrap();
            assert_eq!(bad(&output, &[code]), line, "{args:?}");
            assert!(folder.names().is_empty(), "{:?}", folder.names());
            drop(stdin);
        }
        let folder = Folder::new();
        large(&folder, 4);
        let mut child = start(&folder, &["raw", "--from", "f32", "--to", "f16", "in.npy"]);
        child.stdout.as_mut().unwrap().read_exact(&mut [0]).unwrap();
        send(&child, signal);
        // Without reading the rest.
        let status = child.wait().unwrap();
        let mut error = String::new();
        child.stderr.unwrap().read_to_string(&mut error).unwrap();
        assert_eq!((status.code(), error), (Some(code), line));
    }
}

#[test]
fn a_second_signal_ends_it_at_once() {
    if signals_are_ignored() {
        return;
    }
    let folder = Folder::new();
    let mut child = start(&folder, &["raw", "--from", "f32", "--to", "f16", "-", "out.bin"]);
    let _stdin = child.stdin.take();
    wait_for_temporary(&folder);
    send(&child, Signal::INT);
    thread::sleep(Duration::from_millis(20));
    let started = Instant::now();
    send(&child, Signal::TERM);
    let output = child.wait_with_output().unwrap();
    assert_eq!(bad(&output, &[130]), "lanecast: ended by SIGINT\n");
    assert!(started.elapsed() < Duration::from_millis(250), "{:?}", started.elapsed());
    assert!(folder.names().is_empty());
}

#[test]
#[cfg(target_os = "linux")]
fn an_ignored_signal_stays_ignored() {
    if common::words().len() > 1 {
        eprintln!("skipped: the process is an emulator");
        return;
    }
    let folder = Folder::new();
    let mut shell = Command::new("sh");
    shell.args(["-c", "trap '' HUP; exec \"$@\"", "sh"]).args(common::words());
    shell.args(["raw", "--from", "f32", "--to", "f16", "-", "out.bin"]).current_dir(folder.path());
    let mut child = shell.stdin(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    wait_for_temporary(&folder);
    send(&child, Signal::HUP);
    thread::sleep(Duration::from_millis(50));
    child.stdin.take().unwrap().write_all(&f32s(&[1.0, 2.0])).unwrap();
    good(child.wait_with_output().unwrap());
    assert_eq!(folder.read("out.bin").len(), 4);
}

#[test]
fn leftovers_of_a_killed_run_are_named_and_removed() {
    let folder = Folder::new();
    let waits = ["raw", "--from", "f32", "--to", "f16", "-", "out.bin"];
    let mut killed = start(&folder, &waits);
    wait_for_temporary(&folder);
    killed.kill().unwrap();
    killed.wait().unwrap();
    let leftover = folder.names().remove(0);
    // Of a process that lives, and of no process.
    let alive = start(&folder, &[&waits[..], &["--quiet"]].concat());
    let started = Instant::now();
    while folder.names().len() < 2 {
        assert!(started.elapsed() < Duration::from_secs(20));
        thread::sleep(Duration::from_millis(1));
    }
    folder.write(".lanecast-mine.tmp", b"");
    folder.write("in.npy", &npy("<f4", "(1,)", &f32s(&[1.0])));
    let before = folder.names();

    let cast = ["cast", "in.npy", "out.npy", "--to", "f16", "--force"];
    let output = folder.run(&cast);
    let line = format!(
        "lanecast: warning: a killed run left a temporary file: ./{leftover}: give --clean to remove it\n"
    );
    assert_eq!((output.status.code(), common::stderr(&output)), (Some(0), line));
    good(folder.run(&[&cast[..], &["--quiet"]].concat()));

    let output = folder.run(&[&cast[..], &["--clean"]].concat());
    let line = format!("lanecast: removed the leftover of a killed run: ./{leftover}\n");
    assert_eq!((output.status.code(), common::stderr(&output)), (Some(0), line));
    good(folder.run(&cast));
    let mut rest = folder.names();
    rest.retain(|name| name != "out.npy");
    assert_eq!(rest, before.into_iter().filter(|name| *name != leftover).collect::<Vec<_>>());
    good(alive.wait_with_output().unwrap());
    assert_eq!(folder.names(), [".lanecast-mine.tmp", "in.npy", "out.bin", "out.npy"]);
}

/// The limit comes with a signal that ends a program that does not know it.
#[test]
#[cfg(target_os = "linux")]
fn a_limit_on_the_size_of_files_is_a_full_disk() {
    let folder = Folder::new();
    folder.write("in.npy", &npy("<f4", "(1048576,)", &vec![0; 4 << 20]));
    for args in [
        &["cast", "in.npy", "out.npy", "--to", "f64"][..],
        &["raw", "--from", "u8", "--to", "f64", "in.npy", "out.npy"],
        &["onnx-cast", "--opset", "19", "--from", "u8", "--to", "string", "in.npy", "out.npy"],
    ] {
        let mut shell = Command::new("sh");
        shell.args(["-c", "ulimit -f 900; exec \"$@\"", "sh"]).args(common::words()).args(args);
        let line = bad(&feed(shell.current_dir(folder.path()), &[]), &[3]);
        assert!(line.contains("cannot write: file too large: out.npy: raise the limit"), "{line}");
        assert_eq!(folder.names(), ["in.npy"]);
    }
}

#[test]
#[cfg(target_os = "linux")]
fn a_full_device_is_named() {
    let run = feed(program().args(["raw", "--from", "f32", "--to", "f16", "-", "/dev/full"]), &[0; 8]);
    let line = bad(&run, &[3]);
    assert!(line.contains("cannot write: no space left on device: /dev/full: free space"), "{line}");
}

#[test]
fn a_broken_pipe_is_quiet() {
    let folder = Folder::new();
    large(&folder, 4);
    let named = safetensors(r#"{"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}}"#, &[0; 8]);
    folder.write("in.safetensors", &named);
    let closed = |args: &[&str]| {
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        let mut command = program();
        command.args(args).current_dir(folder.path()).stdin(Stdio::null()).stdout(writer);
        let output = command.stderr(Stdio::piped()).spawn().unwrap().wait_with_output().unwrap();
        assert_eq!(common::stderr(&output), "", "{args:?}");
        output.status.code()
    };
    assert_eq!(closed(&["raw", "--from", "f32", "--to", "f16", "in.npy"]), Some(141));
    assert_eq!(closed(&["cast", "in.npy", "-", "--to", "f16"]), Some(141));
    assert_eq!(closed(&["inspect", "in.safetensors"]), Some(141));
    assert_eq!(closed(&["dtypes"]), Some(141));
    assert_eq!(closed(&["cast", "in.npy", "--to", "f16", "--dry-run"]), Some(141));
    // What is written is written.
    for json in [&[][..], &["--json"]] {
        for (input, output) in [("in.npy", "out.npy"), ("in.safetensors", "out.safetensors")] {
            let cast = [&["cast", input, output, "--to", "f16", "--force"], json].concat();
            assert_eq!(closed(&cast), Some(0));
            assert!(!folder.read(output).is_empty());
        }
        let raw = ["raw", "--from", "u8", "--to", "f16", "in.npy", "out.bin", "--force"];
        assert_eq!(closed(&[&raw[..], json].concat()), Some(0));
    }
}
