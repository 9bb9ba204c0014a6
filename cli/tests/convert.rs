//! `lanecast convert`. The tests of `lanecast-checkpoint` have the rules.

use std::{collections::BTreeMap, fs, path::Path};

use crate::common::{Folder, bad, good, safetensors, stderr};

const CONFIG: &str = r#"{"a": {"dtype": "bfloat16"}, "torch_dtype": "bfloat16"}"#;
const RUN: [&str; 5] = ["convert", "src", "dst", "--to", "float32"];

/// A checkpoint of `shards` files of `n` elements in bfloat16, each with an integer beside it.
pub fn checkpoint(shards: usize, n: usize) -> Folder {
    let folder = Folder::new();
    fs::create_dir(folder.at("src")).expect("a folder");
    let mut map = serde_json::Map::new();
    for i in 0..shards {
        let file = format!("model-{i}.safetensors");
        let header = format!(
            r#"{{"m.{i}.ids":{{"dtype":"I64","shape":[1],"data_offsets":[0,8]}},"m.{i}.weight":{{"dtype":"BF16","shape":[{n}],"data_offsets":[8,{}]}}}}"#,
            8 + 2 * n
        );
        // From 1 on, in steps of 1/128.
        let values = (0..n).flat_map(|j| (0x3F80 + ((i + j) % 128) as u16).to_le_bytes());
        let data: Vec<u8> = [7; 8].into_iter().chain(values).collect();
        folder.write(&format!("src/{file}"), &safetensors(&header, &data));
        for name in ["ids", "weight"] {
            map.insert(format!("m.{i}.{name}"), file.clone().into());
        }
    }
    let index = serde_json::json!({"weight_map": map});
    folder.write("src/model.safetensors.index.json", index.to_string().as_bytes());
    folder.write("src/config.json", CONFIG.as_bytes());
    folder.write("src/tokenizer.json", b"{}");
    folder
}

/// The files of a folder.
pub fn files(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let entries = fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry").path());
    let file = |path: std::path::PathBuf| {
        let name = path.file_name().expect("a name").to_string_lossy().into_owned();
        (name, fs::read(path).expect("a file"))
    };
    entries.map(file).collect()
}

#[test]
fn a_checkpoint_gets_another_dtype() {
    let folder = checkpoint(2, 3);
    let summary = String::from_utf8(good(folder.run(&[&RUN[..], &["--verify"]].concat()))).expect("UTF-8");
    assert_eq!(
        summary,
        "cast 2 tensors to float32, copied 2 other tensors\n28 bytes in, 40 bytes out\nverified 4 tensors\n"
    );
    assert_eq!(folder.names(), ["dst", "src"]);
    assert_eq!(folder.read("dst/config.json"), CONFIG.replace("bfloat16", "float32").as_bytes());
    let found = files(&folder.at("dst"));
    let names = [
        "config.json",
        "model-0.safetensors",
        "model-1.safetensors",
        "model.safetensors.index.json",
        "tokenizer.json",
    ];
    assert!(found.keys().eq(names));
    assert!(found["model-1.safetensors"].ends_with(&[0, 0, 0x81, 0x3F, 0, 0, 0x82, 0x3F, 0, 0, 0x83, 0x3F]));

    let line = bad(&folder.run(&RUN), &[3]);
    assert!(line.contains("dst") && line.contains("--force"), "{line}");
    let json = good(folder.run(&[
        "convert",
        "src",
        "dst",
        "--to",
        "f16",
        "--force",
        "--json",
        "--map",
        "*.ids=int8",
    ]));
    let json: serde_json::Value = serde_json::from_slice(&json).expect("JSON");
    let part = |key: &str| json[key].clone();
    assert_eq!(
        ["to", "tensors_cast", "tensors_copied", "tensors_verified", "bytes_out"].map(part),
        ["float16".into(), 4.into(), 0.into(), serde_json::Value::Null, 14.into()]
    );
    let quiet = good(folder.run(&[&RUN[..], &["--force", "--quiet", "--max-shard-size", "20B"]].concat()));
    assert!(quiet.is_empty() && folder.at("dst/model-00001-of-00002.safetensors").exists());
}

#[test]
fn threads_change_nothing() {
    let folder = checkpoint(2, 3);
    good(folder.run(&[&RUN[..], &["--threads", "1"]].concat()));
    let one = files(&folder.at("dst"));
    good(folder.run(&[&RUN[..], &["--threads", "3", "--force"]].concat()));
    assert_eq!(files(&folder.at("dst")), one);
    let line = bad(&folder.run(&[&RUN[..], &["--threads", "0"]].concat()), &[2]);
    assert!(line.contains("--threads"), "{line}");
}

