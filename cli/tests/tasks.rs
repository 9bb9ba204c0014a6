//! `--plan` and `lanecast tasks`: however processes run a plan, the output has the bytes of one command.

mod killed;
mod many;
mod refused;

use std::{
    collections::BTreeMap,
    fs,
    io::{Cursor, Read},
    path::Path,
    process::{Child, Stdio},
};

use serde_json::Value;
use zip::ZipArchive;

use crate::{
    common::{Folder, f32s, good, program, safetensors, stderr},
    convert::files,
};

/// An operation: the subcommand, the source, the extension of the output and the options.
type Operation = (&'static str, &'static str, &'static str, &'static [&'static str]);

const OPERATIONS: &[Operation] = &[
    ("convert", "plain", "", &["--to", "bfloat16", "--map", "*.k_proj.*=float16"]),
    ("convert", "plain", "", &["--to", "float64", "--max-shard-size", "300KB"]),
    ("convert", "plain/model-1.safetensors", ".safetensors", &["--to", "bfloat16"]),
    ("dequantize", "deepseek_v3", "", &["--to", "bfloat16"]),
    ("dequantize", "gptq_v1_asym", "", &["--to", "float32"]),
    ("dequantize", "modelopt_nvfp4", "", &["--to", "float16"]),
    ("dequantize", "gguf_mixed/model.gguf", ".gguf", &["--to", "float32"]),
    ("quantize", "plain", "", &["--scheme", "nvfp4", "--layout", "compressed-tensors"]),
    ("quantize", "plain", "", &["--scheme", "fp8-block", "--layout", "deepseek", "--ignore", "*.k_proj"]),
    (
        "requantize",
        "modelopt_mxfp4",
        "",
        &["--lossless", "--scheme", "mxfp8", "--layout", "compressed-tensors"],
    ),
    ("convert", "plain.gguf", ".gguf", &["--to", "float16"]),
    ("quantize", "plain.gguf", ".gguf", &["--scheme", "q8_0", "--layout", "gguf"]),
];
/// Small, so that there are several tasks.
const SIZE: &str = "3KB";

/// The matrices of a layer.
const WEIGHTS: &[(&str, &[usize])] = &[
    ("self_attn.q_proj", &[64, 128]),
    ("self_attn.k_proj", &[32, 128]),
    ("self_attn.v_proj", &[32, 128]),
    ("mlp.gate_proj", &[96, 128]),
    ("mlp.up_proj", &[96, 128]),
    ("mlp.down_proj", &[128, 128]),
    ("input_layernorm", &[128]),
];

/// Numbers between -1 and 1 of a linear congruential generator.
fn values(n: usize, seed: usize) -> Vec<f32> {
    let mut state = seed as u64;
    let mut next = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 40) as f32 / (1 << 23) as f32 - 1.0
    };
    (0..n).map(|_| next()).collect()
}

