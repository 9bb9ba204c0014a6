//! Disks without space: an error that names the file and the cause, nothing left of an output, and `convert` goes on once there is space.
//!
//! The disk is a small file system in memory, in a namespace of its own, which not every system allows. A limit on the size of files is one
//! everywhere.
#![cfg(target_os = "linux")]

use std::{
    collections::BTreeMap,
    fs,
    process::{Command, Output},
};

use crate::common::{self, Folder, bad, f32s, feed, good, safetensors};

const PARTIAL: &str = "dst.lanecast-partial";

/// Mounts a disk of this size, runs the command, lists what is on the disk, enlarges it, and runs the command once more with other words.
const SCRIPT: &str = r#"
    mount -t tmpfs -o size="$1" none disk || exit 99
    "$2" $3 2> error
    echo $? > code
    ls -A disk > names
    mount -o remount,size=64m disk || exit 99
    "$2" $4 && cp -r disk/dst dst
"#;

/// What happens on a small disk: the first run, the names on the disk after it, and the run when there is space.
struct OnDisk {
    first: Output,
    names: Vec<String>,
    second: Output,
}

/// Runs the program on `args` with an output on a disk of so many bytes, and then on `again` on a large disk.
fn on_disk(folder: &Folder, bytes: u64, args: &str, again: &str) -> OnDisk {
    let program = &common::words()[0];
    let mut unshare = Command::new("unshare");
    unshare.args(["--user", "--map-root-user", "--mount", "sh", "-c", SCRIPT, "sh", &bytes.to_string()]);
    let second = feed(unshare.args([program, args, again]).current_dir(folder.path()), &[]);
    let text = |name: &str| String::from_utf8(folder.read(name)).expect("UTF-8");
    let code: i32 = text("code").trim().parse().expect("a code");
    let status = std::os::unix::process::ExitStatusExt::from_raw(code << 8);
    let first = Output { status, stdout: Vec::new(), stderr: folder.read("error") };
    OnDisk { first, names: text("names").lines().map(str::to_owned).collect(), second }
}

/// Whether a process may mount a file system in a namespace of its own; says so if not.
fn no_namespaces() -> bool {
    let script = "mount -t tmpfs -o size=4096 none /tmp";
    let unshare =
        Command::new("unshare").args(["--user", "--map-root-user", "--mount", "sh", "-c", script]).output();
    let can = common::words().len() == 1 && unshare.is_ok_and(|output| output.status.success());
    if !can {
        println!("SKIPPED: full disks: this system gives no process a file system of its own");
    }
    !can
}