#[test]
fn losses_are_warnings() {
    let folder = checkpoint(1, 3);
    let header = r#"{"m.weight":{"dtype":"BF16","shape":[2],"data_offsets":[0,4]}}"#;
    fs::create_dir(folder.at("small")).expect("a folder");
    folder.write("small/model.safetensors", &safetensors(header, &[0x00, 0x3F, 0x40, 0x3F]));
    let output = folder.run(&["convert", "small", "dst", "--to", "int8"]);
    let warning = stderr(&output);
    assert!(output.status.success() && warning.lines().count() == 1, "{warning}");
    let parts =
        ["lanecast: warning: ", "every value of \"m.weight\" became zero in int8", "lanecast quantize"];
    assert!(parts.iter().all(|part| warning.contains(part)), "{warning}");
    // Most of a larger tensor: 0.5 becomes 0, and 1 stays.
    let header = header.replace("[2]", "[20]").replace("[0,4]", "[0,40]");
    let values = [[0x00, 0x3F].repeat(18), [0x80, 0x3F].repeat(2)].concat();
    folder.write("small/model.safetensors", &safetensors(&header, &values));
    let warning = stderr(&folder.run(&["convert", "small", "most", "--to", "int8"]));
    let part = "18 of 20 values of \"m.weight\" became zero in int8";
    assert!(warning.lines().count() == 1 && warning.contains(part), "{warning}");
}

#[test]
fn failures_are_one_line_and_leave_nothing() {
    let folder = checkpoint(1, 3);
    for (args, code, part) in [
        (&["--map", "nothing=int8"][..], 2, "--map"),
        (&["--map", "*"], 2, "a pattern and a dtype"),
        (&["--map", "*=fp"], 5, "no such dtype"),
        (&["--include", "nothing"], 2, "--include"),
        (&["--exclude", "["], 2, "--exclude"),
        (&["--max-shard-size", "5 PB"], 2, "5GB or 512MiB"),
    ] {
        let line = bad(&folder.run(&[&RUN[..], args].concat()), &[code]);
        assert!(line.contains(part), "{line}");
    }
    bad(&folder.run(&["convert", "nowhere", "dst", "--to", "float32"]), &[3]);
    let config = r#"{"quantization_config":{"quant_method":"fp8","weight_block_size":[128,128]}}"#;
    let header = concat!(
        r#"{"a.weight":{"dtype":"F8_E4M3","shape":[1,4],"data_offsets":[0,4]},"#,
        r#""a.weight_scale_inv":{"dtype":"F32","shape":[1,1],"data_offsets":[4,8]}}"#
    );
    fs::create_dir(folder.at("fp8")).expect("a folder");
    folder.write("fp8/config.json", config.as_bytes());
    folder.write("fp8/model.safetensors", &safetensors(header, &[0x38, 0x38, 0x38, 0x38, 0, 0, 0x80, 0x3F]));
    // As a cast of the file alone.
    bad(&folder.run(&["cast", "fp8/model.safetensors", "cast.safetensors", "--to", "bf16"]), &[5]);
    let line = bad(&folder.run(&["convert", "fp8", "dst", "--to", "bf16"]), &[5]);
    let parts = ["a.weight", "block fp8", "`lanecast dequantize`", "--allow-quantized"];
    assert!(parts.iter().all(|part| line.contains(part)), "{line}");
    assert_eq!(folder.names(), ["fp8", "src"]);
    good(folder.run(&["convert", "fp8", "dst", "--to", "bf16", "--allow-quantized", "--quiet"]));
}

#[test]
fn shards_that_arrive_are_cast_and_may_be_removed() {
    let folder = checkpoint(3, 1000);
    good(folder.run(&["convert", "src", "whole", "--to", "float32", "--quiet"]));
    let want = files(&folder.at("whole"));
    let shard = folder.read("src/model-1.safetensors");
    folder.write("src/model-1.safetensors", &shard[..100]);
    let wait = [&RUN[..], &["--wait", "0.2"]].concat();
    let output = folder.run(&wait);
    let said = stderr(&output);
    let lines: Vec<&str> = said.lines().collect();
    assert_eq!(output.status.code(), Some(3), "{said}");
    assert_eq!(lines[0], "lanecast: model-0.safetensors is saved: SRC no longer needs it", "{said}");
    assert!(lines.len() == 3 && lines[1].contains("model-2.safetensors is saved"), "{said}");
    let parts = ["a file is not complete", "\"model-1.safetensors\"", "0.2 s", "--resume"];
    assert!(parts.iter().all(|part| lines[2].contains(part)), "{said}");
    assert_eq!(folder.names(), ["dst.lanecast-partial", "src", "whole"]);

    // The rest of the download, and the end of the cast.
    folder.remove("src/model-0.safetensors");
    folder.remove("src/model-2.safetensors");
    let summary = std::thread::scope(|scope| {
        scope.spawn(|| {
            std::thread::sleep(std::time::Duration::from_millis(100));
            folder.write("src/model-1.safetensors", &shard);
        });
        folder.run(&[&RUN[..], &["--resume", "--wait"]].concat())
    });
    let (said, summary) = (stderr(&summary), String::from_utf8(summary.stdout).expect("UTF-8"));
    assert_eq!(said, "lanecast: model-1.safetensors is saved: SRC no longer needs it\n");
    assert!(summary.contains("12.0 kB out") || summary.contains("of them by an earlier run"), "{summary}");
    assert!(files(&folder.at("dst")) == want);
    let line = bad(&folder.run(&[&RUN[..], &["--wait", "src"]].concat()), &[2]);
    assert!(line.contains("600"), "{line}");
}