/// The sources of all operations.
fn sources() -> Folder {
    let folder = Folder::new();
    let archive = include_bytes!("../../checkpoint/tests/data/checkpoints.zip");
    let mut archive = ZipArchive::new(Cursor::new(&archive[..])).expect("an archive");
    for i in 0..archive.len() {
        let mut file = archive.by_index(i).expect("a file");
        let name = file.enclosed_name().expect("a name");
        if OPERATIONS.iter().any(|(_, src, ..)| name.starts_with(src)) {
            let path = folder.path().join(name);
            fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
            let mut bytes = Vec::new();
            file.read_to_end(&mut bytes).expect("bytes");
            fs::write(path, bytes).expect("a file");
        }
    }
    fs::create_dir(folder.at("plain")).expect("a folder");
    let mut map = serde_json::Map::new();
    for layer in 0..2 {
        let (file, mut header, mut data) =
            (format!("model-{layer}.safetensors"), serde_json::Map::new(), Vec::new());
        for (i, (module, shape)) in WEIGHTS.iter().enumerate() {
            let name = format!("model.layers.{layer}.{module}.weight");
            let begin = data.len();
            data.extend(f32s(&values(shape.iter().product(), 7 * layer + i)));
            let entry =
                serde_json::json!({"dtype": "F32", "shape": shape, "data_offsets": [begin, data.len()]});
            header.insert(name.clone(), entry);
            map.insert(name, file.clone().into());
        }
        folder.write(&format!("plain/{file}"), &safetensors(&Value::from(header).to_string(), &data));
    }
    let index = serde_json::json!({"weight_map": map});
    folder.write("plain/model.safetensors.index.json", index.to_string().as_bytes());
    folder.write("plain/config.json", br#"{"model_type": "llama", "dtype": "float32"}"#);
    folder.write("plain/tokenizer.json", b"{}");
    folder.write(
        "plain.gguf",
        &gguf(&[
            ("token_embd.weight", &[16, 64]),
            ("blk.0.attn_norm.weight", &[64]),
            ("blk.0.attn_q.weight", &[400, 64]),
        ]),
    );
    folder
}

/// A GGUF file of float32 tensors.
fn gguf(tensors: &[(&str, &[usize])]) -> Vec<u8> {
    let mut out =
        [&b"GGUF"[..], &3_u32.to_le_bytes(), &(tensors.len() as u64).to_le_bytes(), &[0; 8]].concat();
    let mut data = Vec::new();
    for (name, shape) in tensors {
        out.extend((name.len() as u64).to_le_bytes());
        out.extend(name.bytes());
        out.extend((shape.len() as u32).to_le_bytes());
        out.extend(shape.iter().rev().flat_map(|axis| (*axis as u64).to_le_bytes()));
        out.extend(0_u32.to_le_bytes());
        out.extend((data.len() as u64).to_le_bytes());
        data.extend(f32s(&values(shape.iter().product(), name.len())));
        data.resize(data.len().next_multiple_of(32), 0);
    }
    out.resize(out.len().next_multiple_of(32), 0);
    out.extend(data);
    out
}

/// The files of an output, which may be a file.
fn tree(path: &Path) -> BTreeMap<String, Vec<u8>> {
    match path.is_dir() {
        true => files(path),
        false => [(String::new(), fs::read(path).expect("a file"))].into(),
    }
}

fn start(folder: &Folder, args: &[&str]) -> Child {
    let mut command = program();
    command.args(args).current_dir(folder.path()).env_remove("LANECAST_TIER");
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command.spawn().expect("the program starts")
}

/// The lines that the program printed.
fn lines(output: Vec<u8>) -> Vec<String> {
    String::from_utf8(output).expect("UTF-8").lines().map(str::to_owned).collect()
}

/// The only object that the program printed.
fn object(output: Vec<u8>) -> Value {
    serde_json::from_slice(&output).expect("JSON")
}

/// The folder of the work on an output.
fn work(folder: &Folder, dst: &str) -> Vec<String> {
    let names = folder.names().into_iter();
    names.filter(|name| name.starts_with(&format!("{dst}.lanecast-"))).collect()
}

#[test]
fn processes_write_the_bytes_of_one_command() {
    let folder = sources();
    for (i, (command, src, extension, options)) in OPERATIONS.iter().enumerate() {
        let (whole, dst, plan) =
            (format!("whole-{i}{extension}"), format!("dst-{i}{extension}"), format!("{i}.json"));
        // A plan has whole paths, and warnings name them.
        let src = folder.at(src).display().to_string();
        let run = |dst: &str, more: &[&str]| {
            folder.run(&[&[*command, &*src, dst, "--json"], *options, more].concat())
        };
        let want = good(run(&whole, &[]));
        let planned = object(good(run(&dst, &["--plan", &plan, "--range-size", SIZE])));
        assert!(!folder.at(&dst).exists() && work(&folder, &dst).is_empty(), "{command}");
        assert_eq!((&planned["operation"], &planned["plan"]), (&(*command).into(), &plan.as_str().into()));
        assert_eq!(planned["phases"].get("amax").is_some(), options.contains(&"nvfp4"));
        assert!(planned["phases"]["range"].as_u64() > Some(2), "{command} {src}: {planned}");
        let mut next = 0;
        for phase in ["amax", "prepare", "range", "shard"] {
            let n = planned["phases"][phase].as_u64().unwrap_or(0);
            let pending = ["tasks", "pending", &plan, "--phase", phase];
            let ids = lines(good(folder.run(&pending)));
            assert_eq!(ids, (next..next + n).map(|id| id.to_string()).collect::<Vec<_>>());
            let share = |i: usize| {
                let share = format!("{i}/3");
                start(
                    &folder,
                    &["tasks", "run", &share, "--of", &plan, "--phase", phase, "--json", "--threads", "2"],
                )
            };
            let processes: Vec<Child> = (0..3).map(share).collect();
            let mut ran = Vec::new();
            for process in processes {
                for line in lines(good(process.wait_with_output().expect("the program ends"))) {
                    let report: Value = serde_json::from_str(&line).expect("JSON");
                    assert_eq!(
                        (&report["phase"], &report["skipped"]),
                        (&phase.into(), &false.into()),
                        "{command}"
                    );
                    ran.push(report["id"].as_u64().expect("a number"));
                }
            }
            ran.sort_unstable();
            assert!(ran.into_iter().eq(next..next + n), "{command} {phase}");
            assert!(good(folder.run(&pending)).is_empty());
            next += n;
        }
        // The object of the operation itself.
        assert_eq!(good(folder.run(&["tasks", "finish", &plan, "--json"])), want);
        assert!(tree(&folder.at(&dst)) == tree(&folder.at(&whole)), "{command} {src}");
    }
}

#[test]
fn a_plan_says_what_it_does_and_what_is_left_of_it() {
    let folder = sources();
    let make =
        ["convert", "plain", "dst", "--to", "bfloat16", "--plan", "my plan.json", "--range-size", "64KiB"];
    let summary = lines(good(folder.run(&make)));
    assert_eq!(
        summary,
        [
            "planned 9 tasks that write 229888 bytes (224.50 KiB): 2 prepare, 4 range, 2 shard, 1 finish",
            "run the phases one after the other, each in N processes on any machines (I is 0 to N-1):",
            "  lanecast tasks run I/N --of 'my plan.json' --phase prepare",
            "  lanecast tasks run I/N --of 'my plan.json' --phase range",
            "  lanecast tasks run I/N --of 'my plan.json' --phase shard",
            "  lanecast tasks finish 'my plan.json'",
        ]
    );
    // The same plan once more.
    let plan = folder.read("my plan.json");
    assert!(good(folder.run(&[&make[..], &["--quiet"]].concat())).is_empty());
    assert!(folder.read("my plan.json") == plan);

    let run = |args: &[&str]| folder.run(&[&["tasks", "run"], args, &["--of", "my plan.json"]].concat());
    let text = |output| String::from_utf8(good(output)).expect("UTF-8");
    // The last one writes to both files, and a range makes the files that it needs.
    assert_eq!(text(run(&["4", "3", "4"])), "ran 2 tasks, 131072 bytes (128.00 KiB)\n");
    assert_eq!(text(run(&["2", "3"])), "ran 1 task, 65536 bytes (64.00 KiB); 1 task was done before\n");
    assert_eq!(text(run(&["1/3", "--phase", "range"])), "1 task was done before\n");
    assert_eq!(text(run(&["90/100"])), "no task has such a number\n");
    let pending = object(good(folder.run(&["tasks", "pending", "my plan.json", "--json"])));
    assert_eq!(
        pending,
        serde_json::json!({"finished": false, "pending": [5, 6, 7, 8], "phases": {
            "prepare": {"tasks": 2, "pending": 0}, "range": {"tasks": 4, "pending": 1},
            "shard": {"tasks": 2, "pending": 2}, "finish": {"tasks": 1, "pending": 1}}})
    );
    let count = text(folder.run(&["tasks", "pending", "my plan.json", "--count", "--phase", "range"]));
    assert_eq!(count, "phase  pending  tasks\nrange  1        4\n");

    let all = lines(good(run(&["0/1"])));
    assert_eq!(all[0], "ran 4 tasks, 33280 bytes (32.50 KiB); 5 tasks were done before");
    assert_eq!(all[1], "cast 14 tensors to bfloat16, copied 0 other tensors");
    let done = format!("the output is done: {}", folder.at("dst").display());
    assert_eq!(all.last(), Some(&done));

    // The output is done: everything says so, and what is left is small.
    let output = folder.run(&["tasks", "pending", "my plan.json"]);
    assert_eq!(
        (output.status.code(), stderr(&output), output.stdout.len()),
        (Some(0), format!("lanecast: {done}\n"), 0)
    );
    assert!(good(folder.run(&["tasks", "pending", "my plan.json", "--phase", "range"])).is_empty());
    assert_eq!(object(good(folder.run(&["tasks", "pending", "my plan.json", "--json"])))["finished"], true);
    assert_eq!(lines(good(run(&["0/2"]))), ["5 tasks were done before", &all[1], &all[2], &done]);
    let finished = lines(good(folder.run(&["tasks", "finish", "my plan.json"])));
    assert_eq!(finished[..2], [done, all[1].clone()]);
    let left = work(&folder, "dst");
    assert_eq!(
        (left.len(), fs::read_dir(folder.at(&left[0]).join("done")).expect("a folder").count()),
        (1, 1)
    );
    assert!(good(folder.run(&["tasks", "finish", "my plan.json", "--quiet"])).is_empty());
}

/// Warnings of the operation are those of the task that finishes.
#[test]
fn losses_are_warnings_of_the_end() {
    let folder = Folder::new();
    fs::create_dir(folder.at("src")).expect("a folder");
    let header = r#"{"m.weight":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}}"#;
    folder.write("src/model.safetensors", &safetensors(header, &f32s(&[0.25, 0.125])));
    good(folder.run(&["convert", "src", "dst", "--to", "int8", "--plan", "p", "--quiet"]));
    for end in [&["tasks", "run", "0/1", "--of", "p"][..], &["tasks", "finish", "p"]] {
        let output = folder.run(end);
        let warning = stderr(&output);
        let parts = ["lanecast: warning: ", "every value of \"m.weight\" became zero in int8"];
        assert!(output.status.success() && warning.lines().count() == 1, "{warning}");
        assert!(parts.iter().all(|part| warning.contains(part)), "{warning}");
    }
    good(folder.run(&["tasks", "finish", "p", "--quiet"]));
}
