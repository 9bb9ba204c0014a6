//! What `--help`, `completions` and `man` print: the examples run, the scripts and pages are sound.

use std::{
    collections::BTreeSet,
    fs,
    path::PathBuf,
    process::{Command, Output, Stdio},
};

use crate::common::models::small;
use crate::common::{Folder, bad, f32s, good, npy, npz, run, safetensors, stderr};
use prost::Message;
use zip::CompressionMethod;

const COMMANDS: &[&str] = &[
    "cast",
    "raw",
    "onnx-cast",
    "scale",
    "unscale",
    "convert",
    "dequantize",
    "quantize",
    "requantize",
    "tasks",
    "tasks run",
    "tasks pending",
    "tasks finish",
    "check",
    "diff",
    "promote",
    "table",
    "table promote",
    "table cast",
    "dtypes",
    "explain",
    "cpu",
    "inspect",
    "completions",
    "man",
];

fn help(command: &str, option: &str) -> String {
    let args: Vec<&str> = command.split_whitespace().chain([option]).collect();
    String::from_utf8(good(run(&args, &[]))).expect("UTF-8")
}

/// The lines below `Examples:`.
fn examples(help: &str) -> Vec<&str> {
    let list = help.split_once("\nExamples:\n").expect("examples").1;
    list.lines()
        .take_while(|line| !line.is_empty())
        .map(|line| line.strip_prefix("  ").expect("two spaces"))
        .collect()
}

