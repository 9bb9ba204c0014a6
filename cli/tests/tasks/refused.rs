//! What does not work, and what the program says about it.

use std::{fs, path::Path};

use super::{SIZE, lines, object, sources, work};
use crate::common::{Folder, bad, f32s, good, safetensors};

const PLAN: [&str; 9] = ["convert", "plain", "dst", "--to", "bfloat16", "--plan", "p", "--range-size", SIZE];

fn planned() -> Folder {
    let folder = sources();
    good(folder.run(&[&PLAN[..], &["--quiet"]].concat()));
    folder
}

/// Expects that the program fails with the code, and that its line has all parts.
#[track_caller]
fn refuses(folder: &Folder, args: &[&str], code: i32, parts: &[&str]) {
    let line = bad(&folder.run(args), &[code]);
    assert!(parts.iter().all(|part| line.contains(part)), "{args:?}: {line}");
}

#[test]
fn options_that_do_not_go_with_a_plan() {
    let folder = sources();
    refuses(
        &folder,
        &[&PLAN[..], &["--resume"]].concat(),
        2,
        &["--resume does not go with --plan", "leave it out"],
    );
    refuses(
        &folder,
        &[&PLAN[..], &["--threads", "2"]].concat(),
        2,
        &["--threads does not go", "`lanecast tasks run`"],
    );
    refuses(&folder, &[&PLAN[..7], &["--range-size", "0"]].concat(), 2, &["5GB or 512MiB"]);
    refuses(
        &folder,
        &["convert", "plain", "dst", "--to", "f16", "--range-size", "1MiB"],
        2,
        &["--plan <FILE>"],
    );
    refuses(&folder, &["dequantize", "deepseek_v3", "dst", "--to", "f32", "--verify"], 2, &["--plan <FILE>"]);
    // Faults of the operation are those of the command without --plan.
    refuses(&folder, &[&PLAN[..], &["--map", "nothing=int8"]].concat(), 2, &["--map"]);
    refuses(&folder, &["convert", "nowhere", "dst", "--to", "f16", "--plan", "p"], 3, &["nowhere"]);
    refuses(
        &folder,
        &["quantize", "plain", "x", "--scheme", "nf4", "--layout", "deepseek", "--plan", "p"],
        2,
        &["fp8-block"],
    );
    let names = folder.names();
    assert!(names.iter().all(|name| name != "p" && !name.starts_with("dst")), "{names:?}");
}

#[test]
fn files_that_exist_stay() {
    let folder = planned();
    // Of another plan, and of no plan.
    let other = ["convert", "plain", "dst", "--to", "float16", "--plan"];
    for name in ["p", "plain.gguf"] {
        let before = folder.read(name);
        refuses(
            &folder,
            &[&other[..], &[name, "--force"]].concat(),
            3,
            &[name, "is not this plan", "another name"],
        );
        assert!(folder.read(name) == before);
    }
    // An output that is there, and one that appears.
    good(folder.run(&["tasks", "run", "0/1", "--of", "p", "--phase", "range", "--quiet"]));
    fs::create_dir(folder.at("dst")).expect("a folder");
    folder.write("dst/mine", b"mine");
    refuses(&folder, &PLAN, 3, &["dst", "--force"]);
    refuses(&folder, &["tasks", "finish", "p"], 3, &["dst", "move it away"]);
    assert_eq!(folder.read("dst/mine"), b"mine");
    fs::rename(folder.at("dst"), folder.at("away")).expect("a folder");
    good(folder.run(&["tasks", "finish", "p", "--quiet"]));
    // One that may be replaced.
    good(folder.run(&[&other[..], &["f16", "--force", "--quiet"]].concat()));
    good(folder.run(&["tasks", "run", "0/1", "--of", "f16", "--quiet"]));
    assert_ne!(folder.read("dst/model-0.safetensors").len(), 0);
    assert!(folder.read("dst/config.json").windows(7).any(|part| part == b"float16"));
}