#[cfg(unix)]
mod killed {
    use super::*;
    use crate::common::program;
    use rustix::process::{Pid, Signal, kill_process};
    use std::{
        process::{Child, Stdio},
        thread,
        time::Instant,
    };

    const PARTIAL: &str = "dst.lanecast-partial";

    fn start(folder: &Folder, args: &[&str]) -> Child {
        let mut command = program();
        command.args(args).current_dir(folder.path()).env_remove("LANECAST_TIER");
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
        command.spawn().expect("the program starts")
    }

    /// Sends signals at random moments until `times` of them ended a run; each time the output is then completed and compared.
    fn at_random_moments(signal: Signal, times: u32) {
        // 6 MiB out: a run takes little longer than the start of the program, and each of its moments is met.
        let folder = checkpoint(6, 1 << 18);
        let run = ["convert", "src", "dst", "--to", "float32", "--resume", "--quiet"];
        let started = Instant::now();
        good(folder.run(&["convert", "src", "whole", "--to", "float32", "--quiet"]));
        let mut whole = started.elapsed();
        let want = files(&folder.at("whole"));
        let (mut random, mut ended, mut unfinished, mut outputs) = (0x9E37_79B9_7F4A_7C15_u64, 0, 0, 0);
        while ended < times {
            assert!(outputs < 10 * times, "the signals do not end the program");
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let child = start(&folder, &run);
            thread::sleep(whole.mul_f64((random >> 40) as f64 / (1 << 24) as f64));
            // It may have ended before.
            let _ = kill_process(Pid::from_child(&child), signal);
            let output = child.wait_with_output().expect("the program ends");
            if output.status.success() {
                assert!(files(&folder.at("dst")) == want);
                fs::remove_dir_all(folder.at("dst")).expect("a folder");
                whole = whole.mul_f64(0.9);
                outputs += 1;
                continue;
            }
            ended += 1;
            if folder.at("dst").exists() {
                // It ended after its last step, or just before it.
                folder.run(&run);
                assert!(files(&folder.at("dst")) == want);
                assert_eq!(folder.names(), ["dst", "src", "whole"]);
                fs::remove_dir_all(folder.at("dst")).expect("a folder");
                continue;
            }
            unfinished += u32::from(folder.at(PARTIAL).join("done").exists());
            // A few are ended again and again, the others completed at once.
            if random >> 63 == 0 {
                continue;
            }
            good(folder.run(&run));
            assert!(files(&folder.at("dst")) == want);
            assert_eq!(folder.names(), ["dst", "src", "whole"]);
            fs::remove_dir_all(folder.at("dst")).expect("a folder");
            outputs += 1;
        }
        println!("{ended} runs ended, {unfinished} with something to go on from, {outputs} outputs compared");
        assert!(unfinished >= times / 4 && outputs >= times / 4, "{unfinished}, {outputs} of {times}");
    }

    #[test]
    fn sigkill_at_any_moment_leaves_what_resume_goes_on_from() {
        at_random_moments(Signal::KILL, 50);
    }

    #[test]
    fn sigint_at_any_moment_leaves_what_resume_goes_on_from() {
        if crate::signals::signals_are_ignored() {
            return;
        }
        at_random_moments(Signal::INT, 12);
    }

    #[test]
    fn an_unfinished_output_is_neither_lost_nor_taken_unasked() {
        let folder = checkpoint(6, 1 << 20);
        let child = start(&folder, &RUN);
        let started = Instant::now();
        while !folder.at(PARTIAL).join("done/0.json").exists() {
            assert!(started.elapsed().as_secs() < 20 && !folder.at("dst").exists(), "the run is too fast");
        }
        // Stopped, it still holds the lock.
        kill_process(Pid::from_child(&child), Signal::STOP).expect("a signal");
        let line = bad(&folder.run(&[&RUN[..], &["--resume"]].concat()), &[2]);
        assert!(line.contains("another run") && line.contains(PARTIAL), "{line}");
        kill_process(Pid::from_child(&child), Signal::KILL).expect("a signal");
        child.wait_with_output().expect("the program ends");

        let line = bad(&folder.run(&RUN), &[3]);
        assert!(line.contains(PARTIAL) && line.contains("--resume") && line.contains("--force"), "{line}");
        let line = bad(&folder.run(&["convert", "src", "dst", "--to", "f16", "--resume"]), &[2]);
        assert!(
            line.contains("\"to\" is float32, and now it is float16") && line.contains("--force"),
            "{line}"
        );
        let summary =
            String::from_utf8(good(folder.run(&[&RUN[..], &["--resume"]].concat()))).expect("UTF-8");
        assert!(summary.contains(" of them by an earlier run"), "{summary}");
        assert_eq!(folder.names(), ["dst", "src"]);
    }
}