/// What the examples read.
fn samples() -> Folder {
    let folder = Folder::new();
    let floats = f32s(&[1.0, -2.0, 0.5, 3.0]);
    let header = concat!(
        r#"{"a.weight":{"dtype":"F32","shape":[3],"data_offsets":[0,12]},"#,
        r#""a.norm":{"dtype":"F32","shape":[1],"data_offsets":[12,16]}}"#
    );
    folder.write("model.safetensors", &safetensors(header, &floats));
    folder.write("logits.npy", &npy("<f4", "(4,)", &floats));
    folder.write("packed.npz", &npz(&[("a.npy", &npy("<V2", "(8,)", &floats))], CompressionMethod::Deflated));
    folder.write("model.onnx", &small(8, 17).encode_to_vec());
    folder.write("in.bin", &floats);
    std::fs::create_dir(folder.at("model")).expect("a folder");
    folder.write("model/config.json", br#"{"torch_dtype":"float32"}"#);
    let header = concat!(
        r#"{"a.up_proj.weight":{"dtype":"F32","shape":[2,32],"data_offsets":[0,256]},"#,
        r#""a.norm":{"dtype":"F32","shape":[4],"data_offsets":[256,272]}}"#
    );
    folder.write("model/model.safetensors", &safetensors(header, &[&floats[..]; 17].concat()));
    std::fs::create_dir(folder.at("model-fp8")).expect("a folder");
    let config = r#"{"quantization_config":{"quant_method":"fp8","weight_block_size":[128,128]}}"#;
    folder.write("model-fp8/config.json", config.as_bytes());
    let header = concat!(
        r#"{"a.weight":{"dtype":"F8_E4M3","shape":[1,4],"data_offsets":[0,4]},"#,
        r#""a.weight_scale_inv":{"dtype":"F32","shape":[1,1],"data_offsets":[4,8]}}"#
    );
    folder.write(
        "model-fp8/model.safetensors",
        &safetensors(header, &[&[0x38; 4][..], &f32s(&[1.0])].concat()),
    );
    std::fs::create_dir(folder.at("mxfp4")).expect("a folder");
    let config = concat!(
        r#"{"quantization_config":{"quant_method":"compressed-tensors","format":"mxfp4-pack-quantized","#,
        r#""config_groups":{"group_0":{"targets":["Linear"],"weights":{"num_bits":4,"type":"float"}}}}}"#
    );
    folder.write("mxfp4/config.json", config.as_bytes());
    let header = concat!(
        r#"{"a.weight_packed":{"dtype":"U8","shape":[1,16],"data_offsets":[0,16]},"#,
        r#""a.weight_scale":{"dtype":"U8","shape":[1,1],"data_offsets":[16,17]}}"#
    );
    folder.write("mxfp4/model.safetensors", &safetensors(header, &[&[0x21; 16][..], &[127]].concat()));
    std::fs::create_dir(folder.at("w4a16")).expect("a folder");
    let config = concat!(
        r#"{"quantization_config":{"quant_method":"compressed-tensors","format":"pack-quantized","#,
        r#""config_groups":{"group_0":{"targets":["Linear"],"weights":{"num_bits":4,"type":"int","symmetric":true}}}}}"#
    );
    folder.write("w4a16/config.json", config.as_bytes());
    let header = concat!(
        r#"{"a.weight_packed":{"dtype":"I32","shape":[8,1],"data_offsets":[0,32]},"#,
        r#""a.weight_scale":{"dtype":"F32","shape":[8,1],"data_offsets":[32,64]},"#,
        r#""a.weight_shape":{"dtype":"I64","shape":[2],"data_offsets":[64,80]}}"#
    );
    let shape = [8_u64, 8].iter().flat_map(|n| n.to_le_bytes()).collect::<Vec<u8>>();
    folder.write(
        "w4a16/model.safetensors",
        &safetensors(header, &[&[0x21; 32][..], &f32s(&[1.0; 8]), &shape].concat()),
    );
    // Blocks of Q4_0, and floats of the same shape.
    let q4_0 = [&[0, 0x3C][..], &[0x88; 16]].concat().repeat(2);
    folder.write("model-q4.gguf", &gguf(2, &q4_0));
    folder.write("model.gguf", &gguf(0, &f32s(&[0.5; 64])));
    folder.write("c", &[0x38; 4]);
    folder.write("e", &[127]);
    // A plan that is ready to finish.
    let plan = ["convert", "model", "model-f16", "--to", "float16", "--plan", "plan.json", "--quiet"];
    good(folder.run(&plan));
    good(folder.run(&["tasks", "run", "0/1", "--of", "plan.json", "--phase", "range", "--quiet"]));
    folder
}

/// A GGUF file of one tensor: 2 by 32 elements of the type of this number.
fn gguf(number: u32, data: &[u8]) -> Vec<u8> {
    let mut out = [&b"GGUF"[..], &3_u32.to_le_bytes()].concat();
    out.extend([1_u64, 0, 8].iter().flat_map(|n| n.to_le_bytes()));
    out.extend(b"a.weight");
    out.extend(2_u32.to_le_bytes());
    out.extend([32_u64, 2].iter().flat_map(|axis| axis.to_le_bytes()));
    out.extend(number.to_le_bytes());
    out.extend(0_u64.to_le_bytes());
    out.resize(out.len().next_multiple_of(32), 0);
    out.extend(data);
    out
}

/// Finds the program as `lanecast`.
fn path_of_program() -> std::ffi::OsString {
    let folder = PathBuf::from(env!("CARGO_BIN_EXE_lanecast")).parent().expect("a folder").to_owned();
    let rest = std::env::var_os("PATH").unwrap_or_default();
    std::env::join_paths(std::iter::once(folder).chain(std::env::split_paths(&rest))).expect("a path")
}

fn shell(folder: &Folder, script: &str) -> Output {
    let mut sh = Command::new("sh");
    sh.args(["-ec", script])
        .current_dir(folder.path())
        .env("PATH", path_of_program())
        .env_remove("LANECAST_TIER");
    sh.stdin(Stdio::null()).output().expect("a shell")
}

#[test]
#[cfg(unix)]
fn every_example_runs() {
    if std::env::var_os("LANECAST_TEST_PROGRAM").is_some() {
        println!("SKIPPED: examples: a shell finds no other program");
        return;
    }
    let mut ran = 0;
    for command in [""].iter().chain(COMMANDS) {
        for option in ["-h", "--help"] {
            let text = help(command, option);
            let below = text.split_once("\nExamples:\n").expect("examples").1;
            assert!(below.lines().all(|line| line.len() <= 85), "{command}: a line was wrapped twice");
            let lines = examples(&text);
            assert!(!lines.is_empty(), "{command}");
            let verb = format!("lanecast {command}");
            for line in &lines {
                assert!(line.len() <= 78 && line.contains(verb.trim_end()), "{command} {option}: {line:?}");
                let output = shell(&samples(), line);
                let mut said = stderr(&output);
                if line.contains("--wait") {
                    said = said.replace("lanecast: model.safetensors is saved: SRC no longer needs it\n", "");
                }
                assert_eq!((output.status.code(), said), (Some(0), String::new()), "{line}");
                ran += 1;
            }
        }
    }
    assert!(ran >= 50, "{ran}");
}

#[test]
fn completions_know_every_subcommand_and_dtype() {
    for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
        let script = String::from_utf8(good(run(&["completions", shell], &[]))).expect("UTF-8");
        for word in ["onnx-cast", "completions", "float-to-int", "quiet", "float8_e4m3fnuz", "mindspore"] {
            // clap_complete has no values for the last two shells.
            let values =
                ["bash", "zsh", "fish"].contains(&shell) || !["float8_e4m3fnuz", "mindspore"].contains(&word);
            assert!(script.contains(word) || !values, "{shell} lacks {word}");
        }
    }
    bad(&run(&["completions", "tcsh"], &[]), &[2]);
    bad(&run(&["completions"], &[]), &[2]);
}

#[test]
#[cfg(unix)]
fn shells_read_their_completions() {
    for (shell, args) in [("bash", "-n"), ("zsh", "-n"), ("fish", "--no-execute")] {
        if Command::new(shell).arg("--version").output().is_err() {
            println!("SKIPPED: completions of {shell}: it is not here");
            continue;
        }
        let folder = Folder::new();
        folder.write("script", &good(run(&["completions", shell], &[])));
        let output =
            Command::new(shell).args([args, "script"]).current_dir(folder.path()).output().expect("a shell");
        assert!(output.status.success() && output.stderr.is_empty(), "{shell}: {}", stderr(&output));
    }
}