#[test]
fn tasks_and_shares_that_are_none() {
    let folder = planned();
    let n = lines(good(folder.run(&["tasks", "pending", "p"]))).len();
    for share in ["3/3", "0/0", "x", "1/x", "1/2/3", "", "99999999999999999999"] {
        refuses(
            &folder,
            &["tasks", "run", share, "--of", "p"],
            2,
            &["share I/N with I below N, such as 0/8"],
        );
    }
    let (task, last) = (n.to_string(), format!("but 0 to {}", n - 1));
    refuses(&folder, &["tasks", "run", "0", &task, "--of", "p"], 2, &["there is no task", &task, &last]);
    refuses(&folder, &["tasks", "run", "0", "--of", "p", "--phase", "range"], 2, &["--phase", "share I/N"]);
    refuses(
        &folder,
        &["tasks", "run", "0/1", "--of", "p", "--phase", "all"],
        2,
        &["amax, prepare, range, shard, finish"],
    );
    refuses(&folder, &["tasks", "run", "0/1", "--of", "p", "--threads", "0"], 2, &["--threads"]);
    refuses(&folder, &["tasks", "run", "0/1"], 2, &["--of"]);
    refuses(&folder, &["tasks", "run", "--of", "p"], 2, &["ID|I/N"]);
    refuses(&folder, &["tasks", "pending", "p", "--json", "--count"], 2, &["--count"]);
    assert!(work(&folder, "dst").is_empty(), "nothing was done");
}

#[test]
fn files_that_are_no_plan() {
    let folder = planned();
    let each = |file: &str, code, parts: &[&str]| {
        refuses(&folder, &["tasks", "run", "0/1", "--of", file], code, parts);
        refuses(&folder, &["tasks", "pending", file], code, parts);
        refuses(&folder, &["tasks", "finish", file], code, parts);
    };
    each("missing", 3, &["cannot open", "missing"]);
    each("plain/config.json", 4, &["no plan of tasks", "plain/config.json", "make the plan again"]);
    each("plain", 3, &["plain"]);
    let text = String::from_utf8(folder.read("p")).expect("UTF-8");
    let changed = |old: &str, new: &str| {
        assert!(text.contains(old), "{old}");
        folder.write("q", text.replacen(old, new, 1).as_bytes());
    };
    changed(concat!("\"version\": \"", env!("CARGO_PKG_VERSION"), "\""), "\"version\": \"0.0.1\"");
    each("q", 5, &["version 0.0.1 (format 1)", "with that version, or make the plan again"]);
    changed("\"format\": 1", "\"format\": 2");
    each("q", 5, &["(format 2)"]);
    changed("\"id\":1,", "\"id\":2,");
    each("q", 4, &["task 2 is in the place of task 1"]);
    folder.write("q", &text.as_bytes()[..text.len() / 2]);
    each("q", 4, &["no plan of tasks"]);
}

#[test]
fn phases_that_cannot_begin() {
    let folder = planned();
    let plan = object(good(folder.run(&["tasks", "pending", "p", "--json"])));
    let ranges = plan["phases"]["range"]["tasks"].as_u64().expect("a number");
    let first = plan["phases"]["prepare"]["tasks"].as_u64().expect("a number");
    let shard = format!("shard task {}", first + ranges);
    refuses(
        &folder,
        &["tasks", "run", "0/1", "--of", "p", "--phase", "shard"],
        2,
        &["tasks of the phase range are pending, and must run first", &shard],
    );
    refuses(
        &folder,
        &["tasks", "run", "0/1", "--of", "p", "--phase", "finish"],
        2,
        &["tasks of the phase shard are pending"],
    );
    refuses(
        &folder,
        &["tasks", "finish", "p"],
        2,
        &["tasks of the phase range are pending", &first.to_string()],
    );
    // The first pass of a scheme that needs one.
    let quantize = [
        "quantize", "plain", "q", "--scheme", "nvfp4", "--layout", "modelopt", "--plan", "q.json", "--quiet",
    ];
    good(folder.run(&quantize));
    refuses(
        &folder,
        &["tasks", "run", "0/1", "--of", "q.json", "--phase", "range"],
        2,
        &["1 task of the phase amax is pending, and must run first: 0"],
    );
    // What is there already is not lost.
    good(folder.run(&["tasks", "run", "0/1", "--of", "p", "--quiet"]));
}

