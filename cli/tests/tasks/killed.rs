//! Processes that are ended at any moment.
#![cfg(unix)]

use std::{fs, thread, time::Instant};

use rustix::process::{Pid, Signal, kill_process};

use super::{lines, start, tree, work};
use crate::{
    common::{bad, good},
    convert::checkpoint,
    signals::signals_are_ignored,
};

/// Sends signals at random moments until `times` of them ended a run. What is left is then done by the numbers of pending tasks, and compared.
fn at_random_moments(signal: Signal, times: u32) {
    // 24 MiB out.
    let folder = checkpoint(6, 1 << 20);
    good(folder.run(&["convert", "src", "whole", "--to", "float32", "--quiet"]));
    let want = tree(&folder.at("whole"));
    let plan = ["convert", "src", "dst", "--to", "float32", "--plan", "p", "--range-size", "1MiB", "--quiet"];
    good(folder.run(&[&plan[..], &["--verify"]].concat()));
    let tasks = lines(good(folder.run(&["tasks", "pending", "p"]))).len();
    let run = ["tasks", "run", "0/1", "--of", "p", "--quiet"];
    let started = Instant::now();
    good(folder.run(&run));
    let mut whole = started.elapsed();
    let clear = || {
        assert!(tree(&folder.at("dst")) == want);
        let left = work(&folder, "dst");
        // Killed processes leave temporary files, which the end removes.
        let done: Vec<_> = fs::read_dir(folder.at(&left[0])).expect("a folder").collect();
        assert_eq!((left.len(), done.len()), (1, 1), "{done:?}");
        assert_eq!(fs::read_dir(folder.at(&left[0]).join("done")).expect("a folder").count(), 1);
        fs::remove_dir_all(folder.at(&left[0])).expect("a folder");
        fs::remove_dir_all(folder.at("dst")).expect("a folder");
        assert_eq!(folder.names(), ["p", "src", "whole"]);
    };
    clear();
    let (mut random, mut ended, mut unfinished, mut outputs) = (0x9E37_79B9_7F4A_7C15_u64, 0, 0, 0);
    while ended < times {
        assert!(outputs < 10 * times, "the signals do not end the program");
        random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let child = start(&folder, &run);
        thread::sleep(whole.mul_f64((random >> 40) as f64 / (1 << 24) as f64));
        // It may have ended before.
        let _ = kill_process(Pid::from_child(&child), signal);
        let output = child.wait_with_output().expect("the program ends");
        let pending = lines(good(folder.run(&["tasks", "pending", "p", "--quiet"])));
        match output.status.code() {
            Some(0) => {
                assert!(pending.is_empty());
                whole = whole.mul_f64(0.9);
            }
            code => {
                ended += 1;
                unfinished += u32::from((1..tasks).contains(&pending.len()));
                if code.is_some() {
                    assert_eq!(bad(&output, &[130]), "lanecast: ended by SIGINT\n");
                }
                // A few are ended again and again, the others completed at once.
                if random >> 63 == 0 {
                    continue;
                }
                // Those of the last two phases, which are the last seven, are for `finish`.
                let last = tasks - 7;
                let ids = pending.iter().filter(|id| id.parse::<usize>().is_ok_and(|id| id < last));
                let ids: Vec<&str> = ids.map(String::as_str).collect();
                if !ids.is_empty() {
                    good(folder.run(&[&["tasks", "run", "--of", "p", "--quiet"], &ids[..]].concat()));
                }
                good(folder.run(&["tasks", "finish", "p", "--quiet"]));
            }
        }
        clear();
        outputs += 1;
    }
    println!("{ended} runs ended, {unfinished} with something to go on from, {outputs} outputs compared");
    assert!(unfinished >= times / 4 && outputs >= times / 4, "{unfinished}, {outputs} of {times}");
}

#[test]
fn sigkill_at_any_moment_leaves_what_others_go_on_from() {
    at_random_moments(Signal::KILL, 26);
}

#[test]
fn sigint_at_any_moment_leaves_what_others_go_on_from() {
    if signals_are_ignored() {
        return;
    }
    at_random_moments(Signal::INT, 12);
}

/// One of two processes that run the same tasks at the same time is killed: the other one does everything.
#[test]
fn a_killed_process_does_not_disturb_another_one() {
    let folder = checkpoint(6, 1 << 18);
    good(folder.run(&["convert", "src", "whole", "--to", "float32", "--quiet"]));
    let plan =
        ["convert", "src", "dst", "--to", "float32", "--plan", "p", "--range-size", "256KiB", "--quiet"];
    good(folder.run(&plan));
    for milliseconds in [5, 20, 40, 60, 80, 120] {
        let run = ["tasks", "run", "0/1", "--of", "p", "--quiet"];
        let (mut killed, other) = (start(&folder, &run), start(&folder, &run));
        thread::sleep(std::time::Duration::from_millis(milliseconds));
        killed.kill().expect("a signal");
        killed.wait().expect("the program ends");
        good(other.wait_with_output().expect("the program ends"));
        assert!(tree(&folder.at("dst")) == tree(&folder.at("whole")));
        fs::remove_dir_all(folder.at("dst")).expect("a folder");
        fs::remove_dir_all(folder.at(&work(&folder, "dst")[0])).expect("a folder");
    }
}