#[test]
#[cfg(unix)]
fn bash_completes_dtypes() {
    let script = String::from_utf8(good(run(&["completions", "bash"], &[]))).expect("UTF-8");
    let ask = "COMP_WORDS=(lanecast cast a b --to float8_e5); COMP_CWORD=5; _lanecast lanecast float8_e5 --to; echo \"${COMPREPLY[@]}\"";
    let Ok(output) = Command::new("bash").args(["-c", &format!("{script}\n{ask}")]).output() else {
        println!("SKIPPED: bash completes dtypes: it is not here");
        return;
    };
    let words = String::from_utf8_lossy(&output.stdout);
    assert_eq!(words.trim(), "float8_e5m2 float8_e5m2fnuz", "{}", stderr(&output));
}

#[test]
fn man_pages_are_those_of_all_subcommands() {
    let folder = Folder::new();
    good(folder.run(&["man", "--out-dir", "share/man1"]));
    let pages = fs::read_dir(folder.at("share/man1")).expect("the folder");
    let names: BTreeSet<String> =
        pages.map(|page| page.expect("a page").file_name().to_string_lossy().into()).collect();
    let expected = std::iter::once("lanecast.1".to_owned())
        .chain(COMMANDS.iter().map(|command| format!("lanecast-{}.1", command.replace(' ', "-"))));
    assert_eq!(names, expected.collect());
    assert_eq!(folder.read("share/man1/lanecast.1"), good(run(&["man"], &[])));
    for name in &names {
        let page = String::from_utf8(folder.read(&format!("share/man1/{name}"))).expect("UTF-8");
        for section in ["NAME", "SYNOPSIS", "DESCRIPTION", "OPTIONS", "EXAMPLES"] {
            assert!(page.contains(&format!(".SH {section}\n")), "{name} lacks {section}");
        }
        assert!(page.contains("\n  lanecast ") && !page.contains("\u{1b}"), "{name} has examples");
        assert!(page.is_ascii(), "{name} is ASCII");
    }
    let program = String::from_utf8(folder.read("share/man1/lanecast.1")).expect("UTF-8");
    assert!(program.contains("\n.SH EXIT STATUS\n.nf\n  0  done "), "{program}");
    let cast = String::from_utf8(folder.read("share/man1/lanecast-cast.1")).expect("UTF-8");
    assert!(cast.contains(".SH NOTES\n") && cast.contains("\nonnx (.onnx):\n"), "{cast}");
    // Pages that exist are replaced with --force only.
    bad(&folder.run(&["man", "--out-dir", "share/man1"]), &[3]);
    good(folder.run(&["man", "--out-dir", "share/man1", "--force"]));
}

#[test]
#[cfg(unix)]
fn man_reads_the_pages() {
    let folder = Folder::new();
    good(folder.run(&["man", "--out-dir", "."]));
    for (linter, options) in
        [("mandoc", &["-Tlint", "-Wwarning"][..]), ("groff", &["-man", "-ww", "-z", "-Tutf8"])]
    {
        if Command::new(linter).arg("--version").stdin(Stdio::null()).output().is_err() {
            println!("SKIPPED: man pages by {linter}: it is not here");
            continue;
        }
        for page in folder.names() {
            let output = Command::new(linter)
                .args(options)
                .arg(&page)
                .current_dir(folder.path())
                .output()
                .expect("a run");
            let said = String::from_utf8_lossy(&output.stdout).into_owned() + &stderr(&output);
            // The pages have no date, so that they are the same whenever they are made.
            let said: Vec<&str> = said.lines().filter(|line| !line.contains("missing date")).collect();
            assert!(said.is_empty(), "{linter} {page}: {said:#?}");
        }
    }
}

#[test]
fn defaults_are_shown() {
    let folded = |command: &str| help(command, "-h").split_whitespace().collect::<Vec<_>>().join(" ");
    let cast = folded("cast");
    for (option, default) in [
        ("--profile", "rust"),
        ("--e8m0-round", "up"),
        ("--e8m0-range", "exact"),
        ("--float-to-int", "saturate"),
        ("--int-to-int", "wrap"),
        ("--int-round", "toward_zero"),
        ("--float-round", "nearest_even"),
        ("--e5m2-nan", "7e"),
        ("--nan-to-finite", "zero"),
        ("--fnuz-inf", "max"),
        ("--on-loss", "ignore"),
        ("--max-underflow", "no limit"),
        ("--tier", "the best one"),
        ("--from", "all floats"),
        ("--include", "all"),
    ] {
        let (_, about) = cast.split_once(&format!(" {option} ")).expect(option);
        let about = about.split(" --").next().unwrap_or_default();
        assert!(about.contains(&format!("[default: {default}]")), "{option}: {about}");
    }
    for command in ["raw", "onnx-cast"] {
        assert!(folded(command).contains("[default: all]"), "{command}");
    }
}