#[test]
fn a_source_that_has_changed() {
    let folder = planned();
    let shard = folder.read("plain/model-1.safetensors");
    folder.write("plain/model-1.safetensors", &[&shard[..], b"x"].concat());
    refuses(
        &folder,
        &["tasks", "run", "0/1", "--of", "p", "--phase", "range"],
        2,
        &[
            "not the one that was planned",
            "\"model-1.safetensors\" of the source has changed",
            "range task",
            "make the plan again",
        ],
    );
    fs::remove_file(folder.at("plain/model-1.safetensors")).expect("a file");
    refuses(&folder, &["tasks", "run", "3", "--of", "p"], 3, &["model-1.safetensors"]);
    assert!(!folder.at("dst").exists());
}

/// Errors of tasks name the task, and the remedy is one for the plan.
#[test]
fn values_that_are_refused() {
    let folder = Folder::new();
    fs::create_dir(folder.at("src")).expect("a folder");
    let header = concat!(
        r#"{"a.weight":{"dtype":"F8_E4M3","shape":[2,2],"data_offsets":[0,4]},"#,
        r#""a.weight_scale_inv":{"dtype":"F32","shape":[1,1],"data_offsets":[4,8]}}"#
    );
    folder
        .write("src/model.safetensors", &safetensors(header, &[&[0x38; 4][..], &f32s(&[f32::NAN])].concat()));
    folder.write(
        "src/config.json",
        br#"{"quantization_config":{"quant_method":"fp8","weight_block_size":[128,128]}}"#,
    );
    let plan = ["dequantize", "src", "dst", "--to", "f32", "--plan", "p", "--quiet"];
    good(folder.run(&plan));
    let parts = ["NaN", "range task 1, ", "a.weight_scale_inv", "make the plan again, and give --allow-nan"];
    refuses(&folder, &["tasks", "run", "0/1", "--of", "p"], 4, &parts);
    fs::remove_file(folder.at("p")).expect("a file");
    good(folder.run(&[&plan[..], &["--allow-nan"]].concat()));
    good(folder.run(&["tasks", "run", "0/1", "--of", "p", "--quiet"]));
}

/// --verify reads files again.
#[test]
fn bytes_that_change_on_the_disk() {
    for verify in [true, false] {
        let folder = sources();
        let flag: &[&str] = if verify { &["--verify"] } else { &[] };
        good(folder.run(&[&PLAN[..], flag, &["--quiet"]].concat()));
        good(folder.run(&["tasks", "run", "0/1", "--of", "p", "--phase", "range", "--quiet"]));
        let part = Path::new(&work(&folder, "dst")[0]).join("parts/0.partial");
        let part = part.to_str().expect("UTF-8");
        let mut bytes = folder.read(part);
        *bytes.last_mut().expect("bytes") ^= 1;
        folder.write(part, &bytes);
        if !verify {
            good(folder.run(&["tasks", "finish", "p", "--quiet"]));
            continue;
        }
        refuses(
            &folder,
            &["tasks", "finish", "p"],
            4,
            &["0.partial", "are not those that range task", "run that task again"],
        );
        good(folder.run(&["tasks", "run", "0/1", "--of", "p", "--quiet"]));
        good(folder.run(&["convert", "plain", "whole", "--to", "bfloat16", "--quiet"]));
        assert!(super::tree(&folder.at("dst")) == super::tree(&folder.at("whole")));
    }
}