/// The folder `src`: four shards of float32, or of block fp8, and a large file beside them.
fn model(is_fp8: bool) -> Folder {
    let folder = Folder::new();
    fs::create_dir(folder.at("src")).expect("a folder");
    fs::create_dir(folder.at("disk")).expect("a folder");
    let values: Vec<f32> = (0..128 * 128).map(|i| (i % 31) as f32 / 8.0 - 2.0).collect();
    let mut map = serde_json::Map::new();
    for i in 0..4 {
        let (name, file) = (format!("m.{i}.up_proj.weight"), format!("model-{i}.safetensors"));
        let (header, data) = match is_fp8 {
            true => (
                format!(
                    r#"{{"{name}":{{"dtype":"F8_E4M3","shape":[128,128],"data_offsets":[0,16384]}},"{name}_scale_inv":{{"dtype":"F32","shape":[1,1],"data_offsets":[16384,16388]}}}}"#
                ),
                [vec![0x38; 16384], f32s(&[1.0])].concat(),
            ),
            false => (
                format!(r#"{{"{name}":{{"dtype":"F32","shape":[128,128],"data_offsets":[0,65536]}}}}"#),
                f32s(&values),
            ),
        };
        folder.write(&format!("src/{file}"), &safetensors(&header, &data));
        map.insert(name.clone(), file.clone().into());
        if is_fp8 {
            map.insert(name + "_scale_inv", file.into());
        }
    }
    let index = serde_json::json!({"weight_map": map});
    folder.write("src/model.safetensors.index.json", index.to_string().as_bytes());
    let config = match is_fp8 {
        true => r#"{"quantization_config":{"quant_method":"fp8","weight_block_size":[128,128]}}"#,
        false => "{}",
    };
    folder.write("src/config.json", config.as_bytes());
    folder.write("src/tokenizer.json", &[b' '; 50_000]);
    folder
}

fn files(folder: &Folder, name: &str) -> BTreeMap<String, Vec<u8>> {
    let entries = fs::read_dir(folder.at(name)).expect("a folder");
    let names = entries.map(|entry| entry.expect("an entry").file_name().into_string().expect("UTF-8"));
    names.map(|file| (file.clone(), folder.read(&format!("{name}/{file}")))).collect()
}

/// Runs on disks from a page to the size of the output. Each is full at another moment: some at the first file, some at a marker, some at the
/// files beside the weights.
fn at_every_size(is_fp8: bool, command: &str, options: &str) {
    if no_namespaces() {
        return;
    }
    let folder = model(is_fp8);
    good(folder.run(&format!("{command} src whole {options} --quiet").split(' ').collect::<Vec<_>>()));
    let whole = files(&folder, "whole");
    let resume = if command == "convert" { " --resume" } else { "" };
    let args = format!("{command} src disk/dst {options} --quiet --threads 2{resume}");
    let (mut full, mut unfinished, mut places) = (0, 0, Vec::new());
    for pages in (1..).step_by(5) {
        let OnDisk { first, names, second } = on_disk(&folder, pages * 4096, &args, &args);
        let success = first.status.success();
        if !success {
            full += 1;
            let line = bad(&first, &[3]);
            assert!(line.contains("no space left on device: ") && line.contains("free space"), "{line}");
            assert!(line.contains("disk/dst"), "{line}");
            places.push(line.rsplit_once('/').map(|(_, file)| file.to_owned()).unwrap_or_default());
            unfinished += usize::from(names == [PARTIAL]);
            assert!(names.is_empty() || command == "convert" && names == [PARTIAL], "{names:?}");
            good(second);
        } else {
            assert_eq!(names, ["dst"]);
        }
        if !success || !resume.is_empty() {
            assert!(success || files(&folder, "dst") == whole, "{pages} pages");
        }
        let _ = fs::remove_dir_all(folder.at("dst"));
        if success {
            break;
        }
    }
    println!("{command}: full {full} times, {unfinished} with something to go on from: {places:?}");
    assert!(full >= 5 && (resume.is_empty() || unfinished >= 3), "{full}, {unfinished}");
}

#[test]
fn convert_goes_on_after_a_full_disk() {
    at_every_size(false, "convert", "--to float16");
}

#[test]
fn dequantize_leaves_nothing_on_a_full_disk() {
    at_every_size(true, "dequantize", "--to float32");
}

#[test]
fn quantize_leaves_nothing_on_a_full_disk() {
    at_every_size(false, "quantize", "--scheme fp8-block --layout deepseek");
}

/// The limit comes with a signal that ends a program that does not know it.
#[test]
fn a_limit_on_the_size_of_files_is_a_full_disk() {
    for (is_fp8, args) in [
        (false, "convert src dst --to float64"),
        (true, "dequantize src dst --to float32"),
        (false, "quantize src dst --scheme fp8-block --layout deepseek"),
    ] {
        let folder = model(is_fp8);
        let mut shell = Command::new("sh");
        // 8 KiB where a unit has 512 bytes, 16 where it has 1024.
        shell.args(["-c", "ulimit -f 15; exec \"$@\"", "sh"]).args(common::words()).args(args.split(' '));
        let line = bad(&feed(shell.current_dir(folder.path()), &[]), &[3]);
        let parts = ["file too large", "dst", "model-0.safetensors", "raise the limit"];
        assert!(parts.iter().all(|part| line.contains(part)), "{line}");
        assert_eq!(folder.names(), ["disk", "src"], "{args}");
    }
}
